/* Pictures of embeddings: layout of the figure, and the way from points to the file.
 *
 * The plot is summed in bands of rows, so that ranks other than 0 never hold a whole picture and
 * any picture size works within the same memory. */
#include "plot/plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/memory.h"
#include "config/key.h"
#include "iktsne/version.h"
#include "plot/font.h"
#include "plot/histogram.h"
#include "plot/legend.h"
#include "plot/png_file.h"
#include "plot/shade.h"

/* In thousandths of the picture's smaller side. */
#define MARGIN      30.0
#define TITLE       17.0 /* capital heights */
#define FOOTER      10.5
#define TITLE_GAP   20.0
#define FOOTER_GAP  16.0
#define LEGEND_GAP  28.0
#define PANEL_GAP   16.0
#define AXES        11.0 /* capital height of what a panel shows */
#define AXES_GAP    9.0
#define UNIT_MIN    0.7  /* pixels: letters of small pictures must stay readable */
#define LEGEND_PART 0.26 /* of the picture's width at most */

enum {
    BAND_BYTES = 8 << 20,
    SIDE_MIN = 200,
    SIDE_MAX = 20000,
    TEXT_BYTES = 512,
    PANELS_MOST = 3,
    BAR_PIXELS = 3,
    BARS_LEAST = 20
};

/* Axes that a panel shows, to the right and up, and what it is called. */
typedef struct {
    int across, up;
    const char *name;
} panel;

static const panel sides_of_three[PANELS_MOST] = {{0, 1, "x y"}, {0, 2, "x z"}, {1, 2, "y z"}};

/* Everything a figure is made of; freed as one. */
typedef struct {
    ikt_plot_settings settings; /* with automatic values resolved, but for opacity */
    ikt_theme theme;
    double unit; /* pixels per thousandth of the smaller side */
    int q, panels;
    int64_t left, top, side; /* of a square panel; side is also the width of bars */
    int64_t height, gap;     /* of panels; between them */
    char title[TEXT_BYTES];
    ikt_legend legend;
    ikt_legend_content content;
    ikt_colouring colouring;
    ikt_view view;
    ikt_histogram histogram; /* one dimension */
    ikt_stamp stamp;
    float *flat;         /* [n_local * 2] what a panel shows; owned unless q is 2 */
    int64_t *marks;      /* [n_marked * 2], steps */
    ikt_shaded *pixels;  /* [side * side] on rank 0, otherwise empty */
    ikt_pixel_sum *sums; /* [band_rows * side] */
    uint8_t *table;      /* linear light to sRGB */
    int64_t band_rows;
    ikt_image image; /* rank 0 */
} figure;

ikt_plot_settings ikt_plot_defaults(void) {
    return (ikt_plot_settings){.width = 1200,
                               .height = IKT_AUTO_INT,
                               .point_radius = IKT_AUTO_REAL,
                               .opacity = IKT_AUTO_REAL,
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

static ikt_status resolve(ikt_context *ctx, const ikt_plot_points *points, ikt_plot_settings *s) {
    if (s->height == IKT_AUTO_INT) s->height = automatic_height(points->q, s->width);
    if (!s->footer) s->footer = "";
    if (!s->description) s->description = "";
    IKT_TRY(check_range(ctx, "width", (double)s->width, SIDE_MIN, SIDE_MAX));
    IKT_TRY(check_range(ctx, "height", (double)s->height, SIDE_MIN, SIDE_MAX));
    if (s->opacity != IKT_AUTO_REAL) IKT_TRY(check_range(ctx, "opacity", s->opacity, 0.001, 1));
    if (s->point_radius != IKT_AUTO_REAL)
        IKT_TRY(check_range(ctx, "point radius", s->point_radius, 0.3, 100));
    for (int64_t m = 0; m < points->n_marked; m++)
        if (points->marked[m] < 0 || points->marked[m] >= points->map->n)
            return ikt_fail(ctx, IKT_ERR_USAGE,
                            "row %" PRId64
                            " cannot be marked: the embedding has rows 0 to %" PRId64,
                            points->marked[m], points->map->n - 1);
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
    ikt_count_text(points->map->n, count);
    snprintf(out, TEXT_BYTES, "%.*s, n = %s", length > 300 ? 300 : length, name, count);
}

/* The largest squares that title, footer and legend leave, or all that they leave for bars; plot
 * and legend are centred together. */
static void lay_out(figure *f, const ikt_plot_points *points) {
    const ikt_plot_settings *s = &f->settings;
    double width = (double)s->width, height = (double)s->height;
    f->unit = fmax(fmin(width, height) / 1000, UNIT_MIN);
    double top = (f->title[0] ? MARGIN + TITLE + TITLE_GAP : MARGIN) * f->unit;
    double bottom = (s->footer[0] ? MARGIN + FOOTER + FOOTER_GAP : MARGIN) * f->unit;
    double room = height - top - bottom, across = width - 2 * MARGIN * f->unit, beside = 0;
    f->content = (ikt_legend_content){&f->colouring,  &f->theme,      points->column,
                                      points->map->n, points->marked, points->n_marked};
    if (s->legend) {
        double likely = fmin(room, (1 - LEGEND_PART) * across); /* the side, about */
        f->legend = ikt_legend_plan(&f->content, f->unit, likely, LEGEND_PART * width);
        beside = f->legend.width + LEGEND_GAP * f->unit;
    }
    f->gap = (int64_t)(PANEL_GAP * f->unit);
    double shared = (across - beside - (double)((f->panels - 1) * f->gap)) / f->panels;
    f->side = (int64_t)(f->q == 1 ? shared : fmin(room, shared));
    f->height = f->q == 1 ? (int64_t)room : f->side;
    double plot = (double)(f->panels * f->side + (f->panels - 1) * f->gap);
    f->left = (int64_t)((width - plot - beside) / 2);
    f->top = (int64_t)(top + (room - (double)f->height) / 2);
    f->band_rows = BAND_BYTES / (int64_t)sizeof *f->sums / f->side;
    if (f->band_rows < 1) f->band_rows = 1;
    if (f->band_rows > f->side) f->band_rows = f->side;
    if (f->settings.point_radius == IKT_AUTO_REAL)
        f->settings.point_radius = ikt_plot_radius(points->map->n, f->side);
}

static ikt_status allocate(ikt_context *ctx, figure *f, const ikt_plot_points *points) {
    bool root = ikt_rank(ctx) == 0;
    IKT_TRY(ikt_stamp_create(ctx, f->settings.point_radius, &f->stamp));
    if (f->q != 2)
        IKT_TRY(ikt_alloc(ctx, &f->flat, 2 * points->map->count, sizeof *f->flat, "picture"));
    IKT_TRY(ikt_alloc(ctx, &f->marks, 2 * points->n_marked, sizeof *f->marks, "picture"));
    IKT_TRY(ikt_alloc(ctx, &f->sums, f->band_rows * f->side, sizeof *f->sums, "picture"));
    if (!root) return IKT_OK;
    IKT_TRY(ikt_alloc(ctx, &f->pixels, f->side * f->side, sizeof *f->pixels, "picture"));
    IKT_TRY(ikt_alloc(ctx, &f->table, 65536, 1, "picture"));
    ikt_linear_table(f->table);
    return ikt_image_create(ctx, f->settings.width, f->settings.height, f->theme.background,
                            &f->image);
}

/* LOCAL. What panel p shows of the points: [map->count * 2]. */
static const float *project(const figure *f, const ikt_plot_points *points, int p) {
    const int q = f->q;
    if (q == 2) return points->y;
    for (int64_t i = 0; i < points->map->count; i++) {
        const float *y = points->y + q * i;
        f->flat[2 * i] = y[q == 1 ? 0 : sides_of_three[p].across];
        f->flat[2 * i + 1] = q == 1 ? 0 : y[sides_of_three[p].up];
    }
    return f->flat;
}

/* COLLECTIVE. Sums the bands one after the other; rank 0 keeps their mean colours. */
static void sum_bands(ikt_context *ctx, figure *f, const ikt_plot_points *points,
                      const float *flat) {
    const ikt_raster_points own = {points->map->count, flat, f->colouring.index,
                                   f->colouring.linear};
    for (int64_t row = 0; row < f->side; row += f->band_rows) {
        int64_t rows = f->side - row < f->band_rows ? f->side - row : f->band_rows;
        int64_t count = rows * f->side;
        memset(f->sums, 0, (size_t)count * sizeof *f->sums);
        ikt_raster_band(ctx, &f->view, &f->stamp, &own, row, rows, f->sums);
        ikt_sum_i64(ctx, &f->sums->cover, count * 4);
        if (ikt_rank(ctx) == 0) ikt_shade_mean(f->sums, count, f->table, f->pixels + row * f->side);
    }
}

/* COLLECTIVE. Positions of the marked rows: their owner knows them, the others add zeros. */
static void find_marks(ikt_context *ctx, figure *f, const ikt_plot_points *points,
                       const float *flat) {
    memset(f->marks, 0, (size_t)points->n_marked * 2 * sizeof *f->marks);
    for (int64_t m = 0; m < points->n_marked; m++) {
        int64_t i = points->marked[m] - points->map->first;
        if (i < 0 || i >= points->map->count) continue;
        f->marks[2 * m] = ikt_view_x(&f->view, flat[2 * i]);
        f->marks[2 * m + 1] = ikt_view_y(&f->view, flat[2 * i + 1]);
    }
    ikt_sum_i64(ctx, f->marks, 2 * points->n_marked);
}

static double plot_width(const figure *f) {
    return (double)(f->panels * f->side + (f->panels - 1) * f->gap);
}

static void draw_texts(figure *f) {
    double unit = f->unit, width = (double)f->settings.width - 2 * MARGIN * unit;
    char text[TEXT_BYTES];
    ikt_font_fit(f->title, TITLE * unit, width, text, TEXT_BYTES);
    ikt_font_draw(&f->image, text, (double)f->left, (double)f->top - TITLE_GAP * unit, TITLE * unit,
                  f->theme.ink);
    ikt_font_fit(f->settings.footer, FOOTER * unit, plot_width(f), text, TEXT_BYTES);
    ikt_font_draw(&f->image, text, (double)f->left,
                  (double)(f->top + f->height) + (FOOTER_GAP + FOOTER) * unit, FOOTER * unit,
                  f->theme.faint);
}

/* LOCAL, rank 0. A frame around panel p, the marked points in it, and the axes it shows. */
static void finish_panel(figure *f, const ikt_plot_points *points, int p) {
    const int64_t left = f->left + p * (f->side + f->gap);
    ikt_image_frame(&f->image, left - 1, f->top - 1, f->side + 2, f->height + 2, f->theme.faint);
    for (int64_t m = 0; m < points->n_marked; m++) {
        double down = f->q == 1 ? (double)f->height - 12 * f->unit
                                : ((double)f->marks[2 * m + 1] + 0.5) / IKT_VIEW_PHASES;
        ikt_mark_draw(&f->image, (double)left + ((double)f->marks[2 * m] + 0.5) / IKT_VIEW_PHASES,
                      (double)f->top + down, f->unit, &f->theme);
    }
    char text[TEXT_BYTES] = "", count[32];
    ikt_count_text(f->histogram.most, count);
    if (f->q == 1) snprintf(text, sizeof text, "highest bar: %s", count);
    if (f->q == 3) snprintf(text, sizeof text, "%s", sides_of_three[p].name);
    ikt_font_draw(&f->image, text, (double)left + AXES_GAP * f->unit,
                  (double)f->top + (AXES_GAP + AXES) * f->unit, AXES * f->unit, f->theme.faint);
}

/* LOCAL, rank 0. */
static void finish(figure *f) {
    draw_texts(f);
    if (f->settings.legend)
        ikt_legend_draw(&f->image, &f->legend, &f->content,
                        (double)f->left + plot_width(f) + LEGEND_GAP * f->unit, (double)f->top);
}

/* COLLECTIVE. The view of each panel, all at the scale of the widest. */
static ikt_status fit_views(ikt_context *ctx, figure *f, const ikt_plot_points *points,
                            ikt_view *views) {
    const double margin =
        f->q == 1 ? 0.01 * (double)f->side : f->settings.point_radius + 0.02 * (double)f->side;
    double scale = INFINITY;
    for (int p = 0; p < f->panels; p++) {
        const float *flat = project(f, points, p);
        IKT_TRY(ikt_view_fit(ctx, points->map, flat, f->side, margin, &views[p]));
        scale = fmin(scale, views[p].scale);
    }
    for (int p = 0; p < f->panels; p++)
        views[p].scale = scale;
    return IKT_OK;
}

/* As many bars as the eye tells apart, fewer where points are few, so that a bar has some. */
static int64_t count_bars(const figure *f, int64_t n) {
    const int64_t most = f->side / BAR_PIXELS, wanted = (int64_t)(4 * sqrt((double)n));
    const int64_t bars = wanted < most ? wanted : most;
    return bars > BARS_LEAST ? bars : BARS_LEAST;
}

/* COLLECTIVE. Bars of a line. */
static ikt_status draw_bars(ikt_context *ctx, figure *f, const ikt_plot_points *points,
                            const float *flat) {
    const int64_t bars = count_bars(f, points->map->n);
    IKT_TRY(
        ikt_histogram_make(ctx, points->map, flat, &f->view, &f->colouring, bars, &f->histogram));
    const int64_t head = (int64_t)((2 * AXES_GAP + AXES) * f->unit); /* for the text */
    if (ikt_rank(ctx) == 0)
        ikt_histogram_draw(&f->image, &f->histogram, &f->colouring, f->left, f->top + head, f->side,
                           f->height - head);
    return IKT_OK;
}

/* COLLECTIVE. */
static ikt_status draw_panels(ikt_context *ctx, figure *f, const ikt_plot_points *points) {
    ikt_view views[PANELS_MOST];
    IKT_TRY(fit_views(ctx, f, points, views));
    for (int p = 0; p < f->panels; p++) {
        const float *flat = project(f, points, p);
        f->view = views[p];
        find_marks(ctx, f, points, flat);
        if (f->q == 1) {
            IKT_TRY(draw_bars(ctx, f, points, flat));
        } else {
            sum_bands(ctx, f, points, flat);
            if (ikt_rank(ctx) == 0)
                ikt_shade_draw(&f->image, f->pixels, f->side, f->settings.opacity,
                               f->left + p * (f->side + f->gap), f->top);
        }
        if (ikt_rank(ctx) == 0) finish_panel(f, points, p);
    }
    return IKT_OK;
}

static ikt_status write_file(ikt_context *ctx, const figure *f, const char *path) {
    char temporary[IKT_PATH_MAX];
    IKT_TRY(ikt_atomic_begin(ctx, path, f->settings.overwrite, temporary));
    const ikt_png_text texts[] = {{"Software", "iktsne " IKT_VERSION},
                                  {"Title", f->title},
                                  {"Comment", f->settings.footer},
                                  {"Description", f->settings.description}};
    ikt_status st = IKT_OK;
    if (ikt_rank(ctx) == 0)
        st = ikt_png_write(ctx, temporary, path, &f->image, texts, sizeof texts / sizeof *texts);
    return ikt_atomic_end(ctx, path, temporary, st);
}

static ikt_status make_figure(ikt_context *ctx, figure *f, const ikt_plot_points *points,
                              const char *path) {
    IKT_TRY(ikt_agree(ctx, resolve(ctx, points, &f->settings)));
    f->theme = ikt_theme_get(f->settings.black);
    IKT_TRY(ikt_colouring_create(ctx, points, &f->theme, f->settings.black, &f->colouring));
    make_title(f, points, path, f->title);
    lay_out(f, points);
    IKT_TRY(ikt_agree(ctx, allocate(ctx, f, points)));
    IKT_TRY(draw_panels(ctx, f, points));
    if (ikt_rank(ctx) == 0) finish(f);
    return write_file(ctx, f, path);
}

static void destroy(figure *f) {
    ikt_colouring_destroy(&f->colouring);
    ikt_histogram_destroy(&f->histogram);
    ikt_stamp_destroy(&f->stamp);
    ikt_image_destroy(&f->image);
    ikt_free(&f->flat);
    ikt_free(&f->marks);
    ikt_free(&f->pixels);
    ikt_free(&f->sums);
    ikt_free(&f->table);
}

ikt_status ikt_plot_embedding(ikt_context *ctx, const ikt_plot_settings *settings,
                              const ikt_plot_points *points, const char *path) {
    figure f = {.settings = *settings, .q = points->q, .panels = points->q == 3 ? 3 : 1};
    ikt_status st = make_figure(ctx, &f, points, path);
    destroy(&f);
    return st;
}
