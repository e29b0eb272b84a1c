/* Eigenpairs of a covariance by products with the rows. See covariance_leading.h. */
#include "linalg/covariance_leading.h"

#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/log.h"
#include "base/sort.h"
#include "linalg/dot_tile.h"
#include "linalg/eigen.h"
#include "linalg/solver.h"

enum {
    LANES = IKT_TILE_COLUMNS,
    GROUP = IKT_TILE_ROWS,
    CHUNK = 1024,    /* columns of the rows whose part of a score a thread sums up */
    WIDE_SHARE = 16, /* a block of one in so many columns costs about what the matrix does */
    DEGREE = 10,     /* of the filter */
    STEPS_MOST = 20,
    FRACTION_BITS = 61
};

/* Residual of an eigenpair, where the eigenvalues add up to 1. */
static const double tolerance = 1e-12;

/* A column that is another but for 1e-6 of it would be given up (block.h). */
static const double growth = 1e5;

static const char purpose[] = "principal components";

/* The covariance matrix divided by its trace. Arrays of vectors hold them in panels of 16, each
 * with `length` entries: [panels][length][LANES]. */
typedef struct {
    ikt_context *ctx;
    const ikt_row_reader *reader;
    const double *mean; /* [d], borrowed */
    double scale;       /* a power of two that brings |x - mean| below 1 */
    double radius;      /* no scaled row is longer */
    double factor;      /* of a sum over rows */
    double one;         /* the fixed-point number for 1 */
    ikt_isa isa;
    ikt_rows columns; /* which ranks own which */
    int64_t d, m, panels, length, chunks;
    int64_t *counts;  /* [ranks] columns of each */
    double *whole;    /* [d * m] the vectors */
    double *packed;   /* in panels: the same */
    double *partial;  /* in panels: sums of the fixed block */
    int64_t *sum;     /* in panels: of all blocks, in units of unit[column] unit[vector] / one */
    double *unit;     /* [length + panels * LANES] powers of two, of columns, then of vectors */
    double *centred;  /* [IKT_BLOCK_ROWS or what is streamed][d] scaled rows, and GROUP more */
    double *part;     /* [chunks][panels][rows][LANES] scores by chunks, */
    double *score;    /* [panels][rows][LANES] and summed */
    int64_t rows_max; /* there is room for */
    ikt_arrays held;
} covariance;

/* --- a product -------------------------------------------------------------------------------- */

/* Scores of the rows, whose number is made a multiple of GROUP: every tile of GROUP rows, a panel
 * and a chunk is a thread's, and chunks are added in their order. */
static void find_scores(covariance *a, int64_t rows) {
    const int64_t groups = rows / GROUP, tiles = groups * a->panels, size = rows * LANES;
#pragma omp parallel for num_threads(ikt_threads(a->ctx))
    for (int64_t job = 0; job < a->chunks * tiles; job++) {
        const int64_t chunk = job / tiles, panel = job % tiles / groups, group = job % groups;
        const int64_t first = chunk * CHUNK;
        ikt_dot_tile(a->isa, ikt_smaller(CHUNK, a->d - first),
                     a->centred + group * GROUP * a->d + first, a->d, 1,
                     a->packed + (panel * a->length + first) * LANES,
                     a->part + (chunk * a->panels + panel) * size + group * GROUP * LANES);
    }
    for (int64_t e = 0; e < a->panels * size; e++) {
        a->score[e] = a->part[e];
        for (int64_t chunk = 1; chunk < a->chunks; chunk++)
            a->score[e] += a->part[chunk * a->panels * size + e];
    }
}

/* Adds rows times scores to the sums of the block; to those of all where it ends. */
static void add_tile(covariance *a, int64_t rows, int64_t count, int64_t panel, int64_t first,
                     bool is_end) {
    double tile[GROUP * LANES], *partial = a->partial + (panel * a->length + first) * LANES;
    int64_t *sum = a->sum + (panel * a->length + first) * LANES;
    const double *unit = a->unit + a->length + panel * LANES;
    ikt_dot_tile(a->isa, count, a->centred + first, 1, a->d, a->score + panel * rows * LANES, tile);
    for (int e = 0; e < GROUP * LANES; e++)
        partial[e] += tile[e];
    if (!is_end) return;
    for (int64_t e = 0; e < GROUP * LANES; e++) {
        sum[e] += llrint(partial[e] / a->unit[first + e / LANES] / unit[e % LANES] * a->one);
        partial[e] = 0;
    }
}

static void take_rows(ikt_context *ctx, void *self, const double *x, ikt_row_range at,
                      bool is_end) {
    covariance *a = self;
    const int64_t d = a->d, rows = (at.count + GROUP - 1) / GROUP * GROUP,
                  groups = a->length / GROUP;
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t k = 0; k < d; k += CHUNK)
        for (int64_t i = 0; i < at.count; i++)
            for (int64_t c = k; c < ikt_smaller(k + CHUNK, d); c++)
                a->centred[i * d + c] = (x[i * d + c] - a->mean[c]) * a->scale;
    find_scores(a, rows);
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t job = 0; job < a->panels * groups; job++)
        add_tile(a, rows, at.count, job / groups, job % groups * GROUP, is_end);
}

/* The least power of two that is larger; 1 of 0. */
static double power_above(double value) {
    int exponent = 0;
    if (value > 0) frexp(value, &exponent);
    return ldexp(1.0, exponent < -1000 ? -1000 : exponent);
}

/* COLLECTIVE. All of x on every rank, in panels; how large scores along it can be. */
static void take_vectors(covariance *a, const ikt_block *x) {
    ikt_allgather(a->ctx, x->v, a->columns.count, (size_t)a->m * sizeof *x->v, a->whole, a->counts);
    for (int64_t c = 0; c < a->m; c++) {
        double square = 0, *to = a->packed + c / LANES * a->length * LANES + c % LANES;
        for (int64_t k = 0; k < a->d; k++) {
            to[k * LANES] = a->whole[k * a->m + c];
            square += to[k * LANES] * to[k * LANES];
        }
        a->unit[a->length + c] = power_above(sqrt(square) * a->radius);
    }
}

static ikt_status apply(void *self, const ikt_block *x, double alpha, double beta, double gamma,
                        ikt_block *y) {
    covariance *a = self;
    const int64_t m = a->m, entries = a->panels * a->length * LANES;
    take_vectors(a, x);
    memset(a->sum, 0, (size_t)entries * sizeof *a->sum);
    IKT_TRY(ikt_blocks_read(a->ctx, a->reader, a, take_rows));
    ikt_sum_i64(a->ctx, a->sum, entries);
    for (int64_t i = 0; i < a->columns.count; i++)
        for (int64_t c = 0; c < m; c++) {
            const int64_t k = a->columns.first + i, panel = c / LANES * a->length;
            const double sum = (double)a->sum[(panel + k) * LANES + c % LANES] / a->one *
                               a->unit[a->length + c] * a->unit[k];
            const double kept = gamma == 0 ? 0 : gamma * y->v[i * m + c];
            y->v[i * m + c] = alpha * sum * a->factor + beta * x->v[i * m + c] + kept;
        }
    return IKT_OK;
}

/* --- the pairs -------------------------------------------------------------------------------- */

/* Guards grow with the components: those of some hundred lie close together. */
int64_t ikt_covariance_vectors(int64_t d, int64_t k) {
    return ikt_smaller(d, k + k / 4 + IKT_SOLVER_GUARDS);
}

bool ikt_covariance_is_wide(int64_t d, int64_t k) {
    const int64_t vectors = ikt_covariance_vectors(d, k);
    return d > IKT_EIGEN_ALONE_MAX && vectors <= IKT_BLOCK_COLUMNS_MOST &&
           vectors * WIDE_SHARE <= d;
}

/* Rows that come at a time, of which a group may be filled up. */
static int64_t rows_at_a_time(int64_t d) {
    const int64_t rows = ikt_stream_rows(d, (int64_t)sizeof(double));
    return (ikt_smaller(rows, IKT_BLOCK_ROWS) + GROUP - 1) / GROUP * GROUP;
}

static covariance covariance_of(int64_t d, int64_t k) {
    const int64_t m = ikt_covariance_vectors(d, k);
    return (covariance){.d = d,
                        .m = m,
                        .panels = (m + LANES - 1) / LANES,
                        .length = (d + GROUP - 1) / GROUP * GROUP,
                        .chunks = (d + CHUNK - 1) / CHUNK,
                        .rows_max = rows_at_a_time(d)};
}

static ikt_status begin(covariance *a, const ikt_column_stats *stats, double total) {
    const int64_t d = a->d, panel = a->length * LANES, scores = a->panels * a->rows_max * LANES;
    const double others = (double)(stats->n - 1);
    double widest = 0, square = 0, count = 1;
    a->held = ikt_arrays_of(a->ctx, purpose);
    a->counts = ikt_claim(&a->held, ikt_size(a->ctx), sizeof *a->counts);
    a->whole = ikt_claim(&a->held, d * a->m, sizeof *a->whole);
    a->packed = ikt_claim(&a->held, a->panels * panel, sizeof *a->packed);
    a->partial = ikt_claim(&a->held, a->panels * panel, sizeof *a->partial);
    a->sum = ikt_claim(&a->held, a->panels * panel, sizeof *a->sum);
    a->unit = ikt_claim(&a->held, a->length + a->panels * LANES, sizeof *a->unit);
    a->centred = ikt_claim(&a->held, a->rows_max * d + GROUP, sizeof *a->centred);
    a->part = ikt_claim(&a->held, a->chunks * scores, sizeof *a->part);
    a->score = ikt_claim(&a->held, scores, sizeof *a->score);
    IKT_TRY(ikt_arrays_agree(&a->held));
    for (int64_t e = 0; e < a->length + a->panels * LANES; e++)
        a->unit[e] = 1;
    for (int64_t k = 0; k < d; k++) {
        a->unit[k] = fmax(stats->most[k] - stats->mean[k], stats->mean[k] - stats->least[k]);
        widest = fmax(widest, a->unit[k]);
    }
    a->scale = 1 / power_above(widest);
    for (int64_t k = 0; k < d; k++) {
        const double radius = a->unit[k] * a->scale;
        square += radius * radius;
        a->unit[k] = power_above(radius);
    }
    while (count < (double)stats->n)
        count *= 2;
    a->radius = sqrt(square);
    a->one = ldexp(1.0, FRACTION_BITS) / count;
    a->factor = 1 / (others * (total * a->scale * a->scale));
    a->columns = ikt_rows_make(d, ikt_size(a->ctx), ikt_rank(a->ctx));
    for (int r = 0; r < a->columns.ranks; r++)
        a->counts[r] = ikt_rows_count(&a->columns, r);
    return IKT_OK;
}

static void covariance_end(covariance *a) {
    ikt_arrays_free(&a->held);
}

/* COLLECTIVE. Vectors as rows on every rank, the entry of largest magnitude (the first of equals)
 * positive. */
static void take_components(covariance *a, const ikt_block *v, int64_t k, double *components) {
    ikt_allgather(a->ctx, v->v, a->columns.count, (size_t)a->m * sizeof *v->v, a->whole, a->counts);
    for (int64_t c = 0; c < k; c++) {
        double largest = 0, *component = components + c * a->d;
        for (int64_t i = 0; i < a->d; i++) {
            component[i] = a->whole[i * a->m + c];
            if (fabs(component[i]) > fabs(largest)) largest = component[i];
        }
        for (int64_t i = 0; largest < 0 && i < a->d; i++)
            component[i] = -component[i];
    }
}

ikt_status ikt_covariance_leading(ikt_context *ctx, const ikt_row_reader *reader,
                                  const ikt_column_stats *stats, double total, int64_t k,
                                  double *variance, double *components) {
    const int64_t found = ikt_smaller(k, reader->n - 1);
    covariance a IKT_AT_END(covariance_end) = covariance_of(reader->d, found);
    ikt_eigenpairs pairs IKT_AT_END(ikt_eigenpairs_destroy) = {.products = 0};
    a.ctx = ctx;
    a.reader = reader;
    a.mean = stats->mean;
    a.isa = ikt_cpu_isa();
    IKT_TRY(begin(&a, stats, total));
    const ikt_operator operator= {.self = &a, .apply = apply, .least = 0};
    const ikt_solver_options options = {.wanted = found,
                                        .columns = a.m,
                                        .degree = DEGREE,
                                        .growth = growth,
                                        .tolerance = tolerance,
                                        .steps_most = STEPS_MOST,
                                        .seed = 1};
    IKT_TRY(ikt_eigenpairs_find(ctx, &a.columns, &operator, & options, &pairs));
    ikt_log(ctx, IKT_LOG_DEBUG,
            "%s: %lld components of %lld columns by %lld products (largest residual %.1e)",
            reader->name, (long long)found, (long long)a.d, (long long)pairs.products, pairs.worst);
    for (int64_t c = 0; c < found; c++)
        variance[c] = pairs.theta[c] * total;
    take_components(&a, &pairs.v, found, components);
    return IKT_OK;
}

int64_t ikt_covariance_leading_bytes(int64_t d, int64_t k, int ranks, int threads) {
    const covariance a = covariance_of(d, k);
    const int64_t real = (int64_t)sizeof(double), panels = a.panels * a.length * LANES;
    const int64_t scores = (a.chunks + 1) * a.panels * a.rows_max * LANES;
    return real * (3 * panels + d * a.m + a.length + 2 * a.rows_max * d + scores) +
           ikt_solver_bytes(d / ranks + 1, a.m, threads);
}
