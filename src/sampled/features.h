/* The rows themselves, in the order of the loop, as far rows are compared with them: in tiles.
 *
 * Sixteen consecutive rows, a tile of pool.h, stand column by column: number c of row r is at
 * tile[(T * d + c) * 16 + r % 16], T counting from the first tile with own rows. A far row's
 * numbers are then broadcast one by one, and the sixteen distances are sums in the lanes of a
 * vector. Places of rows that other ranks own are zero.
 */
#ifndef IKT_SAMPLED_FEATURES_H
#define IKT_SAMPLED_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"
#include "graph/graph.h"
#include "metric/metric.h"

typedef struct {
    ikt_rows rows;
    const ikt_metric *metric; /* by which they are compared; NULL: column j holds the square of the
                                 distance to row j, as a matrix of all distances does, */
    bool are_d;               /* or D of the pair itself (far_similarity.h) */
    int64_t d;                /* columns */
    int64_t lane;             /* of the first own row */
    float *tile;              /* [tiles * d * 16] */
} ikt_features;

/* LOCAL. Memory for rows of d columns, in which they stand row by row at first (ikt_features_rows).
 * Errors: IKT_ERR_RESOURCE; free with ikt_features_destroy in any case. */
ikt_status ikt_features_create(ikt_context *ctx, const ikt_rows *rows, int64_t d,
                               const ikt_metric *metric, ikt_features *out);
void ikt_features_destroy(ikt_features *features);

/* LOCAL. Where the own rows are to be put, [rows.count * d], before ikt_features_turn. */
float *ikt_features_rows(const ikt_features *features);

/* LOCAL. Turns rows into tiles, where they stand. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_features_turn(ikt_context *ctx, const ikt_features *features);

/* LOCAL. The numbers of an own row.
 *   row   local number
 *   to    [d] receives them */
void ikt_features_copy(const ikt_features *features, int64_t row, float *to);

/* LOCAL. One number of an own row. */
static inline float ikt_features_number(const ikt_features *features, int64_t row, int64_t column) {
    const int64_t at = row + features->lane;
    return features->tile[(at / 16 * features->d + column) * 16 + at % 16];
}

/* Pairs of rows that a graph joins, and how unlike they are: what any two rows are compared by
 * where there is a sparse graph in place of rows.
 *
 * D of a joined pair comes from its number: of distances d_ij^2 / (s_i s_j), s_i being the mean
 * distance of row i to some of the nearest rows that it is joined to (triplet.h); of similarities
 * -log of their part of the largest one of all rows. Two rows that are not joined are as unlike as
 * the two joined ones that are most unlike, of all rows; where all joined pairs are alike, as in a
 * graph without numbers, they are more unlike than these by 1.
 *
 * Method: the entries of a row stand in ascending order, and a pair is looked up by bisection
 * without branches. Advantage: 8 bytes for each entry, whatever the number of pairs. Disadvantage:
 * nothing tells two rows apart that the graph does not join.
 */

typedef struct {
    ikt_directed
        pairs; /* of the own rows, both directions (ikt_directed_unite); values are squares
                  of distances or parts of the largest similarity, and D once it is known */
    bool are_distances;
    float apart; /* D of rows that are not joined */
} ikt_joined;

/* COLLECTIVE. D in place of distances or similarities, and that of all other pairs.
 *   from, to   as in ikt_scale_of; nothing of similarities
 * Errors: IKT_ERR_DATA where all joined rows are at distance 0, IKT_ERR_RESOURCE. */
ikt_status ikt_joined_resolve(ikt_context *ctx, const ikt_rows *rows, int64_t from, int64_t to,
                              ikt_joined *joined);
void ikt_joined_destroy(ikt_joined *joined);

/* COLLECTIVE. D of rows that are not joined, by those of the own rows that are.
 *   least, most   D of the own rows' pairs; INFINITY and -INFINITY without any */
float ikt_joined_apart(ikt_context *ctx, double least, double most);

/* LOCAL, pure. D of a similarity, given as its part of the largest, from FLT_MIN to 1. */
float ikt_joined_of_similarity(float part);

/* LOCAL, pure. D of an own row (local number) and some others (global numbers), which are looked
 * up together: the steps of a bisection depend on the row's length alone.
 *   other   [count] at most 8 of them
 *   d       [count] receives them; that of a row with itself is `apart` */
static inline void ikt_joined_some(const ikt_joined *joined, int64_t row, const uint32_t *other,
                                   int64_t count, float *d) {
    const int64_t begin = joined->pairs.start[row];
    const uint32_t *column = joined->pairs.column + begin;
    int64_t left = joined->pairs.start[row + 1] - begin, at[8] = {0};
    const bool is_empty = left == 0;
    while (left > 1) { /* column[at] <= other, or all of them are above it */
        const int64_t half = left / 2;
        for (int64_t e = 0; e < count; e++)
            at[e] += column[at[e] + half] <= other[e] ? half : 0;
        left -= half;
    }
    for (int64_t e = 0; e < count; e++)
        d[e] = !is_empty && column[at[e]] == other[e] ? joined->pairs.value[begin + at[e]]
                                                      : joined->apart;
}

/* LOCAL, pure. Bytes of the pairs of n_local rows with so many entries between them. */
int64_t ikt_joined_memory(int64_t n_local, int64_t entries);

#endif
