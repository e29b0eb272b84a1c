/* Codes in one pass over X, from lists of nearest distinct centres. */
#include <omp.h>

#include "base/log.h"
#include "base/memory.h"
#include "isolation/codes_list.h"
#include "isolation/coding.h"

typedef struct {
    ikt_coding *c;
    ikt_list_coder coder;
    ikt_list_space *space; /* [threads] */
    uint16_t *cell;        /* [threads * rows of a tile * parts] */
    int64_t tile;          /* rows */
} list_job;

static void code_tile(const list_job *job, int64_t row, int64_t from, int64_t count) {
    const ikt_coding *c = job->c;
    const int64_t parts = job->coder.table->parts, thread = omp_get_thread_num();
    const char *rows = (const char *)c->rows + from * c->d * c->element;
    uint16_t *cell = job->cell + thread * job->tile * parts;
    ikt_list_code(&job->coder, &job->space[thread], rows, count, cell);
    for (int64_t p = 0; p < parts; p++)
        ikt_coding_write(c, row + from, count, p, cell + p, parts);
}

static void code_block(void *self, int64_t row, int64_t count) {
    const list_job *job = self;
#pragma omp parallel for schedule(dynamic, 1) num_threads(job->c->threads)
    for (int64_t from = 0; from < count; from += job->tile)
        code_tile(job, row, from, count - from < job->tile ? count - from : job->tile);
}

/* COLLECTIVE. Fetches the distinct centres and packs them. */
static ikt_status load_centres(ikt_coding *c, const ikt_centre_table *table,
                               ikt_list_coder *coder) {
    void *gathered = NULL;
    ikt_status st =
        ikt_alloc(c->ctx, &gathered, table->count * c->d, (size_t)c->element, "centres");
    st = ikt_agree(c->ctx, st);
    if (st == IKT_OK)
        st = ikt_dataset_gather(ikt_dataset_model(c->data), table->row, table->count, gathered);
    if (st == IKT_OK)
        st = ikt_agree(c->ctx, ikt_list_coder_create(c->ctx, c->kernel, c->model, table, c->d,
                                                     &gathered, coder));
    ikt_free(&gathered);
    return st;
}

static ikt_status make_spaces(list_job *job) {
    ikt_coding *c = job->c;
    int64_t cells = c->threads * job->tile * job->coder.table->parts;
    IKT_TRY(ikt_alloc(c->ctx, &job->cell, cells, sizeof *job->cell, "lists"));
    IKT_TRY(ikt_alloc(c->ctx, &job->space, c->threads, sizeof *job->space, "lists"));
    for (int i = 0; i < c->threads; i++)
        IKT_TRY(ikt_list_space_create(c->ctx, &job->coder, &job->space[i]));
    return IKT_OK;
}

static void report(const list_job *job) {
    int64_t open = 0;
    for (int i = 0; i < job->c->threads; i++)
        open += job->space[i].open_rows;
    ikt_log(job->c->ctx, IKT_LOG_DETAIL,
            "codes: lists of %lld of %lld distinct centres; on this rank %lld of %lld rows needed "
            "all of them",
            (long long)job->coder.length, (long long)job->coder.table->count, (long long)open,
            (long long)job->c->distribution->count);
}

ikt_status ikt_coding_lists(ikt_coding *c) {
    ikt_centre_table table = {0};
    list_job job = {.c = c, .tile = ikt_list_rows(c->kernel, c->d)};
    c->passes = 1;
    ikt_status st = ikt_agree(c->ctx, ikt_centre_table_create(c->ctx, c->model, &table));
    if (st == IKT_OK) st = load_centres(c, &table, &job.coder);
    if (st == IKT_OK) st = ikt_agree(c->ctx, make_spaces(&job));
    if (st == IKT_OK) st = ikt_coding_pass(c, c->model->t + 1, code_block, &job);
    if (st == IKT_OK) report(&job);
    for (int i = 0; job.space && i < c->threads; i++)
        ikt_list_space_destroy(&job.space[i]);
    ikt_free(&job.space);
    ikt_free(&job.cell);
    ikt_list_coder_destroy(&job.coder);
    ikt_centre_table_destroy(&table);
    return st;
}

int64_t ikt_coding_lists_bytes(const ikt_codes_kernel *kernel, const ikt_model_spec *spec,
                               int64_t distinct, int64_t d, int threads) {
    int64_t length = ikt_list_length(distinct, spec->psi, spec->t, spec->coarse);
    int64_t gathered = distinct * d * (kernel->is_u8 ? 1 : 4);
    int64_t lists = ikt_list_bytes(kernel, distinct, length, d, threads);
    int64_t packed = ikt_centres_bytes(kernel, distinct, d), packing = packed + gathered;
    return (lists > packing ? lists : packing) +
           ikt_centre_table_bytes(spec->t * spec->psi + spec->coarse);
}
