/* Cells from lists of distinct centres against the definition, row by row. */
#include "support/ikt_test.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/row_hash.h"
#include "isolation/codes.h"
#include "isolation/coding.h"
#include "support/model_rows.h"

typedef enum { UNIFORM, TIED, FAR } kind; /* FAR: a small cloud far away, where rounding decides */

typedef struct {
    const char *name;
    int64_t n, d, psi, t, pool, coarse;
    ikt_type type;
    kind what;
} problem;

static const problem problems[] = {
    {"uint8", 900, 20, 60, 40, 0, 32, IKT_TYPE_U8, UNIFORM},
    {"float32", 900, 20, 60, 40, 0, 32, IKT_TYPE_F32, UNIFORM},
    {"float32, several blocks of dimensions", 300, 300, 40, 20, 0, 16, IKT_TYPE_F32, UNIFORM},
    {"uint8, from a pool", 900, 20, 30, 60, 120, 64, IKT_TYPE_U8, UNIFORM},
    {"float32, from a pool", 900, 7, 30, 60, 120, 64, IKT_TYPE_F32, UNIFORM},
    {"uint8, ties", 700, 3, 100, 30, 0, 20, IKT_TYPE_U8, TIED},
    {"float32, ties", 700, 3, 100, 30, 0, 20, IKT_TYPE_F32, TIED},
    {"float32, doubtful rounding", 500, 10, 50, 30, 0, 20, IKT_TYPE_F32, FAR},
    {"uint8, lists that run out", 2000, 10, 20, 210, 0, 3, IKT_TYPE_U8, UNIFORM},
    {"float32, lists that run out", 2000, 10, 20, 210, 0, 3, IKT_TYPE_F32, UNIFORM},
    {"more cells than a byte", 1500, 5, 400, 20, 800, 300, IKT_TYPE_F32, UNIFORM},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static double coordinate(const problem *p, int64_t row, int64_t k) {
    double u = ikt_rng_uniform(8, IKT_RNG_TEST, p->what == TIED ? row % 50 : row, (uint64_t)k);
    if (p->what == FAR) return 1000 + 0.01 * u;
    return p->what == TIED ? floor(4 * u) : 256 * u;
}

static void *create_rows(ikt_context *ctx, const problem *p) {
    void *rows;
    assert_int_equal(ikt_alloc(ctx, &rows, p->n * p->d, ikt_type_size(p->type), "test"), IKT_OK);
    for (int64_t e = 0; e < p->n * p->d; e++) {
        double value = coordinate(p, e / p->d, e % p->d);
        if (p->type == IKT_TYPE_U8)
            ((uint8_t *)rows)[e] = (uint8_t)value;
        else
            ((float *)rows)[e] = (float)value;
    }
    return rows;
}

/* The distance that defines cells (codes_kernel.h). */
static double distance(const problem *p, const void *rows, int64_t a, int64_t b) {
    float sum = 0;
    int64_t exact = 0;
    for (int64_t k = 0; k < p->d; k++) {
        if (p->type == IKT_TYPE_U8) {
            int64_t gap = (int64_t)((const uint8_t *)rows)[a * p->d + k] -
                          (int64_t)((const uint8_t *)rows)[b * p->d + k];
            exact += gap * gap;
        } else {
            float gap = ((const float *)rows)[a * p->d + k] - ((const float *)rows)[b * p->d + k];
            sum = fmaf(gap, gap, sum);
        }
    }
    return p->type == IKT_TYPE_U8 ? (double)exact : (double)sum;
}

static int64_t plain_cell(const problem *p, const void *rows, const int64_t *centre, int64_t count,
                          int64_t row) {
    int64_t best = 0;
    for (int64_t j = 1; j < count; j++)
        if (distance(p, rows, row, centre[j]) < distance(p, rows, row, centre[best])) best = j;
    return best;
}

typedef struct {
    void *rows;
    ikt_source *source;
    ikt_dataset *data;
    ikt_model *model;
    ikt_rows distribution;
    ikt_codes codes;
    uint16_t *coarse;
} setting;

static void compute(ikt_context *ctx, const problem *p, setting *s) {
    const ikt_preprocess_settings raw = {.normalise = IKT_NORMALISE_NONE, .pca = 0};
    const ikt_model_spec spec = {
        .seed = 21, .n = p->n, .psi = p->psi, .t = p->t, .pool = p->pool, .coarse = p->coarse};
    s->rows = create_rows(ctx, p);
    s->distribution = ikt_rows_make(p->n, ikt_size(ctx), ikt_rank(ctx));
    assert_int_equal(ikt_source_from_memory(ctx, s->rows, p->n, p->d, p->type, &s->source), IKT_OK);
    assert_int_equal(ikt_dataset_create(ctx, s->source, &raw, &s->data), IKT_OK);
    assert_int_equal(ikt_model_create(ctx, &spec, &s->model), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &s->coarse, s->distribution.count, sizeof *s->coarse, "test"),
                     IKT_OK);
    assert_int_equal(
        ikt_codes_compute(ctx, s->data, &s->distribution, s->model, &s->codes, s->coarse), IKT_OK);
}

static void clear(setting *s) {
    ikt_codes_destroy(&s->codes);
    ikt_model_destroy(&s->model);
    ikt_dataset_destroy(&s->data);
    ikt_source_close(&s->source);
    ikt_free(&s->coarse);
    ikt_free(&s->rows);
}

static int64_t distinct_most(const problem *p) {
    int64_t all = p->t * p->psi + p->coarse, from = p->pool ? p->pool : p->n;
    return all < from ? all : from;
}

/* Every problem is one for lists, and every seventh row is compared in every partitioning. */
static void cells_are_those_of_the_definition(void **state) {
    for (int q = 0; q < PROBLEMS; q++) {
        const problem *p = &problems[q];
        setting s;
        assert_true(ikt_list_pays(p->type == IKT_TYPE_U8, distinct_most(p), p->psi, p->t, p->d));
        compute(*state, p, &s);
        int64_t *centre = model_rows(*state, s.model);
        for (int64_t i = 0; i < s.distribution.count; i += 7) {
            int64_t row = s.distribution.first + i;
            for (int64_t t = 0; t < p->t; t++) {
                int64_t expected = plain_cell(p, s.rows, centre + t * p->psi, p->psi, row);
                if (ikt_code_entry(&s.codes, i, t) != expected)
                    fail_msg("%s: row %d, partitioning %d: cell %d, not %d", p->name, (int)row,
                             (int)t, (int)ikt_code_entry(&s.codes, i, t), (int)expected);
            }
            assert_int_equal(s.coarse[i],
                             plain_cell(p, s.rows, s.model->coarse_row, p->coarse, row));
        }
        ikt_free(&centre);
        clear(&s);
    }
}

static uint64_t hash_of(ikt_context *ctx, const problem *p) {
    setting s;
    compute(ctx, p, &s);
    uint64_t hash =
        ikt_row_hash(ctx, s.codes.code, s.distribution.first, s.distribution.count,
                     (size_t)s.codes.stride) *
            31 +
        ikt_row_hash(ctx, s.coarse, s.distribution.first, s.distribution.count, sizeof *s.coarse);
    clear(&s);
    return hash;
}

static void codes_do_not_depend_on_ranks_and_threads(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    for (int q = 0; q < PROBLEMS; q++) {
        ikt_context_set_threads(ctx, 1 + q % 3);
        assert_true(hash_of(ctx, &problems[q]) == hash_of(alone, &problems[q]));
    }
    ikt_context_destroy(&alone);
}

/* Without partitionings there are coarse cells alone. */
static void a_model_may_be_coarse_only(void **state) {
    const problem p = {"coarse only", 300, 4, 1, 0, 0, 20, IKT_TYPE_F32, UNIFORM};
    setting s;
    compute(*state, &p, &s);
    for (int64_t i = 0; i < s.distribution.count; i++)
        assert_int_equal(s.coarse[i], plain_cell(&p, s.rows, s.model->coarse_row, p.coarse,
                                                 s.distribution.first + i));
    clear(&s);
}

static bool is_among(const int64_t *row, int64_t count, int64_t wanted) {
    for (int64_t e = 0; e < count; e++)
        if (row[e] == wanted) return true;
    return false;
}

/* A pool of psi rows leaves no choice: every partitioning is the pool itself. */
static void centres_come_from_the_pool(void **state) {
    ikt_model *model;
    const ikt_model_spec spec = {.seed = 4, .n = 1000, .psi = 30, .t = 5, .pool = 30, .coarse = 10};
    assert_int_equal(ikt_model_create(*state, &spec, &model), IKT_OK);
    int64_t *row = model_rows(*state, model);
    for (int64_t e = 0; e < 30; e++)
        for (int64_t t = 1; t < 5; t++)
            assert_int_equal(row[t * 30 + e], row[e]);
    for (int64_t e = 0; e < 10; e++)
        assert_true(is_among(row, 30, model->coarse_row[e]));
    ikt_free(&row);
    ikt_model_destroy(&model);
}

IKT_MPI_TESTS(ikt_test(cells_are_those_of_the_definition),
              ikt_test(codes_do_not_depend_on_ranks_and_threads),
              ikt_test(a_model_may_be_coarse_only), ikt_test(centres_come_from_the_pool))
