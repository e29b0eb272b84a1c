/* A start from landmarks: a random subset is embedded first, and every row begins at the weighted
 * mean of the landmarks that it is most similar to.
 *
 * After Kobak & Berens 2019 (start of a large embedding from that of a subset). Advantage: the few
 * landmarks find a good arrangement of the clusters, which a large map cannot rearrange any more.
 * Disadvantage: what no landmark stands for has no place; and each row is compared with every
 * landmark, m n scores.
 */
#ifndef IKT_PIPELINE_LANDMARKS_H
#define IKT_PIPELINE_LANDMARKS_H

#include "data/dataset.h"
#include "dist/rows.h"
#include "isolation/codes.h"

/* The same on every rank. */
typedef struct {
    int64_t count;
    int64_t *row; /* [count] ascending */
    int q;        /* dimensions */
    float *y;     /* [count * q] their positions, centred */
} ikt_landmarks;

/* LOCAL. Frees what there is; accepts an empty struct. */
void ikt_landmarks_destroy(ikt_landmarks *landmarks);

/* COLLECTIVE. Positions of the own rows, weighted by the Isolation kernel: codes of the own rows in
 * the order of the input, those of the landmarks among them. Rows without similarity to any
 * landmark come to the middle.
 *   y   [rows->count * q] */
ikt_status ikt_landmarks_place_codes(ikt_context *ctx, const ikt_landmarks *landmarks,
                                     const ikt_rows *rows, const ikt_codes *codes, float *y);

/* COLLECTIVE. The same for kinds of affinity that know distances only, weighted by a Gaussian
 * kernel whose width suits each row's distances. Reads the own rows once. */
ikt_status ikt_landmarks_place_rows(ikt_context *ctx, const ikt_landmarks *landmarks,
                                    const ikt_rows *rows, ikt_dataset *data, float *y);

#endif
