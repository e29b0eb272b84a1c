/* How far apart the classes of a view lie: what the labels make of the map (clusters.c), or what
 * k-means finds in it (kmeans.c). */
#ifndef IKT_EVALUATE_CLUSTERS_H
#define IKT_EVALUATE_CLUSTERS_H

#include "evaluate/family.h"

typedef struct {
    double davies_bouldin, calinski_harabasz;
} ikt_cluster_index;

/* COLLECTIVE. Of 2 or more classes, fewer than rows.
 *   box   that positions are looked at in: the unit box, or ikt_unit_box_of_map
 * Errors: IKT_ERR_RESOURCE; agreed. */
ikt_status ikt_cluster_indices(ikt_context *ctx, const ikt_measure_view *view,
                               const ikt_unit_box *box, ikt_cluster_index *out);

/* COLLECTIVE. The mean silhouette of the queries, and how many there are. Likewise. */
ikt_status ikt_cluster_silhouette(ikt_context *ctx, const ikt_measure_view *view,
                                  const ikt_unit_box *box, double *value, int64_t *queries);

/* LOCAL, pure. Positions as they are. */
static inline ikt_unit_box ikt_unit_box_of_map(int64_t q) {
    ikt_unit_box box = {.q = q};
    for (int64_t c = 0; c < q; c++)
        box.scale[c] = 1;
    return box;
}

#endif
