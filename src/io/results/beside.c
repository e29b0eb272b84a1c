/* Columns beside a map. See beside.h.
 *
 * Method: a column is read as one of the map; where it has another length, the range of the input
 * that holds the rows is read, and these are taken from it. Advantage: readers know ranges only.
 * Disadvantage: where few rows are left of many, the others are read in vain. */
#include "io/results/beside.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "config/yaml_tree.h"
#include "io/hdf5/columns.h"

/* The input of a run that took its first rows only, as its settings say; else "". */
static ikt_status find_input(ikt_context *ctx, ikt_result_file *map, char input[IKT_PATH_MAX]) {
    char *text IKT_AT_END(ikt_free) = NULL;
    ikt_yaml *yaml IKT_AT_END(ikt_yaml_destroy) = NULL;
    IKT_TRY(ikt_result_configuration(map, &text));
    if (!text || !text[0]) return IKT_OK;
    if (ikt_yaml_parse(ctx, "the stored configuration", text, &yaml) != IKT_OK) {
        ikt_clear(ctx); /* of another program: it is no use here */
        return IKT_OK;
    }
    const int section = ikt_yaml_find(yaml, ikt_yaml_root(yaml), "input");
    const int rows = section ? ikt_yaml_find(yaml, section, "rows") : 0;
    const int file = section ? ikt_yaml_find(yaml, section, "file") : 0;
    if (rows && file && strcmp(ikt_yaml_text(yaml, rows), "auto") != 0)
        snprintf(input, IKT_PATH_MAX, "%s", ikt_yaml_text(yaml, file));
    return IKT_OK;
}

ikt_status ikt_beside_open(ikt_context *ctx, ikt_result_file *map, int64_t first, int64_t count,
                           ikt_beside *out) {
    bool present = false;
    int64_t is_other = 0;
    *out = (ikt_beside){.ctx = ctx, .n = ikt_result_rows(map), .first = first, .count = count};
    if (!ikt_result_is_run(map)) return IKT_OK;
    /* Of a file of other programs they may be others: each is compared with the one before it,
     * which for the first of this rank is the last of another. */
    const int64_t before = count > 0 && first > 0;
    int64_t *original;
    IKT_TRY(ikt_alloc_all(ctx, &out->original, count + before, sizeof *original, "row numbers"));
    original = out->original;
    IKT_TRY(ikt_result_read_labels(map, "diagnostics/row", first - before, count + before, original,
                                   &present));
    for (int64_t i = 0; present && i < count + before; i++)
        is_other |= original[i] < (i > 0 ? original[i - 1] + 1 : 0);
    if (before) memmove(original, original + 1, (size_t)count * sizeof *original);
    present = present && ikt_max_one(ctx, is_other) == 0;
    out->original_is_known = present;
    if (present) {
        out->least = ikt_max_one(ctx, count > 0 ? out->original[count - 1] + 1 : 0);
        return IKT_OK;
    }
    ikt_free(&out->original);
    out->least = out->n;
    return find_input(ctx, map, out->input);
}

void ikt_beside_close(ikt_beside *beside) {
    ikt_free(&beside->original);
}

/* COLLECTIVE. Whether a name is that of the input, or of a part of it. */
static bool is_of_input(const ikt_beside *b, const char *name) {
    char file[IKT_PATH_MAX];
    struct stat one, other;
    int64_t is_one = 0;
    if (ikt_rank(b->ctx) == 0 && b->input[0]) {
        snprintf(file, sizeof file, "%.*s", (int)ikt_file_name_length(name), name);
        is_one = stat(file, &one) == 0 && stat(b->input, &other) == 0 &&
                 one.st_dev == other.st_dev && one.st_ino == other.st_ino;
    }
    return ikt_max_one(b->ctx, is_one) > 0;
}

bool ikt_beside_may_be_input(const ikt_beside *b, const char *name) {
    return b->original_is_known || is_of_input(b, name);
}

/* COLLECTIVE. Whether a column that could not be read as one of the map is tried as one of the
 * input. */
static bool goes_on(const ikt_beside *b, const char *name, ikt_status st) {
    if (st != IKT_ERR_DATA || !ikt_beside_may_be_input(b, name)) return false;
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
    if (!goes_on(b, name, st)) return st;
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
    if (!goes_on(b, name, st)) return st;
    const range of = range_of(b);
    IKT_ARRAYS(held, b->ctx, "column");
    double *all = ikt_claim(&held, of.count, sizeof *all);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_number_file_read(b->ctx, name, ikt_at_least(b->least), of.first, of.count, all));
    for (int64_t i = 0; i < b->count; i++)
        values[i] = all[place_of(b, i)];
    return IKT_OK;
}

ikt_status ikt_beside_wholes(const ikt_beside *b, const char *path, const char *dataset,
                             bool *are_whole, int64_t *values) {
    ikt_column *column;
    IKT_TRY(ikt_column_open(b->ctx, path, dataset, ikt_at_least(b->least), &column));
    *are_whole = !ikt_column_is_real(column);
    const range of = range_of(b);
    IKT_ARRAYS(held, b->ctx, "column");
    int64_t *all = ikt_claim(&held, *are_whole ? of.count : 0, sizeof *all);
    ikt_status st = ikt_arrays_agree(&held);
    if (st == IKT_OK && *are_whole) st = ikt_column_read_wholes(column, of.first, of.count, all);
    ikt_column_close(&column);
    for (int64_t i = 0; st == IKT_OK && *are_whole && i < b->count; i++)
        values[i] = all[place_of(b, i)];
    return st;
}

ikt_status ikt_beside_texts(const ikt_beside *b, const char *name, ikt_texts *texts) {
    const ikt_status st = ikt_texts_read(b->ctx, name, b->n, b->first, b->count, texts);
    if (!goes_on(b, name, st)) return st;
    const range of = range_of(b);
    ikt_texts_free(texts);
    IKT_TRY(ikt_texts_read(b->ctx, name, ikt_at_least(b->least), of.first, of.count, texts));
    for (int64_t i = 0; i < b->count; i++) /* places are never before i */
        texts->text[i] = texts->text[place_of(b, i)];
    texts->count = b->count;
    return IKT_OK;
}
