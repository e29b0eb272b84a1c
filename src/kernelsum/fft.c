/* Sums by a particle-mesh method: spread, convolve, gather.
 *
 * Method: unit charges are spread over the nodes of a regular grid by a window, the grid is
 * convolved with the kernel by one forward and one inverse FFT, and the potential and its analytic
 * gradient are gathered through the same window (one charge suffices: methods, section 3). Charges
 * are added as integers, so that neither threads nor ranks change a bit; every rank then transforms
 * the same grid.
 * Advantage: cost n + g log g with g nodes; one charge and two transforms where the published
 * schemes take four charges and eight; the error of a point's force on itself, half of all error
 * at the density of late maps, is taken off exactly. Disadvantage: the grid covers the whole box of
 * the map, and the transform is repeated on every rank. */
#include <stdio.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "kernelsum/mesh.h"
#include "kernelsum/ops.h"

enum {
    CACHED = 6, /* meshes kept: a map's size breathes around steps of the ladder, on two axes */
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

typedef struct {
    ikt_fft_settings settings;
    const ikt_mesh_ops *ops;
    ikt_isa isa;
    ikt_window window;
    cached_mesh cached[CACHED]; /* most recently used first */
    ikt_charges charges;
    ikt_spread_space spread;
    ikt_mesh_space space;
    int64_t charge_room, field_room, column_room; /* numbers allocated */
    bool said_coarse;
} particle_mesh;

static bool is_for(const cached_mesh *c, const ikt_grid *grid) {
    return c->mesh && c->padded[0] == grid->padded[0] && c->padded[1] == grid->padded[1] &&
           c->spacing == grid->spacing;
}

static void release(const particle_mesh *m, cached_mesh *c) {
    m->ops->destroy(&c->mesh);
    ikt_influence_release(&c->influence);
}

static ikt_status make_mesh(ikt_context *ctx, const particle_mesh *m, const ikt_grid *grid,
                            cached_mesh *out) {
    *out = (cached_mesh){{grid->padded[0], grid->padded[1]}, grid->spacing, {0, NULL, NULL}, NULL};
    IKT_TRY(ikt_influence_make(ctx, grid, &m->window, &out->influence));
    ikt_status st = m->ops->create(ctx, grid->padded, &out->influence, &out->mesh);
    ikt_free(&out->influence.table);
    if (st != IKT_OK) release(m, out);
    return st;
}

/* Puts the mesh for the grid first among those kept, making it if need be. */
static ikt_status find_mesh(ikt_kernelsum *sums, const ikt_grid *grid) {
    particle_mesh *m = sums->self;
    int found = 0;
    while (found < CACHED - 1 && !is_for(&m->cached[found], grid))
        found++;
    cached_mesh wanted = m->cached[found];
    ikt_status st = IKT_OK;
    if (!is_for(&wanted, grid)) {
        release(m, &wanted); /* the one used longest ago makes room */
        /* Grids are equal on all ranks, so all come here together. */
        st = ikt_agree(sums->ctx, make_mesh(sums->ctx, m, grid, &wanted));
        if (st != IKT_OK) release(m, &wanted);
        ikt_log(sums->ctx, IKT_LOG_DEBUG, "grid: %lld x %lld padded, spacing %g",
                (long long)grid->padded[0], (long long)grid->padded[1], grid->spacing);
    }
    for (; found > 0; found--)
        m->cached[found] = m->cached[found - 1];
    m->cached[0] = wanted;
    return st;
}

/* Grows *array to `count` numbers and some more; what it held is lost. */
static ikt_status grow(ikt_context *ctx, void *array, int64_t count, size_t size, int64_t *room) {
    if (count <= *room) return IKT_OK;
    ikt_free(array);
    *room = 0;
    IKT_TRY(ikt_alloc(ctx, array, count + count / 4, size, "repulsion"));
    *room = count + count / 4;
    return IKT_OK;
}

static ikt_status make_room(ikt_kernelsum *sums, const ikt_grid *grid) {
    particle_mesh *m = sums->self;
    ikt_context *ctx = sums->ctx;
    m->charges.stride = ikt_charge_stride(grid, m->settings.order);
    int64_t charges = m->charges.stride * grid->nodes[1];
    int64_t field = m->ops->field_count(grid->padded, grid->nodes[1]);
    int64_t columns = m->ops->column_count(grid->padded, ikt_threads(ctx));
    IKT_TRY(grow(ctx, &m->charges.charge, charges, sizeof(int64_t), &m->charge_room));
    IKT_TRY(grow(ctx, &m->space.field, field, m->ops->size, &m->field_room));
    IKT_TRY(grow(ctx, &m->space.columns, columns, m->ops->size, &m->column_room));
    return ikt_spread_prepare(ctx, &m->spread, sums->map.count, grid->cells[1]);
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

static void spread(ikt_kernelsum *sums, const ikt_grid *grid, const float *y) {
    particle_mesh *m = sums->self;
    ikt_stage_begin(sums->ctx, IKT_STAGE_SPREAD);
    ikt_spread(sums->ctx, m->isa, grid, &m->window, y, sums->map.count, &m->spread, &m->charges);
    ikt_stage_end(sums->ctx, IKT_STAGE_SPREAD);
    ikt_stage_begin(sums->ctx, IKT_STAGE_GRID_SUM);
    ikt_sum_i64(sums->ctx, m->charges.charge, m->charges.stride * grid->nodes[1]);
    ikt_stage_end(sums->ctx, IKT_STAGE_GRID_SUM);
}

static void gather(ikt_kernelsum *sums, const ikt_grid *grid, const float *y, double *phi,
                   float *gradient) {
    particle_mesh *m = sums->self;
    const cached_mesh *c = &m->cached[0];
    ikt_stage_begin(sums->ctx, IKT_STAGE_GATHER);
    double everywhere = (double)sums->map.n * c->influence.mean;
    ikt_gather_job job = {m->isa, grid, &m->window, &c->influence,  everywhere,
                          y,      phi,  gradient,   sums->map.count};
    m->ops->gather(sums->ctx, c->mesh, &m->space, &job);
    ikt_stage_end(sums->ctx, IKT_STAGE_GATHER);
}

static void evaluate(ikt_kernelsum *sums, const float *y, double *phi, float *gradient) {
    ikt_context *ctx = sums->ctx;
    particle_mesh *m = sums->self;
    ikt_bounds bounds;
    if (!ikt_bounds_find(ctx, y, sums->map.count, &bounds)) {
        ikt_kernelsum_invalid(sums, phi, gradient);
        return;
    }
    ikt_grid grid = ikt_grid_fit(&m->settings, &bounds);
    report_coarse(sums, &grid);
    if (ikt_agree(ctx, make_room(sums, &grid)) != IKT_OK || find_mesh(sums, &grid) != IKT_OK) {
        ikt_kernelsum_invalid(sums, phi, gradient);
        return;
    }
    spread(sums, &grid, y);
    ikt_stage_begin(ctx, IKT_STAGE_FFT);
    m->ops->convolve(ctx, m->cached[0].mesh, &grid, &m->charges, &m->space);
    ikt_stage_end(ctx, IKT_STAGE_FFT);
    gather(sums, &grid, y, phi, gradient);
}

static void destroy(ikt_kernelsum *sums) {
    particle_mesh *m = sums->self;
    if (!m) return;
    for (int c = 0; c < CACHED; c++)
        release(m, &m->cached[c]);
    ikt_spread_release(&m->spread);
    ikt_free(&m->charges.charge);
    ikt_free(&m->space.field);
    ikt_free(&m->space.columns);
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

static ikt_status check_settings(ikt_context *ctx, const ikt_fft_settings *s) {
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

ikt_status ikt_kernelsum_create_fft(ikt_context *ctx, const ikt_row_map *map,
                                    const ikt_fft_settings *settings, ikt_kernelsum **out) {
    particle_mesh *m = NULL;
    *out = NULL;
    ikt_status st = check_settings(ctx, settings);
    if (st == IKT_OK) st = ikt_alloc(ctx, out, 1, sizeof **out, "repulsion");
    if (st == IKT_OK) {
        **out = (ikt_kernelsum){ctx, *map, NULL, &fft_ops};
        st = ikt_alloc(ctx, &m, 1, sizeof *m, "repulsion");
    }
    if (st == IKT_OK) {
        m->settings = *settings;
        m->ops = settings->single ? &ikt_mesh_f32 : &ikt_mesh_f64;
        m->isa = ikt_cpu_isa();
        m->window = ikt_window_make(settings->order);
        m->charges.unit = ikt_charge_unit(map->n);
        (*out)->self = m;
    }
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) ikt_kernelsum_destroy(out);
    return st;
}

int64_t ikt_kernelsum_memory_fft(const ikt_fft_settings *settings, const ikt_row_map *map,
                                 int threads, double span) {
    const ikt_mesh_ops *ops = settings->single ? &ikt_mesh_f32 : &ikt_mesh_f64;
    ikt_grid grid = ikt_grid_fit(settings, &(ikt_bounds){{0, 0}, {span, span}});
    int64_t quarter = (grid.padded[0] / 2 + 1) * (grid.padded[1] / 2 + 1),
            size = (int64_t)ops->size;
    int64_t work = ikt_charge_stride(&grid, settings->order) * grid.nodes[1] * 8 +
                   ops->field_count(grid.padded, grid.nodes[1]) * size +
                   ops->column_count(grid.padded, threads) * size;
    return work + work / 4           /* room to grow */
           + quarter * size * CACHED /* tables kept */
           + quarter * 8             /* the one being made */
           + ikt_spread_memory(threads, map->count, grid.cells[1]);
}
