/* The lines of a range of bytes of a text file. See text_lines.h. */
#include "io/formats/text_lines.h"

#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "io/formats/bytes.h"

static const int64_t block_least = (int64_t)1 << 16, block_most = (int64_t)1 << 22;
static const int64_t block_packed = (int64_t)1 << 18, line_most = (int64_t)1 << 26;

ikt_status ikt_text_lines_fault(ikt_text_lines *lines, ikt_status status, const char *line,
                                const char *at, const char *what) {
    ikt_text_fault *fault = &lines->fault;
    *fault = (ikt_text_fault){.status = status, .line = lines->number, .what = what};
    if (!at) return status;
    fault->column = at - line + 1;
    snprintf(fault->word, sizeof fault->word, "%.60s", at);
    fault->word[strcspn(fault->word, " \t")] = '\0';
    return status;
}

const char *ikt_text_lines_unit(const ikt_text_lines *lines) {
    static const char *const names[] = {"line", "vector", "object", "row"};
    return names[lines->unit];
}

ikt_status ikt_text_lines_report(const ikt_text_lines *lines, int64_t before) {
    const ikt_text_fault *fault = &lines->fault;
    const long long line = (long long)(before + fault->line);
    if (fault->column == 0)
        return ikt_fail(lines->ctx, fault->status, "%s, %s %lld: %s", lines->path,
                        ikt_text_lines_unit(lines), line, fault->what);
    return ikt_fail(lines->ctx, fault->status, "%s, line %lld, column %lld: '%s' %s", lines->path,
                    line, (long long)fault->column, fault->word, fault->what);
}

ikt_status ikt_text_lines_agree(const ikt_text_lines *lines, ikt_status local, int64_t *before) {
    const bool is_bad = lines->fault.status != IKT_OK;
    IKT_TRY(ikt_agree(lines->ctx, is_bad ? IKT_OK : local));
    *before = ikt_sum_before(lines->ctx, lines->number);
    return ikt_agree(lines->ctx, is_bad ? ikt_text_lines_report(lines, *before) : IKT_OK);
}

static ikt_status too_long(ikt_text_lines *lines) {
    return ikt_text_lines_fault(lines, IKT_ERR_DATA, NULL, NULL, "longer than 64 MiB");
}

/* Moves what is to come to the front, makes the buffer larger where that fills it, and appends a
 * block. */
static ikt_status read_more(ikt_text_lines *lines) {
    const int64_t gone = lines->at;
    int error = Z_OK;
    if (gone > 0) {
        memmove(lines->buffer, lines->buffer + gone, (size_t)(lines->filled - gone));
        lines->offset += gone;
        lines->filled -= gone;
        lines->next_feed -= gone;
        lines->next_return -= gone;
        lines->looked -= gone;
        lines->at = 0;
    }
    if (lines->filled == lines->capacity) {
        if (lines->capacity > line_most) return too_long(lines);
        IKT_TRY(ikt_resize(lines->ctx, &lines->buffer, 2 * lines->capacity + 1, 1, "reader"));
        lines->capacity *= 2;
    }
    const int64_t left = lines->capacity - lines->filled;
    const int got = gzread(lines->file, lines->buffer + lines->filled,
                           (unsigned)(left < block_most ? left : block_most));
    if (got > 0) {
        lines->filled += got;
        return IKT_OK;
    }
    lines->file_end = true;
    IKT_TRY(ikt_gz_check(lines->ctx, lines->path, lines->file));
    (void)gzerror(lines->file, &error);
    if (error != Z_BUF_ERROR) return IKT_OK;
    return ikt_text_lines_fault(lines, IKT_ERR_FILE, NULL, NULL,
                                "the compressed file is truncated here");
}

/* Where the next such character stands, or the end of the buffer. No byte is looked at twice. */
static int64_t find(const ikt_text_lines *lines, char c, int64_t *known) {
    if (*known < lines->at) *known = lines->at;
    if (*known == lines->filled || lines->buffer[*known] == c) return *known;
    const char *from = lines->buffer + *known;
    const char *found = memchr(from, c, (size_t)(lines->filled - *known));
    *known = found ? found - lines->buffer : lines->filled;
    return *known;
}

/* Where the bracket stands that closes the object that begins next, or the end of the buffer. What
 * stands between objects opens nothing. */
static int64_t find_object_end(ikt_text_lines *lines) {
    for (; lines->looked < lines->filled; lines->looked++) {
        const char c = lines->buffer[lines->looked];
        if (lines->is_quoted) {
            if (c == '"' && !lines->is_escaped) lines->is_quoted = false;
            lines->is_escaped = c == '\\' && !lines->is_escaped;
        } else if (lines->depth > 0 || c == '{') {
            lines->is_quoted = c == '"';
            lines->depth += (c == '{' || c == '[') - (c == '}' || c == ']');
            if (lines->depth == 0) return lines->looked++;
        }
    }
    return lines->filled;
}

/* Reads until the line at lines->at has its end in the buffer, where `end` then stands, or the file
 * ends. A return at the end of the buffer may have its line feed in the next block. */
static ikt_status find_end(ikt_text_lines *lines, int64_t *end) {
    while (lines->unit == IKT_UNIT_OBJECT) {
        *end = find_object_end(lines);
        if (lines->file_end || *end < lines->filled) return IKT_OK;
        IKT_TRY(read_more(lines));
    }
    for (;;) {
        const bool are_lines = lines->unit == IKT_UNIT_LINE;
        const int64_t feed = find(lines, are_lines ? '\n' : ']', &lines->next_feed);
        const int64_t back = are_lines ? find(lines, '\r', &lines->next_return) : lines->filled;
        *end = feed < back ? feed : back;
        if (lines->file_end || *end + (back < feed) < lines->filled) return IKT_OK;
        IKT_TRY(read_more(lines));
    }
}

/* Steps over the end that stands at `end`: line feed, return, or both. */
static void step_over(ikt_text_lines *lines, int64_t end) {
    const char *at = lines->buffer + end;
    lines->at = end < lines->filled ? end + 1 : end;
    if (end + 1 < lines->filled && at[0] == '\r' && at[1] == '\n') lines->at++;
}

/* What stands behind the last object: the bracket that ends the array, once. */
static ikt_status end_array(ikt_text_lines *lines, const char *text) {
    static const char blanks[] = " \t\r\n";
    text += strspn(text, blanks);
    if (*text == ']' && !lines->is_closed) {
        lines->is_closed = true;
        text += 1 + strspn(text + 1, blanks);
        if (*text == '\0') return IKT_OK;
        return ikt_text_lines_fault(lines, IKT_ERR_DATA, NULL, NULL,
                                    "something follows the array of objects");
    }
    return ikt_text_lines_fault(lines, IKT_ERR_FILE, NULL, NULL,
                                "no bracket ends the array of objects: is it truncated?");
}

/* Puts a zero behind the object that ends at `end`, in place of what the next one begins with. */
static int64_t hide_next(ikt_text_lines *lines, int64_t end) {
    lines->hidden = end + 1 < lines->filled ? lines->buffer[end + 1] : '\0';
    return end + 1;
}

ikt_status ikt_text_lines_next(ikt_text_lines *lines, char **line, int64_t *length) {
    static const char mark[] = "\xEF\xBB\xBF";
    int64_t end;
    *line = NULL;
    if (lines->offset + lines->at >= lines->end) return IKT_OK;
    lines->number++;
    if (lines->hidden) lines->buffer[lines->at] = lines->hidden;
    lines->hidden = '\0';
    IKT_TRY(find_end(lines, &end));
    const bool are_objects = lines->unit == IKT_UNIT_OBJECT;
    if (lines->at == lines->filled) { /* the end of the file is no line */
        if (are_objects && !lines->is_closed) return end_array(lines, "");
        lines->number--;
        return IKT_OK;
    }
    const bool is_cut = end < lines->filled;
    if (are_objects && is_cut) end = hide_next(lines, end);
    char *text = lines->buffer + lines->at;
    *length = end - lines->at;
    const bool at_start = lines->offset + lines->at == 0;
    if (*length >= line_most) return too_long(lines);
    if (are_objects)
        lines->at = end;
    else
        step_over(lines, end);
    text[*length] = '\0';
    if (memchr(text, '\0', (size_t)*length))
        return ikt_text_lines_fault(lines, IKT_ERR_DATA, NULL, NULL,
                                    "holds a zero byte; not text?");
    if (are_objects && !is_cut) IKT_TRY(end_array(lines, text));
    if (lines->unit == IKT_UNIT_VECTOR && !is_cut && text[strspn(text, ", \t\r\n")] != '\0')
        return ikt_text_lines_fault(lines, IKT_ERR_FILE, NULL, NULL,
                                    "no bracket ends it, the file does: is it truncated?");
    if (at_start && strncmp(text, mark, 3) == 0) {
        text += 3;
        *length -= 3;
    }
    *line = text;
    return IKT_OK;
}

static void close_file(ikt_text_lines *lines) {
    if (lines->file) gzclose(lines->file);
    lines->file = NULL;
}

/* A range that does not begin the file begins with the rest of a line of the range before: that is
 * passed over, from the byte before the range on, which may be the end of that line. zlib finds out
 * at the first byte whether the file is compressed, and only then moves without reading. */
ikt_status ikt_text_lines_open(ikt_text_lines *lines) {
    int64_t end;
    close_file(lines);
    lines->number = lines->at = lines->filled = lines->next_feed = lines->next_return = 0;
    lines->offset = lines->begin > 0 ? lines->begin - 1 : 0;
    lines->fault = (ikt_text_fault){IKT_OK, 0, 0, "", NULL};
    lines->file_end = lines->is_quoted = lines->is_escaped = lines->is_closed = false;
    lines->looked = lines->depth = 0;
    lines->hidden = '\0';
    if (!lines->buffer) {
        const int64_t size = lines->end == INT64_MAX ? block_packed : lines->end - lines->begin;
        lines->capacity = size < block_least ? block_least : size < block_most ? size : block_most;
        IKT_TRY(ikt_alloc(lines->ctx, &lines->buffer, lines->capacity + 1, 1, "reader"));
    }
    IKT_TRY(ikt_gz_open(lines->ctx, lines->path, &lines->file));
    if (lines->begin == 0) return IKT_OK;
    if (!gzdirect(lines->file) || gzseek(lines->file, (z_off_t)lines->offset, SEEK_SET) < 0)
        return ikt_fail(lines->ctx, IKT_ERR_FILE, "%s cannot be read from byte %lld on",
                        lines->path, (long long)lines->offset);
    IKT_TRY(find_end(lines, &end));
    step_over(lines, end);
    return IKT_OK;
}

void ikt_text_lines_free(ikt_text_lines *lines) {
    close_file(lines);
    ikt_free(&lines->buffer);
}
