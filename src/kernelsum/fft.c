/* Sums by a particle-mesh method: spread, convolve, gather.
 *
 * Method: unit charges are spread over the nodes of a regular grid by a window, the grid is
 * convolved with the kernel by one forward and one inverse FFT, and the potential and its analytic
 * gradient are gathered through the same window (one charge suffices: methods, section 3). Charges
 * are added as integers, so that neither threads nor ranks change a bit; every rank then transforms
 * the same grid, or the ranks share it in slabs (slabs.h), with the same bits.
 * Sets of charges are convolved one by one, so that a grid stays in cache; what they share is the
 * order that points are sorted in.
 * Advantage: cost n + g log g with g nodes; one charge and two transforms where the published
 * schemes take four charges and eight; the error of a point's force on itself, half of all error
 * at the density of late maps, is taken off exactly. Disadvantage: the grid covers the whole box of
 * the map. */
#include <stdio.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/log.h"
#include "base/timer.h"
#include "kernelsum/mesh.h"
#include "kernelsum/ops.h"
#include "kernelsum/slabs.h"

enum {
    CACHED = 6, /* meshes held: a map's size breathes around steps of the ladder, on two axes */
    CACHED_LARGE = 2,
    LARGE = 1 << 22, /* coefficients of a mesh that is large: 16 MB in single precision */
    GROWTH = 4,      /* memory grows by a quarter more than needed */
    SORTED_LEAST = 1 << 15,
    SCALED = 4096, /* charges of a piece */
    LIMIT_LEAST = 64,
    LIMIT_MOST = 1 << 20
};

/* A mesh with what it was made for. */
typedef struct {
    int64_t padded[2];
    double spacing;
    ikt_influence influence; /* its table is released: the mesh holds its own */
    ikt_mesh *mesh;          /* NULL: the place is free */
} cached_mesh;

/* Sizes that a grid asks for: numbers in the charges, in the field and in one buffer, and rows of
 * cells. */
typedef struct {
    int64_t charges, field, buffer, rows;
} needs;

typedef struct {
    ikt_fft_settings settings;
    const ikt_mesh_ops *ops;
    ikt_isa isa;
    ikt_window window;
    cached_mesh cached[CACHED]; /* most recently used first */
    ikt_charges charges;
    ikt_spread_space spread;
    ikt_mesh_space space;
    ikt_slab_space slabs;
    double *amount; /* [rows.count] scaled charges of a set, once there have been some */
    needs has;      /* numbers that there is memory for */
    bool said_coarse;
} particle_mesh;

/* Meshes that may be held when one is of this size. */
static int cached_most(const ikt_grid *grid) {
    int64_t coefficients = (grid->padded[0] / 2 + 1) * (grid->padded[1] / 2 + 1);
    return coefficients < LARGE ? CACHED : CACHED_LARGE;
}

static void release(const particle_mesh *m, cached_mesh *c) {
    m->ops->destroy(&c->mesh);
    ikt_influence_release(&c->influence);
}

/* Puts the mesh for the grid first among those held, making it if need be. */
static ikt_status find_mesh(ikt_kernelsum *sums, const ikt_grid *grid) {
    ikt_context *ctx = sums->ctx;
    particle_mesh *m = sums->self;
    cached_mesh wanted = {{grid->padded[0], grid->padded[1]}, grid->spacing, {0, NULL, NULL}, NULL};
    ikt_status st = IKT_OK;
    int found = 0;
    for (; found < CACHED; found++) {
        const cached_mesh *c = &m->cached[found];
        if (c->mesh && c->padded[0] == wanted.padded[0] && c->padded[1] == wanted.padded[1] &&
            c->spacing == wanted.spacing)
            break;
    }
    if (found < CACHED) {
        wanted = m->cached[found];
    } else {
        found = cached_most(grid) - 1; /* what was used longest ago goes */
        for (int c = found; c < CACHED; c++)
            release(m, &m->cached[c]);
        st = ikt_influence_make(ctx, sums->kernel, grid, &m->window, &wanted.influence);
        if (st == IKT_OK) st = m->ops->create(ctx, grid->padded, &wanted.influence, &wanted.mesh);
        ikt_free(&wanted.influence.table);
        st = ikt_agree(ctx, st); /* grids are equal on all ranks, so all come here together */
        if (st != IKT_OK) release(m, &wanted);
        ikt_log(ctx, IKT_LOG_DEBUG, "grid: %lld x %lld padded, spacing %g",
                (long long)grid->padded[0], (long long)grid->padded[1], grid->spacing);
    }
    for (; found > 0; found--)
        m->cached[found] = m->cached[found - 1];
    m->cached[0] = wanted;
    return st;
}

static needs needs_of(const particle_mesh *m, const ikt_grid *grid) {
    return (needs){ikt_charge_stride(grid, m->settings.order) * grid->nodes[1],
                   m->ops->field_count(grid->padded, grid->nodes[1]),
                   m->ops->buffer_count(grid->padded), grid->cells[1]};
}

static int64_t grown(int64_t need, int64_t has) {
    return need <= has ? has : need + need / GROWTH;
}

/* Claims what the grid needs and some more. Needs are equal on all ranks, so that all agree in the
 * same evaluations and none in most. */
static ikt_status reserve(ikt_kernelsum *sums, const ikt_grid *grid) {
    ikt_context *ctx = sums->ctx;
    particle_mesh *m = sums->self;
    const needs need = needs_of(m, grid), has = m->has;
    m->charges.stride = m->space.potential_stride = ikt_charge_stride(grid, m->settings.order);
    if (need.charges <= has.charges && need.field <= has.field && need.buffer <= has.buffer &&
        need.rows <= has.rows)
        return IKT_OK;
    const needs more = {grown(need.charges, has.charges), grown(need.field, has.field),
                        grown(need.buffer, has.buffer), grown(need.rows, has.rows)};
    const int64_t buffers = m->space.threads * more.buffer;
    ikt_free_all(&m->charges.charge, &m->space.field, &m->space.buffers);
    IKT_ARRAYS(held, ctx, "repulsion");
    m->space.potential = m->charges.charge = ikt_claim_kept(&held, more.charges, sizeof(int64_t));
    m->space.field = ikt_claim_kept(&held, more.field, m->ops->size);
    m->space.buffers = ikt_claim_kept(&held, buffers, m->ops->size);
    if (held.status == IKT_OK)
        held.status =
            ikt_spread_prepare(ctx, &m->spread, sums->rows.count, more.charges, more.rows);
    const ikt_status st = ikt_arrays_agree(&held);
    m->has = st == IKT_OK ? more : (needs){0, 0, 0, 0};
    return st;
}

/* Charges divided by their scale, a power of two; returns their sum in units of the grid, to which
 * each is cut. */
static IKT_WIDEST_VECTORS int64_t scale_piece(const double *charge, int64_t count, double inverse,
                                              double unit, double *amount) {
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        amount[i] = charge[i] * inverse;
        sum += (int64_t)(amount[i] * unit);
    }
    return sum;
}

/* COLLECTIVE. The k-th set of charges in m->amount; returns their total, a sum of integers and so
 * free of order. */
static double scale_charges(ikt_kernelsum *sums, const ikt_kernelsum_request *r, int k) {
    const particle_mesh *m = sums->self;
    const int64_t n_local = sums->rows.count;
    const double *charge = r->charge + k * n_local, inverse = 1 / sums->scale[k];
    const double unit = m->charges.unit;
    int64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) num_threads(m->space.threads)
    for (int64_t first = 0; first < n_local; first += SCALED)
        sum += scale_piece(charge + first, n_local - first < SCALED ? n_local - first : SCALED,
                           inverse, unit, m->amount + first);
    return (double)ikt_sum_one(sums->ctx, sum) / unit;
}

/* Takes the scale off what was gathered; a power of two, so that no digit is lost. */
IKT_WIDEST_VECTORS static void unscale_piece(const ikt_gather_job *job, int64_t first, int64_t last,
                                             double scale) {
    for (int64_t i = first; job->phi && i < last; i++)
        job->phi[i] *= scale;
    for (int64_t e = 2 * first; job->gradient && e < 2 * last; e++)
        job->gradient[e] = (float)(scale * (double)job->gradient[e]);
}

static void unscale(const particle_mesh *m, const ikt_gather_job *job, double scale) {
    const int64_t parts = m->space.threads;
#pragma omp parallel for schedule(static, 1) num_threads(m->space.threads)
    for (int64_t part = 0; part < parts; part++)
        unscale_piece(job, job->count * part / parts, job->count * (part + 1) / parts, scale);
}

/* The k-th set of charges: scaled, spread, convolved, gathered. */
static ikt_status sum_set(ikt_kernelsum *sums, const ikt_kernelsum_request *r, int k,
                          const ikt_grid *grid) {
    ikt_context *ctx = sums->ctx;
    particle_mesh *m = sums->self;
    const int64_t places = ikt_kernelsum_places(sums, r), n_local = sums->rows.count;
    const double *amount = r->charge ? m->amount : NULL;
    const double scale = r->charge ? sums->scale[k] : 1;
    ikt_stage_begin(ctx, IKT_STAGE_SPREAD);
    const double total = r->charge ? scale_charges(sums, r, k) : (double)sums->rows.n;
    ikt_spread(m->isa, grid, &m->window, r->y, amount, n_local, k > 0, &m->spread, &m->charges);
    ikt_stage_end(ctx, IKT_STAGE_SPREAD);
    /* From the charges of each rank's points to potentials on every rank. */
    const ikt_mesh *mesh = m->cached[0].mesh;
    const int sharers = ikt_slabs_sharers(&m->settings, grid, ikt_size(ctx));
    if (sharers > 1) {
        const bool by_pieces =
            ikt_slabs_by_pieces(&m->settings, grid, sums->rows.n, ikt_size(ctx), sharers);
        if (by_pieces && k == 0) {
            ikt_stage_begin(ctx, IKT_STAGE_GRID_SUM);
            const ikt_status st =
                ikt_slabs_touch(ctx, m->ops, mesh, grid, sharers, m->settings.order,
                                m->charges.stride, r->y, n_local, r->target, r->targets, &m->slabs);
            ikt_stage_end(ctx, IKT_STAGE_GRID_SUM);
            IKT_TRY(st);
        }
        IKT_TRY(ikt_slabs_convolve(ctx, m->ops, mesh, grid, sharers, by_pieces, &m->charges,
                                   &m->space, &m->slabs));
    } else {
        const ikt_mesh_shape shape = m->ops->shape(mesh, grid);
        ikt_stage_begin(ctx, IKT_STAGE_GRID_SUM);
        ikt_sum_i64(ctx, m->charges.charge, m->charges.stride * grid->nodes[1]);
        ikt_stage_end(ctx, IKT_STAGE_GRID_SUM);
        ikt_stage_begin(ctx, IKT_STAGE_FFT); /* every rank transforms the whole grid */
        m->ops->forward(mesh, grid, &m->charges, &m->space, 0, shape.groups);
        m->ops->columns(mesh, grid, &m->space, 0, shape.batches);
        m->ops->inverse(mesh, grid, &m->space, 0, shape.groups);
        ikt_stage_end(ctx, IKT_STAGE_FFT);
    }
    ikt_stage_begin(ctx, IKT_STAGE_GATHER);
    const ikt_influence *influence = &m->cached[0].influence;
    const ikt_gather_job job = {.isa = m->isa,
                                .grid = grid,
                                .window = &m->window,
                                .self = r->target ? NULL : influence->self,
                                .amount = r->target ? NULL : amount,
                                .everywhere = total * influence->mean,
                                .y = r->target ? r->target : r->y,
                                .phi = r->value ? r->value + k * places : NULL,
                                .gradient = r->gradient ? r->gradient + 2 * k * places : NULL,
                                .count = places};
    m->ops->gather(&m->space, &job);
    if (scale != 1) unscale(m, &job, scale);
    ikt_stage_end(ctx, IKT_STAGE_GATHER);
    return IKT_OK;
}

static ikt_status evaluate(ikt_kernelsum *sums, const ikt_kernelsum_request *r) {
    ikt_context *ctx = sums->ctx;
    particle_mesh *m = sums->self;
    ikt_bounds bounds;
    if (!ikt_bounds_find(ctx, r->y, sums->rows.count, r->target, r->target ? r->targets : 0,
                         &bounds)) {
        ikt_kernelsum_invalid(sums, r);
        return IKT_OK;
    }
    ikt_grid grid = ikt_grid_fit(&m->settings, &bounds);
    if (grid.spacing > m->settings.spacing && !m->said_coarse) {
        m->said_coarse = true;
        ikt_log(ctx, IKT_LOG_WARN,
                "the map has grown beyond %lld grid cells a side: repulsion uses a spacing of %.3g "
                "instead of %.3g from here on; points far outside may be the reason",
                (long long)m->settings.grid_limit, grid.spacing, m->settings.spacing);
    }
    const int64_t n_local = sums->rows.count;
    if (r->charge && !m->amount) { /* ranks of few rows do not sort, but all claim together */
        const int64_t sorted = m->spread.threads > 1 ? n_local : 0;
        ikt_free_all(&m->spread.sorted_amounts, &m->spread.place);
        IKT_TRY(ikt_kernelsum_claim(sums, &m->spread.place, sorted, sizeof(int64_t)));
        IKT_TRY(ikt_kernelsum_claim(sums, &m->spread.sorted_amounts, sorted, sizeof(double)));
        IKT_TRY(ikt_kernelsum_claim(sums, &m->amount, n_local, sizeof *m->amount));
    }
    IKT_TRY(reserve(sums, &grid));
    IKT_TRY(find_mesh(sums, &grid));
    for (int k = 0; k < r->charges; k++)
        IKT_TRY(sum_set(sums, r, k, &grid));
    return IKT_OK;
}

static void destroy(ikt_kernelsum *sums) {
    particle_mesh *m = sums->self;
    for (int c = 0; c < CACHED; c++)
        release(m, &m->cached[c]);
    ikt_spread_release(&m->spread);
    ikt_slabs_release(&m->slabs);
    ikt_free_all(&m->charges.charge, &m->space.field, &m->space.buffers, &m->amount);
}

static void describe(const ikt_kernelsum *sums, char *text, size_t size) {
    const particle_mesh *m = sums->self;
    const cached_mesh *c = &m->cached[0];
    int length = snprintf(text, size, "particle mesh, window of %d nodes, spacing %g, %s precision",
                          m->settings.order, c->mesh ? c->spacing : m->settings.spacing,
                          m->settings.single ? "single" : "double");
    if (c->mesh && length > 0 && (size_t)length < size)
        snprintf(text + length, size - (size_t)length, ", transforms of %lld x %lld",
                 (long long)c->padded[0], (long long)c->padded[1]);
}

/* Few points are spread sooner than they are sorted for several threads. */
static int spread_threads(const ikt_rows *rows, int threads) {
    return rows->count < SORTED_LEAST ? 1 : threads;
}

static ikt_status prepare(ikt_kernelsum *sums, const void *settings) {
    ikt_context *ctx = sums->ctx;
    const ikt_fft_settings *s = settings;
    particle_mesh *m = sums->self;
    m->ops = ikt_mesh_ops_of(s); /* which `destroy` needs */
    if (s->order != 4 && s->order != 6)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "repulsion by FFT: order %d; there are windows of 4 and of 6 nodes",
                        s->order);
    if (!(s->spacing > 0) || !(s->spacing <= 1))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "repulsion by FFT: a spacing of %g; it must be above 0 and at most 1, the "
                        "width of the kernel",
                        s->spacing);
    if (s->grid_limit < LIMIT_LEAST || s->grid_limit > LIMIT_MOST)
        return ikt_fail(
            ctx, IKT_ERR_USAGE,
            "repulsion by FFT: a grid limit of %lld cells; it must be between %d and %d",
            (long long)s->grid_limit, LIMIT_LEAST, LIMIT_MOST);
    m->settings = ikt_fft_for_kernel(s, sums->kernel);
    m->isa = ikt_cpu_isa();
    m->space.threads = ikt_threads(ctx);
    m->spread.threads = spread_threads(&sums->rows, m->space.threads);
    m->window = ikt_window_make(s->order);
    m->charges.unit = ikt_charge_unit(sums->rows.n);
    return IKT_OK;
}

ikt_status ikt_kernelsum_create_fft(ikt_context *ctx, const ikt_rows *rows, ikt_kernel kernel,
                                    const ikt_fft_settings *settings, ikt_kernelsum **out) {
    static const ikt_kernelsum_ops ops = {sizeof(particle_mesh), prepare, evaluate, destroy,
                                          describe};
    return ikt_kernelsum_create(ctx, rows, 2, kernel, &ops, settings, out);
}

int64_t ikt_kernelsum_memory_fft(const ikt_fft_settings *settings, const ikt_rows *rows,
                                 int charges, int threads, double span) {
    const particle_mesh m = {.settings = *settings, .ops = ikt_mesh_ops_of(settings)};
    const ikt_grid grid = ikt_grid_fit(settings, &(ikt_bounds){{0, 0}, {span, span}});
    const needs need = needs_of(&m, &grid);
    const int64_t size = (int64_t)m.ops->size, sorters = spread_threads(rows, threads);
    int64_t work = 8 * need.charges + size * need.field + threads * size * need.buffer +
                   (sorters > 1 ? 8 * sorters * (need.rows + 1) : 0);
    const int sharers = ikt_slabs_sharers(settings, &grid, rows->ranks);
    if (sharers > 1) work += 2 * size * (need.field / sharers + need.buffer); /* that travels */
    if (sharers > 1 && ikt_slabs_by_pieces(settings, &grid, rows->n, rows->ranks, sharers))
        work += 2 * 8 * need.charges / sharers /* a message each way, and a byte and bits */
                + need.charges * (8 + rows->ranks / sharers + 1) / 64; /* of a piece */
    const int64_t of_point = (sorters > 1 ? 8 : 0)                     /* sorted */
                             + (charges == 0  ? 0
                                : sorters > 1 ? 24
                                              : 8);
    return work + work / GROWTH + of_point * rows->count + 8 * charges +
           ikt_mesh_coefficients(&grid) *
               (size * cached_most(&grid) + 8) /* tables held, and one being made */
           + (int64_t)sizeof(particle_mesh) + CACHED * 16 * IKT_SELF_PLACES * IKT_SELF_PLACES;
}
