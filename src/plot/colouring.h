/* Which colour each point has: by class, by number, or all the same.
 *
 * A point keeps a 16-bit index into a table of colours that is the same on every rank.
 */
#ifndef IKT_PLOT_COLOURING_H
#define IKT_PLOT_COLOURING_H

#include "plot/density.h"
#include "plot/plot.h"

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
