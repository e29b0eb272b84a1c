/* The whole Isolation kernel against plain double sums over all pairs: the attraction where nothing
 * is sampled, what the samples are on average, and the estimate of the value. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "objective/whole_attraction.h"
#include "support/expect.h"
#include "support/random_codes.h"

enum { N = 211, T = 12, PSI = 9, Q_MOST = 3 };

typedef struct {
    int64_t psi, t, block, usual, last, last_from;
    bool has_zeros;
    double degrees; /* of freedom; 0: 1 */
    int q;
} setting;

static ikt_kernel kernel_of(const setting *s) {
    return ikt_kernel_of_degrees(s->degrees > 0 ? s->degrees : 1);
}

static float position(int64_t row, int64_t c) {
    return (float)(3 * ikt_rng_normal(7, IKT_RNG_TEST, row, (uint64_t)c));
}

/* --- plain sums over all pairs ---------------------------------------------------------------- */

typedef struct {
    double p[N * N], attraction[N * Q_MOST], value, mass, others;
} plain;

static int64_t shared(const setting *s, int64_t i, int64_t j) {
    int64_t count = 0;
    for (int64_t p = 0; p < s->t; p++)
        count += random_cell(N, s->psi, s->has_zeros, i, p) ==
                 random_cell(N, s->psi, s->has_zeros, j, p);
    return count;
}

static void plain_sums(const setting *s, plain *out) {
    double sum[N] = {0};
    memset(out, 0, sizeof *out);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            if (i != j) sum[i] += out->p[i * N + j] = (double)shared(s, i, j) / (double)s->t;
    for (int64_t i = 0; i < N; i++)
        out->others += sum[i] / N;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            double *p = &out->p[i * N + j], r2 = 0;
            if (!(*p > 0)) continue;
            *p = (*p / sum[i] + *p / sum[j]) / (2.0 * N);
            for (int c = 0; c < s->q; c++)
                r2 += pow((double)position(i, c) - (double)position(j, c), 2);
            const double a = s->degrees > 0 ? s->degrees : 1, v = 1 / (1 + r2 / a);
            const double w = isinf(a) ? exp(-r2) : pow(v, a);
            for (int c = 0; c < s->q; c++)
                out->attraction[s->q * i + c] +=
                    *p * v * ((double)position(i, c) - (double)position(j, c));
            out->value += *p * log(*p / w);
            out->mass += *p;
        }
}

/* --- the same by cells ------------------------------------------------------------------------ */

typedef struct {
    ikt_context *ctx;
    ikt_rows rows;
    ikt_whole whole;
    ikt_whole_attraction *attraction;
    float *y, *force;
    int q;
} run;

static void run_begin(ikt_context *ctx, const setting *s, run *r) {
    *r = (run){.ctx = ctx, .rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx)), .q = s->q};
    ikt_codes codes = random_codes(ctx, &r->rows, s->psi, s->t, s->has_zeros);
    assert_int_equal(ikt_whole_create(ctx, &r->rows, s->psi, 5, &codes, &r->whole), IKT_OK);
    assert_null(codes.code);
    const ikt_whole_sampling sampling = {5,        s->t, s->usual, s->last, s->last_from,
                                         s->block, 0,    1,        0};
    assert_int_equal(
        ikt_whole_attraction_create(ctx, &r->whole, s->q, kernel_of(s), &sampling, &r->attraction),
        IKT_OK);
    ikt_alloc(ctx, &r->y, r->rows.count * s->q, sizeof *r->y, "test");
    ikt_alloc(ctx, &r->force, r->rows.count * s->q, sizeof *r->force, "test");
    for (int64_t e = 0; e < r->rows.count * s->q; e++)
        r->y[e] = position(r->rows.first + e / s->q, e % s->q);
}

static void run_step(run *r, int64_t iteration) {
    memset(r->force, 0, (size_t)(r->rows.count * r->q) * sizeof *r->force);
    ikt_whole_attraction_begin(r->attraction, iteration, r->y);
    ikt_whole_attraction_end(r->attraction, r->force);
}

static void run_end(run *r) {
    ikt_whole_attraction_destroy(&r->attraction);
    ikt_whole_destroy(&r->whole);
    ikt_free(&r->y);
    ikt_free(&r->force);
}

/* Root mean square of the attraction, and of how far the mean of some iterations is from it,
 * relative to that; over all ranks. */
static double distance(const run *r, const plain *p, const double *sum, double times) {
    double off[2] = {0, 0};
    for (int64_t e = 0; e < N * r->q; e++)
        off[0] += p->attraction[e] * p->attraction[e];
    for (int64_t e = 0; e < r->rows.count * r->q; e++)
        off[1] += pow(sum[e] / times - p->attraction[r->rows.first * r->q + e], 2);
    return sqrt(ikt_exact_total(r->ctx, &off[1], 1) / off[0]);
}

static double distance_after(ikt_context *ctx, const setting *s, const plain *p, int64_t steps) {
    double sum[N * Q_MOST] = {0};
    run r;
    run_begin(ctx, s, &r);
    assert_true(fabs(r.whole.others - p->others) <= 1e-9 * p->others);
    for (int64_t i = 0; i < steps; i++) {
        run_step(&r, i);
        for (int64_t e = 0; e < r.rows.count * s->q; e++)
            sum[e] += (double)r.force[e];
    }
    const double off = distance(&r, p, sum, (double)steps);
    run_end(&r);
    assert_int_equal(ikt_memory_now(ctx), 0);
    return off;
}

/* --- tests ------------------------------------------------------------------------------------ */

static const setting all = {.psi = PSI, .t = T, .block = N, .usual = T, .last = T, .q = 2};

static void with_all_pairs_it_is_the_gradient_of_the_dense_p(void **state) {
    plain *p = malloc(sizeof *p);
    setting s[9] = {all, all, all, all, all, all, all, all, all};
    s[0].q = 1;
    s[1].has_zeros = true;
    s[1].psi = 300; /* cells of two bytes, most of them empty */
    s[2].q = 3;
    s[2].psi = 1; /* one cell holds everything */
    s[3].degrees = INFINITY;
    s[4].t = s[4].usual = s[4].last = 1;
    s[5].psi = N;
    s[5].q = 3;
    s[6].psi = 70000; /* cells of four bytes */
    s[7].degrees = 0.5;
    s[8].degrees = 3;
    s[8].q = 1;
    for (size_t k = 0; k < sizeof s / sizeof *s; k++) {
        plain_sums(&s[k], p);
        assert_true(distance_after(*state, &s[k], p, 1) < 1e-6);
    }
    free(p);
}

/* With whole cells the mean over an epoch is the sum itself, where all draws are of one size. */
static void an_epoch_uses_each_partitioning_once(void **state) {
    plain *p = malloc(sizeof *p);
    setting s = all;
    s.usual = 3;
    s.last_from = 1000;
    plain_sums(&s, p);
    assert_true(distance_after(*state, &s, p, 1) > 1e-2);
    assert_true(distance_after(*state, &s, p, T / 3) < 1e-6);
    s.last_from = 0;
    s.last = 6;
    assert_true(distance_after(*state, &s, p, 2) < 1e-6);
    free(p);
}

/* Draws of 4 and 3 partitionings in turn, and blocks of 6 and 5 rows: the mean over many iterations
 * comes as near as their number lets it. */
static void the_mean_of_the_samples_is_the_sum(void **state) {
    plain *p = malloc(sizeof *p);
    setting s = all;
    s.t = 7;
    s.usual = 4;
    s.last_from = 1 << 20;
    s.block = 6;
    plain_sums(&s, p);
    const double few = distance_after(*state, &s, p, 40),
                 many = distance_after(*state, &s, p, 4000);
    assert_true(few > 0.02);
    assert_true(many < few / 4 && many < 0.03);
    free(p);
}

static void the_value_is_estimated_within_its_error(void **state) {
    ikt_context *ctx = *state;
    plain *p = malloc(sizeof *p);
    const double degrees[] = {1, INFINITY, 0.5, 4};
    for (int k = 0; k < 4; k++) {
        setting s = all;
        ikt_whole_value found;
        s.degrees = degrees[k];
        s.has_zeros = k / 2;
        s.psi = 40;
        plain_sums(&s, p);
        run r;
        run_begin(ctx, &s, &r);
        assert_int_equal(ikt_whole_value_estimate(ctx, &r.whole, s.q, kernel_of(&s), r.y, &found),
                         IKT_OK);
        const double exact = p->value / p->mass;
        assert_true(fabs(found.value - exact) < 4 * found.error);
        assert_true(found.error > 0 && found.error < 0.02 * (1 + fabs(exact)));
        assert_true(fabs(p->mass + (double)r.whole.zero / N - 1) < 1e-12);
        assert_int_equal(r.whole.zero, s.has_zeros ? (N + 28) / 29 : 0);
        run_end(&r);
    }
    free(p);
}

/* Pairs come as often as P says. */
static void pairs_are_drawn_with_the_probabilities_of_p(void **state) {
    ikt_context *ctx = *state;
    plain *p = malloc(sizeof *p);
    double *seen = calloc(N * N, sizeof *seen), chi = 0, cells = 0;
    setting s = all;
    s.psi = 30;
    s.t = 5;
    plain_sums(&s, p);
    run r;
    run_begin(ctx, &s, &r);
    assert_int_equal(r.whole.sample.count, IKT_WHOLE_PAIRS);
    for (int64_t e = 0; e < r.whole.sample.count; e++) {
        const int64_t i = r.whole.sample.row[2 * e], j = r.whole.sample.row[2 * e + 1];
        assert_true(i != j && p->p[i * N + j] > 0);
        assert_true(fabs(r.whole.sample.log_p[e] - log(p->p[i * N + j])) < 1e-12);
        seen[(i < j ? i : j) * N + (i < j ? j : i)]++;
    }
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = i + 1; j < N; j++) {
            const double expected = 2 * p->p[i * N + j] * IKT_WHOLE_PAIRS;
            if (expected < 1) continue;
            chi += pow(seen[i * N + j] - expected, 2) / expected;
            cells++;
        }
    assert_true(cells > 500);
    assert_true(fabs(chi - cells) < 5 * sqrt(2 * cells));
    run_end(&r);
    free(seen);
    free(p);
}

/* The bits of one rank on any, with blocks of many cells and more partitionings than a round. */
static void the_bits_do_not_depend_on_ranks(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    for (int k = 0; k < 4; k++) {
        setting s = all;
        s.has_zeros = k % 2;
        s.psi = k < 2 ? 30 : 3 + 8 * s.has_zeros;
        s.block = 5;
        s.usual = k == 3 ? 11 : 4;
        s.last_from = 1000;
        run one, many;
        run_begin(alone, &s, &one);
        run_begin(ctx, &s, &many);
        for (int64_t i = 0; i < 7; i++) {
            run_step(&one, i);
            run_step(&many, i);
            const size_t bytes = (size_t)s.q * sizeof *one.force;
            assert_true(ikt_row_hash(alone, one.force, 0, N, bytes) ==
                        ikt_row_hash(ctx, many.force, many.rows.first, many.rows.count, bytes));
        }
        assert_memory_equal(one.whole.sample.row, many.whole.sample.row,
                            sizeof *one.whole.sample.row * 2 * (size_t)one.whole.sample.count);
        assert_memory_equal(one.whole.sample.log_p, many.whole.sample.log_p,
                            sizeof *one.whole.sample.log_p * (size_t)one.whole.sample.count);
        assert_int_equal(one.whole.largest, many.whole.largest);
        run_end(&one);
        run_end(&many);
    }
    ikt_context_destroy(&alone);
}

/* --- a cell of more rows than are one thread's work ------------------------------------------- */

enum { MANY = 20000, LARGE = 1 << 14, MANY_T = 2, LOOKED_AT = 40 };

/* The large cell has 17,143 rows, the other one the rest; which these are depends on p. */
static int64_t cell_of_many(int64_t row, int64_t p) {
    return (row + p) % 7 == 0;
}

/* Where each row stands in the order of its cell's shuffle, and in which of the cell's blocks. */
typedef struct {
    uint32_t member[MANY];
    int64_t rows, blocks;
} shuffled;

static void shuffle_cell(const ikt_whole_sampling *s, int64_t iteration, int64_t p, int64_t cell,
                         shuffled *out) {
    out->rows = 0;
    for (int64_t row = 0; row < MANY; row++)
        if (cell_of_many(row, p) == cell) out->member[out->rows++] = (uint32_t)row;
    out->blocks = ikt_whole_blocks(out->rows, s->block);
    if (out->blocks > 1) ikt_whole_shuffle(s, iteration, p, cell, out->member, out->rows);
}

/* Adds the force that the row at place `at` of a cell has from the others of its block. */
static void add_block_force(const shuffled *cell, int64_t block, int64_t at, double sum[2]) {
    const int64_t first = ikt_whole_block_first(cell->rows, cell->blocks, block),
                  end = ikt_whole_block_first(cell->rows, cell->blocks, block + 1);
    const double scale = (double)(cell->rows - 1) / (double)(end - first - 1);
    double total[2] = {0}; /* of the row, and of the other one */
    for (int64_t e = first; e < end; e++) {
        const int64_t i = cell->member[at], j = cell->member[e];
        const double u = (double)position(i, 0) - (double)position(j, 0),
                     v = (double)position(i, 1) - (double)position(j, 1);
        memset(total, 0, sizeof total);
        for (int64_t p = 0; p < MANY_T; p++) {
            const int64_t small = (MANY + p + 6) / 7 - (p + 6) / 7;
            total[0] += (double)((cell_of_many(i, p) ? small : MANY - small) - 1);
            total[1] += (double)((cell_of_many(j, p) ? small : MANY - small) - 1);
        }
        const double w = scale * (1 / total[0] + 1 / total[1]) / (1 + u * u + v * v);
        sum[0] += w * u / (2.0 * MANY);
        sum[1] += w * v / (2.0 * MANY);
    }
}

/* The force on a row, from its cells in both partitionings. */
static void plain_force(const ikt_whole_sampling *s, int64_t iteration, int64_t row,
                        double sum[2]) {
    static shuffled cell;
    sum[0] = sum[1] = 0;
    for (int64_t p = 0; p < MANY_T; p++) {
        shuffle_cell(s, iteration, p, cell_of_many(row, p), &cell);
        for (int64_t b = 0; b < cell.blocks; b++) {
            const int64_t end = ikt_whole_block_first(cell.rows, cell.blocks, b + 1);
            for (int64_t at = ikt_whole_block_first(cell.rows, cell.blocks, b); at < end; at++)
                if (cell.member[at] == (uint32_t)row) add_block_force(&cell, b, at, sum);
        }
    }
}

static ikt_codes codes_of_many(ikt_context *ctx, const ikt_rows *rows) {
    ikt_codes codes = {.n_local = rows->count, .t = MANY_T, .stride = 64, .width = 1};
    succeed(ctx, ikt_alloc(ctx, &codes.code, rows->count * codes.stride, 1, "test"));
    for (int64_t i = 0; i < rows->count; i++)
        for (int64_t p = 0; p < MANY_T; p++)
            ikt_code_set(&codes, i, p, (uint32_t)cell_of_many(rows->first + i, p));
    return codes;
}

/* Whole, and cut into blocks: some rows of each rank against sums over the pairs of their block. */
static void a_large_cell_is_the_sum_of_its_pairs(void **state) {
    ikt_context *ctx = *state;
    const int64_t block[] = {MANY, 500};
    for (int k = 0; k < 2; k++) {
        run r = {.ctx = ctx, .rows = ikt_rows_make(MANY, ikt_size(ctx), ikt_rank(ctx)), .q = 2};
        ikt_codes codes = codes_of_many(ctx, &r.rows);
        succeed(ctx, ikt_whole_create(ctx, &r.rows, 2, 5, &codes, &r.whole));
        assert_true(r.whole.largest > LARGE);
        const ikt_whole_sampling sampling = {5, MANY_T, MANY_T, MANY_T, 100, block[k], 0, 1, 0};
        succeed(ctx, ikt_whole_attraction_create(ctx, &r.whole, 2, ikt_kernel_of_degrees(1),
                                                 &sampling, &r.attraction));
        succeed(ctx, ikt_alloc(ctx, &r.y, r.rows.count * 2, sizeof *r.y, "test"));
        succeed(ctx, ikt_alloc(ctx, &r.force, r.rows.count * 2, sizeof *r.force, "test"));
        for (int64_t e = 0; e < r.rows.count * 2; e++)
            r.y[e] = position(r.rows.first + e / 2, e % 2);
        run_step(&r, 3);
        for (int64_t i = 0; i < r.rows.count; i += r.rows.count / LOOKED_AT + 1) {
            double wanted[2];
            plain_force(&sampling, 3, r.rows.first + i, wanted);
            const double off =
                hypot((double)r.force[2 * i] - wanted[0], (double)r.force[2 * i + 1] - wanted[1]);
            if (!(off <= 1e-5 * hypot(wanted[0], wanted[1])))
                fail_msg("row %d, blocks of %d: (%g, %g) is not (%g, %g)", (int)i, (int)block[k],
                         (double)r.force[2 * i], (double)r.force[2 * i + 1], wanted[0], wanted[1]);
        }
        run_end(&r);
        assert_int_equal(ikt_memory_now(ctx), 0);
    }
}

IKT_MPI_TESTS(ikt_test(with_all_pairs_it_is_the_gradient_of_the_dense_p),
              ikt_test(an_epoch_uses_each_partitioning_once),
              ikt_test(the_mean_of_the_samples_is_the_sum),
              ikt_test(the_value_is_estimated_within_its_error),
              ikt_test(pairs_are_drawn_with_the_probabilities_of_p),
              ikt_test(the_bits_do_not_depend_on_ranks),
              ikt_test(a_large_cell_is_the_sum_of_its_pairs))
