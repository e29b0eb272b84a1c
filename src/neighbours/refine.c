/* Neighbours of neighbours.
 *
 * Method: the numbers of each row's nearest neighbours are set aside. Own rows are taken in
 * batches: the near numbers of foreign neighbours are fetched, which tells the candidates; then the
 * rows of foreign candidates are; then each row scores its candidates, each once. Lists are
 * improved in place, since candidates come from what was set aside.
 * Advantage: candidates are chosen for each row by itself, so it finds what the cells of a search
 * have cut apart. Disadvantage: rows are read at random places, so a score costs some times what it
 * does in a search. */
#include "neighbours/refine.h"

#include <stdlib.h>
#include <string.h>

#include <omp.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "dist/gather_rows.h"

enum {
    NEAR = IKT_REFINE_NEAR,
    CANDIDATES = NEAR * NEAR,
    FETCH_BYTES = 128 << 20, /* that a batch may fetch from others */
    BATCH_LEAST = 64,
    BATCH_MOST = 16384
};

static const char purpose[] = "refine";

/* A set of numbers that is emptied in no time. */
typedef struct {
    uint32_t *number, *stamp; /* [slots] a slot is taken where its stamp is the current one */
    uint32_t now;
    int64_t slots;
} number_set;

static ikt_status set_create(ikt_context *ctx, int64_t slots, number_set *set) {
    *set = (number_set){.slots = slots};
    IKT_TRY(ikt_alloc(ctx, &set->number, slots, sizeof *set->number, purpose));
    return ikt_alloc(ctx, &set->stamp, slots, sizeof *set->stamp, purpose);
}

static void set_destroy(number_set *set) {
    ikt_free(&set->number);
    ikt_free(&set->stamp);
}

static void set_empty(number_set *set) {
    if (++set->now != 0) return;
    memset(set->stamp, 0, (size_t)set->slots * sizeof *set->stamp); /* stamps have gone round */
    set->now = 1;
}

/* Adds a number; false if it is there already. */
static bool set_add(number_set *set, uint32_t number) {
    for (uint64_t at = number * (uint64_t)0x9E3779B97F4A7C15u >> 24;; at++) {
        const uint64_t slot = at & (uint64_t)(set->slots - 1);
        if (set->stamp[slot] != set->now) {
            set->stamp[slot] = set->now;
            set->number[slot] = number;
            return true;
        }
        if (set->number[slot] == number) return false;
    }
}

/* Foreign numbers that a batch wants, ascending, and a value of each. */
typedef struct {
    int64_t count, bytes;
    uint32_t *row;
    char *value;
} foreign;

static void foreign_free(foreign *f) {
    ikt_free(&f->row);
    ikt_free(&f->value);
    f->count = 0;
}

typedef struct {
    ikt_context *ctx;
    ikt_tiles *tiles;
    ikt_list_course *course;
    ikt_neighbours *lists; /* its lists */
    int64_t near;          /* of a row: at most NEAR */
    uint32_t *nearest;     /* [n_local * near] numbers, as the lists were; of the course */
    int64_t first, end;    /* own rows of the batch, local numbers */
    foreign numbers;       /* nearest of foreign rows */
    foreign rows;          /* foreign candidates */
    number_set wanted;     /* while they are collected */
    number_set *seen;      /* [threads] */
    char *scratch;         /* [threads * tiles->some_bytes] */
} work;

static bool is_own(const work *w, uint32_t row) {
    return row >= w->tiles->rows.first && row < w->tiles->rows.first + w->tiles->rows.count;
}

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static const void *find_foreign(const foreign *f, uint32_t row) {
    const uint32_t *found = bsearch(&row, f->row, (size_t)f->count, sizeof row, by_number);
    return f->value + (found - f->row) * f->bytes;
}

static const uint32_t *nearest_of(const work *w, uint32_t row) {
    if (is_own(w, row)) return w->nearest + (row - w->tiles->rows.first) * w->near;
    return find_foreign(&w->numbers, row);
}

static const char *row_of(const work *w, uint32_t row) {
    if (is_own(w, row)) return w->tiles->data + (row - w->tiles->rows.first) * w->tiles->left_bytes;
    return find_foreign(&w->rows, row);
}

/* --- what a batch wants from others ----------------------------------------------------------- */

/* COLLECTIVE. Fetches what is in w->wanted. */
static ikt_status fetch(work *w, const void *own, int64_t bytes, foreign *out) {
    *out = (foreign){.bytes = bytes};
    for (int64_t s = 0; s < w->wanted.slots; s++)
        out->count += w->wanted.stamp[s] == w->wanted.now;
    ikt_status st = ikt_alloc(w->ctx, &out->row, out->count, sizeof *out->row, purpose);
    if (st == IKT_OK) st = ikt_alloc(w->ctx, &out->value, out->count, (size_t)bytes, purpose);
    IKT_TRY(ikt_agree(w->ctx, st));
    for (int64_t s = 0, e = 0; s < w->wanted.slots; s++)
        if (w->wanted.stamp[s] == w->wanted.now) out->row[e++] = w->wanted.number[s];
    qsort(out->row, (size_t)out->count, sizeof *out->row, by_number);
    return ikt_gather_rows(w->ctx, &w->tiles->rows, out->row, out->count, own, (size_t)bytes,
                           out->value);
}

static void want(work *w, const uint32_t *row) {
    for (int64_t e = 0; e < w->near; e++)
        if (!is_own(w, row[e])) set_add(&w->wanted, row[e]);
}

/* A run before this one has been there. */
static bool is_through(const work *w, int64_t i) {
    return ikt_list_done(w->course, i, i + 1);
}

/* COLLECTIVE. Nothing travels on one rank. */
static ikt_status fetch_all(work *w) {
    if (ikt_size(w->ctx) == 1) return IKT_OK;
    set_empty(&w->wanted);
    for (int64_t i = w->first; i < w->end; i++)
        if (!is_through(w, i)) want(w, w->nearest + i * w->near);
    IKT_TRY(fetch(w, w->nearest, w->near * (int64_t)sizeof *w->nearest, &w->numbers));
    set_empty(&w->wanted);
    for (int64_t i = w->first; i < w->end; i++)
        for (int64_t e = 0; e < w->near && !is_through(w, i); e++)
            want(w, nearest_of(w, w->nearest[i * w->near + e]));
    return fetch(w, w->tiles->data, w->tiles->left_bytes, &w->rows);
}

/* --- a row ------------------------------------------------------------------------------------ */

static int64_t find_candidates(const work *w, int64_t i, number_set *seen, uint32_t *candidate) {
    const uint32_t *list = w->lists->row + i * w->lists->k;
    int64_t count = 0;
    set_empty(seen);
    set_add(seen, (uint32_t)(w->tiles->rows.first + i));
    for (int64_t e = 0; e < w->lists->k; e++)
        set_add(seen, list[e]);
    for (int64_t e = 0; e < w->near; e++) {
        const uint32_t *theirs = nearest_of(w, w->nearest[i * w->near + e]);
        for (int64_t f = 0; f < w->near; f++)
            if (set_add(seen, theirs[f])) candidate[count++] = theirs[f];
    }
    return count;
}

/* The list of own row i is sorted before and a heap, worst first, afterwards. */
static void refine_row(const work *w, int64_t i, number_set *seen, char *scratch) {
    const int64_t k = w->lists->k;
    float *list = w->lists->score + i * k, score[CANDIDATES];
    uint32_t *row = w->lists->row + i * k, candidate[CANDIDATES];
    const char *candidate_row[CANDIDATES];
    const int64_t count = find_candidates(w, i, seen, candidate);
    for (int64_t c = 0; c < count; c++)
        candidate_row[c] = row_of(w, candidate[c]);
    w->tiles->score_some(w->tiles, w->tiles->data + i * w->tiles->left_bytes, candidate_row, count,
                         scratch, score);
    ikt_best_reverse(list, row, k);
    for (int64_t c = 0; c < count; c++)
        ikt_best_offer(list, row, k, score[c], candidate[c]);
}

/* COLLECTIVE. */
static ikt_status refine_batch(work *w) {
    ikt_status st = fetch_all(w);
    if (st == IKT_OK) {
#pragma omp parallel for schedule(dynamic, 64) num_threads(ikt_threads(w->ctx))
        for (int64_t i = w->first; i < w->end; i++)
            if (!is_through(w, i))
                refine_row(w, i, &w->seen[omp_get_thread_num()],
                           w->scratch + omp_get_thread_num() * w->tiles->some_bytes);
        ikt_list_note(w->course, w->first, w->end);
    }
    foreign_free(&w->numbers);
    foreign_free(&w->rows);
    return st;
}

/* --- the round -------------------------------------------------------------------------------- */

/* Rows of a batch where the largest rank has n_local. */
static int64_t batch_rows(int64_t n_local, int64_t left_bytes) {
    int64_t rows = FETCH_BYTES / (CANDIDATES * left_bytes);
    if (rows < BATCH_LEAST) rows = BATCH_LEAST;
    if (rows > BATCH_MOST) rows = BATCH_MOST;
    return rows < n_local ? rows : n_local;
}

/* A power of two, at least twice as many as a set may have members. */
static int64_t slots_for(int64_t members) {
    int64_t slots = 2;
    while (slots < 2 * members)
        slots *= 2;
    return slots;
}

/* Of a row: candidates, list and itself. Of a batch: candidates of all its rows. */
static int64_t row_slots(int64_t k) {
    return slots_for(CANDIDATES + k + 1);
}

static int64_t batch_slots(int64_t n_local, int64_t left_bytes) {
    return slots_for(CANDIDATES * batch_rows(n_local, left_bytes));
}

static int64_t largest_share(const work *w) {
    return ikt_rows_count(&w->tiles->rows, 0);
}

static ikt_status work_alloc(work *w) {
    ikt_context *ctx = w->ctx;
    const int64_t threads = ikt_threads(ctx);
    IKT_TRY(ikt_alloc(ctx, &w->seen, threads, sizeof *w->seen, purpose));
    for (int64_t t = 0; t < threads; t++)
        IKT_TRY(set_create(ctx, row_slots(w->lists->k), &w->seen[t]));
    if (ikt_size(ctx) > 1)
        IKT_TRY(set_create(ctx, batch_slots(largest_share(w), w->tiles->left_bytes), &w->wanted));
    return ikt_alloc(ctx, &w->scratch, threads * w->tiles->some_bytes, 1, purpose);
}

static void work_free(work *w) {
    for (int64_t t = 0; w->seen && t < ikt_threads(w->ctx); t++)
        set_destroy(&w->seen[t]);
    ikt_free(&w->seen);
    set_destroy(&w->wanted);
    ikt_free(&w->scratch);
}

/* COLLECTIVE. Lists in order, and their first entries set aside, unless a run before this one has
 * done so: then some lists are improved already. */
static ikt_status set_aside(work *w) {
    ikt_list_progress *progress = &w->course->progress;
    ikt_status st = IKT_OK;
    const bool is_begun = progress->nearest != NULL;
    progress->near = w->near;
    if (!is_begun)
        st = ikt_alloc(w->ctx, &progress->nearest, w->lists->n_local * w->near,
                       sizeof *progress->nearest, purpose);
    IKT_TRY(ikt_agree(w->ctx, st));
    w->nearest = progress->nearest;
    if (is_begun) return IKT_OK;
    ikt_neighbours_sort(w->ctx, w->lists);
#pragma omp parallel for schedule(static) num_threads(ikt_threads(w->ctx))
    for (int64_t i = 0; i < w->lists->n_local; i++)
        memcpy(w->nearest + i * w->near, w->lists->row + i * w->lists->k,
               (size_t)w->near * sizeof *w->nearest);
    return IKT_OK;
}

/* COLLECTIVE. */
static ikt_status refine_all(work *w) {
    const int64_t most = largest_share(w), own = w->tiles->rows.count;
    const bool is_small = ikt_piece_bytes(w->ctx) < FETCH_BYTES; /* as tests make it */
    const int64_t rows = is_small ? BATCH_LEAST : batch_rows(most, w->tiles->left_bytes);
    for (int64_t done = 0; done < most; done += rows) {
        w->first = done < own ? done : own;
        w->end = done + rows < own ? done + rows : own;
        IKT_TRY(refine_batch(w));
        ikt_progress(w->ctx, "rows refined", done + rows < most ? done + rows : most, most, NULL);
        IKT_TRY(ikt_list_pause(w->ctx, w->course));
    }
    return IKT_OK;
}

ikt_status ikt_neighbours_refine_kept(ikt_context *ctx, ikt_tiles *tiles, ikt_list_course *course) {
    work w = {.ctx = ctx, .tiles = tiles, .course = course, .lists = course->lists};
    w.near = w.lists->k < NEAR ? w.lists->k : NEAR;
    ikt_status st = ikt_agree(ctx, work_alloc(&w));
    if (st == IKT_OK) st = set_aside(&w);
    if (st == IKT_OK) {
        tiles->flatten(tiles);
        st = refine_all(&w);
        tiles->pack(tiles);
    }
    work_free(&w);
    return st;
}

ikt_status ikt_neighbours_refine(ikt_context *ctx, ikt_tiles *tiles, ikt_neighbours *lists) {
    ikt_list_course course = {.lists = lists};
    ikt_status st = ikt_neighbours_refine_kept(ctx, tiles, &course);
    ikt_list_course_end(&course);
    return st;
}

int64_t ikt_refine_memory(int64_t n_local, int64_t k, int64_t left_bytes, int ranks, int threads) {
    const int64_t number = sizeof(uint32_t);
    int64_t bytes = number * NEAR * n_local + threads * 2 * number * row_slots(k);
    if (ranks == 1) return bytes;
    return bytes + 2 * number * batch_slots(n_local, left_bytes) +
           batch_rows(n_local, left_bytes) * CANDIDATES * (left_bytes + number);
}
