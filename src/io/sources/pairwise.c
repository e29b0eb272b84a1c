/* Dense matrices of all pairs. See pairwise.h. */
#include "io/sources/pairwise.h"

#include <float.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arrays.h"
#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "base/watch.h"
#include "config/key.h"
#include "dist/shuffle.h"
#include "io/formats/matrix_market.h"
#include "io/hdf5/h5.h"
#include "io/sources/source.h"

/* Numbers of a block, unless one row has more. */
enum { BLOCK_NUMBERS = 1 << 20 };

static const char purpose[] = "pairs";

/* COLLECTIVE. Whether PATH is a data set of the HDF5 file, and its attribute `values`. */
static ikt_status look_at_dataset(ikt_context *ctx, const char *file_name, const char *path,
                                  bool *is_dense, ikt_pairwise *out) {
    hid_t file IKT_AT_END(ikt_h5_end) = -1;
    char *values = NULL;
    IKT_TRY(ikt_h5_open(ctx, file_name, &file));
    const hid_t dataset IKT_AT_END(ikt_h5_end) = ikt_h5_open_dataset(file, path);
    ikt_status st = IKT_OK;
    *is_dense = dataset >= 0;
    if (*is_dense) st = ikt_h5_get_text(ctx, dataset, "values", &values);
    snprintf(out->values, sizeof out->values, "%s", values ? values : "");
    ikt_free(&values);
    return ikt_agree(ctx, st);
}

/* COLLECTIVE. The size of the matrix, which is closed where it is not square. */
static ikt_status take_square(ikt_context *ctx, ikt_pairwise *out) {
    out->n = ikt_source_rows(out->source);
    if (ikt_source_columns(out->source) == out->n) return IKT_OK;
    ikt_status st = ikt_fail(ctx, IKT_ERR_DATA,
                             "%s has %lld rows and %lld columns; a matrix of all pairs has a row "
                             "and a column for each point, so it is square",
                             ikt_source_name(out->source), (long long)out->n,
                             (long long)ikt_source_columns(out->source));
    ikt_pairwise_close(out);
    return st;
}

ikt_status ikt_pairwise_open(ikt_context *ctx, const char *name, ikt_pairwise *out) {
    char file[IKT_STRING_MAX];
    int64_t known[2] = {0, 0}; /* length of the file's name; 0: no file, 1: HDF5, 2: another */
    struct stat about;
    bool is_dense = true;
    *out = (ikt_pairwise){.source = NULL};
    if (ikt_borrowed_of(ctx) && strcmp(name, IKT_BORROWED_GRAPH) == 0)
        return IKT_OK; /* a sparse one */
    out->source = ikt_borrowed_find(ctx, name);
    out->is_borrowed = out->source != NULL;
    if (out->is_borrowed) return take_square(ctx, out);
    if (ikt_rank(ctx) == 0) {
        known[0] = (int64_t)ikt_file_name_length(name);
        snprintf(file, sizeof file, "%.*s", (int)known[0], name);
        const bool is_there = stat(file, &about) == 0;
        if (is_there && ikt_source_is_hdf5(file))
            known[1] = 1;
        else if (is_there && !ikt_matrix_file_is(file))
            known[1] = 2;
    }
    ikt_broadcast(ctx, known, (int64_t)sizeof known, 0);
    snprintf(file, sizeof file, "%.*s", (int)known[0], name);
    const char *path = name[known[0]] == ':' ? name + known[0] + 1 : "";
    if (known[1] == 0) return IKT_OK;
    if (known[1] == 1) IKT_TRY(look_at_dataset(ctx, file, path, &is_dense, out));
    if (!is_dense) return IKT_OK;
    IKT_TRY(ikt_source_open(ctx, file, ikt_text_or(path, "X"), 0, &out->source));
    return take_square(ctx, out);
}

void ikt_pairwise_close(ikt_pairwise *pairs) {
    if (!pairs->is_borrowed) ikt_source_close(&pairs->source);
    ikt_free(&pairs->diagonal);
    *pairs = (ikt_pairwise){.source = NULL};
}

/* How far below 0 rounding may bring K_ii + K_jj - 2 K_ij, as a part of K_ii and K_jj. */
static const double kernel_tolerance = 1e-5;

/* The distance of two rows of which the similarity is known; negative where there is none. */
static double kernel_distance(const ikt_pairwise *pairs, int64_t i, int64_t j, double similarity) {
    const double a = pairs->diagonal[i], b = pairs->diagonal[j], square = a + b - 2 * similarity;
    if (i == j) return 0;
    if (square < 0)
        return pairs->is_indefinite || square >= -kernel_tolerance * (fabs(a) + fabs(b)) ? 0 : -1;
    return sqrt(square);
}

/* LOCAL. Numbers of the type of the source as double ones, checked; distances of similarities. */
static ikt_status widen(ikt_context *ctx, const ikt_pairwise *pairs, int64_t first, int64_t count,
                        const void *stored, double *value) {
    const ikt_type type = ikt_source_type(pairs->source);
    const int64_t n = pairs->n;
    const bool is_raw = pairs->is_kernel && !pairs->diagonal;
    int64_t bad = INT64_MAX;
#pragma omp parallel for schedule(static) reduction(min : bad) num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < count * n; e++) {
        value[e] = ikt_number_at(type, stored, e);
        const bool is_self = e % n == first + e / n;
        if (is_raw) continue;
        if (pairs->diagonal) value[e] = kernel_distance(pairs, first + e / n, e % n, value[e]);
        if (!is_self && !(value[e] >= 0 && value[e] <= DBL_MAX) && e < bad) bad = e;
    }
    if (bad == INT64_MAX) return IKT_OK;
    const char *name = ikt_source_name(pairs->source);
    const long long row = first + bad / n, column = bad % n;
    if (pairs->is_kernel)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s, row %lld, column %lld: the similarity is no finite number, or larger "
                        "than the similarities of the two rows with themselves allow, so that "
                        "K_ii + K_jj - 2 K_ij is the square of no distance; are these distances "
                        "(preprocess.matrix=distances)?",
                        name, row, column);
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s, row %lld, column %lld: %g is not a number from 0 on, as every distance "
                    "and every similarity is",
                    name, row, column, value[bad]);
}

ikt_status ikt_pairwise_read(ikt_context *ctx, const ikt_pairwise *pairs, const ikt_rows *rows,
                             ikt_pairwise_take take, void *self) {
    const int64_t n = pairs->n, most = ikt_max_one(ctx, rows->count);
    const int64_t wanted = BLOCK_NUMBERS > n ? BLOCK_NUMBERS / n : 1;
    const int64_t block = wanted < most ? wanted : most, rounds = (most + block - 1) / block;
    IKT_ARRAYS(held, ctx, purpose);
    double *value = ikt_claim(&held, block * n, sizeof *value);
    void *stored = ikt_claim(&held, block * n, ikt_type_size(ikt_source_type(pairs->source)));
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t round = 0; round < rounds; round++) {
        const int64_t done = round * block < rows->count ? round * block : rows->count;
        const int64_t count = rows->count - done < block ? rows->count - done : block;
        IKT_TRY(ikt_source_read(pairs->source, rows->first + done, count, stored));
        ikt_status st = widen(ctx, pairs, rows->first + done, count, stored, value);
        if (st == IKT_OK && count > 0) st = take(self, rows->first + done, count, value);
        IKT_TRY(ikt_agree(ctx, st));
        IKT_TRY(ikt_watch_pause(ctx));
    }
    return IKT_OK;
}

/* --- distances of rows that are not there ----------------------------------------------------- */

typedef struct {
    double *own;   /* [own rows] of K_ii */
    int64_t first; /* of the own rows */
    int64_t n;
} diagonal;

static ikt_status take_diagonal(void *self, int64_t first, int64_t count, const double *value) {
    diagonal *d = self;
    for (int64_t i = 0; i < count; i++)
        d->own[first + i - d->first] = value[i * d->n + first + i];
    return IKT_OK;
}

/* COLLECTIVE. K_ii of all rows, on every rank. */
static ikt_status read_diagonal(ikt_context *ctx, ikt_pairwise *pairs) {
    const ikt_rows rows = ikt_rows_make(pairs->n, ikt_size(ctx), ikt_rank(ctx));
    IKT_ARRAYS(held, ctx, purpose);
    diagonal d = {ikt_claim(&held, rows.count, sizeof *d.own), rows.first, pairs->n};
    ikt_status st = IKT_OK;
    double *all = NULL;
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_pairwise_read(ctx, pairs, &rows, take_diagonal, &d));
    for (int64_t i = 0; st == IKT_OK && i < rows.count; i++)
        if (!isfinite(d.own[i]))
            st = ikt_fail(ctx, IKT_ERR_DATA, "%s, row %lld: the similarity with itself is %g",
                          ikt_source_name(pairs->source), (long long)(rows.first + i), d.own[i]);
    IKT_TRY(ikt_agree(ctx, st));
    st = ikt_share_rows(ctx, &rows, d.own, sizeof *all, purpose, &all);
    pairs->diagonal = all;
    return st;
}

ikt_status ikt_pairwise_lend(ikt_context *ctx, ikt_source *source, bool is_kernel,
                             ikt_pairwise *out) {
    const char *name = ikt_source_name(source);
    *out = (ikt_pairwise){.source = source,
                          .n = ikt_source_rows(source),
                          .is_borrowed = true,
                          .is_kernel = is_kernel};
    if (ikt_source_is_sparse(source))
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s is sparse, and preprocess.metric = precomputed needs the distances of "
                        "all pairs of rows; a graph of neighbours is given by input.graph",
                        name);
    if (ikt_source_columns(source) != out->n)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s has %lld rows and %lld columns; preprocess.metric = precomputed needs "
                        "a square matrix, of the distances of all pairs of rows",
                        name, (long long)out->n, (long long)ikt_source_columns(source));
    if (out->n < 2)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s has one row only, which has no distances", name);
    return is_kernel ? read_diagonal(ctx, out) : IKT_OK;
}
