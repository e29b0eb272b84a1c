/* The attraction kernels: the same bits on every instruction set, and the sums of plain doubles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "objective/attraction_kernel.h"

enum { N = 403, LONGEST = 70, HUB = 11, HUB_ENTRIES = 1000, STRIDE = 416 };

typedef struct {
    ikt_graph graph;
    ikt_dense dense;
    float y[2 * N], apart[2 * STRIDE]; /* positions for the sparse and the dense kernel */
} example;

static double uniform(int64_t row, uint64_t draw) {
    return ikt_rng_uniform(4, IKT_RNG_TEST, row, draw);
}

static void *claim(size_t count, size_t size) {
    void *memory = calloc(count, size);
    assert_non_null(memory);
    return memory;
}

/* Rows of 0 .. LONGEST - 1 entries and one very long one; allocated exactly, so that a sanitizer
 * sees a load beyond the end. Values over twelve powers of ten. */
static void fill_part(ikt_csr *part, int salt) {
    part->start = claim(N + 1, sizeof *part->start);
    for (int64_t i = 0; i < N; i++) {
        int64_t count = i == HUB ? HUB_ENTRIES : (7 * i + salt) % LONGEST;
        part->start[i + 1] = part->start[i] + count;
    }
    part->column = claim((size_t)part->start[N], sizeof *part->column);
    part->value = claim((size_t)part->start[N], sizeof *part->value);
    for (int64_t e = 0; e < part->start[N]; e++) {
        part->column[e] = (int32_t)(uniform(salt, 2 * (uint64_t)e) * N);
        part->value[e] = (float)pow(10, -12 * uniform(salt, 2 * (uint64_t)e + 1));
    }
}

static int set_up(void **state) {
    example *x = claim(1, sizeof *x);
    x->graph.map = x->dense.map = ikt_row_map_make(N, 1, 0);
    fill_part(&x->graph.forward, 1);
    fill_part(&x->graph.reverse, 34);
    x->dense.stride = STRIDE;
    x->dense.value = claim((size_t)N * STRIDE, sizeof *x->dense.value);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            x->dense.value[i * STRIDE + j] =
                i == j ? 0 : (float)uniform(i + N, (uint64_t)j) * 1e-5f;
    for (int64_t e = 0; e < 2 * N; e++) /* near and far: d^2 from 1e-10 to 1e6 */
        x->apart[e % 2 * STRIDE + e / 2] = x->y[e] =
            (float)(pow(10, 8 * uniform(e, 1) - 5) * (uniform(e, 2) - 0.5));
    *state = x;
    return 0;
}

static int tear_down(void **state) {
    example *x = *state;
    ikt_csr *parts[] = {&x->graph.forward, &x->graph.reverse};
    for (int part = 0; part < 2; part++) {
        free(parts[part]->start);
        free(parts[part]->column);
        free(parts[part]->value);
    }
    free(x->dense.value);
    free(x);
    return 0;
}

typedef struct {
    float force[2 * N], divergence[N];
} sums;

static sums run(const example *x, ikt_isa isa, bool is_dense, int64_t cut) {
    const ikt_attraction_kernel *kernel = ikt_attraction_kernel_for(isa);
    sums s;
    memset(&s, 0, sizeof s);
    const int64_t first[] = {0, cut}, last[] = {cut, N};
    for (int piece = 0; piece < 2; piece++)
        if (is_dense)
            kernel->dense(&x->dense, x->apart, first[piece], last[piece], s.force,
                          s.divergence + first[piece]);
        else
            kernel->sparse(&x->graph, x->y, first[piece], last[piece], s.force,
                           s.divergence + first[piece]);
    return s;
}

static void every_instruction_set_gives_the_same_bits(void **state) {
    const example *x = *state;
    for (int is_dense = 0; is_dense < 2; is_dense++) {
        const sums portable = run(x, IKT_ISA_PORTABLE, is_dense, N);
        for (int isa = IKT_ISA_PORTABLE; isa <= (int)ikt_cpu_isa(); isa++)
            for (int64_t cut = 0; cut <= N; cut += 57) {
                const sums other = run(x, (ikt_isa)isa, is_dense, cut);
                assert_memory_equal(&other, &portable, sizeof portable);
            }
    }
}

static void the_divergence_does_not_change_the_forces(void **state) {
    const example *x = *state;
    const ikt_attraction_kernel *kernel = ikt_attraction_kernel_for(ikt_cpu_isa());
    const sums both = run(x, ikt_cpu_isa(), false, N), dense = run(x, ikt_cpu_isa(), true, N);
    float alone[2 * N];
    kernel->sparse(&x->graph, x->y, 0, N, alone, NULL);
    assert_memory_equal(alone, both.force, sizeof alone);
    kernel->dense(&x->dense, x->apart, 0, N, alone, NULL);
    assert_memory_equal(alone, dense.force, sizeof alone);
}

/* Sums of a row in doubles, and of the absolute values, against which errors are judged. */
typedef struct {
    double x, y, divergence, size_x, size_y, size_divergence;
} row_reference;

static void add_term(row_reference *r, const float *own, const float *other, float p) {
    double dx = (double)own[0] - (double)other[0], dy = (double)own[1] - (double)other[1];
    double q = 1 + dx * dx + dy * dy, weight = (double)p / q;
    if (!(p > 0)) return;
    r->x += weight * dx;
    r->y += weight * dy;
    r->divergence += (double)p * log((double)p * q);
    r->size_x += fabs(weight * dx);
    r->size_y += fabs(weight * dy);
    r->size_divergence += (double)p * (1 + fabs(log((double)p * q)));
}

static void compare_row(const row_reference *r, const sums *s, int64_t i) {
    assert_true(fabs((double)s->force[2 * i] - r->x) <= 1e-6 * r->size_x);
    assert_true(fabs((double)s->force[2 * i + 1] - r->y) <= 1e-6 * r->size_y);
    assert_true(fabs((double)s->divergence[i] - r->divergence) <= 1e-6 * r->size_divergence);
}

static void sparse_sums_are_those_of_doubles(void **state) {
    const example *x = *state;
    const sums s = run(x, ikt_cpu_isa(), false, N);
    const ikt_csr *parts[] = {&x->graph.forward, &x->graph.reverse};
    for (int64_t i = 0; i < N; i++) {
        row_reference r = {0, 0, 0, 0, 0, 0};
        for (int part = 0; part < 2; part++)
            for (int64_t e = parts[part]->start[i]; e < parts[part]->start[i + 1]; e++)
                add_term(&r, x->y + 2 * i, x->y + 2 * parts[part]->column[e],
                         parts[part]->value[e]);
        compare_row(&r, &s, i);
    }
}

static void dense_sums_are_those_of_doubles(void **state) {
    const example *x = *state;
    const sums s = run(x, ikt_cpu_isa(), true, N);
    for (int64_t i = 0; i < N; i++) {
        row_reference r = {0, 0, 0, 0, 0, 0};
        for (int64_t j = 0; j < N; j++)
            add_term(&r, x->y + 2 * i, x->y + 2 * j, x->dense.value[i * STRIDE + j]);
        compare_row(&r, &s, i);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_instruction_set_gives_the_same_bits),
                                       cmocka_unit_test(the_divergence_does_not_change_the_forces),
                                       cmocka_unit_test(sparse_sums_are_those_of_doubles),
                                       cmocka_unit_test(dense_sums_are_those_of_doubles)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
