/* P: making it from neighbour lists, and the attraction along it. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/timer.h"
#include "limits.h"
#include "objective/attraction.h"
#include "paths.h"
#include "scene.h"
#include "support/symmetrise.h"

enum { NEIGHBOURS = 30, NEIGHBOURS_GAUSSIAN = 90, NEIGHBOURS_UNIFORM = 15 };

/* --- symmetrising ----------------------------------------------------------------------------- */

typedef struct {
    ikt_context *ctx;
    ikt_rows rows;
    int64_t k;
    ikt_neighbours lists; /* kept: those handed over are copies */
} symmetrising;

static ikt_status copy_lists(symmetrising *s, ikt_neighbours *out) {
    const size_t entries = (size_t)(s->rows.count * s->k);
    IKT_TRY(ikt_agree(s->ctx, ikt_neighbours_create(s->ctx, &s->rows, s->k, out)));
    memcpy(out->row, s->lists.row, entries * sizeof *out->row);
    memcpy(out->score, s->lists.score, entries * sizeof *out->score);
    return IKT_OK;
}

static double symmetrise(void *self) {
    symmetrising *s = self;
    ikt_neighbours lists = {0, 0, NULL, NULL};
    ikt_graph graph = {.n_ghost = 0};
    ikt_status st = copy_lists(s, &lists);
    double begin = ikt_now();
    if (st == IKT_OK) st = ikt_test_symmetrise(s->ctx, &s->rows, &lists, &graph);
    double seconds = ikt_now() - begin;
    ikt_graph_destroy(&graph);
    return st == IKT_OK ? seconds : 1e9; /* memory ran out: cannot pass for fast */
}

/* Looks once at the list of every neighbour, where the partner is searched for. */
static double touch_lists(void *self) {
    const symmetrising *s = self;
    const uint32_t *row = s->lists.row, *list = row;
    const uint32_t n = (uint32_t)s->rows.count; /* on several ranks: at as many of the own rows */
    const int64_t k = s->k;
    int64_t sum = 0;
    double begin = ikt_now();
#pragma omp parallel for num_threads(ikt_threads(s->ctx)) reduction(+ : sum)
    for (int64_t e = 0; e < (int64_t)n * k; e++)
        sum += list[(int64_t)(row[e] % n) * k];
    double seconds = ikt_now() - begin;
    volatile int64_t keep = sum;
    (void)keep;
    return seconds;
}

static ikt_status measure_symmetrising(bench *b, int64_t k) {
    char text[32];
    symmetrising s = {
        .ctx = b->ctx, .k = k, .rows = ikt_rows_make(b->rows, ikt_size(b->ctx), ikt_rank(b->ctx))};
    const double entries = (double)(s.rows.count * k);
    bench_stream stream = {.bytes = 0};
    ikt_status st = bench_lists(b->ctx, &s.rows, k, false, &s.lists);
    if (st == IKT_OK) st = bench_stream_create(b->ctx, 8 * (int64_t)entries, &stream);
    bench_case c = {.path = "graph",
                    .unit = "entries",
                    .work = {NULL, symmetrise, &s, entries},
                    .limit = {{"copying the lists", bench_pass_copy, &stream, entries},
                              {"looking at partners' lists", touch_lists, &s, entries}}};
    snprintf(c.size, sizeof c.size, "%s rows, %lld neighbours", bench_grouped(b->rows, text),
             (long long)k);
    st = ikt_agree(b->ctx, st);
    if (st == IKT_OK) st = bench_measure(b, &c);
    bench_stream_destroy(&stream);
    ikt_neighbours_destroy(&s.lists);
    return st;
}

/* The lists of the Isolation kernel, and those of the Gaussian one. */
ikt_status bench_path_graph(bench *b) {
    IKT_TRY(measure_symmetrising(b, NEIGHBOURS));
    return measure_symmetrising(b, NEIGHBOURS_GAUSSIAN);
}

/* --- attraction ------------------------------------------------------------------------------- */

typedef struct {
    ikt_context *ctx;
    ikt_graph graph;
    float *y, *force;
    bool with_divergence;
} attracting;

static double attract(void *self) {
    const attracting *a = self;
    ikt_pair_totals totals = {{{0}, 0, 0}, {{0}, 0, 0}};
    const ikt_pair_weight weight = {IKT_PAIR_TSNE, 0, 0, 0};
    double begin = ikt_now();
    ikt_attraction(a->ctx, &a->graph, 2, &weight, a->y, a->force,
                   a->with_divergence ? &totals : NULL);
    return ikt_now() - begin;
}

IKT_WIDEST_VECTORS static int64_t add_up(const int32_t *column, const int32_t *value,
                                         int64_t count) {
    int64_t sum = 0;
    for (int64_t e = 0; e < count; e++)
        sum += column[e] ^ value[e];
    return sum;
}

IKT_WIDEST_VECTORS static int64_t add_up_columns(const int32_t *column, int64_t count) {
    int64_t sum = 0;
    for (int64_t e = 0; e < count; e++)
        sum += column[e];
    return sum;
}

/* Reads columns and values, where there are such, of a part, a piece of rows at a time as
 * attraction does. */
static int64_t read_part(const attracting *a, const ikt_csr *part) {
    enum { PIECE = 1024 };
    const int64_t n = a->graph.rows.count;
    int64_t sum = 0;
#pragma omp parallel for num_threads(ikt_threads(a->ctx)) reduction(+ : sum)
    for (int64_t first = 0; first < n; first += PIECE) {
        int64_t from = part->start[first], to = part->start[first + PIECE < n ? first + PIECE : n];
        sum += part->value ? add_up(part->column + from,
                                    (const int32_t *)(void *)part->value + from, to - from)
                           : add_up_columns(part->column + from, to - from);
    }
    return sum;
}

static double read_p(void *self) {
    const attracting *a = self;
    double begin = ikt_now();
    volatile int64_t keep = read_part(a, &a->graph.forward) + read_part(a, &a->graph.reverse);
    (void)keep;
    return ikt_now() - begin;
}

/* Loads the eight bytes of every neighbour's position, and nothing else. */
static int64_t load_part(const attracting *a, const ikt_csr *part) {
    const int64_t *place = (const void *)a->y, entries = part->start[a->graph.rows.count];
    int64_t sum = 0;
#pragma omp parallel for num_threads(ikt_threads(a->ctx)) reduction(^ : sum)
    for (int64_t e = 0; e < entries / 4; e++) {
        const int32_t *c = part->column + 4 * e;
        sum ^= place[c[0]] ^ place[c[1]] ^ place[c[2]] ^ place[c[3]];
    }
    return sum;
}

static double load_positions(void *self) {
    const attracting *a = self;
    double begin = ikt_now();
    volatile int64_t keep = load_part(a, &a->graph.forward) ^ load_part(a, &a->graph.reverse);
    (void)keep;
    return ikt_now() - begin;
}

/* Ghosts stand behind the own rows; where they lie in the map does not matter here. */
static ikt_status place_rows(attracting *a) {
    const ikt_rows *rows = &a->graph.rows;
    IKT_TRY(bench_positions(a->ctx, rows, &a->y));
    IKT_TRY(ikt_resize(a->ctx, &a->y, 2 * (rows->count + a->graph.n_ghost), sizeof *a->y, "bench"));
    return ikt_alloc(a->ctx, &a->force, 2 * rows->count, sizeof *a->force, "bench");
}

static ikt_status measure_attraction(bench *b, attracting *a, bool with_divergence) {
    char rows[32], all[32];
    const ikt_graph *graph = &a->graph;
    const int64_t n = graph->rows.count, total = ikt_graph_entries(b->ctx, graph);
    const double entries = (double)(graph->forward.start[n] + graph->reverse.start[n]);
    a->with_divergence = with_divergence;
    bench_case c = {.path = "attraction",
                    .unit = "entries",
                    .work = {NULL, attract, a, entries},
                    .limit = {{"reading P once", read_p, a, entries},
                              {"loading positions", load_positions, a, entries}}};
    snprintf(c.size, sizeof c.size, "%s rows, %s entries%s%s", bench_grouped(graph->rows.n, rows),
             bench_grouped(total, all), graph->forward.value ? "" : " without values",
             with_divergence ? ", with KL" : "");
    return bench_measure(b, &c);
}

static ikt_status measure_along(bench *b, int64_t n, int64_t k, bool is_uniform) {
    attracting a = {.ctx = b->ctx};
    ikt_rows rows = ikt_rows_make(n, ikt_size(b->ctx), ikt_rank(b->ctx));
    IKT_TRY(bench_graph(b->ctx, &rows, k, is_uniform, &a.graph));
    ikt_status st = ikt_agree(b->ctx, place_rows(&a));
    if (st == IKT_OK) st = measure_attraction(b, &a, false);
    if (st == IKT_OK) st = measure_attraction(b, &a, true);
    ikt_graph_destroy(&a.graph);
    ikt_free(&a.y);
    ikt_free(&a.force);
    return st;
}

/* As many entries with the Gaussian kernel's neighbours as with the Isolation kernel's. */
ikt_status bench_path_attraction(bench *b) {
    const int64_t fewer = b->rows / (NEIGHBOURS_GAUSSIAN / NEIGHBOURS);
    IKT_TRY(measure_along(b, b->rows, NEIGHBOURS, false));
    IKT_TRY(measure_along(b, fewer, NEIGHBOURS_GAUSSIAN, false));
    return measure_along(b, b->rows, NEIGHBOURS_UNIFORM, true);
}
