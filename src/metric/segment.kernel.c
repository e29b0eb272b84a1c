/* Points of a line. See segment.h.
 *
 * Weights that sum to 1 at both ends sum to at most 1 between them (Hoelder's inequality), and to
 * far less where the ends are far apart. Only there, where the sum is below 2^-60, are they divided
 * by the largest one, which takes another pass. */
#include "metric/segment.h"

#include "base/lanes.h"

static const float least_sum = 0x1p-60f;

LANES_INLINE void load(vector *to, const float *from) {
    memcpy(to, from, sizeof *to);
}

/* 2^x to 2e-7 of itself, 0 below -126.5; x <= 0. Method: x = n + f with |f| <= 1/2, a polynomial of
 * 2^f through the Chebyshev nodes. */
LANES_INLINE vector power_of_two(vector x) {
    const vector magic = (vector){0} + 12582912.0f; /* 3 * 2^22: adding it rounds to an integer */
    x = vector_max(x, (vector){0} - 127.0f);
    const vector rounded = x + magic;
    const vector f = x - (rounded - magic);
    vector_bits bits;
    memcpy(&bits, &rounded, sizeof bits);
    bits = (bits - (0x4B400000 - 127)) << 23;
    vector scale, series = (vector){0} + 0.00133908633f;
    memcpy(&scale, &bits, sizeof scale);
    series = vector_fused(series, f, (vector){0} + 0.00967603177f);
    series = vector_fused(series, f, (vector){0} + 0.0555035695f);
    series = vector_fused(series, f, (vector){0} + 0.240221068f);
    series = vector_fused(series, f, (vector){0} + 0.693147182f);
    series = vector_fused(series, f, (vector){0} + 1.0f);
    return series * scale;
}

/* The log-weights of some lanes at the point. */
LANES_INLINE vector weights_at(const float *low, const float *high, vector t) {
    vector a, b;
    load(&a, low);
    load(&b, high);
    return vector_fused(t, b - a, a); /* of equal rows a itself */
}

LANES_INLINE float largest(const ikt_class_lanes *shape, const float *low, const float *high,
                           vector t) {
    vector most = (vector){0} + IKT_NO_WEIGHT;
    for (int64_t l = 0; l < shape->lanes; l += LANE_WIDTH)
        most = vector_max(most, weights_at(low + l, high + l, t));
    float found = most[0];
    for (int l = 1; l < LANE_WIDTH; l++)
        found = most[l] > found ? most[l] : found;
    return found;
}

/* The sums of the classes' weights in root[wide], divided by 2^shift; returns the sum of all. */
LANES_INLINE float class_sums(const ikt_class_lanes *shape, const float *low, const float *high,
                              vector t, float shift, float *root) {
    vector lanes[VECTORS];
    const vector back = (vector){0} + shift;
    for (int c = 0; c < shape->classes; c++) {
        memset(lanes, 0, sizeof lanes);
        for (int64_t l = shape->first[c]; l < shape->first[c + 1]; l += LANES)
            LANES_UNROLL
        for (int v = 0; v < VECTORS; v++) {
            const int64_t at = l + v * LANE_WIDTH;
            lanes[v] += power_of_two(weights_at(low + at, high + at, t) - back);
        }
        root[c] = lanes_total(lanes);
    }
    for (int c = shape->classes; c < shape->wide; c++)
        root[c] = 0;
    memset(lanes, 0, sizeof lanes);
    for (int c = 0; c < shape->wide; c += LANES)
        for (int v = 0; v < VECTORS; v++) {
            vector sums;
            load(&sums, root + c + v * LANE_WIDTH);
            lanes[v] += sums;
        }
    return lanes_total(lanes);
}

/* Roots of sums of classes as their shares of the total. */
LANES_INLINE void share_roots(const ikt_class_lanes *shape, float total, float *root) {
    const vector all = (vector){0} + total;
    for (int c = 0; c < shape->wide; c += LANE_WIDTH) {
        vector p;
        load(&p, root + c);
        p = vector_root(p / all);
        memcpy(root + c, &p, sizeof p);
    }
}

LANES_INLINE void find_roots(const ikt_class_lanes *shape, const float *low, const float *high,
                             float t, float *root) {
    const vector at = (vector){0} + t;
    float total = class_sums(shape, low, high, at, 0, root);
    if (!(total >= least_sum))
        total = class_sums(shape, low, high, at, largest(shape, low, high, at), root);
    share_roots(shape, total, root);
}

static void halves(const float *weight, int64_t lanes, float *half) {
    for (int64_t l = 0; l < lanes; l += LANE_WIDTH) {
        vector w;
        load(&w, weight + l);
        w = power_of_two(0.5f * w);
        memcpy(half + l, &w, sizeof w);
    }
}

static float middle(const ikt_class_lanes *shape, const float *half, const float *other,
                    float *root) {
    vector lanes[VECTORS];
    float total = 0;
    for (int c = 0; c < shape->classes; c++) {
        memset(lanes, 0, sizeof lanes);
        for (int64_t l = shape->first[c]; l < shape->first[c + 1]; l += LANES)
            LANES_UNROLL
        for (int v = 0; v < VECTORS; v++) {
            vector a, b;
            load(&a, half + l + v * LANE_WIDTH);
            load(&b, other + l + v * LANE_WIDTH);
            lanes[v] = vector_fused(a, b, lanes[v]);
        }
        root[c] = lanes_total(lanes);
        total += root[c];
    }
    for (int c = shape->classes; c < shape->wide; c++)
        root[c] = 0;
    share_roots(shape, total, root);
    return total;
}

/* v^2 = sum over classes of p_c (beta_c - beta)^2, beta_c being the mean of a_j - a_i under the
 * weights of the class, beta that under all, in natural logarithms. */
static double speed(const ikt_class_lanes *shape, const float *low, const float *high, float t) {
    const double log_2 = 0.69314718055994530942;
    const vector at = (vector){0} + t, shift = (vector){0} + largest(shape, low, high, at);
    double weight[IKT_CLASSES_MOST], slope[IKT_CLASSES_MOST], total = 0, mean = 0, square = 0;
    vector sum[VECTORS], rise[VECTORS];
    for (int c = 0; c < shape->classes; c++) {
        memset(sum, 0, sizeof sum);
        memset(rise, 0, sizeof rise);
        for (int64_t l = shape->first[c]; l < shape->first[c + 1]; l += LANES)
            for (int v = 0; v < VECTORS; v++) {
                const int64_t lane = l + v * LANE_WIDTH;
                vector a, b;
                load(&a, low + lane);
                load(&b, high + lane);
                const vector w = power_of_two(weights_at(low + lane, high + lane, at) - shift);
                sum[v] += w;
                rise[v] += w * (b - a);
            }
        weight[c] = (double)lanes_total(sum);
        slope[c] = weight[c] > 0 ? (double)lanes_total(rise) / weight[c] : 0;
        total += weight[c];
        mean += weight[c] * slope[c];
    }
    mean /= total;
    for (int c = 0; c < shape->classes; c++)
        square += weight[c] / total * (slope[c] - mean) * (slope[c] - mean);
    return log_2 * log_2 * square;
}

LANES_INLINE float find_chord(const float *a, const float *b, int wide) {
    vector lanes[VECTORS];
    memset(lanes, 0, sizeof lanes);
    for (int c = 0; c < wide; c += LANES)
        LANES_UNROLL
    for (int v = 0; v < VECTORS; v++) {
        vector x, y;
        load(&x, a + c + v * LANE_WIDTH);
        load(&y, b + c + v * LANE_WIDTH);
        lanes[v] += (x - y) * (x - y);
    }
    return lanes_total(lanes);
}

/* Above what is true of a length that is a sum of rounded arcs, so that none is taken for longer
 * than it would come out. */
static const float safely = 1.00001f, noise = 1e-6f;

/* The sum of the arcs over all pieces. The line is halved again and again; each point that is added
 * makes the sum larger, so that it ends as soon as that is above the limit. */
static float arcs(const ikt_class_lanes *shape, int points, const float *low, const float *high,
                  const float *root_low, const float *root_high, float limit, float *root) {
    const int wide = shape->wide, pieces = points + 1;
    const float most = limit * safely + noise * (float)pieces;
    float arc[IKT_POINTS_MOST + 2]; /* of the piece that ends there */
    int begin[2 * IKT_POINTS_MOST + 2], end[2 * IKT_POINTS_MOST + 2], parts = 1;
    begin[0] = 0;
    end[0] = pieces;
    arc[pieces] = ikt_segment_arc(find_chord(root_low, root_high, wide));
    float bound = arc[pieces];
    for (int part = 0; part < parts; part++) {
        const int from = begin[part], to = end[part], at = (from + to) / 2;
        if (to - from == 1) continue;
        if (bound > most) return INFINITY;
        const float *before = from > 0 ? root + (int64_t)(from - 1) * wide : root_low;
        const float *after = to < pieces ? root + (int64_t)(to - 1) * wide : root_high;
        float *here = root + (int64_t)(at - 1) * wide;
        find_roots(shape, low, high, (float)at / (float)pieces, here);
        bound -= arc[to];
        arc[at] = ikt_segment_arc(find_chord(before, here, wide));
        arc[to] = ikt_segment_arc(find_chord(here, after, wide));
        bound += arc[at] + arc[to];
        begin[parts] = from;
        end[parts++] = at;
        begin[parts] = at;
        end[parts++] = to;
    }
    float length = 0;
    for (int q = 1; q <= pieces; q++)
        length += arc[q];
    return length;
}

/* For the table; above they are inlined. */
static void roots(const ikt_class_lanes *shape, const float *low, const float *high, float t,
                  float *root) {
    find_roots(shape, low, high, t, root);
}

static float chord(const float *a, const float *b, int wide) {
    return find_chord(a, b, wide);
}

const ikt_segment_kernel IKT_KERNEL(ikt_segment_kernel) = {roots,  speed, halves,
                                                           middle, chord, arcs};
