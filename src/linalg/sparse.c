/* Sparse rows of float32. See sparse.h. */
#include "linalg/sparse.h"

#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/cpu.h"

static const char purpose[] = "sparse rows";

ikt_status ikt_sparse_reserve(ikt_context *ctx, int64_t count, int64_t entries, ikt_sparse *rows) {
    IKT_TRY(ikt_reserve(ctx, &rows->start, count + 1, sizeof *rows->start, purpose));
    IKT_TRY(ikt_reserve(ctx, &rows->column, entries, sizeof *rows->column, purpose));
    IKT_TRY(ikt_reserve(ctx, &rows->value, entries, sizeof *rows->value, purpose));
    if (entries > rows->entry_capacity) rows->entry_capacity = entries;
    return IKT_OK;
}

void ikt_sparse_destroy(ikt_sparse *rows) {
    ikt_free_all(&rows->start, &rows->column, &rows->value);
    *rows = (ikt_sparse){0};
}

ikt_status ikt_sparse_join(ikt_context *ctx, const ikt_sparse *own, ikt_sparse *all) {
    const int64_t mine = own->start[own->count];
    *all = (ikt_sparse){.d = own->d, .count = ikt_sum_one(ctx, own->count)};
    const int64_t entries = ikt_sum_one(ctx, mine);
    IKT_ARRAYS(held, ctx, purpose);
    int64_t *counts = ikt_claim(&held, ikt_size(ctx), sizeof *counts);
    int64_t *length = ikt_claim(&held, own->count, sizeof *length);
    if (held.status == IKT_OK) held.status = ikt_sparse_reserve(ctx, all->count, entries, all);
    ikt_status st = ikt_arrays_agree(&held);
    if (st == IKT_OK) {
        for (int64_t i = 0; i < own->count; i++)
            length[i] = own->start[i + 1] - own->start[i];
        ikt_gather_counts(ctx, own->count, counts);
        ikt_allgather(ctx, length, own->count, sizeof *length, all->start + 1, counts);
        ikt_gather_counts(ctx, mine, counts);
        ikt_allgather(ctx, own->column, mine, sizeof *own->column, all->column, counts);
        ikt_allgather(ctx, own->value, mine, sizeof *own->value, all->value, counts);
        all->start[0] = 0;
        for (int64_t i = 0; i < all->count; i++) /* lengths become starts */
            all->start[i + 1] += all->start[i];
    } else {
        ikt_sparse_destroy(all);
    }
    return st;
}

ikt_status ikt_sparse_choose(ikt_context *ctx, const ikt_sparse *rows, const int64_t *number,
                             int64_t count, ikt_sparse *out) {
    int64_t entries = 0;
    *out = (ikt_sparse){.d = rows->d, .count = count};
    for (int64_t i = 0; i < count; i++)
        entries += rows->start[number[i] + 1] - rows->start[number[i]];
    ikt_status st = ikt_sparse_reserve(ctx, count, entries, out);
    for (int64_t i = 0; st == IKT_OK && i < count; i++) {
        const ikt_sparse_row row = ikt_sparse_row_of(rows, number[i]);
        const int64_t at = out->start[i];
        out->start[i + 1] = at + row.count;
        if (row.count == 0) continue;
        memcpy(out->column + at, row.column, (size_t)row.count * sizeof *row.column);
        memcpy(out->value + at, row.value, (size_t)row.count * sizeof *row.value);
    }
    if (st != IKT_OK) ikt_sparse_destroy(out);
    return st;
}

int64_t ikt_sparse_longest(const ikt_sparse *rows) {
    int64_t longest = 0;
    for (int64_t i = 0; i < rows->count; i++)
        if (rows->start[i + 1] - rows->start[i] > longest)
            longest = rows->start[i + 1] - rows->start[i];
    return longest;
}

/* Which row a column comes from cannot be foreseen: values are chosen, not branched to. */
IKT_WIDEST_FUSED
static float squared_distance(ikt_sparse_row a, ikt_sparse_row b) {
    int64_t i = 0, j = 0;
    float sum = 0;
    while (i < a.count && j < b.count) {
        const int32_t x = a.column[i], y = b.column[j];
        const float gap = (x <= y ? a.value[i] : 0) - (y <= x ? b.value[j] : 0);
        sum = fmaf(gap, gap, sum);
        i += x <= y;
        j += y <= x;
    }
    for (; i < a.count; i++)
        sum = fmaf(a.value[i], a.value[i], sum);
    for (; j < b.count; j++)
        sum = fmaf(b.value[j], b.value[j], sum);
    return sum;
}

/* The variants of a function for each instruction set are visible outside a shared library,
 * whatever it is declared: those are of a static one. */
float ikt_sparse_distance(ikt_sparse_row a, ikt_sparse_row b) {
    return squared_distance(a, b);
}

IKT_WIDEST_FUSED
static float manhattan_distance(ikt_sparse_row a, ikt_sparse_row b) {
    int64_t i = 0, j = 0;
    float sum = 0;
    while (i < a.count && j < b.count) {
        const int32_t x = a.column[i], y = b.column[j];
        sum += fabsf((x <= y ? a.value[i] : 0) - (y <= x ? b.value[j] : 0));
        i += x <= y;
        j += y <= x;
    }
    for (; i < a.count; i++)
        sum += fabsf(a.value[i]);
    for (; j < b.count; j++)
        sum += fabsf(b.value[j]);
    return sum;
}

float ikt_sparse_manhattan(ikt_sparse_row a, ikt_sparse_row b) {
    return manhattan_distance(a, b);
}

/* The sum over columns of the differences of two rows, or of their squares. */
static double distance_f64(ikt_sparse_row a, ikt_sparse_row b, bool are_squares) {
    int64_t i = 0, j = 0;
    double sum = 0;
    while (i < a.count || j < b.count) {
        const int32_t x = i < a.count ? a.column[i] : INT32_MAX;
        const int32_t y = j < b.count ? b.column[j] : INT32_MAX;
        const double gap = (x <= y ? (double)a.value[i] : 0) - (y <= x ? (double)b.value[j] : 0);
        sum += are_squares ? gap * gap : fabs(gap);
        i += x <= y;
        j += y <= x;
    }
    return sum;
}

double ikt_sparse_distance_f64(ikt_sparse_row a, ikt_sparse_row b) {
    return distance_f64(a, b, true);
}

double ikt_sparse_manhattan_f64(ikt_sparse_row a, ikt_sparse_row b) {
    return distance_f64(a, b, false);
}

double ikt_sparse_length_l1(ikt_sparse_row a) {
    double sum = 0;
    for (int64_t e = 0; e < a.count; e++)
        sum += fabs((double)a.value[e]);
    return sum;
}

double ikt_sparse_norm(ikt_sparse_row a) {
    double sum = 0;
    for (int64_t e = 0; e < a.count; e++)
        sum += (double)a.value[e] * (double)a.value[e];
    return sum;
}

void ikt_sparse_fill(ikt_sparse_row a, float *dense) {
    for (int64_t e = 0; e < a.count; e++)
        dense[a.column[e]] = a.value[e];
}

void ikt_sparse_clear(ikt_sparse_row a, float *dense) {
    for (int64_t e = 0; e < a.count; e++)
        dense[a.column[e]] = 0;
}
