/* Codes in one pass over a matrix of all distances.
 *
 * The cell of row i in a partitioning is the drawn row with the least squared distance to it, in
 * single precision; ties go to the lower row. All of them stand in row i of the matrix.
 * Method: as codes_lists.c: of a row's distances to the distinct centres the `length` least are
 * kept, sorted and walked through; what that leaves open is decided by all centres. Advantage:
 * reads each number once. Disadvantage: there is no near search, a row looks at every distinct
 * centre, but at a distance that is already there. */
#include <omp.h>

#include "base/memory.h"
#include "isolation/centre_lists.h"
#include "isolation/centre_table.h"
#include "isolation/coding.h"

static const char purpose[] = "lists";

/* What one thread works with. */
typedef struct {
    float *square;     /* [centres, to a multiple of 16] squared distances of the row to centres */
    ikt_pair *pair;    /* [IKT_SELECT_CAPACITY * length] */
    uint64_t *open;    /* [words of the table] parts without a cell */
    uint32_t *cell;    /* [parts] */
    int32_t *member;   /* [psi] */
    int64_t open_rows; /* rows whose list was too short, so far */
} workspace;

typedef struct {
    ikt_coding *c;
    ikt_centre_table table;
    int64_t length;
    workspace *space; /* [threads] */
} coder;

static int64_t lanes_of(int64_t count) {
    return ikt_divide_up(count, IKT_LANES) * IKT_LANES;
}

static void code_row(const coder *k, workspace *s, int64_t row, const float *square) {
    const ikt_centre_table *table = &k->table;
    ikt_select kept;
    for (int64_t q = 0; q < table->count; q++)
        s->square[q] = square[table->row[q]];
    ikt_select_begin(&kept, ikt_cpu_isa(), k->length, s->pair);
    ikt_select_floats(&kept, -1, 0, table->count, s->square);
    ikt_select_end(&kept);
    ikt_pairs_sort(kept.pair, kept.count);
    ikt_parts_open(table, s->open);
    const int64_t left =
        ikt_centre_walk(table, kept.pair, kept.count, UINT64_MAX, s->open, s->cell);
    s->open_rows += left > 0;
    for (int64_t p = 0; left > 0 && p < table->parts; p++) {
        if (!ikt_part_is_open(s->open, p)) continue;
        int64_t best = 0, members;
        const int32_t *index = ikt_centre_members(table, p, s->member, &members);
        for (int64_t j = 1; j < members; j++)
            if (s->square[index[j]] < s->square[index[best]]) best = j;
        s->cell[p] = (uint32_t)best;
    }
    ikt_coding_write_row(k->c, row, s->cell);
}

static void code_block(void *self, int64_t row, int64_t count) {
    const coder *k = self;
    const float *rows = k->c->rows;
#pragma omp parallel for schedule(dynamic, 16) num_threads(k->c->threads)
    for (int64_t i = 0; i < count; i++)
        code_row(k, &k->space[omp_get_thread_num()], row + i, rows + i * k->c->d);
}

static ikt_status allocate(coder *k) {
    ikt_context *ctx = k->c->ctx;
    const int64_t list = IKT_SELECT_CAPACITY * k->length;
    IKT_TRY(ikt_alloc(ctx, &k->space, k->c->threads, sizeof *k->space, purpose));
    for (workspace *s = k->space; s < k->space + k->c->threads; s++) {
        IKT_TRY(ikt_alloc(ctx, &s->square, lanes_of(k->table.count), sizeof(float), purpose));
        IKT_TRY(ikt_alloc(ctx, &s->pair, list, sizeof *s->pair, purpose));
        IKT_TRY(ikt_alloc(ctx, &s->open, k->table.words, sizeof *s->open, purpose));
        IKT_TRY(ikt_alloc(ctx, &s->cell, k->table.parts, sizeof *s->cell, purpose));
        IKT_TRY(ikt_alloc(ctx, &s->member, k->c->model->psi, sizeof *s->member, purpose));
    }
    return IKT_OK;
}

ikt_status ikt_coding_pairs(ikt_coding *c) {
    const ikt_model_spec *spec = &c->model->spec;
    coder k = {.c = c};
    int64_t open = 0;
    c->passes = 1;
    ikt_status st = ikt_centre_table_create(c->ctx, c->model, 0, spec->t, &k.table);
    k.length = st == IKT_OK ? ikt_list_length(k.table.count, spec) : 0;
    if (st == IKT_OK) st = allocate(&k);
    st = ikt_agree(c->ctx, st);
    if (st == IKT_OK) st = ikt_coding_pass(c, spec->t + 1, code_block, &k);
    for (int i = 0; k.space && i < c->threads; i++) {
        workspace *s = &k.space[i];
        open += s->open_rows;
        ikt_free_all(&s->square, &s->pair, &s->open, &s->cell, &s->member);
    }
    if (st == IKT_OK)
        ikt_list_report(c->ctx, k.length, k.table.count, open, c->distribution->count);
    ikt_free(&k.space);
    ikt_centre_table_destroy(&k.table);
    return st;
}

int64_t ikt_coding_pairs_bytes(const ikt_model_spec *spec, int64_t distinct, int64_t n,
                               int threads) {
    enum { BLOCK_BYTES = 1 << 24 }; /* numbers as they are stored, and doubles of them */
    const int64_t length = ikt_list_length(distinct, spec);
    const int64_t space = 4 * lanes_of(distinct) + 4 * spec->t + 4 * spec->psi +
                          IKT_SELECT_CAPACITY * length * (int64_t)sizeof(ikt_pair);
    return threads * space + (16 * n > BLOCK_BYTES ? 16 * n : BLOCK_BYTES) +
           ikt_centre_table_bytes(distinct, spec->t, spec->t * spec->psi) +
           ikt_model_distinct_bytes(spec, spec->t * spec->psi, threads);
}
