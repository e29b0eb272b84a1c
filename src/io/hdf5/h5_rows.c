/* Ranges of rows of HDF5 data sets.
 *
 * A transfer is prepared and agreed on before the first collective call, because HDF5 waits for
 * ever where one rank stays away; then all ranks take the same number of steps, each of less data
 * than an MPI count can express. Writing and reading contiguous data is collective. Chunks are read
 * independently: collectively, ranks that meet a chunk that was never written leave the others
 * waiting (HDF5 1.10), and it is no faster, as chunks are large and filtered one by one. */
#include <stdio.h>

#include "base/comm.h"
#include "io/hdf5/h5.h"

static const int64_t piece_most = (int64_t)1 << 27, chunk_bytes = (int64_t)1 << 20;

typedef struct {
    hid_t dataset, type, space, list;
    int dimensions;
    hsize_t size[2]; /* rows, columns */
    int64_t row_bytes;
    char name[512];
} transfer;

static void transfer_end(transfer *t) {
    ikt_h5_close(t->space);
    ikt_h5_close(t->list);
}

bool ikt_h5_has_storage(hid_t dataset) {
    H5D_space_status_t status = H5D_SPACE_STATUS_NOT_ALLOCATED;
    hid_t space = H5Dget_space(dataset);
    bool empty = space >= 0 && H5Sget_simple_extent_npoints(space) == 0;
    ikt_h5_close(space);
    return empty ||
           (H5Dget_space_status(dataset, &status) >= 0 && status != H5D_SPACE_STATUS_NOT_ALLOCATED);
}

static H5FD_mpio_xfer_t mode_of(hid_t dataset, bool reading) {
    hid_t list = H5Dget_create_plist(dataset);
    bool chunked = list >= 0 && H5Pget_layout(list) == H5D_CHUNKED;
    ikt_h5_close(list);
    return chunked && reading ? H5FD_MPIO_INDEPENDENT : H5FD_MPIO_COLLECTIVE;
}

static ikt_status transfer_begin(ikt_context *ctx, transfer *t, int64_t first, int64_t count,
                                 bool reading) {
    char reason[256];
    ikt_h5_name(t->dataset, t->name, sizeof t->name);
    t->list = H5Pcreate(H5P_DATASET_XFER);
    t->space = H5Dget_space(t->dataset);
    t->dimensions = t->space < 0 ? -1 : H5Sget_simple_extent_ndims(t->space);
    bool good = (t->dimensions == 1 || t->dimensions == 2) && t->list >= 0 &&
                H5Sget_simple_extent_dims(t->space, t->size, NULL) == t->dimensions &&
                H5Pset_dxpl_mpio(t->list, mode_of(t->dataset, reading)) >= 0;
    if (!good)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be used: %s", t->name,
                        ikt_h5_reason(reason, sizeof reason));
    const hsize_t rows = t->size[0], columns = t->dimensions == 2 ? t->size[1] : 1;
    if (rows > INT64_MAX >> 4 || columns > (hsize_t)(INT64_MAX >> 4) / (rows > 0 ? rows : 1))
        return ikt_fail(
            ctx, IKT_ERR_DATA,
            "%s announces %llu rows of %llu columns, which is more than any file holds: "
            "is it damaged?",
            t->name, (unsigned long long)rows, (unsigned long long)columns);
    t->row_bytes = (int64_t)H5Tget_size(t->type) * (int64_t)columns;
    /* From a data set without storage HDF5 returns at once on the ranks that want rows, and waits
     * on those that want none: one that was created but never written is refused instead. */
    if (reading && !ikt_h5_has_storage(t->dataset))
        return ikt_fail(ctx, IKT_ERR_DATA, "%s was created but never written: it holds no values",
                        t->name);
    int64_t n = (int64_t)t->size[0];
    if (first >= 0 && count >= 0 && first <= n && count <= n - first) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_INTERNAL, "%s: rows %lld to %lld were asked for; it has %lld",
                    t->name, (long long)first, (long long)(first + count - 1), (long long)n);
}

/* Selects rows in the file and as many in memory, or none. There is no way back from here: the
 * other ranks are on their way into the transfer. */
static hid_t select_rows(ikt_context *ctx, const transfer *t, int64_t first, int64_t count) {
    const hsize_t start[2] = {(hsize_t)first, 0}, part[2] = {(hsize_t)count, t->size[1]};
    hid_t here = H5Screate_simple(t->dimensions, count > 0 ? part : t->size, NULL);
    bool good = here >= 0;
    if (good && count > 0)
        good = H5Sselect_hyperslab(t->space, H5S_SELECT_SET, start, NULL, part, NULL) >= 0;
    else if (good)
        good = H5Sselect_none(t->space) >= 0 && H5Sselect_none(here) >= 0;
    if (!good) ikt_abort(ctx, "HDF5 cannot select rows");
    return here;
}

/* One collective step, in which a rank without rows takes part; `reason` tells why it failed. */
static bool transfer_step(ikt_context *ctx, const transfer *t, int64_t first, int64_t count,
                          void *read_to, const void *write_from, char reason[256]) {
    char nothing = 0;
    hid_t here = select_rows(ctx, t, first, count);
    herr_t outcome = write_from ? H5Dwrite(t->dataset, t->type, here, t->space, t->list, write_from)
                                : H5Dread(t->dataset, t->type, here, t->space, t->list,
                                          read_to ? read_to : &nothing);
    if (outcome < 0) ikt_h5_reason(reason, 256);
    ikt_h5_close(here);
    return outcome >= 0;
}

static ikt_status transfer_all(ikt_context *ctx, const transfer *t, int64_t first, int64_t count,
                               char *read_to, const char *write_from) {
    int64_t piece = ikt_piece_bytes(ctx) < piece_most ? ikt_piece_bytes(ctx) : piece_most;
    int64_t rows = t->row_bytes > 0 && piece > t->row_bytes ? piece / t->row_bytes : 1;
    int64_t steps = ikt_max_one(ctx, (count + rows - 1) / rows);
    ikt_status st = IKT_OK;
    for (int64_t step = 0; step < steps; step++) {
        char reason[256];
        int64_t done = step * rows < count ? step * rows : count;
        int64_t now = count - done < rows ? count - done : rows;
        int64_t offset = now > 0 ? done * t->row_bytes : 0;
        if (!transfer_step(ctx, t, first + done, now, read_to ? read_to + offset : NULL,
                           write_from ? write_from + offset : NULL, reason))
            st = ikt_fail(ctx, IKT_ERR_FILE, "%s: rows %lld to %lld cannot be %s: %s", t->name,
                          (long long)(first + done), (long long)(first + done + now - 1),
                          write_from ? "written" : "read", reason);
        if (write_from) IKT_TRY(ikt_h5_agree(ctx, t->dataset, st));
    }
    return ikt_agree(ctx, st);
}

static ikt_status transfer_rows(ikt_context *ctx, hid_t dataset, hid_t type, int64_t first,
                                int64_t count, void *read_to, const void *write_from) {
    transfer t = {.dataset = dataset, .type = type, .space = -1, .list = -1, .size = {0, 1}};
    ikt_status st = ikt_agree(ctx, transfer_begin(ctx, &t, first, count, write_from == NULL));
    if (st == IKT_OK) st = transfer_all(ctx, &t, first, count, read_to, write_from);
    transfer_end(&t);
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

/* Creates the data set with the properties of `list`, which it closes. */
static ikt_status create(ikt_context *ctx, hid_t parent, const char *name, hid_t type, int64_t n,
                         int64_t d, hid_t list, hid_t *dataset) {
    const hsize_t size[2] = {(hsize_t)n, (hsize_t)d};
    hid_t space = H5Screate_simple(d > 0 ? 2 : 1, size, NULL);
    char reason[256];
    ikt_status st = IKT_OK;
    bool good = space >= 0 && list >= 0 && H5Pset_obj_track_times(list, false) >= 0;
    *dataset =
        good ? H5Dcreate2(parent, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT) : H5I_BADID;
    if (*dataset < 0)
        st = ikt_fail(ctx, IKT_ERR_FILE, "data set %s cannot be created: %s", name,
                      ikt_h5_reason(reason, sizeof reason));
    ikt_h5_close(space);
    ikt_h5_close(list);
    return ikt_h5_agree(ctx, parent, st);
}

ikt_status ikt_h5_create_rows(ikt_context *ctx, hid_t parent, const char *name, hid_t type,
                              int64_t n, int64_t d, hid_t *dataset) {
    int64_t row_bytes = (int64_t)H5Tget_size(type) * (d > 0 ? d : 1);
    const hsize_t chunk[2] = {(hsize_t)chunk_rows(n, row_bytes), (hsize_t)d};
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (list >= 0 && n > 0 && /* no rows, no chunks */
        (H5Pset_chunk(list, d > 0 ? 2 : 1, chunk) < 0 || H5Pset_fletcher32(list) < 0)) {
        ikt_h5_close(list);
        list = H5I_BADID;
    }
    return create(ctx, parent, name, type, n, d, list, dataset);
}

ikt_status ikt_h5_create_plain(ikt_context *ctx, hid_t parent, const char *name, hid_t type,
                               int64_t n, int64_t d, hid_t *dataset) {
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    /* Every byte is written: no need to write zeros before. */
    if (list >= 0 && (H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) < 0 ||
                      H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY) < 0)) {
        ikt_h5_close(list);
        list = H5I_BADID;
    }
    return create(ctx, parent, name, type, n, d, list, dataset);
}

ikt_status ikt_h5_write_array(ikt_context *ctx, hid_t parent, const char *name, hid_t type,
                              int64_t count, const void *values) {
    hid_t dataset;
    ikt_status st = ikt_h5_create_rows(ctx, parent, name, type, count, 0, &dataset);
    /* All hold the values; one writes them. */
    if (st == IKT_OK)
        st = ikt_h5_write_rows(ctx, dataset, type, 0, ikt_rank(ctx) == 0 ? count : 0, values);
    ikt_h5_close(dataset);
    return st;
}
