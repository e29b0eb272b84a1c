/* What pictures of an embedding are made from. */
#include "app/embedding_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "base/memory.h"
#include "io/sources/labels.h"

/* Whole numbers that span fewer values than this are classes unless the user says otherwise. */
enum { CLASSES_GUESSED = 64 };

/* COLLECTIVE. FILE and WHAT of "FILE" or "FILE:WHAT", as rank 0 sees it. */
static void split_name(ikt_context *ctx, const char *name, char file[IKT_STRING_MAX],
                       char what[IKT_STRING_MAX]) {
    struct {
        char file[IKT_STRING_MAX], what[IKT_STRING_MAX];
    } parts = {"", ""};
    if (ikt_rank(ctx) == 0) {
        const size_t length = ikt_file_name_length(name);
        snprintf(parts.file, IKT_STRING_MAX, "%.*s", (int)length, name);
        snprintf(parts.what, IKT_STRING_MAX, "%s", name[length] ? name + length + 1 : "");
    }
    ikt_broadcast(ctx, &parts, sizeof parts, 0);
    memcpy(file, parts.file, IKT_STRING_MAX);
    memcpy(what, parts.what, IKT_STRING_MAX);
}

/* COLLECTIVE. Whether a name without a colon is that of a file, labels.npy, and of nothing beside
 * the map: names of data sets have no endings. */
static bool is_own_file(ikt_context *ctx, const char *name) {
    int64_t is_one = 0;
    if (ikt_rank(ctx) == 0 && strchr(name, '.')) is_one = access(name, F_OK) == 0;
    return ikt_max_one(ctx, is_one) > 0;
}

/* The name of a column for people: WHAT of FILE:WHAT, or of a file of one column its own. */
static void name_column(const char *file, const char *what, char name[IKT_STRING_MAX]) {
    if (what[0])
        snprintf(name, IKT_STRING_MAX, "%s", what);
    else
        ikt_file_column(file, name, IKT_STRING_MAX);
}

void ikt_embedding_name_split(ikt_context *ctx, const char *name, const char *own,
                              char file[IKT_STRING_MAX], char dataset[IKT_STRING_MAX]) {
    char what[IKT_STRING_MAX];
    snprintf(file, IKT_STRING_MAX, "%s", own);
    snprintf(what, sizeof what, "%s", name);
    if (strchr(name, ':') || is_own_file(ctx, name)) split_name(ctx, name, file, what);
    snprintf(dataset, IKT_STRING_MAX, "%s", what + (what[0] == '/'));
}

static ikt_status read_labels(ikt_context *ctx, const ikt_embedding_file *embedding, bool asked_for,
                              ikt_embedding_column *out) {
    bool present = false;
    IKT_TRY(ikt_alloc_all(ctx, &out->labels, embedding->rows.count, sizeof *out->labels, "labels"));
    IKT_TRY(ikt_result_read_labels(embedding->file, "labels", embedding->rows.first,
                                   embedding->rows.count, out->labels, &present));
    if (present) return ikt_result_read_text(embedding->file, "label_names", &out->names);
    ikt_free(&out->labels);
    out->name[0] = '\0';
    if (!asked_for) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s has no /labels; name another data set, --colour-by FILE.h5:DATASET, or "
                    "--colour-by none",
                    embedding->path);
}

/* COLLECTIVE. Turns the values into labels where they are to be classes. */
static ikt_status choose_kind(ikt_context *ctx, const ikt_rows *rows, const char *name,
                              ikt_colour_as as, ikt_embedding_column *out) {
    if (as == IKT_COLOUR_AS_NUMBERS) return IKT_OK;
    int64_t broken = INT64_MAX; /* the lowest row whose value is not a whole number */
    double limits[2] = {INFINITY, INFINITY};
    for (int64_t i = rows->count - 1; i >= 0; i--) {
        const double value = out->values[i];
        if (!(fabs(value) < 9e15) || value != floor(value)) broken = rows->first + i;
        limits[0] = fmin(limits[0], value);
        limits[1] = fmin(limits[1], -value);
    }
    ikt_min_i64(ctx, &broken, 1);
    ikt_min_f64(ctx, limits, 2);
    if (as == IKT_COLOUR_AS_CLASSES && broken < INT64_MAX)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s, row %" PRId64 ": classes must be whole numbers; use --colour-as "
                        "numbers",
                        name, broken);
    if (broken < INT64_MAX) return IKT_OK;
    if (as == IKT_COLOUR_AS_AUTO && -limits[1] - limits[0] >= CLASSES_GUESSED) return IKT_OK;
    IKT_TRY(ikt_alloc_all(ctx, &out->labels, rows->count, sizeof *out->labels, "labels"));
    for (int64_t i = 0; i < rows->count; i++)
        out->labels[i] = (int64_t)out->values[i];
    ikt_free(&out->values);
    return IKT_OK;
}

ikt_status ikt_embedding_column_read(ikt_context *ctx, const ikt_embedding_file *embedding,
                                     const char *name, ikt_colour_as as, bool asked_for,
                                     ikt_embedding_column *out) {
    char file[IKT_STRING_MAX], dataset[IKT_STRING_MAX], full[2 * IKT_STRING_MAX];
    const ikt_rows *rows = &embedding->rows;
    bool is_named = false;
    *out = (ikt_embedding_column){.labels = NULL};
    if (strcmp(name, "none") == 0) return IKT_OK;
    ikt_embedding_name_split(ctx, name, embedding->path, file, dataset);
    name_column(file, dataset, out->name);
    if (strcmp(name, "labels") == 0 && as != IKT_COLOUR_AS_NUMBERS)
        return read_labels(ctx, embedding, asked_for, out);
    /* Classes may have names, such as the categories of an AnnData, or texts. */
    snprintf(full, sizeof full, dataset[0] ? "%s:%s" : "%s", file, dataset);
    if (as != IKT_COLOUR_AS_NUMBERS) IKT_TRY(ikt_label_file_has_names(ctx, full, &is_named));
    if (is_named) {
        IKT_TRY(ikt_alloc_all(ctx, &out->labels, rows->count, sizeof *out->labels, "labels"));
        return ikt_beside_labels(&embedding->beside, full, out->labels, &out->names);
    }
    IKT_TRY(ikt_alloc_all(ctx, &out->values, rows->count, sizeof *out->values, "colours"));
    IKT_TRY(ikt_beside_numbers(&embedding->beside, full, out->values));
    return choose_kind(ctx, rows, name, as, out);
}

void ikt_embedding_column_free(ikt_embedding_column *column) {
    ikt_free_all(&column->labels, &column->names, &column->values);
}

/* "0,17" to row numbers; they replace the file's own. "none": no marks. */
static ikt_status parse_marks(ikt_context *ctx, const char *text, ikt_embedding_file *embedding) {
    ikt_free(&embedding->marked);
    embedding->n_marked = 0;
    if (strcmp(text, "none") == 0) return IKT_OK;
    int64_t most = (int64_t)strlen(text) / 2 + 1;
    IKT_TRY(ikt_alloc(ctx, &embedding->marked, most, sizeof *embedding->marked, "marked rows"));
    for (const char *at = text;; at++) {
        char *end;
        long long row = strtoll(at, &end, 10);
        if (end == at || (*end != ',' && *end != '\0') || row < 0 || row >= embedding->rows.n)
            return ikt_fail(ctx, IKT_ERR_USAGE,
                            "--mark: '%s' is not a list of rows such as 0,17 (rows 0 to %" PRId64
                            ")",
                            text, embedding->rows.n - 1);
        embedding->marked[embedding->n_marked++] = row;
        if (*end == '\0') return IKT_OK;
        at = end;
    }
}

/* Of the run's notes, as they come. */
typedef struct {
    char input[256], value[64];
} notes;

static void visit_note(void *self, const char *name, const char *text, bool varying) {
    notes *n = self;
    if (varying) return;
    if (strcmp(name, "input") == 0) snprintf(n->input, sizeof n->input, "%s", text);
    if (strcmp(name, "kl") == 0 || strcmp(name, "cost") == 0)
        snprintf(n->value, sizeof n->value, "%s %.4f", name[0] == 'k' ? "KL" : "cost",
                 strtod(text, NULL));
}

ikt_status ikt_embedding_file_open(ikt_context *ctx, const char *path, const char *marks,
                                   ikt_embedding_file *out) {
    notes n = {"", ""};
    *out = (ikt_embedding_file){.path = path, .name = path};
    IKT_TRY(ikt_result_open(ctx, path, &out->file));
    out->path = ikt_result_path(out->file);
    out->rows = ikt_rows_make(ikt_result_rows(out->file), ikt_size(ctx), ikt_rank(ctx));
    out->q = ikt_result_dimensions(out->file);
    IKT_TRY(ikt_alloc_all(ctx, &out->y, out->q * out->rows.count, sizeof *out->y, "embedding"));
    IKT_TRY(ikt_result_read_embedding(out->file, out->rows.first, out->rows.count, out->y));
    IKT_TRY(ikt_result_read_marked(out->file, &out->marked, &out->n_marked));
    IKT_TRY(ikt_beside_open(ctx, out->file, out->rows.first, out->rows.count, &out->beside));
    if (marks[0]) IKT_TRY(ikt_agree(ctx, parse_marks(ctx, marks, out)));
    IKT_TRY(ikt_result_notes(out->file, visit_note, &n));
    snprintf(out->note, sizeof out->note, "%s%s%s", n.input, n.input[0] && n.value[0] ? ", " : "",
             n.value);
    return ikt_result_configuration(out->file, &out->configuration);
}

void ikt_embedding_file_close(ikt_embedding_file *embedding) {
    ikt_result_close(&embedding->file);
    ikt_beside_close(&embedding->beside);
    ikt_free_all(&embedding->y, &embedding->marked, &embedding->configuration);
}

const char *ikt_embedding_file_title(const ikt_embedding_file *embedding, const char *given) {
    /* The folders of the file are left out, the slashes of a data set in it are not. */
    const size_t length = strlen(embedding->path);
    size_t from = length;
    while (from > 0 && embedding->path[from - 1] != '/')
        from--;
    return ikt_text_or(given, embedding->name + from);
}

/* --- the columns of a picture or a page ------------------------------------------------------- */

/* COLLECTIVE. Whether some number is so large that a double may not hold all its digits. */
static bool are_beyond_doubles(ikt_context *ctx, const ikt_rows *rows, const double *value) {
    double most = 0;
    for (int64_t i = 0; i < rows->count; i++)
        if (isfinite(value[i])) most = fmax(most, fabs(value[i]));
    ikt_max_f64(ctx, &most, 1);
    return most >= IKT_DOUBLE_WHOLE;
}

/* COLLECTIVE. The texts of numbers that are told: of those that do not also give colours, so that
 * they can be searched; and of those that doubles round, such as ids of 19 digits. */
static ikt_status read_told(ikt_context *ctx, const ikt_embedding_file *map, ikt_page_column *c) {
    ikt_texts_kind kind;
    if (!c->own.values || c->texts.text) return IKT_OK;
    if (c->use != IKT_VIEWER_HOVER && !are_beyond_doubles(ctx, &map->rows, c->own.values))
        return IKT_OK;
    IKT_TRY(ikt_texts_look(ctx, c->full, &kind));
    if (kind == IKT_TEXTS_NONE) return IKT_OK;
    return ikt_beside_texts(&map->beside, c->full, &c->texts);
}

/* COLLECTIVE. Reads "DATASET" of the file of the map, or "FILE:COLUMN". */
static ikt_status read_page_column(ikt_context *ctx, const ikt_embedding_file *map,
                                   const char *name, const ikt_page_names *names,
                                   ikt_page_column *c) {
    char file[IKT_STRING_MAX], what[IKT_STRING_MAX];
    ikt_texts_kind kind;
    if (strchr(name, ':') || is_own_file(ctx, name)) {
        snprintf(c->full, sizeof c->full, "%s", name);
    } else {
        split_name(ctx, map->path, file, what);
        snprintf(c->full, sizeof c->full, "%s:%s", file, name);
    }
    IKT_TRY(ikt_texts_look(ctx, c->full, &kind));
    split_name(ctx, c->full, file, what);
    name_column(file, what, c->own.name);
    if ((kind == IKT_TEXTS_STRINGS || kind == IKT_TEXTS_CELLS) && c->use == IKT_VIEWER_HOVER)
        return ikt_beside_texts(&map->beside, c->full, &c->texts);
    IKT_TRY(ikt_embedding_column_read(ctx, map, kind == IKT_TEXTS_STRINGS ? c->full : name,
                                      (ikt_colour_as)names->colour_as,
                                      c->use == IKT_VIEWER_HOVER || names->asked_for, &c->own));
    if (!c->own.labels || !c->own.names) return read_told(ctx, map, c);
    return ikt_anndata_colours(ctx, c->full, &c->n_colours, &c->colours);
}

static ikt_status too_many(ikt_context *ctx, const char *option) {
    return ikt_fail(ctx, IKT_ERR_USAGE, "%s: a page has at most %d columns", option,
                    IKT_VIEWER_COLUMNS_MOST);
}

/* The next name of a list with commas, or NULL at its end. Errors: IKT_ERR_USAGE: an empty name. */
static ikt_status next_name(ikt_context *ctx, const char *option, char **rest, char **name) {
    *name = *rest;
    if (!*name) return IKT_OK;
    *rest = strchr(*name, ',');
    if (*rest) *(*rest)++ = '\0';
    if (**name) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "%s: the list has an empty name; a list looks like labels,FILE.h5:DATASET",
                    option);
}

/* LOCAL. The column that is there to be coloured by already; NULL: none is. */
static ikt_page_column *find_column(ikt_page_columns *columns, const char *name) {
    for (int c = 0; c < columns->count; c++)
        if (strcmp(columns->column[c].asked, name) == 0) return &columns->column[c];
    return NULL;
}

/* COLLECTIVE. The columns of a list. */
static ikt_status read_list(ikt_context *ctx, const ikt_embedding_file *map,
                            const ikt_page_names *names, const char *option, const char *text,
                            ikt_viewer_use use, ikt_page_columns *out) {
    char list[IKT_STRING_MAX], *rest = list, *name;
    if (!text[0]) return IKT_OK;
    snprintf(list, sizeof list, "%s", text);
    for (;;) {
        IKT_TRY(next_name(ctx, option, &rest, &name));
        if (!name) return IKT_OK;
        if (strcmp(name, "none") == 0) continue;
        ikt_page_column *c = use == IKT_VIEWER_HOVER ? find_column(out, name) : NULL;
        if (c) {
            c->use = IKT_VIEWER_BOTH;
            continue;
        }
        if (out->count == IKT_VIEWER_COLUMNS_MOST) return too_many(ctx, option);
        c = &out->column[out->count];
        *c = (ikt_page_column){.use = use};
        snprintf(c->asked, sizeof c->asked, "%s", name);
        ikt_status st = read_page_column(ctx, map, name, names, c);
        out->count += st != IKT_OK || c->own.name[0] != '\0'; /* what failed is freed, too */
        IKT_TRY(st);
    }
}

/* COLLECTIVE. The genes, each a column of numbers. */
static ikt_status read_genes(ikt_context *ctx, const ikt_embedding_file *map,
                             const ikt_page_names *names, ikt_page_columns *out) {
    char list[IKT_STRING_MAX], *rest = list, *name, file[IKT_STRING_MAX], matrix[IKT_STRING_MAX];
    const char *wanted[IKT_VIEWER_COLUMNS_MOST];
    int64_t count = 0;
    if (!names->genes[0]) return IKT_OK;
    snprintf(list, sizeof list, "%s", names->genes);
    for (;;) {
        IKT_TRY(next_name(ctx, "--genes", &rest, &name));
        if (!name) break;
        if (out->count + count == IKT_VIEWER_COLUMNS_MOST) return too_many(ctx, "--genes");
        wanted[count++] = name;
    }
    split_name(ctx, ikt_text_or(names->genes_from, map->path), file, matrix);
    if (!names->genes_from[0] || !matrix[0]) snprintf(matrix, sizeof matrix, "X");
    const ikt_rows *rows = &map->rows;
    IKT_TRY(ikt_alloc_all(ctx, &out->genes, count * rows->count, sizeof *out->genes, "genes"));
    IKT_TRY(ikt_anndata_genes(ctx, file, matrix[0] == '/' ? matrix + 1 : matrix, wanted, count,
                              rows->n, rows->first, rows->count, out->genes));
    for (int64_t g = 0; g < count; g++) {
        ikt_page_column *c = &out->column[out->count++];
        *c = (ikt_page_column){.use = IKT_VIEWER_COLOUR, .gene = out->genes + g * rows->count};
        snprintf(c->own.name, sizeof c->own.name, "%s", wanted[g]);
    }
    return IKT_OK;
}

ikt_status ikt_page_columns_read(ikt_context *ctx, const ikt_embedding_file *map,
                                 const ikt_page_names *names, ikt_page_columns *out) {
    *out = (ikt_page_columns){.count = 0};
    IKT_TRY(ikt_alloc_all(ctx, &out->column, IKT_VIEWER_COLUMNS_MOST, sizeof *out->column,
                          "columns of the page"));
    /* Where nothing is named to be shown, everything that gives colours is. */
    const ikt_viewer_use use = names->hover[0] ? IKT_VIEWER_COLOUR : IKT_VIEWER_BOTH;
    IKT_TRY(read_list(ctx, map, names, "--colour-by", names->colour_by, use, out));
    IKT_TRY(read_list(ctx, map, names, "--hover", names->hover, IKT_VIEWER_HOVER, out));
    return read_genes(ctx, map, names, out);
}

void ikt_page_columns_free(ikt_page_columns *columns) {
    for (int c = 0; c < columns->count; c++) {
        ikt_embedding_column_free(&columns->column[c].own);
        ikt_texts_free(&columns->column[c].texts);
        ikt_free(&columns->column[c].colours);
    }
    ikt_free_all(&columns->column, &columns->genes);
    columns->count = 0;
}

void ikt_page_columns_list(const ikt_page_columns *columns, ikt_viewer_column *out) {
    for (int c = 0; c < columns->count; c++) {
        const ikt_page_column *from = &columns->column[c];
        out[c] = (ikt_viewer_column){.name = from->own.name,
                                     .labels = from->own.labels,
                                     .values = from->gene ? from->gene : from->own.values,
                                     .names = from->own.names,
                                     .texts = from->texts.text,
                                     .colours = from->colours,
                                     .n_colours = from->n_colours,
                                     .use = from->use};
    }
}
