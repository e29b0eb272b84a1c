/* What an export is made of: the run's file, columns beside its rows, and who has which rows when.
 */
#include "io/export/export.h"

#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "io/hdf5/h5.h"

ikt_status ikt_export_open(ikt_context *ctx, const char *run, ikt_export *out) {
    *out = (ikt_export){.ctx = ctx, .run = run};
    IKT_TRY(ikt_result_open(ctx, run, &out->file));
    out->n = ikt_result_rows(out->file);
    out->q = ikt_result_dimensions(out->file);
    return IKT_OK;
}

void ikt_export_close(ikt_export *export) {
    for (int64_t c = 0; c < export->columns; c++) {
        ikt_column_close(&export->column[c].values);
        ikt_free(&export->column[c].names);
    }
    ikt_result_close(&export->file);
}

ikt_status ikt_export_add(ikt_export *export, const char *file, const char *dataset,
                          bool *present) {
    ikt_context *ctx = export->ctx;
    if (present) {
        hid_t run;
        IKT_TRY(ikt_h5_open(ctx, export->run, &run));
        *present = ikt_max_one(ctx, ikt_h5_has(run, dataset)) > 0;
        ikt_h5_close(run);
        if (!*present) return IKT_OK;
    }
    if (export->columns == IKT_EXPORT_COLUMNS)
        return ikt_fail(ctx, IKT_ERR_USAGE, "more than %d columns cannot be exported",
                        IKT_EXPORT_COLUMNS);
    ikt_export_column *c = &export->column[export->columns];
    *c = (ikt_export_column){.values = NULL};
    IKT_TRY(ikt_column_open(ctx, file, dataset, export->n, &c->values));
    export->columns++; /* from here on it is closed with the others */
    /* "diagnostics/nearest" is headed "nearest"; one of the labels is a label. */
    const char *slash = strrchr(dataset, '/'), *name = slash ? slash + 1 : dataset;
    snprintf(c->name, sizeof c->name, "%s", strcmp(name, "labels") == 0 ? "label" : name);
    if (strcmp(file, export->run) != 0 || strcmp(dataset, "labels") != 0) return IKT_OK;
    return ikt_result_read_text(export->file, "label_names", &c->names);
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
    size_t used = 0;
    text[0] = '\0';
    for (int f = 0; f < FORMATS && used < size; f++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", f > 0 ? ", " : "",
                                 formats[f]->endings);
}
