/* A figure under way: what plot.c lays out, and panels.c and legend.c draw. Of this folder only. */
#ifndef IKT_PLOT_FIGURE_H
#define IKT_PLOT_FIGURE_H

#include "plot/canvas.h"
#include "plot/colouring.h"
#include "plot/density.h"

/* --- the legend (legend.c) -------------------------------------------------------------------- */

/* It is planned first, because its width decides the size of the plot, and drawn when the plot is
 * done. From top to bottom: number of points; what the colours mean; the classes with their counts,
 * in columns, or a colour bar with the least and largest number; the marked points. */

typedef struct {
    /* What it says; set by the caller, everything is borrowed. */
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

/* --- a figure --------------------------------------------------------------------------------- */

/* Squares of a map in three dimensions. */
enum { IKT_SIDES = 3 };

/* What a map shows of one column, in a part of the page: panels and a legend; freed as one. */
typedef struct {
    ikt_plot_settings settings; /* with automatic values resolved, but for opacity */
    const ikt_plot_points *points;
    ikt_theme theme;
    ikt_colouring colouring;
    ikt_legend legend;
    ikt_canvas *canvas; /* rank 0: borrowed */

    /* The part of the page, and the panels in it, in pixels. */
    double x, y_top, width, height;
    double unit; /* pixels per thousandth of the smaller side */
    int q, count;
    int64_t left, top, gap;     /* of the first; between them */
    int64_t side, panel_height; /* of each: side is the width, and the height of a square */

    /* The panel under way. */
    ikt_view view;
    const float *y, *behind;   /* [n_local * 2], [n_behind * 2] what it shows */
    float *flat, *flat_behind; /* the same where it has to be made; NULL where q is 2 */
    int64_t most;              /* points of the highest bar */
    int64_t outside;           /* rows that lie outside of the view */

    /* Sums of squares. */
    bool is_backed; /* some rank has points behind, and they are shown */
    ikt_stamp stamp, small;
    int64_t band_rows;
    ikt_pixel_sum *sums;     /* [band_rows * side] */
    ikt_pixel_sum *back;     /* [band_rows * side] of the points behind */
    uint16_t *back_index;    /* [n_behind] their colours */
    ikt_linear *back_linear; /* [n_colours + 1] those there are; the last for those of no class */
    ikt_shaded *pixels;      /* [side * side] on rank 0, otherwise empty */
    uint32_t *picture;       /* [side * side] on rank 0 */
    uint8_t *table;          /* linear light to sRGB */
    int64_t *marks;          /* [n_marked * 2], steps */
    double *places;          /* [n_classes * 2] where the names of classes stand */
} ikt_figure;

/* COLLECTIVE. Draws the points with their frames, names and marks. Errors: IKT_ERR_DATA,
 * IKT_ERR_RESOURCE. */
ikt_status ikt_figure_panels(ikt_context *ctx, ikt_figure *figure);

void ikt_figure_free(ikt_figure *figure);

#endif
