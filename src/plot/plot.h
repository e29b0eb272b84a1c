/* Pictures of embeddings.
 *
 * A square view of all points with equal scales and, because the axes of t-SNE have no unit, no
 * ticks. A map in three dimensions is shown from three sides, x y, x z and y z, at one scale; one
 * in one dimension as bars along the line, stacked by colour. Besides, a legend with
 * the classes and their counts, or a colour bar; marked points on top; a title and a footer. The
 * bytes of the file are the same for any number of ranks and threads.
 */
#ifndef IKT_PLOT_PLOT_H
#define IKT_PLOT_PLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"

typedef struct {
    int64_t width, height;   /* pixels, 200 .. 20000; height IKT_AUTO_INT: five sixths of width, of
                                one and three dimensions two fifths */
    double point_radius;     /* pixels, 0.3 .. 100; IKT_AUTO_REAL: from n, see ikt_plot_radius */
    double opacity;          /* of a single point, 0 .. 1; IKT_AUTO_REAL: from the overlap */
    double dpi;              /* pixels in an inch of SVG and PDF; IKT_AUTO_REAL: 200; no PNG */
    bool black;              /* black background instead of white */
    bool legend;             /* draw the legend */
    bool names;              /* write names of classes on the map, where they are densest */
    bool overwrite;          /* replace a file of that name */
    const char *title;       /* UTF-8; NULL: name of the picture and number of points */
    const char *when_unread; /* said where nobody reads the pipe, or NULL */
    const char *footer;      /* small line below ("psi 1024, t 200, KL 1.23"); "" or NULL: none */
    const char *description; /* text kept in the file (configuration); "" or NULL: none */
} ikt_plot_settings;

typedef struct {
    const ikt_rows *rows;  /* which rows this rank has */
    int q;                 /* dimensions: 1, 2 or 3 */
    const float *y;        /* [rows->count * q], positions of this rank's rows */
    const int64_t *labels; /* [rows->count] classes, or NULL on all ranks */
    const double *values;  /* [rows->count] numbers, or NULL on all ranks; not both */
    const char *column;    /* name of labels or values for the legend; NULL: none */
    const char
        *class_names; /* of the labels, a line a class (io/formats/class_labels.h); NULL: numbers */
    const int32_t *colours; /* [n_colours] of class k: 0xRRGGBB, negative: none; NULL: none */
    int64_t n_colours;
    const int64_t *marked; /* [n_marked] rows to mark with a cross, the same on all ranks */
    int64_t n_marked;
    const float *behind; /* [n_behind * q] points of this rank, drawn behind the rows, smaller and
                            lighter, whose view then holds them, too; NULL with 0: none. Not shown
                            where q is 1 */
    const int64_t *behind_labels; /* [n_behind] classes whose colours they have; NULL: grey */
    int64_t n_behind;
} ikt_plot_points;

/* LOCAL. 1200 pixels wide, automatic radius and opacity, white, with legend, nothing overwritten.
 */
ikt_plot_settings ikt_plot_defaults(void);

/* LOCAL. The automatic radius in pixels: 3.5 for 1,000 points in a plot of 1,000 pixels, falling
 * with the fourth root of n to 0.65 (about one pixel) beyond 800,000, at most 6. */
double ikt_plot_radius(int64_t n, int64_t side);

/* COLLECTIVE. Draws the points and writes the file `path` on rank 0 (written beside, renamed): SVG
 * or PDF where its name ends so, in which the points are a picture of pixels within a page of
 * shapes and text (canvas.h), otherwise PNG.
 * Memory: 8 MB and 2 bytes a point on every rank, in one and three dimensions 8 bytes more; on rank
 * 0 also 20 bytes a pixel of the plot and 4 of the picture. Time: a few nanoseconds a point for
 * each 8 MB of sums, then rank 0 alone compresses. The caller times it. Errors: IKT_ERR_USAGE
 * (settings out of range, a marked row that does not exist), IKT_ERR_DATA (coordinates
 * not finite, with the row; more than 4096 classes), IKT_ERR_FILE, IKT_ERR_RESOURCE.
 */
ikt_status ikt_plot_embedding(ikt_context *ctx, const ikt_plot_settings *settings,
                              const ikt_plot_points *points, const char *path);

/* The most panels of a page. */
enum { IKT_PLOT_PANELS_MOST = 16 };

/* COLLECTIVE. The same for several columns of colours, side by side on one page, each with its
 * legend.
 *   points   [count] the same rows with differing labels or values
 * Errors: those above; IKT_ERR_USAGE where there is no room for so many. */
ikt_status ikt_plot_panels(ikt_context *ctx, const ikt_plot_settings *settings,
                           const ikt_plot_points *points, int64_t count, const char *path);

#endif
