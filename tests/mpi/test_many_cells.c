/* More cells than two bytes can number: each way of finding codes against the definition. */
#include "support/ikt_test.h"

#include <math.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "isolation/codes.h"
#include "isolation/coding.h"
#include "support/model_rows.h"

/* Few rows are coded, with centres among many others. */
enum { CODED = 120, COARSE = 50 };

typedef enum { DENSE, SPARSE } form;

typedef struct {
    const char *name;
    ikt_model_spec spec;
    int64_t d;
    ikt_type type;
    form form;
    bool with_lists;
} problem;

static const problem problems[] = {
    {"float32, from lists",
     {.seed = 21, .n = 80000, .psi = 70000, .t = 3, .pool = 0, .coarse = COARSE},
     2,
     IKT_TYPE_F32,
     DENSE,
     true},
    {"uint8, from lists",
     {.seed = 21, .n = 80000, .psi = 70000, .t = 3, .pool = 75000, .coarse = COARSE},
     4,
     IKT_TYPE_U8,
     DENSE,
     true},
    {"float32, directly",
     {.seed = 21, .n = 200000, .psi = 90000, .t = 2, .pool = 0, .coarse = COARSE},
     2,
     IKT_TYPE_F32,
     DENSE,
     false},
    {"sparse, from lists",
     {.seed = 21, .n = 80000, .psi = 70000, .t = 3, .pool = 0, .coarse = COARSE},
     3,
     IKT_TYPE_F32,
     SPARSE,
     true},
    {"sparse, directly",
     {.seed = 21, .n = 190000, .psi = 90000, .t = 2, .pool = 0, .coarse = COARSE},
     3,
     IKT_TYPE_F32,
     SPARSE,
     false},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

/* Rows of which a quarter of the entries are 0; `salt` tells those of the model and those to code
 * apart. */
static void *create_rows(ikt_context *ctx, const problem *p, int64_t n, uint64_t salt) {
    void *rows;
    assert_int_equal(ikt_alloc(ctx, &rows, n * p->d, ikt_type_size(p->type), "test"), IKT_OK);
    for (int64_t e = 0; e < n * p->d; e++) {
        const double u = ikt_rng_uniform(salt, IKT_RNG_TEST, e / p->d, (uint64_t)(e % p->d));
        const double value = u < 0.25 ? 0 : u;
        if (p->type == IKT_TYPE_U8)
            ((uint8_t *)rows)[e] = (uint8_t)(256 * value);
        else
            ((float *)rows)[e] = (float)value;
    }
    return rows;
}

typedef struct {
    void *rows;
    ikt_sparse_rows sparse;
    ikt_source *source;
    ikt_dataset *data;
} set;

static void open_set(ikt_context *ctx, const problem *p, int64_t n, uint64_t salt, set *s) {
    const ikt_preprocess_settings raw = {.normalise = IKT_NORMALISE_NONE, .pca = 0};
    *s = (set){.rows = create_rows(ctx, p, n, salt)};
    if (p->form == SPARSE) {
        int64_t to = 0;
        assert_int_equal(ikt_sparse_rows_reserve(ctx, n, n * p->d, &s->sparse), IKT_OK);
        for (int64_t e = 0; e < n * p->d; e++) {
            const float value = ((const float *)s->rows)[e];
            s->sparse.column[to] = (int32_t)(e % p->d);
            s->sparse.value[to] = (double)value;
            to += value != 0;
            s->sparse.start[e / p->d + 1] = to;
        }
        s->sparse.count = n;
        assert_int_equal(ikt_source_from_sparse(ctx, &s->sparse, p->d, p->type, &s->source),
                         IKT_OK);
    } else {
        assert_int_equal(ikt_source_from_memory(ctx, s->rows, n, p->d, p->type, &s->source),
                         IKT_OK);
    }
    assert_int_equal(ikt_dataset_create(ctx, s->source, &raw, &s->data), IKT_OK);
    assert_int_equal(ikt_dataset_is_sparse(s->data), p->form == SPARSE);
}

static void close_set(set *s) {
    ikt_dataset_destroy(&s->data);
    ikt_source_close(&s->source);
    ikt_sparse_rows_destroy(&s->sparse);
    ikt_free(&s->rows);
}

/* The distance that defines cells (codes_kernel.h). */
static double distance(const problem *p, const void *a, int64_t i, const void *b, int64_t j) {
    float sum = 0;
    int64_t exact = 0;
    for (int64_t k = 0; k < p->d; k++) {
        if (p->type == IKT_TYPE_U8) {
            const int64_t gap = (int64_t)((const uint8_t *)a)[i * p->d + k] -
                                (int64_t)((const uint8_t *)b)[j * p->d + k];
            exact += gap * gap;
        } else {
            const float gap = ((const float *)a)[i * p->d + k] - ((const float *)b)[j * p->d + k];
            sum = fmaf(gap, gap, sum);
        }
    }
    return p->type == IKT_TYPE_U8 ? (double)exact : (double)sum;
}

static int64_t plain_cell(const problem *p, const void *x, int64_t row, const void *rows,
                          const int64_t *centre, int64_t count) {
    int64_t best = 0;
    double least = INFINITY;
    for (int64_t j = 0; j < count; j++) {
        const double here = distance(p, x, row, rows, centre[j]);
        if (here >= least) continue;
        least = here;
        best = j;
    }
    return best;
}

/* Returns the greatest cell of all ranks. */
static int64_t check_cells(ikt_context *ctx, const problem *p, const ikt_rows *own, const set *from,
                           const set *coded, const ikt_model *model, const ikt_codes *codes,
                           const uint16_t *coarse) {
    int64_t *centre = model_rows(ctx, model), greatest = 0;
    for (int64_t i = 0; i < own->count; i++) {
        for (int64_t t = 0; t < model->t; t++) {
            const int64_t expected = plain_cell(p, coded->rows, own->first + i, from->rows,
                                                centre + t * model->psi, model->psi);
            const int64_t cell = ikt_code_entry(codes, i, t);
            if (cell != expected)
                fail_msg("%s: row %d, partitioning %d: cell %d, not %d", p->name,
                         (int)(own->first + i), (int)t, (int)cell, (int)expected);
            if (cell > greatest) greatest = cell;
        }
        assert_int_equal(coarse[i], plain_cell(p, coded->rows, own->first + i, from->rows,
                                               model->coarse_row, COARSE));
    }
    ikt_free(&centre);
    return ikt_max_one(ctx, greatest);
}

static void cells_are_those_of_the_definition(void **state) {
    ikt_context *ctx = *state;
    for (int q = 0; q < PROBLEMS; q++) {
        const problem *p = &problems[q];
        const ikt_rows own = ikt_rows_make(CODED, ikt_size(ctx), ikt_rank(ctx));
        const ikt_codes_rows shape = {.d = p->d,
                                      .is_u8 = p->type == IKT_TYPE_U8,
                                      .is_sparse = p->form == SPARSE,
                                      .entries = 0.75 * (double)p->d,
                                      .longest = p->d};
        set from, coded;
        ikt_model *model;
        ikt_codes codes;
        uint16_t *coarse;
        assert_int_equal(ikt_codes_distinct(&p->spec, &shape) > 0, p->with_lists);
        open_set(ctx, p, p->spec.n, 1, &from);
        open_set(ctx, p, CODED, 2, &coded);
        ikt_dataset_take_model(coded.data, &from.source, &from.data);
        assert_int_equal(ikt_model_create(ctx, &p->spec, &model), IKT_OK);
        assert_int_equal(ikt_alloc(ctx, &coarse, own.count, sizeof *coarse, "test"), IKT_OK);
        assert_int_equal(ikt_codes_compute(ctx, coded.data, &own, model, &codes, coarse), IKT_OK);
        assert_int_equal(codes.width, 4);
        assert_true(check_cells(ctx, p, &own, &from, &coded, model, &codes, coarse) > UINT16_MAX);
        ikt_codes_destroy(&codes);
        ikt_free(&coarse);
        ikt_model_destroy(&model);
        close_set(&coded);
        close_set(&from);
        assert_int_equal(ikt_memory_now(ctx), 0);
    }
}

/* Where every row is sampled and none are equal, each falls into a leaf of its own. */
static void leaves_are_numbered_beyond_two_bytes(void **state) {
    ikt_context *ctx = *state;
    enum { N = 70000 };
    const ikt_model_spec spec = {.seed = 4, .n = N, .psi = N, .t = 2, .form = IKT_FORM_FOREST};
    const problem p = {"trees", spec, 3, IKT_TYPE_F32, DENSE, false};
    const ikt_rows own = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    set s;
    ikt_model *model;
    ikt_codes codes;
    int64_t *seen;
    open_set(ctx, &p, N, 1, &s);
    for (int64_t i = 0; i < N; i++) /* no two rows are equal */
        ((float *)s.rows)[3 * i] = (float)i;
    assert_int_equal(ikt_model_create(ctx, &spec, &model), IKT_OK);
    assert_int_equal(ikt_codes_compute(ctx, s.data, &own, model, &codes, NULL), IKT_OK);
    for (int64_t t = 0; t < spec.t; t++) {
        assert_int_equal(ikt_alloc(ctx, &seen, N, sizeof *seen, "test"), IKT_OK);
        for (int64_t i = 0; i < own.count; i++)
            seen[ikt_code_entry(&codes, i, t)]++;
        ikt_sum_i64(ctx, seen, N);
        for (int64_t c = 0; c < N; c++)
            assert_int_equal(seen[c], 1);
        ikt_free(&seen);
    }
    ikt_codes_destroy(&codes);
    ikt_model_destroy(&model);
    close_set(&s);
}

IKT_MPI_TESTS(ikt_test(cells_are_those_of_the_definition),
              ikt_test(leaves_are_numbered_beyond_two_bytes))
