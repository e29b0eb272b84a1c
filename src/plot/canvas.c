/* Canvases: what is common to all kinds. See canvas.h. */
#include "plot/canvas.h"

#include <errno.h>
#include <string.h>

#include "base/encoding.h"
#include "base/memory.h"

static bool ends_with(const char *text, const char *ending) {
    const size_t length = strlen(text), own = strlen(ending);
    return length > own && strcmp(text + length - own, ending) == 0;
}

ikt_canvas_kind ikt_canvas_kind_of(const char *path) {
    if (ends_with(path, ".svg")) return IKT_CANVAS_SVG;
    return ends_with(path, ".pdf") ? IKT_CANVAS_PDF : IKT_CANVAS_PNG;
}

/* Copies of the page's texts that are UTF-8: a byte that is none becomes three. */
static ikt_status clean_texts(ikt_canvas *c) {
    const char **text[] = {&c->page.title, &c->page.footer, &c->page.description};
    size_t bytes = 0;
    for (int i = 0; i < 3; i++)
        bytes += 3 * strlen(*text[i]) + 1;
    IKT_TRY(ikt_alloc(c->ctx, &c->texts, (int64_t)bytes, 1, "picture"));
    char *at = c->texts;
    for (int i = 0; i < 3; i++) {
        *text[i] = ikt_utf8_clean(*text[i], at, 3 * strlen(*text[i]) + 1);
        at += strlen(at) + 1;
    }
    return IKT_OK;
}

ikt_status ikt_canvas_open(ikt_context *ctx, ikt_canvas_kind kind, const ikt_canvas_page *page,
                           ikt_canvas *out) {
    *out = (ikt_canvas){.ctx = ctx,
                        .ops = kind == IKT_CANVAS_SVG ? &ikt_canvas_svg : &ikt_canvas_cairo,
                        .kind = kind,
                        .page = *page};
    IKT_TRY(clean_texts(out));
    out->file = fopen(page->path, "wb");
    if (!out->file)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be written: %s", page->shown,
                        strerror(errno));
    IKT_TRY(out->ops->open(out));
    ikt_canvas_fill(out, 0, 0, page->width, page->height, page->background);
    return IKT_OK;
}

void ikt_canvas_fill(ikt_canvas *c, int64_t x, int64_t y, int64_t width, int64_t height,
                     ikt_rgb colour) {
    if (width > 0 && height > 0) c->ops->fill(c, x, y, width, height, colour);
}

void ikt_canvas_frame(ikt_canvas *c, int64_t x, int64_t y, int64_t width, int64_t height,
                      ikt_rgb colour) {
    ikt_canvas_fill(c, x, y, width, 1, colour);
    ikt_canvas_fill(c, x, y + height - 1, width, 1, colour);
    ikt_canvas_fill(c, x, y, 1, height, colour);
    ikt_canvas_fill(c, x + width - 1, y, 1, height, colour);
}

void ikt_canvas_stroke(ikt_canvas *c, const ikt_segment *segments, int count, double width,
                       ikt_rgb colour) {
    c->ops->stroke(c, segments, count, width, colour);
}

void ikt_canvas_text(ikt_canvas *c, const char *text, double x, double y, double size,
                     bool is_right, ikt_rgb colour) {
    char clean[IKT_CANVAS_TEXT_MOST];
    if (ikt_utf8_clean(text, clean, sizeof clean)[0])
        c->ops->text(c, clean, x, y, size, is_right, colour);
}

void ikt_canvas_show(ikt_canvas *c, const ikt_canvas_picture *picture, int64_t x, int64_t y) {
    if (c->status == IKT_OK) c->status = c->ops->picture(c, picture, x, y);
}

ikt_status ikt_canvas_finish(ikt_canvas *c) {
    ikt_status st = c->status == IKT_OK ? c->ops->finish(c) : c->status;
    FILE *file = c->file;
    c->file = NULL;
    const bool is_short = ferror(file) != 0;
    if ((fclose(file) != 0 || is_short) && st == IKT_OK)
        st = ikt_fail(c->ctx, IKT_ERR_FILE, "%s cannot be written: %s", c->page.shown,
                      strerror(errno));
    return st;
}

void ikt_canvas_close(ikt_canvas *c) {
    if (c->ops && c->ops->close) c->ops->close(c);
    if (c->file) fclose(c->file);
    ikt_free(&c->texts);
    *c = (ikt_canvas){.ctx = NULL};
}
