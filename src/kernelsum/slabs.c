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

/* The larger of a slab of rows and a slab of columns. */
static int64_t room_bytes(const job *j) {
    int64_t rows = rows_of(j, ikt_row_map_count(&j->groups, 0)) * j->shape.batches;
    int64_t columns = rows_of(j, j->shape.groups) * ikt_row_map_count(&j->batches, 0);
    return (rows > columns ? rows : columns) * j->shape.width * (int64_t)j->ops->size;
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

/* Bytes of own rows in the batches of rank r, or of rank r's rows in own batches. */
static void set_counts(const job *j, int64_t *by_rows, int64_t *by_batches) {
    int64_t number = (int64_t)j->ops->size * j->shape.width;
    for (int r = 0; r < ikt_size(j->ctx); r++) {
        by_rows[r] = rows_of(j, j->groups.count) * ikt_row_map_count(&j->batches, r) * number;
        by_batches[r] = rows_of(j, ikt_row_map_count(&j->groups, r)) * j->batches.count * number;
    }
}

/* Copies the rows of some groups in some batches between the field and what travels. Returns where
 * they end there. */
static char *copy_block(const job *j, int64_t first_group, int64_t groups, int64_t first_batch,
                        int64_t batches, char *packed, bool pack) {
    const int64_t number = (int64_t)j->ops->size * j->shape.width;
    const int64_t bytes = rows_of(j, groups) * number;
    for (int64_t b = first_batch; b < first_batch + batches; b++, packed += bytes) {
        char *at = (char *)j->space->field + rows_of(j, b * j->shape.groups + first_group) * number;
        if (pack)
            memcpy(packed, at, (size_t)bytes);
        else
            memcpy(at, packed, (size_t)bytes);
    }
    return packed;
}

/* Own rows, which lie by the batches of rank 0, 1, ... */
static void copy_own_rows(const job *j, char *packed, bool pack) {
    copy_block(j, j->groups.first, j->groups.count, 0, j->shape.batches, packed, pack);
}

/* Own batches, by the rows of rank 0, 1, ... */
static void copy_own_batches(const job *j, char *packed, bool pack) {
    for (int r = 0; r < ikt_size(j->ctx); r++)
        packed = copy_block(j, ikt_row_map_first(&j->groups, r), ikt_row_map_count(&j->groups, r),
                            j->batches.first, j->batches.count, packed, pack);
}

/* The transpose, the columns, and the transpose back. */
static void convolve_columns(const job *j) {
    ikt_slab_space *s = j->slabs;
    set_counts(j, s->send_counts, s->recv_counts);
    copy_own_rows(j, s->sent, true);
    ikt_exchange(j->ctx, s->sent, s->send_counts, s->received, s->recv_counts, 1);
    copy_own_batches(j, s->received, false);
    j->ops->columns(j->mesh, j->grid, j->space, j->batches.first,
                    j->batches.first + j->batches.count);
    copy_own_batches(j, s->sent, true);
    ikt_exchange(j->ctx, s->sent, s->recv_counts, s->received, s->send_counts, 1);
    copy_own_rows(j, s->received, false);
}

/* First row of nodes that is not of a rank before r: the last group may reach beyond the nodes. */
static int64_t first_node(const job *j, int r) {
    int64_t row = rows_of(j, ikt_row_map_first(&j->groups, r));
    return row < j->grid->nodes[1] ? row : j->grid->nodes[1];
}

/* Rows of nodes that rank r owns. */
static int64_t nodes_of(const job *j, int r) {
    return first_node(j, r + 1) - first_node(j, r);
}

/* Each rank gets the summed charges of its rows. */
static void sum_charges(const job *j, const ikt_charges *charges) {
    int64_t *counts = j->slabs->send_counts;
    for (int r = 0; r < ikt_size(j->ctx); r++)
        counts[r] = nodes_of(j, r) * charges->stride;
    ikt_sum_parts_i64(j->ctx, charges->charge, counts);
}

static void share_potentials(const job *j) {
    const int64_t size = j->space->potential_stride * (int64_t)j->ops->size;
    int64_t *counts = j->slabs->recv_counts;
    for (int r = 0; r < ikt_size(j->ctx); r++)
        counts[r] = nodes_of(j, r);
    ikt_allgather(j->ctx, (char *)j->space->potential + first_node(j, ikt_rank(j->ctx)) * size,
                  nodes_of(j, ikt_rank(j->ctx)), (size_t)size, j->space->potential, counts);
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
