/* One convolution shared by all ranks. See slabs.h. */
#include "kernelsum/slabs.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/timer.h"
#include "dist/rows.h"

/* What the model reckons with: seconds of a node and factor of log2 in a transform, bytes a second
 * into and out of a rank, seconds of a message. The first is measured on one thread of a two-core
 * virtual machine (1.0e-10 at 512 x 512 and at 1024 x 1024, 1.6e-10 at 1536 x 1536, float), the
 * others are what two ranks of it reach and common networks do. docs/accuracy.md has what two ranks
 * then need.
 * With many ranks the charges and the potentials of all nodes remain, which every rank sends or
 * gets once whichever way, and a message to each rank that shares: so not all need to. By this
 * model a 1536 x 1536 grid is replicated in 9.0 ms and shared by 2 ranks in 8.3, by 16 in 3.1, by
 * 64 in 2.9 and by 1024 in 8.5. */
static const double transform_time = 1.2e-10, bandwidth = 3e9, latency = 3e-6;

typedef struct {
    ikt_context *ctx;
    const ikt_mesh_ops *ops;
    const ikt_mesh *mesh;
    const ikt_grid *grid;
    const ikt_mesh_space *space;
    ikt_slab_space *slabs;
    ikt_mesh_shape shape;
    ikt_rows groups, batches; /* what each rank owns */
} job;

/* --- who -------------------------------------------------------------------------------------- */

/* Blocks of n units for the first ranks, none for the others. */
static ikt_rows shares_make(int64_t n, int sharers, int rank) {
    if (rank < sharers) return ikt_rows_make(n, sharers, rank);
    return (ikt_rows){n, sharers, n, 0};
}

static int64_t first_of(const ikt_rows *shares, int rank) {
    return rank < shares->ranks ? ikt_rows_first(shares, rank) : shares->n;
}

static int64_t count_of(const ikt_rows *shares, int rank) {
    return rank < shares->ranks ? ikt_rows_count(shares, rank) : 0;
}

static job job_make(ikt_context *ctx, const ikt_mesh_ops *ops, const ikt_mesh *mesh,
                    const ikt_grid *grid, int sharers) {
    job j = {.ctx = ctx, .ops = ops, .mesh = mesh, .grid = grid, .shape = ops->shape(mesh, grid)};
    j.groups = shares_make(j.shape.groups, sharers, ikt_rank(ctx));
    j.batches = shares_make(j.shape.batches, sharers, ikt_rank(ctx));
    return j;
}

/* Seconds of a convolution on `ranks` ranks of which `sharers` share it, 1: all replicate it. */
static double model(const ikt_grid *grid, size_t number, int ranks, int sharers) {
    double nodes = (double)(grid->nodes[0] * grid->nodes[1]), size = (double)number;
    double padded = (double)(grid->padded[0] * grid->padded[1]);
    double transform = transform_time * padded * log2(padded), steps = log2(ranks);
    /* Replicated: all charges to all. Slabs: charges once, waves twice in and out, potentials. */
    if (sharers == 1) return transform + 2 * 8 * nodes / bandwidth + latency * steps;
    return transform / sharers +
           (8 * nodes + 8 * size * nodes / sharers + size * nodes) / bandwidth +
           latency * (2 * sharers + 2 * steps);
}

int ikt_slabs_sharers(const ikt_fft_settings *settings, const ikt_grid *grid, int ranks) {
    const size_t number = settings->single ? sizeof(float) : sizeof(double);
    int best = 1;
    if (settings->sharing == IKT_SHARING_REPLICATED) return 1;
    if (settings->sharing == IKT_SHARING_SLABS) return ranks;
    double least = model(grid, number, ranks, 1);
    for (int64_t sharers = 2; ranks > 1; sharers *= 2) {
        int now = sharers < ranks ? (int)sharers : ranks;
        double seconds = model(grid, number, ranks, now);
        if (seconds < least) {
            least = seconds;
            best = now;
        }
        if (now == ranks) break;
    }
    return best;
}

/* --- room ------------------------------------------------------------------------------------- */

static int64_t rows_of(const job *j, int64_t groups) {
    return groups * j->shape.group_rows;
}

/* The larger of a slab of rows and a slab of columns. */
static int64_t room_bytes(const job *j) {
    int64_t rows = rows_of(j, count_of(&j->groups, 0)) * j->shape.batches;
    int64_t columns = rows_of(j, j->shape.groups) * count_of(&j->batches, 0);
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
                             const ikt_grid *grid, int sharers, ikt_slab_space *space) {
    const job j = job_make(ctx, ops, mesh, grid, sharers);
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
        by_rows[r] = rows_of(j, j->groups.count) * count_of(&j->batches, r) * number;
        by_batches[r] = rows_of(j, count_of(&j->groups, r)) * j->batches.count * number;
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
        packed = copy_block(j, first_of(&j->groups, r), count_of(&j->groups, r), j->batches.first,
                            j->batches.count, packed, pack);
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
    int64_t row = rows_of(j, first_of(&j->groups, r));
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
                        const ikt_grid *grid, int sharers, const ikt_charges *charges,
                        const ikt_mesh_space *space, ikt_slab_space *slabs) {
    job j = job_make(ctx, ops, mesh, grid, sharers);
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
