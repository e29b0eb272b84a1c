/* Measuring the codes of sparse rows: how fast values are taken off an inverted index. */
#include <math.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/timer.h"
#include "isolation/codes.h"
#include "plan/calibrate.h"

enum {
    TRIES = 2,
    ROWS = 4096, /* of each thread */
    LEAST_ROWS = 8192,
    COLUMNS = 32768,
    ENTRIES = 64,
    CENTRES = 8192,
    PSI = 1024,
    T = 50,
    STEEPNESS = 3 /* how much more often early columns come than late ones */
};

static const char purpose[] = "calibrate";

/* Bags of words: few columns come in many rows, many in few. One entry from each of ENTRIES equal
 * parts of the unit interval, so that columns ascend. */
static ikt_status make_rows(ikt_context *ctx, int64_t n, ikt_sparse_rows *rows) {
    IKT_TRY(ikt_sparse_rows_reserve(ctx, n, n * ENTRIES, rows));
    rows->count = n;
    for (int64_t i = 0; i < n; i++) {
        int64_t to = rows->start[i];
        for (int64_t e = 0; e < ENTRIES; e++) {
            const double u = ikt_rng_uniform(1, IKT_RNG_SAMPLE, i, (uint64_t)e);
            const double place = pow(((double)e + u) / ENTRIES, STEEPNESS);
            const int32_t column = (int32_t)(place * COLUMNS);
            if (to > rows->start[i] && rows->column[to - 1] == column) continue;
            rows->column[to] = column;
            rows->value[to++] = (double)(float)(0.5 + u);
        }
        rows->start[i + 1] = to;
    }
    return IKT_OK;
}

/* Columns that two rows share, on average over all pairs. */
static ikt_status find_overlap(ikt_context *ctx, const ikt_sparse_rows *rows, double *overlap) {
    double *held = NULL, sum = 0;
    IKT_TRY(ikt_alloc(ctx, &held, COLUMNS, sizeof *held, purpose));
    for (int64_t e = 0; e < rows->start[rows->count]; e++)
        held[rows->column[e]] += 1 / (double)rows->count;
    for (int64_t k = 0; k < COLUMNS; k++)
        sum += held[k] * held[k];
    *overlap = sum;
    ikt_free(&held);
    return IKT_OK;
}

static ikt_status time_codes(ikt_context *ctx, ikt_dataset *data, double *seconds) {
    const int64_t n = ikt_dataset_rows(data);
    const ikt_rows distribution = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    const ikt_model_spec spec = {.seed = 1, .n = n, .psi = PSI, .t = T, .pool = CENTRES};
    ikt_model *model = NULL;
    ikt_codes codes = {0};
    ikt_status st = ikt_agree(ctx, ikt_model_create(ctx, &spec, &model));
    for (int i = 0; i < TRIES && st == IKT_OK; i++) {
        const double begin = ikt_now();
        st = ikt_codes_compute(ctx, data, &distribution, model, &codes, NULL);
        const double took = ikt_calibrate_slowest(ctx, ikt_now() - begin);
        if (i == 0 || took < *seconds) *seconds = took;
        ikt_codes_destroy(&codes);
    }
    ikt_model_destroy(&model);
    return st;
}

ikt_status ikt_calibrate_sparse(ikt_context *ctx, ikt_machine *out) {
    const int64_t all = (int64_t)ikt_size(ctx) * ikt_threads(ctx) * ROWS;
    const int64_t n = all > LEAST_ROWS ? all : LEAST_ROWS + 1;
    const ikt_preprocess_settings plain = {IKT_NORMALISE_NONE, 0};
    double overlap = 1, seconds = 1;
    ikt_sparse_rows rows = {0};
    ikt_source *source = NULL;
    ikt_dataset *data = NULL;
    ikt_status st = make_rows(ctx, n, &rows);
    if (st == IKT_OK) st = find_overlap(ctx, &rows, &overlap);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = ikt_source_from_sparse(ctx, &rows, COLUMNS, IKT_TYPE_F32, &source);
    if (st == IKT_OK) st = ikt_dataset_create(ctx, source, &plain, &data);
    if (st == IKT_OK) st = time_codes(ctx, data, &seconds);
    const double share = (double)n / ikt_size(ctx) / ikt_threads(ctx);
    const double listing = share * (CENTRES / (out->lists * 1e6) + T / (out->walks * 1e6));
    out->postings = share * CENTRES * overlap / fmax(seconds - listing, seconds / 10) / 1e6;
    ikt_dataset_destroy(&data);
    ikt_source_close(&source);
    ikt_sparse_rows_destroy(&rows);
    return st;
}
