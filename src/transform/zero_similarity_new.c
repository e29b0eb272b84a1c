/* New rows that share no cell with any old row. */
#include "transform/zero_similarity_new.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/sort.h"
#include "linalg/blocks.h"
#include "metric/metric.h"

enum { BLOCK_BYTES = 4 << 20, NONE = -1 };

static const char purpose[] = "lonely rows";

typedef struct {
    ikt_context *ctx;
    const ikt_loaded_model *loaded;
    ikt_dataset *data;
    int64_t *occupied;   /* [t * psi] whether an old row falls into the cell */
    int64_t *centre;     /* [centres] those with an occupied cell, ascending */
    int64_t n_centres;   /* of them */
    int64_t d;           /* columns of rows and centres */
    int64_t block;       /* new rows read at a time */
    int64_t centre_step; /* centres compared at a time */
    float *rows;         /* [block * d] */
    float *centres;      /* [centre_step * d] */
    int32_t *which;      /* [block] the lonely ones of the block */
    double *least;       /* [block] least squared distance of each so far */
    int64_t *nearest;    /* [block] and the centre */
} job;

static int64_t cell_of(const void *code, int width, int64_t e) {
    return width == 1 ? ((const uint8_t *)code)[e] : ((const uint16_t *)code)[e];
}

/* Marks the cells of some old rows; their codes are dense. */
static ikt_status mark(const job *j, const void *code, int64_t rows, int width) {
    const ikt_model_shape *s = &j->loaded->shape;
    for (int64_t e = 0; e < rows * s->t; e++) {
        int64_t cell = cell_of(code, width, e);
        if (cell >= s->psi)
            return ikt_fail(j->ctx, IKT_ERR_DATA, "%s is damaged: /codes holds a cell beyond psi",
                            ikt_model_file_path(j->loaded->file));
        j->occupied[e % s->t * s->psi + cell] = 1;
    }
    return IKT_OK;
}

/* COLLECTIVE. Each rank marks its share of the old rows. */
static ikt_status find_occupied(const job *j) {
    const ikt_model_shape *s = &j->loaded->shape;
    const int width = ikt_model_code_bytes(s);
    const ikt_rows rows = ikt_rows_make(s->n, ikt_size(j->ctx), ikt_rank(j->ctx));
    const ikt_row_range own = {rows.first, rows.count};
    const int64_t block = BLOCK_BYTES / (s->t * width) + 1;
    void *code = NULL;
    ikt_status st =
        ikt_agree(j->ctx, ikt_alloc(j->ctx, &code, block * s->t, (size_t)width, purpose));
    const int64_t steps = st == IKT_OK ? ikt_stream_steps(j->ctx, own.count, block) : 0;
    for (int64_t step = 0; st == IKT_OK && step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, block, step);
        st = ikt_model_file_read(j->loaded->file, IKT_MODEL_CODES, at.first, at.count, code, 0);
        if (st == IKT_OK) st = ikt_agree(j->ctx, mark(j, code, at.count, width));
    }
    ikt_free(&code);
    if (st == IKT_OK) ikt_max_i64(j->ctx, j->occupied, s->t * s->psi);
    return st;
}

static void list_centres(job *j) {
    const ikt_model_shape *s = &j->loaded->shape;
    for (int64_t e = 0; e < s->t * s->psi; e++)
        if (j->occupied[e]) j->centre[j->loaded->model->row[e]] = 1;
    for (int64_t c = 0; c < s->centres; c++) /* flags become a list that is never ahead of them */
        if (j->centre[c]) j->centre[j->n_centres++] = c;
}

/* Compares the lonely rows of the block with a few centres. */
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

/* Gives own row i the occupied cells of a centre. */
static void adopt(const job *j, int64_t i, int64_t centre, ikt_codes *codes) {
    const int64_t psi = j->loaded->shape.psi;
    char *row = (char *)codes->code + i * codes->stride;
    for (int64_t p = 0; p < codes->t; p++) {
        const int64_t *part = j->loaded->model->row + p * psi;
        const int64_t at = ikt_find_i64(part, psi, centre);
        if (at < 0 || !j->occupied[p * psi + at]) continue;
        const uint16_t cell = (uint16_t)at;
        if (codes->width == 1)
            ((uint8_t *)row)[p] = (uint8_t)cell;
        else
            memcpy(row + 2 * p, &cell, sizeof cell);
    }
}

/* COLLECTIVE. The lonely rows among some own ones, which begin with own row `from`. */
static ikt_status adopt_block(const job *j, ikt_row_range at, int64_t from, const bool *lonely,
                              ikt_codes *codes) {
    int64_t count = 0;
    for (int64_t i = 0; i < at.count; i++)
        if (lonely[from + i]) j->which[count++] = (int32_t)i;
    if (ikt_max_one(j->ctx, count) == 0) return IKT_OK;
    IKT_TRY(ikt_dataset_read(j->data, at.first, at.count, j->rows));
    for (int64_t l = 0; l < count; l++) {
        j->least[l] = INFINITY;
        j->nearest[l] = NONE;
    }
    for (int64_t c = 0; c < j->n_centres; c += j->centre_step) {
        int64_t few = j->n_centres - c < j->centre_step ? j->n_centres - c : j->centre_step;
        IKT_TRY(
            ikt_dataset_gather_floats(ikt_dataset_model(j->data), j->centre + c, few, j->centres));
        compare(j, count, c, few);
    }
    for (int64_t l = 0; l < count; l++)
        adopt(j, from + j->which[l], j->nearest[l], codes);
    return IKT_OK;
}

static ikt_status prepare(job *j) {
    const ikt_model_shape *s = &j->loaded->shape;
    const int64_t few = BLOCK_BYTES / (j->d * (int64_t)sizeof(float)) + 1;
    j->block = ikt_stream_rows(j->d, (int64_t)sizeof(float));
    j->centre_step = few < s->centres ? few : s->centres;
    IKT_TRY(ikt_alloc(j->ctx, &j->occupied, s->t * s->psi, sizeof(int64_t), purpose));
    IKT_TRY(ikt_alloc(j->ctx, &j->centre, s->centres, sizeof *j->centre, purpose));
    IKT_TRY(ikt_alloc(j->ctx, &j->rows, j->block * j->d, sizeof(float), purpose));
    IKT_TRY(ikt_alloc(j->ctx, &j->centres, j->centre_step * j->d, sizeof(float), purpose));
    IKT_TRY(ikt_alloc(j->ctx, &j->which, j->block, sizeof *j->which, purpose));
    IKT_TRY(ikt_alloc(j->ctx, &j->least, j->block, sizeof *j->least, purpose));
    return ikt_alloc(j->ctx, &j->nearest, j->block, sizeof *j->nearest, purpose);
}

static void finish(job *j) {
    ikt_free(&j->occupied);
    ikt_free(&j->centre);
    ikt_free(&j->rows);
    ikt_free(&j->centres);
    ikt_free(&j->which);
    ikt_free(&j->least);
    ikt_free(&j->nearest);
}

ikt_status ikt_zero_similarity_new_adopt(ikt_context *ctx, const ikt_loaded_model *loaded,
                                         ikt_dataset *data, const ikt_rows *rows,
                                         const bool *lonely, ikt_codes *codes) {
    const ikt_row_range own = {rows->first, rows->count};
    job j = {.ctx = ctx, .loaded = loaded, .data = data, .d = ikt_dataset_columns(data)};
    ikt_status st = ikt_agree(ctx, prepare(&j));
    if (st == IKT_OK) st = find_occupied(&j);
    if (st == IKT_OK) list_centres(&j);
    const int64_t steps = st == IKT_OK ? ikt_stream_steps(ctx, own.count, j.block) : 0;
    for (int64_t step = 0; st == IKT_OK && step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, j.block, step);
        st = adopt_block(&j, at, at.first - own.first, lonely, codes);
    }
    finish(&j);
    return st;
}
