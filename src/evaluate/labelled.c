/* The rows that have a label, as a map of their own.
 *
 * Measures of classes are those of the labelled rows: rows without a label are no class, neither
 * are looked at nor have a vote, and do not stretch the box that the map is scaled to. Method: the
 * labelled rows are parted among the ranks in equal blocks, as the rows of a file are. Advantage:
 * every measure of the map alone is, to the bit, what a file of these rows would give, and no
 * measure knows of rows without labels. Disadvantage: positions and classes are held twice. */
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "dist/row_blocks.h"
#include "evaluate/family.h"

static const char purpose[] = "measures";

/* LOCAL. How many of the own rows have a label. */
static int64_t count_labelled(const ikt_measured *what) {
    int64_t count = 0;
    for (int64_t i = 0; i < what->rows.count; i++)
        count += what->labels[i] >= what->least;
    return count;
}

/* COLLECTIVE. Equal blocks of the labelled rows, of which this rank has `own`. */
static ikt_status deal(ikt_context *ctx, const ikt_measured *what, int64_t own,
                       ikt_labelled_map *out) {
    const int64_t q = what->q;
    const ikt_rows *rows = &out->what.rows;
    ikt_row_blocks blocks IKT_AT_END(ikt_row_blocks_destroy) = {0};
    int64_t count = 0;
    IKT_ARRAYS(held, ctx, purpose);
    float *y = ikt_claim(&held, own * q, sizeof *y);
    int64_t *labels = ikt_claim(&held, own, sizeof *labels);
    out->y = ikt_claim_kept(&held, rows->count * q, sizeof *out->y);
    out->labels = ikt_claim_kept(&held, rows->count, sizeof *out->labels);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t i = 0; i < what->rows.count; i++) {
        if (what->labels[i] < what->least) continue;
        memcpy(y + q * count, what->y + q * i, (size_t)q * sizeof *y);
        labels[count++] = what->labels[i];
    }
    IKT_TRY(ikt_row_blocks_create(ctx, own, &blocks));
    IKT_TRY(ikt_row_blocks_read(ctx, &blocks, y, (size_t)q * sizeof *y, rows->first, rows->count,
                                out->y));
    return ikt_row_blocks_read(ctx, &blocks, labels, sizeof *labels, rows->first, rows->count,
                               out->labels);
}

ikt_status ikt_labelled_map_make(ikt_context *ctx, const ikt_measure_settings *settings,
                                 const ikt_measured *what, ikt_labelled_map *out) {
    const int64_t own = what->has_labels ? count_labelled(what) : 0;
    *out = (ikt_labelled_map){.what = *what};
    if (!what->has_labels) return IKT_OK;
    const int64_t n = ikt_sum_one(ctx, own);
    out->missing = what->rows.n - n;
    if (out->missing == 0 || n == 0) return IKT_OK;
    out->what.rows = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    ikt_status st = deal(ctx, what, own, out);
    out->what.y = out->y;
    out->what.labels = out->labels;
    if (st == IKT_OK) st = ikt_measure_view_make(ctx, settings, &out->what, &out->view);
    if (st != IKT_OK) ikt_labelled_map_free(out);
    return st;
}

void ikt_labelled_map_free(ikt_labelled_map *map) {
    ikt_measure_view_free(&map->view);
    ikt_free_all(&map->y, &map->labels);
}
