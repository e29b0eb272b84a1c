/* Classes of train rows. See fisher_line.h. */
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/encoding.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/row_hash.h"
#include "base/sort.h"
#include "dist/shuffle.h"
#include "evaluate/measure.h"
#include "io/hdf5/columns.h"
#include "io/numbers/element.h"
#include "io/sources/labels.h"
#include "io/sources/source.h"
#include "pipeline/fisher_line.h"

static const char purpose[] = "labels";

/* --- the train list --------------------------------------------------------------------------- */

/* COLLECTIVE. The numbers of a data set of an HDF5 file, of one dimension or a single column, on
 * every rank. */
static ikt_status read_column(const ikt_place *place, ikt_arrays *held, double **number,
                              int64_t *count) {
    const char *part = ikt_text_or(place->part, "train");
    ikt_column *column IKT_AT_END(ikt_column_close) = NULL;
    IKT_TRY(ikt_column_open(held->ctx, place->file, part, -1, &column));
    *count = ikt_column_length(column);
    *number = ikt_claim(held, *count, sizeof **number);
    IKT_TRY(ikt_arrays_agree(held));
    return ikt_column_read_reals(column, 0, *count, *number);
}

/* COLLECTIVE. Those of a column of CSV, or of an array of NPY. */
static ikt_status read_source(const ikt_place *place, ikt_arrays *held, double **number,
                              int64_t *count) {
    const char *part = ikt_text_or(place->part, "X");
    ikt_source *source IKT_AT_END(ikt_source_close) = NULL;
    IKT_TRY(ikt_source_open(held->ctx, place->file, part, 0, &source));
    *count = ikt_source_rows(source);
    if (ikt_source_columns(source) != 1)
        return ikt_fail(held->ctx, IKT_ERR_DATA,
                        "%s (fisher.train) has %lld columns, where one of row numbers is needed",
                        ikt_source_name(source), (long long)ikt_source_columns(source));
    void *stored = ikt_claim(held, *count, sizeof(double));
    *number = ikt_claim(held, *count, sizeof **number);
    IKT_TRY(ikt_arrays_agree(held));
    IKT_TRY(ikt_source_read(source, 0, *count, stored));
    for (int64_t i = 0; i < *count; i++)
        (*number)[i] = ikt_number_at(ikt_source_type(source), stored, i);
    return IKT_OK;
}

/* COLLECTIVE. Marks the rows that a list names, in mark[n]. Every rank reads all of it. */
static ikt_status read_train(ikt_context *ctx, const char *name, int64_t n, uint8_t *mark) {
    ikt_place place;
    double *number;
    int64_t count;
    IKT_ARRAYS(held, ctx, purpose);
    IKT_TRY(ikt_place_find(ctx, name, &place));
    if (!place.file[0])
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s (fisher.train) cannot be read: there is no such file", name);
    IKT_TRY((place.is_hdf5 ? read_column : read_source)(&place, &held, &number, &count));
    for (int64_t i = 0; i < count; i++) {
        const double row = number[i];
        if (!(row >= 0 && row < (double)n) || row != floor(row))
            return ikt_fail(ctx, IKT_ERR_DATA,
                            "%s (fisher.train), entry %lld: %g is not a row of the data, which are "
                            "0 to %lld",
                            name, (long long)i, row, (long long)(n - 1));
        if (mark[(int64_t)row]++)
            return ikt_fail(ctx, IKT_ERR_DATA, "%s (fisher.train) names row %lld twice", name,
                            (long long)row);
    }
    return IKT_OK;
}

/* --- labels ----------------------------------------------------------------------------------- */

/* Gives the labelled rows each other's labels: the r-th of them in the order of their draws has the
 * label of the r-th of them by row. */
static ikt_status permute_labels(ikt_context *ctx, uint64_t seed, int64_t n, int64_t labelled,
                                 const uint8_t *has, int64_t *label) {
    int64_t at = 0;
    IKT_ARRAYS(held, ctx, purpose);
    /* Draws are cut to 31 bits; equal ones go by row. */
    int64_t *pair = ikt_claim(&held, labelled, sizeof *pair);
    int64_t *given = ikt_claim(&held, labelled, sizeof *given);
    IKT_TRY(held.status);
    for (int64_t i = 0; i < n; i++) {
        if (!has[i]) continue;
        const uint64_t draw = ikt_rng_u64(seed, IKT_RNG_PERMUTE, i, 0);
        pair[at] = (int64_t)(draw >> 33 << 32 | (uint64_t)(uint32_t)i);
        given[at++] = label[i];
    }
    ikt_sort_i64(pair, labelled);
    for (int64_t r = 0; r < labelled; r++)
        label[pair[r] & UINT32_MAX] = given[r];
    return IKT_OK;
}

/* The classes of train rows, and everybody's. */
static ikt_status number_classes(ikt_context *ctx, const int64_t *label, const uint8_t *has,
                                 const uint8_t *train, ikt_class_rows *out) {
    int64_t count = 0;
    IKT_ARRAYS(held, ctx, purpose);
    int64_t *all = ikt_claim(&held, out->trained, sizeof *all);
    IKT_TRY(held.status);
    for (int64_t i = 0; i < out->n; i++)
        if (train[i]) all[count++] = label[i];
    count = ikt_sort_distinct_i64(all, count);
    out->classes = (int)ikt_smaller(count, IKT_CLASSES_MOST + 1);
    out->value = ikt_claim(&out->held, count, sizeof *out->value);
    out->size = ikt_claim(&out->held, count, sizeof *out->size);
    IKT_TRY(out->held.status);
    memcpy(out->value, all, (size_t)count * sizeof *all);
    for (int64_t i = 0; i < out->n; i++) {
        out->known[i] = out->of_row[i] = -1;
        if (!has[i]) continue;
        const int64_t c = ikt_find_i64(all, count, label[i]);
        out->known[i] = c < 0 ? IKT_CLASS_FOREIGN : (int32_t)c;
        out->of_row[i] = train[i] ? (int32_t)c : -1;
        if (out->of_row[i] >= 0) out->size[c]++;
    }
    return IKT_OK;
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
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "class %s has one train row, and affinity.kind=fisher needs two of each "
                        "class; take away its label, or join the class with another",
                        ikt_label_name(names, c->value[i], name, sizeof name));
    }
    const int64_t m = ikt_fisher_support(settings, c->trained);
    if (m > c->trained)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "fisher.support = %lld, but only %lld rows have a label that may be used",
                        (long long)m, (long long)c->trained);
    if (settings->support != IKT_AUTO_INT && m < 2 * c->classes)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "fisher.support = %lld, but %d classes need two rows each: at least %d",
                        (long long)m, c->classes, 2 * c->classes);
    return IKT_OK;
}

/* LOCAL. The classes of labels, which are permuted first where that is wanted. */
static ikt_status find_classes(ikt_context *ctx, bool permute, uint64_t seed, const uint8_t *has,
                               const uint8_t *train, int64_t *label, ikt_class_rows *out) {
    if (permute) IKT_TRY(permute_labels(ctx, seed, out->n, out->labelled, has, label));
    return number_classes(ctx, label, has, train, out);
}

/* COLLECTIVE. The labels of all rows, in the order of the settings: train list, permutation. */
static ikt_status classify(ikt_context *ctx, const ikt_fisher_settings *settings, const char *names,
                           uint64_t seed, int64_t *label, ikt_class_rows *out) {
    const int64_t n = out->n;
    IKT_ARRAYS(held, ctx, purpose);
    uint8_t *train = ikt_claim(&held, n, 1), *has = ikt_claim(&held, n, 1);
    out->known = ikt_claim(&out->held, n, sizeof *out->known);
    out->of_row = ikt_claim(&out->held, n, sizeof *out->of_row);
    IKT_TRY(ikt_arrays_agree_both(&out->held, &held));
    memset(train, !settings->train[0], (size_t)n);
    if (settings->train[0]) IKT_TRY(read_train(ctx, settings->train, n, train));
    ikt_labels_leave_unnamed(names, label, n);
    const int64_t least = ikt_labels_least(ctx, label, n, names); /* SAME-ARGS */
    for (int64_t i = 0; i < n; i++) {
        has[i] = label[i] >= least;
        train[i] &= has[i];
        out->labelled += has[i];
        out->trained += train[i];
    }
    if (out->trained == 0)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s",
                        out->labelled == 0 ? "affinity.kind=fisher needs labels, and no row has one"
                                           : "no row that fisher.train names has a label");
    return ikt_agree(ctx, find_classes(ctx, settings->permute, seed, has, train, label, out));
}

ikt_status ikt_class_rows_make(ikt_context *ctx, const ikt_fisher_settings *settings,
                               const ikt_rows *rows, const int64_t *labels, const char *names,
                               uint64_t seed, ikt_class_rows *out) {
    int64_t *all IKT_AT_END(ikt_free) = NULL;
    ikt_class_rows made IKT_AT_END(ikt_class_rows_destroy) = {.n = rows->n,
                                                              .held = ikt_arrays_of(ctx, purpose)};
    *out = (ikt_class_rows){.n = rows->n};
    if (ikt_max_one(ctx, labels != NULL) == 0) /* a rank without rows may have none */
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "affinity.kind=fisher needs labels, and the input has none; name them by "
                        "input.labels");
    IKT_TRY(ikt_share_rows(ctx, rows, labels, sizeof *labels, purpose, &all));
    IKT_TRY(classify(ctx, settings, names, seed, all, &made));
    IKT_TRY(check_classes(ctx, settings, &made, names));
    return ikt_give(out, made);
}

void ikt_class_rows_destroy(ikt_class_rows *classes) {
    ikt_arrays_free(&classes->held);
}

ikt_status ikt_class_rows_hash(ikt_context *ctx, const ikt_settings *settings, const ikt_rows *rows,
                               const int64_t *labels, const char *names, uint64_t *hash) {
    ikt_class_rows classes IKT_AT_END(ikt_class_rows_destroy) = {.n = 0};
    IKT_TRY(ikt_class_rows_make(ctx, &settings->affinity.fisher, rows, labels, names,
                                (uint64_t)settings->run.seed, &classes));
    const size_t values = (size_t)classes.classes * sizeof *classes.value;
    *hash = ikt_hash_bytes(classes.value, values, values);
    *hash = ikt_hash_bytes(classes.of_row, (size_t)rows->n * sizeof *classes.of_row, *hash);
    return IKT_OK;
}
