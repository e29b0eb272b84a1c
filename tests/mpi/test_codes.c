/* Codes over ranks and threads, and the identities of the kernel that they define. */
#include "support/ikt_test.h"

#include <math.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/row_hash.h"
#include "isolation/codes.h"
#include "isolation/similarity.h"
#include "support/equal_cells.h"

typedef struct {
    int64_t n, d, psi, t;
    ikt_type type;
} problem;

/* The data of a problem on every rank; a third of the rows are copies of others. */
static void *create_rows(ikt_context *ctx, const problem *p) {
    void *rows;
    assert_int_equal(ikt_alloc(ctx, &rows, p->n * p->d, ikt_type_size(p->type), "test"), IKT_OK);
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t k = 0; k < p->d; k++) {
            double u = ikt_rng_uniform(9, IKT_RNG_TEST, i % (2 * p->n / 3 + 1), (uint64_t)k);
            if (p->type == IKT_TYPE_U8)
                ((uint8_t *)rows)[i * p->d + k] = (uint8_t)(256 * u);
            else
                ((float *)rows)[i * p->d + k] = (float)u;
        }
    return rows;
}

static const ikt_codes_budget roomy = {1 << 26, 1 << 26, 0};

static void compute_within(ikt_context *ctx, ikt_codes_budget budget, const problem *p,
                           ikt_rows *distribution, ikt_codes *codes) {
    const ikt_preprocess_settings settings = {.normalise = IKT_NORMALISE_NONE, .pca = 0};
    void *rows = create_rows(ctx, p);
    ikt_source *source;
    ikt_dataset *data;
    ikt_model *model;
    *distribution = ikt_rows_make(p->n, ikt_size(ctx), ikt_rank(ctx));
    assert_int_equal(ikt_source_from_memory(ctx, rows, p->n, p->d, p->type, &source), IKT_OK);
    assert_int_equal(ikt_dataset_create(ctx, source, &settings, &data), IKT_OK);
    assert_int_equal(ikt_dataset_is_u8(data), p->type == IKT_TYPE_U8);
    assert_int_equal(
        ikt_model_create(ctx, &(ikt_model_spec){.seed = 21, .n = p->n, .psi = p->psi, .t = p->t},
                         &model),
        IKT_OK);
    assert_int_equal(
        ikt_codes_compute_within(ctx, budget, NULL, data, distribution, model, codes, NULL),
        IKT_OK);
    assert_int_equal(codes->n_local, distribution->count);
    assert_int_equal(codes->width, ikt_code_width(p->psi));
    ikt_model_destroy(&model);
    ikt_dataset_destroy(&data);
    ikt_source_close(&source);
    ikt_free(&rows);
}

static void compute(ikt_context *ctx, const problem *p, ikt_rows *rows, ikt_codes *codes) {
    compute_within(ctx, roomy, p, rows, codes);
}

static uint64_t hash_within(ikt_context *ctx, ikt_codes_budget budget, const problem *p) {
    ikt_rows rows;
    ikt_codes codes;
    compute_within(ctx, budget, p, &rows, &codes);
    uint64_t hash = ikt_row_hash(ctx, codes.code, rows.first, rows.count, (size_t)codes.stride);
    ikt_codes_destroy(&codes);
    assert_null(codes.code);
    return hash;
}

static uint64_t hash_of(ikt_context *ctx, const problem *p) {
    return hash_within(ctx, roomy, p);
}

static const problem problems[] = {
    {1000, 20, 64, 50, IKT_TYPE_U8}, {1000, 20, 64, 50, IKT_TYPE_F32},
    {700, 3, 300, 40, IKT_TYPE_U8},  {700, 3, 300, 40, IKT_TYPE_F32},
    {3, 5, 2, 65, IKT_TYPE_F32},     {3, 5, 1, 65, IKT_TYPE_U8},
    {90, 150, 90, 7, IKT_TYPE_F32},  {90, 150, 90, 7, IKT_TYPE_U8},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static void codes_do_not_depend_on_ranks(void **state) {
    ikt_context *alone = ikt_test_alone();
    for (int i = 0; i < PROBLEMS; i++)
        assert_true(hash_of(*state, &problems[i]) == hash_of(alone, &problems[i]));
    ikt_context_destroy(&alone);
}

static void codes_do_not_depend_on_threads(void **state) {
    ikt_context *ctx = *state;
    for (int i = 0; i < PROBLEMS; i++) {
        ikt_context_set_threads(ctx, 1);
        uint64_t one = hash_of(ctx, &problems[i]);
        ikt_context_set_threads(ctx, 2);
        assert_true(hash_of(ctx, &problems[i]) == one);
    }
}

/* --- one rank: identities --------------------------------------------------------------------- */

static void kernel_is_symmetric_and_one_on_the_diagonal(void **state) {
    (void)state;
    ikt_context *alone = ikt_test_alone();
    for (int q = 0; q < PROBLEMS; q++) {
        ikt_rows rows;
        ikt_codes codes;
        compute(alone, &problems[q], &rows, &codes);
        for (int64_t i = 0; i < rows.n && i < 40; i++)
            for (int64_t k = 0; k <= i; k++) {
                assert_int_equal(equal_cells(&codes, i, k), equal_cells(&codes, k, i));
                if (i == k) assert_int_equal(equal_cells(&codes, i, k), codes.t);
            }
        ikt_codes_destroy(&codes);
    }
    ikt_context_destroy(&alone);
}

/* psi = n: every row is a centre, and falls into the cell of the lowest row equal to it. */
static void with_every_row_a_centre_cells_are_rows(void **state) {
    const problem p = {90, 150, 90, 7, IKT_TYPE_F32};
    const int64_t period = 2 * p.n / 3 + 1;
    ikt_rows rows;
    ikt_codes codes;
    compute(*state, &p, &rows, &codes);
    for (int64_t i = 0; i < rows.count; i++)
        for (int64_t q = 0; q < p.t; q++)
            assert_int_equal(ikt_code_entry(&codes, i, q), (rows.first + i) % period);
    ikt_codes_destroy(&codes);
}

static void one_cell_holds_everything(void **state) {
    const problem p = {50, 4, 1, 9, IKT_TYPE_F32};
    ikt_rows rows;
    ikt_codes codes;
    compute(*state, &p, &rows, &codes);
    for (int64_t i = 0; i < rows.count; i++)
        for (int64_t q = 0; q < p.t; q++)
            assert_int_equal(ikt_code_entry(&codes, i, q), 0);
    ikt_codes_destroy(&codes);
}

/* --- passes and memory ------------------------------------------------------------------------ */

/* One partitioning a pass, a few rows a block: neither may show. */
static void passes_and_blocks_leave_no_seam(void **state) {
    const ikt_codes_budget least = {1, 1, 0}, small = {200000, 9000, 0};
    for (int i = 0; i < PROBLEMS; i++) {
        const uint64_t hash = hash_of(*state, &problems[i]);
        assert_true(hash_within(*state, small, &problems[i]) == hash);
        if (problems[i].n < 10) assert_true(hash_within(*state, least, &problems[i]) == hash);
    }
}

static void predicted_memory_covers_what_is_used(void **state) {
    ikt_context *ctx = *state;
    const problem p = {4000, 30, 200, 100, IKT_TYPE_F32};
    const ikt_preprocess_settings settings = {.normalise = IKT_NORMALISE_NONE, .pca = 0};
    void *rows = create_rows(ctx, &p);
    ikt_rows distribution = ikt_rows_make(p.n, ikt_size(ctx), ikt_rank(ctx));
    ikt_source *source;
    ikt_dataset *data;
    ikt_model *model;
    ikt_codes codes;
    assert_int_equal(ikt_source_from_memory(ctx, rows, p.n, p.d, p.type, &source), IKT_OK);
    assert_int_equal(ikt_dataset_create(ctx, source, &settings, &data), IKT_OK);
    const int64_t before = ikt_memory_now(ctx);
    assert_int_equal(
        ikt_model_create(ctx, &(ikt_model_spec){.seed = 21, .n = p.n, .psi = p.psi, .t = p.t},
                         &model),
        IKT_OK);
    assert_int_equal(ikt_codes_compute(ctx, data, &distribution, model, &codes, NULL), IKT_OK);
    const int64_t used = ikt_memory_peak(ctx) - before;
    const ikt_codes_rows shape = {.d = p.d, .is_u8 = ikt_dataset_is_u8(data)};
    const int64_t predicted = ikt_codes_memory_peak(
        &shape, distribution.count, &(ikt_model_spec){.n = p.n, .psi = p.psi, .t = p.t},
        ikt_threads(ctx));
    /* The data set's own buffers for reading come on top and are small. */
    assert_in_range(used, predicted / 2, predicted + predicted / 4 + (1 << 20));
    ikt_codes_destroy(&codes);
    ikt_model_destroy(&model);
    ikt_dataset_destroy(&data);
    ikt_source_close(&source);
    ikt_free(&rows);
}

IKT_MPI_TESTS(ikt_test(codes_do_not_depend_on_ranks), ikt_test(codes_do_not_depend_on_threads),
              ikt_test(kernel_is_symmetric_and_one_on_the_diagonal),
              ikt_test(with_every_row_a_centre_cells_are_rows), ikt_test(one_cell_holds_everything),
              ikt_test(passes_and_blocks_leave_no_seam),
              ikt_test(predicted_memory_covers_what_is_used))
