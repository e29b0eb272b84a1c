/* A kind of affinity: one struct in one file and one line in affinity_table.c.
 *
 * The pipeline brings together what a kind asks for (lists of the most similar rows, or all
 * scores) and knows nothing else of it. A key of its own belongs into a section of its own, which
 * parser, --help and printing then know.
 */
#ifndef IKT_AFFINITY_KIND_H
#define IKT_AFFINITY_KIND_H

#include "affinity/affinity.h"
#include "affinity/dense.h"
#include "config/config.h"
#include "neighbours/neighbours.h"

/* What the scores of lists and scorers are. */
typedef enum {
    IKT_SCORES_CODES,    /* numbers of differing entries of the rows' cell codes */
    IKT_SCORES_DISTANCES /* squared Euclidean distances of the preprocessed rows */
} ikt_affinity_scores;

/* What there is to know when weights are made. All of it is lent. */
typedef struct {
    const ikt_affinity_settings *settings;
    int64_t k;              /* neighbours of a row, resolved */
    int64_t t;              /* entries of a code, where scores are of codes */
    ikt_dataset *data;      /* the rows, which may be read again; NULL beside a file of all pairs */
    const ikt_rows *rows;   /* of the rows of the lists */
    const ikt_order *order; /* where lists are by slots, the order they are in; or NULL */
} ikt_affinity_job;

typedef struct {
    const char *name; /* as affinity.kind has it */
    ikt_affinity_scores scores;
    const ikt_section *section; /* its own keys, or NULL */
    size_t keys;                /* where their struct is in ikt_affinity_settings */
    /* LOCAL, pure. What affinity.neighbours: auto means; the caller sees to n - 1. */
    int64_t (*neighbours)(const ikt_affinity_settings *settings);
    /* SAME-ARGS. Refuses settings of its own that contradict others; NULL: there are none.
     *   weighed   other rows that a row gets weights for: its neighbours, or all */
    ikt_status (*check)(ikt_context *ctx, const ikt_affinity_settings *settings, int64_t weighed);
    /* LOCAL. Lowers its own settings to what suits a subset of n rows; NULL: there are none. */
    void (*shrink)(ikt_affinity_settings *settings, int64_t n);
    /* COLLECTIVE. Puts p_j|i, each row summing to 1, in place of the scores of lists.
     *   zero-similarity rows   receives how many rows have no similarity to any other, over all
     * ranks Errors: IKT_ERR_RESOURCE, those of reading. */
    ikt_status (*weigh)(ikt_context *ctx, const ikt_affinity_job *job, ikt_neighbours *lists,
                        int64_t *zero_similarity);
    /* COLLECTIVE. Puts the dense symmetric P in place of the scores of all pairs, which are
     * symmetric. Errors: IKT_ERR_RESOURCE, those of reading; what the matrix holds is lost then. */
    ikt_status (*dense)(ikt_context *ctx, const ikt_affinity_job *job, ikt_dense *dense,
                        int64_t *zero_similarity);
    bool is_sought; /* weights are found by iteration: plans of time count them */
    const char
        *zero_similarity_because; /* "N rows ...": why a row may have no similarity; NULL: never */
} ikt_affinity;

extern const ikt_affinity ikt_affinity_isolation, ikt_affinity_gaussian, ikt_affinity_knn,
    ikt_affinity_adaptive, ikt_affinity_graph;

/* LOCAL, pure. The kind that the settings name. */
const ikt_affinity *ikt_affinity_of(const ikt_affinity_settings *settings);

/* LOCAL, pure. "gaussian perplexity 30": the kind and its own keys, for people.
 *   text   [size] */
void ikt_affinity_describe(const ikt_affinity_settings *settings, char *text, size_t size);

/* COLLECTIVE. The dense P of similarities K(i, j) >= 0 of all pairs, symmetric and 0 on the
 * diagonal: p_j|i = K(i, j) / sum of row i (Zhu & Ting 2021, section 4.2).
 *   own   [dense->rows.count] sums of the own rows
 *   zero_similarity   rows whose sum is 0; they are tied to their nearest rows in job->data
 * Errors: IKT_ERR_DATA where there are such rows and no data; IKT_ERR_RESOURCE, those of reading.
 */
ikt_status ikt_similarities_dense(ikt_context *ctx, const ikt_affinity_job *job, const double *own,
                                  ikt_dense *dense, int64_t *zero_similarity);

enum { IKT_AFFINITY_PARTS = 3 };

/* LOCAL. The kinds' own sections, bound to the members of `settings`, for config.h. */
void ikt_affinity_parts(ikt_affinity_settings *settings, ikt_config_part parts[IKT_AFFINITY_PARTS]);

#endif
