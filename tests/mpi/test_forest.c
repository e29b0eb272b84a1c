/* The forest form of the Isolation kernel: trees against the plain recursive definition, codes over
 * ranks and threads, and what the kernel must satisfy. */
#include "support/ikt_test.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/row_hash.h"
#include "isolation/codes.h"
#include "isolation/similarity.h"
#include "isolation/tree.h"
#include "support/equal_cells.h"

/* --- one tree --------------------------------------------------------------------------------- */

enum { COLUMNS_MOST = 8, ROWS_MOST = 64 };

/* Rows of a tree, as the reference takes them. */
typedef struct {
    double x[ROWS_MOST][COLUMNS_MOST];
    int64_t d;
} table;

/* The lowest sampled row of the leaf that `query` falls into, by the definition: rows that differ
 * are parted by a value between the least and the greatest of a column in which they differ. */
static int recursive_leaf(const table *t, uint64_t key, int64_t p, const int *sample, int count,
                          const double *query) {
    int64_t column[COLUMNS_MOST], tried;
    double low = 0, high = 0;
    for (int64_t c = 0; c < t->d; c++)
        column[c] = c;
    for (tried = 0; tried < t->d; tried++) {
        int64_t at =
            tried + ikt_rng_below(key, IKT_RNG_TREE, p, (uint64_t)(3 + tried), t->d - tried);
        int64_t drawn = column[at];
        column[at] = column[tried];
        column[tried] = drawn;
        low = INFINITY;
        high = -INFINITY;
        for (int i = 0; i < count; i++) {
            low = fmin(low, t->x[sample[i]][drawn]);
            high = fmax(high, t->x[sample[i]][drawn]);
        }
        if (low < high) break;
    }
    if (tried == t->d) {
        int lowest = sample[0];
        for (int i = 1; i < count; i++)
            lowest = sample[i] < lowest ? sample[i] : lowest;
        return lowest;
    }
    double value = low + ikt_rng_uniform(key, IKT_RNG_TREE, p, 2) * (high - low);
    bool greater = query[column[tried]] > value || (value >= high && query[column[tried]] >= high);
    int side[ROWS_MOST], parted = 0;
    for (int i = 0; i < count; i++) {
        double x = t->x[sample[i]][column[tried]];
        if ((x > value || (value >= high && x >= high)) == greater) side[parted++] = sample[i];
    }
    assert_in_range(parted, 1, count - 1);
    uint64_t below = ikt_rng_u64(key, IKT_RNG_TREE, p, greater ? 1 : 0);
    return recursive_leaf(t, below, p, side, parted, query);
}

typedef struct {
    ikt_context *ctx;
    int64_t psi, d;
    int64_t step; /* every so many-th row is sampled */
    float x[ROWS_MOST * COLUMNS_MOST];
    uint8_t bytes[ROWS_MOST * COLUMNS_MOST];
    ikt_tree_rows rows;
    ikt_tree_workspace space;
    ikt_tree_node node[2 * ROWS_MOST];
    int64_t leaves;
} tree;

static void grow(tree *t, uint64_t seed, int64_t p) {
    const ikt_tree_key key = {seed, p};
    IKT_ARRAYS(held, t->ctx, "test");
    ikt_tree_workspace_create(&held, t->psi, t->d, &t->space);
    assert_int_equal(held.status, IKT_OK);
    for (int64_t i = 0; i < t->psi; i++)
        t->space.sample[i] = (uint32_t)(i * t->step);
    t->leaves = ikt_tree_grow(&key, &t->rows, t->psi, &t->space, t->node);
}

static bool are_equal(const tree *t, int64_t a, int64_t b) {
    return memcmp(t->x + a * t->d, t->x + b * t->d, (size_t)t->d * sizeof *t->x) == 0;
}

/* Leaves are as many as different sampled rows; each holds one, and its equals only. */
static void check_isolation(const tree *t) {
    uint32_t cell[ROWS_MOST];
    int64_t different = 0;
    bool seen[ROWS_MOST] = {false};
    ikt_tree_cells(t->node, &t->rows, 0, ROWS_MOST, cell);
    for (int64_t i = 0; i < t->psi * t->step; i += t->step) {
        bool is_new = true;
        assert_in_range(cell[i], 0, t->leaves - 1);
        for (int64_t j = 0; j < i; j += t->step) {
            is_new &= !are_equal(t, i, j);
            assert_true((cell[i] == cell[j]) == are_equal(t, i, j));
        }
        different += is_new;
        seen[cell[i]] = true;
    }
    assert_int_equal(t->leaves, different);
    for (int64_t l = 0; l < t->leaves; l++)
        assert_true(seen[l]);
}

/* All rows, sampled or not, fall where the recursive definition says. */
static void check_against_recursion(const tree *t, uint64_t seed, int64_t p) {
    uint32_t cell[ROWS_MOST];
    int sample[ROWS_MOST];
    table plain = {.d = t->d};
    for (int64_t i = 0; i < ROWS_MOST; i++)
        for (int64_t c = 0; c < t->d; c++)
            plain.x[i][c] = (double)t->x[i * t->d + c];
    for (int i = 0; i < t->psi; i++)
        sample[i] = i * (int)t->step;
    ikt_tree_cells(t->node, &t->rows, 0, ROWS_MOST, cell);
    for (int64_t i = 0; i < ROWS_MOST; i++) {
        int lowest = recursive_leaf(&plain, seed, p, sample, (int)t->psi, plain.x[i]);
        assert_int_equal(cell[i], cell[lowest]);
    }
}

/* Values of few kinds, so that rows coincide and columns are constant. */
static double value_of(int kind, int64_t row, int64_t c) {
    double u = ikt_rng_uniform(6, IKT_RNG_TEST, row, (uint64_t)c);
    switch (kind) {
    case 0: /* plain */
        return u;
    case 1: /* ties, and columns that are constant */
        return c % 2 ? 7 : floor(3 * u);
    case 2: /* equal rows */
        return floor(255 * ikt_rng_uniform(6, IKT_RNG_TEST, row % 9, (uint64_t)c));
    case 3: /* scales from the least numbers to the greatest */
        return ldexp(u - 0.5, (int)(250 * ikt_rng_uniform(7, IKT_RNG_TEST, row, 0)) - 124);
    case 4: /* one row after the other half as far */
        return ldexp(1, -(int)row);
    default: /* neighbouring floats */
        return 1 + (double)row * (double)FLT_EPSILON;
    }
}
enum { KINDS = 6 };

static void fill(tree *t, int kind, bool is_u8) {
    for (int64_t e = 0; e < ROWS_MOST * t->d; e++) {
        double value = value_of(kind, e / t->d, e % t->d);
        t->bytes[e] = (uint8_t)(kind == 0 ? 255 * value : value);
        t->x[e] = is_u8 ? (float)t->bytes[e] : (float)value;
    }
    t->rows = (ikt_tree_rows){is_u8 ? (void *)t->bytes : (void *)t->x, t->d, is_u8};
}

static void trees_are_those_of_the_recursive_definition(void **state) {
    static const int64_t shapes[][2] = {{1, 1}, {2, 1}, {13, 1}, {20, 3}, {40, 8}, {50, 2}};
    static tree t;
    t.ctx = *state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int is_u8 = 0; is_u8 < (kind < 3 ? 2 : 1); is_u8++)
            for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
                t.psi = shapes[s][0];
                t.d = shapes[s][1];
                t.step = 2 * t.psi <= ROWS_MOST ? 2 : 1;
                fill(&t, kind, is_u8);
                grow(&t, 5 + s, kind);
                check_isolation(&t);
                check_against_recursion(&t, 5 + s, kind);
            }
}

/* Neighbouring floats, the greatest ones, the least, and zeros of both signs. */
static void the_closest_values_are_parted(void **state) {
    const float pairs[][2] = {{1, 1 + FLT_EPSILON}, {-FLT_MAX, FLT_MAX},
                              {0, 0x1p-149f},       {nextafterf(FLT_MAX, 0), FLT_MAX},
                              {-0x1p-149f, 0},      {-0.0f, 0}};
    enum { PAIRS = sizeof pairs / sizeof *pairs };
    static tree t;
    t.ctx = *state;
    t.psi = 2;
    t.d = t.step = 1;
    for (int i = 0; i < PAIRS; i++)
        for (int64_t p = 0; p < 50; p++) {
            t.x[0] = pairs[i][0];
            t.x[1] = pairs[i][1];
            t.rows = (ikt_tree_rows){t.x, 1, false};
            grow(&t, 1, p);
            assert_int_equal(t.leaves, i == PAIRS - 1 ? 1 : 2);
        }
}

static void the_order_of_the_sampled_rows_does_not_matter(void **state) {
    static tree a, b;
    const ikt_tree_key key = {3, 4};
    a.ctx = b.ctx = *state;
    a.psi = b.psi = 30;
    a.d = b.d = 4;
    a.step = 1;
    fill(&a, 1, false);
    fill(&b, 1, false);
    grow(&a, key.seed, key.partitioning);
    IKT_ARRAYS(held, b.ctx, "test");
    ikt_tree_workspace_create(&held, b.psi, b.d, &b.space);
    assert_int_equal(held.status, IKT_OK);
    for (int64_t i = 0; i < b.psi; i++)
        b.space.sample[i] = (uint32_t)(b.psi - 1 - i);
    assert_int_equal(ikt_tree_grow(&key, &b.rows, b.psi, &b.space, b.node), a.leaves);
    assert_memory_equal(a.node, b.node, (size_t)(2 * a.leaves - 1) * sizeof *a.node);
}

/* --- codes ------------------------------------------------------------------------------------ */

typedef struct {
    int64_t n, d, psi, t, pool;
    ikt_type type;
    int normalise;
} problem;

static const problem problems[] = {
    {1000, 20, 64, 50, 0, IKT_TYPE_U8, IKT_NORMALISE_NONE},
    {1000, 20, 64, 50, 90, IKT_TYPE_F32, IKT_NORMALISE_NONE},
    {700, 3, 300, 40, 0, IKT_TYPE_F64, IKT_NORMALISE_MINMAX},
    {3, 5, 1, 65, 0, IKT_TYPE_U8, IKT_NORMALISE_NONE},
    {3, 5, 2, 65, 0, IKT_TYPE_F32, IKT_NORMALISE_ZSCORE},
    {90, 150, 90, 7, 0, IKT_TYPE_U8, IKT_NORMALISE_MINMAX},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

/* A third of the rows are copies of others. */
static void *create_rows(ikt_context *ctx, const problem *p) {
    void *rows;
    assert_int_equal(ikt_alloc(ctx, &rows, p->n * p->d, ikt_type_size(p->type), "test"), IKT_OK);
    for (int64_t e = 0; e < p->n * p->d; e++) {
        double u =
            ikt_rng_uniform(9, IKT_RNG_TEST, e / p->d % (2 * p->n / 3 + 1), (uint64_t)(e % p->d));
        if (p->type == IKT_TYPE_U8)
            ((uint8_t *)rows)[e] = (uint8_t)(256 * u);
        else if (p->type == IKT_TYPE_F32)
            ((float *)rows)[e] = (float)u;
        else
            ((double *)rows)[e] = u;
    }
    return rows;
}

static const ikt_codes_budget roomy = {1 << 26, 1 << 26, 0};

static ikt_model_spec spec_of(const problem *p) {
    return (ikt_model_spec){
        .seed = 21, .n = p->n, .psi = p->psi, .t = p->t, .pool = p->pool, .form = IKT_FORM_FOREST};
}

static void compute(ikt_context *ctx, ikt_codes_budget budget, const problem *p,
                    ikt_rows *distribution, ikt_codes *codes) {
    const ikt_preprocess_settings settings = {.normalise = p->normalise, .pca = 0};
    const ikt_model_spec spec = spec_of(p);
    void *rows = create_rows(ctx, p);
    ikt_source *source;
    ikt_dataset *data;
    ikt_model *model;
    *distribution = ikt_rows_make(p->n, ikt_size(ctx), ikt_rank(ctx));
    assert_int_equal(ikt_source_from_memory(ctx, rows, p->n, p->d, p->type, &source), IKT_OK);
    assert_int_equal(ikt_dataset_create(ctx, source, &settings, &data), IKT_OK);
    assert_int_equal(ikt_model_create(ctx, &spec, &model), IKT_OK);
    const int64_t before = ikt_memory_peak(ctx);
    assert_int_equal(
        ikt_codes_compute_within(ctx, budget, NULL, data, distribution, model, codes, NULL),
        IKT_OK);
    if (budget.batch_bytes == roomy.batch_bytes) {
        int64_t used = ikt_memory_peak(ctx) - before;
        const ikt_codes_rows shape = {.d = p->d, .is_u8 = ikt_dataset_is_u8(data)};
        int64_t predicted =
            ikt_codes_memory_peak(&shape, distribution->count, &spec, ikt_threads(ctx));
        assert_in_range(used, 0, predicted + (1 << 20));
    }
    ikt_model_destroy(&model);
    ikt_dataset_destroy(&data);
    ikt_source_close(&source);
    ikt_free(&rows);
}

static uint64_t hash_within(ikt_context *ctx, ikt_codes_budget budget, const problem *p) {
    ikt_rows rows;
    ikt_codes codes;
    compute(ctx, budget, p, &rows, &codes);
    uint64_t hash = ikt_row_hash(ctx, codes.code, rows.first, rows.count, (size_t)codes.stride);
    ikt_codes_destroy(&codes);
    assert_int_equal(ikt_memory_now(ctx), 0);
    return hash;
}

static void codes_do_not_depend_on_ranks_threads_or_passes(void **state) {
    const ikt_codes_budget small = {100000, 9000, 0};
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    for (int i = 0; i < PROBLEMS; i++) {
        const uint64_t hash = hash_within(alone, roomy, &problems[i]);
        assert_true(hash_within(ctx, small, &problems[i]) == hash);
        for (int threads = 1; threads <= 2; threads++) {
            ikt_context_set_threads(ctx, threads);
            assert_true(hash_within(ctx, roomy, &problems[i]) == hash);
        }
    }
    ikt_context_destroy(&alone);
}

/* With every row sampled, rows share a cell where they are equal, and never otherwise. */
static void a_row_is_like_itself_and_its_copies(void **state) {
    ikt_context *alone = ikt_test_alone();
    const problem p = {90, 4, 90, 33, 0, IKT_TYPE_F32, IKT_NORMALISE_NONE};
    const int64_t period = 2 * p.n / 3 + 1;
    ikt_rows rows;
    ikt_codes codes;
    (void)state;
    compute(alone, roomy, &p, &rows, &codes);
    for (int64_t i = 0; i < p.n; i++)
        for (int64_t k = 0; k < p.n; k++)
            assert_int_equal(equal_cells(&codes, i, k), i % period == k % period ? p.t : 0);
    ikt_codes_destroy(&codes);
    ikt_context_destroy(&alone);
}

/* Along a line of evenly spread rows the mean similarity falls with the distance, and the smaller
 * psi is the more slowly. */
static void similarity_falls_with_distance(void **state) {
    enum { N = 400, T = 600, STEPS = 12, ORIGINS = 300 };
    ikt_context *alone = ikt_test_alone();
    double before[STEPS] = {0};
    (void)state;
    for (int64_t psi = 4; psi <= 64; psi *= 4) {
        double line[N], last = 1;
        for (int i = 0; i < N; i++)
            line[i] = i;
        const ikt_preprocess_settings settings = {.normalise = IKT_NORMALISE_NONE, .pca = 0};
        const ikt_rows rows = ikt_rows_make(N, 1, 0);
        const ikt_model_spec spec = {
            .seed = 2, .n = N, .psi = psi, .t = T, .form = IKT_FORM_FOREST};
        ikt_source *source;
        ikt_dataset *data;
        ikt_model *model;
        ikt_codes codes;
        assert_int_equal(ikt_source_from_memory(alone, line, N, 1, IKT_TYPE_F64, &source), IKT_OK);
        assert_int_equal(ikt_dataset_create(alone, source, &settings, &data), IKT_OK);
        assert_int_equal(ikt_model_create(alone, &spec, &model), IKT_OK);
        assert_int_equal(ikt_codes_compute(alone, data, &rows, model, &codes, NULL), IKT_OK);
        for (int step = 0; step < STEPS; step++) {
            double sum = 0;
            for (int64_t i = 0; i < ORIGINS; i++)
                sum += (double)equal_cells(&codes, i, i + 1 + 8 * step) / T;
            sum /= ORIGINS;
            assert_true(sum < last || sum < 1e-3);
            assert_true(psi == 4 || sum < before[step] || sum < 1e-3);
            before[step] = last = sum;
        }
        ikt_codes_destroy(&codes);
        ikt_model_destroy(&model);
        ikt_dataset_destroy(&data);
        ikt_source_close(&source);
    }
    ikt_context_destroy(&alone);
}

static void trees_draw_from_all_rows_unless_told_otherwise(void **state) {
    ikt_isolation_settings settings = {
        .psi = IKT_AUTO_INT, .partitionings = 200, .pool = IKT_AUTO_INT, .form = IKT_FORM_FOREST};
    int64_t pool = -1;
    assert_int_equal(ikt_isolation_resolve_pool(*state, &settings, 1000000, 4096, 200, &pool),
                     IKT_OK);
    assert_int_equal(pool, 0);
    settings.form = IKT_FORM_VORONOI;
    assert_int_equal(ikt_isolation_resolve_pool(*state, &settings, 1000000, 4096, 200, &pool),
                     IKT_OK);
    assert_int_equal(pool, 8 * 4096);
    settings.form = IKT_FORM_FOREST;
    settings.pool = 5000;
    assert_int_equal(ikt_isolation_resolve_pool(*state, &settings, 1000000, 4096, 200, &pool),
                     IKT_OK);
    assert_int_equal(pool, 5000);
}

IKT_MPI_TESTS(ikt_test(trees_are_those_of_the_recursive_definition),
              ikt_test(the_closest_values_are_parted),
              ikt_test(the_order_of_the_sampled_rows_does_not_matter),
              ikt_test(codes_do_not_depend_on_ranks_threads_or_passes),
              ikt_test(a_row_is_like_itself_and_its_copies),
              ikt_test(similarity_falls_with_distance),
              ikt_test(trees_draw_from_all_rows_unless_told_otherwise))
