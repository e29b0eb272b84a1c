/* The distinct centres of a model. */
#include "isolation/centre_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t part_size(const ikt_model *model, int64_t part) {
    return part < model->t ? model->psi : model->spec.coarse;
}

static const int64_t *part_rows(const ikt_model *model, int64_t part) {
    return part < model->t ? model->row + part * model->psi : model->coarse_row;
}

static ikt_status list_distinct(ikt_context *ctx, const ikt_model *model, ikt_centre_table *table) {
    int64_t own = model->t * model->psi, all = own + model->spec.coarse, kept = 0;
    IKT_TRY(ikt_alloc(ctx, &table->row, all, sizeof *table->row, "centres"));
    int64_t *row = table->row;
    memcpy(row, model->row, (size_t)own * sizeof *row);
    memcpy(row + own, model->coarse_row, (size_t)model->spec.coarse * sizeof *row);
    qsort(row, (size_t)all, sizeof *row, ascending);
    for (int64_t e = 0; e < all; e++)
        if (e == 0 || row[e] != row[e - 1]) row[kept++] = row[e];
    table->count = kept;
    return ikt_resize(ctx, &table->row, kept, sizeof *row, "centres");
}

static ikt_status number_centres(ikt_context *ctx, const ikt_model *model,
                                 ikt_centre_table *table) {
    int64_t parts = table->parts;
    IKT_TRY(ikt_alloc(ctx, &table->first, parts + 1, sizeof *table->first, "centres"));
    for (int64_t p = 0; p < parts; p++)
        table->first[p + 1] = table->first[p] + part_size(model, p);
    IKT_TRY(ikt_alloc(ctx, &table->index, table->first[parts], sizeof(int32_t), "centres"));
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t p = 0; p < parts; p++)
        for (int64_t j = 0; j < part_size(model, p); j++) {
            const int64_t *found = bsearch(part_rows(model, p) + j, table->row,
                                           (size_t)table->count, sizeof *table->row, ascending);
            table->index[table->first[p] + j] = (int32_t)(found - table->row);
        }
    return IKT_OK;
}

static ikt_status list_uses(ikt_context *ctx, ikt_centre_table *table) {
    int64_t uses = table->first[table->parts];
    IKT_TRY(ikt_alloc(ctx, &table->start, table->count + 1, sizeof *table->start, "centres"));
    IKT_TRY(ikt_alloc(ctx, &table->part, uses, sizeof *table->part, "centres"));
    IKT_TRY(ikt_alloc(ctx, &table->cell, uses, sizeof *table->cell, "centres"));
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
