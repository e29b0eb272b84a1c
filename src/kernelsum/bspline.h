/* Cardinal B-splines: window of the particle-mesh method. */
#ifndef IKT_KERNELSUM_BSPLINE_H
#define IKT_KERNELSUM_BSPLINE_H

enum { IKT_ORDER_MOST = 8 };

/* LOCAL. Values of the `order` B-splines of that order that cover a point.
 *   fraction  position of the point between node 0 and node 1, in [0, 1)
 *   value     [order], receives M(fraction + order - 1 - k) for node k - (order/2 - 1)
 *   slope     [order], receives the derivatives by position in units of the spacing; NULL: none
 * The values add up to 1 and the slopes to 0. Order is even, at most IKT_ORDER_MOST. */
static inline void ikt_bspline(int order, double fraction, double *value, double *slope) {
    /* Recursion over the order (Essmann et al. 1995, equations 4.1 and 4.2). */
    value[0] = 1 - fraction;
    value[1] = fraction;
    for (int p = 3; p <= order; p++) {
        if (p == order && slope) {
            slope[0] = -value[0];
            for (int k = 1; k < order - 1; k++)
                slope[k] = value[k - 1] - value[k];
            slope[order - 1] = value[order - 2];
        }
        double scale = 1.0 / (p - 1);
        value[p - 1] = scale * fraction * value[p - 2];
        for (int k = p - 2; k > 0; k--)
            value[k] =
                scale * ((fraction + p - 1 - k) * value[k - 1] + (k + 1 - fraction) * value[k]);
        value[0] = scale * (1 - fraction) * value[0];
    }
}

#endif
