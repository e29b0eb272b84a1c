/* Kernel discriminant analysis: against ridge regression and linear discriminant analysis as they
 * are written, and bit for bit against one rank; what labels that mean nothing show. */
#include "support/kernel_world.h"

#include "linalg/eigen.h"
#include "similarity/kernel_map.h"

/* Classes in order, each less what 1 and those before it have of it. */
static int respond_plainly(const int64_t *label, double response[CLASSES][N]) {
    double basis[CLASSES + 1][N];
    int count = 0;
    for (int64_t i = 0; i < N; i++)
        basis[0][i] = 1 / sqrt(N);
    for (int c = 0; c < CLASSES; c++) {
        double *r = basis[count + 1], length = 0;
        for (int64_t i = 0; i < N; i++)
            r[i] = label[i] == 10 * c;
        for (int b = 0; b <= count; b++) {
            double product = 0;
            for (int64_t i = 0; i < N; i++)
                product += r[i] * basis[b][i];
            for (int64_t i = 0; i < N; i++)
                r[i] -= product * basis[b][i];
        }
        for (int64_t i = 0; i < N; i++)
            length += r[i] * r[i];
        if (length < 1e-9) continue;
        for (int64_t i = 0; i < N; i++)
            response[count][i] = r[i] /= sqrt(length);
        count++;
    }
    return count;
}

/* Fits all rows, and gathers nothing: the coordinates of the own rows. */
static void discriminate(ikt_context *ctx, const world *w, int q, double ridge, int64_t alone_max,
                         double *y, ikt_discriminant_facts *facts) {
    int64_t chosen[N];
    compared c;
    ikt_kernel_map map;
    choose(true, chosen);
    compared_make(ctx, w, IKT_SIMILARITY_LINEAR, 0, chosen, N, &c);
    assert_int_equal(
        ikt_discriminant_fit(ctx, c.similar, N, w->label, q, ridge, 1, alone_max, &map, facts),
        IKT_OK);
    assert_int_equal(ikt_kernel_map_place(ctx, &map, c.similar, &c.rows, y, NULL), IKT_OK);
    ikt_kernel_map_destroy(&map);
    compared_end(&c);
}

static void two_classes_lie_along_ridge_lda(void **state) {
    ikt_context *ctx = *state;
    const double ridge = 0.3;
    world *w = world_make();
    double scatter[D * D] = {0}, direction[D] = {0}, mean[D] = {0}, sums[3] = {0, 0, 0}, y[N * 2];
    ikt_discriminant_facts facts;
    for (int64_t i = 0; i < N; i++)
        w->label[i] = w->label[i] == 10; /* two classes of 23 and 70 rows */
    for (int64_t e = 0; e < N * D; e++)
        mean[e % D] += (double)w->x[e] / N;
    int64_t ones = 0;
    for (int64_t i = 0; i < N; i++)
        ones += w->label[i];
    for (int64_t i = 0; i < N; i++)
        for (int64_t a = 0; a < D; a++) {
            const double value = (double)w->x[i * D + a] - mean[a];
            for (int64_t b = 0; b < D; b++)
                scatter[a * D + b] += value * ((double)w->x[i * D + b] - mean[b]);
            direction[a] += value * (w->label[i] ? 1.0 / (double)ones : -1.0 / (double)(N - ones));
        }
    for (int64_t a = 0; a < D; a++)
        scatter[a * D + a] += ridge;
    solve_plainly(scatter, direction, D);
    discriminate(ctx, w, 2, ridge, IKT_EIGEN_ALONE_MAX, y, &facts);
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    for (int64_t i = 0; i < rows.count; i++) {
        double along = 0;
        for (int64_t a = 0; a < D; a++)
            along += ((double)w->x[(rows.first + i) * D + a] - mean[a]) * direction[a];
        assert_true(y[2 * i + 1] == 0); /* there is one discriminant */
        sums[0] += along * along;
        sums[1] += along * y[2 * i];
        sums[2] += y[2 * i] * y[2 * i];
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    assert_true(fabs(sums[1]) / sqrt(sums[0] * sums[2]) > 1 - 1e-8);
    assert_int_equal(facts.classes, 2);
    const double share = (double)ones / N;
    assert_true(fabs(facts.chance - (1 - share * share - (1 - share) * (1 - share))) < 1e-12);
    free(w);
}

static void discriminants_solve_their_equation(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    const double ridge = 2;
    world *w = world_make();
    double response[CLASSES][N], *a = malloc(sizeof w->gram), *centred = malloc(sizeof w->gram);
    double y[N * 3], of_one[N * 3], plane[N * 2], wanted[CLASSES][N], row_mean[N] = {0}, all = 0;
    ikt_discriminant_facts facts;
    const ikt_rows rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    for (int64_t e = 0; e < N * N; e++) {
        row_mean[e / N] += w->gram[e] / N;
        all += w->gram[e] / (N * N);
    }
    for (int64_t e = 0; e < N * N; e++)
        centred[e] = w->gram[e] - row_mean[e / N] - row_mean[e % N] + all;
    assert_int_equal(respond_plainly(w->label, response), CLASSES - 1);
    for (int r = 0; r < CLASSES - 1; r++) {
        double x[N];
        memcpy(x, response[r], sizeof x);
        memcpy(a, centred, sizeof w->gram);
        for (int64_t i = 0; i < N; i++)
            a[i * N + i] += ridge;
        solve_plainly(a, x, N);
        for (int64_t i = 0; i < N; i++) {
            wanted[r][i] = 0;
            for (int64_t j = 0; j < N; j++)
                wanted[r][i] += centred[i * N + j] * x[j];
        }
    }
    for (int grid = 0; grid < 2; grid++) {
        discriminate(ctx, w, 3, ridge, grid ? 8 : IKT_EIGEN_ALONE_MAX, y, &facts);
        for (int64_t i = 0; i < rows.count; i++)
            for (int r = 0; r < 3; r++)
                assert_true(fabs(y[3 * i + r] - wanted[r][rows.first + i]) <= 1e-9);
    }
    discriminate(ctx, w, 3, ridge, IKT_EIGEN_ALONE_MAX, y, &facts);
    discriminate(alone, w, 3, ridge, IKT_EIGEN_ALONE_MAX, of_one, &facts);
    assert_memory_equal(y, of_one + 3 * rows.first, (size_t)(3 * rows.count) * sizeof *y);
    /* Two dimensions: uncorrelated axes, and as much of the three as any two can have. */
    double gram[6] = {0}, products[3] = {0}, largest[2] = {0, 0};
    discriminate(alone, w, 2, ridge, IKT_EIGEN_ALONE_MAX, plane, &facts);
    for (int64_t i = 0; i < N; i++) {
        for (int p = 0, e = 0; p < 3; p++)
            for (int r = p; r < 3; r++)
                gram[e++] += of_one[3 * i + p] * of_one[3 * i + r];
        products[0] += plane[2 * i] * plane[2 * i];
        products[1] += plane[2 * i + 1] * plane[2 * i + 1];
        products[2] += plane[2 * i] * plane[2 * i + 1];
        for (int c = 0; c < 2; c++)
            if (fabs(plane[2 * i + c]) > fabs(largest[c])) largest[c] = plane[2 * i + c];
    }
    double values[3], vectors[9];
    assert_int_equal(ikt_eigen_leading(alone, gram, 3, 3, 2048, values, vectors), IKT_OK);
    assert_true(fabs(products[0] - values[0]) <= 1e-9 && fabs(products[1] - values[1]) <= 1e-9);
    assert_true(fabs(products[2]) <= 1e-9 && largest[0] > 0 && largest[1] > 0);
    free(a);
    free(centred);
    free(w);
    ikt_context_destroy(&alone);
}

/* Labels that mean nothing are told apart where the ridge is small and there are more columns than
 * rows to do it by; then the facts say so, and the ridge that is chosen does it less. */
static void a_small_ridge_leaks(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    world *w = world_make();
    double y[N * 2];
    ikt_discriminant_facts small, chosen, of_one;
    int64_t rows[N];
    compared c;
    ikt_kernel_map map;
    choose(true, rows);
    compared_make(ctx, w, IKT_SIMILARITY_GAUSSIAN, 4, rows, N, &c);
    assert_int_equal(ikt_discriminant_fit(ctx, c.similar, N, w->label, 2, 1e-6, 1,
                                          IKT_EIGEN_ALONE_MAX, &map, &small),
                     IKT_OK);
    ikt_kernel_map_destroy(&map);
    assert_true(small.leaks && small.baseline < 0.1 && small.error == 0);
    assert_true(small.chance > 0.74 && small.chance < 0.76);
    assert_int_equal(ikt_discriminant_fit(ctx, c.similar, N, w->label, 2, 0, 1, IKT_EIGEN_ALONE_MAX,
                                          &map, &chosen),
                     IKT_OK);
    ikt_kernel_map_destroy(&map);
    const double deviation = sqrt(chosen.chance * (1 - chosen.chance) / N);
    assert_true(!chosen.leaks && chosen.ridge > 1e-3);
    assert_true(chosen.baseline >= chosen.chance - 3 * deviation);
    compared_end(&c);
    discriminate(ctx, w, 2, 0, IKT_EIGEN_ALONE_MAX, y, &chosen);
    discriminate(alone, w, 2, 0, IKT_EIGEN_ALONE_MAX, y, &of_one);
    assert_memory_equal(&chosen, &of_one, sizeof chosen);
    /* The next smaller one leaks, or is the least that is tried. */
    discriminate(ctx, w, 2, chosen.ridge / sqrt(10), IKT_EIGEN_ALONE_MAX, y, &small);
    double trace = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            trace += (i == j ? w->gram[i * N + i] : 0) - w->gram[i * N + j] / N;
    assert_true(small.leaks || chosen.ridge < 1.01e-4 * trace / N);
    free(w);
    ikt_context_destroy(&alone);
}

/* Every row comes three times, under labels that differ: the nearest rows are the two others of its
 * kind, each with half a vote, whatever the ridge, the order of the rows and the unit of the
 * similarities are, which all move the last bits of the coordinates. */
static void equal_rows_share_their_vote(void **state) {
    enum { KINDS = N / 3 };
    static const double ridges[] = {1e-3, 0.02492, 0.025, 0.5};
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    world *plain = world_make(), *w = world_make();
    double wanted = 0, baseline = 0, y[N * 2];
    for (int64_t i = 0; i < N; i++)
        plain->label[i] = ikt_rng_below(3, IKT_RNG_TEST, N, (uint64_t)i, 2);
    for (int64_t i = 0; i < N; i++)
        for (int64_t turn = 1; turn < 3; turn++)
            wanted += plain->label[i] != plain->label[(i + turn * KINDS) % N] ? 0.5 / N : 0;
    for (int run = 0; run < 8; run++) {
        ikt_discriminant_facts facts, of_one;
        const double unit = run % 2 ? 1.7 : 1;
        for (int64_t i = 0; i < N; i++) {
            const int64_t from = run / 2 % 2 ? (i * 40 + 7) % N : i; /* the order of the rows */
            w->label[i] = plain->label[from];
            for (int64_t c = 0; c < D; c++)
                w->x[i * D + c] = (float)unit * plain->x[from % KINDS * D + c];
        }
        const double ridge = ridges[run / 2] * unit * unit;
        discriminate(ctx, w, 2, ridge, IKT_EIGEN_ALONE_MAX, y, &facts);
        discriminate(alone, w, 2, ridge, IKT_EIGEN_ALONE_MAX, y, &of_one);
        assert_memory_equal(&facts, &of_one, sizeof facts);
        assert_true(fabs(facts.error - wanted) < 1e-14);
        if (run / 2 % 2) continue; /* other rows have the labels of a permutation then */
        if (run == 0) baseline = facts.baseline;
        assert_true(facts.baseline == baseline && !facts.leaks);
    }
    assert_true(fabs(baseline - 0.5) < 0.05); /* chance, by eight permutations of 93 rows */
    free(plain);
    free(w);
    ikt_context_destroy(&alone);
}

static void labels_that_tell_nothing_are_refused(void **state) {
    ikt_context *ctx = *state;
    static const char *const words[] = {"needs two classes", "needs two rows of each class",
                                        "eigenvalue of -kernel.ridge or below"};
    world *w = world_make();
    int64_t chosen[N];
    choose(true, chosen);
    for (int run = 0; run < 3; run++) {
        compared c;
        ikt_kernel_map map;
        ikt_discriminant_facts facts;
        for (int64_t i = 0; i < N; i++)
            w->label[i] = run == 0 ? 3 : run == 1 ? i == 40 : i % 2;
        if (run == 2)
            for (int64_t e = 0; e < N * N; e++)
                w->gram[e] = -w->gram[e];
        compared_make(ctx, w, IKT_SIMILARITY_GIVEN, 0, chosen, N, &c);
        assert_int_equal(ikt_discriminant_fit(ctx, c.similar, N, w->label, 2, 1e-3, 1,
                                              IKT_EIGEN_ALONE_MAX, &map, &facts),
                         IKT_ERR_DATA);
        assert_non_null(strstr(ikt_message(ctx), words[run]));
        ikt_clear(ctx);
        compared_end(&c);
        assert_int_equal(ikt_memory_now(ctx), 0);
    }
    free(w);
}

IKT_MPI_TESTS(ikt_test(two_classes_lie_along_ridge_lda),
              ikt_test(discriminants_solve_their_equation), ikt_test(a_small_ridge_leaks),
              ikt_test(equal_rows_share_their_vote), ikt_test(labels_that_tell_nothing_are_refused))
