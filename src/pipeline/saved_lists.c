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
static int64_t name_parts(const ikt_line *line, facts *f, ikt_part part[PARTS_MOST]) {
    const ikt_rows *rows = line->rows;
    const int64_t k = line->lists.k, q = line->options->hooks->q;
    int64_t count = 0;
    part[count++] = ikt_part_shared("numbers", IKT_PART_I64, IKT_NUMBERS(f->number), &f->number);
    part[count++] = ikt_part_shared("reals", IKT_PART_F64, IKT_NUMBERS(f->real), &f->real);
    part[count++] = ikt_part_rows("row", IKT_PART_U32, rows, k, line->lists.row);
    if (!(f->real.weight > 0))
        part[count++] = ikt_part_rows("weight", IKT_PART_F32, rows, k, line->lists.score);
    if (f->number.is_ordered)
        part[count++] = ikt_part_rows("position", IKT_PART_U32, rows, 0, f->slot);
    if (f->number.has_start)
        part[count++] = ikt_part_rows("start", IKT_PART_F32, rows, q, line->start);
    return count;
}

/* COLLECTIVE. The weight that all entries of the lists of all ranks have; 0 where they differ. */
static double common_weight(ikt_context *ctx, const ikt_neighbours *lists) {
    const int64_t entries = lists->n_local * lists->k;
    double bounds[2] = {-INFINITY, -INFINITY}; /* the most, and the least with a minus sign */
    for (int64_t e = 0; e < entries && bounds[0] <= -bounds[1]; e++) { /* until two differ */
        bounds[0] = fmax(bounds[0], (double)lists->score[e]);
        bounds[1] = fmax(bounds[1], -(double)lists->score[e]);
    }
    ikt_max_f64(ctx, bounds, 2);
    return bounds[0] == -bounds[1] ? bounds[0] : 0;
}

static ikt_status save(void *self) {
    const ikt_line *line = self;
    ikt_context *ctx = line->ctx;
    ikt_part part[PARTS_MOST];
    facts f = {.number = {.k = line->k,
                          .psi = line->psi,
                          .pool = line->pool,
                          .zero_similarity = line->zero_similarity,
                          .recall_sample = line->recall.sample,
                          .is_ordered = line->is_ordered,
                          .has_start = line->start != NULL,
                          .cell_sample = line->cells.sample,
                          .passes = line->passes,
                          .rounds = line->rounds},
               .real = {.accuracy = line->accuracy,
                        .found = line->recall.found,
                        .similarity = line->recall.similarity,
                        .cells_differing = line->cells.differing,
                        .proved = line->classes.proved,
                        .longest = line->classes.longest,
                        .weight = common_weight(ctx, &line->lists)}};
    IKT_ARRAYS(held, ctx, "checkpoint");
    if (line->is_ordered) {
        f.slot = ikt_claim(&held, line->rows->count, sizeof *f.slot);
        IKT_TRY(ikt_arrays_agree(&held));
        IKT_TRY(ikt_order_slots(ctx, &line->order, f.slot));
    }
    return ikt_checkpoint_write(line->options->hooks->checkpoint, IKT_STAGE_AFFINITY, part,
                                name_parts(line, &f, part));
}

ikt_status ikt_line_save_where_due(ikt_line *line) {
    const ikt_checkpoint_hooks *hooks = line->options->hooks;
    if (!hooks) return IKT_OK;
    const ikt_saver saver = {line, save, ikt_checkpoint_folder(hooks->checkpoint), 0};
    ikt_checkpoint_expect(hooks->checkpoint, 8 * line->rows->n * line->lists.k);
    return ikt_watch_stage_end(line->ctx, &saver);
}

/* LOCAL. Room for what the heads say that there is. */
static ikt_status make_room(ikt_line *line, facts *f, ikt_arrays *held) {
    ikt_context *ctx = line->ctx;
    const ikt_rows *rows = line->rows;
    IKT_TRY(ikt_neighbours_create(ctx, rows, f->number.k, &line->lists));
    if (f->number.is_ordered) f->slot = ikt_claim(held, rows->count, sizeof *f->slot);
    IKT_TRY(held->status);
    if (!f->number.has_start) return IKT_OK;
    return ikt_alloc(ctx, &line->start, line->options->hooks->q * rows->count, sizeof *line->start,
                     "embedding");
}

/* COLLECTIVE. There is everything in a file but P itself. */
static ikt_status load(ikt_line *line, ikt_stage_file *file) {
    ikt_context *ctx = line->ctx;
    ikt_part part[PARTS_MOST];
    facts f = {.slot = NULL};
    IKT_ARRAYS(held, ctx, "checkpoint");
    name_parts(line, &f, part);
    IKT_TRY(ikt_stage_file_read(file, part, HEADS));
    const double weight = f.real.weight; /* one that a float can be */
    if (f.number.k < 1 || f.number.k >= line->rows->n ||
        !(weight >= 0 && weight <= (double)FLT_MAX))
        return ikt_fail(ctx, IKT_ERR_DATA, "a checkpoint of P makes no sense");
    IKT_TRY(ikt_agree(ctx, make_room(line, &f, &held)));
    const int64_t count = name_parts(line, &f, part);
    IKT_TRY(ikt_stage_file_read(file, part + HEADS, count - HEADS));
    for (int64_t e = 0; weight > 0 && e < line->rows->count * f.number.k; e++)
        line->lists.score[e] = (float)weight;
    line->k = f.number.k;
    line->psi = f.number.psi;
    line->pool = f.number.pool;
    line->zero_similarity = f.number.zero_similarity;
    line->recall = (ikt_recall){f.number.recall_sample, f.real.found, f.real.similarity};
    line->cells = (ikt_code_check){f.number.cell_sample, f.real.cells_differing};
    line->passes = f.number.passes;
    line->rounds = f.number.rounds;
    line->is_ordered = f.number.is_ordered != 0;
    line->accuracy = f.real.accuracy;
    line->classes.proved = f.real.proved;
    line->classes.longest = f.real.longest;
    return line->is_ordered ? ikt_order_create(ctx, line->rows, f.slot, &line->order) : IKT_OK;
}

ikt_status ikt_line_load(ikt_line *line) {
    const ikt_checkpoint_hooks *hooks = line->options->hooks;
    ikt_stage_file *file IKT_AT_END(ikt_stage_file_close) = NULL;
    line->accuracy = line->recall.found = -1;
    line->rounds = -1;
    if (!hooks) return IKT_OK;
    IKT_TRY(ikt_checkpoint_find(hooks->checkpoint, IKT_STAGE_AFFINITY, &file));
    if (!file) return IKT_OK;
    IKT_TRY(load(line, file));
    line->is_found = true;
    ikt_log(line->ctx, IKT_LOG_STAGE, "P: goes on from %s",
            ikt_checkpoint_folder(hooks->checkpoint));
    return IKT_OK;
}

void ikt_line_note(const ikt_line *line, ikt_settings *settings) {
    if (line->k > 0) settings->affinity.neighbours = line->k;
    if (line->psi == 0) return;
    settings->isolation.psi = line->psi;
    settings->isolation.pool = line->pool;
}
