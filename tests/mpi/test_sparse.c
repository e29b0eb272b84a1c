/* Sparse rows against the same rows held dense: cells, distances, orders, statistics and axes. */
#include "support/ikt_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "affinity/affinity.h"
#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "cells/cells.h"
#include "checkpoint/checkpoint.h"
#include "isolation/codes.h"
#include "linalg/pca.h"
#include "metric/metric.h"
#include "support/equal_cells.h"

typedef enum {
    PLAIN,
    TIED,  /* small integers, and every row a dozen times */
    FAR,   /* nearly the same large values: rounding decides */
    BIG,   /* squares beyond what values can be trusted with */
    TOPICS /* rows in order of class, of classes with few columns in common */
} kind;

typedef struct {
    const char *name;
    int64_t n, d, psi, t, pool, coarse;
    double density;
    kind what;
    int64_t budget; /* of centres; 0: the usual */
} problem;

static const problem problems[] = {
    {"lists", 600, 200, 60, 40, 0, 32, 0.05, PLAIN, 0},
    {"lists from a pool", 600, 200, 30, 60, 120, 64, 0.05, PLAIN, 0},
    {"lists of tied rows", 700, 40, 100, 30, 0, 20, 0.2, TIED, 0},
    {"lists that rounding leaves in doubt", 500, 60, 50, 30, 0, 20, 0.5, FAR, 0},
    {"lists that run out", 1500, 30, 20, 210, 0, 3, 0.2, PLAIN, 0},
    {"lists of classes", 600, 500, 30, 60, 0, 40, 0.02, TOPICS, 0},
    {"lists of huge values", 300, 50, 20, 40, 0, 10, 0.3, BIG, 0},
    {"more cells than a byte", 1000, 100, 300, 20, 600, 200, 0.1, PLAIN, 0},
    {"more centres than a chunk", 4500, 40, 500, 20, 4300, 16, 0.1, PLAIN, 0},
    {"races", 600, 200, 60, 7, 0, 32, 0.05, PLAIN, 0},
    {"races in batches", 600, 200, 60, 13, 0, 32, 0.05, PLAIN, 60000},
    {"races of tied rows", 700, 40, 300, 4, 0, 20, 0.2, TIED, 0},
    {"races that rounding leaves in doubt", 500, 60, 50, 7, 0, 20, 0.5, FAR, 0},
    {"races of huge values", 300, 50, 20, 5, 0, 10, 0.3, BIG, 0},
    {"full rows", 400, 20, 40, 30, 0, 16, 1, PLAIN, 0},
    {"one column", 300, 1, 20, 40, 0, 8, 0.4, TIED, 0},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

/* By which the rows are compared. */
static ikt_metric_kind metric = IKT_METRIC_EUCLIDEAN;

/* The entry of a row in a column, mostly 0. Every twentieth row is empty. */
static float element(const problem *p, int64_t row, int64_t k) {
    const int64_t source = p->what == TIED ? row % 60 : row;
    const uint64_t draw = ikt_rng_u64(8, IKT_RNG_TEST, source, (uint64_t)k);
    const double u = (double)(draw >> 40) / 0x1p24, v = (double)(draw & 0xFFFFFF) / 0x1p24;
    double density = p->density;
    if (p->what == TOPICS) density *= k % 10 == row * 10 / p->n ? 8 : 0.3;
    if (source % 20 == 3 || u >= density) return 0;
    if (p->what == TIED) return (float)floor(1 + 3 * v);
    if (p->what == FAR) return (float)(1000 + 0.01 * v);
    if (p->what == BIG) /* sums of so many magnitudes have squares that fit */
        return (float)((metric == IKT_METRIC_MANHATTAN ? 1.5e17 : 1.1e18) * (v - 0.5));
    return (float)(v - 0.3);
}

typedef struct {
    float *dense;
    ikt_sparse_rows rows;
    ikt_source *source[2]; /* dense, sparse */
    ikt_dataset *data[2];
    ikt_rows distribution;
} setting;

static void open_setting(ikt_context *ctx, const problem *p, ikt_normalise normalise, setting *s) {
    const ikt_preprocess_settings settings = {.normalise = (int)normalise, .metric = (int)metric};
    *s = (setting){.distribution = ikt_rows_make(p->n, ikt_size(ctx), ikt_rank(ctx))};
    assert_int_equal(ikt_alloc(ctx, &s->dense, p->n * p->d, sizeof(float), "test"), IKT_OK);
    assert_int_equal(ikt_sparse_rows_reserve(ctx, p->n, p->n * p->d, &s->rows), IKT_OK);
    int64_t to = 0;
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t k = 0; k < p->d; k++) {
            const float value = s->dense[i * p->d + k] = element(p, i, k);
            if (value == 0) continue;
            s->rows.column[to] = (int32_t)k;
            s->rows.value[to++] = (double)value;
        }
        s->rows.start[i + 1] = to;
    }
    s->rows.count = p->n;
    assert_int_equal(ikt_source_from_memory(ctx, s->dense, p->n, p->d, IKT_TYPE_F32, &s->source[0]),
                     IKT_OK);
    assert_int_equal(ikt_source_from_sparse(ctx, &s->rows, p->d, IKT_TYPE_F32, &s->source[1]),
                     IKT_OK);
    const ikt_data_map identity = {
        .normaliser = {.mode = IKT_NORMALISE_NONE, .metric = metric, .d = p->d}};
    for (int e = 0; e < 2; e++) { /* without statistics, which huge values would not pass */
        ikt_status st = p->what == BIG
                            ? ikt_dataset_create_mapped(ctx, s->source[e], &identity, &s->data[e])
                            : ikt_dataset_create(ctx, s->source[e], &settings, &s->data[e]);
        if (st != IKT_OK) fail_msg("%s: %s", p->name, ikt_message(ctx));
    }
    assert_false(ikt_dataset_is_sparse(s->data[0]));
    assert_true(ikt_dataset_is_sparse(s->data[1]));
}

static void close_setting(setting *s) {
    for (int e = 0; e < 2; e++) {
        ikt_dataset_destroy(&s->data[e]);
        ikt_source_close(&s->source[e]);
    }
    ikt_sparse_rows_destroy(&s->rows);
    ikt_free(&s->dense);
}

static ikt_model_spec spec_of(const problem *p) {
    return (ikt_model_spec){
        .seed = 21, .n = p->n, .psi = p->psi, .t = p->t, .pool = p->pool, .coarse = p->coarse};
}

static void compute(ikt_context *ctx, const problem *p, const setting *s, int e, ikt_codes *codes,
                    uint16_t **coarse) {
    const ikt_model_spec spec = spec_of(p);
    const ikt_codes_budget budget = {p->budget > 0 ? p->budget : INT64_C(256) << 20, 64 << 20, 0};
    ikt_model *model;
    assert_int_equal(ikt_model_create(ctx, &spec, &model), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, coarse, s->distribution.count, sizeof **coarse, "test"),
                     IKT_OK);
    ikt_code_places places = {.coarse = *coarse};
    ikt_status st = ikt_codes_compute_within(ctx, budget, NULL, s->data[e], &s->distribution, model,
                                             codes, &places);
    if (st != IKT_OK) fail_msg("%s: %s", p->name, ikt_message(ctx));
    ikt_model_destroy(&model);
}

static void cells_are_those_of_the_dense_rows(void **state) {
    ikt_context *ctx = *state;
    for (int q = 0; q < PROBLEMS; q++) {
        const problem *p = &problems[q];
        setting s;
        ikt_codes codes[2];
        uint16_t *coarse[2];
        ikt_context_set_threads(ctx, 1 + q % 2);
        open_setting(ctx, p, IKT_NORMALISE_NONE, &s);
        for (int e = 0; e < 2; e++)
            compute(ctx, p, &s, e, &codes[e], &coarse[e]);
        for (int64_t i = 0; i < s.distribution.count; i++) {
            for (int64_t t = 0; t < p->t; t++)
                if (ikt_code_entry(&codes[0], i, t) != ikt_code_entry(&codes[1], i, t))
                    fail_msg("%s: row %d, partitioning %d: cell %d dense, %d sparse", p->name,
                             (int)(s.distribution.first + i), (int)t,
                             (int)ikt_code_entry(&codes[0], i, t),
                             (int)ikt_code_entry(&codes[1], i, t));
            if (coarse[0][i] != coarse[1][i])
                fail_msg("%s: row %d: another coarse cell", p->name,
                         (int)(s.distribution.first + i));
        }
        const int64_t bytes = s.distribution.count * codes[0].stride;
        assert_int_equal(codes[0].stride, codes[1].stride);
        assert_memory_equal(codes[0].code, codes[1].code, (size_t)(bytes > 0 ? bytes : 1));
        for (int e = 0; e < 2; e++) {
            ikt_codes_destroy(&codes[e]);
            ikt_free(&coarse[e]);
        }
        close_setting(&s);
    }
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* Half of the problems have lists and half do not, as their names say. */
static void problems_are_what_they_say(void **state) {
    (void)state;
    for (int q = 0; q < PROBLEMS; q++) {
        const problem *p = &problems[q];
        const ikt_model_spec spec = {
            .seed = 21, .n = p->n, .psi = p->psi, .t = p->t, .pool = p->pool, .coarse = p->coarse};
        const ikt_codes_rows rows = {
            .d = p->d, .is_sparse = true, .entries = p->density * (double)p->d, .longest = p->d};
        assert_int_equal(ikt_codes_distinct(&spec, &rows) == 0, strncmp(p->name, "races", 5) == 0);
    }
}

static ikt_sparse read_all(ikt_context *ctx, setting *s, int64_t n) {
    ikt_sparse all = {0};
    (void)ctx;
    assert_int_equal(ikt_dataset_read_sparse(s->data[1], 0, n, &all), IKT_OK);
    return all;
}

static void distances_are_those_of_the_dense_rows(void **state) {
    ikt_context *ctx = *state;
    for (int q = 0; q < PROBLEMS; q++) {
        const problem p = problems[q];
        const int64_t n = p.n < 60 ? p.n : 60, d = p.d;
        setting s;
        ikt_sparse_pack pack;
        float *packed, *expected, *found;
        open_setting(ctx, &p, IKT_NORMALISE_NONE, &s);
        ikt_sparse all = read_all(ctx, &s, n);
        assert_int_equal(ikt_sparse_pack_create(ctx, &all, &pack), IKT_OK);
        assert_true(pack.first[pack.groups] <= all.start[n]);
        assert_int_equal(ikt_alloc(ctx, &packed, ikt_packed_floats(n, d), 4, "test"), IKT_OK);
        assert_int_equal(ikt_alloc(ctx, &expected, ikt_packed_rows(n), 4, "test"), IKT_OK);
        assert_int_equal(ikt_alloc(ctx, &found, ikt_packed_rows(n), 4, "test"), IKT_OK);
        ikt_pack_rows(s.dense, n, d, packed);
        for (int64_t i = 0; i < n; i++) {
            const ikt_sparse_row row = ikt_sparse_row_of(&all, i);
            ikt_metric_of(s.data[0])
                ->on(ikt_cpu_isa())
                ->block(s.dense + i * d, 1, packed, n, d, expected);
            ikt_metric_of(s.data[1])->on(ikt_cpu_isa())->sparse(&pack, row, found);
            assert_memory_equal(expected, found, (size_t)n * sizeof *found);
            for (int64_t j = 0; j < n; j++) {
                const ikt_sparse_row other = ikt_sparse_row_of(&all, j);
                const float sum = ikt_sparse_manhattan(row, other);
                const float distance =
                    metric == IKT_METRIC_MANHATTAN ? sum * sum : ikt_sparse_distance(row, other);
                assert_memory_equal(&distance, &expected[j], sizeof distance);
            }
        }
        ikt_free(&packed);
        ikt_free(&expected);
        ikt_free(&found);
        ikt_sparse_pack_destroy(&pack);
        ikt_sparse_destroy(&all);
        close_setting(&s);
    }
}

static void order_of_cells_is_that_of_the_dense_rows(void **state) {
    ikt_context *ctx = *state;
    for (int q = 0; q < 6; q++) {
        const problem *p = &problems[q];
        uint32_t *order[2];
        setting s;
        open_setting(ctx, p, IKT_NORMALISE_NONE, &s);
        ikt_sparse all = read_all(ctx, &s, p->n);
        for (int e = 0; e < 2; e++)
            assert_int_equal(ikt_alloc(ctx, &order[e], p->n, sizeof(uint32_t), "test"), IKT_OK);
        assert_int_equal(ikt_locality_order(ctx, s.dense, NULL, p->n, p->d, order[0]), IKT_OK);
        assert_int_equal(ikt_locality_order(ctx, NULL, &all, p->n, p->d, order[1]), IKT_OK);
        assert_memory_equal(order[0], order[1], (size_t)p->n * sizeof(uint32_t));
        ikt_free(&order[0]);
        ikt_free(&order[1]);
        ikt_sparse_destroy(&all);
        close_setting(&s);
    }
}

static void isolated_are_those_of_the_dense_rows(void **state) {
    ikt_context *ctx = *state;
    for (int q = 0; q < 4; q++) {
        const problem *p = &problems[q];
        setting s;
        ikt_zero_similarity isolated[2];
        uint8_t *marked;
        open_setting(ctx, p, IKT_NORMALISE_NONE, &s);
        assert_int_equal(ikt_alloc(ctx, &marked, s.distribution.count, 1, "test"), IKT_OK);
        for (int64_t i = 0; i < s.distribution.count; i++)
            marked[i] = (s.distribution.first + i) % 37 == 3;
        for (int e = 0; e < 2; e++)
            assert_int_equal(
                ikt_zero_similarity_find(ctx, s.data[e], &s.distribution, marked, 7, &isolated[e]),
                IKT_OK);
        assert_true(isolated[0].count > 10);
        assert_int_equal(isolated[0].count, isolated[1].count);
        assert_memory_equal(isolated[0].nearest, isolated[1].nearest,
                            (size_t)(7 * isolated[0].count) * sizeof(uint32_t));
        ikt_zero_similarity_destroy(&isolated[0]);
        ikt_zero_similarity_destroy(&isolated[1]);
        ikt_free(&marked);
        close_setting(&s);
    }
}

/* Values of the mapped rows, dense and sparse; `shifted`: up to a constant of each column. */
static void check_mapped(ikt_context *ctx, const problem *p, ikt_normalise mode, bool is_shifted) {
    const int64_t first = ikt_rank(ctx) * 11, count = 40, d = p->d;
    float *dense, *filled, *origin[2];
    setting s;
    open_setting(ctx, p, mode, &s);
    assert_int_equal(ikt_alloc(ctx, &dense, count * d, sizeof *dense, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &filled, count * d, sizeof *filled, "test"), IKT_OK);
    assert_int_equal(ikt_dataset_read(s.data[0], first, count, dense), IKT_OK);
    assert_int_equal(ikt_dataset_read(s.data[1], first, count, filled), IKT_OK);
    origin[0] = dense;
    origin[1] = filled;
    for (int64_t i = 1; i < count; i++)
        for (int64_t k = 0; k < d; k++) {
            double a = (double)dense[i * d + k], b = (double)filled[i * d + k];
            if (is_shifted) {
                a -= (double)origin[0][k];
                b -= (double)origin[1][k];
                if (fabs(a - b) > 1e-5 * (1 + fabs(a)))
                    fail_msg("row %d, column %d: %g dense, %g sparse", (int)i, (int)k, a, b);
            } else if (a != b) {
                fail_msg("row %d, column %d: %g dense, %g sparse", (int)i, (int)k, a, b);
            }
        }
    ikt_free(&dense);
    ikt_free(&filled);
    close_setting(&s);
}

static void differences_between_rows_are_scaled_alike(void **state) {
    const problem p = {"", 700, 50, 1, 1, 0, 0, 0.2, PLAIN, 0};
    check_mapped(*state, &p, IKT_NORMALISE_NONE, false);
    check_mapped(*state, &p, IKT_NORMALISE_UNIT, false);
    check_mapped(*state, &p, IKT_NORMALISE_MINMAX, true);
    check_mapped(*state, &p, IKT_NORMALISE_ZSCORE, true);
}

static void gathered_rows_are_those_read(void **state) {
    ikt_context *ctx = *state;
    const problem *p = &problems[0];
    const int64_t row[] = {0, 1, 3, 100, 101, 500, 599};
    const int64_t count = sizeof row / sizeof *row;
    setting s;
    ikt_sparse gathered;
    open_setting(ctx, p, IKT_NORMALISE_NONE, &s);
    assert_int_equal(ikt_dataset_gather_sparse(s.data[1], row, count, &gathered), IKT_OK);
    assert_int_equal(gathered.count, count);
    for (int64_t i = 0; i < count; i++) {
        const ikt_sparse_row found = ikt_sparse_row_of(&gathered, i);
        const int64_t at = s.rows.start[row[i]];
        assert_int_equal(found.count, s.rows.start[row[i] + 1] - at);
        for (int64_t e = 0; e < found.count; e++) {
            assert_int_equal(found.column[e], s.rows.column[at + e]);
            assert_true((double)found.value[e] == s.rows.value[at + e]);
        }
    }
    ikt_sparse_destroy(&gathered);
    close_setting(&s);
}

/* Axes of all rows are the principal components; directions are compared by scores. */
static void axes_are_principal_components(void **state) {
    ikt_context *ctx = *state;
    const problem p = {"", 300, 60, 1, 1, 0, 0, 0.3, TOPICS, 0};
    setting s;
    ikt_pca *pca;
    ikt_sparse_axes axes;
    double *expected, *found;
    open_setting(ctx, &p, IKT_NORMALISE_NONE, &s);
    ikt_sparse all = read_all(ctx, &s, p.n);
    ikt_row_reader reader = ikt_dataset_reader(s.data[0]);
    assert_int_equal(ikt_pca_fit(ctx, &reader, 2, &pca), IKT_OK);
    assert_int_equal(ikt_sparse_axes_fit(ctx, &all, 2, &axes), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &expected, 2 * p.n, sizeof *expected, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &found, 2 * p.n, sizeof *found, "test"), IKT_OK);
    assert_int_equal(ikt_pca_scores(ctx, pca, &reader, 0, p.n, expected), IKT_OK);
    ikt_sparse_axes_scores(ctx, &axes, &all, found);
    for (int64_t e = 0; e < 2 * p.n; e++)
        assert_true(fabs(expected[e] - found[e]) < 1e-6 * sqrt(pca->variance[0]));
    ikt_free(&expected);
    ikt_free(&found);
    ikt_sparse_axes_destroy(&axes);
    ikt_pca_destroy(&pca);
    ikt_sparse_destroy(&all);
    close_setting(&s);
}

/* Rows that are all equal have no direction: axes are zero, and so are scores. */
static void axes_of_equal_rows_are_zero(void **state) {
    ikt_context *ctx = *state;
    int32_t column[] = {1, 4, 1, 4, 1, 4};
    float value[] = {2, 3, 2, 3, 2, 3};
    int64_t start[] = {0, 2, 4, 6};
    double scores[6];
    ikt_sparse_axes axes;
    const ikt_sparse rows = {.count = 3, .d = 5, .start = start, .column = column, .value = value};
    assert_int_equal(ikt_sparse_axes_fit(ctx, &rows, 2, &axes), IKT_OK);
    ikt_sparse_axes_scores(ctx, &axes, &rows, scores);
    for (int e = 0; e < 6; e++)
        assert_true(scores[e] == 0);
    ikt_sparse_axes_destroy(&axes);
}

static void fingerprints_do_not_depend_on_ranks(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    char here[IKT_INPUT_TEXT], there[IKT_INPUT_TEXT], other[IKT_INPUT_TEXT];
    setting s, t;
    open_setting(ctx, &problems[0], IKT_NORMALISE_NONE, &s);
    open_setting(alone, &problems[0], IKT_NORMALISE_NONE, &t);
    assert_int_equal(ikt_fingerprint_input(ctx, s.source[1], here), IKT_OK);
    assert_int_equal(ikt_fingerprint_input(alone, t.source[1], there), IKT_OK);
    assert_string_equal(here, there);
    assert_non_null(strstr(here, "600 x 200 sparse float32"));
    t.rows.value[17] *= 2;
    assert_int_equal(ikt_fingerprint_input(alone, t.source[1], other), IKT_OK);
    assert_string_not_equal(there, other);
    close_setting(&s);
    close_setting(&t);
    ikt_context_destroy(&alone);
}

static void forest_and_many_components_are_refused(void **state) {
    ikt_context *ctx = *state;
    const problem *p = &problems[0];
    const ikt_model_spec spec = {
        .seed = 21, .n = p->n, .psi = p->psi, .t = p->t, .form = IKT_FORM_FOREST};
    setting s;
    ikt_model *model;
    ikt_codes codes;
    open_setting(ctx, p, IKT_NORMALISE_NONE, &s);
    assert_int_equal(ikt_model_create(ctx, &spec, &model), IKT_OK);
    assert_int_equal(ikt_codes_compute(ctx, s.data[1], &s.distribution, model, &codes, NULL),
                     IKT_ERR_USAGE);
    assert_non_null(strstr(ikt_message(ctx), "isolation.form: forest needs dense rows"));
    ikt_clear(ctx);
    ikt_model_destroy(&model);
    close_setting(&s);

    const int64_t start[] = {0, 0};
    const ikt_sparse_rows row = {.count = 1, .start = (int64_t *)start};
    ikt_source *source;
    ikt_dataset *data;
    assert_int_equal(ikt_source_from_sparse(ctx, &row, 100000, IKT_TYPE_F32, &source), IKT_OK);
    assert_int_equal(
        ikt_dataset_create(ctx, source,
                           &(ikt_preprocess_settings){.normalise = IKT_NORMALISE_NONE, .pca = 5},
                           &data),
        IKT_ERR_USAGE);
    assert_non_null(strstr(ikt_message(ctx), "possible up to 16384 columns"));
    ikt_clear(ctx);
    ikt_source_close(&source);
}

/* Codes with places of the three nearest centres, of dense or sparse rows. */
enum { NEAR = 3 };

static void find_places(ikt_context *ctx, const problem *p, const setting *s, int e,
                        ikt_code_places *out) {
    ikt_model_spec spec = spec_of(p);
    ikt_model *model;
    ikt_codes codes;
    spec.near = NEAR;
    *out = (ikt_code_places){.near = NEAR};
    assert_int_equal(ikt_model_create(ctx, &spec, &model), IKT_OK);
    assert_int_equal(
        ikt_alloc(ctx, &out->list, s->distribution.count * NEAR, sizeof(uint32_t), "test"), IKT_OK);
    assert_int_equal(ikt_codes_compute_within(ctx, (ikt_codes_budget){0, 0, 0}, NULL, s->data[e],
                                              &s->distribution, model, &codes, out),
                     IKT_OK);
    ikt_codes_destroy(&codes);
    ikt_model_destroy(&model);
    assert_true(out->cells > 1 && out->first[0] == 0);
    assert_true(out->first[out->cells] == out->centres);
    for (int64_t c = 0; c < out->cells; c++)
        assert_true(out->first[c] <= out->first[c + 1]);
}

/* A row that is a centre is nearest to itself. */
static void near_centres_have_near_places(void **state) {
    ikt_context *ctx = *state;
    const problem p = {"places of classes", 600, 500, 30, 60, 0, 0, 0.02, TOPICS, 0};
    setting s;
    ikt_code_places places;
    int64_t *class, pairs = 0, equal = 0;
    open_setting(ctx, &p, IKT_NORMALISE_NONE, &s);
    find_places(ctx, &p, &s, 1, &places);
    assert_int_equal(ikt_alloc(ctx, &class, places.centres, sizeof *class, "test"), IKT_OK);
    for (int64_t i = 0; i < s.distribution.count; i++) {
        const int64_t row = s.distribution.first + i;
        if (row % 20 != 3) class[places.list[i * NEAR]] = 1 + row * 10 / p.n;
    }
    for (int64_t c = 1; c < places.centres; c++) {
        pairs += class[c - 1] > 0 && class[c] > 0;
        equal += class[c - 1] > 0 && class[c] == class[c - 1];
    }
    if (ikt_size(ctx) == 1) assert_true(pairs > p.n / 2 && equal > pairs * 4 / 10);
    ikt_free(&class);
    ikt_code_places_destroy(&places);
    close_setting(&s);
}

/* Dense rows have other places, but near the same centres: what is place a of one is always place b
 * of the other. Rows that are empty are as far from each other as from their copies. */
static void places_are_near_the_centres_of_dense_rows(void **state) {
    ikt_context *ctx = *state;
    const problem p = {"places", 400, 20, 40, 30, 0, 0, 1, PLAIN, 0};
    setting s;
    ikt_code_places places[2];
    int64_t compared = 0;
    open_setting(ctx, &p, IKT_NORMALISE_NONE, &s);
    const int64_t n_local = s.distribution.count;
    for (int e = 0; e < 2; e++)
        find_places(ctx, &p, &s, e, &places[e]);
    assert_true(places[0].centres == places[1].centres && places[0].centres > p.n * 9 / 10);
    int64_t *other;
    assert_int_equal(ikt_alloc(ctx, &other, p.n, sizeof *other, "test"), IKT_OK);
    for (int64_t e = 0; e < NEAR; e++)
        for (int64_t i = 0; i < n_local; i++) {
            const uint32_t dense = places[0].list[i * NEAR + e];
            const uint32_t sparse = places[1].list[i * NEAR + e];
            assert_true(dense < places[0].centres && sparse < places[1].centres);
            if ((s.distribution.first + i) % 20 == 3) continue;
            if (e == 0) other[dense] = sparse + 1;
            if (other[dense] == 0) continue;
            assert_true(other[dense] == sparse + 1);
            compared++;
        }
    assert_true(n_local == 0 || compared > n_local);
    ikt_free(&other);
    for (int e = 0; e < 2; e++)
        ikt_code_places_destroy(&places[e]);
    close_setting(&s);
}

static void the_same_by_manhattan(void **state) {
    metric = IKT_METRIC_MANHATTAN;
    cells_are_those_of_the_dense_rows(state);
    distances_are_those_of_the_dense_rows(state);
    isolated_are_those_of_the_dense_rows(state);
    metric = IKT_METRIC_EUCLIDEAN;
}

IKT_MPI_TESTS(ikt_test(cells_are_those_of_the_dense_rows),
              ikt_test(places_are_near_the_centres_of_dense_rows),
              ikt_test(near_centres_have_near_places), ikt_test(problems_are_what_they_say),
              ikt_test(distances_are_those_of_the_dense_rows),
              ikt_test(order_of_cells_is_that_of_the_dense_rows),
              ikt_test(isolated_are_those_of_the_dense_rows), ikt_test(the_same_by_manhattan),
              ikt_test(differences_between_rows_are_scaled_alike),
              ikt_test(gathered_rows_are_those_read), ikt_test(axes_are_principal_components),
              ikt_test(axes_of_equal_rows_are_zero), ikt_test(fingerprints_do_not_depend_on_ranks),
              ikt_test(forest_and_many_components_are_refused))
