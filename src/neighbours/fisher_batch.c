/* Making what a search in the Fisher metric works on, and how much it takes. See fisher_batch.h. */
#include "neighbours/fisher_batch.h"

#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/select.h"
#include "base/sort.h"

enum {
    BATCH_ROWS = 2048,       /* own rows whose lists are made together, where they fit */
    HALF_BYTES = 32 << 20,   /* of what they have for middles of lines */
    SELECT_BYTES = 32 << 20, /* of the buffers that candidates are selected in */
    LEAST_BATCH = 64
};

static const char purpose[] = "fisher blocks";

static void destroy_block(ikt_fisher_block *block) {
    ikt_free_all(&block->number, &block->weight, &block->root, &block->x, &block->lane,
                 &block->support, &block->packed_root, &block->packed_x, &block->half,
                 &block->has_half);
}

void ikt_fisher_batch_destroy(ikt_fisher_batch *b) {
    for (int t = 0; b->scratch && t < b->threads; t++) {
        ikt_fisher_scratch *s = &b->scratch[t];
        ikt_free_all(&s->chord, &s->plain, &s->space, &s->low, &s->line, &s->pair);
    }
    destroy_block(&b->block);
    ikt_free_all(&b->scratch, &b->chord_row, &b->reach, &b->ball, &b->buffer, &b->select, &b->near,
                 &b->last, &b->half);
}

static ikt_status create_scratch(const ikt_fisher_batch *b, int64_t block_rows,
                                 ikt_fisher_scratch *s) {
    ikt_context *ctx = b->ctx;
    const ikt_segment_job *job = &b->rows->job;
    const int64_t lanes = job->shape.lanes, wide = job->shape.wide,
                  tile = FISHER_OWN_ROWS * ikt_packed_rows(block_rows);
    IKT_TRY(ikt_alloc(ctx, &s->chord, tile, sizeof *s->chord, purpose));
    if (b->rows->d > 0) IKT_TRY(ikt_alloc(ctx, &s->plain, tile, sizeof *s->plain, purpose));
    if (ikt_fisher_adds(b)) IKT_TRY(ikt_alloc(ctx, &s->space, tile, sizeof *s->space, purpose));
    IKT_TRY(ikt_alloc(ctx, &s->low, 2 * lanes + 3 * wide, sizeof *s->low, purpose));
    s->high = s->low + lanes;
    s->root_low = s->high + lanes;
    s->root_high = s->root_low + wide;
    s->root_middle = s->root_high + wide;
    IKT_TRY(ikt_alloc(ctx, &s->line, ikt_segment_scratch(&job->shape, job->points), sizeof *s->line,
                      purpose));
    return ikt_alloc(ctx, &s->pair, IKT_PACK_ROWS * b->rows->d, sizeof *s->pair, purpose);
}

int64_t ikt_fisher_select_rows(int64_t selected) {
    const int64_t rows =
        SELECT_BYTES / (IKT_SELECT_CAPACITY * (int64_t)sizeof(ikt_pair) * selected);
    return rows > LEAST_BATCH ? rows : LEAST_BATCH;
}

int64_t ikt_fisher_batch_rows(int64_t lanes) {
    const int64_t rows = HALF_BYTES / ((int64_t)sizeof(float) * lanes);
    return rows > BATCH_ROWS ? BATCH_ROWS : rows > LEAST_BATCH ? rows : LEAST_BATCH;
}

/* Whether the middle of a line is one of its points, so that the arcs over it are a bound. */
static bool has_middle(const ikt_fisher_rows *rows) {
    return rows->job.rule == IKT_RULE_ARC && rows->job.points % 2 == 1 && !rows->computes_all;
}

int64_t ikt_fisher_outward(int64_t from, int64_t i, int64_t blocks) {
    const int64_t near = ikt_smaller(from, blocks - 1 - from);
    if (i > 2 * near) return from < blocks - 1 - from ? i : blocks - 1 - i;
    return i % 2 == 1 ? from + (i + 1) / 2 : from - i / 2;
}

/* The balls of the own blocks: about the means of their rows. */
static ikt_status make_balls(ikt_fisher_batch *b) {
    const ikt_fisher_rows *rows = b->rows;
    const ikt_class_lanes *shape = &rows->job.shape;
    const int64_t n = rows->rows.count, blocks = (n + FISHER_BLOCK_ROWS - 1) / FISHER_BLOCK_ROWS;
    IKT_TRY(ikt_alloc(b->ctx, &b->ball, blocks, sizeof *b->ball, purpose));
#pragma omp parallel for schedule(static) num_threads(ikt_threads(b->ctx))
    for (int64_t e = 0; e < blocks; e++) {
        const int64_t first = e * FISHER_BLOCK_ROWS;
        const int64_t end = ikt_smaller(first + FISHER_BLOCK_ROWS, n);
        ikt_fisher_ball *ball = &b->ball[e];
        for (int64_t i = first; i < end; i++)
            for (int c = 0; c < shape->classes; c++)
                ball->centre[c] += rows->root[i * shape->wide + c] / (float)(end - first);
        for (int64_t i = first; i < end; i++) {
            float square = 0;
            for (int c = 0; c < shape->classes; c++) {
                const float gap = rows->root[i * shape->wide + c] - ball->centre[c];
                square += gap * gap;
            }
            ball->radius = fmaxf(ball->radius, sqrtf(square));
            if (rows->leaves_out && ikt_class_lane_of(rows->support, rows->number[i]) >= 0)
                ball->has_support = 1;
        }
    }
    return IKT_OK;
}

static ikt_status create_block(const ikt_fisher_batch *b, int64_t most, bool is_lazy,
                               ikt_fisher_block *out) {
    ikt_context *ctx = b->ctx;
    const ikt_class_lanes *shape = &b->rows->job.shape;
    const int64_t d = b->rows->d;
    IKT_TRY(ikt_alloc(ctx, &out->number, most, sizeof *out->number, purpose));
    IKT_TRY(ikt_alloc(ctx, &out->weight, most, sizeof *out->weight, purpose));
    IKT_TRY(ikt_alloc(ctx, &out->root, most, sizeof *out->root, purpose));
    IKT_TRY(ikt_alloc(ctx, &out->lane, most, sizeof *out->lane, purpose));
    IKT_TRY(ikt_alloc(ctx, &out->support, most, sizeof *out->support, purpose));
    IKT_TRY(ikt_alloc(ctx, &out->packed_root, ikt_packed_floats(most, shape->classes),
                      sizeof *out->packed_root, purpose));
    if (d > 0) {
        IKT_TRY(ikt_alloc(ctx, &out->x, most, sizeof *out->x, purpose));
        IKT_TRY(ikt_alloc(ctx, &out->packed_x, ikt_packed_floats(most, d), sizeof *out->packed_x,
                          purpose));
    }
    if (!has_middle(b->rows)) return IKT_OK;
    if (is_lazy) IKT_TRY(ikt_alloc(ctx, &out->has_half, most, 1, purpose));
    return ikt_alloc(ctx, &out->half, most * shape->lanes, sizeof *out->half, purpose);
}

void ikt_fisher_block_begin(const ikt_fisher_batch *b, ikt_fisher_block *block, bool has_roots,
                            bool has_x) {
    const ikt_fisher_rows *rows = b->rows;
    block->supports = 0;
    for (int64_t j = 0; j < block->count; j++) {
        block->lane[j] =
            rows->leaves_out ? (int32_t)ikt_class_lane_of(rows->support, block->number[j]) : -1;
        if (block->lane[j] >= 0) block->support[block->supports++] = (int32_t)j;
    }
    if (has_roots)
        ikt_pack_rows_from(block->root, block->count, rows->job.shape.classes, block->packed_root);
    if (has_x) ikt_pack_rows_from(block->x, block->count, rows->d, block->packed_x);
    if (block->has_half) memset(block->has_half, 0, (size_t)block->count);
}

ikt_status ikt_fisher_batch_create(ikt_fisher_batch *b, int64_t most, int64_t block_rows,
                                   bool is_lazy) {
    ikt_context *ctx = b->ctx;
    const ikt_fisher_rows *rows = b->rows;
    const ikt_class_lanes *shape = &rows->job.shape;
    IKT_TRY(ikt_alloc(ctx, &b->scratch, b->threads, sizeof *b->scratch, purpose));
    for (int t = 0; t < b->threads; t++)
        IKT_TRY(create_scratch(b, block_rows, &b->scratch[t]));
    IKT_TRY(ikt_alloc(ctx, &b->chord_row, most * shape->classes, sizeof *b->chord_row, purpose));
    if (b->selected > 0) {
        const int64_t some = ikt_smaller(most, ikt_fisher_select_rows(b->selected));
        IKT_TRY(ikt_alloc(ctx, &b->buffer, some * IKT_SELECT_CAPACITY * b->selected,
                          sizeof *b->buffer, purpose));
        IKT_TRY(ikt_alloc(ctx, &b->select, some, sizeof *b->select, purpose));
        IKT_TRY(ikt_alloc(ctx, &b->near, most, sizeof *b->near, purpose));
        IKT_TRY(ikt_alloc(ctx, &b->last, most, sizeof *b->last, purpose));
    }
    if (has_middle(rows))
        IKT_TRY(ikt_alloc(ctx, &b->half, most * shape->lanes, sizeof *b->half, purpose));
    IKT_TRY(ikt_alloc(ctx, &b->reach, most / FISHER_OWN_ROWS + 1, 1, purpose));
    return create_block(b, block_rows, is_lazy, &b->block);
}

ikt_status ikt_fisher_ring_create(ikt_fisher_batch *b, float **here, float **next) {
    const ikt_fisher_rows *rows = b->rows;
    const ikt_class_lanes *shape = &rows->job.shape;
    const int64_t floats =
        2 + shape->classes + FISHER_BLOCK_ROWS * (1 + shape->lanes + shape->wide + rows->d);
    if (rows->is_ordered) IKT_TRY(make_balls(b));
    IKT_TRY(ikt_alloc(b->ctx, here, floats, sizeof **here, purpose));
    return ikt_alloc(b->ctx, next, floats, sizeof **next, purpose);
}

int64_t ikt_fisher_selected(ikt_fisher_candidates candidates, int64_t among, int64_t k) {
    const bool has_all = candidates == IKT_CANDIDATES_ALL || candidates == IKT_CANDIDATES_NEAR;
    return has_all ? FISHER_NEAR * k : among;
}

int64_t ikt_fisher_batch_memory(int64_t most, int64_t block_rows, int64_t selected, int64_t lanes,
                                int64_t wide, int64_t d, int threads) {
    const int64_t size = sizeof(float), tile = FISHER_OWN_ROWS * ikt_packed_rows(block_rows);
    const int64_t some = ikt_smaller(ikt_fisher_select_rows(selected), most);
    const int64_t pairs = IKT_SELECT_CAPACITY * (int64_t)sizeof(ikt_pair) * selected;
    const int64_t row = 3 * (int64_t)sizeof(float *) + size * (3 + lanes + wide + d) + 1;
    return some * (pairs + (int64_t)sizeof(ikt_select)) + most * size * (wide + lanes) +
           ikt_packed_rows(block_rows) * row +
           threads * size * (3 * tile + 2 * lanes + IKT_PACK_ROWS * d + 16 * wide);
}

int64_t ikt_fisher_search_memory(int64_t n_local, int64_t selected, int64_t lanes, int64_t wide,
                                 int64_t d, int threads) {
    const int64_t ring = 2 * FISHER_BLOCK_ROWS * (lanes + wide + d + 1) * (int64_t)sizeof(float);
    const int64_t balls = (n_local / FISHER_BLOCK_ROWS + 1) * (int64_t)sizeof(ikt_fisher_ball);
    const int64_t own = ikt_smaller(ikt_fisher_batch_rows(lanes), n_local);
    return ikt_fisher_batch_memory(own, FISHER_BLOCK_ROWS, selected, lanes, wide, d, threads) +
           ring + balls + 8 * n_local;
}

/* --- some rows -------------------------------------------------------------------------------- */

ikt_status ikt_fisher_take(ikt_context *ctx, const ikt_fisher_rows *rows, const int64_t *row,
                           int64_t count, ikt_fisher_own *out) {
    const int64_t lanes = rows->job.shape.lanes, wide = rows->job.shape.wide, d = rows->d;
    int64_t from, end;
    IKT_FIND_FIRST(from, 0, count, row[from] >= rows->rows.first);
    IKT_FIND_FIRST(end, from, count, row[end] >= rows->rows.first + rows->rows.count);
    *out = (ikt_fisher_own){.count = end - from};
    IKT_ARRAYS(held, ctx, purpose);
    out->row = ikt_claim_kept(&held, out->count, sizeof *out->row);
    out->weight = ikt_claim_kept(&held, out->count * lanes, sizeof *out->weight);
    out->root = ikt_claim_kept(&held, out->count * wide, sizeof *out->root);
    ikt_status st = held.status;
    if (st == IKT_OK && d > 0)
        st = ikt_alloc(ctx, &out->x, out->count * d, sizeof *out->x, purpose);
    if (st != IKT_OK) {
        ikt_fisher_own_destroy(out);
        return st;
    }
    for (int64_t a = 0; a < out->count; a++) {
        const int64_t i = row[from + a] - rows->rows.first;
        out->row[a] = row[from + a];
        memcpy(out->weight + a * lanes, rows->weight + i * lanes, (size_t)lanes * sizeof(float));
        memcpy(out->root + a * wide, rows->root + i * wide, (size_t)wide * sizeof(float));
        if (d > 0) memcpy(out->x + a * d, rows->x + i * d, (size_t)d * sizeof(float));
    }
    return IKT_OK;
}

void ikt_fisher_own_destroy(ikt_fisher_own *own) {
    ikt_free_all(&own->row, &own->weight, &own->root, &own->x);
    own->count = 0;
}
