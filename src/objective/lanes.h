/* Sums along a row in a fixed number of lanes: term e goes to lane e % IKT_LANES and the lanes are
 * added pairwise in the end. A compiler may use vectors of any width without changing a bit. */
#ifndef IKT_OBJECTIVE_LANES_H
#define IKT_OBJECTIVE_LANES_H

enum { IKT_LANES = 16 };

/* LOCAL. Adds the lanes pairwise, in place. */
static inline float ikt_lanes_total(float *lane) {
    for (int half = IKT_LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            lane[l] += lane[l + half];
    return lane[0];
}

#endif
