/* LIBSVM's text: a line is a row, `label index:value index:value ...`, and what it does not name is
 * zero. Indices ascend within a line; they count from 1, or from 0 in a file that uses the 0.
 *
 * Method: two passes, one to count rows, find the greatest index and learn the labels, one to read
 * values. Rows are given dense. Advantage: any size in the memory of a line. Disadvantage: the file
 * is read twice, and wide sparse data are refused, because as dense rows they would be huge. */
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/csv_labels.h"
#include "io/csv_line.h"
#include "io/reader.h"

/* A row is a few MB, and a whole table what a large node holds. */
static const int64_t columns_most = (int64_t)1 << 22, table_most = (int64_t)1 << 36;

typedef struct {
    ikt_csv_line line;
    ikt_csv_labels labels;
    int64_t least, greatest; /* index of the file; greatest = -1 where there is none */
} libsvm_self;

/* "12:", perhaps with a sign, which is refused later with a message of its own. */
static bool begins_pair(const char *text, const char *end) {
    const char *at = text + (text < end && (*text == '-' || *text == '+'));
    const char *digits = at;
    while (at < end && isdigit((unsigned char)*at))
        at++;
    return at > digits && at < end && *at == ':';
}

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
        bool pair = begins_pair(at, next) || (next - at >= 4 && strncmp(at, "qid:", 4) == 0);
        if (!pair && !(cut && next == end)) return false;
        some |= pair;
        at = skip(next, end, " \t");
    }
    return some;
}

/* By the first line that has more than a label. */
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

/* "x.libsvm, line 12, column 5: '7:abc' ..."; the column is that of the character. */
static ikt_status bad_cell(ikt_reader *reader, int64_t cell, const char *what) {
    const libsvm_self *self = reader->self;
    const char *text = self->line.cell[cell];
    return ikt_fail(reader->ctx, IKT_ERR_DATA, "%s, line %lld, column %lld: '%.60s' %s",
                    reader->path, (long long)self->line.number,
                    (long long)(text - self->line.text) + 1, text, what);
}

/* The index of a pair, which must be greater than `before`, and where its value begins. */
static ikt_status parse_index(ikt_reader *reader, int64_t cell, int64_t before, int64_t *index,
                              const char **value) {
    const libsvm_self *self = reader->self;
    const char *text = self->line.cell[cell];
    char *end;
    if (strncmp(text, "qid:", 4) == 0)
        return bad_cell(reader, cell,
                        "is the number of a query; data for ranking are not read: take these "
                        "entries out");
    errno = 0;
    *index = strtoll(text, &end, 10);
    *value = end + 1;
    if (!isdigit((unsigned char)*text) || *end != ':')
        return bad_cell(reader, cell, "is no pair index:value with an index from 0");
    if (errno != 0) return bad_cell(reader, cell, "has an index that is too large");
    if (*index > before) return IKT_OK;
    return bad_cell(reader, cell, "does not follow: indices ascend within a line, each once");
}

static ikt_status learn_label(ikt_reader *reader) {
    libsvm_self *self = reader->self;
    const char *text = self->line.cell[0];
    if (!*text) return bad_cell(reader, 0, "is no label");
    if (begins_pair(text, text + strlen(text)) || strncmp(text, "qid:", 4) == 0)
        return bad_cell(reader, 0, "stands where the label of the row is expected");
    return ikt_csv_labels_learn(reader->ctx, reader->path, &self->labels, text);
}

/* Takes note of a line: its label, and how far its indices reach. */
static ikt_status learn_line(ikt_reader *reader) {
    libsvm_self *self = reader->self;
    int64_t index = -1;
    const char *value;
    IKT_TRY(learn_label(reader));
    for (int64_t c = 1; c < self->line.cells; c++) {
        IKT_TRY(parse_index(reader, c, index, &index, &value));
        if (index < self->least) self->least = index;
    }
    if (index > self->greatest) self->greatest = index;
    return IKT_OK;
}

static ikt_status check_size(ikt_reader *reader) {
    const int64_t size = (int64_t)sizeof(float);
    if (reader->d <= columns_most && reader->d * size <= table_most / reader->n) return IKT_OK;
    return ikt_fail(reader->ctx, IKT_ERR_DATA,
                    "%s has %lld rows of %lld columns, by its greatest index: as a dense table of "
                    "float32 that takes %.3g GB. Tables of up to %lld columns and %.3g GB are "
                    "made; leave out rare columns, or reduce their number before",
                    reader->path, (long long)reader->n, (long long)reader->d,
                    (double)reader->n * (double)reader->d * (double)size / 1e9,
                    (long long)columns_most, (double)table_most / 1e9);
}

static ikt_status first_pass(ikt_reader *reader) {
    libsvm_self *self = reader->self;
    bool end;
    self->least = INT64_MAX;
    self->greatest = -1;
    IKT_TRY(ikt_csv_next(&self->line, &end));
    while (!end) {
        IKT_TRY(learn_line(reader));
        reader->n++;
        IKT_TRY(ikt_csv_next(&self->line, &end));
    }
    if (self->least > 1) self->least = 1;
    if (self->greatest == INT64_MAX) self->greatest--; /* far too large either way */
    reader->d = self->greatest < 0 ? 0 : self->greatest + 1 - self->least;
    if (reader->n == 0 || reader->d == 0) return IKT_OK; /* refused by the caller */
    IKT_TRY(check_size(reader));
    return ikt_csv_labels_list(reader->ctx, &self->labels, &reader->classes);
}

static ikt_status libsvm_open(ikt_reader *reader, const ikt_reader_options *options) {
    libsvm_self *self;
    IKT_TRY(ikt_alloc(reader->ctx, &self, 1, sizeof *self, "reader"));
    reader->self = self;
    reader->type = IKT_TYPE_F32;
    reader->labels = true;
    if (options->label_column[0] || options->skip_columns[0])
        return ikt_fail(reader->ctx, IKT_ERR_USAGE,
                        "%s is a LIBSVM file, which has no named columns; its labels are the first "
                        "word of each line",
                        reader->path);
    self->line =
        (ikt_csv_line){.ctx = reader->ctx, .path = reader->path, .delimiter = ' ', .comment = '#'};
    IKT_TRY(ikt_csv_open(&self->line));
    IKT_TRY(first_pass(reader));
    ikt_csv_close(&self->line);
    return ikt_csv_open(&self->line);
}

static ikt_status read_row(ikt_reader *reader, float *row) {
    const libsvm_self *self = reader->self;
    int64_t index = -1;
    const char *text = "";
    double value;
    memset(row, 0, (size_t)reader->d * sizeof *row);
    for (int64_t c = 1; c < self->line.cells; c++) {
        IKT_TRY(parse_index(reader, c, index, &index, &text));
        if (!ikt_csv_number(text, &value))
            return bad_cell(reader, c, "has a value that is no number");
        if (!(fabs(value) <= FLT_MAX))
            return bad_cell(reader, c, "has a value that is not a finite number of float32");
        if (index - self->least >= reader->d || index < self->least)
            return ikt_fail(reader->ctx, IKT_ERR_FILE, "%s has changed while it was read",
                            reader->path);
        row[index - self->least] = (float)value;
    }
    return IKT_OK;
}

static ikt_status libsvm_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels) {
    libsvm_self *self = reader->self;
    float *row = rows;
    for (int64_t i = 0; i < count; i++, row += reader->d) {
        IKT_TRY(ikt_csv_next_again(&self->line));
        IKT_TRY(read_row(reader, row));
        if (labels) labels[i] = ikt_csv_labels_number(&self->labels, self->line.cell[0]);
    }
    return IKT_OK;
}

static void libsvm_close(ikt_reader *reader) {
    libsvm_self *self = reader->self;
    if (!self) return;
    ikt_csv_free(&self->line);
    ikt_csv_labels_free(&self->labels);
    ikt_free(&self);
}

const ikt_reader_ops ikt_reader_libsvm = {"LIBSVM", libsvm_probe, libsvm_open, libsvm_read,
                                          libsvm_close};
