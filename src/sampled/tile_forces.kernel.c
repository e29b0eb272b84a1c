/* The forces on a tile. See tile_forces.h. Dimensions, and whether the rule is the usual one, are
 * constants of each instance. */
#include "sampled/tile_forces.h"

#include <float.h>
#include <stddef.h>

#include "base/gather.h"
#include "kernelsum/replica.h"
#include "sampled/pool.h"

static const int32_t lane_numbers[IKT_TILE] = {0, 1, 2,  3,  4,  5,  6,  7,
                                               8, 9, 10, 11, 12, 13, 14, 15};

/* The usual rule: t = t' = 2, weights of logarithms. */
typedef struct {
    int q;
    bool is_usual;
} variant;

/* --- the terms of a triplet ------------------------------------------------------------------- */

/* A side of a triplet: A = 1 + (t' - 1) square, and -log q, which the usual rule does without. */
typedef struct {
    floats a, log_of;
} side;

LANES_INLINE floats log_floats(floats x) {
    EACH_PART vector_log(&x.part[p]);
    return x;
}

/* exp(x) for any x; infinite where floats end. */
LANES_INLINE floats exp_floats(floats x) {
    EACH_PART {
        vector low = x.part[p], high = -x.part[p];
        const vector one = (vector){0} + 1.0f;
        const vector_bits is_positive = low > 0.0f;
        vector power, inverse;
        vector_select(&is_positive, &high, &low, &power);
        vector_exp(&power);
        inverse = one / power;
        vector_select(&is_positive, &inverse, &power, &x.part[p]);
    }
    return x;
}

LANES_INLINE side side_of(variant is, const ikt_triplet_rule *rule, floats square) {
    const float bend = (float)(rule->t_prime - 1);
    side s = {floats_add(floats_set(1), square), square};
    if (is.is_usual) return s;
    s.a = floats_add(floats_set(1), floats_mul(floats_set(bend), square));
    if (bend > 0) s.log_of = floats_div(log_floats(s.a), floats_set(bend));
    return s;
}

/* The weight of L over 2 for the usual rule, whole otherwise. */
LANES_INLINE floats weigh(variant is, const ikt_tile_job *job, floats l) {
    const floats zero = floats_set(0), one = floats_set(1), above = floats_max(l, zero);
    if (is.is_usual || ikt_triplet_is_log(job->weighing)) {
        const floats w = floats_sub(floats_root(floats_add(one, above)), one);
        return is.is_usual ? w : floats_add(w, w);
    }
    floats w = one;
    if (job->weighing == IKT_TRIPLET_RATIO) {
        w = exp_floats(floats_min(floats_sub(l, floats_set(job->most)), zero));
        w = floats_add(w, floats_set((float)IKT_TRIPLET_RATIO_LEAST));
    }
    EACH_PART {
        const vector_bits is_above = l.part[p] > 0.0f;
        vector_select(&is_above, &w.part[p], &zero.part[p], &w.part[p]);
    }
    return w;
}

/* h = r (1 + r)^-t of l = log r. */
LANES_INLINE floats ratio_term(float t, floats l) {
    const floats below = floats_min(l, floats_set(0)), above = floats_max(l, floats_set(0));
    floats rest = exp_floats(floats_sub(below, above)), power; /* log(1 + r) = above + rest */
    EACH_PART vector_log1p(&rest.part[p]);
    power = floats_sub(below, floats_mul(floats_set(t - 1), above));
    return exp_floats(floats_sub(power, floats_mul(floats_set(t), rest)));
}

/* Adds what w c_j and w c_k are but for a factor, 4 for the usual rule and 2 otherwise, to *c_j,
 * where that is wanted, and *c_k. */
LANES_INLINE void add_triplet(variant is, const ikt_tile_job *job, floats w, side j, side k,
                              floats *c_j, floats *c_k) {
    if (is.is_usual) { /* h / A = B / (A + B)^2 */
        const floats both = floats_add(j.a, k.a), each = floats_div(w, floats_mul(both, both));
        if (c_j) *c_j = floats_add(*c_j, floats_mul(each, k.a));
        *c_k = floats_add(*c_k, floats_mul(each, j.a));
        return;
    }
    const floats l = floats_sub(j.log_of, k.log_of);
    const floats each = floats_mul(w, ratio_term((float)job->rule.t, l));
    if (c_j) *c_j = floats_add(*c_j, floats_div(each, j.a));
    *c_k = floats_add(*c_k, floats_div(each, k.a));
}

/* --- a tile ----------------------------------------------------------------------------------- */

/* Positions of 16 rows, given by local numbers. */
LANES_INLINE void load_rows(const ikt_tile_job *job, variant is, const int32_t *row,
                            floats at[IKT_DIMENSIONS_MOST]) {
    EACH_PART {
        const int32_t *some = row + p * LANE_WIDTH;
        if (is.q == 2)
            gather_pairs(some, job->y, &at[0].part[p], &at[1].part[p]);
        else
            for (int c = 0; c < is.q; c++)
                gather_one(some, job->y + c, is.q, &at[c].part[p]);
    }
}

/* 16 rows of q numbers each. */
LANES_INLINE void store_rows(variant is, const floats row[IKT_DIMENSIONS_MOST], float *to) {
    EACH_PART {
        float *some = to + p * LANE_WIDTH * is.q;
        if (is.q == 2)
            store_pairs(row[0].part[p], row[1].part[p], some);
        else
            for (int c = 0; c < is.q; c++)
                for (int l = 0; l < LANE_WIDTH; l++)
                    some[l * is.q + c] = row[c].part[p][l];
    }
}

/* Lanes without own rows are at the place of the first. */
LANES_INLINE void load_own(const ikt_tile_job *job, variant is, floats own[IKT_DIMENSIONS_MOST]) {
    int32_t row[IKT_TILE];
    for (int l = 0; l < IKT_TILE; l++) {
        const int64_t i = l - job->lane;
        row[l] = (int32_t)(job->first + (i >= 0 && i < job->count ? i : 0));
    }
    load_rows(job, is, row, own);
}

/* What is known of a near row, in the work space: the differences y_i - y_jb, the side of the
 * triplet, its factor in weights, and the coefficient c_ib, which far rows add to. */
typedef struct {
    float *u, *a, *log_of, *factor, *c;
} near_row;

LANES_INLINE near_row near_row_of(const ikt_tile_job *job, int q, int64_t b) {
    float *space = job->space + b * IKT_TILE * (q + 4), *after = space + q * IKT_TILE;
    return (near_row){space, after, after + IKT_TILE, after + 2 * IKT_TILE, after + 3 * IKT_TILE};
}

/* What a near pair's D makes of the weight (ikt_triplet_near). */
LANES_INLINE floats factor_of(const ikt_tile_job *job, floats d) {
    floats factor = floats_sub(floats_set(0), d);
    if (job->weighing != IKT_TRIPLET_NEAR) return floats_set(1);
    EACH_PART vector_exp(&factor.part[p]);
    return factor;
}

/* Differences to near rows and their sides. */
LANES_INLINE void meet_near(const ikt_tile_job *job, variant is,
                            const floats own[IKT_DIMENSIONS_MOST]) {
    for (int64_t b = 0; b < job->m; b++) {
        const int32_t *near = job->near + b * IKT_TILE;
        const near_row to = near_row_of(job, is.q, b);
        floats at[IKT_DIMENSIONS_MOST], square = floats_set(0);
        load_rows(job, is, near, at);
        for (int c = 0; c < is.q; c++) {
            const floats u = floats_sub(own[c], at[c]);
            square = floats_add(square, floats_mul(u, u));
            floats_store(to.u + c * IKT_TILE, u);
        }
        const side s = side_of(is, &job->rule, square);
        floats_store(to.a, s.a);
        floats_store(to.c, floats_set(0));
        floats_store(to.factor, factor_of(job, floats_load(job->near_d + b * IKT_TILE)));
        if (!is.is_usual) floats_store(to.log_of, s.log_of);
    }
}

/* A far row as the rows of the tile see it. */
typedef struct {
    floats v[IKT_DIMENSIONS_MOST], d;
    floats is_other; /* 0 in the lane of the row itself, else 1 */
    floats reach;    /* d; so low in the lane of the row itself that it has no triplets there */
    side side;
} far_row;

LANES_INLINE far_row meet_far(const ikt_tile_job *job, variant is, int64_t e,
                              const floats own[IKT_DIMENSIONS_MOST]) {
    const float *pool = job->pool + job->far[e] * (is.q + job->m);
    far_row r = {.d = floats_load(job->far_d + e * IKT_TILE)};
    floats square = floats_set(0);
    const ints lane = ints_load(lane_numbers), itself = ints_set(job->far_lane[e]);
    const floats lowest = floats_set(-FLT_MAX), none = floats_set(0), one = floats_set(1);
    for (int c = 0; c < is.q; c++) {
        r.v[c] = floats_sub(own[c], floats_set(pool[c]));
        square = floats_add(square, floats_mul(r.v[c], r.v[c]));
    }
    r.side = side_of(is, &job->rule, square);
    EACH_PART {
        const vector_bits is_itself = lane.part[p] == itself.part[p];
        vector_select(&is_itself, &none.part[p], &one.part[p], &r.is_other.part[p]);
        vector_select(&is_itself, &lowest.part[p], &r.d.part[p], &r.reach.part[p]);
    }
    return r;
}

/* w / (2 s^2) by the usual rule, s = A + B. With q = sqrt(1 + L), L no less than 0, it is
 * (q - 1) / s^2 = L (1 + q) / (s (1 + q))^2, which has no difference of nearly equal numbers, and
 * one inverse. */
LANES_INLINE floats weigh_usual(floats l, floats s) {
    const floats length = floats_max(l, floats_set(0)), most = floats_set(FLT_MAX / 8);
    const floats root = floats_quick_root(floats_add(floats_set(1), length));
    const floats inverse = floats_quick_inverse(floats_min(floats_fused(root, s, s), most));
    return floats_mul(floats_fused(root, length, length), floats_mul(inverse, inverse));
}

/* The same as below by the usual rule. */
LANES_INLINE floats pass_far_usual(const ikt_tile_job *job, int q, int64_t e, const far_row *r) {
    const float *squares = job->pool + job->far[e] * (q + job->m) + q;
    const float *pool_d = job->pool_d + job->far[e] * job->m;
    const float *pool_factor = job->pool_factor + job->far[e] * job->m;
    const floats far = r->side.a;
    floats c_k = floats_set(0);
    for (int64_t b = 0; b < job->m; b++) {
        const near_row of = near_row_of(job, q, b);
        const floats near = floats_load(of.a), its = floats_set(1 + squares[b]);
        const floats l = floats_sub(r->reach, floats_load(job->near_d + b * IKT_TILE));
        const floats its_l = floats_sub(r->reach, floats_set(pool_d[b]));
        const floats each =
            floats_mul(weigh_usual(l, floats_add(near, far)), floats_load(of.factor));
        const floats its_each =
            floats_mul(weigh_usual(its_l, floats_add(its, far)), floats_set(pool_factor[b]));
        floats_store(of.c, floats_fused(each, far, floats_load(of.c)));
        c_k = floats_fused(each, near, c_k);
        c_k = floats_fused(its_each, its, c_k);
    }
    return c_k;
}

/* All triplets of a far row with near rows of the tile's and its own; returns the sum of c_k. */
LANES_INLINE floats pass_far(const ikt_tile_job *job, variant is, int64_t e, const far_row *r) {
    const float *squares = job->pool + job->far[e] * (is.q + job->m) + is.q;
    const float *pool_d = job->pool_d + job->far[e] * job->m;
    const float *pool_factor = job->pool_factor + job->far[e] * job->m;
    floats c_k = floats_set(0);
    if (is.is_usual) return pass_far_usual(job, is.q, e, r);
    for (int64_t b = 0; b < job->m; b++) {
        const near_row of = near_row_of(job, is.q, b);
        const side own = {floats_load(of.a), floats_load(of.log_of)};
        floats c_j = floats_load(of.c), w;
        w = weigh(is, job, floats_sub(r->reach, floats_load(job->near_d + b * IKT_TILE)));
        w = floats_mul(w, floats_load(of.factor));
        add_triplet(is, job, w, own, r->side, &c_j, &c_k);
        floats_store(of.c, c_j);
        w = weigh(is, job, floats_sub(r->reach, floats_set(pool_d[b])));
        w = floats_mul(w, floats_set(pool_factor[b]));
        add_triplet(is, job, w, side_of(is, &job->rule, floats_set(squares[b])), r->side, NULL,
                    &c_k);
    }
    return c_k;
}

/* The triplet of two far rows, of which the nearer is j: its force on the tile's rows. */
LANES_INLINE void pass_random(const ikt_tile_job *job, variant is, const far_row *a,
                              const far_row *b, floats scale, floats force[IKT_DIMENSIONS_MOST]) {
    const bool is_log = is.is_usual || ikt_triplet_is_log(job->weighing);
    const floats l = floats_sub(b->d, a->d), minus = floats_sub(a->d, b->d);
    floats size = floats_max(l, minus), c_j = floats_set(0), c_k = floats_set(0), w;
    side near, far;
    ints is_near; /* a is */
    if (is_log) size = floats_mul(size, floats_set((float)IKT_TRIPLET_RANDOM_SHARE));
    w = floats_mul(floats_mul(weigh(is, job, size), floats_mul(a->is_other, b->is_other)), scale);
    is_near = floats_select_less(a->d, b->d, ints_set(-1), ints_set(0));
    EACH_PART {
        const vector_bits *mask = &is_near.part[p];
        vector_select(mask, &a->side.a.part[p], &b->side.a.part[p], &near.a.part[p]);
        vector_select(mask, &b->side.a.part[p], &a->side.a.part[p], &far.a.part[p]);
        vector_select(mask, &a->side.log_of.part[p], &b->side.log_of.part[p], &near.log_of.part[p]);
        vector_select(mask, &b->side.log_of.part[p], &a->side.log_of.part[p], &far.log_of.part[p]);
    }
    add_triplet(is, job, w, near, far, &c_j, &c_k);
    for (int c = 0; c < is.q; c++) {
        floats u, v;
        EACH_PART {
            const vector_bits *mask = &is_near.part[p];
            vector_select(mask, &a->v[c].part[p], &b->v[c].part[p], &u.part[p]);
            vector_select(mask, &b->v[c].part[p], &a->v[c].part[p], &v.part[p]);
        }
        u = floats_sub(floats_mul(c_j, u), floats_mul(c_k, v));
        force[c] = floats_add(force[c], u);
    }
}

LANES_INLINE void tile_forces(const ikt_tile_job *job, variant is) {
    const float factor = is.is_usual ? 4 : 2; /* that the terms above lack */
    const floats share = floats_set(factor * job->share);
    const floats random = floats_set(factor * job->random_share);
    floats own[IKT_DIMENSIONS_MOST], force[IKT_DIMENSIONS_MOST];
    far_row last = {.d = floats_set(0)};
    for (int c = 0; c < is.q; c++)
        force[c] = floats_set(0);
    load_own(job, is, own);
    meet_near(job, is, own);
    for (int64_t e = 0; e < job->f; e++) {
        const far_row r = meet_far(job, is, e, own);
        const floats c_k = floats_mul(pass_far(job, is, e, &r), share);
        for (int c = 0; c < is.q; c++)
            force[c] = floats_sub(force[c], floats_mul(c_k, r.v[c]));
        if (job->random_share > 0 && e % 2 == 1) pass_random(job, is, &last, &r, random, force);
        last = r;
    }
    for (int64_t b = 0; b < job->m; b++) {
        const near_row of = near_row_of(job, is.q, b);
        const floats c_j = floats_mul(floats_load(of.c), share);
        floats pull[IKT_DIMENSIONS_MOST];
        for (int c = 0; c < is.q; c++) {
            pull[c] = floats_mul(c_j, floats_load(of.u + c * IKT_TILE));
            force[c] = floats_add(force[c], pull[c]);
        }
        store_rows(is, pull, job->pull + b * IKT_TILE * is.q);
    }
    for (int c = 0; c < is.q; c++) {
        float out[IKT_TILE];
        floats_store(out, force[c]);
        for (int64_t i = 0; i < job->count; i++)
            job->force[is.q * (job->first + i) + c] = out[job->lane + i];
    }
}

/* --- instances -------------------------------------------------------------------------------- */

void IKT_KERNEL(ikt_tile_forces)(const ikt_tile_job *job) {
    const bool is_usual =
        job->rule.t == 2 && job->rule.t_prime == 2 && ikt_triplet_is_log(job->weighing);
    if (job->q == 2 && is_usual)
        tile_forces(job, (variant){2, true});
    else if (job->q == 2)
        tile_forces(job, (variant){2, false});
    else if (job->q == 1 && is_usual)
        tile_forces(job, (variant){1, true});
    else if (job->q == 1)
        tile_forces(job, (variant){1, false});
    else if (is_usual)
        tile_forces(job, (variant){3, true});
    else
        tile_forces(job, (variant){3, false});
}
