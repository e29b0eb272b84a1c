/* Writing the output file of a run. */
#include <string.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "io/columns.h"
#include "io/h5.h"
#include "io/result.h"

/* A group without time stamps, so that equal runs give equal files. */
static hid_t create_group(hid_t parent, const char *name) {
    hid_t list = H5Pcreate(H5P_GROUP_CREATE), group = -1;
    if (list >= 0 && H5Pset_obj_track_times(list, false) >= 0)
        group = H5Gcreate2(parent, name, H5P_DEFAULT, list, H5P_DEFAULT);
    ikt_h5_close(list);
    return group;
}

static ikt_status write_rows(ikt_context *ctx, hid_t file, const ikt_result *r) {
    hid_t embedding = ikt_h5_create_rows(file, "embedding", H5T_NATIVE_FLOAT, r->map.n, 2);
    ikt_status st = embedding >= 0 ? IKT_OK : ikt_fail(ctx, IKT_ERR_FILE, "/embedding");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK)
        st = ikt_h5_write_rows(ctx, embedding, "/embedding", H5T_NATIVE_FLOAT, 2 * sizeof(float),
                               r->map.first, r->map.count, r->embedding);
    ikt_h5_close(embedding);
    return st;
}

static ikt_status write_labels(ikt_context *ctx, hid_t file, const ikt_result *r) {
    hid_t labels = ikt_h5_create_rows(file, "labels", H5T_NATIVE_INT64, r->map.n, 0);
    ikt_status st = labels >= 0 ? IKT_OK : ikt_fail(ctx, IKT_ERR_FILE, "/labels");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK)
        st = ikt_h5_write_rows(ctx, labels, "/labels", H5T_NATIVE_INT64, sizeof(int64_t),
                               r->map.first, r->map.count, r->labels);
    ikt_h5_close(labels);
    return st;
}

/* A small array that every rank holds. */
static bool write_array(hid_t parent, const char *name, hid_t type, int64_t count,
                        const void *values) {
    hid_t dataset = ikt_h5_create_rows(parent, name, type, count, 0);
    hid_t list = H5Pcreate(H5P_DATASET_XFER);
    bool good = dataset >= 0 && list >= 0 && H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE) >= 0 &&
                (count == 0 || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, list, values) >= 0);
    ikt_h5_close(list);
    return ikt_h5_close(dataset) && good;
}

static bool write_notes(hid_t group, const ikt_note *notes, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!ikt_h5_set_text(group, notes[i].name, notes[i].text)) return false;
    return true;
}

static bool write_trace(hid_t file, const ikt_result *r) {
    hid_t trace = create_group(file, "trace");
    bool good =
        trace >= 0 &&
        write_array(trace, "iteration", H5T_NATIVE_INT64, r->n_trace, r->trace_iteration) &&
        write_array(trace, "kl", H5T_NATIVE_DOUBLE, r->n_trace, r->trace_kl) &&
        write_array(trace, "gradient_norm", H5T_NATIVE_DOUBLE, r->n_trace, r->trace_gradient_norm);
    return ikt_h5_close(trace) && good;
}

static bool write_provenance(hid_t file, const ikt_result *r) {
    hid_t facts = create_group(file, "provenance");
    hid_t varying = facts < 0 ? -1 : create_group(facts, "run");
    bool good =
        varying >= 0 && ikt_h5_set_text(facts, "configuration", r->configuration) &&
        write_notes(facts, r->facts, r->n_facts) &&
        write_notes(varying, r->circumstances, r->n_circumstances) &&
        write_array(varying, "trace_seconds", H5T_NATIVE_DOUBLE, r->n_trace, r->trace_seconds);
    bool closed = ikt_h5_close(varying) & ikt_h5_close(facts);
    return good && closed;
}

static bool write_small(hid_t file, const ikt_result *r) {
    return ikt_h5_set_text(file, "format", "iktsne-result") &&
           ikt_h5_set_int(file, "format_version", IKT_RESULT_CURRENT) &&
           (r->n_marked == 0 || ikt_marked_write(file, r->marked, r->n_marked)) &&
           write_trace(file, r) && write_provenance(file, r);
}

static ikt_status write_all(ikt_context *ctx, hid_t file, const ikt_result *r) {
    char reason[256];
    IKT_TRY(write_rows(ctx, file, r));
    /* A rank without rows holds no labels either: all ranks take the same path. */
    if (ikt_max_one(ctx, r->labels != NULL) > 0) IKT_TRY(write_labels(ctx, file, r));
    ikt_status st = IKT_OK;
    if (!write_small(file, r))
        st = ikt_fail(ctx, IKT_ERR_FILE, "the result cannot be written: %s",
                      ikt_h5_reason(reason, sizeof reason));
    return ikt_agree(ctx, st);
}

ikt_status ikt_result_write(ikt_context *ctx, const char *path, bool overwrite,
                            const ikt_result *result) {
    char temporary[IKT_PATH_MAX], reason[256];
    hid_t file = -1;
    IKT_TRY(ikt_atomic_begin(ctx, path, overwrite, temporary));
    ikt_status st = ikt_h5_create(ctx, temporary, &file);
    if (st == IKT_OK) st = write_all(ctx, file, result);
    if (!ikt_h5_close(file) && st == IKT_OK)
        st = ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be completed: %s", path,
                      ikt_h5_reason(reason, sizeof reason));
    return ikt_atomic_end(ctx, path, temporary, st);
}
