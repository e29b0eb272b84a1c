/* Ranges of rows of HDF5 data sets, and of columns as rows.
 *
 * A transfer is prepared and agreed on before the first collective call, because HDF5 waits for
 * ever where one rank stays away; then all ranks take the same number of steps, each of less data
 * than an MPI count can express. Writing and reading contiguous data is collective. Chunks are read
 * independently: collectively, ranks that meet a chunk that was never written leave the others
 * waiting (HDF5 1.10), and it is no faster, as chunks are large and filtered one by one.
 *
 * Columns as rows: of matrices that were stored transposed. A column is spread over the whole data
 * set, so it is read in tiles: some of its rows by many of its columns, each a piece as long as the
 * caller's range allows, and turned in memory. Every rank reads alone: what two ranks want of a row
 * are pieces far apart. Disadvantage: where the range is short, so are the pieces; where there are
 * chunks, those that hold a range should fit in the cache of chunks, or they are unpacked again for
 * the next range. */

#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "io/hdf5/h5.h"

static const int64_t piece_most = (int64_t)1 << 27, chunk_bytes = (int64_t)1 << 20;

typedef struct {
    hid_t dataset, type, space, list;
    int dimensions;
    hsize_t size[H5S_MAX_RANK]; /* rows, columns; or what a row has in place of columns */
    int64_t row_bytes;
    char name[512];
} transfer;

bool ikt_h5_has_storage(hid_t dataset) {
    H5D_space_status_t status = H5D_SPACE_STATUS_NOT_ALLOCATED;
    const hid_t space IKT_AT_END(ikt_h5_end) = H5Dget_space(dataset);
    const bool is_empty = space >= 0 && H5Sget_simple_extent_npoints(space) == 0;
    return is_empty ||
           (H5Dget_space_status(dataset, &status) >= 0 && status != H5D_SPACE_STATUS_NOT_ALLOCATED);
}

/* Whether rows (or columns), of which there are n, can be read or written. */
static ikt_status check_request(ikt_context *ctx, hid_t dataset, const char *name, const char *what,
                                int64_t n, int64_t first, int64_t count, bool reading) {
    /* The parts of a virtual one are looked for once in each pass over it. Several ranks all ask,
     * since HDF5 copies a communicator where it is asked for the layout of one. */
    if (reading && (first == 0 || ikt_size(ctx) > 1))
        IKT_TRY(ikt_h5_check_parts(ctx, dataset, name));
    /* From a data set without storage HDF5 returns at once on the ranks that want rows, and waits
     * on those that want none: one that was created but never written is refused instead. */
    if (reading && !ikt_h5_has_storage(dataset) && !ikt_h5_is_virtual(dataset))
        return ikt_fail(ctx, IKT_ERR_DATA, "%s was created but never written: it holds no values",
                        name);
    if (first >= 0 && count >= 0 && first <= n && count <= n - first) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_INTERNAL, "%s: %s %lld to %lld were asked for; it has %lld", name,
                    what, (long long)first, (long long)(first + count - 1), (long long)n);
}

static ikt_status transfer_begin(ikt_context *ctx, transfer *t, int64_t first, int64_t count,
                                 bool reading) {
    char reason[256];
    ikt_h5_name(t->dataset, t->name, sizeof t->name);
    t->list = H5Pcreate(H5P_DATASET_XFER);
    t->space = H5Dget_space(t->dataset);
    t->dimensions = t->space < 0 ? -1 : H5Sget_simple_extent_ndims(t->space);
    hid_t layout = H5Dget_create_plist(t->dataset);
    const bool is_chunked = layout >= 0 && H5Pget_layout(layout) == H5D_CHUNKED;
    ikt_h5_close(layout);
    const H5FD_mpio_xfer_t mode =
        is_chunked && reading ? H5FD_MPIO_INDEPENDENT : H5FD_MPIO_COLLECTIVE;
    int64_t shape[2];
    bool good = t->dimensions >= 1 && t->list >= 0 &&
                H5Sget_simple_extent_dims(t->space, t->size, NULL) == t->dimensions &&
                ((reading && ikt_size(ctx) == 1) || ikt_is_alone(ctx) ||
                 H5Pset_dxpl_mpio(t->list, mode) >= 0);
    if (!good)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be used: %s", t->name,
                        ikt_h5_reason(reason, sizeof reason));
    (void)ikt_h5_shape(t->dataset, shape);
    const hsize_t rows = t->size[0], columns = (hsize_t)shape[1];
    if (rows > INT64_MAX >> 4 || columns > (hsize_t)(INT64_MAX >> 4) / (rows > 0 ? rows : 1))
        return ikt_fail(
            ctx, IKT_ERR_DATA,
            "%s announces %llu rows of %llu columns, which is more than any file holds: "
            "is it damaged?",
            t->name, (unsigned long long)rows, (unsigned long long)columns);
    t->row_bytes = (int64_t)H5Tget_size(t->type) * (int64_t)columns;
    return check_request(ctx, t->dataset, t->name, "rows", (int64_t)rows, first, count, reading);
}

/* One collective step, in which a rank without rows takes part; `reason` tells why it failed. */
static bool transfer_step(ikt_context *ctx, const transfer *t, int64_t first, int64_t count,
                          void *read_to, const void *write_from, char reason[256]) {
    const hsize_t start[H5S_MAX_RANK] = {(hsize_t)first};
    hsize_t part[H5S_MAX_RANK];
    char nothing = 0;
    memcpy(part, t->size, sizeof part);
    part[0] = (hsize_t)count;
    const hid_t here IKT_AT_END(ikt_h5_end) =
        H5Screate_simple(t->dimensions, count > 0 ? part : t->size, NULL);
    const bool is_selected =
        here >= 0 &&
        (count > 0 ? H5Sselect_hyperslab(t->space, H5S_SELECT_SET, start, NULL, part, NULL) >= 0
                   : H5Sselect_none(t->space) >= 0 && H5Sselect_none(here) >= 0);
    /* There is no way back from here: the other ranks are on their way into the transfer. */
    if (!is_selected) ikt_abort(ctx, "HDF5 cannot select rows");
    herr_t outcome = write_from ? H5Dwrite(t->dataset, t->type, here, t->space, t->list, write_from)
                                : H5Dread(t->dataset, t->type, here, t->space, t->list,
                                          read_to ? read_to : &nothing);
    if (outcome < 0) ikt_h5_reason(reason, 256);
    return outcome >= 0;
}

static ikt_status transfer_rows(ikt_context *ctx, hid_t dataset, hid_t type, int64_t first,
                                int64_t count, char *read_to, const char *write_from) {
    transfer t = {.dataset = dataset, .type = type, .space = -1, .list = -1};
    ikt_status st = ikt_agree(ctx, transfer_begin(ctx, &t, first, count, write_from == NULL));
    const int64_t piece = ikt_piece_bytes(ctx) < piece_most ? ikt_piece_bytes(ctx) : piece_most;
    const int64_t rows = t.row_bytes > 0 && piece > t.row_bytes ? piece / t.row_bytes : 1;
    const int64_t steps = st == IKT_OK ? ikt_max_one(ctx, (count + rows - 1) / rows) : 0;
    for (int64_t step = 0; step < steps && (st == IKT_OK || !write_from); step++) {
        char reason[256];
        const int64_t done = step * rows < count ? step * rows : count;
        const int64_t now = count - done < rows ? count - done : rows;
        const int64_t offset = now > 0 ? done * t.row_bytes : 0;
        if (!transfer_step(ctx, &t, first + done, now, read_to ? read_to + offset : NULL,
                           write_from ? write_from + offset : NULL, reason) &&
            (st = ikt_h5_check_filters(ctx, dataset, t.name)) == IKT_OK)
            st = ikt_fail(ctx, IKT_ERR_FILE, "%s: rows %lld to %lld cannot be %s: %s", t.name,
                          (long long)(first + done), (long long)(first + done + now - 1),
                          write_from ? "written" : "read", reason);
        if (write_from) st = ikt_h5_agree(ctx, dataset, st);
    }
    if (!write_from) st = ikt_agree(ctx, st);
    ikt_h5_close(t.space);
    ikt_h5_close(t.list);
    return st;
}

ikt_status ikt_h5_read_rows(ikt_context *ctx, hid_t dataset, hid_t type, int64_t first,
                            int64_t count, void *rows) {
    return transfer_rows(ctx, dataset, type, first, count, rows, NULL);
}

ikt_status ikt_h5_write_rows(ikt_context *ctx, hid_t dataset, hid_t type, int64_t first,
                             int64_t count, const void *rows) {
    return transfer_rows(ctx, dataset, type, first, count, NULL, rows ? rows : "");
}

/* --- types of numbers ------------------------------------------------------------------------- */

bool ikt_h5_number_of(hid_t type, ikt_h5_number *number) {
    const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    const size_t size = type < 0 ? 0 : H5Tget_size(type);
    const bool is_truth = class == H5T_ENUM && size == 1;
    if (!is_truth && ((class != H5T_INTEGER && class != H5T_FLOAT) || size > 8)) return false;
    const H5T_sign_t sign = class == H5T_INTEGER ? H5Tget_sign(type) : H5T_SGN_ERROR;
    const bool is_byte = is_truth || (class == H5T_INTEGER && size == 1 && sign == H5T_SGN_NONE);
    const size_t exact = class == H5T_FLOAT ? 4 : 2; /* bytes that float32 holds exactly */
    *number = (ikt_h5_number){
        .type = is_byte         ? IKT_TYPE_U8
                : size <= exact ? IKT_TYPE_F32
                                : IKT_TYPE_F64,
        .is_integer = class == H5T_INTEGER,
        .is_short = class == H5T_INTEGER && (size < 4 || (size == 4 && sign == H5T_SGN_2)),
        .is_wide = class == H5T_INTEGER && size == 8,
        .is_unsigned = class == H5T_INTEGER && size == 8 && sign == H5T_SGN_NONE,
        .is_truth = is_truth};
    return true;
}

hid_t ikt_h5_integer_type(const ikt_h5_number *number) {
    return number->is_unsigned ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64;
}

hid_t ikt_h5_memory_type(ikt_type type) {
    return type == IKT_TYPE_U8    ? H5T_NATIVE_UINT8
           : type == IKT_TYPE_F32 ? H5T_NATIVE_FLOAT
                                  : H5T_NATIVE_DOUBLE;
}

/* --- creating --------------------------------------------------------------------------------- */

/* Rows of a chunk, as many as it takes to hold about 1 MiB. */
static int64_t chunk_rows(int64_t n, int64_t row_bytes) {
    int64_t rows = chunk_bytes > row_bytes ? chunk_bytes / row_bytes : 1;
    return rows < n ? rows : n;
}

/* Of a data set: its header and the first node of the tree of chunks; of a chunk: checksum, place
 * in the tree. */
enum { DATASET_BYTES = 16 << 10, CHUNK_EXTRA_BYTES = 128 };

int64_t ikt_h5_rows_bytes(int64_t n, int64_t row_bytes) {
    if (n <= 0) return DATASET_BYTES;
    const int64_t rows = chunk_rows(n, row_bytes), chunks = (n + rows - 1) / rows;
    return DATASET_BYTES + chunks * (rows * row_bytes + CHUNK_EXTRA_BYTES);
}

ikt_status ikt_h5_create(ikt_context *ctx, hid_t parent, const char *name, hid_t type, int64_t n,
                         int64_t d, ikt_h5_form form, hid_t *dataset) {
    enum { LEVEL = 4 }; /* of zlib: half of the time of its default, and hardly longer files */
    const bool is_plain = form == IKT_H5_PLAIN;
    const int64_t row_bytes = (int64_t)H5Tget_size(type) * (d > 0 ? d : 1);
    const hsize_t size[2] = {(hsize_t)n, (hsize_t)d};
    const hsize_t chunk[2] = {is_plain ? 0 : (hsize_t)chunk_rows(n, row_bytes), (hsize_t)d};
    const hid_t space IKT_AT_END(ikt_h5_end) = H5Screate_simple(d > 0 ? 2 : 1, size, NULL);
    const hid_t list IKT_AT_END(ikt_h5_end) = H5Pcreate(H5P_DATASET_CREATE);
    char reason[256];
    ikt_status st = IKT_OK;
    bool good = space >= 0 && list >= 0 && H5Pset_obj_track_times(list, false) >= 0;
    if (good && is_plain) /* every byte is written: no need to write zeros before */
        good = H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) >= 0 &&
               H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY) >= 0;
    else if (good && n > 0) /* no rows, no chunks */
        good = H5Pset_chunk(list, d > 0 ? 2 : 1, chunk) >= 0 &&
               (form != IKT_H5_PACKED || H5Pset_deflate(list, LEVEL) >= 0) &&
               H5Pset_fletcher32(list) >= 0;
    *dataset =
        good ? H5Dcreate2(parent, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT) : H5I_BADID;
    if (*dataset < 0)
        st = ikt_fail(ctx, IKT_ERR_FILE, "data set %s cannot be created: %s", name,
                      ikt_h5_reason(reason, sizeof reason));
    return ikt_h5_agree(ctx, parent, st);
}

bool ikt_h5_open_rows(hid_t parent, const char *name, hid_t type, int64_t n, int64_t d,
                      hid_t *dataset) {
    int64_t size[2];
    *dataset = ikt_h5_open_dataset(parent, name);
    if (*dataset < 0) return false;
    const hid_t stored IKT_AT_END(ikt_h5_end) = H5Dget_type(*dataset);
    return stored >= 0 && ikt_h5_shape(*dataset, size) == (d > 0 ? 2 : 1) && size[0] == n &&
           (d == 0 || size[1] == d) && H5Tget_class(stored) == H5Tget_class(type) &&
           H5Tget_size(stored) == H5Tget_size(type);
}

ikt_status ikt_h5_write_array(ikt_context *ctx, hid_t parent, const char *name, hid_t type,
                              int64_t count, const void *values) {
    hid_t dataset IKT_AT_END(ikt_h5_end) = -1;
    IKT_TRY(ikt_h5_create(ctx, parent, name, type, count, 0, IKT_H5_CHECKED, &dataset));
    /* All hold the values; one writes them. */
    return ikt_h5_write_rows(ctx, dataset, type, 0, ikt_rank(ctx) == 0 ? count : 0, values);
}

/* --- columns as rows -------------------------------------------------------------------------- */

enum { BUFFER = 4 << 20, ROWS_LEAST = 16 };
static const int64_t cache_most = (int64_t)64 << 20; /* bytes */

typedef struct {
    hid_t dataset, type, space;
    hsize_t size[2];
    int64_t value; /* bytes of an element in memory */
    ikt_element element;
    char *buffer;
    char name[512];
} turning;

/* Rows row .. row + rows - 1 of columns column .. column + columns - 1, to where they belong in
 * `values`, which begins with the first of these columns. */
static ikt_status turn_tile(ikt_context *ctx, const turning *t, int64_t row, int64_t rows,
                            int64_t column, int64_t columns, char *values) {
    const hsize_t start[2] = {(hsize_t)row, (hsize_t)column};
    const hsize_t part[2] = {(hsize_t)rows, (hsize_t)columns};
    const bool is_line = t->size[0] == 1; /* nothing to turn */
    char reason[256];
    const hid_t here IKT_AT_END(ikt_h5_end) = H5Screate_simple(2, part, NULL);
    if (here < 0 || H5Sselect_hyperslab(t->space, H5S_SELECT_SET, start, NULL, part, NULL) < 0 ||
        H5Dread(t->dataset, t->type, here, t->space, H5P_DEFAULT, is_line ? values : t->buffer) <
            0) {
        ikt_h5_reason(reason, sizeof reason);
        IKT_TRY(ikt_h5_check_filters(ctx, t->dataset, t->name));
        return ikt_fail(ctx, IKT_ERR_FILE, "%s: columns %lld to %lld cannot be read: %s", t->name,
                        (long long)column, (long long)(column + columns - 1), reason);
    }
    if (!is_line)
        ikt_turn(t->element, t->buffer, rows, columns, values + row * t->value,
                 (int64_t)t->size[0]);
    return IKT_OK;
}

/* LOCAL. The tiles of the columns. */
static ikt_status read_tiles(ikt_context *ctx, turning *t, int64_t first, int64_t count,
                             char *rows) {
    char reason[256];
    if (t->space < 0 || H5Sget_simple_extent_ndims(t->space) != 2 ||
        H5Sget_simple_extent_dims(t->space, t->size, NULL) != 2)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be used: %s", t->name,
                        ikt_h5_reason(reason, sizeof reason));
    IKT_TRY(check_request(ctx, t->dataset, t->name, "columns", (int64_t)t->size[1], first, count,
                          true));
    IKT_ARRAYS(held, ctx, "source");
    t->buffer = ikt_claim(&held, BUFFER, 1);
    IKT_TRY(held.status);
    const int64_t d = (int64_t)t->size[0], tile = BUFFER / t->value;
    const int64_t wide = count < tile / ROWS_LEAST ? count : tile / ROWS_LEAST;
    const int64_t high = wide > 0 && tile / wide < d ? tile / wide : d;
    for (int64_t done = 0; done < count; done += wide)
        for (int64_t at = 0; at < d; at += high)
            IKT_TRY(turn_tile(ctx, t, at, d - at < high ? d - at : high, first + done,
                              count - done < wide ? count - done : wide,
                              rows + done * d * t->value));
    return IKT_OK;
}

ikt_status ikt_h5_read_columns(ikt_context *ctx, hid_t dataset, hid_t type, int64_t first,
                               int64_t count, void *rows) {
    const hid_t space IKT_AT_END(ikt_h5_end) = H5Dget_space(dataset);
    turning t = {.dataset = dataset, .type = type, .space = space};
    ikt_h5_name(dataset, t.name, sizeof t.name);
    t.value = (int64_t)H5Tget_size(type);
    t.element = ikt_element_native(H5Tget_class(type) == H5T_FLOAT ? 'f' : 'u', (int)t.value);
    return ikt_agree(ctx, read_tiles(ctx, &t, first, count, rows));
}

/* The default cache has 1 MiB, which hardly holds a chunk of a wide matrix. */
hid_t ikt_h5_open_columns(hid_t file, const char *name, hid_t dataset) {
    hsize_t chunk[2] = {0, 0};
    int64_t size[2];
    const hid_t layout IKT_AT_END(ikt_h5_end) = H5Dget_create_plist(dataset);
    const hid_t type IKT_AT_END(ikt_h5_end) = H5Dget_type(dataset);
    const bool is_chunked = layout >= 0 && type >= 0 && H5Pget_layout(layout) == H5D_CHUNKED &&
                            ikt_h5_shape(dataset, size) == 2 &&
                            H5Pget_chunk(layout, 2, chunk) == 2 && chunk[0] > 0;
    double bytes = 0; /* of the chunks that hold one column */
    if (is_chunked)
        bytes = ((double)size[0] + (double)chunk[0]) * (double)chunk[1] * (double)H5Tget_size(type);
    if (bytes > (double)cache_most) bytes = (double)cache_most;
    if (bytes <= 1 << 20) return dataset;
    const hid_t list IKT_AT_END(ikt_h5_end) = H5Pcreate(H5P_DATASET_ACCESS);
    ikt_h5_close(dataset); /* one that is open keeps its cache */
    if (list < 0 || H5Pset_chunk_cache(list, 10007, (size_t)bytes, 1.0) < 0) return H5I_BADID;
    return H5Dopen2(file, name, list);
}
