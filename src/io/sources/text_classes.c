/* Texts of an HDF5 data set as classes. */
#include "io/sources/text_classes.h"

#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "dist/rows.h"
#include "io/formats/csv_classes.h"
#include "io/hdf5/h5.h"
#include "io/hdf5/h5_texts.h"

static ikt_status too_many(ikt_context *ctx, hid_t dataset) {
    char name[512];
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s has more than %d different texts: are these names of rows rather than of "
                    "classes?",
                    ikt_h5_name(dataset, name, sizeof name), IKT_CLASSES_MAX);
}

/* --- a list ----------------------------------------------------------------------------------- */

typedef struct {
    ikt_context *ctx;
    char *text;
    int64_t length, room;
} growing;

static ikt_status append(void *self, int64_t i, const char *text) {
    growing *g = self;
    const int64_t more = (int64_t)strlen(text) + 1;
    (void)i;
    if (g->length + more + 1 > g->room) {
        const int64_t room = 2 * (g->length + more + 1);
        IKT_TRY(ikt_resize(g->ctx, &g->text, room, 1, "class names"));
        g->room = room;
    }
    g->length += sprintf(g->text + g->length, "%s\n", text);
    return IKT_OK;
}

ikt_status ikt_text_list_read(ikt_context *ctx, hid_t dataset, char **names) {
    growing g = {.ctx = ctx};
    const int64_t count = ikt_h5_length(dataset);
    *names = NULL;
    if (count > IKT_CLASSES_MAX) return too_many(ctx, dataset);
    ikt_status st = ikt_resize(ctx, &g.text, 1, 1, "class names");
    if (st == IKT_OK) st = ikt_h5_visit_texts(ctx, dataset, 0, count < 0 ? 0 : count, append, &g);
    if (st != IKT_OK) ikt_free(&g.text);
    *names = g.text;
    return st;
}

/* --- a column --------------------------------------------------------------------------------- */

/* Texts that are gathered, or numbered. */
typedef struct {
    ikt_context *ctx;
    ikt_csv_classes classes;
    bool full;
    int64_t first, *labels;
} numbering;

static ikt_status collect(void *self, int64_t i, const char *text) {
    numbering *n = self;
    (void)i;
    return n->full ? IKT_OK : ikt_csv_classes_add(n->ctx, &n->classes, text, &n->full);
}

static ikt_status collect_lines(numbering *n, char *lines, int64_t length) {
    for (char *line = lines; line < lines + length; line += strlen(line) + 1) {
        char *end = memchr(line, '\n', (size_t)(lines + length - line));
        if (!end) break;
        *end = '\0';
        IKT_TRY(collect(n, 0, line));
    }
    return IKT_OK;
}

/* COLLECTIVE. The texts of all ranks on each. */
static ikt_status join(ikt_context *ctx, const char *own, numbering *all) {
    int64_t *counts = NULL, total = 0;
    char *lines = NULL;
    ikt_status st = ikt_alloc(ctx, &counts, ikt_size(ctx), sizeof *counts, "class names");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        ikt_gather_counts(ctx, (int64_t)strlen(own), counts);
        for (int r = 0; r < ikt_size(ctx); r++)
            total += counts[r];
        st = ikt_agree(ctx, ikt_alloc(ctx, &lines, total + 1, 1, "class names"));
    }
    if (st == IKT_OK) {
        ikt_allgather(ctx, own, (int64_t)strlen(own), 1, lines, counts);
        st = ikt_agree(ctx, collect_lines(all, lines, total));
    }
    ikt_free(&lines);
    ikt_free(&counts);
    return st;
}

ikt_status ikt_text_classes_find(ikt_context *ctx, hid_t dataset, char **names) {
    const ikt_rows rows = ikt_rows_make(ikt_h5_length(dataset), ikt_size(ctx), ikt_rank(ctx));
    numbering own = {.ctx = ctx}, all = {.ctx = ctx};
    char *lines = NULL;
    *names = NULL;
    ikt_status st = ikt_h5_visit_texts(ctx, dataset, rows.first, rows.count, collect, &own);
    if (st == IKT_OK) st = ikt_csv_classes_list(ctx, &own.classes, &lines);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = join(ctx, lines, &all);
    if (st == IKT_OK && ikt_max_one(ctx, own.full || all.full) > 0)
        st = ikt_agree(ctx, too_many(ctx, dataset));
    if (st == IKT_OK) st = ikt_agree(ctx, ikt_csv_classes_list(ctx, &all.classes, names));
    ikt_free(&lines);
    ikt_csv_classes_free(&own.classes);
    ikt_csv_classes_free(&all.classes);
    return st;
}

static ikt_status number(void *self, int64_t i, const char *text) {
    numbering *n = self;
    n->labels[i - n->first] = ikt_csv_classes_find(&n->classes, text);
    return IKT_OK;
}

ikt_status ikt_text_classes_number(ikt_context *ctx, hid_t dataset, const char *names,
                                   int64_t first, int64_t count, int64_t *labels) {
    const int64_t length = (int64_t)strlen(names);
    numbering n = {.ctx = ctx, .first = first, .labels = labels};
    char *lines = NULL;
    ikt_status st = ikt_alloc(ctx, &lines, length + 1, 1, "class names");
    if (st == IKT_OK) memcpy(lines, names, (size_t)length);
    if (st == IKT_OK) st = collect_lines(&n, lines, length);
    if (st == IKT_OK) st = ikt_h5_visit_texts(ctx, dataset, first, count, number, &n);
    ikt_free(&lines);
    ikt_csv_classes_free(&n.classes);
    return ikt_agree(ctx, st);
}
