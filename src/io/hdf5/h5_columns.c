/* Columns of an HDF5 data set as rows: of matrices that were stored transposed.
 *
 * A column is spread over the whole data set, so it is read in tiles: some of its rows by many of
 * its columns, each a piece as long as the caller's range allows, and turned in memory. Every rank
 * reads alone: what two ranks want of a row are pieces far apart.
 * Disadvantage: where the range is short, so are the pieces; where there are chunks, those that
 * hold a range should fit in the cache of chunks, or they are unpacked again for the next range. */
#include <stdio.h>

#include "base/memory.h"
#include "io/hdf5/h5.h"
#include "io/numbers/element.h"

enum { BUFFER = 4 << 20, ROWS_LEAST = 16 };
static const int64_t cache_most = (int64_t)64 << 20;

typedef struct {
    hid_t dataset, type, space;
    hsize_t size[2];
    int64_t value; /* bytes of an element in memory */
    ikt_element element;
    char *buffer;
    char name[512];
} turning;

/* The types that sources have, as elements of this machine. */
static ikt_element element_of(hid_t type) {
    const uint16_t one = 1;
    const bool big = *(const unsigned char *)&one == 0;
    return (ikt_element){H5Tget_class(type) == H5T_FLOAT ? 'f' : 'u', (int)H5Tget_size(type), big};
}

static ikt_status turning_begin(ikt_context *ctx, turning *t, int64_t first, int64_t count) {
    char reason[256];
    ikt_h5_name(t->dataset, t->name, sizeof t->name);
    t->space = H5Dget_space(t->dataset);
    if (t->space < 0 || H5Sget_simple_extent_ndims(t->space) != 2 ||
        H5Sget_simple_extent_dims(t->space, t->size, NULL) != 2)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be used: %s", t->name,
                        ikt_h5_reason(reason, sizeof reason));
    t->value = (int64_t)H5Tget_size(t->type);
    t->element = element_of(t->type);
    const int64_t n = (int64_t)t->size[1];
    if (!ikt_h5_has_storage(t->dataset))
        return ikt_fail(ctx, IKT_ERR_DATA, "%s was created but never written: it holds no values",
                        t->name);
    if (first < 0 || count < 0 || first > n || count > n - first)
        return ikt_fail(ctx, IKT_ERR_INTERNAL,
                        "%s: columns %lld to %lld were asked for; it has %lld", t->name,
                        (long long)first, (long long)(first + count - 1), (long long)n);
    return ikt_alloc(ctx, &t->buffer, BUFFER, 1, "source");
}

/* Rows row .. row + rows - 1 of columns column .. column + columns - 1, to where they belong in
 * `values`, which begins with the first of these columns. */
static ikt_status turn_tile(ikt_context *ctx, const turning *t, int64_t row, int64_t rows,
                            int64_t column, int64_t columns, char *values) {
    const hsize_t start[2] = {(hsize_t)row, (hsize_t)column};
    const hsize_t part[2] = {(hsize_t)rows, (hsize_t)columns};
    const bool is_line = t->size[0] == 1; /* nothing to turn */
    char reason[256] = "";
    hid_t here = H5Screate_simple(2, part, NULL);
    bool good = here >= 0 &&
                H5Sselect_hyperslab(t->space, H5S_SELECT_SET, start, NULL, part, NULL) >= 0 &&
                H5Dread(t->dataset, t->type, here, t->space, H5P_DEFAULT,
                        is_line ? values : t->buffer) >= 0;
    if (!good) ikt_h5_reason(reason, sizeof reason);
    ikt_h5_close(here);
    if (!good)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s: columns %lld to %lld cannot be read: %s", t->name,
                        (long long)column, (long long)(column + columns - 1), reason);
    if (!is_line)
        ikt_turn(t->element, t->buffer, rows, columns, values + row * t->value,
                 (int64_t)t->size[0]);
    return IKT_OK;
}

static ikt_status turn_all(ikt_context *ctx, const turning *t, int64_t first, int64_t count,
                           char *values) {
    const int64_t d = (int64_t)t->size[0], row = d * t->value, room = BUFFER / t->value;
    const int64_t wide = count < room / ROWS_LEAST ? count : room / ROWS_LEAST;
    const int64_t high = wide > 0 && room / wide < d ? room / wide : d;
    for (int64_t done = 0; done < count; done += wide)
        for (int64_t at = 0; at < d; at += high)
            IKT_TRY(turn_tile(ctx, t, at, d - at < high ? d - at : high, first + done,
                              count - done < wide ? count - done : wide, values + done * row));
    return IKT_OK;
}

ikt_status ikt_h5_read_columns(ikt_context *ctx, hid_t dataset, hid_t type, int64_t first,
                               int64_t count, void *rows) {
    turning t = {.dataset = dataset, .type = type, .space = -1};
    ikt_status st = turning_begin(ctx, &t, first, count);
    if (st == IKT_OK) st = turn_all(ctx, &t, first, count, rows);
    ikt_h5_close(t.space);
    ikt_free(&t.buffer);
    return ikt_agree(ctx, st);
}

/* Bytes of the chunks that hold one column. */
static int64_t band_bytes(hid_t dataset) {
    hsize_t size[2] = {0, 0}, chunk[2] = {0, 0};
    hid_t list = H5Dget_create_plist(dataset), space = H5Dget_space(dataset);
    hid_t type = H5Dget_type(dataset);
    bool good = list >= 0 && space >= 0 && type >= 0 && H5Pget_layout(list) == H5D_CHUNKED &&
                H5Sget_simple_extent_ndims(space) == 2 &&
                H5Sget_simple_extent_dims(space, size, NULL) == 2 &&
                H5Pget_chunk(list, 2, chunk) == 2 && chunk[0] > 0;
    double bytes =
        good ? ((double)size[0] + (double)chunk[0]) * (double)chunk[1] * (double)H5Tget_size(type)
             : 0;
    ikt_h5_close(list);
    ikt_h5_close(space);
    ikt_h5_close(type);
    return bytes < (double)cache_most ? (int64_t)bytes : cache_most;
}

/* The default cache has 1 MiB, which hardly holds a chunk of a wide matrix. */
hid_t ikt_h5_open_columns(hid_t file, const char *name, hid_t dataset) {
    const int64_t bytes = band_bytes(dataset);
    if (bytes <= 1 << 20) return dataset;
    hid_t list = H5Pcreate(H5P_DATASET_ACCESS), again = H5I_BADID;
    ikt_h5_close(dataset); /* one that is open keeps its cache */
    if (list >= 0 && H5Pset_chunk_cache(list, 10007, (size_t)bytes, 1.0) >= 0)
        again = H5Dopen2(file, name, list);
    ikt_h5_close(list);
    return again;
}
