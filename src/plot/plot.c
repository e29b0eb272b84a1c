/* Pictures of embeddings: the layout of the figure, and the way from points to the file.
 *
 * The points are shown in panels: one square for a map in two dimensions; for three dimensions
 * three squares, the sides x y, x z and y z at one scale; for one dimension a rectangle of bars:
 * points along the line, stacked by colour, which shows how many there are, and of what, where dots
 * would overlap. Squares are summed in bands of rows, so that ranks other than 0 never hold a whole
 * picture and any size works within the same memory. */
#include "plot/plot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/memory.h"
#include "config/key.h"
#include "plot/canvas.h"
#include "plot/density.h"
#include "plot/legend.h"

/* In thousandths of the picture's smaller side. */
#define MARGIN      30.0
#define TITLE       17.0 /* capital heights */
#define FOOTER      10.5
#define AXES        11.0 /* of what a panel shows */
#define AXES_GAP    9.0
#define TITLE_GAP   20.0
#define FOOTER_GAP  16.0
#define LEGEND_GAP  28.0
#define PANEL_GAP   16.0
#define UNIT_MIN    0.7  /* pixels: letters of small pictures must stay readable */
#define LEGEND_PART 0.26 /* of the picture's width at most */

enum { SIDE_MIN = 200, SIDE_MAX = 20000, TEXT_BYTES = 512 };
enum { BAND_BYTES = 8 << 20, PANELS_MOST = 3, BAR_PIXELS = 3, BARS_LEAST = 20 };

/* Axes that a panel of three dimensions shows, to the right and up, and what it is called. */
static const struct {
    int across, up;
    const char *name;
} sides_of_three[PANELS_MOST] = {{0, 1, "x y"}, {0, 2, "x z"}, {1, 2, "y z"}};

/* Everything a figure is made of; freed as one. */
typedef struct {
    ikt_plot_settings settings; /* with automatic values resolved, but for opacity */
    const ikt_plot_points *points;
    ikt_theme theme;
    char title[TEXT_BYTES];
    ikt_colouring colouring;
    ikt_legend legend;
    ikt_canvas canvas; /* rank 0 */

    /* The panels, in pixels. */
    double unit; /* pixels per thousandth of the smaller side */
    int q, count;
    int64_t left, top, gap; /* of the first; between them */
    int64_t side, height;   /* of each: side is the width, and the height of a square */

    /* The panel under way. */
    ikt_view view;
    const float *y, *behind;   /* [n_local * 2], [n_behind * 2] what it shows */
    float *flat, *flat_behind; /* the same where it has to be made; NULL where q is 2 */
    int64_t most;              /* points of the highest bar */

    /* Sums of squares. */
    bool is_backed; /* some rank has points behind, and they are shown */
    ikt_stamp stamp;
    int64_t band_rows;
    ikt_pixel_sum *sums; /* [band_rows * side] */
    ikt_pixel_sum *back; /* [band_rows * side] of the points behind */
    ikt_shaded *pixels;  /* [side * side] on rank 0, otherwise empty */
    uint32_t *picture;   /* [side * side] on rank 0 */
    uint8_t *table;      /* linear light to sRGB */
    int64_t *marks;      /* [n_marked * 2], steps */
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

/* --- layout ----------------------------------------------------------------------------------- */

/* Gives automatic values and checks what was set. */
static ikt_status resolve(ikt_context *ctx, const ikt_plot_points *points, const char *path,
                          ikt_plot_settings *s) {
    if (s->dpi != IKT_AUTO_REAL && ikt_canvas_kind_of(path) == IKT_CANVAS_PNG)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s: a PNG file has pixels and no size in inches: a number of dots per "
                        "inch is for .svg and .pdf",
                        path);
    if (s->dpi == IKT_AUTO_REAL) s->dpi = 200;
    if (s->height == IKT_AUTO_INT) {
        /* Nearly square for a square; three of them side by side, and bars, need less. */
        s->height = points->q == 2 ? s->width * 5 / 6 : s->width * 2 / 5;
        if (points->q != 2 && s->height < SIDE_MIN) s->height = SIDE_MIN;
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

static void make_title(figure *f, const char *path) {
    if (f->settings.title) {
        snprintf(f->title, TEXT_BYTES, "%s", f->settings.title);
        return;
    }
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    int length = dot && dot != name ? (int)(dot - name) : (int)strlen(name);
    char count[32];
    ikt_count_text(f->points->rows->n, count);
    snprintf(f->title, TEXT_BYTES, "%.*s, n = %s", length > 300 ? 300 : length, name, count);
}

/* Width of all panels together. */
static double panels_width(const figure *f) {
    return (double)(f->count * f->side + (f->count - 1) * f->gap);
}

/* Gives title, footer, margins and legend their space, and the panels what is left: the largest
 * squares that there is room for, or all of it for bars; plot and legend are centred together. */
static void lay_out(figure *f) {
    ikt_plot_settings *s = &f->settings;
    const ikt_plot_points *points = f->points;
    const double width = (double)s->width, height = (double)s->height;
    f->unit = fmax(fmin(width, height) / 1000, UNIT_MIN);
    const double top = (f->title[0] ? MARGIN + TITLE + TITLE_GAP : MARGIN) * f->unit;
    const double bottom = (s->footer[0] ? MARGIN + FOOTER + FOOTER_GAP : MARGIN) * f->unit;
    const double room = height - top - bottom;
    double across = width - 2 * MARGIN * f->unit, beside = 0;
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
        ikt_legend_plan(&f->legend, likely, LEGEND_PART * width);
        beside = f->legend.width + LEGEND_GAP * f->unit;
    }
    across -= beside;
    f->q = points->q;
    f->count = f->q == 3 ? PANELS_MOST : 1;
    f->gap = (int64_t)(PANEL_GAP * f->unit);
    const double shared = (across - (double)((f->count - 1) * f->gap)) / f->count;
    f->side = (int64_t)(f->q == 1 ? shared : fmin(room, shared));
    f->height = f->q == 1 ? (int64_t)room : f->side;
    f->left = (int64_t)((width - panels_width(f) - beside) / 2);
    f->top = (int64_t)(top + (room - (double)f->height) / 2);
    if (s->point_radius == IKT_AUTO_REAL)
        s->point_radius = ikt_plot_radius(points->rows->n, f->side);
}

/* --- points ----------------------------------------------------------------------------------- */

static ikt_status allocate(ikt_context *ctx, figure *f) {
    const int64_t rows = f->points->rows->count, behind = f->is_backed ? f->points->n_behind : 0;
    const int64_t side = f->side;
    if (f->q != 2) {
        IKT_TRY(ikt_alloc(ctx, &f->flat, 2 * rows, sizeof *f->flat, "picture"));
        IKT_TRY(ikt_alloc(ctx, &f->flat_behind, 2 * behind, sizeof *f->flat_behind, "picture"));
    }
    IKT_TRY(ikt_alloc(ctx, &f->marks, 2 * f->points->n_marked, sizeof *f->marks, "picture"));
    if (f->q == 1) return IKT_OK;
    f->band_rows = BAND_BYTES / (int64_t)sizeof *f->sums / side;
    if (f->band_rows < 1) f->band_rows = 1;
    if (f->band_rows > side) f->band_rows = side;
    IKT_TRY(ikt_stamp_create(ctx, f->settings.point_radius, &f->stamp));
    IKT_TRY(ikt_alloc(ctx, &f->sums, f->band_rows * side, sizeof *f->sums, "picture"));
    if (f->is_backed)
        IKT_TRY(ikt_alloc(ctx, &f->back, f->band_rows * side, sizeof *f->back, "picture"));
    if (ikt_rank(ctx) != 0) return IKT_OK;
    IKT_TRY(ikt_alloc(ctx, &f->pixels, side * side, sizeof *f->pixels, "picture"));
    IKT_TRY(ikt_alloc(ctx, &f->picture, side * side, sizeof *f->picture, "picture"));
    IKT_TRY(ikt_alloc(ctx, &f->table, 65536, 1, "picture"));
    ikt_linear_table(f->table);
    return IKT_OK;
}

/* LOCAL. The two coordinates of `count` points that panel p shows: [count * 2], in `flat` unless q
 * is 2. */
static const float *project(int q, const float *points, int64_t count, int p, float *flat) {
    if (q == 2) return points;
    for (int64_t i = 0; i < count; i++) {
        const float *y = points + q * i;
        flat[2 * i] = y[q == 1 ? 0 : sides_of_three[p].across];
        flat[2 * i + 1] = q == 1 ? 0 : y[sides_of_three[p].up];
    }
    return flat;
}

/* LOCAL. Makes panel p the one under way. */
static void begin_panel(figure *f, int p) {
    const ikt_plot_points *points = f->points;
    f->y = project(f->q, points->y, points->rows->count, p, f->flat);
    if (f->is_backed)
        f->behind = project(f->q, points->behind, points->n_behind, p, f->flat_behind);
}

/* COLLECTIVE. Sums the points of all ranks in the rows row .. row + rows - 1 of the view. */
static void sum_band(ikt_context *ctx, const figure *f, const ikt_raster_points *points,
                     int64_t row, int64_t rows, ikt_pixel_sum *sums) {
    memset(sums, 0, (size_t)(rows * f->side) * sizeof *sums);
    ikt_raster_band(ctx, &f->view, &f->stamp, points, row, rows, sums);
    ikt_sum_i64(ctx, &sums->cover, rows * f->side * 4);
}

/* The points behind fill the part of a pixel that the points before them leave free. Their mean
 * colour stays the same, or becomes darker by rounding: it never exceeds the range of colours. */
static void show_behind(ikt_pixel_sum *front, const ikt_pixel_sum *back) {
    const int64_t left = IKT_COVER_FULL - front->cover;
    const int64_t most = back->cover > IKT_COVER_FULL ? back->cover : IKT_COVER_FULL;
    if (left <= 0 || back->cover == 0) return;
    const int64_t part = back->cover * left / most;
    front->cover += part;
    front->r += back->r * part / back->cover;
    front->g += back->g * part / back->cover;
    front->b += back->b * part / back->cover;
}

/* COLLECTIVE. Sums the bands of a square one after the other; rank 0 keeps their mean colours and
 * draws them. */
static void draw_square(ikt_context *ctx, figure *f, int64_t left) {
    const ikt_linear grey = ikt_linear_of(f->theme.faint);
    const ikt_raster_points own = {f->points->rows->count, f->y, f->colouring.index,
                                   f->colouring.linear};
    const ikt_raster_points behind = {f->points->n_behind, f->behind, NULL, &grey};
    for (int64_t row = 0; row < f->side; row += f->band_rows) {
        const int64_t rows = f->side - row < f->band_rows ? f->side - row : f->band_rows;
        sum_band(ctx, f, &own, row, rows, f->sums);
        if (f->is_backed) {
            sum_band(ctx, f, &behind, row, rows, f->back);
            for (int64_t p = 0; p < rows * f->side; p++)
                show_behind(&f->sums[p], &f->back[p]);
        }
        if (ikt_rank(ctx) == 0)
            ikt_shade_mean(f->sums, rows * f->side, f->table, f->pixels + row * f->side);
    }
    if (ikt_rank(ctx) != 0) return;
    const ikt_canvas_picture picture = {f->side, f->side, f->picture};
    ikt_shade(f->pixels, f->side * f->side, f->settings.opacity, f->theme.background, f->picture);
    ikt_canvas_show(&f->canvas, &picture, left, f->top);
}

/* COLLECTIVE. Counts the points of all ranks, by bar and colour, and draws the bars: as many as the
 * eye tells apart, fewer where points are few, so that a bar has some. Bars share the side of the
 * view, below the text of the panel. */
static ikt_status draw_bars(ikt_context *ctx, figure *f) {
    const int64_t most = f->side / BAR_PIXELS, colours = f->colouring.n_colours;
    const int64_t wanted = (int64_t)(4 * sqrt((double)f->points->rows->n));
    int64_t bars = wanted < most ? wanted : most, *count = NULL;
    if (bars < BARS_LEAST) bars = BARS_LEAST;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &count, bars * colours, sizeof *count, "picture")));
    for (int64_t i = 0; i < f->points->rows->count; i++) {
        const int64_t steps = f->side * IKT_VIEW_PHASES, at = ikt_view_x(&f->view, f->y[2 * i]);
        const int64_t bar = (at < 0 ? 0 : at >= steps ? steps - 1 : at) * bars / steps;
        count[bar * colours + (f->colouring.index ? f->colouring.index[i] : 0)]++;
    }
    ikt_sum_i64(ctx, count, bars * colours);
    f->most = 0;
    for (int64_t b = 0; b < bars; b++) {
        int64_t sum = 0;
        for (int64_t c = 0; c < colours; c++)
            sum += count[b * colours + c];
        f->most = sum > f->most ? sum : f->most;
    }
    const int64_t head = (int64_t)((2 * AXES_GAP + AXES) * f->unit), height = f->height - head;
    for (int64_t b = 0; b < bars && f->most > 0 && ikt_rank(ctx) == 0; b++) {
        const int64_t from = f->left + b * f->side / bars, to = f->left + (b + 1) * f->side / bars;
        int64_t sum = 0, low = 0; /* below, in points and in pixels */
        for (int64_t c = 0; c < colours; c++) {
            sum += count[b * colours + c];
            const int64_t high = (sum * height + f->most / 2) / f->most;
            ikt_canvas_fill(&f->canvas, from, f->top + f->height - high, to - from, high - low,
                            f->colouring.colour[c]);
            low = high;
        }
    }
    ikt_free(&count);
    return IKT_OK;
}

/* LOCAL, rank 0. A frame around panel p, the marked points in it, and the axes it shows. */
static void finish_panel(figure *f, int p, int64_t left) {
    ikt_canvas_frame(&f->canvas, left - 1, f->top - 1, f->side + 2, f->height + 2, f->theme.faint);
    for (int64_t m = 0; m < f->points->n_marked; m++) {
        double down = f->q == 1 ? (double)f->height - 12 * f->unit
                                : ((double)f->marks[2 * m + 1] + 0.5) / IKT_VIEW_PHASES;
        ikt_mark_draw(&f->canvas, (double)left + ((double)f->marks[2 * m] + 0.5) / IKT_VIEW_PHASES,
                      (double)f->top + down, f->unit, &f->theme);
    }
    char text[64] = "", count[32];
    ikt_count_text(f->most, count);
    if (f->q == 1) snprintf(text, sizeof text, "highest bar: %s", count);
    if (f->q == 3) snprintf(text, sizeof text, "%s", sides_of_three[p].name);
    ikt_canvas_text(&f->canvas, text, (double)left + AXES_GAP * f->unit,
                    (double)f->top + (AXES_GAP + AXES) * f->unit, AXES * f->unit, false,
                    f->theme.faint);
}

/* COLLECTIVE. Draws the points with their frames and marks. */
static ikt_status draw_panels(ikt_context *ctx, figure *f) {
    const ikt_plot_points *points = f->points;
    const double side = (double)f->side;
    const double margin = f->q == 1 ? 0.01 * side : f->settings.point_radius + 0.02 * side;
    ikt_view views[PANELS_MOST];
    double scale = INFINITY;
    f->is_backed = f->q > 1 && ikt_max_one(ctx, f->points->n_behind) > 0;
    IKT_TRY(ikt_agree(ctx, allocate(ctx, f)));
    /* The views of the panels, all at the scale of the widest. */
    for (int p = 0; p < f->count; p++) {
        begin_panel(f, p);
        IKT_TRY(ikt_view_fit(ctx, points->rows, f->y, f->behind,
                             f->is_backed ? points->n_behind : 0, f->side, margin, &views[p]));
        scale = fmin(scale, views[p].scale);
    }
    for (int p = 0; p < f->count; p++) {
        const int64_t left = f->left + p * (f->side + f->gap);
        begin_panel(f, p);
        f->view = views[p];
        f->view.scale = scale;
        /* Positions of the marked rows: their owner knows them, the others add zeros. */
        for (int64_t m = 0; m < points->n_marked; m++) {
            const int64_t i = points->marked[m] - points->rows->first;
            const bool is_own = i >= 0 && i < points->rows->count;
            f->marks[2 * m] = is_own ? ikt_view_x(&f->view, f->y[2 * i]) : 0;
            f->marks[2 * m + 1] = is_own ? ikt_view_y(&f->view, f->y[2 * i + 1]) : 0;
        }
        ikt_sum_i64(ctx, f->marks, 2 * points->n_marked);
        if (f->q == 1)
            IKT_TRY(draw_bars(ctx, f));
        else
            draw_square(ctx, f, left);
        if (ikt_rank(ctx) == 0) finish_panel(f, p, left);
    }
    return IKT_OK;
}

/* --- the file --------------------------------------------------------------------------------- */

static ikt_status draw_file(ikt_context *ctx, figure *f, const char *path, const char *temporary) {
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
    IKT_TRY(draw_panels(ctx, f));
    if (!is_root) return IKT_OK;
    const double unit = f->unit, left = (double)f->left, top = (double)f->top;
    char text[TEXT_BYTES];
    ikt_font_fit(f->title, TITLE * unit, (double)s->width - 2 * MARGIN * unit, text, TEXT_BYTES);
    ikt_canvas_text(&f->canvas, text, left, top - TITLE_GAP * unit, TITLE * unit, false,
                    f->theme.ink);
    ikt_font_fit(s->footer, FOOTER * unit, panels_width(f), text, TEXT_BYTES);
    ikt_canvas_text(&f->canvas, text, left,
                    (double)(f->top + f->height) + (FOOTER_GAP + FOOTER) * unit, FOOTER * unit,
                    false, f->theme.faint);
    if (s->legend)
        ikt_legend_draw(&f->canvas, &f->legend, left + panels_width(f) + LEGEND_GAP * unit, top);
    return ikt_canvas_finish(&f->canvas);
}

ikt_status ikt_plot_embedding(ikt_context *ctx, const ikt_plot_settings *settings,
                              const ikt_plot_points *points, const char *path) {
    figure f = {.settings = *settings, .points = points, .theme = ikt_theme_get(settings->black)};
    char temporary[IKT_PATH_MAX];
    IKT_TRY(ikt_agree(ctx, resolve(ctx, points, path, &f.settings)));
    IKT_TRY(ikt_colouring_create(ctx, points, &f.theme, settings->black, &f.colouring));
    make_title(&f, path);
    lay_out(&f);
    ikt_status st = ikt_atomic_begin_stream(ctx, path, settings->overwrite, temporary);
    if (st == IKT_OK)
        st = ikt_atomic_end(ctx, path, temporary, draw_file(ctx, &f, path, temporary));
    ikt_colouring_destroy(&f.colouring);
    ikt_canvas_close(&f.canvas);
    ikt_stamp_destroy(&f.stamp);
    ikt_free(&f.flat);
    ikt_free(&f.flat_behind);
    ikt_free(&f.marks);
    ikt_free(&f.sums);
    ikt_free(&f.back);
    ikt_free(&f.pixels);
    ikt_free(&f.picture);
    ikt_free(&f.table);
    return st;
}
