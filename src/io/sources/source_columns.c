/* Columns by their names: a source on top of another one, whose columns stand in the order of those
 * of other rows.
 *
 * Method: the names of both sides are sorted; every read of rows moves their numbers, and of sparse
 * rows the numbers of their columns. Advantage: any kind of source, nothing is stored but a number
 * a column. Disadvantage: a copy of each dense row on its way. */
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "io/formats/class_labels.h"
#include "io/formats/name_lines.h"
#include "io/sources/source_ops.h"

static const char purpose[] = "names of columns";

/* --- names ------------------------------------------------------------------------------------ */

void ikt_column_name_add(ikt_text *names, const char *name) {
    const int64_t first = names->length;
    ikt_text_add(names, "%s\n", name);
    for (int64_t at = first; names->status == IKT_OK && at + 1 < names->length; at++)
        if (names->data[at] == '\n') names->data[at] = ' ';
}

/* LOCAL. Takes over what was found where that is one name for each column. */
static ikt_status keep_names(const ikt_source *source, ikt_text *found, char **names) {
    const int64_t lines = found->data ? ikt_label_names_count(found->data) : 0;
    if (found->status == IKT_OK && lines == source->d && found->length <= IKT_COLUMN_NAMES_MOST) {
        *names = found->data;
        found->data = NULL;
    }
    return found->status;
}

ikt_status ikt_source_column_names(ikt_source *source, char **names) {
    ikt_text found IKT_AT_END(ikt_text_free) = {source->ctx, NULL, 0, 0, IKT_OK};
    *names = NULL;
    if (!source->ops->name_columns)
        return source->from ? ikt_source_column_names(source->from, names) : IKT_OK;
    ikt_status st = source->ops->name_columns(source, &found);
    if (st == IKT_OK) st = keep_names(source, &found, names);
    return ikt_agree(source->ctx, st);
}

/* --- the source on top ------------------------------------------------------------------------ */

typedef struct {
    bool owns;
    int64_t *from; /* [d] the column of the other source that stands here */
    int64_t *to;   /* [d] where its column stands */
} ordered_self;

static ikt_status ordered_read(ikt_source *source, int64_t first, int64_t count, void *rows) {
    const ordered_self *self = source->self;
    const size_t bytes = ikt_type_size(source->type), row = (size_t)source->d * bytes;
    IKT_ARRAYS(held, source->ctx, purpose);
    char *copy = ikt_claim(&held, (int64_t)row, 1);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_source_read(source->from, first, count, rows));
    for (int64_t i = 0; i < count; i++) {
        char *to = (char *)rows + (size_t)i * row;
        memcpy(copy, to, row);
        for (int64_t k = 0; k < source->d; k++)
            memcpy(to + (size_t)k * bytes, copy + (size_t)self->from[k] * bytes, bytes);
    }
    return IKT_OK;
}

static ikt_status ordered_starts(ikt_source *source, int64_t first, int64_t count, int64_t *start) {
    return source->from->ops->starts(source->from, first, count, start);
}

static ikt_status ordered_entries(ikt_source *source, int64_t first, int64_t count,
                                  const int64_t *start, uint32_t *column, double *value) {
    const ordered_self *self = source->self;
    IKT_TRY(source->from->ops->entries(source->from, first, count, start, column, value));
    for (int64_t e = 0; e < start[count] - start[0]; e++)
        column[e] = (uint32_t)self->to[column[e]];
    return IKT_OK;
}

static bool ordered_name(const ikt_source *source, int64_t column, char *name, size_t size) {
    const ordered_self *self = source->self;
    return ikt_source_column_name(source->from, self->from[column], name, size);
}

static void ordered_close(ikt_source *source) {
    ordered_self *self = source->self;
    if (self->owns) ikt_source_close(&source->from);
    ikt_free_all(&self->from, &self->to);
}

static const ikt_source_ops ordered_ops = {.self_bytes = sizeof(ordered_self),
                                           .read = ordered_read,
                                           .starts = ordered_starts,
                                           .entries = ordered_entries,
                                           .name_column = ordered_name,
                                           .close = ordered_close};

/* --- which column stands where ---------------------------------------------------------------- */

/* LOCAL. The lines of a text, which is cut into them, sorted. Returns whether there are d. */
static bool sort_lines(char *text, int64_t d, ikt_name_line *out) {
    const bool fits = ikt_name_lines_cut(text, d, out) == d;
    if (fits) ikt_name_lines_sort(out, d);
    return fits;
}

/* LOCAL. Names the first column of the other rows that these rows lack.
 *   wanted, own   [d] sorted, not all the same */
static ikt_status refuse(const ikt_source *from, const ikt_name_line *wanted,
                         const ikt_name_line *own, const char *whose) {
    const ikt_name_line *lacking = NULL;
    int64_t o = 0;
    for (int64_t w = 0; w < from->d; w++) {
        while (o < from->d && strcmp(own[o].name, wanted[w].name) < 0)
            o++;
        if (o < from->d && strcmp(own[o].name, wanted[w].name) == 0)
            o++;
        else if (!lacking || wanted[w].line < lacking->line)
            lacking = &wanted[w];
    }
    return ikt_fail(from->ctx, IKT_ERR_DATA,
                    "%s has no column '%s', which is column %lld of %s: rows are compared column "
                    "by column; where it is the same under another name, rename it",
                    from->name, lacking->name, (long long)lacking->line + 1, whose);
}

/* LOCAL. Fills from[d] and to[d]; whether any column moves. */
static ikt_status match(const ikt_source *source, const char *names, const char *own_names,
                        const char *whose, ordered_self *self, bool *moves) {
    const int64_t d = source->d, bytes = (int64_t)strlen(names) + 1;
    IKT_ARRAYS(held, source->ctx, purpose);
    char *texts = ikt_claim(&held, bytes + (int64_t)strlen(own_names) + 1, 1);
    ikt_name_line *wanted = ikt_claim(&held, d, sizeof *wanted),
                  *own = ikt_claim(&held, d, sizeof *own);
    self->from = ikt_claim_kept(&held, d, sizeof *self->from);
    self->to = ikt_claim_kept(&held, d, sizeof *self->to);
    IKT_TRY(held.status);
    *moves = false;
    if (!sort_lines(strcpy(texts, names), d, wanted) ||
        !sort_lines(strcpy(texts + bytes, own_names), d, own))
        return IKT_OK; /* another number of columns, which is refused where it matters */
    for (int64_t k = 0; k < d; k++) {
        if (strcmp(wanted[k].name, own[k].name) != 0) return refuse(source, wanted, own, whose);
        self->from[wanted[k].line] = own[k].line;
        self->to[own[k].line] = wanted[k].line;
        *moves |= wanted[k].line != own[k].line;
    }
    return IKT_OK;
}

/* COLLECTIVE. All of the source on top but which columns stand where. */
static ikt_status make_ordered(ikt_context *ctx, ikt_source *from, ikt_source **out) {
    IKT_TRY(ikt_source_new(ctx, &ordered_ops, from->format, from->name, "", out));
    ikt_source *s = *out;
    s->from = from;
    s->n = from->n;
    s->d = from->d;
    s->n_file = from->n_file;
    s->type = from->type;
    s->is_half = from->is_half;
    s->sparse = from->sparse;
    s->stored = from->stored;
    s->entries = from->entries;
    s->longest = from->longest;
    s->block = from->block;
    memcpy(s->missing, from->missing, sizeof s->missing);
    return IKT_OK;
}

ikt_status ikt_source_order_columns(ikt_context *ctx, ikt_source *from, bool owns,
                                    const char *names, const char *whose, ikt_source **out) {
    char *own IKT_AT_END(ikt_free) = NULL;
    ikt_source *made IKT_AT_END(ikt_source_close) = NULL;
    bool moves = false;
    *out = NULL;
    if (!names) return IKT_OK;
    IKT_TRY(ikt_source_column_names(from, &own));
    if (!own) return IKT_OK;
    IKT_TRY(make_ordered(ctx, from, &made));
    ordered_self *self = made->self;
    IKT_TRY(ikt_agree(ctx, match(from, names, own, whose, self, &moves)));
    if (!moves) return IKT_OK;
    self->owns = owns;
    return ikt_give(out, made);
}
