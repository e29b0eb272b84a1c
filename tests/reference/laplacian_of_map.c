/* The regulariser of LaptSNE at a real map, by the FFT, or the tree in one and three dimensions,
 * beside exact sums: laplacian_of_map MAP.h5 K.
 *
 * Eigenvectors are settled by the fast sums, and both ways of summing then begin with the same
 * block and make one product: what differs is what the sums do. Prints the root mean square of the
 * difference of the gradients beside that of the gradient, and the largest difference of the
 * eigenvalues, for both forms; fails where these are above 1e-2 and 1e-4, by the tree 2e-2 and
 * 1e-3. On one rank. */
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "io/hdf5/h5.h"
#include "io/sources/source.h"
#include "objective/laplacian.h"

/* By the FFT, by the tree. */
static const double gradient_most[2] = {1e-2, 2e-2}, eigenvalue_most[2] = {1e-4, 1e-3};

static const char purpose[] = "test";

/* A map, and the regulariser's gradient and eigenvalues there by one way of summing. */
typedef struct {
    ikt_rows rows;
    int q;    /* dimensions */
    float *y; /* [rows.count * q] */
} map;

typedef struct {
    ikt_kernelsum *sums;
    ikt_regulariser *laplacian;
    double *phi;     /* [rows.count] */
    float *field;    /* [rows.count * q] */
    float *gradient; /* [rows.count * q] */
    ikt_laplacian_terms terms;
} way;

static ikt_status read_map(ikt_context *ctx, const char *path, map *m) {
    ikt_source *source = NULL;
    IKT_TRY(ikt_source_open(ctx, path, "embedding", 0, &source));
    m->rows = ikt_rows_make(ikt_source_rows(source), ikt_size(ctx), ikt_rank(ctx));
    m->q = (int)ikt_source_columns(source);
    ikt_status st =
        ikt_agree(ctx, ikt_alloc(ctx, &m->y, m->rows.count * m->q, sizeof *m->y, purpose));
    if (st == IKT_OK) st = ikt_source_read(source, m->rows.first, m->rows.count, m->y);
    ikt_source_close(&source);
    return ikt_agree(ctx, st);
}

static ikt_status create(ikt_context *ctx, const map *m, ikt_regulariser_settings settings,
                         bool is_exact, way *w) {
    const ikt_fft_settings fft = ikt_fft_preset(IKT_FFT_DEFAULT);
    *w = (way){0};
    IKT_TRY(is_exact    ? ikt_kernelsum_create_exact(ctx, &m->rows, m->q, ikt_student, &w->sums)
            : m->q == 2 ? ikt_kernelsum_create_fft(ctx, &m->rows, ikt_student, &fft, &w->sums)
                        : ikt_kernelsum_create_tree(ctx, &m->rows, m->q, ikt_student,
                                                    IKT_TREE_DEFAULT, &w->sums));
    const ikt_laplacian_setup setup = {.rows = m->rows,
                                       .q = m->q,
                                       .settings = settings,
                                       .columns = ikt_regulariser_columns(settings.rank, m->rows.n),
                                       .seed = 1,
                                       .sums = w->sums,
                                       .floor = 1e-2};
    IKT_TRY(ikt_laplacian_create(ctx, &setup, &w->laplacian));
    ikt_status st = ikt_alloc(ctx, &w->phi, m->rows.count, sizeof *w->phi, purpose);
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &w->field, m->rows.count * m->q, sizeof *w->field, purpose);
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &w->gradient, m->rows.count * m->q, sizeof *w->gradient, purpose);
    return ikt_agree(ctx, st);
}

static void destroy(way *w) {
    ikt_regulariser_destroy(&w->laplacian);
    ikt_kernelsum_destroy(&w->sums);
    ikt_free(&w->phi);
    ikt_free(&w->field);
    ikt_free(&w->gradient);
}

static ikt_status evaluate(const map *m, way *w, int64_t iteration) {
    const ikt_kernelsum_request request = {.y = m->y, .value = w->phi, .gradient = w->field};
    IKT_TRY(ikt_kernelsum_evaluate(w->sums, &request));
    const ikt_laplacian_map at = {iteration, m->y, w->phi, w->field, true};
    return ikt_laplacian_evaluate(w->laplacian, &at, 0, w->gradient, &w->terms);
}

/* The block that `from` ends with becomes the one that `to` begins with. */
static void hand_on(const map *m, way *from, way *to, int64_t columns) {
    memcpy(ikt_laplacian_state_block(to->laplacian, 1),
           ikt_laplacian_state_block(from->laplacian, 1),
           (size_t)(m->rows.count * columns) * sizeof(float));
    memcpy(ikt_laplacian_state_numbers(to->laplacian, 1),
           ikt_laplacian_state_numbers(from->laplacian, 1),
           IKT_LAPLACIAN_NUMBERS * sizeof(int64_t));
}

/* Whether both ways agree; they are printed. */
static bool compare(const map *m, const way *a, const way *b, const char *form) {
    double sums[2] = {0, 0}, worst = 0;
    for (int64_t e = 0; e < m->rows.count * m->q; e++) {
        const double difference = (double)a->gradient[e] - (double)b->gradient[e];
        sums[0] += difference * difference;
        sums[1] += (double)b->gradient[e] * (double)b->gradient[e];
    }
    for (int64_t k = 0; k < a->terms.count; k++)
        worst = fmax(worst, fabs(a->terms.eigenvalue[k] - b->terms.eigenvalue[k]));
    const double gradient = sqrt(sums[0] / sums[1]);
    printf("%s: gradient %.2e rms, eigenvalues %.2e (sigma_2 %.3e, sigma_K %.3e, residual %.1e)\n",
           form, gradient, worst, b->terms.eigenvalue[0], b->terms.eigenvalue[b->terms.count - 1],
           b->terms.residual);
    const int by_tree = m->q != 2;
    return gradient <= gradient_most[by_tree] && worst <= eigenvalue_most[by_tree];
}

static ikt_status run(ikt_context *ctx, const char *path, int64_t rank, bool *agree) {
    map m = {0};
    IKT_TRY(read_map(ctx, path, &m));
    const int64_t columns = ikt_regulariser_columns(rank, m.rows.n);
    for (int form = 0; form < 2; form++) {
        ikt_regulariser_settings settings = {.kind = IKT_REGULARISER_LAPLACIAN,
                                             .form = form,
                                             .weight = 1,
                                             .rank = rank,
                                             .every = 1,
                                             .vectors = IKT_EIGENVECTORS_EXACT,
                                             .residual = 1e-5};
        way settled, fft, exact;
        IKT_TRY(create(ctx, &m, settings, false, &settled));
        IKT_TRY(evaluate(&m, &settled, 0));
        settings.vectors = IKT_EIGENVECTORS_FOLLOWED;
        IKT_TRY(create(ctx, &m, settings, false, &fft));
        IKT_TRY(create(ctx, &m, settings, true, &exact));
        hand_on(&m, &settled, &fft, columns);
        hand_on(&m, &settled, &exact, columns);
        IKT_TRY(evaluate(&m, &fft, 1));
        IKT_TRY(evaluate(&m, &exact, 1));
        *agree = compare(&m, &fft, &exact, form == IKT_REGULARISER_LOG ? "log" : "sum") && *agree;
        destroy(&settled);
        destroy(&fft);
        destroy(&exact);
    }
    ikt_free(&m.y);
    return IKT_OK;
}

int main(int argc, char **argv) {
    ikt_context *ctx = NULL;
    bool agree = true;
    ikt_h5_begin();
    MPI_Init(&argc, &argv);
    if (argc != 3 || ikt_context_create(MPI_COMM_SELF, 2, &ctx) != IKT_OK) return 2;
    const ikt_status st = run(ctx, argv[1], atoll(argv[2]), &agree);
    if (st != IKT_OK) fprintf(stderr, "%s\n", ikt_message(ctx));
    ikt_context_destroy(&ctx);
    MPI_Finalize();
    return st == IKT_OK && agree ? 0 : 1;
}
