/* Spreading charges over the nodes of the grid. See spread.h.
 *
 * Method: the weights of a point along both axes are polynomials evaluated in all lanes at once;
 * their products are rounded to integers by adding a large constant, whose bits are then taken off
 * in the integer sum. One thread adds the points in their order: rows of P come ordered by
 * locality, so their nodes are in cache. More threads do the same, each with a share of the points
 * and a grid of its own, and add up these grids, where the grids take no more numbers than there
 * are points. Larger grids, or those of many threads, would cost more than the points: there the
 * points are sorted by row first, and each thread then takes bands of rows, with all points that
 * touch them.
 * Advantage: no atomics; memory in proportion to the points. Disadvantage: two methods; sorting
 * costs as much as adding, and points at the seams of bands are weighed twice. */
#include "kernelsum/spread.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

/* --- windows as piecewise polynomials --------------------------------------------------------- */

enum { CHI_TERMS = 4 };

/* chi(t) = sum_m chi[m] (1 - t^2)^m for t in [-1, 1]; the support of chi is order - boxes cells.
 * The coefficients minimise the pair error at a spacing of 0.40 (order 4) and 0.24 (order 6). */
typedef struct {
    int order, boxes, terms;
    double chi[CHI_TERMS];
} recipe;

static const recipe recipes[] = {{4, 2, 3, {1, -0.749, 2.888, 0}},
                                 {6, 3, 4, {1, 3.582, 2.774, 11.845}}};

/* Pieces on cells of length 1: piece j is sum_d term[j][d] u^d, u in [0, 1]. */
typedef struct {
    int pieces, terms;
    double term[IKT_WINDOW_LANES][IKT_WINDOW_TERMS];
} piecewise;

/* p(u) <- p(u) * (a + b u + c u^2) */
static void multiply(double *p, int terms, double a, double b, double c) {
    for (int d = terms - 1; d >= 0; d--)
        p[d] = a * p[d] + (d > 0 ? b * p[d - 1] : 0) + (d > 1 ? c * p[d - 2] : 0);
}

static piecewise make_chi(const recipe *r) {
    piecewise f = {.pieces = r->order - r->boxes, .terms = 2 * r->terms - 1, .term = {{0}}};
    double half = 0.5 * f.pieces;
    for (int j = 0; j < f.pieces; j++) {
        /* 1 - t^2 with t = (u + j - half) / half, by Horner's rule in 1 - t^2 */
        double from = (j - half) / half, step = 1 / half;
        for (int m = r->terms - 1; m >= 0; m--) {
            multiply(f.term[j], f.terms, 1 - from * from, -2 * from * step, -step * step);
            f.term[j][0] += r->chi[m];
        }
    }
    return f;
}

/* Antiderivative of piece j that is 0 at u = 0; zero outside the pieces. Returns its value at 1. */
static double integrate(const piecewise *f, int j, double *out) {
    double whole = 0;
    for (int d = 0; d < IKT_WINDOW_TERMS; d++)
        out[d] = 0;
    for (int d = 0; j >= 0 && j < f->pieces && d < f->terms; d++) {
        out[d + 1] = f->term[j][d] / (d + 1);
        whole += out[d + 1];
    }
    return whole;
}

/* Mean over a box of one cell. New knots lie half a cell off the old: the new piece j at u takes
 * the old piece j - 1 from u to 1 and the old piece j from 0 to u. */
static piecewise convolve_box(const piecewise *f) {
    piecewise g = {.pieces = f->pieces + 1, .terms = f->terms + 1, .term = {{0}}};
    for (int j = 0; j < g.pieces; j++) {
        double left[IKT_WINDOW_TERMS], right[IKT_WINDOW_TERMS];
        double whole = integrate(f, j - 1, left);
        integrate(f, j, right);
        for (int d = 0; d < g.terms; d++)
            g.term[j][d] = right[d] - left[d];
        g.term[j][0] += whole;
    }
    return g;
}

ikt_window ikt_window_make(int order) {
    const recipe *r = order == 4 ? &recipes[0] : &recipes[1];
    piecewise f = make_chi(r);
    double total = 0, ignored[IKT_WINDOW_TERMS];
    for (int j = 0; j < f.pieces; j++)
        total += integrate(&f, j, ignored);
    for (int j = 0; j < f.pieces; j++)
        for (int d = 0; d < f.terms; d++)
            f.term[j][d] /= total;
    for (int b = 0; b < r->boxes; b++)
        f = convolve_box(&f);
    ikt_window w = {.order = order, .terms = f.terms, .value = {{0}}, .slope = {{0}}};
    for (int k = 0; k < order; k++) {
        double *piece = f.term[order - 1 - k]; /* node k is the further left the larger the piece */
        /* A polynomial in u becomes one in v = u - 1/2, which costs the fewest digits. */
        for (int first = 0; first < f.terms; first++)
            for (int d = f.terms - 2; d >= first; d--)
                piece[d] += 0.5 * piece[d + 1];
        for (int d = 0; d < f.terms; d++) {
            w.value[d][k] = piece[d];
            if (d > 0) w.slope[d - 1][k] = d * piece[d];
        }
    }
    return w;
}

void ikt_window_at(const ikt_window *window, double u, double *weight, double *slope) {
    double v = u - 0.5;
    for (int k = 0; k < window->order; k++) {
        weight[k] = slope[k] = 0;
        for (int d = window->terms - 1; d >= 0; d--) {
            weight[k] = weight[k] * v + window->value[d][k];
            slope[k] = slope[k] * v + window->slope[d][k];
        }
    }
}

enum { BANDS_PER_THREAD = 4 };

#define INLINE static inline __attribute__((always_inline))

typedef double quad __attribute__((vector_size(32)));
typedef double octet __attribute__((vector_size(64)));
typedef int64_t quad_i64 __attribute__((vector_size(32)));
typedef int64_t octet_i64 __attribute__((vector_size(64)));

/* Points to add to the rows low .. high - 1 of the charges. */
typedef struct {
    const ikt_grid *grid;
    const ikt_window *window;
    const float *y;
    const double *amount; /* [count], or NULL: all are 1 */
    int64_t count;
    int64_t low, high;
    const ikt_charges *out;
} job;

/* Adding 3 * 2^51 to a double below 2^51 in magnitude rounds it to an integer, which then stands in
 * the last bits of the sum. */
static const double magic = 6755399441055744.0;
static const int64_t magic_bits = 0x4338000000000000;

INLINE void add_4(const quad_i64 *what, int64_t *charge) {
    quad_i64 sum;
    memcpy(&sum, charge, sizeof sum);
    sum += *what;
    memcpy(charge, &sum, sizeof sum);
}

/* Charges of one point of order 4, rounded, row by row. In vectors of four, as in
 * mesh_body.h. */
INLINE void window_4(const quad *c, double unit, double vx, double vy, quad_i64 row[4]) {
    quad x = c[IKT_WINDOW_TERMS_4 - 1], y = x;
    for (int d = IKT_WINDOW_TERMS_4 - 2; d >= 0; d--) {
        x = x * vx + c[d];
        y = y * vy + c[d];
    }
    y *= unit;
    row[0] = (quad_i64)(x * y[0] + magic) - magic_bits;
    row[1] = (quad_i64)(x * y[1] + magic) - magic_bits;
    row[2] = (quad_i64)(x * y[2] + magic) - magic_bits;
    row[3] = (quad_i64)(x * y[3] + magic) - magic_bits;
}

INLINE void spread_4(const job *j, const ikt_places *at, const double *amount, int count) {
    quad c[IKT_WINDOW_TERMS_4];
    for (int d = 0; d < IKT_WINDOW_TERMS_4; d++)
        memcpy(&c[d], j->window->value[d], sizeof c[d]);
    const int64_t stride = j->out->stride, low = j->low, high = j->high;
    const double unit = j->out->unit;
    for (int i = 0; i < count; i++) {
        const int64_t row = at->cell[1][i];
        int64_t *charge = j->out->charge + row * stride + at->cell[0][i];
        quad_i64 rows[4];
        window_4(c, amount ? unit * amount[i] : unit, at->v[0][i], at->v[1][i], rows);
        for (int b = 0; b < 4; b++)
            if (row + b >= low && row + b < high) add_4(&rows[b], charge + b * stride);
    }
}

INLINE void spread_6(const job *j, const ikt_places *at, const double *amount, int count) {
    octet value[IKT_WINDOW_TERMS_6];
    memcpy(value, j->window->value, sizeof value);
    const int64_t stride = j->out->stride;
    const double unit = j->out->unit;
    for (int i = 0; i < count; i++) {
        const int64_t row = at->cell[1][i];
        octet x = value[IKT_WINDOW_TERMS_6 - 1], y = x;
        for (int d = IKT_WINDOW_TERMS_6 - 2; d >= 0; d--) {
            x = x * at->v[0][i] + value[d];
            y = y * at->v[1][i] + value[d];
        }
        double weight[8];
        y *= amount ? unit * amount[i] : unit;
        memcpy(weight, &y, sizeof weight);
        int64_t *charge = j->out->charge + row * stride + at->cell[0][i];
        const int from = row < j->low ? (int)(j->low - row) : 0;
        const int to = row + 6 > j->high ? (int)(j->high - row) : 6;
        for (int b = from; b < to; b++) {
            octet product = x * weight[b] + magic;
            octet_i64 sum, bits;
            memcpy(&sum, charge + b * stride, sizeof sum);
            memcpy(&bits, &product, sizeof bits);
            sum += bits - magic_bits;
            memcpy(charge + b * stride, &sum, sizeof sum);
        }
    }
}

INLINE void spread_any(const job *j) {
    ikt_places at;
    for (int64_t first = 0; first < j->count; first += IKT_PIECE) {
        int count = (int)(j->count - first < IKT_PIECE ? j->count - first : IKT_PIECE);
        ikt_places_find(j->grid, j->y + 2 * first, count, &at);
        const double *amount = j->amount ? j->amount + first : NULL;
        if (j->window->order == 4 && !amount)
            spread_4(j, &at, NULL, count);
        else if (j->window->order == 4)
            spread_4(j, &at, amount, count);
        else if (!amount)
            spread_6(j, &at, NULL, count);
        else
            spread_6(j, &at, amount, count);
    }
}

IKT_FOR_EACH_ISA(spread_job, spread_any, (const job *j), (j))

/* Sets the rows of a job to the charges of its points. */
static void fill_rows(ikt_isa isa, const job *j) {
    const int64_t stride = j->out->stride;
    memset(j->out->charge + j->low * stride, 0,
           (size_t)((j->high - j->low) * stride) * sizeof *j->out->charge);
    spread_job(isa)(j);
}

double ikt_charge_unit(int64_t n) {
    int bits = 0;
    while (bits < 62 && (int64_t)1 << bits <= n)
        bits++;
    int shift = 62 - bits;
    return ldexp(1, shift < 50 ? shift : 50); /* rounding by `magic` needs values below 2^51 */
}

int64_t ikt_charge_stride(const ikt_grid *grid, int order) {
    return grid->nodes[0] + (order == 4 ? 0 : IKT_WINDOW_LANES - order);
}

ikt_status ikt_spread_prepare(ikt_context *ctx, ikt_spread_space *space, int64_t n_local,
                              int64_t charges, int64_t rows) {
    if (space->threads == 1) return IKT_OK;
    ikt_free(&space->own);
    space->own_charges = (space->threads - 1) * charges <= n_local ? charges : 0;
    if (space->own_charges > 0)
        return ikt_alloc(ctx, &space->own, (space->threads - 1) * charges, sizeof(int64_t),
                         "repulsion");
    if (!space->sorted)
        IKT_TRY(ikt_alloc(ctx, &space->sorted, 2 * n_local, sizeof(float), "repulsion"));
    int64_t offsets = space->threads * (rows + 1);
    if (offsets <= space->offsets) return IKT_OK;
    offsets += offsets / 4;
    ikt_free(&space->offset);
    space->offsets = 0;
    IKT_TRY(ikt_alloc(ctx, &space->offset, offsets, sizeof(int64_t), "repulsion"));
    space->offsets = offsets;
    return IKT_OK;
}

void ikt_spread_release(ikt_spread_space *space) {
    ikt_free_all(&space->sorted, &space->place, &space->sorted_amounts, &space->offset,
                 &space->own);
    space->offsets = space->own_charges = 0;
}

static int64_t share(int64_t n, int parts, int part) {
    return n / parts * part + n % parts * part / parts;
}

/* --- a grid for each thread ------------------------------------------------------------------- */

/* The first thread has the grid that the sums end in. */
static void spread_apart(ikt_isa isa, const job *whole, const ikt_spread_space *space) {
    const int threads = space->threads;
    const int64_t charges = whole->high * whole->out->stride;
    int64_t *const charge = whole->out->charge;
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static, 1)
        for (int t = 0; t < threads; t++) {
            const int64_t first = share(whole->count, threads, t);
            ikt_charges out = *whole->out;
            job part = *whole;
            if (t > 0) out.charge = space->own + (t - 1) * space->own_charges;
            part.out = &out;
            part.y += 2 * first;
            if (part.amount) part.amount += first;
            part.count = share(whole->count, threads, t + 1) - first;
            fill_rows(isa, &part);
        }
#pragma omp for schedule(static)
        for (int64_t e = 0; e < charges; e++)
            for (int t = 1; t < threads; t++)
                charge[e] += space->own[(t - 1) * space->own_charges + e];
    }
}

/* --- sorted points ---------------------------------------------------------------------------- */

/* The rows of points: counts them in at[row], or, with `sorted`, copies each point to the next
 * place at[row] of its row. place   [n] receives these places, or NULL */
INLINE void go_through_rows(const ikt_grid *grid, const float *y, int64_t n, int64_t *at,
                            float *sorted, int64_t *place) {
    int32_t row[IKT_PIECE];
    double ignored[IKT_PIECE];
    for (int64_t first = 0; first < n; first += IKT_PIECE) {
        const int count = (int)(n - first < IKT_PIECE ? n - first : IKT_PIECE);
        ikt_places_along(grid, 1, y + 2 * first, count, row, ignored);
        for (int i = 0; i < count; i++) {
            const int64_t to = at[row[i]]++;
            if (!sorted) continue;
            memcpy(sorted + 2 * to, y + 2 * (first + i), 2 * sizeof *y);
            if (place) place[first + i] = to;
        }
    }
}

static IKT_WIDEST_VECTORS void count_rows(const ikt_grid *grid, const float *y, int64_t n,
                                          int64_t *counts) {
    go_through_rows(grid, y, n, counts, NULL, NULL);
}

static IKT_WIDEST_VECTORS void place_rows(const ikt_grid *grid, const float *y, int64_t n,
                                          int64_t *places, float *sorted, int64_t *place) {
    go_through_rows(grid, y, n, places, sorted, place);
}

/* Counting sort of the points by the row of their cell. Afterwards offset[row] of the last thread
 * is where the next row's points begin. */
static void sort_by_row(const ikt_grid *grid, const float *y, int64_t n, ikt_spread_space *space) {
    const int threads = space->threads;
    const int64_t rows = grid->cells[1];
    memset(space->offset, 0, (size_t)(threads * (rows + 1)) * sizeof *space->offset);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static, 1)
        for (int t = 0; t < threads; t++) {
            int64_t first = share(n, threads, t), end = share(n, threads, t + 1);
            count_rows(grid, y + 2 * first, end - first, space->offset + t * (rows + 1));
        }
#pragma omp single
        for (int64_t r = 0, place = 0; r <= rows; r++)
            for (int t = 0; t < threads; t++) { /* where that thread's points of that row begin */
                int64_t *at = &space->offset[t * (rows + 1) + r];
                const int64_t count = *at;
                *at = place;
                place += count;
            }
#pragma omp for schedule(static, 1)
        for (int t = 0; t < threads; t++) {
            int64_t first = share(n, threads, t), end = share(n, threads, t + 1);
            place_rows(grid, y + 2 * first, end - first, space->offset + t * (rows + 1),
                       space->sorted, space->place ? space->place + first : NULL);
        }
    }
}

/* First row of band b of `bands`: bands hold about equally many points. end[row]: points up to and
 * with that row. */
static int64_t band_begin(const int64_t *end, int64_t cells, int64_t nodes, int64_t n, int bands,
                          int b) {
    if (b == 0) return 0;
    if (b == bands) return nodes;
    const int64_t wanted = share(n, bands, b);
    int64_t row;
    IKT_FIND_FIRST(row, 0, cells, end[row] > wanted);
    return row;
}

void ikt_spread(ikt_isa isa, const ikt_grid *grid, const ikt_window *window, const float *y,
                const double *amount, int64_t n_local, bool is_sorted, ikt_spread_space *space,
                const ikt_charges *out) {
    int threads = space->threads, bands = BANDS_PER_THREAD * threads;
    int64_t nodes = grid->nodes[1], cells = grid->cells[1];
    job whole = {grid, window, y, amount, n_local, 0, nodes, out};
    if (threads == 1) {
        fill_rows(isa, &whole);
        return;
    }
    if (nodes * out->stride <= space->own_charges) {
        spread_apart(isa, &whole, space);
        return;
    }
    if (!is_sorted) sort_by_row(grid, y, n_local, space);
    whole.y = space->sorted;
    if (amount) whole.amount = space->sorted_amounts;
#pragma omp parallel for schedule(static) num_threads(threads) if (amount != NULL)
    for (int64_t i = 0; i < (amount ? n_local : 0); i++)
        space->sorted_amounts[space->place[i]] = amount[i];
    const int64_t *end = space->offset + (threads - 1) * (cells + 1);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int b = 0; b < bands; b++) { /* clears its rows and adds all points that touch them */
        job band = whole;
        band.low = band_begin(end, cells, nodes, n_local, bands, b);
        band.high = band_begin(end, cells, nodes, n_local, bands, b + 1);
        if (band.low >= band.high) continue;
        const int64_t before = band.low - window->order; /* the last row not to touch the band */
        const int64_t last = band.high - 1 < cells ? band.high - 1 : cells - 1;
        const int64_t first = before >= 0 ? end[before] : 0;
        band.count = last < 0 ? 0 : end[last] - first;
        band.y += 2 * first;
        if (amount) band.amount += first;
        fill_rows(isa, &band);
    }
}
