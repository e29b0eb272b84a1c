/* The passes of own rows over a block. See fisher_batch.h. */
#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/select.h"
#include "neighbours/fisher_batch.h"

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
        ikt_metric_euclidean.block(isa, b->chord_row + first * classes, na, other->packed_root,
                                   other->count, classes, s->chord);
    if (rows->d > 0)
        rows->metric->block(isa, b->x + first * rows->d, na, other->packed_x, other->count, rows->d,
                            s->plain);
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
