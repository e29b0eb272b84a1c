/* The legend.
 *
 * All lines have one height. The table of classes has as many columns as its largest width allows;
 * the classes for which there is no room share one line that says how many they are. */
#include "plot/legend.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

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

static double widest(double a, double b) {
    return a > b ? a : b;
}

/* The two lines above the colours: number of points; what the colours mean. */
static void head_texts(const ikt_legend_content *c, char first[TEXT_BYTES],
                       char second[TEXT_BYTES]) {
    char count[32];
    ikt_count_text(c->n, count);
    snprintf(first, TEXT_BYTES, "%s point%s", count, c->n == 1 ? "" : "s");
    second[0] = '\0';
    const char *name = c->column ? c->column : "";
    int64_t classes = c->colouring->n_classes;
    if (c->colouring->kind == IKT_COLOUR_VALUES) snprintf(second, TEXT_BYTES, "%.100s", name);
    if (c->colouring->kind == IKT_COLOUR_CLASSES)
        snprintf(second, TEXT_BYTES, "%.80s%s%" PRId64 " class%s%s", name, name[0] ? ": " : "",
                 classes, classes == 1 ? "" : "es",
                 classes > IKT_PALETTE_DISTINCT ? ", similar colours" : "");
}

static void mark_text(const ikt_legend_content *c, char text[TEXT_BYTES]) {
    if (c->n_marked == 1)
        snprintf(text, TEXT_BYTES, "row %" PRId64, c->marked[0]);
    else
        snprintf(text, TEXT_BYTES, "%" PRId64 " marked rows", c->n_marked);
}

static void class_texts(const ikt_legend_content *c, int64_t i, char name[TEXT_BYTES],
                        char count[32]) {
    const ikt_class *entry = &c->colouring->classes[i];
    ikt_label_name(c->class_names, entry->label, name, TEXT_BYTES);
    ikt_count_text(entry->count, count);
}

static void more_text(int64_t hidden, char text[TEXT_BYTES]) {
    snprintf(text, TEXT_BYTES, "... and %" PRId64 " more", hidden);
}

static void value_texts(const ikt_colouring *colouring, char largest[TEXT_BYTES],
                        char least[TEXT_BYTES], char missing[TEXT_BYTES]) {
    char count[32];
    ikt_count_text(colouring->missing, count);
    snprintf(largest, TEXT_BYTES, "%.6g", colouring->largest);
    snprintf(least, TEXT_BYTES, "%.6g", colouring->least);
    snprintf(missing, TEXT_BYTES, "%s not finite", count);
}

static void plan_bar(ikt_legend *l, const ikt_colouring *colouring, double height) {
    char largest[TEXT_BYTES], least[TEXT_BYTES], missing[TEXT_BYTES];
    double size = TEXT * l->unit;
    value_texts(colouring, largest, least, missing);
    double labels = widest(ikt_font_width(largest, size), ikt_font_width(least, size));
    l->width = widest(l->width, (BAR_WIDTH + BAR_GAP) * l->unit + labels);
    if (colouring->missing > 0)
        l->width = widest(l->width, INDENT * l->unit + ikt_font_width(missing, size));
    l->bar_height = fmin(BAR_HEIGHT * l->unit, height - 2 * LINE * l->unit);
}

static void plan_table(ikt_legend *l, const ikt_legend_content *c, double height,
                       double width_max) {
    char name[TEXT_BYTES], count[32];
    for (int64_t i = 0; i < c->colouring->n_classes; i++) {
        class_texts(c, i, name, count);
        l->name_width = widest(l->name_width, ikt_font_width(name, TEXT * l->unit));
        l->count_width = widest(l->count_width, ikt_font_width(count, TEXT * l->unit));
    }
    l->name_width = fmin(l->name_width, NAME_MAX * l->unit);
    l->column_width = INDENT * l->unit + l->name_width + GAP * l->unit + l->count_width;
    int64_t n = c->colouring->n_classes, fit = (int64_t)(height / (LINE * l->unit));
    more_text(n, name);
    if (n > fit) l->column_width = widest(l->column_width, ikt_font_width(name, TEXT * l->unit));
    int64_t most =
        (int64_t)((width_max + COLUMN_GAP * l->unit) / (l->column_width + COLUMN_GAP * l->unit));
    int64_t rows = fit > 1 ? fit : 1, columns = (n + rows - 1) / rows;
    l->columns = columns < most ? columns : most;
    if (l->columns < 1) l->columns = 1; /* without classes, or room */
    l->shown = n <= l->columns * rows ? n : l->columns * rows - 1;
    l->rows = (n + l->columns - 1) / l->columns;
    if (l->rows > rows) l->rows = rows;
}

ikt_legend ikt_legend_plan(const ikt_legend_content *content, double unit, double height,
                           double width_max) {
    char first[TEXT_BYTES], second[TEXT_BYTES], mark[TEXT_BYTES];
    ikt_legend l = {.unit = unit};
    double size = TEXT * unit, used = (HEAD_LINES + 0.5) * LINE * unit;
    if (content->n_marked > 0) used += 1.5 * LINE * unit;
    head_texts(content, first, second);
    l.width = widest(ikt_font_width(first, size), ikt_font_width(second, size));
    if (content->n_marked > 0) {
        mark_text(content, mark);
        l.width = widest(l.width, INDENT * unit + ikt_font_width(mark, size));
    }
    if (content->colouring->kind == IKT_COLOUR_CLASSES) {
        plan_table(&l, content, height - used, width_max);
        l.width = widest(l.width, (double)l.columns * (l.column_width + COLUMN_GAP * unit) -
                                      COLUMN_GAP * unit);
    }
    if (content->colouring->kind == IKT_COLOUR_VALUES)
        plan_bar(&l, content->colouring, height - used);
    l.width = fmin(l.width, width_max);
    return l;
}

static void draw_text(ikt_canvas *canvas, const ikt_legend *l, const char *text, double x, double y,
                      double width, ikt_rgb colour) {
    char fitted[TEXT_BYTES];
    ikt_font_fit(text, TEXT * l->unit, width, fitted, TEXT_BYTES);
    ikt_canvas_text(canvas, fitted, x, y + TEXT * l->unit, TEXT * l->unit, false, colour);
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

static void draw_classes(ikt_canvas *canvas, const ikt_legend *l, const ikt_legend_content *c,
                         double x, double y) {
    char name[TEXT_BYTES], count[32];
    double size = TEXT * l->unit;
    for (int64_t i = 0; i < l->shown; i++) {
        class_texts(c, i, name, count);
        double left = x + (double)(i / l->rows) * (l->column_width + COLUMN_GAP * l->unit);
        double top = y + (double)(i % l->rows) * LINE * l->unit;
        draw_swatch(canvas, l, left, top, c->colouring->colour[i]);
        draw_text(canvas, l, name, left + INDENT * l->unit, top, l->name_width + 0.5,
                  c->theme->ink);
        ikt_canvas_text(canvas, count, left + l->column_width, top + size, size, true,
                        c->theme->faint);
    }
    if (l->shown == c->colouring->n_classes) return;
    more_text(c->colouring->n_classes - l->shown, name);
    draw_text(canvas, l, name,
              x + (double)(l->shown / l->rows) * (l->column_width + COLUMN_GAP * l->unit),
              y + (double)(l->shown % l->rows) * LINE * l->unit, l->column_width + 0.5,
              c->theme->ink);
}

/* Returns the height it used. */
static double draw_bar(ikt_canvas *canvas, const ikt_legend *l, const ikt_legend_content *c,
                       double x, double y) {
    char largest[TEXT_BYTES], least[TEXT_BYTES], missing[TEXT_BYTES];
    int64_t left = llround(x), top = llround(y), width = llround(BAR_WIDTH * l->unit);
    int64_t height = llround(l->bar_height);
    double beside = x + (BAR_WIDTH + BAR_GAP) * l->unit, room = l->width - (beside - x) + 0.5;
    value_texts(c->colouring, largest, least, missing);
    /* Each row down to the end: what lies over it leaves one row, and no seams on a page. */
    for (int64_t row = 0; row < height; row++)
        ikt_canvas_fill(
            canvas, left, top + row, width, height - row,
            ikt_palette_value(1 - (double)row / (double)(height - 1), c->colouring->black));
    draw_text(canvas, l, largest, beside, y, room, c->theme->ink);
    draw_text(canvas, l, least, beside, y + l->bar_height - TEXT * l->unit, room, c->theme->ink);
    if (c->colouring->missing == 0) return l->bar_height;
    double below = y + l->bar_height + (LINE - TEXT) * l->unit;
    draw_swatch(canvas, l, x, below, c->theme->missing);
    draw_text(canvas, l, missing, x + INDENT * l->unit, below, l->width - INDENT * l->unit + 0.5,
              c->theme->ink);
    return l->bar_height + LINE * l->unit;
}

void ikt_legend_draw(ikt_canvas *canvas, const ikt_legend *legend,
                     const ikt_legend_content *content, double x, double y) {
    char first[TEXT_BYTES], second[TEXT_BYTES], mark[TEXT_BYTES];
    double line = LINE * legend->unit;
    head_texts(content, first, second);
    draw_text(canvas, legend, first, x, y, legend->width + 0.5, content->theme->ink);
    draw_text(canvas, legend, second, x, y + line, legend->width + 0.5, content->theme->ink);
    double at = y + (second[0] ? HEAD_LINES + 0.5 : 1) * line;
    if (content->colouring->kind == IKT_COLOUR_CLASSES) {
        draw_classes(canvas, legend, content, x, at);
        at += (double)legend->rows * line;
    } else if (content->colouring->kind == IKT_COLOUR_VALUES) {
        at += draw_bar(canvas, legend, content, x, at);
    }
    if (content->n_marked == 0) return;
    at += 0.5 * line;
    mark_text(content, mark);
    ikt_mark_draw(canvas, x + SWATCH / 2 * legend->unit, at + TEXT / 2 * legend->unit, legend->unit,
                  content->theme);
    draw_text(canvas, legend, mark, x + INDENT * legend->unit, at, legend->width,
              content->theme->ink);
}
