/* Similarities of rows to chosen rows. See similarities.h. */
#include "similarity/similarities.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/sort.h"
#include "data/missing.h"
#include "isolation/similarity.h"
#include "linalg/blocks.h"
#include "linalg/dot_tile.h"

enum {
    TILE = IKT_TILE_ROWS,
    LANES = IKT_TILE_COLUMNS,
    CODED = 4,            /* rows whose codes are compared at a time */
    BANDWIDTH_ROWS = 1000 /* chosen rows whose distances tell the bandwidth */
};

static const char purpose[] = "similarities";

struct ikt_similarities {
    ikt_context *ctx;
    ikt_similarity_of of;
    ikt_rows rows;
    const int64_t *chosen;
    int64_t m, d, n;
    int64_t most;   /* rows at a time */
    double *self;   /* [m] of the chosen rows */
    double *packed; /* [m up to LANES * d] the chosen rows, dimension-major in groups of LANES */
    float *x;       /* [most * d] rows as read */
    double *wide;   /* [most up to TILE * d] the same in double precision */
    ikt_raw_rows raw;
    ikt_row_reader reader; /* of the entries of a matrix */
    double *whole;         /* [most * n] rows of a matrix; */
    float *square;         /* [most * n] or of squared distances */
    ikt_code_shape shape;
    char *codes;     /* [m * shape.stride] of the chosen rows */
    uint16_t *equal; /* [most * m] */
};

double ikt_similarities_bandwidth(const ikt_similarities *s) {
    return s->of.kind == IKT_SIMILARITY_GAUSSIAN ? s->of.bandwidth : 0;
}

int64_t ikt_similarities_rows_most(const ikt_similarities *s) {
    return s->most;
}

/* A squared distance as the kernel has it; as it is while the bandwidth is not known. */
static double of_square(const ikt_similarities *s, double square) {
    const double h = s->of.bandwidth;
    if (!(h > 0)) return square;
    return exp(-square / (2 * h * h));
}

/* --- rows with coordinates -------------------------------------------------------------------- */

/* The order of operations is that of a lane of the tile: x x^T has the bits of its diagonal. */
static double length_of(const double *x, int64_t d) {
    double sum = 0;
    for (int64_t k = 0; k < d; k++)
        sum = fma(x[k], x[k], sum);
    return sum;
}

/* s->wide against all chosen rows. */
static void compare_wide(const ikt_similarities *s, int64_t count, double *k, double *self) {
    const bool is_gaussian = s->of.kind == IKT_SIMILARITY_GAUSSIAN;
    const ikt_isa isa = ikt_cpu_isa();
#pragma omp parallel for schedule(static) num_threads(ikt_threads(s->ctx))
    for (int64_t i = 0; i < count; i += TILE) {
        const int64_t now = ikt_smaller(TILE, count - i);
        double tile[TILE * LANES], own[TILE];
        for (int64_t r = 0; r < now; r++)
            own[r] = length_of(s->wide + (i + r) * s->d, s->d);
        for (int64_t l = 0; l < s->m; l += LANES) {
            const int64_t width = ikt_smaller(LANES, s->m - l);
            ikt_dot_tile(isa, s->d, s->wide + i * s->d, s->d, 1, s->packed + l * s->d, tile);
            for (int64_t r = 0; r < now; r++)
                for (int64_t j = 0; j < width; j++) {
                    const double product = tile[r * LANES + j];
                    k[(i + r) * s->m + l + j] =
                        is_gaussian ? of_square(s, fmax(0, own[r] + s->self[l + j] - 2 * product))
                                    : product;
                }
        }
        for (int64_t r = 0; self && r < now; r++)
            self[i + r] = is_gaussian ? 1 : own[r];
    }
}

static ikt_status compare_rows(ikt_similarities *s, int64_t first, int64_t count, double *k,
                               double *self) {
    IKT_TRY(ikt_dataset_read(s->of.data, first, count, s->x));
    for (int64_t e = 0; e < count * s->d; e++)
        s->wide[e] = (double)s->x[e];
    compare_wide(s, count, k, self);
    return IKT_OK;
}

static void unpack(const ikt_similarities *s, int64_t first, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t l = first + i;
        for (int64_t c = 0; c < s->d; c++)
            s->wide[i * s->d + c] = s->packed[l / LANES * LANES * s->d + c * LANES + l % LANES];
    }
}

static ikt_status prepare_vectors(ikt_similarities *s) {
    ikt_context *ctx = s->ctx;
    const int64_t d = s->d, groups = (s->m + LANES - 1) / LANES;
    const double needed = (double)s->m * (double)d * (sizeof(float) + sizeof(double));
    IKT_ARRAYS(held, ctx, purpose);
    if (ikt_dataset_metric(s->of.data) == IKT_METRIC_MANHATTAN)
        held.status =
            ikt_fail(ctx, IKT_ERR_USAGE,
                     "kernel.kind = linear and gaussian take inner products of the rows, which "
                     "preprocess.metric=manhattan does not go with: take kernel.kind=isolation");
    else if (needed > (double)ikt_memory_available(ctx) / 2)
        held.status = ikt_fail(ctx, IKT_ERR_RESOURCE,
                               "%lld landmarks of %lld columns take %.1f GB on each rank: take "
                               "fewer (kernel.landmarks), or kernel.kind=isolation",
                               (long long)s->m, (long long)d, needed / 1e9);
    float *x = ikt_claim(&held, s->m * d, sizeof *x);
    s->packed = ikt_claim_kept(&held, groups * LANES * d, sizeof(double));
    s->x = ikt_claim_kept(&held, s->most * d, sizeof *s->x);
    s->wide = ikt_claim_kept(&held, (s->most + TILE) * d, sizeof *s->wide);
    IKT_TRY(ikt_arrays_agree(&held));
    if (s->of.is_apart)
        memcpy(x, s->of.chosen_rows, (size_t)(s->m * d) * sizeof *x);
    else
        IKT_TRY(ikt_dataset_gather_floats(s->of.data, s->chosen, s->m, x));
    for (int64_t l = 0; l < s->m; l++) {
        double *lane = s->packed + l / LANES * LANES * d + l % LANES;
        for (int64_t c = 0; c < d; c++)
            lane[c * LANES] = (double)x[l * d + c];
    }
    for (int64_t l = 0; l < s->m; l++) {
        unpack(s, l, 1);
        s->self[l] = length_of(s->wide, d);
    }
    return IKT_OK;
}

/* --- codes ------------------------------------------------------------------------------------ */

static void compare_codes(const ikt_similarities *s, const char *codes, int64_t count, double *k,
                          double *self) {
    const double share = 1 / (double)s->shape.t;
    const ikt_isa isa = ikt_cpu_isa();
#pragma omp parallel for schedule(static) num_threads(ikt_threads(s->ctx))
    for (int64_t i = 0; i < count; i += CODED) {
        const int64_t now = ikt_smaller(CODED, count - i);
        uint16_t *equal = s->equal + i * s->m;
        ikt_similarity_block(isa, s->shape, codes + i * s->shape.stride, now, s->codes, s->m, equal,
                             s->m);
        for (int64_t e = 0; e < now * s->m; e++)
            k[i * s->m + e] = (double)equal[e] * share;
        for (int64_t r = 0; self && r < now; r++)
            self[i + r] = 1;
    }
}

/* COLLECTIVE. The codes of the chosen rows, of which each rank has those of its own rows. */
static ikt_status prepare_codes(ikt_similarities *s) {
    ikt_context *ctx = s->ctx;
    const ikt_codes *codes = s->of.codes;
    const size_t stride = (size_t)codes->stride;
    s->shape = (ikt_code_shape){codes->t, codes->stride, codes->width};
    IKT_ARRAYS(held, ctx, purpose);
    s->codes = ikt_claim_kept(&held, s->m, stride);
    int64_t *counts = ikt_claim(&held, ikt_size(ctx), sizeof *counts);
    s->equal = ikt_claim_kept(&held, s->most * s->m, sizeof *s->equal);
    IKT_TRY(ikt_arrays_agree(&held));
    if (s->of.is_apart) {
        memcpy(s->codes, s->of.chosen_codes, (size_t)s->m * stride);
        return IKT_OK;
    }
    ikt_rows_gather(ctx, &s->rows, s->chosen, s->m, codes->code, stride, counts, s->codes);
    for (int64_t l = 0; l < s->m; l++)
        s->self[l] = 1;
    return IKT_OK;
}

/* --- a matrix --------------------------------------------------------------------------------- */

/* COLLECTIVE. Similarities to rows apart, which nobody has looked at before. */
static ikt_status check_apart(const ikt_similarities *s, int64_t first, int64_t count) {
    ikt_status st = IKT_OK;
    for (int64_t e = 0; st == IKT_OK && e < count * s->n; e++)
        if (!isfinite(s->whole[e]))
            st = ikt_fail(s->ctx, IKT_ERR_DATA, "%s, row %lld, column %lld: %g is no finite number",
                          ikt_dataset_name(s->of.data), (long long)(first + e / s->n),
                          (long long)(e % s->n), s->whole[e]);
    return ikt_agree(s->ctx, st);
}

/* COLLECTIVE. Whole rows of the matrix: entries, or squared distances. */
static ikt_status read_whole(ikt_similarities *s, int64_t first, int64_t count) {
    return s->whole ? s->reader.read(s->reader.self, first, count, s->whole)
                    : ikt_dataset_read(s->of.data, first, count, s->square);
}

/* What a whole row, which was read as number `at`, has with the chosen ones. */
static void pick(const ikt_similarities *s, int64_t at, double *k) {
    for (int64_t l = 0; l < s->m; l++) {
        const int64_t e = at * s->n + (s->of.is_apart ? l : s->chosen[l]);
        k[l] = s->whole ? s->whole[e] : of_square(s, (double)s->square[e]);
    }
}

static ikt_status compare_matrix(ikt_similarities *s, int64_t first, int64_t count, double *k,
                                 double *self) {
    IKT_TRY(read_whole(s, first, count));
    if (s->of.is_apart) IKT_TRY(check_apart(s, first, count));
    for (int64_t i = 0; i < count; i++) {
        pick(s, i, k + i * s->m);
        if (self) self[i] = s->whole ? s->whole[i * s->n + first + i] : 1;
    }
    return IKT_OK;
}

/* Chosen rows from `first` on, at most `left`, that one block beginning at the first of them holds.
 */
static int64_t chosen_in_block(const ikt_similarities *s, int64_t first, int64_t left) {
    int64_t count = 0;
    while (count < left && s->chosen[first + count] - s->chosen[first] < s->most)
        count++;
    return count;
}

/* COLLECTIVE. In as few blocks of the matrix as hold them. */
static ikt_status compare_chosen_of_matrix(ikt_similarities *s, int64_t first, int64_t count,
                                           double *k) {
    int64_t steps = 0;
    for (int64_t i = 0; i < count; steps++)
        i += chosen_in_block(s, first + i, count - i);
    steps = ikt_max_one(s->ctx, steps);
    for (int64_t step = 0, i = 0; step < steps; step++) {
        const int64_t now = chosen_in_block(s, first + i, count - i);
        const int64_t from = now > 0 ? s->chosen[first + i] : 0;
        const int64_t span = now > 0 ? s->chosen[first + i + now - 1] - from + 1 : 0;
        IKT_TRY(read_whole(s, from, span));
        for (int64_t j = i; j < i + now; j++)
            pick(s, s->chosen[first + j] - from, k + j * s->m);
        i += now;
    }
    return IKT_OK;
}

static ikt_status prepare_matrix(ikt_similarities *s) {
    ikt_context *ctx = s->ctx;
    const ikt_pairwise *pairs = ikt_dataset_pairs(s->of.data);
    ikt_status st = IKT_OK;
    if (s->of.kind == IKT_SIMILARITY_GAUSSIAN) {
        for (int64_t l = 0; l < s->m; l++)
            s->self[l] = 1;
        return ikt_alloc_all(ctx, &s->square, s->most * s->n, sizeof(float), purpose);
    }
    if (!s->of.is_apart && (!pairs->is_kernel || s->of.kind != IKT_SIMILARITY_GIVEN))
        return ikt_fail(
            ctx, IKT_ERR_USAGE,
            "%s is a matrix of %s, which kernel.kind=%s does not go with: take "
            "gaussian or isolation%s",
            ikt_dataset_name(s->of.data), pairs->is_kernel ? "similarities" : "distances",
            s->of.kind == IKT_SIMILARITY_LINEAR ? "linear" : "auto",
            pairs->is_kernel ? ", or leave it out for the similarities themselves" : "");
    IKT_TRY(ikt_raw_rows_create(ctx, ikt_dataset_source(s->of.data), &s->raw, &s->reader));
    st = ikt_alloc(ctx, &s->whole, s->most * s->n, sizeof *s->whole, purpose);
    IKT_TRY(ikt_agree(ctx, st));
    for (int64_t l = 0; !s->of.is_apart && l < s->m; l++)
        s->self[l] = pairs->diagonal[s->chosen[l]];
    return IKT_OK;
}

/* --- the whole -------------------------------------------------------------------------------- */

static bool is_of_codes(const ikt_similarities *s) {
    return s->of.kind == IKT_SIMILARITY_ISOLATION;
}

ikt_status ikt_similarities_of_rows(ikt_similarities *s, int64_t first, int64_t count, double *k,
                                    double *self) {
    const int64_t from = count > 0 ? first : 0;
    if (is_of_codes(s)) {
        const char *codes = s->of.codes->code;
        compare_codes(s, count > 0 ? codes + (first - s->rows.first) * s->shape.stride : codes,
                      count, k, self);
        return IKT_OK;
    }
    return s->packed ? compare_rows(s, from, count, k, self)
                     : compare_matrix(s, from, count, k, self);
}

ikt_status ikt_similarities_of_chosen(ikt_similarities *s, int64_t first, int64_t count,
                                      double *k) {
    if (is_of_codes(s)) {
        compare_codes(s, s->codes + (count > 0 ? first : 0) * s->shape.stride, count, k, NULL);
        return IKT_OK;
    }
    if (!s->packed) return compare_chosen_of_matrix(s, first, count, k);
    unpack(s, first, count);
    compare_wide(s, count, k, NULL);
    return IKT_OK;
}

/* COLLECTIVE. Half of the median distance of evenly spread chosen rows; every rank finds it.
 */
static ikt_status choose_bandwidth(ikt_similarities *s) {
    ikt_context *ctx = s->ctx;
    const int64_t step = (s->m + BANDWIDTH_ROWS - 1) / BANDWIDTH_ROWS;
    const int64_t some = (s->m + step - 1) / step, pairs = some * (some - 1) / 2;
    int64_t count = 0;
    IKT_ARRAYS(held, ctx, purpose);
    double *square = ikt_claim(&held, pairs, sizeof *square);
    double *k = ikt_claim(&held, s->m, sizeof *k);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t l = 0; l < s->m; l += step) {
        IKT_TRY(ikt_similarities_of_chosen(s, l, 1, k));
        for (int64_t j = l + step; j < s->m; j += step)
            square[count++] = k[j];
    }
    ikt_sort_f64(square, count);
    s->of.bandwidth = count > 0 ? sqrt(square[count / 2]) / 2 : 0;
    if (s->of.bandwidth > 0) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s: most landmarks are equal, so that kernel.bandwidth cannot be chosen: "
                    "give it",
                    ikt_dataset_name(s->of.data));
}

ikt_status ikt_similarities_create(ikt_context *ctx, const ikt_similarity_of *of,
                                   const ikt_rows *rows, const int64_t *chosen, int64_t m,
                                   ikt_similarities **out) {
    const bool is_matrix =
        of->is_apart ? of->kind == IKT_SIMILARITY_GIVEN
                     : ikt_dataset_pairs(of->data) && of->kind != IKT_SIMILARITY_ISOLATION;
    const int64_t d = ikt_dataset_columns(of->data);
    ikt_similarities *s IKT_AT_END(ikt_similarities_destroy) = NULL;
    *out = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &s, 1, sizeof *s, purpose));
    *s = (ikt_similarities){.ctx = ctx,
                            .of = *of,
                            .rows = *rows,
                            .chosen = chosen,
                            .m = m,
                            .d = d,
                            .n = of->is_apart ? m : rows->n};
    s->most = ikt_stream_rows(is_matrix || is_of_codes(s) ? ikt_larger(s->n * is_matrix, m)
                                                          : ikt_larger(d, m),
                              (int64_t)sizeof(double));
    if (!(of->bandwidth > 0)) s->of.bandwidth = 0;
    IKT_TRY(ikt_alloc_all(ctx, &s->self, m, sizeof *s->self, purpose));
    IKT_TRY(ikt_agree(ctx, is_of_codes(s) ? prepare_codes(s)
                           : is_matrix    ? prepare_matrix(s)
                                          : prepare_vectors(s)));
    if (of->kind == IKT_SIMILARITY_GAUSSIAN && s->of.bandwidth == 0) IKT_TRY(choose_bandwidth(s));
    return ikt_give(out, s);
}

void ikt_similarities_destroy(ikt_similarities **similarities) {
    ikt_similarities *s = *similarities;
    if (!s) return;
    ikt_raw_rows_destroy(&s->raw);
    ikt_free_all(&s->self, &s->packed, &s->x, &s->wide, &s->whole, &s->square, &s->codes, &s->equal,
                 similarities);
}
