/* Pictures of embeddings: the layout of the page, and the way from columns to the file.
 *
 * A page has a figure for each column of colours, in the cells of a table; a figure has panels and
 * a legend (panels.c, legend.c). */
#include "plot/plot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/atomic_file.h"
#include "base/log.h"
#include "base/sort.h"
#include "config/key.h"
#include "plot/figure.h"

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

enum { SIDE_MIN = 200, SIDE_MAX = 20000, PANEL_LEAST = 24, TEXT_BYTES = 512 };

ikt_plot_settings ikt_plot_defaults(void) {
    return (ikt_plot_settings){.width = 1200,
                               .height = IKT_AUTO_INT,
                               .point_radius = IKT_AUTO_REAL,
                               .opacity = IKT_AUTO_REAL,
                               .dpi = IKT_AUTO_REAL,
                               .legend = true};
}

double ikt_plot_radius(int64_t n, int64_t side) {
    double radius = 3.5 * sqrt(sqrt(1000.0 / (double)ikt_larger(n, 1)));
    return fmin(fmax(radius, 0.65), 6) * (double)side / 1000;
}

/* --- layout ----------------------------------------------------------------------------------- */

/* Parts of the page side by side: up to three in a row, then about as many as there are rows. */
static int64_t columns_for(int64_t panels) {
    int64_t columns = panels < 3 ? panels : panels == 4 ? 2 : 3;
    while (columns * columns < panels)
        columns++;
    return columns;
}

/* Gives automatic values and checks what was set. */
static ikt_status resolve(ikt_context *ctx, const ikt_plot_points *points, int64_t panels,
                          const char *path, ikt_plot_settings *s) {
    if (s->dpi != IKT_AUTO_REAL && ikt_canvas_kind_of(path) == IKT_CANVAS_PNG)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s: a PNG file has pixels and no size in inches: a number of dots per "
                        "inch is for .svg and .pdf",
                        path);
    if (s->dpi == IKT_AUTO_REAL) s->dpi = 200;
    if (s->height == IKT_AUTO_INT) {
        /* Nearly square for a square; three of them side by side, and bars, need less. */
        const int64_t columns = columns_for(panels), rows = (panels + columns - 1) / columns;
        const int64_t width = s->width / columns;
        s->height = rows * (points->q == 2 ? width * 5 / 6 : width * 2 / 5);
        s->height = ikt_smaller(ikt_larger(s->height, SIDE_MIN), SIDE_MAX);
    }
    if (!s->footer) s->footer = "";
    if (!s->description) s->description = "";
    const struct {
        const char *name;
        double value, low, high;
    } range[] = {{"dots per inch", s->dpi, 20, 5000},
                 {"width", (double)s->width, SIDE_MIN, SIDE_MAX},
                 {"height", (double)s->height, SIDE_MIN, SIDE_MAX},
                 {"opacity", s->opacity, 0.001, 1},
                 {"point radius", s->point_radius, 0.3, 100}};
    for (size_t r = 0; r < sizeof range / sizeof *range; r++)
        if (range[r].value != IKT_AUTO_REAL &&
            !(range[r].value >= range[r].low && range[r].value <= range[r].high))
            return ikt_fail(ctx, IKT_ERR_USAGE, "the picture's %s is %g; it must be from %g to %g",
                            range[r].name, range[r].value, range[r].low, range[r].high);
    for (int64_t m = 0; m < points->n_marked; m++)
        if (points->marked[m] < 0 || points->marked[m] >= points->rows->n)
            return ikt_fail(ctx, IKT_ERR_USAGE,
                            "row %" PRId64
                            " cannot be marked: the embedding has rows 0 to %" PRId64,
                            points->marked[m], points->rows->n - 1);
    return IKT_OK;
}

static void make_title(const ikt_plot_settings *settings, int64_t n, const char *path,
                       char title[TEXT_BYTES]) {
    if (settings->title) {
        snprintf(title, TEXT_BYTES, "%s", settings->title);
        return;
    }
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    int length = dot && dot != name ? (int)(dot - name) : (int)strlen(name);
    char count[32];
    ikt_count_text(n, count);
    snprintf(title, TEXT_BYTES, "%.*s, n = %s", length > 300 ? 300 : length, name, count);
}

/* Width of all panels together. */
static double panels_width(const ikt_figure *f) {
    return (double)(f->count * f->side + (f->count - 1) * f->gap);
}

/* Gives margins and legend their space within the part of the page, and the panels what is left:
 * the largest squares that there is room for, or all of it for bars; plot and legend are centred
 * together.
 *   above, below   pixels kept free for a title and a footer */
static void lay_out(ikt_figure *f, double above, double below) {
    ikt_plot_settings *s = &f->settings;
    const ikt_plot_points *points = f->points;
    const double room = f->height - above - below;
    double across = f->width - 2 * MARGIN * f->unit, beside = 0;
    if (s->legend) {
        f->legend = (ikt_legend){.colouring = &f->colouring,
                                 .theme = &f->theme,
                                 .column = points->column,
                                 .class_names = points->class_names,
                                 .n = points->rows->n,
                                 .marked = points->marked,
                                 .n_marked = points->n_marked,
                                 .unit = f->unit};
        const double likely = fmin(room, (1 - LEGEND_PART) * across); /* the side, about */
        ikt_legend_plan(&f->legend, likely, LEGEND_PART * f->width);
        beside = f->legend.width + LEGEND_GAP * f->unit;
    }
    across -= beside;
    f->q = points->q;
    f->count = f->q == 3 ? IKT_SIDES : 1;
    f->gap = (int64_t)(PANEL_GAP * f->unit);
    const double shared = (across - (double)((f->count - 1) * f->gap)) / f->count;
    f->side = (int64_t)(f->q == 1 ? shared : fmin(room, shared));
    f->panel_height = f->q == 1 ? (int64_t)room : f->side;
    f->left = (int64_t)(f->x + (f->width - panels_width(f) - beside) / 2);
    f->top = (int64_t)(f->y_top + above + (room - (double)f->panel_height) / 2);
    if (s->point_radius == IKT_AUTO_REAL)
        s->point_radius = ikt_plot_radius(points->rows->n, f->side);
}

/* --- the file --------------------------------------------------------------------------------- */

/* A page and its figures; freed as one. */
typedef struct {
    const ikt_plot_settings *settings;
    const ikt_plot_points *points; /* [count] */
    int64_t count;
    char title[TEXT_BYTES];
    double unit;
    ikt_canvas canvas; /* rank 0 */
    ikt_theme theme;
} page;

/* Height of title and footer with what lies between them and the figures. */
static double head_height(const page *p) {
    return (p->title[0] ? MARGIN + TITLE + TITLE_GAP : MARGIN) * p->unit;
}

static double foot_height(const page *p) {
    return (p->settings->footer[0] ? MARGIN + FOOTER + FOOTER_GAP : MARGIN) * p->unit;
}

/* LOCAL, rank 0. Title above the first panel, footer below the last row. */
static void draw_texts(page *p, const ikt_figure *f, double bottom) {
    const ikt_plot_settings *s = p->settings;
    const double unit = p->unit, left = (double)f->left;
    const double room = (double)s->width - left - MARGIN * unit;
    char text[TEXT_BYTES];
    ikt_font_fit(p->title, TITLE * unit, (double)s->width - 2 * MARGIN * unit, text, TEXT_BYTES);
    ikt_canvas_text(&p->canvas, text, left, (double)f->top - TITLE_GAP * unit, TITLE * unit, false,
                    p->theme.ink);
    ikt_font_fit(s->footer, FOOTER * unit, p->count > 1 ? room : panels_width(f), text, TEXT_BYTES);
    ikt_canvas_text(&p->canvas, text, left, bottom + (FOOTER_GAP + FOOTER) * unit, FOOTER * unit,
                    false, p->theme.faint);
}

static ikt_status too_small(ikt_context *ctx, const page *p) {
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "a picture of %" PRId64 " x %" PRId64 " pixels has no room for %" PRId64
                    " panels; make it wider, or name fewer columns",
                    p->settings->width, p->settings->height, p->count);
}

/* COLLECTIVE. Figure k in its part of the page: all of it for a single one, else a cell of a
 * table. */
static ikt_status draw_figure(ikt_context *ctx, page *p, int64_t k) {
    const ikt_plot_settings *s = p->settings;
    const double above = head_height(p), below = foot_height(p);
    ikt_figure f IKT_AT_END(ikt_figure_free) = {.settings = *s,
                                                .points = &p->points[k],
                                                .theme = p->theme,
                                                .canvas = &p->canvas,
                                                .width = (double)s->width,
                                                .height = (double)s->height,
                                                .unit = p->unit};
    IKT_TRY(ikt_colouring_create(ctx, f.points, &f.theme, s->black, &f.colouring));
    if (p->count == 1) {
        lay_out(&f, above, below);
    } else {
        const int64_t columns = columns_for(p->count), rows = (p->count + columns - 1) / columns;
        f.width = (double)s->width / (double)columns;
        f.height = ((double)s->height - above - below) / (double)rows;
        f.x = (double)(k % columns) * f.width;
        f.y_top = above + (double)(k / columns) * f.height;
        const double between = 0.5 * PANEL_GAP * p->unit;
        lay_out(&f, k < columns ? 0 : between, k / columns == rows - 1 ? 0 : between);
    }
    IKT_TRY(ikt_agree(ctx, f.side >= PANEL_LEAST ? IKT_OK : too_small(ctx, p)));
    IKT_TRY(ikt_figure_panels(ctx, &f));
    if (ikt_rank(ctx) == 0) {
        const double bottom =
            p->count == 1 ? (double)(f.top + f.panel_height) : (double)s->height - below;
        if (k == 0) draw_texts(p, &f, bottom);
        if (s->legend)
            ikt_legend_draw(&p->canvas, &f.legend,
                            (double)f.left + panels_width(&f) + LEGEND_GAP * f.unit, (double)f.top);
    }
    return IKT_OK;
}

static ikt_status draw_file(ikt_context *ctx, page *p, const char *path, const char *temporary) {
    const ikt_plot_settings *s = p->settings;
    const ikt_canvas_page sheet = {.path = temporary,
                                   .shown = path,
                                   .width = s->width,
                                   .height = s->height,
                                   .dpi = s->dpi,
                                   .background = p->theme.background,
                                   .title = p->title,
                                   .footer = s->footer,
                                   .when_unread = s->when_unread,
                                   .description = s->description};
    const bool is_root = ikt_rank(ctx) == 0;
    IKT_TRY(ikt_agree(ctx, is_root
                               ? ikt_canvas_open(ctx, ikt_canvas_kind_of(path), &sheet, &p->canvas)
                               : IKT_OK));
    for (int64_t k = 0; k < p->count; k++)
        IKT_TRY(draw_figure(ctx, p, k));
    return is_root ? ikt_canvas_finish(&p->canvas) : IKT_OK;
}

ikt_status ikt_plot_panels(ikt_context *ctx, const ikt_plot_settings *settings,
                           const ikt_plot_points *points, int64_t count, const char *path) {
    ikt_plot_settings resolved = *settings;
    page p = {.settings = &resolved,
              .points = points,
              .count = count,
              .theme = ikt_theme_get(settings->black)};
    char temporary[IKT_PATH_MAX];
    IKT_TRY(ikt_agree(ctx, resolve(ctx, points, count, path, &resolved)));
    make_title(&resolved, points->rows->n, path, p.title);
    const int64_t columns = columns_for(count), rows = (count + columns - 1) / columns;
    p.unit = fmax(
        fmin((double)resolved.width / (double)columns, (double)resolved.height / (double)rows) /
            1000,
        UNIT_MIN);
    if (!ikt_canvas_is_named(path))
        ikt_log(ctx, IKT_LOG_WARN,
                "%s is written as PNG: its name ends in none of .png, .svg and .pdf", path);
    ikt_status st = ikt_atomic_begin_stream(ctx, path, settings->overwrite, temporary);
    if (st == IKT_OK)
        st = ikt_atomic_end(ctx, path, temporary, draw_file(ctx, &p, path, temporary));
    ikt_canvas_close(&p.canvas);
    return st;
}

ikt_status ikt_plot_embedding(ikt_context *ctx, const ikt_plot_settings *settings,
                              const ikt_plot_points *points, const char *path) {
    return ikt_plot_panels(ctx, settings, points, 1, path);
}
