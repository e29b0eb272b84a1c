/* Drawing centres: Floyd's algorithm, one pass and no rejection.
 *
 * For j = n - psi .. n - 1 draw r uniformly from 0 .. j and take r, or j if r was taken before
 * (Bentley & Floyd, CACM 30(9), 1987). Every psi-subset is equally likely and exactly psi draws are
 * made, for psi = n as well. The set of rows taken is an open-addressing table of at least 2 psi
 * slots. */
#include "isolation/model.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <omp.h>

#include "base/memory.h"
#include "base/rng.h"

static const char purpose[] = "model";

typedef struct {
    int64_t *slot; /* row + 1, 0 = free */
    int64_t size;  /* a power of two */
} row_set;

/* Adds a row; false if it is there already. */
static bool take(row_set *set, int64_t row) {
    uint64_t at = (uint64_t)row * 0x9E3779B97F4A7C15u; /* spreads neighbouring rows */
    for (at >>= 16;; at++) {
        int64_t *slot = &set->slot[at & (uint64_t)(set->size - 1)];
        if (*slot == row + 1) return false;
        if (*slot == 0) {
            *slot = row + 1;
            return true;
        }
    }
}

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Draws `count` distinct numbers below n, ascending; a pure function of the first five. */
static void draw_sample(uint64_t seed, ikt_rng_purpose what, int64_t which, int64_t n,
                        int64_t count, row_set *taken, int64_t *row) {
    memset(taken->slot, 0, (size_t)taken->size * sizeof *taken->slot);
    for (int64_t i = 0; i < count; i++) {
        int64_t j = n - count + i;
        int64_t r = ikt_rng_below(seed, what, which, (uint64_t)i, j + 1);
        row[i] = take(taken, r) ? r : j;
        if (row[i] == j && r != j) take(taken, j);
    }
    qsort(row, (size_t)count, sizeof *row, ascending);
}

/* Numbers of the pool become rows. */
static void look_up(const int64_t *pool, int64_t count, int64_t *row) {
    for (int64_t i = 0; pool && i < count; i++)
        row[i] = pool[row[i]];
}

static void draw_all(ikt_context *ctx, const ikt_model *model, int64_t *pool, int64_t *slots,
                     int64_t size) {
    const ikt_model_spec *spec = &model->spec;
    const int64_t from = pool ? spec->pool : spec->n;
    row_set taken = {slots, size};
    if (pool) draw_sample(spec->seed, IKT_RNG_POOL, 0, spec->n, spec->pool, &taken, pool);
    draw_sample(spec->seed, IKT_RNG_CELLS, 0, from, spec->coarse, &taken, model->coarse_row);
    look_up(pool, spec->coarse, model->coarse_row);
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(ctx))
    for (int64_t p = 0; p < model->t; p++) {
        row_set own = {slots + omp_get_thread_num() * size, size};
        int64_t *row = model->row + p * model->psi;
        draw_sample(spec->seed, IKT_RNG_MODEL, p, from, model->psi, &own, row);
        look_up(pool, model->psi, row);
    }
}

static int64_t table_size(const ikt_model_spec *spec) {
    int64_t most = spec->psi > spec->coarse ? spec->psi : spec->coarse, size = 2;
    if (spec->pool > most) most = spec->pool;
    while (size < 2 * most)
        size *= 2;
    return size;
}

ikt_status ikt_model_create(ikt_context *ctx, const ikt_model_spec *spec, ikt_model **out) {
    ikt_model *model = NULL;
    int64_t *slots = NULL, *pool = NULL, size = table_size(spec);
    ikt_status st = ikt_alloc(ctx, &model, 1, sizeof *model, purpose);
    if (st == IKT_OK) {
        *model = (ikt_model){.spec = *spec, .psi = spec->psi, .t = spec->t};
        st = ikt_alloc(ctx, &model->row, spec->t * spec->psi, sizeof *model->row, purpose);
    }
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &model->coarse_row, spec->coarse, sizeof(int64_t), purpose);
    if (st == IKT_OK && spec->pool > 0)
        st = ikt_alloc(ctx, &pool, spec->pool, sizeof *pool, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &slots, ikt_threads(ctx) * size, sizeof *slots, purpose);
    if (st == IKT_OK)
        draw_all(ctx, model, pool, slots, size);
    else
        ikt_model_destroy(&model);
    ikt_free(&pool);
    ikt_free(&slots);
    *out = model;
    return st;
}

void ikt_model_destroy(ikt_model **model) {
    if (*model) {
        ikt_free(&(*model)->row);
        ikt_free(&(*model)->coarse_row);
    }
    ikt_free(model);
}

ikt_status ikt_model_distinct(ikt_context *ctx, const ikt_model *model, int64_t first,
                              int64_t count, int64_t **rows, int64_t *n_rows) {
    const int64_t all = count * model->psi;
    int64_t *row, distinct = 0;
    *n_rows = 0;
    IKT_TRY(ikt_alloc(ctx, rows, all, sizeof **rows, purpose));
    row = *rows;
    memcpy(row, model->row + first * model->psi, (size_t)all * sizeof *row);
    qsort(row, (size_t)all, sizeof *row, ascending);
    for (int64_t i = 0; i < all; i++)
        if (distinct == 0 || row[distinct - 1] != row[i]) row[distinct++] = row[i];
    *n_rows = distinct;
    return IKT_OK;
}
