/* Sparse matrices of scipy. See npz.h. */
#include "io/formats/npz.h"

#include <string.h>

#include "base/memory.h"
#include "io/numbers/sparse_block.h"

enum { NAME_SIZE = 8 };

bool ikt_npz_is_sparse(const ikt_npz *npz) {
    return ikt_npz_find(npz, "format") && ikt_npz_find(npz, "shape") && ikt_npz_find(npz, "data");
}

static ikt_status refuse(const ikt_npz_sparse *s, ikt_status status, const char *what) {
    return ikt_fail(s->ctx, status, "%s: its sparse matrix %s", s->path, what);
}

/* "csr": a text of bytes, or of characters of four bytes. */
static ikt_status read_format(const ikt_npz *npz, char name[NAME_SIZE]) {
    ikt_npy_header header;
    ikt_bytes bytes;
    char text[4 * NAME_SIZE];
    int64_t got = 0;
    IKT_TRY(ikt_npz_bytes(npz, ikt_npz_find(npz, "format"), &bytes));
    ikt_status st = ikt_npy_header_read(&bytes, npz->path, &header);
    if (st == IKT_OK) st = ikt_bytes_read(&bytes, text, sizeof text, &got);
    ikt_bytes_close(&bytes);
    int length = 0;
    for (int64_t i = 0; i < got && length + 1 < NAME_SIZE; i++)
        if (text[i] >= 'a' && text[i] <= 'z') name[length++] = text[i];
    name[length] = '\0';
    return st;
}

static ikt_status read_shape(const ikt_npz *npz, ikt_npz_sparse *s) {
    int64_t *shape, length = 0;
    ikt_status st = ikt_npz_column_all(npz, "shape", &shape, &length);
    if (st == IKT_OK && (length != 2 || shape[0] < 0 || shape[1] < 0))
        st = refuse(s, IKT_ERR_DATA, "has no shape of two sizes");
    if (st == IKT_OK) {
        s->n = shape[0];
        s->d = shape[1];
    }
    ikt_free(&shape);
    return st;
}

static ikt_status check_starts(const ikt_npz_sparse *s, int64_t length) {
    bool good = length == s->n + 1 && s->starts[0] == 0 && s->starts[s->n] == s->entries;
    for (int64_t row = 0; row < s->n && good; row++)
        good = s->starts[row] <= s->starts[row + 1];
    return good ? IKT_OK
                : refuse(s, IKT_ERR_DATA,
                         "is damaged: where its rows begin (indptr) does not go with its shape and "
                         "its entries");
}

static ikt_status open_values(const ikt_npz *npz, ikt_npz_sparse *s) {
    IKT_TRY(ikt_npz_column_open(npz, "data", &s->values));
    s->entries = s->values.length;
    s->type = ikt_element_type(s->values.element);
    return IKT_OK;
}

static ikt_status open_rows(const ikt_npz *npz, ikt_npz_sparse *s) {
    int64_t length = 0;
    s->streamed = true;
    IKT_TRY(ikt_npz_column_open(npz, "indices", &s->columns));
    if (s->columns.length != s->entries)
        return refuse(s, IKT_ERR_DATA, "has not as many indices as values: is it damaged?");
    IKT_TRY(ikt_npz_column_all(npz, "indptr", &s->starts, &length));
    return check_starts(s, length);
}

/* Columns or places, read whole: indices are rows, of csc, or both are named. */
typedef struct {
    int64_t *rows, *columns, *starts;
    double *values;
} places;

static ikt_status read_places(const ikt_npz *npz, ikt_npz_sparse *s, bool by_columns, places *p) {
    int64_t rows = 0, others = 0;
    IKT_TRY(ikt_npz_column_all(npz, by_columns ? "indices" : "row", &p->rows, &rows));
    if (by_columns)
        IKT_TRY(ikt_npz_column_all(npz, "indptr", &p->starts, &others));
    else
        IKT_TRY(ikt_npz_column_all(npz, "col", &p->columns, &others));
    if (rows != s->entries || others != (by_columns ? s->d + 1 : s->entries))
        return refuse(s, IKT_ERR_DATA, "has arrays whose lengths do not go together");
    IKT_TRY(ikt_alloc(s->ctx, &p->values, s->entries, sizeof *p->values, "reader"));
    return ikt_npz_column_reals(&s->values, s->entries, p->values);
}

static ikt_status open_whole(const ikt_npz *npz, ikt_npz_sparse *s, bool by_columns) {
    places p = {NULL, NULL, NULL, NULL};
    ikt_status st = read_places(npz, s, by_columns, &p);
    const ikt_sparse_places all = {s->path, s->n,      s->d,     s->entries,
                                   p.rows,  p.columns, p.starts, p.values};
    if (st == IKT_OK) st = ikt_sparse_whole(s->ctx, &all, &s->whole);
    s->entries = s->whole.entries;
    ikt_free(&p.rows);
    ikt_free(&p.columns);
    ikt_free(&p.starts);
    ikt_free(&p.values);
    return st;
}

ikt_status ikt_npz_sparse_open(const ikt_npz *npz, ikt_npz_sparse *s) {
    char format[NAME_SIZE];
    *s = (ikt_npz_sparse){.ctx = npz->ctx, .path = npz->path};
    IKT_TRY(read_format(npz, format));
    const bool csr = strcmp(format, "csr") == 0, csc = strcmp(format, "csc") == 0;
    if (!csr && !csc && strcmp(format, "coo") != 0)
        return refuse(s, IKT_ERR_DATA,
                      "is of another format than csr, csc and coo: save it with "
                      "scipy.sparse.save_npz(FILE, x.tocsr())");
    IKT_TRY(read_shape(npz, s));
    IKT_TRY(open_values(npz, s));
    return csr ? open_rows(npz, s) : open_whole(npz, s, csc);
}

static ikt_status check_columns(const ikt_npz_sparse *s, ikt_sparse_block *block) {
    for (int64_t e = 0; e < block->entries; e++)
        if (block->columns[e] < 0 || block->columns[e] >= s->d)
            return ikt_fail(s->ctx, IKT_ERR_DATA,
                            "%s: an entry stands in column %lld (counted from 0) of a matrix of "
                            "%lld columns",
                            s->path, (long long)block->columns[e], (long long)s->d);
    const int64_t twice = ikt_sparse_block_sort(block);
    if (twice < 0) return IKT_OK;
    return ikt_fail(s->ctx, IKT_ERR_DATA,
                    "%s, row %lld (counted from 0) has several entries in one column: "
                    "x.sum_duplicates() before saving makes them one",
                    s->path, (long long)(s->done + twice));
}

static ikt_status read_rows(ikt_npz_sparse *s, int64_t rows, int64_t entries,
                            ikt_sparse_block *block) {
    const int64_t from = s->starts[s->done];
    int64_t count = 0;
    while (count < rows && (count == 0 || s->starts[s->done + count] - from < entries))
        count++;
    const int64_t now = s->starts[s->done + count] - from;
    IKT_TRY(ikt_sparse_block_room(s->ctx, block, count, now));
    for (int64_t row = 0; row < count; row++)
        block->ends[row] = s->starts[s->done + row + 1] - from;
    block->rows = count;
    block->entries = now;
    IKT_TRY(ikt_npz_column_ints(&s->columns, now, block->columns));
    IKT_TRY(ikt_npz_column_reals(&s->values, now, block->values));
    return check_columns(s, block);
}

ikt_status ikt_npz_sparse_read(ikt_npz_sparse *s, int64_t rows, int64_t entries,
                               ikt_sparse_block *block) {
    IKT_TRY(s->streamed ? read_rows(s, rows, entries, block)
                        : ikt_sparse_whole_read(s->ctx, &s->whole, s->done, rows, entries, block));
    s->done += block->rows;
    return IKT_OK;
}

int64_t ikt_npz_sparse_count(const ikt_npz_sparse *s, int64_t rows) {
    return s->streamed ? s->starts[rows] : ikt_sparse_block_first(&s->whole, rows);
}

void ikt_npz_sparse_close(ikt_npz_sparse *s) {
    ikt_npz_column_close(&s->columns);
    ikt_npz_column_close(&s->values);
    ikt_sparse_block_free(&s->whole);
    ikt_free(&s->starts);
}
