/* Measures of an embedding (methods, section 4). A measure is one row of the table in measure.c.
 *
 * Results are the same bits on any ranks and threads: counts are integers, and sums over points go
 * through exact sums.
 */
#ifndef IKT_EVALUATE_MEASURE_H
#define IKT_EVALUATE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "data/dataset.h"
#include "dist/row_map.h"

typedef struct {
    int64_t k;           /* neighbours of the label accuracy */
    int64_t trust_k;     /* neighbours of trustworthiness and continuity */
    int64_t exact_limit; /* up to this many rows every row is a query of the rank measures */
    int64_t sample;      /* queries beyond that */
    uint64_t seed;       /* of the sample */
} ikt_measure_settings;

/* What is measured. Arrays are of the own rows, lent. */
typedef struct {
    ikt_row_map map;
    const float *y;        /* [map.count * 2] */
    const int64_t *labels; /* [map.count]; has_labels false: none */
    bool has_labels;
    ikt_dataset *data; /* the input, or NULL: measures that compare with it are left out */
} ikt_measured;

typedef struct {
    char name[48];
    double value;
    int64_t sample; /* queries it was estimated from; 0: all rows */
    char note[160];
} ikt_measure;

typedef struct {
    ikt_context *ctx;
    ikt_measure *list; /* [count], owned */
    int64_t count, room;
} ikt_measures;

/* LOCAL. Defaults: k 10, trust_k 12, exact up to 20,000 rows, then 2,000 queries, seed 1. */
ikt_measure_settings ikt_measure_defaults(void);

/* COLLECTIVE. Appends every measure that what is given allows: with labels Davies-Bouldin,
 * Calinski-Harabasz, k-nearest-neighbour accuracy and 1-nearest-neighbour error; with the input
 * AUC_RNX in both definitions, trustworthiness, continuity.
 *   out   zero-initialised or filled before; freed with ikt_measures_destroy.
 * Errors: IKT_ERR_USAGE (k not below n), IKT_ERR_DATA (positions not finite), IKT_ERR_RESOURCE,
 * those of reading. */
ikt_status ikt_measures_compute(ikt_context *ctx, const ikt_measure_settings *settings,
                                const ikt_measured *what, ikt_measures *out);

/* LOCAL. Appends one value. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_measures_add(ikt_context *ctx, ikt_measures *measures, const char *name,
                            double value, int64_t sample, const char *note);

void ikt_measures_destroy(ikt_measures *measures);

/* The families, one file each; same contract as ikt_measures_compute. */
ikt_status ikt_measure_clusters(ikt_context *ctx, const ikt_measure_settings *settings,
                                const ikt_measured *what, ikt_measures *out);
ikt_status ikt_measure_label_accuracy(ikt_context *ctx, const ikt_measure_settings *settings,
                                      const ikt_measured *what, ikt_measures *out);
ikt_status ikt_measure_ranks(ikt_context *ctx, const ikt_measure_settings *settings,
                             const ikt_measured *what, ikt_measures *out);

/* COLLECTIVE. One element of `size` bytes of every row on every rank, from those of the own rows.
 *   all   ADDRESS of the pointer to set, as in ikt_alloc; freed with ikt_free. Errors:
 * IKT_ERR_RESOURCE. */
ikt_status ikt_measure_replicate(ikt_context *ctx, const ikt_row_map *map, const void *own,
                                 size_t size, void *all);

#endif
