/* One convolution shared by all ranks. See slabs.h. */
#include "kernelsum/slabs.h"

#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/timer.h"

/* What the model reckons with where the settings say nothing. The first is measured on one thread
 * of a two-core virtual machine (1.0e-10 seconds a node and factor of log2 at 512 x 512 and at 1024
 * x 1024, 1.6e-10 at 1536 x 1536, float), the others are what two ranks of it reach and common
 * networks do. docs/accuracy.md has what two ranks then need.
 * With many ranks the charges and the potentials remain, of all nodes or of the pieces that each
 * rank touches, and a message to each rank that shares: so not all need to. By these rates a 1536 x
 * 1536 grid is replicated in 9.1 ms and shared by 2 ranks in 7.0, by 16 in 1.7, by 64 in 1.3 and by
 * 1024 in 3.0, with pieces where they pay. */
static const ikt_fft_rates usual = {1 / 1.2e-10, 3e9, 3e-6};

/* Seconds in which a thread marks the pieces that a point touches, as measured there. */
static const double marked_point = 2e-9;

static const char purpose[] = "repulsion";

/* Units that each rank owns: `block` each for the first ranks, then what is left, then none. */
typedef struct {
    int64_t n, block, first, count;
} shares;

typedef struct {
    ikt_context *ctx;
    const ikt_mesh_ops *ops;
    const ikt_mesh *mesh;
    const ikt_grid *grid;
    const ikt_mesh_space *space;
    ikt_slab_space *slabs;
    ikt_mesh_shape shape;
    shares groups, batches;
} job;

/* --- who -------------------------------------------------------------------------------------- */

static int64_t first_of(const shares *s, int rank) {
    return rank * s->block < s->n ? rank * s->block : s->n;
}

static shares shares_make(int64_t n, int sharers, int rank) {
    shares s = {.n = n, .block = (n + sharers - 1) / sharers};
    s.first = first_of(&s, rank);
    s.count = first_of(&s, rank + 1) - s.first;
    return s;
}

/* Seconds of charges to those that share a grid, and of potentials back: of all nodes, in two
 * collective calls; or of those that a rank touches, in a message of each to and from every rank,
 * as a rank that shares has them. */
static double travel(const ikt_fft_rates *rates, double nodes, double size, int ranks, int sharers,
                     bool by_pieces) {
    if (!by_pieces) return (8 + size) * nodes / rates->bandwidth + rates->latency * 2 * log2(ranks);
    const double others = ranks - 1, share = ikt_slabs_touched_share(ranks) * others / sharers;
    return (8 + size) * nodes * share / rates->bandwidth +
           rates->latency * (2 * others + log2(ranks));
}

/* Seconds of a convolution on `ranks` ranks of which `sharers` share it, 1: all replicate it. */
static double model(const ikt_fft_rates *rates, const ikt_grid *grid, size_t number, int ranks,
                    int sharers) {
    double nodes = (double)(grid->nodes[0] * grid->nodes[1]), size = (double)number;
    double padded = (double)(grid->padded[0] * grid->padded[1]);
    double transform = padded * log2(padded) / rates->transform, steps = log2(ranks);
    /* Replicated: all charges to all. Slabs: charges and potentials, coefficients twice in and
     * out. */
    if (sharers == 1) return transform + 2 * 8 * nodes / rates->bandwidth + rates->latency * steps;
    return transform / sharers + 8 * size * nodes / sharers / rates->bandwidth +
           rates->latency * 2 * sharers +
           fmin(travel(rates, nodes, size, ranks, sharers, false),
                travel(rates, nodes, size, ranks, sharers, true));
}

/* Whether FFTW's transposes can count what a rank holds. */
static bool is_countable(const ikt_grid *grid, int sharers) {
    return grid->padded[0] * (grid->nodes[1] + 1) / sharers < IKT_TRANSPOSE_MOST / 2;
}

/* The rates of the settings, and the usual ones where these say nothing. */
static ikt_fft_rates rates_of(const ikt_fft_settings *settings) {
    ikt_fft_rates rates = settings->rates;
    if (!(rates.transform > 0)) rates.transform = usual.transform;
    if (!(rates.bandwidth > 0)) rates.bandwidth = usual.bandwidth;
    if (!(rates.latency > 0)) rates.latency = usual.latency;
    return rates;
}

double ikt_slabs_touched_share(int ranks) {
    return 1 / (1 + 0.264 * pow(ranks, 0.72));
}

bool ikt_slabs_by_pieces(const ikt_fft_settings *settings, const ikt_grid *grid, int64_t points,
                         int ranks, int sharers) {
    const ikt_fft_rates rates = rates_of(settings);
    const double nodes = (double)(grid->nodes[0] * grid->nodes[1]);
    const double size = settings->single ? sizeof(float) : sizeof(double);
    if (sharers == 1) return false;
    if (settings->sharing == IKT_SHARING_SLABS) return true;
    return marked_point * (double)points / ranks +
               travel(&rates, nodes, size, ranks, sharers, true) <
           travel(&rates, nodes, size, ranks, sharers, false);
}

int ikt_slabs_sharers(const ikt_fft_settings *settings, const ikt_grid *grid, int ranks) {
    const size_t number = settings->single ? sizeof(float) : sizeof(double);
    const ikt_fft_rates rates = rates_of(settings);
    int best = 1;
    if (settings->sharing == IKT_SHARING_REPLICATED || !is_countable(grid, ranks)) return 1;
    if (settings->sharing == IKT_SHARING_SLABS) return ranks;
    double least = model(&rates, grid, number, ranks, 1);
    for (int64_t sharers = 2; ranks > 1; sharers *= 2) {
        int now = sharers < ranks ? (int)sharers : ranks;
        double seconds = model(&rates, grid, number, ranks, now);
        if (seconds < least && is_countable(grid, now)) {
            least = seconds;
            best = now;
        }
        if (now == ranks) break;
    }
    return best;
}

/* --- memory and plan -------------------------------------------------------------------------- */

static void release_transpose(ikt_slab_space *space) {
    ikt_transpose_destroy(&space->transpose);
    ikt_free_all(&space->by_rows, &space->by_batches, &space->counts);
    space->numbers = 0;
}

/* COLLECTIVE. Makes memory and plan; shapes are equal on all ranks, so that all agree in the same
 * calls and in most there is nothing to do. */
static ikt_status prepare(const job *j) {
    ikt_slab_space *space = j->slabs;
    /* Groups of rows by batches of columns; an element is a group in a batch. */
    const ikt_transpose_shape shape = {.rows = j->groups.n,
                                       .columns = j->batches.n,
                                       .tuple = j->shape.group_rows * j->shape.width,
                                       .row_block = j->groups.block,
                                       .column_block = j->batches.block,
                                       .size = j->ops->size};
    const ikt_transpose_shape *had = &space->shape;
    if (space->transpose && had->rows == shape.rows && had->columns == shape.columns &&
        had->row_block == shape.row_block && had->column_block == shape.column_block &&
        had->tuple == shape.tuple && had->size == shape.size)
        return IKT_OK;
    ikt_transpose_destroy(&space->transpose);
    /* The last rank may need less than others: each has what any needs, so that all agree. */
    const int64_t numbers = ikt_max_one(j->ctx, ikt_transpose_capacity(j->ctx, &shape));
    ikt_status st = IKT_OK;
    if (numbers > space->numbers) {
        const int64_t more = numbers + numbers / 4;
        release_transpose(space);
        st = ikt_alloc(j->ctx, &space->counts, ikt_size(j->ctx), sizeof(int64_t), purpose);
        if (st == IKT_OK) st = ikt_alloc(j->ctx, &space->by_rows, more, j->ops->size, purpose);
        if (st == IKT_OK) st = ikt_alloc(j->ctx, &space->by_batches, more, j->ops->size, purpose);
        st = ikt_agree(j->ctx, st);
        if (st == IKT_OK) space->numbers = more;
    }
    if (st == IKT_OK)
        st = ikt_transpose_create(j->ctx, &shape, space->by_rows, space->by_batches,
                                  &space->transpose);
    space->shape = shape;
    if (st != IKT_OK) release_transpose(space);
    return st;
}

static void release_pieces(ikt_slab_space *space) {
    ikt_free_all(&space->bits, &space->asked, &space->marks, &space->leaving, &space->coming,
                 &space->sent, &space->received);
    space->bits_most = space->asked_most = space->message_most = 0;
}

void ikt_slabs_release(ikt_slab_space *space) {
    release_transpose(space);
    release_pieces(space);
}

/* --- steps ------------------------------------------------------------------------------------ */

static int64_t rows_of(const job *j, int64_t groups) {
    return groups * j->shape.group_rows;
}

/* Copies the own rows of all batches between the field, where a batch holds all rows, and the
 * array that travels, where it holds the own ones. */
static void copy_own_rows(const job *j, bool pack) {
    const int64_t number = (int64_t)j->ops->size * j->shape.width;
    const int64_t bytes = rows_of(j, j->groups.count) * number;
    for (int64_t b = 0; b < j->batches.n; b++) {
        char *at = (char *)j->space->field + rows_of(j, b * j->groups.n + j->groups.first) * number;
        char *packed = j->slabs->by_rows + b * bytes;
        if (bytes > 0) memcpy(pack ? packed : at, pack ? at : packed, (size_t)bytes);
    }
}

/* Rows of nodes before those of rank r: the last group may reach beyond the nodes. */
static int64_t nodes_before(const job *j, int r) {
    const int64_t row = rows_of(j, first_of(&j->groups, r));
    return row < j->grid->nodes[1] ? row : j->grid->nodes[1];
}

/* --- touched pieces --------------------------------------------------------------------------- */

/* What this rank's points touch of the rows of rank r. */
static ikt_touched touched_of(const job *j, int r) {
    const int64_t first = nodes_before(j, r), words = ikt_touched_words(j->space->potential_stride);
    return (ikt_touched){nodes_before(j, r + 1) - first, j->space->potential_stride,
                         j->slabs->bits + first * words};
}

/* What the points of rank r touch of the own rows. */
static ikt_touched asked_by(const job *j, int r) {
    ikt_touched asked = touched_of(j, ikt_rank(j->ctx));
    asked.bits = j->slabs->asked + r * asked.rows * ikt_touched_words(asked.stride);
    return asked;
}

/* COLLECTIVE. Memory for messages of pieces. Wants are equal on all ranks, so that all agree in the
 * same calls and in most there is nothing to do. */
static ikt_status claim_pieces(const job *j) {
    ikt_slab_space *s = j->slabs;
    const int64_t ranks = ikt_size(j->ctx), stride = j->space->potential_stride;
    const int64_t words = ikt_touched_words(stride);
    const int64_t part = nodes_before(j, 1); /* rows of the first rank, of which none has more */
    const int64_t bits = j->grid->nodes[1] * words, asked = ranks * part * words;
    const int64_t message = part * (words + stride);
    if (bits <= s->bits_most && asked <= s->asked_most && message <= s->message_most) return IKT_OK;
    release_pieces(s);
    const int64_t more[] = {bits + bits / 4, asked + asked / 4, message + message / 4};
    const int64_t marks = ikt_touched_scratch(j->grid->nodes[1], stride);
    IKT_ARRAYS(held, j->ctx, purpose);
    s->bits = ikt_claim_kept(&held, more[0], sizeof *s->bits);
    s->marks = ikt_claim_kept(&held, marks + marks / 4, 1);
    s->asked = ikt_claim_kept(&held, more[1], sizeof *s->asked);
    s->leaving = ikt_claim_kept(&held, more[2], sizeof *s->leaving);
    s->coming = ikt_claim_kept(&held, more[2], sizeof *s->coming);
    s->sent = ikt_claim_kept(&held, ranks, sizeof *s->sent);
    s->received = ikt_claim_kept(&held, ranks, sizeof *s->received);
    IKT_TRY(ikt_arrays_agree(&held));
    s->bits_most = more[0];
    s->asked_most = more[1];
    s->message_most = more[2];
    return IKT_OK;
}

ikt_status ikt_slabs_touch(ikt_context *ctx, const ikt_mesh_ops *ops, const ikt_mesh *mesh,
                           const ikt_grid *grid, int sharers, int order, int64_t stride,
                           const float *y, int64_t count, const float *target, int64_t targets,
                           ikt_slab_space *slabs) {
    const ikt_mesh_space space = {.potential_stride = stride};
    job j = {
        .ctx = ctx, .grid = grid, .space = &space, .slabs = slabs, .shape = ops->shape(mesh, grid)};
    j.groups = shares_make(j.shape.groups, sharers, ikt_rank(ctx));
    const int ranks = ikt_size(ctx);
    IKT_TRY(claim_pieces(&j));
    ikt_touched all = {grid->nodes[1], stride, slabs->bits};
    ikt_touched_find(grid, order, ikt_threads(ctx), y, count, target, targets, slabs->marks, &all);
    for (int r = 0; r < ranks; r++) {
        const ikt_touched here = touched_of(&j, r);
        slabs->sent[r] = r == ikt_rank(ctx) ? 0 : ikt_touched_nodes(&here);
    }
    ikt_exchange_counts(ctx, slabs->sent, slabs->received);
    return IKT_OK;
}

/* Bytes of a message of charges: the bits of the rows, and the nodes; none where no node is meant.
 */
static int64_t message_bytes(const ikt_touched *rows, int64_t nodes) {
    return nodes == 0 ? 0 : 8 * (rows->rows * ikt_touched_words(rows->stride) + nodes);
}

/* COLLECTIVE. Every rank gets the sums of its rows. They are sums of integers: who comes first does
 * not matter. */
static void collect_charges(const job *j, const ikt_charges *charges) {
    ikt_slab_space *s = j->slabs;
    const int ranks = ikt_size(j->ctx), me = ikt_rank(j->ctx);
    int64_t *own = charges->charge + nodes_before(j, me) * charges->stride;
    for (int step = 1; step < ranks; step++) {
        const int to = (me + step) % ranks, from = (me - step + ranks) % ranks;
        const ikt_touched out = touched_of(j, to), in = asked_by(j, from);
        const int64_t bits = out.rows * ikt_touched_words(out.stride);
        const int64_t asked = in.rows * ikt_touched_words(in.stride);
        if (s->sent[to] > 0) {
            memcpy(s->leaving, out.bits, (size_t)bits * sizeof *out.bits);
            ikt_touched_pack(&out, sizeof *own,
                             charges->charge + nodes_before(j, to) * charges->stride,
                             s->leaving + bits);
        }
        ikt_send_receive(j->ctx, s->leaving, message_bytes(&out, s->sent[to]), to, s->coming,
                         message_bytes(&in, s->received[from]), from);
        if (s->received[from] == 0) continue;
        memcpy(in.bits, s->coming, (size_t)asked * sizeof *in.bits);
        ikt_touched_add(&in, s->coming + asked, own);
    }
}

/* COLLECTIVE. Every rank gets the potentials of the nodes that it sent charges of. */
static void return_potentials(const job *j) {
    ikt_slab_space *s = j->slabs;
    const int ranks = ikt_size(j->ctx), me = ikt_rank(j->ctx);
    const size_t size = j->ops->size, row = (size_t)j->space->potential_stride * size;
    char *potential = j->space->potential;
    for (int step = 1; step < ranks; step++) {
        const int to = (me + step) % ranks, from = (me - step + ranks) % ranks;
        const ikt_touched out = asked_by(j, to), in = touched_of(j, from);
        if (s->received[to] > 0)
            ikt_touched_pack(&out, size, potential + (size_t)nodes_before(j, me) * row, s->leaving);
        ikt_send_receive(j->ctx, s->leaving, s->received[to] * (int64_t)size, to, s->coming,
                         s->sent[from] * (int64_t)size, from);
        if (s->sent[from] > 0)
            ikt_touched_unpack(&in, size, s->coming,
                               potential + (size_t)nodes_before(j, from) * row);
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

ikt_status ikt_slabs_convolve(ikt_context *ctx, const ikt_mesh_ops *ops, const ikt_mesh *mesh,
                              const ikt_grid *grid, int sharers, bool by_pieces,
                              const ikt_charges *charges, const ikt_mesh_space *space,
                              ikt_slab_space *slabs) {
    job j = {ctx, ops, mesh, grid, space, slabs, .shape = ops->shape(mesh, grid)};
    j.groups = shares_make(j.shape.groups, sharers, ikt_rank(ctx));
    j.batches = shares_make(j.shape.batches, sharers, ikt_rank(ctx));
    IKT_TRY(prepare(&j));
    const int64_t first = j.groups.first, end = first + j.groups.count;
    ikt_stage_begin(ctx, IKT_STAGE_GRID_SUM); /* each rank gets the summed charges of its rows */
    for (int r = 0; r < ikt_size(ctx); r++)
        slabs->counts[r] = (nodes_before(&j, r + 1) - nodes_before(&j, r)) * charges->stride;
    if (by_pieces)
        collect_charges(&j, charges);
    else
        ikt_sum_parts_i64(ctx, charges->charge, slabs->counts);
    ikt_stage_end(ctx, IKT_STAGE_GRID_SUM);
    ikt_stage_begin(ctx, IKT_STAGE_FFT);
    ops->forward(mesh, grid, charges, space, first, end);
    /* The transpose, the columns, and the transpose back. Own batches with all their rows lie in
     * the field as they travel. */
    const int64_t batch = rows_of(&j, j.groups.n) * j.shape.width * (int64_t)ops->size;
    char *own = (char *)space->field + j.batches.first * batch;
    const size_t bytes = (size_t)(j.batches.count * batch);
    copy_own_rows(&j, true);
    ikt_transpose_execute(ctx, slabs->transpose, false);
    memcpy(own, slabs->by_batches, bytes);
    ops->columns(mesh, grid, space, j.batches.first, j.batches.first + j.batches.count);
    memcpy(slabs->by_batches, own, bytes);
    ikt_transpose_execute(ctx, slabs->transpose, true);
    copy_own_rows(&j, false);
    ops->inverse(mesh, grid, space, first, end);
    if (by_pieces) {
        return_potentials(&j);
        ikt_stage_end(ctx, IKT_STAGE_FFT);
        return IKT_OK;
    }
    for (int r = 0; r < ikt_size(ctx); r++) /* every rank gets all potentials */
        slabs->counts[r] = nodes_before(&j, r + 1) - nodes_before(&j, r);
    const int64_t row_bytes = space->potential_stride * (int64_t)ops->size;
    ikt_allgather(ctx, (char *)space->potential + nodes_before(&j, ikt_rank(ctx)) * row_bytes,
                  slabs->counts[ikt_rank(ctx)], (size_t)row_bytes, space->potential, slabs->counts);
    ikt_stage_end(ctx, IKT_STAGE_FFT);
    return IKT_OK;
}
