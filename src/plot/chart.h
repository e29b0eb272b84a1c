/* Line charts as SVG: measures against parameters, times against sizes, rank curves.
 *
 * Plain vector text that browsers and papers take; colours of ikt_palette_class, and for each line
 * a shape of its own on its points, so that a grey print tells them apart.
 */
#ifndef IKT_PLOT_CHART_H
#define IKT_PLOT_CHART_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "config/value.h"

typedef struct {
    const char *name;
    const double *x, *y;      /* [count], by ascending x; points that are not finite are left out */
    const double *low, *high; /* [count] a range round each point, or NULL */
    int64_t count;
    bool is_smooth; /* no shapes on the points: a curve of many */
} ikt_chart_line;

typedef struct {
    const char *title, *x_label, *y_label; /* UTF-8 */
    bool log_x, log_y;                     /* logarithmic, where all values are positive */
    const ikt_chart_line *line;            /* [lines] borrowed */
    int64_t lines;
    int64_t width, height; /* pixels */
} ikt_chart;

/* LOCAL. Appends one <svg> element to the text. The status of the text tells a failure. */
void ikt_chart_svg(const ikt_chart *chart, ikt_text *out);

#endif
