/* Pictures of embeddings: layout of the figure, and the way from points to the file. What is drawn
 * of the points: panels.c. */
#include "plot/plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic_file.h"
#include "config/key.h"
#include "plot/canvas.h"
#include "plot/legend.h"
#include "plot/panels.h"

/* In thousandths of the picture's smaller side. */
#define MARGIN      30.0
#define TITLE       17.0 /* capital heights */
#define FOOTER      10.5
#define TITLE_GAP   20.0
#define FOOTER_GAP  16.0
#define LEGEND_GAP  28.0
#define PANEL_GAP   16.0
#define UNIT_MIN    0.7  /* pixels: letters of small pictures must stay readable */
#define LEGEND_PART 0.26 /* of the picture's width at most */

enum { SIDE_MIN = 200, SIDE_MAX = 20000, TEXT_BYTES = 512 };

/* Everything a figure is made of; freed as one. */
typedef struct {
    ikt_plot_settings settings; /* with automatic values resolved, but for opacity */
    ikt_theme theme;
    double unit; /* pixels per thousandth of the smaller side */
    ikt_panels panels;
    char title[TEXT_BYTES];
    ikt_legend legend;
    ikt_legend_content content;
    ikt_colouring colouring;
    ikt_canvas canvas; /* rank 0 */
} figure;

ikt_plot_settings ikt_plot_defaults(void) {
    return (ikt_plot_settings){.width = 1200,
                               .height = IKT_AUTO_INT,
                               .point_radius = IKT_AUTO_REAL,
                               .opacity = IKT_AUTO_REAL,
                               .dpi = IKT_AUTO_REAL,
                               .legend = true};
}

double ikt_plot_radius(int64_t n, int64_t side) {
    double radius = 3.5 * sqrt(sqrt(1000.0 / (double)(n > 1 ? n : 1)));
    return fmin(fmax(radius, 0.65), 6) * (double)side / 1000;
}

static ikt_status check_range(ikt_context *ctx, const char *name, double value, double low,
                              double high) {
    if (value >= low && value <= high) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE, "the picture's %s is %g; it must be from %g to %g", name,
                    value, low, high);
}

/* Nearly square for a square; three of them side by side, and bars, need less. */
static int64_t automatic_height(int q, int64_t width) {
    if (q == 2) return width * 5 / 6;
    return width * 2 / 5 > SIDE_MIN ? width * 2 / 5 : SIDE_MIN;
}

static ikt_status resolve_dpi(ikt_context *ctx, const char *path, ikt_plot_settings *s) {
    if (s->dpi != IKT_AUTO_REAL && ikt_canvas_kind_of(path) == IKT_CANVAS_PNG)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s: a PNG file has pixels and no size in inches: a number of dots per "
                        "inch is for .svg and .pdf",
                        path);
    if (s->dpi == IKT_AUTO_REAL) s->dpi = 200;
    return check_range(ctx, "dots per inch", s->dpi, 20, 5000);
}

static ikt_status resolve(ikt_context *ctx, const ikt_plot_points *points, const char *path,
                          ikt_plot_settings *s) {
    IKT_TRY(resolve_dpi(ctx, path, s));
    if (s->height == IKT_AUTO_INT) s->height = automatic_height(points->q, s->width);
    if (!s->footer) s->footer = "";
    if (!s->description) s->description = "";
    IKT_TRY(check_range(ctx, "width", (double)s->width, SIDE_MIN, SIDE_MAX));
    IKT_TRY(check_range(ctx, "height", (double)s->height, SIDE_MIN, SIDE_MAX));
    if (s->opacity != IKT_AUTO_REAL) IKT_TRY(check_range(ctx, "opacity", s->opacity, 0.001, 1));
    if (s->point_radius != IKT_AUTO_REAL)
        IKT_TRY(check_range(ctx, "point radius", s->point_radius, 0.3, 100));
    for (int64_t m = 0; m < points->n_marked; m++)
        if (points->marked[m] < 0 || points->marked[m] >= points->rows->n)
            return ikt_fail(ctx, IKT_ERR_USAGE,
                            "row %" PRId64
                            " cannot be marked: the embedding has rows 0 to %" PRId64,
                            points->marked[m], points->rows->n - 1);
    return IKT_OK;
}

static void make_title(const figure *f, const ikt_plot_points *points, const char *path,
                       char *out) {
    if (f->settings.title) {
        snprintf(out, TEXT_BYTES, "%s", f->settings.title);
        return;
    }
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    int length = dot && dot != name ? (int)(dot - name) : (int)strlen(name);
    char count[32];
    ikt_count_text(points->rows->n, count);
    snprintf(out, TEXT_BYTES, "%.*s, n = %s", length > 300 ? 300 : length, name, count);
}

/* The space that title, footer, margins and legend leave: its top, height and width, and the width
 * of the legend beside it. */
typedef struct {
    double top, room, across, beside;
} box;

/* The largest squares that there is room for, or all of it for bars; plot and legend are centred
 * together. */
static void place_panels(figure *f, box left, int64_t n) {
    ikt_panels *p = &f->panels;
    p->unit = f->unit;
    p->gap = (int64_t)(PANEL_GAP * f->unit);
    double shared = (left.across - (double)((p->count - 1) * p->gap)) / p->count;
    p->side = (int64_t)(p->q == 1 ? shared : fmin(left.room, shared));
    p->height = p->q == 1 ? (int64_t)left.room : p->side;
    p->left = (int64_t)(((double)f->settings.width - ikt_panels_width(p) - left.beside) / 2);
    p->top = (int64_t)(left.top + (left.room - (double)p->height) / 2);
    p->opacity = f->settings.opacity;
    p->point_radius = f->settings.point_radius == IKT_AUTO_REAL ? ikt_plot_radius(n, p->side)
                                                                : f->settings.point_radius;
}

static void lay_out(figure *f, const ikt_plot_points *points) {
    const ikt_plot_settings *s = &f->settings;
    double width = (double)s->width, height = (double)s->height;
    f->unit = fmax(fmin(width, height) / 1000, UNIT_MIN);
    double top = (f->title[0] ? MARGIN + TITLE + TITLE_GAP : MARGIN) * f->unit;
    double bottom = (s->footer[0] ? MARGIN + FOOTER + FOOTER_GAP : MARGIN) * f->unit;
    double room = height - top - bottom, across = width - 2 * MARGIN * f->unit, beside = 0;
    f->content = (ikt_legend_content){.colouring = &f->colouring,
                                      .theme = &f->theme,
                                      .column = points->column,
                                      .class_names = points->class_names,
                                      .n = points->rows->n,
                                      .marked = points->marked,
                                      .n_marked = points->n_marked};
    if (s->legend) {
        double likely = fmin(room, (1 - LEGEND_PART) * across); /* the side, about */
        f->legend = ikt_legend_plan(&f->content, f->unit, likely, LEGEND_PART * width);
        beside = f->legend.width + LEGEND_GAP * f->unit;
    }
    place_panels(f, (box){top, room, across - beside, beside}, points->rows->n);
}

static void draw_texts(figure *f) {
    double unit = f->unit, width = (double)f->settings.width - 2 * MARGIN * unit;
    char text[TEXT_BYTES];
    ikt_font_fit(f->title, TITLE * unit, width, text, TEXT_BYTES);
    ikt_canvas_text(&f->canvas, text, (double)f->panels.left,
                    (double)f->panels.top - TITLE_GAP * unit, TITLE * unit, false, f->theme.ink);
    ikt_font_fit(f->settings.footer, FOOTER * unit, ikt_panels_width(&f->panels), text, TEXT_BYTES);
    ikt_canvas_text(&f->canvas, text, (double)f->panels.left,
                    (double)(f->panels.top + f->panels.height) + (FOOTER_GAP + FOOTER) * unit,
                    FOOTER * unit, false, f->theme.faint);
}

static ikt_status draw_file(ikt_context *ctx, figure *f, const ikt_plot_points *points,
                            const char *path, const char *temporary) {
    const ikt_plot_settings *s = &f->settings;
    const ikt_canvas_page page = {.path = temporary,
                                  .shown = path,
                                  .width = s->width,
                                  .height = s->height,
                                  .dpi = s->dpi,
                                  .background = f->theme.background,
                                  .title = f->title,
                                  .footer = s->footer,
                                  .description = s->description};
    const bool is_root = ikt_rank(ctx) == 0;
    ikt_status st = IKT_OK;
    if (is_root) st = ikt_canvas_open(ctx, ikt_canvas_kind_of(path), &page, &f->canvas);
    IKT_TRY(ikt_agree(ctx, st));
    IKT_TRY(ikt_panels_draw(ctx, &f->panels, points, &f->colouring, &f->theme, &f->canvas));
    if (!is_root) return IKT_OK;
    draw_texts(f);
    if (s->legend)
        ikt_legend_draw(&f->canvas, &f->legend, &f->content,
                        (double)f->panels.left + ikt_panels_width(&f->panels) +
                            LEGEND_GAP * f->unit,
                        (double)f->panels.top);
    return ikt_canvas_finish(&f->canvas);
}

static ikt_status make_figure(ikt_context *ctx, figure *f, const ikt_plot_points *points,
                              const char *path) {
    char temporary[IKT_PATH_MAX];
    IKT_TRY(ikt_agree(ctx, resolve(ctx, points, path, &f->settings)));
    f->theme = ikt_theme_get(f->settings.black);
    IKT_TRY(ikt_colouring_create(ctx, points, &f->theme, f->settings.black, &f->colouring));
    make_title(f, points, path, f->title);
    lay_out(f, points);
    IKT_TRY(ikt_atomic_begin_stream(ctx, path, f->settings.overwrite, temporary));
    return ikt_atomic_end(ctx, path, temporary, draw_file(ctx, f, points, path, temporary));
}

ikt_status ikt_plot_embedding(ikt_context *ctx, const ikt_plot_settings *settings,
                              const ikt_plot_points *points, const char *path) {
    figure f = {.settings = *settings,
                .panels = {.q = points->q, .count = ikt_panels_count(points->q)}};
    ikt_status st = make_figure(ctx, &f, points, path);
    ikt_colouring_destroy(&f.colouring);
    ikt_canvas_close(&f.canvas);
    return st;
}
