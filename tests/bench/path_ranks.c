/* What ranks exchange in an iteration: boundary rows, the grid of charges, exact sums. On one rank
 * there is nothing to exchange, and nothing is measured. */
#include <stdio.h>

#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/memory.h"
#include "base/timer.h"
#include "dist/halo.h"
#include "limits.h"
#include "paths.h"
#include "scene.h"

enum { NEIGHBOURS = 30, SUMS = 2 /* Z and the divergence */, REDUCTIONS = 50 };

static bool alone(bench *b, const char *path) {
    if (ikt_size(b->ctx) > 1) return false;
    fprintf(stderr, "%-12s not measured: it needs two ranks at least\n", path);
    return true;
}

/* --- boundary rows ---------------------------------------------------------------------------- */

typedef struct {
    ikt_graph graph;
    ikt_halo *halo;
    float *y; /* [(n_local + n_ghost) * 2] */
} exchanging;

static double exchange(void *self) {
    exchanging *e = self;
    double begin = ikt_now();
    ikt_halo_begin(e->halo, e->y, e->y + 2 * e->graph.rows.count);
    ikt_halo_end(e->halo);
    return ikt_now() - begin;
}

static ikt_status make(bench *b, exchanging *e) {
    ikt_rows rows = ikt_rows_make(b->rows, ikt_size(b->ctx), ikt_rank(b->ctx));
    IKT_TRY(bench_graph(b->ctx, &rows, NEIGHBOURS, false, &e->graph));
    int64_t places = rows.count + e->graph.n_ghost;
    IKT_TRY(ikt_agree(b->ctx, ikt_alloc(b->ctx, &e->y, 2 * places, sizeof *e->y, "bench")));
    return ikt_halo_create(b->ctx, &rows, e->graph.ghost_row, e->graph.n_ghost, 2, &e->halo);
}

static ikt_status measure_halo(bench *b, exchanging *e) {
    char rows[32], ghosts[32];
    bench_stream stream;
    int64_t count[IKT_TRAFFIC_KINDS]; /* of one exchange */
    for (int k = 0; k < IKT_TRAFFIC_KINDS; k++)
        count[k] = -ikt_traffic_count(b->ctx, IKT_STAGE_TOTAL, (ikt_traffic_kind)k);
    exchange(e);
    for (int k = 0; k < IKT_TRAFFIC_KINDS; k++)
        count[k] += ikt_traffic_count(b->ctx, IKT_STAGE_TOTAL, (ikt_traffic_kind)k);
    const int64_t sent = count[IKT_TRAFFIC_BYTES_SENT];
    const int64_t received = ikt_sum_one(b->ctx, e->graph.n_ghost);
    const int64_t messages = ikt_max_one(b->ctx, count[IKT_TRAFFIC_MESSAGES_SENT]);
    IKT_TRY(ikt_agree(b->ctx, bench_stream_create(b->ctx, sent, &stream)));
    bench_case c = {.path = "halo",
                    .unit = "bytes",
                    .work = {NULL, exchange, e, (double)sent},
                    .limit = {{"copying them", bench_pass_copy, &stream, (double)sent}}};
    snprintf(c.size, sizeof c.size, "%s rows, %s ghosts, %lld messages a rank",
             bench_grouped(b->rows, rows), bench_grouped(received, ghosts), (long long)messages);
    ikt_status st = bench_measure(b, &c);
    bench_stream_destroy(&stream);
    return st;
}

ikt_status bench_path_halo(bench *b) {
    exchanging e = {.halo = NULL};
    if (alone(b, "halo")) return IKT_OK;
    ikt_status st = make(b, &e);
    if (st == IKT_OK) st = measure_halo(b, &e);
    ikt_halo_destroy(&e.halo);
    ikt_graph_destroy(&e.graph);
    ikt_free(&e.y);
    return st;
}

/* --- integer sums over ranks ------------------------------------------------------------------ */

typedef struct {
    ikt_context *ctx;
    bench_stream stream; /* whose memory is summed */
} adding;

static double add_up(void *self) {
    adding *a = self;
    double begin = ikt_now();
    ikt_sum_i64(a->ctx, (void *)a->stream.to, a->stream.bytes / 8);
    return ikt_now() - begin;
}

ikt_status bench_path_grid(bench *b) {
    adding a = {.ctx = b->ctx};
    const double side = bench_span(b->rows);
    if (alone(b, "grid-sum")) return IKT_OK;
    ikt_fft_settings settings = ikt_fft_preset(IKT_FFT_DEFAULT);
    ikt_grid grid = ikt_grid_fit(&settings, &(ikt_bounds){{0, 0}, {side, side}});
    int64_t nodes = grid.nodes[0] * grid.nodes[1];
    IKT_TRY(ikt_agree(b->ctx, bench_stream_create(b->ctx, 8 * nodes, &a.stream)));
    double bytes = (double)a.stream.bytes;
    bench_case c = {.path = "grid-sum",
                    .unit = "bytes",
                    .work = {NULL, add_up, &a, bytes},
                    .limit = {{"copying them", bench_pass_copy, &a.stream, bytes}}};
    snprintf(c.size, sizeof c.size, "%lld x %lld nodes", (long long)grid.nodes[0],
             (long long)grid.nodes[1]);
    ikt_status st = bench_measure(b, &c);
    bench_stream_destroy(&a.stream);
    return st;
}

/* --- exact sums over ranks -------------------------------------------------------------------- */

static double reduce_exactly(void *self) {
    ikt_context *ctx = self;
    ikt_exact_sum sum[SUMS] = {{{0}, 0, 0}, {{0}, 0, 0}};
    double begin = ikt_now();
    for (int i = 0; i < REDUCTIONS; i++)
        ikt_exact_sum_reduce(ctx, sum, SUMS);
    return ikt_now() - begin;
}

static double reduce_integers(void *self) {
    ikt_context *ctx = self;
    int64_t one = 1;
    double begin = ikt_now();
    for (int i = 0; i < REDUCTIONS; i++)
        ikt_max_i64(ctx, &one, 1);
    return ikt_now() - begin;
}

ikt_status bench_path_reduce(bench *b) {
    if (alone(b, "exact-reduce")) return IKT_OK;
    /* Amounts are added up over ranks, which all take part in each reduction: rank 0 counts. */
    const double count = ikt_rank(b->ctx) == 0 ? REDUCTIONS : 0;
    bench_case c = {.path = "exact-reduce",
                    .unit = "reductions",
                    .work = {NULL, reduce_exactly, b->ctx, count},
                    .limit = {{"one integer over ranks", reduce_integers, b->ctx, count}}};
    snprintf(c.size, sizeof c.size, "%d exact sums", SUMS);
    return bench_measure(b, &c);
}
