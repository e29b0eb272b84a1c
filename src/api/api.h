/* What the files of the public interface share. */
#ifndef IKT_API_API_H
#define IKT_API_API_H

#include "dist/row_blocks.h"
#include "evaluate/measure.h"
#include "iktsne/iktsne.h"
#include "io/sources/source.h"
#include "pipeline/pipeline.h"

struct ikt_parameters {
    ikt_context *ctx; /* of the caller */
    ikt_settings settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS]; /* the sections and where their values are */
    char *yaml; /* borrowed by the caller; NULL until it is asked for */
};

/* The arrays are the program's; `has_` says that a rank has described them, also without rows. */
struct ikt_data {
    int64_t count;
    bool has_rows, has_sparse, has_graph, has_pairs, has_start;
    const void *rows, *pairs, *start;
    ikt_type type, pairs_type, start_type;
    int64_t columns, dimensions;
    ikt_csr_arrays sparse, graph;
    const int64_t *labels;
};

/* An embedding lives in a context of its own, so that its times, memory and threads are its own,
 * and the caller's are as they were. */
struct ikt_embedding {
    ikt_context *caller, *ctx;
    ikt_run run;        /* in equal blocks; but of a run: embedding.y, labels, marked only */
    bool is_run;        /* of ikt_embed, and not of a file or of positions */
    bool is_stopped;    /* by the watcher */
    int64_t first;      /* own rows, in the caller's blocks */
    int64_t count;      /* of them */
    float *y;           /* [count * q] */
    int64_t *labels;    /* [count], or NULL */
    double *divergence; /* [count] of rows that were placed, or NULL; so the four below */
    float *similarity, *distance;
    int64_t *nearest, *is_far;
    uint64_t hash;           /* of the positions */
    double objective;        /* NaN: not known */
    int64_t iterations;      /* -1: not known */
    int64_t zero_similarity; /* -1: not known */
    int q;                   /* dimensions */
    char *yaml;              /* NULL: not known */
    ikt_measures measures;
};

/* COLLECTIVE. Whether a number is the same on all ranks: those that do not want the same would wait
 * for each other for ever. */
bool ikt_is_shared(ikt_context *ctx, int64_t number);

/* COLLECTIVE. A checksum from 0 on of all keys and their values, by which ranks compare theirs.
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_parameters_hash(ikt_context *ctx, const ikt_parameters *parameters, int64_t *hash);

/* Sources on the arrays of data, and what stands in place of files. */
typedef struct {
    ikt_source *rows; /* or NULL */
    ikt_borrowed borrowed;
    int64_t n; /* rows over all ranks */
} ikt_data_sources;

/* COLLECTIVE. Opens what the data describe; free with ikt_data_close, also after a failure. `data`
 * may be NULL: nothing is described. Errors: those of ikt_embed for arrays. */
ikt_status ikt_data_open(ikt_context *ctx, const ikt_data *data, ikt_data_sources *out);
void ikt_data_close(ikt_data_sources *sources);

/* COLLECTIVE. An empty embedding in a context of its own; freed with ikt_embedding_destroy, NULL on
 * failure. Errors: IKT_ERR_RESOURCE, recorded in ctx. */
ikt_status ikt_embedding_create(ikt_context *ctx, ikt_embedding **out);

/* SAME-ARGS. The status and, in the caller's context, the message of an embedding's own. */
ikt_status ikt_embedding_outcome(ikt_embedding *embedding, ikt_status st);

/* COLLECTIVE. The same of an embedding that was made: it is destroyed on failure. */
ikt_status ikt_embedding_made(ikt_embedding **embedding, ikt_status st);

/* COLLECTIVE. Positions and labels of embedding->run, from equal blocks to those of the caller,
 * `count` rows of this rank, in the order of the ranks; and what of the arrays of new rows
 * is not NULL. Errors: IKT_ERR_RESOURCE, recorded in embedding->ctx. */
typedef struct {
    const double *divergence;
    const float *similarity;
    const int64_t *nearest;
    bool has_distance;
    const float *distance;
    const int64_t *is_far;
} ikt_placed_rows;
ikt_status ikt_embedding_hand_over(ikt_embedding *embedding, int64_t count,
                                   const ikt_placed_rows *placed);

/* COLLECTIVE. An array of the caller's blocks, `bytes` bytes a row, in equal blocks.
 *   out   receives [embedding->run.rows.count], which is NULL before the call; to be freed
 *         with ikt_free in any case
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_embedding_take(ikt_embedding *embedding, const void *own, size_t bytes, void *out);

#endif
