/* Graphs of other formats than HDF5. See foreign_graph.h. */
#include "io/results/foreign_graph.h"

#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "dist/rows.h"
#include "dist/shuffle.h"
#include "io/formats/matrix_market.h"
#include "io/formats/reader.h"

/* Entries that a rank parses before they go to their ranks, and bytes of a range at least. */
enum { ROUND = 1 << 18, RANGE_LEAST = 1 << 12 };

static const char purpose[] = "graph file";

/* How an archive is read. */
static const ikt_reader_options plain = {.label_column = "", .skip_columns = ""};

struct ikt_foreign_graph {
    ikt_context *ctx;
    char *path;
    bool is_text; /* Matrix Market; otherwise an archive */
    ikt_matrix_market about;
    ikt_rows rows;
    bool is_read;
    int64_t before;  /* entries of the ranks below */
    int64_t entries; /* over all ranks */
    int64_t *start;  /* [rows.count + 1] of the own entries, from 0 on */
    uint32_t *column;
    double *value;
};

/* --- opening ---------------------------------------------------------------------------------- */

/* LOCAL. Rank 0 alone. */
static ikt_status read_header(ikt_foreign_graph *g) {
    g->is_text = ikt_matrix_market_is(g->path);
    if (g->is_text) {
        ikt_text_lines lines IKT_AT_END(ikt_text_lines_free) = {
            .ctx = g->ctx, .path = g->path, .begin = 0, .end = INT64_MAX};
        ikt_status st = ikt_text_lines_open(&lines);
        if (st == IKT_OK) st = ikt_matrix_market_header(&lines, false, &g->about);
        return lines.fault.status == IKT_OK ? st : ikt_text_lines_report(&lines, 0);
    }
    ikt_reader *reader IKT_AT_END(ikt_reader_close) = NULL;
    IKT_TRY(ikt_reader_open(g->ctx, g->path, &plain, &reader));
    if (!reader->sparse)
        return ikt_fail(g->ctx, IKT_ERR_DATA,
                        "%s holds a dense array; a graph is a sparse matrix, as "
                        "scipy.sparse.save_npz writes it, and a dense matrix of all pairs is read "
                        "from .npy",
                        g->path);
    g->about =
        (ikt_matrix_market){.rows = reader->n, .columns = reader->d, .entries = reader->entries};
    return IKT_OK;
}

/* COLLECTIVE. What stands before the entries, as rank 0 reads it. */
static ikt_status begin(ikt_foreign_graph *g, const char *path) {
    ikt_context *ctx = g->ctx;
    const ikt_matrix_market *about = &g->about;
    IKT_TRY(ikt_alloc_all(ctx, &g->path, (int64_t)strlen(path) + 1, 1, purpose));
    strcpy(g->path, path);
    IKT_TRY(ikt_agree(ctx, ikt_rank(ctx) == 0 ? read_header(g) : IKT_OK));
    ikt_broadcast(ctx, &g->is_text, (int64_t)sizeof g->is_text, 0);
    ikt_broadcast(ctx, &g->about, (int64_t)sizeof g->about, 0);
    if (about->rows != about->columns)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s has %lld rows but %lld columns; a graph is square, a row and a column "
                        "for each point",
                        path, (long long)about->rows, (long long)about->columns);
    if (about->rows < 1 || about->rows >= (int64_t)UINT32_MAX)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s has %lld rows; a graph has 1 to 4,294,967,294", path,
                        (long long)about->rows);
    g->rows = ikt_rows_make(about->rows, ikt_size(ctx), ikt_rank(ctx));
    g->entries = (about->is_symmetric ? 2 : 1) * about->entries;
    return IKT_OK;
}

ikt_status ikt_foreign_graph_open(ikt_context *ctx, const char *path, ikt_foreign_graph **out) {
    *out = NULL;
    IKT_TRY(ikt_alloc_all(ctx, out, 1, sizeof **out, purpose));
    (*out)->ctx = ctx;
    const ikt_status st = begin(*out, path);
    if (st != IKT_OK) ikt_foreign_graph_close(out);
    return st;
}

void ikt_foreign_graph_close(ikt_foreign_graph **graph) {
    ikt_foreign_graph *g = *graph;
    if (!g) return;
    ikt_free_all(&g->path, &g->start, &g->column, &g->value);
    ikt_free(graph);
}

int64_t ikt_foreign_graph_rows(const ikt_foreign_graph *graph) {
    return graph->about.rows;
}

int64_t ikt_foreign_graph_entries(const ikt_foreign_graph *graph) {
    return graph->entries;
}

bool ikt_foreign_graph_is_pattern(const ikt_foreign_graph *graph) {
    return graph->about.is_pattern;
}

/* --- where entries come from ------------------------------------------------------------------ */

/* What a rank parses. */
typedef struct {
    const ikt_foreign_graph *graph;
    ikt_text_lines lines;
    ikt_reader *reader;
    ikt_sparse_block block;
    int64_t row, at;  /* of the block: of its first row in the matrix; the next entry */
    int64_t in_block; /* row of that entry in the block */
    int64_t parsed;   /* entries so far, mirror images not counted */
    bool is_done;
} parsing;

/* LOCAL. The bytes between the header and the end, a range for each rank. */
static ikt_status begin_text(const ikt_foreign_graph *g, parsing *p) {
    const ikt_matrix_market *about = &g->about;
    const int64_t ranks = g->rows.ranks, rank = ikt_rank(g->ctx);
    p->lines = (ikt_text_lines){.ctx = g->ctx, .path = g->path, .begin = 0, .end = INT64_MAX};
    p->is_done = about->is_packed && rank > 0;
    if (p->is_done) return IKT_OK;
    if (!about->is_packed) {
        FILE *file = fopen(g->path, "rb");
        const int64_t size = file && fseek(file, 0, SEEK_END) == 0 ? (int64_t)ftell(file) : -1;
        if (file) fclose(file);
        if (size < 0) return ikt_fail(g->ctx, IKT_ERR_FILE, "%s cannot be read", g->path);
        const int64_t bytes = size > about->body ? size - about->body : 0;
        int64_t part = (bytes + ranks - 1) / ranks;
        if (part < RANGE_LEAST) part = RANGE_LEAST;
        p->lines.begin = about->body + rank * part;
        p->lines.end = about->body + (rank + 1) * part;
        p->is_done = p->lines.begin >= size;
        if (p->is_done) return IKT_OK;
        const ikt_status st = ikt_text_lines_open(&p->lines);
        if (p->lines.fault.status == IKT_OK) return st;
        return ikt_fail(g->ctx, st, "%s: the line at byte %lld is %s", g->path,
                        (long long)p->lines.begin, p->lines.fault.what);
    }
    ikt_matrix_market again;
    IKT_TRY(ikt_text_lines_open(&p->lines));
    return ikt_matrix_market_header(&p->lines, false, &again);
}

/* LOCAL. Rank 0 alone has an archive. */
static ikt_status begin_archive(const ikt_foreign_graph *g, parsing *p) {
    p->is_done = ikt_rank(g->ctx) > 0;
    return p->is_done ? IKT_OK : ikt_reader_open(g->ctx, g->path, &plain, &p->reader);
}

/* LOCAL. The next entry of an archive. */
static ikt_status next_of_archive(parsing *p, ikt_matrix_entry *entry, bool *found) {
    ikt_reader *reader = p->reader;
    while (p->at == p->block.entries && p->row + p->block.rows < reader->n) {
        p->row += p->block.rows;
        p->at = p->in_block = 0;
        IKT_TRY(ikt_reader_read_sparse(reader, reader->n - p->row, ROUND, &p->block));
    }
    *found = p->at < p->block.entries;
    if (!*found) return IKT_OK;
    while (p->block.ends[p->in_block] <= p->at)
        p->in_block++;
    *entry = (ikt_matrix_entry){(uint32_t)(p->row + p->in_block), (uint32_t)p->block.columns[p->at],
                                p->block.values[p->at]};
    p->at++;
    return IKT_OK;
}

/* LOCAL. Parses until there are ROUND entries, or none any more.
 *   entry   [2 * ROUND], receives them with their mirror images */
static ikt_status parse_some(parsing *p, ikt_matrix_entry *entry, int64_t *count) {
    const ikt_matrix_market *about = &p->graph->about;
    *count = 0;
    for (int64_t e = 0; e < ROUND && !p->is_done; e++) {
        ikt_matrix_entry *next = &entry[*count];
        bool found;
        IKT_TRY(p->graph->is_text ? ikt_matrix_market_next(&p->lines, about, next, &found)
                                  : next_of_archive(p, next, &found));
        p->is_done = !found;
        if (!found) break;
        p->parsed++;
        *count += 1;
        if (!about->is_symmetric || next->row == next->column) continue;
        entry[(*count)++] = (ikt_matrix_entry){next->column, next->row, next->value};
    }
    return IKT_OK;
}

static void end_parsing(parsing *p) {
    ikt_text_lines_free(&p->lines);
    ikt_reader_close(&p->reader);
    ikt_sparse_block_free(&p->block);
}

/* COLLECTIVE. After a fault on some rank: the ranks below go on to the end of their ranges, as
 * there may be one before it, and the first of all is told with its line in the file.
 *   st   of this rank */
static ikt_status report_fault(ikt_context *ctx, parsing *p, ikt_status st) {
    const ikt_matrix_market *about = &p->graph->about;
    const bool is_first = ikt_rank(ctx) == 0;
    ikt_matrix_entry entry;
    bool found = !p->is_done;
    while (st == IKT_OK && found)
        st = ikt_matrix_market_next(&p->lines, about, &entry, &found);
    /* A packed file is one range, which begins with the header. */
    const int64_t own = p->lines.number + (is_first && !about->is_packed ? about->lines : 0);
    const int64_t before = ikt_sum_before(ctx, own);
    if (st != IKT_OK && p->lines.fault.status != IKT_OK)
        st = ikt_text_lines_report(&p->lines,
                                   before + (is_first && !about->is_packed ? about->lines : 0));
    return ikt_agree(ctx, st);
}

/* --- own rows --------------------------------------------------------------------------------- */

/* Entries of own rows as they arrive. */
typedef struct {
    ikt_matrix_entry *entry;
    int64_t count, capacity;
} arrivals;

/* COLLECTIVE. Sends entries to the ranks of their rows.
 *   grouped   [2 * ROUND] scratch */
static ikt_status deal(ikt_context *ctx, const ikt_rows *rows, ikt_shuffle *shuffle,
                       const ikt_matrix_entry *entry, int64_t count, ikt_matrix_entry *grouped,
                       arrivals *out) {
    ikt_shuffle_clear(ctx, shuffle);
    for (int64_t e = 0; e < count; e++)
        ikt_shuffle_count(shuffle, ikt_rows_owner(rows, entry[e].row));
    ikt_shuffle_group(ctx, shuffle);
    for (int64_t e = 0; e < count; e++)
        grouped[ikt_shuffle_next(shuffle, ikt_rows_owner(rows, entry[e].row))] = entry[e];
    ikt_shuffle_meet(ctx, shuffle);
    const int64_t needed = out->count + shuffle->received;
    ikt_status st = IKT_OK;
    if (needed > out->capacity) {
        out->capacity = needed + needed / 2;
        st = ikt_resize(ctx, &out->entry, out->capacity, sizeof *out->entry, purpose);
    }
    IKT_TRY(ikt_agree(ctx, st));
    ikt_shuffle_send(ctx, shuffle, grouped, out->entry + out->count, sizeof *grouped);
    out->count = needed;
    return IKT_OK;
}

/* LOCAL. Brings what has arrived into rows. */
static ikt_status sort_rows(ikt_foreign_graph *g, const arrivals *all) {
    ikt_context *ctx = g->ctx;
    IKT_TRY(ikt_alloc(ctx, &g->start, g->rows.count + 1, sizeof *g->start, purpose));
    IKT_TRY(ikt_alloc(ctx, &g->column, all->count, sizeof *g->column, purpose));
    IKT_TRY(ikt_alloc(ctx, &g->value, all->count, sizeof *g->value, purpose));
    int64_t *start = g->start;
    for (int64_t e = 0; e < all->count; e++)
        start[all->entry[e].row - g->rows.first + 1]++;
    for (int64_t i = 0; i < g->rows.count; i++)
        start[i + 1] += start[i];
    for (int64_t e = 0; e < all->count; e++) {
        const int64_t at = start[all->entry[e].row - g->rows.first]++;
        g->column[at] = all->entry[e].column;
        g->value[at] = all->entry[e].value;
    }
    for (int64_t i = g->rows.count; i > 0; i--) /* the fill has moved them on */
        start[i] = start[i - 1];
    start[0] = 0;
    return IKT_OK;
}

/* COLLECTIVE. Parses all entries and sends each to the rank of its row. */
static ikt_status parse_all(ikt_foreign_graph *g, parsing *p, arrivals *all) {
    ikt_context *ctx = g->ctx;
    ikt_shuffle shuffle IKT_AT_END(ikt_shuffle_destroy) = {.send_counts = NULL};
    IKT_ARRAYS(held, ctx, purpose);
    ikt_matrix_entry *entry = ikt_claim(&held, 2 * ROUND, sizeof *entry);
    ikt_matrix_entry *grouped = ikt_claim(&held, 2 * ROUND, sizeof *grouped);
    if (held.status == IKT_OK) held.status = ikt_shuffle_create(ctx, purpose, &shuffle);
    if (held.status == IKT_OK) held.status = g->is_text ? begin_text(g, p) : begin_archive(g, p);
    IKT_TRY(ikt_arrays_agree(&held));
    do {
        int64_t count = 0;
        const ikt_status st = parse_some(p, entry, &count);
        if (ikt_max_one(ctx, st != IKT_OK) > 0)
            return g->is_text ? report_fault(ctx, p, st) : ikt_agree(ctx, st);
        IKT_TRY(deal(ctx, &g->rows, &shuffle, entry, count, grouped, all));
    } while (ikt_max_one(ctx, !p->is_done) > 0);
    const int64_t parsed = ikt_sum_one(ctx, p->parsed);
    if (parsed == g->about.entries) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA, "%s announces %lld entries and holds %lld: is it damaged?",
                    g->path, (long long)g->about.entries, (long long)parsed);
}

/* COLLECTIVE. Reads all entries, each to the rank of its row. */
static ikt_status read_entries(ikt_foreign_graph *g) {
    parsing p = {.graph = g};
    arrivals all = {.entry = NULL};
    ikt_status st = parse_all(g, &p, &all);
    end_parsing(&p);
    if (st == IKT_OK) st = ikt_agree(g->ctx, sort_rows(g, &all));
    ikt_free(&all.entry);
    IKT_TRY(st);
    g->entries = ikt_sum_one(g->ctx, all.count);
    g->before = ikt_sum_before(g->ctx, all.count);
    g->is_read = true;
    return IKT_OK;
}

ikt_status ikt_foreign_graph_starts(ikt_foreign_graph *g, int64_t first, int64_t count,
                                    int64_t *start) {
    if (!g->is_read) IKT_TRY(read_entries(g));
    for (int64_t i = 0; i <= count; i++)
        start[i] = g->before + g->start[first - g->rows.first + i];
    return IKT_OK;
}

void ikt_foreign_graph_edges(const ikt_foreign_graph *g, int64_t first, int64_t count,
                             uint32_t *column, double *value) {
    const int64_t *start = g->start + (first - g->rows.first);
    const int64_t entries = start[count] - start[0];
    if (entries == 0) return;
    memcpy(column, g->column + start[0], (size_t)entries * sizeof *column);
    memcpy(value, g->value + start[0], (size_t)entries * sizeof *value);
}
