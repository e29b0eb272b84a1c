/* The gain of a coordinate, which multiplies its steps (Jacobs 1988; van der Maaten & Hinton 2008):
 * it grows by a constant while the gradient still points along the last step, shrinks by a factor
 * where the gradient turned, and never falls below a least value. */
#ifndef IKT_OPTIMISER_GAIN_H
#define IKT_OPTIMISER_GAIN_H

static const float ikt_gain_growth = 0.2f, ikt_gain_decay = 0.8f, ikt_gain_least = 0.01f;

/* LOCAL. The gain of the next step. `shrinks`: the optimiser's answer to whether the gradient
 * turned, 0 or 1. Two operations in single precision, the same on every vector width. */
static inline float ikt_gain_next(float gain, int shrinks) {
    const float next = shrinks ? gain * ikt_gain_decay : gain + ikt_gain_growth;
    return next < ikt_gain_least ? ikt_gain_least : next;
}

#endif
