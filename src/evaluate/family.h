/* A family of measures: the contract between measure.c and the files of the families.
 *
 * A family either computes on its own (`compute`), or looks at queries: rows whose distances to all
 * rows of the input are known for a moment (queries.h). All families that look at queries share one
 * pass over the input, and the ranks that some of them want.
 */
#ifndef IKT_EVALUATE_FAMILY_H
#define IKT_EVALUATE_FAMILY_H

#include <stdint.h>

#include "base/arrays.h"
#include "base/status.h"
#include "dist/rows.h"
#include "evaluate/measure.h"
#include "evaluate/queries.h"
#include "evaluate/tree.h"

/* The inputs that a family needs. Families that need ranks look at queries: by distance in the
 * input, or, with CODES, by similarity under the Isolation kernel. */
enum {
    IKT_MEASURE_NEEDS_LABELS = 1,
    IKT_MEASURE_NEEDS_INPUT = 2,
    IKT_MEASURE_NEEDS_CODES = 4,
    IKT_MEASURE_NEEDS_COLUMNS = 8 /* coordinates of the input, not its distances alone */
};

/* The input of all families, computed once; the same on every rank but for `what`. */
typedef struct {
    const ikt_measure_settings *settings;
    const ikt_measured *what;
    int64_t n, q;
    float *y;            /* [n * q] positions of all rows */
    ikt_classes classes; /* of the labels; empty without */
    int32_t *class_of;   /* [n] number of the class of every row, -1: it has no label; NULL without
                            labels. Families that need labels and look at the map alone have a view
                            of the rows with a label */
    int64_t *size;       /* [classes.count] rows of each class */
    int64_t labelled;    /* rows that have a label */
} ikt_measure_view;

typedef struct {
    const char *name; /* as asked for in settings->only */
    const char *help; /* what it measures */
    unsigned needs;
    bool is_cheap; /* costs no more than a search for neighbours in the map */
    /* The classes it takes at most, of which there must be 2, and fewer than rows; and what it
     * calls its measures in the message where there are not. 0: any. */
    int64_t classes_most;
    const char *classes_for;
    /* SAME-ARGS. Refuses settings that the data do not allow, before anything long; or NULL. */
    ikt_status (*check)(ikt_context *ctx, const ikt_measure_settings *settings,
                        const ikt_measured *what);
    /* COLLECTIVE. Appends its measures to *out. NULL: the family looks at queries. The status of
     * this and of `finish` need not be agreed, but is before a further collective call. */
    ikt_status (*compute)(ikt_context *ctx, const ikt_measure_view *view, ikt_measures *out);
    /* LOCAL. Makes the observer, in arrays that observer->held has; one whose `see` stays NULL has
     * nothing to look at. */
    ikt_status (*begin)(const ikt_measure_view *view, ikt_query_observer *observer);
    /* COLLECTIVE. Adds up over threads and ranks, and appends to *out. */
    ikt_status (*finish)(ikt_context *ctx, const ikt_measure_view *view, void *self,
                         ikt_measures *out);
    /* LOCAL. Bytes per rank beside the view. */
    int64_t (*memory)(const ikt_measure_settings *settings, const ikt_measure_extent *extent);
} ikt_measure_family;

/* COLLECTIVE. Everything of the view that `what` allows.
 * Errors: IKT_ERR_RESOURCE; empty then. Freed with ikt_measure_view_free. */
ikt_status ikt_measure_view_make(ikt_context *ctx, const ikt_measure_settings *settings,
                                 const ikt_measured *what, ikt_measure_view *view);
void ikt_measure_view_free(ikt_measure_view *view);
int64_t ikt_measure_view_memory(const ikt_measure_extent *extent);

/* The rows that have a label, as a map of their own (labelled.c). */
typedef struct {
    ikt_measured what;     /* of them: rows, y and labels; the rest as it was */
    ikt_measure_view view; /* of them; empty where `missing` is 0 or all rows */
    int64_t missing;       /* rows without a label */
    float *y;
    int64_t *labels;
} ikt_labelled_map;

/* COLLECTIVE. Errors: IKT_ERR_RESOURCE; empty then. Freed with ikt_labelled_map_free; it must stay
 * where it is until then, as the view points into it. */
ikt_status ikt_labelled_map_make(ikt_context *ctx, const ikt_measure_settings *settings,
                                 const ikt_measured *what, ikt_labelled_map *out);
void ikt_labelled_map_free(ikt_labelled_map *map);

/* LOCAL. The rows by class, in each class by number; all of them have one.
 *   begin   receives [classes.count + 1]: the first place of each class in `order`
 *   order   receives [n] rows
 * Both are held with the others; NULL where there is no memory. */
void ikt_measure_by_class(ikt_arrays *held, const ikt_measure_view *view, int64_t **begin,
                          int32_t **order);

/* SAME-ARGS. Data that do not allow a family: an error where it was asked for by name, else, and
 * with settings->leaves_out, a warning; the family then adds nothing. */
ikt_status ikt_measure_refuse(ikt_context *ctx, const ikt_measure_settings *settings,
                              const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The map scaled to [0, 1] along each axis, as the Isolation kernel paper does before it looks at
 * clusters (section 5.1). An axis without extent becomes 0. */
typedef struct {
    int64_t q;
    double low[IKT_AXES_MOST], scale[IKT_AXES_MOST]; /* position -> (position - low) * scale */
} ikt_unit_box;

/* LOCAL. The box of y[n * q]. */
ikt_unit_box ikt_unit_box_of(const float *y, int64_t n, int64_t q);

/* LOCAL. The place-th smallest, 0 <= place < count; reorders the values (quickselect: linear on
 * average). No NaN. */
float ikt_order_statistic(float *values, int64_t count, int64_t place);

/* LOCAL. The median: the mean of the two in the middle where count is even; count >= 1. */
double ikt_median(float *values, int64_t count);

/* --- neighbour ranks, counted (rank_quality.c) ------------------------------------------------ */

/* Neighbour ranks in the input against neighbour ranks in the map.
 *
 * Method: from each query all rows are ranked twice, in the input and in the map (queries.h). A row
 * belongs to both neighbourhoods of size k from k = the larger of its two ranks on, so one
 * histogram of that gives the overlap for every k.
 * Advantage: every k at once, integers throughout. Disadvantage: two sorts a query. */
typedef struct {
    int64_t n;
    int64_t queries;   /* rows that were queries */
    int64_t *together; /* [n] pairs (query, row) by the larger of the row's two ranks */
    int64_t intruders; /* sum of (input rank - trust_k) over rows among the trust_k nearest in the
                          map but not in the input */
    int64_t missing;   /* sum of (map rank - trust_k) over rows among the trust_k nearest in the
                          input but not in the map */
} ikt_rank_counts;

/* COLLECTIVE. Counts in a pass of its own over all rows up to settings->exact_limit rows, over
 * settings->sample rows beyond; the same on every rank.
 *   what   with data; n < 2^31.
 *   out    freed with ikt_rank_counts_destroy; empty on failure.
 * Errors: IKT_ERR_RESOURCE, those of reading. Cost: n d + n operations a query. */
ikt_status ikt_rank_counts_compute(ikt_context *ctx, const ikt_measure_settings *settings,
                                   const ikt_measured *what, ikt_rank_counts *out);
void ikt_rank_counts_destroy(ikt_rank_counts *counts);

/* The families. */
extern const ikt_measure_family ikt_family_clusters, ikt_family_labels, ikt_family_silhouette,
    ikt_family_kmeans, ikt_family_visible, ikt_family_global, ikt_family_ranks,
    ikt_family_retrieval, ikt_family_triplets, ikt_family_separation, ikt_family_kernel,
    ikt_family_outliers, ikt_family_data_outliers, ikt_family_input_labels;

/* --- how far apart the classes of a view lie (clusters.c) ------------------------------------- */

typedef struct {
    double davies_bouldin, calinski_harabasz;
} ikt_cluster_index;

/* COLLECTIVE. Of 2 or more classes, fewer than rows.
 *   box   that positions are looked at in: the unit box, or positions as they are
 * Errors: IKT_ERR_RESOURCE; agreed. */
ikt_status ikt_cluster_indices(ikt_context *ctx, const ikt_measure_view *view,
                               const ikt_unit_box *box, ikt_cluster_index *out);

/* COLLECTIVE. The mean silhouette of the queries, and how many there are. Likewise. */
ikt_status ikt_cluster_silhouette(ikt_context *ctx, const ikt_measure_view *view,
                                  const ikt_unit_box *box, double *value, int64_t *queries);

/* --- k-means of positions (kmeans.c) ---------------------------------------------------------- */

/* The same bits on any ranks and threads. */

typedef struct {
    int64_t k;        /* clusters, >= 1; fewer are made where rows are in fewer places */
    int64_t restarts; /* >= 1 */
    uint64_t seed;
} ikt_kmeans_settings;

/* COLLECTIVE.
 *   y         [rows->count * q] finite positions, 1 <= q <= IKT_AXES_MOST; borrowed.
 *   cluster   [rows->count], receives numbers below k; among equally near centres the lowest.
 *   inertia   receives the sum of squared distances to the own centre; the same on all ranks.
 * Errors: IKT_ERR_RESOURCE. Cost: n k distances an iteration, at most 300
 * iterations a restart. */
ikt_status ikt_kmeans(ikt_context *ctx, const ikt_kmeans_settings *settings, const ikt_rows *rows,
                      const float *y, int64_t q, int32_t *cluster, double *inertia);

#endif
