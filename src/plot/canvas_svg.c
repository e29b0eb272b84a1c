/* Figures as SVG, written shape after shape.
 *
 * Advantage over a drawing library: text stays text, in the reader's own sans-serif letters, which
 * can be searched, copied and edited (cairo writes letters as shapes), and nothing is needed for
 * it. Disadvantage: letters are a little wider or narrower than planned; ours are wider than those
 * of the usual families, so they fit. */
#include <math.h>
#include <string.h>

#include "iktsne/version.h"
#include "plot/canvas.h"
#include "plot/png_file.h"

#define CAPITAL 0.72 /* of a capital letter in the size of a sans-serif font */

/* UTF-8 without control characters, in which what has a meaning in XML is written out. */
static void put_text(FILE *file, const char *text) {
    for (; *text; text++) {
        const char c = *text;
        if (c == '&')
            fputs("&amp;", file);
        else if (c == '<')
            fputs("&lt;", file);
        else if (c == '>')
            fputs("&gt;", file);
        else
            fputc(c, file);
    }
}

static void put_element(FILE *file, const char *name, const char *text) {
    if (!text[0]) return;
    fprintf(file, "<%s>", name);
    put_text(file, text);
    fprintf(file, "</%s>\n", name);
}

/* Edges are sharp, so that nothing shines through between two bars, but those of thin lines, which
 * would vanish where a picture is shown smaller. */
static void fill(ikt_canvas *c, int64_t x, int64_t y, int64_t width, int64_t height,
                 ikt_rgb colour) {
    const bool is_line = width == 1 || height == 1;
    fprintf(c->file,
            "<rect x=\"%lld\" y=\"%lld\" width=\"%lld\" height=\"%lld\" "
            "fill=\"#%02x%02x%02x\"%s/>\n",
            (long long)x, (long long)y, (long long)width, (long long)height, colour.r, colour.g,
            colour.b, is_line ? "" : " shape-rendering=\"crispEdges\"");
}

static ikt_status open_svg(ikt_canvas *c) {
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
    put_element(c->file, "title", p->texts.title);
    put_element(c->file, "desc", p->texts.description);
    fill(c, 0, 0, p->width, p->height, p->background);
    return IKT_OK;
}

/* A segment of no length is a dot, which not every reader draws as a line. */
static void stroke(ikt_canvas *c, const ikt_segment *segments, int count, double width,
                   ikt_rgb colour) {
    const bool is_dot =
        count == 1 && segments[0].x0 == segments[0].x1 && segments[0].y0 == segments[0].y1;
    if (is_dot) {
        fprintf(c->file, "<circle cx=\"%.3f\" cy=\"%.3f\" r=\"%.3f\" fill=\"#%02x%02x%02x\"/>\n",
                segments[0].x0, segments[0].y0, width / 2, colour.r, colour.g, colour.b);
        return;
    }
    fputs("<path fill=\"none\" stroke-linecap=\"round\" d=\"", c->file);
    for (int i = 0; i < count; i++)
        fprintf(c->file, "M%.3f %.3fL%.3f %.3f", segments[i].x0, segments[i].y0, segments[i].x1,
                segments[i].y1);
    fprintf(c->file, "\" stroke-width=\"%.3f\" stroke=\"#%02x%02x%02x\"/>\n", width, colour.r,
            colour.g, colour.b);
}

static void draw_text(ikt_canvas *c, const char *text, double x, double y, double size,
                      bool is_right, ikt_rgb colour) {
    fprintf(c->file, "<text x=\"%.3f\" y=\"%.3f\" font-size=\"%.3f\"%s fill=\"#%02x%02x%02x\">", x,
            y, size / CAPITAL, is_right ? " text-anchor=\"end\"" : "", colour.r, colour.g,
            colour.b);
    put_text(c->file, text);
    fputs("</text>\n", c->file);
}

/* Bytes to base64 as they come: three make four characters, and up to two wait for the next. */
typedef struct {
    FILE *file;
    uint32_t bits;
    int waiting;
} encoder;

static void put_four(encoder *e) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char four[4];
    const uint32_t bits = e->bits << 8 * (3 - e->waiting);
    for (int i = 0; i < 4; i++)
        four[i] = i <= e->waiting ? digits[bits >> (18 - 6 * i) & 63] : '=';
    fwrite(four, 1, 4, e->file);
    e->bits = 0;
    e->waiting = 0;
}

static bool put_bytes(void *self, const void *data, size_t count) {
    encoder *e = self;
    const unsigned char *bytes = data;
    for (size_t i = 0; i < count; i++) {
        e->bits = e->bits << 8 | bytes[i];
        if (++e->waiting == 3) put_four(e);
    }
    return ferror(e->file) == 0;
}

static void points(ikt_canvas *c, const ikt_shaded *pixels, int64_t side, double opacity, int64_t x,
                   int64_t y) {
    ikt_image tile;
    encoder e = {c->file, 0, 0};
    ikt_status st = ikt_canvas_tile(c, pixels, side, opacity, &tile);
    if (st == IKT_OK) {
        fprintf(c->file,
                "<image x=\"%lld\" y=\"%lld\" width=\"%lld\" height=\"%lld\" "
                "xlink:href=\"data:image/png;base64,",
                (long long)x, (long long)y, (long long)side, (long long)side);
        st = ikt_png_send(c->ctx, c->page.shown, &tile, put_bytes, &e);
        if (e.waiting > 0) put_four(&e);
        fputs("\"/>\n", c->file);
    }
    ikt_image_destroy(&tile);
    if (c->status == IKT_OK) c->status = st;
}

static ikt_status finish(ikt_canvas *c) {
    fputs("</svg>\n", c->file);
    return IKT_OK;
}

static void close_svg(ikt_canvas *c) {
    (void)c; /* the file is closed with the canvas */
}

const ikt_canvas_ops ikt_canvas_svg = {open_svg, fill,   stroke,   draw_text,
                                       points,   finish, close_svg};
