/* Figures as SVG, written shape after shape.
 *
 * Advantage over cairo, which draws the other kinds: text stays text, in the reader's own
 * sans-serif letters, which can be searched, copied and edited (cairo writes letters as shapes);
 * and equal figures are equal files (cairo numbers its elements by the surfaces that a process has
 * made). Disadvantage: letters are a little wider or narrower than planned; ours are wider than
 * those of the usual families, so they fit. */
#include "base/encoding.h"
#include "iktsne/version.h"
#include "plot/canvas.h"

#define CAPITAL 0.72 /* of a capital letter in the size of a sans-serif font */

static void put_text(FILE *file, const char *text) {
    char bytes[5];
    for (uint32_t point; (point = ikt_utf8_next(&text)) != 0;) {
        const char *entity = ikt_xml_entity(point);
        ikt_utf8_encode(point, bytes);
        fputs(entity ? entity : bytes, file);
    }
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
    const char *const element[2][2] = {{"title", p->title}, {"desc", p->description}};
    for (int e = 0; e < 2; e++) {
        if (!element[e][1][0]) continue;
        fprintf(c->file, "<%s>", element[e][0]);
        put_text(c->file, element[e][1]);
        fprintf(c->file, "</%s>\n", element[e][0]);
    }
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

static bool put_bytes(void *self, const void *data, size_t count) {
    encoder *e = self;
    const unsigned char *bytes = data;
    for (size_t i = 0; i < count; i++) {
        e->bytes[e->held++] = bytes[i];
        if (e->held == PIECE) put_letters(e);
    }
    return ferror(e->file) == 0;
}

static ikt_status show(ikt_canvas *c, const ikt_canvas_picture *picture, int64_t x, int64_t y) {
    encoder e = {.file = c->file};
    fprintf(c->file,
            "<image x=\"%lld\" y=\"%lld\" width=\"%lld\" height=\"%lld\" "
            "xlink:href=\"data:image/png;base64,",
            (long long)x, (long long)y, (long long)picture->width, (long long)picture->height);
    IKT_TRY(ikt_canvas_send_png(c, picture, false, put_bytes, &e));
    put_letters(&e);
    fputs("\"/>\n", c->file);
    return IKT_OK;
}

static ikt_status finish(ikt_canvas *c) {
    fputs("</svg>\n", c->file);
    return IKT_OK;
}

const ikt_canvas_ops ikt_canvas_svg = {.open = open_svg,
                                       .fill = fill,
                                       .stroke = stroke,
                                       .text = draw_text,
                                       .picture = show,
                                       .finish = finish};
