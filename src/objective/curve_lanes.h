/* UMAP's curve w = 1 / (1 + a s^b), s the square of a distance, in lanes: for the files that
 * compile loops over lanes (base/lanes.h), which include it after that.
 *
 * Method: a s^b = e^l with l = b log s + log a, and w from e^-|l|, which no s makes overflow. */

/* What is below this counts as this: logarithms are of normal numbers. */
static const float curve_least = 1e-37F;

/* e = e^-|l|, and which lanes have l > 0, where w = e / (1 + e); in the others w = 1 / (1 + e). */
typedef struct {
    vector l, e;
    vector_bits is_far;
} curve_lanes;

LANES_INLINE void curve_look(const vector *square, float log_a, float b, curve_lanes *at) {
    vector s = *square;
    vector_floor(&s, curve_least);
    vector_log(&s);
    at->l = b * s + log_a;
    at->is_far = at->l > 0.0f;
    const vector minus = -at->l;
    vector_select(&at->is_far, &minus, &at->l, &at->e);
    vector_exp(&at->e);
}

/* w, and 1 - w. */
LANES_INLINE void curve_similarity(const curve_lanes *at, vector *w, vector *rest) {
    const vector one = (vector){0} + 1.0f, below = one / (1.0f + at->e), above = at->e * below;
    vector_select(&at->is_far, &above, &below, w);
    vector_select(&at->is_far, &below, &above, rest);
}

/* Cuts each lane to -most .. most. */
LANES_INLINE void curve_clip(vector *value, float most) {
    vector_cap(value, most);
    vector_floor(value, -most);
}
