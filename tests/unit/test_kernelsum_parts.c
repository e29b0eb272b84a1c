/* Parts of the particle-mesh method one by one: window, grid, charges, influence. */
#include "support/grid_cell.h"
#include "support/kernelsum_maps.h"

#include <string.h>

#include "kernelsum/grid.h"
#include "kernelsum/mesh.h"
#include "kernelsum/spread.h"

static const int orders[] = {4, 6};

static void windows_add_up(void **state) {
    (void)state;
    for (int o = 0; o < 2; o++) {
        ikt_window window = ikt_window_make(orders[o]);
        assert_int_equal(window.terms, orders[o] == 4 ? IKT_WINDOW_TERMS_4 : IKT_WINDOW_TERMS_6);
        for (int step = 0; step <= 50; step++) {
            double w[6], s[6], sum = 0, slopes = 0, place = 0, u = step / 50.0;
            ikt_window_at(&window, u, w, s);
            for (int k = 0; k < orders[o]; k++) {
                assert_true(w[k] > -1e-12);
                sum += w[k];
                slopes += s[k];
                place += w[k] * (k - (orders[o] / 2 - 1));
            }
            assert_true(fabs(sum - 1) < 1e-14 && fabs(slopes) < 1e-12);
            assert_true(fabs(place - u) < 1e-13); /* a linear function is reproduced */
        }
    }
}

/* Slopes are derivatives; a window and its slope are continuous from one cell to the next; and it
 * is even. */
static void windows_are_smooth_and_even(void **state) {
    (void)state;
    for (int o = 0; o < 2; o++) {
        ikt_window window = ikt_window_make(orders[o]);
        int order = orders[o];
        double w[6], s[6], above[6], below[6], ignored[6];
        for (double u = 0.05; u < 1; u += 0.1) {
            ikt_window_at(&window, u, w, s);
            ikt_window_at(&window, u + 1e-5, above, ignored);
            ikt_window_at(&window, u - 1e-5, below, ignored);
            for (int k = 0; k < order; k++)
                assert_true(fabs((above[k] - below[k]) / 2e-5 - s[k]) < 1e-8);
            ikt_window_at(&window, 1 - u, above, ignored);
            for (int k = 0; k < order; k++)
                assert_true(fabs(above[order - 1 - k] - w[k]) < 1e-14);
        }
        ikt_window_at(&window, 0, w, s);
        ikt_window_at(&window, 1, above, below); /* the same point, seen from the cell before */
        assert_true(fabs(w[order - 1]) < 1e-14 && fabs(s[order - 1]) < 1e-13);
        for (int k = 0; k + 1 < order; k++)
            assert_true(fabs(w[k] - above[k + 1]) < 1e-14 && fabs(s[k] - below[k + 1]) < 1e-13);
    }
}

static void grids_hold_their_maps(void **state) {
    (void)state;
    const float spans[] = {0, 1e-30f, 1e-4f, 1, 13.7f, 160, 1e5f, 3e38f};
    ikt_fft_settings settings = {4, 0.4, 1000, true, IKT_SHARING_AUTO, {0, 0, 0}};
    for (size_t s = 0; s < sizeof spans / sizeof *spans; s++)
        for (int flat = 0; flat < 2; flat++) {
            const float edge[] = {-0.3f * spans[s], 0.7f * spans[s], 5, flat ? 5 : 5 + spans[s]};
            ikt_bounds b = {{(double)edge[0], (double)edge[2]}, {(double)edge[1], (double)edge[3]}};
            ikt_grid grid = ikt_grid_fit(&settings, &b);
            for (int axis = 0; axis < 2; axis++) {
                double u;
                assert_in_range(grid_cell(&grid, axis, (float)b.low[axis], &u), 0, 1);
                int64_t last = grid_cell(&grid, axis, (float)b.high[axis], &u);
                assert_true(last < grid.cells[axis] && last >= grid.cells[axis] - 2);
                assert_true(grid.cells[axis] <= 1002);
                assert_true(grid.padded[axis] >= 2 * (grid.cells[axis] + 4));
                assert_true(grid.padded[axis] >= grid.nodes[axis] + IKT_WINDOW_LANES);
                assert_int_equal(grid.padded[axis] % 16, 0);
            }
            if (spans[s] >= 1e-4f && spans[s] <= 12)
                assert_true(grid.cells[0] >= 32 && grid.cells[0] <= 66);
        }
}

static void bounds_see_every_coordinate(void **state) {
    ikt_context *ctx = *state;
    enum { N = 101 };
    float y[2 * N] = {0};
    ikt_bounds b;
    assert_false(ikt_bounds_find(ctx, y, 0, NULL, 0, &b));
    for (int64_t at = 0; at < 2 * N; at++) {
        for (int64_t e = 0; e < 2 * N; e++)
            y[e] = (float)(e % 2 ? 5 + e : -e);
        y[at] = at % 2 ? 1e4f : -1e4f;
        assert_true(ikt_bounds_find(ctx, y, N, NULL, 0, &b));
        assert_true(at % 2 ? b.high[1] == 1e4 && b.low[0] == -(2 * N - 2)
                           : b.low[0] == -1e4 && b.high[1] == 5 + 2 * N - 1);
        y[at] = at % 3 ? NAN : INFINITY;
        assert_false(ikt_bounds_find(ctx, y, N, NULL, 0, &b));
    }
}

/* Charges of a map, by ikt_spread; freed by the caller.
 *   amount  [p->count], or NULL
 *   apart   counts the calls in which each thread had a grid of its own */
static ikt_charges charges_of(ikt_context *ctx, const ikt_grid *grid, int order, int threads,
                              ikt_isa isa, const map_points *p, const double *amount, int *apart) {
    ikt_window window = ikt_window_make(order);
    ikt_charges out = {NULL, ikt_charge_stride(grid, order), ikt_charge_unit(p->count)};
    ikt_spread_space space = {.threads = threads};
    assert_int_equal(
        ikt_alloc(ctx, &out.charge, out.stride * grid->nodes[1], sizeof(int64_t), "test"), IKT_OK);
    memset(out.charge, 0x55, (size_t)(out.stride * grid->nodes[1]) * sizeof(int64_t));
    assert_int_equal(
        ikt_spread_prepare(ctx, &space, p->count, out.stride * grid->nodes[1], grid->cells[1]),
        IKT_OK);
    *apart += space.own_charges > 0;
    assert_int_equal(ikt_alloc(ctx, &space.place, p->count, sizeof *space.place, "test"), IKT_OK);
    assert_int_equal(
        ikt_alloc(ctx, &space.sorted_amounts, p->count, sizeof *space.sorted_amounts, "test"),
        IKT_OK);
    ikt_spread(isa, grid, &window, p->y, amount, p->count, false, &space, &out);
    ikt_spread_release(&space);
    return out;
}

/* The definition: each point adds its weights to the nodes about it. */
static double *plain_charges(ikt_context *ctx, const ikt_grid *grid, int order, int64_t stride,
                             const map_points *p, const double *amount) {
    ikt_window window = ikt_window_make(order);
    double *charge = NULL;
    assert_int_equal(ikt_alloc(ctx, &charge, stride * grid->nodes[1], sizeof *charge, "test"),
                     IKT_OK);
    for (int64_t i = 0; i < p->count; i++) {
        double u, w[2][6], ignored[6];
        int64_t cell[2];
        for (int axis = 0; axis < 2; axis++) {
            cell[axis] = grid_cell(grid, axis, p->y[2 * i + axis], &u);
            ikt_window_at(&window, u, w[axis], ignored);
        }
        for (int b = 0; b < order; b++)
            for (int a = 0; a < order; a++)
                charge[(cell[1] + b) * stride + cell[0] + a] +=
                    (amount ? amount[i] : 1) * w[1][b] * w[0][a];
    }
    return charge;
}

/* Those of one map, by one thread and by several, beside the plain ones.
 *   calls   counts those of several threads, and `apart` those in which each had a grid */
static void check_charges(ikt_context *ctx, int order, const map_points *p, const double *amount,
                          int *calls, int *apart) {
    ikt_fft_settings settings = {order, 0.4, 8192, true, IKT_SHARING_AUTO, {0, 0, 0}};
    ikt_bounds bounds;
    assert_true(ikt_bounds_find(ctx, p->y, p->count, NULL, 0, &bounds));
    ikt_grid grid = ikt_grid_fit(&settings, &bounds);
    ikt_charges one = charges_of(ctx, &grid, order, 1, ikt_cpu_isa(), p, amount, apart);
    double *plain = plain_charges(ctx, &grid, order, one.stride, p, amount);
    int64_t nodes = one.stride * grid.nodes[1];
    for (int64_t g = 0; g < nodes; g++)
        assert_true(fabs((double)one.charge[g] / one.unit - plain[g]) < 1e-12 * (double)p->count);
    for (int threads = 1; threads <= 5; threads += 2)
        for (int isa = IKT_ISA_PORTABLE; isa <= (int)ikt_cpu_isa(); isa++) {
            ikt_charges other =
                charges_of(ctx, &grid, order, threads, (ikt_isa)isa, p, amount, apart);
            assert_memory_equal(other.charge, one.charge, (size_t)nodes * sizeof(int64_t));
            *calls += threads > 1;
            ikt_free(&other.charge);
        }
    ikt_free(&one.charge);
    ikt_free(&plain);
}

static void charges_are_exact_sums(void **state) {
    ikt_context *ctx = *state;
    enum { N = 700 };
    double amount[N];
    for (int64_t i = 0; i < N; i++)
        amount[i] = 2 * ikt_rng_uniform(1, IKT_RNG_TEST, i, 0) - 1;
    for (int is_unit = 0; is_unit < 2; is_unit++) {
        int calls = 0, apart = 0;
        for (int kind = 0; kind < MAPS; kind++)
            for (int o = 0; o < 2; o++) {
                map_points p = map_make(ctx, (map_kind)kind, N, 0, N);
                check_charges(ctx, orders[o], &p, is_unit ? NULL : amount, &calls, &apart);
                map_free(&p);
            }
        assert_true(0 < apart && apart < calls); /* both methods */
    }
}

static void charges_do_not_overflow(void **state) {
    (void)state;
    for (int64_t n = 1; n < (int64_t)1 << 60; n *= 3) {
        double unit = ikt_charge_unit(n);
        assert_true((double)n * unit <= 0x1p62 && unit <= 0x1p50 && unit >= 1);
    }
}

/* The influence is the kernel: in a node, the potential of a charge in a node is exact. The lags of
 * a single charge are read back by a plain cosine sum. */
static void influence_reproduces_the_kernel_in_nodes(void **state) {
    ikt_context *ctx = *state;
    for (int o = 0; o < 2; o++)
        for (double span = 0.01; span < 30; span *= 40) {
            ikt_fft_settings settings = {orders[o], 0.4, 8192, true, IKT_SHARING_AUTO, {0, 0, 0}};
            ikt_grid grid = ikt_grid_fit(&settings, &(ikt_bounds){{0, 0}, {span, 0.7 * span}});
            ikt_window window = ikt_window_make(orders[o]);
            ikt_influence influence;
            assert_int_equal(ikt_influence_make(ctx, ikt_student, &grid, &window, &influence),
                             IKT_OK);
            int64_t rows = grid.padded[1] / 2 + 1, columns = grid.padded[0] / 2 + 1;
            double w[6], ignored[6], pi2 = 6.283185307179586;
            ikt_window_at(&window, 0, w, ignored);
            for (int lag = 0; lag < 20; lag += 3) {
                double phi = influence.mean;
                for (int64_t r = 0; r < rows; r++)
                    for (int64_t c = 0; c < columns; c++) {
                        double x = 0, y = 0, angle_x = pi2 * (double)c / (double)grid.padded[0];
                        double angle_y = pi2 * (double)r / (double)grid.padded[1];
                        for (int k = 0; k < orders[o]; k++) {
                            x += w[k] * cos(angle_x * (k - (orders[o] / 2 - 1)));
                            y += w[k] * cos(angle_y * (k - (orders[o] / 2 - 1)));
                        }
                        double copies = (c % (columns - 1) ? 2 : 1) * (r % (rows - 1) ? 2 : 1);
                        phi += copies * x * x * y * y * influence.table[r * columns + c] *
                               cos(angle_x * lag) * cos(angle_y * (lag / 3));
                    }
                double x = lag * grid.spacing, y = lag / 3 * grid.spacing;
                assert_true(fabs(phi - 1 / (1 + x * x + y * y)) < 1e-12);
            }
            ikt_influence_release(&influence);
        }
}

IKT_MPI_TESTS(ikt_test(windows_add_up), ikt_test(windows_are_smooth_and_even),
              ikt_test(grids_hold_their_maps), ikt_test(bounds_see_every_coordinate),
              ikt_test(charges_are_exact_sums), ikt_test(charges_do_not_overflow),
              ikt_test(influence_reproduces_the_kernel_in_nodes))
