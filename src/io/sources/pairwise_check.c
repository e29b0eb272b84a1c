/* Whether the numbers of all pairs are distances, or similarities. See pairwise.h. */
#include <float.h>
#include <math.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/row_hash.h"
#include "io/sources/pairwise.h"

/* How far an entry may differ from its mirror image: as a part of the larger one, and of the
 * largest of all. */
static const double of_larger = 1e-4, of_largest = 1e-6;

/* Numbers of a window of columns, and of its mirror image: of the windows of all ranks together,
 * and of one rank at least. Larger ones need more memory and fewer passes. */
enum { WINDOWS_NUMBERS = 1 << 22, WINDOW_NUMBERS = 1 << 21 };

static const char purpose[] = "pairs";

/* Squared distances of larger similarities leave single precision. */
static const double number_most = 8e37;

/* --- one pass --------------------------------------------------------------------------------- */

/* NUMBERS: similarities of either sign, those of a row with itself among them. */
typedef enum { DISTANCES, SIMILARITIES, NUMBERS } meaning;

typedef struct {
    ikt_context *ctx;
    const ikt_pairwise *pairs;
    meaning what;
    ikt_pairwise_numbers found; /* `largest` of distances and similarities: of different rows */
    uint64_t odd;               /* see ikt_hash_entry */
} looking;

/* What is wrong with an entry. */
static ikt_status refuse(const looking *l, long long row, long long column, double value) {
    const char *name = ikt_source_name(l->pairs->source);
    if (l->what == NUMBERS)
        return ikt_fail(l->ctx, IKT_ERR_DATA,
                        "%s, row %lld, column %lld: %g is no finite number that fits single "
                        "precision, as every similarity must be",
                        name, row, column, value);
    if (row == column)
        return ikt_fail(l->ctx, IKT_ERR_DATA,
                        "%s, row %lld: the distance to itself is %g and not 0; set the diagonal to "
                        "0 (numpy.fill_diagonal), or say preprocess.matrix=similarities if that is "
                        "what these are",
                        name, row, value);
    return ikt_fail(l->ctx, IKT_ERR_DATA,
                    "%s, row %lld, column %lld: the square of %g does not fit single precision; "
                    "divide all entries by one number, which changes nothing",
                    name, row, column, value);
}

static ikt_status look(void *self, int64_t first, int64_t count, const double *value) {
    looking *l = self;
    const int64_t n = l->pairs->n;
    const meaning what = l->what;
    const double most = sqrt(FLT_MAX);
    uint64_t odd = 0;
    double largest = l->found.largest;
    int64_t bad = INT64_MAX, negative = 0;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(l->ctx))                         \
    reduction(min : bad) reduction(+ : odd, negative) reduction(max : largest)
    for (int64_t e = 0; e < count * n; e++) {
        const int64_t i = first + e / n, j = e % n;
        const double magnitude = fabs(value[e]);
        if (what == NUMBERS || i != j) largest = magnitude > largest ? magnitude : largest;
        negative += value[e] < 0;
        odd += ikt_hash_entry(i, j, (float)value[e]);
        const bool is_bad =
            what == NUMBERS ? !(magnitude <= number_most)
                            : what == DISTANCES && (value[e] > most || (i == j && value[e] != 0));
        if (is_bad && e < bad) bad = e;
    }
    l->odd += odd;
    l->found.largest = largest;
    l->found.negative += negative;
    for (int64_t i = 0; i < count; i++)
        l->found.largest_self = fmax(l->found.largest_self, fabs(value[i * n + first + i]));
    if (bad == INT64_MAX) return IKT_OK;
    return refuse(l, first + bad / n, bad % n, value[bad]);
}

/* COLLECTIVE. Goes through all entries; of all ranks. */
static ikt_status look_through(looking *l) {
    const ikt_rows rows = ikt_rows_make(l->pairs->n, ikt_size(l->ctx), ikt_rank(l->ctx));
    IKT_TRY(ikt_pairwise_read(l->ctx, l->pairs, &rows, look, l));
    ikt_max_f64(l->ctx, &l->found.largest, 1);
    ikt_max_f64(l->ctx, &l->found.largest_self, 1);
    l->found.negative = ikt_sum_one(l->ctx, l->found.negative);
    return IKT_OK;
}

/* --- windows of columns ----------------------------------------------------------------------- */

/* The pair of entries that differ most. */
typedef struct {
    double difference, entry, mirror;
    int64_t row, column;
} worst_pair;

typedef struct {
    const ikt_rows *rows;
    int rank;            /* this one */
    double relative;     /* difference that is tolerated, as a part of the larger entry */
    int64_t width, pass; /* columns of a window of each rank, and which windows these are */
    float *sent;         /* what the own rows have in the windows, by rank */
    float *window;       /* [width * n] the own rows of the own window */
} sending;

/* Columns of the window of a rank in this pass: some of its own rows' numbers. */
static int64_t window_first(const sending *s, int rank) {
    return ikt_rows_first(s->rows, rank) + s->pass * s->width;
}

static int64_t window_count(const sending *s, int rank) {
    const int64_t left = ikt_rows_count(s->rows, rank) - s->pass * s->width;
    return left < 0 ? 0 : left < s->width ? left : s->width;
}

static ikt_status cut(void *self, int64_t first, int64_t count, const double *value) {
    const sending *s = self;
    const int64_t n = s->rows->n, mine = window_first(s, s->rank);
    int64_t at = 0; /* where the part of a rank begins */
    for (int rank = 0; rank < s->rows->ranks; rank++) {
        const int64_t from = window_first(s, rank), width = window_count(s, rank);
        for (int64_t i = 0; i < count; i++) {
            float *to = s->sent + at + (first + i - s->rows->first) * width;
            for (int64_t c = 0; c < width; c++)
                to[c] = (float)value[i * n + from + c];
        }
        at += s->rows->count * width;
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t own = first + i - mine;
        if (own < 0 || own >= window_count(s, s->rank)) continue;
        for (int64_t j = 0; j < n; j++)
            s->window[own * n + j] = (float)value[i * n + j];
    }
    return IKT_OK;
}

/* Of pairs that differ alike the one of the lowest row counts. */
static bool is_worse(const worst_pair *a, const worst_pair *b) {
    if (a->difference != b->difference) return a->difference > b->difference;
    return a->row != b->row ? a->row < b->row : a->column < b->column;
}

/* Compares the own window with its mirror image, which lies rank after rank, in whole rows. */
static void compare(const sending *s, const float *mirror, double tolerated, worst_pair *worst) {
    const int64_t n = s->rows->n, first = window_first(s, s->rank);
    const int64_t width = window_count(s, s->rank);
    for (int64_t j = 0; j < n; j++)
        for (int64_t c = 0; c < width; c++) {
            const double a = (double)s->window[c * n + j], b = (double)mirror[j * width + c];
            const double difference = fabs(a - b), larger = a > b ? a : b;
            if (difference <= tolerated || difference <= s->relative * larger) continue;
            const worst_pair found = {difference, a, b, first + c, j};
            if (is_worse(&found, worst)) *worst = found;
        }
}

/* COLLECTIVE. The worst of all ranks; of equal ones that of the lowest row. */
static ikt_status join(ikt_context *ctx, worst_pair *worst) {
    IKT_ARRAYS(held, ctx, purpose);
    worst_pair *all = ikt_claim(&held, ikt_size(ctx), sizeof *all);
    int64_t *counts = ikt_claim(&held, ikt_size(ctx), sizeof *counts);
    IKT_TRY(ikt_arrays_agree(&held));
    ikt_gather_counts(ctx, 1, counts);
    ikt_allgather(ctx, worst, 1, sizeof *worst, all, counts);
    for (int rank = 0; rank < ikt_size(ctx); rank++)
        if (is_worse(&all[rank], worst)) *worst = all[rank];
    return IKT_OK;
}

/* COLLECTIVE. The pair that differs most, where any differs by more than is tolerated. */
static ikt_status find_worst(const looking *l, double tolerated, double relative,
                             worst_pair *worst) {
    ikt_context *ctx = l->ctx;
    const int64_t n = l->pairs->n;
    const ikt_rows rows = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    const int64_t most = ikt_rows_count(&rows, 0);
    const int64_t share = WINDOWS_NUMBERS / rows.ranks;
    const int64_t numbers = share > WINDOW_NUMBERS ? share : WINDOW_NUMBERS;
    const int64_t fitting = numbers > n ? numbers / n : 1;
    sending s = {.rows = &rows,
                 .rank = ikt_rank(ctx),
                 .relative = relative,
                 .width = fitting < most ? fitting : most};
    IKT_ARRAYS(held, ctx, purpose);
    s.sent = ikt_claim(&held, rows.count * s.width * rows.ranks, sizeof *s.sent);
    s.window = ikt_claim(&held, s.width * n, sizeof *s.window);
    float *mirror = ikt_claim(&held, s.width * n, sizeof *mirror);
    int64_t *leave = ikt_claim(&held, rows.ranks, sizeof *leave);
    int64_t *come = ikt_claim(&held, rows.ranks, sizeof *come);
    IKT_TRY(ikt_arrays_agree(&held));
    for (; s.pass * s.width < most; s.pass++) {
        IKT_TRY(ikt_pairwise_read(ctx, l->pairs, &rows, cut, &s));
        for (int rank = 0; rank < rows.ranks; rank++) {
            leave[rank] = rows.count * window_count(&s, rank);
            come[rank] = ikt_rows_count(&rows, rank) * window_count(&s, s.rank);
        }
        ikt_exchange(ctx, s.sent, leave, mirror, come, sizeof *mirror);
        compare(&s, mirror, tolerated, worst);
    }
    return join(ctx, worst);
}

/* COLLECTIVE. After a pass: more of them where it leaves doubts. */
static ikt_status check_mirror(const looking *l, double tolerated, double relative) {
    worst_pair worst = {.difference = 0, .row = l->pairs->n};
    if (ikt_hash_total(l->ctx, l->odd) == 0) return IKT_OK;
    IKT_TRY(find_worst(l, tolerated, relative, &worst));
    if (!(worst.difference > 0)) return IKT_OK;
    return ikt_fail(l->ctx, IKT_ERR_DATA,
                    "%s is not symmetric, as %s must be: row %lld, column %lld is %g, and row "
                    "%lld, column %lld is %g, the pair that differs most",
                    ikt_source_name(l->pairs->source),
                    l->what == DISTANCES ? "distances" : "similarities", (long long)worst.row,
                    (long long)worst.column, worst.entry, (long long)worst.column,
                    (long long)worst.row, worst.mirror);
}

/* --- what is checked -------------------------------------------------------------------------- */

ikt_status ikt_pairwise_check(ikt_context *ctx, const ikt_pairwise *pairs) {
    looking l = {.ctx = ctx, .pairs = pairs, .what = DISTANCES};
    IKT_TRY(look_through(&l));
    const double largest = l.found.largest;
    if (!((float)(largest * largest) >= FLT_MIN))
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s: the largest distance is %g, which tells no rows apart; multiply all "
                        "entries by one number if they are in too large a unit",
                        ikt_source_name(pairs->source), largest);
    return check_mirror(&l, of_largest * largest, of_larger);
}

ikt_status ikt_pairwise_check_similarities(ikt_context *ctx, const ikt_pairwise *pairs,
                                           double *largest) {
    looking l = {.ctx = ctx, .pairs = pairs, .what = SIMILARITIES};
    IKT_TRY(look_through(&l));
    *largest = l.found.largest;
    if (!(*largest > 0))
        return ikt_fail(ctx, IKT_ERR_DATA, "%s: all similarities of different rows are 0",
                        ikt_source_name(pairs->source));
    return check_mirror(&l, of_largest * *largest, of_larger);
}

ikt_status ikt_pairwise_check_numbers(ikt_context *ctx, const ikt_pairwise *pairs, double tolerance,
                                      ikt_pairwise_numbers *out) {
    looking l = {.ctx = ctx, .pairs = pairs, .what = NUMBERS};
    IKT_TRY(look_through(&l));
    *out = l.found;
    if (!(out->largest > 0))
        return ikt_fail(ctx, IKT_ERR_DATA, "%s: all similarities are 0",
                        ikt_source_name(pairs->source));
    return tolerance < 0 ? IKT_OK : check_mirror(&l, tolerance * out->largest, 0);
}
