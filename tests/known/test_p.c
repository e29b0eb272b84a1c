/* P of the Gaussian and the Isolation kernel against the formulas of the papers in double precision
 * (van der Maaten & Hinton 2008; Zhu & Ting 2021, equation 3), dense and over k neighbours; rows
 * without any similarity; the least value; what every run checks. (mpi_affinity does the same for
 * the kNN and the adaptive Gaussian kernel, whose scores are integers there.) */
#include "support/ikt_test.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "affinity/affinity.h"
#include "base/memory.h"
#include "base/rng.h"
#include "graph/graph.h"
#include "objective/divergence.h"
#include "support/neighbour_lists.h"
#include "support/symmetrise.h"

enum { N = 60, D = 3, T = 14, CELLS = 4, K = 9 };
enum { ALONE_ONE = 11, ALONE_OTHER = 42 }; /* rows that share no cell with any other */
static const double perplexity = 5;

/* --- data that every rank can make -------------------------------------------------------------
 */

static float coordinate(int64_t row, int64_t c) {
    return (float)(ikt_rng_normal(21, IKT_RNG_TEST, row, (uint64_t)c) + 3 * (double)(row % 2));
}

static int cell(int64_t row, int64_t partitioning) {
    if (row == ALONE_ONE || row == ALONE_OTHER) return CELLS + (int)row;
    return (int)ikt_rng_below(22, IKT_RNG_TEST, row, (uint64_t)partitioning, CELLS);
}

/* Of all pairs, made once. */
static double distances[N][N];
static int equals[N][N];

static void make_pairs(void) {
    for (int64_t a = 0; a < N; a++)
        for (int64_t b = 0; b < N; b++) {
            distances[a][b] = equals[a][b] = 0;
            for (int64_t c = 0; c < D; c++) {
                const double gap = (double)coordinate(a, c) - (double)coordinate(b, c);
                distances[a][b] += gap * gap;
            }
            for (int64_t p = 0; p < T; p++)
                equals[a][b] += cell(a, p) == cell(b, p);
        }
}

static double squared(int64_t a, int64_t b) {
    return distances[a][b];
}

static int equal_cells(int64_t a, int64_t b) {
    return equals[a][b];
}

/* --- plain references: p[i][j] = p_j|i ---------------------------------------------------------
 */

typedef double table[N][N];

/* How many other rows come before j among the neighbours of i; equal scores by row. */
static int place_of(int64_t i, int64_t j, double (*score)(int64_t, int64_t)) {
    int before = 0;
    for (int64_t a = 0; a < N; a++)
        before += a != i && a != j &&
                  (score(i, a) < score(i, j) || (score(i, a) == score(i, j) && a < j));
    return before;
}

static double unequal_cells(int64_t a, int64_t b) {
    return T - equal_cells(a, b);
}

/* Rows of similarities over the `support` nearest made to sum to 1; rows of zeros get the same
 * weight for each of their K nearest rows. */
static void normalise_rows(int support, double (*score)(int64_t, int64_t),
                           double (*similarity)(int64_t, int64_t), table p) {
    for (int64_t i = 0; i < N; i++) {
        double total = 0;
        for (int64_t j = 0; j < N; j++) {
            p[i][j] = i != j && place_of(i, j, score) < support ? similarity(i, j) : 0;
            total += p[i][j];
        }
        for (int64_t j = 0; j < N; j++)
            p[i][j] =
                total > 0 ? p[i][j] / total : (i != j && place_of(i, j, squared) < K ? 1.0 / K : 0);
    }
}

static double isolation_similarity(int64_t i, int64_t j) {
    return equal_cells(i, j);
}

static double precision_of_row;

static double gaussian_similarity(int64_t i, int64_t j) {
    return exp(-precision_of_row * squared(i, j));
}

/* Every row's precision by bisection on the entropy. */
static void gaussian_rows(int support, table p) {
    static table one;
    static bool is_near[N][N];
    static double precision[N];
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            is_near[i][j] = i != j && place_of(i, j, squared) < support;
    for (int64_t i = 0; i < N; i++) {
        double low = 1e-5, high = 1e5;
        for (int step = 0; step < 90; step++) {
            double total = 0, moment = 0;
            precision_of_row = sqrt(low * high);
            for (int64_t j = 0; j < N; j++)
                if (is_near[i][j]) {
                    total += gaussian_similarity(i, j);
                    moment += gaussian_similarity(i, j) * precision_of_row * squared(i, j);
                }
            if (log(total) + moment / total > log(perplexity))
                low = precision_of_row;
            else
                high = precision_of_row;
        }
        precision[i] = sqrt(low * high);
    }
    for (int64_t i = 0; i < N; i++) {
        double total = 0;
        precision_of_row = precision[i];
        for (int64_t j = 0; j < N; j++) {
            one[i][j] = is_near[i][j] ? gaussian_similarity(i, j) : 0;
            total += one[i][j];
        }
        for (int64_t j = 0; j < N; j++)
            p[i][j] = one[i][j] / total;
    }
}

static double joint(table p, int64_t i, int64_t j) {
    return (p[i][j] + p[j][i]) / (2 * N);
}

/* --- the program ------------------------------------------------------------------------------ */

/* A scorer of rows that are their numbers. */
static int64_t packed_bytes(const ikt_scorer *scorer, int64_t count) {
    return count * scorer->row_bytes;
}

static void score_cells(const ikt_scorer *scorer, const void *plain, int64_t na, const void *packed,
                        int64_t nb, float *out) {
    (void)scorer;
    for (int64_t a = 0; a < na; a++)
        for (int64_t b = 0; b < nb; b++)
            out[a * ikt_score_stride(nb) + b] =
                (float)unequal_cells(((const int64_t *)plain)[a], ((const int64_t *)packed)[b]);
}

typedef struct {
    ikt_rows rows;
    float *x;
    ikt_source *source;
    ikt_dataset *data;
    int64_t number[N]; /* of each row */
    ikt_scorer scorer;
    ikt_affinity_settings settings;
    ikt_affinity_job job;
    const ikt_affinity *kind;
} setting;

static void make(ikt_context *ctx, int kind, setting *s) {
    const ikt_preprocess_settings raw = {.normalise = IKT_NORMALISE_NONE, .pca = 0};
    memset(s, 0, sizeof *s);
    make_pairs();
    s->rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    for (int64_t row = 0; row < N; row++)
        s->number[row] = row;
    s->settings.kind = kind;
    s->settings.gaussian.perplexity = perplexity;
    s->kind = ikt_affinity_of(&s->settings);
    assert_int_equal(ikt_alloc(ctx, &s->x, N * D, sizeof *s->x, "test"), IKT_OK);
    for (int64_t e = 0; e < N * D; e++)
        s->x[e] = coordinate(e / D, e % D);
    assert_int_equal(ikt_source_from_memory(ctx, s->x, N, D, IKT_TYPE_F32, &s->source), IKT_OK);
    assert_int_equal(ikt_dataset_create(ctx, s->source, &raw, &s->data), IKT_OK);
    if (kind == IKT_AFFINITY_ISOLATION)
        s->scorer = (ikt_scorer){.rows = s->rows,
                                 .plain = s->number + s->rows.first,
                                 .row_bytes = sizeof *s->number,
                                 .packed_bytes = packed_bytes,
                                 .score = score_cells};
    else
        s->scorer = ikt_scorer_rows(&ikt_metric_euclidean, s->x + D * s->rows.first, D, &s->rows);
    s->job = (ikt_affinity_job){
        .settings = &s->settings, .k = K, .t = T, .data = s->data, .rows = &s->rows};
}

static void drop(setting *s) {
    ikt_dataset_destroy(&s->data);
    ikt_source_close(&s->source);
    ikt_free(&s->x);
}

static void reference(int kind, int support, table p) {
    if (kind == IKT_AFFINITY_GAUSSIAN)
        gaussian_rows(support, p);
    else
        normalise_rows(support, unequal_cells, isolation_similarity, p);
}

/* The search for a precision ends where the entropy is within 1e-6: weights follow within 1e-5. */
static void assert_near(double found, double wanted) {
    if (!(fabs(found - wanted) <= 2e-5 * wanted + 1e-12))
        fail_msg("%.9g instead of %.9g", found, wanted);
}

static const int kinds[] = {IKT_AFFINITY_GAUSSIAN, IKT_AFFINITY_ISOLATION};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void a_dense_p_is_that_of_the_formula(void **state) {
    static table p;
    ikt_context *ctx = *state;
    for (int k = 0; k < KINDS; k++) {
        setting s;
        ikt_dense dense;
        int64_t without = -1;
        make(ctx, kinds[k], &s);
        reference(kinds[k], N, p);
        assert_int_equal(ikt_dense_fill(ctx, &s.scorer, &dense), IKT_OK);
        assert_int_equal(s.kind->dense(ctx, &s.job, &dense, &without), IKT_OK);
        assert_int_equal(without, kinds[k] == IKT_AFFINITY_ISOLATION ? 2 : 0);
        for (int64_t i = 0; i < s.rows.count; i++)
            for (int64_t j = 0; j < dense.stride; j++)
                assert_near((double)dense.value[i * dense.stride + j],
                            j < N ? joint(p, s.rows.first + i, j) : 0);
        assert_int_equal(ikt_dense_check(ctx, &dense), IKT_OK);
        ikt_dense_destroy(&dense);
        drop(&s);
        assert_int_equal(ikt_memory_now(ctx), 0);
    }
}

/* P from the lists of all ranks; `p` has no entry where a list has none. */
static void make_sparse(ikt_context *ctx, const setting *s, ikt_graph *graph) {
    ikt_neighbours lists;
    int64_t without = -1;
    assert_int_equal(exact_lists(ctx, &s->scorer, K, &lists), IKT_OK);
    assert_int_equal(s->kind->weigh(ctx, &s->job, &lists, &without), IKT_OK);
    assert_int_equal(without, s->settings.kind == IKT_AFFINITY_ISOLATION ? 2 : 0);
    assert_int_equal(ikt_test_symmetrise(ctx, &s->rows, &lists, graph), IKT_OK);
}

static void a_sparse_p_is_the_dense_one_over_the_nearest_rows(void **state) {
    static table p;
    static double found[N][N];
    ikt_context *ctx = *state;
    for (int k = 0; k < KINDS; k++) {
        setting s;
        ikt_graph graph;
        make(ctx, kinds[k], &s);
        reference(kinds[k], K, p);
        make_sparse(ctx, &s, &graph);
        memset(found, 0, sizeof found);
        for (int64_t i = 0; i < s.rows.count; i++)
            for (int part = 0; part < 2; part++) {
                const ikt_csr *csr = part ? &graph.reverse : &graph.forward;
                for (int64_t e = csr->start[i]; e < csr->start[i + 1]; e++)
                    found[s.rows.first + i][ikt_graph_global(&graph, csr->column[e])] +=
                        (double)ikt_csr_value(csr, e);
            }
        for (int64_t i = s.rows.first; i < s.rows.first + s.rows.count; i++)
            for (int64_t j = 0; j < N; j++)
                assert_near(found[i][j], joint(p, i, j));
        assert_int_equal(ikt_graph_check(ctx, &graph), IKT_OK);
        ikt_graph_destroy(&graph);
        drop(&s);
        assert_int_equal(ikt_memory_now(ctx), 0);
    }
}

/* An entry stays one however small its weight is; a weight of zero is none. */
static void the_least_value_of_p_is_that_of_a_normal_float(void **state) {
    const ikt_rows rows = ikt_rows_make(3, 1, 0);
    ikt_context *alone = ikt_test_alone();
    const uint32_t row[6] = {1, 2, 0, 2, 0, 1};
    const float weight[6] = {1, 1e-44f, 1, 0, 1, 0};
    ikt_neighbours lists;
    ikt_graph graph;
    (void)state;
    assert_int_equal(ikt_neighbours_create(alone, &rows, 2, &lists), IKT_OK);
    memcpy(lists.row, row, sizeof row);
    memcpy(lists.score, weight, sizeof weight);
    assert_int_equal(ikt_test_symmetrise(alone, &rows, &lists, &graph), IKT_OK);
    /* 0-1: (1 + 1) / 6; 0-2: (tiny + 1) / 6; 1-2: none. */
    assert_int_equal(graph.forward.start[3] + graph.reverse.start[3], 4);
    for (int64_t e = 0; e < graph.forward.start[1]; e++)
        assert_true(fabs((double)ikt_csr_value(&graph.forward, e) - (e == 0 ? 2.0 : 1.0) / 6) <
                    1e-7);
    ikt_graph_destroy(&graph);
    /* 0 -> 1 alone, and tiny: the mirror image has the same value. */
    const float tiny[6] = {1e-44f, 1, 0, 1, 1, 0};
    assert_int_equal(ikt_neighbours_create(alone, &rows, 2, &lists), IKT_OK);
    memcpy(lists.row, row, sizeof row);
    memcpy(lists.score, tiny, sizeof tiny);
    assert_int_equal(ikt_test_symmetrise(alone, &rows, &lists, &graph), IKT_OK);
    assert_true(ikt_csr_value(&graph.forward, 0) == FLT_MIN);
    assert_true(ikt_csr_value(&graph.reverse, graph.reverse.start[1]) == FLT_MIN);
    assert_int_equal(ikt_graph_check(alone, &graph), IKT_OK);
    ikt_graph_destroy(&graph);
    ikt_context_destroy(&alone);
}

/* NeRV needs p > 0: all pairs of 11 rows together have a hundredth of the mass. */
static void the_floor_under_p_is_a_hundredth_of_the_mass(void **state) {
    (void)state;
    assert_true(fabs(ikt_nerv_floor(11) - 0.01 / 110) < 1e-18);
}

/* Weights of the edges of one row of a graph that was made elsewhere. */
static void edges_are_weighed_by_what_their_numbers_are(void **state) {
    enum { COUNT = 5 };
    const double value[COUNT] = {0.5, 2, 0.25, 1e-40, 1.25};
    float squared_values[COUNT], weight[COUNT];
    double total = 0, entropy = 0;
    (void)state;
    ikt_edge_rule rule = {.values = IKT_EDGES_SIMILARITIES};
    ikt_edge_weights(&rule, value, COUNT, squared_values, weight);
    for (int e = 0; e < COUNT; e++)
        assert_near((double)weight[e], fmax(value[e] / 4, 1e-30));
    assert_true(weight[3] == 1e-30f); /* an edge stays an edge */
    rule = (ikt_edge_rule){.values = IKT_EDGES_NONE};
    ikt_edge_weights(&rule, value, COUNT, squared_values, weight);
    for (int e = 0; e < COUNT; e++)
        assert_near((double)weight[e], 1.0 / COUNT);
    rule = (ikt_edge_rule){.values = IKT_EDGES_PROBABILITIES, .scale = 3};
    ikt_edge_weights(&rule, value, COUNT, squared_values, weight);
    assert_near((double)weight[1], 6);
    rule = (ikt_edge_rule){
        .values = IKT_EDGES_DISTANCES, .kernel = IKT_WEIGHTS_GAUSSIAN, .perplexity = 3};
    ikt_edge_weights(&rule, value, COUNT, squared_values, weight);
    for (int e = 0; e < COUNT; e++) {
        total += (double)weight[e];
        entropy -= (double)weight[e] * log((double)weight[e]);
    }
    assert_near(total, 1);
    assert_near(entropy, log(3));
    /* Logarithms of weights are linear in squared distances. */
    assert_near((log((double)weight[0]) - log((double)weight[1])) / (4 - 0.25),
                (log((double)weight[2]) - log((double)weight[4])) / (1.5625 - 0.0625));
}

/* --- what every run checks -------------------------------------------------------------------- */

static void refused(ikt_context *ctx, ikt_status st, const char *words) {
    assert_int_equal(st, IKT_ERR_INTERNAL);
    if (!strstr(ikt_message(ctx), words)) fail_msg("'%s', not '%s'", ikt_message(ctx), words);
    ikt_clear(ctx);
}

/* The first entry of the first rank that is changed by a bit, and all of them by a part. */
static void a_sparse_p_that_is_none_is_told(void **state) {
    ikt_context *ctx = *state;
    setting s;
    ikt_graph graph;
    make(ctx, IKT_AFFINITY_GAUSSIAN, &s);
    make_sparse(ctx, &s, &graph);
    assert_int_equal(ikt_graph_check_sums(ctx, &graph), IKT_OK);
    float *first = graph.forward.value;
    const float kept = *first;
    if (ikt_rank(ctx) == 0) *first = nextafterf(kept, 1);
    refused(ctx, ikt_graph_check_sums(ctx, &graph), "not symmetric");
    *first = kept;
    for (int part = 0; part < 2; part++) {
        const ikt_csr *csr = part ? &graph.reverse : &graph.forward;
        for (int64_t e = 0; e < csr->start[s.rows.count]; e++)
            csr->value[e] *= 1.00001f;
    }
    refused(ctx, ikt_graph_check_sums(ctx, &graph), "and not to 1");
    ikt_graph_destroy(&graph);
    drop(&s);
}

static void a_dense_p_that_is_none_is_told(void **state) {
    ikt_context *ctx = *state;
    setting s;
    ikt_dense dense;
    int64_t without;
    make(ctx, IKT_AFFINITY_GAUSSIAN, &s);
    assert_int_equal(ikt_dense_fill(ctx, &s.scorer, &dense), IKT_OK);
    assert_int_equal(s.kind->dense(ctx, &s.job, &dense, &without), IKT_OK);
    const float kept = dense.value[3];
    if (ikt_rank(ctx) == 0) dense.value[3] = nextafterf(kept, 1);
    refused(ctx, ikt_dense_check(ctx, &dense), "not symmetric");
    dense.value[3] = kept;
    for (int64_t e = 0; e < s.rows.count * dense.stride; e++)
        dense.value[e] *= 0.99999f;
    refused(ctx, ikt_dense_check(ctx, &dense), "and not to 1");
    ikt_dense_destroy(&dense);
    drop(&s);
}

IKT_MPI_TESTS(ikt_test(a_dense_p_is_that_of_the_formula),
              ikt_test(a_sparse_p_is_the_dense_one_over_the_nearest_rows),
              ikt_test(the_least_value_of_p_is_that_of_a_normal_float),
              ikt_test(the_floor_under_p_is_a_hundredth_of_the_mass),
              ikt_test(edges_are_weighed_by_what_their_numbers_are),
              ikt_test(a_sparse_p_that_is_none_is_told), ikt_test(a_dense_p_that_is_none_is_told))
