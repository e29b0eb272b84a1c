/* The legend.
 *
 * All lines have one height. The table of classes has as many columns as its largest width allows;
 * the classes for which there is no room share one line that says how many they are. */
#include "plot/figure.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "base/sort.h"
#include "io/formats/class_labels.h"

/* In thousandths of the picture's smaller side. */
#define TEXT       12.5 /* capital height */
#define LINE       25.0
#define SWATCH     13.0 /* diameter */
#define INDENT     24.0 /* from swatch's left to the text */
#define GAP        16.0 /* between name and count */
#define COLUMN_GAP 26.0
#define NAME_MAX   170.0
#define BAR_WIDTH  20.0
#define BAR_GAP    9.0
#define BAR_HEIGHT 360.0

#define MORE "... and %" PRId64 " more" /* classes than lines */

enum { TEXT_BYTES = 128, HEAD_LINES = 2 };

void ikt_count_text(int64_t count, char *out) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRId64, count), at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-') out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
}

static double text_width(const ikt_legend *l, const char *text) {
    return ikt_font_width(text, TEXT * l->unit);
}

/* The two lines above the colours: number of points; what the colours mean. */
static void head_texts(const ikt_legend *l, char first[TEXT_BYTES], char second[TEXT_BYTES]) {
    const char *name = l->column ? l->column : "";
    const int64_t classes = l->colouring->n_classes;
    char count[32];
    ikt_count_text(l->n, count);
    snprintf(first, TEXT_BYTES, "%s point%s", count, ikt_plural(l->n));
    second[0] = '\0';
    if (l->colouring->kind == IKT_COLOUR_VALUES) snprintf(second, TEXT_BYTES, "%.100s", name);
    if (l->colouring->kind == IKT_COLOUR_CLASSES)
        snprintf(second, TEXT_BYTES, "%.80s%s%" PRId64 " class%s%s", name, name[0] ? ": " : "",
                 classes, classes == 1 ? "" : "es",
                 classes > IKT_PALETTE_DISTINCT ? ", similar colours" : "");
}

static void mark_text(const ikt_legend *l, char text[TEXT_BYTES]) {
    if (l->n_marked == 1)
        snprintf(text, TEXT_BYTES, "row %" PRId64, l->marked[0]);
    else
        snprintf(text, TEXT_BYTES, "%" PRId64 " marked rows", l->n_marked);
}

static void class_texts(const ikt_legend *l, int64_t i, char name[TEXT_BYTES], char count[32]) {
    const ikt_class *entry = &l->colouring->classes[i];
    ikt_label_name(l->class_names, entry->label, name, TEXT_BYTES);
    ikt_count_text(entry->count, count);
}

static void value_texts(const ikt_colouring *colouring, char largest[TEXT_BYTES],
                        char least[TEXT_BYTES], char missing[TEXT_BYTES]) {
    char count[32];
    ikt_count_text(colouring->missing, count);
    snprintf(largest, TEXT_BYTES, "%.6g", colouring->largest);
    snprintf(least, TEXT_BYTES, "%.6g", colouring->least);
    snprintf(missing, TEXT_BYTES, "%s not finite", count);
}

/* The table of as many columns as `width_max` has room for. */
static void plan_table(ikt_legend *l, double height, double width_max) {
    const int64_t n = l->colouring->n_classes, fit = (int64_t)(height / (LINE * l->unit));
    const double gap = COLUMN_GAP * l->unit;
    char name[TEXT_BYTES], count[32];
    for (int64_t i = 0; i < n; i++) {
        class_texts(l, i, name, count);
        l->name_width = fmax(l->name_width, text_width(l, name));
        l->count_width = fmax(l->count_width, text_width(l, count));
    }
    l->name_width = fmin(l->name_width, NAME_MAX * l->unit);
    l->column_width = INDENT * l->unit + l->name_width + GAP * l->unit + l->count_width;
    snprintf(name, sizeof name, MORE, n);
    if (n > fit) l->column_width = fmax(l->column_width, text_width(l, name));
    const int64_t most = (int64_t)((width_max + gap) / (l->column_width + gap));
    const int64_t rows = ikt_larger(fit, 1), columns = (n + rows - 1) / rows;
    l->columns = ikt_larger(ikt_smaller(columns, most), 1); /* 1: without classes, or room */
    l->shown = n <= l->columns * rows ? n : l->columns * rows - 1;
    l->rows = ikt_smaller((n + l->columns - 1) / l->columns, rows);
    l->width = fmax(l->width, (double)l->columns * (l->column_width + gap) - gap);
}

void ikt_legend_plan(ikt_legend *l, double height, double width_max) {
    char first[TEXT_BYTES], second[TEXT_BYTES], third[TEXT_BYTES];
    double used = (HEAD_LINES + 0.5) * LINE * l->unit;
    head_texts(l, first, second);
    l->width = fmax(text_width(l, first), text_width(l, second));
    if (l->n_marked > 0) {
        used += 1.5 * LINE * l->unit;
        mark_text(l, first);
        l->width = fmax(l->width, INDENT * l->unit + text_width(l, first));
    }
    if (l->colouring->kind == IKT_COLOUR_CLASSES) plan_table(l, height - used, width_max);
    if (l->colouring->kind == IKT_COLOUR_VALUES) {
        value_texts(l->colouring, first, second, third);
        l->width = fmax(l->width, (BAR_WIDTH + BAR_GAP) * l->unit +
                                      fmax(text_width(l, first), text_width(l, second)));
        if (l->colouring->missing > 0)
            l->width = fmax(l->width, INDENT * l->unit + text_width(l, third));
        l->bar_height = fmin(BAR_HEIGHT * l->unit, height - used - 2 * LINE * l->unit);
    }
    l->width = fmin(l->width, width_max);
}

static void draw_text(ikt_canvas *canvas, const ikt_legend *l, const char *text, double x, double y,
                      double width) {
    char fitted[TEXT_BYTES];
    ikt_font_fit(text, TEXT * l->unit, width + 0.5, fitted, TEXT_BYTES);
    ikt_canvas_text(canvas, fitted, x, y + TEXT * l->unit, TEXT * l->unit, false, l->theme->ink);
}

static void draw_swatch(ikt_canvas *canvas, const ikt_legend *l, double x, double y,
                        ikt_rgb colour) {
    double cx = x + SWATCH / 2 * l->unit, cy = y + TEXT / 2 * l->unit;
    ikt_segment dot = {cx, cy, cx, cy};
    ikt_canvas_stroke(canvas, &dot, 1, SWATCH * l->unit, colour);
}

void ikt_mark_draw(ikt_canvas *canvas, double x, double y, double unit, const ikt_theme *theme) {
    double arm = 6.5 * unit;
    const ikt_segment cross[2] = {{x - arm, y - arm, x + arm, y + arm},
                                  {x - arm, y + arm, x + arm, y - arm}};
    ikt_canvas_stroke(canvas, cross, 2, 6 * unit, theme->background);
    ikt_canvas_stroke(canvas, cross, 2, 2.6 * unit, theme->ink);
}

/* Draws the table of classes; the last line stands for those that have none. */
static void draw_classes(ikt_canvas *canvas, const ikt_legend *l, double x, double y) {
    const int64_t hidden = l->colouring->n_classes - l->shown;
    char name[TEXT_BYTES], count[32];
    for (int64_t i = 0; i < l->shown + (hidden > 0); i++) {
        const double left = x + (double)(i / l->rows) * (l->column_width + COLUMN_GAP * l->unit);
        const double top = y + (double)(i % l->rows) * LINE * l->unit;
        if (i == l->shown) {
            snprintf(name, sizeof name, MORE, hidden);
            draw_text(canvas, l, name, left, top, l->column_width);
            continue;
        }
        class_texts(l, i, name, count);
        draw_swatch(canvas, l, left, top, l->colouring->colour[i]);
        draw_text(canvas, l, name, left + INDENT * l->unit, top, l->name_width);
        ikt_canvas_text(canvas, count, left + l->column_width, top + TEXT * l->unit, TEXT * l->unit,
                        true, l->theme->faint);
    }
}

/* Returns the height it used. */
static double draw_bar(ikt_canvas *canvas, const ikt_legend *l, double x, double y) {
    char largest[TEXT_BYTES], least[TEXT_BYTES], missing[TEXT_BYTES];
    const int64_t left = llround(x), top = llround(y), width = llround(BAR_WIDTH * l->unit);
    const int64_t height = llround(l->bar_height);
    const double beside = x + (BAR_WIDTH + BAR_GAP) * l->unit, room = l->width - (beside - x);
    value_texts(l->colouring, largest, least, missing);
    /* Each row down to the end: what lies over it leaves one row, and no seams on a page. */
    for (int64_t row = 0; row < height; row++)
        ikt_canvas_fill(
            canvas, left, top + row, width, height - row,
            ikt_palette_value(1 - (double)row / (double)(height - 1), l->colouring->black));
    draw_text(canvas, l, largest, beside, y, room);
    draw_text(canvas, l, least, beside, y + l->bar_height - TEXT * l->unit, room);
    if (l->colouring->missing == 0) return l->bar_height;
    const double below = y + l->bar_height + (LINE - TEXT) * l->unit;
    draw_swatch(canvas, l, x, below, l->theme->missing);
    draw_text(canvas, l, missing, x + INDENT * l->unit, below, l->width - INDENT * l->unit);
    return l->bar_height + LINE * l->unit;
}

void ikt_legend_draw(ikt_canvas *canvas, const ikt_legend *l, double x, double y) {
    char first[TEXT_BYTES], second[TEXT_BYTES];
    const double line = LINE * l->unit;
    head_texts(l, first, second);
    draw_text(canvas, l, first, x, y, l->width);
    draw_text(canvas, l, second, x, y + line, l->width);
    y += (second[0] ? HEAD_LINES + 0.5 : 1) * line;
    if (l->colouring->kind == IKT_COLOUR_CLASSES) {
        draw_classes(canvas, l, x, y);
        y += (double)l->rows * line;
    } else if (l->colouring->kind == IKT_COLOUR_VALUES) {
        y += draw_bar(canvas, l, x, y);
    }
    if (l->n_marked == 0) return;
    y += 0.5 * line;
    mark_text(l, first);
    ikt_mark_draw(canvas, x + SWATCH / 2 * l->unit, y + TEXT / 2 * l->unit, l->unit, l->theme);
    draw_text(canvas, l, first, x + INDENT * l->unit, y, l->width - INDENT * l->unit);
}
