/* A matrix of similarities as a source. See similarity_matrix.h. */
#include "similarity/similarity_matrix.h"

#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/log.h"
#include "dist/row_blocks.h"
#include "io/sources/pairwise.h"
#include "io/sources/source_ops.h"
#include "linalg/eigen.h"

/* --- eigenvalues and symmetry of similarities ------------------------------------------------- */

/* What counts as a negative eigenvalue and not as rounding, as a part of the largest magnitude. */
static const double rounding = 1e-10;

static const char purpose[] = "similarities";

ikt_status ikt_matrix_symmetrise(ikt_context *ctx, const ikt_rows *rows, double *k) {
    const int64_t n = rows->n, own = rows->count;
    IKT_ARRAYS(held, ctx, purpose);
    double *leave = ikt_claim(&held, own * n, sizeof *leave);
    double *come = ikt_claim(&held, own * n, sizeof *come);
    int64_t *counts = ikt_claim(&held, rows->ranks, sizeof *counts);
    IKT_TRY(ikt_arrays_agree(&held));
    /* To each rank its columns of the own rows; from it, rows of the own columns. */
    int64_t at = 0;
    for (int rank = 0; rank < rows->ranks; rank++) {
        const int64_t from = ikt_rows_first(rows, rank), width = ikt_rows_count(rows, rank);
        counts[rank] = own * width;
        for (int64_t i = 0; i < own; i++)
            for (int64_t c = 0; c < width; c++)
                leave[at++] = k[i * n + from + c];
    }
    ikt_exchange(ctx, leave, counts, come, counts, sizeof *come);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < own; i++)
            k[i * n + j] = (k[i * n + j] + come[j * own + i]) / 2;
    return IKT_OK;
}

/* What the matrix lacks of a definite one, along an eigenvector. */
static double lack(const void *self, double value) {
    return value < 0 ? *(const double *)self * -value : 0;
}

/* COLLECTIVE. K - lambda_min I. */
static ikt_status shift(ikt_context *ctx, const ikt_rows *rows, int64_t alone_max, double *k,
                        ikt_eigenvalues *found) {
    const int64_t n = rows->n;
    double *vector IKT_AT_END(ikt_free) = NULL;
    *found = (ikt_eigenvalues){.negative = -1};
    IKT_TRY(ikt_alloc_all(ctx, &vector, n, sizeof *vector, purpose));
    IKT_TRY(ikt_eigen_selected(ctx, rows, k, NULL, 1, IKT_EIGEN_LEAST, alone_max, &found->least,
                               vector));
    for (int64_t i = 0; found->least < 0 && i < rows->count; i++)
        k[i * n + rows->first + i] -= found->least;
    return IKT_OK;
}

ikt_status ikt_eigenvalues_change(ikt_context *ctx, const ikt_rows *rows, ikt_spectrum_use kind,
                                  int64_t alone_max, double *k, ikt_eigenvalues *found) {
    const int64_t n = rows->n;
    const double factor = kind == IKT_USE_FLIP ? 2 : 1;
    double negative = 0, all = 0;
    if (kind == IKT_USE_SHIFT) return shift(ctx, rows, alone_max, k, found);
    *found = (ikt_eigenvalues){.negative = 0};
    IKT_ARRAYS(held, ctx, purpose);
    double *more = ikt_claim(&held, rows->count * n, sizeof *more);
    double *values = ikt_claim(&held, n, sizeof *values);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_eigen_function(ctx, rows, k, lack, &factor, alone_max, values, more));
    const double largest = fmax(fabs(values[0]), fabs(values[n - 1]));
    found->most = values[0];
    found->least = values[n - 1];
    for (int64_t j = 0; j < n; j++) {
        found->negative += values[j] < -rounding * largest;
        negative += values[j] < 0 ? -values[j] : 0;
        all += fabs(values[j]);
    }
    found->share = all > 0 ? negative / all : 0;
    if (found->negative > 0) {
        for (int64_t e = 0; e < rows->count * n; e++)
            k[e] += more[e];
        IKT_TRY(ikt_matrix_symmetrise(ctx, rows, k));
    }
    return IKT_OK;
}

/* --- a matrix that the ranks hold ------------------------------------------------------------- */

typedef struct {
    ikt_source *from; /* the file, for what stands beside the matrix */
    ikt_rows rows;
    double *own; /* [rows.count * n] */
    ikt_row_blocks blocks;
} held_self;

static ikt_status held_read(ikt_source *source, int64_t first, int64_t count, void *rows) {
    held_self *self = source->self;
    return ikt_row_blocks_read(source->ctx, &self->blocks, self->own,
                               (size_t)source->d * sizeof *self->own, first, count, rows);
}

static void held_close(ikt_source *source) {
    held_self *self = source->self;
    ikt_source_close(&self->from);
    ikt_row_blocks_destroy(&self->blocks);
    ikt_free(&self->own);
}

static const ikt_source_ops held_ops = {
    .self_bytes = sizeof(held_self), .read = held_read, .close = held_close};

static ikt_status take_rows(void *self, int64_t first, int64_t count, const double *value) {
    const held_self *h = self;
    memcpy(h->own + (first - h->rows.first) * h->rows.n, value,
           (size_t)(count * h->rows.n) * sizeof *value);
    return IKT_OK;
}

/* What holding and changing it takes on the rank with most. */
static ikt_status check_room(ikt_context *ctx, const ikt_pairwise *pairs, const ikt_rows *rows,
                             ikt_spectrum_use spectrum) {
    const double n = (double)pairs->n, each = 8 * n * (n / rows->ranks + 1);
    const bool is_alone = pairs->n <= IKT_EIGEN_ALONE_MAX;
    const double solving = spectrum == IKT_USE_RAW ? 0 : 48 * n * n / (is_alone ? 1 : rows->ranks);
    const double needed = 3 * each + solving, left = (double)ikt_memory_available(ctx);
    if (needed <= left) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_RESOURCE,
                    "%s has to be held in memory for input.symmetrise and input.spectrum, which "
                    "takes %.1f GB a rank, and %.1f GB are free: use more ranks on more nodes, or "
                    "input.spectrum=raw",
                    ikt_source_name(pairs->source), needed / 1e9, left / 1e9);
}

/* Says what was done to the eigenvalues. */
static void tell_change(ikt_context *ctx, const char *name, ikt_spectrum_use spectrum,
                        const ikt_eigenvalues *found) {
    static const char *const done[] = {"", "clipped at 0", "turned positive", "shifted"};
    if (spectrum == IKT_USE_SHIFT)
        ikt_log_numbers(ctx, IKT_LOG_STAGE,
                        IKT_LOG_NUMBERS(IKT_LOG_REAL("least_eigenvalue", found->least)),
                        "%s: the least eigenvalue is %.4g%s", name, found->least,
                        found->least < 0 ? "; all are shifted by it" : "; nothing is shifted");
    else
        ikt_log_numbers(ctx, IKT_LOG_STAGE,
                        IKT_LOG_NUMBERS(IKT_LOG_INT("negative", found->negative),
                                        IKT_LOG_REAL("least_eigenvalue", found->least),
                                        IKT_LOG_REAL("largest_eigenvalue", found->most),
                                        IKT_LOG_REAL("negative_share", found->share)),
                        "%s: eigenvalues from %.4g to %.4g; %lld are negative, %.1f %% of the sum "
                        "of magnitudes, and are %s",
                        name, found->least, found->most, (long long)found->negative,
                        100 * found->share, done[spectrum]);
}

/* COLLECTIVE. The matrix in memory, changed; takes *file over. */
static ikt_status hold(ikt_context *ctx, const ikt_pairwise *pairs, ikt_spectrum_use spectrum,
                       ikt_source **file, ikt_source **out) {
    ikt_source *made IKT_AT_END(ikt_source_close) = NULL;
    ikt_eigenvalues found = {.negative = 0};
    IKT_TRY(ikt_source_new(ctx, &held_ops, (*file)->format, ikt_source_name(*file), "", &made));
    held_self *h = made->self;
    h->rows = ikt_rows_make(pairs->n, ikt_size(ctx), ikt_rank(ctx));
    made->n = made->n_file = made->d = pairs->n;
    made->type = made->stored = IKT_TYPE_F64;
    ikt_status st = check_room(ctx, pairs, &h->rows, spectrum);
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &h->own, h->rows.count * pairs->n, sizeof *h->own, purpose);
    IKT_TRY(ikt_agree(ctx, st));
    IKT_TRY(ikt_row_blocks_create(ctx, h->rows.count, &h->blocks));
    IKT_TRY(ikt_pairwise_read(ctx, pairs, &h->rows, take_rows, h));
    IKT_TRY(ikt_matrix_symmetrise(ctx, &h->rows, h->own));
    if (spectrum != IKT_USE_RAW) {
        IKT_TRY(
            ikt_eigenvalues_change(ctx, &h->rows, spectrum, IKT_EIGEN_ALONE_MAX, h->own, &found));
        tell_change(ctx, ikt_source_name(made), spectrum, &found);
    }
    h->from = made->from = *file;
    *file = NULL;
    return ikt_give(out, made);
}

/* --- what it is ------------------------------------------------------------------------------- */

/* The shape that a matrix must have. */
static ikt_status check_shape(ikt_context *ctx, const ikt_source *source) {
    const char *name = ikt_source_name(source);
    const long long n = ikt_source_rows(source), d = ikt_source_columns(source);
    if (ikt_source_is_sparse(source))
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s is sparse, and input.similarities needs the similarities of all pairs; "
                        "a graph of neighbours is given by input.graph",
                        name);
    if (n != d)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s has %lld rows and %lld columns; input.similarities needs a square "
                        "matrix, of the similarities of all pairs of rows",
                        name, n, d);
    if (n >= 3) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA, "%s holds the similarities of %lld rows; 3 are needed", name,
                    n);
}

ikt_status ikt_matrix_source_open(ikt_context *ctx, const char *file, const char *dataset,
                                  bool symmetrise, ikt_spectrum_use spectrum, ikt_source **out) {
    ikt_source *source IKT_AT_END(ikt_source_close) = NULL;
    ikt_pairwise_numbers numbers;
    *out = NULL;
    IKT_TRY(ikt_source_open(ctx, file, dataset, 0, &source));
    IKT_TRY(check_shape(ctx, source));
    const ikt_pairwise pairs = {
        .source = source, .n = ikt_source_rows(source), .is_borrowed = true, .is_kernel = true};
    IKT_TRY(ikt_pairwise_check_numbers(ctx, &pairs, symmetrise ? -1 : IKT_SYMMETRY_TOLERANCE,
                                       &numbers));
    if (numbers.largest_self == 0 && numbers.negative == 0)
        ikt_log(ctx, IKT_LOG_WARN,
                "%s: the diagonal is 0 and no entry is negative, as in a matrix of distances, and "
                "it is read as similarities: give distances as input.file with "
                "preprocess.metric=precomputed",
                ikt_source_name(source));
    if (symmetrise || spectrum != IKT_USE_RAW) return hold(ctx, &pairs, spectrum, &source, out);
    return ikt_give(out, source);
}
