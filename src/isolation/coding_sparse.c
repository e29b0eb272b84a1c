/* Codes of sparse rows: in one pass from lists, or some partitionings at a time.
 *
 * Advantage: centres are held and compared sparse, on every rank. Disadvantage: partitionings that
 * share no centres mean a pass over X for every batch whose centres fit the budget. */
#include <omp.h>

#include "base/log.h"
#include "base/memory.h"
#include "isolation/codes_sparse.h"
#include "isolation/coding.h"

typedef struct {
    ikt_coding *c;
    ikt_model part; /* the partitionings of the pass */
    int64_t first;  /* the first of them; t where it is the coarse one alone */
    ikt_centre_table table;
    ikt_sparse centres;
    ikt_sparse_coder coder;
    ikt_sparse_space *space; /* [threads] */
    uint16_t *cell;          /* [threads * rows of a tile * parts] */
    int64_t *tile;           /* [block + 1] where the tiles of the block at hand begin */
} sparse_job;

/* --- rows ------------------------------------------------------------------------------------- */

static void code_tile(const sparse_job *job, int64_t row, int64_t from, int64_t count) {
    const int64_t parts = job->table.parts, thread = omp_get_thread_num();
    uint16_t *cell = job->cell + thread * IKT_SPARSE_TILE_ROWS * parts;
    ikt_sparse_code(&job->coder, &job->space[thread], &job->c->entries, from, count, cell);
    for (int64_t p = 0; p < parts; p++)
        ikt_coding_write(job->c, row + from, count, job->first + p, cell + p, parts);
}

static void code_block(void *self, int64_t row, int64_t count) {
    const sparse_job *job = self;
    int64_t tiles = 0;
    for (int64_t from = 0; from < count; from = job->tile[tiles])
        job->tile[++tiles] = from + ikt_sparse_tile(&job->c->entries, from, count);
#pragma omp parallel for schedule(dynamic, 1) num_threads(job->c->threads)
    for (int64_t t = 0; t < tiles; t++)
        code_tile(job, row, job->tile[t], job->tile[t + 1] - job->tile[t]);
}

/* --- a pass ----------------------------------------------------------------------------------- */

static ikt_status make_spaces(sparse_job *job) {
    ikt_coding *c = job->c;
    const int64_t longest = ikt_dataset_longest_row(c->data);
    const int64_t cells = c->threads * IKT_SPARSE_TILE_ROWS * job->table.parts;
    IKT_TRY(ikt_alloc(c->ctx, &job->tile, c->block + 1, sizeof *job->tile, "lists"));
    IKT_TRY(ikt_alloc(c->ctx, &job->cell, cells, sizeof *job->cell, "lists"));
    IKT_TRY(ikt_alloc(c->ctx, &job->space, c->threads, sizeof *job->space, "lists"));
    for (int i = 0; i < c->threads; i++)
        IKT_TRY(ikt_sparse_space_create(c->ctx, &job->coder, longest, &job->space[i]));
    return IKT_OK;
}

static void end_pass(sparse_job *job) {
    for (int i = 0; job->space && i < job->c->threads; i++)
        ikt_sparse_space_destroy(&job->space[i]);
    ikt_free(&job->space);
    ikt_free(&job->cell);
    ikt_free(&job->tile);
    ikt_sparse_coder_destroy(&job->coder);
    ikt_sparse_destroy(&job->centres);
    ikt_centre_table_destroy(&job->table);
}

static void report(const sparse_job *job) {
    int64_t open = 0;
    for (int i = 0; i < job->c->threads; i++)
        open += job->space[i].open_rows;
    ikt_log(job->c->ctx, IKT_LOG_DETAIL,
            "codes: lists of %lld of %lld distinct centres; on this rank %lld of %lld rows needed "
            "all of them",
            (long long)job->coder.length, (long long)job->table.count, (long long)open,
            (long long)job->c->distribution->count);
}

/* COLLECTIVE. Codes of all own rows in the partitionings of job->part.
 *   entries   of a row that are there afterwards */
static ikt_status code_part(sparse_job *job, bool with_lists, int64_t entries) {
    ikt_coding *c = job->c;
    ikt_status st = ikt_agree(c->ctx, ikt_centre_table_create(c->ctx, &job->part, &job->table));
    if (st == IKT_OK)
        st = ikt_dataset_gather_sparse(ikt_dataset_model(c->data), job->table.row, job->table.count,
                                       &job->centres);
    if (st == IKT_OK)
        st = ikt_sparse_coder_create(c->ctx, &job->part, &job->table, &job->centres, with_lists,
                                     &job->coder);
    if (st == IKT_OK) st = make_spaces(job);
    st = ikt_agree(c->ctx, st);
    if (st == IKT_OK) st = ikt_coding_pass(c, entries, code_block, job);
    if (st == IKT_OK && with_lists) report(job);
    end_pass(job);
    return st;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Partitionings of a pass: the centres of a batch, as they are and indexed, fit the budget. */
static int64_t batch_of(ikt_codes_budget budget, int64_t psi, int64_t t, int64_t d,
                        double entries) {
    const int64_t held = psi * (int64_t)(entries + 1);
    int64_t batch =
        budget.batch_bytes / (ikt_sparse_coder_bytes(psi, 0, held) + psi * 24 + d / 256);
    if (batch > t) batch = t;
    if (batch < 1) batch = 1;
    const int64_t passes = (t + batch - 1) / batch;
    return passes > 0 ? (t + passes - 1) / passes : 1; /* passes of equal length */
}

static double mean_entries(const ikt_dataset *data) {
    return (double)ikt_dataset_entries(data) / (double)ikt_dataset_rows(data);
}

ikt_status ikt_coding_sparse(ikt_coding *c, bool with_lists) {
    const ikt_model *model = c->model;
    sparse_job job = {.c = c, .part = *model};
    ikt_status st = IKT_OK;
    c->passes = 1;
    if (with_lists) return code_part(&job, true, model->t + 1);
    const int64_t batch =
        batch_of(c->budget, model->psi, model->t, c->d, mean_entries(ikt_dataset_model(c->data)));
    c->passes = (model->t + batch - 1) / batch + (model->spec.coarse > 0);
    job.part.spec.coarse = 0;
    for (int64_t first = 0; st == IKT_OK && first < model->t; first += batch) {
        job.first = first;
        job.part.t = model->t - first < batch ? model->t - first : batch;
        job.part.row = model->row + first * model->psi;
        st = code_part(&job, false, first + job.part.t);
    }
    if (st != IKT_OK || model->spec.coarse == 0) return st;
    job.first = model->t;
    job.part.t = 0;
    job.part.spec.coarse = model->spec.coarse;
    return code_part(&job, false, model->t + 1);
}

int64_t ikt_coding_sparse_bytes(ikt_codes_budget budget, const ikt_model_spec *spec,
                                int64_t distinct, const ikt_codes_rows *rows, int threads) {
    const bool with_lists = distinct > 0;
    const int64_t batch = batch_of(budget, spec->psi, spec->t, rows->d, rows->entries);
    const int64_t drawn = batch * spec->psi > spec->coarse ? batch * spec->psi : spec->coarse;
    const int64_t centres = with_lists ? distinct : drawn < spec->n ? drawn : spec->n;
    const int64_t length =
        with_lists ? ikt_list_length(distinct, spec->psi, spec->t, spec->coarse) : 0;
    const int64_t held = (int64_t)((double)centres * rows->entries);
    const int64_t uses = with_lists ? spec->t * spec->psi + spec->coarse : drawn;
    return ikt_sparse_coder_bytes(centres, rows->d, held) + ikt_centre_table_bytes(uses) +
           threads * ikt_sparse_space_bytes(centres, length, rows->longest);
}
