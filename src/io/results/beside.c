/* Columns beside a map. See beside.h.
 *
 * Method: a column is read as one of the map; where it has another length, the range of the input
 * that holds the rows is read, and these are taken from it. Advantage: readers know ranges only.
 * Disadvantage: where few rows are left of many, the others are read in vain. */
#include "io/results/beside.h"

#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "config/yaml_tree.h"
#include "io/hdf5/columns.h"

/* Whether a run took the first rows of its input only, as its settings say. */
static ikt_status is_beginning(ikt_context *ctx, ikt_result_file *map, bool *is_one) {
    char *text IKT_AT_END(ikt_free) = NULL;
    ikt_yaml *yaml IKT_AT_END(ikt_yaml_destroy) = NULL;
    *is_one = false;
    IKT_TRY(ikt_result_configuration(map, &text));
    if (!text || !text[0]) return IKT_OK;
    IKT_TRY(ikt_yaml_parse(ctx, "the stored configuration", text, &yaml));
    const int input = ikt_yaml_find(yaml, ikt_yaml_root(yaml), "input");
    const int rows = input ? ikt_yaml_find(yaml, input, "rows") : 0;
    *is_one = rows && strcmp(ikt_yaml_text(yaml, rows), "auto") != 0;
    return IKT_OK;
}

ikt_status ikt_beside_open(ikt_context *ctx, ikt_result_file *map, int64_t first, int64_t count,
                           ikt_beside *out) {
    bool present = false, is_first = false;
    ikt_status st = IKT_OK;
    *out = (ikt_beside){.ctx = ctx, .n = ikt_result_rows(map), .first = first, .count = count};
    if (!ikt_result_is_run(map)) return IKT_OK;
    IKT_TRY(ikt_alloc_all(ctx, &out->original, count, sizeof *out->original, "row numbers"));
    IKT_TRY(ikt_result_read_labels(map, "diagnostics/row", first, count, out->original, &present));
    for (int64_t i = 0; present && i < count && st == IKT_OK; i++)
        if (out->original[i] < (i > 0 ? out->original[i - 1] + 1 : 0))
            st = ikt_fail(ctx, IKT_ERR_DATA,
                          "%s: 'diagnostics/row', row %lld: the numbers of rows ascend from 0 on",
                          ikt_result_path(map), (long long)(first + i));
    IKT_TRY(ikt_agree(ctx, st));
    if (present) {
        out->least = ikt_max_one(ctx, count > 0 ? out->original[count - 1] + 1 : 0);
        return IKT_OK;
    }
    ikt_free(&out->original);
    IKT_TRY(is_beginning(ctx, map, &is_first));
    if (is_first) out->least = out->n;
    return IKT_OK;
}

void ikt_beside_close(ikt_beside *beside) {
    ikt_free(&beside->original);
}

/* Whether a column that could not be read as one of the map is tried as one of the input. */
static bool goes_on(const ikt_beside *b, ikt_status st) {
    if (st != IKT_ERR_DATA || b->least == 0) return false;
    ikt_clear(b->ctx);
    return true;
}

typedef struct {
    int64_t first, count;
} range;

/* The rows of the input from the first to the last of ours. */
static range range_of(const ikt_beside *b) {
    if (!b->original || b->count == 0) return (range){b->first, b->count};
    return (range){b->original[0], b->original[b->count - 1] + 1 - b->original[0]};
}

/* The place in that range of our row i. */
static int64_t place_of(const ikt_beside *b, int64_t i) {
    return b->original ? b->original[i] - b->original[0] : i;
}

ikt_status ikt_beside_labels(const ikt_beside *b, const char *name, int64_t *labels, char **names) {
    bool present;
    const ikt_status st =
        ikt_label_file_read(b->ctx, name, b->n, b->first, b->count, labels, &present, names);
    if (!goes_on(b, st)) return st;
    const range of = range_of(b);
    IKT_ARRAYS(held, b->ctx, "labels");
    int64_t *all = ikt_claim(&held, of.count, sizeof *all);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_label_file_read(b->ctx, name, ikt_at_least(b->least), of.first, of.count, all,
                                &present, names));
    for (int64_t i = 0; i < b->count; i++)
        labels[i] = all[place_of(b, i)];
    return IKT_OK;
}

ikt_status ikt_beside_numbers(const ikt_beside *b, const char *name, double *values) {
    const ikt_status st = ikt_number_file_read(b->ctx, name, b->n, b->first, b->count, values);
    if (!goes_on(b, st)) return st;
    const range of = range_of(b);
    IKT_ARRAYS(held, b->ctx, "column");
    double *all = ikt_claim(&held, of.count, sizeof *all);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_number_file_read(b->ctx, name, ikt_at_least(b->least), of.first, of.count, all));
    for (int64_t i = 0; i < b->count; i++)
        values[i] = all[place_of(b, i)];
    return IKT_OK;
}

ikt_status ikt_beside_texts(const ikt_beside *b, const char *name, ikt_texts *texts) {
    const ikt_status st = ikt_texts_read(b->ctx, name, b->n, b->first, b->count, texts);
    if (!goes_on(b, st)) return st;
    const range of = range_of(b);
    ikt_texts_free(texts);
    IKT_TRY(ikt_texts_read(b->ctx, name, ikt_at_least(b->least), of.first, of.count, texts));
    for (int64_t i = 0; i < b->count; i++) /* places are never before i */
        texts->text[i] = texts->text[place_of(b, i)];
    texts->count = b->count;
    return IKT_OK;
}
