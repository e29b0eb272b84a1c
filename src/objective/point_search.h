/* The least value of a smooth function of one point near where the point starts, by BFGS.
 *
 * Method: the inverse Hessian starts as a multiple of the identity and is updated by every step
 * that is taken; steps of at most five units, halved until the value falls by a share of what the
 * slope says (Armijo). The function is evaluated by the caller, who may have many points under way
 * and evaluate their trials together. Advantage: no rate to choose, some ten trials a point; the
 * value never rises. Disadvantage: a local minimum.
 *
 *     ikt_point_begin, then while (search.length > 0): ikt_point_trial -> evaluate ->
 * ikt_point_take
 */
#ifndef IKT_OBJECTIVE_POINT_SEARCH_H
#define IKT_OBJECTIVE_POINT_SEARCH_H

#include "kernelsum/field.h"

enum { IKT_POINT_MOST = IKT_FIELD_DIMENSIONS_MOST };

/* A point under way. */
typedef struct {
    float y[IKT_POINT_MOST];         /* where it is */
    double value;                    /* of the function there */
    double gradient[IKT_POINT_MOST]; /* and its gradient */
    double inverse[IKT_POINT_MOST][IKT_POINT_MOST];
    double direction[IKT_POINT_MOST]; /* of the trial, at full length */
    double slope;                     /* along it, negative */
    double length;                    /* of the trial, in directions; 0: the point has settled */
    double fall_least;                /* promised fall below which it has settled */
} ikt_point_search;

/* LOCAL. A point at its start.
 *   curvature    half of a number that the second derivatives are about; 0 where none is known. It
 *                is asked for again with every trial, in case the search has to begin anew
 *   fall_least   in units of the value */
void ikt_point_begin(ikt_point_search *search, int q, const float *y, double value,
                     const double *gradient, double curvature, double fall_least);

/* LOCAL. The place to be tried: [q]. */
void ikt_point_trial(const ikt_point_search *search, int q, float *trial);

/* LOCAL. Takes the trial, of which value and gradient are told, or halves it. */
void ikt_point_take(ikt_point_search *search, int q, const float *trial, double value,
                    const double *gradient, double curvature);

#endif
