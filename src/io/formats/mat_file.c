/* MATLAB's MAT files. See mat_file.h. */
#include "io/formats/mat_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/sandbox.h"
#include "io/formats/reader.h"

#ifdef IKT_HAVE_MATIO
#include <matio.h>

enum { VARIABLES_MOST = 1000, SHAPE_SIZE = 64, NAME_SIZE = 64 };
static const int64_t bytes_a_second = (int64_t)2 << 20; /* a slow machine does more */
static const int64_t ratio_most = 1032;                 /* of deflate */

/* What there is to choose from. */
typedef struct {
    char name[VARIABLES_MOST][NAME_SIZE], shape[VARIABLES_MOST][SHAPE_SIZE];
    ikt_array array[VARIABLES_MOST];
    int64_t count;
} listing;

static bool element_of(const matvar_t *v, ikt_element *element) {
    static const struct {
        enum matio_classes class;
        ikt_element element;
    } known[] = {{MAT_C_DOUBLE, {'f', 8, false}}, {MAT_C_SINGLE, {'f', 4, false}},
                 {MAT_C_INT8, {'i', 1, false}},   {MAT_C_UINT8, {'u', 1, false}},
                 {MAT_C_INT16, {'i', 2, false}},  {MAT_C_UINT16, {'u', 2, false}},
                 {MAT_C_INT32, {'i', 4, false}},  {MAT_C_UINT32, {'u', 4, false}},
                 {MAT_C_INT64, {'i', 8, false}},  {MAT_C_UINT64, {'u', 8, false}}};
    const uint16_t one = 1;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (known[k].class == v->class_type) {
            *element = known[k].element;
            element->big = *(const unsigned char *)&one == 0;
            return true;
        }
    return false;
}

static bool is_usable(const matvar_t *v) {
    ikt_element element;
    return v->rank == 2 && !v->isComplex && v->dims &&
           (v->class_type == MAT_C_SPARSE || element_of(v, &element));
}

static void list_variable(listing *list, const matvar_t *v) {
    static const char *const classes[] = {
        "empty", "cell",  "struct", "object", "char",   "sparse", "double", "single",  "int8",
        "uint8", "int16", "uint16", "int32",  "uint32", "int64",  "uint64", "function"};
    const size_t class = (size_t)v->class_type;
    char *shape = list->shape[list->count], *name = list->name[list->count];
    snprintf(name, NAME_SIZE, "%.63s", v->name ? v->name : "");
    const bool flat = v->rank == 2 && v->dims;
    snprintf(shape, SHAPE_SIZE, "%lld x %lld, %s%s", flat ? (long long)v->dims[0] : 0,
             flat ? (long long)v->dims[1] : 0, v->isComplex ? "complex " : "",
             class < sizeof classes / sizeof *classes ? classes[class] : "unknown");
    if (!flat) snprintf(shape, SHAPE_SIZE, "%d axes", v->rank);
    const bool usable = is_usable(v);
    list->array[list->count++] =
        (ikt_array){name, usable, usable && v->dims[0] > 1 && v->dims[1] > 1, shape};
}

static ikt_status choose(ikt_context *ctx, const char *path, mat_t *file, const char *name,
                         char chosen[NAME_SIZE]) {
    listing *list;
    int64_t which = -1;
    IKT_TRY(ikt_alloc(ctx, &list, 1, sizeof *list, "reader"));
    for (matvar_t *v = Mat_VarReadNextInfo(file); v; v = Mat_VarReadNextInfo(file)) {
        if (list->count < VARIABLES_MOST && v->name) list_variable(list, v);
        Mat_VarFree(v);
    }
    const ikt_status st = ikt_array_choose(ctx, path, list->array, list->count, name, &which);
    if (st == IKT_OK) memcpy(chosen, list->name[which], NAME_SIZE);
    ikt_free(&list);
    return st;
}

/* What the header announces must be possible for a file of its size: numbers are stored in as
 * little as a byte, and deflated. */
static ikt_status check_size(ikt_context *ctx, const char *path, const matvar_t *v) {
    struct stat about;
    const int64_t n = (int64_t)v->dims[0], d = (int64_t)v->dims[1];
    const int64_t numbers = v->class_type == MAT_C_SPARSE ? d : ikt_binary_product(n, d);
    const int64_t file = stat(path, &about) == 0 ? (int64_t)about.st_size : 0;
    if (n < 0 || d < 0 || n > INT32_MAX || d > INT32_MAX || numbers < 0 ||
        numbers / ratio_most > file)
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s is truncated or damaged: its variable '%s' is said to have %lld x %lld "
                        "numbers, which a file of %lld bytes cannot hold",
                        path, v->name, (long long)n, (long long)d, (long long)file);
    if (numbers <= ikt_memory_available(ctx) / 8) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_RESOURCE,
                    "%s: its variable '%s' takes %.3g GB, and there are %.3g GB", path, v->name,
                    8e-9 * (double)numbers, 1e-9 * (double)ikt_memory_available(ctx));
}

static ikt_status cannot(ikt_context *ctx, const char *path, const char *what) {
    return ikt_fail(ctx, IKT_ERR_FILE, "%s is truncated or damaged: as a MATLAB file %s", path,
                    what);
}

/* The variable with its values, to be freed with Mat_VarFree. */
static ikt_status load(ikt_context *ctx, const char *path, const char *name, matvar_t **out) {
    char chosen[NAME_SIZE];
    *out = NULL;
    mat_t *file = Mat_Open(path, MAT_ACC_RDONLY);
    if (!file) return cannot(ctx, path, "it cannot be opened");
    ikt_status st = choose(ctx, path, file, name, chosen);
    if (st == IKT_OK) Mat_Rewind(file);
    matvar_t *v = st == IKT_OK ? Mat_VarReadInfo(file, chosen) : NULL;
    if (st == IKT_OK && (!v || !is_usable(v))) st = cannot(ctx, path, "it cannot be read");
    if (st == IKT_OK) st = check_size(ctx, path, v);
    if (st == IKT_OK && (Mat_VarReadDataAll(file, v) != 0 || !v->data))
        st = cannot(ctx, path, "its numbers cannot be read");
    Mat_Close(file);
    if (st != IKT_OK && v) Mat_VarFree(v);
    if (st == IKT_OK) *out = v;
    return st;
}

/* What the other process does. It only finds out whether the library survives: what is merely wrong
 * is told here, with the same words. */
typedef struct {
    ikt_context *ctx;
    const char *path, *name;
} trial;

static bool try_file(void *about, char *reason, size_t size) {
    const trial *t = about;
    matvar_t *v;
    (void)reason, (void)size;
    (void)load(t->ctx, t->path, t->name, &v);
    return true;
}

static ikt_status check_survival(ikt_context *ctx, const char *path, const char *name) {
    struct stat about;
    char how[128];
    trial t = {ctx, path, name};
    const int64_t file = stat(path, &about) == 0 ? (int64_t)about.st_size : 0;
    const int64_t seconds = 2 + file / bytes_a_second;
    const ikt_sandbox_limits limits = {seconds, 60 + 10 * seconds, ikt_memory_available(ctx)};
    if (ikt_sandbox(ctx, try_file, &t, &limits, how, sizeof how) != IKT_SANDBOX_DIED) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_FILE,
                    "%s is damaged: the library for MATLAB files %s it; take another copy of the "
                    "file, or save it again",
                    path, how);
}

/* A matrix of the library as one of ours. */
static ikt_status take(ikt_mat_matrix *m, const char *path, matvar_t *v) {
    const int64_t numbers = ikt_binary_product((int64_t)v->dims[0], (int64_t)v->dims[1]);
    m->variable = v;
    m->n = (int64_t)v->dims[0];
    m->d = (int64_t)v->dims[1];
    m->sparse = v->class_type == MAT_C_SPARSE;
    m->values = v->data;
    if (m->sparse || (element_of(v, &m->element) && v->data_size == m->element.bytes &&
                      (int64_t)v->nbytes >= numbers * m->element.bytes))
        return IKT_OK;
    return cannot(m->ctx, path, "a variable has another size than it announces");
}

ikt_status ikt_mat_read(ikt_context *ctx, const char *path, const char *name, ikt_mat_matrix *m) {
    matvar_t *v;
    *m = (ikt_mat_matrix){.ctx = ctx};
    IKT_TRY(ikt_mat_check(ctx, path));
    IKT_TRY(check_survival(ctx, path, name));
    IKT_TRY(load(ctx, path, name, &v));
    return take(m, path, v);
}

/* Values of sparse matrices: doubles, or bytes of truth values. */
static bool sparse_element(const matvar_t *v, ikt_element *element) {
    const bool bytes = v->isLogical || v->data_type == MAT_T_UINT8;
    const uint16_t one = 1;
    *element = (ikt_element){bytes ? 'u' : 'f', bytes ? 1 : 8, *(const unsigned char *)&one == 0};
    return bytes || v->data_type == MAT_T_DOUBLE;
}

static bool is_whole(const ikt_mat_matrix *m, const mat_sparse_t *s) {
    if (!s->jc || (int64_t)s->njc != m->d + 1) return false;
    const int64_t entries = (int64_t)s->jc[m->d];
    return entries == 0 ||
           (s->ir && s->data && entries <= (int64_t)s->nir && entries <= (int64_t)s->ndata);
}

static ikt_status spread(const ikt_mat_matrix *m, const char *path, int64_t *starts, int64_t *rows,
                         double *values, ikt_sparse_block *whole) {
    const mat_sparse_t *s = m->values;
    ikt_element element;
    sparse_element(m->variable, &element);
    for (int64_t column = 0; column <= m->d; column++)
        starts[column] = (int64_t)s->jc[column];
    const int64_t entries = starts[m->d];
    for (int64_t e = 0; e < entries; e++) {
        rows[e] = (int64_t)s->ir[e];
        (void)ikt_element_number(element, (const unsigned char *)s->data + e * element.bytes,
                                 &values[e]);
    }
    const ikt_sparse_places all = {path, m->n, m->d, entries, rows, NULL, starts, values};
    return ikt_sparse_whole(m->ctx, &all, whole);
}

ikt_status ikt_mat_rows(const ikt_mat_matrix *m, const char *path, ikt_sparse_block *whole) {
    const mat_sparse_t *s = m->values;
    ikt_element element;
    int64_t *starts = NULL, *rows = NULL;
    double *values = NULL;
    if (!sparse_element(m->variable, &element) || !is_whole(m, s))
        return cannot(m->ctx, path, "the parts of a sparse matrix do not go together");
    const int64_t entries = (int64_t)s->jc[m->d];
    ikt_status st = ikt_alloc(m->ctx, &starts, m->d + 1, sizeof *starts, "reader");
    if (st == IKT_OK) st = ikt_alloc(m->ctx, &rows, entries, sizeof *rows, "reader");
    if (st == IKT_OK) st = ikt_alloc(m->ctx, &values, entries, sizeof *values, "reader");
    if (st == IKT_OK) st = spread(m, path, starts, rows, values, whole);
    ikt_free(&starts);
    ikt_free(&rows);
    ikt_free(&values);
    return st;
}

void ikt_mat_close(ikt_mat_matrix *m) {
    if (m->variable) Mat_VarFree(m->variable);
    *m = (ikt_mat_matrix){0};
}

#else

ikt_status ikt_mat_read(ikt_context *ctx, const char *path, const char *name,
                        ikt_mat_matrix *matrix) {
    (void)name;
    *matrix = (ikt_mat_matrix){.ctx = ctx};
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s is a MATLAB file, and this program was built without libmatio, which reads "
                    "them: build it with libmatio (Debian package libmatio-dev), or save the "
                    "matrix with -v7.3, or as text",
                    path);
}

ikt_status ikt_mat_rows(const ikt_mat_matrix *matrix, const char *path, ikt_sparse_block *whole) {
    (void)path, (void)whole;
    return ikt_fail(matrix->ctx, IKT_ERR_INTERNAL, "this program was built without libmatio");
}

void ikt_mat_close(ikt_mat_matrix *matrix) {
    (void)matrix;
}

#endif
