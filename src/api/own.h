/* What the public headers only name: parameters and embeddings. Programs see include/iktsne only.
 */
#ifndef IKT_API_OWN_H
#define IKT_API_OWN_H

#include "evaluate/measure.h"
#include "iktsne/embedding.h"
#include "iktsne/parameters.h"
#include "pipeline/pipeline.h"

struct ikt_parameters {
    ikt_context *ctx; /* of the caller */
    ikt_settings settings;
    char *yaml; /* lent to the caller; NULL until it is asked for */
};

/* An embedding lives in a context of its own, so that its times, memory and threads are its own,
 * and the caller's are as they were. */
struct ikt_embedding {
    ikt_context *caller, *ctx;
    ikt_run run;      /* in equal blocks; of a file: embedding, embedding.y, labels, marked only */
    bool is_run;      /* and not of a file */
    int64_t first;    /* own rows, in the caller's blocks */
    int64_t count;    /* of them */
    float *y;         /* [count * q] */
    int64_t *labels;  /* [count], or NULL */
    uint64_t hash;    /* of the positions */
    double objective; /* NaN: not known */
    int64_t iterations;      /* -1: not known */
    int64_t zero_similarity; /* -1: not known */
    int q;                   /* dimensions */
    char *yaml;              /* NULL: not known */
    ikt_measures measures;
};

/* COLLECTIVE. An empty embedding in a context of its own; freed with ikt_embedding_destroy, NULL on
 * failure. Errors: IKT_ERR_RESOURCE, recorded in ctx. */
ikt_status ikt_embedding_new(ikt_context *ctx, ikt_embedding **out);

/* COLLECTIVE. Positions and labels of run, from equal blocks to those of the caller.
 *   count   rows that this rank wants, in the order of the ranks
 * Errors: IKT_ERR_RESOURCE, recorded in embedding->ctx. */
ikt_status ikt_embedding_hand_over(ikt_embedding *embedding, int64_t count);

/* SAME-ARGS. The status and, in the caller's context, the message of an embedding's own. */
ikt_status ikt_embedding_report(ikt_embedding *embedding, ikt_status st);

#endif
