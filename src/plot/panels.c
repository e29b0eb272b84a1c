/* The panels of a figure. See panels.h. */
#include "plot/panels.h"

#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "plot/legend.h"

/* In thousandths of the picture's smaller side. */
#define AXES     11.0 /* capital height of what a panel shows */
#define AXES_GAP 9.0

enum { BAND_BYTES = 8 << 20, TEXT_BYTES = 64, PANELS_MOST = 3, BAR_PIXELS = 3, BARS_LEAST = 20 };

/* Axes that a panel shows, to the right and up, and what it is called. */
typedef struct {
    int across, up;
    const char *name;
} side_of_three;

static const side_of_three sides_of_three[PANELS_MOST] = {
    {0, 1, "x y"}, {0, 2, "x z"}, {1, 2, "y z"}};

/* Everything that drawing the panels needs; freed as one. */
typedef struct {
    const ikt_panels *at;
    const ikt_plot_points *points;
    const ikt_colouring *colouring;
    const ikt_theme *theme;
    ikt_canvas *canvas;
    ikt_view view; /* of the panel under way */
    ikt_stamp stamp;
    bool is_backed;            /* some rank has points behind, and they are shown */
    const float *y, *behind;   /* [n_local * 2], [n_behind * 2] what the panel under way shows */
    float *flat, *flat_behind; /* the same where it has to be made; NULL where q is 2 */
    int64_t *marks;            /* [n_marked * 2], steps */
    ikt_shaded *pixels;        /* [side * side] on rank 0, otherwise empty */
    ikt_pixel_sum *sums;       /* [band_rows * side] */
    ikt_pixel_sum *back;       /* [band_rows * side] of the points behind */
    uint32_t *picture;         /* [side * side] on rank 0 */
    uint8_t *table;            /* linear light to sRGB */
    int64_t band_rows;
    int64_t most; /* points of the highest bar */
} drawing;

int ikt_panels_count(int q) {
    return q == 3 ? PANELS_MOST : 1;
}

double ikt_panels_width(const ikt_panels *panels) {
    return (double)(panels->count * panels->side + (panels->count - 1) * panels->gap);
}

/* Memory for the sums of squares. */
static ikt_status allocate_squares(ikt_context *ctx, drawing *f) {
    const int64_t side = f->at->side;
    f->band_rows = BAND_BYTES / (int64_t)sizeof *f->sums / side;
    if (f->band_rows < 1) f->band_rows = 1;
    if (f->band_rows > side) f->band_rows = side;
    IKT_TRY(ikt_stamp_create(ctx, f->at->point_radius, &f->stamp));
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

static ikt_status allocate(ikt_context *ctx, drawing *f) {
    const int64_t rows = f->points->rows->count, behind = f->is_backed ? f->points->n_behind : 0;
    if (f->at->q != 2) {
        IKT_TRY(ikt_alloc(ctx, &f->flat, 2 * rows, sizeof *f->flat, "picture"));
        IKT_TRY(ikt_alloc(ctx, &f->flat_behind, 2 * behind, sizeof *f->flat_behind, "picture"));
    }
    IKT_TRY(ikt_alloc(ctx, &f->marks, 2 * f->points->n_marked, sizeof *f->marks, "picture"));
    return f->at->q == 1 ? IKT_OK : allocate_squares(ctx, f);
}

/* LOCAL. The two coordinates of `count` points that panel p shows: [count * 2], in `flat` unless q
 * is 2.
 */
static const float *project(const drawing *f, const float *points, int64_t count, int p,
                            float *flat) {
    const int q = f->at->q;
    if (q == 2) return points;
    for (int64_t i = 0; i < count; i++) {
        const float *y = points + q * i;
        flat[2 * i] = y[q == 1 ? 0 : sides_of_three[p].across];
        flat[2 * i + 1] = q == 1 ? 0 : y[sides_of_three[p].up];
    }
    return flat;
}

/* LOCAL. Makes panel p the one under way. */
static void begin_panel(drawing *f, int p) {
    const ikt_plot_points *points = f->points;
    f->y = project(f, points->y, points->rows->count, p, f->flat);
    if (f->is_backed) f->behind = project(f, points->behind, points->n_behind, p, f->flat_behind);
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

/* COLLECTIVE. Sums of the points behind, added to those before them. */
static void sum_behind(ikt_context *ctx, drawing *f, int64_t row, int64_t rows) {
    const ikt_linear grey = ikt_linear_of(f->theme->faint);
    const ikt_raster_points own = {f->points->n_behind, f->behind, NULL, &grey};
    const int64_t count = rows * f->at->side;
    memset(f->back, 0, (size_t)count * sizeof *f->back);
    ikt_raster_band(ctx, &f->view, &f->stamp, &own, row, rows, f->back);
    ikt_sum_i64(ctx, &f->back->cover, count * 4);
    for (int64_t p = 0; p < count; p++)
        show_behind(&f->sums[p], &f->back[p]);
}

/* COLLECTIVE. Sums the bands one after the other; rank 0 keeps their mean colours. */
static void sum_bands(ikt_context *ctx, drawing *f) {
    const ikt_raster_points own = {f->points->rows->count, f->y, f->colouring->index,
                                   f->colouring->linear};
    for (int64_t row = 0; row < f->at->side; row += f->band_rows) {
        int64_t rows = f->at->side - row < f->band_rows ? f->at->side - row : f->band_rows;
        int64_t count = rows * f->at->side;
        memset(f->sums, 0, (size_t)count * sizeof *f->sums);
        ikt_raster_band(ctx, &f->view, &f->stamp, &own, row, rows, f->sums);
        ikt_sum_i64(ctx, &f->sums->cover, count * 4);
        if (f->is_backed) sum_behind(ctx, f, row, rows);
        if (ikt_rank(ctx) == 0)
            ikt_shade_mean(f->sums, count, f->table, f->pixels + row * f->at->side);
    }
}

/* LOCAL, rank 0. The colours of the summed points, on the canvas. */
static void show_points(const drawing *f, int p) {
    const int64_t side = f->at->side;
    const ikt_canvas_picture picture = {side, side, f->picture};
    ikt_shade(f->pixels, side * side, f->at->opacity, f->theme->background, f->picture);
    ikt_canvas_show(f->canvas, &picture, f->at->left + p * (side + f->at->gap), f->at->top);
}

/* COLLECTIVE. Positions of the marked rows: their owner knows them, the others add zeros. */
static void find_marks(ikt_context *ctx, drawing *f) {
    const ikt_plot_points *points = f->points;
    memset(f->marks, 0, (size_t)points->n_marked * 2 * sizeof *f->marks);
    for (int64_t m = 0; m < points->n_marked; m++) {
        int64_t i = points->marked[m] - points->rows->first;
        if (i < 0 || i >= points->rows->count) continue;
        f->marks[2 * m] = ikt_view_x(&f->view, f->y[2 * i]);
        f->marks[2 * m + 1] = ikt_view_y(&f->view, f->y[2 * i + 1]);
    }
    ikt_sum_i64(ctx, f->marks, 2 * points->n_marked);
}

/* LOCAL, rank 0. A frame around panel p, the marked points in it, and the axes it shows. */
static void finish_panel(const drawing *f, int p) {
    const int64_t left = f->at->left + p * (f->at->side + f->at->gap);
    ikt_canvas_frame(f->canvas, left - 1, f->at->top - 1, f->at->side + 2, f->at->height + 2,
                     f->theme->faint);
    for (int64_t m = 0; m < f->points->n_marked; m++) {
        double down = f->at->q == 1 ? (double)f->at->height - 12 * f->at->unit
                                    : ((double)f->marks[2 * m + 1] + 0.5) / IKT_VIEW_PHASES;
        ikt_mark_draw(f->canvas, (double)left + ((double)f->marks[2 * m] + 0.5) / IKT_VIEW_PHASES,
                      (double)f->at->top + down, f->at->unit, f->theme);
    }
    char text[TEXT_BYTES] = "", count[32];
    ikt_count_text(f->most, count);
    if (f->at->q == 1) snprintf(text, sizeof text, "highest bar: %s", count);
    if (f->at->q == 3) snprintf(text, sizeof text, "%s", sides_of_three[p].name);
    ikt_canvas_text(f->canvas, text, (double)left + AXES_GAP * f->at->unit,
                    (double)f->at->top + (AXES_GAP + AXES) * f->at->unit, AXES * f->at->unit, false,
                    f->theme->faint);
}

/* COLLECTIVE. The view of each panel, all at the scale of the widest. */
static ikt_status fit_views(ikt_context *ctx, drawing *f, ikt_view *views) {
    const double margin = f->at->q == 1 ? 0.01 * (double)f->at->side
                                        : f->at->point_radius + 0.02 * (double)f->at->side;
    double scale = INFINITY;
    for (int p = 0; p < f->at->count; p++) {
        begin_panel(f, p);
        IKT_TRY(ikt_view_fit(ctx, f->points->rows, f->y, f->behind,
                             f->is_backed ? f->points->n_behind : 0, f->at->side, margin,
                             &views[p]));
        scale = fmin(scale, views[p].scale);
    }
    for (int p = 0; p < f->at->count; p++)
        views[p].scale = scale;
    return IKT_OK;
}

/* As many bars as the eye tells apart, fewer where points are few, so that a bar has some. */
static int64_t count_bars(const drawing *f, int64_t n) {
    const int64_t most = f->at->side / BAR_PIXELS, wanted = (int64_t)(4 * sqrt((double)n));
    const int64_t bars = wanted < most ? wanted : most;
    return bars > BARS_LEAST ? bars : BARS_LEAST;
}

/* The bar that a point's place in the view is in; bars share the side of the view. */
static int64_t bar_of(const ikt_view *view, float x, int64_t bars) {
    const int64_t steps = view->side * IKT_VIEW_PHASES, at = ikt_view_x(view, x);
    return (at < 0 ? 0 : at >= steps ? steps - 1 : at) * bars / steps;
}

/* LOCAL, rank 0. Draws the bars of count[bars * colours] points into the panel below its text. */
static void stack_bars(const drawing *f, const int64_t *count, int64_t bars) {
    const int64_t head = (int64_t)((2 * AXES_GAP + AXES) * f->at->unit),
                  height = f->at->height - head;
    const int64_t colours = f->colouring->n_colours, bottom = f->at->top + f->at->height;
    for (int64_t b = 0; b < bars && f->most > 0; b++) {
        const int64_t from = f->at->left + b * f->at->side / bars;
        const int64_t to = f->at->left + (b + 1) * f->at->side / bars;
        int64_t points = 0, low = 0; /* below, in points and in pixels */
        for (int64_t c = 0; c < colours; c++) {
            points += count[b * colours + c];
            const int64_t high = (points * height + f->most / 2) / f->most;
            ikt_canvas_fill(f->canvas, from, bottom - high, to - from, high - low,
                            f->colouring->colour[c]);
            low = high;
        }
    }
}

/* COLLECTIVE. Counts the points of all ranks, by bar and colour, and draws the bars. */
static ikt_status draw_bars(ikt_context *ctx, drawing *f) {
    const int64_t bars = count_bars(f, f->points->rows->n), colours = f->colouring->n_colours;
    int64_t *count = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &count, bars * colours, sizeof *count, "picture")));
    for (int64_t i = 0; i < f->points->rows->count; i++) {
        const int64_t colour = f->colouring->index ? f->colouring->index[i] : 0;
        count[bar_of(&f->view, f->y[2 * i], bars) * colours + colour]++;
    }
    ikt_sum_i64(ctx, count, bars * colours);
    f->most = 0;
    for (int64_t b = 0; b < bars; b++) {
        int64_t sum = 0;
        for (int64_t c = 0; c < colours; c++)
            sum += count[b * colours + c];
        f->most = sum > f->most ? sum : f->most;
    }
    if (ikt_rank(ctx) == 0) stack_bars(f, count, bars);
    ikt_free(&count);
    return IKT_OK;
}

/* COLLECTIVE. */
static ikt_status draw_panels(ikt_context *ctx, drawing *f) {
    const bool is_root = ikt_rank(ctx) == 0;
    ikt_view views[PANELS_MOST];
    IKT_TRY(ikt_agree(ctx, allocate(ctx, f)));
    IKT_TRY(fit_views(ctx, f, views));
    for (int p = 0; p < f->at->count; p++) {
        begin_panel(f, p);
        f->view = views[p];
        find_marks(ctx, f);
        if (f->at->q == 1) {
            IKT_TRY(draw_bars(ctx, f));
        } else {
            sum_bands(ctx, f);
            if (is_root) show_points(f, p);
        }
        if (is_root) finish_panel(f, p);
    }
    return IKT_OK;
}

ikt_status ikt_panels_draw(ikt_context *ctx, const ikt_panels *panels,
                           const ikt_plot_points *points, const ikt_colouring *colouring,
                           const ikt_theme *theme, ikt_canvas *canvas) {
    drawing f = {.at = panels,
                 .points = points,
                 .colouring = colouring,
                 .theme = theme,
                 .canvas = canvas,
                 .is_backed = panels->q > 1 && ikt_max_one(ctx, points->n_behind) > 0};
    ikt_status st = draw_panels(ctx, &f);
    ikt_stamp_destroy(&f.stamp);
    ikt_free(&f.flat);
    ikt_free(&f.flat_behind);
    ikt_free(&f.back);
    ikt_free(&f.marks);
    ikt_free(&f.pixels);
    ikt_free(&f.sums);
    ikt_free(&f.picture);
    ikt_free(&f.table);
    return st;
}
