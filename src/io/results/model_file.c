/* Model files: names, sizes and types of their data sets, writing and reading. See model_file.h. */
#include "io/results/model_file.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/row_hash.h"
#include "io/hdf5/h5.h"
#include "io/sources/labels.h"
#include "io/sources/source.h"

/* --- the parts -------------------------------------------------------------------------------- */

/* What the values of a part lie between, both included. */
typedef struct {
    double least, most;
} range;

typedef struct {
    const char *name; /* "codes" */
    hid_t type;       /* of an element, in memory and in the file; not owned */
    int64_t n;        /* rows */
    int64_t d;        /* columns; 0: one-dimensional */
    bool is_needed;   /* whether a file of that shape must have the part */
    range valid;      /* what can be read; of labels anything, and no NaN anywhere */
} layout;

static layout layout_of(const ikt_model_shape *s, ikt_model_part part) {
    const int bytes = ikt_model_code_bytes(s);
    const hid_t code = bytes == 1   ? H5T_NATIVE_UINT8
                       : bytes == 2 ? H5T_NATIVE_UINT16
                                    : H5T_NATIVE_UINT32;
    const hid_t row = s->is_u8 ? H5T_NATIVE_UINT8 : H5T_NATIVE_FLOAT;
    const hid_t number = H5T_NATIVE_DOUBLE, single = H5T_NATIVE_FLOAT;
    const hid_t index = H5T_NATIVE_INT64, small = H5T_NATIVE_INT32;
    const bool shifted = s->is_shifted, reduced = s->is_reduced, coded = ikt_model_has_codes(s);
    const bool by_classes = s->placing == IKT_PLACING_CLASSES;
    const bool by_rows = by_classes && !s->is_of_similarities;
    const bool by_kernel = s->placing == IKT_PLACING_PROJECTION;
    const bool celled = ikt_model_has_cells(s), scaled = s->has_rows && !by_classes;
    const bool by_landmark_rows =
        s->kernel == IKT_MODEL_OF_LINEAR || s->kernel == IKT_MODEL_OF_GAUSSIAN;
    const bool by_landmark_codes = s->kernel == IKT_MODEL_OF_ISOLATION;
    const range any = {-INFINITY, INFINITY}, finite = {-DBL_MAX, DBL_MAX};
    const range floats = {-(double)FLT_MAX, (double)FLT_MAX};
    const range positive = {(double)FLT_TRUE_MIN, (double)FLT_MAX}, shares = {-INFINITY, 1};
    const range old = {0, (double)s->n - 1}, cells = {0, (double)s->psi - 1};
    const range centres = {0, (double)s->centres - 1}, classes = {0, (double)s->classes - 1};
    const layout all[IKT_MODEL_PARTS] = {
        [IKT_MODEL_SHIFT] = {"preprocess/shift", number, s->d, 0, shifted, finite},
        [IKT_MODEL_SCALE] = {"preprocess/scale", number, s->d, 0, shifted, finite},
        [IKT_MODEL_MEAN] = {"preprocess/mean", number, s->d, 0, reduced, finite},
        [IKT_MODEL_COMPONENTS] = {"preprocess/components", number, s->columns, s->d, reduced,
                                  finite},
        [IKT_MODEL_CENTRES] = {"centres", row, s->centres, s->columns, celled, floats},
        [IKT_MODEL_PARTITIONINGS] = {"partitionings", small, s->t, s->psi, celled, centres},
        [IKT_MODEL_CODES] = {"codes", code, s->n, s->t, coded, cells},
        [IKT_MODEL_EMBEDDING] = {"embedding", single, s->n, s->q, true, floats},
        [IKT_MODEL_COLUMN_NAMES] = {"column_names", H5T_NATIVE_UINT8, s->name_bytes, 0,
                                    s->name_bytes > 0, any},
        [IKT_MODEL_LABELS] = {"labels", index, s->n, 0, false, any},
        [IKT_MODEL_FILL] = {"preprocess/fill", number, s->d, 0, false, finite},
        [IKT_MODEL_ROWS] = {"rows", single, s->n, s->columns, s->has_rows, floats},
        [IKT_MODEL_SCALES] = {"scales", single, s->n, 0, scaled, positive},
        [IKT_MODEL_SUPPORT] = {"fisher/support", index, s->support, 0, by_classes, old},
        [IKT_MODEL_SUPPORT_CLASS] = {"fisher/classes", small, s->support, 0, by_classes, classes},
        [IKT_MODEL_SUPPORT_SELF] = {"fisher/self", number, s->support, 0, by_classes, finite},
        [IKT_MODEL_SUPPORT_ROWS] = {"fisher/support_rows", single, s->support, s->columns, by_rows,
                                    floats},
        [IKT_MODEL_CLASS_NUMBERS] = {"fisher/numbers", number, 2, 0, by_classes, finite},
        [IKT_MODEL_WEIGHTS] = {"fisher/weights", single, s->n, s->lanes, by_classes, shares},
        [IKT_MODEL_LANDMARKS] = {"kernel/landmarks", index, s->support, 0, by_kernel, old},
        [IKT_MODEL_LANDMARK_ROWS] = {"kernel/rows", single, s->support, s->columns,
                                     by_landmark_rows, floats},
        [IKT_MODEL_LANDMARK_CODES] = {"kernel/codes", code, s->support, s->t, by_landmark_codes,
                                      cells},
        [IKT_MODEL_KERNEL_WEIGHTS] = {"kernel/weights", number, s->q, s->support, by_kernel,
                                      finite},
        [IKT_MODEL_KERNEL_MEANS] = {"kernel/means", number, s->support, 0, by_kernel, finite},
        [IKT_MODEL_KERNEL_NUMBERS] = {"kernel/numbers", number, 2, 0, by_kernel, finite},
        [IKT_MODEL_KERNEL_ORIGIN] = {"kernel/origin", number, s->q, 0, by_kernel, finite}};
    return all[part];
}

/* Of a row without gaps. */
static size_t row_bytes_of(const layout *of) {
    return H5Tget_size(of->type) * (size_t)(of->d > 0 ? of->d : 1);
}

/* Whether a file of that shape may have the part. */
static bool belongs(const layout *of, int part) {
    return of->is_needed || part == IKT_MODEL_LABELS || part == IKT_MODEL_FILL;
}

_Static_assert((int)IKT_MODEL_PARTS <= (int)IKT_H5_OBJECTS_MOST, "closed together at the end");

enum { METRIC_MOST = 3 };

/* When a model has an attribute; OF_: by what new rows are placed. */
typedef enum { ALWAYS, NOT_ZERO, PLACED, OF_CLASSES, OF_PROJECTION, OF_BOTH } presence;

#define MEMBER(name) offsetof(ikt_model_shape, name)

/* The members of the shape that are attributes of the root. */
static const struct {
    const char *name;
    size_t member;
    bool is_flag; /* 0 or 1 */
    presence when;
} attribute[] = {{"rows", MEMBER(n), false, ALWAYS},
                 {"dimensions", MEMBER(q), false, ALWAYS},
                 {"input_columns", MEMBER(d), false, ALWAYS},
                 {"columns", MEMBER(columns), false, ALWAYS},
                 {"distinct_centres", MEMBER(centres), false, ALWAYS},
                 {"t", MEMBER(t), false, ALWAYS},
                 {"psi", MEMBER(psi), false, ALWAYS},
                 {"rows_of_bytes", MEMBER(is_u8), true, ALWAYS},
                 {"is_shifted", MEMBER(is_shifted), true, ALWAYS},
                 {"is_reduced", MEMBER(is_reduced), true, ALWAYS},
                 {"unit_length", MEMBER(is_unit), true, ALWAYS},
                 {"metric", MEMBER(metric), false, NOT_ZERO},
                 {"placing", MEMBER(placing), false, NOT_ZERO},
                 {"holds_rows", MEMBER(has_rows), true, PLACED},
                 {"support", MEMBER(support), false, OF_BOTH},
                 {"classes", MEMBER(classes), false, OF_CLASSES},
                 {"lanes", MEMBER(lanes), false, OF_CLASSES},
                 {"kernel", MEMBER(kernel), false, OF_PROJECTION},
                 {"column_name_bytes", MEMBER(name_bytes), false, NOT_ZERO},
                 {"of_similarities", MEMBER(is_of_similarities), true, OF_BOTH}};
enum { ATTRIBUTES = sizeof attribute / sizeof *attribute };

static int64_t get_number(const ikt_model_shape *s, int a) {
    const void *at = (const char *)s + attribute[a].member;
    return attribute[a].is_flag ? *(const bool *)at : *(const int64_t *)at;
}

static void set_number(ikt_model_shape *s, int a, int64_t value) {
    void *at = (char *)s + attribute[a].member;
    if (attribute[a].is_flag)
        *(bool *)at = value != 0;
    else
        *(int64_t *)at = value;
}

static bool has_attribute(const ikt_model_shape *s, int a) {
    const bool by_classes = s->placing == IKT_PLACING_CLASSES;
    const bool by_projection = s->placing == IKT_PLACING_PROJECTION;
    const bool has[] = {[ALWAYS] = true,
                        [NOT_ZERO] = get_number(s, a) != 0,
                        [PLACED] = s->placing != 0,
                        [OF_CLASSES] = by_classes,
                        [OF_PROJECTION] = by_projection,
                        [OF_BOTH] = by_classes || by_projection};
    return has[attribute[a].when];
}

/* COLLECTIVE. Reads rows of a part, or writes them where `write_from` is given. Where rows in
 * memory have gaps between them, they are packed or moved apart block by block.
 *   stride   bytes from one row to the next; 0: there are no gaps */
static ikt_status transfer(ikt_context *ctx, hid_t dataset, const layout *of, int64_t first,
                           int64_t count, char *read_to, const char *write_from, int64_t stride) {
    enum { BLOCK_BYTES = 4 << 20 };
    if (stride == 0)
        return write_from ? ikt_h5_write_rows(ctx, dataset, of->type, first, count, write_from)
                          : ikt_h5_read_rows(ctx, dataset, of->type, first, count, read_to);
    const size_t bytes = row_bytes_of(of);
    const int64_t block = bytes < BLOCK_BYTES ? (int64_t)(BLOCK_BYTES / bytes) : 1;
    const int64_t steps = ikt_max_one(ctx, (count + block - 1) / block);
    IKT_ARRAYS(held, ctx, "model");
    char *packed = ikt_claim(&held, block, bytes);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t step = 0; step < steps; step++) {
        const int64_t done = step * block < count ? step * block : count;
        const int64_t now = count - done < block ? count - done : block;
        for (int64_t i = 0; write_from && i < now; i++)
            memcpy(packed + i * (int64_t)bytes, write_from + (done + i) * stride, bytes);
        IKT_TRY(write_from ? ikt_h5_write_rows(ctx, dataset, of->type, first + done, now, packed)
                           : ikt_h5_read_rows(ctx, dataset, of->type, first + done, now, packed));
        for (int64_t i = 0; !write_from && i < now; i++)
            memcpy(read_to + (done + i) * stride, packed + i * (int64_t)bytes, bytes);
    }
    return IKT_OK;
}

/* --- writing ---------------------------------------------------------------------------------- */

struct ikt_model_writer {
    ikt_h5_output out;
    hid_t part[IKT_MODEL_PARTS]; /* negative: not made yet */
    uint64_t hash;               /* of the rows that this rank wrote, added up */
    ikt_model_shape shape;
};

ikt_status ikt_model_writer_begin(ikt_context *ctx, const char *path, bool overwrite,
                                  ikt_model_writer **out) {
    ikt_model_writer *w = NULL;
    *out = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &w, 1, sizeof *w, "model"));
    for (int part = 0; part < IKT_MODEL_PARTS; part++)
        w->part[part] = -1;
    ikt_status st = ikt_h5_output_begin(ctx, path, overwrite, IKT_H5_FILE_BYTES, &w->out);
    w->out.is_sealed = true;
    if (st != IKT_OK) ikt_free(&w);
    *out = w;
    return st;
}

ikt_status ikt_model_writer_shape(ikt_model_writer *w, const ikt_model_shape *s) {
    int64_t bytes = IKT_H5_FILE_BYTES;
    w->shape = *s;
    for (int part = 0; part < IKT_MODEL_PARTS; part++) {
        const layout of = layout_of(s, (ikt_model_part)part);
        if (belongs(&of, part)) bytes += ikt_h5_rows_bytes(of.n, (int64_t)row_bytes_of(&of));
    }
    IKT_TRY(ikt_h5_output_reserve(&w->out, bytes));
    const bool by_classes = s->placing == IKT_PLACING_CLASSES;
    const bool by_kernel = s->placing == IKT_PLACING_PROJECTION;
    const int version = by_kernel                     ? IKT_MODEL_KERNEL
                        : by_classes                  ? IKT_MODEL_CLASSES
                        : s->placing != 0             ? IKT_MODEL_PLACING
                        : s->metric != 0              ? IKT_MODEL_METRIC
                        : ikt_model_code_bytes(s) > 2 ? IKT_MODEL_WIDE
                                                      : IKT_MODEL_FIRST;
    bool good = ikt_h5_set_text(w->out.file, "format", "iktsne-model") &&
                ikt_h5_set_int(w->out.file, "format_version", version);
    for (int a = 0; a < ATTRIBUTES && good; a++)
        good = !has_attribute(s, a) ||
               ikt_h5_set_int(w->out.file, attribute[a].name, get_number(s, a));
    const char *own = by_classes ? "fisher" : by_kernel ? "kernel" : NULL;
    const hid_t group IKT_AT_END(ikt_h5_end) =
        good ? ikt_h5_create_group(w->out.file, "preprocess") : -1;
    const hid_t second IKT_AT_END(ikt_h5_end) =
        group >= 0 && own ? ikt_h5_create_group(w->out.file, own) : -1;
    return ikt_h5_output_check(&w->out, group >= 0 && (!own || second >= 0), "the format");
}

ikt_status ikt_model_writer_part(ikt_model_writer *w, ikt_model_part part, int64_t first,
                                 int64_t count, const void *rows, int64_t stride) {
    const layout of = layout_of(&w->shape, part);
    const int64_t step = stride > 0 ? stride : (int64_t)row_bytes_of(&of);
    hid_t *dataset = &w->part[part];
    if (*dataset < 0)
        IKT_TRY(ikt_h5_create(w->out.ctx, w->out.file, of.name, of.type, of.n, of.d, IKT_H5_CHECKED,
                              dataset));
    for (int64_t i = 0; i < count; i++) /* the part's number goes where no row number reaches */
        w->hash += ikt_hash_bytes((const char *)rows + i * step, row_bytes_of(&of),
                                  (uint64_t)(first + i) + ((uint64_t)part << 56));
    return transfer(w->out.ctx, *dataset, &of, first, count, NULL, rows ? rows : "", stride);
}

ikt_status ikt_model_writer_label_names(ikt_model_writer *w, const char *names) {
    const bool good = !names || ikt_h5_set_text(w->out.file, "label_names", names);
    return ikt_h5_output_check(&w->out, good, "the names of the classes");
}

ikt_status ikt_model_writer_notes(ikt_model_writer *w, const char *configuration,
                                  const ikt_note *notes, int64_t count) {
    char hash[32];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)ikt_hash_total(w->out.ctx, w->hash));
    hid_t group = ikt_h5_create_group(w->out.file, "provenance");
    bool good = group >= 0 && ikt_h5_set_text(group, "configuration", configuration) &&
                ikt_h5_set_text(group, "model_hash", hash);
    for (int64_t i = 0; i < count && good; i++)
        good = ikt_h5_set_text(group, notes[i].name, notes[i].text);
    ikt_status st = ikt_h5_output_check(&w->out, good, "the provenance");
    ikt_h5_close(group);
    return st;
}

ikt_status ikt_model_writer_end(ikt_model_writer **writer, ikt_status local) {
    if (!*writer) return local;
    ikt_status st = ikt_h5_output_end(&(*writer)->out, (*writer)->part, IKT_MODEL_PARTS, local);
    ikt_free(writer);
    return st;
}

void ikt_model_writer_abandon(ikt_model_writer **writer) {
    if (!*writer) return;
    ikt_h5_output_abandon(&(*writer)->out, (*writer)->part, IKT_MODEL_PARTS);
    ikt_free(writer);
}

/* --- reading ---------------------------------------------------------------------------------- */

struct ikt_model_file {
    ikt_context *ctx;
    hid_t file;
    hid_t part[IKT_MODEL_PARTS]; /* negative: not there */
    bool is_sealed;
    char path[IKT_PATH_MAX];
    ikt_model_shape shape;
};

ikt_status ikt_model_file_damaged(const ikt_model_file *f, const char *what) {
    return ikt_fail(f->ctx, IKT_ERR_DATA, "%s is damaged: %s", f->path, what);
}

/* Whether the sizes of a model of classes fit together. */
static bool class_sizes_fit(const ikt_model_shape *s) {
    return s->classes >= 2 && s->support >= 2 * s->classes && s->support <= s->n &&
           s->support <= INT32_MAX && s->lanes >= s->support && s->lanes <= INT32_MAX &&
           (!s->is_of_similarities || s->d == s->support);
}

/* Cells of partitionings of centres. */
static bool cells_fit(const ikt_model_shape *s) {
    return s->centres >= 1 && s->t >= 1 && s->t <= UINT16_MAX && s->psi >= 1 &&
           s->psi <= s->centres && s->centres <= INT32_MAX;
}

/* The same of a map of similarities. */
static bool kernel_sizes_fit(const ikt_model_shape *s) {
    return s->kernel >= IKT_MODEL_OF_LINEAR && s->kernel <= IKT_MODEL_OF_GIVEN && s->support >= 3 &&
           s->support <= s->n && s->support <= INT32_MAX &&
           s->is_of_similarities == (s->kernel == IKT_MODEL_OF_GIVEN) &&
           (!s->is_of_similarities || s->d == s->support) &&
           (s->kernel != IKT_MODEL_OF_ISOLATION || cells_fit(s));
}

static ikt_status read_shape(ikt_model_file *f) {
    ikt_model_shape *s = &f->shape;
    char what[128];
    for (int a = 0; a < ATTRIBUTES; a++) {
        const presence when = attribute[a].when;
        int64_t value = 0;
        const bool is_there = ikt_h5_get_int(f->file, attribute[a].name, &value);
        if (when == ALWAYS && !(is_there && value >= 0)) {
            snprintf(what, sizeof what, "attribute %s is missing or wrong", attribute[a].name);
            return ikt_model_file_damaged(f, what);
        }
        if (when >= OF_CLASSES && !has_attribute(s, a)) continue;
        if (when >= OF_CLASSES && !is_there)
            return ikt_model_file_damaged(f, "its sizes do not fit together");
        set_number(s, a, is_there ? value : 0);
    }
    const bool fits = s->placing == IKT_PLACING_CLASSES      ? class_sizes_fit(s)
                      : s->placing == IKT_PLACING_PROJECTION ? !s->has_rows && kernel_sizes_fit(s)
                      : s->has_rows                          ? s->placing == IKT_PLACING_TRIPLETS
                                                             : cells_fit(s);
    bool good = fits && s->n >= 1 && s->q >= 1 && s->q <= 3 && s->d >= 1 && s->columns >= 1 &&
                s->metric >= 0 && s->metric <= METRIC_MOST && s->placing >= 0 &&
                s->placing < IKT_PLACINGS && (s->is_reduced || s->columns == s->d) &&
                s->name_bytes >= 0 && s->name_bytes <= IKT_COLUMN_NAMES_MOST &&
                s->columns <= INT32_MAX && s->d <= INT32_MAX && s->n <= INT64_MAX >> 16;
    return good ? IKT_OK : ikt_model_file_damaged(f, "its sizes do not fit together");
}

static ikt_status open_parts(ikt_model_file *f) {
    char format[32];
    int64_t version = 0;
    ikt_h5_short_text(f->file, "format", format, sizeof format);
    if (strcmp(format, "iktsne-model") != 0 || !ikt_h5_get_int(f->file, "format_version", &version))
        /* A result and a data set are what one takes for a model by mistake. */
        return ikt_fail(
            f->ctx, IKT_ERR_DATA,
            "%s is not a model to place rows by: `iktsne embed` writes one where "
            "output.model names it%s",
            f->path, ikt_h5_has(f->file, "embedding") ? " (this is an embedding without one)" : "");
    if (version > IKT_MODEL_CURRENT)
        return ikt_fail(f->ctx, IKT_ERR_DATA,
                        "%s has format version %lld; this program reads up to %d: use a newer "
                        "iktsne",
                        f->path, (long long)version, IKT_MODEL_CURRENT);
    if (!f->is_sealed)
        return ikt_fail(f->ctx, IKT_ERR_DATA,
                        "%s no longer ends with its checksum: it was cut off, or another program "
                        "has changed it; make it again (output.model)",
                        f->path);
    IKT_TRY(read_shape(f));
    for (int part = 0; part < IKT_MODEL_PARTS; part++) {
        const layout of = layout_of(&f->shape, (ikt_model_part)part);
        char what[128];
        if (!belongs(&of, part)) continue;
        if (!ikt_h5_has(f->file, of.name)) {
            if (of.is_needed) return ikt_h5_missing(f->ctx, f->file, f->path, of.name);
            continue;
        }
        if (ikt_h5_open_rows(f->file, of.name, of.type, of.n, of.d, &f->part[part])) continue;
        snprintf(what, sizeof what, "/%s has another size or type than its attributes say",
                 of.name);
        return ikt_model_file_damaged(f, what);
    }
    f->shape.has_labels = f->part[IKT_MODEL_LABELS] >= 0;
    f->shape.has_fill = f->part[IKT_MODEL_FILL] >= 0;
    return IKT_OK;
}

ikt_status ikt_model_file_open(ikt_context *ctx, const char *path, ikt_model_file **out) {
    ikt_model_file *f = NULL;
    *out = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &f, 1, sizeof *f, "model"));
    f->ctx = ctx;
    for (int part = 0; part < IKT_MODEL_PARTS; part++)
        f->part[part] = -1;
    snprintf(f->path, sizeof f->path, "%s", path);
    ikt_status st = ikt_seal_look(ctx, path, &f->is_sealed);
    if (st == IKT_OK) st = ikt_h5_open_looked(ctx, path, &f->file);
    if (st == IKT_OK) st = ikt_agree(ctx, open_parts(f));
    if (st != IKT_OK) ikt_model_file_close(&f);
    *out = f;
    return st;
}

void ikt_model_file_close(ikt_model_file **file) {
    if (!*file) return;
    for (int part = 0; part < IKT_MODEL_PARTS; part++)
        ikt_h5_close((*file)->part[part]);
    ikt_h5_close((*file)->file);
    ikt_free(file);
}

const ikt_model_shape *ikt_model_file_shape(const ikt_model_file *file) {
    return &file->shape;
}

const char *ikt_model_file_path(const ikt_model_file *file) {
    return file->path;
}

/* Whether all values of a row can be. */
typedef bool row_check(const layout *of, const void *row);

#define ROW_CHECK(name, type)                                                                      \
    static bool name(const layout *of, const void *row) {                                          \
        const int64_t columns = of->d > 0 ? of->d : 1;                                             \
        bool is_valid = true;                                                                      \
        for (int64_t c = 0; c < columns; c++) {                                                    \
            const double value = (double)((const type *)row)[c];                                   \
            is_valid &= value >= of->valid.least && value <= of->valid.most;                       \
        }                                                                                          \
        return is_valid;                                                                           \
    }
ROW_CHECK(are_doubles, double)
ROW_CHECK(are_floats, float)
ROW_CHECK(are_int64, int64_t)
ROW_CHECK(are_int32, int32_t)
ROW_CHECK(are_uint32, uint32_t)
ROW_CHECK(are_uint16, uint16_t)
ROW_CHECK(are_uint8, uint8_t)

/* Chosen before threads begin: the name of each type is a call of HDF5, which is not for threads.
 */
static row_check *choose_check(hid_t type) {
    return type == H5T_NATIVE_DOUBLE   ? are_doubles
           : type == H5T_NATIVE_FLOAT  ? are_floats
           : type == H5T_NATIVE_INT64  ? are_int64
           : type == H5T_NATIVE_INT32  ? are_int32
           : type == H5T_NATIVE_UINT32 ? are_uint32
           : type == H5T_NATIVE_UINT16 ? are_uint16
                                       : are_uint8;
}

/* LOCAL. Refuses a part with a value that cannot be. */
static ikt_status check_rows(const ikt_model_file *f, const layout *of, int64_t first,
                             int64_t count, const char *rows, int64_t step) {
    row_check *is_valid = choose_check(of->type);
    int64_t bad = INT64_MAX;
    char what[128];
#pragma omp parallel for reduction(min : bad) num_threads(ikt_threads(f->ctx))
    for (int64_t i = 0; i < count; i++)
        if (!is_valid(of, rows + i * step) && i < bad) bad = i;
    if (bad == INT64_MAX) return IKT_OK;
    snprintf(what, sizeof what, "/%s, row %lld holds a number that cannot be there", of->name,
             (long long)(first + bad));
    return ikt_model_file_damaged(f, what);
}

ikt_status ikt_model_file_read(ikt_model_file *f, ikt_model_part part, int64_t first, int64_t count,
                               void *rows, int64_t stride) {
    const layout of = layout_of(&f->shape, part);
    const int64_t step = stride > 0 ? stride : (int64_t)row_bytes_of(&of);
    IKT_TRY(transfer(f->ctx, f->part[part], &of, first, count, rows, NULL, stride));
    return ikt_agree(f->ctx, check_rows(f, &of, first, count, rows, step));
}

ikt_status ikt_model_file_note(ikt_model_file *f, const char *name, char **text) {
    return ikt_h5_read_note(f->ctx, f->file, name, text);
}

ikt_status ikt_model_file_label_names(ikt_model_file *f, char **names) {
    return ikt_agree(f->ctx, ikt_label_names_read(f->ctx, f->file, f->path, names));
}

ikt_status ikt_model_file_column_names(ikt_model_file *f, char **names) {
    const int64_t bytes = f->shape.name_bytes;
    *names = NULL;
    if (bytes == 0) return IKT_OK;
    char *text IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_alloc_all(f->ctx, &text, bytes + 1, 1, "model"));
    IKT_TRY(ikt_model_file_read(f, IKT_MODEL_COLUMN_NAMES, 0, bytes, text, 0));
    if ((int64_t)strlen(text) != bytes || text[bytes - 1] != '\n' ||
        ikt_label_names_count(text) != f->shape.d)
        return ikt_model_file_damaged(f, "/column_names has not one name for each column");
    return ikt_give(names, text);
}
