/* The panels of a figure: from points to pixels and bars.
 *
 * The points are shown in panels: one square for a map in two dimensions; for three dimensions
 * three squares, the sides x y, x z and y z at one scale; for one dimension a rectangle of bars:
 * points along the line, stacked by colour, which shows how many there are, and of what, where dots
 * would overlap. Squares are summed in bands of rows, so that ranks other than 0 never hold a whole
 * picture and any size works within the same memory. */
#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/sort.h"
#include "io/formats/class_labels.h"
#include "plot/figure.h"

/* In thousandths of the picture's smaller side. */
#define AXES     11.0 /* of what a panel shows */
#define AXES_GAP 9.0
#define NAME     13.0 /* capital heights of names on the map */

/* Points behind: their radius, and what they have of their colour. */
#define BEHIND_RADIUS 0.6
#define BEHIND_PART   0.35

enum { BAND_BYTES = 8 << 20, BAR_PIXELS = 3, BARS_LEAST = 20, NAME_BYTES = 96, NAMES_MOST = 256 };

/* Axes that a panel of three dimensions shows, to the right and up, and what it is called. */
static const struct {
    int across, up;
    const char *name;
} sides_of_three[IKT_SIDES] = {{0, 1, "x y"}, {0, 2, "x z"}, {1, 2, "y z"}};

/* The points behind are smaller and lighter than those before them: in the colour of their class
 * where they have one that the others have, too, else in grey. */
static ikt_status allocate_behind(ikt_context *ctx, ikt_figure *f, int64_t behind) {
    const ikt_colouring *c = &f->colouring;
    const int64_t classes = c->n_classes;
    IKT_TRY(ikt_stamp_create(ctx, fmax(BEHIND_RADIUS * f->settings.point_radius, 0.5), &f->small));
    IKT_TRY(ikt_alloc(ctx, &f->back, f->band_rows * f->side, sizeof *f->back, "picture"));
    IKT_TRY(ikt_alloc(ctx, &f->back_index, behind, sizeof *f->back_index, "picture"));
    IKT_TRY(ikt_alloc(ctx, &f->back_linear, classes + 1, sizeof *f->back_linear, "picture"));
    for (int64_t k = 0; k <= classes; k++) {
        const ikt_rgb colour = k < classes ? c->colour[k] : f->theme.faint;
        const double part = k < classes ? BEHIND_PART : 0.5;
        f->back_linear[k] = ikt_linear_of(ikt_rgb_mix(f->theme.background, colour, part));
    }
    const int64_t *label = f->points->behind_labels;
    for (int64_t i = 0; i < behind; i++) {
        int64_t at = classes;
        if (label && classes > 0) IKT_FIND_FIRST(at, 0, classes, c->classes[at].label >= label[i]);
        const bool is_class = at < classes && label && c->classes[at].label == label[i];
        f->back_index[i] = (uint16_t)(is_class ? at : classes);
    }
    return IKT_OK;
}

static ikt_status allocate(ikt_context *ctx, ikt_figure *f) {
    const int64_t rows = f->points->rows->count, behind = f->is_backed ? f->points->n_behind : 0;
    const int64_t side = f->side;
    if (f->q != 2) {
        IKT_TRY(ikt_alloc(ctx, &f->flat, 2 * rows, sizeof *f->flat, "picture"));
        IKT_TRY(ikt_alloc(ctx, &f->flat_behind, 2 * behind, sizeof *f->flat_behind, "picture"));
    }
    IKT_TRY(ikt_alloc(ctx, &f->marks, 2 * f->points->n_marked, sizeof *f->marks, "picture"));
    IKT_TRY(ikt_alloc(ctx, &f->places, 2 * f->colouring.n_classes, sizeof *f->places, "picture"));
    if (f->q == 1) return IKT_OK;
    const int64_t band_rows = BAND_BYTES / (int64_t)sizeof *f->sums / side;
    f->band_rows = ikt_smaller(ikt_larger(band_rows, 1), side);
    IKT_TRY(ikt_stamp_create(ctx, f->settings.point_radius, &f->stamp));
    IKT_TRY(ikt_alloc(ctx, &f->sums, f->band_rows * side, sizeof *f->sums, "picture"));
    if (f->is_backed) IKT_TRY(allocate_behind(ctx, f, behind));
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
static void begin_panel(ikt_figure *f, int p) {
    const ikt_plot_points *points = f->points;
    f->y = project(f->q, points->y, points->rows->count, p, f->flat);
    if (f->is_backed)
        f->behind = project(f->q, points->behind, points->n_behind, p, f->flat_behind);
}

/* COLLECTIVE. Sums the points of all ranks in the rows row .. row + rows - 1 of the view. */
static void sum_band(ikt_context *ctx, const ikt_figure *f, const ikt_stamp *stamp,
                     const ikt_raster_points *points, int64_t row, int64_t rows,
                     ikt_pixel_sum *sums) {
    memset(sums, 0, (size_t)(rows * f->side) * sizeof *sums);
    ikt_raster_band(ctx, &f->view, stamp, points, row, rows, sums);
    ikt_sum_i64(ctx, &sums->cover, rows * f->side * 4);
}

/* The points behind fill the part of a pixel that the points before them leave free. Their mean
 * colour stays the same, or becomes darker by rounding: it never exceeds the range of colours. */
static void show_behind(ikt_pixel_sum *front, const ikt_pixel_sum *back) {
    const int64_t left = IKT_COVER_FULL - front->cover;
    const int64_t most = ikt_larger(back->cover, IKT_COVER_FULL);
    if (left <= 0 || back->cover == 0) return;
    const int64_t part = back->cover * left / most;
    front->cover += part;
    front->r += back->r * part / back->cover;
    front->g += back->g * part / back->cover;
    front->b += back->b * part / back->cover;
}

/* COLLECTIVE. Sums the bands of a square one after the other; rank 0 keeps their mean colours and
 * draws them. */
static void draw_square(ikt_context *ctx, ikt_figure *f, int64_t left) {
    const ikt_raster_points own = {f->points->rows->count, f->y, f->colouring.index,
                                   f->colouring.linear};
    const ikt_raster_points behind = {f->points->n_behind, f->behind, f->back_index,
                                      f->back_linear};
    for (int64_t row = 0; row < f->side; row += f->band_rows) {
        const int64_t rows = ikt_smaller(f->side - row, f->band_rows);
        sum_band(ctx, f, &f->stamp, &own, row, rows, f->sums);
        if (f->is_backed) {
            sum_band(ctx, f, &f->small, &behind, row, rows, f->back);
            for (int64_t p = 0; p < rows * f->side; p++)
                show_behind(&f->sums[p], &f->back[p]);
        }
        if (ikt_rank(ctx) == 0)
            ikt_shade_mean(f->sums, rows * f->side, f->table, f->pixels + row * f->side);
    }
    if (ikt_rank(ctx) != 0) return;
    const ikt_canvas_picture picture = {f->side, f->side, f->picture};
    ikt_shade(f->pixels, f->side * f->side, f->settings.opacity, f->theme.background, f->picture);
    ikt_canvas_show(f->canvas, &picture, left, f->top);
}

/* COLLECTIVE. Counts the points of all ranks, by bar and colour, and draws the bars: as many as the
 * eye tells apart, fewer where points are few, so that a bar has some. Bars share the side of the
 * view, below the text of the panel. */
static ikt_status draw_bars(ikt_context *ctx, ikt_figure *f) {
    const int64_t most = f->side / BAR_PIXELS, colours = f->colouring.n_colours;
    const int64_t wanted = (int64_t)(4 * sqrt((double)f->points->rows->n));
    const int64_t bars = ikt_larger(ikt_smaller(wanted, most), BARS_LEAST);
    int64_t *count IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &count, bars * colours, sizeof *count, "picture"));
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
        f->most = ikt_larger(f->most, sum);
    }
    const int64_t head = (int64_t)((2 * AXES_GAP + AXES) * f->unit),
                  height = f->panel_height - head;
    for (int64_t b = 0; b < bars && f->most > 0 && ikt_rank(ctx) == 0; b++) {
        const int64_t from = f->left + b * f->side / bars, to = f->left + (b + 1) * f->side / bars;
        int64_t sum = 0, low = 0; /* below, in points and in pixels */
        for (int64_t c = 0; c < colours; c++) {
            sum += count[b * colours + c];
            const int64_t high = (sum * height + f->most / 2) / f->most;
            ikt_canvas_fill(f->canvas, from, f->top + f->panel_height - high, to - from, high - low,
                            f->colouring.colour[c]);
            low = high;
        }
    }
    return IKT_OK;
}

/* --- names of classes ------------------------------------------------------------------------- */

/* A name on the panel; a box that its plate covers. */
typedef struct {
    char text[NAME_BYTES];
    double x, y, half; /* middle, and half the width of the plate */
} name_place;

static bool overlap(const name_place *a, const name_place *b, double height) {
    return fabs(a->x - b->x) < a->half + b->half && fabs(a->y - b->y) < height;
}

/* LOCAL, rank 0. The name on a plate with round ends, in the colour of the background. */
static void draw_name(const ikt_figure *f, const name_place *name, double size) {
    const double reach = name->half - 0.9 * size;
    const ikt_segment plate = {name->x - reach, name->y, name->x + reach, name->y};
    ikt_canvas_stroke(f->canvas, &plate, 1, 1.8 * size, f->theme.background);
    ikt_canvas_text(f->canvas, name->text, name->x - ikt_font_width(name->text, size) / 2,
                    name->y + size / 2, size, false, f->theme.ink);
}

/* LOCAL, rank 0. The class with the most points of those that come after class `last` of `count`
 * points: classes by falling counts; -1 behind the last one. */
static int64_t next_class(const ikt_colouring *c, int64_t last) {
    int64_t best = -1;
    for (int64_t k = 0; k < c->n_classes; k++) {
        const int64_t n = c->classes[k].count;
        if (last >= 0 && (n > c->classes[last].count || (n == c->classes[last].count && k <= last)))
            continue;
        if (best < 0 || n > c->classes[best].count) best = k;
    }
    return best;
}

/* LOCAL, pure. Moves a name into the panel, and up or down by a line or two where it would lie on
 * one of those before. False where that is not enough. */
static bool find_room(const ikt_figure *f, int64_t left, const name_place *placed, int64_t count,
                      name_place *name) {
    static const int lines[] = {0, 1, -1, 2, -2};
    const double height = 1.8 * NAME * f->unit, own = name->y;
    const double bottom = (double)(f->top + f->panel_height) - height / 2;
    name->x = fmax(fmin(name->x, (double)(left + f->side) - name->half), (double)left + name->half);
    for (size_t l = 0; l < sizeof lines / sizeof *lines; l++) {
        bool is_free = true;
        name->y = fmax(fmin(own + lines[l] * 1.1 * height, bottom), (double)f->top + height / 2);
        for (int64_t other = 0; other < count && is_free; other++)
            is_free = !overlap(name, &placed[other], height);
        if (is_free) return true;
    }
    return false;
}

/* COLLECTIVE. Names of the classes at their densest places, the largest class first; one that would
 * lie on another is moved a little, or left out, and one wider than the panel is cut. */
static ikt_status draw_names(ikt_context *ctx, ikt_figure *f, int64_t left) {
    const ikt_colouring *c = &f->colouring;
    const double size = NAME * f->unit;
    name_place *placed IKT_AT_END(ikt_free) = NULL;
    int64_t count = 0;
    if (!f->settings.names || f->q == 1 || c->n_classes < 2 || c->n_classes > NAMES_MOST)
        return IKT_OK;
    const ikt_rows_points points = {.rows = f->points->rows, .q = 2, .y = f->y};
    IKT_TRY(ikt_class_places(ctx, &points, c->index, c->n_classes, f->places));
    if (ikt_rank(ctx) != 0) return ikt_agree(ctx, IKT_OK);
    ikt_status st = ikt_alloc(ctx, &placed, c->n_classes, sizeof *placed, "picture");
    for (int64_t k = next_class(c, -1); k >= 0 && st == IKT_OK; k = next_class(c, k)) {
        name_place *name = &placed[count];
        char whole[NAME_BYTES];
        if (!isfinite(f->places[2 * k])) continue;
        ikt_label_name(f->points->class_names, c->classes[k].label, whole, NAME_BYTES);
        name->x = (double)left +
                  ((double)ikt_view_x(&f->view, (float)f->places[2 * k]) + 0.5) / IKT_VIEW_PHASES;
        name->y =
            (double)f->top +
            ((double)ikt_view_y(&f->view, (float)f->places[2 * k + 1]) + 0.5) / IKT_VIEW_PHASES;
        ikt_font_fit(whole, size, (double)f->side - 1.8 * size, name->text, NAME_BYTES);
        name->half = ikt_font_width(name->text, size) / 2 + 0.9 * size;
        if (find_room(f, left, placed, count, name)) draw_name(f, &placed[count++], size);
    }
    return ikt_agree(ctx, st);
}

/* --- a panel ---------------------------------------------------------------------------------- */

/* LOCAL, rank 0. A frame around panel p, the marked points in it, and the axes it shows. */
static void finish_panel(ikt_figure *f, int p, int64_t left) {
    ikt_canvas_frame(f->canvas, left - 1, f->top - 1, f->side + 2, f->panel_height + 2,
                     f->theme.faint);
    for (int64_t m = 0; m < f->points->n_marked; m++) {
        double down = f->q == 1 ? (double)f->panel_height - 12 * f->unit
                                : ((double)f->marks[2 * m + 1] + 0.5) / IKT_VIEW_PHASES;
        ikt_mark_draw(f->canvas, (double)left + ((double)f->marks[2 * m] + 0.5) / IKT_VIEW_PHASES,
                      (double)f->top + down, f->unit, &f->theme);
    }
    char text[96] = "", count[32];
    const char *axes = f->q == 3 ? sides_of_three[p].name : "";
    ikt_count_text(f->q == 1 ? f->most : f->outside, count);
    if (f->q == 1)
        snprintf(text, sizeof text, "highest bar: %s", count);
    else if (f->outside > 0)
        snprintf(text, sizeof text, "%s%s%s %s not shown", axes, axes[0] ? ", " : "", count,
                 f->outside == 1 ? "row far out is" : "rows far out are");
    else
        snprintf(text, sizeof text, "%s", axes);
    ikt_canvas_text(f->canvas, text, (double)left + AXES_GAP * f->unit,
                    (double)f->top + (AXES_GAP + AXES) * f->unit, AXES * f->unit, false,
                    f->theme.faint);
}

ikt_status ikt_figure_panels(ikt_context *ctx, ikt_figure *f) {
    const ikt_plot_points *points = f->points;
    const double side = (double)f->side;
    const double margin = f->q == 1 ? 0.01 * side : f->settings.point_radius + 0.02 * side;
    ikt_view views[IKT_SIDES];
    double scale = INFINITY;
    f->is_backed = f->q > 1 && ikt_max_one(ctx, f->points->n_behind) > 0;
    IKT_TRY(ikt_agree(ctx, allocate(ctx, f)));
    /* The views of the panels, all at the scale of the widest. */
    for (int p = 0; p < f->count; p++) {
        begin_panel(f, p);
        const ikt_view_points shown = {.rows = points->rows,
                                       .y = f->y,
                                       .behind = f->behind,
                                       .n_behind = f->is_backed ? points->n_behind : 0,
                                       .marked = points->marked,
                                       .n_marked = points->n_marked,
                                       .has_all = f->q == 1};
        IKT_TRY(ikt_view_fit(ctx, &shown, f->side, margin, &views[p]));
        scale = fmin(scale, views[p].scale);
    }
    for (int p = 0; p < f->count; p++) {
        const int64_t left = f->left + p * (f->side + f->gap);
        begin_panel(f, p);
        f->view = views[p];
        f->view.scale = scale;
        f->outside = ikt_view_outside(ctx, &f->view, points->rows, f->y);
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
        IKT_TRY(draw_names(ctx, f, left));
        if (ikt_rank(ctx) == 0) finish_panel(f, p, left);
    }
    return IKT_OK;
}

void ikt_figure_free(ikt_figure *f) {
    ikt_colouring_destroy(&f->colouring);
    ikt_stamp_destroy(&f->stamp);
    ikt_stamp_destroy(&f->small);
    ikt_free_all(&f->flat, &f->flat_behind, &f->marks, &f->places, &f->sums, &f->back,
                 &f->back_index, &f->back_linear, &f->pixels, &f->picture, &f->table);
}
