/* Search in the Fisher metric. See fisher_search.h; read ikt_fisher_search, at the end, first. */
#include "neighbours/fisher_batch.h"

#include <math.h>
#include <string.h>

#include <omp.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/sort.h"

static const char purpose[] = "fisher blocks";

/* A bound is not sharp where it is rounded: relative, and in the chord of a pair whose
 * probabilities are corrected for weights that are left out, of which some digits cancel. */
static const float slack = 1e-4f, corrected_slack = 6e-3f;
static const float weight_most = 0.95f; /* of an entry that a correction can leave out */

/* The limit on squared chords that follows from the worst score of a list. */
static float chord_limit(const ikt_fisher_batch *b, float worst) {
    if (b->rows->computes_all || b->rows->job.rule != IKT_RULE_ARC) return INFINITY;
    return (float)(ikt_segment_chord_of(sqrt((double)worst)) * (1 + (double)slack) + 1e-9);
}

/* --- pairs ------------------------------------------------------------------------------------ */

static double plain_squared(const ikt_fisher_batch *b, int64_t a, const ikt_fisher_block *other,
                            int64_t j, ikt_fisher_scratch *s) {
    const int64_t d = b->rows->d;
    const float *row = other->x + j * d;
    if (b->rows->euclidean == 0) return 0;
    ikt_pack_rows_from(&row, 1, d, s->pair);
    b->rows->metric->block(ikt_cpu_isa(), b->x + a * d, 1, s->pair, 1, d, s->one);
    return b->rows->euclidean * (double)s->one[0];
}

static void leave_out(const ikt_class_lanes *shape, const float *weight, int64_t one,
                      int64_t another, float *to) {
    memcpy(to, weight, (size_t)shape->lanes * sizeof *to);
    if (one >= 0) to[one] = IKT_NO_WEIGHT;
    if (another >= 0) to[another] = IKT_NO_WEIGHT;
}

static int64_t own_lane(const ikt_fisher_batch *b, int64_t a) {
    return b->rows->leaves_out ? ikt_class_lane_of(b->rows->support, b->row[a]) : -1;
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
                                                    other->half + j * shape->lanes, s->root_middle);
    if (!(total >= least_total)) return 0;
    const float first =
        sqrtf(b->rows->job.kernel->chord(root, s->root_middle, shape->wide)) - margin;
    const float second =
        sqrtf(b->rows->job.kernel->chord(s->root_middle, their, shape->wide)) - margin;
    return (first > 0 ? ikt_segment_arc(first * first) : 0) +
           (second > 0 ? ikt_segment_arc(second * second) : 0);
}

/* Whether the line over its middle is longer than the worst distance of list a. */
static bool is_too_long(const ikt_fisher_batch *b, int64_t a, const ikt_fisher_block *other,
                        int64_t j, const float *root, const float *their, float margin,
                        ikt_fisher_scratch *s) {
    const float worst = b->best[a * b->k];
    if (!b->half || worst == INFINITY) return false;
    return over_middle(b, a, other, j, root, their, margin, s) > sqrtf(worst) * (1 + slack) + slack;
}

/* Offers row j of the block to list a, unless it is found to be too far on the way. */
static void offer(const ikt_fisher_batch *b, int64_t a, int64_t lane, const ikt_fisher_block *other,
                  int64_t j, ikt_fisher_scratch *s) {
    const ikt_segment_job *job = &b->rows->job;
    const ikt_class_lanes *shape = &job->shape;
    const int64_t theirs = other->lane[j];
    float *best = b->best + a * b->k;
    const double plain = plain_squared(b, a, other, j, s);
    const double left = (double)best[0] - plain;
    const float limit = b->rows->computes_all ? INFINITY : (float)sqrt(left > 0 ? left : 0);
    const bool is_lower = b->row[a] < other->first + j;
    const float *own = b->weight + a * shape->lanes, *own_root = b->root + a * shape->wide;
    const float *their = other->weight + j * shape->lanes;
    const float *their_root = other->root + j * shape->wide;
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
    ikt_best_offer(best, b->best_row + a * b->k, b->k,
                   (float)((double)length * (double)length + plain), (uint32_t)(other->first + j));
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

/* Whether bounds tell that a pair is too far, the weights of each other's entry left out.
 *   lane    entry of row a, or -1
 *   limit   on the square of the chord */
static bool is_support_far(const ikt_fisher_batch *b, int64_t a, int64_t lane,
                           const ikt_fisher_block *other, int64_t j, float limit,
                           ikt_fisher_scratch *s) {
    const ikt_class_lanes *shape = &b->rows->job.shape;
    if (limit == INFINITY) return false;
    const float *root = b->root + a * shape->wide, *their = other->root + j * shape->wide;
    if (other->lane[j] >= 0) {
        if (!without(shape, root, b->weight + a * shape->lanes, other->lane[j], s->root_low))
            return false;
        root = s->root_low;
    }
    if (lane >= 0) {
        if (!without(shape, their, other->weight + j * shape->lanes, lane, s->root_high))
            return false;
        their = s->root_high;
    }
    const float chord =
        sqrtf(b->rows->job.kernel->chord(root, their, shape->wide)) - 2 * corrected_slack;
    if (chord > 0 && chord * chord > limit) return true;
    return is_too_long(b, a, other, j, root, their, corrected_slack, s);
}

/* --- the passes over a block ------------------------------------------------------------------ */

/* Candidates of own row a are selected. `space` [FISHER_BLOCK_ROWS] is what they are nearest by. */
static void select_near(const ikt_fisher_batch *b, int64_t a, const ikt_fisher_block *other,
                        float *space) {
    if (b->allowed)
        for (int64_t j = 0; j < other->count; j++)
            if (!b->allowed[other->first + j]) space[j] = INFINITY;
    ikt_select_floats(&b->select[a], b->row[a], other->first, other->count, space);
}

static bool is_allowed(const ikt_fisher_batch *b, int64_t a, const ikt_fisher_block *other,
                       int64_t j) {
    return b->row[a] != other->first + j && (!b->allowed || b->allowed[other->first + j]);
}

/* Rows that are not of the support, or whose weights count: those nearest first.
 *   is_first   only those; otherwise the other candidates */
static void visit_plain(const ikt_fisher_batch *b, int64_t a, const ikt_fisher_block *other,
                        bool is_first, const float *chord, const float *space,
                        ikt_fisher_scratch *s) {
    const bool has_all = b->rows->candidates == IKT_CANDIDATES_ALL;
    float *best = b->best + a * b->k, limit = chord_limit(b, best[0]);
    for (int64_t from = 0; from < other->count; from += IKT_PACK_ROWS) {
        int any = 0;
        for (int64_t j = from; j < from + IKT_PACK_ROWS; j++)
            any |= chord[j] <= limit;
        if (!any) continue;
        const int64_t end =
            from + IKT_PACK_ROWS < other->count ? from + IKT_PACK_ROWS : other->count;
        for (int64_t j = from; j < end; j++) {
            if (chord[j] > limit || other->lane[j] >= 0 || !is_allowed(b, a, other, j)) continue;
            const ikt_pair pair = ikt_pair_make(space[j], (uint32_t)(other->first + j));
            const bool is_near = b->has_near && pair <= b->near[a];
            if (is_near != is_first) continue;
            if (!has_all && pair > b->last[a]) continue;
            const ikt_class_lanes *shape = &b->rows->job.shape;
            if (is_too_long(b, a, other, j, b->root + a * shape->wide,
                            other->root + j * shape->wide, 0, s))
                continue;
            const float before = best[0];
            offer(b, a, -1, other, j, s);
            if (best[0] < before) limit = chord_limit(b, best[0]);
        }
    }
}

/* Pairs with a row of the support whose weight is left out.
 *   lane    that of own row a, -1 where it is not one: then the rows of the support in the block
 *   space   what candidates are nearest by, where these have to be */
static void visit_support(const ikt_fisher_batch *b, int64_t a, int64_t lane,
                          const ikt_fisher_block *other, const float *space,
                          ikt_fisher_scratch *s) {
    const int64_t count = lane >= 0 ? other->count : other->supports;
    float *best = b->best + a * b->k, limit = chord_limit(b, best[0]);
    for (int64_t e = 0; e < count; e++) {
        const int64_t j = lane >= 0 ? e : other->support[e];
        if (!is_allowed(b, a, other, j)) continue;
        if (ikt_fisher_by_plain(b) &&
            ikt_pair_make(space[j], (uint32_t)(other->first + j)) > b->last[a])
            continue;
        if (is_support_far(b, a, lane, other, j, limit, s)) continue;
        const float before = best[0];
        offer(b, a, lane, other, j, s);
        if (best[0] < before) limit = chord_limit(b, best[0]);
    }
}

typedef enum { SELECT, FIRST, REST } pass;

static void visit_block(const ikt_fisher_batch *b, pass what, const ikt_fisher_block *other) {
    const ikt_fisher_rows *rows = b->rows;
    const int64_t classes = rows->job.shape.classes, stride = ikt_packed_rows(other->count);
    const ikt_isa isa = ikt_cpu_isa();
#pragma omp parallel for schedule(dynamic) num_threads(ikt_threads(b->ctx))
    for (int64_t first = 0; first < b->count; first += FISHER_OWN_ROWS) {
        const int64_t na = b->count - first < FISHER_OWN_ROWS ? b->count - first : FISHER_OWN_ROWS;
        ikt_fisher_scratch *s = &b->scratch[omp_get_thread_num()];
        if (!ikt_fisher_by_plain(b) || what != SELECT)
            ikt_metric_euclidean.block(isa, b->chord_row + first * classes, na, b->packed_root,
                                       other->count, classes, s->chord);
        if (ikt_fisher_by_plain(b))
            rows->metric->block(isa, b->x + first * rows->d, na, b->packed_x, other->count, rows->d,
                                s->plain);
        for (int64_t a = first; a < first + na; a++) {
            float *chord = s->chord + (a - first) * stride;
            float *space = ikt_fisher_by_plain(b) ? s->plain + (a - first) * stride : chord;
            const int64_t lane = own_lane(b, a);
            if (what == SELECT)
                select_near(b, a, other, space);
            else if (lane < 0)
                visit_plain(b, a, other, what == FIRST, chord, space, s);
            if (what == REST) visit_support(b, a, lane, other, space, s);
        }
    }
}

/* --- the ring --------------------------------------------------------------------------------- */

static int64_t block_count(const ikt_rows *rows, int rank, int64_t number) {
    const int64_t left = ikt_rows_count(rows, rank) - number * FISHER_BLOCK_ROWS;
    return left < 0 ? 0 : left < FISHER_BLOCK_ROWS ? left : FISHER_BLOCK_ROWS;
}

/* Floats of a row of a block, and what of it a pass needs: log-weights, roots, rows. */
typedef struct {
    int64_t weight, root, x;
} row_parts;

static row_parts parts_of(const ikt_fisher_batch *b, pass what) {
    const ikt_class_lanes *shape = &b->rows->job.shape;
    row_parts parts = {shape->lanes, shape->wide, b->rows->d};
    if (what == SELECT) parts.weight = 0;
    if (what == SELECT && ikt_fisher_by_plain(b)) parts.root = 0;
    if (what == SELECT && !ikt_fisher_by_plain(b)) parts.x = 0;
    return parts;
}

static void fill(const ikt_fisher_batch *b, row_parts parts, int64_t from, int64_t count,
                 float *to) {
    const ikt_fisher_rows *rows = b->rows;
    if (count == 0) return;
    memcpy(to, rows->weight + from * parts.weight, (size_t)(count * parts.weight) * sizeof *to);
    to += count * parts.weight;
    memcpy(to, rows->root + from * parts.root, (size_t)(count * parts.root) * sizeof *to);
    to += count * parts.root;
    if (parts.x > 0) memcpy(to, rows->x + from * parts.x, (size_t)(count * parts.x) * sizeof *to);
}

/* A block that came, unpacked for the pass. */
static void look_at(const ikt_fisher_batch *b, row_parts parts, int64_t first, int64_t count,
                    const float *from, ikt_fisher_block *out) {
    const ikt_fisher_rows *rows = b->rows;
    const float *row[FISHER_BLOCK_ROWS];
    out->first = first;
    out->count = count;
    out->half = b->block_half;
    if (from) {
        out->weight = from;
        out->root = from + count * parts.weight;
        out->x = out->root + count * parts.root;
    } else { /* own rows are where they are */
        const int64_t own = first - rows->rows.first;
        out->weight = rows->weight + own * rows->job.shape.lanes;
        out->root = rows->root + own * rows->job.shape.wide;
        out->x = rows->d > 0 ? rows->x + own * rows->d : NULL;
    }
    out->supports = 0;
    for (int64_t j = 0; j < count; j++) {
        out->lane[j] = rows->leaves_out ? (int32_t)ikt_class_lane_of(rows->support, first + j) : -1;
        if (out->lane[j] >= 0) out->support[out->supports++] = (int32_t)j;
    }
    for (int64_t j = 0; parts.root > 0 && j < count; j++)
        row[j] = out->root + j * parts.root;
    if (parts.root > 0) ikt_pack_rows_from(row, count, rows->job.shape.classes, b->packed_root);
    if (ikt_fisher_by_plain(b)) ikt_pack_rows(out->x, count, rows->d, b->packed_x);
    if (!b->half || parts.weight == 0) return;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(b->ctx))
    for (int64_t j = 0; j < count; j++)
        rows->job.kernel->halves(out->weight + j * parts.weight, parts.weight,
                                 b->block_half + j * parts.weight);
}

/* COLLECTIVE. Shows every block of every rank to the batch; `here` and `next` hold one each. */
static void go_round(const ikt_fisher_batch *b, pass what, float *here, float *next) {
    const ikt_rows *rows = &b->rows->rows;
    ikt_context *ctx = b->ctx;
    const int rank = ikt_rank(ctx), size = ikt_size(ctx);
    const row_parts parts = parts_of(b, what);
    const int64_t bytes = (parts.weight + parts.root + parts.x) * (int64_t)sizeof(float);
    const int64_t blocks = (ikt_rows_count(rows, 0) + FISHER_BLOCK_ROWS - 1) / FISHER_BLOCK_ROWS;
    ikt_fisher_block other;
    for (int64_t number = 0; number < blocks; number++) {
        if (size > 1)
            fill(b, parts, number * FISHER_BLOCK_ROWS, block_count(rows, rank, number), here);
        for (int step = 0; step < size; step++) {
            const int owner = (rank + step) % size, following = (rank + step + 1) % size;
            const int64_t count = block_count(rows, owner, number);
            const int64_t coming = block_count(rows, following, number);
            if (count > 0 && b->count > 0) {
                look_at(b, parts, ikt_rows_first(rows, owner) + number * FISHER_BLOCK_ROWS, count,
                        step > 0 ? here : NULL, &other);
                visit_block(b, what, &other);
            }
            if (step + 1 == size) break;
            ikt_send_receive(ctx, here, count * bytes, (rank + size - 1) % size, next,
                             coming * bytes, (rank + 1) % size);
            float *swap = here;
            here = next;
            next = swap;
        }
    }
}

/* --- a batch ---------------------------------------------------------------------------------- */

static void begin_select(const ikt_fisher_batch *b) {
    for (int64_t a = 0; a < b->count; a++)
        ikt_select_begin(&b->select[a], ikt_cpu_isa(), b->selected,
                         b->buffer + a * IKT_SELECT_CAPACITY * b->selected);
}

static ikt_pair greatest(const ikt_pair *pair, int64_t count) {
    ikt_pair most = 0;
    for (int64_t e = 0; e < count; e++)
        if (pair[e] > most) most = pair[e];
    return most;
}

/* Up to which pair rows come first, and are candidates. */
static void end_select(const ikt_fisher_batch *b, int64_t near) {
#pragma omp parallel for schedule(dynamic, 16) num_threads(ikt_threads(b->ctx))
    for (int64_t a = 0; a < b->count; a++) {
        ikt_select *s = &b->select[a];
        ikt_select_end(s);
        const bool is_whole = s->count < b->selected || b->selected >= b->rows->rows.n - 1;
        b->last[a] = is_whole ? UINT64_MAX : greatest(s->pair, s->count);
        if (near < s->count) ikt_pairs_part(s->pair, s->count, near);
        b->near[a] = near < s->count ? greatest(s->pair, near) : b->last[a];
    }
}

/* What is noted of a row that is through: whether its list is proved to be that of all rows. */
enum { DONE = 1, PROVED = 2 };

static void note_proofs(const ikt_fisher_batch *b, bool has_selected, uint8_t *done) {
    for (int64_t a = 0; a < b->count; a++) {
        const float limit = chord_limit(b, b->best[a * b->k]);
        const bool is_all =
            b->rows->candidates == IKT_CANDIDATES_ALL || (has_selected && b->last[a] == UINT64_MAX);
        const bool is_beyond = has_selected && !ikt_fisher_by_plain(b) &&
                               b->rows->job.rule == IKT_RULE_ARC &&
                               ikt_pair_value(b->last[a]) > limit;
        const bool is_proved =
            is_all || is_beyond || (!ikt_fisher_by_plain(b) && own_lane(b, a) >= 0);
        done[a] = is_proved ? PROVED : DONE;
    }
}

/* --- the search ------------------------------------------------------------------------------- */

/* COLLECTIVE. Which rows come first, and which are candidates, for some of the batch at a time.
 *   most   rows of a batch on the rank that has most */
static void select_all(const ikt_fisher_batch *b, int64_t near, int64_t most, float *here,
                       float *next) {
    const int64_t each = ikt_fisher_select_rows(b->selected);
    for (int64_t done = 0; done < most; done += each) {
        const int64_t first = done < b->count ? done : b->count;
        ikt_fisher_batch part = *b;
        part.count = b->count - first < each ? b->count - first : each;
        part.row += first;
        part.chord_row += first * b->rows->job.shape.classes;
        if (part.x) part.x += first * b->rows->d;
        part.near += first;
        part.last += first;
        begin_select(&part);
        go_round(&part, SELECT, here, next);
        end_select(&part, near);
    }
}

/* COLLECTIVE. The lists of the batch. */
static void make_lists(ikt_fisher_batch *b, int64_t near, int64_t most, float *here, float *next) {
    const ikt_class_lanes *shape = &b->rows->job.shape;
    for (int64_t a = 0; a < b->count; a++)
        memcpy(b->chord_row + a * shape->classes, b->root + a * shape->wide,
               (size_t)shape->classes * sizeof *b->chord_row);
#pragma omp parallel for schedule(static) num_threads(ikt_threads(b->ctx))
    for (int64_t a = 0; a < b->count; a++)
        if (b->half)
            b->rows->job.kernel->halves(b->weight + a * shape->lanes, shape->lanes,
                                        b->half + a * shape->lanes);
    if (b->selected > 0) select_all(b, near, most, here, next);
    if (b->has_near) go_round(b, FIRST, here, next);
    go_round(b, REST, here, next);
}

static uint8_t *done_of(const ikt_list_course *course, uint8_t *own) {
    return course->progress.done ? course->progress.done : own;
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
    ikt_fisher_batch b = {.ctx = ctx,
                          .rows = rows,
                          .allowed = allowed,
                          .k = k,
                          .selected = selected,
                          .has_near = has_near};
    ikt_fisher_proof found = {.rows = count};
    int64_t *number = NULL;
    uint8_t *own_done = NULL; /* where the course has none */
    float *here = NULL, *next = NULL;
    ikt_status st = ikt_fisher_batch_create(&b, each, &here, &next);
    if (st == IKT_OK && !own) st = ikt_alloc(ctx, &number, count, sizeof *number, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &own_done, count, sizeof *own_done, purpose);
    st = ikt_agree(ctx, st);
    for (int64_t i = 0; st == IKT_OK && !own && i < count; i++)
        number[i] = rows->rows.first + i;
    for (int64_t done = 0; st == IKT_OK && done < most; done += each) {
        const int64_t first = done < count ? done : count;
        const int64_t end = done + each < count ? done + each : count;
        const bool is_through = ikt_list_done(course, first, end);
        b.count = is_through ? 0 : end - first;
        b.row = (own ? own->row : number) + first;
        b.weight = (own ? own->weight : rows->weight) + first * rows->job.shape.lanes;
        b.root = (own ? own->root : rows->root) + first * rows->job.shape.wide;
        b.x = rows->d > 0 ? (own ? own->x : rows->x) + first * rows->d : NULL;
        b.best = lists->score + first * k;
        b.best_row = lists->row + first * k;
        for (int64_t a = 0; a < b.count; a++)
            ikt_best_clear(b.best + a * k, b.best_row + a * k, k);
        make_lists(&b, near, each, here, next);
        ikt_list_note(course, first, end);
        note_proofs(&b, selected > 0, done_of(course, own_done) + first);
        ikt_progress(ctx, "rows", end, count, NULL);
        if (done + each < most) st = ikt_list_pause(ctx, course);
    }
    for (int64_t i = 0; st == IKT_OK && i < count; i++)
        found.complete += done_of(course, own_done)[i] == PROVED;
    for (int t = 0; b.scratch && t < ikt_threads(ctx); t++)
        found.lengths += b.scratch[t].lengths;
    ikt_fisher_batch_destroy(&b, &here, &next);
    ikt_free(&number);
    ikt_free(&own_done);
    if (st == IKT_OK) ikt_sum_i64(ctx, &found.rows, 1);
    if (st == IKT_OK) ikt_sum_i64(ctx, &found.complete, 1);
    if (st == IKT_OK) ikt_sum_i64(ctx, &found.lengths, 1);
    if (proof) *proof = found;
    return st;
}
