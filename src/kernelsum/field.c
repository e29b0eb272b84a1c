/* The field of given points at other places. See field.h. */
#include "kernelsum/field.h"

#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/cpu.h"
#include "kernelsum/mesh.h"
#include "kernelsum/pairs.h"

enum {
    BLOCK = 256,       /* sources that are summed in single precision */
    GRID_LIMIT = 4096, /* cells a side: beyond, the spacing grows */
    SORTED_LEAST = 1 << 15
};

/* How far the grid reaches beyond the sources: so many units and so much of their span. */
static const double margin_units = 4, margin_share = 0.02;

/* Squares to infinity: a kernel value of exactly 0, and 0 * 1e30 = 0. */
static const float far_away = 1e30f;

/* Far from all sources what the grid errs by would count: below this phi is summed exactly. Where
 * tails are light there are such places between the sources, too: the grid errs by 5e-7 there. */
static const double phi_least = 1e-3, phi_least_of_light = 0.1;

struct ikt_field {
    ikt_context *ctx;
    int64_t n, padded; /* sources; the same rounded up to whole lanes */
    int q;
    ikt_kernel kernel;
    float *at[IKT_FIELD_DIMENSIONS_MOST]; /* [padded] coordinates; the padding is far away */
    bool has_mesh;
    ikt_isa isa;
    ikt_bounds inside; /* places that the grid serves */
    ikt_grid grid;
    ikt_window window;
    ikt_influence influence;
    const ikt_mesh_ops *ops;
    ikt_mesh_space space;
    int64_t *charge; /* [nodes], and the potentials that take their place */
};

/* --- one by one ------------------------------------------------------------------------------- */

/* Of the Student kernel. sum = {phi, sum of w^2 (y - y_j) along each axis}; lanes and blocks in a
 * fixed order. */
static inline __attribute__((always_inline)) void sum_any(const ikt_field *f, int q, const float *y,
                                                          double *sum) {
    for (int64_t block = 0; block < f->padded; block += BLOCK) {
        const int64_t end = block + BLOCK < f->padded ? block + BLOCK : f->padded;
        vector part[1 + IKT_FIELD_DIMENSIONS_MOST] = {{0}};
        for (int64_t j = block; j < end; j += LANES) {
            vector d[IKT_FIELD_DIMENSIONS_MOST], r2 = {0};
            for (int a = 0; a < q; a++) {
                memcpy(&d[a], f->at[a] + j, sizeof d[a]);
                d[a] = y[a] - d[a];
                r2 += d[a] * d[a];
            }
            vector w = 1.0f / (1.0f + r2);
            part[0] += w;
            w *= w;
            for (int a = 0; a < q; a++)
                part[1 + a] += w * d[a];
        }
        for (int s = 0; s <= q; s++)
            for (int lane = 0; lane < LANES; lane++)
                sum[s] += (double)part[s][lane];
    }
}

static IKT_WIDEST_VECTORS void sum_student(const ikt_field *f, const float *y, double *phi,
                                           float *gradient) {
    double sum[1 + IKT_FIELD_DIMENSIONS_MOST] = {0};
    if (f->q == 2)
        sum_any(f, 2, y, sum);
    else
        sum_any(f, f->q, y, sum);
    *phi = sum[0];
    for (int a = 0; a < f->q; a++) /* grad w = -2 w^2 (y - y_j) */
        gradient[a] = (float)(-2 * sum[1 + a]);
}

/* Of any other kernel, as exact sums are made. */
LANES_INLINE void sum_form(const ikt_field *f, int q, pair_form form, const float *y, double *phi,
                           float *gradient) {
    pair_sums sums;
    memset(&sums, 0, sizeof sums);
    pair_add((const float *const *)f->at, NULL, 0, f->padded, q, form, 1, y, &sums);
    *phi = pair_total(&sums.value);
    for (int a = 0; a < q; a++)
        gradient[a] = (float)(-2 * pair_total(&sums.along[a]));
}

LANES_INLINE void sum_any_form(const ikt_field *f, const float *y, double *phi, float *gradient) {
    const pair_form form = pair_form_of(f->kernel);
    if (form.kind == IKT_KERNEL_GAUSSIAN)
        sum_form(f, f->q, (pair_form){IKT_KERNEL_GAUSSIAN, 1, 1}, y, phi, gradient);
    else if (f->q == 2)
        sum_form(f, 2, (pair_form){IKT_KERNEL_TAILED, form.alpha, form.inverse}, y, phi, gradient);
    else
        sum_form(f, f->q, (pair_form){IKT_KERNEL_TAILED, form.alpha, form.inverse}, y, phi,
                 gradient);
}

IKT_FOR_EACH_ISA(sum_other, sum_any_form,
                 (const ikt_field *f, const float *y, double *phi, float *gradient),
                 (f, y, phi, gradient))

static void sum_exactly(const ikt_field *f, const float *y, double *phi, float *gradient) {
    if (f->kernel.kind == IKT_KERNEL_STUDENT)
        sum_student(f, y, phi, gradient);
    else
        sum_other(f->isa)(f, y, phi, gradient);
}

/* --- the mesh --------------------------------------------------------------------------------- */

static ikt_fft_settings mesh_settings(ikt_kernel kernel) {
    ikt_fft_settings settings = ikt_fft_preset(IKT_FFT_TIGHT);
    settings.grid_limit = GRID_LIMIT;
    return ikt_fft_for_kernel(&settings, kernel);
}

/* Adds what the sources put on the grid, and convolves it where it stands. */
static ikt_status fill_grid(ikt_field *f, const float *y, const ikt_charges *charges) {
    const ikt_mesh_ops *ops = f->ops;
    const int threads = f->space.threads;
    ikt_spread_space spread = {.threads = f->n < SORTED_LEAST ? 1 : threads};
    ikt_mesh *mesh = NULL;
    ikt_status st = ikt_spread_prepare(f->ctx, &spread, f->n, charges->stride * f->grid.nodes[1],
                                       f->grid.cells[1]);
    if (st == IKT_OK)
        ikt_spread(f->isa, &f->grid, &f->window, y, NULL, f->n, false, &spread, charges);
    ikt_spread_release(&spread);
    IKT_TRY(st);
    IKT_TRY(ops->create(f->ctx, f->grid.padded, &f->influence, &mesh));
    IKT_ARRAYS(held, f->ctx, "field");
    f->space.field =
        ikt_claim(&held, ops->field_count(f->grid.padded, f->grid.nodes[1]), ops->size);
    f->space.buffers = ikt_claim(&held, threads * ops->buffer_count(f->grid.padded), ops->size);
    if (held.status == IKT_OK) {
        const ikt_mesh_shape shape = ops->shape(mesh, &f->grid);
        ops->forward(mesh, &f->grid, charges, &f->space, 0, shape.groups);
        ops->columns(mesh, &f->grid, &f->space, 0, shape.batches);
        ops->inverse(mesh, &f->grid, &f->space, 0, shape.groups);
    }
    f->space.field = f->space.buffers = NULL;
    ops->destroy(&mesh);
    return held.status;
}

static ikt_status make_mesh(ikt_field *f, const float *y) {
    const ikt_fft_settings settings = mesh_settings(f->kernel);
    ikt_bounds *b = &f->inside;
    *b = (ikt_bounds){{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
    for (int a = 0; a < 2; a++)
        for (int64_t j = 0; j < f->n; j++) {
            b->low[a] = fmin(b->low[a], (double)f->at[a][j]);
            b->high[a] = fmax(b->high[a], (double)f->at[a][j]);
        }
    const double span = fmax(b->high[0] - b->low[0], b->high[1] - b->low[1]);
    for (int a = 0; a < 2; a++) {
        b->low[a] -= margin_units + margin_share * span;
        b->high[a] += margin_units + margin_share * span;
    }
    f->ops = ikt_mesh_ops_of(&settings);
    f->space.threads = ikt_threads(f->ctx);
    f->window = ikt_window_make(settings.order);
    f->grid = ikt_grid_fit(&settings, b);
    const int64_t stride = ikt_charge_stride(&f->grid, settings.order);
    IKT_TRY(ikt_influence_make(f->ctx, f->kernel, &f->grid, &f->window, &f->influence));
    IKT_TRY(ikt_alloc(f->ctx, &f->charge, stride * f->grid.nodes[1], sizeof *f->charge, "field"));
    const ikt_charges charges = {f->charge, stride, ikt_charge_unit(f->n)};
    f->space.potential = f->charge;
    f->space.potential_stride = stride;
    IKT_TRY(fill_grid(f, y, &charges));
    ikt_free(&f->influence.table);
    f->has_mesh = true;
    return IKT_OK;
}

/* At most IKT_PIECE places; those that the grid serves are brought together. */
static void gather_piece(const ikt_field *f, const float *y, int64_t count, double *phi,
                         float *gradient) {
    float place[2 * IKT_PIECE], slope[2 * IKT_PIECE];
    double sum[IKT_PIECE];
    int64_t from[IKT_PIECE], served = 0;
    const bool is_light = f->kernel.kind == IKT_KERNEL_GAUSSIAN || f->kernel.alpha > 1;
    const double least = is_light ? phi_least_of_light : phi_least;
    for (int64_t i = 0; i < count; i++) {
        bool is_inside = true;
        for (int a = 0; a < 2; a++) {
            const double at = (double)y[2 * i + a];
            is_inside = is_inside && at >= f->inside.low[a] && at <= f->inside.high[a];
        }
        phi[i] = 0;
        if (!is_inside) continue;
        from[served] = i;
        memcpy(place + 2 * served++, y + 2 * i, 2 * sizeof *y);
    }
    const ikt_mesh_space alone = {1, NULL, NULL, f->space.potential, f->space.potential_stride};
    const ikt_gather_job job = {.isa = f->isa,
                                .grid = &f->grid,
                                .window = &f->window,
                                .everywhere = (double)f->n * f->influence.mean,
                                .y = place,
                                .phi = sum,
                                .gradient = slope,
                                .count = served};
    if (served > 0) f->ops->gather(&alone, &job);
    for (int64_t s = 0; s < served; s++) {
        phi[from[s]] = sum[s];
        memcpy(gradient + 2 * from[s], slope + 2 * s, 2 * sizeof *slope);
    }
    for (int64_t i = 0; i < count; i++)
        if (!(phi[i] >= least)) sum_exactly(f, y + 2 * i, phi + i, gradient + 2 * i);
}

/* --- both ------------------------------------------------------------------------------------- */

void ikt_field_evaluate(const ikt_field *f, const float *y, int64_t count, double *phi,
                        float *gradient) {
    const int64_t q = f->q, step = f->has_mesh ? IKT_PIECE : 1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(f->ctx)) if (count > step)
    for (int64_t i = 0; i < count; i += step) {
        if (f->has_mesh)
            gather_piece(f, y + q * i, count - i < step ? count - i : step, phi + i,
                         gradient + q * i);
        else
            sum_exactly(f, y + q * i, phi + i, gradient + q * i);
    }
}

bool ikt_field_has_mesh(const ikt_field *field) {
    return field->has_mesh;
}

ikt_status ikt_field_create(ikt_context *ctx, const float *y, int64_t n, int q, ikt_kernel kernel,
                            bool exact, ikt_field **out) {
    ikt_field *f IKT_AT_END(ikt_field_destroy) = NULL;
    *out = NULL;
    IKT_TRY(ikt_alloc(ctx, &f, 1, sizeof *f, "field"));
    f->ctx = ctx;
    f->isa = ikt_cpu_isa();
    f->n = n;
    f->q = q;
    f->kernel = kernel;
    f->padded = (n + LANES - 1) / LANES * LANES;
    for (int a = 0; a < q; a++) {
        IKT_TRY(ikt_alloc(ctx, &f->at[a], f->padded, sizeof(float), "field"));
        for (int64_t j = 0; j < f->padded; j++)
            f->at[a][j] = j < n ? y[j * q + a] : far_away;
    }
    if (!exact && q == 2 && n > IKT_FIELD_EXACT_SOURCES) IKT_TRY(make_mesh(f, y));
    return ikt_give(out, f);
}

void ikt_field_destroy(ikt_field **field) {
    ikt_field *f = *field;
    if (!f) return;
    for (int a = 0; a < IKT_FIELD_DIMENSIONS_MOST; a++)
        ikt_free(&f->at[a]);
    ikt_influence_release(&f->influence);
    ikt_free_all(&f->charge, field);
}

int64_t ikt_field_memory(int64_t n, int q, ikt_kernel kernel, int threads, double span) {
    const int64_t sources = (int64_t)sizeof(ikt_field) + 4 * q * (n + LANES);
    if (q != 2 || n <= IKT_FIELD_EXACT_SOURCES) return sources;
    const ikt_fft_settings settings = mesh_settings(kernel);
    const ikt_mesh_ops *ops = ikt_mesh_ops_of(&settings);
    const double margin = margin_units + margin_share * span;
    const ikt_grid grid =
        ikt_grid_fit(&settings, &(ikt_bounds){{-margin, -margin}, {span + margin, span + margin}});
    const int64_t size = (int64_t)ops->size;
    return sources + 8 * ikt_charge_stride(&grid, settings.order) * grid.nodes[1] +
           size * (ops->field_count(grid.padded, grid.nodes[1]) +
                   threads * ops->buffer_count(grid.padded)) +
           ikt_mesh_coefficients(&grid) * (size + 8) + 8 * n + 8 * threads * (grid.cells[1] + 1) +
           4 * 4 * IKT_SELF_PLACES * IKT_SELF_PLACES;
}
