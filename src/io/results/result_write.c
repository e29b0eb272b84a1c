/* Writing the output file of a run. */
#include <stdio.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "io/hdf5/h5.h"
#include "io/hdf5/parts_h5.h"
#include "io/hdf5/stage_head.h"
#include "io/results/result.h"

/* What is being written, and where. */
typedef struct {
    ikt_context *ctx;
    const ikt_result *result;
    hid_t file;
} writing;

/* A data set of which every rank writes its rows. */
static ikt_status write_rows(const writing *w, const char *name, hid_t type, int64_t d,
                             const void *rows) {
    const ikt_rows *distribution = &w->result->rows;
    hid_t dataset;
    ikt_status st = ikt_h5_create_rows(w->ctx, w->file, name, type, distribution->n, d, &dataset);
    if (st == IKT_OK)
        st = ikt_h5_write_rows(w->ctx, dataset, type, distribution->first, distribution->count,
                               rows);
    ikt_h5_close(dataset);
    return st;
}

static ikt_status write_diagnostics(const writing *w, hid_t group) {
    char name[128];
    (void)group; /* which exists: the columns go there by their paths */
    for (int64_t c = 0; c < w->result->n_columns; c++) {
        const ikt_result_column *column = &w->result->columns[c];
        const hid_t type = column->type == IKT_COLUMN_FLOAT    ? H5T_NATIVE_FLOAT
                           : column->type == IKT_COLUMN_DOUBLE ? H5T_NATIVE_DOUBLE
                                                               : H5T_NATIVE_INT64;
        snprintf(name, sizeof name, "diagnostics/%s", column->name);
        IKT_TRY(write_rows(w, name, type, 0, column->values));
    }
    return IKT_OK;
}

static ikt_status write_trace(const writing *w, hid_t group) {
    const ikt_result *r = w->result;
    IKT_TRY(ikt_h5_write_array(w->ctx, group, "iteration", H5T_NATIVE_INT64, r->n_trace,
                               r->trace_iteration));
    IKT_TRY(ikt_h5_write_array(w->ctx, group, r->value_name, H5T_NATIVE_DOUBLE, r->n_trace,
                               r->trace_value));
    return ikt_h5_write_array(w->ctx, group, "gradient_norm", H5T_NATIVE_DOUBLE, r->n_trace,
                              r->trace_gradient_norm);
}

static ikt_status write_notes(const writing *w, hid_t group, const ikt_note *notes, int64_t count) {
    char reason[256];
    ikt_status st = IKT_OK;
    for (int64_t i = 0; i < count && st == IKT_OK; i++)
        if (!ikt_h5_set_text(group, notes[i].name, notes[i].text))
            st = ikt_fail(w->ctx, IKT_ERR_FILE, "attribute %s cannot be written: %s", notes[i].name,
                          ikt_h5_reason(reason, sizeof reason));
    return ikt_h5_agree(w->ctx, group, st);
}

static ikt_status write_facts(const writing *w, hid_t group) {
    char reason[256];
    ikt_status st = IKT_OK;
    if (!ikt_h5_set_text(group, "configuration", w->result->configuration))
        st = ikt_fail(w->ctx, IKT_ERR_FILE, "the configuration cannot be written: %s",
                      ikt_h5_reason(reason, sizeof reason));
    IKT_TRY(ikt_h5_agree(w->ctx, group, st));
    return write_notes(w, group, w->result->facts, w->result->n_facts);
}

static ikt_status write_circumstances(const writing *w, hid_t group) {
    const ikt_result *r = w->result;
    IKT_TRY(write_notes(w, group, r->circumstances, r->n_circumstances));
    return ikt_h5_write_array(w->ctx, group, "trace_seconds", H5T_NATIVE_DOUBLE, r->n_trace,
                              r->trace_seconds);
}

/* Makes a group and lets `fill` write what belongs there. */
static ikt_status write_group(const writing *w, const char *name,
                              ikt_status (*fill)(const writing *w, hid_t group)) {
    char reason[256];
    ikt_status st = IKT_OK;
    hid_t group = ikt_h5_create_group(w->file, name);
    if (group < 0)
        st = ikt_fail(w->ctx, IKT_ERR_FILE, "group %s cannot be created: %s", name,
                      ikt_h5_reason(reason, sizeof reason));
    st = ikt_h5_agree(w->ctx, w->file, st);
    if (st == IKT_OK) st = fill(w, group);
    ikt_h5_close(group);
    return st;
}

static ikt_status write_state(const writing *w, hid_t group) {
    IKT_TRY(ikt_stage_head_write(w->ctx, group, &w->result->state_head));
    return ikt_parts_write(w->ctx, group, false, w->result->state, w->result->n_state);
}

static ikt_status write_format(const writing *w) {
    char reason[256];
    const char *names = w->result->label_names;
    ikt_status st = IKT_OK;
    if (!ikt_h5_set_text(w->file, "format", "iktsne-result") ||
        !ikt_h5_set_int(w->file, "format_version", IKT_RESULT_CURRENT) ||
        (names && !ikt_h5_set_text(w->file, "label_names", names)))
        st = ikt_fail(w->ctx, IKT_ERR_FILE, "the format cannot be written: %s",
                      ikt_h5_reason(reason, sizeof reason));
    return ikt_h5_agree(w->ctx, w->file, st);
}

static ikt_status write_all(const writing *w) {
    const ikt_result *r = w->result;
    IKT_TRY(write_format(w));
    IKT_TRY(write_rows(w, "embedding", H5T_NATIVE_FLOAT, r->q, r->embedding));
    /* A rank without rows may hold no labels either: all ranks take the same path. */
    if (ikt_max_one(w->ctx, r->labels != NULL) > 0)
        IKT_TRY(write_rows(w, "labels", H5T_NATIVE_INT64, 0, r->labels));
    if (r->n_marked > 0)
        IKT_TRY(ikt_h5_write_array(w->ctx, w->file, "marked", H5T_NATIVE_INT64, r->n_marked,
                                   r->marked));
    IKT_TRY(write_group(w, "trace", write_trace));
    if (r->n_state > 0) IKT_TRY(write_group(w, "state", write_state));
    if (r->n_columns > 0) IKT_TRY(write_group(w, "diagnostics", write_diagnostics));
    IKT_TRY(write_group(w, "provenance", write_facts));
    return write_group(w, "provenance/run", write_circumstances);
}

int64_t ikt_result_bytes(const ikt_result *r) {
    const int64_t n = r->rows.n;
    int64_t bytes = IKT_H5_FILE_BYTES + ikt_h5_rows_bytes(n, 4 * r->q) + ikt_h5_rows_bytes(n, 8);
    bytes += ikt_h5_rows_bytes(r->n_marked, 8) + 4 * ikt_h5_rows_bytes(r->n_trace, 8);
    bytes += r->n_columns * ikt_h5_rows_bytes(n, 8);
    if (r->label_names) bytes += (int64_t)strlen(r->label_names);
    return bytes + ikt_parts_bytes(r->state, r->n_state);
}

ikt_status ikt_result_write(ikt_context *ctx, const char *path, bool overwrite,
                            const ikt_result *result) {
    char temporary[IKT_PATH_MAX];
    writing w = {ctx, result, -1};
    IKT_TRY(ikt_atomic_begin(ctx, path, overwrite, temporary));
    ikt_status st = ikt_h5_create_sized(ctx, path, temporary, ikt_result_bytes(result), &w.file);
    if (st == IKT_OK) st = write_all(&w);
    st = ikt_h5_complete(ctx, &w.file, 1, path, temporary, st);
    return ikt_atomic_end(ctx, path, temporary, st);
}
