#define _POSIX_C_SOURCE 200112L /* setenv */

/* Kernel sums on several ranks: the same bits whatever ranks, threads and instruction set there
 * are; and what is refused. */
#include "support/kernelsum_maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/row_hash.h"
#include "kernelsum/grid.h"
#include "kernelsum/slabs.h"

static const ikt_fft_settings single = {4, 0.40, 8192, true, IKT_SHARING_AUTO, {0, 0, 0}},
                              twice = {6, 0.24, 8192, false, IKT_SHARING_AUTO, {0, 0, 0}};

/* Hash of phi and gradient of a map on a context's ranks; the context holds nothing afterwards. */
static uint64_t hash_of(ikt_context *ctx, map_kind kind, int64_t n, const ikt_fft_settings *fft) {
    ikt_rows rows = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    map_points p = map_make(ctx, kind, n, rows.first, rows.count);
    ikt_kernelsum *sums = map_sums(ctx, &rows, fft);
    sum_units(sums, p.y, p.phi, p.gradient);
    uint64_t hash = ikt_row_hash(ctx, p.phi, rows.first, rows.count, sizeof *p.phi) ^
                    3 * ikt_row_hash(ctx, p.gradient, rows.first, rows.count, 2 * sizeof(float));
    ikt_kernelsum_destroy(&sums);
    map_free(&p);
    assert_int_equal(ikt_memory_now(ctx), 0);
    return hash;
}

static void bits_do_not_depend_on_ranks_and_threads(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    const ikt_fft_settings *ways[] = {NULL, &single, &twice};
    const int64_t sizes[] = {1, 3, 300, 1500}; /* the first two leave ranks without rows */
    for (int kind = 0; kind < MAPS; kind++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
                assert_true(hash_of(ctx, (map_kind)kind, sizes[s], ways[w]) ==
                            hash_of(alone, (map_kind)kind, sizes[s], ways[w]));
    ikt_context_destroy(&alone);
}

/* Slabs of whole maps, of a narrow one with fewer rows of the grid than there are ranks, and of one
 * that changes its size; with pieces of messages far smaller than a row, too. */
static void slabs_have_the_bits_of_one_grid(void **state) {
    ikt_context *ctx = *state;
    const map_kind kinds[] = {MAP_LATE, MAP_EARLY, MAP_CLUSTERS, MAP_LINE};
    const int64_t sizes[] = {1, 40, 3000};
    const int64_t piece = ikt_piece_bytes(ctx);
    for (int k = 0; k < 4; k++)
        for (int s = 0; s < 3; s++)
            for (int order = 4; order <= 6; order += 2) {
                ikt_fft_settings fft = order == 4 ? single : twice;
                fft.sharing = IKT_SHARING_REPLICATED;
                uint64_t wanted = hash_of(ctx, kinds[k], sizes[s], &fft);
                fft.sharing = IKT_SHARING_SLABS;
                assert_true(hash_of(ctx, kinds[k], sizes[s], &fft) == wanted);
                if (s == 2 || order == 6) continue; /* would be many messages */
                ikt_set_piece_bytes(ctx, 1000);
                assert_true(hash_of(ctx, kinds[k], sizes[s], &fft) == wanted);
                ikt_set_piece_bytes(ctx, piece);
            }
}

static void alloc_space(ikt_context *ctx, const ikt_grid *grid, ikt_mesh_space *space) {
    int64_t field = ikt_mesh_f32.field_count(grid->padded, grid->nodes[1]);
    int64_t buffers = space->threads * ikt_mesh_f32.buffer_count(grid->padded);
    int64_t potential = grid->nodes[1] * space->potential_stride;
    assert_int_equal(ikt_alloc(ctx, &space->field, field, sizeof(float), "test"), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &space->buffers, buffers, sizeof(float), "test"), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &space->potential, potential, sizeof(float), "test"), IKT_OK);
}

static void free_space(ikt_mesh_space *space) {
    ikt_free(&space->field);
    ikt_free(&space->buffers);
    ikt_free(&space->potential);
}

/* Hash of the potentials of charges that depend on node and rank, on each rank the same. */
static uint64_t potential_hash(ikt_context *ctx, const ikt_mesh *mesh, const ikt_grid *grid,
                               int sharers, const ikt_mesh_space *space) {
    ikt_charges charges = {NULL, space->potential_stride, 16};
    ikt_slab_space slabs = {.numbers = 0};
    const int64_t nodes = grid->nodes[1] * charges.stride;
    assert_int_equal(ikt_alloc(ctx, &charges.charge, nodes, sizeof(int64_t), "test"), IKT_OK);
    for (int64_t k = 0; k < nodes; k++)
        charges.charge[k] = (k * k + ikt_rank(ctx)) % 23;
    assert_int_equal(
        ikt_slabs_convolve(ctx, &ikt_mesh_f32, mesh, grid, sharers, false, &charges, space, &slabs),
        IKT_OK);
    uint64_t hash = ikt_row_hash(ctx, space->potential, 0, nodes, sizeof(float));
    ikt_slabs_release(&slabs);
    ikt_free(&charges.charge);
    return hash;
}

/* The rule, and that the sums keep their bits where it lets some ranks share and others not. */
static void slabs_are_shared_by_as_many_as_pay(void **state) {
    ikt_context *ctx = *state;
    const ikt_fft_settings fft = ikt_fft_preset(IKT_FFT_DEFAULT);
    const ikt_grid small = ikt_grid_fit(&fft, &(ikt_bounds){{0, 0}, {10, 10}});
    const ikt_grid large = ikt_grid_fit(&fft, &(ikt_bounds){{0, 0}, {2000, 2000}});
    for (int ranks = 1; ranks <= 4096; ranks *= 4) {
        assert_true(ikt_slabs_sharers(&fft, &small, ranks) <= 8);
        int sharers = ikt_slabs_sharers(&fft, &large, ranks);
        assert_true(ranks <= 16 ? sharers == ranks : sharers >= 16 && sharers <= 1024);
    }
    ikt_grid grid = ikt_grid_fit(&fft, &(ikt_bounds){{0, 0}, {60, 60}});
    ikt_window window = ikt_window_make(fft.order);
    ikt_influence influence;
    ikt_mesh *mesh = NULL;
    ikt_mesh_space space = {.threads = 1, .potential_stride = ikt_charge_stride(&grid, fft.order)};
    assert_int_equal(ikt_influence_make(ctx, ikt_student, &grid, &window, &influence), IKT_OK);
    assert_int_equal(ikt_mesh_f32.create(ctx, grid.padded, &influence, &mesh), IKT_OK);
    alloc_space(ctx, &grid, &space);
    uint64_t wanted = 0;
    for (int sharers = 1; sharers <= ikt_size(ctx); sharers++) {
        uint64_t hash = potential_hash(ctx, mesh, &grid, sharers, &space);
        if (sharers == 1) wanted = hash;
        assert_true(hash == wanted);
    }
    free_space(&space);
    ikt_mesh_f32.destroy(&mesh);
    ikt_influence_release(&influence);
}

static void bits_do_not_depend_on_the_instruction_set(void **state) {
    ikt_context *ctx = *state;
    const ikt_fft_settings other[] = {single,
                                      twice,
                                      {4, 0.5, 8192, false, IKT_SHARING_AUTO, {0, 0, 0}},
                                      {6, 0.5, 8192, true, IKT_SHARING_AUTO, {0, 0, 0}}};
    uint64_t best[5];
    assert_int_equal(unsetenv("IKTSNE_ISA"), 0);
    for (int w = 0; w < 5; w++)
        best[w] = hash_of(ctx, MAP_LATE, 700, w < 4 ? &other[w] : NULL);
    for (int isa = IKT_ISA_PORTABLE; isa <= IKT_ISA_AVX512; isa++) {
        assert_int_equal(setenv("IKTSNE_ISA", ikt_isa_name((ikt_isa)isa), 1), 0);
        for (int w = 0; w < 5; w++)
            assert_true(hash_of(ctx, MAP_LATE, 700, w < 4 ? &other[w] : NULL) == best[w]);
    }
    unsetenv("IKTSNE_ISA");
}

static void check_all_invalid(ikt_context *ctx, float bad, const ikt_fft_settings *fft) {
    enum { N = 40, BAD = 20 };
    ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    map_points p = map_make(ctx, MAP_CLUSTERS, N, rows.first, rows.count);
    if (rows.first <= BAD && BAD < rows.first + rows.count) p.y[2 * (BAD - rows.first) + 1] = bad;
    ikt_kernelsum *sums = map_sums(ctx, &rows, fft);
    sum_units(sums, p.y, p.phi, p.gradient);
    for (int64_t i = 0; i < rows.count; i++)
        assert_true(isnan(p.phi[i]) && isnan(p.gradient[2 * i]) && isnan(p.gradient[2 * i + 1]));
    ikt_kernelsum_destroy(&sums);
    map_free(&p);
}

static void a_position_that_is_not_finite_invalidates_all(void **state) {
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int b = 0; b < 3; b++) {
        check_all_invalid(*state, bad[b], NULL);
        check_all_invalid(*state, bad[b], &single);
    }
}

/* A point at the end of the range of float: no index leaves the grid, its own phi is 1, and the
 * others, which the coarse grid sees in one place, keep finite sums. */
static void a_huge_position_is_survived(void **state) {
    ikt_context *ctx = *state;
    enum { N = 40 };
    ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    map_points p = map_make(ctx, MAP_CLUSTERS, N, rows.first, rows.count);
    bool mine = rows.first <= 20 && 20 < rows.first + rows.count;
    ikt_context_set_log(ctx, IKT_LOG_ERROR);
    for (int sign = -1; sign <= 1; sign += 2) {
        if (mine) p.y[2 * (20 - rows.first)] = (float)sign * 3e38f;
        ikt_kernelsum *sums = map_sums(ctx, &rows, &single);
        sum_units(sums, p.y, p.phi, p.gradient);
        for (int64_t i = 0; i < rows.count; i++)
            assert_true(isfinite(p.phi[i]) && isfinite(p.gradient[2 * i]));
        if (mine) assert_true(fabs(p.phi[20 - rows.first] - 1) < 0.05);
        ikt_kernelsum_destroy(&sums);
    }
    map_free(&p);
}

static void check_refused(ikt_context *ctx, ikt_fft_settings settings, const char *word) {
    ikt_rows rows = ikt_rows_make(10, ikt_size(ctx), ikt_rank(ctx));
    ikt_kernelsum *sums = NULL;
    ikt_clear(ctx);
    assert_int_equal(ikt_kernelsum_create_fft(ctx, &rows, ikt_student, &settings, &sums),
                     IKT_ERR_USAGE);
    assert_null(sums);
    assert_non_null(strstr(ikt_message(ctx), word));
    ikt_clear(ctx);
}

static void settings_out_of_range_are_refused(void **state) {
    check_refused(*state, (ikt_fft_settings){5, 0.4, 8192, true, IKT_SHARING_AUTO, {0, 0, 0}},
                  "order 5");
    check_refused(*state, (ikt_fft_settings){4, 0, 8192, true, IKT_SHARING_AUTO, {0, 0, 0}},
                  "spacing of 0");
    check_refused(*state, (ikt_fft_settings){4, NAN, 8192, true, IKT_SHARING_AUTO, {0, 0, 0}},
                  "spacing of");
    check_refused(*state, (ikt_fft_settings){4, 1.5, 8192, true, IKT_SHARING_AUTO, {0, 0, 0}},
                  "spacing of 1.5");
    check_refused(*state, (ikt_fft_settings){4, 0.4, 10, true, IKT_SHARING_AUTO, {0, 0, 0}},
                  "limit of 10");
    check_refused(*state,
                  (ikt_fft_settings){4, 0.4, (int64_t)1 << 40, true, IKT_SHARING_AUTO, {0, 0, 0}},
                  "limit of");
}

static void sums_describe_themselves(void **state) {
    ikt_context *ctx = *state;
    ikt_rows rows = ikt_rows_make(500, ikt_size(ctx), ikt_rank(ctx));
    map_points p = map_make(ctx, MAP_LATE, 500, rows.first, rows.count);
    char text[200], tiny[8];
    ikt_kernelsum *sums = map_sums(ctx, &rows, &single);
    ikt_kernelsum_describe(sums, text, sizeof text);
    assert_string_equal(text, "particle mesh, window of 4 nodes, spacing 0.4, single precision");
    sum_units(sums, p.y, p.phi, p.gradient);
    ikt_kernelsum_describe(sums, text, sizeof text);
    assert_non_null(strstr(text, "single precision, transforms of 160 x 160"));
    ikt_kernelsum_describe(sums, tiny, sizeof tiny);
    assert_string_equal(tiny, "particl");
    ikt_kernelsum_destroy(&sums);
    sums = map_sums(ctx, &rows, NULL);
    ikt_kernelsum_describe(sums, text, sizeof text);
    assert_string_equal(text, "exact sums over all pairs of 500 points");
    ikt_kernelsum_destroy(&sums);
    map_free(&p);
}

IKT_MPI_TESTS(ikt_test(bits_do_not_depend_on_ranks_and_threads),
              ikt_test(slabs_have_the_bits_of_one_grid),
              ikt_test(slabs_are_shared_by_as_many_as_pay),
              ikt_test(bits_do_not_depend_on_the_instruction_set),
              ikt_test(a_position_that_is_not_finite_invalidates_all),
              ikt_test(a_huge_position_is_survived), ikt_test(settings_out_of_range_are_refused),
              ikt_test(sums_describe_themselves))
