/* All pairs among the neighbours of each row. See local_join.h. */
#include "neighbours/local_join.h"

#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "dist/shuffle.h"
#include "neighbours/reverse_neighbours.h"

enum {
    MEMBERS = IKT_REFINE_NEAR + 1, /* a row and its near rows */
    PAIRS = MEMBERS * MEMBERS,
    STRIDE = (MEMBERS + 15) / 16 * 16, /* ikt_score_stride of so many, at most */
    BATCH_ROWS = 1024,                 /* where there is room for offers to other ranks */
    LOCKS = 1024
};

static const char purpose[] = "refine";

/* A pair that may belong into the list of the row `to` of the receiver, a local number. */
typedef struct {
    uint32_t to, from;
    float score;
} offer;

/* The members of one join, for one thread: near rows that are new, the row itself, the others. */
typedef struct {
    int64_t fresh, count; /* of the new ones, of all */
    uint32_t slot[MEMBERS];
    const char *plain[MEMBERS];
    const uint32_t *near[MEMBERS]; /* what was set aside of each */
    float worst[MEMBERS];          /* the last score that its list would take */
    float score[MEMBERS * STRIDE];
} members;

typedef struct {
    ikt_context *ctx;
    const ikt_tiles *tiles;
    ikt_list_course *course;
    ikt_second_neighbours round; /* which sets near rows aside */
    float *worst;                /* [own rows] the last score of each list; atomic */
    omp_lock_t *lock;            /* [LOCKS] of the lists */
    members *of;                 /* [threads] */
    char *scratch;               /* [threads * scratch_bytes] */
    int64_t scratch_bytes;
    int64_t first, end;                   /* own rows of the batch, local numbers */
    ikt_foreign plain, near, their_worst; /* of the foreign rows of the batch */
    offer *found;                         /* [BATCH_ROWS * PAIRS] for foreign rows, by slot */
    int64_t n_found;                      /* atomic */
    ikt_shuffle shuffle;
    offer *sent, *received;
} joining;

/* Rows between two pauses; where they want rows of other ranks, as many as these and offers fit. */
static int64_t batch_rows(const ikt_context *ctx, int64_t n_local, int64_t row_bytes, int ranks) {
    const int64_t near = IKT_REFINE_NEAR,
                  wanted = row_bytes + (near + 2) * (int64_t)sizeof(uint32_t);
    if (ranks == 1) return ikt_foreign_batch(ctx, n_local, 1, 1);
    return ikt_foreign_batch(ctx, ikt_smaller(n_local, BATCH_ROWS), near, wanted);
}

/* --- lists ------------------------------------------------------------------------------------ */

static float worst_of(const joining *j, int64_t i) {
    float worst;
    __atomic_load(&j->worst[i], &worst, __ATOMIC_RELAXED);
    return worst;
}

/* LOCAL. Makes heaps of the lists, in whatever order they are. */
static void open_lists(const joining *j) {
    const ikt_neighbours *lists = j->course->lists;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(j->ctx))
    for (int64_t i = 0; i < lists->n_local; i++) {
        float *score = lists->score + i * lists->k;
        ikt_best_sort(score, lists->row + i * lists->k, lists->k);
        ikt_best_reverse(score, lists->row + i * lists->k, lists->k);
        j->worst[i] = score[0];
    }
}

/* Offers a pair to own row i, by any thread; the same pair may come several times. */
static void offer_own(const joining *j, int64_t i, float value, uint32_t from) {
    const ikt_neighbours *lists = j->course->lists;
    const int64_t k = lists->k;
    uint32_t *row = lists->row + i * k;
    float *score = lists->score + i * k;
    bool is_there = false;
    omp_set_lock(&j->lock[i % LOCKS]);
    for (int64_t e = 0; e < k; e++)
        is_there |= row[e] == from;
    if (!is_there) ikt_best_offer(score, row, k, value, from);
    __atomic_store(&j->worst[i], &score[0], __ATOMIC_RELAXED);
    omp_unset_lock(&j->lock[i % LOCKS]);
}

/* --- the join --------------------------------------------------------------------------------- */

static bool is_among(const uint32_t *number, int64_t count, uint32_t wanted) {
    bool found = false;
    for (int64_t e = 0; e < count; e++)
        found |= number[e] == wanted;
    return found;
}

static void add_member(const joining *j, members *m, uint32_t slot) {
    const ikt_rows *rows = &j->tiles->scorer.rows;
    const int64_t at = m->count++;
    m->slot[at] = slot;
    m->plain[at] = ikt_foreign_value(&j->plain, rows, j->tiles->data, slot);
    m->near[at] = ikt_foreign_value(&j->near, rows, j->round.nearest, slot);
    m->worst[at] = ikt_is_own(rows, slot)
                       ? worst_of(j, slot - rows->first)
                       : *(const float *)ikt_foreign_value(&j->their_worst, rows, NULL, slot);
}

/* Offers member b to member a. */
static void offer_pair(joining *j, const members *m, int64_t a, int64_t b, float value) {
    const ikt_rows *rows = &j->tiles->scorer.rows;
    if (ikt_is_own(rows, m->slot[a])) {
        offer_own(j, m->slot[a] - rows->first, value, m->slot[b]);
        return;
    }
    const int64_t at = __atomic_fetch_add(&j->n_found, 1, __ATOMIC_RELAXED);
    j->found[at] = (offer){m->slot[a], m->slot[b], value};
}

/* Whether a near row of own row i was not near it in the join before this one. */
static bool is_fresh(const joining *j, int64_t i, uint32_t slot) {
    const int64_t near = j->round.near;
    return !j->course->before || !is_among(j->course->before + i * near, near, slot);
}

/* The new ones first. */
static void gather(const joining *j, int64_t i, members *m) {
    const int64_t near = j->round.near;
    const uint32_t *nearest = j->round.nearest + i * near;
    m->count = 0;
    for (int64_t e = 0; e < near; e++)
        if (is_fresh(j, i, nearest[e]) && !is_among(m->slot, m->count, nearest[e]))
            add_member(j, m, nearest[e]);
    m->fresh = m->count;
    if (m->fresh == 0) return;
    add_member(j, m, (uint32_t)(j->tiles->scorer.rows.first + i));
    for (int64_t e = 0; e < near; e++)
        if (!is_among(m->slot, m->count, nearest[e])) add_member(j, m, nearest[e]);
}

/* Pairs of which neither is new have been offered before. A row that is near another one meets it
 * in the join of that one, too: elsewhere the pair, which the list has already or will be offered
 * there, is passed over. */
static void join_row(joining *j, int64_t i, int thread) {
    const ikt_scorer *scorer = &j->tiles->scorer;
    members *m = &j->of[thread];
    gather(j, i, m);
    if (m->fresh == 0) return;
    scorer->score_pairs(scorer, m->plain, m->fresh, m->count,
                        j->scratch + thread * j->scratch_bytes, m->score);
    for (int64_t a = 0; a < m->count; a++) {
        const float *score = m->score + a * ikt_score_stride(m->count);
        const int64_t others = a < m->fresh ? m->count : m->fresh;
        for (int64_t b = 0; b < others; b++)
            if (b != a && score[b] <= m->worst[a] &&
                (a == m->fresh || !is_among(m->near[a], j->round.near, m->slot[b])))
                offer_pair(j, m, a, b, score[b]);
    }
}

/* --- other ranks ------------------------------------------------------------------------------ */

/* LOCAL. Asks for the foreign near rows of own row i; for none where no near row is new. */
static void want(joining *j, int64_t i) {
    const int64_t near = j->round.near;
    const uint32_t *nearest = j->round.nearest + i * near;
    bool has_fresh = false;
    for (int64_t e = 0; e < near && !has_fresh; e++)
        has_fresh = is_fresh(j, i, nearest[e]);
    for (int64_t e = 0; e < near && has_fresh; e++)
        if (!ikt_is_own(&j->tiles->scorer.rows, nearest[e]))
            ikt_number_set_add(&j->round.wanted, nearest[e]);
}

/* COLLECTIVE. The foreign rows of the batch. Nothing travels on one rank. */
static ikt_status fetch(joining *j) {
    const ikt_rows *rows = &j->tiles->scorer.rows;
    const ikt_number_set *wanted = &j->round.wanted;
    if (ikt_size(j->ctx) == 1) return IKT_OK;
    ikt_number_set_empty(&j->round.wanted);
    for (int64_t i = j->first; i < j->end; i++)
        if (!ikt_list_done(j->course, i, i + 1)) want(j, i);
    IKT_TRY(ikt_foreign_fetch(j->ctx, rows, wanted, j->tiles->data, j->plain.bytes, &j->plain));
    IKT_TRY(ikt_foreign_fetch(j->ctx, rows, wanted, j->round.nearest, j->near.bytes, &j->near));
    return ikt_foreign_fetch(j->ctx, rows, wanted, j->worst, j->their_worst.bytes, &j->their_worst);
}

static void let_go(joining *j) {
    ikt_foreign_destroy(&j->plain);
    ikt_foreign_destroy(&j->near);
    ikt_foreign_destroy(&j->their_worst);
}

/* LOCAL. What was found for rows of other ranks, grouped by their owners. */
static ikt_status group_found(joining *j) {
    const ikt_rows *rows = &j->tiles->scorer.rows;
    ikt_shuffle_clear(j->ctx, &j->shuffle);
    for (int64_t o = 0; o < j->n_found; o++)
        ikt_shuffle_count(&j->shuffle, ikt_rows_owner(rows, j->found[o].to));
    ikt_shuffle_group(j->ctx, &j->shuffle);
    IKT_TRY(ikt_reserve(j->ctx, &j->sent, j->shuffle.sent, sizeof *j->sent, purpose));
    for (int64_t o = 0; o < j->n_found; o++) {
        const int owner = ikt_rows_owner(rows, j->found[o].to);
        offer *to = &j->sent[ikt_shuffle_next(&j->shuffle, owner)];
        *to = j->found[o];
        to->to -= (uint32_t)ikt_rows_first(rows, owner);
    }
    j->n_found = 0;
    return IKT_OK;
}

/* COLLECTIVE. Tells other ranks what was found for them. */
static ikt_status tell(joining *j) {
    if (ikt_size(j->ctx) == 1) return IKT_OK;
    IKT_TRY(ikt_agree(j->ctx, group_found(j)));
    ikt_shuffle_meet(j->ctx, &j->shuffle);
    IKT_TRY(ikt_agree(j->ctx, ikt_reserve(j->ctx, &j->received, j->shuffle.received,
                                          sizeof *j->received, purpose)));
    ikt_shuffle_send(j->ctx, &j->shuffle, j->sent, j->received, sizeof *j->sent);
#pragma omp parallel for schedule(static) num_threads(ikt_threads(j->ctx))
    for (int64_t o = 0; o < j->shuffle.received; o++)
        offer_own(j, j->received[o].to, j->received[o].score, j->received[o].from);
    return IKT_OK;
}

/* --- the round -------------------------------------------------------------------------------- */

/* COLLECTIVE. The own rows first .. end - 1. */
static ikt_status join_batch(joining *j) {
    ikt_status st = fetch(j);
    if (st == IKT_OK) {
#pragma omp parallel for schedule(dynamic, 16) num_threads(ikt_threads(j->ctx))
        for (int64_t i = j->first; i < j->end; i++)
            if (!ikt_list_done(j->course, i, i + 1)) join_row(j, i, omp_get_thread_num());
        st = tell(j);
    }
    let_go(j);
    if (st == IKT_OK) ikt_list_note(j->course, j->first, j->end);
    return st;
}

static void joining_destroy(joining *j) {
    for (int l = 0; j->lock && l < LOCKS; l++)
        omp_destroy_lock(&j->lock[l]);
    let_go(j);
    ikt_second_neighbours_end(&j->round);
    ikt_shuffle_destroy(&j->shuffle);
    ikt_free_all(&j->sent, &j->received);
}

/* LOCAL. */
static ikt_status allocate(joining *j, ikt_arrays *held) {
    const ikt_scorer *scorer = &j->tiles->scorer;
    const int64_t threads = ikt_threads(j->ctx);
    j->scratch_bytes = scorer->pairs_bytes(MEMBERS, scorer->d);
    j->worst = ikt_claim(held, scorer->rows.count, sizeof *j->worst);
    j->of = ikt_claim(held, threads, sizeof *j->of);
    j->scratch = ikt_claim(held, threads, (size_t)j->scratch_bytes);
    if (ikt_size(j->ctx) > 1) j->found = ikt_claim(held, BATCH_ROWS * PAIRS, sizeof *j->found);
    j->lock = ikt_claim(held, LOCKS, sizeof *j->lock);
    for (int l = 0; j->lock && l < LOCKS; l++)
        omp_init_lock(&j->lock[l]);
    IKT_TRY(held->status);
    return ikt_shuffle_create(j->ctx, purpose, &j->shuffle);
}

ikt_status ikt_local_join(ikt_context *ctx, ikt_tiles *tiles, ikt_list_course *course) {
    const ikt_scorer *scorer = &tiles->scorer;
    const int64_t own = scorer->rows.count;
    const int64_t batch =
        batch_rows(ctx, ikt_rows_count(&scorer->rows, 0), scorer->row_bytes, ikt_size(ctx));
    const ikt_row_part plain = {tiles->data, scorer->row_bytes};
    IKT_ARRAYS(held, ctx, purpose);
    joining j IKT_AT_END(joining_destroy) = {.ctx = ctx, .tiles = tiles, .course = course};
    ikt_free(&tiles->packed);
    IKT_TRY(ikt_agree(ctx, allocate(&j, &held)));
    IKT_TRY(ikt_second_neighbours_begin(ctx, &scorer->rows, course, &plain, 1, 0, &j.round));
    if (j.round.is_new)
        IKT_TRY(ikt_reverse_neighbours_add(ctx, &scorer->rows, course->lists, j.round.near, true,
                                           j.round.nearest));
    j.plain.bytes = scorer->row_bytes;
    j.near.bytes = j.round.near * (int64_t)sizeof *j.round.nearest;
    j.their_worst.bytes = sizeof *j.worst;
    open_lists(&j);
    for (int64_t done = 0; ikt_max_one(ctx, own - done) > 0; done = j.end) {
        j.first = done;
        j.end = ikt_smaller(done + batch, own);
        IKT_TRY(join_batch(&j));
        ikt_progress(ctx, "rows refined", j.end, own, NULL);
        IKT_TRY(ikt_list_pause(ctx, course));
    }
    ikt_free(&course->before);
    course->before = course->progress.nearest;
    course->progress.nearest = NULL;
    return IKT_OK;
}

int64_t ikt_local_join_memory(int64_t n_local, int64_t row_bytes, int64_t d, int ranks,
                              int threads) {
    const int64_t number = sizeof(uint32_t), near = IKT_REFINE_NEAR;
    const int64_t own =
        n_local * (2 * near * number + (int64_t)sizeof(float)) +
        LOCKS * (int64_t)sizeof(omp_lock_t) +
        threads * ((int64_t)sizeof(members) + ikt_near_bytes_pairs_size(MEMBERS, d));
    const int64_t reversed = ikt_reverse_neighbours_memory(n_local, near, ranks);
    if (ranks == 1) return own + reversed;
    const int64_t batch = batch_rows(NULL, n_local, row_bytes, ranks);
    const int64_t wanted = ikt_smaller(batch * near, (ranks - 1) * n_local);
    const int64_t fetched = wanted * (2 * row_bytes + (near + 3) * number);
    /* Those that are found, sent, and as many that come. */
    const int64_t offers = 3 * BATCH_ROWS * PAIRS * (int64_t)sizeof(offer);
    return own + ikt_second_neighbours_set_bytes(n_local, row_bytes, ranks) +
           ikt_larger(reversed, fetched) + offers;
}
