/* Distances by preprocess.metric, against plain loops: the rows that cosine and correlation
 * compare, cells and neighbours by Manhattan distances of dense and sparse rows and of bytes, and
 * matrices of distances in place of the rows that they are of. */
#include "support/ikt_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/matrix.h"
#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/row_hash.h"
#include "evaluate/queries.h"
#include "isolation/codes.h"
#include "support/neighbour_lists.h"

typedef enum { FLOATS, BYTES, SPARSE } form;

enum { N = 420, D = 19 };

/* Whole numbers, a third of them 0, and some rows twice: sums are exact and ties are many. */
static double draw(int64_t row, int64_t k) {
    const int64_t from = row % 300;
    const double u = ikt_rng_uniform(11, IKT_RNG_TEST, from, (uint64_t)k);
    const double centre = floor(120 * ikt_rng_uniform(12, IKT_RNG_TEST, from % 6, (uint64_t)k));
    return u < 0.33 ? 0 : floor(centre + 40 * u);
}

/* They are drawn once. */
static double element(int64_t row, int64_t k) {
    static double table[N][D];
    if (table[0][0] == 0) {
        for (int64_t e = 0; e < N * D; e++)
            table[e / D][e % D] = draw(e / D, e % D);
        table[0][0] = 51;
    }
    return table[row][k];
}

typedef struct {
    void *rows;
    ikt_sparse_rows sparse;
    ikt_source *source;
    ikt_dataset *data;
    ikt_rows distribution;
} setting;

static void open_rows(ikt_context *ctx, form as, const ikt_preprocess_settings *settings,
                      setting *s) {
    const ikt_type type = as == BYTES ? IKT_TYPE_U8 : IKT_TYPE_F32;
    *s = (setting){.distribution = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx))};
    assert_int_equal(ikt_alloc(ctx, &s->rows, N * D, ikt_type_size(type), "test"), IKT_OK);
    assert_int_equal(ikt_sparse_rows_reserve(ctx, N, N * D, &s->sparse), IKT_OK);
    int64_t entries = 0;
    for (int64_t e = 0; e < N * D; e++) {
        const double value = element(e / D, e % D);
        if (as == BYTES)
            ((uint8_t *)s->rows)[e] = (uint8_t)value;
        else
            ((float *)s->rows)[e] = (float)value;
        if (value != 0) {
            s->sparse.column[entries] = (int32_t)(e % D);
            s->sparse.value[entries++] = value;
        }
        s->sparse.start[e / D + 1] = entries;
    }
    s->sparse.count = N;
    assert_int_equal(as == SPARSE
                         ? ikt_source_from_sparse(ctx, &s->sparse, D, IKT_TYPE_F32, &s->source)
                         : ikt_source_from_memory(ctx, s->rows, N, D, type, &s->source),
                     IKT_OK);
    if (ikt_dataset_create(ctx, s->source, settings, &s->data) != IKT_OK)
        fail_msg("%s", ikt_message(ctx));
}

static void close_rows(setting *s) {
    ikt_dataset_destroy(&s->data);
    ikt_source_close(&s->source);
    ikt_sparse_rows_destroy(&s->sparse);
    ikt_free(&s->rows);
}

/* Sums over the columns of |x - y| or of its square, computed once for all pairs. */
static int64_t sum_of(int64_t table[N][N], int64_t i, int64_t j, bool is_squared) {
    if (table[0][0] == 0) {
        for (int64_t a = 0; a < N; a++)
            for (int64_t b = 0; b < N; b++) {
                double sum = 0;
                for (int64_t k = 0; k < D; k++) {
                    const double gap = fabs(element(a, k) - element(b, k));
                    sum += is_squared ? gap * gap : gap;
                }
                table[a][b] = (int64_t)sum;
            }
        table[0][0] = -1;
    }
    return i == j ? 0 : table[i][j];
}

static int64_t manhattan(int64_t i, int64_t j) {
    static int64_t table[N][N];
    return sum_of(table, i, j, false);
}

/* --- cells ------------------------------------------------------------------------------------ */

typedef struct {
    const char *name;
    int64_t psi, t, pool, candidates;
} model_kind;

static const model_kind models[] = {
    {"each partitioning by itself", 50, 3, 0, 0}, {"lists", 60, 40, 0, 0},
    {"lists from a pool", 30, 60, 130, 0},        {"lists of all centres", 9, 150, 0, 0},
    {"lists that run out", 100, 200, 0, 0},       {"near lists of all centres", 60, 40, 0, N}};
enum { MODELS = sizeof models / sizeof *models };

static const ikt_preprocess_settings by_manhattan = {.normalise = IKT_NORMALISE_NONE,
                                                     .metric = IKT_METRIC_MANHATTAN};

static void compute(ikt_context *ctx, const setting *s, const model_kind *kind, ikt_model **model,
                    ikt_codes *codes) {
    const ikt_model_spec spec = {.seed = 5,
                                 .n = N,
                                 .psi = kind->psi,
                                 .t = kind->t,
                                 .pool = kind->pool,
                                 .candidates = kind->candidates};
    assert_int_equal(ikt_model_create(ctx, &spec, model), IKT_OK);
    if (ikt_codes_compute(ctx, s->data, &s->distribution, *model, codes, NULL) != IKT_OK)
        fail_msg("%s: %s", kind->name, ikt_message(ctx));
}

/* The number of the nearest drawn row by plain loops; ties go to the lower row. */
static int64_t nearest_centre(int64_t row, const int64_t *centre, int64_t psi,
                              int64_t (*distance)(int64_t, int64_t)) {
    int64_t best = 0;
    for (int64_t j = 1; j < psi; j++)
        if (distance(row, centre[j]) < distance(row, centre[best])) best = j;
    return best;
}

static void check_cells(ikt_context *ctx, const char *what, const setting *s,
                        int64_t (*distance)(int64_t, int64_t)) {
    for (int m = 0; m < MODELS; m++) {
        ikt_model *model;
        ikt_codes codes;
        ikt_draws draws;
        compute(ctx, s, &models[m], &model, &codes);
        assert_int_equal(ikt_draws_create(ctx, model, 1, &draws), IKT_OK);
        for (int64_t p = 0; p < models[m].t; p += models[m].psi < 100 ? 7 : 1) {
            const int64_t *centre = ikt_model_draw(model, &draws, 0, p);
            for (int64_t i = 0; i < s->distribution.count; i++) {
                const int64_t row = s->distribution.first + i;
                const int64_t wanted = nearest_centre(row, centre, models[m].psi, distance);
                if (ikt_code_entry(&codes, i, p) != wanted)
                    fail_msg("%s, %s: row %d, partitioning %d: cell %d, not %d", what,
                             models[m].name, (int)row, (int)p, (int)ikt_code_entry(&codes, i, p),
                             (int)wanted);
            }
        }
        ikt_draws_destroy(&draws);
        ikt_codes_destroy(&codes);
        ikt_model_destroy(&model);
    }
}

static void cells_are_those_of_the_nearest_by_manhattan(void **state) {
    static const char *const name[] = {"floats", "bytes", "sparse rows"};
    for (form as = FLOATS; as <= SPARSE; as++) {
        setting s;
        open_rows(*state, as, &by_manhattan, &s);
        assert_int_equal(ikt_dataset_is_u8(s.data), as == BYTES);
        assert_int_equal(ikt_dataset_is_sparse(s.data), as == SPARSE);
        check_cells(*state, name[as], &s, manhattan);
        close_rows(&s);
    }
}

/* --- neighbours ------------------------------------------------------------------------------- */

enum { K = 9 };

/* Rows by (distance, number), which is unique. */
static bool is_nearer(int64_t row, int64_t a, int64_t b, int64_t (*distance)(int64_t, int64_t)) {
    const int64_t x = distance(row, a), y = distance(row, b);
    return x != y ? x < y : a < b;
}

static void check_lists(const setting *s, const ikt_neighbours *lists,
                        int64_t (*distance)(int64_t, int64_t), double power) {
    for (int64_t i = 0; i < s->distribution.count; i++) {
        const int64_t row = s->distribution.first + i;
        int64_t last = -1;
        for (int64_t e = 0; e < K; e++) {
            int64_t best = -1; /* the next one after `last` */
            for (int64_t j = 0; j < N; j++)
                if (j != row && (last < 0 || is_nearer(row, last, j, distance)) && j != last &&
                    (best < 0 || is_nearer(row, j, best, distance)))
                    best = j;
            assert_int_equal(lists->row[i * K + e], best);
            assert_true((double)lists->score[i * K + e] ==
                        (double)(float)pow((double)distance(row, best), power));
            last = best;
        }
    }
}

static void neighbours_are_the_nearest_by_manhattan(void **state) {
    ikt_context *ctx = *state;
    for (form as = FLOATS; as <= BYTES; as++) {
        setting s;
        ikt_scorer scorer;
        ikt_neighbours lists;
        open_rows(ctx, as, &by_manhattan, &s);
        assert_int_equal(ikt_scorer_data(ctx, s.data, &s.distribution, &scorer), IKT_OK);
        assert_int_equal(exact_lists(ctx, &scorer, K, &lists), IKT_OK);
        check_lists(&s, &lists, manhattan, 2);
        ikt_neighbours_destroy(&lists);
        ikt_scorer_destroy(&scorer);
        close_rows(&s);
    }
}

/* Lists so long that one rank makes those of some rows after those of the others: rows on a line,
 * in mixed order. */
static void long_lists_are_made_some_rows_at_a_time(void **state) {
    enum { ROWS = 1300, LONG = 1000, STEP = 7 }; /* one rank makes 1,024 lists at a time */
    static float x[ROWS];
    ikt_context *ctx = *state;
    const ikt_rows rows = ikt_rows_make(ROWS, ikt_size(ctx), ikt_rank(ctx));
    for (int64_t i = 0; i < ROWS; i++)
        x[i] = (float)(i * STEP % ROWS);
    const ikt_scorer scorer = ikt_scorer_rows(&ikt_metric_euclidean, x + rows.first, 1, &rows);
    ikt_neighbours lists;
    assert_int_equal(exact_lists(ctx, &scorer, LONG, &lists), IKT_OK);
    for (int64_t i = 0; i < rows.count; i++) {
        const float *score = lists.score + i * LONG, own = x[rows.first + i];
        int64_t left = (int64_t)own, right = ROWS - 1 - (int64_t)own, gap = 1;
        bool met[ROWS] = {false};
        for (int64_t e = 0; e < LONG; gap++) /* rows at this gap to the left and to the right */
            for (int side = 0; side < 2 && e < LONG; side++)
                if (gap <= (side == 0 ? left : right))
                    assert_true((double)score[e++] == (double)(gap * gap));
        for (int64_t e = 0; e < LONG; e++) {
            const int64_t row = lists.row[i * LONG + e];
            assert_true(row < ROWS && row != rows.first + i && !met[row]);
            assert_true(score[e] == (x[row] - own) * (x[row] - own));
            met[row] = true;
        }
    }
    ikt_neighbours_destroy(&lists);
}

/* --- rows of length 1 ------------------------------------------------------------------------- */

/* Rows 60 and 61 have no direction: one is 0, one is constant. */
static double patched(int64_t row, int64_t k) {
    return row == 60 ? 0 : row == 61 ? 7.1 : element(row, k);
}

static void check_directions(ikt_context *ctx, bool is_centred, bool is_scaled) {
    const ikt_preprocess_settings settings = {
        .normalise = is_scaled ? IKT_NORMALISE_MINMAX : IKT_NORMALISE_NONE,
        .metric = is_centred ? IKT_METRIC_CORRELATION : IKT_METRIC_COSINE};
    const ikt_rows own = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    double *rows, low[D], high[D];
    float *mapped;
    ikt_source *source;
    ikt_dataset *data;
    assert_int_equal(ikt_alloc(ctx, &rows, N * D, sizeof *rows, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &mapped, N * D, sizeof *mapped, "test"), IKT_OK);
    for (int64_t k = 0; k < D; k++) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
        for (int64_t i = 0; i < N; i++) {
            rows[i * D + k] = patched(i, k);
            low[k] = fmin(low[k], rows[i * D + k]);
            high[k] = fmax(high[k], rows[i * D + k]);
        }
    }
    assert_int_equal(ikt_source_from_memory(ctx, rows, N, D, IKT_TYPE_F64, &source), IKT_OK);
    if (ikt_dataset_create(ctx, source, &settings, &data) != IKT_OK)
        fail_msg("%s", ikt_message(ctx));
    assert_int_equal(ikt_dataset_read(data, own.first, own.count, mapped), IKT_OK);
    for (int64_t i = 0; i < own.count; i++) {
        double x[D], mean = 0, square = 0;
        for (int64_t k = 0; k < D; k++) {
            x[k] = patched(own.first + i, k);
            if (is_scaled) x[k] = (x[k] - low[k]) / (high[k] - low[k]);
            mean += x[k] / D;
        }
        for (int64_t k = 0; k < D; k++) {
            x[k] -= is_centred ? mean : 0;
            square += x[k] * x[k];
        }
        const bool has_none = square < 1e-20; /* but for rounding here */
        for (int64_t k = 0; k < D; k++) {
            const double expected = has_none ? 0 : x[k] / sqrt(square);
            assert_true(fabs((double)mapped[i * D + k] - expected) < (has_none ? 1e-30 : 1e-6));
        }
    }
    ikt_dataset_destroy(&data);
    ikt_source_close(&source);
    ikt_free(&rows);
    ikt_free(&mapped);
}

static void cosine_and_correlation_compare_directions(void **state) {
    for (int is_scaled = 0; is_scaled < 2; is_scaled++) {
        check_directions(*state, false, is_scaled);
        check_directions(*state, true, is_scaled);
    }
}

static void sparse_rows_have_a_cosine_and_no_correlation(void **state) {
    ikt_context *ctx = *state;
    const ikt_preprocess_settings cosine = {.normalise = IKT_NORMALISE_NONE,
                                            .metric = IKT_METRIC_COSINE};
    setting dense, sparse;
    float *a, *b;
    open_rows(ctx, FLOATS, &cosine, &dense);
    open_rows(ctx, SPARSE, &cosine, &sparse);
    assert_int_equal(ikt_alloc(ctx, &a, N * D, sizeof *a, "test"), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &b, N * D, sizeof *b, "test"), IKT_OK);
    assert_int_equal(ikt_dataset_read(dense.data, 0, N, a), IKT_OK);
    assert_int_equal(ikt_dataset_read(sparse.data, 0, N, b), IKT_OK);
    assert_memory_equal(a, b, N * D * sizeof *a);
    ikt_free(&a);
    ikt_free(&b);
    ikt_dataset_destroy(&sparse.data);
    const ikt_preprocess_settings correlation = {.normalise = IKT_NORMALISE_NONE,
                                                 .metric = IKT_METRIC_CORRELATION};
    assert_int_equal(ikt_dataset_create(ctx, sparse.source, &correlation, &sparse.data),
                     IKT_ERR_USAGE);
    assert_non_null(strstr(ikt_message(ctx), "cosine"));
    ikt_clear(ctx);
    close_rows(&sparse);
    close_rows(&dense);
}

/* --- matrices in place of rows ---------------------------------------------------------------- */

static int64_t squared(int64_t i, int64_t j) {
    static int64_t table[N][N];
    return sum_of(table, i, j, true);
}

static double product(int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t k = 0; k < D; k++)
        sum += element(i, k) * element(j, k);
    return sum;
}

/* Beyond its few near rows all others are equally far from a row, so that where the lists of near
 * centres end, ties decide. */
static int64_t capped(int64_t i, int64_t j) {
    const int64_t gap = i < j ? j - i : i - j;
    return gap < 20 ? gap : 20;
}

typedef enum { OF_SQUARES, OF_GAPS, OF_TIES, OF_PRODUCTS } matrix_kind;

/* The whole matrix on every rank. */
static double *make_matrix(ikt_context *ctx, matrix_kind what) {
    double *matrix;
    assert_int_equal(ikt_alloc(ctx, &matrix, N * N, sizeof *matrix, "test"), IKT_OK);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            matrix[i * N + j] = what == OF_SQUARES ? sqrt((double)squared(i, j))
                                : what == OF_GAPS  ? (double)manhattan(i, j)
                                : what == OF_TIES  ? (double)capped(i, j)
                                                   : product(i, j) - 3000; /* negative ones, too */
    return matrix;
}

static ikt_status open_matrix(ikt_context *ctx, const double *matrix, int64_t columns,
                              ikt_matrix_kind kind, setting *s) {
    const ikt_preprocess_settings settings = {.metric = IKT_METRIC_PRECOMPUTED,
                                              .matrix = (int)kind};
    *s = (setting){.distribution = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx))};
    assert_int_equal(ikt_source_from_memory(ctx, matrix, N, columns, IKT_TYPE_F64, &s->source),
                     IKT_OK);
    return ikt_dataset_create(ctx, s->source, &settings, &s->data);
}

static void a_matrix_gives_what_its_rows_give(void **state) {
    static const char *const name[] = {"distances", "Manhattan distances", "capped distances",
                                       "similarities"};
    ikt_context *ctx = *state;
    for (matrix_kind what = OF_SQUARES; what <= OF_PRODUCTS; what++) {
        int64_t (*distance)(int64_t, int64_t) = what == OF_GAPS   ? manhattan
                                                : what == OF_TIES ? capped
                                                                  : squared;
        const ikt_matrix_kind kind =
            what == OF_PRODUCTS ? IKT_MATRIX_SIMILARITIES : IKT_MATRIX_DISTANCES;
        double *matrix = make_matrix(ctx, what);
        setting s;
        ikt_neighbours lists;
        if (open_matrix(ctx, matrix, N, kind, &s) != IKT_OK) fail_msg("%s", ikt_message(ctx));
        check_cells(ctx, name[what], &s, distance);
        assert_int_equal(ikt_matrix_lists(ctx, ikt_dataset_pairs(s.data), &s.distribution,
                                          IKT_EDGES_DISTANCES, K, &lists),
                         IKT_OK);
        check_lists(&s, &lists, distance, what == OF_GAPS || what == OF_TIES ? 2 : 1);
        ikt_neighbours_destroy(&lists);
        /* Measures look at whole rows of it. */
        const ikt_measured measured = {.rows = s.distribution, .data = s.data};
        const int64_t row[] = {3, 4, 5, 77, N - 1};
        ikt_distances work;
        IKT_ARRAYS(held, ctx, "measures");
        assert_int_equal(ikt_distances_create(&held, &measured, false, 5, &work), IKT_OK);
        assert_int_equal(ikt_distances_fill(ctx, &work, row, 5), IKT_OK);
        for (int q = 0; q < 5; q++)
            for (int64_t j = 0; j < N; j++)
                assert_true((double)work.distance[q * work.stride + j] ==
                            (double)(float)pow((double)distance(row[q], j),
                                               what == OF_GAPS || what == OF_TIES ? 2 : 1));
        ikt_arrays_free(&held);
        close_rows(&s);
        ikt_free(&matrix);
    }
    assert_int_equal(ikt_memory_now(ctx), 0);
}

static void refuse(ikt_context *ctx, double *matrix, int64_t columns, ikt_matrix_kind kind,
                   const char *words) {
    setting s;
    const ikt_status st = open_matrix(ctx, matrix, columns, kind, &s);
    if (st != IKT_ERR_DATA || !strstr(ikt_message(ctx), words))
        fail_msg("'%s' is not in the message: %s", words, ikt_message(ctx));
    ikt_clear(ctx);
    close_rows(&s);
}

/* A matrix with one wrong entry, which is set right again. */
static void refuse_entry(ikt_context *ctx, double *matrix, int64_t row, int64_t column,
                         double value, const char *words) {
    const double right = matrix[row * N + column];
    matrix[row * N + column] = value;
    refuse(ctx, matrix, N, IKT_MATRIX_DISTANCES, words);
    matrix[row * N + column] = right;
}

static void what_are_no_distances_is_refused(void **state) {
    ikt_context *ctx = *state;
    double *matrix = make_matrix(ctx, OF_SQUARES);
    setting s;
    refuse_entry(ctx, matrix, 401, 7, -1, "row 401, column 7: -1");
    refuse_entry(ctx, matrix, 12, 300, NAN, "row 12, column 300: ");
    refuse_entry(ctx, matrix, 30, 30, 0.5, "row 30: the distance to itself is 0.5");
    refuse_entry(ctx, matrix, 9, 10, 1e20, "row 9, column 10: the square of 1e+20");
    /* The worst of two pairs, found from either side. */
    matrix[5 * N + 6] += 1;
    refuse_entry(ctx, matrix, 410, 20, 4000, "row 20, column 410 is");
    matrix[5 * N + 6] -= 1;
    refuse_entry(ctx, matrix, 6, 5, 1.0003 * matrix[6 * N + 5], "row 5, column 6 is");
    refuse(ctx, matrix, N - 1, IKT_MATRIX_DISTANCES, "square");
    refuse(ctx, matrix, N, IKT_MATRIX_SIMILARITIES, "similarity");
    /* Rounding is no asymmetry. */
    for (int64_t e = 0; e < N * N; e++)
        matrix[e] *= 1 + 1e-5 * (double)(e % 7);
    if (open_matrix(ctx, matrix, N, IKT_MATRIX_DISTANCES, &s) != IKT_OK)
        fail_msg("%s", ikt_message(ctx));
    close_rows(&s);
    memset(matrix, 0, N * N * sizeof *matrix);
    refuse(ctx, matrix, N, IKT_MATRIX_DISTANCES, "tells no rows apart");
    ikt_free(&matrix);
}

IKT_MPI_TESTS(ikt_test(cells_are_those_of_the_nearest_by_manhattan),
              ikt_test(neighbours_are_the_nearest_by_manhattan),
              ikt_test(long_lists_are_made_some_rows_at_a_time),
              ikt_test(cosine_and_correlation_compare_directions),
              ikt_test(sparse_rows_have_a_cosine_and_no_correlation),
              ikt_test(a_matrix_gives_what_its_rows_give),
              ikt_test(what_are_no_distances_is_refused))
