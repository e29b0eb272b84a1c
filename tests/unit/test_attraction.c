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
#include "objective/attraction.h"

enum { N = 403, LONGEST = 70, HUB = 11, HUB_ENTRIES = 1000, STRIDE = 416 };

typedef struct {
    ikt_graph graph;
    ikt_dense dense;
    float y[3][3 * N], apart[3][STRIDE]; /* positions in 1, 2 and 3 dimensions; of the dense P */
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
    x->graph.rows = x->dense.rows = ikt_rows_make(N, 1, 0);
    fill_part(&x->graph.forward, 1);
    fill_part(&x->graph.reverse, 34);
    x->dense.stride = STRIDE;
    x->dense.value = claim((size_t)N * STRIDE, sizeof *x->dense.value);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            x->dense.value[i * STRIDE + j] =
                i == j ? 0 : (float)uniform(i + N, (uint64_t)j) * 1e-5f;
    for (int c = 0; c < 3; c++) {
        for (int64_t i = 0; i < N; i++) { /* near and far: d^2 from 1e-10 to 1e6 */
            const int64_t e = 3 * i + c;
            x->apart[c][i] = (float)(pow(10, 8 * uniform(e, 1) - 5) * (uniform(e, 2) - 0.5));
            for (int q = c + 1; q <= 3; q++)
                x->y[q - 1][q * i + c] = x->apart[c][i];
        }
        for (int64_t i = N; i < STRIDE; i++)
            x->apart[c][i] = 1e30f;
    }
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
    float force[3 * N], divergence[N], balance[N];
} sums;

/* Rows in two pieces, in q dimensions with a kind of pair; without values where they are not
 * wanted. */
static sums run_pair(const example *x, ikt_isa isa, bool is_dense, int64_t cut, int q,
                     const ikt_pair_weight *pair, bool want_value) {
    const ikt_attraction_kernel *kernel = ikt_attraction_kernel_for(isa);
    const bool has_balance = pair->kind == IKT_PAIR_NERV || pair->kind == IKT_PAIR_JSE;
    const float *const at[] = {x->apart[0], x->apart[1], x->apart[2]};
    sums s;
    memset(&s, 0, sizeof s);
    for (int piece = 0; piece < 2; piece++) {
        const int64_t first = piece ? cut : 0, last = piece ? N : cut;
        const ikt_attraction_job job = {.q = q,
                                        .pair = pair,
                                        .y = x->y[q - 1],
                                        .at = at,
                                        .first = first,
                                        .last = last,
                                        .force = s.force,
                                        .value = want_value ? s.divergence + first : NULL,
                                        .balance = has_balance ? s.balance + first : NULL};
        if (is_dense)
            kernel->dense(&x->dense, &job);
        else
            kernel->sparse(&x->graph, &job);
    }
    return s;
}

static const ikt_pair_weight weights[] = {{IKT_PAIR_TSNE, 0, 0, 0},
                                          {IKT_PAIR_NERV, 0.75f, 2e-3f, 1e8f},
                                          {IKT_PAIR_JSE, 3e3f, 0, 9e3f},
                                          {IKT_PAIR_SNE, 0, 0, 0},
                                          {IKT_PAIR_TAILED, 0.5f, 2, 0},
                                          {IKT_PAIR_TAILED, 8, 0.125f, 0},
                                          {IKT_PAIR_CURVE, 0.4555f, 0.8951f, 4},
                                          {IKT_PAIR_CURVE, 5, 0.3f, 0.5f}};
enum { WEIGHTS = sizeof weights / sizeof *weights };

static void every_instruction_set_gives_the_same_bits(void **state) {
    const example *x = *state;
    for (int is_dense = 0; is_dense < 2; is_dense++)
        for (int k = 0; k < WEIGHTS; k++)
            for (int q = 1; q <= 3; q++) {
                const sums portable =
                    run_pair(x, IKT_ISA_PORTABLE, is_dense, N, q, &weights[k], true);
                for (int isa = IKT_ISA_PORTABLE; isa <= (int)ikt_cpu_isa(); isa++)
                    for (int64_t cut = 0; cut <= N; cut += 113) {
                        const sums other =
                            run_pair(x, (ikt_isa)isa, is_dense, cut, q, &weights[k], true);
                        assert_memory_equal(&other, &portable, sizeof portable);
                    }
            }
}

/* The example with the values 1e-4 and 2e-4, or with bits in their place, allocated exactly. */
static void make_uniform(const example *of, bool has_values, example *out) {
    ikt_csr *const parts[] = {&out->graph.forward, &out->graph.reverse};
    *out = *of;
    for (int p = 0; p < 2; p++) {
        const int64_t entries = parts[p]->start[N];
        parts[p]->value = has_values ? claim((size_t)entries, sizeof(float)) : NULL;
        parts[p]->twice =
            has_values ? NULL : claim((size_t)entries / 8 + IKT_TWICE_SPARE, sizeof(uint8_t));
        parts[p]->once = 1e-4f;
        for (int64_t e = 0; e < entries; e++) {
            const bool is_twice = uniform(p + 7, (uint64_t)e) < 0.6;
            if (has_values)
                parts[p]->value[e] = is_twice ? 2e-4f : 1e-4f;
            else if (is_twice)
                parts[p]->twice[e / 8] |= (uint8_t)(1 << (e % 8));
        }
    }
}

static void bits_give_the_sums_of_values(void **state) {
    static example values, bits;
    make_uniform(*state, true, &values);
    make_uniform(*state, false, &bits);
    for (int k = 0; k < WEIGHTS; k++)
        for (int q = 1; q <= 3; q++)
            for (int isa = IKT_ISA_PORTABLE; isa <= (int)ikt_cpu_isa(); isa++) {
                const sums a = run_pair(&values, (ikt_isa)isa, false, 113, q, &weights[k], true);
                const sums b = run_pair(&bits, (ikt_isa)isa, false, 113, q, &weights[k], true);
                assert_memory_equal(&a, &b, sizeof a);
            }
    free(values.graph.forward.value);
    free(values.graph.reverse.value);
    free(bits.graph.forward.twice);
    free(bits.graph.reverse.twice);
}

static void the_divergence_does_not_change_the_forces(void **state) {
    const example *x = *state;
    for (int is_dense = 0; is_dense < 2; is_dense++)
        for (int q = 1; q <= 3; q++) {
            for (int k = 0; k < WEIGHTS; k++) {
                if (weights[k].kind == IKT_PAIR_NERV || weights[k].kind == IKT_PAIR_JSE) continue;
                const sums both = run_pair(x, ikt_cpu_isa(), is_dense, N, q, &weights[k], true);
                const sums alone = run_pair(x, ikt_cpu_isa(), is_dense, N, q, &weights[k], false);
                assert_memory_equal(alone.force, both.force, sizeof both.force);
            }
        }
}

/* Sums of a row in doubles, and of the absolute values, against which errors are judged. */
typedef struct {
    double force[3], value, balance, force_size[3], value_size, balance_size;
} row_reference;

/* The terms of the table in attraction.h. */
static void add_term(row_reference *r, int q, const ikt_pair_weight *pair, const float *own,
                     const float *other, float entry) {
    const double a = (double)pair->a, b = (double)pair->b, c = (double)pair->c, p = (double)entry;
    double r2 = 0, weight, value, value_size, balance = 0;
    if (!(p > 0)) return;
    for (int k = 0; k < q; k++)
        r2 += pow((double)own[k] - (double)other[k], 2);
    const double w = 1 / (1 + r2);
    weight = p * w;
    value = p * log(p / w);
    value_size = p * (1 + fabs(log(p / w)));
    if (pair->kind == IKT_PAIR_NERV) {
        balance = w * log(fmax(c * p, 1));
        weight = a * p * w + b * balance * w;
    } else if (pair->kind == IKT_PAIR_JSE) {
        const double l = log1p(a * p / w);
        balance = l * w;
        weight = l * w * w;
        value = p * (log(c * p / w) - l);
        value_size = p * (1 + fabs(log(c * p / w)) + l);
    } else if (pair->kind == IKT_PAIR_SNE) {
        weight = p;
        value = p * (log(p) + r2);
        value_size = p * (1 + fabs(log(p)) + r2);
    } else if (pair->kind == IKT_PAIR_TAILED) {
        weight = p / (1 + b * r2);
        value = p * (log(p) + a * log1p(b * r2));
        value_size = p * (1 + fabs(log(p)) + a * log1p(b * r2));
    }
    const double l = a + b * log(fmax(r2, 1e-300));
    if (pair->kind == IKT_PAIR_CURVE)
        value = value_size = p * (l > 0 ? l + log1p(exp(-l)) : log1p(exp(l)));
    for (int k = 0; pair->kind == IKT_PAIR_CURVE && k < q; k++) {
        const double along =
            r2 > 0 ? 2 * b / (1 + exp(-l)) / r2 * ((double)own[k] - (double)other[k]) : 0;
        r->force[k] += p * fmax(-c, fmin(c, along));
        r->force_size[k] += 20 * p * fabs(along); /* errors of a logarithm, times up to 30 */
    }
    for (int k = 0; pair->kind != IKT_PAIR_CURVE && k < q; k++) {
        r->force[k] += weight * ((double)own[k] - (double)other[k]);
        r->force_size[k] += fabs(weight * ((double)own[k] - (double)other[k]));
    }
    r->value += value;
    r->value_size += value_size;
    r->balance += balance;
    r->balance_size += fabs(balance) + (pair->kind == IKT_PAIR_NERV ? w : 0);
}

static void compare_row(const row_reference *r, int q, const sums *s, int64_t i) {
    for (int k = 0; k < q; k++)
        assert_true(fabs((double)s->force[q * i + k] - r->force[k]) <= 2e-6 * r->force_size[k]);
    assert_true(fabs((double)s->divergence[i] - r->value) <= 1e-6 * r->value_size);
    assert_true(fabs((double)s->balance[i] - r->balance) <= 1e-6 * r->balance_size);
}

static void sparse_sums_are_those_of_doubles(void **state) {
    const example *x = *state;
    const ikt_csr *parts[] = {&x->graph.forward, &x->graph.reverse};
    for (int k = 0; k < WEIGHTS; k++)
        for (int q = 1; q <= 3; q++) {
            const float *y = x->y[q - 1];
            const sums s = run_pair(x, ikt_cpu_isa(), false, N, q, &weights[k], true);
            for (int64_t i = 0; i < N; i++) {
                row_reference r = {.value = 0};
                for (int part = 0; part < 2; part++)
                    for (int64_t e = parts[part]->start[i]; e < parts[part]->start[i + 1]; e++)
                        add_term(&r, q, &weights[k], y + q * i, y + q * parts[part]->column[e],
                                 parts[part]->value[e]);
                compare_row(&r, q, &s, i);
            }
        }
}

static void dense_sums_are_those_of_doubles(void **state) {
    const example *x = *state;
    for (int k = 0; k < WEIGHTS; k++)
        for (int q = 1; q <= 3; q++) {
            const float *y = x->y[q - 1];
            const sums s = run_pair(x, ikt_cpu_isa(), true, N, q, &weights[k], true);
            for (int64_t i = 0; i < N; i++) {
                row_reference r = {.value = 0};
                for (int64_t j = 0; j < N; j++)
                    add_term(&r, q, &weights[k], y + q * i, y + q * j,
                             x->dense.value[i * STRIDE + j]);
                compare_row(&r, q, &s, i);
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_instruction_set_gives_the_same_bits),
                                       cmocka_unit_test(bits_give_the_sums_of_values),
                                       cmocka_unit_test(the_divergence_does_not_change_the_forces),
                                       cmocka_unit_test(sparse_sums_are_those_of_doubles),
                                       cmocka_unit_test(dense_sums_are_those_of_doubles)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
