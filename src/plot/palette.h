/* Colours of classes and of numbers.
 *
 * Class colours stay apart for readers with protanopia and deuteranopia (tests/unit/test_plot.c
 * states and checks by how much); number colours rise evenly in lightness, so they also survive a
 * grey print.
 */
#ifndef IKT_PLOT_PALETTE_H
#define IKT_PLOT_PALETTE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint8_t r, g, b; /* sRGB */
} ikt_rgb;

/* The colours of a figure on a white or a black background. */
typedef struct {
    ikt_rgb background, ink, faint; /* faint: frame lines and secondary text */
    ikt_rgb plain;                  /* points that have no class or number */
    ikt_rgb missing;                /* points whose number is not finite */
} ikt_theme;

/* LOCAL, all of them, pure. */
ikt_theme ikt_theme_get(bool black);

/* `over` laid over `under` with opacity 0..1, mixed in sRGB, which is even to the eye. */
ikt_rgb ikt_rgb_mix(ikt_rgb under, ikt_rgb over, double opacity);

/* Distinct colours there are; beyond them lighter and darker variants repeat the cycle. */
enum { IKT_PALETTE_DISTINCT = 24 };

/* Colour of class `index` of `count` (0 <= index < count). Up to 8 classes: the colours of Okabe
 * and Ito (2008); up to 10 and up to 24: sets of our own. */
ikt_rgb ikt_palette_class(int64_t index, int64_t count, bool black);

/* Colour of a number at `position` (0 = least, 1 = largest; clamped). On black the darkest fifth of
 * the colours is left out. */
ikt_rgb ikt_palette_value(double position, bool black);

#endif
