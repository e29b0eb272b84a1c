/* The positions of all rows on every rank. See replica.h. */
#include "kernelsum/replica.h"

#include <math.h>

#include "base/comm.h"
#include "base/memory.h"

enum { LANES = 16 };

static const float far_away = 1e30f;

ikt_status ikt_replica_create(ikt_context *ctx, const ikt_rows *rows, int q, ikt_replica *out) {
    *out = (ikt_replica){.q = q, .padded = (rows->n + LANES - 1) / LANES * LANES};
    IKT_TRY(ikt_alloc(ctx, &out->counts, rows->ranks, sizeof *out->counts, "positions"));
    IKT_TRY(ikt_alloc(ctx, &out->all, q * rows->n, sizeof *out->all, "positions"));
    for (int r = 0; r < rows->ranks; r++)
        out->counts[r] = ikt_rows_count(rows, r);
    for (int c = 0; c < q; c++) {
        IKT_TRY(ikt_alloc(ctx, &out->at[c], out->padded, sizeof *out->at[c], "positions"));
        for (int64_t i = rows->n; i < out->padded; i++)
            out->at[c][i] = far_away;
    }
    return IKT_OK;
}

bool ikt_replica_fill(ikt_context *ctx, const ikt_rows *rows, const float *y,
                      const ikt_replica *replica) {
    const int q = replica->q;
    int64_t invalid = 0;
    ikt_allgather(ctx, y, rows->count, (size_t)q * sizeof *y, replica->all, replica->counts);
#pragma omp parallel for num_threads(ikt_threads(ctx)) reduction(+ : invalid)
    for (int64_t i = 0; i < rows->n; i++)
        for (int c = 0; c < q; c++) {
            const float value = replica->all[q * i + c];
            replica->at[c][i] = value;
            invalid += !isfinite(value);
        }
    return invalid == 0;
}

void ikt_replica_charges(ikt_context *ctx, const ikt_rows *rows, const double *charge, double scale,
                         const ikt_replica *replica, float *all) {
    float *own = all + rows->first;
    for (int64_t i = 0; i < rows->count; i++)
        own[i] = (float)(charge[i] / scale);
    ikt_allgather(ctx, own, rows->count, sizeof *own, all, replica->counts);
}

void ikt_replica_destroy(ikt_replica *replica) {
    ikt_free_all(&replica->counts, &replica->all);
    for (int c = 0; c < IKT_DIMENSIONS_MOST; c++)
        ikt_free(&replica->at[c]);
}

int64_t ikt_replica_memory(const ikt_rows *rows, int q) {
    return 8 * q * rows->n + 8 * rows->ranks;
}
