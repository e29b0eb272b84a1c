/* The kernels against plain code, on every instruction set of this processor: equal to the bit. */
#include "support/ikt_test.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "isolation/codes_kernel.h"

/* --- data that is hard on rounding ------------------------------------------------------------ */

typedef enum {
    UNIFORM,     /* [0, 1) */
    TIGHT,       /* clusters of size 1e-4 round corners of {0, 1}^d */
    OFFSET,      /* size 1e-2 at 1e4 */
    DUPLICATES,  /* rows repeat: exact ties */
    ONE_FAR,     /* size 1, but every seventh row at 1e4 */
    INTEGERS,    /* small integers: many equal distances between different rows */
    HUGE_VALUES, /* squares overflow float32 */
    TINY_VALUES, /* squares underflow float32 */
    KINDS
} data_kind;

static double uniform(int64_t row, int64_t k) {
    return ikt_rng_uniform(3, IKT_RNG_TEST, row, (uint64_t)k);
}

static float value_of(data_kind kind, int64_t row, int64_t k) {
    double u = uniform(row, k), corner = floor(2 * uniform(-1 - row % 5, k));
    switch (kind) {
    case TIGHT:
        return (float)(corner + 1e-4 * u);
    case OFFSET:
        return (float)(1e4 + 1e-2 * u);
    case DUPLICATES:
        return (float)uniform(row % 9, k);
    case ONE_FAR:
        return (float)(row % 7 == 0 ? 1e4 * u : u);
    case INTEGERS:
        return (float)floor(3 * u);
    case HUGE_VALUES:
        return (float)(1e25 * (u - 0.5));
    case TINY_VALUES:
        return (float)(1e-23 * (u - 0.5));
    default:
        return (float)u;
    }
}

/* --- the definitions in codes_kernel.h, word for word ----------------------------------------- */

static int64_t nearest_f32(const float *x, const float *rows, const int64_t *centre, int64_t psi,
                           int64_t d, bool is_manhattan) {
    float least = INFINITY;
    int64_t nearest = 0;
    for (int64_t j = 0; j < psi; j++) {
        const float *c = rows + centre[j] * d;
        float sum = 0;
        for (int64_t k = 0; k < d; k++)
            sum = is_manhattan ? sum + fabsf(x[k] - c[k]) : fmaf(x[k] - c[k], x[k] - c[k], sum);
        if (sum < least) {
            least = sum;
            nearest = j;
        }
    }
    return nearest;
}

static int64_t nearest_u8(const uint8_t *x, const uint8_t *rows, const int64_t *centre, int64_t psi,
                          int64_t d, bool is_manhattan) {
    int64_t least = INT64_MAX, nearest = 0;
    for (int64_t j = 0; j < psi; j++) {
        const uint8_t *c = rows + centre[j] * d;
        int64_t sum = 0;
        for (int64_t k = 0; k < d; k++)
            sum += is_manhattan ? labs((long)x[k] - c[k]) : (int64_t)(x[k] - c[k]) * (x[k] - c[k]);
        if (sum < least) {
            least = sum;
            nearest = j;
        }
    }
    return nearest;
}

/* --- comparison ------------------------------------------------------------------------------- */

typedef struct {
    ikt_context *ctx;
    bool is_u8, is_manhattan;
    int64_t n, d, psi;
    void *rows;        /* [n*d] */
    int64_t *centre;   /* [psi] */
    int64_t *expected; /* [n] */
} problem;

static void create(problem *p) {
    assert_int_equal(ikt_alloc(p->ctx, &p->rows, p->n * p->d, p->is_u8 ? 1 : 4, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(p->ctx, &p->centre, p->psi, 8, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(p->ctx, &p->expected, p->n, 8, "test"), IKT_OK);
    for (int64_t j = 0; j < p->psi; j++)
        p->centre[j] = p->psi <= p->n ? j * p->n / p->psi : j % p->n;
}

static void destroy(problem *p) {
    ikt_free(&p->rows);
    ikt_free(&p->centre);
    ikt_free(&p->expected);
}

static void expect(problem *p) {
    for (int64_t i = 0; i < p->n; i++)
        p->expected[i] = p->is_u8 ? nearest_u8((const uint8_t *)p->rows + i * p->d, p->rows,
                                               p->centre, p->psi, p->d, p->is_manhattan)
                                  : nearest_f32((const float *)p->rows + i * p->d, p->rows,
                                                p->centre, p->psi, p->d, p->is_manhattan);
}

/* Three times over with the same tile: the float32 kernel changes its ways when rows are hard. */
static void check_tile(const problem *p, const ikt_codes_kernel *kernel, ikt_row_tile *tile,
                       const ikt_centres *centres) {
    uint32_t cell[IKT_ROW_TILE_MOST];
    const int64_t element = p->is_u8 ? 1 : 4;
    for (int64_t first = 0; first < p->n; first += tile->capacity) {
        int64_t count = p->n - first < tile->capacity ? p->n - first : tile->capacity;
        ikt_row_tile_stage(kernel, tile, (const char *)p->rows + first * p->d * element, count);
        for (int again = 0; again < 3; again++) {
            ikt_row_tile_assign(kernel, tile, centres, cell);
            for (int64_t i = 0; i < count; i++)
                if (cell[i] != p->expected[first + i])
                    fail_msg("%s, d %d, psi %d: row %d is in cell %d, not %d", kernel->name,
                             (int)p->d, (int)p->psi, (int)(first + i), (int)cell[i],
                             (int)p->expected[first + i]);
        }
    }
}

static void check_metric(problem *p, bool is_manhattan) {
    p->is_manhattan = is_manhattan;
    expect(p);
    for (int isa = IKT_ISA_PORTABLE; isa <= (int)ikt_cpu_isa(); isa++) {
        const ikt_codes_kernel *kernel =
            ikt_codes_kernel_choose(p->is_u8, p->is_manhattan, (ikt_isa)isa);
        ikt_row_tile tile;
        ikt_centres centres;
        void *memory;
        assert_int_equal(
            ikt_alloc(p->ctx, &memory, ikt_centres_bytes(kernel, p->psi, p->d), 1, "test"), IKT_OK);
        ikt_centres_place(kernel, p->psi, p->d, memory, &centres);
        ikt_centres_fill(kernel, &centres, p->rows, p->centre, NULL);
        IKT_ARRAYS(held, p->ctx, "test");
        ikt_row_tile_create(&held, kernel, p->d, &tile);
        assert_int_equal(held.status, IKT_OK);
        check_tile(p, kernel, &tile, &centres);
        ikt_free(&memory);
    }
}

static void check(problem *p) {
    check_metric(p, false);
    check_metric(p, true);
}

static void check_f32(ikt_context *ctx, data_kind kind, int64_t n, int64_t d, int64_t psi) {
    problem p = {.ctx = ctx, .n = n, .d = d, .psi = psi};
    create(&p);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < d; k++)
            ((float *)p.rows)[i * d + k] = value_of(kind, i, k);
    check(&p);
    destroy(&p);
}

/* 255 and 0 in the first rows, where sums are largest. The first of them is a centre; the second is
 * one of few shapes only: of all others it would be nearest to a lane without a centre. */
static void check_u8(ikt_context *ctx, int64_t n, int64_t d, int64_t psi, int64_t distinct) {
    problem p = {.ctx = ctx, .is_u8 = true, .n = n, .d = d, .psi = psi};
    create(&p);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < d; k++) {
            int64_t row = i % distinct;
            double u = row == 0 ? 0.999 : row == 1 ? 0 : uniform(row, k);
            ((uint8_t *)p.rows)[i * d + k] = (uint8_t)(256 * u);
        }
    check(&p);
    destroy(&p);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void float32_is_the_definition_for_all_shapes(void **state) {
    static const int64_t ds[] = {1, 2, 3, 6, 7, 16, 50, 127, 128, 129, 257, 784};
    static const int64_t psis[] = {1, 2, 5, 16, 17, 33, 64, 97};
    for (size_t i = 0; i < sizeof ds / sizeof *ds; i++)
        for (size_t j = 0; j < sizeof psis / sizeof *psis; j++)
            check_f32(*state, UNIFORM, 37, ds[i], psis[j]);
}

static void float32_is_the_definition_for_hard_data(void **state) {
    static const int64_t ds[] = {2, 10, 40, 300};
    for (data_kind kind = UNIFORM; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof ds / sizeof *ds; i++) {
            check_f32(*state, kind, 250, ds[i], 60);
            check_f32(*state, kind, 40, ds[i], 40);
        }
}

static void float32_takes_more_than_one_tile(void **state) {
    check_f32(*state, UNIFORM, 1001, 20, 300);
    check_f32(*state, TIGHT, 1001, 20, 300);
}

static void uint8_is_exact_for_all_shapes(void **state) {
    static const int64_t ds[] = {1, 2, 3, 4, 5, 63, 64, 65, 128, 784};
    static const int64_t psis[] = {1, 2, 5, 16, 17, 33, 64, 97};
    for (size_t i = 0; i < sizeof ds / sizeof *ds; i++)
        for (size_t j = 0; j < sizeof psis / sizeof *psis; j++)
            check_u8(*state, 37, ds[i], psis[j], 37);
}

static void uint8_ties_go_to_the_lowest_centre(void **state) {
    check_u8(*state, 500, 30, 200, 11);
    check_u8(*state, 64, 3, 64, 64);
}

static void uint8_does_not_overflow(void **state) {
    static const int64_t ds[] = {16384, 16385, 40001};
    for (size_t i = 0; i < sizeof ds / sizeof *ds; i++)
        check_u8(*state, 9, ds[i], 9, 9);
}

static void many_cells_need_two_bytes(void **state) {
    check_u8(*state, 50, 5, 65536, 50);
    check_f32(*state, UNIFORM, 1500, 3, 1500);
}

/* --- values ----------------------------------------------------------------------------------- */

/* |c|^2/2 - x.c, or |c|^2 - 2 x.c of bytes; or the Manhattan distance. */
static double value_by_definition(const problem *p, int64_t row, int64_t centre) {
    double sum = 0;
    for (int64_t k = 0; k < p->d; k++) {
        const int64_t x = row * p->d + k, c = centre * p->d + k;
        if (p->is_manhattan) {
            sum += p->is_u8 ? fabs((double)((uint8_t *)p->rows)[x] - ((uint8_t *)p->rows)[c])
                            : fabs((double)((float *)p->rows)[x] - (double)((float *)p->rows)[c]);
            continue;
        }
        sum += p->is_u8 ? (double)((uint8_t *)p->rows)[c] *
                              (((uint8_t *)p->rows)[c] - 2.0 * ((uint8_t *)p->rows)[x])
                        : (double)((float *)p->rows)[c] *
                              ((double)((float *)p->rows)[c] / 2 - (double)((float *)p->rows)[x]);
    }
    return sum;
}

/* Any rows in any order, some twice, against some of the vectors of centres. To the values of bytes
 * something may be added that depends on the row alone. */
static void check_chosen(const problem *p, const ikt_codes_kernel *kernel) {
    enum { CHOSEN = 29, STRIDE = 96, ROWS = 32 /* to a multiple of every kernel's rows */ };
    ikt_centres centres;
    uint32_t row[CHOSEN];
    void *word = NULL, *memory = NULL, *out = NULL;
    const int64_t words = ikt_row_words(kernel, p->d), last = p->psi / IKT_LANES + 1;
    const int64_t bytes = ikt_centres_bytes(kernel, p->psi, p->d);
    const double most = p->is_u8 ? 0 : 2e-5 * (double)p->d;
    assert_int_equal(ikt_alloc(p->ctx, &word, p->n * words, 4, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(p->ctx, &memory, bytes, 1, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(p->ctx, &out, ROWS * STRIDE, 4, "test"), IKT_OK);
    for (int64_t i = 0; i < CHOSEN; i++)
        row[i] = (uint32_t)(i * 7 % p->n);
    ikt_row_words_write(kernel, p->rows, p->n, p->d, word);
    ikt_centres_place(kernel, p->psi, p->d, memory, &centres);
    ikt_centres_fill(kernel, &centres, p->rows, p->centre, NULL);
    for (int64_t first = 0; first < last; first++) {
        kernel->score_chosen(word, row, CHOSEN, &centres, first, last, out, STRIDE);
        for (int64_t i = 0; i < CHOSEN; i++) {
            double of_row = 0;
            for (int64_t j = first * IKT_LANES; j < p->psi; j++) {
                const int64_t at = i * STRIDE + j - first * IKT_LANES;
                const double value = p->is_u8 ? ((int32_t *)out)[at] : (double)((float *)out)[at];
                const double expected = value_by_definition(p, row[i], p->centre[j]);
                if (p->is_u8 && j == first * IKT_LANES) of_row = value - expected;
                if (fabs(value - of_row - expected) > most)
                    fail_msg("%s, %lld columns: row %u, centre %lld: %.9g, not %.9g", kernel->name,
                             (long long)p->d, row[i], (long long)j, value - of_row, expected);
            }
        }
    }
    ikt_free(&word);
    ikt_free(&memory);
    ikt_free(&out);
}

/* Which centres near ones are chosen from must not depend on the instruction set. */
static void chosen_values_of_floats_have_the_same_bits(void **state) {
    enum { ROWS = 24, STRIDE = 96 };
    static float out[2][ROWS * STRIDE];
    problem p = {.ctx = *state, .n = 90, .d = 37, .psi = 77};
    uint32_t row[ROWS];
    create(&p);
    for (int64_t e = 0; e < p.n * p.d; e++)
        ((float *)p.rows)[e] = (float)(1e5 * uniform(e / p.d, e % p.d));
    for (uint32_t i = 0; i < ROWS; i++)
        row[i] = i;
    for (int isa = (int)ikt_cpu_isa(); isa >= IKT_ISA_PORTABLE; isa--) {
        const ikt_codes_kernel *kernel = ikt_codes_kernel_choose(false, false, (ikt_isa)isa);
        ikt_centres centres;
        IKT_ARRAYS(held, p.ctx, "test");
        void *word = ikt_claim(&held, p.n * p.d, 4);
        void *memory = ikt_claim(&held, ikt_centres_bytes(kernel, p.psi, p.d), 1);
        assert_int_equal(held.status, IKT_OK);
        ikt_row_words_write(kernel, p.rows, p.n, p.d, word);
        ikt_centres_place(kernel, p.psi, p.d, memory, &centres);
        ikt_centres_fill(kernel, &centres, p.rows, p.centre, NULL);
        float *values = out[isa < (int)ikt_cpu_isa()];
        kernel->score_chosen(word, row, ROWS, &centres, 0, centres.vectors, values, STRIDE);
        for (int64_t i = 0; i < ROWS && values != out[0]; i++)
            assert_memory_equal(values + i * STRIDE, out[0] + i * STRIDE,
                                (size_t)p.psi * sizeof *values);
    }
    destroy(&p);
}

static void chosen_rows_have_the_values_of_the_definition(void **state) {
    static const int64_t columns[] = {1, 3, 16, 50, 101};
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
        for (int what = 0; what < 4; what++) {
            problem p = {.ctx = *state,
                         .is_u8 = what % 2,
                         .is_manhattan = what / 2,
                         .n = 90,
                         .d = columns[k],
                         .psi = 77};
            create(&p);
            for (int64_t e = 0; e < p.n * p.d; e++) {
                const double u = uniform(e / p.d, e % p.d);
                if (p.is_u8)
                    ((uint8_t *)p.rows)[e] = (uint8_t)(256 * u);
                else
                    ((float *)p.rows)[e] = (float)u;
            }
            for (int isa = IKT_ISA_PORTABLE; isa <= (int)ikt_cpu_isa(); isa++)
                check_chosen(&p, ikt_codes_kernel_choose(p.is_u8, p.is_manhattan, (ikt_isa)isa));
            destroy(&p);
        }
}

IKT_MPI_TESTS(ikt_test(float32_is_the_definition_for_all_shapes),
              ikt_test(float32_is_the_definition_for_hard_data),
              ikt_test(float32_takes_more_than_one_tile), ikt_test(uint8_is_exact_for_all_shapes),
              ikt_test(uint8_ties_go_to_the_lowest_centre), ikt_test(uint8_does_not_overflow),
              ikt_test(many_cells_need_two_bytes),
              ikt_test(chosen_rows_have_the_values_of_the_definition),
              ikt_test(chosen_values_of_floats_have_the_same_bits))
