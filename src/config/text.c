/* Growing text, the distance of names, and small text files that every rank needs. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "config/config.h"
#include "config/value.h"

enum { NAME_MAX_LENGTH = 63, LINE_WIDTH = 88, INDENT_MOST = 32 };

static int least(int a, int b) {
    return a < b ? a : b;
}

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
            int change = table[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            table[i][j] = least(change, 1 + least(table[i - 1][j], table[i][j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                table[i][j] = least(table[i][j], table[i - 2][j - 2] + 1);
        }
    return table[la][lb];
}

void ikt_text_add(ikt_text *text, const char *format, ...) {
    if (text->status != IKT_OK) return;
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int more = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (text->length + more + 1 > text->room) {
        int64_t room = 2 * text->room + more + 1024;
        text->status = ikt_resize(text->ctx, &text->data, room, 1, "text");
        if (text->status == IKT_OK) text->room = room;
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

/* --- files ------------------------------------------------------------------------------------ */

enum { FILE_SIZE_MAX = 1 << 20 };

/* LOCAL. `text` has room for FILE_SIZE_MAX + 1 bytes. */
static ikt_status read_file(ikt_context *ctx, const char *path, char *text, int64_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file) return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, strerror(errno));
    size_t got = fread(text, 1, FILE_SIZE_MAX + 1, file);
    ikt_status st = IKT_OK;
    if (ferror(file))
        st = ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, strerror(errno));
    else if (got > FILE_SIZE_MAX)
        st = ikt_fail(ctx, IKT_ERR_FILE, "%s is larger than 1 MiB: not a configuration", path);
    else if (memchr(text, '\0', got))
        st = ikt_fail(ctx, IKT_ERR_USAGE, "%s is no text file: it holds a zero byte", path);
    fclose(file);
    *length = (int64_t)got;
    return st;
}

ikt_status ikt_text_file_load(ikt_context *ctx, const char *path, char **text) {
    int64_t length = 0;
    ikt_status st = ikt_alloc(ctx, text, FILE_SIZE_MAX + 2, 1, "text file");
    if (st == IKT_OK && ikt_rank(ctx) == 0) st = read_file(ctx, path, *text, &length);
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) {
        ikt_free(text);
        return st;
    }
    length = ikt_max_one(ctx, length);
    ikt_broadcast(ctx, *text, length, 0); /* the zero behind it is there from the start */
    return IKT_OK;
}
