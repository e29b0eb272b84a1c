/* Scores of blocks of rows. See scorer.h. */
#include "neighbours/scorer.h"

#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/watch.h"
#include "isolation/similarity.h"
#include "linalg/blocks.h"
#include "metric/halves.h"
#include "metric/near_bytes.h"

enum {
    STRIP = 256,     /* packed codes that are counted at a time; the counts stay on the stack */
    SOME = 64,       /* rows that are gathered or packed at a time; a multiple of IKT_PACK_ROWS */
    READ_ROWS = 4096 /* rows that are read at a time */
};

/* --- codes ------------------------------------------------------------------------------------ */

static int64_t codes_bytes(const ikt_scorer *s, int64_t count) {
    return count * s->row_bytes;
}

/* Numbers of equal entries become numbers of different ones: smaller is more similar. */
static void score_codes(const ikt_scorer *s, const void *plain, int64_t na, const void *packed,
                        int64_t nb, float *out) {
    const ikt_code_shape shape = {s->d, s->row_bytes, s->width};
    const int64_t stride = ikt_score_stride(nb);
    uint16_t equal[4 * STRIP];
    for (int64_t from = 0; from < nb; from += STRIP) {
        const int64_t count = nb - from < STRIP ? nb - from : STRIP;
        const char *others = (const char *)packed + from * s->row_bytes;
        for (int64_t a = 0; a < na; a += 4) {
            const int64_t rows = na - a < 4 ? na - a : 4;
            ikt_similarity_block(s->isa, shape, (const char *)plain + a * s->row_bytes, rows,
                                 others, count, equal, STRIP);
            for (int64_t r = 0; r < rows; r++)
                for (int64_t b = 0; b < count; b++)
                    out[(a + r) * stride + from + b] =
                        (float)((int)s->d - (int)equal[r * STRIP + b]);
        }
    }
}

static void score_one_codes(const ikt_scorer *s, const char *row, const char *const *other,
                            int64_t count, void *scratch, float *out) {
    const ikt_code_shape shape = {s->d, s->row_bytes, s->width};
    const void *at[SOME];
    uint16_t equal[SOME];
    (void)scratch;
    for (int64_t done = 0; done < count; done += SOME) {
        const int64_t now = count - done < SOME ? count - done : SOME;
        for (int64_t c = 0; c < now; c++)
            at[c] = other[done + c];
        ikt_similarity_rows(s->isa, shape, at, now, row, 1, equal, 1);
        for (int64_t c = 0; c < now; c++)
            out[done + c] = (float)((int)s->d - (int)equal[c]);
    }
}

ikt_scorer ikt_scorer_codes(const ikt_codes *codes, const ikt_rows *rows) {
    return (ikt_scorer){.rows = *rows,
                        .plain = codes->code,
                        .isa = ikt_cpu_isa(),
                        .d = codes->t,
                        .row_bytes = codes->stride,
                        .width = codes->width,
                        .score_most = (double)codes->t,
                        .packed_bytes = codes_bytes,
                        .score = score_codes,
                        .score_one = score_one_codes};
}

/* --- distances -------------------------------------------------------------------------------- */

static int64_t rows_bytes(const ikt_scorer *s, int64_t count) {
    return ikt_packed_floats(count, s->d) * (int64_t)sizeof(float);
}

static void pack_rows(const ikt_scorer *s, const void *plain, int64_t count, void *packed) {
    ikt_pack_rows(plain, count, s->d, packed);
}

static void score_rows(const ikt_scorer *s, const void *plain, int64_t na, const void *packed,
                       int64_t nb, float *out) {
    s->metric->on(s->isa)->block(plain, na, packed, nb, s->d, out);
}

static void score_one_rows(const ikt_scorer *s, const char *row, const char *const *other,
                           int64_t count, void *scratch, float *out) {
    const float *from[SOME];
    float distance[SOME], *packed = scratch;
    for (int64_t done = 0; done < count; done += SOME) {
        const int64_t now = count - done < SOME ? count - done : SOME;
        for (int64_t i = 0; i < now; i++)
            from[i] = (const float *)(const void *)other[done + i];
        ikt_pack_rows_from(from, now, s->d, packed);
        s->metric->on(s->isa)->block((const float *)(const void *)row, 1, packed, now, s->d,
                                     distance);
        memcpy(out + done, distance, (size_t)now * sizeof *out);
    }
}

ikt_scorer ikt_scorer_rows(const ikt_metric *metric, const float *x, int64_t d,
                           const ikt_rows *rows) {
    const int64_t row_bytes = d * (int64_t)sizeof(float);
    return (ikt_scorer){.rows = *rows,
                        .plain = x,
                        .metric = metric,
                        .isa = ikt_cpu_isa(),
                        .d = d,
                        .row_bytes = row_bytes,
                        .scratch_bytes = SOME * row_bytes,
                        .packed_bytes = rows_bytes,
                        .pack = pack_rows,
                        .score = score_rows,
                        .score_one = score_one_rows};
}

/* --- distances of rows in half precision -------------------------------------------------------
 */

static void widen_halves(const ikt_scorer *s, const void *plain, int64_t count, float *wide) {
    ikt_halves_kernel_for(s->isa)->read(plain, count * s->d, wide);
}

/* Packs at most SOME rows that lie anywhere, some columns of a group of them at a time: these stay
 * in the first cache as floats. */
static void pack_halves_from(const ikt_scorer *s, const uint16_t *const *row, int64_t count,
                             float *packed) {
    enum { COLUMNS = 64 };
    const ikt_halves_kernel *kernel = ikt_halves_kernel_for(s->isa);
    float wide[IKT_PACK_ROWS][COLUMNS];
    const float *from[IKT_PACK_ROWS];
    for (int64_t i = 0; i < IKT_PACK_ROWS; i++)
        from[i] = wide[i];
    for (int64_t first = 0; first < count; first += IKT_PACK_ROWS) {
        const int64_t rows = ikt_smaller(count - first, IKT_PACK_ROWS);
        for (int64_t k = 0; k < s->d; k += COLUMNS) {
            const int64_t columns = ikt_smaller(s->d - k, COLUMNS);
            for (int64_t i = 0; i < rows; i++)
                kernel->read(row[first + i] + k, columns, wide[i]);
            ikt_pack_rows_from(from, rows, columns, packed + first * s->d + k * IKT_PACK_ROWS);
        }
    }
}

static void pack_halves(const ikt_scorer *s, const void *plain, int64_t count, void *packed) {
    const uint16_t *row[SOME], *half = plain;
    float *floats = packed;
    const int64_t whole = count / IKT_PACK_ROWS * IKT_PACK_ROWS;
    if (whole < count)
        memset(floats + whole * s->d, 0, sizeof *floats * IKT_PACK_ROWS * (size_t)s->d);
    for (int64_t done = 0; done < count; done += SOME) {
        const int64_t now = ikt_smaller(count - done, SOME);
        for (int64_t i = 0; i < now; i++)
            row[i] = half + (done + i) * s->d;
        pack_halves_from(s, row, now, floats + done * s->d);
    }
}

static void score_one_halves(const ikt_scorer *s, const char *row, const char *const *other,
                             int64_t count, void *scratch, float *out) {
    const uint16_t *from[SOME];
    float distance[SOME], *packed = scratch, *wide = packed + SOME * s->d;
    widen_halves(s, row, 1, wide);
    for (int64_t done = 0; done < count; done += SOME) {
        const int64_t now = ikt_smaller(count - done, SOME);
        for (int64_t i = 0; i < now; i++)
            from[i] = (const uint16_t *)(const void *)other[done + i];
        pack_halves_from(s, from, now, packed);
        s->metric->on(s->isa)->block(wide, 1, packed, now, s->d, distance);
        memcpy(out + done, distance, (size_t)now * sizeof *out);
    }
}

ikt_scorer ikt_scorer_halves(const ikt_metric *metric, const uint16_t *half, int64_t d,
                             const ikt_rows *rows) {
    ikt_scorer scorer = ikt_scorer_rows(metric, NULL, d, rows);
    scorer.plain = half;
    scorer.row_bytes = d * (int64_t)sizeof *half;
    scorer.scratch_bytes = (SOME + IKT_PACK_ROWS) * d * (int64_t)sizeof(float);
    scorer.widen = widen_halves;
    scorer.pack = pack_halves;
    scorer.score_one = score_one_halves;
    return scorer;
}

/* --- bytes ------------------------------------------------------------------------------------ */

static int64_t bytes_bytes(const ikt_scorer *s, int64_t count) {
    return ikt_near_bytes_size(count, s->d);
}

static void pack_bytes(const ikt_scorer *s, const void *plain, int64_t count, void *packed) {
    ikt_near_bytes_pack(plain, count, s->d, packed);
}

/* Rows are scored in whole groups, of which the last may be half empty, so they have room of their
 * own before they go to `out`. */
static void score_bytes(const ikt_scorer *s, const void *plain, int64_t na, const void *packed,
                        int64_t nb, float *out) {
    enum { VECTORS = STRIP / IKT_PACK_ROWS };
    const ikt_near_bytes_kernel *kernel = ikt_near_bytes_kernel_for(s->isa);
    const int64_t stride = ikt_score_stride(nb), vectors = stride / IKT_PACK_ROWS;
    const ikt_near_bytes others = {
        .d = s->d, .words = ikt_near_bytes_words(s->d), .word = packed, .vectors = vectors};
    float value[IKT_KERNEL_ROWS * STRIP];
    uint32_t row[IKT_KERNEL_ROWS];
    for (int64_t a = 0; a < na; a += IKT_KERNEL_ROWS) {
        const int64_t rows = na - a < IKT_KERNEL_ROWS ? na - a : IKT_KERNEL_ROWS;
        for (int64_t r = 0; r < rows; r++)
            row[r] = (uint32_t)(a + r);
        for (int64_t v = 0; v < vectors; v += VECTORS) {
            const int64_t end = v + VECTORS < vectors ? v + VECTORS : vectors;
            kernel->score_chosen(plain, row, rows, &others, v, end, value, STRIP);
            for (int64_t r = 0; r < rows; r++)
                memcpy(out + (a + r) * stride + v * IKT_PACK_ROWS, value + r * STRIP,
                       (size_t)((end - v) * IKT_PACK_ROWS) * sizeof *out);
        }
    }
}

static void score_one_bytes(const ikt_scorer *s, const char *row, const char *const *other,
                            int64_t count, void *scratch, float *out) {
    (void)scratch;
    ikt_near_bytes_kernel_for(s->isa)->score_rows((const int32_t *)(const void *)row, other, count,
                                                  s->d, out);
}

static void score_pairs_bytes(const ikt_scorer *s, const char *const *row, int64_t fresh,
                              int64_t count, void *scratch, float *out) {
    ikt_near_bytes_kernel_for(s->isa)->score_pairs(row, fresh, count, s->d, scratch, out,
                                                   ikt_score_stride(count));
}

ikt_scorer ikt_scorer_bytes(const int32_t *plain, int64_t d, const ikt_rows *rows) {
    return (ikt_scorer){.rows = *rows,
                        .plain = plain,
                        .metric = &ikt_metric_euclidean,
                        .isa = ikt_cpu_isa(),
                        .d = d,
                        .row_bytes = ikt_near_bytes_words(d) * (int64_t)sizeof *plain,
                        .keeps_packed = true,
                        .packed_bytes = bytes_bytes,
                        .pack = pack_bytes,
                        .score = score_bytes,
                        .score_one = score_one_bytes,
                        .score_pairs = score_pairs_bytes,
                        .pairs_bytes = ikt_near_bytes_pairs_size};
}

/* --- rows of a data set ----------------------------------------------------------------------- */

ikt_status ikt_scorer_read(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows, float *x) {
    const ikt_row_range own = {rows->first, rows->count};
    const int64_t steps = ikt_stream_steps(ctx, own.count, READ_ROWS);
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, READ_ROWS, step);
        IKT_TRY(ikt_dataset_read(data, at.first, at.count,
                                 x + (at.first - own.first) * ikt_dataset_columns(data)));
        IKT_TRY(ikt_watch_pause(ctx));
    }
    return IKT_OK;
}

ikt_status ikt_scorer_read_halves(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                                  uint16_t *half) {
    const ikt_row_range own = {rows->first, rows->count};
    const int64_t d = ikt_dataset_columns(data);
    const int64_t some = ikt_stream_rows(d, (int64_t)sizeof(float));
    const int64_t steps = ikt_stream_steps(ctx, own.count, some);
    const ikt_halves_kernel *kernel = ikt_halves_kernel_for(ikt_cpu_isa());
    float *x IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &x, some * d, sizeof *x, "rows"));
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, some, step);
        IKT_TRY(ikt_dataset_read(data, at.first, at.count, x));
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
        for (int64_t i = 0; i < at.count; i++)
            kernel->write(x + i * d, d, half + (at.first - own.first + i) * d);
        IKT_TRY(ikt_watch_pause(ctx));
    }
    return IKT_OK;
}

ikt_status ikt_scorer_data(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                           ikt_scorer *out) {
    const int64_t d = ikt_dataset_columns(data);
    float *x = NULL;
    ikt_status st = ikt_alloc_all(ctx, &x, rows->count * d, sizeof *x, "rows");
    if (st == IKT_OK) st = ikt_scorer_read(ctx, data, rows, x);
    *out = ikt_scorer_rows(ikt_metric_of(data), x, d, rows);
    out->owned = x;
    if (st != IKT_OK) ikt_scorer_destroy(out);
    return st;
}

void ikt_scorer_pack(ikt_context *ctx, const ikt_scorer *scorer, const void *plain, int64_t count,
                     void *packed) {
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t first = 0; first < count; first += SOME)
        scorer->pack(scorer, (const char *)plain + first * scorer->row_bytes,
                     count - first < SOME ? count - first : SOME,
                     (char *)packed + scorer->packed_bytes(scorer, first));
}

void ikt_scorer_destroy(ikt_scorer *scorer) {
    ikt_free(&scorer->owned);
    scorer->plain = NULL;
}
