#define _POSIX_C_SOURCE 200112L /* setenv */

/* Kernel sums with charges of either sign and at targets elsewhere: every way, kernel and dimension
 * against a plain double sum, and the same bits whatever ranks, threads and instruction set. */
#include "support/kernelsum_maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/context.h"
#include "base/cpu.h"
#include "base/exact_sum.h"
#include "base/row_hash.h"

typedef enum { EXACT, GRID, TREE } way;

typedef struct {
    way way;
    int q;
    ikt_kernel_kind kernel;
    bool is_tight;
    double value, gradient; /* largest errors: root mean square beside that of the plain sums */
    double alpha;           /* of the tailed kernel, else 1 */
} variant;

/* As kernelsum.h states it: a single charge, whose own point feels nothing, is the worst case. */
static const variant variants[] = {{EXACT, 1, IKT_KERNEL_STUDENT, false, 1e-6, 1e-6, 1},
                                   {EXACT, 2, IKT_KERNEL_STUDENT, false, 1e-6, 1e-6, 1},
                                   {EXACT, 3, IKT_KERNEL_STUDENT, false, 1e-6, 1e-6, 1},
                                   {EXACT, 1, IKT_KERNEL_STUDENT_LOG, false, 1e-6, 1e-6, 1},
                                   {EXACT, 2, IKT_KERNEL_STUDENT_LOG, false, 1e-6, 1e-6, 1},
                                   {EXACT, 3, IKT_KERNEL_STUDENT_LOG, false, 1e-6, 1e-6, 1},
                                   {EXACT, 1, IKT_KERNEL_GAUSSIAN, false, 1e-6, 1e-6, 1},
                                   {EXACT, 2, IKT_KERNEL_GAUSSIAN, false, 1e-6, 1e-6, 1},
                                   {EXACT, 3, IKT_KERNEL_GAUSSIAN, false, 1e-6, 1e-6, 1},
                                   {GRID, 2, IKT_KERNEL_STUDENT, false, 2e-3, 2e-2, 1},
                                   {GRID, 2, IKT_KERNEL_STUDENT, true, 2e-5, 1e-4, 1},
                                   {GRID, 2, IKT_KERNEL_STUDENT_LOG, false, 2e-3, 4.5e-2, 1},
                                   {GRID, 2, IKT_KERNEL_STUDENT_LOG, true, 2e-5, 3e-4, 1},
                                   {TREE, 1, IKT_KERNEL_STUDENT, false, 1.5e-2, 2e-2, 1},
                                   {TREE, 2, IKT_KERNEL_STUDENT, false, 1.5e-2, 2e-2, 1},
                                   {TREE, 3, IKT_KERNEL_STUDENT, false, 1.5e-2, 2e-2, 1},
                                   {TREE, 1, IKT_KERNEL_STUDENT, true, 1e-3, 1e-3, 1},
                                   {TREE, 2, IKT_KERNEL_STUDENT, true, 1e-3, 1e-3, 1},
                                   {TREE, 3, IKT_KERNEL_STUDENT, true, 1e-3, 1e-3, 1},
                                   {EXACT, 1, IKT_KERNEL_TAILED, false, 1e-6, 1e-6, 0.5},
                                   {EXACT, 2, IKT_KERNEL_TAILED, false, 1e-6, 1e-6, 0.3},
                                   {EXACT, 3, IKT_KERNEL_TAILED, false, 1e-6, 1e-6, 2.7},
                                   {EXACT, 2, IKT_KERNEL_TAILED, false, 1e-6, 1e-6, 200},
                                   {GRID, 2, IKT_KERNEL_TAILED, false, 2e-3, 2e-2, 0.5},
                                   {GRID, 2, IKT_KERNEL_TAILED, true, 2e-5, 3e-4, 0.5},
                                   {GRID, 2, IKT_KERNEL_TAILED, true, 2e-5, 1e-4, 3},
                                   {GRID, 2, IKT_KERNEL_GAUSSIAN, true, 3e-5, 1e-4, 1},
                                   {TREE, 1, IKT_KERNEL_TAILED, false, 1.5e-2, 2e-2, 0.5},
                                   {TREE, 2, IKT_KERNEL_TAILED, true, 1e-3, 1e-3, 2.5},
                                   {TREE, 3, IKT_KERNEL_TAILED, true, 1e-3, 1e-3, 0.5}};
enum { VARIANTS = sizeof variants / sizeof *variants };

static ikt_kernel kernel_of(const variant *v) {
    return (ikt_kernel){v->kernel, v->alpha};
}

static ikt_kernelsum *create(ikt_context *ctx, const ikt_rows *rows, const variant *v) {
    const ikt_fft_settings fft = ikt_fft_preset(v->is_tight ? IKT_FFT_TIGHT : IKT_FFT_DEFAULT);
    ikt_kernelsum *sums = NULL;
    ikt_status st =
        v->way == EXACT ? ikt_kernelsum_create_exact(ctx, rows, v->q, kernel_of(v), &sums)
        : v->way == GRID
            ? ikt_kernelsum_create_fft(ctx, rows, kernel_of(v), &fft, &sums)
            : ikt_kernelsum_create_tree(ctx, rows, v->q, kernel_of(v),
                                        v->is_tight ? IKT_TREE_TIGHT : IKT_TREE_DEFAULT, &sums);
    assert_int_equal(st, IKT_OK);
    return sums;
}

/* Sets of charges: 0 of both signs; 1 one point alone; 2 and 3 as 0, very small and very large;
 * 4 zeros; 5 all positive and uneven; 6 the sum of 0 and 5; 7 ones. */
enum { SETS = 8, ALONE = 2 /* the row of set 1 */ };

static double charge_of(int set, int64_t row) {
    const double sign = 2 * ikt_rng_uniform(4, IKT_RNG_TEST, row, 0) - 1;
    const double positive = 0.1 + ikt_rng_uniform(4, IKT_RNG_TEST, row, 1);
    const double charges[SETS] = {
        sign, row == ALONE ? -0.7 : 0, 1e-30 * sign, 1e30 * sign, 0, positive, sign + positive, 1};
    return charges[set];
}

/* Row of the points, or of the targets, which lie among them and beyond. */
static float coordinate(int q, int64_t n, int64_t row, int axis, bool is_target) {
    const double spread = 0.5 * pow((double)n, 1.0 / q);
    return (float)(is_target
                       ? 3 + 1.5 * spread * ikt_rng_normal(6, IKT_RNG_TEST, row, (uint64_t)axis)
                       : spread * ikt_rng_normal(5, IKT_RNG_TEST, row, (uint64_t)axis));
}

typedef struct {
    ikt_rows rows, at; /* points, and places: targets or the points */
    bool has_targets;
    int q, sets;
    float *y, *target, *gradient;
    double *charge, *value;
} scene;

static scene make(ikt_context *ctx, int q, int64_t n, int64_t targets, int sets) {
    const int ranks = ikt_size(ctx), rank = ikt_rank(ctx);
    scene s = {.rows = ikt_rows_make(n, ranks, rank), .has_targets = targets > 0, .q = q};
    s.at = targets > 0 ? ikt_rows_make(targets, ranks, rank) : s.rows;
    s.sets = sets;
    const int64_t count = s.rows.count, places = s.at.count;
    assert_int_equal(ikt_alloc(ctx, &s.y, q * count, sizeof *s.y, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &s.target, q * places, sizeof *s.target, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &s.charge, sets * count, sizeof *s.charge, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &s.value, sets * places, sizeof *s.value, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &s.gradient, sets * q * places, sizeof *s.gradient, "test"),
                     IKT_OK);
    for (int64_t e = 0; e < q * count; e++)
        s.y[e] = coordinate(q, n, s.rows.first + e / q, (int)(e % q), false);
    for (int64_t e = 0; e < q * places; e++)
        s.target[e] = coordinate(q, n, s.at.first + e / q, (int)(e % q), s.has_targets);
    for (int k = 0; k < sets; k++)
        for (int64_t i = 0; i < count; i++)
            s.charge[k * count + i] = charge_of(k, s.rows.first + i);
    return s;
}

static void release(scene *s) {
    ikt_free(&s->y);
    ikt_free(&s->target);
    ikt_free(&s->gradient);
    ikt_free(&s->charge);
    ikt_free(&s->value);
}

static ikt_kernelsum_request request_of(const scene *s) {
    return (ikt_kernelsum_request){.y = s->y,
                                   .charges = s->sets,
                                   .charge = s->charge,
                                   .targets = s->at.count,
                                   .target = s->has_targets ? s->target : NULL,
                                   .value = s->value,
                                   .gradient = s->gradient};
}

/* sum[0] the value, sum[1 ..] the gradient, at own place i. */
static void sum_plainly(const scene *s, ikt_kernel kernel, int set, int64_t i, double *sum) {
    memset(sum, 0, 4 * sizeof *sum);
    for (int64_t j = 0; j < s->rows.n; j++) {
        double d[3], r2 = 0;
        for (int c = 0; c < s->q; c++) {
            d[c] =
                (double)s->target[s->q * i + c] - (double)coordinate(s->q, s->rows.n, j, c, false);
            r2 += d[c] * d[c];
        }
        const double w = 1 / (1 + r2), l = log1p(r2), charge = charge_of(set, j);
        const double a = kernel.alpha, tailed = pow(1 + r2 / a, -a);
        const double value = kernel.kind == IKT_KERNEL_STUDENT       ? w
                             : kernel.kind == IKT_KERNEL_STUDENT_LOG ? -w * l
                             : kernel.kind == IKT_KERNEL_TAILED      ? tailed
                                                                     : exp(-r2);
        const double slope = kernel.kind == IKT_KERNEL_STUDENT       ? w * w
                             : kernel.kind == IKT_KERNEL_STUDENT_LOG ? w * w * (1 - l)
                             : kernel.kind == IKT_KERNEL_TAILED      ? tailed / (1 + r2 / a)
                                                                     : value;
        sum[0] += charge * value;
        for (int c = 0; c < s->q; c++)
            sum[1 + c] -= 2 * charge * slope * d[c];
    }
}

/* Root mean square errors of value and gradient of a set over all ranks; 0 where nothing should be
 * and nothing is. */
static void errors_of(ikt_context *ctx, const scene *s, ikt_kernel kernel, int set,
                      double error[2]) {
    const int64_t places = s->at.count;
    double *square[4], total[4];
    for (int e = 0; e < 4; e++)
        assert_int_equal(ikt_alloc(ctx, &square[e], places, sizeof(double), "test"), IKT_OK);
    for (int64_t i = 0; i < places; i++) {
        double sum[4];
        sum_plainly(s, kernel, set, i, sum);
        square[0][i] = pow(s->value[set * places + i] - sum[0], 2);
        square[1][i] = sum[0] * sum[0];
        for (int c = 0; c < s->q; c++) {
            const double found = (double)s->gradient[s->q * (set * places + i) + c];
            square[2][i] += pow(found - sum[1 + c], 2);
            square[3][i] += sum[1 + c] * sum[1 + c];
        }
    }
    for (int e = 0; e < 4; e++) {
        total[e] = ikt_exact_total(ctx, square[e], places);
        ikt_free(&square[e]);
    }
    for (int e = 0; e < 2; e++)
        error[e] = total[2 * e] > 0 ? sqrt(total[2 * e] / total[2 * e + 1]) : 0;
}

static void charges_match_plain_sums(void **state) {
    ikt_context *ctx = *state;
    for (int v = 0; v < VARIANTS; v++)
        for (int64_t targets = 0; targets <= 150; targets += 150) {
            scene s = make(ctx, variants[v].q, 600, targets, SETS);
            const ikt_kernelsum_request request = request_of(&s);
            ikt_kernelsum *sums = create(ctx, &s.rows, &variants[v]);
            assert_int_equal(ikt_kernelsum_evaluate(sums, &request), IKT_OK);
            for (int k = 0; k < SETS; k++) {
                double error[2];
                errors_of(ctx, &s, kernel_of(&variants[v]), k, error);
                if (error[0] > variants[v].value || error[1] > variants[v].gradient)
                    print_message("variant %d, %lld targets, set %d: value %.2e, gradient %.2e\n",
                                  v, (long long)targets, k, error[0], error[1]);
                assert_true(error[0] <= variants[v].value && error[1] <= variants[v].gradient);
            }
            ikt_kernelsum_destroy(&sums);
            release(&s);
        }
}

/* Set 6 is the sum of 0 and 5: beside the rounding of the single numbers, exactly. */
static void sums_are_linear_in_the_charges(void **state) {
    ikt_context *ctx = *state;
    for (int v = 0; v < VARIANTS; v++) {
        scene s = make(ctx, variants[v].q, 500, 0, SETS);
        const ikt_kernelsum_request request = request_of(&s);
        ikt_kernelsum *sums = create(ctx, &s.rows, &variants[v]);
        assert_int_equal(ikt_kernelsum_evaluate(sums, &request), IKT_OK);
        const int64_t count = s.at.count;
        for (int64_t i = 0; i < count; i++) {
            const double a = s.value[i], b = s.value[5 * count + i], both = s.value[6 * count + i];
            assert_true(fabs(a + b - both) <= 1e-5 * (1 + fabs(a) + fabs(b)));
        }
        ikt_kernelsum_destroy(&sums);
        release(&s);
    }
}

/* Bits with exact sums and with the grid. The tree's centres are rounded, and with charges it has a
 * term for that. */
static void charges_of_one_are_unit_charges(void **state) {
    ikt_context *ctx = *state;
    for (int v = 0; v < VARIANTS; v++)
        for (int64_t targets = 0; targets <= 90; targets += 90) {
            scene s = make(ctx, variants[v].q, 500, targets, 1);
            scene units = make(ctx, variants[v].q, 500, targets, 1);
            ikt_kernelsum_request request = request_of(&s), plain = request_of(&units);
            for (int64_t i = 0; i < s.rows.count; i++)
                s.charge[i] = 1;
            plain.charge = NULL;
            plain.charges = 17; /* ignored */
            ikt_kernelsum *sums = create(ctx, &s.rows, &variants[v]);
            assert_int_equal(ikt_kernelsum_evaluate(sums, &request), IKT_OK);
            assert_int_equal(ikt_kernelsum_evaluate(sums, &plain), IKT_OK);
            const int64_t places = s.at.count;
            for (int64_t i = 0; i < places; i++)
                assert_true(fabs(s.value[i] - units.value[i]) <= 1e-5 * fabs(s.value[i]));
            for (int64_t e = 0; e < s.q * places; e++)
                assert_true(fabsf(s.gradient[e] - units.gradient[e]) < 1e-4f);
            if (variants[v].way != TREE && places > 0) {
                assert_memory_equal(s.value, units.value, (size_t)places * sizeof(double));
                assert_memory_equal(s.gradient, units.gradient,
                                    (size_t)(s.q * places) * sizeof(float));
            }
            ikt_kernelsum_destroy(&sums);
            release(&s);
            release(&units);
        }
}

/* Targets at the points themselves see what the points see, but for the grid's self-term. */
static void targets_at_the_points_see_what_points_see(void **state) {
    ikt_context *ctx = *state;
    for (int v = 0; v < VARIANTS; v++) {
        if (variants[v].way == GRID) continue;
        scene s = make(ctx, variants[v].q, 400, 0, 1), same = make(ctx, variants[v].q, 400, 0, 1);
        same.has_targets = true;
        const ikt_kernelsum_request points = request_of(&s), targets = request_of(&same);
        ikt_kernelsum *sums = create(ctx, &s.rows, &variants[v]);
        assert_int_equal(ikt_kernelsum_evaluate(sums, &points), IKT_OK);
        assert_int_equal(ikt_kernelsum_evaluate(sums, &targets), IKT_OK);
        for (int64_t i = 0; i < s.at.count; i++)
            assert_true(variants[v].way == EXACT ? s.value[i] == same.value[i]
                                                 : fabs(s.value[i] - same.value[i]) < 5e-2);
        ikt_kernelsum_destroy(&sums);
        release(&s);
        release(&same);
    }
}

/* Frees the sums, which must have been all that is held beside the scene. */
static uint64_t hash_of_sums(ikt_context *ctx, ikt_kernelsum *sums, const variant *v, int64_t n,
                             int64_t targets) {
    scene s = make(ctx, v->q, n, targets, SETS);
    const ikt_kernelsum_request request = request_of(&s);
    assert_int_equal(ikt_kernelsum_evaluate(sums, &request), IKT_OK);
    uint64_t hash = 0;
    for (int k = 0; k < SETS; k++) {
        const int64_t count = s.at.count;
        hash = 5 * hash ^
               ikt_row_hash(ctx, s.value + k * count, s.at.first, count, sizeof *s.value) ^
               3 * ikt_row_hash(ctx, s.gradient + k * v->q * count, s.at.first, count,
                                (size_t)v->q * sizeof *s.gradient);
    }
    ikt_kernelsum_destroy(&sums);
    release(&s);
    assert_int_equal(ikt_memory_now(ctx), 0);
    return hash;
}

static uint64_t hash_of(ikt_context *ctx, const variant *v, int64_t n, int64_t targets) {
    const ikt_rows rows = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    return hash_of_sums(ctx, create(ctx, &rows, v), v, n, targets);
}

/* A rank has potentials only where its points or targets lie, and these lie apart. */
static void a_shared_grid_has_the_bits_of_a_whole_one(void **state) {
    ikt_context *ctx = *state;
    const variant *grid = &variants[9];
    const ikt_rows rows = ikt_rows_make(700, ikt_size(ctx), ikt_rank(ctx));
    for (int64_t targets = 0; targets <= 130; targets += 130)
        for (int tight = 0; tight < 2; tight++) {
            ikt_fft_settings fft = ikt_fft_preset(tight ? IKT_FFT_TIGHT : IKT_FFT_DEFAULT);
            uint64_t hash[2];
            for (int shared = 0; shared < 2; shared++) {
                ikt_kernelsum *sums = NULL;
                fft.sharing = shared ? IKT_SHARING_SLABS : IKT_SHARING_REPLICATED;
                assert_int_equal(ikt_kernelsum_create_fft(ctx, &rows, kernel_of(grid), &fft, &sums),
                                 IKT_OK);
                hash[shared] = hash_of_sums(ctx, sums, grid, rows.n, targets);
            }
            assert_true(hash[0] == hash[1]);
        }
}

static void bits_do_not_depend_on_ranks_and_threads(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    const int64_t sizes[] = {1, 3, 700}; /* the first two leave ranks without rows */
    for (int v = 0; v < VARIANTS; v++)
        for (int s = 0; s < 3; s++)
            for (int64_t targets = 0; targets <= 130; targets += s == 2 ? 130 : 5)
                if (targets <= 5 || s == 2)
                    assert_true(hash_of(ctx, &variants[v], sizes[s], targets) ==
                                hash_of(alone, &variants[v], sizes[s], targets));
    ikt_context_destroy(&alone);
}

/* Enough rows a rank that threads sort them before they are spread. */
static void bits_do_not_depend_on_threads_that_sort(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    const variant *grid = &variants[9];
    if (ikt_size(ctx) == 1)
        assert_true(hash_of(ctx, grid, 40000, 0) == hash_of(alone, grid, 40000, 0));
    ikt_context_destroy(&alone);
}

static void bits_do_not_depend_on_the_instruction_set(void **state) {
    ikt_context *ctx = *state;
    uint64_t best[VARIANTS][2];
    assert_int_equal(unsetenv("IKTSNE_ISA"), 0);
    for (int v = 0; v < VARIANTS; v++)
        for (int t = 0; t < 2; t++)
            best[v][t] = hash_of(ctx, &variants[v], 300, 40 * t);
    for (int isa = IKT_ISA_PORTABLE; isa <= IKT_ISA_AVX512; isa++) {
        assert_int_equal(setenv("IKTSNE_ISA", ikt_isa_name((ikt_isa)isa), 1), 0);
        for (int v = 0; v < VARIANTS; v++)
            for (int t = 0; t < 2; t++)
                assert_true(hash_of(ctx, &variants[v], 300, 40 * t) == best[v][t]);
    }
    unsetenv("IKTSNE_ISA");
}

static void value_or_gradient_alone_can_be_wanted(void **state) {
    ikt_context *ctx = *state;
    for (int v = 0; v < VARIANTS; v++) {
        scene s = make(ctx, v == 0 ? 1 : variants[v].q, 90, 0, 5), part = make(ctx, s.q, 90, 0, 5);
        ikt_kernelsum_request whole = request_of(&s), request = request_of(&part);
        ikt_kernelsum *sums = create(ctx, &s.rows, &variants[v]);
        assert_int_equal(ikt_kernelsum_evaluate(sums, &whole), IKT_OK);
        request.value = NULL;
        assert_int_equal(ikt_kernelsum_evaluate(sums, &request), IKT_OK);
        request.value = part.value;
        request.gradient = NULL;
        assert_int_equal(ikt_kernelsum_evaluate(sums, &request), IKT_OK);
        const size_t values = (size_t)(s.sets * s.at.count);
        if (values > 0) {
            assert_memory_equal(s.value, part.value, values * sizeof *s.value);
            assert_memory_equal(s.gradient, part.gradient,
                                (size_t)s.q * values * sizeof *s.gradient);
        }
        ikt_kernelsum_destroy(&sums);
        release(&s);
        release(&part);
    }
}

static bool all_are_nan(const scene *s) {
    bool are = true;
    for (int64_t i = 0; i < s->sets * s->at.count; i++)
        are = are && isnan(s->value[i]);
    for (int64_t e = 0; e < s->q * s->sets * s->at.count; e++)
        are = are && isnan(s->gradient[e]);
    return are;
}

/* The same outcome on all ranks, also where only the last has the bad number. */
static void what_is_not_finite_is_said(void **state) {
    ikt_context *ctx = *state;
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e308};
    for (int v = 0; v < VARIANTS; v += 3)
        for (int b = 0; b < 4; b++) {
            scene s = make(ctx, variants[v].q, 40, 20, 3);
            const ikt_kernelsum_request request = request_of(&s);
            ikt_kernelsum *sums = create(ctx, &s.rows, &variants[v]);
            const bool last = s.rows.first + s.rows.count == 40 && s.rows.count > 0;
            if (last) s.charge[2 * s.rows.count + s.rows.count - 1] = bad[b];
            ikt_clear(ctx);
            assert_int_equal(ikt_kernelsum_evaluate(sums, &request), IKT_ERR_DATA);
            assert_non_null(strstr(ikt_message(ctx), "charge 3 of row 39"));
            assert_true(all_are_nan(&s));
            ikt_clear(ctx);
            if (last) s.charge[2 * s.rows.count + s.rows.count - 1] = 1;
            if (last) s.target[s.q * s.at.count - 1] = (float)bad[b];
            if (b < 3) {
                assert_int_equal(ikt_kernelsum_evaluate(sums, &request), IKT_OK);
                assert_true(all_are_nan(&s));
            }
            ikt_kernelsum_destroy(&sums);
            release(&s);
        }
}

/* Where the last rank runs out of memory all ranks say so; with memory again all is well. */
static void running_out_of_memory_is_agreed(void **state) {
    ikt_context *ctx = *state;
    const int64_t limit = ctx->address_space;
    for (int v = 0; v < VARIANTS; v += 3) {
        scene s = make(ctx, variants[v].q, 300, 0, 2);
        const ikt_kernelsum_request request = request_of(&s);
        ikt_kernelsum *sums = create(ctx, &s.rows, &variants[v]);
        if (ikt_rank(ctx) == ikt_size(ctx) - 1) ctx->address_space = 0;
        ikt_clear(ctx);
        assert_int_equal(ikt_kernelsum_evaluate(sums, &request), IKT_ERR_RESOURCE);
        assert_non_null(strstr(ikt_message(ctx), "out of memory"));
        assert_true(all_are_nan(&s));
        ikt_clear(ctx);
        ctx->address_space = limit;
        assert_int_equal(ikt_kernelsum_evaluate(sums, &request), IKT_OK);
        assert_true(s.at.count == 0 || isfinite(s.value[0]));
        ikt_kernelsum_destroy(&sums);
        release(&s);
    }
}

/* Charges need memory that the predictions count, for every way on any number of ranks. */
static void memory_with_charges_is_as_predicted(void **state) {
    ikt_context *ctx = *state;
    enum { MANY = 20000, TAKEN = 6 };
    for (int v = 0; v < VARIANTS; v++) {
        if (variants[v].q != 2 || variants[v].kernel != IKT_KERNEL_STUDENT) continue;
        scene s = make(ctx, 2, variants[v].way == EXACT ? MANY / 10 : MANY, 0, TAKEN);
        const int64_t before = ikt_memory_now(ctx);
        ikt_kernelsum *sums = create(ctx, &s.rows, &variants[v]);
        const ikt_kernelsum_request request = request_of(&s);
        assert_int_equal(ikt_kernelsum_evaluate(sums, &request), IKT_OK);
        const int64_t held = ikt_memory_now(ctx) - before;
        const ikt_fft_settings fft =
            ikt_fft_preset(variants[v].is_tight ? IKT_FFT_TIGHT : IKT_FFT_DEFAULT);
        const double span = 10 * sqrt((double)s.rows.n);
        const int64_t predicted =
            variants[v].way == EXACT ? ikt_kernelsum_memory_exact(&s.rows, 2, TAKEN)
            : variants[v].way == TREE
                ? ikt_kernelsum_memory_tree(&s.rows, 2, TAKEN, ikt_threads(ctx))
                : ikt_kernelsum_memory_fft(&fft, &s.rows, TAKEN, ikt_threads(ctx), span);
        assert_true(held <= predicted + 1024);
        ikt_kernelsum_destroy(&sums);
        release(&s);
    }
}

IKT_MPI_TESTS(ikt_test(charges_match_plain_sums), ikt_test(sums_are_linear_in_the_charges),
              ikt_test(charges_of_one_are_unit_charges),
              ikt_test(targets_at_the_points_see_what_points_see),
              ikt_test(bits_do_not_depend_on_ranks_and_threads),
              ikt_test(a_shared_grid_has_the_bits_of_a_whole_one),
              ikt_test(bits_do_not_depend_on_threads_that_sort),
              ikt_test(bits_do_not_depend_on_the_instruction_set),
              ikt_test(value_or_gradient_alone_can_be_wanted), ikt_test(what_is_not_finite_is_said),
              ikt_test(running_out_of_memory_is_agreed),
              ikt_test(memory_with_charges_is_as_predicted))
