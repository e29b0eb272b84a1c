/* Classes of rows from an HDF5 file. See labels.h. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "dist/rows.h"
#include "io/hdf5/columns.h"
#include "io/hdf5/h5.h"
#include "io/sources/labels.h"

/* --- texts ------------------------------------------------------------------------------------ */

static ikt_status too_many(ikt_context *ctx, hid_t dataset) {
    char name[512];
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s has more than %d different texts: are these names of rows rather than of "
                    "classes?",
                    ikt_h5_name(dataset, name, sizeof name), IKT_CLASS_NAMES_MAX);
}

typedef struct {
    ikt_context *ctx;
    char *text;
    int64_t length, capacity;
} lines;

static ikt_status append(void *self, int64_t i, const char *text) {
    lines *l = self;
    const int64_t needed = l->length + (int64_t)strlen(text) + 2;
    (void)i;
    if (needed > l->capacity) {
        IKT_TRY(ikt_resize(l->ctx, &l->text, 2 * needed, 1, "class names"));
        l->capacity = 2 * needed;
    }
    l->length = stpcpy(stpcpy(l->text + l->length, text), "\n") - l->text;
    return IKT_OK;
}

/* LOCAL. All entries of a list in its order, "a\nb\n". */
static ikt_status read_list(ikt_context *ctx, hid_t dataset, char **names) {
    lines l = {.ctx = ctx};
    const int64_t count = ikt_h5_length(dataset);
    *names = NULL;
    if (count > IKT_CLASS_NAMES_MAX) return too_many(ctx, dataset);
    IKT_TRY(ikt_resize(ctx, &l.text, 1, 1, "class names"));
    const ikt_status st =
        ikt_h5_visit_texts(ctx, dataset, 0, count < 0 ? 0 : count, false, append, &l);
    if (st != IKT_OK) ikt_free(&l.text);
    *names = l.text;
    return st;
}

/* Texts that are gathered, or numbered. */
typedef struct {
    ikt_context *ctx;
    ikt_class_names classes;
    bool full;
    int64_t first, *labels;
} numbering;

static void numbering_end(numbering *n) {
    ikt_class_names_free(&n->classes);
}

static ikt_status collect(void *self, int64_t i, const char *text) {
    numbering *n = self;
    (void)i;
    return n->full ? IKT_OK : ikt_class_names_add(n->ctx, &n->classes, text, &n->full);
}

static ikt_status number(void *self, int64_t i, const char *text) {
    numbering *n = self;
    n->labels[i - n->first] = ikt_class_names_find(&n->classes, text);
    return IKT_OK;
}

/* COLLECTIVE. The different texts of a column, sorted: each rank finds those of its share of the
 * rows. Disadvantage: all different texts on every rank, which is why there may be
 * IKT_CLASS_NAMES_MAX of them. */
static ikt_status find_classes(ikt_context *ctx, hid_t dataset, char **names) {
    const ikt_rows rows = ikt_rows_make(ikt_h5_length(dataset), ikt_size(ctx), ikt_rank(ctx));
    numbering n IKT_AT_END(numbering_end) = {.ctx = ctx};
    *names = NULL;
    IKT_TRY(ikt_agree(
        ctx, ikt_h5_visit_texts(ctx, dataset, rows.first, rows.count, false, collect, &n)));
    IKT_TRY(ikt_class_names_join(ctx, &n.classes, &n.full));
    return ikt_agree(ctx, n.full ? too_many(ctx, dataset)
                                 : ikt_class_names_list(ctx, &n.classes, names));
}

/* --- finding ---------------------------------------------------------------------------------- */

enum { PATH_SIZE = 1024 };

/* Where the classes stand. */
typedef struct {
    ikt_context *ctx;
    hid_t file;
    const char *path; /* of the file */
    int64_t n;
    char object[PATH_SIZE]; /* what NAME was found as */
    char values[PATH_SIZE]; /* data set of the codes, numbers or texts */
    char mask[PATH_SIZE];   /* data set that is true where there is no value, or "" */
    hid_t categories;       /* data set of the names of codes, or negative */
    hid_t texts;            /* `values`, where they are texts, or negative */
} labels_place;

static void place_end(const labels_place *p) {
    ikt_h5_close(p->categories);
    ikt_h5_close(p->texts);
}

static bool is_compound(hid_t file, const char *name) {
    const hid_t set IKT_AT_END(ikt_h5_end) = ikt_h5_open_dataset(file, name);
    return ikt_h5_class(set) == H5T_COMPOUND;
}

/* What NAME stands for; an empty `object`: nothing. */
static ikt_status find_object(labels_place *p, const char *name) {
    bool present;
    snprintf(p->object, PATH_SIZE, "%s", name);
    IKT_TRY(ikt_h5_find(p->ctx, p->file, p->path, p->object, &present));
    if (present && strlen(name) < PATH_SIZE) return IKT_OK;
    static const char *const folders[] = {"obs", "col_attrs"}; /* of AnnData, of loom */
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++) {
        snprintf(p->object, PATH_SIZE, "%s/%s", folders[f], name + (name[0] == '/'));
        IKT_TRY(ikt_h5_find(p->ctx, p->file, p->path, p->object, &present));
        if (present) return IKT_OK;
    }
    p->object[0] = '\0';
    if (strcmp(name, "labels") == 0 || !is_compound(p->file, "obs")) return IKT_OK;
    return ikt_fail(p->ctx, IKT_ERR_DATA,
                    "%s keeps obs as one table, as anndata before 0.7 wrote it, whose columns are "
                    "not read: read the file with anndata and write it again",
                    p->path);
}

static bool join(const labels_place *p, const char *child, char path[PATH_SIZE]) {
    const int length = snprintf(path, PATH_SIZE, "%s/%s", p->object, child);
    return length < PATH_SIZE && ikt_h5_has(p->file, path);
}

/* codes and categories, or values and mask. */
static ikt_status take_group(labels_place *p) {
    char names[PATH_SIZE];
    if (join(p, "codes", p->values) && join(p, "categories", names)) {
        p->categories = H5Dopen2(p->file, names, H5P_DEFAULT);
        if (p->categories >= 0) return IKT_OK;
    } else if (join(p, "values", p->values) && join(p, "mask", p->mask)) {
        return IKT_OK;
    }
    return ikt_fail(p->ctx, IKT_ERR_DATA,
                    "%s: '%s' is a group, but neither one of codes and categories nor one of "
                    "values and mask",
                    p->path, p->object);
}

/* Numbers, texts, or codes whose attribute `categories` refers to the data set of their names. */
static ikt_status take_dataset(labels_place *p, hid_t codes) {
    hobj_ref_t reference;
    snprintf(p->values, PATH_SIZE, "%s", p->object);
    if (!ikt_h5_has_attribute(codes, "categories")) return IKT_OK;
    const hid_t attribute IKT_AT_END(ikt_h5_end) = H5Aopen(codes, "categories", H5P_DEFAULT);
    const hid_t type IKT_AT_END(ikt_h5_end) = attribute >= 0 ? H5Aget_type(attribute) : -1;
    const hid_t space IKT_AT_END(ikt_h5_end) = attribute >= 0 ? H5Aget_space(attribute) : -1;
    if (type >= 0 && H5Tequal(type, H5T_STD_REF_OBJ) > 0 && space >= 0 &&
        H5Sget_simple_extent_npoints(space) == 1 &&
        H5Aread(attribute, H5T_STD_REF_OBJ, &reference) >= 0)
        p->categories = H5Rdereference2(codes, H5P_DEFAULT, H5R_OBJECT, &reference);
    if (H5Iget_type(p->categories) == H5I_DATASET) return IKT_OK;
    return ikt_fail(p->ctx, IKT_ERR_DATA,
                    "%s: the attribute 'categories' of '%s' refers to no data set", p->path,
                    p->object);
}

static ikt_status find(labels_place *p, const char *name) {
    char reason[256];
    IKT_TRY(find_object(p, name));
    if (!p->object[0]) return IKT_OK;
    const hid_t object IKT_AT_END(ikt_h5_end) = H5Oopen(p->file, p->object, H5P_DEFAULT);
    if (object < 0 || (H5Iget_type(object) != H5I_GROUP && H5Iget_type(object) != H5I_DATASET))
        return ikt_fail(p->ctx, IKT_ERR_FILE, "%s: '%s' cannot be opened: %s", p->path, p->object,
                        ikt_h5_reason(reason, sizeof reason));
    IKT_TRY(H5Iget_type(object) == H5I_GROUP ? take_group(p) : take_dataset(p, object));
    if (p->categories >= 0) return IKT_OK;
    p->texts = H5Dopen2(p->file, p->values, H5P_DEFAULT);
    if (ikt_h5_is_text(p->texts)) return IKT_OK;
    ikt_h5_close(p->texts);
    p->texts = -1;
    return IKT_OK;
}

/* --- reading ---------------------------------------------------------------------------------- */

static ikt_status read_numbers(const labels_place *p, int64_t first, int64_t count,
                               int64_t *labels) {
    bool present;
    IKT_TRY(ikt_column_read_int(p->ctx, p->file, p->path, p->values, p->n, first, count, labels,
                                &present));
    if (present) return IKT_OK;
    return ikt_agree(p->ctx,
                     ikt_fail(p->ctx, IKT_ERR_DATA, "%s has no data set '%s'", p->path, p->values));
}

/* Codes number the categories from 0; -1 is a row without one. */
static ikt_status read_codes(const labels_place *p, int64_t first, int64_t count, int64_t *labels,
                             char **names) {
    ikt_status st = IKT_OK;
    if (!*names) IKT_TRY(ikt_agree(p->ctx, read_list(p->ctx, p->categories, names)));
    IKT_TRY(read_numbers(p, first, count, labels));
    const int64_t categories = ikt_label_names_count(*names);
    for (int64_t i = 0; i < count && st == IKT_OK; i++) {
        if (labels[i] == -1) labels[i] = IKT_LABEL_MISSING;
        if (labels[i] < -1 || labels[i] >= categories)
            st = ikt_fail(p->ctx, IKT_ERR_DATA,
                          "%s: '%s', row %lld has code %lld, but there are %lld categories",
                          p->path, p->values, (long long)(first + i), (long long)labels[i],
                          (long long)categories);
    }
    return ikt_agree(p->ctx, st);
}

static ikt_status read_texts(const labels_place *p, int64_t first, int64_t count, int64_t *labels,
                             char **names) {
    ikt_status st = IKT_OK;
    if (!ikt_entries_fit(ikt_h5_length(p->texts), p->n))
        st = ikt_fail(p->ctx, IKT_ERR_DATA, "%s: '%s' has %lld entries, but there are %lld rows",
                      p->path, p->values, (long long)ikt_h5_length(p->texts),
                      (long long)ikt_entries_wanted(p->n));
    IKT_TRY(ikt_agree(p->ctx, st));
    if (!*names) IKT_TRY(find_classes(p->ctx, p->texts, names));
    numbering n IKT_AT_END(numbering_end) = {.ctx = p->ctx, .first = first, .labels = labels};
    IKT_ARRAYS(held, p->ctx, "class names");
    const int64_t length = (int64_t)strlen(*names);
    char *copy = ikt_claim(&held, length + 1, 1); /* which is spoilt */
    st = held.status;
    if (st == IKT_OK) memcpy(copy, *names, (size_t)length);
    if (st == IKT_OK) st = ikt_class_names_add_lines(p->ctx, &n.classes, copy, &n.full);
    if (st == IKT_OK) st = ikt_h5_visit_texts(p->ctx, p->texts, first, count, false, number, &n);
    return ikt_agree(p->ctx, st);
}

/* Truth values have names as they stand. */
static ikt_status name_members(const labels_place *p, char **names) {
    if (*names) return IKT_OK;
    const hid_t dataset IKT_AT_END(ikt_h5_end) = H5Dopen2(p->file, p->values, H5P_DEFAULT);
    return ikt_agree(p->ctx, ikt_h5_enum_names(p->ctx, dataset, names));
}

/* COLLECTIVE. Among numbers, missing ones must not be taken for others. */
static ikt_status apply_mask(const labels_place *p, int64_t first, int64_t count, int64_t *labels) {
    int64_t negative = 0, masked = 0;
    bool present = false;
    IKT_ARRAYS(held, p->ctx, "labels");
    int64_t *mask = ikt_claim(&held, count, sizeof *mask);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(
        ikt_column_read_int(p->ctx, p->file, p->path, p->mask, p->n, first, count, mask, &present));
    for (int64_t i = 0; i < count; i++) {
        masked |= mask[i] != 0;
        negative |= !mask[i] && labels[i] < 0;
        if (mask[i]) labels[i] = IKT_LABEL_MISSING;
    }
    if (p->texts >= 0 || ikt_max_one(p->ctx, negative) == 0 || ikt_max_one(p->ctx, masked) == 0)
        return IKT_OK;
    return ikt_agree(p->ctx, ikt_fail(p->ctx, IKT_ERR_DATA,
                                      "%s: '%s' has both missing and negative values; missing ones "
                                      "would become class -1",
                                      p->path, p->object));
}

static ikt_status read_place(const labels_place *p, int64_t first, int64_t count, int64_t *labels,
                             char **names) {
    if (p->categories >= 0) return read_codes(p, first, count, labels, names);
    if (p->texts >= 0) {
        IKT_TRY(read_texts(p, first, count, labels, names));
    } else {
        IKT_TRY(read_numbers(p, first, count, labels));
        IKT_TRY(name_members(p, names));
    }
    return p->mask[0] ? apply_mask(p, first, count, labels) : IKT_OK;
}

/* A program of others may have left out the end of the last line. */
ikt_status ikt_label_names_read(ikt_context *ctx, hid_t file, const char *path, char **names) {
    char *stored IKT_AT_END(ikt_free) = NULL;
    *names = NULL;
    IKT_TRY(ikt_h5_get_text(ctx, file, "label_names", &stored));
    if (!stored) return IKT_OK;
    const int64_t length = (int64_t)strlen(stored), size = 2 * length + 2;
    IKT_TRY(ikt_alloc(ctx, names, size, 1, "class names"));
    if (!ikt_utf8_copy(stored, *names, (size_t)size - 1)) ikt_h5_warn_latin1(ctx, path);
    if (length > 0 && stored[length - 1] != '\n') strcat(*names, "\n");
    return IKT_OK;
}

bool ikt_labels_are_default(const char *name) {
    return strcmp(name, "labels") == 0 || strcmp(name, "/labels") == 0;
}

/* COLLECTIVE. The names that the file gives the classes of /labels, and whether they are enough. */
static ikt_status name_default(const labels_place *p, int64_t count, const int64_t *labels,
                               char **names) {
    ikt_status st = IKT_OK;
    if (!*names) st = ikt_label_names_read(p->ctx, p->file, p->path, names);
    if (st == IKT_OK) ikt_label_names_check(p->ctx, p->path, *names, count, labels);
    return ikt_agree(p->ctx, st);
}

ikt_status ikt_labels_read(ikt_context *ctx, hid_t file, const char *path, const char *name,
                           int64_t n, int64_t first, int64_t count, int64_t *labels, bool *present,
                           char **names) {
    labels_place p IKT_AT_END(place_end) = {
        .ctx = ctx, .file = file, .path = path, .n = n, .categories = -1, .texts = -1};
    ikt_status st = ikt_agree(ctx, find(&p, name));
    *present = st == IKT_OK && ikt_max_one(ctx, p.object[0] != '\0') > 0;
    if (*present) st = read_place(&p, first, count, labels, names);
    if (st == IKT_OK && *present && ikt_labels_are_default(name))
        st = name_default(&p, count, labels, names);
    if (st != IKT_OK) ikt_free(names);
    return st;
}

ikt_status ikt_labels_have_names(ikt_context *ctx, hid_t file, const char *path, const char *name,
                                 bool *named) {
    labels_place p IKT_AT_END(place_end) = {
        .ctx = ctx, .file = file, .path = path, .categories = -1, .texts = -1};
    char *members = NULL;
    ikt_status st = ikt_agree(ctx, find(&p, name));
    if (st == IKT_OK && p.object[0]) st = name_members(&p, &members);
    *named = p.categories >= 0 || p.texts >= 0 || members || p.mask[0];
    ikt_free(&members);
    return st;
}
