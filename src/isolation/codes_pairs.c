/* Codes in one pass over a matrix of all distances.
 *
 * The cell of row i in a partitioning is the drawn row with the least squared distance to it, in
 * single precision; ties go to the lower row. All of them stand in row i of the matrix.
 * Method: as row_lists.c: of a row's distances to the distinct centres the `length` least are
 * kept, sorted and walked through; what that leaves open is decided by all centres. Advantage:
 * reads each number once. Disadvantage: there is no near search, a row looks at every distinct
 * centre, but at a distance that is already there. */
#include <omp.h>

#include "base/arrays.h"
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
    const ikt_centre_table *table;
    int64_t length;
    workspace *space; /* [threads] */
} coder;

static int64_t lanes_of(int64_t count) {
    return ikt_divide_up(count, IKT_LANES) * IKT_LANES;
}

static void code_row(const coder *k, workspace *s, int64_t row, const float *square) {
    const ikt_centre_table *table = k->table;
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

static ikt_status allocate(coder *k, ikt_arrays *held) {
    const int64_t list = IKT_SELECT_CAPACITY * k->length;
    k->space = ikt_claim(held, k->c->threads, sizeof *k->space);
    for (workspace *s = k->space; s && s < k->space + k->c->threads; s++) {
        s->square = ikt_claim(held, lanes_of(k->table->count), sizeof(float));
        s->pair = ikt_claim(held, list, sizeof *s->pair);
        s->open = ikt_claim(held, k->table->words, sizeof *s->open);
        s->cell = ikt_claim(held, k->table->parts, sizeof *s->cell);
        s->member = ikt_claim(held, k->c->model->psi, sizeof *s->member);
    }
    return held->status;
}

ikt_status ikt_coding_pairs(ikt_coding *c) {
    const ikt_model_spec *spec = &c->model->spec;
    ikt_centre_table table IKT_AT_END(ikt_centre_table_destroy) = {.count = 0};
    IKT_ARRAYS(held, c->ctx, purpose);
    int64_t open = 0;
    c->passes = 1;
    ikt_status st = ikt_centre_table_create(c->ctx, c->model, 0, spec->t, &table);
    coder k = {c, &table, ikt_list_length(table.count, spec), NULL};
    if (st == IKT_OK) st = allocate(&k, &held);
    IKT_TRY(ikt_agree(c->ctx, st));
    IKT_TRY(ikt_coding_pass(c, spec->t + 1, code_block, &k));
    for (int i = 0; i < c->threads; i++)
        open += k.space[i].open_rows;
    ikt_list_report(c->ctx, k.length, table.count, open, c->distribution->count);
    return IKT_OK;
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
