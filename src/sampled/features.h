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

/* LOCAL, pure. Bytes. */
int64_t ikt_features_memory(const ikt_rows *rows, int64_t d);

#endif
