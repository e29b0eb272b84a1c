#define _POSIX_C_SOURCE 200112L /* setenv */

/* Sums by the tree of boxes: the stated errors against exact sums, and the same bits whatever
 * ranks, threads and instruction set there are; exact sums in one and three dimensions, and of
 * every kernel, against plain doubles. */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/row_hash.h"
#include "kernelsum/kernelsum.h"

/* Maps as they occur: early, within 1e-3; late, of even density; clusters of any width; points that
 * share a place with many others; one point far outside. */
typedef enum { EARLY, LATE, CLUSTERS, PLACES, OUTSIDE, MAPS } map_kind;

static double coordinate(map_kind kind, int q, int64_t n, int64_t row, int axis) {
    const double normal = ikt_rng_normal(1, IKT_RNG_TEST, row, (uint64_t)axis);
    const int64_t cluster = row % 17;
    const double centre = 20 * ikt_rng_normal(1, IKT_RNG_SHAPE, cluster, (uint64_t)axis);
    switch (kind) {
    case EARLY:
        return 2e-4 * normal;
    case LATE:
        return 0.3 * pow((double)n, 1.0 / q) * normal;
    case CLUSTERS:
        return centre + 0.05 * (double)(cluster * cluster) * normal;
    case PLACES:
        return centre;
    default:
        return row == 3 ? 3e4 : 2 * normal;
    }
}

typedef struct {
    ikt_rows rows;
    int q;
    float *y, *gradient;
    double *phi;
} points;

static points make(ikt_context *ctx, map_kind kind, int q, int64_t n) {
    points p = {.rows = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx)), .q = q};
    const int64_t count = q * p.rows.count;
    assert_int_equal(ikt_alloc(ctx, &p.y, count, sizeof *p.y, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &p.gradient, count, sizeof *p.gradient, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &p.phi, p.rows.count, sizeof *p.phi, "test"), IKT_OK);
    for (int64_t e = 0; e < count; e++)
        p.y[e] = (float)coordinate(kind, q, n, p.rows.first + e / q, (int)(e % q));
    return p;
}

static void release(points *p) {
    ikt_free(&p->y);
    ikt_free(&p->gradient);
    ikt_free(&p->phi);
}

/* Sums of unit charges at the points themselves. */
static void sum_units(ikt_kernelsum *sums, const float *y, double *phi, float *gradient) {
    const ikt_kernelsum_request request = {.y = y, .value = phi, .gradient = gradient};
    assert_int_equal(ikt_kernelsum_evaluate(sums, &request), IKT_OK);
}

static void sum_by_tree(ikt_context *ctx, points *p, ikt_kernel kernel,
                        ikt_tree_accuracy accuracy) {
    ikt_kernelsum *sums;
    assert_int_equal(ikt_kernelsum_create_tree(ctx, &p->rows, p->q, kernel, accuracy, &sums),
                     IKT_OK);
    sum_units(sums, p->y, p->phi, p->gradient);
    ikt_kernelsum_destroy(&sums);
}

static void sum_exactly(ikt_context *ctx, points *p, ikt_kernel kernel) {
    ikt_kernelsum *sums;
    assert_int_equal(ikt_kernelsum_create_exact(ctx, &p->rows, p->q, kernel, &sums), IKT_OK);
    sum_units(sums, p->y, p->phi, p->gradient);
    ikt_kernelsum_destroy(&sums);
}

static uint64_t hash_of(ikt_context *ctx, const points *p) {
    return ikt_row_hash(ctx, p->phi, p->rows.first, p->rows.count, sizeof *p->phi) ^
           3 * ikt_row_hash(ctx, p->gradient, p->rows.first, p->rows.count,
                            (size_t)p->q * sizeof *p->gradient);
}

static uint64_t tree_hash(ikt_context *ctx, map_kind kind, int q, int64_t n) {
    points p = make(ctx, kind, q, n);
    sum_by_tree(ctx, &p, ikt_student, IKT_TREE_DEFAULT);
    const uint64_t hash = hash_of(ctx, &p);
    release(&p);
    assert_int_equal(ikt_memory_now(ctx), 0);
    return hash;
}

static void bits_do_not_depend_on_ranks(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    const int64_t sizes[] = {1, 2, 33, 500, 1700}; /* the first two leave ranks without rows */
    for (int kind = 0; kind < MAPS; kind++)
        for (int q = 1; q <= 3; q++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
                assert_true(tree_hash(ctx, (map_kind)kind, q, sizes[s]) ==
                            tree_hash(alone, (map_kind)kind, q, sizes[s]));
    ikt_context_destroy(&alone);
}

static void bits_do_not_depend_on_the_instruction_set(void **state) {
    ikt_context *ctx = *state;
    for (int q = 1; q <= 3; q++) {
        assert_int_equal(unsetenv("IKTSNE_ISA"), 0);
        const uint64_t best = tree_hash(ctx, LATE, q, 900);
        for (int isa = IKT_ISA_PORTABLE; isa <= IKT_ISA_AVX512; isa++) {
            assert_int_equal(setenv("IKTSNE_ISA", ikt_isa_name((ikt_isa)isa), 1), 0);
            assert_true(tree_hash(ctx, LATE, q, 900) == best);
        }
    }
    unsetenv("IKTSNE_ISA");
}

/* Errors of the own rows against exact sums: of the force, root mean square relative to that of the
 * force; of Z, relative; of phi, the largest relative one. */
typedef struct {
    double force, z, phi;
} errors;

static errors errors_of(ikt_context *ctx, map_kind kind, int q, int64_t n, ikt_kernel kernel,
                        ikt_tree_accuracy accuracy) {
    points tree = make(ctx, kind, q, n), exact = make(ctx, kind, q, n);
    double wrong = 0, right = 0, z = 0, z_wrong = 0;
    errors e = {0, 0, 0};
    sum_by_tree(ctx, &tree, kernel, accuracy);
    sum_exactly(ctx, &exact, kernel);
    for (int64_t i = 0; i < tree.rows.count; i++) {
        for (int64_t c = q * i; c < q * (i + 1); c++) {
            wrong += pow((double)tree.gradient[c] - (double)exact.gradient[c], 2);
            right += pow((double)exact.gradient[c], 2);
        }
        z += exact.phi[i] - 1;
        z_wrong += tree.phi[i] - exact.phi[i];
        e.phi = fmax(e.phi, fabs(tree.phi[i] / exact.phi[i] - 1));
    }
    e.force = right > 0 ? sqrt(wrong / right) : sqrt(wrong);
    e.z = fabs(z_wrong) / z;
    release(&tree);
    release(&exact);
    return e;
}

static void the_stated_accuracy_is_kept(void **state) {
    static const double force[] = {[IKT_TREE_DEFAULT] = 1e-2, [IKT_TREE_TIGHT] = 1e-3};
    static const double z[] = {[IKT_TREE_DEFAULT] = 1e-3, [IKT_TREE_TIGHT] = 1e-4};
    ikt_context *alone = ikt_test_alone();
    (void)state;
    for (int accuracy = IKT_TREE_DEFAULT; accuracy <= IKT_TREE_TIGHT; accuracy++)
        for (int kind = 0; kind < MAPS; kind++)
            for (int q = 1; q <= 3; q++)
                for (int64_t n = 700; n <= 14000; n *= 20) {
                    errors e = errors_of(alone, (map_kind)kind, q, n, ikt_student,
                                         (ikt_tree_accuracy)accuracy);
                    print_message("accuracy %d, map %d, q %d, n %lld: force %.1e, Z %.1e, phi "
                                  "%.1e\n",
                                  accuracy, kind, q, (long long)n, e.force, e.z, e.phi);
                    assert_true(e.force < force[accuracy]);
                    assert_true(e.z < z[accuracy]);
                    assert_true(e.phi < 20 * force[accuracy]);
                }
    ikt_context_destroy(&alone);
}

static void tails_keep_the_stated_accuracy(void **state) {
    static const double force[] = {[IKT_TREE_DEFAULT] = 1e-2, [IKT_TREE_TIGHT] = 1e-3};
    static const double z[] = {[IKT_TREE_DEFAULT] = 1e-3, [IKT_TREE_TIGHT] = 1e-4};
    static const double degrees[] = {0.1, 0.5, 2, 10};
    ikt_context *alone = ikt_test_alone();
    (void)state;
    for (int d = 0; d < 4; d++)
        for (int accuracy = IKT_TREE_DEFAULT; accuracy <= IKT_TREE_TIGHT; accuracy++)
            for (int kind = 0; kind < MAPS; kind++)
                for (int q = 1; q <= 3; q++) {
                    const errors e =
                        errors_of(alone, (map_kind)kind, q, 3000, ikt_kernel_of_degrees(degrees[d]),
                                  (ikt_tree_accuracy)accuracy);
                    if (e.force >= force[accuracy] || e.z >= z[accuracy])
                        print_message("alpha %g, accuracy %d, map %d, q %d: force %.1e, Z %.1e\n",
                                      degrees[d], accuracy, kind, q, e.force, e.z);
                    assert_true(e.force < force[accuracy]);
                    assert_true(e.z < z[accuracy]);
                }
    ikt_context_destroy(&alone);
}

static void other_kernels_are_refused(void **state) {
    const ikt_kernel others[] = {
        {IKT_KERNEL_STUDENT_LOG, 1}, {IKT_KERNEL_GAUSSIAN, 1}, {IKT_KERNEL_TAILED, 10.5}};
    ikt_context *ctx = *state;
    const ikt_rows rows = ikt_rows_make(10, ikt_size(ctx), ikt_rank(ctx));
    for (int k = 0; k < 3; k++) {
        ikt_kernelsum *sums;
        ikt_clear(ctx);
        assert_false(ikt_tree_has_kernel(others[k]));
        assert_int_equal(ikt_kernelsum_create_tree(ctx, &rows, 2, others[k], IKT_TREE_TIGHT, &sums),
                         IKT_ERR_USAGE);
        assert_non_null(strstr(ikt_message(ctx), "no expansion"));
        assert_null(sums);
    }
}

/* A kernel and its derivative by the squared distance. */
static void kernel_of(ikt_kernel_kind kernel, double r2, double *value, double *slope) {
    const double w = 1 / (1 + r2);
    *value = kernel == IKT_KERNEL_STUDENT       ? w
             : kernel == IKT_KERNEL_STUDENT_LOG ? w * log(w)
                                                : exp(-r2);
    *slope = kernel == IKT_KERNEL_STUDENT       ? -w * w
             : kernel == IKT_KERNEL_STUDENT_LOG ? -w * w * (log(w) + 1)
                                                : -exp(-r2);
}

/* Sums in doubles at row i of all, with the sum of absolute values. */
static double plain_sum(map_kind kind, int q, int64_t n, int64_t i, ikt_kernel_kind kernel,
                        double *phi, double *gradient) {
    double size = 1;
    *phi = gradient[0] = gradient[1] = gradient[2] = 0;
    for (int64_t j = 0; j < n; j++) {
        double r2 = 0, d[3], value, slope;
        for (int c = 0; c < q; c++) {
            d[c] = (double)(float)coordinate(kind, q, n, i, c) -
                   (double)(float)coordinate(kind, q, n, j, c);
            r2 += d[c] * d[c];
        }
        kernel_of(kernel, r2, &value, &slope);
        *phi += value;
        size += fabs(value) + fabs(slope);
        for (int c = 0; c < q; c++)
            gradient[c] += 2 * slope * d[c];
    }
    return size;
}

static void exact_sums_are_exact_in_any_dimension(void **state) {
    ikt_context *ctx = *state;
    enum { N = 611 };
    for (int kernel = IKT_KERNEL_STUDENT; kernel <= IKT_KERNEL_GAUSSIAN; kernel++)
        for (int kind = 0; kind < MAPS; kind++)
            for (int q = 1; q <= 3; q++) {
                points p = make(ctx, (map_kind)kind, q, N);
                sum_exactly(ctx, &p, (ikt_kernel){(ikt_kernel_kind)kernel, 1});
                for (int64_t i = 0; i < p.rows.count; i += 41) {
                    double phi, gradient[3];
                    double size = plain_sum((map_kind)kind, q, N, p.rows.first + i,
                                            (ikt_kernel_kind)kernel, &phi, gradient);
                    assert_true(fabs(p.phi[i] - phi) < 1e-6 * size);
                    for (int c = 0; c < q; c++)
                        assert_true(fabs((double)p.gradient[q * i + c] - gradient[c]) <
                                    4e-6 * size);
                }
                release(&p);
            }
}

static void a_position_that_is_not_finite_invalidates_all(void **state) {
    ikt_context *ctx = *state;
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int b = 0; b < 3; b++) {
        points p = make(ctx, CLUSTERS, 3, 70);
        if (p.rows.first <= 20 && 20 < p.rows.first + p.rows.count)
            p.y[3 * (20 - p.rows.first) + 1] = bad[b];
        sum_by_tree(ctx, &p, ikt_student, IKT_TREE_DEFAULT);
        for (int64_t i = 0; i < p.rows.count; i++)
            assert_true(isnan(p.phi[i]) && isnan(p.gradient[3 * i + 2]));
        release(&p);
    }
}

/* One object through maps that grow and shrink gives what a fresh one does. */
static void the_past_does_not_matter(void **state) {
    ikt_context *ctx = *state;
    points p = make(ctx, LATE, 3, 800), q = make(ctx, LATE, 3, 800);
    ikt_kernelsum *old, *fresh;
    assert_int_equal(
        ikt_kernelsum_create_tree(ctx, &p.rows, 3, ikt_student, IKT_TREE_DEFAULT, &old), IKT_OK);
    for (int step = -6; step <= 6; step++) {
        for (int64_t e = 0; e < 3 * p.rows.count; e++) {
            double at =
                coordinate(step % 2 ? LATE : PLACES, 3, 800, p.rows.first + e / 3, (int)(e % 3));
            p.y[e] = q.y[e] = (float)(pow(4, -abs(step)) * at);
        }
        assert_int_equal(
            ikt_kernelsum_create_tree(ctx, &p.rows, 3, ikt_student, IKT_TREE_DEFAULT, &fresh),
            IKT_OK);
        sum_units(old, p.y, p.phi, p.gradient);
        sum_units(fresh, q.y, q.phi, q.gradient);
        assert_true(hash_of(ctx, &p) == hash_of(ctx, &q));
        ikt_kernelsum_destroy(&fresh);
    }
    ikt_kernelsum_destroy(&old);
    release(&p);
    release(&q);
}

static void memory_is_as_predicted(void **state) {
    ikt_context *ctx = *state;
    for (int kind = EARLY; kind <= CLUSTERS; kind++)
        for (int64_t n = 1000; n <= 64000; n *= 8) {
            points p = make(ctx, (map_kind)kind, 3, n);
            ikt_kernelsum *sums;
            const int64_t before = ikt_memory_now(ctx);
            assert_int_equal(
                ikt_kernelsum_create_tree(ctx, &p.rows, 3, ikt_student, IKT_TREE_DEFAULT, &sums),
                IKT_OK);
            sum_units(sums, p.y, p.phi, p.gradient);
            const int64_t held = ikt_memory_now(ctx) - before;
            const int64_t predicted = ikt_kernelsum_memory_tree(&p.rows, 3, 0, ikt_threads(ctx));
            assert_true(held <= predicted && predicted < 3 * held + (1 << 20));
            ikt_kernelsum_destroy(&sums);
            release(&p);
        }
}

IKT_MPI_TESTS(ikt_test(bits_do_not_depend_on_ranks),
              ikt_test(bits_do_not_depend_on_the_instruction_set),
              ikt_test(the_stated_accuracy_is_kept), ikt_test(tails_keep_the_stated_accuracy),
              ikt_test(other_kernels_are_refused), ikt_test(exact_sums_are_exact_in_any_dimension),
              ikt_test(a_position_that_is_not_finite_invalidates_all),
              ikt_test(the_past_does_not_matter), ikt_test(memory_is_as_predicted))
