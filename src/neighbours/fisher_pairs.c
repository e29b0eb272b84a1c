/* What is known of a pair of rows before its distance is computed, and the distance. See
 * fisher_batch.h.
 *
 * With plain distances added, d^2 = f^2 + e x^2, and a bound on the length f is one on d^2. The
 * square of the chord h is one on f, f >= 2 h, so that 4 h^2 + e x^2 <= d^2. */
#include "neighbours/fisher_batch.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/select.h"
#include "base/sort.h"

/* A bound is not sharp where it is rounded: relative, and in the chord of a pair whose
 * probabilities are corrected for weights that are left out, of which some digits cancel. */
static const float slack = 1e-4f, corrected_slack = 6e-3f;
static const float weight_most = 0.95f; /* of an entry that a correction can leave out */

/* The limit on squared chords that follows from the worst score of a list. */
static float ikt_fisher_chord_limit(const ikt_fisher_batch *b, float worst) {
    if (b->rows->computes_all || b->rows->job.rule != IKT_RULE_ARC) return INFINITY;
    return (float)(ikt_segment_chord_of(sqrt((double)worst)) * (1 + (double)slack) + 1e-9);
}

float ikt_fisher_space_limit(const ikt_fisher_batch *b, float worst) {
    if (!ikt_fisher_adds(b)) return ikt_fisher_chord_limit(b, worst);
    if (b->rows->computes_all || b->rows->job.rule != IKT_RULE_ARC) return INFINITY;
    return worst / 4 * (1 + slack) + 1e-9f;
}

static double plain_squared(const ikt_fisher_batch *b, int64_t a, const ikt_fisher_block *other,
                            int64_t j, ikt_fisher_scratch *s) {
    const int64_t d = b->rows->d;
    if (b->rows->euclidean == 0) return 0;
    ikt_pack_rows_from(&other->x[j], 1, d, s->pair);
    b->rows->metric->on(ikt_cpu_isa())->block(b->x + a * d, 1, s->pair, 1, d, s->one);
    return b->rows->euclidean * (double)s->one[0];
}

static void leave_out(const ikt_class_lanes *shape, const float *weight, int64_t one,
                      int64_t another, float *to) {
    memcpy(to, weight, (size_t)shape->lanes * sizeof *to);
    if (one >= 0) to[one] = IKT_NO_WEIGHT;
    if (another >= 0) to[another] = IKT_NO_WEIGHT;
}

int64_t ikt_fisher_lane(const ikt_fisher_batch *b, int64_t a) {
    return b->rows->leaves_out ? ikt_class_lane_of(b->rows->support, b->row[a]) : -1;
}

/* LOCAL. What is wanted of row j of a block for the middles of its lines. */
static const float *ikt_fisher_half(const ikt_fisher_batch *b, const ikt_fisher_block *other,
                                    int64_t j) {
    const int64_t lanes = b->rows->job.shape.lanes;
    float *half = other->half + j * lanes;
    if (other->has_half && !other->has_half[j]) {
        b->rows->job.kernel->halves(other->weight[j], lanes, half);
        other->has_half[j] = 1;
    }
    return half;
}

/* The length of a line over its middle, from below, where that can be told.
 *   root, their   sqrt(p) at its ends
 *   margin        what chords may be too long by */
static float over_middle(const ikt_fisher_batch *b, int64_t a, const ikt_fisher_block *other,
                         int64_t j, const float *root, const float *their, float margin,
                         ikt_fisher_scratch *s) {
    const ikt_class_lanes *shape = &b->rows->job.shape;
    const float least_total = 1e-30f;
    const float total = b->rows->job.kernel->middle(shape, b->half + a * shape->lanes,
                                                    ikt_fisher_half(b, other, j), s->root_middle);
    if (!(total >= least_total)) return 0;
    const float first =
        sqrtf(b->rows->job.kernel->chord(root, s->root_middle, shape->wide)) - margin;
    const float second =
        sqrtf(b->rows->job.kernel->chord(s->root_middle, their, shape->wide)) - margin;
    return (first > 0 ? ikt_segment_arc(first * first) : 0) +
           (second > 0 ? ikt_segment_arc(second * second) : 0);
}

/* LOCAL. Whether the line over its middle is longer than list a allows.
 *   root, their   sqrt(p) at its ends
 *   plain         their plain distance, squared and as it counts; 0 without
 *   margin        what chords may be too long by */
static bool ikt_fisher_is_too_long(const ikt_fisher_batch *b, int64_t a,
                                   const ikt_fisher_block *other, int64_t j, const float *root,
                                   const float *their, float plain, float margin,
                                   ikt_fisher_scratch *s) {
    const float worst = *ikt_fisher_best(b, a), left = worst - plain * (1 - slack);
    if (!b->half || worst == INFINITY) return false;
    return over_middle(b, a, other, j, root, their, margin, s) >
           sqrtf(left > 0 ? left : 0) * (1 + slack) + slack;
}

/* LOCAL. Offers row j of the block to list a, unless it is found to be too far on the way. */
static void ikt_fisher_offer(const ikt_fisher_batch *b, int64_t a, int64_t lane,
                             const ikt_fisher_block *other, int64_t j, ikt_fisher_scratch *s) {
    const ikt_segment_job *job = &b->rows->job;
    const ikt_class_lanes *shape = &job->shape;
    const int64_t theirs = other->lane[j];
    float *best = ikt_fisher_best(b, a);
    const double plain = plain_squared(b, a, other, j, s);
    const double left = (double)best[0] - plain;
    const float limit = b->rows->computes_all ? INFINITY : (float)sqrt(left > 0 ? left : 0);
    const bool is_lower = b->row[a] < (int64_t)other->number[j];
    const float *own = b->weight + a * shape->lanes, *own_root = b->root + a * shape->wide;
    const float *their = other->weight[j];
    const float *their_root = other->root[j];
    if (lane >= 0 || theirs >= 0) {
        leave_out(shape, own, lane, theirs, s->low);
        leave_out(shape, their, lane, theirs, s->high);
        job->kernel->roots(shape, s->low, s->low, 0, s->root_low);
        job->kernel->roots(shape, s->high, s->high, 0, s->root_high);
        own = s->low;
        their = s->high;
        own_root = s->root_low;
        their_root = s->root_high;
    }
    const float length = ikt_segment_distance(job, is_lower ? own : their, is_lower ? their : own,
                                              is_lower ? own_root : their_root,
                                              is_lower ? their_root : own_root, limit, s->line);
    if (length == INFINITY) return;
    s->lengths++;
    ikt_best_offer(best, b->best_row + b->at[a] * b->k, b->k,
                   (float)((double)length * (double)length + plain), other->number[j]);
}

/* sqrt(p) of a row without the entry in a lane; false where so much would be left out that no
 * digits remained. weight   [lanes] log-weights of the row */
static bool without(const ikt_class_lanes *shape, const float *root, const float *weight,
                    int64_t lane, float *out) {
    const float w = exp2f(weight[lane]), left = 1 / (1 - w);
    const int own = (int)ikt_find_block(shape->first, shape->classes, lane);
    if (!(w < weight_most)) return false;
    for (int c = 0; c < shape->wide; c++)
        out[c] = root[c] * root[c] * left;
    const float rest = out[own] - w * left;
    out[own] = rest > 0 ? rest : 0;
    for (int c = 0; c < shape->wide; c++)
        out[c] = sqrtf(out[c]);
    return true;
}

/* LOCAL. Whether bounds tell that a pair is too far, the weights of each other's entry left out.
 *   lane   entry of row a, or -1 */
static bool ikt_fisher_is_support_far(const ikt_fisher_batch *b, int64_t a, int64_t lane,
                                      const ikt_fisher_block *other, int64_t j, float plain,
                                      ikt_fisher_scratch *s) {
    const float left = *ikt_fisher_best(b, a) - plain * (1 - slack);
    const float limit = ikt_fisher_chord_limit(b, left > 0 ? left : 0);
    const ikt_class_lanes *shape = &b->rows->job.shape;
    if (limit == INFINITY) return false;
    const float *root = b->root + a * shape->wide, *their = other->root[j];
    if (other->lane[j] >= 0) {
        if (!without(shape, root, b->weight + a * shape->lanes, other->lane[j], s->root_low))
            return false;
        root = s->root_low;
    }
    if (lane >= 0) {
        if (!without(shape, their, other->weight[j], lane, s->root_high)) return false;
        their = s->root_high;
    }
    const float chord =
        sqrtf(b->rows->job.kernel->chord(root, their, shape->wide)) - 2 * corrected_slack;
    if (chord > 0 && chord * chord > limit) return true;
    return ikt_fisher_is_too_long(b, a, other, j, root, their, plain, corrected_slack, s);
}

/* --- the passes of own rows over a block ------------------------------------------------------ */

/* Candidates of own row a are selected. `space` [FISHER_BLOCK_ROWS] is what they are nearest by. */
static void select_near(const ikt_fisher_batch *b, int64_t a, const ikt_fisher_block *other,
                        float *space) {
    if (b->allowed)
        for (int64_t j = 0; j < other->count; j++)
            if (!b->allowed[other->number[j]]) space[j] = INFINITY;
    ikt_select_numbered(&b->select[a], b->row[a], other->number, other->count, space);
}

static bool is_allowed(const ikt_fisher_batch *b, int64_t a, const ikt_fisher_block *other,
                       int64_t j) {
    return b->row[a] != (int64_t)other->number[j] && (!b->allowed || b->allowed[other->number[j]]);
}

/* What is known of the distances from an own row to all rows of a block. */
typedef struct {
    const float *chord; /* squared */
    const float *plain; /* squared, as it counts; NULL where it does not */
    const float *space; /* what candidates are nearest by */
    const float *bound; /* what a limit is on: `space`, or chords where that is plain alone */
} tile_row;

static float plain_of(const tile_row *t, int64_t j) {
    return t->plain ? t->plain[j] : 0;
}

float ikt_fisher_limit(const ikt_fisher_batch *b, int64_t a) {
    const float worst = *ikt_fisher_best(b, a);
    return ikt_fisher_by_plain(b) ? ikt_fisher_chord_limit(b, worst)
                                  : ikt_fisher_space_limit(b, worst);
}

/* Rows that are not of the support, or whose weights count: those nearest first.
 *   is_first   only those; otherwise the other candidates */
static void visit_plain(const ikt_fisher_batch *b, int64_t a, const ikt_fisher_block *other,
                        bool is_first, const tile_row *t, ikt_fisher_scratch *s) {
    const bool has_all = b->rows->candidates == IKT_CANDIDATES_ALL;
    const float *best = ikt_fisher_best(b, a);
    float limit = ikt_fisher_limit(b, a);
    for (int64_t from = 0; from < other->count; from += IKT_PACK_ROWS) {
        int any = 0;
        for (int64_t j = from; j < from + IKT_PACK_ROWS; j++)
            any |= t->bound[j] <= limit;
        if (!any) continue;
        const int64_t end =
            from + IKT_PACK_ROWS < other->count ? from + IKT_PACK_ROWS : other->count;
        for (int64_t j = from; j < end; j++) {
            if (t->bound[j] > limit || other->lane[j] >= 0 || !is_allowed(b, a, other, j)) continue;
            const ikt_pair pair = ikt_pair_make(t->space[j], other->number[j]);
            const bool is_near = b->has_near && pair <= b->near[a];
            if (is_near != is_first) continue;
            if (!has_all && pair > b->last[a]) continue;
            if (ikt_fisher_is_too_long(b, a, other, j, b->root + a * b->rows->job.shape.wide,
                                       other->root[j], plain_of(t, j), 0, s))
                continue;
            const float before = best[0];
            ikt_fisher_offer(b, a, -1, other, j, s);
            if (best[0] < before) limit = ikt_fisher_limit(b, a);
        }
    }
}

/* Pairs with a row of the support whose weight is left out.
 *   lane   that of own row a, -1 where it is not one: then the rows of the support in the block */
static void visit_support(const ikt_fisher_batch *b, int64_t a, int64_t lane,
                          const ikt_fisher_block *other, const tile_row *t, ikt_fisher_scratch *s) {
    const int64_t count = lane >= 0 ? other->count : other->supports;
    for (int64_t e = 0; e < count; e++) {
        const int64_t j = lane >= 0 ? e : other->support[e];
        if (!is_allowed(b, a, other, j)) continue;
        if (ikt_fisher_by_plain(b) && ikt_pair_make(t->space[j], other->number[j]) > b->last[a])
            continue;
        if (ikt_fisher_is_support_far(b, a, lane, other, j, plain_of(t, j), s)) continue;
        ikt_fisher_offer(b, a, lane, other, j, s);
    }
}

/* --- tiles ------------------------------------------------------------------------------------ */

void ikt_fisher_tiles(const ikt_fisher_batch *b, bool has_chords, int64_t first, int64_t na,
                      const ikt_fisher_block *other, ikt_fisher_scratch *s) {
    const ikt_fisher_rows *rows = b->rows;
    const int64_t classes = rows->job.shape.classes, size = na * ikt_packed_rows(other->count);
    const ikt_isa isa = ikt_cpu_isa();
    if (has_chords)
        ikt_metric_euclidean.on(isa)->block(b->chord_row + first * classes, na, other->packed_root,
                                            other->count, classes, s->chord);
    if (rows->d > 0)
        rows->metric->on(isa)->block(b->x + first * rows->d, na, other->packed_x, other->count,
                                     rows->d, s->plain);
    if (!ikt_fisher_adds(b) || ikt_fisher_by_plain(b)) return;
    const float factor = (float)rows->euclidean;
    for (int64_t e = 0; e < size; e++) {
        s->plain[e] *= factor;
        s->space[e] = s->chord[e] + 0.25f * s->plain[e];
    }
}

void ikt_fisher_visit(const ikt_fisher_batch *b, ikt_fisher_pass what, int64_t a, int64_t place,
                      const ikt_fisher_block *other, ikt_fisher_scratch *s) {
    const int64_t at = place * ikt_packed_rows(other->count), lane = ikt_fisher_lane(b, a);
    const bool by_plain = ikt_fisher_by_plain(b), adds = ikt_fisher_adds(b) && !by_plain;
    float *space = (by_plain ? s->plain : adds ? s->space : s->chord) + at;
    const tile_row t = {s->chord + at, adds ? s->plain + at : NULL, space,
                        by_plain ? s->chord + at : space};
    if (what == IKT_FISHER_SELECT)
        select_near(b, a, other, space);
    else if (lane < 0)
        visit_plain(b, a, other, what == IKT_FISHER_FIRST, &t, s);
    if (what == IKT_FISHER_REST) visit_support(b, a, lane, other, &t, s);
}

/* --- before and after ------------------------------------------------------------------------- */

void ikt_fisher_own_begin(ikt_fisher_batch *b) {
    const ikt_class_lanes *shape = &b->rows->job.shape;
#pragma omp parallel for schedule(static) num_threads(b->threads)
    for (int64_t a = 0; a < b->count; a++) {
        memcpy(b->chord_row + a * shape->classes, b->root + a * shape->wide,
               (size_t)shape->classes * sizeof *b->chord_row);
        if (b->half)
            b->rows->job.kernel->halves(b->weight + a * shape->lanes, shape->lanes,
                                        b->half + a * shape->lanes);
    }
}

void ikt_fisher_select_begin(const ikt_fisher_batch *b, int64_t a) {
    ikt_select_begin(&b->select[a], ikt_cpu_isa(), b->selected,
                     b->buffer + a * IKT_SELECT_CAPACITY * b->selected);
}

void ikt_fisher_select_end(const ikt_fisher_batch *b, int64_t a, int64_t near) {
    ikt_select *s = &b->select[a];
    const ikt_isa isa = ikt_cpu_isa();
    ikt_select_end(s);
    const bool is_whole = s->count < b->selected || b->selected >= b->rows->rows.n - 1;
    b->last[a] = is_whole ? UINT64_MAX : ikt_pairs_greatest(isa, s->pair, s->count);
    if (near < s->count) ikt_pairs_part(isa, s->pair, s->count, near);
    b->near[a] = near < s->count ? ikt_pairs_greatest(isa, s->pair, near) : b->last[a];
}
