/* Sums by a particle-mesh method: spread, convolve, gather.
 *
 * Method: unit charges are spread over the nodes of a regular grid by a window, the grid is
 * convolved with the kernel by one forward and one inverse FFT, and the potential and its analytic
 * gradient are gathered through the same window (one charge suffices: methods, section 3). Charges
 * are added as integers, so that neither threads nor ranks change a bit; every rank then transforms
 * the same grid, or the ranks share it in slabs (slabs.h), with the same bits.
 * Advantage: cost n + g log g with g nodes; one charge and two transforms where the published
 * schemes take four charges and eight; the error of a point's force on itself, half of all error
 * at the density of late maps, is taken off exactly. Disadvantage: the grid covers the whole box of
 * the map. */
#include <stdio.h>

#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "kernelsum/mesh.h"
#include "kernelsum/ops.h"
#include "kernelsum/slabs.h"

enum {
    CACHED = 6, /* meshes kept: a map's size breathes around steps of the ladder, on two axes */
    CACHED_LARGE = 2,
    LARGE = 1 << 22, /* coefficients of a mesh that is large: 16 MB in single precision */
    GROWTH = 4,      /* memory grows by a quarter more than needed */
    SORTED_LEAST = 1 << 15,
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
    needs room;     /* there is now */
    bool said_coarse;
} particle_mesh;

static bool is_for(const cached_mesh *c, const ikt_grid *grid) {
    return c->mesh && c->padded[0] == grid->padded[0] && c->padded[1] == grid->padded[1] &&
           c->spacing == grid->spacing;
}

/* Meshes that may be kept when one is of this size. */
static int cached_most(const ikt_grid *grid) {
    int64_t coefficients = (grid->padded[0] / 2 + 1) * (grid->padded[1] / 2 + 1);
    return coefficients < LARGE ? CACHED : CACHED_LARGE;
}

static void release(const particle_mesh *m, cached_mesh *c) {
    m->ops->destroy(&c->mesh);
    ikt_influence_release(&c->influence);
}

static ikt_status make_mesh(ikt_kernelsum *sums, const ikt_grid *grid, cached_mesh *out) {
    ikt_context *ctx = sums->ctx;
    const particle_mesh *m = sums->self;
    *out = (cached_mesh){{grid->padded[0], grid->padded[1]}, grid->spacing, {0, NULL, NULL}, NULL};
    IKT_TRY(ikt_influence_make_of(ctx, sums->kernel, grid, &m->window, &out->influence));
    ikt_status st = m->ops->create(ctx, grid->padded, &out->influence, &out->mesh);
    ikt_free(&out->influence.table);
    if (st != IKT_OK) release(m, out);
    return st;
}

/* Puts the mesh for the grid first among those kept, making it if need be. */
static ikt_status find_mesh(ikt_kernelsum *sums, const ikt_grid *grid) {
    particle_mesh *m = sums->self;
    int most = cached_most(grid), found = 0;
    while (found < CACHED && !is_for(&m->cached[found], grid))
        found++;
    cached_mesh wanted;
    ikt_status st = IKT_OK;
    if (found < CACHED) {
        wanted = m->cached[found];
    } else {
        found = most - 1; /* what was used longest ago makes room */
        for (int c = found; c < CACHED; c++)
            release(m, &m->cached[c]);
        /* Grids are equal on all ranks, so all come here together. */
        st = ikt_agree(sums->ctx, make_mesh(sums, grid, &wanted));
        if (st != IKT_OK) release(m, &wanted);
        ikt_log(sums->ctx, IKT_LOG_DEBUG, "grid: %lld x %lld padded, spacing %g",
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

static ikt_status claim(ikt_context *ctx, particle_mesh *m, int64_t n_local, const needs *room) {
    ikt_free(&m->charges.charge);
    ikt_free(&m->space.field);
    ikt_free(&m->space.buffers);
    IKT_TRY(ikt_alloc(ctx, &m->charges.charge, room->charges, sizeof(int64_t), "repulsion"));
    m->space.potential = m->charges.charge;
    IKT_TRY(ikt_alloc(ctx, &m->space.field, room->field, m->ops->size, "repulsion"));
    IKT_TRY(ikt_alloc(ctx, &m->space.buffers, m->space.threads * room->buffer, m->ops->size,
                      "repulsion"));
    return ikt_spread_prepare(ctx, &m->spread, n_local, room->rows);
}

static int64_t grown(int64_t need, int64_t room) {
    return need <= room ? room : need + need / GROWTH;
}

/* Claims what the grid needs and some more. Needs are equal on all ranks, so that all agree in the
 * same evaluations and none in most. */
static ikt_status make_room(ikt_kernelsum *sums, const ikt_grid *grid) {
    particle_mesh *m = sums->self;
    needs need = needs_of(m, grid), has = m->room;
    m->charges.stride = m->space.potential_stride = ikt_charge_stride(grid, m->settings.order);
    if (need.charges <= has.charges && need.field <= has.field && need.buffer <= has.buffer &&
        need.rows <= has.rows)
        return IKT_OK;
    needs more = {grown(need.charges, has.charges), grown(need.field, has.field),
                  grown(need.buffer, has.buffer), grown(need.rows, has.rows)};
    ikt_status st = ikt_agree(sums->ctx, claim(sums->ctx, m, sums->rows.count, &more));
    m->room = st == IKT_OK ? more : (needs){0, 0, 0, 0};
    return st;
}

static void report_coarse(ikt_kernelsum *sums, const ikt_grid *grid) {
    particle_mesh *m = sums->self;
    if (grid->spacing <= m->settings.spacing || m->said_coarse) return;
    m->said_coarse = true;
    ikt_log(sums->ctx, IKT_LOG_WARN,
            "the map has grown beyond %lld grid cells a side: repulsion uses a spacing of %.3g "
            "instead of %.3g from here on; points far outside may be the reason",
            (long long)m->settings.grid_limit, grid->spacing, m->settings.spacing);
}

static void spread(ikt_kernelsum *sums, const ikt_grid *grid, const float *y,
                   const double *amount) {
    particle_mesh *m = sums->self;
    ikt_stage_begin(sums->ctx, IKT_STAGE_SPREAD);
    ikt_spread(m->isa, grid, &m->window, y, amount, sums->rows.count, &m->spread, &m->charges);
    ikt_stage_end(sums->ctx, IKT_STAGE_SPREAD);
}

/* Every rank transforms the whole grid. */
static void convolve_alone(ikt_kernelsum *sums, const ikt_grid *grid) {
    particle_mesh *m = sums->self;
    const ikt_mesh *mesh = m->cached[0].mesh;
    const ikt_mesh_shape shape = m->ops->shape(mesh, grid);
    ikt_stage_begin(sums->ctx, IKT_STAGE_GRID_SUM);
    ikt_sum_i64(sums->ctx, m->charges.charge, m->charges.stride * grid->nodes[1]);
    ikt_stage_end(sums->ctx, IKT_STAGE_GRID_SUM);
    ikt_stage_begin(sums->ctx, IKT_STAGE_FFT);
    m->ops->forward(mesh, grid, &m->charges, &m->space, 0, shape.groups);
    m->ops->columns(mesh, grid, &m->space, 0, shape.batches);
    m->ops->inverse(mesh, grid, &m->space, 0, shape.groups);
    ikt_stage_end(sums->ctx, IKT_STAGE_FFT);
}

/* From the charges of each rank's points to potentials on every rank. */
static ikt_status convolve(ikt_kernelsum *sums, const ikt_grid *grid) {
    particle_mesh *m = sums->self;
    const ikt_mesh *mesh = m->cached[0].mesh;
    const int sharers = ikt_slabs_sharers(&m->settings, grid, ikt_size(sums->ctx));
    if (sharers == 1) {
        convolve_alone(sums, grid);
        return IKT_OK;
    }
    IKT_TRY(ikt_slabs_prepare(sums->ctx, m->ops, mesh, grid, sharers, &m->slabs));
    ikt_slabs_convolve(sums->ctx, m->ops, mesh, grid, sharers, &m->charges, &m->space, &m->slabs);
    return IKT_OK;
}

/* Charges of one set: `amount` [rows.count] divided by `scale`, `total` of all ranks; or NULL, 1
 * and n. */
typedef struct {
    const double *amount;
    double scale, total;
} charge_set;

static void gather(ikt_kernelsum *sums, const ikt_grid *grid, const ikt_kernelsum_request *r,
                   const charge_set *set, double *value, float *gradient) {
    particle_mesh *m = sums->self;
    const cached_mesh *c = &m->cached[0];
    const int64_t places = ikt_kernelsum_places(sums, r);
    ikt_stage_begin(sums->ctx, IKT_STAGE_GATHER);
    ikt_gather_job job = {.isa = m->isa,
                          .grid = grid,
                          .window = &m->window,
                          .self = r->target ? NULL : c->influence.self,
                          .amount = r->target ? NULL : set->amount,
                          .everywhere = set->total * c->influence.mean,
                          .y = r->target ? r->target : r->y,
                          .phi = value,
                          .gradient = gradient,
                          .count = places};
    m->ops->gather(&m->space, &job);
    for (int64_t i = 0; set->scale != 1 && value && i < places; i++)
        value[i] *= set->scale;
    for (int64_t e = 0; set->scale != 1 && gradient && e < 2 * places; e++)
        gradient[e] = (float)(set->scale * (double)gradient[e]);
    ikt_stage_end(sums->ctx, IKT_STAGE_GATHER);
}

/* Memory for charges other than 1, on all ranks in the same call. */
static ikt_status prepare_amounts(ikt_kernelsum *sums) {
    particle_mesh *m = sums->self;
    ikt_context *ctx = sums->ctx;
    if (m->amount) return IKT_OK;
    ikt_status st = ikt_alloc(ctx, &m->amount, sums->rows.count, sizeof *m->amount, "repulsion");
    if (st == IKT_OK) st = ikt_spread_prepare_amounts(ctx, &m->spread, sums->rows.count);
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) ikt_free(&m->amount);
    return st;
}

/* The k-th set, scaled; its total is exact and so free of order. */
static charge_set take_set(ikt_kernelsum *sums, const ikt_kernelsum_request *r, int k) {
    particle_mesh *m = sums->self;
    if (!r->charge) return (charge_set){NULL, 1, (double)sums->rows.n};
    for (int64_t i = 0; i < sums->rows.count; i++)
        m->amount[i] = r->charge[k * sums->rows.count + i] / sums->scale[k];
    return (charge_set){m->amount, sums->scale[k],
                        ikt_exact_total(sums->ctx, m->amount, sums->rows.count)};
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
    report_coarse(sums, &grid);
    if (r->charge) IKT_TRY(prepare_amounts(sums));
    IKT_TRY(make_room(sums, &grid));
    IKT_TRY(find_mesh(sums, &grid));
    const int64_t places = ikt_kernelsum_places(sums, r);
    for (int k = 0; k < r->charges; k++) {
        const charge_set set = take_set(sums, r, k);
        spread(sums, &grid, r->y, set.amount);
        IKT_TRY(convolve(sums, &grid));
        gather(sums, &grid, r, &set, r->value ? r->value + k * places : NULL,
               r->gradient ? r->gradient + 2 * k * places : NULL);
    }
    return IKT_OK;
}

static void destroy(ikt_kernelsum *sums) {
    particle_mesh *m = sums->self;
    if (!m) return;
    for (int c = 0; c < CACHED; c++)
        release(m, &m->cached[c]);
    ikt_spread_release(&m->spread);
    ikt_slabs_release(&m->slabs);
    ikt_free(&m->charges.charge);
    ikt_free(&m->space.field);
    ikt_free(&m->space.buffers);
    ikt_free(&m->amount);
    ikt_free(&m);
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

static const ikt_kernelsum_ops fft_ops = {evaluate, destroy, describe};

/* Few points are spread sooner than they are sorted for several threads. */
static int spread_threads(const ikt_rows *rows, int threads) {
    return rows->count < SORTED_LEAST ? 1 : threads;
}

static ikt_status check_settings(ikt_context *ctx, ikt_kernel kernel, const ikt_fft_settings *s) {
    if (kernel != IKT_KERNEL_STUDENT && kernel != IKT_KERNEL_STUDENT_LOG)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "repulsion by FFT: the grid is made for the Student kernels only");
    if (s->order != 4 && s->order != 6)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "repulsion by FFT: order %d; there are windows of 4 "
                        "and of 6 nodes",
                        s->order);
    if (!(s->spacing > 0) || !(s->spacing <= 1))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "repulsion by FFT: a spacing of %g; it must be above 0 "
                        "and at most 1, the width of the kernel",
                        s->spacing);
    if (s->grid_limit < LIMIT_LEAST || s->grid_limit > LIMIT_MOST)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "repulsion by FFT: a grid limit of %lld cells; it must "
                        "be between %d and %d",
                        (long long)s->grid_limit, LIMIT_LEAST, LIMIT_MOST);
    return IKT_OK;
}

ikt_status ikt_kernelsum_create_fft(ikt_context *ctx, const ikt_rows *rows,
                                    const ikt_fft_settings *settings, ikt_kernelsum **out) {
    return ikt_kernelsum_create_fft_of(ctx, rows, IKT_KERNEL_STUDENT, settings, out);
}

ikt_status ikt_kernelsum_create_fft_of(ikt_context *ctx, const ikt_rows *rows, ikt_kernel kernel,
                                       const ikt_fft_settings *settings, ikt_kernelsum **out) {
    particle_mesh *m = NULL;
    *out = NULL;
    ikt_status st = check_settings(ctx, kernel, settings);
    if (st == IKT_OK) st = ikt_alloc(ctx, out, 1, sizeof **out, "repulsion");
    if (st == IKT_OK) {
        **out = (ikt_kernelsum){ctx, *rows, 2, kernel, NULL, &fft_ops, NULL};
        st = ikt_alloc(ctx, &m, 1, sizeof *m, "repulsion");
    }
    if (st == IKT_OK) {
        m->settings = *settings;
        m->ops = settings->single ? &ikt_mesh_f32 : &ikt_mesh_f64;
        m->isa = ikt_cpu_isa();
        m->space.threads = ikt_threads(ctx);
        m->spread.threads = spread_threads(rows, m->space.threads);
        m->window = ikt_window_make(settings->order);
        m->charges.unit = ikt_charge_unit(rows->n);
        (*out)->self = m;
    }
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) ikt_kernelsum_destroy(out);
    return st;
}

int64_t ikt_kernelsum_memory_fft(const ikt_fft_settings *settings, const ikt_rows *rows,
                                 int threads, double span) {
    particle_mesh m = {.settings = *settings,
                       .ops = settings->single ? &ikt_mesh_f32 : &ikt_mesh_f64};
    ikt_grid grid = ikt_grid_fit(settings, &(ikt_bounds){{0, 0}, {span, span}});
    needs need = needs_of(&m, &grid);
    const int64_t size = (int64_t)m.ops->size, sorters = spread_threads(rows, threads);
    int64_t coefficients = (grid.padded[0] / 2 + 8) * (grid.padded[1] / 2 + 32) + grid.padded[1];
    int64_t work = 8 * need.charges + size * need.field + threads * size * need.buffer +
                   (sorters > 1 ? 8 * sorters * (need.rows + 1) : 0);
    const int sharers = ikt_slabs_sharers(settings, &grid, rows->ranks);
    if (sharers > 1) work += 2 * size * (need.field / sharers + need.buffer); /* that travels */
    return work + work / GROWTH + (sorters > 1 ? 8 * rows->count : 0)         /* sorted points */
           + coefficients * size * cached_most(&grid)                         /* tables kept */
           + coefficients * 8                                                 /* one being made */
           + (int64_t)sizeof(particle_mesh) + CACHED * 16 * IKT_SELF_PLACES * IKT_SELF_PLACES;
}
