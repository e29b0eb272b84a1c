/* Values from text, with a message that says what would do, and back to text; growing text. */
#include "config/value.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "base/memory.h"
#include "config/config.h"

static ikt_status refuse(ikt_context *ctx, const ikt_key *key, const char *what, const char *text) {
    char expected[256];
    ikt_value_expected(key, expected, sizeof expected);
    return ikt_fail(ctx, IKT_ERR_USAGE, "%s: '%.80s' is not %s", what, text, expected);
}

/* The whole text as a finite number. */
static bool parse_number(const char *text, double *value) {
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    bool hexadecimal = strpbrk(text, "xX") != NULL;
    return end != text && *end == '\0' && isfinite(*value) && !hexadecimal &&
           strchr(" \t\n\r\f\v", text[0]) == NULL;
}

static bool parse_integer(const char *text, int64_t *value) {
    char *end;
    errno = 0;
    long long exact = strtoll(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0 && strchr(" \t\n\r\f\v", text[0]) == NULL) {
        *value = exact;
        return true;
    }
    double number; /* 1e6 is an integer, too */
    if (!parse_number(text, &number) || fabs(number) > 9e15 || number != floor(number))
        return false;
    *value = (int64_t)number;
    return true;
}

/* Index of `text` among "a|b|c", or -1. */
static int choice_index(const char *choices, const char *text) {
    size_t length = strlen(text);
    int index = 0;
    for (const char *at = choices;; index++) {
        size_t width = strcspn(at, "|");
        if (width == length && strncmp(at, text, length) == 0) return index;
        if (at[width] == '\0') return -1;
        at += width + 1;
    }
}

ikt_status ikt_value_parse(ikt_context *ctx, const ikt_key *key, const char *what, const char *text,
                           void *member) {
    bool is_auto = key->allow_auto && strcmp(text, "auto") == 0;
    switch (key->type) {
    case IKT_KEY_INT: {
        int64_t value = IKT_AUTO_INT;
        if (!is_auto &&
            (!parse_integer(text, &value) || (double)value < key->low || (double)value > key->high))
            return refuse(ctx, key, what, text);
        *(int64_t *)member = value;
        return IKT_OK;
    }
    case IKT_KEY_REAL: {
        double value = IKT_AUTO_REAL;
        const bool is_infinite = isinf(key->high) && strcmp(text, "inf") == 0;
        if (is_infinite)
            value = INFINITY;
        else if (!is_auto && (!parse_number(text, &value) || value < key->low || value > key->high))
            return refuse(ctx, key, what, text);
        *(double *)member = value;
        return IKT_OK;
    }
    case IKT_KEY_BOOL: {
        static const char *const words[] = {"no",  "yes", "false", "true",
                                            "off", "on",  "0",     "1"}; /* odd entries are true */
        int word = 0;
        while (word < 8 && strcasecmp(text, words[word]) != 0)
            word++;
        if (word == 8) return refuse(ctx, key, what, text);
        *(bool *)member = word % 2 == 1;
        return IKT_OK;
    }
    case IKT_KEY_CHOICE: {
        int index = choice_index(key->choices, text);
        if (index < 0) return refuse(ctx, key, what, text);
        *(int *)member = index;
        return IKT_OK;
    }
    case IKT_KEY_STRING:
        if (strlen(text) >= IKT_STRING_MAX)
            return ikt_fail(ctx, IKT_ERR_USAGE, "%s: longer than %d characters", what,
                            IKT_STRING_MAX - 1);
        if (!ikt_utf8_valid(text)) /* the configuration is written back as YAML, which is UTF-8 */
            return ikt_fail(ctx, IKT_ERR_USAGE, "%s: not UTF-8 text", what);
        strcpy(member, text);
        return IKT_OK;
    }
    return IKT_ERR_INTERNAL;
}

void ikt_real_print(double value, char text[IKT_REAL_TEXT]) {
    if (value == floor(value) && fabs(value) < 1e15) { /* "%g" would write 30 as 3e+01 */
        snprintf(text, IKT_REAL_TEXT, "%.0f", value);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, IKT_REAL_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value) return;
    }
}

void ikt_value_print(const ikt_key *key, const void *member, char *text, size_t size) {
    char real[IKT_REAL_TEXT] = "auto";
    switch (key->type) {
    case IKT_KEY_INT:
        if (key->allow_auto && *(const int64_t *)member == IKT_AUTO_INT)
            snprintf(text, size, "auto");
        else
            snprintf(text, size, "%lld", (long long)*(const int64_t *)member);
        break;
    case IKT_KEY_REAL:
        if (!key->allow_auto || *(const double *)member != IKT_AUTO_REAL)
            ikt_real_print(*(const double *)member, real);
        snprintf(text, size, "%s", real);
        break;
    case IKT_KEY_BOOL:
        snprintf(text, size, "%s", *(const bool *)member ? "yes" : "no");
        break;
    case IKT_KEY_CHOICE: {
        const char *name = key->choices;
        for (int index = *(const int *)member; index > 0; index--)
            name += strcspn(name, "|") + 1;
        snprintf(text, size, "%.*s", (int)strcspn(name, "|"), name);
        break;
    }
    case IKT_KEY_STRING:
        snprintf(text, size, "%s", (const char *)member);
        break;
    }
}

void ikt_value_expected(const ikt_key *key, char *text, size_t size) {
    const char *or_auto = key->allow_auto ? ", or auto" : "";
    switch (key->type) {
    case IKT_KEY_INT:
        snprintf(text, size, "an integer from %.15g to %.15g%s", key->low, key->high, or_auto);
        break;
    case IKT_KEY_REAL:
        snprintf(text, size, "a number from %g to %g%s", key->low, key->high, or_auto);
        break;
    case IKT_KEY_BOOL:
        snprintf(text, size, "yes or no");
        break;
    case IKT_KEY_STRING:
        snprintf(text, size, "text");
        break;
    case IKT_KEY_CHOICE: {
        size_t used = (size_t)snprintf(text, size, "one of ");
        for (const char *c = key->choices; *c && used + 3 < size; c++) {
            text[used++] = *c == '|' ? ',' : *c;
            if (*c == '|') text[used++] = ' ';
        }
        text[used] = '\0';
        break;
    }
    }
}

/* --- names, text, files ----------------------------------------------------------------------- */

enum { NAME_MAX_LENGTH = 63, LINE_WIDTH = 88, INDENT_MOST = 32 };

int ikt_name_distance(const char *a, const char *b) {
    size_t la = strlen(a), lb = strlen(b);
    if (la > NAME_MAX_LENGTH || lb > NAME_MAX_LENGTH) return 1000;
    int table[NAME_MAX_LENGTH + 1][NAME_MAX_LENGTH + 1];
    for (size_t i = 0; i <= la; i++)
        for (size_t j = 0; j <= lb; j++) {
            if (i == 0 || j == 0) {
                table[i][j] = (int)(i + j);
                continue;
            }
            int best = table[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (table[i - 1][j] + 1 < best) best = table[i - 1][j] + 1;
            if (table[i][j - 1] + 1 < best) best = table[i][j - 1] + 1;
            if (is_swap && table[i - 2][j - 2] + 1 < best) best = table[i - 2][j - 2] + 1;
            table[i][j] = best;
        }
    return table[la][lb];
}

void ikt_text_free(ikt_text *text) {
    ikt_free(&text->data);
}

void ikt_text_add(ikt_text *text, const char *format, ...) {
    if (text->status != IKT_OK) return;
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int more = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (text->length + more + 1 > text->capacity) {
        int64_t capacity = 2 * text->capacity + more + 1024;
        text->status = ikt_resize(text->ctx, &text->data, capacity, 1, "text");
        if (text->status == IKT_OK) text->capacity = capacity;
    }
    if (text->status == IKT_OK) {
        vsnprintf(text->data + text->length, (size_t)more + 1, format, again);
        text->length += more;
    }
    va_end(again);
}

void ikt_text_add_xml(ikt_text *text, const char *words) {
    char bytes[5];
    for (uint32_t point; (point = ikt_utf8_next(&words)) != 0;) {
        const char *entity = ikt_xml_entity(point);
        ikt_utf8_encode(point, bytes);
        ikt_text_add(text, "%s", entity ? entity : bytes);
    }
}

void ikt_text_wrap_behind(ikt_text *text, const char *before, int width, const char *words) {
    int column = 0;
    while (*words) {
        int length = (int)strcspn(words, " ");
        if (column > 0 && column + 1 + length > width) {
            ikt_text_add(text, "\n");
            column = 0;
        }
        if (column == 0) {
            ikt_text_add(text, "%s", before);
            column = (int)strlen(before);
        } else {
            ikt_text_add(text, " ");
            column++;
        }
        ikt_text_add(text, "%.*s", length, words);
        column += length;
        words += length;
        words += strspn(words, " ");
    }
    ikt_text_add(text, "\n");
}

void ikt_text_wrap(ikt_text *text, int indent, const char *words) {
    char blanks[INDENT_MOST + 1];
    snprintf(blanks, sizeof blanks, "%*s", indent < INDENT_MOST ? indent : INDENT_MOST, "");
    ikt_text_wrap_behind(text, blanks, LINE_WIDTH, words);
}

/* LOCAL. Opens a text of settings: a file, or what a shell gives in the place of one. A pipe
 * in a folder of the user's may have nobody who writes it. */
static ikt_status open_text(ikt_context *ctx, const char *path, FILE **file) {
    if (!ikt_file_is_of_shell(path)) IKT_TRY(ikt_input_check(ctx, path));
    *file = fopen(path, "rb");
    if (*file) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, strerror(errno));
}

/* LOCAL. `text` has capacity for IKT_SETTINGS_TEXT_MOST + 1 bytes. */
static ikt_status read_file(ikt_context *ctx, const char *path, char *text, int64_t *length) {
    FILE *file = NULL;
    IKT_TRY(open_text(ctx, path, &file));
    size_t got = fread(text, 1, IKT_SETTINGS_TEXT_MOST + 1, file);
    ikt_status st = IKT_OK;
    if (ferror(file))
        st = ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, strerror(errno));
    else if (got > IKT_SETTINGS_TEXT_MOST)
        st = ikt_fail(ctx, IKT_ERR_FILE, "%s is larger than 1 MiB: not a configuration", path);
    else if (memchr(text, '\0', got))
        st = ikt_fail(ctx, IKT_ERR_USAGE, "%s is no text file: it holds a zero byte", path);
    fclose(file);
    *length = (int64_t)got;
    return st;
}

ikt_status ikt_text_file_load(ikt_context *ctx, const char *path, char **text) {
    int64_t length = 0;
    ikt_status st = ikt_alloc(ctx, text, IKT_SETTINGS_TEXT_MOST + 2, 1, "text file");
    if (st == IKT_OK && ikt_rank(ctx) == 0) st = read_file(ctx, path, *text, &length);
    st = ikt_agree(ctx, st);
    length = ikt_max_one(ctx, length);
    if (st != IKT_OK)
        ikt_free(text);
    else
        ikt_broadcast(ctx, *text, length, 0); /* the zero behind it is there from the start */
    return st;
}
