/* A sparse matrix in a group of an HDF5 file. See source_csr.h. */
#include "io/source_csr.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "dist/row_map.h"
#include "io/h5.h"

enum {
    LEVELS = 15, /* blocks of 2^0 .. 2^14 rows */
    LARGEST = 1 << (LEVELS - 1),
    PIECE = 8 * LARGEST,    /* rows of indptr looked at together */
    BLOCK_ENTRIES = 1 << 20 /* 12 MiB */
};

/* Longer arrays are nobody's: sums of such lengths still fit 64 bits. */
static const hsize_t length_most = (hsize_t)1 << 48;

struct ikt_csr_reader {
    ikt_context *ctx;
    const char *name;
    hid_t group, data, indices, indptr;
    bool wide;      /* values are integers of 64 bits */
    int64_t stored; /* entries there are */
    ikt_csr_facts facts;
};

/* --- opening ---------------------------------------------------------------------------------- */

/* An attribute of two integers. */
static bool get_pair(hid_t object, const char *name, int64_t pair[2]) {
    if (H5Aexists(object, name) <= 0) return false;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    hid_t space = attribute < 0 ? -1 : H5Aget_space(attribute);
    hid_t type = attribute < 0 ? -1 : H5Aget_type(attribute);
    bool good = space >= 0 && type >= 0 && H5Tget_class(type) == H5T_INTEGER &&
                H5Sget_simple_extent_npoints(space) == 2 &&
                H5Aread(attribute, H5T_NATIVE_INT64, pair) >= 0;
    ikt_h5_close(space);
    ikt_h5_close(type);
    ikt_h5_close(attribute);
    return good;
}

static ikt_status refuse_columns(const ikt_csr_reader *csr) {
    return ikt_fail(
        csr->ctx, IKT_ERR_DATA,
        "%s is a sparse matrix stored by columns (CSC); rows are needed: write the file "
        "again after adata.X = adata.X.tocsr(), or use `iktsne convert`",
        csr->name);
}

/* What the attributes say the group is. */
static ikt_status check_kind(const ikt_csr_reader *csr) {
    static const char *const names[] = {"encoding-type", "h5sparse_format"};
    ikt_status st = IKT_OK;
    for (int i = 0; i < 2 && st == IKT_OK; i++) {
        char *text = NULL;
        st = ikt_h5_get_text(csr->ctx, csr->group, names[i], &text);
        if (st == IKT_OK && text && strncmp(text, "csc", 3) == 0)
            st = refuse_columns(csr);
        else if (st == IKT_OK && text && strncmp(text, "csr", 3) != 0)
            st = ikt_fail(csr->ctx, IKT_ERR_DATA,
                          "%s is a group (%.80s) and no sparse matrix of rows (csr_matrix)",
                          csr->name, text);
        ikt_free(&text);
    }
    if (st != IKT_OK || ikt_csr_is_here(csr->group)) return st;
    return ikt_fail(csr->ctx, IKT_ERR_DATA,
                    "%s is a group, but no sparse matrix: it lacks one of data, indices and indptr",
                    csr->name);
}

/* Opens a part, which has to have one dimension, and numbers of up to 64 bits.
 *   type   receives its type, to be closed */
static ikt_status open_part(const ikt_csr_reader *csr, const char *name, bool is_index,
                            hid_t *dataset, hid_t *type, int64_t *length) {
    hsize_t size = 0;
    *type = -1;
    *dataset = H5Dopen2(csr->group, name, H5P_DEFAULT);
    hid_t space = *dataset < 0 ? -1 : H5Dget_space(*dataset);
    *type = *dataset < 0 ? -1 : H5Dget_type(*dataset);
    bool is_line = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                   H5Sget_simple_extent_dims(space, &size, NULL) == 1;
    ikt_h5_close(space);
    H5T_class_t class = *type < 0 ? H5T_NO_CLASS : H5Tget_class(*type);
    bool is_number =
        (class == H5T_INTEGER || (class == H5T_FLOAT && !is_index)) && H5Tget_size(*type) <= 8;
    *length = (int64_t)size;
    if (is_line && is_number && size <= length_most) return IKT_OK;
    return ikt_fail(csr->ctx, IKT_ERR_DATA, "%s/%s is not a list of %s of up to 64 bits", csr->name,
                    name, is_index ? "integers" : "numbers");
}

/* The type of ours that holds every value exactly; bytes become float32, as rows of bytes would
 * have to be dense. */
static void choose_type(ikt_csr_reader *csr, hid_t type) {
    const size_t size = H5Tget_size(type);
    const bool is_float = H5Tget_class(type) == H5T_FLOAT;
    csr->facts.type = size <= (is_float ? 4 : 2) ? IKT_TYPE_F32 : IKT_TYPE_F64;
    csr->wide = !is_float && size == 8;
}

static ikt_status check_shape(ikt_csr_reader *csr) {
    int64_t shape[2];
    if (!get_pair(csr->group, "shape", shape) && !get_pair(csr->group, "h5sparse_shape", shape))
        return ikt_fail(csr->ctx, IKT_ERR_DATA,
                        "%s lacks the attribute 'shape' with the numbers of rows and columns",
                        csr->name);
    if (shape[0] < 1 || shape[1] < 1)
        return ikt_fail(csr->ctx, IKT_ERR_DATA, "%s is empty (%lld x %lld)", csr->name,
                        (long long)shape[0], (long long)shape[1]);
    if ((hsize_t)shape[0] >= length_most || shape[1] > INT32_MAX)
        return ikt_fail(csr->ctx, IKT_ERR_DATA,
                        "%s has %lld rows and %lld columns; up to 2^31 - 1 columns are possible",
                        csr->name, (long long)shape[0], (long long)shape[1]);
    csr->facts.n = shape[0];
    csr->facts.d = shape[1];
    return IKT_OK;
}

static ikt_status check_lengths(const ikt_csr_reader *csr, int64_t indices, int64_t indptr) {
    if (indices != csr->stored)
        return ikt_fail(csr->ctx, IKT_ERR_DATA,
                        "%s is damaged: %lld values in data, but %lld columns in indices",
                        csr->name, (long long)csr->stored, (long long)indices);
    if (indptr - 1 != csr->facts.n)
        return ikt_fail(
            csr->ctx, IKT_ERR_DATA,
            "%s is damaged: indptr has %lld numbers, %lld rows want one more than there "
            "are rows",
            csr->name, (long long)indptr, (long long)csr->facts.n);
    return IKT_OK;
}

static ikt_status open_parts(ikt_csr_reader *csr) {
    hid_t type[3] = {-1, -1, -1};
    int64_t indices = 0, indptr = 0;
    ikt_status st = open_part(csr, "data", false, &csr->data, &type[0], &csr->stored);
    if (st == IKT_OK) choose_type(csr, type[0]);
    if (st == IKT_OK) st = open_part(csr, "indices", true, &csr->indices, &type[1], &indices);
    if (st == IKT_OK) st = open_part(csr, "indptr", true, &csr->indptr, &type[2], &indptr);
    for (int i = 0; i < 3; i++)
        ikt_h5_close(type[i]);
    return st == IKT_OK ? check_lengths(csr, indices, indptr) : st;
}

bool ikt_csr_is_here(hid_t group) {
    return ikt_h5_has(group, "data") && ikt_h5_has(group, "indices") && ikt_h5_has(group, "indptr");
}

ikt_status ikt_csr_open(ikt_context *ctx, hid_t group, const char *name, ikt_csr_reader **out) {
    ikt_status st = ikt_alloc(ctx, out, 1, sizeof **out, "source");
    if (st != IKT_OK) {
        ikt_h5_close(group);
        return st;
    }
    ikt_csr_reader *csr = *out;
    *csr = (ikt_csr_reader){.ctx = ctx, .name = name, .group = group};
    csr->data = csr->indices = csr->indptr = -1;
    st = check_kind(csr);
    if (st == IKT_OK) st = check_shape(csr);
    if (st == IKT_OK) st = open_parts(csr);
    if (st != IKT_OK) ikt_csr_close(out);
    return st;
}

void ikt_csr_close(ikt_csr_reader **csr) {
    if (!*csr) return;
    ikt_h5_close((*csr)->data);
    ikt_h5_close((*csr)->indices);
    ikt_h5_close((*csr)->indptr);
    ikt_h5_close((*csr)->group);
    ikt_free(csr);
}

const ikt_csr_facts *ikt_csr_about(const ikt_csr_reader *csr) {
    return &csr->facts;
}

/* --- indptr ----------------------------------------------------------------------------------- */

/* Whether rows from `first` on begin where they may: start[count + 1]. */
static ikt_status check_starts(const ikt_csr_reader *csr, int64_t first, int64_t count,
                               const int64_t *start) {
    if (first == 0 && count > 0 && start[0] != 0)
        return ikt_fail(csr->ctx, IKT_ERR_DATA, "%s is damaged: indptr begins with %lld, not 0",
                        csr->name, (long long)start[0]);
    for (int64_t i = 0; i < count; i++) {
        if (start[i] > start[i + 1])
            return ikt_fail(csr->ctx, IKT_ERR_DATA,
                            "%s is damaged: indptr descends from %lld to %lld at row %lld",
                            csr->name, (long long)start[i], (long long)start[i + 1],
                            (long long)(first + i));
        if (start[i] < 0 || start[i + 1] > csr->stored)
            return ikt_fail(csr->ctx, IKT_ERR_DATA,
                            "%s is damaged: indptr places row %lld at entries %lld to %lld of %lld",
                            csr->name, (long long)(first + i), (long long)start[i],
                            (long long)start[i + 1], (long long)csr->stored);
    }
    return IKT_OK;
}

/* Entries of the fullest blocks of 2^level rows, of rows that begin at a multiple of LARGEST. */
static void note_blocks(const int64_t *start, int64_t count, int64_t most[LEVELS]) {
    for (int level = 0; level < LEVELS; level++) {
        const int64_t rows = INT64_C(1) << level;
        for (int64_t i = 0; i < count; i += rows) {
            int64_t end = i + rows < count ? i + rows : count;
            if (start[end] - start[i] > most[level]) most[level] = start[end] - start[i];
        }
    }
}

/* COLLECTIVE. This rank's share of indptr, in pieces. */
static ikt_status scan_share(ikt_csr_reader *csr, int64_t rows, int64_t most[LEVELS],
                             int64_t *end) {
    ikt_context *ctx = csr->ctx;
    const ikt_row_map pieces =
        ikt_row_map_make((rows + PIECE - 1) / PIECE, ikt_size(ctx), ikt_rank(ctx));
    int64_t *start = NULL;
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &start, PIECE + 1, sizeof *start, "source"));
    for (int64_t p = 0; st == IKT_OK && p < ikt_row_map_count(&pieces, 0); p++) {
        const int64_t first = p < pieces.count ? (pieces.first + p) * PIECE : 0;
        int64_t count = p < pieces.count ? rows - first : 0;
        if (count > PIECE) count = PIECE;
        st = ikt_h5_read_rows(ctx, csr->indptr, H5T_NATIVE_INT64, first, count > 0 ? count + 1 : 0,
                              start);
        if (st == IKT_OK) st = ikt_agree(ctx, check_starts(csr, first, count, start));
        if (st != IKT_OK || count == 0) continue;
        note_blocks(start, count, most);
        *end = start[count];
    }
    ikt_free(&start);
    return st;
}

ikt_status ikt_csr_scan(ikt_csr_reader *csr, int64_t rows) {
    int64_t most[LEVELS] = {0}, end = 0;
    ikt_csr_facts *facts = &csr->facts;
    IKT_TRY(scan_share(csr, rows > 0 && rows < facts->n ? rows : facts->n, most, &end));
    ikt_max_i64(csr->ctx, most, LEVELS);
    facts->entries = ikt_max_one(csr->ctx, end);
    facts->longest = most[0];
    facts->block = 1;
    for (int level = 1; level < LEVELS && most[level] <= BLOCK_ENTRIES; level++)
        facts->block = INT64_C(1) << level;
    return IKT_OK;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* One row as stored: indices within the columns, values that can be used. */
static ikt_status check_row(const ikt_csr_reader *csr, int64_t row, const int32_t *column,
                            const double *value, int64_t count) {
    for (int64_t e = 0; e < count; e++) {
        if (column[e] < 0 || column[e] >= csr->facts.d)
            return ikt_fail(csr->ctx, IKT_ERR_DATA,
                            "%s is damaged: row %lld has the column %lld, there are %lld",
                            csr->name, (long long)row, (long long)column[e],
                            (long long)csr->facts.d);
        if (!isfinite(value[e]))
            return ikt_fail(csr->ctx, IKT_ERR_DATA,
                            "%s, row %lld, column %lld (counted from 0): value is %s; remove the "
                            "row or replace the value",
                            csr->name, (long long)row, (long long)column[e],
                            isnan(value[e]) ? "NaN (not a number)" : "infinite");
        if (csr->wide && fabs(value[e]) >= 9007199254740992.0)
            return ikt_fail(csr->ctx, IKT_ERR_DATA,
                            "%s, row %lld, column %lld: an integer of 2^53 or more loses digits as "
                            "a floating number; store it otherwise",
                            csr->name, (long long)row, (long long)column[e]);
    }
    return IKT_OK;
}

/* Looks for a row that cannot be used, all threads at once; then says what is wrong with it. */
static ikt_status check_rows(const ikt_csr_reader *csr, int64_t first,
                             const ikt_sparse_rows *rows) {
    int64_t bad = INT64_MAX;
    const int64_t d = csr->facts.d;
    const double most = csr->wide ? 9007199254740992.0 : INFINITY;
#pragma omp parallel for reduction(min : bad) num_threads(ikt_threads(csr->ctx))
    for (int64_t i = 0; i < rows->count; i++) {
        bool good = true;
        for (int64_t e = rows->start[i]; e < rows->start[i + 1]; e++)
            good &= rows->column[e] >= 0 && rows->column[e] < d && fabs(rows->value[e]) < most;
        if (!good && i < bad) bad = i;
    }
    if (bad == INT64_MAX) return IKT_OK;
    const int64_t at = rows->start[bad];
    return check_row(csr, first + bad, rows->column + at, rows->value + at,
                     rows->start[bad + 1] - at);
}

/* Closes the gaps that dropped entries leave. left   [count] entries that each row still has */
static void close_gaps(ikt_sparse_rows *rows, const int64_t *left) {
    int64_t to = 0;
    for (int64_t i = 0; i < rows->count; i++) {
        const int64_t from = rows->start[i];
        if (to != from) {
            memmove(rows->column + to, rows->column + from, (size_t)left[i] * sizeof(int32_t));
            memmove(rows->value + to, rows->value + from, (size_t)left[i] * sizeof(double));
        }
        rows->start[i] = to;
        to += left[i];
    }
    rows->start[rows->count] = to;
}

static bool is_ascending(const ikt_sparse_rows *rows, int64_t i) {
    const int64_t at = rows->start[i];
    return ikt_sparse_is_ascending(rows->column + at, rows->start[i + 1] - at);
}

/* Brings all rows to canonical form. */
static ikt_status order_rows(const ikt_csr_reader *csr, ikt_sparse_rows *rows) {
    ikt_context *ctx = csr->ctx;
    const int threads = ikt_threads(ctx);
    int64_t longest = 0, *left = NULL;
    char *scratch = NULL;
    for (int64_t i = 0; i < rows->count; i++)
        if (rows->start[i + 1] - rows->start[i] > longest && !is_ascending(rows, i))
            longest = rows->start[i + 1] - rows->start[i];
    const int64_t room = ikt_sparse_scratch_bytes(longest);
    ikt_status st = ikt_alloc(ctx, &left, rows->count, sizeof *left, "source");
    if (st == IKT_OK && room > 0) st = ikt_alloc(ctx, &scratch, threads * room, 1, "source");
    if (st == IKT_OK) {
        const int is_single = csr->facts.type == IKT_TYPE_F32;
#pragma omp parallel for num_threads(threads)
        for (int64_t i = 0; i < rows->count; i++) {
            const int64_t at = rows->start[i];
            left[i] = ikt_sparse_canonical(
                rows->column + at, rows->value + at, rows->start[i + 1] - at, is_single,
                is_ascending(rows, i) ? NULL : scratch + omp_get_thread_num() * room);
        }
        close_gaps(rows, left);
    }
    ikt_free(&left);
    ikt_free(&scratch);
    return st;
}

/* COLLECTIVE. Where the rows begin, from 0; *begin: in the file. */
static ikt_status read_starts(ikt_csr_reader *csr, int64_t first, int64_t count,
                              ikt_sparse_rows *rows, int64_t *begin) {
    ikt_context *ctx = csr->ctx;
    IKT_TRY(ikt_agree(ctx, ikt_sparse_rows_reserve(ctx, count, 0, rows)));
    rows->start[0] = 0;
    IKT_TRY(ikt_h5_read_rows(ctx, csr->indptr, H5T_NATIVE_INT64, first, count > 0 ? count + 1 : 0,
                             rows->start));
    IKT_TRY(ikt_agree(ctx, check_starts(csr, first, count, rows->start)));
    *begin = rows->start[0];
    for (int64_t i = 0; i <= count; i++)
        rows->start[i] -= *begin;
    rows->count = count;
    return IKT_OK;
}

ikt_status ikt_csr_read(ikt_csr_reader *csr, int64_t first, int64_t count, ikt_sparse_rows *rows) {
    ikt_context *ctx = csr->ctx;
    int64_t begin = 0;
    rows->count = 0;
    IKT_TRY(read_starts(csr, first, count, rows, &begin));
    const int64_t entries = rows->start[count];
    ikt_status st = ikt_agree(ctx, ikt_sparse_rows_reserve(ctx, count, entries, rows));
    if (st == IKT_OK && csr->stored == 0) return IKT_OK;
    /* Integers that 32 bits do not hold come as the nearest that they do, which is no column. */
    if (st == IKT_OK)
        st = ikt_h5_read_rows(ctx, csr->indices, H5T_NATIVE_INT32, begin, entries, rows->column);
    if (st == IKT_OK)
        st = ikt_h5_read_rows(ctx, csr->data, H5T_NATIVE_DOUBLE, begin, entries, rows->value);
    if (st == IKT_OK) {
        st = check_rows(csr, first, rows);
        if (st == IKT_OK) st = order_rows(csr, rows);
        st = ikt_agree(ctx, st);
    }
    return st;
}
