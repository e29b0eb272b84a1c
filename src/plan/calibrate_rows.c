/* Measuring what comes before P: reading, components, codes, searches. */
#include <math.h>
#include <string.h>

#include "affinity/affinity.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/timer.h"
#include "dist/order.h"
#include "isolation/codes.h"
#include "isolation/tree.h"
#include "linalg/pca.h"
#include "metric/metric.h"
#include "neighbours/cells.h"
#include "neighbours/exact.h"
#include "neighbours/locality.h"
#include "neighbours/nearest_cell.h"
#include "neighbours/refine.h"
#include "neighbours/search.h"
#include "plan/calibrate.h"

enum {
    TRIES = 3,
    CLUSTERS = 64,
    CODED_ROWS = 2048,  /* of each thread */
    LISTED_ROWS = 8192, /* the same; making the lists' tables is part of the time */
    CODED_PSI = 256,
    FEW_CENTRES = 4096, /* distinct ones */
    MANY_CENTRES = 16384,
    CODED_BYTES = 784, /* columns */
    CODED_FLOATS = 64,
    SEARCHED = 4096,  /* rows that are compared with all on one rank; fewer each on more */
    NEAR_ROWS = 8192, /* of each thread, compared with those of near cells */
    FEW_CANDIDATES = 1024,
    CANDIDATES = 4096,
    SEARCH_COLUMNS = 50,
    SEARCH_T = 200,
    SEARCH_PSI = 4096,
    NEIGHBOURS_CODES = 30,
    NEIGHBOURS_GAUSSIAN = 90,
    FEW_ROWS = 512, /* for the components: what does not grow with the rows, and what does */
    MANY_ROWS = 6144,
    COMPONENTS = 384,
    REDUCED = 48,
    ORDERED = 4096,
    ORDER_COLUMNS = 128
};

/* Rows in clusters: neither all nor none are about as near to one centre as to the next. */
static double coordinate(int64_t row, int64_t c) {
    double centre = ikt_rng_uniform(1, IKT_RNG_SAMPLE, row % CLUSTERS, (uint64_t)c);
    return 0.7 * centre + 0.3 * ikt_rng_uniform(1, IKT_RNG_SAMPLE, CLUSTERS + row, (uint64_t)c);
}

static const ikt_preprocess_settings plain = {IKT_NORMALISE_NONE, 0},
                                     scaled = {IKT_NORMALISE_MINMAX, 0},
                                     reduced = {IKT_NORMALISE_MINMAX, REDUCED};

typedef struct {
    void *rows;
    ikt_source *source;
    ikt_dataset *data;
    ikt_rows distribution;
} rows;

static void rows_destroy(rows *r) {
    ikt_dataset_destroy(&r->data);
    ikt_source_close(&r->source);
    ikt_free(&r->rows);
}

/* COLLECTIVE. A data set in memory, whole on every rank; bytes or floats. */
static ikt_status rows_make(ikt_context *ctx, int64_t n, int64_t d, ikt_type type,
                            ikt_preprocess_settings settings, rows *out) {
    *out = (rows){.distribution = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx))};
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &out->rows, n * d, ikt_type_size(type), "calibrate")));
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < d; c++) {
            double value = coordinate(i, c);
            if (type == IKT_TYPE_U8)
                ((uint8_t *)out->rows)[i * d + c] = (uint8_t)(255 * value);
            else
                ((float *)out->rows)[i * d + c] = (float)value;
        }
    ikt_status st = ikt_source_from_memory(ctx, out->rows, n, d, type, &out->source);
    if (st == IKT_OK) st = ikt_dataset_create(ctx, out->source, &settings, &out->data);
    if (st != IKT_OK) rows_destroy(out);
    return st;
}

/* Operations a second and thread, in units of `unit`, from those of all ranks together. */
static double rate(ikt_context *ctx, double operations, double seconds, double unit) {
    double share = operations / ikt_size(ctx) / ikt_threads(ctx);
    return share / ikt_calibrate_slowest(ctx, seconds) / unit;
}

/* Seconds of coding the rows by a model of so many centres. */
static ikt_status time_codes(ikt_context *ctx, const rows *r, ikt_model_spec spec,
                             double *seconds) {
    spec.seed = 1;
    spec.n = r->distribution.n;
    ikt_model *model = NULL;
    ikt_codes codes = {0};
    ikt_status st = ikt_agree(ctx, ikt_model_create(ctx, &spec, &model));
    for (int i = 0; i < TRIES && st == IKT_OK; i++) {
        double begin = ikt_now();
        st = ikt_codes_compute(ctx, r->data, &r->distribution, model, &codes, NULL);
        double took = ikt_calibrate_slowest(ctx, ikt_now() - begin);
        if (i == 0 || took < *seconds) *seconds = took;
        ikt_codes_destroy(&codes);
    }
    ikt_model_destroy(&model);
    return st;
}

static ikt_status measure_codes(ikt_context *ctx, ikt_type type, double *out) {
    rows r;
    const int64_t n = (int64_t)ikt_size(ctx) * ikt_threads(ctx) * CODED_ROWS;
    /* More centres than half of the rows: there are no lists. */
    const int64_t t = 8, d = type == IKT_TYPE_U8 ? CODED_BYTES : CODED_FLOATS;
    double seconds = 1;
    IKT_TRY(rows_make(ctx, n, d, type, plain, &r));
    ikt_status st = time_codes(ctx, &r, (ikt_model_spec){.psi = CODED_PSI, .t = t}, &seconds);
    *out = rate(ctx, (double)(n * t * d) * CODED_PSI, seconds, 1e9);
    rows_destroy(&r);
    return st;
}

/* What lists take beyond their distances, from few distinct centres for many cells, and from many
 * centres for few cells. */
static ikt_status measure_lists(ikt_context *ctx, ikt_machine *out) {
    rows r;
    const int64_t least = MANY_CENTRES + 1;
    int64_t rows_wanted = (int64_t)ikt_size(ctx) * ikt_threads(ctx) * LISTED_ROWS;
    double few = 1, many = 1, parallel = out->codes_f32 * 1e9 * ikt_threads(ctx);
    IKT_TRY(rows_make(ctx, rows_wanted > least ? rows_wanted : least, CODED_FLOATS, IKT_TYPE_F32,
                      plain, &r));
    double n = (double)ikt_rows_count(&r.distribution, 0), d = CODED_FLOATS;
    ikt_model_spec spec = {.psi = FEW_CENTRES / 16, .t = 200, .pool = FEW_CENTRES};
    ikt_status st = time_codes(ctx, &r, spec, &few);
    spec.psi = MANY_CENTRES / 16;
    spec.pool = MANY_CENTRES;
    if (st == IKT_OK) st = time_codes(ctx, &r, spec, &many);
    few = fmax(few - n * d * FEW_CENTRES / parallel, few / 10);
    many = fmax(many - n * d * MANY_CENTRES / parallel, many / 10);
    double each = fmax(many - few, many / 10) / (MANY_CENTRES - FEW_CENTRES);
    double walks = fmax(few - each * FEW_CENTRES, few / 10);
    out->lists = n / each / ikt_threads(ctx) / 1e6;
    out->walks = 200 * n / walks / ikt_threads(ctx) / 1e6;
    rows_destroy(&r);
    return st;
}

/* Rows led down trees, and the trees grown, which every rank does by itself. */
static ikt_status measure_trees(ikt_context *ctx, ikt_machine *out) {
    rows r;
    const int64_t n = (int64_t)ikt_size(ctx) * ikt_threads(ctx) * LISTED_ROWS;
    const ikt_model_spec spec = {.psi = CODED_PSI, .t = 200, .form = IKT_FORM_FOREST};
    double seconds = 1, led = (double)(n + (int64_t)ikt_size(ctx) * spec.psi);
    IKT_TRY(rows_make(ctx, n, CODED_FLOATS, IKT_TYPE_F32, plain, &r));
    ikt_status st = time_codes(ctx, &r, spec, &seconds);
    out->trees = rate(ctx, led * (double)spec.t * ikt_tree_depth(spec.psi), seconds, 1e6);
    rows_destroy(&r);
    return st;
}

/* Rows of which all pairs are about as many on every rank, whatever the ranks. */
static int64_t searched_rows(ikt_context *ctx) {
    return (int64_t)(SEARCHED * sqrt((double)ikt_size(ctx)));
}

static ikt_status time_search(ikt_context *ctx, const ikt_scorer *scorer, int64_t k,
                              double *seconds) {
    ikt_neighbours lists = {0, 0, NULL, NULL};
    double begin = ikt_now();
    ikt_status st = ikt_neighbours_brute(ctx, scorer, k, &lists);
    *seconds = ikt_now() - begin;
    ikt_neighbours_destroy(&lists);
    return st;
}

static ikt_status measure_similarity(ikt_context *ctx, ikt_machine *out) {
    const int64_t n = searched_rows(ctx), stride = ikt_codes_memory(1, SEARCH_PSI, SEARCH_T);
    const ikt_rows distribution = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    ikt_codes codes = {.n_local = distribution.count, .t = SEARCH_T, .width = 2, .stride = stride};
    double seconds = 1;
    IKT_TRY(
        ikt_agree(ctx, ikt_alloc(ctx, &codes.code, distribution.count * stride, 1, "calibrate")));
    for (int64_t i = 0; i < distribution.count; i++)
        for (int64_t p = 0; p < SEARCH_T; p++)
            ((uint16_t *)codes.code)[i * stride / 2 + p] = (uint16_t)ikt_rng_below(
                1, IKT_RNG_SAMPLE, distribution.first + i, (uint64_t)p, SEARCH_PSI);
    ikt_scorer scorer = ikt_scorer_codes(&codes, &distribution);
    ikt_status st = time_search(ctx, &scorer, NEIGHBOURS_CODES, &seconds);
    out->similarity = rate(ctx, (double)(n * n) * (double)stride, seconds, 1e9);
    ikt_codes_destroy(&codes);
    return st;
}

static ikt_status measure_distance(ikt_context *ctx, ikt_machine *out) {
    rows r;
    ikt_scorer scorer = {0};
    const int64_t n = searched_rows(ctx);
    double seconds = 1;
    IKT_TRY(rows_make(ctx, n, SEARCH_COLUMNS, IKT_TYPE_F32, plain, &r));
    ikt_status st = ikt_scorer_data(ctx, r.data, &r.distribution, &scorer);
    if (st == IKT_OK) st = time_search(ctx, &scorer, NEIGHBOURS_GAUSSIAN, &seconds);
    out->distance = rate(ctx, (double)(n * n) * SEARCH_COLUMNS, seconds, 1e9);
    ikt_scorer_destroy(&scorer);
    rows_destroy(&r);
    return st;
}

/* Distances of a block of rows to another, both in cache. */
static ikt_status measure_block(ikt_context *ctx, const rows *r, ikt_machine *out) {
    enum { SIDE = 256, REPEATS = 64 };
    const int64_t d = SEARCH_COLUMNS;
    const float *x = r->rows;
    float *packed = NULL, *distance = NULL;
    ikt_status st = ikt_alloc(ctx, &packed, ikt_packed_floats(SIDE, d), sizeof *x, "calibrate");
    if (st == IKT_OK) st = ikt_alloc(ctx, &distance, SIDE * SIDE, sizeof *x, "calibrate");
    IKT_TRY(ikt_agree(ctx, st));
    ikt_pack_rows(x, SIDE, d, packed);
    double begin = ikt_now();
    for (int i = 0; i < REPEATS; i++)
        ikt_metric_euclidean.block(ikt_cpu_isa(), x, SIDE, packed, SIDE, d, distance);
    double seconds = ikt_calibrate_slowest(ctx, ikt_now() - begin);
    out->distance_block = (double)REPEATS * SIDE * SIDE * SEARCH_COLUMNS / seconds / 1e9;
    ikt_free(&packed);
    ikt_free(&distance);
    return IKT_OK;
}

/* Seconds of a search; the lists stay. */
static ikt_status time_candidates(ikt_context *ctx, const ikt_cells *cells, const ikt_tiles *tiles,
                                  int64_t candidates, ikt_neighbours *lists, double *seconds) {
    double begin = ikt_now();
    ikt_neighbours_destroy(lists);
    ikt_status st =
        ikt_neighbours_search(ctx, cells, tiles, NEIGHBOURS_GAUSSIAN, candidates, lists);
    *seconds = ikt_calibrate_slowest(ctx, ikt_now() - begin);
    return st;
}

/* A search among near cells by the times for few and for many candidates: what a cell takes beyond
 * distances, and what a neighbour takes; a refinement; and the weights of the neighbours. */
static ikt_status time_near(ikt_context *ctx, ikt_tiles *tiles, const ikt_cells *cells,
                            ikt_machine *out) {
    ikt_neighbours lists = {0, 0, NULL, NULL};
    const double n = (double)tiles->scorer.rows.n, more = n * (CANDIDATES - FEW_CANDIDATES);
    const double share = (double)ikt_size(ctx) * ikt_threads(ctx), k = NEIGHBOURS_GAUSSIAN;
    double few = 1, many = 1;
    ikt_status st = time_candidates(ctx, cells, tiles, FEW_CANDIDATES, &lists, &few);
    if (st == IKT_OK) st = time_candidates(ctx, cells, tiles, CANDIDATES, &lists, &many);
    double each = fmax(many - few, many / 100) * share / more; /* a candidate, of a thread */
    double looking = fmax(each - SEARCH_COLUMNS / (out->distance_block * 1e9), each / 10);
    out->probes = (double)cells->count / n / looking / 1e6;
    double kept = fmax(few - n * FEW_CANDIDATES * each / share, few / 10);
    out->keeps = n * k / share / kept / 1e6;
    double begin = ikt_now();
    if (st == IKT_OK) st = ikt_neighbours_refine(ctx, tiles, &lists);
    out->refine = rate(ctx, n * IKT_REFINE_NEAR * IKT_REFINE_NEAR, ikt_now() - begin, 1e6);
    begin = ikt_now();
    if (st == IKT_OK) ikt_gaussian_weights(ctx, &lists, 30, lists.score);
    out->weights = rate(ctx, n * k, ikt_now() - begin, 1e6);
    ikt_neighbours_destroy(&lists);
    return st;
}

static ikt_status measure_near(ikt_context *ctx, ikt_machine *out) {
    rows r;
    ikt_model *model = NULL;
    ikt_cells cells = {0};
    ikt_order order = {0};
    ikt_tiles tiles = {0};
    const int64_t n = (int64_t)ikt_size(ctx) * ikt_threads(ctx) * NEAR_ROWS;
    const ikt_model_spec spec = {.seed = 1, .n = n, .psi = 1, .coarse = ikt_cells_choose(n, 0)};
    IKT_TRY(rows_make(ctx, n, SEARCH_COLUMNS, IKT_TYPE_F32, plain, &r));
    ikt_status st = measure_block(ctx, &r, out);
    if (st == IKT_OK) st = ikt_agree(ctx, ikt_model_create(ctx, &spec, &model));
    if (st == IKT_OK)
        st = ikt_rows_order(ctx, r.data, &r.distribution, model, NULL, &cells, &order);
    if (st == IKT_OK) st = ikt_tiles_data(ctx, &cells, &order, r.data, &tiles);
    if (st == IKT_OK) st = time_near(ctx, &tiles, &cells, out);
    ikt_tiles_destroy(&tiles);
    ikt_order_destroy(&order);
    ikt_cells_destroy(&cells);
    ikt_model_destroy(&model);
    rows_destroy(&r);
    return st;
}

/* Seconds of finding two components of n rows of floats. */
static ikt_status time_components(ikt_context *ctx, int64_t n, double *seconds) {
    rows r;
    ikt_pca *pca = NULL;
    IKT_TRY(rows_make(ctx, n, COMPONENTS, IKT_TYPE_F32, scaled, &r));
    ikt_row_reader reader = ikt_dataset_reader(r.data);
    ikt_status st = IKT_OK;
    for (int t = 0; t < 2 && st == IKT_OK; t++) {
        double begin = ikt_now();
        st = ikt_pca_fit(ctx, &reader, 2, &pca);
        double took = ikt_calibrate_slowest(ctx, ikt_now() - begin);
        if (t == 0 || took < *seconds) *seconds = took;
        ikt_pca_destroy(&pca);
    }
    rows_destroy(&r);
    return st;
}

/* Seconds of reading rows of bytes, brought to scale and perhaps reduced. */
static ikt_status time_reading(ikt_context *ctx, int64_t n, ikt_preprocess_settings settings,
                               double *seconds) {
    rows r;
    float *values = NULL;
    IKT_TRY(rows_make(ctx, n, COMPONENTS, IKT_TYPE_U8, settings, &r));
    int64_t count = r.distribution.count * ikt_dataset_columns(r.data);
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &values, count, sizeof *values, "calibrate"));
    for (int t = 0; t < 2 && st == IKT_OK; t++) { /* the first try touches the memory */
        double begin = ikt_now();
        st = ikt_dataset_read(r.data, r.distribution.first, r.distribution.count, values);
        *seconds = ikt_calibrate_slowest(ctx, ikt_now() - begin);
    }
    ikt_free(&values);
    rows_destroy(&r);
    return st;
}

static ikt_status measure_reading(ikt_context *ctx, ikt_machine *out) {
    const int64_t n = (int64_t)ikt_size(ctx) * FEW_ROWS * 4;
    double all = 1, few = 1, values = (double)n * COMPONENTS;
    IKT_TRY(time_reading(ctx, n, scaled, &all));
    IKT_TRY(time_reading(ctx, n, reduced, &few));
    out->rows = rate(ctx, values, all, 1e6);
    out->projection = rate(ctx, values * REDUCED, fmax(few - all, few / 10), 1e9);
    return IKT_OK;
}

/* From the times for few and for many rows: what a row takes, less two readings; and the rest. */
static ikt_status measure_components(ikt_context *ctx, ikt_machine *out) {
    double few = 0, many = 0, size = ikt_size(ctx), threads = ikt_threads(ctx), d = COMPONENTS;
    IKT_TRY(time_components(ctx, (int64_t)size * FEW_ROWS, &few));
    IKT_TRY(time_components(ctx, (int64_t)size * MANY_ROWS, &many));
    double row = fmax(many - few, 1e-6) / (MANY_ROWS - FEW_ROWS);
    double reading = 2 * d / (out->rows * 1e6 * threads);
    double work = fmax(row - reading, row / 10);
    out->covariance = d * (d + 1) / 2 / work / threads / 1e9;
    out->eigen = d * d * d / fmax(few - FEW_ROWS * row, few / 10) / 1e9;
    return IKT_OK;
}

/* Cells of rows among centres that stand in their order. */
static ikt_status measure_cells(ikt_context *ctx, const rows *r, const uint32_t *order,
                                ikt_machine *out) {
    const int64_t d = ORDER_COLUMNS, floats = ikt_packed_floats(ORDERED, d);
    float *centre = NULL, *packed = NULL;
    uint16_t *cell = NULL;
    ikt_status st = ikt_alloc(ctx, &centre, ORDERED * d, sizeof *centre, "calibrate");
    if (st == IKT_OK) st = ikt_alloc(ctx, &packed, floats, sizeof *packed, "calibrate");
    if (st == IKT_OK) st = ikt_alloc(ctx, &cell, r->distribution.count, sizeof *cell, "calibrate");
    st = ikt_agree(ctx, st);
    double seconds = 1;
    if (st == IKT_OK) {
        for (int64_t c = 0; c < ORDERED; c++)
            memcpy(centre + c * d, (float *)r->rows + order[c] * d, (size_t)d * sizeof *centre);
        ikt_pack_rows(centre, ORDERED, d, packed);
        double begin = ikt_now();
        st = ikt_nearest_cells(ctx, r->data, &r->distribution, packed, ORDERED, cell);
        seconds = ikt_now() - begin;
    }
    double compared = (double)(r->distribution.n * ikt_nearest_cell_compared(ORDERED) * d);
    out->nearest_cell = rate(ctx, compared, seconds, 1e9);
    ikt_free(&centre);
    ikt_free(&packed);
    ikt_free(&cell);
    return st;
}

/* Order of centres, on one thread; and what follows from it. */
static ikt_status measure_order(ikt_context *ctx, ikt_machine *out) {
    rows r;
    uint32_t *order = NULL;
    IKT_TRY(rows_make(ctx, ORDERED, ORDER_COLUMNS, IKT_TYPE_F32, plain, &r));
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &order, ORDERED, sizeof *order, "calibrate"));
    double begin = ikt_now();
    if (st == IKT_OK)
        st = ikt_agree(ctx, ikt_locality_order(ctx, r.rows, ORDERED, ORDER_COLUMNS, order));
    double seconds = ikt_calibrate_slowest(ctx, ikt_now() - begin);
    out->locality = ORDERED * log2(ORDERED) * ORDER_COLUMNS / seconds / 1e9;
    if (st == IKT_OK) st = measure_cells(ctx, &r, order, out);
    ikt_free(&order);
    rows_destroy(&r);
    return st;
}

ikt_status ikt_calibrate_rows(ikt_context *ctx, ikt_machine *out) {
    IKT_TRY(measure_reading(ctx, out));
    IKT_TRY(measure_components(ctx, out));
    IKT_TRY(measure_codes(ctx, IKT_TYPE_U8, &out->codes_u8));
    IKT_TRY(measure_codes(ctx, IKT_TYPE_F32, &out->codes_f32));
    IKT_TRY(measure_lists(ctx, out));
    IKT_TRY(measure_trees(ctx, out));
    IKT_TRY(measure_similarity(ctx, out));
    IKT_TRY(measure_distance(ctx, out));
    IKT_TRY(measure_near(ctx, out));
    return measure_order(ctx, out);
}
