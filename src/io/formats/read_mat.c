/* MATLAB's MAT files of versions 5, 6 and 7: a matrix of numbers, full or sparse, whose rows are
 * spread over the whole variable, so that is held in memory. (Version 7.3 is HDF5, another format.)
 *
 * Needs libmatio; a build without it says so when it meets such a file. The library trusts what it
 * reads, so a file goes through two checks before: whether it is whole, and whether the library
 * survives it in another process (base/sandbox.h). It is read three times, which is bearable, as a
 * variable of these versions has at most 2 GB. */
#include <string.h>

#include "io/formats/bytes.h"

static bool mat_probe(const unsigned char *head, int64_t bytes) {
    return bytes >= 128 && memcmp(head, "MATLAB ", 7) == 0;
}

#ifdef IKT_HAVE_MATIO
#include <errno.h>
#include <matio.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/arrays.h"
#include "base/sandbox.h"

/* --- whether the file is whole ---------------------------------------------------------------- */

/* The library takes a matrix that ends too early, or whose compression is damaged, for one of
 * zeros. So the structure is gone through before: the elements of the file, their compression to
 * its end and checksum, the parts of each matrix, and that a matrix has as many numbers as its size
 * says. */

enum { HEADER = 128, MATRIX = 14, PACKED = 15, BLOCK = 1 << 16, AXES_MOST = 32 };
enum { CLASS_SPARSE = 5, CLASS_DOUBLE = 6, CLASS_UINT64 = 15 };

/* The file, and the element at hand: its bytes as they are, or unpacked. */
typedef struct {
    ikt_context *ctx;
    const char *path;
    FILE *file;
    bool big;     /* most significant byte first */
    int64_t left; /* bytes of the element still in the file */
    bool packed, ended;
    z_stream stream;
    unsigned char in[BLOCK], out[BLOCK];
} walk;

typedef struct {
    uint32_t type;
    int64_t bytes, padding; /* of the data; behind them */
} tag;

static ikt_status damaged(const walk *w, const char *what) {
    return ikt_fail(w->ctx, IKT_ERR_FILE,
                    "%s is truncated or damaged: as a MATLAB file %s (near byte %lld)", w->path,
                    what, (long long)ftell(w->file));
}

static uint32_t word(const walk *w, const unsigned char *at) {
    return w->big ? (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]
                  : (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

/* The next bytes of the element as they stand in the file. */
static ikt_status take_stored(walk *w, unsigned char *data, int64_t count) {
    if (count > w->left) return damaged(w, "an element ends too early");
    w->left -= count;
    if (fread(data, 1, (size_t)count, w->file) == (size_t)count) return IKT_OK;
    return damaged(w, "it ends too early");
}

/* Unpacks up to `count` bytes; *got is less where the compression comes to its end. */
static ikt_status unpack(walk *w, unsigned char *data, int64_t count, int64_t *got) {
    w->stream.next_out = data;
    w->stream.avail_out = (uInt)count;
    while (w->stream.avail_out > 0 && !w->ended) {
        if (w->stream.avail_in == 0 && w->left > 0) {
            const int64_t now = w->left < BLOCK ? w->left : BLOCK;
            IKT_TRY(take_stored(w, w->in, now));
            w->stream.next_in = w->in;
            w->stream.avail_in = (uInt)now;
        }
        const int code = inflate(&w->stream, Z_NO_FLUSH);
        w->ended = code == Z_STREAM_END;
        if (code != Z_OK && !w->ended) return damaged(w, "its compression is damaged");
    }
    *got = count - (int64_t)w->stream.avail_out;
    return IKT_OK;
}

static ikt_status take(walk *w, unsigned char *data, int64_t count) {
    int64_t got;
    if (!w->packed) return take_stored(w, data, count);
    IKT_TRY(unpack(w, data, count, &got));
    return got == count ? IKT_OK : damaged(w, "a compressed element ends too early");
}

static ikt_status pass(walk *w, int64_t count) {
    for (; count > 0; count -= BLOCK)
        IKT_TRY(take(w, w->out, count < BLOCK ? count : BLOCK));
    return IKT_OK;
}

/* The tag of a part, of 8 bytes, or of 4 with up to 4 bytes of data behind it. `left` is what the
 * whole has left, from which the part is taken. */
static ikt_status take_tag(walk *w, int64_t *left, tag *t) {
    unsigned char head[4];
    if (*left < 8) return damaged(w, "the parts of a matrix do not fill it");
    IKT_TRY(take(w, head, 4));
    const uint32_t first = word(w, head);
    if (first >> 16) {
        *t = (tag){first & 0xffff, first >> 16, 4 - (int64_t)(first >> 16)};
        *left -= 8;
        return t->padding < 0 ? damaged(w, "a part has an impossible size") : IKT_OK;
    }
    IKT_TRY(take(w, head, 4));
    const int64_t bytes = word(w, head);
    *t = (tag){first, bytes, (8 - bytes % 8) % 8};
    *left -= 8 + bytes;
    if (*left < 0) return damaged(w, "a part is larger than its matrix");
    if (t->padding > *left) t->padding = *left; /* of the last part it may be missing */
    *left -= t->padding;
    return IKT_OK;
}

/* A matrix of `bytes` bytes: flags, sizes and a name, then the parts that its numbers make. What
 * numbers are not made of is only passed over. */
static ikt_status check_matrix(walk *w, int64_t bytes) {
    static const int sizes[] = {0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8, 0, 0, 1, 2, 4};
    unsigned char data[4 * AXES_MOST];
    int64_t left = bytes, numbers = 1;
    tag t;
    if (bytes == 0) return IKT_OK;
    IKT_TRY(take_tag(w, &left, &t));
    if (t.bytes != 8) return damaged(w, "a matrix has no flags");
    IKT_TRY(take(w, data, 8));
    const unsigned class = word(w, data) & 0xff;
    IKT_TRY(take_tag(w, &left, &t));
    if (t.bytes > (int64_t)sizeof data || t.bytes % 4 != 0)
        return damaged(w, "a matrix has no sizes");
    IKT_TRY(take(w, data, t.bytes));
    IKT_TRY(pass(w, t.padding));
    for (int64_t at = 0; at < t.bytes; at += 4) {
        const uint32_t size = word(w, data + at);
        numbers = size > INT32_MAX ? -1 : ikt_binary_product(numbers, size);
    }
    if (numbers < 0) return damaged(w, "a matrix has an impossible size");
    IKT_TRY(take_tag(w, &left, &t));
    IKT_TRY(pass(w, t.bytes + t.padding));
    while (class >= CLASS_SPARSE && class <= CLASS_UINT64 && left > 0) {
        IKT_TRY(take_tag(w, &left, &t));
        const int size = t.type < sizeof sizes / sizeof *sizes ? sizes[t.type] : 0;
        if (size == 0 || t.bytes % size != 0 ||
            (class >= CLASS_DOUBLE && t.bytes / size != numbers))
            return damaged(w, "a matrix has not the numbers that its size announces");
        IKT_TRY(pass(w, t.bytes + t.padding));
    }
    return pass(w, left);
}

/* Up to the end of the compression, where its checksum stands. */
static ikt_status check_unpacked(walk *w) {
    unsigned char head[8];
    int64_t more;
    IKT_TRY(take(w, head, 8));
    if (word(w, head) != MATRIX) return damaged(w, "an element holds no matrix");
    IKT_TRY(check_matrix(w, word(w, head + 4)));
    IKT_TRY(unpack(w, head, 1, &more));
    return more == 0 ? IKT_OK : damaged(w, "a compressed element does not end with its matrix");
}

static ikt_status check_packed(walk *w) {
    w->stream = (z_stream){.next_in = NULL};
    if (inflateInit(&w->stream) != Z_OK)
        return ikt_fail(w->ctx, IKT_ERR_RESOURCE, "%s: no memory to unpack it", w->path);
    w->packed = true;
    w->ended = false;
    const ikt_status st = check_unpacked(w);
    inflateEnd(&w->stream);
    w->packed = false;
    return st;
}

static ikt_status check_elements(walk *w) {
    unsigned char head[HEADER];
    if (fread(head, 1, HEADER, w->file) != HEADER) return damaged(w, "it ends in its header");
    if (memcmp(head + 126, "IM", 2) != 0 && memcmp(head + 126, "MI", 2) != 0)
        return damaged(w, "it does not tell its byte order");
    w->big = head[126] == 'M';
    for (;;) {
        const size_t got = fread(head, 1, 8, w->file);
        if (got == 0) return IKT_OK;
        if (got < 8) return damaged(w, "it ends too early");
        w->left = word(w, head + 4);
        const uint32_t type = word(w, head);
        if (type != PACKED && type != MATRIX) return damaged(w, "an element is of no known type");
        IKT_TRY(type == PACKED ? check_packed(w) : check_matrix(w, w->left));
        IKT_TRY(pass(w, w->left));
    }
}

static ikt_status check_whole(ikt_context *ctx, const char *path) {
    IKT_ARRAYS(held, ctx, "reader");
    walk *w = ikt_claim(&held, 1, sizeof *w);
    IKT_TRY(held.status);
    w->ctx = ctx;
    w->path = path;
    w->file = fopen(path, "rb");
    if (!w->file)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, strerror(errno));
    const ikt_status st = check_elements(w);
    fclose(w->file);
    return st;
}

/* --- the variable that is meant --------------------------------------------------------------- */

enum { VARIABLES_MOST = 1000, SHAPE_SIZE = 64, NAME_SIZE = 64 };

/* What there is to choose from. */
typedef struct {
    char name[VARIABLES_MOST][NAME_SIZE], shape[VARIABLES_MOST][SHAPE_SIZE];
    ikt_array array[VARIABLES_MOST];
    bool is_single[VARIABLES_MOST]; /* one value */
    int64_t count;
} listing;

static ikt_status cannot(ikt_context *ctx, const char *path, const char *what) {
    return ikt_fail(ctx, IKT_ERR_FILE, "%s is truncated or damaged: as a MATLAB file %s", path,
                    what);
}

/* bytes = 0 where these are no numbers. */
static ikt_element element_of(const matvar_t *v) {
    static const ikt_element known[] = {
        [MAT_C_DOUBLE] = {'f', 8, false}, [MAT_C_SINGLE] = {'f', 4, false},
        [MAT_C_INT8] = {'i', 1, false},   [MAT_C_UINT8] = {'u', 1, false},
        [MAT_C_INT16] = {'i', 2, false},  [MAT_C_UINT16] = {'u', 2, false},
        [MAT_C_INT32] = {'i', 4, false},  [MAT_C_UINT32] = {'u', 4, false},
        [MAT_C_INT64] = {'i', 8, false},  [MAT_C_UINT64] = {'u', 8, false}};
    const size_t class = (size_t)v->class_type;
    if (class >= sizeof known / sizeof *known) return (ikt_element){0};
    return ikt_element_native(known[class].kind, known[class].bytes);
}

static bool is_usable(const matvar_t *v) {
    return v->rank == 2 && !v->isComplex && v->dims &&
           (v->class_type == MAT_C_SPARSE || element_of(v).bytes > 0);
}

static void list_variable(listing *list, const matvar_t *v) {
    static const char *const classes[] = {
        "empty", "cell",  "struct", "object", "char",   "sparse", "double", "single",  "int8",
        "uint8", "int16", "uint16", "int32",  "uint32", "int64",  "uint64", "function"};
    const size_t class = (size_t)v->class_type;
    char *shape = list->shape[list->count], *name = list->name[list->count];
    snprintf(name, NAME_SIZE, "%.63s", v->name);
    if (v->rank == 2 && v->dims)
        snprintf(shape, SHAPE_SIZE, "%lld x %lld, %s%s", (long long)v->dims[0],
                 (long long)v->dims[1], v->isComplex ? "complex " : "",
                 class < sizeof classes / sizeof *classes ? classes[class] : "unknown");
    else
        snprintf(shape, SHAPE_SIZE, "%d axes", v->rank);
    const bool usable = is_usable(v);
    list->is_single[list->count] = usable && v->dims[0] * v->dims[1] == 1;
    list->array[list->count++] =
        (ikt_array){name, usable, usable && v->dims[0] > 1 && v->dims[1] > 1, shape};
}

static void list_variables(mat_t *file, listing *list) {
    for (matvar_t *v = Mat_VarReadNextInfo(file); v; v = Mat_VarReadNextInfo(file)) {
        if (list->count < VARIABLES_MOST && v->name) list_variable(list, v);
        Mat_VarFree(v);
    }
}

static ikt_status choose(ikt_context *ctx, const char *path, mat_t *file, const char *name,
                         char chosen[NAME_SIZE]) {
    IKT_ARRAYS(held, ctx, "reader");
    listing *list = ikt_claim(&held, 1, sizeof *list);
    int64_t which = -1;
    IKT_TRY(held.status);
    list_variables(file, list);
    IKT_TRY(ikt_array_choose(ctx, path, list->array, list->count, name, &which));
    memcpy(chosen, list->name[which], NAME_SIZE);
    return IKT_OK;
}

static int64_t bytes_of_file(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 ? (int64_t)about.st_size : 0;
}

/* What the header announces must be possible for a file of its size: numbers are stored in as
 * little as a byte, and deflated. */
static ikt_status check_size(ikt_context *ctx, const char *path, const matvar_t *v) {
    const int64_t n = (int64_t)v->dims[0], d = (int64_t)v->dims[1], file = bytes_of_file(path);
    const int64_t numbers = v->class_type == MAT_C_SPARSE ? d : ikt_binary_product(n, d);
    if (n < 0 || d < 0 || n > INT32_MAX || d > INT32_MAX || numbers < 0 ||
        numbers / IKT_DEFLATE_MOST > file)
        return ikt_fail(ctx, IKT_ERR_FILE,
                        "%s is truncated or damaged: its variable '%s' is said to have %lld x %lld "
                        "numbers, which a file of %lld bytes cannot hold",
                        path, v->name, (long long)n, (long long)d, (long long)file);
    if (numbers <= ikt_memory_available(ctx) / 8) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_RESOURCE,
                    "%s: its variable '%s' takes %.3g GB, and there are %.3g GB", path, v->name,
                    8e-9 * (double)numbers, 1e-9 * (double)ikt_memory_available(ctx));
}

static ikt_status load_from(ikt_context *ctx, const char *path, mat_t *file, const char *name,
                            matvar_t **out) {
    char chosen[NAME_SIZE];
    IKT_TRY(choose(ctx, path, file, name, chosen));
    Mat_Rewind(file);
    *out = Mat_VarReadInfo(file, chosen);
    if (!*out || !is_usable(*out)) return cannot(ctx, path, "it cannot be read");
    IKT_TRY(check_size(ctx, path, *out));
    if (Mat_VarReadDataAll(file, *out) == 0 && (*out)->data) return IKT_OK;
    return cannot(ctx, path, "its numbers cannot be read");
}

/* The variable with its values, to be freed with Mat_VarFree. */
static ikt_status load(ikt_context *ctx, const char *path, const char *name, matvar_t **out) {
    *out = NULL;
    mat_t *file = Mat_Open(path, MAT_ACC_RDONLY);
    if (!file) return cannot(ctx, path, "it cannot be opened");
    const ikt_status st = load_from(ctx, path, file, name, out);
    Mat_Close(file);
    if (st == IKT_OK || !*out) return st;
    Mat_VarFree(*out);
    *out = NULL;
    return st;
}

/* --- whether the library survives ------------------------------------------------------------- */

typedef struct {
    ikt_context *ctx;
    const char *path, *name; /* name: of the variable that is loaded; NULL: they are listed */
} sandboxed;

/* The variables of a file, without their values. */
static ikt_status list_file(ikt_context *ctx, const char *path, listing *list) {
    mat_t *file = Mat_Open(path, MAT_ACC_RDONLY);
    list->count = 0;
    if (!file) return cannot(ctx, path, "it cannot be opened");
    list_variables(file, list);
    Mat_Close(file);
    return IKT_OK;
}

/* In the other process. It only finds out whether the library survives: what is merely wrong is
 * told later, with the same words. */
static bool try_file(void *about, char *reason, size_t size) {
    const sandboxed *s = about;
    matvar_t *v;
    (void)reason, (void)size;
    if (s->name) {
        (void)load(s->ctx, s->path, s->name, &v);
        return true;
    }
    IKT_ARRAYS(held, s->ctx, "reader");
    listing *list = ikt_claim(&held, 1, sizeof *list);
    if (held.status == IKT_OK) (void)list_file(s->ctx, s->path, list);
    return true;
}

static ikt_status check_survival(ikt_context *ctx, const char *path, const char *name) {
    const int64_t bytes_a_second = (int64_t)2 << 20; /* a slow machine does more */
    char how[128];
    sandboxed s = {ctx, path, name};
    const int64_t seconds = 2 + bytes_of_file(path) / bytes_a_second;
    const ikt_sandbox_limits limits = {seconds, 60 + 10 * seconds, ikt_memory_available(ctx)};
    if (ikt_sandbox(ctx, try_file, &s, &limits, how, sizeof how) != IKT_SANDBOX_DIED) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_FILE,
                    "%s is damaged: the library for MATLAB files %s it; take another copy of the "
                    "file, or save it again",
                    path, how);
}

/* --- the reader ------------------------------------------------------------------------------- */

typedef struct {
    matvar_t *variable; /* of a dense one */
} mat_self;

/* The rows of a sparse matrix of doubles, or of bytes of truth values, which stands by columns. */
static ikt_status take_sparse(ikt_reader *reader, const matvar_t *v) {
    const mat_sparse_t *s = v->data;
    const int64_t d = reader->d;
    const bool bytes = v->isLogical || v->data_type == MAT_T_UINT8;
    const ikt_element element = ikt_element_native(bytes ? 'u' : 'f', bytes ? 1 : 8);
    bool good = (bytes || v->data_type == MAT_T_DOUBLE) && s->jc && (int64_t)s->njc == d + 1;
    const int64_t entries = good ? (int64_t)s->jc[d] : 0;
    good = good && (entries == 0 || (s->ir && s->data && entries <= (int64_t)s->nir &&
                                     entries <= (int64_t)s->ndata));
    if (!good)
        return cannot(reader->ctx, reader->path, "the parts of a sparse matrix do not go together");
    IKT_ARRAYS(held, reader->ctx, "reader");
    int64_t *starts = ikt_claim(&held, d + 1, sizeof *starts);
    int64_t *rows = ikt_claim(&held, entries, sizeof *rows);
    double *values = ikt_claim(&held, entries, sizeof *values);
    IKT_TRY(held.status);
    for (int64_t column = 0; column <= d; column++)
        starts[column] = (int64_t)s->jc[column];
    for (int64_t e = 0; e < entries; e++) {
        rows[e] = (int64_t)s->ir[e];
        (void)ikt_element_number(element, (const unsigned char *)s->data + e * element.bytes,
                                 &values[e]);
    }
    const ikt_sparse_triplets all = {.path = reader->path,
                                     .n = reader->n,
                                     .d = d,
                                     .entries = entries,
                                     .rows = rows,
                                     .column_starts = starts,
                                     .values = values};
    return ikt_sparse_whole(reader->ctx, &all, &reader->whole);
}

static ikt_status mat_open(ikt_reader *reader, const ikt_reader_options *options) {
    mat_self *self = reader->self;
    matvar_t *v;
    IKT_TRY(check_whole(reader->ctx, reader->path));
    IKT_TRY(check_survival(reader->ctx, reader->path, options->array ? options->array : ""));
    IKT_TRY(load(reader->ctx, reader->path, options->array, &v));
    reader->n = (int64_t)v->dims[0];
    reader->d = (int64_t)v->dims[1];
    reader->sparse = v->class_type == MAT_C_SPARSE;
    if (reader->sparse) {
        const ikt_status st = take_sparse(reader, v);
        Mat_VarFree(v);
        reader->type = IKT_TYPE_F64;
        reader->entries = reader->whole.entries;
        return st;
    }
    self->variable = v;
    const ikt_element element = element_of(v);
    reader->type = ikt_element_type(element);
    if (v->data_size == element.bytes &&
        (int64_t)v->nbytes >= ikt_binary_product(reader->n, reader->d) * element.bytes)
        return IKT_OK;
    return cannot(reader->ctx, reader->path, "a variable has another size than it announces");
}

static ikt_status mat_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels) {
    const matvar_t *v = ((const mat_self *)reader->self)->variable;
    const ikt_binary array = {.element = element_of(v), .stored = v->data};
    (void)labels;
    return ikt_binary_turn(reader, &array, count, rows);
}

static ikt_status mat_list(ikt_context *ctx, const char *path, ikt_array_visitor *visit,
                           void *self) {
    IKT_ARRAYS(held, ctx, "reader");
    listing *list = ikt_claim(&held, 1, sizeof *list);
    IKT_TRY(held.status);
    IKT_TRY(check_whole(ctx, path));
    IKT_TRY(check_survival(ctx, path, NULL));
    IKT_TRY(list_file(ctx, path, list));
    for (int64_t k = 0; k < list->count; k++) {
        list->array[k].usable &= !list->is_single[k]; /* no labels are a single value */
        visit(self, &list->array[k]);
    }
    return IKT_OK;
}

static void mat_close(ikt_reader *reader) {
    mat_self *self = reader->self;
    if (self->variable) Mat_VarFree(self->variable);
}

const ikt_reader_ops ikt_reader_mat = {
    .name = "MATLAB",
    .self_bytes = sizeof(mat_self),
    .labels_are = "labels are a variable of it (--label-array) or of another file "
                  "(--labels FILE:NAME)",
    .has_arrays = true,
    .probe = mat_probe,
    .open = mat_open,
    .read = mat_read,
    .list = mat_list,
    .close = mat_close,
};

#else

static ikt_status mat_open(ikt_reader *reader, const ikt_reader_options *options) {
    (void)options;
    return ikt_fail(reader->ctx, IKT_ERR_DATA,
                    "%s is a MATLAB file, and this program was built without libmatio, which reads "
                    "them: build it with libmatio (Debian package libmatio-dev), or save the "
                    "matrix with -v7.3, or as text",
                    reader->path);
}

const ikt_reader_ops ikt_reader_mat = {
    .name = "MATLAB", .has_arrays = true, .probe = mat_probe, .open = mat_open};

#endif
