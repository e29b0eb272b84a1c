/* Made-up data. See scene.h. */
#include "scene.h"

#include <math.h>

#include "base/memory.h"
#include "base/rng.h"
#include "support/symmetrise.h"

enum { SQUARE = 64 /* rows that have no order among them */, CLUSTERS = 64, SEED = 1 };

double bench_span(int64_t n) {
    return 300 * pow((double)n / 1e6, 0.21);
}

/* Every second bit of a place along the curve. */
static double along(int64_t place, int axis) {
    double value = 0, weight = 0.5;
    for (int bit = 30 - axis; bit >= 0; bit -= 2, weight /= 2)
        if (place >> bit & 1) value += weight;
    return value;
}

ikt_status bench_positions(ikt_context *ctx, const ikt_rows *rows, float **y) {
    float *at = NULL;
    IKT_TRY(ikt_alloc(ctx, y, 2 * rows->count, sizeof **y, "bench"));
    at = *y;
    const double span = bench_span(rows->n), side = sqrt((double)SQUARE / (double)rows->n);
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < rows->count; i++) {
        int64_t row = rows->first + i;
        int64_t place = (int64_t)((double)(row / SQUARE * SQUARE) / (double)rows->n * 0x1p31);
        for (int axis = 0; axis < 2; axis++) {
            double within = ikt_rng_uniform(SEED, IKT_RNG_TEST, row, (uint64_t)axis);
            at[2 * i + axis] = (float)(span * (along(place, axis) + side * within));
        }
    }
    return IKT_OK;
}

/* Steps by u^4: a halving of the rows cuts as many of them as the one before. */
static int64_t step_of(int64_t n, int64_t least, double u) {
    return least + (int64_t)((double)(n / 2 - least) * u * u * u * u);
}

/* A neighbour that has the row as neighbour, too: the same bits of both are flipped. */
static int64_t mutual(int64_t n, int64_t row, int64_t e, int64_t count) {
    int64_t other = row ^ step_of(n, 1 + e, ((double)e + 0.5) / (double)count);
    return other < n ? other : -1;
}

static int64_t one_way(int64_t n, int64_t row, int64_t e) {
    double u = ikt_rng_uniform(SEED, IKT_RNG_TEST, row, (uint64_t)(2 + e));
    bool back = ikt_rng_u64(SEED, IKT_RNG_TEST, row, (uint64_t)(2 + BENCH_NEIGHBOURS_MOST + e)) & 1;
    int64_t step = step_of(n, 1, u);
    return (row + (back ? n - step : step)) % n;
}

static bool holds(const uint32_t *list, int64_t count, int64_t row) {
    for (int64_t e = 0; e < count; e++)
        if ((int64_t)list[e] == row) return true;
    return false;
}

static void fill_list(int64_t n, int64_t row, int64_t k, uint32_t *list) {
    for (int64_t e = 0; e < k; e++) {
        int64_t other = e < k / 2 ? mutual(n, row, e, k / 2) : -1;
        if (other < 0) other = one_way(n, row, e);
        while (other == row || holds(list, e, other))
            other = (other + 1) % n;
        list[e] = (uint32_t)other;
    }
}

ikt_status bench_lists(ikt_context *ctx, const ikt_rows *rows, int64_t k, bool is_uniform,
                       ikt_neighbours *out) {
    IKT_TRY(ikt_neighbours_create(ctx, rows, k, out));
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < rows->count; i++) {
        fill_list(rows->n, rows->first + i, k, out->row + i * k);
        for (int64_t e = 0; e < k; e++)
            out->score[i * k + e] =
                is_uniform ? 1 / (float)k : 2 * (float)(e + 1) / (float)(k * (k + 1));
    }
    return IKT_OK;
}

ikt_status bench_graph(ikt_context *ctx, const ikt_rows *rows, int64_t k, bool is_uniform,
                       ikt_graph *out) {
    ikt_neighbours lists = {0, 0, NULL, NULL};
    IKT_TRY(ikt_agree(ctx, bench_lists(ctx, rows, k, is_uniform, &lists)));
    return ikt_test_symmetrise(ctx, rows, &lists, out);
}

double bench_coordinate(int64_t row, int64_t column) {
    double centre = ikt_rng_uniform(SEED, IKT_RNG_TEST, -1 - row % CLUSTERS, (uint64_t)column);
    double own = ikt_rng_uniform(SEED, IKT_RNG_TEST, row, (uint64_t)column);
    return 0.7 * centre + 0.3 * own;
}
