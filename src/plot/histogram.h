/* Maps in one dimension: bars of points along the line, stacked by colour.
 *
 * Advantage over a strip of dots: shows how many there are, and of what, wherever they overlap,
 * which on a line is everywhere. Counts are integers: the same on any ranks and threads.
 */
#ifndef IKT_PLOT_HISTOGRAM_H
#define IKT_PLOT_HISTOGRAM_H

#include "plot/canvas.h"
#include "plot/colouring.h"

typedef struct {
    int64_t bars, colours;
    int64_t *count; /* [bars * colours] points; owned */
    int64_t most;   /* points of the highest bar */
} ikt_histogram;

/* COLLECTIVE. Counts the points of all ranks, each in the bar that its place in the view is in;
 * the bars share the side of the view.
 *   flat   [rows->count * 2] coordinates along the line, and anything
 *   bars   at least 1
 * Errors: IKT_ERR_RESOURCE; empty then. */
ikt_status ikt_histogram_make(ikt_context *ctx, const ikt_rows *rows, const float *flat,
                              const ikt_view *view, const ikt_colouring *colouring, int64_t bars,
                              ikt_histogram *out);

/* LOCAL. Draws the bars into the rectangle, the highest as high as that. */
void ikt_histogram_draw(ikt_canvas *canvas, const ikt_histogram *histogram,
                        const ikt_colouring *colouring, int64_t left, int64_t top, int64_t width,
                        int64_t height);

void ikt_histogram_destroy(ikt_histogram *histogram);

#endif
