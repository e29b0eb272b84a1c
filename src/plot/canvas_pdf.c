/* Figures as PDF, by cairo.
 *
 * Letters are those of the sans-serif font that the machine has, a part of which becomes part of
 * the file; so that everything keeps its place they are made as high as planned, and narrower where
 * they would be wider. A machine without fonts, as compute nodes are, gets our own letters as
 * strokes: the same figure, in which text cannot be selected. The file has no date: equal figures
 * are equal files. */
#include "plot/canvas.h"

#ifndef IKT_HAVE_CAIRO

const bool ikt_canvas_has_pdf = false;
const ikt_canvas_ops ikt_canvas_pdf = {NULL, NULL, NULL, NULL, NULL, NULL, NULL};

#else

#include <cairo-pdf.h>
#include <string.h>

#include "base/memory.h"
#include "iktsne/version.h"
#include "plot/font.h"

#define POINTS 72.0 /* in an inch */

enum { TRIAL_SIZE = 100 };

const bool ikt_canvas_has_pdf = true;

typedef struct {
    cairo_surface_t *surface;
    cairo_t *cairo;
    double capital; /* height of a capital letter in the size of the font; 0: there is no font */
} page;

static cairo_status_t put(void *closure, const unsigned char *data, unsigned int length) {
    FILE *file = closure;
    return fwrite(data, 1, length, file) == length ? CAIRO_STATUS_SUCCESS
                                                   : CAIRO_STATUS_WRITE_ERROR;
}

static void set_texts(cairo_surface_t *surface, const ikt_canvas_texts *texts) {
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, texts->title);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_SUBJECT, texts->footer);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_KEYWORDS, texts->description);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "iktsne " IKT_VERSION);
    /* cairo would write the time of day. */
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
}

/* Chooses the font and learns how high its capitals are. */
static double measure_font(cairo_t *cairo) {
    cairo_text_extents_t extents;
    cairo_select_font_face(cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo, TRIAL_SIZE);
    cairo_text_extents(cairo, "H", &extents);
    return cairo_status(cairo) == CAIRO_STATUS_SUCCESS ? extents.height / TRIAL_SIZE : 0;
}

static void set_colour(cairo_t *cairo, ikt_rgb colour) {
    cairo_set_source_rgb(cairo, colour.r / 255.0, colour.g / 255.0, colour.b / 255.0);
}

static void fill(ikt_canvas *c, int64_t x, int64_t y, int64_t width, int64_t height,
                 ikt_rgb colour) {
    page *p = c->self;
    set_colour(p->cairo, colour);
    cairo_rectangle(p->cairo, (double)x, (double)y, (double)width, (double)height);
    cairo_fill(p->cairo);
}

static ikt_status open_pdf(ikt_canvas *c) {
    const ikt_canvas_page *of = &c->page;
    const double scale = POINTS / of->dpi;
    page *p;
    IKT_TRY(ikt_alloc(c->ctx, &p, 1, sizeof *p, "picture"));
    c->self = p;
    p->surface = cairo_pdf_surface_create_for_stream(put, c->file, scale * (double)of->width,
                                                     scale * (double)of->height);
    p->cairo = cairo_create(p->surface);
    if (cairo_status(p->cairo) != CAIRO_STATUS_SUCCESS)
        return ikt_fail(c->ctx, IKT_ERR_RESOURCE, "%s cannot be begun: %s", of->shown,
                        cairo_status_to_string(cairo_status(p->cairo)));
    cairo_pdf_surface_restrict_to_version(p->surface, CAIRO_PDF_VERSION_1_4);
    set_texts(p->surface, &of->texts);
    cairo_scale(p->cairo, scale, scale);
    cairo_set_line_cap(p->cairo, CAIRO_LINE_CAP_ROUND);
    p->capital = measure_font(p->cairo);
    fill(c, 0, 0, of->width, of->height, of->background);
    return IKT_OK;
}

static void stroke(ikt_canvas *c, const ikt_segment *segments, int count, double width,
                   ikt_rgb colour) {
    page *p = c->self;
    set_colour(p->cairo, colour);
    cairo_set_line_width(p->cairo, width);
    for (int i = 0; i < count; i++) {
        cairo_move_to(p->cairo, segments[i].x0, segments[i].y0);
        cairo_line_to(p->cairo, segments[i].x1, segments[i].y1);
    }
    cairo_stroke(p->cairo);
}

static void stroke_letter(void *self, const ikt_segment *segments, int count, double width,
                          ikt_rgb colour) {
    stroke(self, segments, count, width, colour);
}

static void draw_text(ikt_canvas *c, const char *text, double x, double y, double size,
                      bool is_right, ikt_rgb colour) {
    page *p = c->self;
    cairo_text_extents_t extents;
    const double planned = ikt_font_width(text, size);
    set_colour(p->cairo, colour);
    cairo_set_font_size(p->cairo, p->capital > 0 ? size / p->capital : size);
    cairo_text_extents(p->cairo, text, &extents);
    if (p->capital <= 0 || extents.x_advance <= 0) {
        ikt_font_strokes(text, is_right ? x - planned : x, y, size, colour, stroke_letter, c);
        return;
    }
    const double narrower = extents.x_advance > planned ? planned / extents.x_advance : 1;
    cairo_save(p->cairo);
    cairo_translate(p->cairo, is_right ? x - narrower * extents.x_advance : x, y);
    cairo_scale(p->cairo, narrower, 1);
    cairo_move_to(p->cairo, 0, 0);
    cairo_show_text(p->cairo, text);
    cairo_restore(p->cairo);
}

/* A pixel of cairo is an integer of 32 bits: red, green, blue from the higher to the lower. */
static ikt_status copy_pixels(ikt_canvas *c, const ikt_image *tile, uint32_t **out) {
    const int64_t count = tile->width * tile->height;
    IKT_TRY(ikt_alloc(c->ctx, out, count, sizeof **out, "picture"));
    for (int64_t i = 0; i < count; i++) {
        const ikt_rgb v = tile->pixel[i];
        (*out)[i] = (uint32_t)v.r << 16 | (uint32_t)v.g << 8 | v.b;
    }
    return IKT_OK;
}

static void paint(page *p, uint32_t *pixels, int side, int64_t x, int64_t y) {
    cairo_surface_t *surface = cairo_image_surface_create_for_data(
        (unsigned char *)pixels, CAIRO_FORMAT_RGB24, side, side, 4 * side);
    cairo_set_source_surface(p->cairo, surface, (double)x, (double)y);
    cairo_paint(p->cairo);
    cairo_set_source_rgb(p->cairo, 0, 0, 0); /* lets go of the surface */
    cairo_surface_finish(surface);           /* and of the pixels: a page keeps its own */
    cairo_surface_destroy(surface);
}

static void points(ikt_canvas *c, const ikt_shaded *pixels, int64_t side, double opacity, int64_t x,
                   int64_t y) {
    ikt_image tile;
    uint32_t *copy = NULL;
    ikt_status st = ikt_canvas_tile(c, pixels, side, opacity, &tile);
    if (st == IKT_OK) st = copy_pixels(c, &tile, &copy);
    ikt_image_destroy(&tile);
    if (st == IKT_OK) paint(c->self, copy, (int)side, x, y);
    ikt_free(&copy);
    if (c->status == IKT_OK) c->status = st;
}

static ikt_status finish(ikt_canvas *c) {
    page *p = c->self;
    cairo_surface_finish(p->surface);
    cairo_status_t status = cairo_status(p->cairo);
    if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(p->surface);
    if (status == CAIRO_STATUS_SUCCESS || status == CAIRO_STATUS_SURFACE_FINISHED) return IKT_OK;
    return ikt_fail(c->ctx, IKT_ERR_FILE, "%s cannot be written: %s", c->page.shown,
                    cairo_status_to_string(status));
}

static void close_pdf(ikt_canvas *c) {
    page *p = c->self;
    if (!p) return;
    cairo_destroy(p->cairo);
    cairo_surface_destroy(p->surface);
    ikt_free(&c->self);
}

const ikt_canvas_ops ikt_canvas_pdf = {open_pdf, fill,   stroke,   draw_text,
                                       points,   finish, close_pdf};

#endif
