/* Reading the output file of a run, or any file with an embedding. */
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "io/formats/class_labels.h"
#include "io/hdf5/columns.h"
#include "io/hdf5/h5.h"
#include "io/hdf5/parts_h5.h"
#include "io/hdf5/stage_head.h"
#include "io/results/result.h"
#include "io/sources/labels.h"

enum { COLUMNS_MOST = 3 };

struct ikt_result_file {
    ikt_context *ctx;
    hid_t file, embedding;
    char *path;
    int64_t n;
    int q;
    hid_t state;
    ikt_stage_texts head; /* of the state */
};

static ikt_status check_version(ikt_result_file *f) {
    int64_t version = IKT_RESULT_CURRENT; /* a file of another program has none */
    if (!ikt_h5_get_int(f->file, "format_version", &version) || version <= IKT_RESULT_CURRENT)
        return IKT_OK;
    return ikt_fail(f->ctx, IKT_ERR_DATA,
                    "%s has format version %lld; this program reads up to %d: use a newer iktsne",
                    f->path, (long long)version, IKT_RESULT_CURRENT);
}

static ikt_status open_embedding(ikt_result_file *f) {
    hsize_t size[2] = {0, 0};
    IKT_TRY(check_version(f));
    if (ikt_h5_has(f->file, "embedding"))
        f->embedding = H5Dopen2(f->file, "embedding", H5P_DEFAULT);
    hid_t space = f->embedding < 0 ? -1 : H5Dget_space(f->embedding);
    bool fits = space >= 0 && H5Sget_simple_extent_ndims(space) == 2 &&
                H5Sget_simple_extent_dims(space, size, NULL) == 2 && size[1] >= 1 &&
                size[1] <= COLUMNS_MOST;
    ikt_h5_close(space);
    f->n = (int64_t)size[0];
    f->q = (int)size[1];
    if (fits) return IKT_OK;
    return ikt_fail(f->ctx, IKT_ERR_DATA,
                    "%s has no /embedding of 1 to %d columns: is it the output of `iktsne embed`?",
                    f->path, COLUMNS_MOST);
}

ikt_status ikt_result_open(ikt_context *ctx, const char *path, ikt_result_file **out) {
    ikt_result_file *f = NULL;
    *out = NULL;
    ikt_status st = ikt_alloc(ctx, &f, 1, sizeof *f, "result");
    if (st == IKT_OK) {
        *f = (ikt_result_file){.ctx = ctx, .file = -1, .embedding = -1, .state = -1};
        st = ikt_alloc(ctx, &f->path, (int64_t)strlen(path) + 1, 1, "result");
    }
    if (st == IKT_OK) strcpy(f->path, path);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = ikt_h5_open(ctx, path, &f->file);
    if (st == IKT_OK) st = ikt_agree(ctx, open_embedding(f));
    if (st != IKT_OK) ikt_result_close(&f);
    *out = f;
    return st;
}

void ikt_result_close(ikt_result_file **file) {
    if (!*file) return;
    ikt_h5_close((*file)->state);
    ikt_stage_texts_free(&(*file)->head);
    ikt_h5_close((*file)->embedding);
    ikt_h5_close((*file)->file);
    ikt_free(&(*file)->path);
    ikt_free(file);
}

int64_t ikt_result_rows(const ikt_result_file *file) {
    return file->n;
}

int ikt_result_dimensions(const ikt_result_file *file) {
    return file->q;
}

ikt_status ikt_result_read_embedding(ikt_result_file *f, int64_t first, int64_t count, float *y) {
    return ikt_h5_read_rows(f->ctx, f->embedding, H5T_NATIVE_FLOAT, first, count, y);
}

ikt_status ikt_result_read_labels(ikt_result_file *f, const char *dataset, int64_t first,
                                  int64_t count, int64_t *labels, bool *present) {
    char *names = NULL;
    IKT_TRY(ikt_column_read_int(f->ctx, f->file, f->path, dataset, f->n, first, count, labels,
                                present));
    if (!*present || strcmp(dataset, "labels") != 0) return IKT_OK;
    ikt_status st = ikt_label_names_read(f->ctx, f->file, f->path, &names);
    if (st == IKT_OK) ikt_label_names_check(f->ctx, f->path, names, count, labels);
    ikt_free(&names);
    return ikt_agree(f->ctx, st);
}

ikt_status ikt_result_read_marked(ikt_result_file *f, int64_t **rows, int64_t *count) {
    return ikt_marked_read(f->ctx, f->file, f->path, f->n, f->n, rows, count);
}

ikt_status ikt_result_read_text(ikt_result_file *f, const char *name, char **text) {
    return ikt_agree(f->ctx, strcmp(name, "label_names") == 0
                                 ? ikt_label_names_read(f->ctx, f->file, f->path, text)
                                 : ikt_h5_get_text(f->ctx, f->file, name, text));
}

ikt_status ikt_result_state_head(ikt_result_file *f, ikt_stage_head *head) {
    bool is_known = false;
    ikt_status st = IKT_OK;
    if (f->state < 0 && ikt_h5_has(f->file, "state"))
        f->state = H5Gopen2(f->file, "state", H5P_DEFAULT);
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
    ikt_status st = IKT_OK;
    if (ikt_h5_has(f->file, "provenance")) {
        hid_t group = H5Gopen2(f->file, "provenance", H5P_DEFAULT);
        if (group >= 0) st = ikt_h5_get_text(f->ctx, group, "configuration", text);
        ikt_h5_close(group);
    }
    return ikt_agree(f->ctx, st);
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
    for (int g = 0; g < 2; g++) {
        if (!ikt_h5_has(f->file, groups[g])) continue;
        hid_t group = H5Gopen2(f->file, groups[g], H5P_DEFAULT);
        hsize_t position = 0;
        w.varying = g == 1;
        if (group < 0 ||
            H5Aiterate2(group, H5_INDEX_NAME, H5_ITER_INC, &position, visit_attribute, &w) < 0)
            w.status = ikt_fail(f->ctx, IKT_ERR_FILE, "%s: /%s cannot be read", f->path, groups[g]);
        ikt_h5_close(group);
    }
    return ikt_agree(f->ctx, w.status);
}
