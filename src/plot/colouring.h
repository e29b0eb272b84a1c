/* Colours of classes and of numbers, and which of them each point has.
 *
 * Class colours stay apart for readers with protanopia and deuteranopia (tests/unit/
 * test_plot_colours.c states and checks by how much); number colours rise evenly in lightness, so
 * they also survive a grey print. A point keeps a 16-bit index into a table of colours that is the
 * same on every rank.
 */
#ifndef IKT_PLOT_COLOURING_H
#define IKT_PLOT_COLOURING_H

#include "base/status.h"
#include "dist/rows.h"
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

/* --- where classes stand on a map (places.c) -------------------------------------------------- */

/* The densest place of each, for its name, and colours that tell near classes apart. */

/* Points of this rank's rows. */
typedef struct {
    const ikt_rows *rows;
    int q;          /* coordinates of a point; the first two are looked at */
    const float *y; /* [rows->count * q] */
} ikt_rows_points;

/* COLLECTIVE. The densest place of each class.
 *   index       [rows->count] class of each row, below n_classes
 *   n_classes   at most 4096
 *   place       [n_classes * 2], receives x and y (0 where q is 1); NaN for a class without points
 * Method: points are counted in a grid that has about as many cells a side as the square root of
 * the points of a class (8 to 64; 32 at most from 257 classes on), the counts smoothed by 1 2 1
 * along both axes; the place is the mean of the points in the densest cell and the eight round it.
 * Counts and sums are integers, so it is the same on any number of ranks. Errors: IKT_ERR_RESOURCE.
 * Memory: 32 MiB at most. */
ikt_status ikt_class_places(ikt_context *ctx, const ikt_rows_points *points, const uint16_t *index,
                            int64_t n_classes, double *place);

/* LOCAL. Gives classes the colours of ikt_palette_class in such an order that classes which stand
 * near each other differ most. Up to 12 classes, and from 257 on, each keeps its own.
 *   place    [n_classes * 2] as above
 *   colour   [n_classes], receives a permutation of 0 .. n_classes - 1
 * Method: the sum over pairs of likeness of colours (CIE-Lab) over squared distance is made less by
 * exchanging two colours for as long as some exchange does so. Advantage: never worse than the
 * order of the classes. Disadvantage: a class has another colour on another map.
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_palette_spread(ikt_context *ctx, const double *place, int64_t n_classes,
                              int64_t *colour);

/* The finite numbers of all ranks: NaN where there are none; and how many are not finite. */
typedef struct {
    double least, largest, least_above_zero;
    int64_t missing;
} ikt_number_range;

/* COLLECTIVE. */
ikt_number_range ikt_number_range_of(ikt_context *ctx, const double *value, int64_t count);

#endif
