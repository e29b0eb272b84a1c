/* Drawing centres: a subset of the pool, or of all rows, for each partitioning. */
#include "isolation/model.h"

#include <string.h>

#include <omp.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/sort.h"

static const char purpose[] = "model";

/* Numbers of the pool become rows. */
static void look_up(const int64_t *pool, int64_t count, int64_t *row) {
    for (int64_t i = 0; pool && i < count; i++)
        row[i] = pool[row[i]];
}

ikt_status ikt_model_create(ikt_context *ctx, const ikt_model_spec *spec, ikt_model **out) {
    ikt_model *model = NULL;
    const int64_t most = spec->psi > spec->coarse ? spec->psi : spec->coarse;
    const int64_t slots = ikt_draw_slots(spec->pool > most ? spec->pool : most);
    int64_t *slot = NULL, *pool = NULL;
    ikt_status st = ikt_alloc(ctx, &model, 1, sizeof *model, purpose);
    if (st == IKT_OK) {
        *model = (ikt_model){.spec = *spec, .psi = spec->psi, .t = spec->t};
        st = ikt_alloc(ctx, &model->row, spec->t * spec->psi, sizeof *model->row, purpose);
    }
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &model->coarse_row, spec->coarse, sizeof(int64_t), purpose);
    if (st == IKT_OK && spec->pool > 0)
        st = ikt_alloc(ctx, &pool, spec->pool, sizeof *pool, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &slot, ikt_threads(ctx) * slots, sizeof *slot, purpose);
    if (st == IKT_OK) {
        const int64_t from = pool ? spec->pool : spec->n;
        if (pool)
            ikt_draw_subset(spec->seed, IKT_RNG_POOL, 0, spec->n, spec->pool, slot, slots, pool);
        ikt_draw_subset(spec->seed, IKT_RNG_CELLS, 0, from, spec->coarse, slot, slots,
                        model->coarse_row);
        look_up(pool, spec->coarse, model->coarse_row);
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(ctx))
        for (int64_t p = 0; p < spec->t; p++) {
            int64_t *own = slot + omp_get_thread_num() * slots, *row = model->row + p * spec->psi;
            ikt_draw_subset(spec->seed, IKT_RNG_MODEL, p, from, spec->psi, own, slots, row);
            look_up(pool, spec->psi, row);
        }
    } else {
        ikt_model_destroy(&model);
    }
    ikt_free(&pool);
    ikt_free(&slot);
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
    *n_rows = 0;
    IKT_TRY(ikt_alloc(ctx, rows, all, sizeof **rows, purpose));
    memcpy(*rows, model->row + first * model->psi, (size_t)all * sizeof **rows);
    *n_rows = ikt_sort_distinct_i64(*rows, all);
    return IKT_OK;
}
