/* Text in pictures, with letters of our own: compute nodes have no fonts.
 *
 * The printable ASCII characters are drawn as strokes (lines and parabolas) of even width, so they
 * are smooth at any size. Text is UTF-8; a character that is not printable ASCII, and a
 * byte that is no UTF-8, is drawn as an empty box; control characters are left out.
 */
#ifndef IKT_PLOT_FONT_H
#define IKT_PLOT_FONT_H

#include "base/status.h"

/* A straight piece of a line, in pixels. */
typedef struct {
    double x0, y0, x1, y1;
} ikt_segment;

enum { IKT_GLYPH_SEGMENTS = 96 }; /* of a character, at most */

#define IKT_FONT_WEIGHT (1.55 / 12) /* width of the strokes in capital heights */

/* LOCAL, all of them. `size` is the height of a capital letter in pixels. */

/* Width of the text in pixels. */
double ikt_font_width(const char *text, double size);

/* The next character of *text as segments of strokes with round ends, with its left end at *x and
 * the baseline at y; moves *text behind it and *x to its right end.
 *   segments   [IKT_GLYPH_SEGMENTS]
 * Returns how many there are, which may be 0; -1 at the end of the text. */
int ikt_font_place(const char **text, double *x, double y, double size, ikt_segment *segments);

/* Copies `text` to `out` (`bytes` bytes), cut with "..." where it is wider than `width` pixels or
 * longer than `out`. Never cuts inside a UTF-8 character. */
void ikt_font_fit(const char *text, double size, double width, char *out, int bytes);

#endif
