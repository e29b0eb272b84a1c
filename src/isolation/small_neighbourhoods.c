/* Whether rows have small neighbourhoods. See settings.h.
 *
 * Method: near a point of a set of dimension m the k-th nearest distance grows as k^(1/m). So
 * ln 4 / ln(d_8 / d_2) is the local dimension among the 8 nearest rows, and ln 4 / ln(d_32 / d_8)
 * that from there to the 32nd, by the medians of both ratios over up to 256 rows. In one cloud, and
 * in groups that lie apart, the second is not larger. Where a row has some near rows and what comes
 * next is all about equally far, as between images of few poses each, the second is larger, and
 * cells of eight rows reach into what is far. Twenty labelled sets have a growth of .7 to 1.02, and
 * no use for smaller cells, or of 1.24 to 6, and gain up to .33 of 10-NN accuracy by them
 * (docs/affinities.md). Cells of two rows know nothing beyond a group of six, so that they are for
 * rows beyond whose groups distances say little: vowels of one speaker lie in groups of six, too,
 * and those of other speakers at distances that tell them apart. And where even the 2nd and the 8th
 * nearest row are about equally far, as among embeddings of texts, there are no groups: the ratio
 * of two large dimensions says nothing, and smaller cells keep fewer neighbours.
 *
 * Advantage: no labels, no trial run, no parameter that depends on units. Disadvantage: a pass over
 * the rows; neighbourhoods of more than some eight rows are not seen.
 */
#include "isolation/settings.h"

#include <math.h>
#include <omp.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/select.h"
#include "base/timer.h"
#include "base/watch.h"
#include "dist/rows.h"
#include "metric/metric.h"

enum {
    QUERIES = 256,
    TOGETHER = 8, /* queries that a thread compares with a block of rows */
    BLOCK = 512,  /* rows */
    NEAREST = 32,
    SECOND = 2, /* the first may be a copy */
    MIDDLE = 8,
    ROWS_LEAST = 2 * NEAREST
};

static const double growth_of_small = 1.2, growth_of_tiny = 1.8;

/* d_8 over d_32, or d_2 over d_8, in squares, from which on these rows are about equally far: the
 * farther one within a quarter of the nearer one, a dimension of six. */
static const double equally_far = .64;

typedef struct {
    ikt_dataset *data;
    int64_t n, d, queries;
    int64_t *row;          /* [queries] ascending */
    float *query;          /* [queries * d] */
    float *rows;           /* [BLOCK * d] of this rank */
    float *packed;         /* the same, packed */
    float *result;         /* [threads * TOGETHER * BLOCK] */
    ikt_pair *pair;        /* [queries * IKT_SELECT_CAPACITY * NEAREST] */
    ikt_select *nearest;   /* [queries] */
    double *inner, *outer; /* [queries] d_2 / d_8 and d_8 / d_32; negative where there is none */
} search;

static ikt_status allocate(ikt_arrays *held, search *s) {
    const int64_t q = s->queries, rows = ikt_dataset_pairs(s->data) ? 0 : BLOCK;
    const int64_t numbers = rows > 0 ? q * s->d : ikt_packed_rows(s->n); /* of a matrix: a row */
    const int64_t results = ikt_threads(held->ctx) * TOGETHER * BLOCK;
    s->row = ikt_claim(held, q, sizeof *s->row);
    s->query = ikt_claim(held, numbers, sizeof *s->query);
    s->rows = ikt_claim(held, rows * s->d, sizeof *s->rows);
    s->packed = ikt_claim(held, ikt_packed_floats(rows, s->d), sizeof *s->packed);
    s->result = ikt_claim(held, results, sizeof *s->result);
    s->pair = ikt_claim(held, q * IKT_SELECT_CAPACITY * NEAREST, sizeof *s->pair);
    s->nearest = ikt_claim(held, q, sizeof *s->nearest);
    s->inner = ikt_claim(held, 2 * q, sizeof *s->inner);
    IKT_TRY(held->status);
    s->outer = s->inner + q;
    for (int64_t i = 0; i < q; i++) {
        s->row[i] = i * (s->n / q) + i * (s->n % q) / q;
        s->inner[i] = s->outer[i] = -1;
        ikt_select_begin(&s->nearest[i], ikt_cpu_isa(), NEAREST,
                         s->pair + i * IKT_SELECT_CAPACITY * NEAREST);
    }
    return IKT_OK;
}

/* Offers rows first .. first + count - 1 to all queries. */
static void compare(ikt_context *ctx, search *s, int64_t first, int64_t count) {
    const ikt_metric *metric = ikt_metric_of(s->data);
    const int64_t width = ikt_packed_rows(count);
    ikt_pack_rows(s->rows, count, s->d, s->packed);
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t q = 0; q < s->queries; q += TOGETHER) {
        float *result = s->result + (int64_t)omp_get_thread_num() * TOGETHER * BLOCK;
        const int64_t some = s->queries - q < TOGETHER ? s->queries - q : TOGETHER;
        metric->on(ikt_cpu_isa())->block(s->query + q * s->d, some, s->packed, count, s->d, result);
        for (int64_t i = 0; i < some; i++)
            ikt_select_floats(&s->nearest[q + i], s->row[q + i], first, count, result + i * width);
    }
}

/* COLLECTIVE. Each rank goes through its own rows. */
static ikt_status find_among_own(ikt_context *ctx, search *s) {
    const ikt_rows rows = ikt_rows_make(s->n, ikt_size(ctx), ikt_rank(ctx));
    const ikt_row_range own = {rows.first, rows.count};
    const int64_t steps = ikt_stream_steps(ctx, own.count, BLOCK);
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, BLOCK, step);
        IKT_TRY(ikt_dataset_read(s->data, at.count > 0 ? at.first : 0, at.count, s->rows));
        if (at.count > 0) compare(ctx, s, at.first, at.count);
        IKT_TRY(ikt_watch_pause(ctx));
    }
    return IKT_OK;
}

/* The ratios of distances of query q, from its nearest rows among all rows. Distances may be
 * squared: what is made of them does not change by a power. */
static void take_ratios(search *s, int64_t q, ikt_pair *pair, int64_t count) {
    ikt_pairs_part(ikt_cpu_isa(), pair, count, NEAREST);
    ikt_pairs_sort(pair, NEAREST);
    const double second = (double)ikt_pair_value(pair[SECOND - 1]);
    const double middle = (double)ikt_pair_value(pair[MIDDLE - 1]);
    const double last = (double)ikt_pair_value(pair[NEAREST - 1]);
    if (middle <= 0) return; /* eight copies of the row */
    s->inner[q] = second / middle;
    s->outer[q] = middle / last;
}

/* COLLECTIVE. The ratios of a matrix of all distances, of which a query's own row has all of them;
 * each rank reads some of these rows. */
static ikt_status look_up(ikt_context *ctx, search *s) {
    const ikt_rows share = ikt_rows_make(s->queries, ikt_size(ctx), ikt_rank(ctx));
    const int64_t most = ikt_rows_count(&share, 0);
    for (int64_t i = 0; i < most; i++) {
        const bool is_mine = i < share.count;
        const int64_t q = share.first + i;
        IKT_TRY(ikt_dataset_read(s->data, is_mine ? s->row[q] : 0, is_mine, s->query));
        if (!is_mine) continue;
        ikt_select_floats(&s->nearest[q], s->row[q], 0, s->n, s->query);
        ikt_select_end(&s->nearest[q]);
        take_ratios(s, q, s->nearest[q].pair, s->nearest[q].count);
    }
    ikt_max_f64(ctx, s->inner, 2 * s->queries);
    return IKT_OK;
}

/* COLLECTIVE. The lists of all ranks go to one rank for each query, which makes one of them; then
 * all ranks get the ratios of all queries. */
static ikt_status merge(ikt_context *ctx, search *s) {
    const int ranks = ikt_size(ctx);
    const ikt_rows share = ikt_rows_make(s->queries, ranks, ikt_rank(ctx));
    int64_t left = 0, coming = 0;
    IKT_ARRAYS(held, ctx, "neighbourhoods");
    int64_t *leave = ikt_claim(&held, 2 * ranks, sizeof *leave);
    ikt_pair *out = ikt_claim(&held, s->queries * NEAREST, sizeof *out);
    ikt_pair *in = ikt_claim(&held, ranks * share.count * NEAREST, sizeof *in);
    ikt_pair *list = ikt_claim(&held, ranks * NEAREST, sizeof *list);
    IKT_TRY(ikt_arrays_agree(&held));
    /* Lists shorter than that are filled up with what is farther than any row. */
    for (int64_t q = 0; q < s->queries; q++) {
        ikt_select *own = &s->nearest[q];
        ikt_select_end(own);
        for (int64_t e = 0; e < NEAREST; e++)
            out[left++] = e < own->count ? own->pair[e] : UINT64_MAX;
    }
    int64_t *come = leave + ranks;
    for (int r = 0; r < ranks; r++) {
        leave[r] = ikt_rows_count(&share, r) * NEAREST;
        come[r] = share.count * NEAREST;
        coming += come[r];
    }
    ikt_exchange(ctx, out, leave, in, come, sizeof *in);
    for (int64_t q = 0; coming > 0 && q < share.count; q++) {
        for (int r = 0; r < ranks; r++)
            for (int64_t e = 0; e < NEAREST; e++)
                list[r * NEAREST + e] = in[(r * share.count + q) * NEAREST + e];
        take_ratios(s, share.first + q, list, ranks * NEAREST);
    }
    ikt_max_f64(ctx, s->inner, 2 * s->queries);
    return IKT_OK;
}

/* The median of those ratios that are there, the lower one of an even number; sorts them. 0: fewer
 * than half are. */
static double median(double *ratio, int64_t count) {
    int64_t absent = 0;
    ikt_sort_f64(ratio, count);
    while (absent < count && ratio[absent] < 0)
        absent++;
    return 2 * absent > count ? 0 : ratio[absent + (count - absent - 1) / 2];
}

ikt_status ikt_small_neighbourhoods_find(ikt_context *ctx, ikt_dataset *data, int64_t *cell_rows,
                                         double *growth) {
    IKT_IN_STAGE(ctx, IKT_STAGE_PREPROCESS);
    search s = {.data = data, .n = ikt_dataset_rows(data), .d = ikt_dataset_columns(data)};
    s.queries = s.n < QUERIES ? s.n : QUERIES;
    *cell_rows = 0;
    *growth = 1;
    if (s.n < ROWS_LEAST) return IKT_OK;
    IKT_ARRAYS(held, ctx, "neighbourhoods");
    IKT_TRY(ikt_agree(ctx, allocate(&held, &s)));
    if (ikt_dataset_pairs(data)) {
        IKT_TRY(look_up(ctx, &s));
    } else {
        IKT_TRY(ikt_dataset_gather_floats(data, s.row, s.queries, s.query));
        IKT_TRY(find_among_own(ctx, &s));
        IKT_TRY(merge(ctx, &s));
    }
    const double inner = median(s.inner, s.queries), outer = median(s.outer, s.queries);
    /* Where most rows have copies, or many rows are equally far, there is no dimension. */
    if (inner > 0 && inner < 1 && outer < 1) *growth = log(inner) / log(outer);
    const bool is_far = outer >= equally_far || s.n > IKT_SMALL_ROWS_MOST;
    const bool are_near = inner < equally_far;
    *cell_rows = !are_near || *growth < growth_of_small ? 0
                 : *growth >= growth_of_tiny && is_far  ? 2
                                                        : 4;
    return IKT_OK;
}
