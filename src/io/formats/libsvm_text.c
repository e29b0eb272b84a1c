/* LIBSVM's text: a part of a file, the reader of what is compressed, which has no ranges and is
 * read by one rank, and a plain file, of which every rank has a part. See libsvm_text.h. */
#include "io/formats/libsvm_text.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/comm.h"
#include "base/memory.h"
#include "dist/rows.h"
#include "io/formats/reader.h"
#include "io/numbers/element.h"

static const int64_t index_most = (int64_t)1 << 62;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static bool ends_word(char c) {
    return c == '\0' || is_blank(c);
}

/* "12:", perhaps with a sign: where a label is expected, and refused later by a message of its own
 * where an index is. */
static bool begins_pair(const char *at) {
    if (*at == '-' || *at == '+') at++;
    if (!is_digit(*at)) return false;
    while (is_digit(*at))
        at++;
    return *at == ':';
}

static const char *why_no_value(ikt_type type, double value) {
    if (type == IKT_TYPE_U8 && isfinite(value))
        return "has a value that is no uint8, an integer from 0 to 255";
    return type == IKT_TYPE_F32 ? "has a value that is not a finite number of float32"
                                : "has a value that is not a finite number";
}

/* The pairs of a line, from `at` on, as entries behind those of the block. */
static ikt_status take_pairs(ikt_libsvm_part *part, const char *line, const char *at,
                             ikt_sparse_block *block) {
    ikt_text_lines *lines = &part->lines;
    int64_t before = -1;
    while (is_blank(*at))
        at++;
    while (*at) {
        const char *pair = at;
        int64_t index = 0;
        double value;
        for (; is_digit(*at); at++)
            index = index < index_most / 10 ? 10 * index + (*at - '0') : index_most;
        if (at == pair || *at != ':')
            return ikt_text_lines_fault(lines, IKT_ERR_DATA, line, pair,
                                        strncmp(pair, "qid:", 4) == 0
                                            ? "is the number of a query; data for ranking are not "
                                              "read: take these entries out"
                                            : "is no pair index:value with an index from 0");
        if (index >= index_most)
            return ikt_text_lines_fault(lines, IKT_ERR_DATA, line, pair,
                                        "has an index that is too large");
        if (index <= before)
            return ikt_text_lines_fault(lines, IKT_ERR_DATA, line, pair,
                                        "does not follow: indices ascend within a line, each once");
        before = index;
        at++;
        if (ends_word(*at) || !ikt_decimal(at, &at, &value) || !ends_word(*at))
            return ikt_text_lines_fault(lines, IKT_ERR_DATA, line, pair,
                                        "has a value that is no number");
        if (!ikt_number_fits(part->type, value))
            return ikt_text_lines_fault(lines, IKT_ERR_DATA, line, pair,
                                        why_no_value(part->type, value));
        if (block->entries == block->entry_capacity)
            IKT_TRY(ikt_sparse_block_reserve(lines->ctx, block, 0, 1024));
        block->columns[block->entries] = index;
        block->values[block->entries++] = value;
        while (is_blank(*at))
            at++;
    }
    return IKT_OK;
}

/* Appends the next row to the block, with columns as the file counts them; its label, as text,
 * stays where it is until the next line. *label = NULL behind the last row. Comments are cut off.
 */
static ikt_status next_row(ikt_libsvm_part *part, ikt_sparse_block *block, char **label) {
    char *line;
    int64_t length;
    do {
        *label = NULL;
        IKT_TRY(ikt_text_lines_next(&part->lines, &line, &length));
        if (!line) return IKT_OK;
        char *comment = memchr(line, '#', (size_t)length);
        if (comment) *comment = '\0';
        *label = line + strspn(line, " \t");
    } while (**label == '\0');
    if (begins_pair(*label) || strncmp(*label, "qid:", 4) == 0)
        return ikt_text_lines_fault(&part->lines, IKT_ERR_DATA, line, *label,
                                    "stands where the label of the row is expected");
    char *end = *label + strcspn(*label, " \t");
    IKT_TRY(ikt_sparse_block_reserve(part->lines.ctx, block, 1, 0));
    IKT_TRY(take_pairs(part, line, end, block));
    block->ends[block->rows++] = block->entries;
    *end = '\0';
    return IKT_OK;
}

ikt_status ikt_libsvm_scan(ikt_libsvm_part *part) {
    ikt_sparse_block *row = &part->line;
    char *label;
    part->rows = part->entries = 0;
    part->least = INT64_MAX;
    part->greatest = -1;
    IKT_TRY(ikt_text_lines_open(&part->lines));
    for (;;) {
        ikt_sparse_block_clear(row);
        IKT_TRY(next_row(part, row, &label));
        if (!label) break;
        part->rows++;
        part->entries += row->entries;
        if (row->entries > 0) {
            const int64_t first = row->columns[0], last = row->columns[row->entries - 1];
            if (first < part->least) part->least = first;
            if (last > part->greatest) part->greatest = last;
        }
        IKT_TRY(ikt_text_labels_learn(part->lines.ctx, &part->labels, label));
    }
    ikt_sparse_block_free(row);
    return IKT_OK;
}

static ikt_status has_changed(const ikt_libsvm_part *part) {
    return ikt_fail(part->lines.ctx, IKT_ERR_FILE, "%s has changed while it was read",
                    part->lines.path);
}

/* A row of a file that has been scanned: a fault now, or an end, is a change. */
static ikt_status next_row_again(ikt_libsvm_part *part, ikt_sparse_block *block, char **label) {
    const ikt_status st = next_row(part, block, label);
    const bool changed = part->lines.fault.status != IKT_OK || (st == IKT_OK && !*label);
    return changed ? has_changed(part) : st;
}

ikt_status ikt_libsvm_rewind(ikt_libsvm_part *part) {
    const ikt_status st = ikt_text_lines_open(&part->lines);
    return part->lines.fault.status != IKT_OK ? has_changed(part) : st;
}

/* Entries of the first rows of a part that has been scanned. */
static ikt_status count_entries(ikt_libsvm_part *part, int64_t rows, int64_t *entries) {
    char *label;
    *entries = 0;
    IKT_TRY(ikt_libsvm_rewind(part));
    for (int64_t row = 0; row < rows; row++) {
        ikt_sparse_block_clear(&part->line);
        IKT_TRY(next_row_again(part, &part->line, &label));
        *entries += part->line.entries;
    }
    ikt_sparse_block_free(&part->line);
    return IKT_OK;
}

void ikt_libsvm_columns(int64_t least, int64_t greatest, int64_t *origin, int64_t *columns) {
    *origin = least < 1 ? 0 : 1;
    *columns = greatest < 0 ? 0 : greatest + 1 - *origin;
}

ikt_status ikt_libsvm_read(ikt_libsvm_part *part, int64_t rows, int64_t entries, int64_t origin,
                           int64_t columns, ikt_sparse_block *block) {
    char *label;
    for (int64_t row = 0; row < rows && block->entries < entries; row++) {
        int64_t e = block->entries;
        IKT_TRY(next_row_again(part, block, &label));
        for (; e < block->entries; e++) {
            block->columns[e] -= origin;
            if (block->columns[e] < 0 || block->columns[e] >= columns) return has_changed(part);
        }
        const int32_t number = ikt_text_labels_number(&part->labels, label);
        if (part->labels.are_text && number < 0) return has_changed(part);
        block->labels[block->rows - 1] = number;
    }
    return IKT_OK;
}

void ikt_libsvm_free(ikt_libsvm_part *part) {
    ikt_text_lines_free(&part->lines);
    ikt_text_labels_free(&part->labels);
    ikt_sparse_block_free(&part->line);
}

/* --- whether bytes are LIBSVM's text: by the first line that has more than a label ------------ */

static const char *skip(const char *at, const char *end, const char *set) {
    while (at < end && strchr(set, *at) && *at)
        at++;
    return at;
}

static const char *find(const char *at, const char *end, const char *set) {
    while (at < end && (!strchr(set, *at) || !*at))
        at++;
    return at;
}

/* Whether what follows the first word of a line is pairs, and at least one. Where the line is cut
 * at the end of what there is to see, its last word does not count. */
static bool is_line_of_pairs(const char *at, const char *end, bool cut) {
    bool some = false;
    at = skip(find(at, end, " \t"), end, " \t");
    while (at < end && *at != '#') {
        const char *next = find(at, end, " \t");
        const char *digits = at + (*at == '-' || *at == '+');
        const char *colon = skip(digits, next, "0123456789");
        const bool pair = (colon > digits && colon < next && *colon == ':') ||
                          (next - at >= 4 && strncmp(at, "qid:", 4) == 0);
        if (!pair && !(cut && next == end)) return false;
        some |= pair;
        at = skip(next, end, " \t");
    }
    return some;
}

static bool libsvm_probe(const unsigned char *head, int64_t bytes) {
    const char *at = (const char *)head, *end = at + bytes;
    if (memchr(head, '\0', (size_t)bytes)) return false;
    if (bytes >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0) at += 3;
    while (at < end) {
        at = skip(at, end, " \t\r\n");
        const char *line_end = find(at, end, "\r\n"), *word_end = find(at, line_end, " \t#");
        if (skip(word_end, line_end, " \t") < line_end && at < word_end && *word_end != '#')
            return is_line_of_pairs(at, line_end, line_end == end);
        at = line_end;
    }
    return false;
}

/* --- the reader ------------------------------------------------------------------------------- */

typedef struct {
    ikt_libsvm_part part;
    int64_t origin; /* index of the first column */
} libsvm_self;

static ikt_status libsvm_open(ikt_reader *reader, const ikt_reader_options *options) {
    libsvm_self *self = reader->self;
    ikt_libsvm_part *part = &self->part;
    reader->type = options->as ? (ikt_type)(options->as - 1) : IKT_TYPE_F32;
    reader->labels = reader->sparse = true;
    part->type = reader->type;
    part->lines = (ikt_text_lines){.ctx = reader->ctx, .path = reader->path, .end = INT64_MAX};
    const ikt_status st = ikt_libsvm_scan(part);
    if (part->lines.fault.status != IKT_OK) return ikt_text_lines_report(&part->lines, 0);
    IKT_TRY(st);
    reader->n = part->rows;
    reader->entries = part->entries;
    ikt_libsvm_columns(part->least, part->greatest, &self->origin, &reader->d);
    IKT_TRY(ikt_text_labels_list(reader->ctx, reader->path, &part->labels, &reader->classes));
    return ikt_libsvm_rewind(part);
}

static ikt_status libsvm_read(ikt_reader *reader, int64_t rows, int64_t entries,
                              ikt_sparse_block *block) {
    libsvm_self *self = reader->self;
    return ikt_libsvm_read(&self->part, rows, entries, self->origin, reader->d, block);
}

static ikt_status libsvm_count(ikt_reader *reader, int64_t rows, int64_t *entries) {
    libsvm_self *self = reader->self;
    IKT_TRY(count_entries(&self->part, rows, entries));
    return ikt_libsvm_rewind(&self->part);
}

static void libsvm_close(ikt_reader *reader) {
    ikt_libsvm_free(&((libsvm_self *)reader->self)->part);
}

const ikt_reader_ops ikt_reader_libsvm = {
    .name = "LIBSVM",
    .self_bytes = sizeof(libsvm_self),
    .labels_are = "its labels are the first word of each line",
    .probe = libsvm_probe,
    .open = libsvm_open,
    .read_sparse = libsvm_read,
    .count = libsvm_count,
    .close = libsvm_close,
};

/* --- a plain file, parsed by all ranks -------------------------------------------------------- */

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
            st = count_entries(&file->part, left, &entries);
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

    int64_t before;
    IKT_TRY(ikt_text_lines_agree(&part->lines, ikt_libsvm_scan(part), &before));

    int64_t sums[2] = {part->rows, part->entries}, least = part->least, greatest = part->greatest;
    ikt_sum_i64(ctx, sums, 2);
    ikt_min_i64(ctx, &least, 1);
    ikt_max_i64(ctx, &greatest, 1);
    file->n = sums[0];
    file->entries = sums[1];
    file->count = part->rows;
    file->first = ikt_sum_before(ctx, part->rows);
    ikt_libsvm_columns(least, greatest, &file->origin, &file->d);

    IKT_TRY(ikt_text_labels_join(ctx, path, &part->labels, &file->classes));
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
