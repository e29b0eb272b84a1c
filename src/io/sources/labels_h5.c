/* Classes of rows from an HDF5 file. */
#include "io/sources/labels_h5.h"

#include <hdf5.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/encoding.h"
#include "base/memory.h"
#include "base/status.h"
#include "dist/rows.h"
#include "io/formats/csv_labels.h"
#include "io/hdf5/columns.h"
#include "io/hdf5/h5.h"
#include "io/hdf5/h5_texts.h"
#include "io/sources/label_names.h"

/* Texts of an HDF5 data set as classes: a list of names, or a column whose different texts are the
 * classes, numbered in the order of their bytes.
 *
 * Each rank sorts the different texts of its share of the rows, the lists are joined on every rank
 * and sorted again: what comes out does not depend on ranks. Disadvantage: all different texts on
 * every rank, which is why there may be IKT_CLASSES_MAX (csv_labels.h) of them.
 */

/* LOCAL. All entries of a list in its order, "a\nb\n", freed with ikt_free.
 * Errors: IKT_ERR_DATA (no list of texts or numbers, too many), IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_text_list_read(ikt_context *ctx, hid_t dataset, char **names);

/* COLLECTIVE. The different texts of a column, sorted; as above. */
ikt_status ikt_text_classes_find(ikt_context *ctx, hid_t dataset, char **names);

/* COLLECTIVE. Numbers of the texts of rows first .. first + count - 1 among `names`, to
 * labels[count]. Errors: as above. */
ikt_status ikt_text_classes_number(ikt_context *ctx, hid_t dataset, const char *names,
                                   int64_t first, int64_t count, int64_t *labels);

static ikt_status too_many(ikt_context *ctx, hid_t dataset) {
    char name[512];
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s has more than %d different texts: are these names of rows rather than of "
                    "classes?",
                    ikt_h5_name(dataset, name, sizeof name), IKT_CLASSES_MAX);
}

/* --- a list ----------------------------------------------------------------------------------- */

typedef struct {
    ikt_context *ctx;
    char *text;
    int64_t length, room;
} growing;

static ikt_status append(void *self, int64_t i, const char *text) {
    growing *g = self;
    const int64_t more = (int64_t)strlen(text) + 1;
    (void)i;
    if (g->length + more + 1 > g->room) {
        const int64_t room = 2 * (g->length + more + 1);
        IKT_TRY(ikt_resize(g->ctx, &g->text, room, 1, "class names"));
        g->room = room;
    }
    g->length += sprintf(g->text + g->length, "%s\n", text);
    return IKT_OK;
}

ikt_status ikt_text_list_read(ikt_context *ctx, hid_t dataset, char **names) {
    growing g = {.ctx = ctx};
    const int64_t count = ikt_h5_length(dataset);
    *names = NULL;
    if (count > IKT_CLASSES_MAX) return too_many(ctx, dataset);
    ikt_status st = ikt_resize(ctx, &g.text, 1, 1, "class names");
    if (st == IKT_OK) st = ikt_h5_visit_texts(ctx, dataset, 0, count < 0 ? 0 : count, append, &g);
    if (st != IKT_OK) ikt_free(&g.text);
    *names = g.text;
    return st;
}

/* --- a column --------------------------------------------------------------------------------- */

/* Texts that are gathered, or numbered. */
typedef struct {
    ikt_context *ctx;
    ikt_csv_classes classes;
    bool full;
    int64_t first, *labels;
} numbering;

static ikt_status collect(void *self, int64_t i, const char *text) {
    numbering *n = self;
    (void)i;
    return n->full ? IKT_OK : ikt_csv_classes_add(n->ctx, &n->classes, text, &n->full);
}

static ikt_status collect_lines(numbering *n, char *lines, int64_t length) {
    for (char *line = lines; line < lines + length; line += strlen(line) + 1) {
        char *end = memchr(line, '\n', (size_t)(lines + length - line));
        if (!end) break;
        *end = '\0';
        IKT_TRY(collect(n, 0, line));
    }
    return IKT_OK;
}

/* COLLECTIVE. The texts of all ranks on each. */
static ikt_status join_texts(ikt_context *ctx, const char *own, numbering *all) {
    int64_t *counts = NULL, total = 0;
    char *lines = NULL;
    ikt_status st = ikt_alloc(ctx, &counts, ikt_size(ctx), sizeof *counts, "class names");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        ikt_gather_counts(ctx, (int64_t)strlen(own), counts);
        for (int r = 0; r < ikt_size(ctx); r++)
            total += counts[r];
        st = ikt_agree(ctx, ikt_alloc(ctx, &lines, total + 1, 1, "class names"));
    }
    if (st == IKT_OK) {
        ikt_allgather(ctx, own, (int64_t)strlen(own), 1, lines, counts);
        st = ikt_agree(ctx, collect_lines(all, lines, total));
    }
    ikt_free(&lines);
    ikt_free(&counts);
    return st;
}

ikt_status ikt_text_classes_find(ikt_context *ctx, hid_t dataset, char **names) {
    const ikt_rows rows = ikt_rows_make(ikt_h5_length(dataset), ikt_size(ctx), ikt_rank(ctx));
    numbering own = {.ctx = ctx}, all = {.ctx = ctx};
    char *lines = NULL;
    *names = NULL;
    ikt_status st = ikt_h5_visit_texts(ctx, dataset, rows.first, rows.count, collect, &own);
    if (st == IKT_OK) st = ikt_csv_classes_list(ctx, &own.classes, &lines);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = join_texts(ctx, lines, &all);
    if (st == IKT_OK && ikt_max_one(ctx, own.full || all.full) > 0)
        st = ikt_agree(ctx, too_many(ctx, dataset));
    if (st == IKT_OK) st = ikt_agree(ctx, ikt_csv_classes_list(ctx, &all.classes, names));
    ikt_free(&lines);
    ikt_csv_classes_free(&own.classes);
    ikt_csv_classes_free(&all.classes);
    return st;
}

static ikt_status number(void *self, int64_t i, const char *text) {
    numbering *n = self;
    n->labels[i - n->first] = ikt_csv_classes_find(&n->classes, text);
    return IKT_OK;
}

ikt_status ikt_text_classes_number(ikt_context *ctx, hid_t dataset, const char *names,
                                   int64_t first, int64_t count, int64_t *labels) {
    const int64_t length = (int64_t)strlen(names);
    numbering n = {.ctx = ctx, .first = first, .labels = labels};
    char *lines = NULL;
    ikt_status st = ikt_alloc(ctx, &lines, length + 1, 1, "class names");
    if (st == IKT_OK) memcpy(lines, names, (size_t)length);
    if (st == IKT_OK) st = collect_lines(&n, lines, length);
    if (st == IKT_OK) st = ikt_h5_visit_texts(ctx, dataset, first, count, number, &n);
    ikt_free(&lines);
    ikt_csv_classes_free(&n.classes);
    return ikt_agree(ctx, st);
}

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

/* --- finding ---------------------------------------------------------------------------------- */

static bool is_compound(hid_t file, const char *name) {
    hid_t object = ikt_h5_open_object(file, name);
    hid_t type = object >= 0 && H5Iget_type(object) == H5I_DATASET ? H5Dget_type(object) : -1;
    const bool is = type >= 0 && H5Tget_class(type) == H5T_COMPOUND;
    ikt_h5_close(type);
    ikt_h5_close(object);
    return is;
}

/* What NAME stands for; an empty `object`: nothing. */
static ikt_status find_object(labels_place *p, const char *name) {
    bool present;
    snprintf(p->object, PATH_SIZE, "%s", name);
    IKT_TRY(ikt_h5_find(p->ctx, p->file, p->path, p->object, &present));
    if (present && strlen(name) < PATH_SIZE) return IKT_OK;
    snprintf(p->object, PATH_SIZE, "obs/%s", name + (name[0] == '/'));
    IKT_TRY(ikt_h5_find(p->ctx, p->file, p->path, p->object, &present));
    if (present) return IKT_OK;
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

/* The data set that the attribute `categories` of codes refers to; negative where there is none. */
static hid_t referred_categories(hid_t codes) {
    hobj_ref_t reference;
    if (!ikt_h5_has_attribute(codes, "categories")) return -1;
    hid_t attribute = H5Aopen(codes, "categories", H5P_DEFAULT);
    hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1, found = -1;
    if (type >= 0 && H5Tequal(type, H5T_STD_REF_OBJ) > 0 && space >= 0 &&
        H5Sget_simple_extent_npoints(space) == 1 &&
        H5Aread(attribute, H5T_STD_REF_OBJ, &reference) >= 0)
        found = H5Rdereference2(codes, H5P_DEFAULT, H5R_OBJECT, &reference);
    ikt_h5_close(type);
    ikt_h5_close(space);
    ikt_h5_close(attribute);
    if (found >= 0 && H5Iget_type(found) == H5I_DATASET) return found;
    ikt_h5_close(found);
    return -1;
}

static ikt_status take_dataset(labels_place *p, hid_t object) {
    snprintf(p->values, PATH_SIZE, "%s", p->object);
    if (!ikt_h5_has_attribute(object, "categories")) return IKT_OK;
    p->categories = referred_categories(object);
    if (p->categories >= 0) return IKT_OK;
    return ikt_fail(p->ctx, IKT_ERR_DATA,
                    "%s: the attribute 'categories' of '%s' refers to no data set", p->path,
                    p->object);
}

static ikt_status find(labels_place *p, const char *name) {
    char reason[256];
    IKT_TRY(find_object(p, name));
    if (!p->object[0]) return IKT_OK;
    hid_t object = H5Oopen(p->file, p->object, H5P_DEFAULT);
    ikt_status st = IKT_OK;
    if (object >= 0 && H5Iget_type(object) == H5I_GROUP)
        st = take_group(p);
    else if (object >= 0 && H5Iget_type(object) == H5I_DATASET)
        st = take_dataset(p, object);
    else
        st = ikt_fail(p->ctx, IKT_ERR_FILE, "%s: '%s' cannot be opened: %s", p->path, p->object,
                      ikt_h5_reason(reason, sizeof reason));
    ikt_h5_close(object);
    if (st != IKT_OK) return st;
    p->texts = H5Dopen2(p->file, p->values, H5P_DEFAULT);
    if (p->texts >= 0 && p->categories < 0 && ikt_h5_is_text(p->texts)) return IKT_OK;
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

/* Codes are places in the list of categories; -1 is a row without one. */
static ikt_status check_codes(const labels_place *p, int64_t categories, int64_t first,
                              int64_t count, int64_t *labels) {
    for (int64_t i = 0; i < count; i++) {
        if (labels[i] == -1) labels[i] = IKT_LABEL_MISSING;
        if (labels[i] < -1 || labels[i] >= categories)
            return ikt_fail(p->ctx, IKT_ERR_DATA,
                            "%s: '%s', row %lld has code %lld, but there are %lld categories",
                            p->path, p->values, (long long)(first + i), (long long)labels[i],
                            (long long)categories);
    }
    return IKT_OK;
}

static ikt_status read_codes(const labels_place *p, int64_t first, int64_t count, int64_t *labels,
                             char **names) {
    if (!*names) IKT_TRY(ikt_agree(p->ctx, ikt_text_list_read(p->ctx, p->categories, names)));
    IKT_TRY(read_numbers(p, first, count, labels));
    return ikt_agree(p->ctx, check_codes(p, ikt_label_names_count(*names), first, count, labels));
}

static ikt_status read_texts(const labels_place *p, int64_t first, int64_t count, int64_t *labels,
                             char **names) {
    ikt_status st = IKT_OK;
    if (ikt_h5_length(p->texts) != p->n)
        st = ikt_fail(p->ctx, IKT_ERR_DATA, "%s: '%s' has %lld entries, but there are %lld rows",
                      p->path, p->values, (long long)ikt_h5_length(p->texts), (long long)p->n);
    IKT_TRY(ikt_agree(p->ctx, st));
    if (!*names) IKT_TRY(ikt_text_classes_find(p->ctx, p->texts, names));
    return ikt_text_classes_number(p->ctx, p->texts, *names, first, count, labels);
}

/* COLLECTIVE. Among numbers, missing ones must not be taken for others. */
static ikt_status apply_mask(const labels_place *p, bool numbers, int64_t count,
                             const int64_t *mask, int64_t *labels) {
    bool negative = false, masked = false;
    for (int64_t i = 0; i < count; i++) {
        masked |= mask[i] != 0;
        negative |= !mask[i] && labels[i] < 0;
        if (mask[i]) labels[i] = IKT_LABEL_MISSING;
    }
    if (!numbers || ikt_max_one(p->ctx, negative) == 0 || ikt_max_one(p->ctx, masked) == 0)
        return IKT_OK;
    return ikt_agree(p->ctx, ikt_fail(p->ctx, IKT_ERR_DATA,
                                      "%s: '%s' has both missing and negative values; missing ones "
                                      "would become class -1",
                                      p->path, p->object));
}

static ikt_status read_mask(const labels_place *p, int64_t first, int64_t count, int64_t *labels) {
    int64_t *mask = NULL;
    bool present = false;
    ikt_status st = ikt_agree(p->ctx, ikt_alloc(p->ctx, &mask, count, sizeof *mask, "labels"));
    if (st == IKT_OK)
        st = ikt_column_read_int(p->ctx, p->file, p->path, p->mask, p->n, first, count, mask,
                                 &present);
    if (st == IKT_OK) st = apply_mask(p, p->texts < 0, count, mask, labels);
    ikt_free(&mask);
    return st;
}

/* Truth values have names as they stand. */
static ikt_status name_members(const labels_place *p, char **names) {
    if (*names) return IKT_OK;
    hid_t dataset = H5Dopen2(p->file, p->values, H5P_DEFAULT);
    ikt_status st = ikt_h5_enum_names(p->ctx, dataset, names);
    ikt_h5_close(dataset);
    return ikt_agree(p->ctx, st);
}

static ikt_status read_place(const labels_place *p, int64_t first, int64_t count, int64_t *labels,
                             char **names) {
    if (p->categories >= 0) return read_codes(p, first, count, labels, names);
    if (p->texts >= 0)
        IKT_TRY(read_texts(p, first, count, labels, names));
    else
        IKT_TRY(read_numbers(p, first, count, labels));
    if (p->texts < 0) IKT_TRY(name_members(p, names));
    return p->mask[0] ? read_mask(p, first, count, labels) : IKT_OK;
}

ikt_status ikt_labels_read(ikt_context *ctx, hid_t file, const char *path, const char *name,
                           int64_t n, int64_t first, int64_t count, int64_t *labels, bool *present,
                           char **names) {
    labels_place p = {
        .ctx = ctx, .file = file, .path = path, .n = n, .categories = -1, .texts = -1};
    ikt_status st = ikt_agree(ctx, find(&p, name));
    *present = st == IKT_OK && ikt_max_one(ctx, p.object[0] != '\0') > 0;
    if (*present) st = read_place(&p, first, count, labels, names);
    ikt_h5_close(p.categories);
    ikt_h5_close(p.texts);
    if (st != IKT_OK) ikt_free(names);
    return st;
}

ikt_status ikt_labels_have_names(ikt_context *ctx, hid_t file, const char *path, const char *name,
                                 bool *named) {
    labels_place p = {.ctx = ctx, .file = file, .path = path, .categories = -1, .texts = -1};
    char *members = NULL;
    ikt_status st = ikt_agree(ctx, find(&p, name));
    if (st == IKT_OK && p.object[0]) st = name_members(&p, &members);
    *named = p.categories >= 0 || p.texts >= 0 || members || p.mask[0];
    ikt_free(&members);
    ikt_h5_close(p.categories);
    ikt_h5_close(p.texts);
    return st;
}

/* A program of others may have left out the end of the last line. */
ikt_status ikt_label_names_read(ikt_context *ctx, hid_t file, const char *path, char **names) {
    char *stored = NULL;
    *names = NULL;
    IKT_TRY(ikt_h5_get_text(ctx, file, "label_names", &stored));
    if (!stored) return IKT_OK;
    const int64_t length = (int64_t)strlen(stored), room = 2 * length + 2;
    const ikt_status st = ikt_alloc(ctx, names, room, 1, "class names");
    if (st == IKT_OK) {
        if (!ikt_utf8_copy(stored, *names, (size_t)room - 1)) ikt_h5_warn_latin1(ctx, path);
        if (length > 0 && stored[length - 1] != '\n') strcat(*names, "\n");
    }
    ikt_free(&stored);
    return st;
}
