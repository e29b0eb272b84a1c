/* The points of a map as bytes, in the order of the Z-curve. */
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "viewer/parts.h"

enum { CODE_BYTES = 6, HALF_BYTES = 3, ROW_BYTES = 4, Z_BYTES = 3 };

/* A map in one dimension is a band a quarter as high as long, in which points stand at random. */
#define BAND 0.25

static const char purpose[] = "points of the page";

static ikt_status create(ikt_context *ctx, ikt_viewer_points *p) {
    const ikt_rows *rows = p->rows;
    IKT_TRY(ikt_curve_fit(ctx, rows, p->map.q, p->map.y, &p->box));
    ikt_status st = ikt_alloc(ctx, &p->code, rows->count, sizeof *p->code, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &p->row, rows->count, sizeof *p->row, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &p->place, rows->count, sizeof *p->place, purpose);
    IKT_TRY(ikt_agree(ctx, st));
    for (int64_t i = 0; i < rows->count; i++) {
        const float *y = p->map.y + i * p->map.q;
        double up;
        if (p->map.q > 1)
            up = (double)y[1];
        else
            up = (ikt_rng_uniform(0, IKT_RNG_PLOT, rows->first + i, 0) - 0.5) * BAND * p->box.side;
        p->code[i] = ikt_curve_code(ikt_curve_step(&p->box, 0, (double)y[0]),
                                    ikt_curve_step(&p->box, 1, up));
    }
    return ikt_curve_order(ctx, rows, p->code, p->row, p->place);
}

ikt_status ikt_viewer_points_create(ikt_context *ctx, const ikt_rows *rows,
                                    const ikt_viewer_map *map, ikt_viewer_points *out) {
    *out = (ikt_viewer_points){.rows = rows, .map = *map};
    ikt_status st = create(ctx, out);
    if (st != IKT_OK) ikt_viewer_points_destroy(out);
    return st;
}

void ikt_viewer_points_destroy(ikt_viewer_points *points) {
    ikt_free_all(&points->code, &points->row, &points->place);
}

static void fill(const void *self, int64_t k, uint8_t *out) {
    const ikt_viewer_points *p = self;
    const int64_t i = p->row[k];
    out = ikt_put_number(out, p->code[i], CODE_BYTES);
    out = ikt_put_number(out, (uint64_t)(p->rows->first + i), ROW_BYTES);
    if (p->map.q == 3)
        ikt_put_number(out, ikt_curve_step(&p->box, 2, (double)p->map.y[3 * i + 2]), Z_BYTES);
}

static void arrange(const uint8_t *items, int64_t count, int64_t bytes, uint8_t *block) {
    uint32_t before = 0;
    for (int64_t i = 0; i < count; i++) {
        const uint8_t *record = items + i * bytes;
        const uint32_t upper = record[3] | (uint32_t)record[4] << 8 | (uint32_t)record[5] << 16;
        const uint32_t step = upper - before;
        before = upper;
        for (int b = 0; b < HALF_BYTES; b++) {
            block[b * count + i] = (uint8_t)(step >> 8 * (HALF_BYTES - 1 - b));
            block[(HALF_BYTES + b) * count + i] = record[HALF_BYTES - 1 - b];
        }
    }
    ikt_arrange_planes(items + CODE_BYTES, count, bytes, bytes - CODE_BYTES,
                       block + CODE_BYTES * count);
}

ikt_block_items ikt_viewer_points_items(const ikt_viewer_points *points, const char *name) {
    return (ikt_block_items){.n = points->rows->n,
                             .count = points->rows->count,
                             .place = points->place,
                             .bytes = CODE_BYTES + ROW_BYTES + (points->map.q == 3 ? Z_BYTES : 0),
                             .per_block = IKT_POINTS_PER_BLOCK,
                             .name = name,
                             .fill = fill,
                             .arrange = arrange,
                             .self = points};
}
