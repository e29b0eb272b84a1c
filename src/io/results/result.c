/* The output file of a run, written and read; any file with an embedding is read, too. */
#include "io/results/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "io/formats/class_labels.h"
#include "io/hdf5/columns.h"
#include "io/hdf5/h5.h"
#include "io/hdf5/parts_h5.h"
#include "io/numbers/element.h"
#include "io/sources/labels.h"
#include "io/sources/source.h"

/* --- writing ---------------------------------------------------------------------------------- */

static ikt_part rows_of(const ikt_result *r, const char *name, ikt_part_type type, int64_t d,
                        const void *rows) {
    return ikt_part_rows(name, type, &r->rows, d, (void *)rows);
}

static ikt_part shared(const char *name, ikt_part_type type, int64_t n, const void *values) {
    return ikt_part_shared(name, type, n, (void *)values);
}

/* COLLECTIVE. Makes a group; *group is closed by the caller. */
static ikt_status make_group(const ikt_h5_output *out, const char *name, hid_t *group) {
    *group = ikt_h5_create_group(out->file, name);
    return ikt_h5_output_check(out, *group >= 0, name);
}

/* COLLECTIVE. A group of parts. */
static ikt_status write_group(const ikt_h5_output *out, const char *name, const ikt_part *parts,
                              int64_t count) {
    hid_t group IKT_AT_END(ikt_h5_end) = -1;
    IKT_TRY(make_group(out, name, &group));
    return ikt_parts_write(out->ctx, group, false, parts, count);
}

static bool write_notes(hid_t group, const ikt_note *notes, int64_t count) {
    bool good = true;
    for (int64_t i = 0; i < count && good; i++)
        good = ikt_h5_set_text(group, notes[i].name, notes[i].text);
    return good;
}

/* COLLECTIVE. Facts of every equal run, and below them what varies. */
static ikt_status write_provenance(const ikt_h5_output *out, const ikt_result *r) {
    const ikt_part seconds = shared("trace_seconds", IKT_PART_F64, r->n_trace, r->trace_seconds);
    hid_t facts IKT_AT_END(ikt_h5_end) = -1, run IKT_AT_END(ikt_h5_end) = -1;
    IKT_TRY(make_group(out, "provenance", &facts));
    IKT_TRY(ikt_h5_output_check(out,
                                ikt_h5_set_text(facts, "configuration", r->configuration) &&
                                    write_notes(facts, r->facts, r->n_facts),
                                "the provenance"));
    IKT_TRY(make_group(out, "provenance/run", &run));
    IKT_TRY(ikt_h5_output_check(out, write_notes(run, r->circumstances, r->n_circumstances),
                                "the provenance of the run"));
    return ikt_parts_write(out->ctx, run, false, &seconds, 1);
}

/* COLLECTIVE. Numbers of single rows. */
static ikt_status write_diagnostics(const ikt_h5_output *out, const ikt_result *r) {
    static const ikt_part_type type[] = {[IKT_COLUMN_FLOAT] = IKT_PART_F32,
                                         [IKT_COLUMN_DOUBLE] = IKT_PART_F64,
                                         [IKT_COLUMN_INT64] = IKT_PART_I64};
    hid_t group IKT_AT_END(ikt_h5_end) = -1;
    IKT_TRY(make_group(out, "diagnostics", &group));
    for (int64_t c = 0; c < r->n_columns; c++) {
        const ikt_result_column *column = &r->columns[c];
        const ikt_part part = rows_of(r, column->name, type[column->type], 0, column->values);
        IKT_TRY(ikt_parts_write(out->ctx, group, false, &part, 1));
    }
    return IKT_OK;
}

/* COLLECTIVE. What a run that is extended goes on from. */
static ikt_status write_state(const ikt_h5_output *out, const ikt_result *r) {
    hid_t group IKT_AT_END(ikt_h5_end) = -1;
    IKT_TRY(make_group(out, "state", &group));
    IKT_TRY(ikt_stage_head_write(out->ctx, group, &r->state_head));
    return ikt_parts_write(out->ctx, group, false, r->state, r->n_state);
}

static ikt_status write_all(const ikt_h5_output *out, const ikt_result *r) {
    ikt_part trace[5] = {shared("iteration", IKT_PART_I64, r->n_trace, r->trace_iteration),
                         shared(r->value_name, IKT_PART_F64, r->n_trace, r->trace_value),
                         shared("gradient_norm", IKT_PART_F64, r->n_trace, r->trace_gradient_norm)};
    ikt_part rows[3];
    int64_t count = 0, columns = 3;
    if (r->trace_error)
        trace[columns++] = shared("standard_error", IKT_PART_F64, r->n_trace, r->trace_error);
    if (r->trace_eigenvalues > 0) {
        trace[columns] = shared("eigenvalues", IKT_PART_F64, r->n_trace, r->trace_eigenvalue);
        trace[columns++].d = r->trace_eigenvalues;
    }
    const bool good =
        ikt_h5_set_text(out->file, "format", "iktsne-result") &&
        ikt_h5_set_int(out->file, "format_version", IKT_RESULT_CURRENT) &&
        (!r->label_names || ikt_h5_set_text(out->file, "label_names", r->label_names));
    IKT_TRY(ikt_h5_output_check(out, good, "the format"));
    rows[count++] = rows_of(r, "embedding", IKT_PART_F32, r->q, r->embedding);
    /* A rank without rows may hold no labels either: all ranks take the same path. */
    if (ikt_max_one(out->ctx, r->labels != NULL) > 0)
        rows[count++] = rows_of(r, "labels", IKT_PART_I64, 0, r->labels);
    if (r->n_marked > 0) rows[count++] = shared("marked", IKT_PART_I64, r->n_marked, r->marked);
    IKT_TRY(ikt_parts_write(out->ctx, out->file, false, rows, count));
    IKT_TRY(write_group(out, "trace", trace, columns));
    if (r->n_state > 0) IKT_TRY(write_state(out, r));
    if (r->n_own > 0) IKT_TRY(write_group(out, r->own_name, r->own, r->n_own));
    if (r->n_columns > 0) IKT_TRY(write_diagnostics(out, r));
    return write_provenance(out, r);
}

int64_t ikt_result_bytes(const ikt_result *r) {
    const int64_t n = r->rows.n;
    int64_t bytes = IKT_H5_FILE_BYTES + ikt_h5_rows_bytes(n, 4 * r->q) + ikt_h5_rows_bytes(n, 8);
    bytes += ikt_h5_rows_bytes(r->n_marked, 8) + 5 * ikt_h5_rows_bytes(r->n_trace, 8);
    if (r->trace_eigenvalues > 0) bytes += ikt_h5_rows_bytes(r->n_trace, 8 * r->trace_eigenvalues);
    bytes += r->n_columns * ikt_h5_rows_bytes(n, 8);
    if (r->label_names) bytes += (int64_t)strlen(r->label_names);
    return bytes + ikt_parts_bytes(r->state, r->n_state) + ikt_parts_bytes(r->own, r->n_own);
}

ikt_status ikt_result_write(ikt_context *ctx, const char *path, bool overwrite,
                            const ikt_result *result) {
    ikt_h5_output out;
    IKT_TRY(ikt_h5_output_begin(ctx, path, overwrite, ikt_result_bytes(result), &out));
    out.is_sealed = true;
    return ikt_h5_output_end(&out, NULL, 0, write_all(&out, result));
}

/* --- reading ---------------------------------------------------------------------------------- */

enum { COLUMNS_MOST = 3 };

/* Positions beyond this are numbers of something else. */
#define POSITION_MOST 1e30

struct ikt_result_file {
    ikt_context *ctx;
    hid_t file, embedding; /* negative where the file is not HDF5 */
    ikt_source *source;    /* the positions, where they are not /embedding of a result */
    bool is_borrowed;      /* it is the program's that calls the library */
    char name[IKT_PATH_MAX], path[IKT_PATH_MAX]; /* as it was named, "FILE:WHAT"; and the file */
    int64_t n;
    int q;
    hid_t state;
    ikt_stage_texts head; /* of the state */
};

static ikt_status open_embedding(ikt_result_file *f) {
    int64_t size[2];
    int64_t version = IKT_RESULT_CURRENT; /* a file of another program has none */
    char format[32];
    ikt_h5_short_text(f->file, "format", format, sizeof format);
    const bool is_model = strcmp(format, "iktsne-model") == 0; /* which counts its own versions */
    if (!is_model && ikt_h5_get_int(f->file, "format_version", &version) &&
        version > IKT_RESULT_CURRENT)
        return ikt_fail(f->ctx, IKT_ERR_DATA,
                        "%s has format version %lld; this program reads up to %d: use a newer "
                        "iktsne",
                        f->path, (long long)version, IKT_RESULT_CURRENT);
    f->embedding = ikt_h5_open_dataset(f->file, "embedding");
    const int dimensions = ikt_h5_shape(f->embedding, size);
    f->n = size[0];
    f->q = (int)size[1];
    if (dimensions == 2 && size[1] >= 1 && size[1] <= COLUMNS_MOST) return IKT_OK;
    char maps[512];
    ikt_h5_list_tables(f->file, COLUMNS_MOST, maps, sizeof maps);
    if (maps[0])
        return ikt_fail(
            f->ctx, IKT_ERR_DATA,
            "%s has no /embedding of 1 to %d columns, as `iktsne embed` writes it; a map "
            "of another name is FILE:DATASET, and here it may be one of: %s",
            f->path, COLUMNS_MOST, maps);
    return ikt_fail(f->ctx, IKT_ERR_DATA,
                    "%s has no /embedding of 1 to %d columns: is it the output of `iktsne embed`?",
                    f->path, COLUMNS_MOST);
}

/* COLLECTIVE. What the name means, as rank 0 sees it: a colon parts file and data set unless it
 * belongs to the name of a file.
 *   what   [IKT_PATH_MAX] receives the data set, array or columns; "" where none are named */
static ikt_status find_file(ikt_result_file *f, char *what, bool *is_hdf5) {
    ikt_context *ctx = f->ctx;
    int64_t facts[2] = {0, 0}; /* length of the file's name; whether it is HDF5 */
    ikt_status st = IKT_OK;
    if (ikt_rank(ctx) == 0) {
        facts[0] = (int64_t)ikt_file_name_length(f->name);
        snprintf(f->path, sizeof f->path, "%.*s", (int)facts[0], f->name);
        st = ikt_input_check(ctx, f->path);
        facts[1] = st == IKT_OK && ikt_source_is_hdf5(f->path);
    }
    IKT_TRY(ikt_agree(ctx, st));
    ikt_broadcast(ctx, facts, (int64_t)sizeof facts, 0);
    snprintf(f->path, sizeof f->path, "%.*s", (int)facts[0], f->name);
    const char *rest = f->name + facts[0];
    snprintf(what, IKT_PATH_MAX, "%s", *rest ? rest + 1 : "");
    *is_hdf5 = facts[1] > 0;
    return IKT_OK;
}

/* COLLECTIVE. Positions in a data set, an array or columns. */
static ikt_status open_source(ikt_result_file *f, const char *what) {
    const ikt_source_options options = {
        .dataset = ikt_text_or(what, "X"), .labels = "labels", .is_map = true};
    f->source = ikt_borrowed_find(f->ctx, f->name);
    f->is_borrowed = f->source != NULL;
    if (!f->is_borrowed) IKT_TRY(ikt_source_open_with(f->ctx, f->path, &options, &f->source));
    const int64_t d = ikt_source_columns(f->source);
    f->n = ikt_source_rows(f->source);
    f->q = (int)(d <= COLUMNS_MOST ? d : 0);
    if (d <= COLUMNS_MOST && !ikt_source_is_sparse(f->source)) return IKT_OK;
    return ikt_fail(f->ctx, IKT_ERR_DATA, /* the same on all ranks */
                    "%s is no map: it has %lld columns%s, and positions have 1 to %d",
                    ikt_source_name(f->source), (long long)d,
                    ikt_source_is_sparse(f->source) ? " of a sparse matrix" : "", COLUMNS_MOST);
}

/* COLLECTIVE. Opens what the name of f means. */
static ikt_status open_map(ikt_result_file *f) {
    char what[IKT_PATH_MAX] = "";
    bool is_hdf5 = false;
    if (!ikt_borrowed_find(f->ctx, f->name)) IKT_TRY(find_file(f, what, &is_hdf5));
    if (!is_hdf5 || what[0]) return open_source(f, what);
    IKT_TRY(ikt_h5_open(f->ctx, f->path, &f->file));
    return ikt_agree(f->ctx, open_embedding(f));
}

ikt_status ikt_result_open(ikt_context *ctx, const char *name, ikt_result_file **out) {
    *out = NULL;
    IKT_TRY(ikt_alloc_all(ctx, out, 1, sizeof **out, "result"));
    ikt_result_file *f = *out;
    f->ctx = ctx;
    f->file = f->embedding = f->state = -1;
    snprintf(f->name, sizeof f->name, "%s", name);
    const ikt_status st = open_map(f);
    if (st != IKT_OK) ikt_result_close(out);
    return st;
}

bool ikt_result_is_run(const ikt_result_file *file) {
    return !file->source;
}

const char *ikt_result_path(const ikt_result_file *file) {
    return file->path;
}

void ikt_result_close(ikt_result_file **file) {
    if (!*file) return;
    if (!(*file)->is_borrowed) ikt_source_close(&(*file)->source);
    ikt_h5_close((*file)->state);
    ikt_stage_texts_free(&(*file)->head);
    ikt_h5_close((*file)->embedding);
    ikt_h5_close((*file)->file);
    ikt_free(file);
}

int64_t ikt_result_rows(const ikt_result_file *file) {
    return file->n;
}

int ikt_result_dimensions(const ikt_result_file *file) {
    return file->q;
}

/* COLLECTIVE. Positions of another program, whatever their type, as float32. */
static ikt_status read_source(ikt_result_file *f, int64_t first, int64_t count, float *y) {
    const ikt_type type = ikt_source_type(f->source);
    IKT_ARRAYS(held, f->ctx, "map");
    void *stored = ikt_claim(&held, count * f->q, ikt_type_size(type));
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_source_read(f->source, first, count, stored));
    for (int64_t e = 0; e < count * f->q; e++)
        y[e] = (float)ikt_number_at(type, stored, e);
    return IKT_OK;
}

ikt_status ikt_result_read_embedding(ikt_result_file *f, int64_t first, int64_t count, float *y) {
    const char *missing = f->source ? ikt_source_missing(f->source) : "";
    ikt_status st = IKT_OK;
    IKT_TRY(f->source ? read_source(f, first, count, y)
                      : ikt_h5_read_rows(f->ctx, f->embedding, H5T_NATIVE_FLOAT, first, count, y));
    for (int64_t e = 0; st == IKT_OK && e < count * f->q; e++) {
        if (fabs((double)y[e]) <= POSITION_MOST) continue;
        st = ikt_fail(f->ctx, IKT_ERR_DATA,
                      "%s, row %lld, column %lld (counted from 0): %g is no position%s%s%s",
                      f->source ? ikt_source_name(f->source) : f->path,
                      (long long)(first + e / f->q), (long long)(e % f->q), (double)y[e],
                      missing[0] ? " (" : "", missing, missing[0] ? ")" : "");
    }
    return ikt_agree(f->ctx, st);
}

ikt_status ikt_result_read_labels(ikt_result_file *f, const char *dataset, int64_t first,
                                  int64_t count, int64_t *labels, bool *present) {
    char *names = NULL;
    if (f->source) /* data sets beside it, columns of obs or of CSV, or a file of their own */
        return ikt_source_read_labels(f->source, dataset, first, count, labels, present);
    IKT_TRY(ikt_column_read_int(f->ctx, f->file, f->path, dataset, f->n, first, count, labels,
                                present));
    if (!*present || strcmp(dataset, "labels") != 0) return IKT_OK;
    ikt_status st = ikt_label_names_read(f->ctx, f->file, f->path, &names);
    if (st == IKT_OK) ikt_label_names_check(f->ctx, f->path, names, count, labels);
    ikt_free(&names);
    return ikt_agree(f->ctx, st);
}

ikt_status ikt_result_read_marked(ikt_result_file *f, int64_t **rows, int64_t *count) {
    if (f->source) return ikt_source_read_marked(f->source, rows, count);
    return ikt_marked_read(f->ctx, f->file, f->path, f->n, f->n, rows, count);
}

ikt_status ikt_result_read_text(ikt_result_file *f, const char *name, char **text) {
    if (f->source) return ikt_source_read_text(f->source, name, text);
    return ikt_agree(f->ctx, strcmp(name, "label_names") == 0
                                 ? ikt_label_names_read(f->ctx, f->file, f->path, text)
                                 : ikt_h5_get_text(f->ctx, f->file, name, text));
}

ikt_status ikt_result_state_head(ikt_result_file *f, ikt_stage_head *head) {
    bool is_known = false;
    ikt_status st = IKT_OK;
    if (f->state < 0 && !f->source) f->state = ikt_h5_open_group(f->file, "state");
    if (f->state >= 0) st = ikt_stage_head_read(f->ctx, f->state, &f->head, &is_known);
    if (st == IKT_OK && !is_known)
        st = ikt_fail(f->ctx, IKT_ERR_USAGE,
                      "%s holds no state to go on from: it was written with output.state: no, or "
                      "not by `iktsne embed`",
                      f->path);
    *head = ikt_stage_texts_head(&f->head);
    return ikt_agree(f->ctx, st);
}

ikt_status ikt_result_read_state(ikt_result_file *f, const ikt_part *parts, int64_t count) {
    return ikt_parts_read(f->ctx, f->state, parts, count);
}

ikt_status ikt_result_configuration(ikt_result_file *f, char **text) {
    *text = NULL;
    if (f->source) return IKT_OK; /* what made the map is not known */
    return ikt_h5_read_note(f->ctx, f->file, "configuration", text);
}

typedef struct {
    ikt_result_file *file;
    ikt_note_visitor visit;
    void *self;
    bool varying;
    ikt_status status;
} walk;

static herr_t visit_attribute(hid_t object, const char *name, const H5A_info_t *info,
                              void *target) {
    (void)info;
    walk *w = target;
    char *text = NULL;
    if (w->status == IKT_OK) w->status = ikt_h5_get_text(w->file->ctx, object, name, &text);
    if (text) w->visit(w->self, name, text, w->varying);
    ikt_free(&text);
    return 0;
}

ikt_status ikt_result_notes(ikt_result_file *f, ikt_note_visitor visit, void *self) {
    static const char *const groups[] = {"provenance", "provenance/run"};
    walk w = {f, visit, self, false, IKT_OK};
    for (int g = 0; g < 2 && !f->source; g++) {
        if (!ikt_h5_has(f->file, groups[g])) continue;
        const hid_t group IKT_AT_END(ikt_h5_end) = H5Gopen2(f->file, groups[g], H5P_DEFAULT);
        hsize_t position = 0;
        w.varying = g == 1;
        if (group < 0 ||
            H5Aiterate2(group, H5_INDEX_NAME, H5_ITER_INC, &position, visit_attribute, &w) < 0)
            w.status = ikt_fail(f->ctx, IKT_ERR_FILE, "%s: /%s cannot be read", f->path, groups[g]);
    }
    return ikt_agree(f->ctx, w.status);
}
