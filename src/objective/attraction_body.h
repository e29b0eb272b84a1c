/* Body of attraction_portable.c, attraction_avx2.c and attraction_avx512.c, which define
 * LANE_WIDTH, TARGET, and
 *
 *     gather_pairs(column, y, &x, &y): positions of LANE_WIDTH columns in two dimensions,
 *     gather_one(column, y, q, &x): numbers y[q * column] of LANE_WIDTH columns.
 *
 * A part of a row whose length is not a multiple of the lanes ends in a block whose surplus values
 * are masked to zero: such lanes add +0 or -0, which changes no sum that began as +0. Its surplus
 * columns are those of the rows that follow, which are wanted next anyway.
 * Dimensions, kind of pair and whether the value is wanted are constants of each instance. */
#include "kernelsum/replica.h"

#define BODY LANES_INLINE TARGET

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

/* Weight of an entry, by `far` = 1 + r^2 (SNE: r^2); adds its other terms. */
BODY void apply_weight(const ikt_pair_weight *pair, variant is, row_sums *sums, int v,
                       const vector *p, const vector *far, vector *weight) {
    vector ratio = *p * *far;
    if (is.kind == IKT_PAIR_TSNE) {
        *weight = *p / *far;
    } else if (is.kind == IKT_PAIR_NERV) {
        const vector w = 1.0f / *far;
        vector l = pair->c * *p;
        vector_floor(&l, 1);
        vector_log(&l);
        l *= w;
        sums->balance[v] += l;
        *weight = w * (pair->a * *p + pair->b * l);
    } else if (is.kind == IKT_PAIR_JSE) {
        const vector w = 1.0f / *far;
        vector l = pair->a * ratio;
        vector_log1p(&l);
        ratio *= pair->c;
        vector_log(&ratio);
        sums->value[v] += *p * (ratio - l);
        l *= w;
        sums->balance[v] += l;
        *weight = w * l;
        return;
    } else {
        ratio = *p;
        *weight = *p;
    }
    if (!is.want_value) return;
    vector_log(&ratio);
    if (is.kind == IKT_PAIR_SNE) ratio += *far;
    sums->value[v] += *p * ratio;
}

/* Adds the entries of one vector of the block to its sums. */
BODY void add_entries(const ikt_pair_weight *pair, variant is, row_sums *sums, int v,
                      const vector *p, const vector *other, const float *own) {
    vector d[IKT_DIMENSIONS_MOST], weight;
    vector far = (vector){0} + (is.kind == IKT_PAIR_SNE ? 0.0f : 1.0f);
    for (int c = 0; c < is.q; c++) {
        d[c] = own[c] - other[c];
        far += d[c] * d[c];
    }
    if (is.is_dense) vector_cap(&far, farthest);
    apply_weight(pair, is, sums, v, p, &far, &weight);
    for (int c = 0; c < is.q; c++)
        sums->along[c][v] += weight * d[c];
}

BODY void finish_row(variant is, const row_sums *sums, const ikt_attraction_job *job, int64_t i) {
    for (int c = 0; c < is.q; c++)
        job->force[is.q * i + c] = lanes_total(sums->along[c]);
    if (is.want_value && job->value) job->value[i - job->first] = lanes_total(sums->value);
    if (job->balance) job->balance[i - job->first] = lanes_total(sums->balance);
}

/* --- sparse ----------------------------------------------------------------------------------- */

BODY void add_columns(const ikt_attraction_job *job, variant is, row_sums *sums, int v,
                      const int32_t *column, const vector *value, const float *own) {
    vector other[IKT_DIMENSIONS_MOST];
    if (is.q == 2)
        gather_pairs(column, job->y, &other[0], &other[1]);
    else
        for (int c = 0; c < is.q; c++)
            gather_one(column, job->y + c, is.q, &other[c]);
    add_entries(job->pair, is, sums, v, value, other, own);
}

/* The last entries of a part, fewer than the lanes. */
BODY void add_tail(const ikt_attraction_job *job, variant is, row_sums *sums, const int32_t *column,
                   const float *value, int64_t count, const float *own) {
    for (int v = 0; v < VECTORS && v * LANE_WIDTH < count; v++) {
        const int64_t left = count - v * LANE_WIDTH;
        vector some;
        memcpy(&some, value + v * LANE_WIDTH, sizeof some);
        vector_keep(&some, left < LANE_WIDTH ? left : LANE_WIDTH);
        add_columns(job, is, sums, v, column + v * LANE_WIDTH, &some, own);
    }
}

/* At the end of the arrays there are no entries to be masked: zeros stand in. */
BODY void add_last_tail(const ikt_attraction_job *job, variant is, row_sums *sums,
                        const int32_t *column, const float *value, int64_t count,
                        const float *own) {
    int32_t columns[LANES] = {0};
    float values[LANES] = {0};
    memcpy(columns, column, (size_t)count * sizeof *column);
    memcpy(values, value, (size_t)count * sizeof *value);
    add_tail(job, is, sums, columns, values, count, own);
}

/* `entries`: of all rows. */
BODY void add_part(const ikt_attraction_job *job, variant is, row_sums *sums, const ikt_csr *part,
                   int64_t i, int64_t entries) {
    const int64_t end = part->start[i + 1];
    const float *own = job->y + is.q * i;
    int64_t e = part->start[i];
    for (; e + LANES <= end; e += LANES)
        for (int v = 0; v < VECTORS; v++) {
            vector value;
            memcpy(&value, part->value + e + v * LANE_WIDTH, sizeof value);
            add_columns(job, is, sums, v, part->column + e + v * LANE_WIDTH, &value, own);
        }
    if (e < end && e + LANES <= entries)
        add_tail(job, is, sums, part->column + e, part->value + e, end - e, own);
    else if (e < end)
        add_last_tail(job, is, sums, part->column + e, part->value + e, end - e, own);
}

BODY void sparse_rows(const ikt_graph *graph, const ikt_attraction_job *job, variant is) {
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

BODY void dense_rows(const ikt_dense *dense, const ikt_attraction_job *job, variant is) {
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

/* --- instances -------------------------------------------------------------------------------- */

/* One of both P, with constants for all that the loops depend on. */
BODY void run_rows(const ikt_graph *graph, const ikt_dense *dense, const ikt_attraction_job *job,
                   variant is) {
    if (is.is_dense)
        dense_rows(dense, job, is);
    else
        sparse_rows(graph, job, is);
}

/* The value of t-SNE costs a logarithm an entry, which is saved where it is not wanted. */
BODY void run_kind(const ikt_graph *graph, const ikt_dense *dense, const ikt_attraction_job *job,
                   int q, bool is_dense) {
    switch (job->pair->kind) {
    case IKT_PAIR_NERV:
        run_rows(graph, dense, job, (variant){q, IKT_PAIR_NERV, true, is_dense});
        break;
    case IKT_PAIR_JSE:
        run_rows(graph, dense, job, (variant){q, IKT_PAIR_JSE, true, is_dense});
        break;
    case IKT_PAIR_SNE:
        run_rows(graph, dense, job, (variant){q, IKT_PAIR_SNE, true, is_dense});
        break;
    default:
        if (job->value)
            run_rows(graph, dense, job, (variant){q, IKT_PAIR_TSNE, true, is_dense});
        else
            run_rows(graph, dense, job, (variant){q, IKT_PAIR_TSNE, false, is_dense});
    }
}

BODY void run_any(const ikt_graph *graph, const ikt_dense *dense, const ikt_attraction_job *job,
                  bool is_dense) {
    if (job->q == 1)
        run_kind(graph, dense, job, 1, is_dense);
    else if (job->q == 2)
        run_kind(graph, dense, job, 2, is_dense);
    else
        run_kind(graph, dense, job, 3, is_dense);
}

static TARGET void sparse(const ikt_graph *graph, const ikt_attraction_job *job) {
    run_any(graph, NULL, job, false);
}

static TARGET void dense(const ikt_dense *p, const ikt_attraction_job *job) {
    run_any(NULL, p, job, true);
}
