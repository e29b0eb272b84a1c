/* Line charts as SVG. */
#include "plot/chart.h"

#include <math.h>
#include <stdio.h>

#include "plot/colouring.h"

enum { LEFT = 62, RIGHT = 14, TOP = 30, BOTTOM = 44, KEY_LINE = 16, TICKS_MOST = 32 };

typedef struct {
    double low, high; /* in the unit drawn in: logarithms where is_log */
    bool is_log;
    double from, to; /* pixels */
} axis;

static bool is_there(const ikt_chart_line *line, int64_t i) {
    return isfinite(line->x[i]) && isfinite(line->y[i]);
}

/* The range of all lines along one axis, with room round it. */
static axis make_axis(const ikt_chart *chart, bool is_x, bool is_log, double from, double to) {
    axis a = {INFINITY, -INFINITY, is_log, from, to};
    for (int64_t l = 0; l < chart->lines; l++) {
        const ikt_chart_line *line = &chart->line[l];
        for (int64_t i = 0; i < line->count; i++) {
            if (!is_there(line, i)) continue;
            const double value[3] = {is_x ? line->x[i] : line->y[i],
                                     !is_x && line->low ? line->low[i] : NAN,
                                     !is_x && line->high ? line->high[i] : NAN};
            for (int v = 0; v < 3; v++) {
                if (!isfinite(value[v])) continue;
                a.low = fmin(a.low, value[v]);
                a.high = fmax(a.high, value[v]);
            }
        }
    }
    if (!(a.low <= a.high)) a.low = 0, a.high = 1;
    if (a.low <= 0) a.is_log = false;
    if (a.is_log) a.low = log10(a.low), a.high = log10(a.high);
    double room = (a.high - a.low) * 0.04;
    if (!(room > 0)) room = fmax(fabs(a.low) * 0.05, 0.05);
    a.low -= room;
    a.high += room;
    return a;
}

static double place(const axis *a, double value) {
    if (a->is_log) value = log10(value);
    return a->from + (value - a->low) / (a->high - a->low) * (a->to - a->from);
}

/* Steps of 1, 2 or 5 times a power of ten, some six of them; of a logarithmic axis that spans more
 * than a decade and a half, the powers themselves, and 2 and 5 where they are few. */
static int make_ticks(const axis *a, double tick[TICKS_MOST]) {
    int count = 0;
    if (a->is_log && a->high - a->low > 1.5) {
        const int each = a->high - a->low > 4 ? 1 : 3;
        static const double factor[3] = {1, 2, 5};
        for (double decade = floor(a->low); decade <= a->high; decade++)
            for (int f = 0; f < each; f++) {
                const double value = factor[f] * pow(10, decade), at = log10(value);
                if (at >= a->low && at <= a->high && count < TICKS_MOST) tick[count++] = value;
            }
        return count;
    }
    const double low = a->is_log ? pow(10, a->low) : a->low,
                 high = a->is_log ? pow(10, a->high) : a->high;
    const double raw = (high - low) / 6, power = pow(10, floor(log10(raw)));
    const double step = power * (raw / power < 1.5 ? 1 : raw / power < 3.5 ? 2 : 5);
    for (double value = ceil(low / step) * step; value <= high; value += step)
        if (count < TICKS_MOST) tick[count++] = fabs(value) < step * 1e-9 ? 0 : value;
    return count;
}

static void add_text(ikt_text *out, double x, double y, const char *anchor, const char *text) {
    ikt_text_add(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    ikt_text_add_xml(out, text);
    ikt_text_add(out, "</text>\n");
}

static void draw_axes(const ikt_chart *chart, const axis *x, const axis *y, ikt_text *out) {
    double tick[TICKS_MOST];
    char digits[IKT_REAL_TEXT];
    ikt_text_add(out, "<g stroke=\"#dddddd\">\n");
    for (int i = 0, count = make_ticks(y, tick); i < count; i++)
        ikt_text_add(out, "<path d=\"M%.1f %.1fH%.1f\"/>\n", x->from, place(y, tick[i]), x->to);
    for (int i = 0, count = make_ticks(x, tick); i < count; i++)
        ikt_text_add(out, "<path d=\"M%.1f %.1fV%.1f\"/>\n", place(x, tick[i]), y->from, y->to);
    ikt_text_add(out, "</g>\n<g fill=\"#444444\" stroke=\"none\">\n");
    for (int i = 0, count = make_ticks(y, tick); i < count; i++) {
        snprintf(digits, sizeof digits, "%g", tick[i]);
        add_text(out, x->from - 6, place(y, tick[i]) + 4, "end", digits);
    }
    for (int i = 0, count = make_ticks(x, tick); i < count; i++) {
        snprintf(digits, sizeof digits, "%g", tick[i]);
        add_text(out, place(x, tick[i]), y->from + 16, "middle", digits);
    }
    add_text(out, (x->from + x->to) / 2, y->from + 34, "middle", chart->x_label);
    add_text(out, x->from - 48, y->to - 10, "start", chart->y_label);
    ikt_text_add(out, "</g>\n");
}

/* Circle, square, triangle, diamond: by the number of the line. */
static void draw_point(ikt_text *out, int64_t line, double x, double y) {
    static const char *const shapes[] = {"m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0", "m-3 -3h6v6h-6z",
                                         "m0 -4l4 7h-8z", "m0 -4l4 4l-4 4l-4 -4z"};
    ikt_text_add(out, "M%.1f %.1f%s", x, y, shapes[line % 4]);
}

static void draw_line(const ikt_chart *chart, int64_t l, const axis *x, const axis *y,
                      ikt_text *out) {
    const ikt_chart_line *line = &chart->line[l];
    const ikt_rgb c = ikt_palette_class(l, chart->lines, false);
    bool begun = false;
    ikt_text_add(out, "<g stroke=\"#%02x%02x%02x\" fill=\"#%02x%02x%02x\">\n", c.r, c.g, c.b, c.r,
                 c.g, c.b);
    if (line->low && line->high) {
        ikt_text_add(out, "<path fill=\"none\" stroke-opacity=\"0.5\" d=\"");
        for (int64_t i = 0; i < line->count; i++)
            if (is_there(line, i) && isfinite(line->low[i]) && isfinite(line->high[i]))
                ikt_text_add(out, "M%.1f %.1fV%.1f", place(x, line->x[i]), place(y, line->low[i]),
                             place(y, line->high[i]));
        ikt_text_add(out, "\"/>\n");
    }
    ikt_text_add(out, "<path fill=\"none\" stroke-width=\"1.6\" d=\"");
    for (int64_t i = 0; i < line->count; i++) {
        if (!is_there(line, i)) continue;
        ikt_text_add(out, "%c%.1f %.1f", begun ? 'L' : 'M', place(x, line->x[i]),
                     place(y, line->y[i]));
        begun = true;
    }
    ikt_text_add(out, "\"/>\n<path stroke=\"none\" d=\"");
    for (int64_t i = 0; i < line->count && !line->is_smooth; i++)
        if (is_there(line, i)) draw_point(out, l, place(x, line->x[i]), place(y, line->y[i]));
    const double key_y = y->from + 52 + KEY_LINE * (double)l;
    draw_point(out, l, x->from + 4, key_y - 4);
    ikt_text_add(out, "\"/>\n</g>\n<g fill=\"#222222\">");
    add_text(out, x->from + 14, key_y, "start", line->name);
    ikt_text_add(out, "</g>\n");
}

void ikt_chart_svg(const ikt_chart *chart, ikt_text *out) {
    const double width = (double)chart->width,
                 height = (double)chart->height + KEY_LINE * (double)chart->lines;
    const axis x = make_axis(chart, true, chart->log_x, LEFT, width - RIGHT),
               y = make_axis(chart, false, chart->log_y, (double)chart->height - BOTTOM, TOP + 12);
    ikt_text_add(out,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                 "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
                 "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
                 "<g fill=\"#000000\" font-weight=\"bold\">",
                 width, height, width, height);
    add_text(out, LEFT, 16, "start", chart->title);
    ikt_text_add(out, "</g>\n");
    draw_axes(chart, &x, &y, out);
    for (int64_t l = 0; l < chart->lines; l++)
        draw_line(chart, l, &x, &y, out);
    ikt_text_add(out, "</svg>\n");
}
