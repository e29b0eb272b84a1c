/* Checkpoints of codes, neighbour lists and the loop. See checkpoint.h. */
#include "base/log.h"
#include "base/memory.h"
#include "checkpoint/checkpoint.h"
#include "neighbours/second_neighbours.h"

/* --- codes ------------------------------------------------------------------------------------ */

enum { CODES_PARTS = 4 };

/* LOCAL. The table of the parts; returns how many there are. */
static int64_t codes_parts(const ikt_checkpoint_hooks *k, const ikt_codes *codes,
                           const ikt_code_places *places, const int32_t *done,
                           ikt_part part[CODES_PARTS]) {
    int64_t count = 2;
    part[0] = ikt_part_rows("codes", IKT_PART_U8, k->rows, codes->stride, codes->code);
    part[1] = ikt_part_rows("done", IKT_PART_U32, k->rows, 0, (void *)done);
    if (places->coarse)
        part[count++] = ikt_part_rows("coarse", IKT_PART_U16, k->rows, 0, places->coarse);
    if (places->near > 0)
        part[count++] = ikt_part_rows("near", IKT_PART_U32, k->rows, places->near, places->list);
    return count;
}

static ikt_status load_codes(void *self, ikt_codes *codes, const ikt_code_places *places,
                             int32_t *done) {
    ikt_checkpoint_hooks *k = self;
    ikt_part part[CODES_PARTS];
    ikt_stage_file *file IKT_AT_END(ikt_stage_file_close) = NULL;
    ikt_checkpoint_expect(k->checkpoint, k->rows->n * codes->stride);
    IKT_TRY(ikt_checkpoint_find(k->checkpoint, IKT_STAGE_CODES, &file));
    if (!file) return IKT_OK;
    IKT_TRY(ikt_stage_file_read(file, part, codes_parts(k, codes, places, done, part)));
    ikt_log(k->ctx, IKT_LOG_STAGE, "codes: goes on from %s", ikt_checkpoint_folder(k->checkpoint));
    return IKT_OK;
}

static ikt_status save_codes(void *self, const ikt_codes *codes, const ikt_code_places *places,
                             const int32_t *done) {
    ikt_checkpoint_hooks *k = self;
    ikt_part part[CODES_PARTS];
    const int64_t count = codes_parts(k, codes, places, done, part);
    return ikt_checkpoint_write(k->checkpoint, IKT_STAGE_CODES, part, count);
}

/* --- lists ------------------------------------------------------------------------------------ */

enum { LIST_PARTS = 5 };

typedef struct {
    int64_t round, near; /* how many nearest are set aside */
} list_numbers;

/* LOCAL. The first part tells the numbers. */
static int64_t list_parts(const ikt_checkpoint_hooks *k, const ikt_neighbours *lists,
                          const ikt_list_progress *progress, list_numbers *number,
                          ikt_part part[LIST_PARTS]) {
    part[0] = ikt_part_shared("numbers", IKT_PART_I64, IKT_NUMBERS(*number), number);
    part[1] = ikt_part_rows("row", IKT_PART_U32, k->rows, lists->k, lists->row);
    part[2] = ikt_part_rows("score", IKT_PART_F32, k->rows, lists->k, lists->score);
    part[3] = ikt_part_rows("done", IKT_PART_U8, k->rows, 0, progress->done);
    part[4] = ikt_part_rows("nearest", IKT_PART_U32, k->rows, progress->near, progress->nearest);
    return number->near > 0 ? LIST_PARTS : LIST_PARTS - 1;
}

/* LOCAL. Room for those set aside. */
static ikt_status make_room(const ikt_checkpoint_hooks *k, int64_t near,
                            ikt_list_progress *progress) {
    if (progress->near != 0 && progress->near != near)
        return ikt_fail(k->ctx, IKT_ERR_DATA, "a checkpoint of neighbour lists makes no sense");
    if (progress->near == 0) return IKT_OK;
    return ikt_alloc(k->ctx, &progress->nearest, k->rows->count * progress->near,
                     sizeof *progress->nearest, "refine");
}

/* Reads how far the lists are, then as many parts as that says. */
static ikt_status load_lists(void *self, ikt_neighbours *lists, ikt_list_progress *progress) {
    ikt_checkpoint_hooks *k = self;
    list_numbers number = {0, 0};
    ikt_part part[LIST_PARTS];
    ikt_stage_file *file IKT_AT_END(ikt_stage_file_close) = NULL;
    const int64_t near = ikt_second_neighbours_near(lists->k);
    ikt_checkpoint_expect(k->checkpoint, (8 * lists->k + 4 * near) * k->rows->n);
    IKT_TRY(ikt_checkpoint_find(k->checkpoint, IKT_STAGE_NEIGHBOURS, &file));
    if (!file) return IKT_OK;
    list_parts(k, lists, progress, &number, part);
    IKT_TRY(ikt_stage_file_read(file, part, 1));
    progress->round = number.round;
    progress->near = number.near;
    IKT_TRY(ikt_agree(k->ctx, make_room(k, near, progress)));
    const int64_t count = list_parts(k, lists, progress, &number, part);
    IKT_TRY(ikt_stage_file_read(file, part + 1, count - 1));
    ikt_log(k->ctx, IKT_LOG_STAGE, "neighbours: goes on from %s",
            ikt_checkpoint_folder(k->checkpoint));
    return IKT_OK;
}

static ikt_status save_lists(void *self, const ikt_neighbours *lists,
                             const ikt_list_progress *progress) {
    ikt_checkpoint_hooks *k = self;
    /* A rank without rows may hold no array: the sizes are what all agree on. */
    list_numbers number = {progress->round, progress->nearest ? progress->near : 0};
    ikt_part part[LIST_PARTS];
    const int64_t count = list_parts(k, lists, progress, &number, part);
    return ikt_checkpoint_write(k->checkpoint, IKT_STAGE_NEIGHBOURS, part, count);
}

/* --- the loop --------------------------------------------------------------------------------- */

static ikt_status save_loop(void *self, const ikt_loop_state *state) {
    ikt_checkpoint_hooks *k = self;
    ikt_loop_parts parts IKT_AT_END(ikt_loop_parts_destroy) = {.count = 0};
    IKT_TRY(ikt_agree(k->ctx, ikt_loop_parts_make(k->ctx, k->rows, state, &parts)));
    return ikt_checkpoint_write(k->checkpoint, IKT_STAGE_LAYOUT, parts.part, parts.count);
}

static ikt_status read_parts(void *file, const ikt_part *parts, int64_t count) {
    return ikt_stage_file_read(file, parts, count);
}

ikt_status ikt_checkpoint_load_loop(ikt_checkpoint_hooks *k, ikt_loop_state *state, bool *found) {
    ikt_stage_file *file IKT_AT_END(ikt_stage_file_close) = NULL;
    *found = false;
    IKT_TRY(ikt_checkpoint_find(k->checkpoint, IKT_STAGE_LAYOUT, &file));
    if (!file) return IKT_OK;
    IKT_TRY(ikt_loop_parts_read(k->ctx, k->rows, k->layout, read_parts, file, state));
    *found = true;
    ikt_log(k->ctx, IKT_LOG_STAGE, "the loop goes on at iteration %lld, from %s",
            (long long)state->iteration, ikt_checkpoint_folder(k->checkpoint));
    return IKT_OK;
}

void ikt_checkpoint_hooks_make(ikt_context *ctx, ikt_checkpoint *checkpoint, const ikt_rows *rows,
                               const ikt_layout_settings *layout, ikt_checkpoint_hooks *out) {
    const char *where = ikt_checkpoint_folder(checkpoint);
    *out = (ikt_checkpoint_hooks){.ctx = ctx,
                                  .checkpoint = checkpoint,
                                  .rows = rows,
                                  .layout = layout,
                                  .q = layout->dimensions,
                                  .codes = {out, where, load_codes, save_codes},
                                  .lists = {out, where, load_lists, save_lists},
                                  .loop = {out, where, save_loop}};
}
