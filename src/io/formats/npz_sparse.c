/* Sparse matrices of scipy in an archive of numpy, as sparse rows. See numpy.h. */
#include "io/formats/numpy.h"

#ifdef IKT_HAVE_LIBZIP
#include <string.h>

#include "base/memory.h"

enum { NAME_SIZE = 8, BLOCK = 1 << 14 /* numbers */ };

/* One of the arrays, of one axis, that is read in order. All zero: closed. */
typedef struct {
    ikt_context *ctx;
    const char *path, *name; /* for messages; lent */
    ikt_bytes bytes;
    ikt_element element;
    int64_t length, done;
    unsigned char *stored; /* a block as it is stored */
} column;

typedef struct {
    int64_t *starts;        /* csr: [n + 1] */
    column indices, values; /* csr */
    ikt_sparse_block whole; /* csc, coo */
} scipy_self;

/* --- arrays ----------------------------------------------------------------------------------- */

static ikt_status cannot(const column *c, ikt_status status, const char *what) {
    return ikt_fail(c->ctx, status, "%s: the array '%s' of its sparse matrix %s", c->path, c->name,
                    what);
}

/* Errors: IKT_ERR_DATA (not there, not one axis, no numbers), IKT_ERR_FILE (more than the archive
 * can hold). To be closed in any case. */
static ikt_status open_column(const ikt_npz *npz, const char *name, column *c) {
    ikt_npy_header header;
    const ikt_npz_member *member = ikt_npz_find(npz, name);
    *c = (column){.ctx = npz->ctx, .path = npz->path, .name = name};
    if (!member) return cannot(c, IKT_ERR_DATA, "is missing");
    IKT_TRY(ikt_npz_bytes(npz, member, &c->bytes));
    IKT_TRY(ikt_npy_header_read(&c->bytes, &header));
    if (!header.numeric || header.axes != 1)
        return cannot(c, IKT_ERR_DATA, "is not a list of numbers");
    c->element = header.element;
    c->length = header.shape[0];
    const int64_t bytes = ikt_binary_product(c->length, c->element.bytes);
    if (bytes < 0 || c->bytes.size != header.bytes + bytes)
        return cannot(c, IKT_ERR_FILE, "has another length than its header announces");
    return ikt_alloc(c->ctx, &c->stored, BLOCK, sizeof(double), "reader");
}

static void close_column(column *c) {
    ikt_bytes_close(&c->bytes);
    ikt_free(&c->stored);
}

/* The next `count` numbers, as reals or as integers: the other one is NULL. Errors: IKT_ERR_FILE
 * (truncated), IKT_ERR_DATA (too few; not integers; beyond 2^53). */
static ikt_status read_column(column *c, int64_t count, double *reals, int64_t *integers) {
    if (integers && c->element.kind == 'f')
        return cannot(c, IKT_ERR_DATA, "is not one of integers");
    if (count > c->length - c->done) return cannot(c, IKT_ERR_DATA, "is too short");
    for (int64_t first = 0; first < count; first += BLOCK) {
        const int64_t now = count - first < BLOCK ? count - first : BLOCK;
        int64_t got;
        IKT_TRY(ikt_bytes_read(&c->bytes, c->stored, now * c->element.bytes, &got));
        if (got < now * c->element.bytes) return cannot(c, IKT_ERR_FILE, "is truncated");
        for (int64_t i = 0; i < now; i++) {
            double value;
            if (!ikt_element_number(c->element, c->stored + i * c->element.bytes, &value))
                return cannot(c, IKT_ERR_DATA,
                              "holds an integer that no floating number holds exactly");
            if (integers)
                integers[first + i] = (int64_t)value;
            else
                reals[first + i] = value;
        }
        c->done += now;
    }
    return IKT_OK;
}

/* All of an array of integers, in memory of ikt_alloc, the caller's. */
static ikt_status read_whole(const ikt_npz *npz, const char *name, int64_t **values,
                             int64_t *length) {
    column c;
    ikt_status st = open_column(npz, name, &c);
    if (st == IKT_OK) st = ikt_alloc(npz->ctx, values, c.length, sizeof **values, "reader");
    if (st == IKT_OK) st = read_column(&c, c.length, NULL, *values);
    *length = c.length;
    close_column(&c);
    return st;
}

/* --- opening ---------------------------------------------------------------------------------- */

static ikt_status refuse(const ikt_reader *reader, const char *what) {
    return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s: its sparse matrix %s", reader->path, what);
}

/* "csr": a text of bytes, or of characters of four bytes. */
static ikt_status read_format(const ikt_npz *npz, char name[NAME_SIZE]) {
    ikt_npy_header header;
    ikt_bytes bytes;
    char text[4 * NAME_SIZE];
    int64_t got = 0;
    int length = 0;
    IKT_TRY(ikt_npz_bytes(npz, ikt_npz_find(npz, "format"), &bytes));
    ikt_status st = ikt_npy_header_read(&bytes, &header);
    if (st == IKT_OK) st = ikt_bytes_read(&bytes, text, sizeof text, &got);
    ikt_bytes_close(&bytes);
    for (int64_t i = 0; i < got && length + 1 < NAME_SIZE; i++)
        if (text[i] >= 'a' && text[i] <= 'z') name[length++] = text[i];
    name[length] = '\0';
    return st;
}

static ikt_status read_shape(const ikt_npz *npz, ikt_reader *reader) {
    int64_t *shape = NULL, length = 0;
    ikt_status st = read_whole(npz, "shape", &shape, &length);
    if (st == IKT_OK && (length != 2 || shape[0] < 0 || shape[1] < 0))
        st = refuse(reader, "has no shape of two sizes");
    if (st == IKT_OK) {
        reader->n = shape[0];
        reader->d = shape[1];
    }
    ikt_free(&shape);
    return st;
}

/* csr: rows that can be streamed. */
static ikt_status open_rows(const ikt_npz *npz, ikt_reader *reader) {
    scipy_self *self = reader->self;
    int64_t length = 0;
    IKT_TRY(open_column(npz, "indices", &self->indices));
    if (self->indices.length != reader->entries)
        return refuse(reader, "has not as many indices as values: is it damaged?");
    IKT_TRY(read_whole(npz, "indptr", &self->starts, &length));
    const int64_t *starts = self->starts;
    bool good = length == reader->n + 1 && starts[0] == 0 && starts[reader->n] == reader->entries;
    for (int64_t row = 0; row < reader->n && good; row++)
        good = starts[row] <= starts[row + 1];
    if (good) return IKT_OK;
    return refuse(reader, "is damaged: where its rows begin (indptr) does not go with its shape "
                          "and its entries");
}

/* csc or coo, read whole: `indices` are rows, of csc, or both are named. */
static ikt_status open_whole(const ikt_npz *npz, ikt_reader *reader, bool by_columns) {
    scipy_self *self = reader->self;
    const int64_t entries = reader->entries;
    int64_t *rows = NULL, *others = NULL, row_count = 0, other_count = 0;
    double *values = NULL;
    ikt_status st = read_whole(npz, by_columns ? "indices" : "row", &rows, &row_count);
    if (st == IKT_OK) st = read_whole(npz, by_columns ? "indptr" : "col", &others, &other_count);
    if (st == IKT_OK &&
        (row_count != entries || other_count != (by_columns ? reader->d + 1 : entries)))
        st = refuse(reader, "has arrays whose lengths do not go together");
    if (st == IKT_OK) st = ikt_alloc(reader->ctx, &values, entries, sizeof *values, "reader");
    if (st == IKT_OK) st = read_column(&self->values, entries, values, NULL);
    if (st == IKT_OK) {
        const ikt_sparse_triplets all = {.path = reader->path,
                                         .n = reader->n,
                                         .d = reader->d,
                                         .entries = entries,
                                         .rows = rows,
                                         .columns = by_columns ? NULL : others,
                                         .column_starts = by_columns ? others : NULL,
                                         .values = values};
        st = ikt_sparse_whole(reader->ctx, &all, &self->whole);
    }
    reader->entries = self->whole.entries;
    ikt_free(&rows);
    ikt_free(&others);
    ikt_free(&values);
    return st;
}

/* --- reading ---------------------------------------------------------------------------------- */

static ikt_status scipy_read(ikt_reader *reader, int64_t rows, int64_t entries,
                             ikt_sparse_block *block) {
    scipy_self *self = reader->self;
    if (!self->starts)
        return ikt_sparse_whole_read(reader->ctx, &self->whole, reader->done, rows, entries, block);
    const int64_t *starts = self->starts + reader->done;
    int64_t count = 0;
    while (count < rows && (count == 0 || starts[count] - starts[0] < entries))
        count++;
    const int64_t now = starts[count] - starts[0];
    IKT_TRY(ikt_sparse_block_reserve(reader->ctx, block, count, now));
    for (int64_t row = 0; row < count; row++)
        block->ends[row] = starts[row + 1] - starts[0];
    block->rows = count;
    block->entries = now;
    IKT_TRY(read_column(&self->indices, now, NULL, block->columns));
    IKT_TRY(read_column(&self->values, now, block->values, NULL));
    for (int64_t e = 0; e < block->entries; e++)
        if (block->columns[e] < 0 || block->columns[e] >= reader->d)
            return ikt_fail(reader->ctx, IKT_ERR_DATA,
                            "%s: an entry stands in column %lld (counted from 0) of a matrix of "
                            "%lld columns",
                            reader->path, (long long)block->columns[e], (long long)reader->d);
    const int64_t twice = ikt_sparse_block_sort(block);
    if (twice < 0) return IKT_OK;
    return ikt_fail(reader->ctx, IKT_ERR_DATA,
                    "%s, row %lld (counted from 0) has several entries in one column: "
                    "x.sum_duplicates() before saving makes them one",
                    reader->path, (long long)(reader->done + twice));
}

static ikt_status scipy_count(ikt_reader *reader, int64_t rows, int64_t *entries) {
    const scipy_self *self = reader->self;
    *entries = self->starts ? self->starts[rows] : ikt_sparse_block_first(&self->whole, rows);
    return IKT_OK;
}

static void scipy_close(ikt_reader *reader) {
    scipy_self *self = reader->self;
    close_column(&self->indices);
    close_column(&self->values);
    ikt_sparse_block_free(&self->whole);
    ikt_free(&self->starts);
}

static const ikt_reader_ops scipy_ops = {.name = "NPZ",
                                         .self_bytes = sizeof(scipy_self),
                                         .read_sparse = scipy_read,
                                         .count = scipy_count,
                                         .close = scipy_close};

ikt_status ikt_npz_sparse_open(const ikt_npz *npz, ikt_reader **out) {
    char format[NAME_SIZE];
    IKT_TRY(ikt_reader_new(npz->ctx, &scipy_ops, npz->path, out));
    ikt_reader *reader = *out;
    scipy_self *self = reader->self;
    IKT_TRY(read_format(npz, format));
    const bool csr = strcmp(format, "csr") == 0, csc = strcmp(format, "csc") == 0;
    if (!csr && !csc && strcmp(format, "coo") != 0)
        return refuse(reader, "is of another format than csr, csc and coo: save it with "
                              "scipy.sparse.save_npz(FILE, x.tocsr())");
    IKT_TRY(read_shape(npz, reader));
    IKT_TRY(open_column(npz, "data", &self->values));
    reader->sparse = true;
    reader->entries = self->values.length;
    reader->type = ikt_element_type(self->values.element);
    return csr ? open_rows(npz, reader) : open_whole(npz, reader, csc);
}

#endif
