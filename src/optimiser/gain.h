/* The gain of a coordinate, which multiplies its steps (Jacobs 1988; van der Maaten & Hinton 2008):
 * it grows by a constant while the gradient still points along the last step, shrinks by a factor
 * where the gradient turned, and never falls below a least value. */
#ifndef IKT_OPTIMISER_GAIN_H
#define IKT_OPTIMISER_GAIN_H

static const float ikt_gain_growth = 0.2f, ikt_gain_decay = 0.8f, ikt_gain_least = 0.01f;

/* LOCAL. The gain of the next step: it shrinks where gradient and velocity are both above 0 or both
 * below, since steps go against the gradient, and where both are 0 if `zeros_agree`. Selections
 * without a branch, which compilers turn into vectors and whose outcome nobody could foretell; two
 * operations in single precision, the same on every vector width. */
static inline float ikt_gain_next(float gain, float slope, float velocity, int zeros_agree) {
    const float shrunk = gain * ikt_gain_decay, grown = gain + ikt_gain_growth;
    const float of_positive = velocity > 0 ? shrunk : grown;
    const float of_negative = velocity < 0 ? shrunk : grown;
    const float of_others = velocity != 0 ? grown : zeros_agree ? shrunk : grown;
    const float of_rest = slope < 0 ? of_negative : of_others;
    const float next = slope > 0 ? of_positive : of_rest;
    return next < ikt_gain_least ? ikt_gain_least : next;
}

#endif
