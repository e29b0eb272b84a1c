/* The passes over the rows that fill their codes. See codes_pass.h. */
#include "isolation/codes_pass.h"

#include <string.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/watch.h"
#include "linalg/blocks.h"

void ikt_codes_destroy(ikt_codes *codes) {
    ikt_free(&codes->code);
    *codes = (ikt_codes){0};
}

int64_t ikt_codes_memory(int64_t n_local, int64_t psi, int64_t t) {
    return n_local * ikt_divide_up(t * (psi <= 256 ? 1 : 2), 64) * 64;
}

/* Whether `count` rows from own row `row` on have `entries` entries. */
static bool is_done(const ikt_coding *c, int64_t row, int64_t count, int64_t entries) {
    if (!c->done) return false;
    for (int64_t i = row; i < row + count; i++)
        if (c->done[i] < entries) return false;
    return true;
}

static void note_done(ikt_coding *c, int64_t row, int64_t count, int64_t entries) {
    c->has_worked |= !is_done(c, row, count, entries);
    for (int64_t i = row; c->done && i < row + count; i++)
        if (c->done[i] < entries) c->done[i] = (int32_t)entries;
}

static ikt_status save(void *self) {
    const ikt_coding *c = self;
    return c->hooks->save(c->hooks->self, c->codes, c->coarse, c->done);
}

ikt_status ikt_coding_pass(ikt_coding *c, int64_t entries, ikt_coding_visitor *visit, void *self) {
    const ikt_row_range own = {c->distribution->first, c->distribution->count};
    const int64_t steps = ikt_stream_steps(c->ctx, own.count, c->block);
    const ikt_saver saver = {c, save, c->hooks ? c->hooks->where : NULL};
    for (int64_t step = 0; step < steps; step++) {
        ikt_row_range at = ikt_stream_step(own, c->block, step);
        const int64_t row = at.first - own.first, count = at.count;
        if (is_done(c, row, count, entries)) at.count = 0;
        if (c->is_sparse)
            IKT_TRY(ikt_dataset_read_sparse(c->data, at.first, at.count, &c->entries));
        else if (c->kernel->is_u8)
            IKT_TRY(ikt_dataset_read_u8(c->data, at.first, at.count, c->rows));
        else
            IKT_TRY(ikt_dataset_read(c->data, at.first, at.count, c->rows));
        if (at.count > 0) visit(self, row, at.count);
        note_done(c, row, count, entries);
        c->seen += count;
        ikt_progress(c->ctx, "rows coded", c->seen / c->passes, own.count, NULL);
        if (c->hooks) IKT_TRY(ikt_watch_pause_after(c->ctx, &saver, &c->has_worked));
    }
    return IKT_OK;
}

bool ikt_coding_is_complete(const ikt_coding *c) {
    const bool all = is_done(c, 0, c->distribution->count, c->model->t + 1);
    return c->done && ikt_max_one(c->ctx, !all) == 0;
}

ikt_status ikt_coding_end(ikt_coding *c) {
    const ikt_saver saver = {c, save, c->hooks ? c->hooks->where : NULL};
    note_done(c, 0, c->distribution->count, c->model->t + 1);
    return ikt_watch_stage_end(c->ctx, c->hooks ? &saver : NULL);
}

void ikt_coding_write(const ikt_coding *c, int64_t row, int64_t count, int64_t p,
                      const uint16_t *cell, int64_t step) {
    const ikt_codes *codes = c->codes;
    if (p == codes->t) {
        for (int64_t i = 0; i < count; i++)
            c->coarse[row + i] = cell[i * step];
        return;
    }
    char *at = (char *)codes->code + row * codes->stride + p * codes->width;
    for (int64_t i = 0; i < count; i++, at += codes->stride) {
        if (codes->width == 1)
            *(uint8_t *)at = (uint8_t)cell[i * step];
        else
            memcpy(at, &cell[i * step], sizeof *cell);
    }
}

void ikt_coding_report(const ikt_coding *c, int64_t length, int64_t distinct, int64_t open) {
    ikt_log(c->ctx, IKT_LOG_DETAIL,
            "codes: lists of %lld of %lld distinct centres; on this rank %lld of %lld rows needed "
            "all of them",
            (long long)length, (long long)distinct, (long long)open,
            (long long)c->distribution->count);
}

int64_t ikt_coding_batch(int64_t bytes, int64_t each, int64_t t) {
    int64_t batch = bytes / each;
    if (batch > t) batch = t;
    if (batch < 1) batch = 1;
    const int64_t passes = ikt_divide_up(t, batch);
    return passes > 0 ? ikt_divide_up(t, passes) : 1;
}
