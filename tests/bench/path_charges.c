/* Several sets of charges in one evaluation, beside as many evaluations of unit charges: what the
 * eigenvectors of a map's graph cost (objective/laplacian.h). */
#include <stdio.h>

#include "base/memory.h"
#include "base/timer.h"
#include "paths.h"
#include "scene.h"

enum { SETS = 15 /* of 14 eigenvectors but the trivial one, and two guards */ };

typedef struct {
    ikt_context *ctx;
    ikt_rows rows;
    ikt_kernelsum *sums;
    float *y, *gradient;
    double *value, *charge;
} charged;

static ikt_status allocate(charged *c) {
    const int64_t n = c->rows.count;
    IKT_TRY(bench_positions(c->ctx, &c->rows, &c->y));
    IKT_TRY(ikt_alloc(c->ctx, &c->gradient, 2 * SETS * n, sizeof *c->gradient, "bench"));
    IKT_TRY(ikt_alloc(c->ctx, &c->value, SETS * n, sizeof *c->value, "bench"));
    IKT_TRY(ikt_alloc(c->ctx, &c->charge, SETS * n, sizeof *c->charge, "bench"));
    for (int64_t k = 0; k < SETS; k++)
        for (int64_t i = 0; i < n; i++)
            c->charge[k * n + i] = bench_coordinate(c->rows.first + i, k) - 0.5;
    return IKT_OK;
}

static double evaluate(const charged *c, const ikt_kernelsum_request *request) {
    const double begin = ikt_now();
    ikt_kernelsum_evaluate(c->sums, request);
    return ikt_now() - begin;
}

static double sum_charges(void *self) {
    const charged *c = self;
    return evaluate(c, &(ikt_kernelsum_request){.y = c->y,
                                                .charges = SETS,
                                                .charge = c->charge,
                                                .value = c->value,
                                                .gradient = c->gradient});
}

static double sum_units(void *self) {
    const charged *c = self;
    return evaluate(
        c, &(ikt_kernelsum_request){.y = c->y, .value = c->value, .gradient = c->gradient});
}

ikt_status bench_path_charges(bench *b) {
    const ikt_fft_settings settings = ikt_fft_preset(IKT_FFT_DEFAULT);
    charged c = {.ctx = b->ctx, .rows = ikt_rows_make(b->rows, ikt_size(b->ctx), ikt_rank(b->ctx))};
    ikt_status st = ikt_agree(b->ctx, allocate(&c));
    if (st == IKT_OK)
        st = ikt_kernelsum_create_fft(b->ctx, &c.rows, ikt_student, &settings, &c.sums);
    if (st == IKT_OK) {
        char rows[32];
        bench_case measured = {.path = "charges",
                               .unit = "sums",
                               .work = {NULL, sum_charges, &c, SETS},
                               .limit = {{"sums of unit charges", sum_units, &c, 1}}};
        snprintf(measured.size, sizeof measured.size, "%s points, %d sets of charges",
                 bench_grouped(b->rows, rows), SETS);
        st = bench_measure(b, &measured);
    }
    ikt_kernelsum_destroy(&c.sums);
    ikt_free(&c.y);
    ikt_free(&c.gradient);
    ikt_free(&c.value);
    ikt_free(&c.charge);
    return st;
}
