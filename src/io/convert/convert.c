/* Files of foreign formats as HDF5. See convert.h. */
#include "io/convert/convert.h"

#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "base/log.h"
#include "io/numbers/element.h"

static const int64_t block_bytes = (int64_t)8 << 20, block_entries = (int64_t)1 << 20;

/* A row is a few MB, and a whole table what a large node holds. */
static const int64_t columns_most = (int64_t)1 << 22;
static const double table_most = 68719476736.0; /* 2^36 */

typedef struct {
    ikt_context *ctx;
    ikt_row_feed *feed;
    ikt_table_writer *writer;
    ikt_type type;      /* of the file written */
    bool keeps_missing; /* NaN among dense rows is written, not refused */
} conversion;

/* Blocks of rows, as read and as written. */
typedef struct {
    void *read, *written;
    int32_t *labels;
    ikt_sparse_block sparse;
} blocks;

static ikt_status does_not_fit(const conversion *c, int64_t row, int64_t column, double value) {
    return ikt_fail(c->ctx, IKT_ERR_DATA,
                    "%s, row %lld, column %lld (counted from 0): %g cannot be stored as %s",
                    c->feed->path, (long long)row, (long long)column, value,
                    ikt_type_name(c->type));
}

/* COLLECTIVE. The next sparse rows, whose values must fit before they are spread or narrowed. */
static ikt_status next_sparse(conversion *c, int64_t most, int64_t most_entries,
                              ikt_sparse_block *block) {
    const int64_t first = c->feed->first + c->feed->done;
    ikt_status st = IKT_OK;
    IKT_TRY(ikt_row_feed_sparse(c->feed, most, most_entries, block));
    for (int64_t row = 0; row < block->rows && st == IKT_OK; row++)
        for (int64_t e = ikt_sparse_block_first(block, row); e < block->ends[row]; e++)
            if (!ikt_number_fits(c->type, block->values[e])) {
                st = does_not_fit(c, first + row, block->columns[e], block->values[e]);
                break;
            }
    return ikt_agree(c->ctx, st);
}

/* COLLECTIVE. The next dense rows into b->written, from whichever form they come in. */
static ikt_status next_dense(conversion *c, int64_t most, blocks *b, int64_t *count) {
    const ikt_feed_shape *shape = &c->feed->shape;
    if (shape->sparse) {
        IKT_TRY(next_sparse(c, most, INT64_MAX, &b->sparse));
        *count = b->sparse.rows;
        ikt_sparse_block_spread(&b->sparse, shape->d, c->type, b->written);
        if (*count > 0) memcpy(b->labels, b->sparse.labels, (size_t)*count * sizeof *b->labels);
        return IKT_OK;
    }
    const int64_t first = c->feed->first + c->feed->done, d = shape->d;
    ikt_status st = IKT_OK;
    IKT_TRY(ikt_row_feed_dense(c->feed, most, b->read, b->labels, count));
    const int64_t bad =
        ikt_recast(shape->type, b->read, c->type, c->keeps_missing, b->written, *count * d);
    if (bad >= 0)
        st = does_not_fit(c, first + bad / d, bad % d, ikt_number_at(shape->type, b->read, bad));
    return ikt_agree(c->ctx, st);
}

/* COLLECTIVE. Block after block to the file, until no rank has any rows left. */
static ikt_status copy_blocks(conversion *c, bool sparse, int64_t most, blocks *b) {
    const ikt_row_feed *feed = c->feed;
    int64_t first_entry = feed->first_entry, rows_done = 0, count, all;
    do {
        const int64_t first = feed->first + feed->done;
        if (sparse) {
            IKT_TRY(next_sparse(c, block_entries, block_entries, &b->sparse));
            count = b->sparse.rows;
        } else {
            IKT_TRY(next_dense(c, most, b, &count));
        }
        all = ikt_sum_one(c->ctx, count);
        if (all > 0 && sparse) {
            const int64_t entries = b->sparse.entries;
            IKT_TRY(ikt_sparse_write(c->writer, first, first_entry, &b->sparse));
            first_entry += entries;
        } else if (all > 0) {
            IKT_TRY(ikt_table_write(c->writer, first, count, b->written,
                                    feed->shape.labels ? b->labels : NULL));
            for (int64_t t = 0; t < feed->texts; t++)
                IKT_TRY(ikt_table_write_texts(c->writer, &feed->text[t].about, first, count,
                                              feed->text[t].block));
        }
        rows_done += all;
        ikt_progress(c->ctx, "rows", rows_done, feed->shape.n, NULL);
    } while (all > 0);
    return IKT_OK;
}

static ikt_status copy_rows(conversion *c, bool sparse) {
    const int64_t d = c->feed->shape.d, n = c->feed->shape.n;
    int64_t row_bytes = 8 * d;
    for (int64_t t = 0; t < c->feed->texts; t++)
        row_bytes += c->feed->text[t].about.width;
    const int64_t most = block_bytes / row_bytes < n ? block_bytes / row_bytes + 1 : n;
    blocks b = {NULL, NULL, NULL, {0}};
    IKT_ARRAYS(held, c->ctx, "blocks");
    if (!sparse && !c->feed->shape.sparse) b.read = ikt_claim(&held, most * d, 8);
    if (!sparse) {
        b.written = ikt_claim(&held, most * d, ikt_type_size(c->type));
        b.labels = ikt_claim(&held, most, sizeof *b.labels);
    }
    IKT_TRY(ikt_arrays_agree(&held));
    const ikt_status st = copy_blocks(c, sparse, most, &b);
    ikt_sparse_block_free(&b.sparse);
    return st;
}

/* COLLECTIVE. Everything that the file holds. */
static ikt_status write_content(conversion *c, bool sparse) {
    ikt_row_feed *feed = c->feed;
    int64_t *marked = NULL, count = 0;
    IKT_ARRAYS(held, c->ctx, "texts");
    ikt_table_text *text = ikt_claim(&held, feed->texts, sizeof *text);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t t = 0; t < feed->texts; t++)
        text[t] = feed->text[t].about;
    IKT_TRY(ikt_table_texts(c->writer, feed->shape.n, text, feed->texts));
    ikt_arrays_free(&held);
    IKT_TRY(copy_rows(c, sparse));
    if (feed->classes) IKT_TRY(ikt_table_attribute(c->writer, "label_names", feed->classes));
    if (feed->source) IKT_TRY(ikt_source_read_marked(feed->source, &marked, &count));
    ikt_arrays_take(&held, marked);
    if (count > 0) IKT_TRY(ikt_table_marked(c->writer, marked, count));
    return ikt_table_attribute(c->writer, "source", feed->path);
}

static ikt_sparse_shape shape_of(const conversion *c) {
    const ikt_feed_shape *shape = &c->feed->shape;
    return (ikt_sparse_shape){shape->n, shape->d, shape->entries, c->type, shape->labels};
}

static ikt_status write_output(conversion *c, const char *out, bool overwrite, bool sparse) {
    const ikt_sparse_shape shape = shape_of(c);
    IKT_TRY(sparse ? ikt_sparse_create(c->ctx, out, overwrite, &shape, &c->writer)
                   : ikt_table_create(c->ctx, out, overwrite, shape.n, shape.d, c->type,
                                      shape.labels, &c->writer));
    return ikt_table_close(&c->writer, write_content(c, sparse));
}

/* Sparse or dense; the same on all ranks. */
static ikt_status choose_form(const conversion *c, ikt_sparse_choice choice, bool *sparse) {
    const ikt_feed_shape *rows = &c->feed->shape;
    const char *path = c->feed->path;
    const ikt_sparse_shape shape = shape_of(c);
    const double dense = (double)rows->n * (double)rows->d * (double)ikt_type_size(c->type);
    *sparse = rows->sparse && choice != IKT_SPARSE_NO;
    if (choice == IKT_SPARSE_AUTO && !rows->keeps_form && 2 * ikt_sparse_bytes(&shape) > dense)
        *sparse = false;
    if (choice == IKT_SPARSE_YES && !rows->sparse)
        return ikt_fail(c->ctx, IKT_ERR_USAGE,
                        "the rows of %s are dense and are written so; --sparse yes is for LIBSVM "
                        "and for sparse matrices of HDF5, NPZ and MATLAB files",
                        path);
    if (*sparse || !rows->sparse || (rows->d <= columns_most && dense <= table_most)) return IKT_OK;
    return ikt_fail(c->ctx, IKT_ERR_USAGE,
                    "%s has %lld rows of %lld columns: as a dense table of %s that takes %.3g GB; "
                    "of sparse data, tables of up to %lld columns and %.3g GB are made. Write them "
                    "sparse (--sparse yes)",
                    path, (long long)rows->n, (long long)rows->d, ikt_type_name(c->type),
                    dense / 1e9, (long long)columns_most, table_most / 1e9);
}

ikt_status ikt_convert(ikt_context *ctx, const char *in, const char *out,
                       const ikt_convert_options *options, ikt_converted *made) {
    ikt_feed_options feed_options = options->feed;
    ikt_row_feed *feed IKT_AT_END(ikt_row_feed_close) = NULL;
    ikt_context *claims IKT_AT_END(ikt_part_unclaim) = ctx;
    feed_options.reader.as = options->as;
    IKT_TRY(ikt_atomic_check(ctx, out, options->overwrite)); /* before a long input is read */
    IKT_TRY(ikt_row_feed_open(ctx, in, &feed_options, &feed));
    const ikt_feed_shape *shape = &feed->shape;
    conversion c = {.ctx = ctx,
                    .feed = feed,
                    .type = options->as ? (ikt_type)(options->as - 1) : shape->type,
                    .keeps_missing = options->feed.reader.keeps_missing};
    *made = (ikt_converted){.n = shape->n, .d = shape->d, .type = c.type, .labels = shape->labels};
    for (int64_t t = 0; t < feed->texts; t++)
        ikt_join(made->texts, sizeof made->texts, ", ", "%s", feed->text[t].about.name);
    IKT_TRY(choose_form(&c, options->sparse, &made->sparse));
    if (made->sparse) made->entries = shape->entries;
    return write_output(&c, out, options->overwrite, made->sparse);
}
