/* The names in a label column: a sorted array, searched by halving. */
#include "io/formats/csv_classes.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

/* Where the name is or belongs. */
static int64_t place_of(const ikt_csv_classes *classes, const char *name, bool *found) {
    int64_t at;
    IKT_FIND_FIRST(at, 0, classes->count, strcmp(classes->name[at], name) >= 0);
    *found = at < classes->count && strcmp(classes->name[at], name) == 0;
    return at;
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
