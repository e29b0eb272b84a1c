/* The checkpoint of P: lists with weights, from which P follows, and what was learned while they
 * were made. See probabilities.h. */
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/watch.h"
#include "pipeline/probabilities.h"

enum { NUMBERS = 9, REALS = 6, HEADS = 2, PARTS_MOST = HEADS + 4 };

/* What is known beside the lists. */
typedef struct {
    int64_t number[NUMBERS];
    double real[REALS];
    uint32_t *slot; /* [rows.count] of the own rows, where they are ordered */
} facts;

/* LOCAL. The table of the parts, heads first; returns how many there are. */
static int64_t name_parts(const ikt_probabilities *p, const facts *f, ikt_part part[PARTS_MOST]) {
    const ikt_rows *rows = &p->rows;
    const int64_t k = p->lists.k, q = p->hooks->q;
    int64_t count = 0;
    part[count++] = ikt_part_shared("numbers", IKT_PART_I64, NUMBERS, (void *)f->number);
    part[count++] = ikt_part_shared("reals", IKT_PART_F64, REALS, (void *)f->real);
    part[count++] = ikt_part_rows("row", IKT_PART_U32, rows, k, p->lists.row);
    part[count++] = ikt_part_rows("weight", IKT_PART_F32, rows, k, p->lists.score);
    if (f->number[5]) part[count++] = ikt_part_rows("position", IKT_PART_U32, rows, 0, f->slot);
    if (f->number[6]) part[count++] = ikt_part_rows("start", IKT_PART_F32, rows, q, p->start);
    return count;
}

typedef struct {
    ikt_context *ctx;
    ikt_probabilities *p;
} saving;

static ikt_status save(void *self) {
    ikt_context *ctx = ((const saving *)self)->ctx;
    const ikt_probabilities *p = ((const saving *)self)->p;
    ikt_part part[PARTS_MOST];
    ikt_status st = IKT_OK;
    facts f = {.number = {p->k, p->psi, p->pool, p->zero_similarity, p->recall.sample,
                          p->is_ordered, p->start != NULL, p->cells.sample, p->rounds},
               .real = {p->accuracy, p->recall.found, p->recall.similarity, p->cells.differing,
                        p->classes.proved, p->classes.longest}};
    if (p->is_ordered) st = ikt_alloc(ctx, &f.slot, p->rows.count, sizeof *f.slot, "checkpoint");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK && p->is_ordered) st = ikt_order_slots(ctx, &p->order, f.slot);
    if (st == IKT_OK)
        st = ikt_checkpoint_write(p->hooks->checkpoint, IKT_STAGE_AFFINITY, part,
                                  name_parts(p, &f, part));
    ikt_free(&f.slot);
    return st;
}

ikt_status ikt_probabilities_save_where_due(ikt_context *ctx, ikt_probabilities *p) {
    if (!p->hooks) return IKT_OK;
    saving s = {ctx, p};
    const ikt_saver saver = {&s, save, ikt_checkpoint_folder(p->hooks->checkpoint), 0};
    ikt_checkpoint_expect(p->hooks->checkpoint, 8 * p->rows.n * p->lists.k);
    return ikt_watch_stage_end(ctx, &saver);
}

ikt_status ikt_probabilities_begin(ikt_context *ctx, ikt_checkpoint_hooks *hooks,
                                   const ikt_rows *rows, ikt_probabilities *out) {
    ikt_part part[PARTS_MOST];
    ikt_stage_file *file;
    facts f = {.slot = NULL};
    memset(out, 0, sizeof *out);
    out->rows = *rows;
    out->hooks = hooks;
    out->accuracy = -1;
    out->rounds = -1;
    if (!hooks) return IKT_OK;
    IKT_TRY(ikt_checkpoint_find(hooks->checkpoint, IKT_STAGE_AFFINITY, &file));
    if (!file) return IKT_OK;
    /* There is everything of it but P itself. */
    name_parts(out, &f, part);
    ikt_status st = ikt_stage_file_read(file, part, HEADS);
    if (st == IKT_OK && (f.number[0] < 1 || f.number[0] >= rows->n)) {
        st = ikt_agree(ctx, ikt_fail(ctx, IKT_ERR_DATA, "a checkpoint of P makes no sense"));
    } else if (st == IKT_OK) {
        st = ikt_neighbours_create(ctx, rows, f.number[0], &out->lists);
        if (st == IKT_OK && f.number[5])
            st = ikt_alloc(ctx, &f.slot, rows->count, sizeof *f.slot, "checkpoint");
        if (st == IKT_OK && f.number[6])
            st = ikt_alloc(ctx, &out->start, hooks->q * rows->count, sizeof *out->start,
                           "embedding");
        st = ikt_agree(ctx, st);
    }
    if (st == IKT_OK) {
        const int64_t count = name_parts(out, &f, part);
        st = ikt_stage_file_read(file, part + HEADS, count - HEADS);
    }
    if (st == IKT_OK) {
        out->k = f.number[0];
        out->psi = f.number[1];
        out->pool = f.number[2];
        out->zero_similarity = f.number[3];
        out->recall = (ikt_recall){f.number[4], f.real[1], f.real[2]};
        out->cells = (ikt_code_check){f.number[7], f.real[3]};
        out->rounds = f.number[8];
        out->is_ordered = f.number[5] != 0;
        out->accuracy = f.real[0];
        out->classes.proved = f.real[4];
        out->classes.longest = f.real[5];
        if (out->is_ordered) st = ikt_order_create(ctx, rows, f.slot, &out->order);
    }
    ikt_free(&f.slot);
    ikt_stage_file_close(&file);
    out->is_found = st == IKT_OK;
    if (out->is_found)
        ikt_log(ctx, IKT_LOG_STAGE, "P: goes on from %s", ikt_checkpoint_folder(hooks->checkpoint));
    else
        ikt_neighbours_destroy(&out->lists);
    return st;
}

void ikt_probabilities_destroy(ikt_probabilities *p) {
    ikt_free(&p->start);
    ikt_free(&p->scores);
    ikt_neighbours_destroy(&p->lists);
    ikt_neighbours_destroy(&p->neighbours);
    ikt_codes_destroy(&p->codes);
    ikt_features_destroy(&p->features);
    ikt_joined_destroy(&p->joined);
    ikt_directed_destroy(&p->weights);
    ikt_order_destroy(&p->order);
    ikt_graph_destroy(&p->graph);
    ikt_dense_destroy(&p->dense);
    ikt_whole_destroy(&p->whole);
    ikt_class_outcome_destroy(&p->classes);
}
