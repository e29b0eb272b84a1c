/* Text in pictures, with letters of our own: compute nodes have no fonts.
 *
 * The printable ASCII characters are drawn as strokes (lines and parabolas) of even width, so they
 * are smooth at any size. Text is UTF-8; a character that is not printable ASCII, and a
 * byte that is no UTF-8, is drawn as an empty box; control characters are left out.
 */
#ifndef IKT_PLOT_FONT_H
#define IKT_PLOT_FONT_H

#include "plot/image.h"

/* LOCAL, all of them. `size` is the height of a capital letter in pixels; descenders reach
 * IKT_FONT_DESCENT * size below the baseline. */
#define IKT_FONT_DESCENT 0.4

/* Width of the text in pixels. */
double ikt_font_width(const char *text, double size);

/* Draws text whose left end is x and whose baseline is y. */
void ikt_font_draw(ikt_image *image, const char *text, double x, double y, double size,
                   ikt_rgb colour);

/* The same by strokes that someone else draws, one call a character: see ikt_image_stroke. */
typedef void (*ikt_stroker)(void *self, const ikt_segment *segments, int count, double width,
                            ikt_rgb colour);
void ikt_font_strokes(const char *text, double x, double y, double size, ikt_rgb colour,
                      ikt_stroker stroke, void *self);

/* Copies `text` to `out` (`bytes` bytes), cut with "..." where it is wider than `width` pixels or
 * longer than `out`. Never cuts inside a UTF-8 character. */
void ikt_font_fit(const char *text, double size, double width, char *out, int bytes);

/* For tests: the strokes of a character (size 1, baseline y = 0, y downwards) in
 * segments[IKT_GLYPH_SEGMENTS]; returns how many there are. */
enum { IKT_GLYPH_SEGMENTS = 96 };
int ikt_glyph_segments(unsigned char character, ikt_segment *segments);

#endif
