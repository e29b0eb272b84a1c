/* Maps in one dimension. See histogram.h. */
#include "plot/histogram.h"

#include "base/comm.h"
#include "base/memory.h"

static int64_t bar_of(const ikt_view *view, float x, int64_t bars) {
    int64_t steps = view->side * IKT_VIEW_PHASES, at = ikt_view_x(view, x);
    at = at < 0 ? 0 : at >= steps ? steps - 1 : at;
    return at * bars / steps;
}

static int64_t highest(const ikt_histogram *h) {
    int64_t most = 0;
    for (int64_t b = 0; b < h->bars; b++) {
        int64_t sum = 0;
        for (int64_t c = 0; c < h->colours; c++)
            sum += h->count[b * h->colours + c];
        most = sum > most ? sum : most;
    }
    return most;
}

ikt_status ikt_histogram_make(ikt_context *ctx, const ikt_rows *rows, const float *flat,
                              const ikt_view *view, const ikt_colouring *colouring, int64_t bars,
                              ikt_histogram *out) {
    *out = (ikt_histogram){.bars = bars, .colours = colouring->n_colours};
    const int64_t counts = bars * out->colours;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &out->count, counts, sizeof *out->count, "picture")));
    for (int64_t i = 0; i < rows->count; i++) {
        const int64_t colour = colouring->index ? colouring->index[i] : 0;
        out->count[bar_of(view, flat[2 * i], bars) * out->colours + colour]++;
    }
    ikt_sum_i64(ctx, out->count, counts);
    out->most = highest(out);
    return IKT_OK;
}

/* Pixels that so many points are high. */
static int64_t pixels(const ikt_histogram *h, int64_t points, int64_t height) {
    return h->most > 0 ? (points * height + h->most / 2) / h->most : 0;
}

void ikt_histogram_draw(ikt_canvas *canvas, const ikt_histogram *h, const ikt_colouring *colouring,
                        int64_t left, int64_t top, int64_t width, int64_t height) {
    for (int64_t b = 0; b < h->bars; b++) {
        const int64_t from = left + b * width / h->bars, to = left + (b + 1) * width / h->bars;
        int64_t below = 0;
        for (int64_t c = 0; c < h->colours; c++) {
            const int64_t above = below + h->count[b * h->colours + c];
            const int64_t low = pixels(h, below, height), high = pixels(h, above, height);
            ikt_canvas_fill(canvas, from, top + height - high, to - from, high - low,
                            colouring->colour[c]);
            below = above;
        }
    }
}

void ikt_histogram_destroy(ikt_histogram *histogram) {
    ikt_free(&histogram->count);
}
