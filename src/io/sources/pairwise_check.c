/* Whether the numbers of all pairs are distances, or similarities. See pairwise.h. */
#include <float.h>
#include <math.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "io/sources/pairwise.h"

/* How far an entry may differ from its mirror image: as a part of the larger one, and of the
 * largest of all. */
static const double of_larger = 1e-4, of_largest = 1e-6;

/* Numbers of a window of columns, and of its mirror image: of the windows of all ranks together,
 * and of one rank at least. Larger ones need more memory and fewer passes. */
enum { WINDOWS_NUMBERS = 1 << 22, WINDOW_NUMBERS = 1 << 21 };

static const char purpose[] = "pairs";

/* --- one pass --------------------------------------------------------------------------------- */

typedef struct {
    ikt_context *ctx;
    const ikt_pairwise *pairs;
    bool are_distances;
    double largest; /* of pairs of different rows */
    uint64_t odd;   /* see ikt_hash_entry */
} looking;

static ikt_status look(void *self, int64_t first, int64_t count, const double *value) {
    looking *l = self;
    const int64_t n = l->pairs->n;
    const double most = sqrt(FLT_MAX);
    uint64_t odd = 0;
    double largest = l->largest;
    int64_t bad = INT64_MAX;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(l->ctx))                         \
    reduction(min : bad) reduction(+ : odd) reduction(max : largest)
    for (int64_t e = 0; e < count * n; e++) {
        const int64_t i = first + e / n, j = e % n;
        if (i != j) largest = value[e] > largest ? value[e] : largest;
        odd += ikt_hash_entry(i, j, (float)value[e]);
        const bool is_bad = value[e] > most || (i == j && value[e] != 0);
        if (l->are_distances && is_bad && e < bad) bad = e;
    }
    l->odd += odd;
    l->largest = largest;
    if (bad == INT64_MAX) return IKT_OK;
    const char *name = ikt_source_name(l->pairs->source);
    const long long row = first + bad / n, column = bad % n;
    if (row == column)
        return ikt_fail(l->ctx, IKT_ERR_DATA,
                        "%s, row %lld: the distance to itself is %g and not 0; set the diagonal to "
                        "0 (numpy.fill_diagonal), or say preprocess.matrix=similarities if that is "
                        "what these are",
                        name, row, value[bad]);
    return ikt_fail(l->ctx, IKT_ERR_DATA,
                    "%s, row %lld, column %lld: the square of %g does not fit single precision; "
                    "divide all entries by one number, which changes nothing",
                    name, row, column, value[bad]);
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
    worst_pair *all = NULL;
    int64_t *counts = NULL;
    ikt_status st = ikt_alloc(ctx, &all, ikt_size(ctx), sizeof *all, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &counts, ikt_size(ctx), sizeof *counts, purpose);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        ikt_gather_counts(ctx, 1, counts);
        ikt_allgather(ctx, worst, 1, sizeof *worst, all, counts);
        for (int rank = 0; rank < ikt_size(ctx); rank++)
            if (is_worse(&all[rank], worst)) *worst = all[rank];
    }
    ikt_free(&all);
    ikt_free(&counts);
    return st;
}

static ikt_status check_mirror(ikt_context *ctx, const ikt_pairwise *pairs, const char *what,
                               double tolerated, double relative) {
    const int64_t n = pairs->n;
    const ikt_rows rows = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    const int64_t most = ikt_rows_count(&rows, 0);
    const int64_t share = WINDOWS_NUMBERS / rows.ranks;
    const int64_t numbers = share > WINDOW_NUMBERS ? share : WINDOW_NUMBERS;
    const int64_t fitting = numbers > n ? numbers / n : 1;
    sending s = {.rows = &rows,
                 .rank = ikt_rank(ctx),
                 .relative = relative,
                 .width = fitting < most ? fitting : most};
    worst_pair worst = {.difference = 0, .row = n};
    float *mirror = NULL;
    int64_t *leave = NULL, *come = NULL;
    const int64_t sent = rows.count * s.width * rows.ranks;
    ikt_status st = ikt_alloc(ctx, &s.sent, sent, sizeof *s.sent, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &s.window, s.width * n, sizeof(float), purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &mirror, s.width * n, sizeof(float), purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &leave, rows.ranks, sizeof *leave, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &come, rows.ranks, sizeof *come, purpose);
    st = ikt_agree(ctx, st);
    for (; st == IKT_OK && s.pass * s.width < most; s.pass++) {
        st = ikt_pairwise_read(ctx, pairs, &rows, cut, &s);
        if (st != IKT_OK) break;
        for (int rank = 0; rank < rows.ranks; rank++) {
            leave[rank] = rows.count * window_count(&s, rank);
            come[rank] = ikt_rows_count(&rows, rank) * window_count(&s, s.rank);
        }
        ikt_exchange(ctx, s.sent, leave, mirror, come, sizeof *mirror);
        compare(&s, mirror, tolerated, &worst);
    }
    if (st == IKT_OK) st = join(ctx, &worst);
    if (st == IKT_OK && worst.difference > 0)
        st = ikt_fail(ctx, IKT_ERR_DATA,
                      "%s is not symmetric, as %s must be: row %lld, column %lld is %g, and row "
                      "%lld, column %lld is %g, the pair that differs most",
                      ikt_source_name(pairs->source), what, (long long)worst.row,
                      (long long)worst.column, worst.entry, (long long)worst.column,
                      (long long)worst.row, worst.mirror);
    ikt_free(&s.sent);
    ikt_free(&s.window);
    ikt_free(&mirror);
    ikt_free(&leave);
    ikt_free(&come);
    return st;
}

/* COLLECTIVE. One pass, and more where it leaves doubts.
 *   largest   receives that of all pairs of different rows */
static ikt_status check(ikt_context *ctx, const ikt_pairwise *pairs, bool are_distances,
                        double *largest) {
    const ikt_rows rows = ikt_rows_make(pairs->n, ikt_size(ctx), ikt_rank(ctx));
    looking l = {.ctx = ctx, .pairs = pairs, .are_distances = are_distances};
    IKT_TRY(ikt_pairwise_read(ctx, pairs, &rows, look, &l));
    ikt_max_f64(ctx, &l.largest, 1);
    *largest = l.largest;
    if (are_distances && !((float)(l.largest * l.largest) >= FLT_MIN))
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s: the largest distance is %g, which tells no rows apart; multiply all "
                        "entries by one number if they are in too large a unit",
                        ikt_source_name(pairs->source), l.largest);
    if (!(l.largest > 0))
        return ikt_fail(ctx, IKT_ERR_DATA, "%s: all similarities of different rows are 0",
                        ikt_source_name(pairs->source));
    if (ikt_hash_total(ctx, l.odd) == 0) return IKT_OK;
    return check_mirror(ctx, pairs, are_distances ? "distances" : "similarities",
                        of_largest * l.largest, of_larger);
}

ikt_status ikt_pairwise_check(ikt_context *ctx, const ikt_pairwise *pairs) {
    double largest;
    return check(ctx, pairs, true, &largest);
}

ikt_status ikt_pairwise_check_similarities(ikt_context *ctx, const ikt_pairwise *pairs,
                                           double *largest) {
    return check(ctx, pairs, false, largest);
}

/* --- similarities of either sign -------------------------------------------------------------- */

/* Squared distances of larger ones leave single precision. */
static const double number_most = 8e37;

typedef struct {
    ikt_context *ctx;
    const ikt_pairwise *pairs;
    double largest, largest_self; /* magnitudes */
    int64_t negative;
    uint64_t odd;
} numbers;

static ikt_status look_at_numbers(void *self, int64_t first, int64_t count, const double *value) {
    numbers *l = self;
    const int64_t n = l->pairs->n;
    uint64_t odd = 0;
    double largest = l->largest;
    int64_t bad = INT64_MAX, negative = 0;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(l->ctx))                         \
    reduction(min : bad) reduction(+ : odd, negative) reduction(max : largest)
    for (int64_t e = 0; e < count * n; e++) {
        const double magnitude = fabs(value[e]);
        if (!(magnitude <= number_most) && e < bad) bad = e;
        largest = magnitude > largest ? magnitude : largest;
        negative += value[e] < 0;
        odd += ikt_hash_entry(first + e / n, e % n, (float)value[e]);
    }
    l->odd += odd;
    l->largest = largest;
    l->negative += negative;
    for (int64_t i = 0; i < count; i++)
        l->largest_self = fmax(l->largest_self, fabs(value[i * n + first + i]));
    if (bad == INT64_MAX) return IKT_OK;
    return ikt_fail(l->ctx, IKT_ERR_DATA,
                    "%s, row %lld, column %lld: %g is no finite number that fits single precision, "
                    "as every similarity must be",
                    ikt_source_name(l->pairs->source), (long long)(first + bad / n),
                    (long long)(bad % n), value[bad]);
}

ikt_status ikt_pairwise_check_numbers(ikt_context *ctx, const ikt_pairwise *pairs, double tolerance,
                                      ikt_pairwise_numbers *out) {
    const ikt_rows rows = ikt_rows_make(pairs->n, ikt_size(ctx), ikt_rank(ctx));
    numbers l = {.ctx = ctx, .pairs = pairs};
    IKT_TRY(ikt_pairwise_read(ctx, pairs, &rows, look_at_numbers, &l));
    ikt_max_f64(ctx, &l.largest, 1);
    ikt_max_f64(ctx, &l.largest_self, 1);
    *out = (ikt_pairwise_numbers){l.largest, l.largest_self, ikt_sum_one(ctx, l.negative)};
    if (!(l.largest > 0))
        return ikt_fail(ctx, IKT_ERR_DATA, "%s: all similarities are 0",
                        ikt_source_name(pairs->source));
    if (tolerance < 0 || ikt_hash_total(ctx, l.odd) == 0) return IKT_OK;
    return check_mirror(ctx, pairs, "similarities", tolerance * l.largest, 0);
}
