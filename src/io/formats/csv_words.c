/* Vectors of words as word2vec writes them in binary: two counts on a line, of rows and of numbers,
 * and then for each row its token, a blank, and float32 numbers, least significant byte first; some
 * programs put a line feed behind them.
 *
 * Tokens differ in length, so where a row begins shows from the one before: one rank reads all. A
 * record is a cell of text, as in the form that is text, and its numbers as they stand. See
 * csv_file.h. */
#include "io/formats/csv_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "io/formats/bytes.h"

enum { TOKEN_MOST = 65535, HEAD = 512 };

/* A count and the sign behind it; 0 where there is none of up to 18 digits. */
static int64_t take_count(const char **at, const char *end, char sign) {
    int64_t count = 0;
    int digits = 0;
    for (; *at < end && **at >= '0' && **at <= '9' && digits < 18; ++*at, digits++)
        count = 10 * count + (**at - '0');
    return *at < end && *(*at)++ == sign ? count : 0;
}

bool ikt_csv_are_words(const char *head, int64_t bytes, int64_t *rows, int64_t *columns) {
    const char *at = head, *end = head + (bytes < HEAD ? bytes : HEAD);
    *rows = take_count(&at, end, ' ');
    *columns = *rows > 0 ? take_count(&at, end, '\n') : 0;
    if (*columns <= 0 || *columns > INT32_MAX / (int64_t)sizeof(float)) return false;
    for (; at < end; at++) /* what no text has */
        if ((unsigned char)*at < 9 || ((unsigned char)*at > 13 && (unsigned char)*at < 32))
            return true;
    return false;
}

static ikt_status bad(const ikt_csv_records *r, ikt_status status, const char *what) {
    return ikt_fail(r->lines.ctx, status, "%s, row %lld of %lld: %s", r->lines.path,
                    (long long)r->lines.number, (long long)r->how.announced, what);
}

static ikt_status take(ikt_csv_records *r, void *data, int64_t count, bool *is_there) {
    int64_t got = 0;
    const ikt_status st = ikt_bytes_read(r->bytes, data, count, &got);
    *is_there = got == count;
    return st;
}

/* The counts must be possible for a file of this size: memory is taken by them. */
static ikt_status check_size(const ikt_csv_records *r) {
    const ikt_bytes *b = r->bytes;
    const int64_t row = r->how.width * (int64_t)sizeof(float);
    const int64_t least = ikt_binary_product(r->how.announced, row);
    const int64_t most = b->size >= 0 ? b->size : b->packed * IKT_DEFLATE_MOST;
    if (least >= 0 && (most == 0 || least <= most)) return IKT_OK;
    return ikt_fail(
        r->lines.ctx, IKT_ERR_FILE,
        "%s is truncated or damaged: it announces %lld rows of %lld numbers, which take "
        "more than its %lld bytes",
        r->lines.path, (long long)r->how.announced, (long long)r->how.width,
        (long long)(b->size >= 0 ? b->size : b->packed));
}

ikt_status ikt_csv_words_begin(ikt_csv_records *r) {
    const int64_t most = TOKEN_MOST + 1 + r->how.width * (int64_t)sizeof(float);
    char c = '\0';
    bool is_there = true;
    r->lines.number = 0;
    if (r->lines.end == 0) return IKT_OK; /* another rank has all */
    if (!r->bytes) IKT_TRY(ikt_alloc(r->lines.ctx, &r->bytes, 1, sizeof *r->bytes, "reader"));
    ikt_bytes_close(r->bytes);
    IKT_TRY(ikt_bytes_open(r->lines.ctx, r->lines.path, r->bytes));
    IKT_TRY(check_size(r));
    while (is_there && c != '\n')
        IKT_TRY(take(r, &c, 1, &is_there));
    if (r->capacity >= most) return IKT_OK;
    IKT_TRY(ikt_resize(r->lines.ctx, &r->text, most, 1, "reader"));
    r->capacity = most;
    return IKT_OK;
}

/* The token into r->text, behind line feeds that end the row before. */
static ikt_status take_token(ikt_csv_records *r) {
    static const char cut[] = "the file ends here: is it truncated?";
    int64_t length = 0;
    bool is_there;
    for (;;) {
        char c;
        IKT_TRY(take(r, &c, 1, &is_there));
        if (!is_there) return bad(r, IKT_ERR_FILE, cut);
        if (length == 0 && c == '\n') continue;
        if (c == ' ') break;
        if (c == '\0' || length == TOKEN_MOST)
            return bad(r, IKT_ERR_DATA, "its token holds a zero byte, or has no end");
        r->text[length++] = c;
    }
    r->text[length] = '\0';
    r->numbers = r->text + length + 1;
    IKT_TRY(take(r, r->text + length + 1, r->how.width * (int64_t)sizeof(float), &is_there));
    return is_there ? IKT_OK : bad(r, IKT_ERR_FILE, cut);
}

ikt_status ikt_csv_words_next(ikt_csv_records *r, bool *end) {
    static char nothing[] = "";
    char c;
    bool is_there = true;
    r->cells = 0;
    *end = r->lines.end == 0 || r->lines.number == r->how.announced;
    if (!*end) {
        r->number = ++r->lines.number;
        IKT_TRY(take_token(r));
        IKT_TRY(ikt_csv_add_cell(r, r->text));
        return ikt_csv_add_cell(r, nothing);
    }
    while (r->lines.end > 0 && is_there) {
        IKT_TRY(take(r, &c, 1, &is_there));
        if (is_there && c != '\n') return bad(r, IKT_ERR_DATA, "the file goes on behind it");
    }
    return IKT_OK;
}

bool ikt_csv_words_numbers(const ikt_csv_records *r, double *row) {
    const ikt_element stored = {'f', sizeof(float), false};
    bool are_finite = true;
    for (int64_t i = 0; i < r->how.width; i++) {
        (void)ikt_element_number(stored, r->numbers + i * (int64_t)sizeof(float), &row[i]);
        are_finite &= isfinite(row[i]);
    }
    return are_finite;
}
