/* Colours of classes and of numbers, and which of them each point has.
 *
 * Class colours stay apart for readers with protanopia and deuteranopia (tests/unit/
 * test_plot_colours.c states and checks by how much); number colours rise evenly in lightness, so
 * they also survive a grey print. A point keeps a 16-bit index into a table of colours that is the
 * same on every rank.
 */
#ifndef IKT_PLOT_COLOURING_H
#define IKT_PLOT_COLOURING_H

#include "plot/plot.h"

/* --- colours ---------------------------------------------------------------------------------- */

typedef struct {
    uint8_t r, g, b; /* sRGB */
} ikt_rgb;

/* A colour in linear light, in which colours may be averaged. */
typedef struct {
    uint16_t r, g, b;
} ikt_linear;

/* The colours of a figure on a white or a black background. */
typedef struct {
    ikt_rgb background, ink, faint; /* faint: frame lines and secondary text */
    ikt_rgb plain;                  /* points that have no class or number */
    ikt_rgb missing;                /* points whose number is not finite */
} ikt_theme;

/* LOCAL, all of them, pure. */
ikt_theme ikt_theme_get(bool black);

/* Linear light of an sRGB colour. */
ikt_linear ikt_linear_of(ikt_rgb colour);

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

/* --- colours of points ------------------------------------------------------------------------ */

enum { IKT_CLASSES_MAX = 4096 };

typedef enum { IKT_COLOUR_PLAIN, IKT_COLOUR_CLASSES, IKT_COLOUR_VALUES } ikt_colour_kind;

typedef struct {
    int64_t label;
    int64_t count; /* points over all ranks */
} ikt_class;

typedef struct {
    ikt_colour_kind kind;
    uint16_t *index;       /* [points of this rank], NULL when plain; owned */
    ikt_rgb *colour;       /* [n_colours]; for classes: one for each; owned */
    ikt_linear *linear;    /* [n_colours], the same in linear light; owned */
    int64_t n_colours;     /* at least 1 */
    ikt_class *classes;    /* [n_classes], by increasing label; owned */
    int64_t n_classes;     /* 0 unless kind is IKT_COLOUR_CLASSES */
    double least, largest; /* of the finite values; NaN when there are none */
    bool black;            /* for a black background */
    int64_t missing;       /* points over all ranks whose value is not finite */
} ikt_colouring;

/* COLLECTIVE. Collects the classes of all ranks with their counts, or the range of the values, and
 * gives every point its colour. Errors: IKT_ERR_DATA (more than IKT_CLASSES_MAX classes),
 * IKT_ERR_RESOURCE. */
ikt_status ikt_colouring_create(ikt_context *ctx, const ikt_plot_points *points,
                                const ikt_theme *theme, bool black, ikt_colouring *out);
void ikt_colouring_destroy(ikt_colouring *colouring);

#endif
