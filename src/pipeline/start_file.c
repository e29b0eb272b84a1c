/* A start from positions that are in a file. See start_file.h. */
#define _POSIX_C_SOURCE 200809L
#include "pipeline/start_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/memory.h"
#include "io/formats/reader.h"
#include "io/numbers/element.h"
#include "io/results/result.h"
#include "io/sources/source.h"

enum { BLOCK = 1 << 16 };

typedef enum { PLACES_OF_RUN, PLACES_OF_DATASET, PLACES_OF_READER } places_kind;

/* What layout.init_file means; the same on all ranks. */
typedef struct {
    places_kind kind;
    char file[IKT_STRING_MAX], dataset[IKT_STRING_MAX];
} origin;

/* LOCAL, rank 0. A colon parts file and data set unless it belongs to the name of a file. What
 * cannot be read is left to the reader of runs, whose message says so. */
static void understand(const char *path, origin *o) {
    const size_t length = ikt_file_name_length(path);
    const bool is_whole = !path[length] || !path[length + 1];
    snprintf(o->file, sizeof o->file, "%.*s", is_whole ? IKT_STRING_MAX - 1 : (int)length, path);
    snprintf(o->dataset, sizeof o->dataset, "%s", is_whole ? "" : path + length + 1);
    o->kind = is_whole ? PLACES_OF_RUN : PLACES_OF_DATASET;
    if (is_whole && access(path, R_OK) == 0 && !ikt_source_is_hdf5(path))
        o->kind = PLACES_OF_READER;
}

static ikt_status check_shape(ikt_context *ctx, const ikt_layout_settings *layout, int64_t rows,
                              int64_t columns, int64_t n) {
    if (rows != n)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s holds %lld positions, the data has %lld rows",
                        layout->init_file, (long long)rows, (long long)n);
    if (columns == layout->dimensions) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s holds positions in %lld dimensions, but layout.dimensions = %lld",
                    layout->init_file, (long long)columns, (long long)layout->dimensions);
}

static ikt_status check_finite(ikt_context *ctx, const char *path, const ikt_rows *rows, int64_t q,
                               const double *places) {
    for (int64_t e = 0; e < q * rows->count; e++)
        if (!(fabs(places[e]) <= 1e30))
            return ikt_fail(ctx, IKT_ERR_DATA,
                            "%s, row %lld, column %lld (counted from 0): %g is no position to "
                            "start from",
                            path, (long long)(rows->first + e / q), (long long)(e % q), places[e]);
    return IKT_OK;
}

/* Numbers of the type as doubles that are float32, as positions are, so that equal positions start
 * equal runs from whatever file; from the last to the first: both may be one array. */
static void widen(ikt_type type, const void *from, int64_t count, double *to) {
    for (int64_t e = count - 1; e >= 0; e--)
        to[e] = (double)(float)ikt_number_at(type, from, e);
}

/* --- three ways of reading; without places they only check ------------------------------------ */

static ikt_status read_run(ikt_context *ctx, const origin *o, const ikt_layout_settings *layout,
                           const ikt_rows *rows, double *places) {
    ikt_result_file *file;
    float *y = NULL;
    IKT_TRY(ikt_result_open(ctx, o->file, &file));
    const int q = ikt_result_dimensions(file);
    ikt_status st = check_shape(ctx, layout, ikt_result_rows(file), q, rows->n);
    if (st == IKT_OK && places) {
        st = ikt_agree(ctx, ikt_alloc(ctx, &y, q * rows->count, sizeof *y, "initial"));
        if (st == IKT_OK) st = ikt_result_read_embedding(file, rows->first, rows->count, y);
        if (st == IKT_OK) widen(IKT_TYPE_F32, y, q * rows->count, places);
    }
    ikt_free(&y);
    ikt_result_close(&file);
    return st;
}

static ikt_status read_dataset(ikt_context *ctx, const origin *o, const ikt_layout_settings *layout,
                               const ikt_rows *distribution, double *places) {
    ikt_source *source;
    void *rows = NULL;
    IKT_TRY(ikt_source_open(ctx, o->file, o->dataset, 0, &source));
    const int64_t q = ikt_source_columns(source);
    const ikt_type type = ikt_source_type(source);
    ikt_status st = check_shape(ctx, layout, ikt_source_rows(source), q, distribution->n);
    if (st == IKT_OK && places) {
        st = ikt_agree(
            ctx, ikt_alloc(ctx, &rows, q * distribution->count, ikt_type_size(type), "initial"));
        if (st == IKT_OK)
            st = ikt_source_read(source, distribution->first, distribution->count, rows);
        if (st == IKT_OK) widen(type, rows, q * distribution->count, places);
    }
    ikt_free(&rows);
    ikt_source_close(&source);
    return st;
}

static ikt_status open_reader(ikt_context *ctx, const origin *o, const ikt_layout_settings *layout,
                              int64_t n, ikt_reader **reader) {
    static const ikt_reader_options plain = {.label_column = "", .skip_columns = ""};
    IKT_TRY(ikt_reader_open(ctx, o->file, &plain, reader));
    return check_shape(ctx, layout, (*reader)->n, (*reader)->d, n);
}

/* COLLECTIVE. Every rank keeps its rows of the blocks that pass by. */
static ikt_status share_blocks(ikt_context *ctx, ikt_reader *reader, int64_t q,
                               const ikt_rows *rows, double *block, double *places) {
    for (int64_t first = 0; first < rows->n; first += BLOCK) {
        const int64_t count = rows->n - first < BLOCK ? rows->n - first : BLOCK;
        ikt_status st = reader ? ikt_reader_read(reader, count, block, NULL) : IKT_OK;
        if (reader && st == IKT_OK) widen(reader->type, block, count * q, block);
        IKT_TRY(ikt_agree(ctx, st));
        ikt_broadcast(ctx, block, count * q * (int64_t)sizeof *block, 0);
        for (int64_t i = 0; i < count; i++) {
            const int64_t own = first + i - rows->first;
            if (own < 0 || own >= rows->count) continue;
            memcpy(places + q * own, block + q * i, (size_t)q * sizeof *places);
        }
    }
    return IKT_OK;
}

static ikt_status read_foreign(ikt_context *ctx, const origin *o, const ikt_layout_settings *layout,
                               const ikt_rows *rows, double *places) {
    const int64_t q = layout->dimensions;
    ikt_reader *reader = NULL;
    double *block = NULL;
    ikt_status st = IKT_OK;
    if (ikt_rank(ctx) == 0) st = open_reader(ctx, o, layout, rows->n, &reader);
    if (st == IKT_OK) st = ikt_alloc(ctx, &block, q * BLOCK, sizeof *block, "initial");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK && places) st = share_blocks(ctx, reader, q, rows, block, places);
    ikt_free(&block);
    ikt_reader_close(&reader);
    return st;
}

/* --- the whole -------------------------------------------------------------------------------- */

typedef ikt_status reading(ikt_context *ctx, const origin *o, const ikt_layout_settings *layout,
                           const ikt_rows *rows, double *places);

/* COLLECTIVE. Checks, and reads where there is room. */
static ikt_status read_places(ikt_context *ctx, const ikt_layout_settings *layout,
                              const ikt_rows *rows, origin *o, double *places) {
    static reading *const ways[] = {read_run, read_dataset, read_foreign};
    memset(o, 0, sizeof *o);
    if (ikt_rank(ctx) == 0) understand(layout->init_file, o);
    ikt_broadcast(ctx, o, (int64_t)sizeof *o, 0);
    IKT_TRY(ways[o->kind](ctx, o, layout, rows, places));
    if (!places) return IKT_OK;
    return ikt_agree(ctx, check_finite(ctx, layout->init_file, rows, layout->dimensions, places));
}

ikt_status ikt_start_file_check(ikt_context *ctx, const ikt_layout_settings *layout, int64_t n) {
    const ikt_rows rows = {.n = n};
    origin o;
    return read_places(ctx, layout, &rows, &o, NULL);
}

ikt_status ikt_start_from_file(ikt_context *ctx, const ikt_settings *settings, const ikt_rows *rows,
                               float *y) {
    const ikt_layout_settings *layout = &settings->layout;
    const int q = (int)layout->dimensions;
    const bool is_auto = layout->init_scale == IKT_AUTO_REAL;
    double *places = NULL;
    origin o;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &places, q * rows->count, sizeof *places, "initial")));
    const ikt_status st = read_places(ctx, layout, rows, &o, places);
    const bool is_kept = is_auto ? o.kind == PLACES_OF_RUN : layout->init_scale == 0;
    for (int64_t e = 0; e < q * rows->count && st == IKT_OK && is_kept; e++)
        y[e] = (float)places[e];
    if (st == IKT_OK && !is_kept)
        ikt_initial_from_places(ctx, rows, q, (uint64_t)settings->run.seed,
                                is_auto ? 0 : layout->init_scale, places, y);
    ikt_free(&places);
    return st;
}
