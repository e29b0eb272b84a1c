/* Chebyshev-filtered block iteration. See solver.h. */
#include "linalg/solver.h"

#include <math.h>

#include "base/arrays.h"
#include "base/watch.h"

static const char purpose[] = "eigenvectors";

/* A filter needs so much between its cut and the largest value, and between the bounds of what it
 * damps: less is rounding. */
static const double gap_least = 1e-12;

typedef struct {
    const ikt_operator *a;
    const ikt_solver_options *options;
    ikt_block b;    /* A v */
    double *x;      /* [m * m] of Rayleigh-Ritz */
    ikt_block *v;   /* of the result */
    double *theta;  /* [m] of the result */
    bool has_theta; /* they are there */
} iteration;

/* V <- (alpha B + beta V), which needs no product. */
static void combine(const ikt_block *b, double alpha, double beta, ikt_block *v) {
    const int64_t values = v->rows.count * v->m;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(v->ctx))
    for (int64_t e = 0; e < values; e++)
        v->v[e] = alpha * b->v[e] + beta * v->v[e];
}

static void swap(ikt_block *v, ikt_block *w) {
    const ikt_block kept = *v;
    *v = *w;
    *w = kept;
}

/* The largest degree whose polynomial is within the growth at t, of those that are allowed. */
static int64_t degree_at(const ikt_solver_options *options, double t) {
    double before = 1, value = t; /* Chebyshev's, of degree 0 and 1 */
    int64_t degree = 1;
    while (degree < options->degree) {
        const double next = 2 * t * value - before;
        if (options->growth > 0 && next > options->growth) break;
        before = value;
        value = next;
        degree++;
    }
    return degree;
}

/* COLLECTIVE. V becomes p(A) V, where p(t) = T_degree((t - middle) / half) / its value at the
 * largest Ritz value, by the three-term recurrence; b = A V at the beginning. */
static ikt_status filter(iteration *it, int64_t *products) {
    const double top = it->theta[0], cut = it->theta[it->v->m - 1], least = it->a->least;
    const double half = (cut - least) / 2, middle = (cut + least) / 2;
    double sigma = half / (top - middle);
    const double tau = 2 / sigma;
    const int64_t degree = degree_at(it->options, tau / 2);
    /* b takes the first polynomial, v keeps the one before it. */
    combine(it->v, -middle * sigma / half, sigma / half, &it->b);
    for (int64_t k = 1; k < degree; k++) {
        const double next = 1 / (tau - sigma), alpha = 2 * next / half;
        IKT_TRY(it->a->apply(it->a->self, &it->b, alpha, -middle * alpha, -sigma * next, it->v));
        swap(it->v, &it->b);
        sigma = next;
        ++*products;
    }
    swap(it->v, &it->b);
    return IKT_OK;
}

/* COLLECTIVE. Better columns than before; random ones at the beginning. */
static ikt_status improve(iteration *it, ikt_eigenpairs *out) {
    const int64_t m = it->v->m;
    if (!it->has_theta) {
        ikt_block_random(it->v, 0, it->options->seed, 0);
        it->has_theta = true;
        return IKT_OK;
    }
    const double cut = it->theta[m - 1];
    if (it->theta[0] - cut > gap_least && cut - it->a->least > gap_least)
        return filter(it, &out->products);
    combine(&it->b, 1, -it->a->least, it->v);
    return IKT_OK;
}

/* COLLECTIVE. The best pairs that the columns span, and how good they are. */
static ikt_status extract(iteration *it, ikt_eigenpairs *out) {
    const ikt_operator *a = it->a;
    int64_t replaced;
    IKT_TRY(ikt_block_orthonormalise(it->v, a->known.remove ? &a->known : NULL, it->options->seed,
                                     &replaced));
    IKT_TRY(a->apply(a->self, it->v, 1, 0, 0, &it->b));
    IKT_TRY(ikt_block_ritz(it->v, &it->b, 0, it->theta, it->x));
    IKT_TRY(ikt_block_rotate(it->v, it->x));
    IKT_TRY(ikt_block_rotate(&it->b, it->x));
    IKT_TRY(ikt_block_residuals(it->v, &it->b, it->theta, out->residual));
    out->replaced += replaced;
    out->products++;
    out->steps++;
    out->worst = 0;
    for (int64_t k = 0; k < it->options->wanted; k++)
        out->worst = fmax(out->worst, out->residual[k]);
    out->has_converged = out->worst <= it->options->tolerance;
    return IKT_OK;
}

static void iteration_end(iteration *it) {
    ikt_block_destroy(&it->b);
}

ikt_status ikt_eigenpairs_find(ikt_context *ctx, const ikt_rows *rows, const ikt_operator *a,
                               const ikt_solver_options *options, ikt_eigenpairs *out) {
    const int64_t m = options->columns;
    ikt_eigenpairs made IKT_AT_END(ikt_eigenpairs_destroy) = {.products = 0};
    iteration it IKT_AT_END(iteration_end) = {.a = a, .options = options, .v = &made.v};
    *out = (ikt_eigenpairs){0};
    IKT_ARRAYS(held, ctx, purpose);
    held.status = ikt_block_create(ctx, rows, m, &made.v);
    if (held.status == IKT_OK) held.status = ikt_block_create(ctx, rows, m, &it.b);
    it.x = ikt_claim(&held, m * m, sizeof *it.x);
    it.theta = made.theta = ikt_claim_kept(&held, m, sizeof *made.theta);
    made.residual = ikt_claim_kept(&held, m, sizeof *made.residual);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t s = 0; s <= options->steps_most && !made.has_converged; s++) {
        IKT_TRY(ikt_watcher_poll(ctx));
        IKT_TRY(ikt_watch_pause(ctx));
        IKT_TRY(improve(&it, &made));
        IKT_TRY(extract(&it, &made));
    }
    return ikt_give(out, made);
}

void ikt_eigenpairs_destroy(ikt_eigenpairs *pairs) {
    ikt_block_destroy(&pairs->v);
    ikt_free_all(&pairs->theta, &pairs->residual);
}

int64_t ikt_solver_bytes(int64_t n_local, int64_t columns, int threads) {
    return 2 * ikt_block_bytes(n_local, columns) + ikt_block_work_bytes(columns, threads);
}
