/* VTKHDF 1.0, the HDF5 of VTK and ParaView: an unstructured grid of points.
 *
 * Every point is a cell of its own (a vertex), so that filters that choose cells, such as
 * ParaView's Threshold, choose points. Points are cut into pieces of fixed size, which the ranks of
 * a ParaView server share. Dimensions that the embedding does not have are 0. Columns are point
 * data. */
#include <string.h>

#include "base/arrays.h"
#include "io/export/export.h"
#include "io/hdf5/h5.h"

enum { PIECE = 1 << 20, VERTEX = 1, AXES = 3 };

/* What is being written; buffers hold a block. */
typedef struct {
    ikt_export *export;
    const ikt_export_options *options;
    ikt_h5_output out;
    hid_t group, point_data;
    int64_t pieces;
    float *y;       /* [block * q] */
    float *point;   /* [block * 3] */
    int64_t *whole; /* [block + 1] */
    double *real;   /* [block] */
    uint8_t *byte;  /* [block] */
} grid;

static ikt_status agree(const grid *g, bool good, const char *what) {
    return ikt_h5_output_check(&g->out, good, what);
}

/* VTK wants a text of fixed length, and two numbers of the version. */
static bool set_type(hid_t group) {
    static const char type_name[] = "UnstructuredGrid";
    static const int64_t version[2] = {1, 0};
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    hid_t attribute = -1;
    if (type >= 0 && space >= 0 && H5Tset_size(type, sizeof type_name - 1) >= 0 &&
        H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0)
        attribute = H5Acreate2(group, "Type", type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0 || H5Awrite(attribute, type, type_name) < 0 ||
        !ikt_h5_set_ints(group, "Version", 2, version))
        return false;
    ikt_h5_close(type);
    ikt_h5_close(space);
    return ikt_h5_close(attribute);
}

/* Points, cells and ends of cells are as many. */
static ikt_status write_counts(const grid *g) {
    static const char *const names[] = {"NumberOfPoints", "NumberOfCells",
                                        "NumberOfConnectivityIds"};
    ikt_context *ctx = g->export->ctx;
    IKT_ARRAYS(held, ctx, "pieces");
    int64_t *counts = ikt_claim(&held, g->pieces, sizeof *counts);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t p = 0; p < g->pieces; p++) {
        const int64_t left = g->export->n - p * PIECE;
        counts[p] = left < PIECE ? left : PIECE;
    }
    for (int i = 0; i < 3; i++)
        IKT_TRY(ikt_h5_write_array(ctx, g->group, names[i], H5T_NATIVE_INT64, g->pieces, counts));
    return IKT_OK;
}

/* What a data set of n rows holds; from COLUMN on, the columns of the export. */
typedef enum { POINTS, CONNECTIVITY, TYPES, ROW_NUMBERS, COLUMN } content;

/* COLLECTIVE. Makes `count` rows from row `first` of the export on. */
static ikt_status fill(grid *g, int64_t what, int64_t first, int64_t count, const void **rows) {
    const int q = g->export->q;
    *rows = g->whole;
    switch (what) {
    case POINTS:
        IKT_TRY(ikt_result_read_embedding(g->export->file, first, count, g->y));
        for (int64_t i = 0; i < count; i++)
            for (int c = 0; c < AXES; c++)
                g->point[AXES * i + c] = c < q ? g->y[q * i + c] : 0;
        *rows = g->point;
        return IKT_OK;
    case CONNECTIVITY: /* a cell's only point, counted within its piece */
        for (int64_t i = 0; i < count; i++)
            g->whole[i] = (first + i) % PIECE;
        return IKT_OK;
    case TYPES:
        memset(g->byte, VERTEX, (size_t)count);
        *rows = g->byte;
        return IKT_OK;
    case ROW_NUMBERS:
        ikt_export_numbers(g->export, first, count, g->whole);
        return IKT_OK;
    default: {
        const int64_t c = what - COLUMN;
        if (!ikt_export_is_real(&g->export->column[c]))
            return ikt_export_wholes(g->export, c, first, count, g->whole);
        *rows = g->real;
        return ikt_export_reals(g->export, c, first, count, g->real);
    }
    }
}

/* A data set of n rows, block after block. */
static ikt_status write_rows(grid *g, hid_t parent, const char *name, hid_t type, int64_t d,
                             int64_t what) {
    ikt_export *export = g->export;
    hid_t set;
    IKT_TRY(ikt_h5_create(export->ctx, parent, name, type, export->n, d, IKT_H5_PLAIN, &set));
    for (int64_t round = 0; round < ikt_export_rounds(export); round++) {
        int64_t first, count;
        const void *rows;
        ikt_export_share(export, round, &first, &count);
        IKT_TRY(fill(g, what, first, count, &rows));
        IKT_TRY(ikt_h5_write_rows(export->ctx, set, type, first, count, rows));
    }
    return agree(g, ikt_h5_close(set), name);
}

/* Each piece has one end more than cells, so block b of cells begins at first + its piece. A block
 * is within one piece; the last of a piece brings its end. */
static ikt_status write_offsets(grid *g) {
    ikt_export *export = g->export;
    hid_t set;
    IKT_TRY(ikt_h5_create(export->ctx, g->group, "Offsets", H5T_NATIVE_INT64, export->n + g->pieces,
                          0, IKT_H5_PLAIN, &set));
    for (int64_t round = 0; round < ikt_export_rounds(export); round++) {
        int64_t first, count;
        ikt_export_share(export, round, &first, &count);
        const bool is_last =
            count > 0 && (first + count == export->n || (first + count) % PIECE == 0);
        for (int64_t i = 0; i < count + is_last; i++)
            g->whole[i] = first % PIECE + i;
        const int64_t at = count > 0 ? first + first / PIECE : 0;
        IKT_TRY(
            ikt_h5_write_rows(export->ctx, set, H5T_NATIVE_INT64, at, count + is_last, g->whole));
    }
    return agree(g, ikt_h5_close(set), "Offsets");
}

static ikt_status write_all(grid *g) {
    ikt_export *export = g->export;
    g->group = ikt_h5_create_group(g->out.file, "VTKHDF");
    IKT_TRY(agree(g, g->group >= 0 && set_type(g->group), "VTKHDF"));
    g->point_data = ikt_h5_create_group(g->group, "PointData");
    IKT_TRY(agree(g, g->point_data >= 0, "VTKHDF/PointData"));
    IKT_TRY(write_counts(g));
    IKT_TRY(write_rows(g, g->group, "Points", H5T_NATIVE_FLOAT, AXES, POINTS));
    IKT_TRY(write_rows(g, g->group, "Connectivity", H5T_NATIVE_INT64, 0, CONNECTIVITY));
    IKT_TRY(write_offsets(g));
    IKT_TRY(write_rows(g, g->group, "Types", H5T_NATIVE_UINT8, 0, TYPES));
    if (g->options->row_numbers)
        IKT_TRY(write_rows(g, g->point_data, "row", H5T_NATIVE_INT64, 0, ROW_NUMBERS));
    for (int64_t c = 0; c < export->columns; c++) {
        const bool is_real = ikt_export_is_real(&export->column[c]);
        IKT_TRY(write_rows(g, g->point_data, export->column[c].name,
                           is_real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64, 0, COLUMN + c));
    }
    return agree(g, ikt_h5_close(g->point_data) && ikt_h5_close(g->group), "VTKHDF");
}

static ikt_status write_vtkhdf(ikt_export *export, const ikt_export_options *options,
                               const char *path) {
    ikt_context *ctx = export->ctx;
    grid g = {.export = export, .options = options, .pieces = (export->n + PIECE - 1) / PIECE};
    const int64_t columns = export->columns + options->row_numbers;
    const int64_t row_bytes = AXES * 4 + 8 + 8 + 1 + 8 * columns;
    const int64_t bytes = IKT_H5_FILE_BYTES + row_bytes * export->n + 32 * g.pieces;
    if (export->n == 0)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s holds no rows, and VTK shows none", export->run);
    for (int64_t c = 0; c < export->columns; c++)
        if (export->column[c].kind == IKT_EXPORT_TEXTS)
            return ikt_fail(
                ctx, IKT_ERR_USAGE, /* the same on all ranks */
                "the column '%s' holds text, or numbers of CSV that doubles would round, and point "
                "data of VTK are numbers; csv and tsv hold text",
                export->column[c].name);
    const int64_t rows = IKT_EXPORT_BLOCK;
    IKT_ARRAYS(held, ctx, "block");
    g.y = ikt_claim(&held, rows * export->q, sizeof *g.y);
    g.point = ikt_claim(&held, rows * AXES, sizeof *g.point);
    g.whole = ikt_claim(&held, rows + 1, sizeof *g.whole);
    g.real = ikt_claim(&held, rows, sizeof *g.real);
    g.byte = ikt_claim(&held, rows, sizeof *g.byte);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_h5_output_begin(ctx, path, options->overwrite, bytes, &g.out));
    return ikt_h5_output_end(&g.out, NULL, 0, write_all(&g));
}

_Static_assert(PIECE % IKT_EXPORT_BLOCK == 0, "a block lies within a piece");

const ikt_export_format ikt_export_vtkhdf = {
    "vtkhdf", ".vtkhdf .hdf", "an HDF5 file", ".vtkhdf", true, false, false, write_vtkhdf};
