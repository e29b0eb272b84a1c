/* Which array of several is meant. See reader.h. */
#include "io/formats/reader.h"

#include <stdio.h>
#include <string.h>

enum { LIST_SIZE = 800 };

static ikt_status refuse(ikt_context *ctx, const char *path, const ikt_array *arrays, int64_t count,
                         const char *what) {
    char list[LIST_SIZE] = "";
    size_t used = 0;
    for (int64_t a = 0; a < count && used + 160 < sizeof list; a++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.80s (%.60s)",
                                 a > 0 ? ", " : "", arrays[a].name, arrays[a].shape);
    return ikt_fail(ctx, IKT_ERR_DATA, "%s %s; it holds: %s", path, what,
                    count > 0 ? list : "nothing");
}

static int64_t find(const ikt_array *arrays, int64_t count, const char *name) {
    for (int64_t a = 0; a < count; a++)
        if (strcmp(arrays[a].name, name) == 0) return a;
    return -1;
}

/* The only one of its kind; -1 where there is none or several. */
static int64_t only(const ikt_array *arrays, int64_t count, bool table) {
    int64_t found = -1, kinds = 0;
    for (int64_t a = 0; a < count; a++)
        if (arrays[a].usable && (arrays[a].table || !table)) {
            found = a;
            kinds++;
        }
    return kinds == 1 ? found : -1;
}

static int64_t usual(const ikt_array *arrays, int64_t count) {
    static const char *const names[] = {"X",       "x",   "data",     "x_train", "X_train",
                                        "train_x", "fea", "features", "images",  "arr_0"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const int64_t a = find(arrays, count, names[k]);
        if (a >= 0 && arrays[a].usable && arrays[a].table) return a;
    }
    return -1;
}

ikt_status ikt_array_choose(ikt_context *ctx, const char *path, const ikt_array *arrays,
                            int64_t count, const char *name, int64_t *out) {
    char what[300];
    const bool asked = name && *name;
    *out = asked ? find(arrays, count, name) : only(arrays, count, false);
    if (asked && *out < 0) {
        snprintf(what, sizeof what, "has no array '%.200s'", name);
        return refuse(ctx, path, arrays, count, what);
    }
    if (asked && !arrays[*out].usable) {
        snprintf(what, sizeof what,
                 "cannot be used: '%.100s' is no array of integers, float32, float64 or truth "
                 "values with rows and columns",
                 name);
        return refuse(ctx, path, arrays, count, what);
    }
    if (*out < 0) *out = only(arrays, count, true);
    if (*out < 0) *out = usual(arrays, count);
    if (*out >= 0) return IKT_OK;
    return refuse(ctx, path, arrays, count,
                  "does not tell which of its arrays is meant: name it (--array NAME, or "
                  "--labels FILE:NAME for labels)");
}
