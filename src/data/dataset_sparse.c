/* Rows of a sparse source, mapped: sparse, or filled up. See dataset.h. */
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "data/dataset_parts.h"
#include "dist/rows.h"
#include "linalg/blocks.h"

/* Squared length of a row that others' map may lead to, at most: distances between two such rows
 * fit single precision. */
static const double square_most = 1.6e37;

int64_t ikt_dataset_entries(const ikt_dataset *d) {
    return ikt_source_entries(d->source);
}

int64_t ikt_dataset_longest_row(const ikt_dataset *d) {
    return ikt_source_longest_row(d->source);
}

int64_t ikt_dataset_block_rows(const ikt_dataset *d) {
    return ikt_source_block_rows(d->source);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Maps the rows just read where they are. */
static void map_rows(const ikt_dataset *d) {
    const ikt_sparse_rows *from = &d->entries;
#pragma omp parallel for num_threads(ikt_threads(d->ctx))
    for (int64_t i = 0; i < from->count; i++) {
        const int64_t at = from->start[i];
        ikt_normaliser_entries(&d->normaliser, from->column + at, from->value + at,
                               from->start[i + 1] - at, from->value + at);
    }
}

/* Rounds to float32 behind what `out` holds; what becomes 0 is dropped. */
static void append(const ikt_sparse_rows *from, ikt_sparse *out) {
    int64_t to = out->start[out->count];
    for (int64_t i = 0; i < from->count; i++) {
        for (int64_t e = from->start[i]; e < from->start[i + 1]; e++) {
            const float value = (float)from->value[e];
            if (value == 0) continue;
            out->column[to] = from->column[e];
            out->value[to++] = value;
        }
        out->start[++out->count] = to;
    }
}

/* Rows under another's map are looked at as they are read; those of one's own map have been. */
static ikt_status check_rows(const ikt_dataset *d, int64_t first, const ikt_sparse *rows) {
    for (int64_t i = 0; d->is_lent && i < rows->count; i++)
        if (!(ikt_sparse_norm(ikt_sparse_row_of(rows, i)) <= square_most))
            return ikt_fail(
                d->ctx, IKT_ERR_DATA,
                "%s, row %lld lies too far from the data that the model was made of for "
                "distances in single precision; remove it, or bring it to the same "
                "units",
                ikt_source_name(d->source), (long long)(first + i));
    return IKT_OK;
}

ikt_status ikt_dataset_read_sparse(ikt_dataset *d, int64_t first, int64_t count, ikt_sparse *rows) {
    IKT_TRY(ikt_source_read_sparse(d->source, first, count, &d->entries));
    const int64_t entries = d->entries.start[count];
    ikt_status st = ikt_sparse_reserve(d->ctx, count, entries, rows);
    if (st == IKT_OK) {
        rows->count = rows->start[0] = 0;
        rows->d = d->d;
        map_rows(d);
        append(&d->entries, rows);
        st = check_rows(d, first, rows);
    }
    return ikt_agree(d->ctx, st);
}

/* --- gathering -------------------------------------------------------------------------------- */

/* Rows from `rows` on, at most `left`, that can be read as one range: of a block's length, or with
 * few rows between them that are not wanted. */
static int64_t wanted_together(const ikt_dataset *d, const int64_t *rows, int64_t left) {
    const int64_t block = ikt_dataset_block_rows(d);
    int64_t count = 0;
    while (count < left && rows[count] - rows[0] < block)
        count++;
    return count;
}

/* The wanted ones among the rows just read, behind what `out` holds. */
static ikt_status keep_wanted(const ikt_dataset *d, const ikt_sparse *read, int64_t first,
                              const int64_t *rows, int64_t count, ikt_sparse *out) {
    int64_t entries = out->start[out->count];
    for (int64_t i = 0; i < count; i++)
        entries += ikt_sparse_row_of(read, rows[i] - first).count;
    if (entries > out->entry_capacity) {
        const int64_t room = entries + entries / 2;
        IKT_TRY(ikt_resize(d->ctx, &out->column, room, sizeof *out->column, "sparse rows"));
        IKT_TRY(ikt_resize(d->ctx, &out->value, room, sizeof *out->value, "sparse rows"));
        out->entry_capacity = room;
    }
    for (int64_t i = 0; i < count; i++) {
        const ikt_sparse_row row = ikt_sparse_row_of(read, rows[i] - first);
        const int64_t at = out->start[out->count];
        if (row.count > 0) {
            memcpy(out->column + at, row.column, (size_t)row.count * sizeof *row.column);
            memcpy(out->value + at, row.value, (size_t)row.count * sizeof *row.value);
        }
        out->start[++out->count] = at + row.count;
    }
    return IKT_OK;
}

/* COLLECTIVE. This rank's share. */
static ikt_status gather_share(ikt_dataset *d, const int64_t *rows, int64_t count,
                               ikt_sparse *out) {
    ikt_sparse read = {0};
    int64_t steps = 0;
    *out = (ikt_sparse){.d = d->d};
    for (int64_t i = 0; i < count; steps++)
        i += wanted_together(d, rows + i, count - i);
    steps = ikt_max_one(d->ctx, steps);
    ikt_status st = ikt_agree(d->ctx, ikt_sparse_reserve(d->ctx, count, 0, out));
    for (int64_t step = 0, i = 0; st == IKT_OK && step < steps; step++) {
        const int64_t now = wanted_together(d, rows + i, count - i);
        const int64_t first = now > 0 ? rows[i] : 0;
        st = ikt_dataset_read_sparse(d, first, now > 0 ? rows[i + now - 1] - first + 1 : 0, &read);
        if (st == IKT_OK) st = ikt_agree(d->ctx, keep_wanted(d, &read, first, rows + i, now, out));
        i += now;
    }
    ikt_sparse_destroy(&read);
    return st;
}

ikt_status ikt_dataset_gather_sparse(ikt_dataset *d, const int64_t *rows, int64_t count,
                                     ikt_sparse *out) {
    const ikt_rows share = ikt_rows_make(count, ikt_size(d->ctx), ikt_rank(d->ctx));
    ikt_sparse own;
    *out = (ikt_sparse){0};
    ikt_status st = gather_share(d, rows + share.first, share.count, &own);
    if (st == IKT_OK) st = ikt_sparse_join(d->ctx, &own, out);
    ikt_sparse_destroy(&own);
    return st;
}

/* --- filled up -------------------------------------------------------------------------------- */

/* Where filled rows go, as floats or as doubles. */
typedef struct {
    float *floats;
    double *doubles;
} target;

static void fill(const ikt_sparse *from, int64_t row, target to) {
    const int64_t d = from->d;
    for (int64_t i = 0; i < from->count; i++, row++) {
        const ikt_sparse_row entries = ikt_sparse_row_of(from, i);
        if (to.floats) {
            memset(to.floats + row * d, 0, (size_t)d * sizeof *to.floats);
            ikt_sparse_fill(entries, to.floats + row * d);
            continue;
        }
        memset(to.doubles + row * d, 0, (size_t)d * sizeof *to.doubles);
        for (int64_t e = 0; e < entries.count; e++)
            to.doubles[row * d + entries.column[e]] = (double)entries.value[e];
    }
}

/* COLLECTIVE. */
static ikt_status fill_range(ikt_dataset *d, int64_t first, int64_t count, target to) {
    const int64_t block = ikt_dataset_block_rows(d);
    const int64_t steps = ikt_stream_steps(d->ctx, count, block);
    ikt_sparse rows = {0};
    ikt_status st = IKT_OK;
    for (int64_t step = 0; st == IKT_OK && step < steps; step++) {
        const ikt_row_range at = ikt_stream_step((ikt_row_range){first, count}, block, step);
        st = ikt_dataset_read_sparse(d, at.count > 0 ? at.first : 0, at.count, &rows);
        if (st == IKT_OK) fill(&rows, at.first - first, to);
    }
    ikt_sparse_destroy(&rows);
    return st;
}

ikt_status ikt_dataset_fill_floats(ikt_dataset *d, int64_t first, int64_t count, float *rows) {
    return fill_range(d, first, count, (target){.floats = rows});
}

ikt_status ikt_dataset_fill_doubles(ikt_dataset *d, int64_t first, int64_t count, double *rows) {
    return fill_range(d, first, count, (target){.doubles = rows});
}

ikt_status ikt_dataset_fill_gathered(ikt_dataset *d, const int64_t *rows, int64_t count,
                                     float *out) {
    ikt_sparse gathered;
    ikt_status st = ikt_dataset_gather_sparse(d, rows, count, &gathered);
    if (st == IKT_OK) fill(&gathered, 0, (target){.floats = out});
    ikt_sparse_destroy(&gathered);
    return st;
}
