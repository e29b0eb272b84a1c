/* The labels of a table in text. */
#include "io/formats/csv_labels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/encoding.h"
#include "base/log.h"
#include "base/memory.h"
#include "io/formats/csv_line.h"

/* The label as UTF-8: itself, or in labels->text, where there is room for it once it was learnt. */
static const char *as_utf8(const ikt_csv_labels *labels, const char *text) {
    if (ikt_utf8_valid(text)) return text;
    if (labels->room > 0) (void)ikt_utf8_copy(text, labels->text, (size_t)labels->room);
    return labels->room > 0 ? labels->text : "";
}

ikt_status ikt_csv_labels_learn(ikt_context *ctx, ikt_csv_labels *labels, const char *text) {
    double value;
    if (!ikt_utf8_valid(text)) {
        const int64_t room = 2 * (int64_t)strlen(text) + 1;
        labels->are_latin1 = true;
        if (room > labels->room) IKT_TRY(ikt_resize(ctx, &labels->text, room, 1, "reader"));
        if (room > labels->room) labels->room = room;
        text = as_utf8(labels, text);
    }
    labels->are_text |=
        !ikt_csv_number(text, &value) || !(fabs(value) < 2147483648.0) || value != floor(value);
    return ikt_csv_classes_add(ctx, &labels->classes, text, &labels->are_many);
}

ikt_status ikt_csv_labels_merge(ikt_context *ctx, ikt_csv_labels *labels, char *names) {
    for (char *name = names, *end = strchr(name, '\n'); end; end = strchr(name, '\n')) {
        *end = '\0';
        IKT_TRY(ikt_csv_classes_add(ctx, &labels->classes, name, &labels->are_many));
        name = end + 1;
    }
    return IKT_OK;
}

ikt_status ikt_csv_labels_list(ikt_context *ctx, const char *path, const ikt_csv_labels *labels,
                               char **text) {
    *text = NULL;
    if (!labels->are_text) return IKT_OK;
    if (labels->are_latin1 && ikt_rank(ctx) == 0)
        ikt_warn(ctx, "%s: some labels are not UTF-8; they are read as Latin-1 (ISO 8859-1)", path);
    if (!labels->are_many) return ikt_csv_classes_list(ctx, &labels->classes, text);
    return ikt_fail(ctx, IKT_ERR_DATA, "%s: the labels are more than %d different texts", path,
                    IKT_CLASSES_MAX);
}

int32_t ikt_csv_labels_number(const ikt_csv_labels *labels, const char *text) {
    return labels->are_text ? (int32_t)ikt_csv_classes_find(&labels->classes, as_utf8(labels, text))
                            : (int32_t)strtod(text, NULL);
}

void ikt_csv_labels_free(ikt_csv_labels *labels) {
    ikt_csv_classes_free(&labels->classes);
    ikt_free(&labels->text);
    labels->room = 0;
}

/* The names in a label column: a sorted array, searched by halving. */

/* Where the name is or belongs. */
static int64_t place_of(const ikt_csv_classes *classes, const char *name, bool *found) {
    int64_t low = 0, high = classes->count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (strcmp(classes->name[middle], name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *found = low < classes->count && strcmp(classes->name[low], name) == 0;
    return low;
}

ikt_status ikt_csv_classes_add(ikt_context *ctx, ikt_csv_classes *classes, const char *name,
                               bool *full) {
    bool found;
    int64_t place = place_of(classes, name, &found);
    if (found) return IKT_OK;
    *full |= classes->count == IKT_CLASSES_MAX;
    if (*full) return IKT_OK;
    if (classes->count == classes->room) {
        int64_t room = classes->room ? 2 * classes->room : 64;
        IKT_TRY(ikt_resize(ctx, &classes->name, room, sizeof *classes->name, "reader"));
        classes->room = room;
    }
    char *copy = NULL;
    IKT_TRY(ikt_alloc(ctx, &copy, (int64_t)strlen(name) + 1, 1, "reader"));
    strcpy(copy, name);
    memmove(classes->name + place + 1, classes->name + place,
            (size_t)(classes->count - place) * sizeof *classes->name);
    classes->name[place] = copy;
    classes->count++;
    return IKT_OK;
}

int64_t ikt_csv_classes_find(const ikt_csv_classes *classes, const char *name) {
    bool found;
    int64_t place = place_of(classes, name, &found);
    return found ? place : -1;
}

ikt_status ikt_csv_classes_list(ikt_context *ctx, const ikt_csv_classes *classes, char **text) {
    int64_t length = 1;
    for (int64_t c = 0; c < classes->count; c++)
        length += (int64_t)strlen(classes->name[c]) + 1;
    IKT_TRY(ikt_alloc(ctx, text, length, 1, "reader"));
    char *to = *text;
    for (int64_t c = 0; c < classes->count; c++)
        to += sprintf(to, "%s\n", classes->name[c]);
    return IKT_OK;
}

void ikt_csv_classes_free(ikt_csv_classes *classes) {
    for (int64_t c = 0; c < classes->count; c++)
        ikt_free(&classes->name[c]);
    ikt_free(&classes->name);
    classes->count = classes->room = 0;
}
