/* The panels of a figure: what is drawn of the points, and where.
 *
 * One square for a map in two dimensions; for three dimensions three squares, the sides x y, x z
 * and y z at one scale; for one dimension a rectangle of bars: points along the line, stacked by
 * colour, which shows how many there are, and of what, where dots would overlap. Squares are summed
 * in bands of rows, so that ranks other than 0 never hold a whole picture and any size works within
 * the same memory.
 */
#ifndef IKT_PLOT_PANELS_H
#define IKT_PLOT_PANELS_H

#include "plot/canvas.h"
#include "plot/colouring.h"

/* In pixels. */
typedef struct {
    int q, count;           /* dimensions of the map; panels */
    int64_t left, top, gap; /* of the first; between them */
    int64_t side, height;   /* of each: side is the width, and the height of a square */
    double unit;            /* pixels per thousandth of the picture's smaller side */
    double point_radius;
    double opacity; /* of a single point, or IKT_AUTO_REAL */
} ikt_panels;

/* LOCAL. Panels that a map has. */
int ikt_panels_count(int q);

/* LOCAL. Width of all together. */
double ikt_panels_width(const ikt_panels *panels);

/* COLLECTIVE. Draws the points with their frames and marks onto the canvas of rank 0; the
 * others pass one that is not open.
 * Errors: IKT_ERR_DATA (coordinates not finite, with the row), IKT_ERR_RESOURCE. */
ikt_status ikt_panels_draw(ikt_context *ctx, const ikt_panels *panels,
                           const ikt_plot_points *points, const ikt_colouring *colouring,
                           const ikt_theme *theme, ikt_canvas *canvas);

#endif
