/* Figures in pixels: everything is drawn into one picture. */
#include "iktsne/version.h"
#include "plot/canvas.h"
#include "plot/font.h"
#include "plot/png_file.h"

static ikt_status open_png(ikt_canvas *c) {
    return ikt_image_create(c->ctx, c->page.width, c->page.height, c->page.background, &c->image);
}

static void fill(ikt_canvas *c, int64_t x, int64_t y, int64_t width, int64_t height,
                 ikt_rgb colour) {
    ikt_image_fill(&c->image, x, y, width, height, colour);
}

static void stroke(ikt_canvas *c, const ikt_segment *segments, int count, double width,
                   ikt_rgb colour) {
    ikt_image_stroke(&c->image, segments, count, width, colour);
}

static void draw_text(ikt_canvas *c, const char *text, double x, double y, double size,
                      bool is_right, ikt_rgb colour) {
    ikt_font_draw(&c->image, text, is_right ? x - ikt_font_width(text, size) : x, y, size, colour);
}

static void points(ikt_canvas *c, const ikt_shaded *pixels, int64_t side, double opacity, int64_t x,
                   int64_t y) {
    ikt_shade_draw(&c->image, pixels, side, opacity, x, y);
}

static ikt_status finish(ikt_canvas *c) {
    const ikt_png_text texts[] = {{"Software", "iktsne " IKT_VERSION},
                                  {"Title", c->page.texts.title},
                                  {"Comment", c->page.texts.footer},
                                  {"Description", c->page.texts.description}};
    return ikt_png_write(c->ctx, c->page.path, c->page.shown, &c->image, texts,
                         sizeof texts / sizeof *texts);
}

static void close_png(ikt_canvas *c) {
    ikt_image_destroy(&c->image);
}

const ikt_canvas_ops ikt_canvas_png = {open_png, fill,   stroke,   draw_text,
                                       points,   finish, close_png};
