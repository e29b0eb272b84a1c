/* Rows far from all others. See lone_rows.h. */
#include "sampled/lone_rows.h"

#include <omp.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sort.h"
#include "dist/shuffle.h"
#include "metric/metric.h"
#include "neighbours/scorer.h"
#include "sampled/triplet.h"

static const char purpose[] = "triplets";

/* Times the median scale of the rows of a list. Real data have some rows beyond 3; those that were
 * shifted by ten root mean square lengths were beyond 8 (docs/trimap.md). */
static const float lone_from = 5;

enum {
    BATCH_BYTES = 64 << 20, /* of rows that are fetched at a time, at most */
    EXCEPTIONS = 100        /* one row in so many may be alone, */
};

/* and one in any case. */
static int64_t exceptions_of(int64_t n) {
    return ikt_larger(1, n / EXCEPTIONS);
}

typedef struct {
    const ikt_scorer *scorer;
    const ikt_neighbours *lists;
    ikt_row_set set; /* rows of other ranks that the lists of a batch name, */
    char *others;    /* and these rows */
    float *square;   /* [rows * k] of all lists */
    char *scratch;   /* [threads * scratch_bytes] */
} measuring;

/* COLLECTIVE. Fetches the rows of other ranks in the lists of rows first .. last - 1. */
static ikt_status fetch(ikt_context *ctx, measuring *m, int64_t first, int64_t last) {
    const ikt_rows *rows = &m->scorer->rows;
    const size_t bytes = (size_t)m->scorer->row_bytes;
    const int64_t k = m->lists->k;
    IKT_TRY(ikt_agree(ctx, ikt_row_set_create(ctx, rows->n, &m->set)));
    for (int64_t e = first * k; e < last * k; e++)
        if (!ikt_is_own(rows, m->lists->row[e])) ikt_row_set_add(&m->set, m->lists->row[e]);
    ikt_row_set_number(&m->set);
    IKT_ARRAYS(held, ctx, purpose);
    uint32_t *row = ikt_claim(&held, m->set.count, sizeof *row);
    m->others = ikt_claim_kept(&held, m->set.count, bytes);
    IKT_TRY(ikt_arrays_agree(&held));
    ikt_row_set_list(&m->set, row);
    return ikt_gather_rows(ctx, rows, row, m->set.count, m->scorer->plain, bytes, m->others);
}

static void forget(measuring *m) {
    ikt_row_set_destroy(&m->set);
    ikt_free(&m->others);
}

static const char *row_in(const measuring *m, uint32_t row) {
    const ikt_rows *rows = &m->scorer->rows;
    const char *plain = m->scorer->plain;
    return ikt_is_own(rows, row)
               ? plain + ((int64_t)row - rows->first) * m->scorer->row_bytes
               : m->others + ikt_row_set_place(&m->set, row) * m->scorer->row_bytes;
}

enum { SOME = 16 }; /* rows of a list that are compared at a time */

static void measure_row(const measuring *m, int64_t i, char *scratch) {
    const int64_t k = m->lists->k;
    const char *own = (const char *)m->scorer->plain + i * m->scorer->row_bytes, *other[SOME];
    for (int64_t e = 0; e < k; e += SOME) {
        const int64_t count = ikt_smaller(SOME, k - e);
        for (int64_t o = 0; o < count; o++)
            other[o] = row_in(m, m->lists->row[i * k + e + o]);
        m->scorer->score_one(m->scorer, own, other, count, scratch, m->square + i * k + e);
    }
}

/* COLLECTIVE. The squared distances of all listed pairs, some rows at a time. */
static ikt_status measure(ikt_context *ctx, measuring *m) {
    const ikt_rows *rows = &m->scorer->rows;
    const int64_t each = m->lists->k * m->scorer->row_bytes;
    const int64_t batch = ikt_larger(1, BATCH_BYTES / each);
    const int64_t most = ikt_rows_count(rows, 0); /* no rank has more */
    for (int64_t done = 0; done < most; done += batch) {
        const int64_t first = ikt_smaller(done, rows->count);
        const int64_t last = ikt_smaller(done + batch, rows->count);
        const ikt_status st = fetch(ctx, m, first, last);
        if (st == IKT_OK) {
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
            for (int64_t i = first; i < last; i++)
                measure_row(m, i, m->scratch + omp_get_thread_num() * m->scorer->scratch_bytes);
        }
        forget(m);
        IKT_TRY(st);
    }
    return IKT_OK;
}

/* The middle one of some numbers, which are sorted; `row` goes with them. */
static float sort_to_median(float *value, uint32_t *row, int64_t count) {
    ikt_best_sort(value, row, count);
    return value[count / 2];
}

/* Numbers of rows: of the own ones, and of the others in their lists. */
typedef struct {
    float *own, *others;
} numbers;

static float number_of(const measuring *m, const numbers *of, uint32_t row) {
    return ikt_scale_at(&m->scorer->rows, of->own, &m->set, of->others, row);
}

/* COLLECTIVE. The numbers of the others, by those of the own rows. */
static ikt_status share(ikt_context *ctx, measuring *m, numbers *of) {
    const ikt_rows *rows = &m->scorer->rows;
    ikt_row_set_destroy(&m->set);
    ikt_free(&of->others);
    return ikt_scales_fetch(ctx, rows, m->lists->row, rows->count * m->lists->k, of->own, &m->set,
                            &of->others);
}

/* COLLECTIVE. Scales of the own rows; then 1 in place of those of lone ones, and 0.
 *   value, row   [threads * k] work space
 *   scale        scales of all; `is_lone` receives the others */
static ikt_status find_lone(ikt_context *ctx, measuring *m, int64_t from, int64_t to, float *value,
                            uint32_t *row, numbers *scale, float *is_lone) {
    const int64_t n_local = m->scorer->rows.count, k = m->lists->k;
    const size_t bytes = (size_t)k * sizeof *row;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < n_local; i++) {
        float *my_value = value + omp_get_thread_num() * k;
        uint32_t *my_row = row + omp_get_thread_num() * k;
        memcpy(my_value, m->square + i * k, (size_t)k * sizeof *value);
        memcpy(my_row, m->lists->row + i * k, bytes);
        ikt_best_sort(my_value, my_row, k);
        scale->own[i] = (float)ikt_scale_of(my_value, k, from, to);
    }
    IKT_TRY(share(ctx, m, scale));
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < n_local; i++) {
        float *my_value = value + omp_get_thread_num() * k;
        uint32_t *my_row = row + omp_get_thread_num() * k;
        memcpy(my_row, m->lists->row + i * k, bytes);
        for (int64_t e = 0; e < k; e++)
            my_value[e] = number_of(m, scale, my_row[e]);
        const float median = sort_to_median(my_value, my_row, k);
        is_lone[i] = median > 0 && scale->own[i] > lone_from * median;
    }
    return IKT_OK;
}

/* LOCAL. A lone row becomes its own near row, and its pairs in the lists of others are apart. */
static void part(const measuring *m, const numbers *is_lone, float apart, ikt_neighbours *lists) {
    const ikt_rows *rows = &m->scorer->rows;
    const int64_t k = lists->k;
    for (int64_t e = 0; e < rows->count * k; e++)
        if (number_of(m, is_lone, lists->row[e]) > 0) lists->score[e] = apart;
    for (int64_t e = 0; e < rows->count * k; e++) {
        if (!(is_lone->own[e / k] > 0)) continue;
        lists->row[e] = (uint32_t)(rows->first + e / k);
        lists->score[e] = 0;
    }
}

static void forget_numbers(numbers *of) {
    ikt_free(&of->others);
}

/* COLLECTIVE. Finds and parts lone rows. */
static ikt_status find_and_part(ikt_context *ctx, const ikt_scorer *scorer, int64_t from,
                                int64_t to, float apart, ikt_neighbours *lists) {
    const int64_t n_local = scorer->rows.count, k = lists->k, n = scorer->rows.n;
    int64_t lone = 0;
    measuring m IKT_AT_END(forget) = {.scorer = scorer, .lists = lists};
    numbers scale IKT_AT_END(forget_numbers) = {0}, is_lone IKT_AT_END(forget_numbers) = {0};
    IKT_ARRAYS(held, ctx, purpose);
    scale.own = ikt_claim(&held, n_local, sizeof *scale.own);
    is_lone.own = ikt_claim(&held, n_local, sizeof *is_lone.own);
    m.square = ikt_claim(&held, n_local * k, sizeof *m.square);
    m.scratch = ikt_claim(&held, ikt_threads(ctx), (size_t)scorer->scratch_bytes);
    float *value = ikt_claim(&held, ikt_threads(ctx) * k, sizeof *value);
    uint32_t *row = ikt_claim(&held, ikt_threads(ctx) * k, sizeof *row);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(measure(ctx, &m));
    IKT_TRY(find_lone(ctx, &m, from, to, value, row, &scale, is_lone.own));
    IKT_TRY(share(ctx, &m, &is_lone));
    for (int64_t i = 0; i < n_local; i++)
        lone += is_lone.own[i] > 0;
    lone = ikt_sum_one(ctx, lone);
    const bool are_few = lone <= exceptions_of(n);
    if (are_few) part(&m, &is_lone, apart, lists);
    if (lone > 0)
        ikt_log_numbers(ctx, IKT_LOG_STAGE, IKT_LOG_NUMBERS(IKT_LOG_INT("rows", lone)),
                        "%lld of %lld rows far from all others: %s", (long long)lone, (long long)n,
                        are_few ? "triplets draw them nowhere" : "too many to count as exceptions");
    return IKT_OK;
}

bool ikt_lone_rows_are_sought(bool has_lists, bool has_codes, bool is_sparse, bool is_pairs) {
    return has_lists && has_codes && !is_sparse && !is_pairs;
}

ikt_status ikt_lone_rows_part(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                              const ikt_order *order, int64_t from, int64_t to, float apart,
                              ikt_neighbours *lists) {
    const int64_t d = ikt_dataset_columns(data), bytes = d * (int64_t)sizeof(float);
    const bool are_sought = ikt_lone_rows_are_sought(
        lists->k > 0, true, ikt_dataset_is_sparse(data), ikt_dataset_pairs(data) != NULL);
    float *x IKT_AT_END(ikt_free) = NULL;
    if (!are_sought) return IKT_OK;
    IKT_TRY(ikt_alloc_all(ctx, &x, rows->count * d, sizeof *x, purpose));
    IKT_TRY(ikt_scorer_read(ctx, data, rows, x));
    if (order) IKT_TRY(ikt_order_apply(ctx, order, x, bytes, x, bytes, bytes));
    const ikt_scorer scorer = ikt_scorer_rows(ikt_metric_of(data), x, d, rows);
    return find_and_part(ctx, &scorer, from, to, apart, lists);
}

int64_t ikt_lone_rows_memory(const ikt_rows *rows, int64_t k, int64_t row_bytes) {
    const int64_t listed = rows->count * k;
    const int64_t others = ikt_smaller(rows->n - rows->count, listed);
    /* Numbers of others: scales, marks, and the copies of the exchange; batches come and leave. */
    return (int64_t)sizeof(float) * (listed + 2 * rows->count + 5 * others) + rows->n / 5 +
           2 * ikt_smaller(BATCH_BYTES, others * row_bytes);
}
