/* The distinct centres of a model, and lists of a row's nearest ones. See centre_lists.h. */
#include "isolation/centre_lists.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

enum { LIST_LEAST = 32 };

static const char purpose[] = "centres";

/* --- the table -------------------------------------------------------------------------------- */

static int64_t part_size(const ikt_model *model, int64_t part) {
    return part < model->t ? model->psi : model->spec.coarse;
}

static ikt_status list_distinct(ikt_context *ctx, const ikt_model *model, ikt_centre_table *table) {
    const int64_t own = model->t * model->psi, all = own + model->spec.coarse;
    IKT_TRY(ikt_alloc(ctx, &table->row, all, sizeof *table->row, purpose));
    memcpy(table->row, model->row, (size_t)own * sizeof *table->row);
    memcpy(table->row + own, model->coarse_row, (size_t)(all - own) * sizeof *table->row);
    table->count = ikt_sort_distinct_i64(table->row, all);
    return ikt_resize(ctx, &table->row, table->count, sizeof *table->row, purpose);
}

static ikt_status number_centres(ikt_context *ctx, const ikt_model *model,
                                 ikt_centre_table *table) {
    const int64_t parts = table->parts;
    IKT_TRY(ikt_alloc(ctx, &table->first, parts + 1, sizeof *table->first, purpose));
    for (int64_t p = 0; p < parts; p++)
        table->first[p + 1] = table->first[p] + part_size(model, p);
    IKT_TRY(ikt_alloc(ctx, &table->index, table->first[parts], sizeof *table->index, purpose));
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t p = 0; p < parts; p++) {
        const int64_t *row = p < model->t ? model->row + p * model->psi : model->coarse_row;
        for (int64_t j = 0; j < part_size(model, p); j++)
            table->index[table->first[p] + j] =
                (int32_t)ikt_find_i64(table->row, table->count, row[j]);
    }
    return IKT_OK;
}

static ikt_status list_uses(ikt_context *ctx, ikt_centre_table *table) {
    const int64_t uses = table->first[table->parts];
    IKT_TRY(ikt_alloc(ctx, &table->start, table->count + 1, sizeof *table->start, purpose));
    IKT_TRY(ikt_alloc(ctx, &table->part, uses, sizeof *table->part, purpose));
    IKT_TRY(ikt_alloc(ctx, &table->cell, uses, sizeof *table->cell, purpose));
    int64_t *start = table->start;
    for (int64_t e = 0; e < uses; e++)
        start[table->index[e] + 1]++;
    for (int64_t c = 0; c < table->count; c++)
        start[c + 1] += start[c];
    for (int64_t p = 0; p < table->parts; p++)
        for (int64_t e = table->first[p]; e < table->first[p + 1]; e++) {
            int64_t at = start[table->index[e]]++;
            table->part[at] = (uint16_t)p;
            table->cell[at] = (uint16_t)(e - table->first[p]);
        }
    for (int64_t c = table->count; c > 0; c--)
        start[c] = start[c - 1]; /* the fill moved them on */
    start[0] = 0;
    return IKT_OK;
}

ikt_status ikt_centre_table_create(ikt_context *ctx, const ikt_model *model,
                                   ikt_centre_table *out) {
    *out = (ikt_centre_table){.parts = model->t + (model->spec.coarse > 0)};
    ikt_status st = list_distinct(ctx, model, out);
    if (st == IKT_OK) st = number_centres(ctx, model, out);
    if (st == IKT_OK) st = list_uses(ctx, out);
    if (st != IKT_OK) ikt_centre_table_destroy(out);
    return st;
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
    return centres * (8 + 4 + 2 + 2 + 8);
}

/* --- the lists -------------------------------------------------------------------------------- */

/* After `length` entries a partitioning is still open with the chance (1 - psi/centres)^length. */
int64_t ikt_list_length(int64_t centres, int64_t psi, int64_t t, int64_t coarse) {
    double fine = (double)centres / (double)psi * (log((double)t) + 4.6);
    double rough = coarse > 0 ? (double)centres / (double)coarse * 4.6 : 0;
    int64_t length = (int64_t)ceil(fmax(fine, rough));
    if (length < LIST_LEAST) length = LIST_LEAST;
    return length < centres ? length : centres;
}

int64_t ikt_list_stride(int64_t count) {
    int64_t stride = (int64_t)(0.6180339887498949 * (double)count);
    for (;; stride++) {
        int64_t a = count, b = stride > 0 ? stride : 1;
        while (b > 0) {
            int64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1) return stride > 0 ? stride : 1;
    }
}

void ikt_list_tighten(ikt_select *kept, int64_t rows, int64_t length, int64_t seen, int64_t count) {
    double expected = (double)length * (double)seen / (double)count;
    int64_t most = (int64_t)(expected + 4 * sqrt(expected) + 4);
    for (int64_t r = 0; most < length && r < rows; r++)
        ikt_select_tighten(&kept[r], most);
}

float ikt_list_certain_below(rounding round, double x_norm, double largest_norm, float least_out) {
    if (!(x_norm <= largest_safe_norm) || !(largest_norm <= largest_safe_norm)) return 0;
    double squared = x_norm + 2 * ((double)least_out - round.start * x_norm / 2 - 2 * round.tiny);
    double bound = squared * (1 - round.definition) - round.tiny;
    return bound > 0 ? (float)(bound * (1 - 0x1p-22)) : 0;
}

int64_t ikt_list_walk(const ikt_centre_table *table, const ikt_select *kept, ikt_pair certain,
                      uint16_t *cell) {
    int64_t open = table->parts;
    for (int64_t p = 0; p < table->parts; p++)
        cell[p] = IKT_CELL_OPEN;
    for (int64_t e = 0; e < kept->count && open > 0 && kept->pair[e] < certain; e++) {
        int64_t centre = ikt_pair_number(kept->pair[e]);
        for (int64_t u = table->start[centre]; u < table->start[centre + 1]; u++)
            if (cell[table->part[u]] == IKT_CELL_OPEN) {
                cell[table->part[u]] = table->cell[u];
                open -= table->cell[u] != IKT_CELL_OPEN;
            }
    }
    return open;
}
