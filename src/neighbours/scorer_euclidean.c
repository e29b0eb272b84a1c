/* Squared Euclidean distances as scores. */
#include "base/cpu.h"
#include "base/memory.h"
#include "linalg/distance.h"
#include "neighbours/scorers.h"

enum { READ_ROWS = 4096 };

typedef struct {
    ikt_isa isa;
    int64_t d;
    const float *x; /* [n_local * d] */
    float *owned;   /* the same where the scorer has read them, otherwise NULL */
} euclidean;

static size_t packed_bytes(const void *self, int64_t count) {
    const euclidean *e = self;
    return (size_t)ikt_packed_floats(count, e->d) * sizeof(float);
}

static void pack(const void *self, int64_t first, int64_t count, void *packed) {
    const euclidean *e = self;
    ikt_pack_rows(e->x + first * e->d, count, e->d, packed);
}

static void score(const void *self, int64_t first, int64_t na, const void *packed, int64_t nb,
                  float *out) {
    const euclidean *e = self;
    ikt_distance_block(e->isa, e->x + first * e->d, na, packed, nb, e->d, out);
}

static ikt_status read_own(ikt_dataset *data, const ikt_rows *distribution, euclidean *e) {
    int64_t steps = (ikt_rows_count(distribution, 0) + READ_ROWS - 1) / READ_ROWS;
    for (int64_t step = 0; step < steps; step++) {
        int64_t done = step * READ_ROWS, left = distribution->count - done;
        int64_t rows = left < 0 ? 0 : left < READ_ROWS ? left : READ_ROWS;
        if (rows == 0) done = 0;
        IKT_TRY(ikt_dataset_read(data, rows ? distribution->first + done : 0, rows,
                                 e->owned + done * e->d));
    }
    return IKT_OK;
}

ikt_status ikt_scorer_rows(ikt_context *ctx, const float *x, int64_t d, const ikt_rows *rows,
                           ikt_scorer *out) {
    euclidean *e = NULL;
    *out = (ikt_scorer){NULL, *rows, packed_bytes, pack, score};
    IKT_TRY(ikt_alloc(ctx, &e, 1, sizeof *e, "rows"));
    *e = (euclidean){ikt_cpu_isa(), d, x, NULL};
    out->self = e;
    return IKT_OK;
}

ikt_status ikt_scorer_euclidean(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                                ikt_scorer *out) {
    const int64_t d = ikt_dataset_columns(data);
    float *x = NULL;
    ikt_status st = ikt_alloc(ctx, &x, rows->count * d, sizeof *x, "rows");
    *out = (ikt_scorer){NULL, *rows, packed_bytes, pack, score};
    if (st == IKT_OK) st = ikt_scorer_rows(ctx, x, d, rows, out);
    st = ikt_agree(ctx, st);
    if (out->self) {
        euclidean *e = out->self;
        e->owned = x;
        if (st == IKT_OK) st = read_own(data, rows, e);
    } else {
        ikt_free(&x);
    }
    if (st != IKT_OK) ikt_scorer_euclidean_destroy(out);
    return st;
}

void ikt_scorer_euclidean_destroy(ikt_scorer *scorer) {
    euclidean *e = scorer->self;
    if (e) ikt_free(&e->owned);
    ikt_free(&e);
    scorer->self = NULL;
}
