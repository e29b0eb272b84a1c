/* From new rows to the old rows that they are similar to. See transform.h. */
#include "transform/transform.h"

#include <math.h>
#include <string.h>

#include "affinity/affinity.h"
#include "base/arrays.h"
#include "base/comm.h"
#include "base/sort.h"
#include "base/timer.h"
#include "isolation/codes.h"
#include "linalg/blocks.h"
#include "metric/metric.h"
#include "neighbours/exact.h"

/* --- new rows that share no cell with any old row --------------------------------------------- */

enum { BLOCK_BYTES = 4 << 20, NONE = -1 };

static const char purpose[] = "zero-similarity rows";

typedef struct {
    ikt_context *ctx;
    const ikt_loaded_model *loaded;
    ikt_dataset *data;
    const ikt_draws *draws; /* for one thread */
    uint64_t *occupied;     /* [t * psi bits] whether an old row falls into the cell */
    int64_t *centre;        /* [centres] those with an occupied cell, ascending */
    int64_t n_centres;      /* of them */
    int64_t d;              /* columns of rows and centres */
    int64_t block;          /* new rows read at a time */
    int64_t centre_step;    /* centres compared at a time */
    float *rows;            /* [block * d] */
    float *centres;         /* [centre_step * d] */
    int32_t *which;         /* [block] the zero-similarity ones of the block */
    double *least;          /* [block] least squared distance of each so far */
    int64_t *nearest;       /* [block] and the centre */
} job;

/* Whether cell number `cell`, counted over all partitionings, is marked. */
static bool is_occupied(const job *j, int64_t cell) {
    return j->occupied[cell / 64] >> cell % 64 & 1;
}

/* LOCAL. Marks the cells of some old rows, whose codes are dense. */
static void mark_cells(const job *j, int64_t count, void *code) {
    const ikt_model_shape *s = &j->loaded->shape;
    const int width = ikt_model_code_bytes(s);
    const ikt_codes read = {
        .n_local = count, .t = s->t, .stride = s->t * width, .width = width, .code = code};
    for (int64_t e = 0; e < count * s->t; e++) {
        const int64_t bit = e % s->t * s->psi + ikt_code_entry(&read, e / s->t, e % s->t);
        j->occupied[bit / 64] |= UINT64_C(1) << bit % 64;
    }
}

/* COLLECTIVE. Each rank marks the cells of its share of the old rows. */
static ikt_status find_occupied(const job *j) {
    const ikt_model_shape *s = &j->loaded->shape;
    const int width = ikt_model_code_bytes(s);
    const ikt_rows rows = ikt_rows_make(s->n, ikt_size(j->ctx), ikt_rank(j->ctx));
    const ikt_row_range own = {rows.first, rows.count};
    const int64_t block = BLOCK_BYTES / (s->t * width) + 1;
    IKT_ARRAYS(held, j->ctx, purpose);
    void *code = ikt_claim(&held, block * s->t, (size_t)width);
    IKT_TRY(ikt_arrays_agree(&held));
    const int64_t steps = ikt_stream_steps(j->ctx, own.count, block);
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, block, step);
        IKT_TRY(ikt_model_file_read(j->loaded->file, IKT_MODEL_CODES, at.first, at.count, code, 0));
        mark_cells(j, at.count, code);
    }
    ikt_or_u64(j->ctx, j->occupied, s->t * s->psi / 64 + 1);
    return IKT_OK;
}

/* Compares the zero-similarity rows of the block with a few centres. */
static void compare(const job *j, int64_t count, int64_t first, int64_t few) {
    const ikt_metric *metric = ikt_metric_of(j->data);
#pragma omp parallel for schedule(static) num_threads(ikt_threads(j->ctx))
    for (int64_t l = 0; l < count; l++) {
        const float *x = j->rows + j->which[l] * j->d;
        for (int64_t c = 0; c < few; c++) {
            const double away = metric->exact(x, j->centres + c * j->d, j->d);
            if (away >= j->least[l]) continue;
            j->least[l] = away;
            j->nearest[l] = j->centre[first + c];
        }
    }
}

/* Gives the zero-similarity rows of the block, which begins with own row `from`, the occupied cells
 * of their centres. */
static void set_cells(const job *j, int64_t count, int64_t from, ikt_codes *codes) {
    const int64_t psi = j->loaded->shape.psi;
    for (int64_t p = 0; p < codes->t; p++) {
        const int64_t *part = ikt_model_draw(j->loaded->model, j->draws, 0, p);
        for (int64_t l = 0; l < count; l++) {
            const int64_t at = ikt_find_i64(part, psi, j->nearest[l]);
            if (at >= 0 && is_occupied(j, p * psi + at))
                ikt_code_set(codes, from + j->which[l], p, (uint32_t)at);
        }
    }
}

/* Lists the centres of occupied cells. */
static void list_centres(job *j) {
    const ikt_model_shape *s = &j->loaded->shape;
    for (int64_t p = 0; p < s->t; p++) {
        const int64_t *part = ikt_model_draw(j->loaded->model, j->draws, 0, p);
        for (int64_t e = 0; e < s->psi; e++)
            if (is_occupied(j, p * s->psi + e)) j->centre[part[e]] = 1;
    }
    for (int64_t c = 0; c < s->centres; c++) /* flags become a list behind them */
        if (j->centre[c]) j->centre[j->n_centres++] = c;
}

/* COLLECTIVE. The zero-similarity rows among some own ones, which begin with own row `from`. */
static ikt_status adopt_block(const job *j, ikt_row_range at, int64_t from,
                              const bool *zero_similarity, ikt_codes *codes) {
    int64_t count = 0;
    for (int64_t i = 0; i < at.count; i++)
        if (zero_similarity[from + i]) j->which[count++] = (int32_t)i;
    if (ikt_max_one(j->ctx, count) == 0) return IKT_OK;
    IKT_TRY(ikt_dataset_read(j->data, at.first, at.count, j->rows));
    for (int64_t l = 0; l < count; l++) {
        j->least[l] = INFINITY;
        j->nearest[l] = NONE;
    }
    for (int64_t c = 0; c < j->n_centres; c += j->centre_step) {
        int64_t few = ikt_smaller(j->n_centres - c, j->centre_step);
        IKT_TRY(
            ikt_dataset_gather_floats(ikt_dataset_model(j->data), j->centre + c, few, j->centres));
        compare(j, count, c, few);
    }
    set_cells(j, count, from, codes);
    return IKT_OK;
}

/* COLLECTIVE. A cell is occupied where an old row falls into it, and a centre where its cell in
 * some partitioning is. Each zero-similarity row gets, in the partitionings in which its nearest
 * occupied centre has an occupied cell, that cell for its own; ties go to the lower centre.
 * Afterwards it is similar to some old row.
 *   zero_similarity  [rows->count] which own rows; the same ones whatever the ranks
 *   codes            of the new rows; changed
 * Errors: IKT_ERR_RESOURCE, those of reading; IKT_ERR_DATA for codes that are no cells. Cost: a
 * pass over old codes and new rows, and a distance a zero-similarity row and centre. */
static ikt_status adopt_cells(ikt_context *ctx, const ikt_loaded_model *loaded, ikt_dataset *data,
                              const ikt_rows *rows, const bool *zero_similarity, ikt_codes *codes) {
    const ikt_row_range own = {rows->first, rows->count};
    const ikt_model_shape *s = &loaded->shape;
    const int64_t d = ikt_dataset_columns(data);
    job j = {.ctx = ctx,
             .loaded = loaded,
             .data = data,
             .d = d,
             .block = ikt_stream_rows(d, (int64_t)sizeof(float)),
             .centre_step =
                 ikt_smaller(BLOCK_BYTES / (d * (int64_t)sizeof(float)) + 1, s->centres)};
    IKT_ARRAYS(held, ctx, purpose);
    j.occupied = ikt_claim(&held, s->t * s->psi / 64 + 1, sizeof *j.occupied);
    j.centre = ikt_claim(&held, s->centres, sizeof *j.centre);
    j.rows = ikt_claim(&held, j.block * d, sizeof *j.rows);
    j.centres = ikt_claim(&held, j.centre_step * d, sizeof *j.centres);
    j.which = ikt_claim(&held, j.block, sizeof *j.which);
    j.least = ikt_claim(&held, j.block, sizeof *j.least);
    j.nearest = ikt_claim(&held, j.block, sizeof *j.nearest);
    IKT_TRY(ikt_arrays_agree(&held));
    ikt_draws draws IKT_AT_END(ikt_draws_destroy) = {.slot = NULL};
    IKT_TRY(ikt_agree(ctx, ikt_draws_create(ctx, loaded->model, 1, &draws)));
    j.draws = &draws;
    IKT_TRY(find_occupied(&j));
    list_centres(&j);
    const int64_t steps = ikt_stream_steps(ctx, own.count, j.block);
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, j.block, step);
        IKT_TRY(adopt_block(&j, at, at.first - own.first, zero_similarity, codes));
    }
    return IKT_OK;
}

/* --- lists ------------------------------------------------------------------------------------ */

typedef struct {
    ikt_model_file *file;
    ikt_model_part part;
    int64_t stride;
} old_reader;

static ikt_status read_old(void *self, int64_t first, int64_t count, void *plain) {
    const old_reader *r = self;
    return ikt_model_file_read(r->file, r->part, first, count, plain, r->stride);
}

ikt_status ikt_old_rows_search(ikt_context *ctx, const ikt_loaded_model *loaded,
                               const ikt_scorer *scorer, ikt_neighbours *lists) {
    const bool has_rows = loaded->shape.has_rows;
    old_reader reader = {loaded->file, has_rows ? IKT_MODEL_ROWS : IKT_MODEL_CODES,
                         has_rows ? 0 : scorer->row_bytes};
    const ikt_row_stream old = {&reader, loaded->shape.n, (size_t)scorer->row_bytes, read_old};
    IKT_TRY_STAGE(ctx, IKT_STAGE_NEIGHBOURS, ikt_neighbours_stream(ctx, scorer, &old, lists));
    return IKT_OK;
}

/* COLLECTIVE. The k most similar old rows of rows with these codes. */
static ikt_status search(ikt_context *ctx, const ikt_loaded_model *loaded, const ikt_codes *codes,
                         const ikt_rows *rows, ikt_neighbours *lists) {
    const ikt_scorer scorer = ikt_scorer_codes(codes, rows);
    return ikt_old_rows_search(ctx, loaded, &scorer, lists);
}

/* COLLECTIVE. New cells for the flagged rows, and lists by those: their codes are searched alone.
 *   count   of them on this rank */
static ikt_status search_by_centres(ikt_context *ctx, const ikt_loaded_model *loaded,
                                    ikt_dataset *data, const ikt_rows *rows, const bool *flag,
                                    int64_t count, ikt_codes *codes, ikt_neighbours *all) {
    const int64_t k = all->k, stride = codes->stride;
    const ikt_rows part = {.ranks = 1, .n = count, .count = count};
    ikt_neighbours lists IKT_AT_END(ikt_neighbours_destroy) = {.row = NULL};
    ikt_codes some = *codes;
    IKT_TRY(adopt_cells(ctx, loaded, data, rows, flag, codes));
    IKT_ARRAYS(held, ctx, "codes");
    some.n_local = count;
    some.code = ikt_claim(&held, count, (size_t)stride);
    if (held.status == IKT_OK) held.status = ikt_neighbours_create(ctx, &part, k, &lists);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t i = 0, at = 0; i < rows->count; i++)
        if (flag[i])
            memcpy((char *)some.code + at++ * stride, (const char *)codes->code + i * stride,
                   (size_t)stride);
    IKT_TRY(search(ctx, loaded, &some, &part, &lists));
    for (int64_t i = 0, at = 0; i < rows->count; i++) {
        if (!flag[i]) continue;
        memcpy(all->row + i * k, lists.row + at * k, (size_t)k * sizeof *lists.row);
        memcpy(all->score + i * k, lists.score + at * k, (size_t)k * sizeof *lists.score);
        at++;
    }
    return IKT_OK;
}

/* COLLECTIVE. Notes how similar the most similar old rows are; rows that are to none get cells of
 * their nearest centres, and lists by those. */
static ikt_status find_similarities(ikt_context *ctx, const ikt_loaded_model *loaded,
                                    ikt_dataset *data, const ikt_rows *rows, ikt_codes *codes,
                                    ikt_new_lists *out) {
    const int64_t k = out->lists.k, t = codes->t;
    int64_t count = 0;
    IKT_ARRAYS(held, ctx, purpose);
    bool *flag = ikt_claim(&held, rows->count, sizeof *flag); /* of the zero-similarity rows */
    held.purpose = "neighbours";
    out->similarity = ikt_claim_kept(&held, rows->count, sizeof *out->similarity);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t i = 0; i < rows->count; i++) {
        out->similarity[i] = ((float)t - out->lists.score[i * k]) / (float)t;
        flag[i] = !(out->similarity[i] > 0);
        count += flag[i];
    }
    out->zero_similarity = ikt_sum_one(ctx, count);
    if (out->zero_similarity == 0) return IKT_OK;
    return search_by_centres(ctx, loaded, data, rows, flag, count, codes, &out->lists);
}

/* COLLECTIVE. Codes of the new rows and their lists, with scores. */
static ikt_status find_lists(ikt_context *ctx, const ikt_loaded_model *loaded, ikt_dataset *data,
                             const ikt_rows *rows, int64_t k, ikt_codes *codes,
                             ikt_new_lists *out) {
    IKT_TRY_STAGE(ctx, IKT_STAGE_CODES,
                  ikt_codes_compute(ctx, data, rows, loaded->model, codes, NULL));
    out->cells = codes->check;
    IKT_TRY(ikt_agree(ctx, ikt_neighbours_create(ctx, rows, k, &out->lists)));
    IKT_TRY(search(ctx, loaded, codes, rows, &out->lists));
    return find_similarities(ctx, loaded, data, rows, codes, out);
}

ikt_status ikt_new_lists_find(ikt_context *ctx, const ikt_loaded_model *loaded, ikt_dataset *data,
                              const ikt_rows *rows, int64_t k, ikt_codes *kept,
                              ikt_new_lists *out) {
    ikt_codes codes IKT_AT_END(ikt_codes_destroy) = {.code = NULL};
    *out = (ikt_new_lists){.similarity = NULL};
    const ikt_status st = find_lists(ctx, loaded, data, rows, k, &codes, out);
    if (st != IKT_OK) ikt_new_lists_destroy(out);
    IKT_TRY(st);
    if (kept) return ikt_give(kept, codes);
    ikt_codes_destroy(&codes);
    ikt_isolation_weights(ctx, &out->lists, loaded->shape.t, out->lists.score);
    return IKT_OK;
}

void ikt_new_lists_destroy(ikt_new_lists *lists) {
    ikt_neighbours_destroy(&lists->lists);
    ikt_free(&lists->similarity);
}
