/* What figures are drawn on: the pixels of a PNG file, or a page of shapes, SVG or PDF.
 *
 * A figure is laid out in pixels whatever it is drawn on. On a page, lines and letters are shapes
 * and text, and the points, which may be millions, are one picture of pixels within the page: the
 * same pixels as those of the PNG file, so that no file is larger for more points.
 * Texts may be any bytes: what a kind of canvas gets is UTF-8, as ikt_utf8_clean makes it.
 * A canvas lives on rank 0; on other ranks there is none and nothing is drawn. A failure is kept
 * until the canvas is finished.
 */
#ifndef IKT_PLOT_CANVAS_H
#define IKT_PLOT_CANVAS_H

#include <stdio.h>

#include "plot/image.h"
#include "plot/palette.h"
#include "plot/shade.h"

enum { IKT_CANVAS_TEXT_MOST = 512 }; /* bytes of a text that is drawn */

typedef enum { IKT_CANVAS_PNG, IKT_CANVAS_SVG, IKT_CANVAS_PDF } ikt_canvas_kind;

/* What the file tells of the figure; "" where there is nothing. */
typedef struct {
    const char *title, *footer, *description;
} ikt_canvas_texts;

/* Where and how large it is. Everything is lent. */
typedef struct {
    const char *path, *shown; /* the file, and the name it will have, for messages */
    int64_t width, height;    /* pixels */
    double dpi;               /* pixels in an inch of a page */
    ikt_rgb background;
    ikt_canvas_texts texts;
} ikt_canvas_page;

typedef struct ikt_canvas ikt_canvas;

/* What a kind of canvas does; see the functions below. Coordinates are as in image.h. */
typedef struct {
    ikt_status (*open)(ikt_canvas *canvas);
    void (*fill)(ikt_canvas *canvas, int64_t x, int64_t y, int64_t width, int64_t height,
                 ikt_rgb colour);
    void (*stroke)(ikt_canvas *canvas, const ikt_segment *segments, int count, double width,
                   ikt_rgb colour);
    void (*text)(ikt_canvas *canvas, const char *text, double x, double y, double size,
                 bool is_right, ikt_rgb colour);
    void (*points)(ikt_canvas *canvas, const ikt_shaded *pixels, int64_t side, double opacity,
                   int64_t x, int64_t y);
    ikt_status (*finish)(ikt_canvas *canvas); /* writes what there is left */
    void (*close)(ikt_canvas *canvas);        /* frees; also what `open` left half done */
} ikt_canvas_ops;

struct ikt_canvas {
    ikt_context *ctx;
    const ikt_canvas_ops *ops;
    ikt_canvas_page page;
    ikt_status status; /* of the first failure */
    ikt_image image;   /* of a PNG file */
    FILE *file;        /* of a page */
    void *self;        /* of the kind */
    char *texts;       /* those of the page, as UTF-8 */
};

/* LOCAL. By the ending of a file's name: .svg, .pdf, anything else is PNG. */
ikt_canvas_kind ikt_canvas_kind_of(const char *path);

/* LOCAL. Whether this program can draw it. Errors: IKT_ERR_USAGE: PDF without cairo. */
ikt_status ikt_canvas_check(ikt_context *ctx, const char *path);

/* LOCAL. Begins a canvas; *out is closed in any case. Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_canvas_open(ikt_context *ctx, ikt_canvas_kind kind, const ikt_canvas_page *page,
                           ikt_canvas *out);

/* LOCAL, all of them: as ikt_image_fill, ikt_image_frame, ikt_image_stroke, ikt_font_draw (or with
 * the right end of the text at x), and ikt_shade_draw. */
void ikt_canvas_fill(ikt_canvas *canvas, int64_t x, int64_t y, int64_t width, int64_t height,
                     ikt_rgb colour);
void ikt_canvas_frame(ikt_canvas *canvas, int64_t x, int64_t y, int64_t width, int64_t height,
                      ikt_rgb colour);
void ikt_canvas_stroke(ikt_canvas *canvas, const ikt_segment *segments, int count, double width,
                       ikt_rgb colour);
void ikt_canvas_text(ikt_canvas *canvas, const char *text, double x, double y, double size,
                     ikt_rgb colour);
void ikt_canvas_text_right(ikt_canvas *canvas, const char *text, double x, double y, double size,
                           ikt_rgb colour);
void ikt_canvas_points(ikt_canvas *canvas, const ikt_shaded *pixels, int64_t side, double opacity,
                       int64_t x, int64_t y);

/* LOCAL. Completes the file. Errors: the first failure, IKT_ERR_FILE. */
ikt_status ikt_canvas_finish(ikt_canvas *canvas);
void ikt_canvas_close(ikt_canvas *canvas);

/* For the kinds that make pages. LOCAL. The points as a picture of their own, on the background;
 * freed with ikt_image_destroy. */
ikt_status ikt_canvas_tile(ikt_canvas *canvas, const ikt_shaded *pixels, int64_t side,
                           double opacity, ikt_image *tile);

extern const ikt_canvas_ops ikt_canvas_png, ikt_canvas_svg, ikt_canvas_pdf;

/* Whether ikt_canvas_pdf is there. */
extern const bool ikt_canvas_has_pdf;

#endif
