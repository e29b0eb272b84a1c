/* Rows to be converted of a sparse matrix that stands by columns in an HDF5 file (sparse_group.h):
 * turned in the memory of rank 0, which has all of them. */
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "io/convert/row_feed.h"
#include "io/hdf5/h5.h"
#include "io/hdf5/sparse_group.h"
#include "io/numbers/element.h"
#include "io/numbers/sparse_block.h"
#include "io/sources/label_file.h"
#include "io/sources/label_names.h"
#include "io/sources/labels_h5.h"

typedef struct {
    ikt_sparse_block whole; /* rank 0 */
    int64_t *labels;        /* rank 0: of all rows; others: nothing */
} csc_self;

static ikt_status csc_sparse(ikt_row_feed *feed, int64_t rows, int64_t entries,
                             ikt_sparse_block *block) {
    const csc_self *self = feed->self;
    if (rows == 0) return IKT_OK;
    IKT_TRY(ikt_sparse_whole_read(feed->ctx, &self->whole, feed->done, rows, entries, block));
    if (!feed->labels) return IKT_OK;
    return ikt_feed_narrow_labels(feed, block->rows, self->labels + feed->done, block->labels);
}

static void csc_close(ikt_row_feed *feed) {
    csc_self *self = feed->self;
    if (!self) return;
    ikt_sparse_block_free(&self->whole);
    ikt_free(&self->labels);
    ikt_free(&self);
    feed->self = NULL;
}

static const ikt_row_feed_ops csc_ops = {.sparse = csc_sparse, .close = csc_close};

/* Bytes that were added up may be bytes no more. */
static ikt_type type_of(ikt_type stored, const ikt_sparse_block *whole) {
    for (int64_t e = 0; stored == IKT_TYPE_U8 && e < whole->entries; e++)
        if (!ikt_number_fits(IKT_TYPE_U8, whole->values[e])) return IKT_TYPE_F32;
    return stored;
}

/* LOCAL, on rank 0. */
static ikt_status turn(ikt_row_feed *feed, hid_t group, const char *name, int64_t facts[4]) {
    csc_self *self = feed->self;
    ikt_csc csc;
    ikt_status st = ikt_csc_read(feed->ctx, group, name, &csc);
    if (st == IKT_OK) {
        const ikt_sparse_places places = {.path = name,
                                          .n = csc.n,
                                          .d = csc.d,
                                          .entries = csc.entries,
                                          .rows = csc.rows,
                                          .column_starts = csc.starts,
                                          .values = csc.values};
        st = ikt_sparse_whole(feed->ctx, &places, &self->whole);
    }
    facts[0] = csc.n;
    facts[1] = csc.d;
    facts[2] = (int64_t)type_of(csc.type, &self->whole);
    ikt_csc_destroy(&csc);
    return st;
}

/* The first rows, as many as are wanted; on rank 0 all, on the others none. */
static ikt_status take_rows(ikt_row_feed *feed, int64_t rows, const int64_t facts[4]) {
    const csc_self *self = feed->self;
    const bool root = ikt_rank(feed->ctx) == 0;
    if (rows > facts[0])
        return ikt_fail(feed->ctx, IKT_ERR_USAGE, "--rows %lld, but %s has only %lld rows",
                        (long long)rows, feed->path, (long long)facts[0]);
    feed->n = rows > 0 ? rows : facts[0];
    feed->d = facts[1];
    feed->type = (ikt_type)facts[2];
    feed->sparse = feed->keeps_form = true;
    feed->entries = ikt_max_one(feed->ctx, root ? self->whole.ends[feed->n - 1] : 0);
    feed->count = root ? feed->n : 0;
    feed->first = root ? 0 : feed->n;
    feed->first_entry = root ? 0 : feed->entries;
    return IKT_OK;
}

/* Beside the matrix, a column of obs, or a file of their own. */
static ikt_status read_labels(ikt_row_feed *feed, hid_t file, const char *wanted, int64_t n) {
    csc_self *self = feed->self;
    const char *name = ikt_is_given(wanted) ? wanted : "labels";
    ikt_status st =
        ikt_alloc(feed->ctx, &self->labels, feed->count, sizeof *self->labels, "blocks");
    IKT_TRY(ikt_agree(feed->ctx, st));
    IKT_TRY(ikt_labels_read(feed->ctx, file, feed->path, name, n, 0, feed->count, self->labels,
                            &feed->labels, &feed->classes));
    if (!feed->labels && ikt_is_given(wanted))
        IKT_TRY(ikt_label_file_read(feed->ctx, name, n, 0, feed->count, self->labels, &feed->labels,
                                    &feed->classes));
    if (!feed->labels && ikt_is_given(wanted))
        return ikt_agree(feed->ctx, ikt_fail(feed->ctx, IKT_ERR_DATA,
                                             "%s has no labels '%s' (--labels), and there is no "
                                             "file of that name",
                                             feed->path, name));
    if (feed->labels && !ikt_is_given(wanted) && !feed->classes) {
        st = ikt_label_names_read(feed->ctx, file, feed->path, &feed->classes);
        if (st == IKT_OK)
            ikt_label_names_check(feed->ctx, feed->path, feed->classes, feed->count, self->labels);
        return ikt_agree(feed->ctx, st);
    }
    return IKT_OK;
}

static ikt_status read_group(ikt_row_feed *feed, hid_t file, hid_t group,
                             const ikt_feed_options *options) {
    csc_self *self = NULL;
    int64_t facts[4] = {0};
    char name[1024];
    snprintf(name, sizeof name, "%s:/%s", feed->path, options->dataset);
    IKT_TRY(ikt_agree(feed->ctx, ikt_alloc(feed->ctx, &self, 1, sizeof *self, "reader")));
    feed->self = self;
    feed->ops = &csc_ops;
    ikt_status st = ikt_rank(feed->ctx) == 0 ? turn(feed, group, name, facts) : IKT_OK;
    IKT_TRY(ikt_agree(feed->ctx, st));
    ikt_broadcast(feed->ctx, facts, sizeof facts, 0);
    IKT_TRY(take_rows(feed, options->rows, facts)); /* the same on all ranks */
    return read_labels(feed, file, options->labels, facts[0]);
}

ikt_status ikt_feed_from_csc(ikt_row_feed *feed, const ikt_feed_options *options, bool *taken) {
    hid_t file;
    *taken = false;
    IKT_TRY(ikt_h5_open(feed->ctx, feed->path, &file));
    hid_t group = ikt_h5_open_object(file, options->dataset);
    const bool here = group >= 0 && H5Iget_type(group) == H5I_GROUP && ikt_csc_is_here(group);
    ikt_status st = IKT_OK;
    *taken = ikt_max_one(feed->ctx, here) > 0;
    if (*taken) st = read_group(feed, file, group, options);
    ikt_h5_close(group);
    ikt_h5_close(file);
    return st;
}
