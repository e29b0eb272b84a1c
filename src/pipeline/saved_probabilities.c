/* Weighted neighbour lists in a checkpoint. See saved_probabilities.h. */
#include "pipeline/saved_probabilities.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/watch.h"

enum { NUMBERS = 7, REALS = 3, HEADS = 2, PARTS_MOST = HEADS + 4 };

static const char purpose[] = "checkpoint";

/* What is known beside the lists. */
typedef struct {
    int64_t number[NUMBERS];
    double real[REALS];
    uint32_t *slot; /* [rows->count] of the own rows, where they are ordered */
} facts;

static void note_facts(const ikt_probabilities *p, facts *f) {
    *f = (facts){.number = {p->k, p->psi, p->pool, p->zero_similarity, p->recall.sample,
                            p->is_ordered, p->start != NULL},
                 .real = {p->accuracy, p->recall.found, p->recall.similarity}};
}

static void take_facts(const facts *f, ikt_probabilities *p) {
    p->k = f->number[0];
    p->psi = f->number[1];
    p->pool = f->number[2];
    p->zero_similarity = f->number[3];
    p->recall.sample = f->number[4];
    p->is_ordered = f->number[5] != 0;
    p->accuracy = f->real[0];
    p->recall.found = f->real[1];
    p->recall.similarity = f->real[2];
}

/* LOCAL. The table of the parts, heads first; returns how many there are. */
static int64_t name_parts(const ikt_checkpoint_hooks *k, const facts *f,
                          const ikt_neighbours *lists, float *start, ikt_part part[PARTS_MOST]) {
    int64_t count = 0;
    part[count++] = ikt_part_shared("numbers", IKT_PART_I64, NUMBERS, (void *)f->number);
    part[count++] = ikt_part_shared("reals", IKT_PART_F64, REALS, (void *)f->real);
    part[count++] = ikt_part_rows("row", IKT_PART_U32, k->rows, lists->k, lists->row);
    part[count++] = ikt_part_rows("weight", IKT_PART_F32, k->rows, lists->k, lists->score);
    if (f->number[5]) part[count++] = ikt_part_rows("position", IKT_PART_U32, k->rows, 0, f->slot);
    if (f->number[6]) part[count++] = ikt_part_rows("start", IKT_PART_F32, k->rows, k->q, start);
    return count;
}

/* --- writing -----------------------------------------------------------------------------------
 */

typedef struct {
    ikt_context *ctx;
    ikt_probabilities *p;
} saving;

static ikt_status save(void *self) {
    const saving *s = self;
    ikt_checkpoint_hooks *k = s->p->hooks;
    ikt_part part[PARTS_MOST];
    ikt_status st = IKT_OK;
    facts f;
    note_facts(s->p, &f);
    if (s->p->is_ordered) st = ikt_alloc(s->ctx, &f.slot, k->rows->count, sizeof *f.slot, purpose);
    st = ikt_agree(s->ctx, st);
    if (st == IKT_OK && s->p->is_ordered) st = ikt_order_slots(s->ctx, &s->p->order, f.slot);
    if (st == IKT_OK)
        st = ikt_checkpoint_write(k->checkpoint, IKT_STAGE_AFFINITY, part,
                                  name_parts(k, &f, &s->p->lists, s->p->start, part));
    ikt_free(&f.slot);
    return st;
}

ikt_status ikt_probabilities_save(ikt_context *ctx, ikt_probabilities *p) {
    if (!p->hooks) return IKT_OK;
    saving s = {ctx, p};
    const ikt_saver saver = {&s, save, ikt_checkpoint_folder(p->hooks->checkpoint)};
    ikt_checkpoint_expect(p->hooks->checkpoint, 8 * p->hooks->rows->n * p->lists.k);
    return ikt_watch_stage_end(ctx, &saver);
}

/* --- reading -----------------------------------------------------------------------------------
 */

/* LOCAL. Memory for what the heads announce. */
static ikt_status allocate(ikt_context *ctx, const ikt_checkpoint_hooks *k, facts *f, float **start,
                           ikt_neighbours *lists) {
    if (f->number[0] < 1 || f->number[0] >= k->rows->n)
        return ikt_fail(ctx, IKT_ERR_DATA, "a checkpoint of P makes no sense");
    IKT_TRY(ikt_neighbours_create(ctx, k->rows, f->number[0], lists));
    if (f->number[5]) IKT_TRY(ikt_alloc(ctx, &f->slot, k->rows->count, sizeof *f->slot, purpose));
    if (!f->number[6]) return IKT_OK;
    return ikt_alloc(ctx, start, k->q * k->rows->count, sizeof **start, "embedding");
}

static ikt_status read(ikt_context *ctx, ikt_stage_file *file, ikt_probabilities *p) {
    const ikt_checkpoint_hooks *k = p->hooks;
    ikt_neighbours *lists = &p->lists;
    ikt_part part[PARTS_MOST];
    facts f = {.slot = NULL};
    name_parts(k, &f, lists, NULL, part);
    ikt_status st = ikt_stage_file_read(file, part, HEADS);
    if (st == IKT_OK) st = ikt_agree(ctx, allocate(ctx, k, &f, &p->start, lists));
    if (st == IKT_OK) {
        const int64_t count = name_parts(k, &f, lists, p->start, part);
        st = ikt_stage_file_read(file, part + HEADS, count - HEADS);
    }
    if (st == IKT_OK) take_facts(&f, p);
    if (st == IKT_OK && p->is_ordered) st = ikt_order_create(ctx, k->rows, f.slot, &p->order);
    ikt_free(&f.slot);
    if (st != IKT_OK) ikt_neighbours_destroy(lists);
    return st;
}

ikt_status ikt_probabilities_load(ikt_context *ctx, ikt_probabilities *p) {
    ikt_stage_file *file;
    if (!p->hooks) return IKT_OK;
    IKT_TRY(ikt_checkpoint_find(p->hooks->checkpoint, IKT_STAGE_AFFINITY, &file));
    if (!file) return IKT_OK;
    ikt_status st = read(ctx, file, p);
    ikt_stage_file_close(&file);
    p->is_found = st == IKT_OK;
    if (p->is_found)
        ikt_log(ctx, IKT_LOG_STAGE, "P: goes on from %s",
                ikt_checkpoint_folder(p->hooks->checkpoint));
    return st;
}
