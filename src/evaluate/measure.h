/* Measures of an embedding (methods, section 4).
 *
 * A family of measures is one file and one line of the table in measure.c, which says what the
 * family needs. Results are the same bits on any ranks and threads: counts are integers, and sums
 * over points are exact or in the order of the rows.
 */
#ifndef IKT_EVALUATE_MEASURE_H
#define IKT_EVALUATE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "data/dataset.h"
#include "dist/row_map.h"

typedef struct {
    int64_t k;           /* neighbours of the label accuracy, 1 .. n - 1 */
    int64_t trust_k;     /* neighbours of trustworthiness and continuity, below n / 2 */
    int64_t exact_limit; /* up to this many rows every row is a query of the rank measures */
    int64_t sample;      /* queries beyond that, >= 1 */
    uint64_t seed;       /* of the sample */
    int64_t batch_bytes; /* distances a rank holds at a time; changes the time only */
    const char *only;    /* families asked for, "clusters,ranks"; NULL: all that are possible */
} ikt_measure_settings;

/* What is measured; the same map and has_labels on all ranks. Arrays are of the own rows, lent. */
typedef struct {
    ikt_row_map map;
    const float *y;        /* [map.count * 2] */
    const int64_t *labels; /* [map.count]; has_labels false: none */
    bool has_labels;
    ikt_dataset *data; /* the input, or NULL on all ranks: families that need it are left out */
} ikt_measured;

typedef struct {
    char name[48];
    double value;
    int64_t sample; /* queries it was estimated from; 0: all rows */
    char note[160]; /* how to read it */
} ikt_measure;

typedef struct {
    ikt_measure *list; /* [count], owned */
    int64_t count, room;
} ikt_measures;

/* LOCAL. Defaults: k 10, trust_k 12, exact up to 20,000 rows, then 2,000 queries, seed 1, 256 MiB
 * of distances, all families. */
ikt_measure_settings ikt_measure_defaults(void);

/* COLLECTIVE; the same settings on all ranks. Appends to *out every measure that what is given
 * allows, or those of the families asked for:
 *   clusters   needs labels: Davies-Bouldin, Calinski-Harabasz
 *   labels     needs labels: k-nearest-neighbour accuracy, 1-nearest-neighbour error
 *   ranks      needs the input: AUC_RNX in both definitions, trustworthiness, continuity
 * Labels that do not make clusters cost a warning, or fail where `only` names the family.
 *   out   zero-initialised or filled before, the same on every rank; freed with
 *         ikt_measures_destroy, also after a failure.
 * Errors: IKT_ERR_USAGE (k or trust_k too large for n, a family that is unknown or lacks what it
 * needs), IKT_ERR_DATA (a position that is not finite, no clusters), IKT_ERR_RESOURCE, those of
 * reading. */
ikt_status ikt_measures_compute(ikt_context *ctx, const ikt_measure_settings *settings,
                                const ikt_measured *what, ikt_measures *out);

/* LOCAL. Predicted peak bytes per rank of ikt_measures_compute for n rows of d columns (after
 * preprocessing); labels, input: whether there are any. */
int64_t ikt_measures_memory(const ikt_measure_settings *settings, int64_t n, int64_t d, int ranks,
                            int threads, bool labels, bool input);

/* LOCAL. Appends one value. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_measures_add(ikt_context *ctx, ikt_measures *measures, const char *name,
                            double value, int64_t sample, const char *note);

/* LOCAL. Empties the list and frees its memory. */
void ikt_measures_destroy(ikt_measures *measures);

/* The families; same contract as ikt_measures_compute, called with what they need. */
ikt_status ikt_measure_clusters(ikt_context *ctx, const ikt_measure_settings *settings,
                                const ikt_measured *what, ikt_measures *out);
ikt_status ikt_measure_label_accuracy(ikt_context *ctx, const ikt_measure_settings *settings,
                                      const ikt_measured *what, ikt_measures *out);
ikt_status ikt_measure_ranks(ikt_context *ctx, const ikt_measure_settings *settings,
                             const ikt_measured *what, ikt_measures *out);

/* COLLECTIVE. One element of `size` bytes of every row on every rank, from those of the own rows.
 *   own   [map->count] elements.
 *   all   ADDRESS of the pointer to set, as in ikt_alloc, to [map->n] elements; freed with
 *         ikt_free; NULL on failure.
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_measure_replicate(ikt_context *ctx, const ikt_row_map *map, const void *own,
                                 size_t size, void *all);

#endif
