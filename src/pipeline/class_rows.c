/* Classes of train rows. See class_rows.h. */
#include "pipeline/class_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/row_hash.h"
#include "base/sort.h"
#include "dist/shuffle.h"
#include "io/hdf5/columns.h"
#include "io/numbers/element.h"
#include "io/sources/labels.h"
#include "io/sources/source.h"

static const char purpose[] = "labels";

/* --- names ------------------------------------------------------------------------------------ */

/* The line of a label; NULL beyond them. */
static const char *line_of(const char *names, int64_t label, size_t *length) {
    for (; names && label > 0; label--) {
        names = strchr(names, '\n');
        if (names) names++;
    }
    if (!names || label < 0 || !*names) return NULL;
    *length = strcspn(names, "\n");
    return names;
}

void ikt_class_name(const char *names, int64_t label, char *text, size_t size) {
    size_t length = 0;
    const char *line = line_of(names, label, &length);
    if (line && length > 0)
        snprintf(text, size, "%.*s", (int)length, line);
    else
        snprintf(text, size, "%lld", (long long)label);
}

/* A label that says that there is none: below 0, or of a class whose name is empty. */
static bool is_none(const char *names, int64_t label) {
    size_t length = 1;
    return label < 0 || (names && line_of(names, label, &length) && length == 0);
}

/* --- the train list --------------------------------------------------------------------------- */

/* COLLECTIVE. All numbers of a list on every rank, freed with ikt_free: a data set of an HDF5 file,
 * of one dimension or a single column, a column of CSV, or an array of NPY. */
static ikt_status read_numbers(ikt_context *ctx, const char *name, double **number,
                               int64_t *count) {
    ikt_place place;
    ikt_source *source = NULL;
    ikt_column *column = NULL;
    void *stored = NULL;
    IKT_TRY(ikt_place_find(ctx, name, &place));
    if (!place.file[0])
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s (fisher.train) cannot be read: there is no such file", name);
    if (place.is_hdf5) {
        IKT_TRY(
            ikt_column_open(ctx, place.file, place.part[0] ? place.part : "train", -1, &column));
        *count = ikt_column_length(column);
        ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, number, *count, sizeof **number, purpose));
        if (st == IKT_OK) st = ikt_column_read_reals(column, 0, *count, *number);
        ikt_column_close(&column);
        return st;
    }
    IKT_TRY(ikt_source_open(ctx, place.file, place.part[0] ? place.part : "X", 0, &source));
    *count = ikt_source_rows(source);
    ikt_status st = IKT_OK;
    if (ikt_source_columns(source) != 1)
        st = ikt_fail(ctx, IKT_ERR_DATA,
                      "%s (fisher.train) has %lld columns, where one of row numbers is needed",
                      ikt_source_name(source), (long long)ikt_source_columns(source));
    if (st == IKT_OK) st = ikt_alloc(ctx, &stored, *count, sizeof(double), purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, number, *count, sizeof **number, purpose);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = ikt_source_read(source, 0, *count, stored);
    for (int64_t i = 0; st == IKT_OK && i < *count; i++)
        (*number)[i] = ikt_number_at(ikt_source_type(source), stored, i);
    ikt_free(&stored);
    ikt_source_close(&source);
    return st;
}

/* COLLECTIVE. Marks the rows that a list names, in mark[n]. Every rank reads all of it. */
static ikt_status read_train(ikt_context *ctx, const char *name, int64_t n, uint8_t *mark) {
    double *number = NULL;
    int64_t count = 0;
    ikt_status st = read_numbers(ctx, name, &number, &count);
    for (int64_t i = 0; st == IKT_OK && i < count; i++) {
        const double row = number[i];
        if (!(row >= 0 && row < (double)n) || row != floor(row))
            st = ikt_fail(ctx, IKT_ERR_DATA,
                          "%s (fisher.train), entry %lld: %g is not a row of the data, which are "
                          "0 to %lld",
                          name, (long long)i, row, (long long)(n - 1));
        else if (mark[(int64_t)row]++)
            st = ikt_fail(ctx, IKT_ERR_DATA, "%s (fisher.train) names row %lld twice", name,
                          (long long)row);
    }
    ikt_free(&number);
    return ikt_agree(ctx, st);
}

/* --- labels ----------------------------------------------------------------------------------- */

/* Gives the labelled rows each other's labels: the r-th of them in the order of their draws has the
 * label of the r-th of them by row. */
static ikt_status permute(ikt_context *ctx, uint64_t seed, int64_t n, int64_t labelled,
                          const uint8_t *has, int64_t *label) {
    int64_t *pair = NULL; /* draws are cut to 31 bits; equal ones go by row */
    int64_t *given = NULL, at = 0;
    ikt_status st = ikt_alloc(ctx, &pair, labelled, sizeof *pair, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &given, labelled, sizeof *given, purpose);
    for (int64_t i = 0; st == IKT_OK && i < n; i++) {
        if (!has[i]) continue;
        const uint64_t draw = ikt_rng_u64(seed, IKT_RNG_PERMUTE, i, 0);
        pair[at] = (int64_t)(draw >> 33 << 32 | (uint64_t)(uint32_t)i);
        given[at++] = label[i];
    }
    if (st == IKT_OK) {
        ikt_sort_i64(pair, labelled);
        for (int64_t r = 0; r < labelled; r++)
            label[pair[r] & UINT32_MAX] = given[r];
    }
    ikt_free(&pair);
    ikt_free(&given);
    return st;
}

/* The classes of train rows, and everybody's. */
static ikt_status number_classes(ikt_context *ctx, const int64_t *label, const uint8_t *has,
                                 const uint8_t *train, ikt_class_rows *out) {
    int64_t *all = NULL, count = 0;
    IKT_TRY(ikt_alloc(ctx, &all, out->trained, sizeof *all, purpose));
    for (int64_t i = 0; i < out->n; i++)
        if (has[i] && train[i]) all[count++] = label[i];
    count = ikt_sort_distinct_i64(all, count);
    out->classes = (int)(count <= IKT_CLASSES_MOST ? count : IKT_CLASSES_MOST + 1);
    ikt_status st = ikt_alloc(ctx, &out->value, count, sizeof *out->value, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &out->size, count, sizeof *out->size, purpose);
    if (st == IKT_OK) memcpy(out->value, all, (size_t)count * sizeof *all);
    for (int64_t i = 0; st == IKT_OK && i < out->n; i++) {
        const int64_t c = has[i] ? ikt_find_i64(all, count, label[i]) : -1;
        out->known[i] = !has[i] ? -1 : c < 0 ? IKT_CLASS_FOREIGN : (int32_t)c;
        out->of_row[i] = train[i] && has[i] ? (int32_t)c : -1;
        if (out->of_row[i] >= 0) out->size[c]++;
    }
    ikt_free(&all);
    return st;
}

/* SAME-ARGS. What no model can be made of. */
static ikt_status check_classes(ikt_context *ctx, const ikt_fisher_settings *settings,
                                const ikt_class_rows *c, const char *names) {
    char name[128];
    if (c->classes < 2)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "affinity.kind=fisher tells classes apart, but all %lld train rows have "
                        "the same label",
                        (long long)c->trained);
    if (c->classes > IKT_CLASSES_MOST)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "the labels of the train rows are of more than %d classes, which "
                        "affinity.kind=fisher does not take: are they classes at all?",
                        IKT_CLASSES_MOST);
    for (int i = 0; i < c->classes; i++) {
        if (c->size[i] >= 2) continue;
        ikt_class_name(names, c->value[i], name, sizeof name);
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "class %s has one train row, and affinity.kind=fisher needs two of each "
                        "class; take away its label, or join the class with another",
                        name);
    }
    const int64_t m = ikt_fisher_support(settings, c->trained);
    if (m > c->trained)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "fisher.support = %lld, but only %lld rows have a label that may be used",
                        (long long)m, (long long)c->trained);
    if (settings->support != IKT_AUTO_INT && m < 2 * c->classes)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "fisher.support = %lld, but %d classes need two rows each: at least %d",
                        (long long)m, c->classes, 2 * c->classes);
    return IKT_OK;
}

/* COLLECTIVE. The labels of all rows, in the order of the settings: train list, permutation. */
static ikt_status classify(ikt_context *ctx, const ikt_fisher_settings *settings, const char *names,
                           uint64_t seed, int64_t *label, ikt_class_rows *out) {
    uint8_t *train = NULL, *has = NULL;
    const int64_t n = out->n;
    ikt_status st = ikt_alloc(ctx, &train, n, 1, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &has, n, 1, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &out->known, n, sizeof *out->known, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &out->of_row, n, sizeof *out->of_row, purpose);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK && settings->train[0]) st = read_train(ctx, settings->train, n, train);
    for (int64_t i = 0; st == IKT_OK && i < n; i++) {
        has[i] = !is_none(names, label[i]);
        if (!settings->train[0]) train[i] = 1;
        out->labelled += has[i];
        out->trained += has[i] && train[i];
    }
    if (st == IKT_OK && out->trained == 0)
        st = ikt_fail(ctx, IKT_ERR_DATA, "%s",
                      out->labelled == 0   ? "affinity.kind=fisher needs labels, and no row has one"
                      : settings->train[0] ? "no row that fisher.train names has a label"
                                           : "affinity.kind=fisher needs labels");
    if (st == IKT_OK && settings->permute) st = permute(ctx, seed, n, out->labelled, has, label);
    if (st == IKT_OK) st = number_classes(ctx, label, has, train, out);
    st = ikt_agree(ctx, st);
    ikt_free(&train);
    ikt_free(&has);
    return st;
}

ikt_status ikt_class_rows_make(ikt_context *ctx, const ikt_fisher_settings *settings,
                               const ikt_rows *rows, const int64_t *labels, const char *names,
                               uint64_t seed, ikt_class_rows *out) {
    int64_t *all = NULL;
    *out = (ikt_class_rows){.n = rows->n};
    if (ikt_max_one(ctx, labels != NULL) == 0) /* a rank without rows may have none */
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "affinity.kind=fisher needs labels, and the input has none; name them by "
                        "input.labels");
    IKT_TRY(ikt_share_rows(ctx, rows, labels, sizeof *labels, purpose, &all));
    ikt_status st = classify(ctx, settings, names, seed, all, out);
    ikt_free(&all);
    if (st == IKT_OK) st = check_classes(ctx, settings, out, names);
    if (st != IKT_OK) ikt_class_rows_destroy(out);
    return st;
}

void ikt_class_rows_destroy(ikt_class_rows *classes) {
    ikt_free(&classes->value);
    ikt_free(&classes->size);
    ikt_free(&classes->known);
    ikt_free(&classes->of_row);
}

ikt_status ikt_class_rows_hash(ikt_context *ctx, const ikt_fisher_settings *settings,
                               const ikt_rows *rows, const int64_t *labels, const char *names,
                               uint64_t seed, uint64_t *hash) {
    ikt_class_rows classes;
    *hash = 0;
    IKT_TRY(ikt_class_rows_make(ctx, settings, rows, labels, names, seed, &classes));
    const size_t values = (size_t)classes.classes * sizeof *classes.value;
    *hash = ikt_hash_bytes(classes.value, values, values);
    *hash = ikt_hash_bytes(classes.of_row, (size_t)rows->n * sizeof *classes.of_row, *hash);
    ikt_class_rows_destroy(&classes);
    return IKT_OK;
}
