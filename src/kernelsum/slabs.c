/* One convolution shared by all ranks. See slabs.h. */
#include "kernelsum/slabs.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/timer.h"
#include "dist/row_map.h"

/* What the model of slabs_pay reckons with, measured on two ranks of one machine: seconds of a node
 * and factor of log2 in a transform, bytes a second between ranks, seconds of a message. */
static const double transform_time = 5e-10, bandwidth = 3e9, latency = 3e-6;

typedef struct {
    ikt_context *ctx;
    const ikt_mesh_ops *ops;
    const ikt_mesh *mesh;
    const ikt_grid *grid;
    const ikt_mesh_space *space;
    ikt_slab_space *slabs;
    ikt_mesh_shape shape;
    ikt_row_map groups, batches; /* what each rank owns */
} job;

static job job_make(ikt_context *ctx, const ikt_mesh_ops *ops, const ikt_mesh *mesh,
                    const ikt_grid *grid) {
    job j = {.ctx = ctx, .ops = ops, .mesh = mesh, .grid = grid, .shape = ops->shape(mesh, grid)};
    j.groups = ikt_row_map_make(j.shape.groups, ikt_size(ctx), ikt_rank(ctx));
    j.batches = ikt_row_map_make(j.shape.batches, ikt_size(ctx), ikt_rank(ctx));
    return j;
}

/* --- when ------------------------------------------------------------------------------------- */

bool ikt_slabs_pay(const ikt_grid *grid, size_t number, int ranks) {
    if (ranks < 2) return false;
    double nodes = (double)(grid->nodes[0] * grid->nodes[1]), share = 1.0 / ranks;
    double padded = (double)(grid->padded[0] * grid->padded[1]);
    double transform = transform_time * padded * log2(padded), size = (double)number;
    /* Replicated: all charges to all. Slabs: charges once, waves twice, potentials once. */
    double all = 2 * 8 * nodes / bandwidth + latency * log2(ranks);
    double parts = (8 * nodes + 4 * size * nodes * share * 2 + size * nodes) / bandwidth +
                   latency * (2 * ranks + 2 * log2(ranks));
    return transform * share + parts < transform + all;
}

/* --- room ------------------------------------------------------------------------------------- */

static int64_t rows_of(const job *j, int64_t groups) {
    return groups * j->shape.group_rows;
}

/* The larger of a slab of rows, a slab of columns and the kept part of all rows. */
static int64_t room_bytes(const job *j) {
    int64_t rows = rows_of(j, ikt_row_map_count(&j->groups, 0)) * j->shape.stride;
    int64_t columns =
        rows_of(j, j->shape.groups) * ikt_row_map_count(&j->batches, 0) * j->shape.width;
    int64_t kept = rows_of(j, j->shape.groups) * j->shape.kept;
    int64_t most = rows > columns ? rows : columns;
    return (most > kept ? most : kept) * (int64_t)j->ops->size;
}

static ikt_status claim(ikt_context *ctx, int64_t bytes, ikt_slab_space *space) {
    int64_t ranks = ikt_size(ctx);
    IKT_TRY(ikt_alloc(ctx, &space->send_counts, ranks, sizeof(int64_t), "repulsion"));
    IKT_TRY(ikt_alloc(ctx, &space->recv_counts, ranks, sizeof(int64_t), "repulsion"));
    IKT_TRY(ikt_alloc(ctx, &space->sent, bytes, 1, "repulsion"));
    IKT_TRY(ikt_alloc(ctx, &space->received, bytes, 1, "repulsion"));
    space->room = bytes;
    return IKT_OK;
}

ikt_status ikt_slabs_prepare(ikt_context *ctx, const ikt_mesh_ops *ops, const ikt_mesh *mesh,
                             const ikt_grid *grid, ikt_slab_space *space) {
    const job j = job_make(ctx, ops, mesh, grid);
    int64_t bytes = room_bytes(&j);
    if (bytes <= space->room) return IKT_OK;
    ikt_slabs_release(space);
    ikt_status st = ikt_agree(ctx, claim(ctx, bytes + bytes / 4, space));
    if (st != IKT_OK) ikt_slabs_release(space);
    return st;
}

void ikt_slabs_release(ikt_slab_space *space) {
    ikt_free(&space->sent);
    ikt_free(&space->received);
    ikt_free(&space->send_counts);
    ikt_free(&space->recv_counts);
    space->room = 0;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Each rank gets the summed charges of its rows. */
static void sum_charges(const job *j, const ikt_charges *charges) {
    int64_t *counts = j->slabs->send_counts, left = j->grid->nodes[1];
    for (int r = 0; r < ikt_size(j->ctx); r++) {
        int64_t rows = rows_of(j, ikt_row_map_count(&j->groups, r));
        if (rows > left) rows = left; /* the last group may reach beyond the nodes */
        counts[r] = rows * charges->stride;
        left -= rows;
    }
    ikt_sum_parts_i64(j->ctx, charges->charge, counts);
}

/* Bytes of own rows in the batches of rank r, or of rank r's rows in own batches. */
static void set_counts(const job *j, int64_t *by_rows, int64_t *by_batches) {
    int64_t number = (int64_t)j->ops->size * j->shape.width;
    for (int r = 0; r < ikt_size(j->ctx); r++) {
        by_rows[r] = rows_of(j, j->groups.count) * ikt_row_map_count(&j->batches, r) * number;
        by_batches[r] = rows_of(j, ikt_row_map_count(&j->groups, r)) * j->batches.count * number;
    }
}

/* Copies own rows between the field and the parts that travel, batches of one rank together. */
static void copy_parts(const job *j, bool to_parts) {
    const int64_t size = (int64_t)j->ops->size, first = rows_of(j, j->groups.first);
    char *part = j->slabs->sent;
    for (int r = 0; r < ikt_size(j->ctx); r++) {
        int64_t bytes = ikt_row_map_count(&j->batches, r) * j->shape.width * size;
        int64_t offset = ikt_row_map_first(&j->batches, r) * j->shape.width * size;
        for (int64_t row = 0; row < rows_of(j, j->groups.count); row++, part += bytes) {
            char *at = (char *)j->space->field + (first + row) * j->shape.stride * size + offset;
            if (to_parts)
                memcpy(part, at, (size_t)bytes);
            else
                memcpy(at, part, (size_t)bytes);
        }
    }
}

/* What came is all rows of the own batches, one behind the other: convolved where it is. */
static void convolve_columns(const job *j) {
    int64_t *rows = j->slabs->send_counts, *batches = j->slabs->recv_counts;
    set_counts(j, rows, batches);
    copy_parts(j, true);
    ikt_exchange(j->ctx, j->slabs->sent, rows, j->slabs->received, batches, 1);
    j->ops->columns(j->mesh, j->grid, j->space, j->batches.first,
                    j->batches.first + j->batches.count, j->slabs->received,
                    j->batches.count * j->shape.width);
    ikt_exchange(j->ctx, j->slabs->received, batches, j->slabs->sent, rows, 1);
    copy_parts(j, false);
}

/* Copies the kept part of rows between the field and what travels. */
static void copy_kept(const job *j, int64_t first, int64_t rows, char *packed, bool to_packed) {
    const int64_t size = (int64_t)j->ops->size, bytes = j->shape.kept * size;
    for (int64_t row = 0; row < rows; row++) {
        char *at = (char *)j->space->field + (first + row) * j->shape.stride * size;
        if (to_packed)
            memcpy(packed + row * bytes, at, (size_t)bytes);
        else
            memcpy(at, packed + row * bytes, (size_t)bytes);
    }
}

static void share_potentials(const job *j) {
    int64_t rows = rows_of(j, j->groups.count), *counts = j->slabs->recv_counts;
    for (int r = 0; r < ikt_size(j->ctx); r++)
        counts[r] = rows_of(j, ikt_row_map_count(&j->groups, r));
    copy_kept(j, rows_of(j, j->groups.first), rows, j->slabs->sent, true);
    ikt_allgather(j->ctx, j->slabs->sent, rows, (size_t)j->shape.kept * j->ops->size,
                  j->slabs->received, counts);
    copy_kept(j, 0, rows_of(j, j->shape.groups), j->slabs->received, false);
}

void ikt_slabs_convolve(ikt_context *ctx, const ikt_mesh_ops *ops, const ikt_mesh *mesh,
                        const ikt_grid *grid, const ikt_charges *charges,
                        const ikt_mesh_space *space, ikt_slab_space *slabs) {
    job j = job_make(ctx, ops, mesh, grid);
    const int64_t first = j.groups.first, end = first + j.groups.count;
    j.space = space;
    j.slabs = slabs;
    ikt_stage_begin(ctx, IKT_STAGE_GRID_SUM);
    sum_charges(&j, charges);
    ikt_stage_end(ctx, IKT_STAGE_GRID_SUM);
    ikt_stage_begin(ctx, IKT_STAGE_FFT);
    ops->forward(mesh, grid, charges, space, first, end);
    convolve_columns(&j);
    ops->inverse(mesh, grid, space, first, end);
    share_potentials(&j);
    ikt_stage_end(ctx, IKT_STAGE_FFT);
}
