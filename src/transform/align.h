/* A finished embedding brought near to another of the same rows. */
#ifndef IKT_TRANSFORM_ALIGN_H
#define IKT_TRANSFORM_ALIGN_H

#include "dist/rows.h"
#include "io/results/result.h"
#include "linalg/procrustes.h"
#include "pipeline/notes.h"

typedef struct {
    const char *run, *reference; /* result files */
    int64_t rows;                /* the first rows of both belong together; 0: all */
    bool mirror, scale;          /* what is allowed */
} ikt_align_request;

/* How far the rows of a class are from where the reference has them. */
typedef struct {
    int64_t label, rows;
    double shift; /* of the class's centre, in sizes of the reference (ikt_procrustes) */
    double rms;   /* root mean square distance of its rows, likewise */
} ikt_align_class;

/* Classes beyond so many are not told one by one. */
enum { IKT_ALIGN_CLASSES = 1000 };

/* Freed with ikt_aligned_destroy. */
typedef struct {
    ikt_result_file *file; /* of the run; owned */
    ikt_rows distribution; /* of all its rows */
    int64_t rows;          /* that were matched */
    ikt_procrustes motion;
    float *y; /* [distribution.count * q] aligned */
    double
        *displacement; /* [distribution.count] distance from the reference, NaN where it has none */
    int64_t *labels;   /* [distribution.count], or NULL */
    double residual;   /* root mean square of the displacements, in sizes of the reference */
    ikt_align_class *class; /* [classes] ascending by label, the same on every rank */
    int64_t classes;
    uint64_t run_hash, reference_hash, hash; /* of places: before, of the reference, after */
    ikt_notes *facts;                        /* once the file is written; owned */
} ikt_aligned;

/* COLLECTIVE. Reads both and aligns. Errors: IKT_ERR_USAGE (rows), IKT_ERR_DATA (other numbers of
 * rows or dimensions, places that are not finite, those of ikt_procrustes_fit), IKT_ERR_FILE,
 * IKT_ERR_RESOURCE. *out is to be destroyed in any case. */
ikt_status ikt_align_run(ikt_context *ctx, const ikt_align_request *request, ikt_aligned *out);
void ikt_aligned_destroy(ikt_aligned *aligned);

/* COLLECTIVE. A result file with the aligned places, labels, marks and configuration of the run,
 * /diagnostics/displacement, and a provenance that tells how it was made. It has neither trace nor
 * state: both are of the run's own places. Errors: IKT_ERR_FILE. */
ikt_status ikt_align_write(ikt_context *ctx, const ikt_align_request *request, ikt_aligned *aligned,
                           const char *path, bool overwrite);

#endif
