/* Codes in one pass over X, from the ordered lists of rows' nearest distinct centres.
 *
 * All partitionings draw their centres from the same rows, so a row needs its distances to the
 * distinct centres only: in the order of distance, the first that belongs to a partitioning is the
 * row's cell there (methods, "Codes without t psi distances"). The cells are those of
 * codes_kernel.h to the bit.
 * Method: a kernel writes the values of a tile of rows and a chunk of centres; for each row the
 * `length` least are kept, sorted by the distance that defines cells, and walked through. What the
 * list leaves open (rare) is decided by the distances to all centres. Advantage: count distances a
 * row in place of t psi. Disadvantage: the lists pay only where there are fewer distinct centres
 * than centres. */
#include <omp.h>

#include "base/arrays.h"
#include "isolation/centre_lists.h"
#include "isolation/row_lists.h"

bool ikt_list_pays(bool is_u8, int64_t centres, int64_t psi, int64_t t, int64_t d) {
    return 2 * centres <= psi * t && centres * d * (is_u8 ? 1 : 4) <= IKT_LISTED_BYTES &&
           (!is_u8 || d <= IKT_U8_COLUMNS);
}

static void code_tile(const ikt_row_lists *l, ikt_list_tile *s, const char *x, int64_t row,
                      int64_t count) {
    const ikt_coding *c = l->c;
    ikt_row_lists_compare_all(l, s, x, count);
    for (int64_t r = 0; r < count; r++) {
        ikt_row_list_cells(l, s, r);
        ikt_coding_write_row(c, row + r, s->cell);
        ikt_coding_write_places(c, l->near.place, row + r, &s->kept[r]);
    }
}

static void code_block(void *self, int64_t row, int64_t count) {
    const ikt_row_lists *l = self;
    const ikt_coding *c = l->c;
    const int64_t step = ikt_coding_tile(c, count, l->rows_most, c->kernel->rows);
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads)
    for (int64_t from = 0; from < count; from += step)
        code_tile(l, &l->space[omp_get_thread_num()],
                  (const char *)c->rows + from * c->d * c->element, row + from,
                  count - from < step ? count - from : step);
}

ikt_status ikt_coding_lists(ikt_coding *c) {
    ikt_row_lists l IKT_AT_END(ikt_row_lists_destroy) = {0};
    int64_t open = 0;
    c->passes = 1;
    IKT_TRY(ikt_row_lists_create(c, ikt_row_lists_tile(c->kernel, c->d), &l));
    if (c->places->near > 0) IKT_TRY(ikt_coding_give_places(c, &l.near));
    IKT_TRY(ikt_coding_pass(c, ikt_model_parts(&c->model->spec), code_block, &l));
    for (int i = 0; i < c->threads; i++)
        open += l.space[i].open_rows;
    ikt_list_report(c->ctx, l.length, l.table.count, open, c->distribution->count);
    return IKT_OK;
}
