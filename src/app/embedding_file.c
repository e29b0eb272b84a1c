/* What pictures of an embedding are made from. */
#include "app/embedding_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "io/hdf5/columns.h"
#include "io/sources/labels.h"

/* Whole numbers that span fewer values than this are classes unless the user says otherwise. */
enum { CLASSES_GUESSED = 64 };

void ikt_embedding_name_split(const char *name, const char *own, char *file, const char **dataset) {
    const char *colon = strrchr(name, ':');
    *dataset = colon ? colon + 1 : name;
    snprintf(file, IKT_STRING_MAX, "%.*s", colon ? (int)(colon - name) : IKT_STRING_MAX - 1,
             colon ? name : own);
    if (**dataset == '/') ++*dataset;
}

static ikt_status read_labels(ikt_context *ctx, const ikt_embedding_file *embedding, bool asked_for,
                              ikt_embedding_column *out) {
    bool present = false;
    ikt_status st =
        ikt_alloc(ctx, &out->labels, embedding->rows.count, sizeof *out->labels, "labels");
    IKT_TRY(ikt_agree(ctx, st));
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
    ikt_status st = ikt_alloc(ctx, &out->labels, rows->count, sizeof *out->labels, "labels");
    IKT_TRY(ikt_agree(ctx, st));
    for (int64_t i = 0; i < rows->count; i++)
        out->labels[i] = (int64_t)out->values[i];
    ikt_free(&out->values);
    return IKT_OK;
}

ikt_status ikt_embedding_column_read(ikt_context *ctx, const ikt_embedding_file *embedding,
                                     const char *name, ikt_colour_as as, bool asked_for,
                                     ikt_embedding_column *out) {
    char file[IKT_STRING_MAX], full[2 * IKT_STRING_MAX];
    const char *dataset;
    const ikt_rows *rows = &embedding->rows;
    bool is_named = false;
    *out = (ikt_embedding_column){.labels = NULL};
    if (strcmp(name, "none") == 0) return IKT_OK;
    ikt_embedding_name_split(name, embedding->path, file, &dataset);
    snprintf(out->name, sizeof out->name, "%s", dataset);
    if (strcmp(name, "labels") == 0 && as != IKT_COLOUR_AS_NUMBERS)
        return read_labels(ctx, embedding, asked_for, out);
    /* Classes may have names, such as the categories of an AnnData, or texts. */
    snprintf(full, sizeof full, "%s:%s", file, dataset);
    if (as != IKT_COLOUR_AS_NUMBERS) IKT_TRY(ikt_label_file_has_names(ctx, full, &is_named));
    if (is_named) {
        ikt_status st = ikt_alloc(ctx, &out->labels, rows->count, sizeof *out->labels, "labels");
        IKT_TRY(ikt_agree(ctx, st));
        return ikt_label_file_read(ctx, full, rows->n, rows->first, rows->count, out->labels,
                                   &is_named, &out->names);
    }
    ikt_status st = ikt_alloc(ctx, &out->values, rows->count, sizeof *out->values, "colours");
    IKT_TRY(ikt_agree(ctx, st));
    IKT_TRY(ikt_number_file_read(ctx, full, rows->n, rows->first, rows->count, out->values));
    return choose_kind(ctx, rows, name, as, out);
}

void ikt_embedding_column_free(ikt_embedding_column *column) {
    ikt_free(&column->labels);
    ikt_free(&column->names);
    ikt_free(&column->values);
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
    ikt_status st = ikt_alloc(ctx, &out->y, out->q * out->rows.count, sizeof *out->y, "embedding");
    IKT_TRY(ikt_agree(ctx, st));
    IKT_TRY(ikt_result_read_embedding(out->file, out->rows.first, out->rows.count, out->y));
    IKT_TRY(ikt_result_read_marked(out->file, &out->marked, &out->n_marked));
    if (marks[0]) IKT_TRY(ikt_agree(ctx, parse_marks(ctx, marks, out)));
    IKT_TRY(ikt_result_notes(out->file, visit_note, &n));
    snprintf(out->note, sizeof out->note, "%s%s%s", n.input, n.input[0] && n.value[0] ? ", " : "",
             n.value);
    return ikt_result_configuration(out->file, &out->configuration);
}

void ikt_embedding_file_close(ikt_embedding_file *embedding) {
    ikt_result_close(&embedding->file);
    ikt_free(&embedding->y);
    ikt_free(&embedding->marked);
    ikt_free(&embedding->configuration);
}

const char *ikt_embedding_file_title(const ikt_embedding_file *embedding, const char *given) {
    /* The folders of the file are left out, the slashes of a data set in it are not. */
    const size_t length = strlen(embedding->path);
    size_t from = length;
    while (from > 0 && embedding->path[from - 1] != '/')
        from--;
    return given[0] ? given : embedding->name + from;
}
