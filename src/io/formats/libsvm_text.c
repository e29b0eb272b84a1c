/* LIBSVM's text. See libsvm_text.h. */
#include "io/formats/libsvm_text.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "io/numbers/decimal.h"
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

/* The character of a line where a row cannot be read, and why. */
typedef struct {
    const char *at, *what;
} obstacle;

static bool stop(obstacle *o, const char *at, const char *what) {
    *o = (obstacle){at, what};
    return false;
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

static bool take_label(const char **at, obstacle *o) {
    if (begins_pair(*at) || strncmp(*at, "qid:", 4) == 0)
        return stop(o, *at, "stands where the label of the row is expected");
    while (!ends_word(**at))
        ++*at;
    return true;
}

static bool no_pair(const char *at, obstacle *o) {
    if (strncmp(at, "qid:", 4) != 0)
        return stop(o, at, "is no pair index:value with an index from 0");
    return stop(o, at,
                "is the number of a query; data for ranking are not read: take these entries out");
}

/* The index of the pair that begins at *at, which is left on its value. */
static bool take_index(const char **at, int64_t before, int64_t *index, obstacle *o) {
    const char *digit = *at;
    *index = 0;
    for (; is_digit(*digit); digit++)
        *index = *index < index_most / 10 ? 10 * *index + (*digit - '0') : index_most;
    if (digit == *at || *digit != ':') return no_pair(*at, o);
    if (*index >= index_most) return stop(o, *at, "has an index that is too large");
    if (*index <= before)
        return stop(o, *at, "does not follow: indices ascend within a line, each once");
    *at = digit + 1;
    return true;
}

/* The value at `text` of the pair at `pair`; *end is left behind it. */
static bool take_value(ikt_type type, const char *pair, const char **text, double *value,
                       obstacle *o) {
    if (ends_word(**text) || !ikt_decimal(*text, text, value) || !ends_word(**text))
        return stop(o, pair, "has a value that is no number");
    if (ikt_number_fits(type, *value)) return true;
    if (type == IKT_TYPE_U8 && isfinite(*value))
        return stop(o, pair, "has a value that is no uint8, an integer from 0 to 255");
    return stop(o, pair,
                type == IKT_TYPE_F32 ? "has a value that is not a finite number of float32"
                                     : "has a value that is not a finite number");
}

/* The pairs of a line as entries behind those of the block. */
static ikt_status take_pairs(ikt_libsvm_part *part, const char *at, ikt_sparse_block *block,
                             obstacle *o) {
    int64_t index = -1;
    double value;
    while (is_blank(*at))
        at++;
    while (*at) {
        const char *pair = at;
        if (!take_index(&at, index, &index, o) || !take_value(part->type, pair, &at, &value, o))
            return IKT_OK;
        if (block->entries == block->entry_room)
            IKT_TRY(ikt_sparse_block_room(part->lines.ctx, block, 0, 1024));
        block->columns[block->entries] = index;
        block->values[block->entries++] = value;
        while (is_blank(*at))
            at++;
    }
    return IKT_OK;
}

/* The next line that is a row, and its label in it; both NULL behind the last. Comments are cut
 * off. */
static ikt_status next_line(ikt_text_lines *lines, char **line, char **label) {
    do {
        int64_t length;
        *label = NULL;
        IKT_TRY(ikt_text_lines_next(lines, line, &length));
        if (!*line) return IKT_OK;
        char *comment = memchr(*line, '#', (size_t)length);
        if (comment) *comment = '\0';
        *label = *line + strspn(*line, " \t");
    } while (**label == '\0');
    return IKT_OK;
}

/* Appends the next row to the block, with columns as the file counts them; its label, as text,
 * stays where it is until the next line. *label = NULL behind the last row. */
static ikt_status next_row(ikt_libsvm_part *part, ikt_sparse_block *block, char **label) {
    char *line;
    obstacle o = {NULL, NULL};
    IKT_TRY(next_line(&part->lines, &line, label));
    if (!line) return IKT_OK;
    const char *at = *label;
    IKT_TRY(ikt_sparse_block_room(part->lines.ctx, block, 1, 0));
    if (take_label(&at, &o)) IKT_TRY(take_pairs(part, at, block, &o));
    if (o.what) return ikt_text_lines_fault(&part->lines, IKT_ERR_DATA, line, o.at, o.what);
    block->ends[block->rows++] = block->entries;
    (*label)[strcspn(*label, " \t")] = '\0';
    return IKT_OK;
}

/* Takes note of the row in part->line. */
static ikt_status learn_row(ikt_libsvm_part *part, const char *label) {
    const ikt_sparse_block *row = &part->line;
    part->rows++;
    part->entries += row->entries;
    if (row->entries > 0) {
        const int64_t first = row->columns[0], last = row->columns[row->entries - 1];
        if (first < part->least) part->least = first;
        if (last > part->greatest) part->greatest = last;
    }
    return ikt_csv_labels_learn(part->lines.ctx, &part->labels, label);
}

ikt_status ikt_libsvm_scan(ikt_libsvm_part *part) {
    char *label;
    part->rows = part->entries = 0;
    part->least = INT64_MAX;
    part->greatest = -1;
    IKT_TRY(ikt_text_lines_open(&part->lines));
    for (;;) {
        ikt_sparse_block_clear(&part->line);
        IKT_TRY(next_row(part, &part->line, &label));
        if (!label) break;
        IKT_TRY(learn_row(part, label));
    }
    ikt_sparse_block_free(&part->line);
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

ikt_status ikt_libsvm_count(ikt_libsvm_part *part, int64_t rows, int64_t *entries) {
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

ikt_status ikt_libsvm_rewind(ikt_libsvm_part *part) {
    const ikt_status st = ikt_text_lines_open(&part->lines);
    return part->lines.fault.status != IKT_OK ? has_changed(part) : st;
}

/* From the file's count of columns to ours. */
static ikt_status shift_columns(const ikt_libsvm_part *part, ikt_sparse_block *block, int64_t from,
                                int64_t origin, int64_t columns) {
    for (int64_t e = from; e < block->entries; e++) {
        block->columns[e] -= origin;
        if (block->columns[e] < 0 || block->columns[e] >= columns) return has_changed(part);
    }
    return IKT_OK;
}

ikt_status ikt_libsvm_read(ikt_libsvm_part *part, int64_t rows, int64_t entries, int64_t origin,
                           int64_t columns, ikt_sparse_block *block) {
    char *label;
    for (int64_t row = 0; row < rows && block->entries < entries; row++) {
        const int64_t from = block->entries;
        IKT_TRY(next_row_again(part, block, &label));
        IKT_TRY(shift_columns(part, block, from, origin, columns));
        const int64_t number = ikt_csv_labels_number(&part->labels, label);
        if (part->labels.are_text && number < 0) return has_changed(part);
        block->labels[block->rows - 1] = (int32_t)number;
    }
    return IKT_OK;
}

void ikt_libsvm_free(ikt_libsvm_part *part) {
    ikt_text_lines_free(&part->lines);
    ikt_csv_labels_free(&part->labels);
    ikt_sparse_block_free(&part->line);
}

/* Whether bytes are LIBSVM's text: by the first line that has more than a label. */

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

/* "12:", perhaps with a sign, which is refused later with a message of its own. */
static bool looks_like_pair(const char *text, const char *end) {
    const char *at = text + (text < end && (*text == '-' || *text == '+'));
    const char *digits = at;
    at = skip(at, end, "0123456789");
    return at > digits && at < end && *at == ':';
}

/* Whether what follows the first word of a line is pairs, and at least one. Where the line is cut
 * at the end of what there is to see, its last word does not count. */
static bool is_line_of_pairs(const char *at, const char *end, bool cut) {
    bool some = false;
    at = skip(find(at, end, " \t"), end, " \t");
    while (at < end && *at != '#') {
        const char *next = find(at, end, " \t");
        bool pair = looks_like_pair(at, next) || (next - at >= 4 && strncmp(at, "qid:", 4) == 0);
        if (!pair && !(cut && next == end)) return false;
        some |= pair;
        at = skip(next, end, " \t");
    }
    return some;
}

bool ikt_libsvm_probe(const unsigned char *head, int64_t bytes) {
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
