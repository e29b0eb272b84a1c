/* What an HDF5 file holds. */

#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "io/hdf5/h5.h"

/* A list of names with commas between, cut with "..." where they are too many. */
typedef struct {
    char *text;
    size_t size, used;
    const char *folder; /* "obsm/", or "" */
    int64_t n;          /* entries that labels have; negative: in obs, where all do */
    int64_t narrow;     /* columns that tables have at most; 0: any, sparse ones among them */
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

static herr_t visit_table(hid_t group, const char *name, const H5L_info_t *info, void *target) {
    (void)info;
    listing *l = target;
    int64_t size[2];
    char entry[300] = "";
    const hid_t object IKT_AT_END(ikt_h5_end) = ikt_h5_open_object(group, name);
    const H5I_type_t kind = H5Iget_type(object);
    if (kind == H5I_GROUP && (ikt_h5_has(object, "indptr") || ikt_h5_has(object, "jc")) &&
        ikt_h5_has(object, "data") && l->narrow == 0)
        snprintf(entry, sizeof entry, "%s%.200s (sparse)", l->folder, name);
    if (kind == H5I_DATASET && ikt_h5_shape(object, size) == 2) {
        const H5T_class_t class = ikt_h5_class(object);
        const bool turned = ikt_h5_is_matlab(object);
        const bool fits = l->narrow == 0 || size[!turned] <= l->narrow;
        if (fits && (class == H5T_INTEGER || class == H5T_FLOAT))
            snprintf(entry, sizeof entry, "%s%.200s (%lld x %lld)", l->folder, name,
                     (long long)size[turned], (long long)size[!turned]);
    }
    if (entry[0]) add(l, entry);
    return 0;
}

static void visit_group(hid_t file, const char *name, H5L_iterate_t visit, listing *l) {
    const hid_t group IKT_AT_END(ikt_h5_end) =
        strcmp(name, "/") == 0 ? H5Gopen2(file, name, H5P_DEFAULT) : ikt_h5_open_group(file, name);
    if (group >= 0) H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, visit, l);
    H5Eclear2(H5E_DEFAULT);
}

void ikt_h5_list_tables(hid_t file, int64_t narrow, char *text, size_t size) {
    static const char *const parts[][2] = {
        {"/", ""}, {"raw", "raw/"}, {"layers", "layers/"}, {"obsm", "obsm/"}};
    const bool is_anndata = ikt_h5_is_anndata(file);
    listing l = {.text = text, .size = size, .narrow = narrow};
    text[0] = '\0';
    for (size_t p = 0; p < (is_anndata ? sizeof parts / sizeof *parts : 1); p++) {
        l.folder = parts[p][1];
        visit_group(file, parts[p][0], visit_table, &l);
    }
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
        is_label = (is_obs || is_line) && (class == H5T_INTEGER || class == H5T_ENUM ||
                                           class == H5T_STRING || (!is_obs && class == H5T_FLOAT));
    }
    if (is_label) add(l, name);
    return 0;
}

void ikt_h5_list_labels(hid_t file, int64_t n, char *text, size_t size) {
    listing l = {.text = text, .size = size, .folder = "", .n = n};
    text[0] = '\0';
    visit_group(file, "/", visit_labels, &l);
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
    char text[512] = "";
    listing l = {.text = text, .size = sizeof text};
    bool present;
    IKT_TRY(ikt_h5_find(ctx, file, path, dataset, &present));
    visit_group(file, "/", visit_any, &l);
    return ikt_fail(ctx, IKT_ERR_DATA, "%s has no data set '%s'; it holds: %s", path, dataset,
                    text[0] ? text : "nothing");
}

ikt_status ikt_h5_no_table(ikt_context *ctx, hid_t file, const char *path, const char *dataset) {
    char tables[1024];
    const bool is_anndata = ikt_h5_is_anndata(file);
    if (!is_anndata && !ikt_h5_is_matlab_file(file))
        return ikt_h5_missing(ctx, file, path, dataset);
    ikt_h5_list_tables(file, 0, tables, sizeof tables);
    return ikt_fail(ctx, IKT_ERR_DATA, "%s is %s file without '%s'; its matrices are: %s", path,
                    is_anndata ? "an AnnData" : "a MATLAB 7.3", dataset,
                    tables[0] ? tables : "none");
}
