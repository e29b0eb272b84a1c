/* The legend: the number of points, and the meaning of the colours.
 *
 * It is planned first, because its width decides the size of the plot, and drawn when the plot is
 * done.
 * From top to bottom: number of points; what the colours mean; the classes with their counts, in
 * columns, or a colour bar with the least and largest number; the marked points.
 */
#ifndef IKT_PLOT_LEGEND_H
#define IKT_PLOT_LEGEND_H

#include "plot/canvas.h"
#include "plot/colouring.h"

typedef struct {
    /* What it says; set by the caller, everything is lent. */
    const ikt_colouring *colouring;
    const ikt_theme *theme;
    const char *column; /* name of the column that gives the colours; NULL: none */
    const char
        *class_names; /* a line a class (io/formats/class_labels.h); NULL: classes are numbers */
    int64_t n;        /* points of the embedding */
    const int64_t *marked;
    int64_t n_marked;
    double unit; /* pixels per thousandth of the picture's smaller side */
    /* Sizes in pixels, from ikt_legend_plan. */
    double width;                                 /* of the whole legend */
    double name_width, count_width, column_width; /* of the table of classes */
    double bar_height;                            /* of the colour bar */
    int64_t columns, rows;                        /* of the table of classes */
    int64_t shown; /* classes with a line of their own; the others share one */
} ikt_legend;

/* LOCAL. Writes a count with separators, "1,234,567", to out (at least 32 bytes). */
void ikt_count_text(int64_t count, char *out);

/* LOCAL. Draws a cross with a halo, so that it is seen on any colour, centred at (x, y): a marked
 * point. */
void ikt_mark_draw(ikt_canvas *canvas, double x, double y, double unit, const ikt_theme *theme);

/* LOCAL. Computes the sizes, the same on every rank.
 *   height      pixels the legend should not exceed
 *   width_max   pixels it will not exceed
 * Where the classes need more room, the last line says how many more there are. */
void ikt_legend_plan(ikt_legend *legend, double height, double width_max);

/* LOCAL. Draws the legend with its top left corner at (x, y). */
void ikt_legend_draw(ikt_canvas *canvas, const ikt_legend *legend, double x, double y);

#endif
