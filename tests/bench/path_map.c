/* Repulsion on a late map, stage by stage: an evaluation is made, and the stage's seconds taken. */
#include <fftw3.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/timer.h"
#include "limits.h"
#include "paths.h"
#include "scene.h"
#include "support/grid_cell.h"

enum { WINDOW = 4 /* nodes along an axis of the default accuracy */ };

typedef struct {
    ikt_context *ctx;
    ikt_rows rows;
    ikt_stage stage; /* that is measured */
    ikt_fft_settings settings;
    ikt_grid grid;
    ikt_kernelsum *sums;
    float *y, *gradient;
    double *phi;
    int64_t *corner; /* [n_local] first node of the window of each point */
    char *field;     /* [nodes * node_bytes], for windows that are read */
    int64_t stride, node_bytes;
} repelling;

static ikt_status alloc_rows(repelling *r) {
    const int64_t n = r->rows.count;
    IKT_TRY(bench_positions(r->ctx, &r->rows, &r->y));
    IKT_TRY(ikt_alloc(r->ctx, &r->gradient, 2 * n, sizeof *r->gradient, "bench"));
    IKT_TRY(ikt_alloc(r->ctx, &r->phi, n, sizeof *r->phi, "bench"));
    return ikt_alloc(r->ctx, &r->corner, n, sizeof *r->corner, "bench");
}

/* The grid that an evaluation will make for these points. */
static ikt_status make_grid(repelling *r) {
    ikt_bounds bounds;
    if (!ikt_bounds_find(r->ctx, r->y, r->rows.count, NULL, 0, &bounds))
        return ikt_fail(r->ctx, IKT_ERR_INTERNAL, "the positions of the benchmark are not finite");
    r->grid = ikt_grid_fit(&r->settings, &bounds);
    r->stride = r->grid.nodes[0] + 2 * WINDOW;
    for (int64_t i = 0; i < r->rows.count; i++) {
        double u;
        r->corner[i] = grid_cell(&r->grid, 0, r->y[2 * i], &u) +
                       grid_cell(&r->grid, 1, r->y[2 * i + 1], &u) * r->stride;
    }
    return ikt_agree(r->ctx, ikt_alloc(r->ctx, &r->field, r->stride * (r->grid.nodes[1] + WINDOW),
                                       (size_t)r->node_bytes, "bench"));
}

static ikt_status make(bench *b, ikt_stage stage, int64_t node_bytes, repelling *r) {
    *r = (repelling){.ctx = b->ctx, .stage = stage, .node_bytes = node_bytes};
    r->rows = ikt_rows_make(b->rows, ikt_size(b->ctx), ikt_rank(b->ctx));
    r->settings = ikt_fft_preset(IKT_FFT_DEFAULT);
    IKT_TRY(ikt_agree(b->ctx, alloc_rows(r)));
    IKT_TRY(make_grid(r));
    return ikt_kernelsum_create_fft(b->ctx, &r->rows, ikt_student, &r->settings, &r->sums);
}

static void release(repelling *r) {
    ikt_kernelsum_destroy(&r->sums);
    ikt_free(&r->y);
    ikt_free(&r->gradient);
    ikt_free(&r->phi);
    ikt_free(&r->corner);
    ikt_free(&r->field);
}

static double evaluate(void *self) {
    repelling *r = self;
    double before = ikt_stage_seconds(r->ctx, r->stage);
    ikt_kernelsum_evaluate(
        r->sums, &(ikt_kernelsum_request){.y = r->y, .value = r->phi, .gradient = r->gradient});
    return ikt_stage_seconds(r->ctx, r->stage) - before;
}

/* The memory accesses of spreading and gathering alone: the rows of each point's window. */
static double read_windows(void *self) {
    const repelling *r = self;
    const int64_t row = r->stride * r->node_bytes;
    int64_t sum = 0;
    double begin = ikt_now();
#pragma omp parallel for num_threads(ikt_threads(r->ctx)) reduction(^ : sum)
    for (int64_t i = 0; i < r->rows.count; i++) {
        const char *at = r->field + r->corner[i] * r->node_bytes;
        for (int64_t line = 0; line < WINDOW; line++) {
            int64_t first, last; /* a window of doubles may lie on two cache lines */
            memcpy(&first, at + line * row, sizeof first);
            memcpy(&last, at + line * row + WINDOW * r->node_bytes - 8, sizeof last);
            sum ^= first ^ last;
        }
    }
    double seconds = ikt_now() - begin;
    volatile int64_t keep = sum;
    (void)keep;
    return seconds;
}

static void say_size(const bench *b, const repelling *r, bench_case *c) {
    char rows[32];
    snprintf(c->size, sizeof c->size, "%s points, %lld x %lld nodes", bench_grouped(b->rows, rows),
             (long long)r->grid.nodes[0], (long long)r->grid.nodes[1]);
}

/* Beside copying `bytes` bytes, and beside reading the windows. */
static ikt_status measure_points(bench *b, const char *path, repelling *r, const char *copied,
                                 int64_t bytes) {
    bench_stream stream;
    const double points = (double)r->rows.count;
    IKT_TRY(ikt_agree(b->ctx, bench_stream_create(b->ctx, bytes, &stream)));
    bench_case c = {.path = path,
                    .unit = "points",
                    .work = {NULL, evaluate, r, points},
                    .limit = {{copied, bench_pass_copy, &stream, points},
                              {"reading the windows", read_windows, r, points}}};
    say_size(b, r, &c);
    ikt_status st = bench_measure(b, &c);
    bench_stream_destroy(&stream);
    return st;
}

/* Positions are read and the grid of 8-byte charges is written. */
ikt_status bench_path_spread(bench *b) {
    repelling r;
    ikt_status st = make(b, IKT_STAGE_SPREAD, 8, &r);
    int64_t bytes = 8 * (r.rows.count + r.grid.nodes[0] * r.grid.nodes[1]);
    if (st == IKT_OK) st = measure_points(b, "spread", &r, "copying points and grid", bytes);
    release(&r);
    return st;
}

/* Positions are read, phi and gradient written. */
ikt_status bench_path_gather(bench *b) {
    repelling r;
    ikt_status st = make(b, IKT_STAGE_GATHER, 4, &r);
    if (st == IKT_OK)
        st = measure_points(b, "gather", &r, "copying what is written", 16 * r.rows.count);
    release(&r);
    return st;
}

/* --- transforms ------------------------------------------------------------------------------- */

/* FFTW's own plans for the whole padded grid, the best that it finds by trying. */
typedef struct {
    int64_t rows, columns;
    float *grid;
    fftwf_complex *waves;
    fftwf_plan forward, inverse;
} fftw_best;

static void plan(fftw_best *f, int threads, unsigned effort) {
#if defined(IKT_BENCH_FFTW_THREADS)
    fftwf_plan_with_nthreads(threads);
#endif
    int rows = (int)f->rows, columns = (int)f->columns;
    f->forward = fftwf_plan_dft_r2c_2d(rows, columns, f->grid, f->waves, effort);
    f->inverse = fftwf_plan_dft_c2r_2d(rows, columns, f->waves, f->grid, effort);
#if defined(IKT_BENCH_FFTW_THREADS)
    fftwf_plan_with_nthreads(1);
#endif
    fftwf_forget_wisdom(); /* the library's own plans are not to profit */
    memset(f->grid, 0, (size_t)(f->rows * f->columns) * sizeof *f->grid);
    (void)threads;
}

static ikt_status fftw_make(bench *b, const ikt_grid *grid, fftw_best *f) {
    *f = (fftw_best){.rows = grid->padded[1], .columns = grid->padded[0]};
    IKT_TRY(ikt_alloc(b->ctx, &f->grid, f->rows * f->columns, sizeof *f->grid, "bench"));
    IKT_TRY(
        ikt_alloc(b->ctx, &f->waves, f->rows * (f->columns / 2 + 1), sizeof *f->waves, "bench"));
    plan(f, ikt_threads(b->ctx), b->quick ? FFTW_ESTIMATE : FFTW_MEASURE);
    if (f->forward && f->inverse) return IKT_OK;
    return ikt_fail(b->ctx, IKT_ERR_RESOURCE, "FFTW cannot plan the benchmark's grid");
}

static void fftw_release(fftw_best *f) {
    if (f->forward) fftwf_destroy_plan(f->forward);
    if (f->inverse) fftwf_destroy_plan(f->inverse);
    ikt_free(&f->grid);
    ikt_free(&f->waves);
}

static double transform(void *self) {
    const fftw_best *f = self;
    double begin = ikt_now();
    fftwf_execute(f->forward);
    fftwf_execute(f->inverse);
    return ikt_now() - begin;
}

static ikt_status measure_fft(bench *b, repelling *r) {
    fftw_best f;
    ikt_status st = ikt_agree(b->ctx, fftw_make(b, &r->grid, &f));
    double nodes = (double)(f.rows * f.columns);
    bench_case c = {.path = "fft",
                    .unit = "nodes",
                    .work = {NULL, evaluate, r, nodes},
                    .limit = {{"FFTW, there and back", transform, &f, nodes}}};
    snprintf(c.size, sizeof c.size, "padded grid of %lld x %lld nodes", (long long)f.columns,
             (long long)f.rows);
    if (st == IKT_OK) st = bench_measure(b, &c);
    fftw_release(&f);
    return st;
}

ikt_status bench_path_fft(bench *b) {
    repelling r;
    ikt_status st = make(b, IKT_STAGE_FFT, 4, &r);
#if defined(IKT_BENCH_FFTW_THREADS)
    if (st == IKT_OK && !fftwf_init_threads())
        st = ikt_fail(b->ctx, IKT_ERR_RESOURCE, "FFTW's threads do not start");
    st = ikt_agree(b->ctx, st);
#endif
    if (st == IKT_OK) st = measure_fft(b, &r);
    release(&r);
    return st;
}
