/* Graphs in HDF5 files: finding one, reading, writing. See graph_file.h. */
#include "io/results/graph_file.h"

#include <hdf5.h>
#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/status.h"
#include "config/key.h"
#include "dist/order.h"
#include "io/formats/matrix_market.h"
#include "io/hdf5/columns.h"
#include "io/hdf5/h5.h"
#include "io/hdf5/parts_h5.h"
#include "io/hdf5/sparse_group.h"
#include "io/results/foreign_graph.h"
#include "io/sources/labels.h"
#include "io/sources/source.h"

/* --- which sparse matrix of a file is meant --------------------------------------------------- */

enum { DEPTH_MOST = 3, OBJECTS_MOST = 10000, PATH_SIZE = 512 };

/* What a walk through the groups has found. */
typedef struct {
    int depth, objects, found;
    char path[PATH_SIZE];  /* of the group that the walk is in, ended by a slash; "" at the root */
    char first[PATH_SIZE]; /* found first */
    char names[PATH_SIZE]; /* of all that were found, as far as they fit */
} walk;

static void note(walk *w, const char *path) {
    const char *between = w->found > 0 ? ", " : "";
    const size_t used = strlen(w->names), gap = strlen(between), length = strlen(path);
    if (w->found++ == 0) snprintf(w->first, sizeof w->first, "%s", path);
    if (used + gap + length >= sizeof w->names) return;
    memcpy(w->names + used, between, gap);
    memcpy(w->names + used + gap, path, length + 1);
}

static herr_t visit(hid_t group, const char *name, const H5L_info_t *info, void *target) {
    walk *w = target;
    const size_t length = strlen(w->path);
    int64_t shape[2];
    if (info->type == H5L_TYPE_EXTERNAL || ++w->objects > OBJECTS_MOST) return 0;
    if (length + strlen(name) + 2 > sizeof w->path) return 0;
    const hid_t child IKT_AT_END(ikt_h5_end) = ikt_h5_open_group(group, name);
    if (child < 0) return 0;
    snprintf(w->path + length, sizeof w->path - length, "%s", name);
    if (ikt_csr_group_is(child)) {
        if (ikt_csr_group_shape(child, shape) && shape[0] == shape[1]) note(w, w->path);
    } else if (w->depth < DEPTH_MOST) {
        strcat(w->path, "/");
        w->depth++;
        H5Literate(child, H5_INDEX_NAME, H5_ITER_INC, NULL, visit, w);
        w->depth--;
    }
    w->path[length] = '\0';
    return 0;
}

/* LOCAL. The group `graph` of the file, or the only square sparse matrix in groups up to three
 * deep.
 *   path   [size], receives its name
 * Errors: IKT_ERR_DATA where there is none, or several, with their names. */
static ikt_status find_graph(ikt_context *ctx, hid_t file, const char *file_name, char *path,
                             size_t size) {
    walk w = {.depth = 1};
    const hid_t usual IKT_AT_END(ikt_h5_end) = ikt_h5_open_group(file, IKT_GRAPH_GROUP);
    const bool is_usual = usual >= 0 && ikt_csr_group_is(usual);
    if (!is_usual) H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, NULL, visit, &w);
    snprintf(path, size, "%s", is_usual ? IKT_GRAPH_GROUP : w.first);
    if (is_usual || w.found == 1) return IKT_OK;
    if (w.found == 0)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s has no square sparse matrix (a group with data, indices and indptr): "
                        "no graph to be found",
                        file_name);
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s has %d square sparse matrices (%s): say which one, as "
                    "input.graph=FILE:%s",
                    file_name, w.found, w.names, w.first);
}

struct ikt_graph_file {
    ikt_context *ctx;
    ikt_source *borrowed; /* a graph in memory in place of a file, or NULL */
    hid_t file;
    ikt_csr_group csr;          /* of one in memory n, d and entries only */
    ikt_foreign_graph *foreign; /* of another format than HDF5, in place of the two; or NULL */
    bool is_kept, is_ordered;
    ikt_graph_start start;
    int64_t q; /* columns of the start */
    char path[IKT_STRING_MAX], values[32];
    char name[2 * IKT_STRING_MAX + 2]; /* "file.h5:/graph" */
};

/* --- opening ---------------------------------------------------------------------------------- */

/* What the start is, by type and shape of its data set. */
static ikt_status look_at_start(ikt_graph_file *f) {
    int64_t size[2];
    if (!ikt_h5_has(f->file, "start")) return IKT_OK;
    const hid_t dataset IKT_AT_END(ikt_h5_end) = H5Dopen2(f->file, "start", H5P_DEFAULT);
    if (ikt_h5_class(dataset) != H5T_FLOAT || ikt_h5_shape(dataset, size) != 2 ||
        size[0] != f->csr.n || size[1] < 1 || size[1] > 3)
        return ikt_fail(f->ctx, IKT_ERR_DATA, "%s: 'start' is not %lld rows of 1 to 3 numbers",
                        f->path, (long long)f->csr.n);
    const hid_t type IKT_AT_END(ikt_h5_end) = H5Dget_type(dataset);
    f->q = size[1];
    f->start = H5Tget_size(type) == sizeof(double) ? IKT_GRAPH_START_PCA : IKT_GRAPH_START_LANDMARK;
    return IKT_OK;
}

/* Whether the graph is one that a run has kept. */
static ikt_status recognise(ikt_graph_file *f) {
    char format[32];
    int64_t version = 0;
    ikt_h5_short_text(f->csr.group, "values", f->values, sizeof f->values);
    ikt_h5_short_text(f->file, "format", format, sizeof format);
    f->is_kept =
        strcmp(format, IKT_GRAPH_FORMAT) == 0 && strcmp(f->values, IKT_GRAPH_CONDITIONAL) == 0;
    if (!f->is_kept) return IKT_OK;
    if (!ikt_h5_get_int(f->file, "format_version", &version) || version < IKT_GRAPH_FIRST)
        return ikt_fail(f->ctx, IKT_ERR_DATA, "%s: a kept graph without a version", f->path);
    if (version > IKT_GRAPH_CURRENT)
        return ikt_fail(f->ctx, IKT_ERR_USAGE,
                        "%s was kept by a newer iktsne (form %lld, this one reads up to %d)",
                        f->path, (long long)version, IKT_GRAPH_CURRENT);
    f->is_ordered = ikt_h5_has(f->file, "position");
    return look_at_start(f);
}

/* Opens the group of a sparse matrix, of any size that a graph can have. */
static ikt_status open_graph(ikt_graph_file *f, const char *group) {
    const ikt_csr_group *g = &f->csr;
    char path[IKT_STRING_MAX];
    snprintf(path, sizeof path, "%s", group);
    if (!path[0]) IKT_TRY(find_graph(f->ctx, f->file, f->path, path, sizeof path));
    snprintf(f->name, sizeof f->name, "%s:%s%s", f->path, path[0] == '/' ? "" : "/", path);
    hid_t object = ikt_h5_open_object(f->file, path);
    if (object < 0) return ikt_h5_missing(f->ctx, f->file, f->path, path);
    if (H5Iget_type(object) != H5I_GROUP) {
        ikt_h5_close(object);
        return ikt_fail(f->ctx, IKT_ERR_DATA, "%s is a dense data set; a sparse matrix is needed",
                        f->name);
    }
    IKT_TRY(ikt_csr_group_open(f->ctx, object, f->name, (int64_t)UINT32_MAX - 1, &f->csr));
    if (g->n != g->d)
        return ikt_fail(f->ctx, IKT_ERR_DATA,
                        "%s has %lld rows but %lld columns; a graph is square, a row and a column "
                        "for each point",
                        g->name, (long long)g->n, (long long)g->d);
    return recognise(f);
}

/* SAME-ARGS. A graph that a program holds. */
static ikt_status open_borrowed(ikt_graph_file *f, const char *name) {
    f->csr.n = ikt_source_rows(f->borrowed);
    f->csr.d = ikt_source_columns(f->borrowed);
    f->csr.entries = ikt_source_entries(f->borrowed);
    snprintf(f->name, sizeof f->name, "%s", name);
    if (f->csr.n == f->csr.d) return IKT_OK;
    return ikt_fail(f->ctx, IKT_ERR_DATA,
                    "the graph in memory has %lld rows but %lld columns; a graph is square, a row "
                    "and a column for each point",
                    (long long)f->csr.n, (long long)f->csr.d);
}

/* COLLECTIVE. Opens a file that is none of HDF5. */
static ikt_status open_foreign(ikt_graph_file *f, bool has_path) {
    if (has_path)
        return ikt_fail(f->ctx, IKT_ERR_USAGE,
                        "%s holds one matrix: name the file alone, without a colon", f->path);
    IKT_TRY(ikt_foreign_graph_open(f->ctx, f->path, &f->foreign));
    f->csr.n = f->csr.d = ikt_foreign_graph_rows(f->foreign);
    snprintf(f->name, sizeof f->name, "%s", f->path);
    if (ikt_foreign_graph_is_pattern(f->foreign)) snprintf(f->values, sizeof f->values, "none");
    return IKT_OK;
}

/* COLLECTIVE. All of FILE[:PATH] is the file's name where there is such a file. */
static ikt_status open_named(ikt_graph_file *f, const char *name) {
    int64_t known[2] = {0, 0}; /* length of the file's name; whether it is of another format */
    if (ikt_rank(f->ctx) == 0) {
        known[0] = (int64_t)ikt_file_name_length(name);
        snprintf(f->path, sizeof f->path, "%.*s", (int)known[0], name);
        known[1] = ikt_matrix_file_is(f->path);
    }
    ikt_broadcast(f->ctx, known, (int64_t)sizeof known, 0);
    snprintf(f->path, sizeof f->path, "%.*s", (int)known[0], name);
    const bool has_path = name[known[0]] == ':';
    if (known[1]) return open_foreign(f, has_path);
    IKT_TRY(ikt_h5_open(f->ctx, f->path, &f->file));
    return ikt_agree(f->ctx, open_graph(f, has_path ? name + known[0] + 1 : ""));
}

ikt_status ikt_graph_file_open(ikt_context *ctx, const char *name, ikt_graph_file **out) {
    *out = NULL;
    IKT_TRY(ikt_alloc_all(ctx, out, 1, sizeof **out, "graph file"));
    ikt_graph_file *f = *out;
    *f = (ikt_graph_file){.ctx = ctx,
                          .borrowed = ikt_borrowed_find(ctx, name),
                          .file = -1,
                          .csr = {.group = -1, .indptr = -1, .indices = -1, .data = -1}};
    const ikt_status st = f->borrowed ? open_borrowed(f, name) : open_named(f, name);
    if (st != IKT_OK) ikt_graph_file_close(out);
    return st;
}

void ikt_graph_file_close(ikt_graph_file **file) {
    if (!*file) return;
    ikt_foreign_graph_close(&(*file)->foreign);
    ikt_csr_group_close(&(*file)->csr);
    ikt_h5_close((*file)->file);
    ikt_free(file);
}

/* --- what it is ------------------------------------------------------------------------------- */

int64_t ikt_graph_file_rows(const ikt_graph_file *file) {
    return file->csr.n;
}

int64_t ikt_graph_file_entries(const ikt_graph_file *file) {
    return file->foreign ? ikt_foreign_graph_entries(file->foreign) : file->csr.entries;
}

const char *ikt_graph_file_name(const ikt_graph_file *file) {
    return file->name;
}

const char *ikt_graph_file_values(const ikt_graph_file *file) {
    return file->values;
}

bool ikt_graph_file_is_kept(const ikt_graph_file *file) {
    return file->is_kept;
}

bool ikt_graph_file_is_ordered(const ikt_graph_file *file) {
    return file->is_ordered;
}

ikt_graph_start ikt_graph_file_start(const ikt_graph_file *file, int64_t *q) {
    *q = file->q;
    return file->start;
}

ikt_status ikt_graph_file_text(const ikt_graph_file *file, const char *name, char **text) {
    *text = NULL;
    if (file->borrowed || file->foreign) return IKT_OK;
    return ikt_h5_get_text(file->ctx, file->file, name, text);
}

bool ikt_graph_file_int(const ikt_graph_file *file, const char *name, int64_t *value) {
    return !file->borrowed && !file->foreign && ikt_h5_get_int(file->file, name, value);
}

/* --- reading ---------------------------------------------------------------------------------- */

ikt_status ikt_graph_file_starts(const ikt_graph_file *file, int64_t first, int64_t count,
                                 int64_t *start) {
    const ikt_csr_group *g = &file->csr;
    ikt_status st = IKT_OK;
    if (file->borrowed) return ikt_source_csr_starts(file->borrowed, first, count, start);
    if (file->foreign) return ikt_foreign_graph_starts(file->foreign, first, count, start);
    IKT_TRY(ikt_csr_group_starts(g, first, count, start));
    /* Every entry is an edge, so that there may be none behind the last row. */
    if (count > 0 && first + count == g->n && start[count] != g->entries)
        st = ikt_fail(file->ctx, IKT_ERR_DATA,
                      "%s is damaged: indptr ends with %lld, but there are %lld entries",
                      file->name, (long long)start[count], (long long)g->entries);
    return ikt_agree(file->ctx, st);
}

ikt_status ikt_graph_file_edges(const ikt_graph_file *file, int64_t first, int64_t count,
                                const int64_t *start, uint32_t *column, double *value) {
    if (file->borrowed)
        return ikt_source_csr_entries(file->borrowed, first, count, start, column, value);
    if (!file->foreign)
        return ikt_csr_group_entries(&file->csr, first, count, start, column, value);
    ikt_foreign_graph_edges(file->foreign, first, count, column, value);
    return IKT_OK;
}

ikt_status ikt_graph_file_slots(const ikt_graph_file *file, const ikt_rows *rows, uint32_t *slot) {
    const ikt_part part = ikt_part_rows("position", IKT_PART_U32, rows, 0, slot);
    bool is_one = false;
    IKT_TRY(ikt_parts_read(file->ctx, file->file, &part, 1));
    IKT_TRY(ikt_permutation_check(file->ctx, rows, slot, &is_one));
    if (is_one) return IKT_OK;
    return ikt_fail(file->ctx, IKT_ERR_DATA, "%s: 'position' does not name each of %lld slots once",
                    file->path, (long long)rows->n);
}

ikt_status ikt_graph_file_read_start(const ikt_graph_file *file, const ikt_rows *rows,
                                     void *start) {
    const ikt_part_type type = file->start == IKT_GRAPH_START_PCA ? IKT_PART_F64 : IKT_PART_F32;
    const ikt_part part = ikt_part_rows("start", type, rows, file->q, start);
    return ikt_parts_read(file->ctx, file->file, &part, 1);
}

ikt_status ikt_graph_file_labels(const ikt_graph_file *file, const char *name, int64_t first,
                                 int64_t count, int64_t *labels, bool *present, char **names) {
    *present = false;
    *names = NULL;
    if (file->foreign) return IKT_OK;
    if (file->borrowed)
        return ikt_source_read_labels(file->borrowed, name, first, count, labels, present);
    return ikt_labels_read(file->ctx, file->file, file->path, name, file->csr.n, first, count,
                           labels, present, names);
}

ikt_status ikt_graph_file_marked(const ikt_graph_file *file, int64_t **rows, int64_t *count) {
    *rows = NULL;
    *count = 0;
    if (file->borrowed || file->foreign) return IKT_OK;
    return ikt_marked_read(file->ctx, file->file, file->path, file->csr.n, file->csr.n, rows,
                           count);
}

ikt_status ikt_graph_file_originals(const ikt_graph_file *file, const ikt_rows *rows,
                                    int64_t **original) {
    *original = NULL;
    if (!file->is_kept) return IKT_OK;
    if (ikt_max_one(file->ctx, ikt_h5_has(file->file, "row")) == 0) return IKT_OK;
    IKT_TRY(ikt_alloc_all(file->ctx, original, rows->count, sizeof **original, "missing values"));
    const ikt_part part = ikt_part_rows("row", IKT_PART_I64, rows, 0, *original);
    return ikt_parts_read(file->ctx, file->file, &part, 1);
}

/* --- writing ---------------------------------------------------------------------------------- */

struct ikt_graph_writer {
    ikt_context *ctx;
    ikt_h5_output out;
    hid_t group; /* negative: not made yet */
    ikt_rows rows;
    int64_t first, count, entries; /* own entries: the first, how many; of all ranks */
};

ikt_status ikt_graph_writer_begin(ikt_context *ctx, const char *path, bool overwrite,
                                  ikt_graph_writer **out) {
    ikt_graph_writer *w = NULL;
    *out = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &w, 1, sizeof *w, "graph file"));
    w->ctx = ctx;
    w->group = -1;
    ikt_status st = ikt_h5_output_begin(ctx, path, overwrite, IKT_H5_FILE_BYTES, &w->out);
    w->out.is_sealed = true;
    if (st != IKT_OK) ikt_free(&w);
    *out = w;
    return st;
}

const char *ikt_graph_writer_path(const ikt_graph_writer *writer) {
    return writer->out.path;
}

/* COLLECTIVE. A data set of the group: every rank writes `count` values from `first` on. */
static ikt_status write_array(ikt_graph_writer *w, const char *name, ikt_part_type type, int64_t n,
                              int64_t first, int64_t count, const void *values) {
    const ikt_part part = {name, type, n, 0, false, first, count, (void *)values};
    return ikt_parts_write(w->ctx, w->group, false, &part, 1);
}

ikt_status ikt_graph_writer_rows(ikt_graph_writer *w, const ikt_rows *rows, const int64_t *start) {
    const int64_t n = rows->n, is_last = rows->count > 0 && rows->first + rows->count == n;
    const int64_t count = rows->count + is_last; /* the last also writes where the last row ends */
    const hid_t file = w->out.file;
    w->rows = *rows;
    w->count = start[rows->count];
    w->first = ikt_sum_before(w->ctx, w->count);
    w->entries = ikt_sum_one(w->ctx, w->count);
    /* With labels, numbers in the data, slots and the largest start. */
    IKT_TRY(ikt_h5_output_reserve(&w->out,
                                  IKT_H5_FILE_BYTES + 2 * ikt_h5_rows_bytes(w->entries, 8) +
                                      ikt_h5_rows_bytes(n + 1, 8) + 2 * ikt_h5_rows_bytes(n, 8) +
                                      ikt_h5_rows_bytes(n, 4) + ikt_h5_rows_bytes(n, 24)));
    w->group = ikt_h5_create_group(file, IKT_GRAPH_GROUP);
    const bool good = w->group >= 0 && ikt_h5_set_text(file, "format", IKT_GRAPH_FORMAT) &&
                      ikt_h5_set_int(file, "format_version", IKT_GRAPH_CURRENT) &&
                      ikt_h5_set_text(w->group, "encoding-type", "csr_matrix") &&
                      ikt_h5_set_text(w->group, "encoding-version", "0.1.0") &&
                      ikt_h5_set_ints(w->group, "shape", 2, (int64_t[]){n, n}) &&
                      ikt_h5_set_text(w->group, "values", IKT_GRAPH_CONDITIONAL);
    IKT_TRY(ikt_h5_output_check(&w->out, good, "the form"));
    IKT_ARRAYS(held, w->ctx, "graph file");
    int64_t *global = ikt_claim(&held, count, sizeof *global);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t i = 0; i < count; i++)
        global[i] = w->first + start[i];
    return write_array(w, "indptr", IKT_PART_I64, n + 1, rows->first, count, global);
}

ikt_status ikt_graph_writer_columns(ikt_graph_writer *w, const uint32_t *column) {
    /* Numbers below 2^31 have the same bits with and without a sign; parallel HDF5 converts nothing
     * that it checksums. */
    const ikt_part_type type = w->rows.n <= INT32_MAX ? IKT_PART_I32 : IKT_PART_U32;
    return write_array(w, "indices", type, w->entries, w->first, w->count, column);
}

ikt_status ikt_graph_writer_weights(ikt_graph_writer *w, const float *weight) {
    return write_array(w, "data", IKT_PART_F32, w->entries, w->first, w->count, weight);
}

/* COLLECTIVE. */
static ikt_status write_part(ikt_graph_writer *w, ikt_part part) {
    return ikt_parts_write(w->ctx, w->out.file, false, &part, 1);
}

ikt_status ikt_graph_writer_slots(ikt_graph_writer *w, uint32_t *slot) {
    return write_part(w, ikt_part_rows("position", IKT_PART_U32, &w->rows, 0, slot));
}

ikt_status ikt_graph_writer_start(ikt_graph_writer *w, ikt_graph_start what, int64_t q,
                                  void *start) {
    const ikt_part_type type = what == IKT_GRAPH_START_PCA ? IKT_PART_F64 : IKT_PART_F32;
    return write_part(w, ikt_part_rows("start", type, &w->rows, q, start));
}

ikt_status ikt_graph_writer_labels(ikt_graph_writer *w, const int64_t *labels) {
    return write_part(w, ikt_part_rows("labels", IKT_PART_I64, &w->rows, 0, (void *)labels));
}

ikt_status ikt_graph_writer_originals(ikt_graph_writer *w, const int64_t *original) {
    return write_part(w, ikt_part_rows("row", IKT_PART_I64, &w->rows, 0, (void *)original));
}

ikt_status ikt_graph_writer_marked(ikt_graph_writer *w, int64_t *rows, int64_t count) {
    return write_part(w, ikt_part_shared("marked", IKT_PART_I64, count, rows));
}

ikt_status ikt_graph_writer_text(ikt_graph_writer *w, const char *name, const char *text) {
    return ikt_h5_output_check(&w->out, ikt_h5_set_text(w->out.file, name, text), name);
}

ikt_status ikt_graph_writer_int(ikt_graph_writer *w, const char *name, int64_t value) {
    return ikt_h5_output_check(&w->out, ikt_h5_set_int(w->out.file, name, value), name);
}

ikt_status ikt_graph_writer_end(ikt_graph_writer **writer, ikt_status local) {
    if (!*writer) return local;
    ikt_status st = ikt_h5_output_end(&(*writer)->out, &(*writer)->group, 1, local);
    ikt_free(writer);
    return st;
}

void ikt_graph_writer_abandon(ikt_graph_writer **writer) {
    if (!*writer) return;
    ikt_h5_output_abandon(&(*writer)->out, &(*writer)->group, 1);
    ikt_free(writer);
}
