/* The columns of a page. See page_columns.h. */
#include "app/page_columns.h"

#include <stdio.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/memory.h"
#include "io/sources/labels.h"

enum { LIST_BYTES = IKT_STRING_MAX };

static const char purpose[] = "columns of the page";

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

/* --- a column --------------------------------------------------------------------------------- */

/* COLLECTIVE. Reads "DATASET" of the file of the map, or "FILE:COLUMN". */
static ikt_status read_column(ikt_context *ctx, const ikt_embedding_file *map, const char *name,
                              const ikt_page_names *names, ikt_page_column *c) {
    const ikt_rows *rows = &map->rows;
    char file[IKT_STRING_MAX], what[IKT_STRING_MAX], full[2 * IKT_STRING_MAX];
    ikt_texts_kind kind;
    if (strchr(name, ':')) {
        snprintf(full, sizeof full, "%s", name);
    } else {
        split_name(ctx, map->path, file, what);
        snprintf(full, sizeof full, "%s:%s", file, name);
    }
    IKT_TRY(ikt_texts_look(ctx, full, &kind));
    split_name(ctx, full, file, what);
    snprintf(c->own.name, sizeof c->own.name, "%s", what);
    if (kind != IKT_TEXTS_NONE && c->use == IKT_VIEWER_HOVER)
        return ikt_texts_read(ctx, full, rows->n, rows->first, rows->count, &c->texts);
    IKT_TRY(ikt_embedding_column_read(ctx, map, kind == IKT_TEXTS_STRINGS ? full : name,
                                      names->colour_as,
                                      c->use == IKT_VIEWER_HOVER || names->asked_for, &c->own));
    if (!c->own.labels || !c->own.names) return IKT_OK;
    return ikt_anndata_colours(ctx, full, &c->n_colours, &c->colours);
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

/* LOCAL. Whether the column is there to be coloured by already; it is then shown, too. */
static bool is_there(ikt_page_columns *columns, const char *name) {
    for (int c = 0; c < columns->count; c++)
        if (strcmp(columns->column[c].asked, name) == 0) {
            columns->column[c].use = IKT_VIEWER_BOTH;
            return true;
        }
    return false;
}

/* COLLECTIVE. The columns of a list. */
static ikt_status read_list(ikt_context *ctx, const ikt_embedding_file *map,
                            const ikt_page_names *names, const char *option, const char *text,
                            ikt_viewer_use use, ikt_page_columns *out) {
    char list[LIST_BYTES], *rest = list, *name;
    if (!text[0]) return IKT_OK;
    snprintf(list, sizeof list, "%s", text);
    for (;;) {
        IKT_TRY(next_name(ctx, option, &rest, &name));
        if (!name) return IKT_OK;
        if (strcmp(name, "none") == 0 || (use == IKT_VIEWER_HOVER && is_there(out, name))) continue;
        if (out->count == IKT_VIEWER_COLUMNS_MOST) return too_many(ctx, option);
        ikt_page_column *c = &out->column[out->count];
        *c = (ikt_page_column){.use = use};
        snprintf(c->asked, sizeof c->asked, "%s", name);
        ikt_status st = read_column(ctx, map, name, names, c);
        out->count += st != IKT_OK || c->own.name[0] != '\0'; /* what failed is freed, too */
        IKT_TRY(st);
    }
}

/* COLLECTIVE. The genes, each a column of numbers. */
static ikt_status read_genes(ikt_context *ctx, const ikt_embedding_file *map,
                             const ikt_page_names *names, ikt_page_columns *out) {
    char list[LIST_BYTES], *rest = list, *name, file[IKT_STRING_MAX], matrix[IKT_STRING_MAX];
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
    split_name(ctx, names->genes_from[0] ? names->genes_from : map->path, file, matrix);
    if (!names->genes_from[0] || !matrix[0]) snprintf(matrix, sizeof matrix, "X");
    const ikt_rows *rows = &map->rows;
    ikt_status st = ikt_alloc(ctx, &out->genes, count * rows->count, sizeof *out->genes, "genes");
    IKT_TRY(ikt_agree(ctx, st));
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
    IKT_TRY(ikt_agree(
        ctx, ikt_alloc(ctx, &out->column, IKT_VIEWER_COLUMNS_MOST, sizeof *out->column, purpose)));
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
    ikt_free(&columns->column);
    ikt_free(&columns->genes);
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
