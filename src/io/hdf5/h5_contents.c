/* What an HDF5 file holds. */

#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/encoding.h"
#include "io/hdf5/columns.h"
#include "io/hdf5/h5.h"
#include "io/hdf5/sparse_group.h"

/* A list of names with commas between, cut with "..." where they are too many. */
typedef struct {
    char *text;
    size_t size, used;
    int64_t n;      /* entries that labels have; negative: in obs, where all do */
    int64_t narrow; /* columns that tables have at most; 0: any, sparse ones among them */
} listing;

static void add(listing *l, const char *entry) {
    const size_t more = strlen(entry) + 2;
    if (l->used + more + 6 > l->size) {
        if (l->used > 0 && l->text[l->used - 1] != '.')
            l->used += (size_t)snprintf(l->text + l->used, l->size - l->used, ", ...");
        return;
    }
    l->used +=
        (size_t)snprintf(l->text + l->used, l->size - l->used, "%s%s", l->used ? ", " : "", entry);
}

/* Old files have obs and var as tables. */
bool ikt_h5_is_anndata(hid_t file) {
    char text[16];
    if (ikt_h5_has(file, "obs") && ikt_h5_has(file, "var")) return true;
    return strcmp(ikt_h5_short_text(file, "encoding-type", text, sizeof text), "anndata") == 0;
}

bool ikt_h5_is_matlab(hid_t dataset) {
    return ikt_h5_has_attribute(dataset, "MATLAB_class");
}

ikt_status ikt_h5_check_matlab(ikt_context *ctx, hid_t dataset, const char *name) {
    static const char *const numbers[] = {"double", "single", "logical", "int8",  "uint8", "int16",
                                          "uint16", "int32",  "uint32",  "int64", "uint64"};
    char *class = NULL;
    int64_t is_empty = 0;
    bool good = false;
    IKT_TRY(ikt_h5_get_text(ctx, dataset, "MATLAB_class", &class));
    for (size_t c = 0; c < sizeof numbers / sizeof *numbers; c++)
        good |= class && strcmp(class, numbers[c]) == 0;
    good &= !(ikt_h5_get_int(dataset, "MATLAB_empty", &is_empty) && is_empty);
    ikt_status st = IKT_OK;
    if (!good)
        st = ikt_fail(ctx, IKT_ERR_DATA,
                      "%s is %s MATLAB array of class %.40s; a matrix of numbers is needed", name,
                      is_empty ? "an empty" : "a", class ? class : "unknown");
    ikt_free(&class);
    return st;
}

/* --- tables ----------------------------------------------------------------------------------- */

static void visit_group(hid_t file, const char *name, H5L_iterate_t visit, void *self) {
    const hid_t group IKT_AT_END(ikt_h5_end) =
        strcmp(name, "/") == 0 ? H5Gopen2(file, name, H5P_DEFAULT) : ikt_h5_open_group(file, name);
    if (group >= 0) H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, visit, self);
    H5Eclear2(H5E_DEFAULT);
}

bool ikt_h5_is_loom(hid_t file) {
    return ikt_h5_has(file, "matrix") && ikt_h5_has(file, "col_attrs") &&
           ikt_h5_has(file, "row_attrs");
}

bool ikt_h5_is_by_genes(hid_t file, const char *dataset) {
    dataset += strspn(dataset, "/");
    return ikt_h5_is_loom(file) &&
           (strcmp(dataset, "matrix") == 0 || strncmp(dataset, "layers/", 7) == 0);
}

enum { DEPTH_MOST = 4, OBJECTS_MOST = 10000, PANDAS_SIZE = 256 };

/* A walk through the groups of a file. */
typedef struct {
    hid_t file;
    ikt_h5_matrix_visitor *visit;
    void *self;
    char folder[IKT_H5_NAME]; /* "mod/rna/", or "" */
    int depth, objects;
    bool is_flat; /* groups are not gone into */
} walk;

/* Whether a data set is a table of numbers. */
static bool take_table(const walk *w, hid_t dataset, ikt_h5_matrix *m) {
    int64_t size[2];
    ikt_h5_number number;
    const hid_t type IKT_AT_END(ikt_h5_end) = H5Dget_type(dataset);
    const bool is_turned = ikt_h5_is_matlab(dataset) || ikt_h5_is_by_genes(w->file, m->name);
    const int dimensions = ikt_h5_shape(dataset, size);
    char class[16];
    const bool is_char =
        strcmp(ikt_h5_short_text(dataset, "MATLAB_class", class, sizeof class), "char") == 0;
    if (dimensions < 2 || (is_turned && dimensions > 2) || size[0] < 1 || size[1] < 1 || is_char ||
        !ikt_h5_number_of(type, &number))
        return false;
    m->n = size[is_turned];
    m->d = size[!is_turned];
    return true;
}

static bool take_sparse(hid_t group, ikt_h5_matrix *m) {
    int64_t shape[2] = {-1, -1};
    m->is_sparse =
        ikt_h5_has(group, "data") && (ikt_h5_has(group, "indptr") || ikt_h5_has(group, "jc"));
    if (!m->is_sparse) return false;
    m->by_columns = ikt_csc_is_here(group);
    if (!ikt_csr_group_shape(group, shape)) shape[0] = shape[1] = -1;
    m->n = shape[0];
    m->d = shape[1];
    return true;
}

/* A DataFrame, but not the tables of cells and genes, at the root. */
static bool take_frame(hid_t group, size_t used, ikt_h5_matrix *m) {
    char index[128];
    const hid_t order IKT_AT_END(ikt_h5_end) = H5Aopen(group, "column-order", H5P_DEFAULT);
    const hid_t space IKT_AT_END(ikt_h5_end) = order < 0 ? -1 : H5Aget_space(order);
    const hid_t rows IKT_AT_END(ikt_h5_end) =
        ikt_h5_open_dataset(group, ikt_h5_short_text(group, "_index", index, sizeof index));
    m->n = ikt_h5_length(rows);
    m->d = space < 0 ? -1 : (int64_t)H5Sget_simple_extent_npoints(space);
    return used > 0 && m->n > 0 && m->d > 0;
}

static herr_t walk_on(hid_t group, const char *name, const H5L_info_t *info, void *target) {
    walk *w = target;
    const size_t used = strlen(w->folder);
    ikt_h5_matrix m = {.n = -1, .d = -1};
    if (name[0] == '#' || ++w->objects > OBJECTS_MOST || used + strlen(name) + 2 > sizeof m.name)
        return 0;
    const hid_t object IKT_AT_END(ikt_h5_end) = ikt_h5_open_object(group, name);
    const H5I_type_t kind = H5Iget_type(object);
    const bool is_frame = w->is_flat && kind == H5I_GROUP && ikt_h5_is_frame(object);
    memcpy(m.name, w->folder, used);
    strcpy(m.name + used, name);
    if (strcmp(m.name, "row_attrs") == 0 && ikt_h5_is_loom(w->file)) return 0; /* of genes */
    if (kind == H5I_DATASET ? take_table(w, object, &m)
        : is_frame          ? take_frame(object, used, &m)
                            : kind == H5I_GROUP && take_sparse(object, &m)) {
        w->visit(w->self, &m);
    } else if (kind == H5I_GROUP && !w->is_flat && w->depth < DEPTH_MOST &&
               info->type == H5L_TYPE_HARD) {
        strcat(strcpy(w->folder, m.name), "/");
        w->depth++;
        H5Literate(object, H5_INDEX_NAME, H5_ITER_INC, NULL, walk_on, w);
        w->depth--;
        w->folder[used] = '\0';
    }
    return 0;
}

void ikt_h5_visit_matrices(hid_t file, ikt_h5_matrix_visitor *visit, void *self) {
    static const char *const parts[][2] = {
        {"/", ""}, {"raw", "raw/"}, {"layers", "layers/"}, {"obsm", "obsm/"}};
    const bool is_anndata = ikt_h5_is_anndata(file);
    walk w = {.file = file, .visit = visit, .self = self, .is_flat = is_anndata};
    for (size_t p = 0; p < (is_anndata ? sizeof parts / sizeof *parts : 1); p++) {
        strcpy(w.folder, parts[p][1]);
        visit_group(file, parts[p][0], walk_on, &w);
    }
}

static void list_matrix(void *self, const ikt_h5_matrix *m) {
    listing *l = self;
    char entry[IKT_H5_NAME + 64];
    if (l->narrow > 0 && (m->is_sparse || m->d > l->narrow)) return;
    if (m->is_sparse)
        snprintf(entry, sizeof entry, "%s (sparse)", m->name);
    else
        snprintf(entry, sizeof entry, "%s (%lld x %lld)", m->name, (long long)m->n,
                 (long long)m->d);
    add(l, entry);
}

void ikt_h5_list_tables(hid_t file, int64_t narrow, char *text, size_t size) {
    listing l = {.text = text, .size = size, .narrow = narrow};
    text[0] = '\0';
    ikt_h5_visit_matrices(file, list_matrix, &l);
}

/* Names the only matrix of several columns; parts of pandas' tables are never all of one. */
typedef struct {
    char *name; /* [IKT_H5_NAME] */
    int count;
} only;

static void take_only(void *self, const ikt_h5_matrix *m) {
    only *o = self;
    if (m->d == 1) return;
    if (o->count++ == 0) strcpy(o->name, m->name);
    if (strstr(m->name, "block0_values")) o->count = 2;
}

void ikt_h5_usual_matrix(hid_t file, char name[IKT_H5_NAME]) {
    char format[16];
    only o = {.name = name};
    const bool is_anndata = ikt_h5_is_anndata(file), has_x = ikt_h5_has(file, "X");
    const char *usual = "X";
    if (is_anndata && ikt_h5_has(file, "obsm") && ikt_h5_has(file, "obsm/X_pca"))
        usual = "obsm/X_pca";
    else if (ikt_h5_is_loom(file) && !has_x)
        usual = "matrix";
    else if (!is_anndata && !has_x && /* results and models of ours are no data */
             strncmp(ikt_h5_short_text(file, "format", format, sizeof format), "iktsne-", 7) != 0)
        ikt_h5_visit_matrices(file, take_only, &o);
    if (o.count != 1) strcpy(name, usual);
}

/* --- labels ----------------------------------------------------------------------------------- */

/* Columns of obs (l->n negative), whose categories may be groups; beside the rows, data sets of
 * l->n entries, rows and columns of MATLAB among them. */
static herr_t visit_labels(hid_t group, const char *name, const H5L_info_t *info, void *target) {
    (void)info;
    listing *l = target;
    const bool is_obs = l->n < 0;
    if (is_obs && (name[0] == '_' || strcmp(name, "index") == 0)) return 0; /* names of rows */
    const hid_t object IKT_AT_END(ikt_h5_end) = ikt_h5_open_object(group, name);
    const H5I_type_t kind = H5Iget_type(object);
    bool is_label = is_obs && kind == H5I_GROUP;
    if (kind == H5I_DATASET) {
        int64_t size[2];
        const H5T_class_t class = ikt_h5_class(object);
        const int dimensions = ikt_h5_shape(object, size);
        const bool is_line = (dimensions == 1 || dimensions == 2) &&
                             (size[0] == 1 || size[1] == 1) &&
                             (size[0] == 1 ? size[1] : size[0]) == l->n;
        is_label = ikt_h5_is_text(object) && ikt_h5_length(object) == l->n;
        is_label |= (is_obs || is_line) && (class == H5T_INTEGER || class == H5T_ENUM ||
                                            class == H5T_STRING || (!is_obs && class == H5T_FLOAT));
    }
    if (is_label) add(l, name);
    return 0;
}

void ikt_h5_list_labels(hid_t file, int64_t n, char *text, size_t size) {
    listing l = {.text = text, .size = size, .n = n};
    text[0] = '\0';
    visit_group(file, "/", visit_labels, &l);
    if (ikt_h5_is_loom(file)) visit_group(file, "col_attrs", visit_labels, &l);
    l.n = -1;
    if (ikt_h5_is_anndata(file)) visit_group(file, "obs", visit_labels, &l);
}

static herr_t find_matlab(hid_t group, const char *name, const H5L_info_t *info, void *target) {
    (void)info;
    bool *found = target;
    const hid_t object IKT_AT_END(ikt_h5_end) = ikt_h5_open_object(group, name);
    *found |= ikt_h5_is_matlab(object);
    return *found; /* ends the search */
}

bool ikt_h5_is_matlab_file(hid_t file) {
    bool found = false;
    H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, NULL, find_matlab, &found);
    return found;
}

/* The first table of pandas: `target` receives the line of Python that writes what is read. */
static herr_t find_pandas(hid_t group, const char *name, const H5L_info_t *info, void *target) {
    (void)info;
    const hid_t object IKT_AT_END(ikt_h5_end) = ikt_h5_open_object(group, name);
    if (!ikt_h5_has_attribute(object, "pandas_type")) return 0;
    snprintf(target, PANDAS_SIZE,
             "; of a table of pandas, pandas.read_hdf(FILE, '%.100s').to_csv('table.csv', "
             "index=False) writes what is read",
             name);
    return 1; /* ends the search */
}

static herr_t visit_any(hid_t group, const char *name, const H5L_info_t *info, void *target) {
    (void)info;
    char entry[300];
    const hid_t object IKT_AT_END(ikt_h5_end) = ikt_h5_open_object(group, name);
    const bool is_group = H5Iget_type(object) == H5I_GROUP;
    snprintf(entry, sizeof entry, "%.290s%s", name, is_group ? "/" : "");
    add(target, entry);
    return 0;
}

ikt_status ikt_h5_missing(ikt_context *ctx, hid_t file, const char *path, const char *dataset) {
    char text[512] = "", tables[512], pandas[PANDAS_SIZE] = "";
    listing l = {.text = text, .size = sizeof text};
    bool present;
    IKT_TRY(ikt_h5_find(ctx, file, path, dataset, &present));
    visit_group(file, "/", visit_any, &l);
    visit_group(file, "/", find_pandas, pandas);
    ikt_h5_list_tables(file, 0, tables, sizeof tables);
    return ikt_fail(ctx, IKT_ERR_DATA, "%s has no data set '%s'; it holds: %s%s%s%s", path, dataset,
                    ikt_text_or(text, "nothing"), tables[0] ? "; its matrices are: " : "", tables,
                    pandas);
}

ikt_status ikt_h5_no_table(ikt_context *ctx, hid_t file, const char *path, const char *dataset) {
    char tables[1024];
    const bool is_anndata = ikt_h5_is_anndata(file);
    if (!is_anndata && !ikt_h5_is_matlab_file(file))
        return ikt_h5_missing(ctx, file, path, dataset);
    ikt_h5_list_tables(file, 0, tables, sizeof tables);
    return ikt_fail(ctx, IKT_ERR_DATA, "%s is %s file without '%s'; its matrices are: %s", path,
                    is_anndata ? "an AnnData" : "a MATLAB 7.3", dataset,
                    ikt_text_or(tables, "none"));
}
