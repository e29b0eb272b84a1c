/* Neighbour lists: their memory, their order, and the rounds in which they are made. */
#include "neighbours/neighbours.h"

#include <math.h>
#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/watch.h"

/* --- one list --------------------------------------------------------------------------------- */

static int worse(float a_score, uint32_t a_row, float b_score, uint32_t b_row) {
    return a_score > b_score || (a_score == b_score && a_row > b_row);
}

/* Lets the pair sink from entry `hole` of a heap of `count` entries to its place. */
static void sink(float *score, uint32_t *row, int64_t count, int64_t hole, float new_score,
                 uint32_t new_row) {
    for (;;) {
        int64_t child = 2 * hole + 1;
        if (child >= count) break;
        if (child + 1 < count && worse(score[child + 1], row[child + 1], score[child], row[child]))
            child++;
        if (!worse(score[child], row[child], new_score, new_row)) break;
        score[hole] = score[child];
        row[hole] = row[child];
        hole = child;
    }
    score[hole] = new_score;
    row[hole] = new_row;
}

void ikt_best_clear(float *score, uint32_t *row, int64_t k) {
    for (int64_t i = 0; i < k; i++) {
        score[i] = INFINITY;
        row[i] = UINT32_MAX;
    }
}

void ikt_best_offer(float *score, uint32_t *row, int64_t k, float new_score, uint32_t new_row) {
    if (worse(score[0], row[0], new_score, new_row)) sink(score, row, k, 0, new_score, new_row);
}

/* Most scores lose against the worst that is kept: a vector of them is compared at once, and looked
 * at one by one only where one wins. */
void ikt_best_offer_row(float *best, uint32_t *row, int64_t k, int64_t own, int64_t first,
                        int64_t nb, const float *score) {
    enum { STEP = 16 };
    for (int64_t b = 0; b < nb; b += STEP) {
        int wins = 0;
        float worst = best[0];
        for (int64_t l = 0; l < STEP; l++)
            wins |= score[b + l] <= worst;
        if (!wins) continue;
        for (int64_t l = b; l < b + STEP && l < nb; l++)
            if (score[l] <= best[0] && first + l != own)
                ikt_best_offer(best, row, k, score[l], (uint32_t)(first + l));
    }
}

void ikt_best_sort(float *score, uint32_t *row, int64_t k) {
    for (int64_t hole = k / 2 - 1; hole >= 0; hole--) /* does nothing where it is a heap already */
        sink(score, row, k, hole, score[hole], row[hole]);
    for (int64_t last = k - 1; last > 0; last--) {
        float worst_score = score[0];
        uint32_t worst_row = row[0];
        sink(score, row, last, 0, score[last], row[last]);
        score[last] = worst_score;
        row[last] = worst_row;
    }
}

void ikt_best_write(float *score, uint32_t *row, const ikt_pair *pair, int64_t count) {
    for (int64_t e = 0; e < count; e++) {
        score[e] = ikt_pair_value(pair[e]);
        row[e] = ikt_pair_number(pair[e]);
    }
}

void ikt_best_reverse(float *score, uint32_t *row, int64_t k) {
    for (int64_t i = 0, j = k - 1; i < j; i++, j--) {
        float s = score[i];
        uint32_t r = row[i];
        score[i] = score[j];
        row[i] = row[j];
        score[j] = s;
        row[j] = r;
    }
}

void ikt_best_join(float *score, uint32_t *row, int64_t k, float *other, uint32_t *other_row,
                   float *own, uint32_t *own_row) {
    int64_t a = 0, b = 0;
    ikt_best_sort(score, row, k);
    ikt_best_sort(other, other_row, k);
    memcpy(own, score, (size_t)k * sizeof *own);
    memcpy(own_row, row, (size_t)k * sizeof *own_row);
    for (int64_t e = 0; e < k; e++) {
        const bool is_tie = own[a] == other[b];
        const bool is_own = is_tie ? own_row[a] <= other_row[b] : own[a] < other[b];
        const bool is_both = is_tie && own_row[a] == other_row[b];
        score[e] = is_own ? own[a] : other[b];
        row[e] = is_own ? own_row[a] : other_row[b];
        a += is_own;
        b += is_both || !is_own;
    }
}

/* --- lists ------------------------------------------------------------------------------------ */

ikt_status ikt_neighbours_create(ikt_context *ctx, const ikt_rows *rows, int64_t k,
                                 ikt_neighbours *out) {
    const int64_t entries = rows->count * k;
    *out = (ikt_neighbours){rows->count, k, NULL, NULL};
    if (rows->n >= UINT32_MAX)
        return ikt_fail(ctx, IKT_ERR_RESOURCE,
                        "%lld rows; neighbour lists hold at most %lld (32 bits a row number)",
                        (long long)rows->n, (long long)UINT32_MAX - 1);
    ikt_neighbours made IKT_AT_END(ikt_neighbours_destroy) = *out;
    IKT_TRY(ikt_alloc(ctx, &made.row, entries, sizeof *made.row, "neighbours"));
    IKT_TRY(ikt_alloc(ctx, &made.score, entries, sizeof *made.score, "neighbours"));
    ikt_neighbours_clear(ctx, &made);
    return ikt_give(out, made);
}

void ikt_neighbours_clear(ikt_context *ctx, ikt_neighbours *lists) {
    const int64_t k = lists->k;
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < lists->n_local; i++)
        ikt_best_clear(lists->score + i * k, lists->row + i * k, k);
}

void ikt_neighbours_sort(ikt_context *ctx, ikt_neighbours *lists) {
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < lists->n_local; i++)
        ikt_best_sort(lists->score + i * lists->k, lists->row + i * lists->k, lists->k);
}

ikt_status ikt_neighbours_join(ikt_context *ctx, ikt_neighbours *lists, ikt_neighbours *others) {
    const int64_t k = lists->k, threads = ikt_threads(ctx);
    IKT_ARRAYS(held, ctx, "neighbours");
    float *score = ikt_claim(&held, threads * k, sizeof *score);
    uint32_t *row = ikt_claim(&held, threads * k, sizeof *row);
    IKT_TRY(ikt_arrays_agree(&held));
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < lists->n_local; i++) {
        const int64_t at = i * k, own = omp_get_thread_num() * k;
        ikt_best_join(lists->score + at, lists->row + at, k, others->score + at, others->row + at,
                      score + own, row + own);
    }
    return IKT_OK;
}

void ikt_neighbours_destroy(ikt_neighbours *neighbours) {
    ikt_free_all(&neighbours->row, &neighbours->score);
    neighbours->n_local = 0;
}

int64_t ikt_neighbours_memory(int64_t n_local, int64_t k) {
    return n_local * k * (int64_t)(sizeof(uint32_t) + sizeof(float));
}

/* --- rounds ----------------------------------------------------------------------------------- */

ikt_status ikt_list_course_begin(ikt_context *ctx, const ikt_list_hooks *hooks,
                                 ikt_neighbours *lists, ikt_list_course *out) {
    ikt_list_course made IKT_AT_END(ikt_list_course_end) = {.hooks = hooks, .lists = lists};
    ikt_list_progress *progress = &made.progress;
    *out = made;
    if (!hooks) return IKT_OK;
    IKT_TRY(
        ikt_alloc_all(ctx, &progress->done, lists->n_local, sizeof *progress->done, "neighbours"));
    IKT_TRY(hooks->load(hooks->self, lists, progress));
    return ikt_give(out, made);
}

void ikt_list_course_end(ikt_list_course *course) {
    ikt_free_all(&course->progress.done, &course->progress.nearest, &course->before);
}

void ikt_list_course_next(ikt_list_course *course) {
    ikt_list_progress *progress = &course->progress;
    progress->round++;
    ikt_free(&progress->nearest);
    if (progress->done)
        memset(progress->done, 0, (size_t)course->lists->n_local * sizeof *progress->done);
}

static ikt_status save(void *self) {
    const ikt_list_course *course = self;
    return course->hooks->save(course->hooks->self, course->lists, &course->progress);
}

ikt_saver ikt_list_saver(ikt_list_course *course) {
    if (!course->hooks) return (ikt_saver){.save = NULL};
    return (ikt_saver){course, save, course->hooks->where, 0};
}

ikt_status ikt_list_pause(ikt_context *ctx, ikt_list_course *course) {
    const ikt_saver saver = ikt_list_saver(course);
    IKT_TRY(ikt_watcher_poll(ctx));
    return saver.save ? ikt_watch_pause_after(ctx, &saver, &course->has_worked) : IKT_OK;
}

bool ikt_list_done(const ikt_list_course *course, int64_t first, int64_t end) {
    const uint8_t *done = course->progress.done;
    if (!done) return false;
    for (int64_t i = first; i < end; i++)
        if (!done[i]) return false;
    return true;
}

void ikt_list_note(ikt_list_course *course, int64_t first, int64_t end) {
    uint8_t *done = course->progress.done;
    if (ikt_list_done(course, first, end)) return;
    course->has_worked = true;
    if (done && end > first) memset(done + first, 1, (size_t)(end - first));
}
