/* Rows of data in the group of a sparse matrix. See source_csr.h. */
#include "io/sources/source_csr.h"

#include <omp.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "dist/rows.h"
#include "io/hdf5/h5.h"
#include "io/hdf5/sparse_group.h"

enum {
    LEVELS = 15, /* blocks of 2^0 .. 2^14 rows */
    LARGEST = 1 << (LEVELS - 1),
    PIECE = 8 * LARGEST,    /* rows of indptr looked at together */
    BLOCK_ENTRIES = 1 << 20 /* 12 MiB */
};

struct ikt_csr_reader {
    ikt_csr_group group;
    ikt_csr_facts facts;
};

/* --- opening ---------------------------------------------------------------------------------- */

/* Bytes come as float32: rows of bytes would have to be dense. */
static void learn(ikt_csr_reader *csr) {
    const ikt_csr_group *g = &csr->group;
    csr->facts.n = g->n;
    csr->facts.d = g->d;
    csr->facts.stored = g->number.type;
    csr->facts.type = g->number.type == IKT_TYPE_F64 ? IKT_TYPE_F64 : IKT_TYPE_F32;
}

ikt_status ikt_csr_open(ikt_context *ctx, hid_t group, const char *name, ikt_csr_reader **out) {
    ikt_status st = ikt_alloc(ctx, out, 1, sizeof **out, "source");
    if (st != IKT_OK) {
        ikt_h5_close(group);
        return st;
    }
    st = ikt_csr_group_open(ctx, group, name, INT32_MAX, &(*out)->group);
    if (st == IKT_OK)
        learn(*out);
    else
        ikt_csr_close(out);
    return st;
}

void ikt_csr_close(ikt_csr_reader **csr) {
    if (!*csr) return;
    ikt_csr_group_close(&(*csr)->group);
    ikt_free(csr);
}

const ikt_csr_facts *ikt_csr_about(const ikt_csr_reader *csr) {
    return &csr->facts;
}

/* --- indptr ----------------------------------------------------------------------------------- */

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
    ikt_context *ctx = csr->group.ctx;
    const ikt_rows pieces = ikt_rows_make((rows + PIECE - 1) / PIECE, ikt_size(ctx), ikt_rank(ctx));
    int64_t *start = NULL;
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &start, PIECE + 1, sizeof *start, "source"));
    for (int64_t p = 0; st == IKT_OK && p < ikt_rows_count(&pieces, 0); p++) {
        const int64_t first = p < pieces.count ? (pieces.first + p) * PIECE : 0;
        int64_t count = p < pieces.count ? rows - first : 0;
        if (count > PIECE) count = PIECE;
        st = ikt_csr_group_starts(&csr->group, first, count, start);
        if (st != IKT_OK || count == 0) continue;
        note_blocks(start, count, most);
        *end = start[count];
    }
    ikt_free(&start);
    return st;
}

/* Entries that belong to no row are those of rows that were lost. */
static ikt_status check_end(const ikt_csr_reader *csr, int64_t end) {
    const ikt_csr_group *g = &csr->group;
    if (end == g->entries) return IKT_OK;
    return ikt_fail(g->ctx, IKT_ERR_DATA,
                    "%s is damaged: the rows of indptr end at entry %lld, but there are %lld",
                    g->name, (long long)end, (long long)g->entries);
}

ikt_status ikt_csr_scan(ikt_csr_reader *csr, int64_t rows) {
    int64_t most[LEVELS] = {0}, end = 0;
    ikt_csr_facts *facts = &csr->facts;
    const bool is_all = rows <= 0 || rows >= facts->n;
    IKT_TRY(scan_share(csr, is_all ? facts->n : rows, most, &end));
    ikt_max_i64(csr->group.ctx, most, LEVELS);
    facts->entries = ikt_max_one(csr->group.ctx, end);
    if (is_all) IKT_TRY(check_end(csr, facts->entries));
    facts->longest = most[0];
    facts->block = 1;
    for (int level = 1; level < LEVELS && most[level] <= BLOCK_ENTRIES; level++)
        facts->block = INT64_C(1) << level;
    return IKT_OK;
}

/* --- rows ------------------------------------------------------------------------------------- */

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
    ikt_context *ctx = csr->group.ctx;
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

/* COLLECTIVE. The rows as they are stored; starts as in the file. */
static ikt_status read_stored(const ikt_csr_group *g, int64_t first, int64_t count,
                              ikt_sparse_rows *rows) {
    ikt_context *ctx = g->ctx;
    IKT_TRY(ikt_agree(ctx, ikt_sparse_rows_reserve(ctx, count, 0, rows)));
    IKT_TRY(ikt_csr_group_starts(g, first, count, rows->start));
    const int64_t entries = rows->start[count] - rows->start[0];
    IKT_TRY(ikt_agree(ctx, ikt_sparse_rows_reserve(ctx, count, entries, rows)));
    /* Columns are below 2^31, so that it does not matter whether they have a sign. */
    return ikt_csr_group_entries(g, first, count, rows->start, (uint32_t *)rows->column,
                                 rows->value);
}

ikt_status ikt_csr_read(ikt_csr_reader *csr, int64_t first, int64_t count, ikt_sparse_rows *rows) {
    rows->count = 0;
    IKT_TRY(read_stored(&csr->group, first, count, rows));
    const int64_t begin = rows->start[0];
    for (int64_t i = 0; i <= count; i++)
        rows->start[i] -= begin;
    rows->count = count;
    return ikt_agree(csr->group.ctx, order_rows(csr, rows));
}
