/* The regulariser of LaptSNE. See laplacian.h. */
#include "objective/laplacian.h"

#include <math.h>
#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/log.h"
#include "base/sort.h"
#include "base/timer.h"
#include "kernelsum/replica.h"
#include "linalg/block.h"
#include "linalg/dot_tile.h"

/* Guards: columns beyond the wanted ones, which bring in what belongs among them. Steps of the
 * block before its first use; blocks of the space that exact vectors are sought in, and steps of
 * that, each of which has to bring the residual to so much of the last one. */
enum { GUARDS = 2, FIRST_STEPS = 8, DEPTH = 3, EXACT_STEPS = 30 };
static const double progress = 0.5, residual_usual = 1e-6;

/* Below this eigenvalues count as this: their logarithm and its slope stay finite. */
static const double sigma_least = 1e-8;

static const char purpose[] = "eigenvectors";

struct ikt_regulariser {
    ikt_context *ctx;
    ikt_laplacian_setup setup;
    int64_t m;  /* columns of the block: t, sqrt(d) of length 1, and those that are followed */
    int64_t at; /* iteration that `state` is the start of; -1: unknown */
    int64_t number[IKT_LAPLACIAN_NUMBERS]; /* see numbers below */
    float *state;                          /* [rows.count][setup.columns] the block before it */
    ikt_block v, b;                        /* the block in its last evaluation, and N times it */
    ikt_block space, image, next;          /* exact vectors: DEPTH blocks, N times these, N^2 V */
    double *degree_root;                   /* [rows.count] sqrt(d) */
    double *charge, *value;                /* [GROUP][rows.count] */
    float *field;                /* [m - 1][rows.count * q] gradients of the sums of columns 1 on */
    double *pull;                /* [rows.count * q] */
    double *theta, *x;           /* [columns of the widest block], its square */
    double *weight, *eigenvalue; /* [m] of each column, sigma_2 on */
    double shift;                /* of N in the next step of the block */
    double floor_root, least;    /* sqrt(floor); least degree of any row */
    int64_t isolated;
    bool has_warned;
    ikt_arrays held;
};

/* Numbers of the state: iteration in which the regulariser began or -1, K, columns in use. */
enum { BEGUN, RANK, COLUMNS };

int64_t ikt_regulariser_columns(int64_t rank, int64_t n) {
    return ikt_smaller(rank - 1 + GUARDS, n - 1);
}

static int64_t depth_columns(int64_t m, int64_t n) {
    return ikt_smaller(1 + DEPTH * (m - 1), n);
}

/* --- making ----------------------------------------------------------------------------------- */

/* LOCAL. */
static ikt_status allocate(ikt_regulariser *l) {
    ikt_context *ctx = l->ctx;
    const ikt_rows *rows = &l->setup.rows;
    const int64_t count = rows->count, q = l->setup.q, m = l->m;
    const bool is_exact = l->setup.settings.vectors == IKT_EIGENVECTORS_EXACT;
    const int64_t widest = is_exact ? depth_columns(m, rows->n) : m;
    const int64_t group = ikt_smaller(IKT_LAPLACIAN_GROUP, widest - 1);
    ikt_arrays *held = &l->held;
    IKT_TRY(ikt_block_create(ctx, rows, m, &l->v));
    IKT_TRY(ikt_block_create(ctx, rows, m, &l->b));
    if (is_exact) {
        IKT_TRY(ikt_block_create(ctx, rows, widest, &l->space));
        IKT_TRY(ikt_block_create(ctx, rows, widest, &l->image));
        IKT_TRY(ikt_block_create(ctx, rows, m, &l->next));
    }
    l->state = ikt_claim(held, count * l->setup.columns, sizeof *l->state);
    l->degree_root = ikt_claim(held, count, sizeof *l->degree_root);
    l->charge = ikt_claim(held, group * count, sizeof *l->charge);
    l->value = ikt_claim(held, group * count, sizeof *l->value);
    l->field = ikt_claim(held, (m - 1) * q * count, sizeof *l->field);
    l->pull = ikt_claim(held, q * count, sizeof *l->pull);
    l->theta = ikt_claim(held, widest, sizeof *l->theta);
    l->x = ikt_claim(held, widest * widest, sizeof *l->x);
    l->weight = ikt_claim(held, m, sizeof *l->weight);
    l->eigenvalue = ikt_claim(held, m, sizeof *l->eigenvalue);
    return held->status;
}

ikt_status ikt_laplacian_create(ikt_context *ctx, const ikt_laplacian_setup *setup,
                                ikt_regulariser **out) {
    ikt_regulariser *l IKT_AT_END(ikt_regulariser_destroy) = NULL;
    *out = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &l, 1, sizeof *l, purpose));
    *l = (ikt_regulariser){
        .ctx = ctx, .setup = *setup, .at = -1, .held = ikt_arrays_of(ctx, purpose)};
    l->m = 1 + ikt_regulariser_columns(setup->settings.rank, setup->rows.n);
    l->floor_root = sqrt(setup->floor);
    l->number[BEGUN] = -1;
    l->number[RANK] = setup->settings.rank;
    l->number[COLUMNS] = l->m - 1;
    IKT_TRY(ikt_agree(ctx, allocate(l)));
    return ikt_give(out, l);
}

void ikt_regulariser_destroy(ikt_regulariser **laplacian) {
    ikt_regulariser *l = *laplacian;
    if (!l) return;
    ikt_block_destroy(&l->v);
    ikt_block_destroy(&l->b);
    ikt_block_destroy(&l->space);
    ikt_block_destroy(&l->image);
    ikt_block_destroy(&l->next);
    ikt_arrays_free(&l->held);
    ikt_free(laplacian);
}

int64_t ikt_laplacian_memory(const ikt_regulariser_settings *settings, const ikt_rows *rows, int q,
                             int64_t columns, int threads) {
    const int64_t n = rows->n, count = rows->count;
    const int64_t m = 1 + columns;
    const bool is_exact = settings->vectors == IKT_EIGENVECTORS_EXACT;
    const int64_t widest = is_exact ? depth_columns(m, n) : m;
    const int64_t group = ikt_smaller(IKT_LAPLACIAN_GROUP, widest - 1);
    const int64_t blocks =
        2 * ikt_block_bytes(count, m) +
        (is_exact ? 2 * ikt_block_bytes(count, widest) + ikt_block_bytes(count, m) : 0);
    const int64_t of_row = 4 * columns + 8 + 16 * group + 4 * columns * q + 8 * q;
    return blocks + of_row * count + 8 * widest * (widest + 4) +
           ikt_block_work_bytes(widest, threads);
}

/* --- the state -------------------------------------------------------------------------------- */

static bool renews(const ikt_regulariser *l, int64_t iteration) {
    return (iteration - l->number[BEGUN]) % l->setup.settings.every == 0;
}

/* From the block of the last evaluation to the one that the next begins with: a power step where
 * eigenvectors are then renewed, else the vectors as they are. */
static void advance(ikt_regulariser *l, int64_t iteration) {
    const int64_t m = l->m, stride = l->setup.columns;
    if (l->number[BEGUN] < 0 || l->at < 0 || l->at == iteration) return;
    const bool steps = renews(l, iteration);
#pragma omp parallel for schedule(static) num_threads(ikt_threads(l->ctx))
    for (int64_t i = 0; i < l->setup.rows.count; i++)
        for (int64_t k = 1; k < m; k++) {
            const double v = l->v.v[i * m + k];
            l->state[i * stride + k - 1] = (float)(steps ? l->b.v[i * m + k] + l->shift * v : v);
        }
    l->at = iteration;
}

float *ikt_laplacian_state_block(ikt_regulariser *l, int64_t iteration) {
    advance(l, iteration);
    return l->state;
}

int64_t *ikt_laplacian_state_numbers(ikt_regulariser *l, int64_t iteration) {
    advance(l, iteration);
    return l->number;
}

/* --- the graph of the map --------------------------------------------------------------------- */

/* COLLECTIVE. */
static void find_degrees(ikt_regulariser *l, const double *phi) {
    const double floor = l->setup.floor;
    double least = INFINITY;
    int64_t isolated = 0;
#pragma omp parallel for schedule(static) reduction(min : least) reduction(+ : isolated) \
    num_threads(ikt_threads(l->ctx))
    for (int64_t i = 0; i < l->setup.rows.count; i++) {
        const double degree = phi[i] - 1;
        isolated += !(degree > floor);
        l->degree_root[i] = sqrt(degree > floor ? degree : floor);
        least = fmin(least, l->degree_root[i]);
    }
    least = -least;
    ikt_max_f64(l->ctx, &least, 1);
    l->least = least * least;
    l->isolated = ikt_sum_one(l->ctx, isolated);
}

/* COLLECTIVE. Sums are counted with those of the repulsion, under one stage. */
static ikt_status sum(ikt_regulariser *l, const ikt_kernelsum_request *request) {
    ikt_stage_end(l->ctx, IKT_STAGE_EIGENVECTORS);
    ikt_stage_begin(l->ctx, IKT_STAGE_REPULSION);
    const ikt_status st = ikt_kernelsum_evaluate(l->setup.sums, request);
    ikt_stage_end(l->ctx, IKT_STAGE_REPULSION);
    ikt_stage_begin(l->ctx, IKT_STAGE_EIGENVECTORS);
    return st;
}

/* COLLECTIVE. to = N from, by sums with the charges u = D^-1/2 v, a few columns at a time; column 0
 * is t, which N leaves as it is.
 *   field   [from->m - 1][rows.count * q] receives the gradients of the sums; NULL: not wanted */
static ikt_status multiply(ikt_regulariser *l, const float *y, const ikt_block *from, ikt_block *to,
                           float *field) {
    const int64_t count = l->setup.rows.count, q = l->setup.q, m = from->m;
    const int threads = ikt_threads(l->ctx);
    for (int64_t first = 1; first < m; first += IKT_LAPLACIAN_GROUP) {
        const int64_t group = ikt_smaller(IKT_LAPLACIAN_GROUP, m - first);
        float *gradient = field ? field + (first - 1) * q * count : NULL;
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t i = 0; i < count; i++) {
            const double inverse = 1 / l->degree_root[i];
            for (int64_t k = 0; k < group; k++)
                l->charge[k * count + i] = from->v[i * m + first + k] * inverse;
        }
        const ikt_kernelsum_request request = {.y = y,
                                               .charges = (int)group,
                                               .charge = l->charge,
                                               .value = l->value,
                                               .gradient = gradient};
        IKT_TRY(sum(l, &request));
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t i = 0; i < count; i++) {
            const double inverse = 1 / l->degree_root[i];
            to->v[i * m] = from->v[i * m];
            for (int64_t k = 0; k < group; k++)
                to->v[i * m + first + k] =
                    (l->value[k * count + i] - l->charge[k * count + i]) * inverse;
        }
    }
    return IKT_OK;
}

/* --- eigenvectors ----------------------------------------------------------------------------- */

/* COLLECTIVE. Orthonormal columns; the others become orthogonal to t, as each does to those before
 * it. */
static ikt_status orthonormalise(ikt_regulariser *l, ikt_block *v) {
    int64_t replaced;
    return ikt_block_orthonormalise(v, NULL, l->setup.seed, &replaced);
}

/* COLLECTIVE. The first block: the coordinates of the map and random columns, and some power steps.
 * A map that has clusters has them in its coordinates. */
static ikt_status begin(ikt_regulariser *l, const ikt_laplacian_map *map) {
    const int64_t m = l->m, stride = l->setup.columns, count = l->setup.rows.count;
    const int64_t q = ikt_smaller(l->setup.q, m - 1);
    ikt_block_random(&l->v, 1 + q, l->setup.seed, 0);
    for (int64_t i = 0; i < count; i++) {
        l->v.v[i * m] = l->degree_root[i];
        for (int64_t k = 0; k < q; k++)
            l->v.v[i * m + 1 + k] = (double)map->y[i * l->setup.q + k] * l->degree_root[i];
    }
    for (int step = 0; step < FIRST_STEPS; step++) {
        IKT_TRY(orthonormalise(l, &l->v));
        IKT_TRY(multiply(l, map->y, &l->v, &l->b, NULL));
        memcpy(l->v.v, l->b.v, (size_t)(count * m) * sizeof *l->v.v);
    }
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 1; k < m; k++)
            l->state[i * stride + k - 1] = (float)l->v.v[i * m + k];
    l->number[BEGUN] = map->iteration;
    return IKT_OK;
}

/* Columns of one block, from its second on, into those of another, from column `to` on. */
static void copy_columns(const ikt_block *from, int64_t columns, ikt_block *into, int64_t to) {
    for (int64_t i = 0; i < from->rows.count && columns > 0; i++)
        memcpy(into->v + i * into->m + to, from->v + i * from->m + 1,
               (size_t)columns * sizeof *from->v);
}

/* COLLECTIVE. Residual of the wanted pairs: the largest. v and b are rotated by Rayleigh-Ritz. */
static ikt_status find_residual(ikt_regulariser *l, double *worst) {
    IKT_TRY(ikt_block_residuals(&l->v, &l->b, l->theta, l->weight));
    *worst = 0;
    for (int64_t k = 1; k < l->setup.settings.rank; k++)
        *worst = fmax(*worst, l->weight[k]);
    return IKT_OK;
}

/* COLLECTIVE. v and b = N v become Ritz vectors. */
static ikt_status rotate(ikt_regulariser *l, ikt_block *v, ikt_block *b) {
    IKT_TRY(ikt_block_ritz(v, b, 1, l->theta, l->x));
    IKT_TRY(ikt_block_rotate(v, l->x));
    return ikt_block_rotate(b, l->x);
}

/* COLLECTIVE. Orthonormal columns V until the wanted ones are eigenvectors: the best within the
 * space of V, N V and N^2 V, again and again. */
static ikt_status converge(ikt_regulariser *l, const float *y) {
    const int64_t m = l->m, widest = l->space.m;
    const double given = l->setup.settings.residual, aim = given > 0 ? given : residual_usual;
    double last = INFINITY;
    for (int step = 0; step < EXACT_STEPS; step++) {
        double now;
        IKT_TRY(multiply(l, y, &l->v, &l->b, NULL));
        IKT_TRY(rotate(l, &l->v, &l->b));
        IKT_TRY(find_residual(l, &now));
        if (now <= aim || now > progress * last || m == l->setup.rows.n) break;
        last = now;
        IKT_TRY(multiply(l, y, &l->b, &l->next, NULL));
        for (int64_t i = 0; i < l->setup.rows.count; i++)
            l->space.v[i * widest] = l->v.v[i * m];
        copy_columns(&l->v, m - 1, &l->space, 1);
        copy_columns(&l->b, ikt_smaller(m - 1, widest - m), &l->space, m);
        copy_columns(&l->next, ikt_smaller(m - 1, widest - 2 * m + 1), &l->space, 2 * m - 1);
        IKT_TRY(orthonormalise(l, &l->space));
        IKT_TRY(multiply(l, y, &l->space, &l->image, NULL));
        IKT_TRY(ikt_block_ritz(&l->space, &l->image, 1, l->theta, l->x));
        IKT_TRY(ikt_block_rotate(&l->space, l->x));
        for (int64_t i = 0; i < l->setup.rows.count; i++)
            memcpy(l->v.v + i * m, l->space.v + i * widest, (size_t)m * sizeof *l->v.v);
        IKT_TRY(orthonormalise(l, &l->v));
    }
    return IKT_OK;
}

/* COLLECTIVE. Rayleigh's quotients of columns that are not renewed. */
static ikt_status find_quotients(ikt_regulariser *l) {
    const int64_t m = l->m;
    IKT_TRY(ikt_block_gram(&l->v, &l->b, l->x));
    for (int64_t k = 0; k < m; k++)
        l->theta[k] = l->x[k * m + k];
    return IKT_OK;
}

/* COLLECTIVE. Eigenvectors and eigenvalues of the map, and the fields of the columns that they are
 * combined from: those of l->v before it was rotated by l->x. */
static ikt_status find_vectors(ikt_regulariser *l, const ikt_laplacian_map *map) {
    const int64_t m = l->m, stride = l->setup.columns;
    const bool is_renewed = renews(l, map->iteration);
#pragma omp parallel for schedule(static) num_threads(ikt_threads(l->ctx))
    for (int64_t i = 0; i < l->setup.rows.count; i++) {
        l->v.v[i * m] = l->degree_root[i];
        for (int64_t k = 1; k < m; k++)
            l->v.v[i * m + k] = (double)l->state[i * stride + k - 1];
    }
    if (is_renewed) IKT_TRY(orthonormalise(l, &l->v));
    if (is_renewed && l->setup.settings.vectors == IKT_EIGENVECTORS_EXACT)
        IKT_TRY(converge(l, map->y));
    IKT_TRY(multiply(l, map->y, &l->v, &l->b, l->field));
    if (is_renewed) {
        IKT_TRY(rotate(l, &l->v, &l->b));
    } else {
        IKT_TRY(find_quotients(l));
        memset(l->x, 0, (size_t)(m * m) * sizeof *l->x);
        for (int64_t k = 0; k < m; k++)
            l->x[k * m + k] = 1;
    }
    const double reach = fmin(1, 1 / l->least); /* no eigenvalue of N is below -reach */
    l->shift = reach > l->theta[l->setup.settings.rank - 1] ? reach : 0;
    return IKT_OK;
}

/* --- the gradient ----------------------------------------------------------------------------- */

/* h and h' at the eigenvalues; returns the sum of h. */
static double weigh(ikt_regulariser *l) {
    const bool is_log = l->setup.settings.form == IKT_REGULARISER_LOG;
    double value = 0;
    for (int64_t k = 1; k < l->setup.settings.rank; k++) {
        const double sigma = 1 - l->theta[k], above = fmax(sigma, sigma_least);
        l->eigenvalue[k - 1] = sigma;
        l->weight[k] = is_log ? 1 / above : 1;
        value += is_log ? log(above) : sigma;
    }
    return value;
}

/* Own rows that are combined at a time: the columns of a register tile. */
enum { PULLED_ROWS = IKT_TILE_COLUMNS };

static int64_t tiled(int64_t m) {
    return (m + IKT_TILE_ROWS - 1) / IKT_TILE_ROWS * IKT_TILE_ROWS;
}

/* h'(sigma_k) x_jk, by which eigenvector k pulls at the field of column j, k = 2 .. K.
 *   pull   [tiled(m)][m], zeros behind row m - 1 */
static void set_pulls(const ikt_regulariser *l, double *pull) {
    const int64_t m = l->m;
    memset(pull, 0, (size_t)(tiled(m) * m) * sizeof *pull);
    for (int64_t j = 1; j < m; j++)
        for (int64_t k = 1; k < l->setup.settings.rank; k++)
            pull[j * m + k] = l->weight[k] * l->x[j * m + k];
}

/* The charges b of some own rows, and the rows of eigenvectors 2 .. K side by side.
 *   across   [K - 1][PULLED_ROWS] receives the latter, zeros for rows that are not there */
IKT_WIDEST_VECTORS static void charge_rows(ikt_regulariser *l, int64_t first, int64_t rows,
                                           double *restrict across) {
    const int64_t m = l->m, wanted = l->setup.settings.rank;
    double charge[PULLED_ROWS] = {0};
    for (int64_t k = 1; k < wanted; k++) {
        double *restrict line = across + (k - 1) * PULLED_ROWS;
        const double *v = l->v.v + first * m + k, *b = l->b.v + first * m + k;
        for (int64_t r = 0; r < rows; r++) {
            line[r] = v[r * m];
            charge[r] += l->weight[k] * line[r] * b[r * m];
        }
        for (int64_t r = rows; r < PULLED_ROWS; r++)
            line[r] = 0;
    }
    for (int64_t r = 0; r < rows; r++) {
        const double root = l->degree_root[first + r];
        /* The degree of an isolated row is the floor, whatever the map. */
        l->charge[first + r] = root > l->floor_root ? charge[r] / (root * root) : 0;
    }
}

/* The fields of all columns together, for some own rows.
 *   pull   [tiled(m)][PULLED_ROWS] by how much each row has of each field */
IKT_WIDEST_VECTORS static void pull_rows(ikt_regulariser *l, int64_t first, int64_t rows,
                                         const double *restrict pull) {
    const int64_t q = l->setup.q, count = l->setup.rows.count;
    for (int64_t c = 0; c < q; c++) {
        double sum[PULLED_ROWS] = {0};
        for (int64_t j = 1; j < l->m; j++) {
            const float *restrict field = l->field + ((j - 1) * count + first) * q + c;
            for (int64_t r = 0; r < rows; r++)
                sum[r] += pull[j * PULLED_ROWS + r] * (double)field[r * q];
        }
        for (int64_t r = 0; r < rows; r++)
            l->pull[(first + r) * q + c] = -2 * sum[r] / l->degree_root[first + r];
    }
}

/* LOCAL. l->charge and l->pull of all own rows. */
static ikt_status pull(ikt_regulariser *l) {
    const int64_t m = l->m, count = l->setup.rows.count, panel = tiled(m) * PULLED_ROWS;
    const int threads = ikt_threads(l->ctx);
    const ikt_isa isa = ikt_cpu_isa();
    IKT_ARRAYS(held, l->ctx, purpose);
    double *pulls = ikt_claim(&held, tiled(m) * m, sizeof *pulls);
    double *work = ikt_claim(&held, 2 * threads * panel, sizeof *work); /* two panels each */
    IKT_TRY(held.status);
    set_pulls(l, pulls);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t first = 0; first < count; first += PULLED_ROWS) {
        double *across = work + 2 * omp_get_thread_num() * panel, *share = across + panel;
        const int64_t rows = ikt_smaller(PULLED_ROWS, count - first);
        charge_rows(l, first, rows, across);
        for (int64_t j = 0; j < m; j += IKT_TILE_ROWS)
            ikt_dot_tile(isa, l->setup.settings.rank - 1, pulls + j * m + 1, m, 1, across,
                         share + j * PULLED_ROWS);
        pull_rows(l, first, rows, share);
    }
    return IKT_OK;
}

/* COLLECTIVE. */
static ikt_status add_gradient(ikt_regulariser *l, const ikt_laplacian_map *map, double scale,
                               float *gradient) {
    const int64_t count = l->setup.rows.count, q = l->setup.q;
    const double lambda = l->setup.settings.weight;
    const int threads = ikt_threads(l->ctx);
    if (lambda == 0) return IKT_OK; /* the eigenvalues are only measured */
    float *field = l->field;        /* has room for one more once the columns' are used */
    IKT_TRY(ikt_agree(l->ctx, pull(l)));
    const ikt_kernelsum_request request = {
        .y = map->y, .charges = 1, .charge = l->charge, .gradient = field};
    IKT_TRY(sum(l, &request));
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t e = 0; e < q * count; e++) {
        const double own = (double)map->field[e];
        const double sum = l->pull[e] + l->charge[e / q] * own + (double)field[e];
        gradient[e] = (float)(scale * own + lambda * sum);
    }
    return IKT_OK;
}

/* COLLECTIVE. */
static void warn_once(ikt_regulariser *l, int64_t iteration) {
    if (l->isolated == 0 || l->has_warned) return;
    l->has_warned = true;
    ikt_log(l->ctx, IKT_LOG_WARN,
            "at iteration %lld %lld rows lie so far from all others that the sums of the kernel "
            "cannot tell their degree in the map's graph from 0: they count with a degree of %g",
            (long long)iteration, (long long)l->isolated, l->setup.floor);
}

static ikt_status evaluate(ikt_regulariser *l, const ikt_laplacian_map *map, double scale,
                           float *gradient, ikt_laplacian_terms *terms) {
    double residual = 0;
    advance(l, map->iteration);
    if (l->number[RANK] != l->setup.settings.rank || l->number[COLUMNS] != l->m - 1)
        return ikt_fail(l->ctx, IKT_ERR_DATA,
                        "the state of the regulariser has %lld eigenvectors of rank %lld, and this "
                        "run asks for %lld of rank %lld",
                        (long long)l->number[COLUMNS], (long long)l->number[RANK],
                        (long long)(l->m - 1), (long long)l->setup.settings.rank);
    find_degrees(l, map->phi);
    if (l->number[BEGUN] < 0) IKT_TRY(begin(l, map));
    l->at = map->iteration;
    IKT_TRY(find_vectors(l, map));
    if (map->wants_residual && renews(l, map->iteration)) IKT_TRY(find_residual(l, &residual));
    const double value = weigh(l);
    IKT_TRY(add_gradient(l, map, scale, gradient));
    warn_once(l, map->iteration);
    *terms = (ikt_laplacian_terms){.value = value,
                                   .eigenvalue = l->eigenvalue,
                                   .count = l->setup.settings.rank - 1,
                                   .residual = residual,
                                   .isolated = l->isolated};
    return IKT_OK;
}

ikt_status ikt_laplacian_evaluate(ikt_regulariser *l, const ikt_laplacian_map *map, double scale,
                                  float *gradient, ikt_laplacian_terms *terms) {
    ikt_stage_begin(l->ctx, IKT_STAGE_EIGENVECTORS);
    const ikt_status st = evaluate(l, map, scale, gradient, terms);
    ikt_stage_end(l->ctx, IKT_STAGE_EIGENVECTORS);
    return st;
}
