/* Codes from ordered lists of distinct centres, from rows in memory to codes: what selecting and
 * walking cost beside the distances, which alone are counted as operations. Lists among all centres
 * and among near ones. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/timer.h"
#include "isolation/near_search.h"
#include "limits.h"
#include "paths.h"
#include "scene.h"

enum {
    ROWS = 32768,
    COLUMNS = 50,
    PSI = 512,
    PSI_LARGE = 4096,
    T = 200,
    POOL = 8,
    NEAR_ROWS = 131072, /* each a centre, as by default */
    CANDIDATES = 16384
};

typedef struct {
    ikt_context *ctx;
    ikt_rows distribution;
    float *rows;
    ikt_source *source;
    ikt_dataset *data;
    ikt_model *model;
} listing;

static ikt_status make(listing *l, const ikt_model_spec *spec) {
    static const ikt_preprocess_settings plain = {.normalise = IKT_NORMALISE_NONE, .pca = 0};
    IKT_TRY(ikt_agree(l->ctx, ikt_alloc(l->ctx, &l->rows, l->distribution.n * COLUMNS,
                                        sizeof *l->rows, "bench")));
#pragma omp parallel for num_threads(ikt_threads(l->ctx))
    for (int64_t i = 0; i < l->distribution.n; i++)
        for (int64_t c = 0; c < COLUMNS; c++)
            l->rows[i * COLUMNS + c] = (float)bench_coordinate(i, c);
    IKT_TRY(ikt_source_from_memory(l->ctx, l->rows, l->distribution.n, COLUMNS, IKT_TYPE_F32,
                                   &l->source));
    IKT_TRY(ikt_dataset_create(l->ctx, l->source, &plain, &l->data));
    return ikt_agree(l->ctx, ikt_model_create(l->ctx, spec, &l->model));
}

static void release(listing *l) {
    ikt_model_destroy(&l->model);
    ikt_dataset_destroy(&l->data);
    ikt_source_close(&l->source);
    ikt_free(&l->rows);
}

static double compute(void *self) {
    listing *l = self;
    ikt_codes codes = {0};
    double begin = ikt_now();
    ikt_status st = ikt_codes_compute(l->ctx, l->data, &l->distribution, l->model, &codes, NULL);
    double seconds = ikt_now() - begin;
    ikt_codes_destroy(&codes);
    return st == IKT_OK ? seconds : 1e9; /* memory ran out: cannot pass for fast */
}

static ikt_status measure(bench *b, int64_t n, int64_t psi, int64_t candidates) {
    const int64_t pool = POOL * psi < n ? POOL * psi : 0;
    const ikt_model_spec spec = {
        .seed = 1, .n = n, .psi = psi, .t = T, .pool = pool, .candidates = candidates};
    listing l = {.ctx = b->ctx,
                 .distribution = ikt_rows_make(n, ikt_size(b->ctx), ikt_rank(b->ctx))};
    ikt_status st = make(&l, &spec);
    bench_cores cores = {ikt_cpu_isa(), ikt_threads(b->ctx)};
    int64_t distinct = ikt_codes_distinct(&spec, &(ikt_codes_rows){.d = COLUMNS});
    int64_t compared = candidates > 0 ? ikt_near_compared(distinct, candidates) : distinct;
    double operations = 2.0 * COLUMNS * (double)(l.distribution.count * compared);
    bench_case c = {
        .path = candidates > 0 ? "codes-near" : "codes-lists",
        .unit = "operations",
        .work = {NULL, compute, &l, operations},
        .limit = {{"float32 multiply-adds", bench_pass_fma, &cores, bench_fma_operations(&cores)}}};
    if (candidates > 0) /* near centres are chosen by bytes */
        c.limit[0] = (bench_part){"integer multiply-adds", bench_pass_dot, &cores,
                                  bench_dot_operations(&cores)};
    snprintf(c.size, sizeof c.size, "%d columns, psi %lld, t %d, %lld distinct centres", COLUMNS,
             (long long)psi, T, (long long)distinct);
    if (st == IKT_OK) st = bench_measure(b, &c);
    release(&l);
    return st;
}

ikt_status bench_path_lists(bench *b) {
    if (b->quick) return measure(b, 1024, 16, 0);
    IKT_TRY(measure(b, ROWS, PSI, 0));
    return measure(b, ROWS, PSI_LARGE, 0);
}

ikt_status bench_path_near(bench *b) {
    if (b->quick) return measure(b, 1024, 128, 200);
    return measure(b, NEAR_ROWS, NEAR_ROWS / POOL, CANDIDATES);
}
