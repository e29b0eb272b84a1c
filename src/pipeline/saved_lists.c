/* The checkpoint of P: lists with weights, from which P follows, or with scores where the objective
 * takes lists; and what was learned while they were made. See line.h. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/watch.h"
#include "pipeline/line.h"

enum { HEADS = 2, PARTS_MOST = HEADS + 4 };

/* What is known beside the lists; the numbers are in the order of the file. */
typedef struct {
    struct {
        int64_t k, psi, pool, zero_similarity, recall_sample, is_ordered, has_start, cell_sample,
            passes, rounds;
    } number;
    struct {
        double accuracy, found, similarity, cells_differing, proved, longest;
        double weight; /* of every entry of the lists; 0: they differ, and the file has them all */
    } real;
    uint32_t *slot; /* [rows.count] of the own rows, where they are ordered */
} facts;

/* LOCAL. The table of the parts, heads first; returns how many there are. */
static int64_t name_parts(const ikt_probabilities *p, facts *f, ikt_part part[PARTS_MOST]) {
    const ikt_rows *rows = &p->rows;
    const int64_t k = p->lists.k, q = p->hooks->q;
    int64_t count = 0;
    part[count++] = ikt_part_shared("numbers", IKT_PART_I64, IKT_NUMBERS(f->number), &f->number);
    part[count++] = ikt_part_shared("reals", IKT_PART_F64, IKT_NUMBERS(f->real), &f->real);
    part[count++] = ikt_part_rows("row", IKT_PART_U32, rows, k, p->lists.row);
    if (!(f->real.weight > 0))
        part[count++] = ikt_part_rows("weight", IKT_PART_F32, rows, k, p->lists.score);
    if (f->number.is_ordered)
        part[count++] = ikt_part_rows("position", IKT_PART_U32, rows, 0, f->slot);
    if (f->number.has_start)
        part[count++] = ikt_part_rows("start", IKT_PART_F32, rows, q, p->start);
    return count;
}

/* COLLECTIVE. The weight that all entries of the lists of all ranks have; 0 where they differ. */
static double common_weight(ikt_context *ctx, const ikt_neighbours *lists) {
    const int64_t entries = lists->n_local * lists->k;
    double bounds[2] = {-INFINITY, -INFINITY}; /* the most, and the least with a minus sign */
    if (entries > 0) {
        bounds[0] = (double)lists->score[0];
        bounds[1] = -bounds[0];
    }
    for (int64_t e = 1; e < entries; e++)
        if (lists->score[e] != lists->score[0]) {
            bounds[0] = bounds[1] = INFINITY;
            break;
        }
    ikt_max_f64(ctx, bounds, 2);
    return bounds[0] == -bounds[1] ? bounds[0] : 0;
}

static ikt_status save(void *self) {
    const ikt_probabilities *p = self;
    ikt_context *ctx = p->hooks->ctx;
    ikt_part part[PARTS_MOST];
    facts f = {.number = {.k = p->k,
                          .psi = p->psi,
                          .pool = p->pool,
                          .zero_similarity = p->zero_similarity,
                          .recall_sample = p->recall.sample,
                          .is_ordered = p->is_ordered,
                          .has_start = p->start != NULL,
                          .cell_sample = p->cells.sample,
                          .passes = p->passes,
                          .rounds = p->rounds},
               .real = {.accuracy = p->accuracy,
                        .found = p->recall.found,
                        .similarity = p->recall.similarity,
                        .cells_differing = p->cells.differing,
                        .proved = p->classes.proved,
                        .longest = p->classes.longest,
                        .weight = common_weight(ctx, &p->lists)}};
    IKT_ARRAYS(held, ctx, "checkpoint");
    if (p->is_ordered) {
        f.slot = ikt_claim(&held, p->rows.count, sizeof *f.slot);
        IKT_TRY(ikt_arrays_agree(&held));
        IKT_TRY(ikt_order_slots(ctx, &p->order, f.slot));
    }
    return ikt_checkpoint_write(p->hooks->checkpoint, IKT_STAGE_AFFINITY, part,
                                name_parts(p, &f, part));
}

ikt_status ikt_probabilities_save_where_due(ikt_context *ctx, ikt_probabilities *p) {
    if (!p->hooks) return IKT_OK;
    const ikt_saver saver = {p, save, ikt_checkpoint_folder(p->hooks->checkpoint), 0};
    ikt_checkpoint_expect(p->hooks->checkpoint, 8 * p->rows.n * p->lists.k);
    return ikt_watch_stage_end(ctx, &saver);
}

/* LOCAL. Room for what the heads say that there is. */
static ikt_status make_room(ikt_context *ctx, facts *f, ikt_arrays *held, ikt_probabilities *out) {
    const ikt_rows *rows = &out->rows;
    IKT_TRY(ikt_neighbours_create(ctx, rows, f->number.k, &out->lists));
    if (f->number.is_ordered) f->slot = ikt_claim(held, rows->count, sizeof *f->slot);
    IKT_TRY(held->status);
    if (!f->number.has_start) return IKT_OK;
    return ikt_alloc(ctx, &out->start, out->hooks->q * rows->count, sizeof *out->start,
                     "embedding");
}

/* COLLECTIVE. There is everything in a file but P itself. */
static ikt_status load(ikt_context *ctx, ikt_stage_file *file, ikt_probabilities *out) {
    ikt_part part[PARTS_MOST];
    facts f = {.slot = NULL};
    IKT_ARRAYS(held, ctx, "checkpoint");
    name_parts(out, &f, part);
    IKT_TRY(ikt_stage_file_read(file, part, HEADS));
    const double weight = f.real.weight; /* one that a float can be */
    if (f.number.k < 1 || f.number.k >= out->rows.n || !(weight >= 0 && weight <= (double)FLT_MAX))
        return ikt_fail(ctx, IKT_ERR_DATA, "a checkpoint of P makes no sense");
    IKT_TRY(ikt_agree(ctx, make_room(ctx, &f, &held, out)));
    const int64_t count = name_parts(out, &f, part);
    IKT_TRY(ikt_stage_file_read(file, part + HEADS, count - HEADS));
    for (int64_t e = 0; weight > 0 && e < out->rows.count * f.number.k; e++)
        out->lists.score[e] = (float)weight;
    out->k = f.number.k;
    out->psi = f.number.psi;
    out->pool = f.number.pool;
    out->zero_similarity = f.number.zero_similarity;
    out->recall = (ikt_recall){f.number.recall_sample, f.real.found, f.real.similarity};
    out->cells = (ikt_code_check){f.number.cell_sample, f.real.cells_differing};
    out->passes = f.number.passes;
    out->rounds = f.number.rounds;
    out->is_ordered = f.number.is_ordered != 0;
    out->accuracy = f.real.accuracy;
    out->classes.proved = f.real.proved;
    out->classes.longest = f.real.longest;
    return out->is_ordered ? ikt_order_create(ctx, &out->rows, f.slot, &out->order) : IKT_OK;
}

ikt_status ikt_probabilities_begin(ikt_context *ctx, ikt_checkpoint_hooks *hooks,
                                   const ikt_rows *rows, ikt_probabilities *out) {
    ikt_stage_file *file IKT_AT_END(ikt_stage_file_close) = NULL;
    memset(out, 0, sizeof *out);
    out->rows = *rows;
    out->hooks = hooks;
    out->accuracy = -1;
    out->rounds = -1;
    if (!hooks) return IKT_OK;
    IKT_TRY(ikt_checkpoint_find(hooks->checkpoint, IKT_STAGE_AFFINITY, &file));
    if (!file) return IKT_OK;
    IKT_TRY(load(ctx, file, out));
    out->is_found = true;
    ikt_log(ctx, IKT_LOG_STAGE, "P: goes on from %s", ikt_checkpoint_folder(hooks->checkpoint));
    return IKT_OK;
}

void ikt_probabilities_note(const ikt_probabilities *p, ikt_settings *settings) {
    if (p->k > 0) settings->affinity.neighbours = p->k;
    if (p->psi == 0) return;
    settings->isolation.psi = p->psi;
    settings->isolation.pool = p->pool;
}

void ikt_probabilities_destroy(ikt_probabilities *p) {
    ikt_free_all(&p->start, &p->scores);
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
