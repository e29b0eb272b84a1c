/* Figures as PNG and PDF, drawn by cairo.
 *
 * A PNG file has letters of our own as strokes (font.h): the same picture on every machine, with
 * fonts or without. Letters of a PDF file are those of the sans-serif font that the machine has, a
 * part of which becomes part of the file, so that text can be selected; so that everything keeps
 * its place they are made as high as planned, and narrower where they would be wider. A machine
 * without fonts, as compute nodes are, gets the letters of the PNG file. Neither file has a date:
 * equal figures are equal files. */
#include <cairo-pdf.h>
#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "iktsne/version.h"
#include "plot/canvas.h"

#define POINTS 72.0 /* in an inch */

enum { TRIAL_SIZE = 100 };

typedef struct {
    cairo_surface_t *surface;
    cairo_t *cairo;
    ikt_canvas_picture pixels; /* those of a PNG file; owned */
    double capital; /* height of a capital letter in the size of the font; 0: there is no font */
} drawing;

static bool put_in_file(void *self, const void *bytes, size_t count) {
    return fwrite(bytes, 1, count, self) == count;
}

static cairo_status_t on_page(void *closure, const unsigned char *data, unsigned int length) {
    ikt_canvas *c = closure;
    if (put_in_file(c->file, data, length)) return CAIRO_STATUS_SUCCESS;
    if (c->status == IKT_OK)
        c->status = ikt_fail(c->ctx, IKT_ERR_FILE, "%s cannot be written: %s", c->page.shown,
                             strerror(errno));
    return CAIRO_STATUS_WRITE_ERROR;
}

/* cairo's view of pixels that stay ours. */
static cairo_surface_t *surface_of(const ikt_canvas_picture *picture) {
    return cairo_image_surface_create_for_data(
        (unsigned char *)picture->pixel, CAIRO_FORMAT_RGB24, (int)picture->width,
        (int)picture->height, (int)(picture->width * (int64_t)sizeof *picture->pixel));
}

static ikt_status check(ikt_canvas *c, cairo_status_t status) {
    if (c->status != IKT_OK) return c->status;
    if (status == CAIRO_STATUS_SUCCESS || status == CAIRO_STATUS_SURFACE_FINISHED) return IKT_OK;
    return ikt_fail(c->ctx, status == CAIRO_STATUS_NO_MEMORY ? IKT_ERR_RESOURCE : IKT_ERR_FILE,
                    "%s cannot be written: %s", c->page.shown, cairo_status_to_string(status));
}

/* A page of PDF: its size, its texts, and the font with the height of its capitals. */
static void begin_page(ikt_canvas *c, drawing *d) {
    const ikt_canvas_page *page = &c->page;
    const double scale = POINTS / page->dpi;
    cairo_text_extents_t extents;
    d->surface = cairo_pdf_surface_create_for_stream(on_page, c, scale * (double)page->width,
                                                     scale * (double)page->height);
    d->cairo = cairo_create(d->surface);
    cairo_pdf_surface_restrict_to_version(d->surface, CAIRO_PDF_VERSION_1_4);
    cairo_pdf_surface_set_metadata(d->surface, CAIRO_PDF_METADATA_TITLE, page->title);
    cairo_pdf_surface_set_metadata(d->surface, CAIRO_PDF_METADATA_SUBJECT, page->footer);
    cairo_pdf_surface_set_metadata(d->surface, CAIRO_PDF_METADATA_KEYWORDS, page->description);
    cairo_pdf_surface_set_metadata(d->surface, CAIRO_PDF_METADATA_CREATOR, "iktsne " IKT_VERSION);
    /* cairo would write the time of day. */
    cairo_pdf_surface_set_metadata(d->surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
    cairo_scale(d->cairo, scale, scale);
    cairo_select_font_face(d->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(d->cairo, TRIAL_SIZE);
    cairo_text_extents(d->cairo, "H", &extents);
    if (cairo_status(d->cairo) == CAIRO_STATUS_SUCCESS) d->capital = extents.height / TRIAL_SIZE;
}

static ikt_status open_drawing(ikt_canvas *c) {
    drawing *d;
    IKT_TRY(ikt_alloc(c->ctx, &d, 1, sizeof *d, "picture"));
    c->self = d;
    if (c->kind == IKT_CANVAS_PDF) {
        begin_page(c, d);
    } else {
        d->pixels = (ikt_canvas_picture){c->page.width, c->page.height, NULL};
        IKT_TRY(ikt_alloc(c->ctx, &d->pixels.pixel, d->pixels.width * d->pixels.height,
                          sizeof *d->pixels.pixel, "picture"));
        d->surface = surface_of(&d->pixels);
        d->cairo = cairo_create(d->surface);
    }
    cairo_set_line_cap(d->cairo, CAIRO_LINE_CAP_ROUND);
    return check(c, cairo_status(d->cairo));
}

static void set_colour(cairo_t *cairo, ikt_rgb colour) {
    cairo_set_source_rgb(cairo, colour.r / 255.0, colour.g / 255.0, colour.b / 255.0);
}

static void fill(ikt_canvas *c, int64_t x, int64_t y, int64_t width, int64_t height,
                 ikt_rgb colour) {
    cairo_t *cairo = ((drawing *)c->self)->cairo;
    set_colour(cairo, colour);
    cairo_rectangle(cairo, (double)x, (double)y, (double)width, (double)height);
    cairo_fill(cairo);
}

static void stroke(ikt_canvas *c, const ikt_segment *segments, int count, double width,
                   ikt_rgb colour) {
    cairo_t *cairo = ((drawing *)c->self)->cairo;
    set_colour(cairo, colour);
    cairo_set_line_width(cairo, width);
    for (int i = 0; i < count; i++) {
        cairo_move_to(cairo, segments[i].x0, segments[i].y0);
        cairo_line_to(cairo, segments[i].x1, segments[i].y1);
    }
    cairo_stroke(cairo);
}

static void draw_text(ikt_canvas *c, const char *text, double x, double y, double size,
                      bool is_right, ikt_rgb colour) {
    const drawing *d = c->self;
    const double planned = ikt_font_width(text, size);
    cairo_text_extents_t extents = {0};
    if (d->capital > 0) {
        cairo_set_font_size(d->cairo, size / d->capital);
        cairo_text_extents(d->cairo, text, &extents);
    }
    if (extents.x_advance <= 0) {
        ikt_segment segments[IKT_GLYPH_SEGMENTS];
        double at = is_right ? x - planned : x;
        for (int count; (count = ikt_font_place(&text, &at, y, size, segments)) >= 0;)
            stroke(c, segments, count, IKT_FONT_WEIGHT * size, colour);
        return;
    }
    const double narrower = extents.x_advance > planned ? planned / extents.x_advance : 1;
    set_colour(d->cairo, colour);
    cairo_save(d->cairo);
    cairo_translate(d->cairo, is_right ? x - narrower * extents.x_advance : x, y);
    cairo_scale(d->cairo, narrower, 1);
    cairo_move_to(d->cairo, 0, 0);
    cairo_show_text(d->cairo, text);
    cairo_restore(d->cairo);
}

static ikt_status show(ikt_canvas *c, const ikt_canvas_picture *picture, int64_t x, int64_t y) {
    cairo_t *cairo = ((drawing *)c->self)->cairo;
    cairo_surface_t *surface = surface_of(picture);
    cairo_set_source_surface(cairo, surface, (double)x, (double)y);
    cairo_paint(cairo);
    cairo_set_source_rgb(cairo, 0, 0, 0); /* releases the surface */
    cairo_surface_finish(surface);        /* and the pixels: a page has its own copy */
    cairo_surface_destroy(surface);
    return check(c, cairo_status(cairo));
}

static ikt_status finish(ikt_canvas *c) {
    drawing *d = c->self;
    IKT_TRY(check(c, cairo_status(d->cairo)));
    if (c->kind == IKT_CANVAS_PNG) {
        cairo_surface_flush(d->surface);
        return ikt_canvas_send_png(c, &d->pixels, true, put_in_file, c->file);
    }
    cairo_surface_finish(d->surface);
    return check(c, cairo_surface_status(d->surface));
}

static void close_drawing(ikt_canvas *c) {
    drawing *d = c->self;
    if (!d) return;
    cairo_destroy(d->cairo);
    cairo_surface_destroy(d->surface);
    ikt_free(&d->pixels.pixel);
    ikt_free(&c->self);
}

const ikt_canvas_ops ikt_canvas_cairo = {.open = open_drawing,
                                         .fill = fill,
                                         .stroke = stroke,
                                         .text = draw_text,
                                         .picture = show,
                                         .finish = finish,
                                         .close = close_drawing};
