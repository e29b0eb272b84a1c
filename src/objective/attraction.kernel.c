/* The loops over the entries of P, and repulsion from far rows. See attraction.h.
 *
 * A part of a row whose length is not a multiple of the lanes ends in a block whose surplus values
 * are masked to zero: such lanes add +0 or -0, which changes no sum that began as +0. Its surplus
 * columns are those of the rows that follow, which are wanted next anyway.
 * Dimensions, kind of pair and whether the value is wanted are constants of each instance. */
#include "objective/attraction.h"

#include "base/gather.h"
#include "base/lanes.h"
#include "kernelsum/replica.h"

/* UMAP's curve w = 1 / (1 + a s^b), s the square of a distance, in lanes. Method: a s^b = e^l with
 * l = b log s + log a, and w from e^-|l|, which no s makes overflow.
 *
 * What is below this counts as this: logarithms are of normal numbers. */
static const float curve_least = 1e-37F;

/* e = e^-|l|, and which lanes have l > 0, where w = e / (1 + e); in the others w = 1 / (1 + e). */
typedef struct {
    vector l, e;
    vector_bits is_far;
} curve_lanes;

LANES_INLINE void curve_look(const vector *square, float log_a, float b, curve_lanes *at) {
    vector s = *square;
    vector_floor(&s, curve_least);
    vector_log(&s);
    at->l = b * s + log_a;
    at->is_far = at->l > 0.0f;
    const vector minus = -at->l;
    vector_select(&at->is_far, &minus, &at->l, &at->e);
    vector_exp(&at->e);
}

/* w, and 1 - w. */
LANES_INLINE void curve_similarity(const curve_lanes *at, vector *w, vector *rest) {
    const vector one = (vector){0} + 1.0f, below = one / (1.0f + at->e), above = at->e * below;
    vector_select(&at->is_far, &above, &below, w);
    vector_select(&at->is_far, &below, &above, rest);
}

/* Cuts each lane to -most .. most. */
LANES_INLINE void curve_clip(vector *value, float most) {
    vector_cap(value, most);
    vector_floor(value, -most);
}

/* Beyond this a squared distance counts as this, so that 0 times it is 0: the padding of a dense P
 * lies infinitely far. */
static const float farthest = 1e30f;

/* What an instance is compiled for. */
typedef struct {
    int q;
    ikt_pair_kind kind;
    bool want_value, is_dense;
} variant;

typedef struct {
    vector along[IKT_DIMENSIONS_MOST][VECTORS], value[VECTORS], balance[VECTORS];
} row_sums;

/* Adds the entries of one vector for pairs of UMAP's curve, whose force is cut along each axis. */
LANES_INLINE void add_curve(const ikt_pair_weight *pair, variant is, row_sums *sums, int v,
                            const vector *p, const vector *other, const float *own) {
    vector d[IKT_DIMENSIONS_MOST], square = (vector){0}, w, rest;
    curve_lanes curve;
    for (int c = 0; c < is.q; c++) {
        d[c] = own[c] - other[c];
        square += d[c] * d[c];
    }
    vector_cap(&square, farthest);
    vector_floor(&square, curve_least);
    curve_look(&square, pair->a, pair->b, &curve);
    curve_similarity(&curve, &w, &rest);
    const vector slope = 2 * pair->b * rest / square;
    for (int c = 0; c < is.q; c++) {
        vector along = slope * d[c];
        curve_clip(&along, pair->c);
        sums->along[c][v] += *p * along;
    }
    if (!is.want_value) return;
    vector_log1p(&curve.e); /* -log w = log(1 + e^l) */
    vector_floor(&curve.l, 0);
    sums->value[v] += *p * (curve.l + curve.e);
}

/* Adds the entries of one vector of a block to its sums: own - other along each axis, weight and
 * other terms of the pair. */
LANES_INLINE void add_entries(const ikt_pair_weight *pair, variant is, row_sums *sums, int v,
                              const vector *p, const vector *other, const float *own) {
    vector d[IKT_DIMENSIONS_MOST], weight, ratio;
    if (is.kind == IKT_PAIR_CURVE) {
        add_curve(pair, is, sums, v, p, other, own);
        return;
    }
    const bool is_square = is.kind == IKT_PAIR_SNE || is.kind == IKT_PAIR_TAILED;
    vector far = (vector){0} + (is_square ? 0.0f : 1.0f); /* 1 + r^2, or r^2 */
    for (int c = 0; c < is.q; c++) {
        d[c] = own[c] - other[c];
        far += d[c] * d[c];
    }
    if (is.is_dense) vector_cap(&far, farthest);
    ratio = *p * far;
    if (is.kind == IKT_PAIR_TSNE) {
        weight = *p / far;
    } else if (is.kind == IKT_PAIR_TAILED) {
        far *= pair->b;
        ratio = *p;
        weight = *p / (1.0f + far);
    } else if (is.kind == IKT_PAIR_SNE) {
        ratio = *p;
        weight = *p;
    } else {
        const vector w = 1.0f / far;
        vector l = is.kind == IKT_PAIR_NERV ? pair->c * *p : pair->a * ratio;
        if (is.kind == IKT_PAIR_NERV) {
            vector_floor(&l, 1);
            vector_log(&l);
        } else {
            vector_log1p(&l);
            ratio *= pair->c;
            vector_log(&ratio);
            sums->value[v] += *p * (ratio - l);
        }
        l *= w;
        sums->balance[v] += l;
        weight = is.kind == IKT_PAIR_NERV ? w * (pair->a * *p + pair->b * l) : w * l;
    }
    for (int c = 0; c < is.q; c++)
        sums->along[c][v] += weight * d[c];
    if (!is.want_value || is.kind == IKT_PAIR_JSE) return;
    vector_log(&ratio);
    if (is.kind == IKT_PAIR_TAILED) {
        vector_log1p(&far);
        far *= pair->a;
    }
    if (is_square) ratio += far;
    sums->value[v] += *p * ratio;
}

LANES_INLINE void finish_row(variant is, const row_sums *sums, const ikt_attraction_job *job,
                             int64_t i) {
    for (int c = 0; c < is.q; c++)
        job->force[is.q * i + c] = lanes_total(sums->along[c]);
    if (is.want_value && job->value) job->value[i - job->first] = lanes_total(sums->value);
    if (job->balance) job->balance[i - job->first] = lanes_total(sums->balance);
}

/* --- sparse ----------------------------------------------------------------------------------- */

/* Adds a block of LANES entries, or the first `count` of them: the others are masked. */
LANES_INLINE void add_block(const ikt_attraction_job *job, variant is, row_sums *sums,
                            const int32_t *column, const float *value, int64_t count,
                            const float *own) {
    LANES_UNROLL for (int v = 0; v < VECTORS; v++) {
        const int64_t left = count - v * LANE_WIDTH;
        if (left <= 0) break;
        vector entries, other[IKT_DIMENSIONS_MOST];
        memcpy(&entries, value + v * LANE_WIDTH, sizeof entries);
        if (count < LANES) vector_keep(&entries, left < LANE_WIDTH ? left : LANE_WIDTH);
        if (is.q == 2)
            gather_pairs(column + v * LANE_WIDTH, job->y, &other[0], &other[1]);
        else
            for (int c = 0; c < is.q; c++)
                gather_one(column + v * LANE_WIDTH, job->y + c, is.q, &other[c]);
        add_entries(job->pair, is, sums, v, &entries, other, own);
    }
}

/* At the end of the arrays there are no entries to be masked: zeros stand in. */
LANES_INLINE void add_last_block(const ikt_attraction_job *job, variant is, row_sums *sums,
                                 const int32_t *column, const float *value, int64_t count,
                                 const float *own) {
    int32_t columns[LANES] = {0};
    float values[LANES] = {0};
    memcpy(columns, column, (size_t)count * sizeof *column);
    memcpy(values, value, (size_t)count * sizeof *value);
    add_block(job, is, sums, columns, values, count, own);
}

/* Columns and values lie one behind the other, but the hardware begins anew at every page of 4 KB:
 * they are asked for this many entries before they are wanted, a cache line of either a block. */
enum { AHEAD = 256 };

/* The address may lie beyond the arrays, where asking does nothing. */
LANES_INLINE void ask_ahead(const ikt_csr *part, int64_t e) {
    __builtin_prefetch((const void *)((uintptr_t)(part->column + e) + AHEAD * sizeof(int32_t)));
    if (part->value)
        __builtin_prefetch((const void *)((uintptr_t)(part->value + e) + AHEAD * sizeof(float)));
}

/* The values of LANES entries from e on, which may be those of rows that follow. Where there are
 * only bits, they are put into `room`: twice a normal number is the same with the next exponent. */
LANES_INLINE const float *values_of(const ikt_csr *part, int64_t e, float room[LANES]) {
    static const int32_t bit[LANES] = {1,       1 << 1,  1 << 2,  1 << 3, 1 << 4,  1 << 5,
                                       1 << 6,  1 << 7,  1 << 8,  1 << 9, 1 << 10, 1 << 11,
                                       1 << 12, 1 << 13, 1 << 14, 1 << 15};
    const int32_t next_exponent = 1 << 23;
    uint32_t bits;
    int32_t once;
    if (part->value) return part->value + e;
    memcpy(&bits, part->twice + e / 8, sizeof bits);
    memcpy(&once, &part->once, sizeof once);
    const int32_t block = (int32_t)(bits >> (e % 8));
    for (int v = 0; v < VECTORS; v++) {
        vector_bits own;
        memcpy(&own, bit + v * LANE_WIDTH, sizeof own);
        own = once + (((own & block) != 0) & next_exponent);
        memcpy(room + v * LANE_WIDTH, &own, sizeof own);
    }
    return room;
}

/* The entries of row i in one part of P; `entries`: of all rows. */
LANES_INLINE void add_part(const ikt_attraction_job *job, variant is, row_sums *sums,
                           const ikt_csr *part, int64_t i, int64_t entries) {
    const int64_t end = part->start[i + 1];
    const float *own = job->y + is.q * i;
    float room[LANES];
    int64_t e = part->start[i];
    for (; e + LANES <= end; e += LANES) {
        ask_ahead(part, e);
        add_block(job, is, sums, part->column + e, values_of(part, e, room), LANES, own);
    }
    if (e >= end) return;
    ask_ahead(part, e);
    const float *value = values_of(part, e, room);
    if (e + LANES <= entries)
        add_block(job, is, sums, part->column + e, value, end - e, own);
    else
        add_last_block(job, is, sums, part->column + e, value, end - e, own);
}

LANES_INLINE void sparse_rows(const ikt_graph *graph, const ikt_attraction_job *job, variant is) {
    const int64_t n = graph->rows.count;
    const int64_t forward = graph->forward.start[n], reverse = graph->reverse.start[n];
    for (int64_t i = job->first; i < job->last; i++) {
        row_sums sums;
        memset(&sums, 0, sizeof sums);
        add_part(job, is, &sums, &graph->forward, i, forward);
        add_part(job, is, &sums, &graph->reverse, i, reverse);
        finish_row(is, &sums, job, i);
    }
}

/* --- dense ------------------------------------------------------------------------------------ */

LANES_INLINE void dense_rows(const ikt_dense *dense, const ikt_attraction_job *job, variant is) {
    for (int64_t i = job->first; i < job->last; i++) {
        const float *row = dense->value + i * dense->stride;
        float own[IKT_DIMENSIONS_MOST];
        row_sums sums;
        memset(&sums, 0, sizeof sums);
        for (int c = 0; c < is.q; c++)
            own[c] = job->at[c][dense->rows.first + i];
        for (int64_t j = 0; j < dense->stride; j += LANES)
            for (int v = 0; v < VECTORS; v++) {
                const int64_t at = j + v * LANE_WIDTH;
                vector value, other[IKT_DIMENSIONS_MOST];
                memcpy(&value, row + at, sizeof value);
                for (int c = 0; c < is.q; c++)
                    memcpy(&other[c], job->at[c] + at, sizeof other[c]);
                add_entries(job->pair, is, &sums, v, &value, other, own);
            }
        finish_row(is, &sums, job, i);
    }
}

/* --- instances: constants for all that the loops depend on ------------------------------------ */

/* The value of t-SNE costs a logarithm or two an entry, which is saved where it is not wanted. */
#define RUN_KINDS(rows, p, q, is_dense)                                                            \
    do {                                                                                           \
        if (job->pair->kind == IKT_PAIR_NERV)                                                      \
            rows(p, job, (variant){q, IKT_PAIR_NERV, true, is_dense});                             \
        else if (job->pair->kind == IKT_PAIR_JSE)                                                  \
            rows(p, job, (variant){q, IKT_PAIR_JSE, true, is_dense});                              \
        else if (job->pair->kind == IKT_PAIR_SNE && job->value)                                    \
            rows(p, job, (variant){q, IKT_PAIR_SNE, true, is_dense});                              \
        else if (job->pair->kind == IKT_PAIR_SNE)                                                  \
            rows(p, job, (variant){q, IKT_PAIR_SNE, false, is_dense});                             \
        else if (job->pair->kind == IKT_PAIR_TAILED && job->value)                                 \
            rows(p, job, (variant){q, IKT_PAIR_TAILED, true, is_dense});                           \
        else if (job->pair->kind == IKT_PAIR_TAILED)                                               \
            rows(p, job, (variant){q, IKT_PAIR_TAILED, false, is_dense});                          \
        else if (job->pair->kind == IKT_PAIR_CURVE && job->value)                                  \
            rows(p, job, (variant){q, IKT_PAIR_CURVE, true, is_dense});                            \
        else if (job->pair->kind == IKT_PAIR_CURVE)                                                \
            rows(p, job, (variant){q, IKT_PAIR_CURVE, false, is_dense});                           \
        else if (job->value)                                                                       \
            rows(p, job, (variant){q, IKT_PAIR_TSNE, true, is_dense});                             \
        else                                                                                       \
            rows(p, job, (variant){q, IKT_PAIR_TSNE, false, is_dense});                            \
    } while (0)

static void sparse(const ikt_graph *graph, const ikt_attraction_job *job) {
    if (job->q == 1)
        RUN_KINDS(sparse_rows, graph, 1, false);
    else if (job->q == 2)
        RUN_KINDS(sparse_rows, graph, 2, false);
    else
        RUN_KINDS(sparse_rows, graph, 3, false);
}

static void dense(const ikt_dense *p, const ikt_attraction_job *job) {
    if (job->q == 1)
        RUN_KINDS(dense_rows, p, 1, true);
    else if (job->q == 2)
        RUN_KINDS(dense_rows, p, 2, true);
    else
        RUN_KINDS(dense_rows, p, 3, true);
}

const ikt_attraction_kernel IKT_KERNEL(ikt_attraction_kernel) = {sparse, dense};

/* Repulsion from far rows. Dimensions, and whether a = b = 1, are constants of
 * each instance. */

/* Beyond this the square of a distance counts as this: no force is left, and none is NaN. Its
 * square is finite, too. */
static const float negatives_farthest = 1e18F;

/* strength w / (soft + s) of squared distances s. With a = b = 1 it is one division. */
LANES_INLINE void negative_slope(const ikt_negative_force *force, bool is_student,
                                 const vector *square, vector *slope) {
    vector w, rest;
    curve_lanes curve;
    if (is_student) {
        *slope = force->strength / ((1.0f + *square) * (force->soft + *square));
        return;
    }
    curve_look(square, force->log_a, force->b, &curve);
    curve_similarity(&curve, &w, &rest);
    *slope = force->strength * w / (force->soft + *square);
}

/* The rows of one register: lanes at .. at + LANE_WIDTH - 1 of the tile. */
LANES_INLINE void repel_rows(const ikt_negatives_job *job, int q, bool is_student, int at) {
    const ikt_negative_force *force = &job->force;
    vector own[IKT_DIMENSIONS_MOST], sum[IKT_DIMENSIONS_MOST], weight;
    memcpy(&weight, job->weight + at, sizeof weight);
    for (int c = 0; c < q; c++) {
        memcpy(&own[c], job->at[c] + at, sizeof own[c]);
        sum[c] = (vector){0};
    }
    for (int64_t k = 0; k < job->far; k++) {
        const float *far = job->far_at + k * (q + 1);
        vector d[IKT_DIMENSIONS_MOST], square = (vector){0}, slope;
        for (int c = 0; c < q; c++) {
            d[c] = own[c] - far[c];
            square += d[c] * d[c];
        }
        vector_cap(&square, negatives_farthest);
        negative_slope(force, is_student, &square, &slope);
        const vector both = weight + far[q];
        for (int c = 0; c < q; c++) {
            vector along = slope * d[c];
            curve_clip(&along, force->clip);
            sum[c] -= both * along;
        }
    }
    for (int c = 0; c < q; c++)
        memcpy(job->sum[c] + at, &sum[c], sizeof sum[c]);
}

LANES_INLINE void repel_tile(const ikt_negatives_job *job, int q, bool is_student) {
    for (int at = 0; at < LANES; at += LANE_WIDTH)
        repel_rows(job, q, is_student, at);
}

void IKT_KERNEL(ikt_negatives_kernel)(const ikt_negatives_job *job) {
    const bool is_student = job->force.log_a == 0 && job->force.b == 1;
    if (is_student && job->q == 1)
        repel_tile(job, 1, true);
    else if (is_student && job->q == 2)
        repel_tile(job, 2, true);
    else if (is_student)
        repel_tile(job, 3, true);
    else if (job->q == 1)
        repel_tile(job, 1, false);
    else if (job->q == 2)
        repel_tile(job, 2, false);
    else
        repel_tile(job, 3, false);
}
