/* A canvas, on which figures are drawn: the pixels of a PNG file, or a page of shapes, SVG or PDF.
 *
 * A figure is laid out in pixels whatever it is drawn on; x grows to the right and y downwards, and
 * the centre of pixel (0, 0) is (0.5, 0.5). On a page, lines and letters are shapes and text, and
 * the points, which may be millions, are one picture of pixels within the page: the same pixels as
 * those of the PNG file, so that no file is larger for more points.
 * cairo draws PNG and PDF; SVG is written by our own code, because cairo would turn its text into
 * shapes.
 * Texts may be any bytes: what is drawn is UTF-8, as ikt_utf8_clean makes it.
 * A canvas lives on rank 0; on other ranks there is none and nothing is drawn. A failure is kept
 * until the canvas is finished.
 */
#ifndef IKT_PLOT_CANVAS_H
#define IKT_PLOT_CANVAS_H

#include <stdio.h>

#include "base/status.h"
#include "plot/colouring.h"

/* --- letters of our own (font.c): compute nodes have no fonts --------------------------------- */

/* ASCII, Latin letters with marks, Greek and Cyrillic (letters.h) are drawn as strokes (lines and
 * parabolas) of even width, so they are smooth at any size. Text is UTF-8; any other character, and
 * a byte that is no UTF-8, is drawn as an empty box; control characters are left out. */

/* A straight piece of a line, in pixels. */
typedef struct {
    double x0, y0, x1, y1;
} ikt_segment;

enum { IKT_GLYPH_SEGMENTS = 96 }; /* of a character, at most */

#define IKT_FONT_WEIGHT (1.55 / 12) /* width of the strokes in capital heights */

/* LOCAL, all of them. `size` is the height of a capital letter in pixels. */

/* Width of the text in pixels. */
double ikt_font_width(const char *text, double size);

/* Whether all of the text has letters of our own. */
bool ikt_font_has(const char *text);

/* The next character of *text as segments of strokes with round ends, with its left end at *x and
 * the baseline at y; moves *text behind it and *x to its right end.
 *   segments   [IKT_GLYPH_SEGMENTS]
 * Returns how many there are, which may be 0; -1 at the end of the text. */
int ikt_font_place(const char **text, double *x, double y, double size, ikt_segment *segments);

/* Copies `text` to `out` (`bytes` bytes), cut with "..." where it is wider than `width` pixels or
 * longer than `out`. Never cuts inside a UTF-8 character. */
void ikt_font_fit(const char *text, double size, double width, char *out, int bytes);

/* --- the canvas ------------------------------------------------------------------------------- */

enum { IKT_CANVAS_TEXT_MOST = 512 };  /* bytes of a text that is drawn */
enum { IKT_CANVAS_BOXES_MOST = 256 }; /* bytes that tell of characters that are boxes */

typedef enum { IKT_CANVAS_PNG, IKT_CANVAS_SVG, IKT_CANVAS_PDF } ikt_canvas_kind;

/* The file of a figure: its place, its size and the texts kept in it. Everything is borrowed. */
typedef struct {
    const char *path, *shown; /* the file, and the name it will have, for messages */
    int64_t width, height;    /* pixels, at most 32,767 */
    double dpi;               /* pixels in an inch of a page */
    ikt_rgb background;
    const char *when_unread;                  /* said where nobody reads the pipe, or NULL */
    const char *title, *footer, *description; /* "" where there is nothing */
} ikt_canvas_page;

/* Pixels of a picture: red, green and blue from the higher byte to the lower (0x00RRGGBB). */
typedef struct {
    int64_t width, height;
    uint32_t *pixel; /* [height * width], top row first */
} ikt_canvas_picture;

typedef struct {
    ikt_context *ctx;
    ikt_canvas_kind kind;
    ikt_canvas_page page;
    ikt_status status; /* of the first failure */
    FILE *file;
    struct ikt_drawing *drawing;       /* of PNG and PDF (canvas.c); NULL of SVG */
    char *texts;                       /* title, footer and description as UTF-8 */
    char boxes[IKT_CANVAS_BOXES_MOST]; /* "α (U+03B1), ...": characters that no font has */
} ikt_canvas;

/* LOCAL. By the ending of a file's name: .svg, .pdf, anything else is PNG. */
ikt_canvas_kind ikt_canvas_kind_of(const char *path);

/* LOCAL, pure. Whether the ending says so: one of the three, or none. */
bool ikt_canvas_is_named(const char *path);

/* LOCAL. Begins a canvas; *out is closed in any case. Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_canvas_open(ikt_context *ctx, ikt_canvas_kind kind, const ikt_canvas_page *page,
                           ikt_canvas *out);

/* LOCAL, all of them. Everything is clipped at the borders. */

/* Fills the pixels x .. x + width - 1, y .. y + height - 1. */
void ikt_canvas_fill(ikt_canvas *canvas, int64_t x, int64_t y, int64_t width, int64_t height,
                     ikt_rgb colour);

/* Draws the outline of such a rectangle: one pixel wide, within it. A frame around something
 * therefore begins one pixel before it. */
void ikt_canvas_frame(ikt_canvas *canvas, int64_t x, int64_t y, int64_t width, int64_t height,
                      ikt_rgb colour);

/* Draws connected or loose segments as one stroke of the given width (pixels) with round ends;
 * where segments cross the stroke is not darker. A segment of length zero is a dot, so a disc of
 * radius r is a dot of width 2 r. */
void ikt_canvas_stroke(ikt_canvas *canvas, const ikt_segment *segments, int count, double width,
                       ikt_rgb colour);

/* Draws text whose left end is x, or whose right end with is_right, and whose baseline is y; `size`
 * is the height of a capital letter. */
void ikt_canvas_text(ikt_canvas *canvas, const char *text, double x, double y, double size,
                     bool is_right, ikt_rgb colour);

/* Draws the picture with its top left corner at (x, y). */
void ikt_canvas_show(ikt_canvas *canvas, const ikt_canvas_picture *picture, int64_t x, int64_t y);

/* LOCAL. Completes the file, with a warning of characters that were drawn as boxes because no font
 * has them. Errors: the first failure, IKT_ERR_FILE. */
ikt_status ikt_canvas_finish(ikt_canvas *canvas);
void ikt_canvas_close(ikt_canvas *canvas);

#endif
