/* What an export is made of: the run's file, columns beside its rows, and who has which rows when.
 */
#include "io/export/export.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "base/shared_file.h"
#include "io/formats/csv_file.h"
#include "io/hdf5/h5.h"
#include "io/numbers/element.h"
#include "io/sources/labels.h"
#include "io/sources/source.h"

/* COLLECTIVE. Whether the map's file is HDF5 and has such a data set, or one in obs. */
static ikt_status look_for(ikt_export *export, const char *dataset, bool *present) {
    ikt_context *ctx = export->ctx;
    const char *path = ikt_result_path(export->file);
    int64_t is_hdf5 = 0;
    hid_t run;
    *present = false;
    if (ikt_rank(ctx) == 0) is_hdf5 = ikt_source_is_hdf5(path);
    if (ikt_max_one(ctx, is_hdf5) == 0) return IKT_OK;
    IKT_TRY(ikt_h5_open(ctx, path, &run));
    *present = ikt_max_one(ctx, ikt_h5_has(run, dataset)) > 0;
    ikt_h5_close(run);
    return IKT_OK;
}

ikt_status ikt_export_open(ikt_context *ctx, const char *run, ikt_export *out) {
    *out = (ikt_export){.ctx = ctx, .run = run};
    IKT_TRY(ikt_result_open(ctx, run, &out->file));
    out->n = ikt_result_rows(out->file);
    out->q = ikt_result_dimensions(out->file);
    return ikt_beside_open(ctx, out->file, 0, out->n, &out->beside);
}

void ikt_export_numbers(const ikt_export *export, int64_t first, int64_t count, int64_t *number) {
    const int64_t *original = export->beside.original;
    for (int64_t i = 0; i < count; i++)
        number[i] = original ? original[first + i] : first + i;
}

void ikt_export_close(ikt_export *export) {
    for (int64_t c = 0; c < export->columns; c++) {
        ikt_column_close(&export->column[c].values);
        ikt_texts_free(&export->column[c].texts);
        ikt_free(&export->column[c].cells);
        ikt_free(&export->column[c].classes);
        ikt_free(&export->column[c].names);
    }
    ikt_beside_close(&export->beside);
    ikt_result_close(&export->file);
}

static const char *part_of(const ikt_place *place) {
    return ikt_text_or(place->part, "labels");
}

/* Above the numbers that are written in digits alone: ids of 64 bits have 20. */
#define DIGITS_MOST 1e20

/* LOCAL, pure. Whether the text is a whole number that a double does not hold. */
static bool is_rounded(const char *text) {
    char digits[64];
    const char *first = text + (text[0] == '-' || text[0] == '+');
    if (!*first || strlen(first) > 40 || first[strspn(first, "0123456789")]) return false;
    first += strspn(first, "0");
    snprintf(digits, sizeof digits, "%.0f", strtod(first, NULL));
    return *first && strcmp(digits, first) != 0;
}

/* COLLECTIVE. Keeps the cells of a column of CSV as text where doubles round whole numbers in it,
 * such as ids of 19 digits; of a file alone it is not known which column that is. All ranks have
 * all rows. */
static ikt_status keep_digits(ikt_export *export, ikt_export_column *c) {
    ikt_context *ctx = export->ctx;
    ikt_place place;
    bool any = false;
    for (int64_t i = 0; i < export->n && !any; i++)
        any = fabs(c->cells[i]) >= IKT_DOUBLE_WHOLE && fabs(c->cells[i]) < DIGITS_MOST;
    if (!any) return IKT_OK;
    IKT_TRY(ikt_place_find(ctx, c->source, &place));
    if (!place.is_csv) return IKT_OK;
    if (!place.part[0])
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s has numbers of more digits than all doubles hold: name the column, "
                        "%s:COLUMN, and they are written as they are",
                        c->source, c->source);
    IKT_TRY(ikt_beside_texts(&export->beside, c->source, &c->texts));
    any = false;
    for (int64_t i = 0; i < export->n && !any; i++)
        any = is_rounded(c->texts.text[i]);
    if (any) {
        ikt_free(&c->cells);
        c->kind = IKT_EXPORT_TEXTS;
    } else {
        ikt_texts_free(&c->texts);
    }
    return IKT_OK;
}

/* COLLECTIVE. Holds the numbers of a file whose columns are not read by ranges. */
static ikt_status hold_numbers(ikt_export *export, ikt_export_column *c) {
    IKT_TRY(ikt_alloc_all(export->ctx, &c->cells, export->n, sizeof *c->cells, "column"));
    IKT_TRY(ikt_beside_numbers(&export->beside, c->source, c->cells));
    return keep_digits(export, c);
}

/* COLLECTIVE. Opens a column whatever it is, of which each block is read when it is written. Those
 * of CSV are read once, as parsing begins at the beginning; cells of text as they are, numbers as
 * numbers. */
static ikt_status open_column(ikt_export *export, const char *file, const char *dataset,
                              ikt_export_column *c) {
    ikt_context *ctx = export->ctx;
    ikt_texts none IKT_AT_END(ikt_texts_free) = {.count = 0};
    ikt_texts_kind texts;
    ikt_place place;
    bool has_names = false;
    snprintf(c->source, sizeof c->source, dataset[0] ? "%s:%s" : "%s", file, dataset);
    IKT_TRY(ikt_texts_look(ctx, c->source, &texts));
    c->kind = texts == IKT_TEXTS_STRINGS ? IKT_EXPORT_TEXTS : IKT_EXPORT_NUMBERS;
    if (texts == IKT_TEXTS_STRINGS) return ikt_texts_read(ctx, c->source, export->n, 0, 0, &none);
    IKT_TRY(ikt_label_file_has_names(ctx, c->source, &has_names));
    if (texts == IKT_TEXTS_CELLS && has_names) {
        c->kind = IKT_EXPORT_TEXTS;
        return ikt_beside_texts(&export->beside, c->source, &c->texts);
    }
    if (has_names) c->kind = IKT_EXPORT_CLASSES; /* their names come with those of no rows */
    if (has_names)
        return ikt_label_file_read(ctx, c->source, export->n, 0, 0, NULL, &has_names, &c->names);
    IKT_TRY(ikt_place_find(ctx, c->source, &place));
    if (place.is_hdf5)
        return ikt_column_open(ctx, place.file, part_of(&place), export->n, &c->values);
    return hold_numbers(export, c);
}

/* COLLECTIVE. Holds the rows of a column that has an entry for each row of the input. */
static ikt_status hold_column(ikt_export *export, ikt_export_column *c) {
    ikt_context *ctx = export->ctx;
    ikt_place place;
    bool are_whole;
    if (c->kind == IKT_EXPORT_TEXTS) return ikt_beside_texts(&export->beside, c->source, &c->texts);
    if (c->kind == IKT_EXPORT_CLASSES) {
        IKT_TRY(ikt_alloc_all(ctx, &c->classes, export->n, sizeof *c->classes, "column"));
        return ikt_beside_labels(&export->beside, c->source, c->classes, &c->names);
    }
    IKT_TRY(ikt_place_find(ctx, c->source, &place));
    if (!place.is_hdf5) return hold_numbers(export, c);
    IKT_TRY(ikt_alloc_all(ctx, &c->classes, export->n, sizeof *c->classes, "column"));
    IKT_TRY(
        ikt_beside_wholes(&export->beside, place.file, part_of(&place), &are_whole, c->classes));
    if (are_whole) return IKT_OK;
    ikt_free(&c->classes);
    return hold_numbers(export, c);
}

ikt_status ikt_export_add(ikt_export *export, const char *file, const char *dataset,
                          bool *present) {
    ikt_context *ctx = export->ctx;
    const char *own = ikt_result_path(export->file);
    if (present) {
        IKT_TRY(look_for(export, dataset, present));
        if (!*present) return IKT_OK;
    }
    if (export->columns == IKT_EXPORT_COLUMNS)
        return ikt_fail(ctx, IKT_ERR_USAGE, "more than %d columns cannot be exported",
                        IKT_EXPORT_COLUMNS);
    ikt_export_column *c = &export->column[export->columns++]; /* closed with the others */
    *c = (ikt_export_column){.values = NULL};
    /* "diagnostics/nearest" is headed "nearest"; one of the labels is a label. */
    const char *slash = strrchr(dataset, '/');
    snprintf(c->name, sizeof c->name, "%s", slash ? slash + 1 : dataset);
    if (!dataset[0]) ikt_file_column(file, c->name, sizeof c->name); /* FILE.npy is one column */
    if (strcmp(c->name, "labels") == 0) strcpy(c->name, "label");
    const bool is_label = strcmp(file, own) == 0 && strcmp(dataset, "labels") == 0;
    if (!is_label || !ikt_result_is_run(export->file)) {
        const ikt_status st = open_column(export, file, dataset, c);
        const bool is_held = c->cells || c->texts.text;
        if (st != IKT_ERR_DATA || is_held || !ikt_beside_may_be_input(&export->beside, c->source))
            return st;
        ikt_clear(ctx);
        return hold_column(export, c);
    }
    IKT_TRY(ikt_column_open(ctx, file, dataset, export->n, &c->values));
    return ikt_result_read_text(export->file, "label_names", &c->names);
}

ikt_status ikt_export_add_labels(ikt_export *export) {
    static const char *const names[] = {"label", "labels", "label_name"};
    const ikt_reader_options options = {.keeps_text = true, .keeps_missing = true};
    const char *own = ikt_result_path(export->file);
    ikt_csv_file csv IKT_AT_END(ikt_csv_file_close) = {.ctx = export->ctx};
    ikt_place place;
    bool present;
    IKT_TRY(ikt_place_find(export->ctx, own, &place));
    if (!place.is_csv) return ikt_export_add(export, own, "labels", &present);
    IKT_TRY(ikt_csv_file_open(export->ctx, own, &options, 0, &csv));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (i == 1 && export->columns > 0) continue; /* the one or the other */
        if (i == 2 && export->columns == 0) continue;
        if (ikt_csv_find(&csv.columns, names[i], strlen(names[i])) >= 0)
            IKT_TRY(ikt_export_add(export, own, names[i], NULL));
    }
    return IKT_OK;
}

bool ikt_export_is_real(const ikt_export_column *column) {
    return column->kind == IKT_EXPORT_NUMBERS &&
           (column->cells || (column->values && ikt_column_is_real(column->values)));
}

ikt_status ikt_export_reals(ikt_export *export, int64_t c, int64_t first, int64_t count,
                            double *values) {
    const ikt_export_column *column = &export->column[c];
    if (!column->cells) return ikt_column_read_reals(column->values, first, count, values);
    if (count > 0) memcpy(values, column->cells + first, (size_t)count * sizeof *values);
    return IKT_OK;
}

ikt_status ikt_export_wholes(ikt_export *export, int64_t c, int64_t first, int64_t count,
                             int64_t *values) {
    ikt_export_column *column = &export->column[c];
    bool present;
    if (column->classes && count > 0)
        memcpy(values, column->classes + first, (size_t)count * sizeof *values);
    if (column->classes) return IKT_OK;
    if (column->kind == IKT_EXPORT_NUMBERS)
        return ikt_column_read_wholes(column->values, first, count, values);
    return ikt_label_file_read(export->ctx, column->source, export->n, first, count, values,
                               &present, &column->names);
}

ikt_status ikt_export_texts(ikt_export *export, int64_t c, int64_t first, int64_t count,
                            ikt_texts *texts) {
    const ikt_export_column *column = &export->column[c];
    if (!column->texts.text)
        return ikt_texts_read(export->ctx, column->source, export->n, first, count, texts);
    *texts = (ikt_texts){.count = count, .text = column->texts.text + first}; /* borrowed */
    return IKT_OK;
}

void ikt_export_texts_free(ikt_texts *texts) {
    if (texts->bytes) ikt_texts_free(texts);
    *texts = (ikt_texts){.count = 0};
}

int64_t ikt_export_rounds(const ikt_export *export) {
    const int64_t step = (int64_t)IKT_EXPORT_BLOCK * ikt_size(export->ctx);
    return (export->n + step - 1) / step;
}

void ikt_export_share(const ikt_export *export, int64_t round, int64_t *first, int64_t *count) {
    const int64_t block = round * ikt_size(export->ctx) + ikt_rank(export->ctx);
    const int64_t from = block * IKT_EXPORT_BLOCK;
    *first = from < export->n ? from : export->n;
    *count = export->n - *first < IKT_EXPORT_BLOCK ? export->n - *first : IKT_EXPORT_BLOCK;
}

/* The formats of exports, and finding one by name. */

static const ikt_export_format *const formats[] = {
    &ikt_export_npy, &ikt_export_csv, &ikt_export_tsv, &ikt_export_h5ad, &ikt_export_vtkhdf};
enum { FORMATS = sizeof formats / sizeof *formats };

static bool ends_with(const char *text, size_t length, const char *ending, size_t of_ending) {
    return length > of_ending && memcmp(text + length - of_ending, ending, of_ending) == 0;
}

/* Whether the first `length` characters of a name end as those of the format do. */
static bool has_ending(const ikt_export_format *format, const char *path, size_t length) {
    for (const char *at = format->endings; *at;) {
        const size_t width = strcspn(at, " ");
        if (ends_with(path, length, at, width)) return true;
        at += width + strspn(at + width, " ");
    }
    return false;
}

const ikt_export_format *ikt_export_find(const char *name, const char *path, bool *is_gzipped) {
    size_t length = strlen(path);
    *is_gzipped = ends_with(path, length, ".gz", 3);
    if (*is_gzipped) length -= 3;
    for (int f = 0; f < FORMATS; f++) {
        const bool is_named = strcmp(name, formats[f]->name) == 0;
        const bool is_meant = strcmp(name, "auto") == 0 && has_ending(formats[f], path, length);
        if (is_named || (is_meant && (!*is_gzipped || formats[f]->is_text))) return formats[f];
    }
    return NULL;
}

void ikt_export_names(char *text, size_t size) {
    text[0] = '\0';
    for (int f = 0; f < FORMATS; f++)
        ikt_join(text, size, ", ", "%s", formats[f]->endings);
}

/* --- NPY -------------------------------------------------------------------------------------- */

enum { HEADER = 128, PREFIX = 10 };

/* Magic, version, length, and a dictionary filled up with blanks so that the data is aligned. */
static void make_header(const ikt_export *export, char header[HEADER]) {
    const char order = ikt_element_native('f', 4).big ? '>' : '<';
    char text[HEADER - PREFIX];
    const int length = snprintf(text, sizeof text,
                                "{'descr': '%cf4', 'fortran_order': False, 'shape': (%lld, %d), }",
                                order, (long long)export->n, export->q);
    memset(header, ' ', HEADER);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)(HEADER - PREFIX);
    header[9] = 0;
    memcpy(header + PREFIX, text, (size_t)length);
    header[HEADER - 1] = '\n';
}

static ikt_status write_places(ikt_export *export, ikt_shared_file *file) {
    const int64_t row_bytes = export->q * (int64_t)sizeof(float);
    char header[HEADER];
    IKT_ARRAYS(held, export->ctx, "block");
    float *y = ikt_claim(&held, IKT_EXPORT_BLOCK * export->q, sizeof *y);
    IKT_TRY(ikt_arrays_agree(&held));
    make_header(export, header);
    IKT_TRY(ikt_shared_append(file, header, ikt_rank(export->ctx) == 0 ? HEADER : 0));
    for (int64_t round = 0; round < ikt_export_rounds(export); round++) {
        int64_t first, count;
        ikt_export_share(export, round, &first, &count);
        IKT_TRY(ikt_result_read_embedding(export->file, first, count, y));
        IKT_TRY(ikt_shared_append(file, y, count * row_bytes));
    }
    return IKT_OK;
}

static ikt_status write_npy(ikt_export *export, const ikt_export_options *options,
                            const char *path) {
    const int64_t bytes = HEADER + export->n * export->q * (int64_t)sizeof(float);
    ikt_shared_file *file;
    IKT_TRY(ikt_shared_begin(export->ctx, path, options->overwrite, bytes, &file));
    return ikt_shared_end(&file, write_places(export, file));
}

const ikt_export_format ikt_export_npy = {"npy", ".npy", "NPY", ".npy",
                                          false, false,  true,  write_npy};
