/* From new rows to the old rows that they are similar to. */
#include "transform/transform_lists.h"

#include <string.h>

#include "affinity/affinity.h"
#include "base/comm.h"
#include "base/memory.h"
#include "base/timer.h"
#include "isolation/codes.h"
#include "neighbours/exact.h"
#include "transform/zero_similarity_new.h"

typedef struct {
    ikt_model_file *file;
    int64_t stride;
} code_reader;

static ikt_status read_codes(void *self, int64_t first, int64_t count, void *packed) {
    const code_reader *r = self;
    return ikt_model_file_read(r->file, IKT_MODEL_CODES, first, count, packed, r->stride);
}

/* COLLECTIVE. The k most similar old rows of rows with these codes. */
static ikt_status search(ikt_context *ctx, const ikt_loaded_model *loaded, const ikt_codes *codes,
                         const ikt_rows *rows, ikt_neighbours *lists) {
    code_reader reader = {loaded->file, codes->stride};
    const ikt_row_stream old = {&reader, loaded->shape.n, (size_t)codes->stride, read_codes};
    const ikt_scorer scorer = ikt_scorer_codes(codes, rows);
    ikt_stage_begin(ctx, IKT_STAGE_NEIGHBOURS);
    ikt_status st = ikt_neighbours_stream(ctx, &scorer, &old, lists);
    ikt_stage_end(ctx, IKT_STAGE_NEIGHBOURS);
    return st;
}

/* --- rows without any similarity -------------------------------------------------------------- */

/* Codes and lists of the lonely rows alone. */
typedef struct {
    bool *flag; /* [rows->count] */
    int64_t count;
    ikt_codes codes;
    ikt_neighbours lists;
} lonely_rows;

static void lonely_free(lonely_rows *l) {
    ikt_free(&l->flag);
    ikt_codes_destroy(&l->codes);
    ikt_neighbours_destroy(&l->lists);
}

static ikt_status take_out(ikt_context *ctx, const ikt_codes *codes, int64_t k, lonely_rows *l) {
    const ikt_rows part = {l->count, 1, 0, l->count};
    l->codes = *codes;
    l->codes.n_local = l->count;
    l->codes.code = NULL;
    IKT_TRY(ikt_alloc(ctx, &l->codes.code, l->count, (size_t)codes->stride, "codes"));
    IKT_TRY(ikt_neighbours_create(ctx, &part, k, &l->lists));
    for (int64_t i = 0, at = 0; i < codes->n_local; i++)
        if (l->flag[i])
            memcpy((char *)l->codes.code + at++ * codes->stride,
                   (const char *)codes->code + i * codes->stride, (size_t)codes->stride);
    return IKT_OK;
}

static void put_back(const lonely_rows *l, ikt_neighbours *lists) {
    const int64_t k = lists->k;
    for (int64_t i = 0, at = 0; i < lists->n_local; i++) {
        if (!l->flag[i]) continue;
        memcpy(lists->row + i * k, l->lists.row + at * k, (size_t)k * sizeof *lists->row);
        memcpy(lists->score + i * k, l->lists.score + at * k, (size_t)k * sizeof *lists->score);
        at++;
    }
}

/* COLLECTIVE. New cells for them, and lists by those. */
static ikt_status adopt(ikt_context *ctx, const ikt_loaded_model *loaded, ikt_dataset *data,
                        const ikt_rows *rows, ikt_codes *codes, lonely_rows *l,
                        ikt_neighbours *lists) {
    IKT_TRY(ikt_zero_similarity_new_adopt(ctx, loaded, data, rows, l->flag, codes));
    IKT_TRY(ikt_agree(ctx, take_out(ctx, codes, lists->k, l)));
    const ikt_rows part = {l->count, 1, 0, l->count};
    IKT_TRY(search(ctx, loaded, &l->codes, &part, &l->lists));
    put_back(l, lists);
    return IKT_OK;
}

/* COLLECTIVE. Notes how similar the most similar old rows are, and helps where none is at all. */
static ikt_status judge(ikt_context *ctx, const ikt_loaded_model *loaded, ikt_dataset *data,
                        const ikt_rows *rows, ikt_codes *codes, ikt_new_lists *out) {
    const int64_t k = out->lists.k, t = codes->t;
    lonely_rows l = {0};
    ikt_status st = ikt_alloc(ctx, &l.flag, rows->count, sizeof *l.flag, "lonely rows");
    if (st == IKT_OK)
        st = ikt_alloc(ctx, &out->similarity, rows->count, sizeof *out->similarity, "neighbours");
    st = ikt_agree(ctx, st);
    for (int64_t i = 0; st == IKT_OK && i < rows->count; i++) {
        out->similarity[i] = ((float)t - out->lists.score[i * k]) / (float)t;
        l.flag[i] = !(out->similarity[i] > 0);
        l.count += l.flag[i];
    }
    if (st == IKT_OK) out->lonely = ikt_sum_one(ctx, l.count);
    if (st == IKT_OK && out->lonely > 0)
        st = adopt(ctx, loaded, data, rows, codes, &l, &out->lists);
    lonely_free(&l);
    return st;
}

ikt_status ikt_new_lists_find(ikt_context *ctx, const ikt_loaded_model *loaded, ikt_dataset *data,
                              const ikt_rows *rows, int64_t k, ikt_new_lists *out) {
    ikt_codes codes = {0};
    *out = (ikt_new_lists){{0}, NULL, 0};
    ikt_stage_begin(ctx, IKT_STAGE_CODES);
    ikt_status st = ikt_codes_compute(ctx, data, rows, loaded->model, &codes, NULL);
    ikt_stage_end(ctx, IKT_STAGE_CODES);
    if (st == IKT_OK) st = ikt_agree(ctx, ikt_neighbours_create(ctx, rows, k, &out->lists));
    if (st == IKT_OK) st = search(ctx, loaded, &codes, rows, &out->lists);
    if (st == IKT_OK) st = judge(ctx, loaded, data, rows, &codes, out);
    ikt_codes_destroy(&codes);
    if (st == IKT_OK)
        ikt_isolation_weights(ctx, &out->lists, loaded->shape.t, out->lists.score);
    else
        ikt_new_lists_destroy(out);
    return st;
}

void ikt_new_lists_destroy(ikt_new_lists *lists) {
    ikt_neighbours_destroy(&lists->lists);
    ikt_free(&lists->similarity);
}
