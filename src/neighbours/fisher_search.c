/* Search in the Fisher metric. See fisher_search.h; read ikt_fisher_search, at the end, first. */
#include "neighbours/fisher_batch.h"

#include <math.h>
#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/select.h"
#include "base/sort.h"
#include "cells/cells.h"
#include "neighbours/fisher_search.h"

static void visit_block(const ikt_fisher_batch *b, ikt_fisher_pass what,
                        const ikt_fisher_block *other) {
#pragma omp parallel for schedule(dynamic) num_threads(b->threads)
    for (int64_t first = 0; first < b->count; first += FISHER_OWN_ROWS) {
        const int64_t na = b->count - first < FISHER_OWN_ROWS ? b->count - first : FISHER_OWN_ROWS;
        ikt_fisher_scratch *s = &b->scratch[omp_get_thread_num()];
        if (!b->reach[first / FISHER_OWN_ROWS]) continue;
        ikt_fisher_tiles(b, !ikt_fisher_by_plain(b) || what != IKT_FISHER_SELECT, first, na, other,
                         s);
        for (int64_t a = first; a < first + na; a++)
            ikt_fisher_visit(b, what, a, a - first, other, s);
    }
}

/* --- which own rows a block is near enough to ------------------------------------------------- */

/* Squared chords up to which a pass has something to do with rows that are not of the support. */
static float needed_chord(const ikt_fisher_batch *b, ikt_fisher_pass what, int64_t a) {
    if (what == IKT_FISHER_SELECT)
        return ikt_fisher_by_plain(b) ? INFINITY : ikt_select_limit(&b->select[a]);
    float limit = ikt_fisher_limit(b, a);
    if (ikt_fisher_by_plain(b)) return limit;
    if (what == IKT_FISHER_FIRST && b->near[a] != UINT64_MAX)
        limit = fminf(limit, ikt_pair_value(b->near[a]));
    if (b->rows->candidates != IKT_CANDIDATES_ALL && b->last[a] != UINT64_MAX)
        limit = fminf(limit, ikt_pair_value(b->last[a]));
    return limit;
}

/* Whether an own row has anything to do with a block: roots of rows of the block are no nearer than
 * its ball. Rows of the support, whose weights are left out, know no bound from that. */
static bool is_reached(const ikt_fisher_batch *b, ikt_fisher_pass what, int64_t a,
                       const ikt_fisher_ball *ball) {
    const float rounding = 1e-5f;
    const int64_t classes = b->rows->job.shape.classes;
    const bool is_support = ikt_fisher_lane(b, a) >= 0;
    if (what == IKT_FISHER_REST && (is_support || ball->has_support > 0)) return true;
    if (what == IKT_FISHER_FIRST && is_support) return false;
    const float *root = b->chord_row + a * classes;
    float square = 0;
    for (int64_t c = 0; c < classes; c++)
        square += (root[c] - ball->centre[c]) * (root[c] - ball->centre[c]);
    const float least = sqrtf(square) - ball->radius - rounding;
    return !(least > 0) || least * least * (1 - rounding) <= needed_chord(b, what, a);
}

/* Which groups of own rows a block is near enough to, all where nothing is known of it; whether any
 * is. */
static bool find_reach(const ikt_fisher_batch *b, ikt_fisher_pass what,
                       const ikt_fisher_ball *ball) {
    int any = 0;
#pragma omp parallel for schedule(static) reduction(| : any) num_threads(ikt_threads(b->ctx))
    for (int64_t first = 0; first < b->count; first += FISHER_OWN_ROWS) {
        bool is_near = ball == NULL;
        for (int64_t a = first; a < b->count && a < first + FISHER_OWN_ROWS && !is_near; a++)
            is_near = is_reached(b, what, a, ball);
        b->reach[first / FISHER_OWN_ROWS] = is_near;
        any |= is_near;
    }
    return any;
}

/* --- the ring --------------------------------------------------------------------------------- */

static int64_t block_count(const ikt_rows *rows, int rank, int64_t number) {
    const int64_t left = ikt_rows_count(rows, rank) - number * FISHER_BLOCK_ROWS;
    return left < 0 ? 0 : left < FISHER_BLOCK_ROWS ? left : FISHER_BLOCK_ROWS;
}

/* Floats of a row of a block, and what of it a pass needs: its number (32 bits, too), log-weights,
 * roots, the row itself. Before all rows stands a ball. */
typedef struct {
    int64_t ball, number, weight, root, x;
} row_parts;

static row_parts parts_of(const ikt_fisher_batch *b, ikt_fisher_pass what) {
    const ikt_class_lanes *shape = &b->rows->job.shape;
    const bool is_ordered = b->rows->is_ordered;
    row_parts parts = {is_ordered ? 2 + shape->classes : 0, is_ordered, shape->lanes, shape->wide,
                       b->rows->d};
    if (what == IKT_FISHER_SELECT) parts.weight = 0;
    if (what == IKT_FISHER_SELECT && ikt_fisher_by_plain(b)) parts.root = 0;
    if (what == IKT_FISHER_SELECT && !ikt_fisher_by_plain(b) && !ikt_fisher_adds(b)) parts.x = 0;
    return parts;
}

static int64_t floats_of(row_parts parts, int64_t count) {
    return parts.ball + count * (parts.number + parts.weight + parts.root + parts.x);
}

static float *put(float *to, const void *from, int64_t floats) {
    if (floats > 0) memcpy(to, from, (size_t)floats * sizeof *to);
    return to + floats;
}

/* Own rows of block `number` on their way. */
static void fill(const ikt_fisher_batch *b, row_parts parts, int64_t number, int64_t count,
                 float *to) {
    const ikt_fisher_rows *rows = b->rows;
    const int64_t from = number * FISHER_BLOCK_ROWS;
    if (count == 0) return;
    if (parts.ball > 0) to = put(to, &b->ball[number], parts.ball);
    if (parts.number > 0) to = put(to, rows->number + from, count);
    to = put(to, rows->weight + from * parts.weight, count * parts.weight);
    to = put(to, rows->root + from * parts.root, count * parts.root);
    if (parts.x > 0) put(to, rows->x + from * parts.x, count * parts.x);
}

/* A block of some rank, unpacked for the pass, in b->block.
 *   number   which of that rank's blocks, the first of whose rows is `first`
 *   from     what came; NULL: own rows, which are where they are */
static void look_at(ikt_fisher_batch *b, row_parts parts, int64_t number, int64_t first,
                    int64_t count, const float *from) {
    const ikt_fisher_rows *rows = b->rows;
    const int64_t own = number * FISHER_BLOCK_ROWS;
    const float *weight, *root, *x = NULL;
    ikt_fisher_block *out = &b->block;
    out->count = count;
    if (from) {
        from += parts.ball;
        if (parts.number > 0) memcpy(out->number, from, (size_t)count * sizeof *out->number);
        weight = from + count * parts.number;
        root = weight + count * parts.weight;
        x = root + count * parts.root;
    } else {
        if (parts.number > 0)
            memcpy(out->number, rows->number + own, (size_t)count * sizeof *out->number);
        weight = rows->weight + own * rows->job.shape.lanes;
        root = rows->root + own * rows->job.shape.wide;
        if (rows->d > 0) x = rows->x + own * rows->d;
    }
    for (int64_t j = 0; j < count; j++) {
        if (parts.number == 0) out->number[j] = (uint32_t)(first + j);
        out->weight[j] = weight + j * parts.weight;
        out->root[j] = root + j * parts.root;
        if (parts.x > 0) out->x[j] = x + j * parts.x;
    }
    ikt_fisher_block_begin(b, out, parts.root > 0, parts.x > 0);
    if (!out->half || parts.weight == 0) return;
#pragma omp parallel for schedule(static) num_threads(b->threads)
    for (int64_t j = 0; j < count; j++)
        rows->job.kernel->halves(out->weight[j], parts.weight, out->half + j * parts.weight);
}

/* COLLECTIVE. Shows every block of every rank to the batch, those like the block `from` first;
 * `here` and `next` hold one each. */
static void go_round(ikt_fisher_batch *b, ikt_fisher_pass what, int64_t from, float *here,
                     float *next) {
    const ikt_rows *rows = &b->rows->rows;
    ikt_context *ctx = b->ctx;
    const int rank = ikt_rank(ctx), size = ikt_size(ctx);
    const row_parts parts = parts_of(b, what);
    const int64_t blocks = (ikt_rows_count(rows, 0) + FISHER_BLOCK_ROWS - 1) / FISHER_BLOCK_ROWS;
    for (int64_t i = 0; i < blocks; i++) {
        const int64_t number = ikt_fisher_outward(ikt_smaller(from, blocks - 1), i, blocks);
        if (size > 1) fill(b, parts, number, block_count(rows, rank, number), here);
        for (int step = 0; step < size; step++) {
            const int owner = (rank + step) % size, following = (rank + step + 1) % size;
            const int64_t count = block_count(rows, owner, number);
            const int64_t coming = block_count(rows, following, number);
            ikt_fisher_ball came, *ball = NULL;
            if (parts.ball > 0 && count > 0) {
                ball = step > 0 ? &came : &b->ball[number];
                if (step > 0) memcpy(&came, here, (size_t)parts.ball * sizeof *here);
            }
            if (count > 0 && b->count > 0 && find_reach(b, what, ball)) {
                look_at(b, parts, number, ikt_rows_first(rows, owner) + number * FISHER_BLOCK_ROWS,
                        count, step > 0 ? here : NULL);
                visit_block(b, what, &b->block);
            }
            if (step + 1 == size) break;
            const int64_t bytes = sizeof(float);
            ikt_send_receive(ctx, here, count > 0 ? floats_of(parts, count) * bytes : 0,
                             (rank + size - 1) % size, next,
                             coming > 0 ? floats_of(parts, coming) * bytes : 0, (rank + 1) % size);
            float *swap = here;
            here = next;
            next = swap;
        }
    }
}

/* --- a batch ---------------------------------------------------------------------------------- */

/* What is noted of a row that is through: whether its list is proved to be that of all rows. */
enum { DONE = 1, PROVED = 2 };

/*   done   [all lists] */
static void note_proofs(const ikt_fisher_batch *b, bool has_selected, uint8_t *done) {
    for (int64_t a = 0; a < b->count; a++) {
        const float limit = ikt_fisher_space_limit(b, *ikt_fisher_best(b, a));
        const bool is_all =
            b->rows->candidates == IKT_CANDIDATES_ALL || (has_selected && b->last[a] == UINT64_MAX);
        const bool is_beyond = has_selected && !ikt_fisher_by_plain(b) &&
                               b->rows->job.rule == IKT_RULE_ARC &&
                               ikt_pair_value(b->last[a]) > limit;
        const bool is_proved =
            is_all || is_beyond || (!ikt_fisher_by_plain(b) && ikt_fisher_lane(b, a) >= 0);
        done[b->at[a]] = is_proved ? PROVED : DONE;
    }
}

/* --- the search ------------------------------------------------------------------------------- */

/* COLLECTIVE. Which rows come first, and which are candidates, for some of the batch at a time.
 *   most   rows of a batch on the rank that has most
 *   from   the place of the first of them among all own rows */
static void select_all(const ikt_fisher_batch *b, int64_t near, int64_t most, int64_t from,
                       float *here, float *next) {
    const int64_t each = ikt_fisher_select_rows(b->selected);
    for (int64_t done = 0; done < most; done += each) {
        const int64_t first = done < b->count ? done : b->count;
        ikt_fisher_batch part = *b;
        part.count = b->count - first < each ? b->count - first : each;
        part.row += first;
        part.at += first;
        part.chord_row += first * b->rows->job.shape.classes;
        if (part.x) part.x += first * b->rows->d;
        part.near += first;
        part.last += first;
        for (int64_t a = 0; a < part.count; a++)
            ikt_fisher_select_begin(&part, a);
        go_round(&part, IKT_FISHER_SELECT, (from + done) / FISHER_BLOCK_ROWS, here, next);
#pragma omp parallel for schedule(dynamic, 16) num_threads(b->threads)
        for (int64_t a = 0; a < part.count; a++)
            ikt_fisher_select_end(&part, a, near);
    }
}

/* COLLECTIVE. The lists of the batch. */
static void make_lists(ikt_fisher_batch *b, int64_t near, int64_t most, int64_t from, float *here,
                       float *next) {
    ikt_fisher_own_begin(b);
    if (b->selected > 0) select_all(b, near, most, from, here, next);
    if (b->has_near) go_round(b, IKT_FISHER_FIRST, from / FISHER_BLOCK_ROWS, here, next);
    go_round(b, IKT_FISHER_REST, from / FISHER_BLOCK_ROWS, here, next);
}

static uint8_t *done_of(const ikt_list_course *course, uint8_t *own) {
    return course->progress.done ? course->progress.done : own;
}

/* Whether a run before this one has made these lists. */
static bool is_through(const ikt_list_course *course, const int64_t *at, int64_t count) {
    int64_t made = 0;
    while (made < count && ikt_list_done(course, at[made], at[made] + 1))
        made++;
    return made == count;
}

ikt_status ikt_fisher_search(ikt_context *ctx, const ikt_fisher_rows *rows,
                             const ikt_fisher_own *own, const uint8_t *allowed,
                             ikt_list_course *course, ikt_fisher_proof *proof) {
    ikt_neighbours *lists = course->lists;
    const int64_t k = lists->k, near = FISHER_NEAR * k, count = lists->n_local;
    const bool has_all = rows->candidates == IKT_CANDIDATES_ALL;
    /* Few rows are all looked at: nothing has to come first. */
    const bool has_near = rows->candidates != IKT_CANDIDATES_EUCLIDEAN && !rows->computes_all &&
                          rows->rows.n > 2 * near;
    const int64_t selected =
        has_all && !has_near ? 0 : ikt_fisher_selected(rows->candidates, rows->among, k);
    const int64_t most = ikt_max_one(ctx, count);
    const int64_t each = ikt_smaller(most, ikt_fisher_batch_rows(rows->job.shape.lanes));
    if (proof) *proof = (ikt_fisher_proof){.rows = count};
    IKT_ARRAYS(held, ctx, "fisher blocks");
    ikt_fisher_batch b = {.ctx = ctx,
                          .held = &held,
                          .rows = rows,
                          .allowed = allowed,
                          .k = k,
                          .selected = selected,
                          .has_near = has_near,
                          .threads = ikt_threads(ctx)};
    ikt_fisher_proof found = {.rows = count};
    float *here = NULL, *next = NULL;
    ikt_status st = ikt_fisher_batch_create(&b, each, FISHER_BLOCK_ROWS, false);
    if (st == IKT_OK) ikt_fisher_ring_create(&b, &here, &next);
    /* Of the rows in the order in which they are held. */
    int64_t *number = own ? NULL : ikt_claim(&held, count, sizeof *number);
    int64_t *at = ikt_claim(&held, count, sizeof *at);
    uint8_t *own_done = ikt_claim(&held, count, sizeof *own_done); /* where the course has none */
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t i = 0; i < count; i++) {
        if (!own) number[i] = rows->is_ordered ? (int64_t)rows->number[i] : rows->rows.first + i;
        at[i] = own ? i : number[i] - rows->rows.first;
    }
    b.best = lists->score;
    b.best_row = lists->row;
    for (int64_t done = 0; done < most; done += each) {
        const int64_t first = done < count ? done : count;
        const int64_t end = done + each < count ? done + each : count;
        b.at = at + first;
        b.count = is_through(course, b.at, end - first) ? 0 : end - first;
        b.row = (own ? own->row : number) + first;
        b.weight = (own ? own->weight : rows->weight) + first * rows->job.shape.lanes;
        b.root = (own ? own->root : rows->root) + first * rows->job.shape.wide;
        b.x = rows->d > 0 ? (own ? own->x : rows->x) + first * rows->d : NULL;
        for (int64_t a = 0; a < b.count; a++)
            ikt_best_clear(b.best + b.at[a] * k, b.best_row + b.at[a] * k, k);
        make_lists(&b, near, each, done, here, next);
        for (int64_t a = 0; a < b.count; a++)
            ikt_list_note(course, b.at[a], b.at[a] + 1);
        note_proofs(&b, selected > 0, done_of(course, own_done));
        ikt_progress(ctx, "rows", end, count, NULL);
        if (done + each < most) IKT_TRY(ikt_list_pause(ctx, course));
    }
    for (int64_t i = 0; i < count; i++)
        found.complete += done_of(course, own_done)[i] == PROVED;
    for (int t = 0; t < b.threads; t++)
        found.lengths += b.scratch[t].lengths;
    ikt_sum_i64(ctx, &found.rows, 1);
    ikt_sum_i64(ctx, &found.complete, 1);
    ikt_sum_i64(ctx, &found.lengths, 1);
    if (proof) *proof = found;
    return IKT_OK;
}

/* --- an order of rows by their probabilities -------------------------------------------------- */

static const char purpose[] = "fisher order";

/* LOCAL. Global numbers of the own rows in the new order. */
static ikt_status make_order(ikt_context *ctx, const ikt_fisher_rows *of, uint32_t *number) {
    const ikt_rows *rows = &of->rows;
    const ikt_class_lanes *shape = &of->job.shape;
    const ikt_class_support *support = of->leaves_out ? of->support : NULL;
    const int64_t count = rows->count, classes = shape->classes;
    int64_t supports = 0;
    IKT_ARRAYS(held, ctx, purpose);
    float *x = ikt_claim(&held, count * classes, sizeof *x);
    uint32_t *order = ikt_claim(&held, count, sizeof *order);
    IKT_TRY(held.status);
    for (int64_t i = 0; i < count; i++)
        memcpy(x + i * classes, of->root + i * shape->wide, (size_t)classes * sizeof *x);
    if (count > 0) IKT_TRY(ikt_locality_order(ctx, x, NULL, count, classes, order));
    for (int64_t i = 0; i < count; i++)
        supports += support && ikt_class_lane_of(support, rows->first + i) >= 0;
    for (int64_t i = 0, first = 0, next = supports; i < count; i++) {
        const int64_t row = rows->first + order[i];
        const bool is_support = support && ikt_class_lane_of(support, row) >= 0;
        number[is_support ? first++ : next++] = (uint32_t)row;
    }
    return IKT_OK;
}

/* LOCAL, in place. The row that stands in place i afterwards is the one that stands in number[i] -
 * first before; back, the other way round. Each cycle of the permutation is gone along once. */
static ikt_status permute(ikt_context *ctx, const ikt_rows *rows, const uint32_t *number, bool back,
                          int64_t floats, float *array) {
    const int64_t count = rows->count;
    const size_t bytes = (size_t)floats * sizeof *array;
    IKT_ARRAYS(arrays, ctx, purpose);
    float *held = ikt_claim(&arrays, floats, sizeof *held);
    float *other = ikt_claim(&arrays, floats, sizeof *other);
    uint8_t *moved = ikt_claim(&arrays, count, sizeof *moved);
    IKT_TRY(arrays.status);
    for (int64_t i = 0; i < count; i++) {
        if (moved[i]) continue;
        memcpy(held, array + i * floats, bytes);
        int64_t at = i;
        do {
            const int64_t from = (int64_t)number[at] - rows->first;
            moved[at] = 1;
            if (back) { /* what stands here belongs to `from` */
                memcpy(other, array + from * floats, bytes);
                memcpy(array + from * floats, held, bytes);
                memcpy(held, other, bytes);
            } else { /* the last of the cycle gets what stood in its first place */
                memcpy(array + at * floats, from == i ? held : array + from * floats, bytes);
            }
            at = from;
        } while (at != i);
    }
    return IKT_OK;
}

static ikt_status permute_all(ikt_context *ctx, const ikt_fisher_rows *rows,
                              const ikt_fisher_held *held, const uint32_t *number, bool back) {
    const ikt_class_lanes *shape = &rows->job.shape;
    IKT_TRY(permute(ctx, &rows->rows, number, back, shape->lanes, held->weight));
    IKT_TRY(permute(ctx, &rows->rows, number, back, shape->wide, held->root));
    return rows->d > 0 ? permute(ctx, &rows->rows, number, back, rows->d, held->x) : IKT_OK;
}

ikt_status ikt_fisher_search_ordered(ikt_context *ctx, const ikt_fisher_rows *rows,
                                     const ikt_fisher_held *held, ikt_list_course *course,
                                     ikt_fisher_proof *proof) {
    ikt_fisher_rows ordered = *rows;
    uint32_t *number IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &number, rows->rows.count, sizeof *number, purpose));
    ikt_status st = make_order(ctx, rows, number);
    if (st == IKT_OK) st = permute_all(ctx, rows, held, number, false);
    IKT_TRY(ikt_agree(ctx, st));
    ordered.is_ordered = true;
    ordered.number = number;
    IKT_TRY(ikt_fisher_search(ctx, &ordered, NULL, NULL, course, proof));
    return ikt_agree(ctx, permute_all(ctx, rows, held, number, true));
}
