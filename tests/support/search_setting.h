/* Five blobs of rows brought into blocks: what the tests of neighbour search start from. */
#ifndef IKT_TEST_SEARCH_SETTING_H
#define IKT_TEST_SEARCH_SETTING_H

#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "neighbours/search.h"
#include "support/ikt_test.h"
#include "support/neighbour_lists.h"

enum { D = 6, K = 8, T = 40, PSI = 32 }; /* columns, neighbours, partitionings, centres */

typedef enum { SPREAD, DUPLICATES } kind;

/* Five blobs; for DUPLICATES half of all rows are one and the same point. */
static inline float coordinate(kind what, int64_t row, int64_t c) {
    if (what == DUPLICATES && row % 2 == 0) return 3;
    return (float)(10 * ikt_rng_normal(4, IKT_RNG_TEST, row % 5, (uint64_t)c) +
                   ikt_rng_normal(4, IKT_RNG_TEST, 100 + row, (uint64_t)c));
}

/* Everything that a search needs, from data to tiles. */
typedef struct {
    float *rows;
    ikt_source *source;
    ikt_dataset *data;
    ikt_model *model;
    ikt_codes codes;
    uint16_t *cell;
    uint32_t *slot;
    ikt_rows distribution;
    ikt_cells cells;
    ikt_order order;
    ikt_tiles tiles;
} setting;

static inline void open_data(ikt_context *ctx, kind what, int64_t n, setting *s) {
    const ikt_preprocess_settings raw = {.normalise = IKT_NORMALISE_NONE, .pca = 0};
    memset(s, 0, sizeof *s);
    assert_int_equal(ikt_alloc(ctx, &s->rows, n * D, sizeof *s->rows, "test"), IKT_OK);
    for (int64_t e = 0; e < n * D; e++)
        s->rows[e] = coordinate(what, e / D, e % D);
    s->distribution = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    assert_int_equal(ikt_source_from_memory(ctx, s->rows, n, D, IKT_TYPE_F32, &s->source), IKT_OK);
    assert_int_equal(ikt_dataset_create(ctx, s->source, &raw, &s->data), IKT_OK);
}

static inline void prepare(ikt_context *ctx, kind what, int64_t n, bool codes, setting *s) {
    open_data(ctx, what, n, s);
    const ikt_model_spec spec = {
        .seed = 2, .n = n, .psi = n < PSI ? n : PSI, .t = T, .coarse = ikt_cells_choose(n, 0)};
    assert_int_equal(ikt_model_create(ctx, &spec, &s->model), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &s->cell, s->distribution.count, sizeof *s->cell, "test"),
                     IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &s->slot, s->distribution.count, 4, "test"), IKT_OK);
    assert_int_equal(
        ikt_codes_compute(ctx, s->data, &s->distribution, s->model, &s->codes, s->cell), IKT_OK);
    assert_int_equal(ikt_cells_create(ctx, s->data, s->model->coarse_row, spec.coarse,
                                      &s->distribution, s->cell, NULL, &s->cells, s->slot),
                     IKT_OK);
    assert_int_equal(ikt_order_create(ctx, &s->distribution, s->slot, &s->order), IKT_OK);
    assert_int_equal(ikt_order_apply(ctx, &s->order, s->codes.code, s->codes.stride, s->codes.code,
                                     s->codes.stride, s->codes.stride),
                     IKT_OK);
    if (codes)
        assert_int_equal(ikt_tiles_codes(ctx, &s->cells, &s->distribution, &s->codes, &s->tiles),
                         IKT_OK);
    else
        assert_int_equal(ikt_tiles_data(ctx, &s->cells, &s->order, s->data, &s->tiles), IKT_OK);
}

static inline void clear(setting *s) {
    ikt_tiles_destroy(&s->tiles);
    ikt_order_destroy(&s->order);
    ikt_cells_destroy(&s->cells);
    ikt_codes_destroy(&s->codes);
    ikt_model_destroy(&s->model);
    ikt_dataset_destroy(&s->data);
    ikt_source_close(&s->source);
    ikt_free(&s->cell);
    ikt_free(&s->slot);
    ikt_free(&s->rows);
}

#endif
