/* A LIBSVM file that is parsed by all ranks. See libsvm_text.h. */
#include "io/formats/libsvm_text.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/comm.h"
#include "base/memory.h"
#include "dist/rows.h"

/* The names that one rank has, on all: a list at a time, so that no rank holds all of them twice.
 */
static ikt_status merge_names(ikt_libsvm_file *file, int from) {
    ikt_text_labels *labels = &file->part.labels;
    char *names = NULL;
    ikt_status st = IKT_OK;
    if (ikt_rank(file->ctx) == from) st = ikt_class_names_list(file->ctx, &labels->classes, &names);
    int64_t bytes = names ? (int64_t)strlen(names) + 1 : 0;
    ikt_broadcast(file->ctx, &bytes, sizeof bytes, from);
    if (ikt_rank(file->ctx) != from) st = ikt_alloc(file->ctx, &names, bytes, 1, "reader");
    st = ikt_agree(file->ctx, st);
    if (st == IKT_OK) {
        ikt_broadcast(file->ctx, names, bytes, from);
        st = ikt_class_names_add_lines(file->ctx, &labels->classes, names, &labels->are_many);
    }
    ikt_free(&names);
    return ikt_agree(file->ctx, st);
}

/* Integers stay what they are; names are numbered among those of the whole file. */
static ikt_status merge_labels(ikt_libsvm_file *file) {
    ikt_text_labels *labels = &file->part.labels;
    int64_t flags[3] = {labels->are_text, labels->are_many, labels->are_latin1};
    ikt_max_i64(file->ctx, flags, 3);
    labels->are_text = flags[0] > 0;
    labels->are_many = flags[1] > 0;
    labels->are_latin1 = flags[2] > 0;
    for (int rank = 0; rank < ikt_size(file->ctx) && labels->are_text && !flags[1]; rank++)
        IKT_TRY(merge_names(file, rank));
    return ikt_agree(
        file->ctx, ikt_text_labels_list(file->ctx, file->part.lines.path, labels, &file->classes));
}

/* Leaves the rows beyond those asked for out. The rank that has the last of them counts again. */
static ikt_status keep_first(ikt_libsvm_file *file, int64_t rows) {
    int64_t entries = file->part.entries;
    ikt_status st = IKT_OK;
    if (rows > file->n)
        return ikt_fail(file->ctx, IKT_ERR_USAGE, "--rows %lld, but %s has only %lld rows",
                        (long long)rows, file->part.lines.path, (long long)file->n);
    if (rows > 0 && rows < file->n) {
        const int64_t left = rows > file->first ? rows - file->first : 0;
        if (left < file->count) {
            st = ikt_libsvm_count(&file->part, left, &entries);
            file->count = left;
        }
        file->n = rows;
    }
    IKT_TRY(ikt_agree(file->ctx, st));
    file->entries = ikt_sum_one(file->ctx, entries);
    file->first_entry = ikt_sum_before(file->ctx, entries);
    return IKT_OK;
}

ikt_status ikt_libsvm_file_open(ikt_context *ctx, const char *path, ikt_type type, int64_t rows,
                                ikt_libsvm_file *file) {
    struct stat about = {0};
    ikt_libsvm_part *part = &file->part;
    const ikt_text_fault *fault = &part->lines.fault;
    ikt_status st = IKT_OK;
    *file = (ikt_libsvm_file){.ctx = ctx};
    /* Bytes of the file as rank 0 sees it: ranges must not depend on who asks. */
    if (ikt_rank(ctx) == 0 && stat(path, &about) != 0)
        st = ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, strerror(errno));
    IKT_TRY(ikt_agree(ctx, st));
    int64_t bytes = (int64_t)about.st_size;
    ikt_broadcast(ctx, &bytes, sizeof bytes, 0);
    const ikt_rows range = ikt_rows_make(bytes, ikt_size(ctx), ikt_rank(ctx));
    part->type = type;
    part->lines = (ikt_text_lines){
        .ctx = ctx, .path = path, .begin = range.first, .end = range.first + range.count};

    /* A fault is told with the number of its line in the file: the ranks before, whose lines it
     * counts, have none, or else their own comes first. */
    st = ikt_libsvm_scan(part);
    const bool bad = fault->status != IKT_OK;
    IKT_TRY(ikt_agree(ctx, bad ? IKT_OK : st));
    const int64_t before = ikt_sum_before(ctx, part->lines.number);
    IKT_TRY(ikt_agree(ctx, bad ? ikt_text_lines_report(&part->lines, before) : IKT_OK));

    int64_t sums[2] = {part->rows, part->entries}, least = part->least, greatest = part->greatest;
    ikt_sum_i64(ctx, sums, 2);
    ikt_min_i64(ctx, &least, 1);
    ikt_max_i64(ctx, &greatest, 1);
    file->n = sums[0];
    file->entries = sums[1];
    file->count = part->rows;
    file->first = ikt_sum_before(ctx, part->rows);
    ikt_libsvm_columns(least, greatest, &file->origin, &file->d);
    IKT_TRY(merge_labels(file));
    IKT_TRY(keep_first(file, rows));
    return ikt_agree(ctx, ikt_libsvm_rewind(part));
}

ikt_status ikt_libsvm_file_read(ikt_libsvm_file *file, int64_t rows, int64_t entries,
                                ikt_sparse_block *block) {
    const int64_t left = file->count - file->done;
    ikt_sparse_block_clear(block);
    IKT_TRY(ikt_libsvm_read(&file->part, rows < left ? rows : left, entries, file->origin, file->d,
                            block));
    file->done += block->rows;
    return IKT_OK;
}

void ikt_libsvm_file_close(ikt_libsvm_file *file) {
    ikt_libsvm_free(&file->part);
    ikt_free(&file->classes);
}
