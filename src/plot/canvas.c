/* Figures as PNG and PDF, drawn by cairo, and as SVG, written shape after shape.
 *
 * A PNG file has letters of our own as strokes (font.c): the same picture on every machine, with
 * fonts or without. Texts in other scripts than ours, and all letters of a PDF file, are set by
 * Pango in the sans-serif fonts that the machine has, of which a part becomes part of the PDF file,
 * so that text can be selected; so that everything keeps its place they are made as high as
 * planned, and narrower where they would be wider. Where the fonts lack letters that ours have, as
 * on compute nodes, which have no fonts, letters of our own are drawn in both. Neither file has a
 * date: equal figures are equal files. cairo writes neither texts nor the space of the colours into
 * a PNG file, so chunks of our own go between its first chunk, the header, and the others.
 *
 * SVG is written by our own code. Advantage over cairo: text stays text, in the reader's own
 * sans-serif letters, which can be searched, copied and edited (cairo writes letters as shapes);
 * and equal figures are equal files (cairo numbers its elements by the surfaces that a process has
 * made). Disadvantage: letters are a little wider or narrower than planned; ours are wider than
 * those of the usual families, so they fit. */
#include "plot/canvas.h"

#include <cairo-pdf.h>
#include <errno.h>
#include <inttypes.h>
#include <pango/pangocairo.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "base/atomic_file.h"
#include "base/encoding.h"
#include "base/log.h"
#include "base/memory.h"
#include "iktsne/version.h"

#define POINTS  72.0 /* in an inch */
#define CAPITAL 0.72 /* of a capital letter in the size of a sans-serif font of SVG */

enum { TRIAL_SIZE = 100 };

/* Bytes of a PNG file's signature and header, of an integer, and of the name of a chunk. */
enum { HEAD = 33, INTEGER = 4, KIND = 4 };

/* What cairo draws on. */
typedef struct ikt_drawing {
    cairo_surface_t *surface;
    cairo_t *cairo;
    ikt_canvas_picture pixels; /* those of a PNG file; owned */
    PangoLayout *layout;       /* sets texts in the fonts of the machine; NULL: there are none */
    double capital;            /* height of a capital letter in the size of the font */
} drawing;

/* Keeps the first failure; returns it. */
static ikt_status fail(ikt_canvas *c, ikt_status kind, const char *reason) {
    if (c->status == IKT_OK)
        c->status = ikt_fail(c->ctx, kind, "%s cannot be written: %s", c->page.shown, reason);
    return c->status;
}

/* By errno. */
static ikt_status fail_to_write(ikt_canvas *c) {
    if (c->status == IKT_OK)
        c->status = ikt_atomic_failed(c->ctx, c->page.shown, c->page.when_unread);
    return c->status;
}

static ikt_status check(ikt_canvas *c, cairo_status_t status) {
    if (status == CAIRO_STATUS_SUCCESS || status == CAIRO_STATUS_SURFACE_FINISHED) return c->status;
    return fail(c, status == CAIRO_STATUS_NO_MEMORY ? IKT_ERR_RESOURCE : IKT_ERR_FILE,
                cairo_status_to_string(status));
}

/* cairo's view of pixels that stay ours. */
static cairo_surface_t *surface_of(const ikt_canvas_picture *picture) {
    return cairo_image_surface_create_for_data(
        (unsigned char *)picture->pixel, CAIRO_FORMAT_RGB24, (int)picture->width,
        (int)picture->height, (int)(picture->width * (int64_t)sizeof *picture->pixel));
}

/* --- a PNG file ------------------------------------------------------------------------------- */

/* Takes bytes of a file as they come; false, with errno, where it cannot. */
typedef bool (*put_bytes)(void *self, const void *bytes, size_t count);

typedef struct {
    ikt_canvas *canvas;
    bool with_texts;
    put_bytes put;
    void *self;
    unsigned int sent; /* bytes of the signature and the header */
} png;

static void put_integer(unsigned char bytes[INTEGER], uint32_t value) {
    for (int b = 0; b < INTEGER; b++)
        bytes[b] = (unsigned char)(value >> 8 * (INTEGER - 1 - b));
}

/* A chunk: length, kind, the bytes of `head` and of `text`, check sum. */
static bool put_chunk(const png *p, const char *kind, const char *head, size_t head_bytes,
                      const char *text) {
    const size_t bytes = strlen(text);
    unsigned char length[INTEGER], sum[INTEGER];
    uLong crc = crc32(crc32(0, (const Bytef *)kind, KIND), (const Bytef *)head, (uInt)head_bytes);
    put_integer(length, (uint32_t)(head_bytes + bytes));
    put_integer(sum, (uint32_t)crc32(crc, (const Bytef *)text, (uInt)bytes));
    return p->put(p->self, length, sizeof length) && p->put(p->self, kind, KIND) &&
           p->put(p->self, head, head_bytes) && p->put(p->self, text, bytes) &&
           p->put(p->self, sum, sizeof sum);
}

/* The space of the colours, and the texts: tEXt where the text is ASCII, which is a keyword, a zero
 * and the text; otherwise iTXt: the same, not compressed and of no language. */
static bool put_chunks(const png *p) {
    static const char perceptual[] = {0};
    const ikt_canvas_page *page = &p->canvas->page;
    const struct {
        const char *keyword, *text;
    } entries[] = {{"Software", "iktsne " IKT_VERSION},
                   {"Title", page->title},
                   {"Comment", page->footer},
                   {"Description", page->description}};
    bool is_good = put_chunk(p, "sRGB", perceptual, sizeof perceptual, "");
    for (size_t e = 0; p->with_texts && is_good && e < sizeof entries / sizeof *entries; e++) {
        char head[32] = {0};
        bool is_ascii = true;
        for (const char *at = entries[e].text; *at; at++)
            is_ascii &= (unsigned char)*at < 0x80;
        strcpy(head, entries[e].keyword);
        if (entries[e].text[0])
            is_good = put_chunk(p, is_ascii ? "tEXt" : "iTXt", head,
                                strlen(head) + (is_ascii ? 1 : 5), entries[e].text);
    }
    return is_good;
}

static cairo_status_t on_png(void *closure, const unsigned char *data, unsigned int length) {
    png *p = closure;
    const unsigned int left = HEAD - p->sent, head = length < left ? length : left;
    bool is_good = p->put(p->self, data, head);
    p->sent += head;
    if (is_good && head > 0 && p->sent == HEAD) is_good = put_chunks(p);
    if (is_good && p->put(p->self, data + head, length - head)) return CAIRO_STATUS_SUCCESS;
    fail_to_write(p->canvas);
    return CAIRO_STATUS_WRITE_ERROR;
}

/* Sends the picture to `put` as a PNG file: 8-bit RGB, tagged as sRGB, without a time stamp, so
 * that equal pictures are equal files; with_texts: also the texts of the page. */
static ikt_status send_png(ikt_canvas *c, const ikt_canvas_picture *picture, bool with_texts,
                           put_bytes put, void *self) {
    png p = {c, with_texts, put, self, 0};
    cairo_surface_t *surface = surface_of(picture);
    const cairo_status_t status = cairo_surface_write_to_png_stream(surface, on_png, &p);
    cairo_surface_destroy(surface);
    return check(c, status);
}

static bool put_in_file(void *self, const void *bytes, size_t count) {
    return fwrite(bytes, 1, count, self) == count;
}

/* --- a page of PDF ---------------------------------------------------------------------------- */

static cairo_status_t on_page(void *closure, const unsigned char *data, unsigned int length) {
    ikt_canvas *c = closure;
    if (put_in_file(c->file, data, length)) return CAIRO_STATUS_SUCCESS;
    fail_to_write(c);
    return CAIRO_STATUS_WRITE_ERROR;
}

static void set_size(drawing *d, double size) {
    PangoFontDescription *font = pango_font_description_from_string("sans-serif");
    pango_font_description_set_absolute_size(font, size * PANGO_SCALE);
    pango_layout_set_font_description(d->layout, font);
    pango_font_description_free(font);
}

/* Whether the fonts of the machine have all characters of a text, which is set. */
static bool fonts_have(drawing *d, const char *text) {
    pango_layout_set_text(d->layout, text, -1);
    return pango_layout_get_unknown_glyphs_count(d->layout) == 0;
}

/* Begins texts in the fonts of the machine, where it has some: the height of the capitals is found.
 */
static void open_fonts(drawing *d) {
    PangoRectangle ink;
    PangoFontMap *fonts = pango_cairo_font_map_new(); /* Pango's own is the host's */
    PangoContext *context = pango_font_map_create_context(fonts);
    d->layout = pango_layout_new(context);
    pango_cairo_update_layout(d->cairo, d->layout);
    g_object_unref(context);
    g_object_unref(fonts);
    set_size(d, TRIAL_SIZE);
    const bool has_letters = fonts_have(d, "H");
    pango_layout_get_extents(d->layout, &ink, NULL);
    d->capital = (double)ink.height / PANGO_SCALE / TRIAL_SIZE;
    if (has_letters && d->capital > 0) return;
    g_object_unref(d->layout);
    d->layout = NULL;
}

/* A page of PDF has a size and texts. */
static ikt_status open_drawing(ikt_canvas *c) {
    const ikt_canvas_page *page = &c->page;
    const double scale = POINTS / page->dpi;
    drawing *d;
    IKT_TRY(ikt_alloc(c->ctx, &d, 1, sizeof *d, "picture"));
    c->drawing = d;
    if (c->kind == IKT_CANVAS_PNG) {
        d->pixels = (ikt_canvas_picture){page->width, page->height, NULL};
        IKT_TRY(ikt_alloc(c->ctx, &d->pixels.pixel, page->width * page->height,
                          sizeof *d->pixels.pixel, "picture"));
        d->surface = surface_of(&d->pixels);
    } else {
        d->surface = cairo_pdf_surface_create_for_stream(on_page, c, scale * (double)page->width,
                                                         scale * (double)page->height);
    }
    d->cairo = cairo_create(d->surface);
    cairo_set_line_cap(d->cairo, CAIRO_LINE_CAP_ROUND);
    if (c->kind == IKT_CANVAS_PNG) return check(c, cairo_status(d->cairo));
    open_fonts(d);
    cairo_pdf_surface_restrict_to_version(d->surface, CAIRO_PDF_VERSION_1_4);
    cairo_pdf_surface_set_metadata(d->surface, CAIRO_PDF_METADATA_TITLE, page->title);
    cairo_pdf_surface_set_metadata(d->surface, CAIRO_PDF_METADATA_SUBJECT, page->footer);
    cairo_pdf_surface_set_metadata(d->surface, CAIRO_PDF_METADATA_KEYWORDS, page->description);
    cairo_pdf_surface_set_metadata(d->surface, CAIRO_PDF_METADATA_CREATOR, "iktsne " IKT_VERSION);
    /* cairo would write the time of day. */
    cairo_pdf_surface_set_metadata(d->surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
    cairo_scale(d->cairo, scale, scale);
    return check(c, cairo_status(d->cairo));
}

/* --- a page of SVG ---------------------------------------------------------------------------- */

static void put_svg_text(FILE *file, const char *text) {
    char bytes[5];
    for (uint32_t point; (point = ikt_utf8_next(&text)) != 0;) {
        const char *entity = ikt_xml_entity(point);
        ikt_utf8_encode(point, bytes);
        fputs(entity ? entity : bytes, file);
    }
}

static void begin_svg(ikt_canvas *c) {
    const ikt_canvas_page *p = &c->page;
    fprintf(c->file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<!-- iktsne " IKT_VERSION " -->\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" "
            "xmlns:xlink=\"http://www.w3.org/1999/xlink\" version=\"1.1\" width=\"%.2fpt\" "
            "height=\"%.2fpt\" viewBox=\"0 0 %lld %lld\" font-family=\"Helvetica, Arial, "
            "'Liberation Sans', 'DejaVu Sans', sans-serif\">\n",
            72 * (double)p->width / p->dpi, 72 * (double)p->height / p->dpi, (long long)p->width,
            (long long)p->height);
    const char *const element[2][2] = {{"title", p->title}, {"desc", p->description}};
    for (int e = 0; e < 2; e++) {
        if (!element[e][1][0]) continue;
        fprintf(c->file, "<%s>", element[e][0]);
        put_svg_text(c->file, element[e][1]);
        fprintf(c->file, "</%s>\n", element[e][0]);
    }
}

/* Bytes that wait to be written as base64, three of which make four letters. */
enum { PIECE = 3 << 10, LETTERS = 4 << 10 };
typedef struct {
    FILE *file;
    int64_t held;
    unsigned char bytes[PIECE];
} encoder;

static void put_letters(encoder *e) {
    char letters[LETTERS];
    ikt_base64(e->bytes, e->held, letters);
    fwrite(letters, 1, (size_t)ikt_base64_length(e->held), e->file);
    e->held = 0;
}

static bool put_in_letters(void *self, const void *data, size_t count) {
    encoder *e = self;
    const unsigned char *bytes = data;
    for (size_t i = 0; i < count; i++) {
        e->bytes[e->held++] = bytes[i];
        if (e->held == PIECE) put_letters(e);
    }
    return ferror(e->file) == 0;
}

/* --- the file --------------------------------------------------------------------------------- */

static const struct {
    const char *ending;
    ikt_canvas_kind kind;
} kinds[] = {{".png", IKT_CANVAS_PNG}, {".svg", IKT_CANVAS_SVG}, {".pdf", IKT_CANVAS_PDF}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Where the ending of a name begins; "" where it has none, as .hidden. */
static const char *ending_of(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot && dot > name ? dot : "";
}

/* The number of an ending in the table, KINDS where it is none of it. */
static size_t find_kind(const char *ending) {
    size_t k = 0;
    while (k < KINDS && strcasecmp(kinds[k].ending, ending) != 0)
        k++;
    return k;
}

ikt_canvas_kind ikt_canvas_kind_of(const char *path) {
    const size_t k = find_kind(ending_of(path));
    return k < KINDS ? kinds[k].kind : IKT_CANVAS_PNG;
}

bool ikt_canvas_is_named(const char *path) {
    const char *ending = ending_of(path);
    return !*ending || find_kind(ending) < KINDS;
}

ikt_status ikt_canvas_open(ikt_context *ctx, ikt_canvas_kind kind, const ikt_canvas_page *page,
                           ikt_canvas *out) {
    *out = (ikt_canvas){.ctx = ctx, .kind = kind, .page = *page};
    /* Copies of the page's texts that are UTF-8: a byte that is none becomes three. */
    const char **text[] = {&out->page.title, &out->page.footer, &out->page.description};
    size_t bytes = 0;
    for (int i = 0; i < 3; i++)
        bytes += 3 * strlen(*text[i]) + 1;
    IKT_TRY(ikt_alloc(ctx, &out->texts, (int64_t)bytes, 1, "picture"));
    char *at = out->texts;
    for (int i = 0; i < 3; i++) {
        *text[i] = ikt_utf8_clean(*text[i], at, 3 * strlen(*text[i]) + 1);
        at += strlen(at) + 1;
    }
    out->file = ikt_atomic_open(page->path);
    if (!out->file) return fail_to_write(out);
    if (kind == IKT_CANVAS_SVG)
        begin_svg(out);
    else
        IKT_TRY(open_drawing(out));
    ikt_canvas_fill(out, 0, 0, page->width, page->height, page->background);
    return IKT_OK;
}

/* --- shapes ----------------------------------------------------------------------------------- */

static void set_colour(cairo_t *cairo, ikt_rgb colour) {
    cairo_set_source_rgb(cairo, colour.r / 255.0, colour.g / 255.0, colour.b / 255.0);
}

/* In SVG edges are sharp, so that nothing shines through between two bars, but those of thin lines,
 * which would vanish where a picture is shown smaller. */
void ikt_canvas_fill(ikt_canvas *c, int64_t x, int64_t y, int64_t width, int64_t height,
                     ikt_rgb colour) {
    const bool is_line = width == 1 || height == 1;
    if (width <= 0 || height <= 0) return;
    if (c->kind == IKT_CANVAS_SVG) {
        fprintf(c->file,
                "<rect x=\"%lld\" y=\"%lld\" width=\"%lld\" height=\"%lld\" "
                "fill=\"#%02x%02x%02x\"%s/>\n",
                (long long)x, (long long)y, (long long)width, (long long)height, colour.r, colour.g,
                colour.b, is_line ? "" : " shape-rendering=\"crispEdges\"");
        return;
    }
    cairo_t *cairo = c->drawing->cairo;
    set_colour(cairo, colour);
    cairo_rectangle(cairo, (double)x, (double)y, (double)width, (double)height);
    cairo_fill(cairo);
}

void ikt_canvas_frame(ikt_canvas *c, int64_t x, int64_t y, int64_t width, int64_t height,
                      ikt_rgb colour) {
    ikt_canvas_fill(c, x, y, width, 1, colour);
    ikt_canvas_fill(c, x, y + height - 1, width, 1, colour);
    ikt_canvas_fill(c, x, y, 1, height, colour);
    ikt_canvas_fill(c, x + width - 1, y, 1, height, colour);
}

static void stroke_svg(FILE *file, const ikt_segment *segments, int count, double width,
                       ikt_rgb colour) {
    /* A segment of no length is a dot, which not every reader draws as a line. */
    const bool is_dot =
        count == 1 && segments[0].x0 == segments[0].x1 && segments[0].y0 == segments[0].y1;
    if (is_dot) {
        fprintf(file, "<circle cx=\"%.3f\" cy=\"%.3f\" r=\"%.3f\" fill=\"#%02x%02x%02x\"/>\n",
                segments[0].x0, segments[0].y0, width / 2, colour.r, colour.g, colour.b);
        return;
    }
    fputs("<path fill=\"none\" stroke-linecap=\"round\" d=\"", file);
    for (int i = 0; i < count; i++)
        fprintf(file, "M%.3f %.3fL%.3f %.3f", segments[i].x0, segments[i].y0, segments[i].x1,
                segments[i].y1);
    fprintf(file, "\" stroke-width=\"%.3f\" stroke=\"#%02x%02x%02x\"/>\n", width, colour.r,
            colour.g, colour.b);
}

void ikt_canvas_stroke(ikt_canvas *c, const ikt_segment *segments, int count, double width,
                       ikt_rgb colour) {
    if (c->kind == IKT_CANVAS_SVG) {
        stroke_svg(c->file, segments, count, width, colour);
        return;
    }
    cairo_t *cairo = c->drawing->cairo;
    set_colour(cairo, colour);
    cairo_set_line_width(cairo, width);
    for (int i = 0; i < count; i++) {
        cairo_move_to(cairo, segments[i].x0, segments[i].y0);
        cairo_line_to(cairo, segments[i].x1, segments[i].y1);
    }
    cairo_stroke(cairo);
}

/* Takes note of a character that no font has, once. */
static void note_box(ikt_canvas *c, uint32_t point) {
    char name[24], bytes[5];
    if (point == IKT_UTF8_REPLACEMENT) return; /* a byte that is no character */
    ikt_utf8_encode(point, bytes);
    snprintf(name, sizeof name, "%s (U+%04" PRIX32 ")", bytes, point);
    if (strlen(c->boxes) + 2 * sizeof name > sizeof c->boxes) strcpy(name, "...");
    if (!strstr(c->boxes, name)) ikt_join(c->boxes, sizeof c->boxes, ", ", "%s", name);
}

/* Takes note of the characters of a text that are drawn as boxes. */
static void note_boxes(ikt_canvas *c, const char *text) {
    drawing *d = c->drawing;
    char bytes[5];
    for (uint32_t point; (point = ikt_utf8_next(&text)) != 0;) {
        ikt_utf8_encode(point, bytes);
        if (!(d->layout ? fonts_have(d, bytes) : ikt_font_has(bytes))) note_box(c, point);
    }
}

/* Draws letters of our own. */
static void draw_strokes(ikt_canvas *c, const char *text, double x, double y, double size,
                         ikt_rgb colour) {
    ikt_segment segments[IKT_GLYPH_SEGMENTS];
    if (!ikt_font_has(text)) note_boxes(c, text);
    for (int count; (count = ikt_font_place(&text, &x, y, size, segments)) >= 0;)
        ikt_canvas_stroke(c, segments, count, IKT_FONT_WEIGHT * size, colour);
}

/* Draws letters of the machine's fonts, in at most `planned` pixels. */
static void draw_letters(ikt_canvas *c, const char *text, double x, double y, double size,
                         bool is_right, double planned) {
    drawing *d = c->drawing;
    PangoRectangle room;
    set_size(d, size / d->capital);
    const bool has_boxes = !fonts_have(d, text);
    pango_layout_get_extents(d->layout, NULL, &room);
    const double width = (double)room.width / PANGO_SCALE;
    const double narrower = width > planned ? planned / width : 1;
    cairo_save(d->cairo);
    cairo_translate(d->cairo, is_right ? x - narrower * width : x, y);
    cairo_scale(d->cairo, narrower, 1);
    cairo_move_to(d->cairo, 0, -(double)pango_layout_get_baseline(d->layout) / PANGO_SCALE);
    pango_cairo_show_layout(d->cairo, d->layout);
    cairo_restore(d->cairo);
    if (has_boxes) note_boxes(c, text);
}

void ikt_canvas_text(ikt_canvas *c, const char *text, double x, double y, double size,
                     bool is_right, ikt_rgb colour) {
    char clean[IKT_CANVAS_TEXT_MOST];
    drawing *d = c->drawing;
    text = ikt_utf8_clean(text, clean, sizeof clean);
    if (!text[0]) return;
    if (c->kind == IKT_CANVAS_SVG) {
        fprintf(c->file, "<text x=\"%.3f\" y=\"%.3f\" font-size=\"%.3f\"%s fill=\"#%02x%02x%02x\">",
                x, y, size / CAPITAL, is_right ? " text-anchor=\"end\"" : "", colour.r, colour.g,
                colour.b);
        put_svg_text(c->file, text);
        fputs("</text>\n", c->file);
        return;
    }
    const double planned = ikt_font_width(text, size);
    const bool is_own = ikt_font_has(text);
    if (c->kind == IKT_CANVAS_PNG && !is_own && !d->layout) open_fonts(d);
    if (d->layout && (!is_own || (c->kind == IKT_CANVAS_PDF && fonts_have(d, text)))) {
        set_colour(d->cairo, colour);
        draw_letters(c, text, x, y, size, is_right, planned);
    } else {
        draw_strokes(c, text, is_right ? x - planned : x, y, size, colour);
    }
}

void ikt_canvas_show(ikt_canvas *c, const ikt_canvas_picture *picture, int64_t x, int64_t y) {
    if (c->status != IKT_OK) return;
    if (c->kind == IKT_CANVAS_SVG) {
        encoder e = {.file = c->file};
        fprintf(c->file,
                "<image x=\"%lld\" y=\"%lld\" width=\"%lld\" height=\"%lld\" "
                "xlink:href=\"data:image/png;base64,",
                (long long)x, (long long)y, (long long)picture->width, (long long)picture->height);
        if (send_png(c, picture, false, put_in_letters, &e) != IKT_OK) return;
        put_letters(&e);
        fputs("\"/>\n", c->file);
        return;
    }
    cairo_t *cairo = c->drawing->cairo;
    cairo_surface_t *surface = surface_of(picture);
    cairo_set_source_surface(cairo, surface, (double)x, (double)y);
    cairo_paint(cairo);
    cairo_set_source_rgb(cairo, 0, 0, 0); /* releases the surface */
    cairo_surface_finish(surface);        /* and the pixels: a page has its own copy */
    cairo_surface_destroy(surface);
    check(c, cairo_status(cairo));
}

/* --- the end ---------------------------------------------------------------------------------- */

ikt_status ikt_canvas_finish(ikt_canvas *c) {
    FILE *file = c->file;
    drawing *d = c->drawing;
    if (d) check(c, cairo_status(d->cairo));
    if (c->status == IKT_OK && c->kind == IKT_CANVAS_SVG) {
        fputs("</svg>\n", file);
    } else if (c->status == IKT_OK && c->kind == IKT_CANVAS_PNG) {
        cairo_surface_flush(d->surface);
        send_png(c, &d->pixels, true, put_in_file, file);
    } else if (c->status == IKT_OK) {
        cairo_surface_finish(d->surface);
        check(c, cairo_surface_status(d->surface));
    }
    if (c->boxes[0])
        ikt_warn(c->ctx,
                 "%s: no font of this machine has these characters, which are drawn as boxes: %s; "
                 "install fonts that have them, or write an SVG file",
                 c->page.shown, c->boxes);
    c->file = NULL;
    const bool is_short = ferror(file) != 0;
    if (fclose(file) != 0 || is_short) fail_to_write(c);
    return c->status;
}

void ikt_canvas_close(ikt_canvas *c) {
    drawing *d = c->drawing;
    if (d) {
        if (d->layout) g_object_unref(d->layout);
        cairo_destroy(d->cairo);
        cairo_surface_destroy(d->surface);
        ikt_free_all(&d->pixels.pixel, &d);
    }
    if (c->file) fclose(c->file);
    ikt_free(&c->texts);
    *c = (ikt_canvas){.ctx = NULL};
}
