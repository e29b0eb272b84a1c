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

static ikt_status create_scratch(ikt_fisher_batch *b, int64_t block_rows, ikt_fisher_scratch *s) {
    ikt_arrays *held = b->held;
    const ikt_segment_job *job = &b->rows->job;
    const int64_t lanes = job->shape.lanes, wide = job->shape.wide,
                  tile = FISHER_OWN_ROWS * ikt_packed_rows(block_rows);
    s->chord = ikt_claim(held, tile, sizeof *s->chord);
    if (b->rows->d > 0) s->plain = ikt_claim(held, tile, sizeof *s->plain);
    if (ikt_fisher_adds(b)) s->space = ikt_claim(held, tile, sizeof *s->space);
    s->low = ikt_claim(held, lanes, sizeof *s->low);
    s->high = ikt_claim(held, lanes, sizeof *s->high);
    s->root_low = ikt_claim(held, wide, sizeof *s->root_low);
    s->root_high = ikt_claim(held, wide, sizeof *s->root_high);
    s->root_middle = ikt_claim(held, wide, sizeof *s->root_middle);
    s->line = ikt_claim(held, ikt_segment_scratch(&job->shape, job->points), sizeof *s->line);
    s->pair = ikt_claim(held, IKT_PACK_ROWS * b->rows->d, sizeof *s->pair);
    return held->status;
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
    b->ball = ikt_claim(b->held, blocks, sizeof *b->ball);
    IKT_TRY(b->held->status);
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

static ikt_status create_block(ikt_fisher_batch *b, int64_t most, bool is_lazy) {
    ikt_arrays *held = b->held;
    const ikt_class_lanes *shape = &b->rows->job.shape;
    const int64_t d = b->rows->d;
    ikt_fisher_block *out = &b->block;
    out->number = ikt_claim(held, most, sizeof *out->number);
    out->weight = ikt_claim(held, most, sizeof *out->weight);
    out->root = ikt_claim(held, most, sizeof *out->root);
    out->lane = ikt_claim(held, most, sizeof *out->lane);
    out->support = ikt_claim(held, most, sizeof *out->support);
    out->packed_root =
        ikt_claim(held, ikt_packed_floats(most, shape->classes), sizeof *out->packed_root);
    if (d > 0) out->x = ikt_claim(held, most, sizeof *out->x);
    if (d > 0) out->packed_x = ikt_claim(held, ikt_packed_floats(most, d), sizeof *out->packed_x);
    if (!has_middle(b->rows)) return held->status;
    if (is_lazy) out->has_half = ikt_claim(held, most, 1);
    out->half = ikt_claim(held, most * shape->lanes, sizeof *out->half);
    return held->status;
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
    const ikt_fisher_rows *rows = b->rows;
    const ikt_class_lanes *shape = &rows->job.shape;
    ikt_arrays *held = b->held;
    b->scratch = ikt_claim(held, b->threads, sizeof *b->scratch);
    IKT_TRY(held->status);
    for (int t = 0; t < b->threads; t++)
        IKT_TRY(create_scratch(b, block_rows, &b->scratch[t]));
    b->chord_row = ikt_claim(held, most * shape->classes, sizeof *b->chord_row);
    if (b->selected > 0) {
        const int64_t some = ikt_smaller(most, ikt_fisher_select_rows(b->selected));
        b->buffer = ikt_claim(held, some * IKT_SELECT_CAPACITY * b->selected, sizeof *b->buffer);
        b->select = ikt_claim(held, some, sizeof *b->select);
        b->near = ikt_claim(held, most, sizeof *b->near);
        b->last = ikt_claim(held, most, sizeof *b->last);
    }
    if (has_middle(rows)) b->half = ikt_claim(held, most * shape->lanes, sizeof *b->half);
    b->reach = ikt_claim(held, most / FISHER_OWN_ROWS + 1, 1);
    return create_block(b, block_rows, is_lazy);
}

ikt_status ikt_fisher_ring_create(ikt_fisher_batch *b, float **here, float **next) {
    const ikt_fisher_rows *rows = b->rows;
    const ikt_class_lanes *shape = &rows->job.shape;
    const int64_t floats =
        2 + shape->classes + FISHER_BLOCK_ROWS * (1 + shape->lanes + shape->wide + rows->d);
    if (rows->is_ordered) IKT_TRY(make_balls(b));
    *here = ikt_claim(b->held, floats, sizeof **here);
    *next = ikt_claim(b->held, floats, sizeof **next);
    return b->held->status;
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
    ikt_fisher_own made IKT_AT_END(ikt_fisher_own_destroy) = {0};
    int64_t from, end;
    *out = (ikt_fisher_own){0};
    IKT_FIND_FIRST(from, 0, count, row[from] >= rows->rows.first);
    IKT_FIND_FIRST(end, from, count, row[end] >= rows->rows.first + rows->rows.count);
    made.count = end - from;
    IKT_ARRAYS(held, ctx, "fisher blocks");
    made.row = ikt_claim_kept(&held, made.count, sizeof *made.row);
    made.weight = ikt_claim_kept(&held, made.count * lanes, sizeof *made.weight);
    made.root = ikt_claim_kept(&held, made.count * wide, sizeof *made.root);
    if (d > 0) made.x = ikt_claim_kept(&held, made.count * d, sizeof *made.x);
    IKT_TRY(held.status);
    for (int64_t a = 0; a < made.count; a++) {
        const int64_t i = row[from + a] - rows->rows.first;
        made.row[a] = row[from + a];
        memcpy(made.weight + a * lanes, rows->weight + i * lanes, (size_t)lanes * sizeof(float));
        memcpy(made.root + a * wide, rows->root + i * wide, (size_t)wide * sizeof(float));
        if (d > 0) memcpy(made.x + a * d, rows->x + i * d, (size_t)d * sizeof(float));
    }
    return ikt_give(out, made);
}

void ikt_fisher_own_destroy(ikt_fisher_own *own) {
    ikt_free_all(&own->row, &own->weight, &own->root, &own->x);
    own->count = 0;
}
