/* Labels that are texts, and names of classes. See class_labels.h. */
#define _POSIX_C_SOURCE 200809L
#include "io/formats/class_labels.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "base/log.h"
#include "base/sort.h"
#include "io/numbers/element.h"

int64_t ikt_label_names_count(const char *names) {
    int64_t count = 0;
    for (const char *at = names; *at; at++)
        count += *at == '\n';
    return count;
}

const char *ikt_label_name(const char *names, int64_t label, char *text, size_t size) {
    const char *at = label >= 0 ? names : NULL;
    for (int64_t line = 0; at && line < label; line++) {
        at = strchr(at, '\n');
        if (at) at++;
    }
    const char *end = at ? strchr(at, '\n') : NULL;
    if (end)
        snprintf(text, size, "%.*s", (int)(end - at), at);
    else if (names && label == IKT_LABEL_MISSING)
        snprintf(text, size, "(missing)");
    else
        snprintf(text, size, "%" PRId64, label);
    return text;
}

void ikt_labels_leave_unnamed(const char *names, int64_t *labels, int64_t count) {
    int64_t class = 0;
    for (const char *at = names; at && *at; class ++) {
        const char *end = strchr(at, '\n');
        for (int64_t i = 0; *at == '\n' && i < count; i++)
            if (labels[i] == class) labels[i] = IKT_LABEL_MISSING;
        at = end ? end + 1 : NULL;
    }
}

void ikt_label_names_check(ikt_context *ctx, const char *path, const char *names, int64_t count,
                           const int64_t *labels) {
    const int64_t classes = names ? ikt_label_names_count(names) : 0;
    bool is_beyond = false;
    for (int64_t i = 0; classes > 0 && i < count; i++) /* an empty text names none, on purpose */
        is_beyond |= labels[i] >= classes;
    if (is_beyond)
        ikt_warn(ctx,
                 "%s: the attribute 'label_names' names %lld classes, but there are more labels; "
                 "those from %lld on are called by their numbers",
                 path, (long long)classes, (long long)classes);
}

/* --- different names -------------------------------------------------------------------------- */

/* Where the name is or belongs. */
static int64_t find(const ikt_class_names *classes, const char *name, bool *found) {
    int64_t at;
    IKT_FIND_FIRST(at, 0, classes->count, strcmp(classes->name[at], name) >= 0);
    *found = at < classes->count && strcmp(classes->name[at], name) == 0;
    return at;
}

ikt_status ikt_class_names_add(ikt_context *ctx, ikt_class_names *classes, const char *name,
                               bool *full) {
    bool found;
    const int64_t at = find(classes, name, &found);
    if (found) return IKT_OK;
    *full |= classes->count == IKT_CLASS_NAMES_MAX;
    if (*full) return IKT_OK;
    if (classes->count == classes->capacity) {
        const int64_t more = classes->capacity ? 2 * classes->capacity : 64;
        IKT_TRY(ikt_resize(ctx, &classes->name, more, sizeof *classes->name, "reader"));
        classes->capacity = more;
    }
    char *copy = NULL;
    IKT_TRY(ikt_alloc(ctx, &copy, (int64_t)strlen(name) + 1, 1, "reader"));
    strcpy(copy, name);
    memmove(classes->name + at + 1, classes->name + at,
            (size_t)(classes->count - at) * sizeof *classes->name);
    classes->name[at] = copy;
    classes->count++;
    return IKT_OK;
}

ikt_status ikt_class_names_add_lines(ikt_context *ctx, ikt_class_names *classes, char *lines,
                                     bool *full) {
    for (char *name = lines, *end = strchr(name, '\n'); end; end = strchr(name, '\n')) {
        *end = '\0';
        IKT_TRY(ikt_class_names_add(ctx, classes, name, full));
        name = end + 1;
    }
    return IKT_OK;
}

int64_t ikt_class_names_find(const ikt_class_names *classes, const char *name) {
    bool found;
    const int64_t at = find(classes, name, &found);
    return found ? at : -1;
}

ikt_status ikt_class_names_list(ikt_context *ctx, const ikt_class_names *classes, char **text) {
    int64_t length = 1;
    for (int64_t c = 0; c < classes->count; c++)
        length += (int64_t)strlen(classes->name[c]) + 1;
    IKT_TRY(ikt_alloc(ctx, text, length, 1, "reader"));
    char *to = *text;
    for (int64_t c = 0; c < classes->count; c++)
        to = stpcpy(stpcpy(to, classes->name[c]), "\n");
    return IKT_OK;
}

ikt_status ikt_class_names_join(ikt_context *ctx, ikt_class_names *classes, bool *full) {
    const bool is_full = ikt_max_one(ctx, *full) > 0;
    for (int rank = 0; rank < ikt_size(ctx) && !is_full; rank++) {
        char *lines IKT_AT_END(ikt_free) = NULL;
        ikt_status st = IKT_OK;
        if (ikt_rank(ctx) == rank) st = ikt_class_names_list(ctx, classes, &lines);
        int64_t bytes = lines ? (int64_t)strlen(lines) + 1 : 0;
        ikt_broadcast(ctx, &bytes, sizeof bytes, rank);
        if (ikt_rank(ctx) != rank) st = ikt_alloc(ctx, &lines, bytes, 1, "reader");
        IKT_TRY(ikt_agree(ctx, st));
        ikt_broadcast(ctx, lines, bytes, rank);
        IKT_TRY(ikt_agree(ctx, ikt_class_names_add_lines(ctx, classes, lines, full)));
    }
    *full = ikt_max_one(ctx, *full) > 0;
    return IKT_OK;
}

void ikt_class_names_free(ikt_class_names *classes) {
    for (int64_t c = 0; c < classes->count; c++)
        ikt_free(&classes->name[c]);
    ikt_free(&classes->name);
    classes->count = classes->capacity = 0;
}

/* --- labels ----------------------------------------------------------------------------------- */

/* The label as UTF-8: itself, or in labels->text, which is large enough once it was learnt. */
static const char *as_utf8(const ikt_text_labels *labels, const char *text) {
    if (ikt_utf8_valid(text)) return text;
    if (labels->capacity > 0) (void)ikt_utf8_copy(text, labels->text, (size_t)labels->capacity);
    return labels->capacity > 0 ? labels->text : "";
}

bool ikt_label_is_code(const char *text) {
    static const char digits[] = "0123456789";
    text += *text == '-' || *text == '+';
    const char *end = text + strspn(text, digits);
    if (*end == '\0') return text[0] == '0' && text[1];
    const bool is_exponent = end > text && (*end == 'e' || *end == 'E');
    return is_exponent && end[1] && end[1 + strspn(end + 1, digits)] == '\0';
}

ikt_status ikt_text_labels_learn(ikt_context *ctx, ikt_text_labels *labels, const char *text) {
    double value;
    if (!ikt_utf8_valid(text)) {
        const int64_t bytes = 2 * (int64_t)strlen(text) + 1;
        labels->are_latin1 = true;
        if (bytes > labels->capacity) {
            IKT_TRY(ikt_resize(ctx, &labels->text, bytes, 1, "reader"));
            labels->capacity = bytes;
        }
        text = as_utf8(labels, text);
    }
    labels->are_text |= ikt_label_is_code(text) || !ikt_decimal_whole(text, &value) ||
                        !(fabs(value) < 2147483648.0) || value != floor(value);
    return ikt_class_names_add(ctx, &labels->classes, text, &labels->are_many);
}

ikt_status ikt_text_labels_list(ikt_context *ctx, const char *path, const ikt_text_labels *labels,
                                char **text) {
    *text = NULL;
    if (!labels->are_text) return IKT_OK;
    if (labels->are_latin1 && ikt_rank(ctx) == 0)
        ikt_warn(ctx, "%s: some labels are not UTF-8; they are read as Latin-1 (ISO 8859-1)", path);
    if (!labels->are_many) return ikt_class_names_list(ctx, &labels->classes, text);
    return ikt_fail(ctx, IKT_ERR_DATA, "%s: the labels are more than %d different texts", path,
                    IKT_CLASS_NAMES_MAX);
}

ikt_status ikt_text_labels_join(ikt_context *ctx, const char *path, ikt_text_labels *labels,
                                char **text) {
    int64_t flags[2] = {labels->are_text, labels->are_latin1};
    ikt_max_i64(ctx, flags, 2);
    labels->are_text = flags[0] > 0;
    labels->are_latin1 = flags[1] > 0;
    if (labels->are_text) IKT_TRY(ikt_class_names_join(ctx, &labels->classes, &labels->are_many));
    return ikt_agree(ctx, ikt_text_labels_list(ctx, path, labels, text));
}

int32_t ikt_text_labels_number(const ikt_text_labels *labels, const char *text) {
    return labels->are_text ? (int32_t)ikt_class_names_find(&labels->classes, as_utf8(labels, text))
                            : (int32_t)strtod(text, NULL);
}

void ikt_text_labels_free(ikt_text_labels *labels) {
    ikt_class_names_free(&labels->classes);
    ikt_free(&labels->text);
    labels->capacity = 0;
}
