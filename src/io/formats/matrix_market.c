/* Matrix Market files. See matrix_market.h. */
#define _POSIX_C_SOURCE 200809L
#include "io/formats/matrix_market.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "io/numbers/element.h"

static const char banner[] = "%%MatrixMarket";

/* Digits of a row, column or number of entries, at most. */
enum { DIGITS_MOST = 15 };

bool ikt_matrix_market_is(const char *path) {
    char head[sizeof banner] = "";
    if (!ikt_file_is_regular(path)) return false;
    gzFile file = gzopen(path, "rb");
    if (!file) return false;
    const int got = gzread(file, head, (unsigned)strlen(banner));
    gzclose(file);
    return got == (int)strlen(banner) && strcasecmp(head, banner) == 0;
}

bool ikt_matrix_file_is(const char *path) {
    char head[4] = "";
    FILE *file = ikt_file_is_regular(path) ? fopen(path, "rb") : NULL;
    const bool is_zip = file && fread(head, 1, 4, file) == 4 && memcmp(head, "PK\3\4", 4) == 0;
    if (file) fclose(file);
    return is_zip || ikt_matrix_market_is(path);
}

static const char *skip_blanks(const char *at) {
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

/* The whole number that stands next; NULL where there is none. */
static const char *read_count(const char *at, int64_t *count) {
    const char *from = at = skip_blanks(at);
    *count = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        if (at - from < DIGITS_MOST) *count = 10 * *count + (*at - '0');
    const bool is_one = at > from && at - from <= DIGITS_MOST;
    return is_one && (*at == ' ' || *at == '\t' || !*at) ? at : NULL;
}

/* --- the header ------------------------------------------------------------------------------- */

/* The banner: %%MatrixMarket matrix coordinate real general. */
static ikt_status read_banner(ikt_text_lines *lines, char *line, bool takes_dense,
                              ikt_matrix_market *out) {
    static const char space[] = " \t";
    char *word[5] = {NULL}, *rest = line;
    for (int w = 0; w < 5; w++)
        word[w] = strtok_r(w == 0 ? line : NULL, space, &rest);
    if (!word[4] || strcasecmp(word[0], banner) != 0)
        return ikt_text_lines_fault(lines, IKT_ERR_DATA, line, NULL,
                                    "is no banner of a Matrix Market file, such as "
                                    "%%MatrixMarket matrix coordinate real general");
    out->is_dense = takes_dense && strcasecmp(word[2], "array") == 0;
    if (strcasecmp(word[1], "matrix") != 0 ||
        (!out->is_dense && strcasecmp(word[2], "coordinate") != 0))
        return ikt_text_lines_fault(lines, IKT_ERR_DATA, line, NULL,
                                    "announces a dense array; sparse matrices are read, of the "
                                    "format coordinate");
    out->is_pattern = !out->is_dense && strcasecmp(word[3], "pattern") == 0;
    if (!out->is_pattern && strcasecmp(word[3], "real") != 0 && strcasecmp(word[3], "integer") != 0)
        return ikt_text_lines_fault(lines, IKT_ERR_DATA, line, NULL,
                                    "announces numbers that are neither real, integer nor pattern");
    out->is_symmetric = strcasecmp(word[4], "symmetric") == 0;
    if (!out->is_symmetric && strcasecmp(word[4], "general") != 0)
        return ikt_text_lines_fault(lines, IKT_ERR_DATA, line, NULL,
                                    "announces a matrix that is neither general nor symmetric");
    return IKT_OK;
}

ikt_status ikt_matrix_market_header(ikt_text_lines *lines, bool takes_dense,
                                    ikt_matrix_market *out) {
    char *line;
    int64_t length;
    *out = (ikt_matrix_market){0};
    IKT_TRY(ikt_text_lines_next(lines, &line, &length));
    IKT_TRY(read_banner(lines, line ? line : (char[]){""}, takes_dense, out));
    do { /* comments, and empty lines */
        IKT_TRY(ikt_text_lines_next(lines, &line, &length));
    } while (line && (*line == '%' || !*skip_blanks(line)));
    const char *at = line ? read_count(line, &out->rows) : NULL;
    if (at) at = read_count(at, &out->columns);
    if (at && !out->is_dense) at = read_count(at, &out->entries);
    if (!at || *skip_blanks(at))
        return ikt_text_lines_fault(lines, IKT_ERR_DATA, line, NULL,
                                    out->is_dense ? "does not hold the numbers of rows and columns"
                                                  : "does not hold the numbers of rows, columns "
                                                    "and entries");
    if (out->is_symmetric && out->is_dense && out->rows != out->columns)
        return ikt_text_lines_fault(lines, IKT_ERR_DATA, line, NULL,
                                    "announces a symmetric array that is no square");
    out->lines = lines->number;
    out->is_packed = lines->file && !gzdirect(lines->file);
    out->body = lines->offset + lines->at;
    return IKT_OK;
}

/* --- entries ---------------------------------------------------------------------------------- */

/* The value at the end of an entry. */
static ikt_status take_value(ikt_text_lines *lines, const ikt_matrix_market *about,
                             const char *line, const char *at, ikt_matrix_entry *entry) {
    const char *first = at = skip_blanks(at);
    if (!about->is_pattern && (!ikt_decimal(at, &at, &entry->value) || !isfinite(entry->value)))
        return ikt_text_lines_fault(lines, IKT_ERR_DATA, line, first,
                                    "is not the finite number that an entry has");
    if (!about->is_pattern && ikt_decimal_rounds(first, entry->value))
        return ikt_text_lines_fault(lines, IKT_ERR_DATA, line, first,
                                    "is beyond 2^53 and loses digits as a floating number");
    if (*skip_blanks(at))
        return ikt_text_lines_fault(lines, IKT_ERR_DATA, line, skip_blanks(at),
                                    "is more than an entry has");
    return IKT_OK;
}

ikt_status ikt_matrix_market_next(ikt_text_lines *lines, const ikt_matrix_market *about,
                                  ikt_matrix_entry *entry, bool *found) {
    char *line;
    const char *at;
    int64_t length, row, column;
    do {
        IKT_TRY(ikt_text_lines_next(lines, &line, &length));
        *found = line != NULL;
        if (!line) return IKT_OK;
        at = skip_blanks(line);
    } while (!*at || *at == '%');
    const char *first = at, *second;
    entry->value = 1;
    if (about->is_dense) return take_value(lines, about, line, at, entry);
    second = read_count(at, &row);
    if (!second || row < 1 || row > about->rows)
        return ikt_text_lines_fault(lines, IKT_ERR_DATA, line, first,
                                    "is no row of the matrix; rows count from 1");
    at = read_count(second, &column);
    if (!at || column < 1 || column > about->columns)
        return ikt_text_lines_fault(lines, IKT_ERR_DATA, line, skip_blanks(second),
                                    "is no column of the matrix; columns count from 1");
    *entry = (ikt_matrix_entry){(uint32_t)(row - 1), (uint32_t)(column - 1), 1};
    return take_value(lines, about, line, at, entry);
}
