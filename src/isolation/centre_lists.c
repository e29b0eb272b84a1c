/* The distinct centres of a model, and lists of a row's nearest ones. See centre_lists.h. */
#include "isolation/centre_lists.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"

enum { LIST_LEAST = 32 };

static const char purpose[] = "centres";

/* --- the table -------------------------------------------------------------------------------- */

/* The distinct rows, each centre as a number among them, and what each of the rows is used for. */
static ikt_status fill_table(ikt_context *ctx, const ikt_model *model, ikt_centre_table *table) {
    const int64_t own = model->t * model->psi, all = own + model->spec.coarse;
    IKT_TRY(ikt_alloc(ctx, &table->row, all, sizeof *table->row, purpose));
    memcpy(table->row, model->row, (size_t)own * sizeof *table->row);
    memcpy(table->row + own, model->coarse_row, (size_t)(all - own) * sizeof *table->row);
    table->count = ikt_sort_distinct_i64(table->row, all);
    IKT_TRY(ikt_resize(ctx, &table->row, table->count, sizeof *table->row, purpose));
    IKT_TRY(ikt_alloc(ctx, &table->first, table->parts + 1, sizeof *table->first, purpose));
    IKT_TRY(ikt_alloc(ctx, &table->index, all, sizeof *table->index, purpose));
    for (int64_t p = 0; p < table->parts; p++)
        table->first[p + 1] = p < model->t ? (p + 1) * model->psi : all;
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t e = 0; e < all; e++) {
        const int64_t row = e < own ? model->row[e] : model->coarse_row[e - own];
        table->index[e] = (int32_t)ikt_find_i64(table->row, table->count, row);
    }
    IKT_TRY(ikt_alloc(ctx, &table->start, table->count + 1, sizeof *table->start, purpose));
    IKT_TRY(ikt_alloc(ctx, &table->part, all, sizeof *table->part, purpose));
    IKT_TRY(ikt_alloc(ctx, &table->cell, all, sizeof *table->cell, purpose));
    int64_t *start = table->start;
    for (int64_t e = 0; e < all; e++)
        start[table->index[e] + 1]++;
    for (int64_t c = 0; c < table->count; c++)
        start[c + 1] += start[c];
    for (int64_t p = 0; p < table->parts; p++)
        for (int64_t e = table->first[p]; e < table->first[p + 1]; e++) {
            int64_t at = start[table->index[e]]++;
            table->part[at] = (uint16_t)p;
            table->cell[at] = (uint32_t)(e - table->first[p]);
        }
    for (int64_t c = table->count; c > 0; c--)
        start[c] = start[c - 1]; /* the fill moved them on */
    start[0] = 0;
    return IKT_OK;
}

static int64_t common_divisor(int64_t a, int64_t b) {
    while (b > 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

ikt_status ikt_centre_table_create(ikt_context *ctx, const ikt_model *model,
                                   ikt_centre_table *out) {
    *out = (ikt_centre_table){.parts = model->t + (model->spec.coarse > 0)};
    const ikt_status st = fill_table(ctx, model, out);
    if (st != IKT_OK) {
        ikt_centre_table_destroy(out);
        return st;
    }
    out->stride = (int64_t)(0.6180339887498949 * (double)out->count);
    while (out->stride < 1 || common_divisor(out->count, out->stride) > 1)
        out->stride++;
    return IKT_OK;
}

void ikt_centre_table_destroy(ikt_centre_table *table) {
    ikt_free(&table->row);
    ikt_free(&table->first);
    ikt_free(&table->index);
    ikt_free(&table->start);
    ikt_free(&table->part);
    ikt_free(&table->cell);
    table->count = table->parts = 0;
}

int64_t ikt_centre_table_bytes(int64_t centres) {
    return centres * (8 + 4 + 2 + 4 + 8);
}

/* --- the lists -------------------------------------------------------------------------------- */

/* After `length` entries a partitioning is still open with the chance (1 - psi/centres)^length. */
int64_t ikt_list_length(int64_t centres, const ikt_model_spec *spec) {
    double fine = (double)centres / (double)spec->psi * (log((double)spec->t) + 4.6);
    double rough = spec->coarse > 0 ? (double)centres / (double)spec->coarse * 4.6 : 0;
    int64_t length = (int64_t)ceil(fmax(fine, rough));
    if (length < LIST_LEAST) length = LIST_LEAST;
    return length < centres ? length : centres;
}

void ikt_list_tighten(ikt_select *kept, int64_t rows, int64_t length, int64_t chunks, int64_t chunk,
                      int64_t count) {
    if (chunks != 1 && chunks != 4 && chunks != 16) return;
    const double expected = (double)length * (double)(chunks * chunk) / (double)count;
    const int64_t most = (int64_t)(expected + 4 * sqrt(expected) + 4);
    for (int64_t r = 0; most < length && r < rows; r++)
        ikt_select_tighten(&kept[r], most);
}

ikt_pair ikt_list_certain(const ikt_select *kept, rounding round, double x_norm,
                          double largest_norm) {
    if (kept->limit == UINT64_MAX) return UINT64_MAX;
    double bound = 0;
    if (x_norm <= largest_safe_norm && largest_norm <= largest_safe_norm) {
        const double least_out = (double)ikt_pair_value(kept->limit);
        const double squared = x_norm + 2 * (least_out - round.start * x_norm / 2 - 2 * round.tiny);
        bound = squared * (1 - round.definition) - round.tiny;
    }
    return ikt_pair_make(bound > 0 ? (float)(bound * (1 - 0x1p-22)) : 0, 0);
}

int64_t ikt_list_walk(const ikt_centre_table *table, const ikt_select *kept, ikt_pair certain,
                      uint32_t *cell) {
    int64_t open = table->parts;
    for (int64_t p = 0; p < table->parts; p++)
        cell[p] = IKT_CELL_OPEN;
    for (int64_t e = 0; e < kept->count && open > 0 && kept->pair[e] < certain; e++) {
        int64_t centre = ikt_pair_number(kept->pair[e]);
        for (int64_t u = table->start[centre]; u < table->start[centre + 1]; u++)
            if (cell[table->part[u]] == IKT_CELL_OPEN) {
                cell[table->part[u]] = table->cell[u];
                open--;
            }
    }
    return open;
}

void ikt_list_report(ikt_context *ctx, int64_t length, int64_t distinct, int64_t open,
                     int64_t rows) {
    ikt_log(ctx, IKT_LOG_DETAIL,
            "codes: lists of %lld of %lld distinct centres; on this rank %lld of %lld rows needed "
            "all of them",
            (long long)length, (long long)distinct, (long long)open, (long long)rows);
}
