/* Labels of the rows of a source: beside the rows, or in a file of their own. See labels.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "io/formats/csv_file.h"
#include "io/formats/reader.h"
#include "io/hdf5/columns.h"
#include "io/hdf5/h5.h"
#include "io/sources/labels.h"
#include "io/sources/source.h"
#include "io/sources/source_ops.h"

/* --- a file of their own ---------------------------------------------------------------------- */

/* The part that is labels where no other is named. */
static const char *label_part(const ikt_place *p) {
    return ikt_text_or(p->part, "labels");
}

/* COLLECTIVE. The numbers of a file of one column, values[count] from row `first` on.
 *   is_labels   also of a row, which MATLAB's vectors are, and of formats that one rank reads */
static ikt_status read_array(ikt_context *ctx, const ikt_place *p, bool is_labels, int64_t n,
                             int64_t first, int64_t count, double *values) {
    const ikt_source_options options = {
        .dataset = ikt_text_or(p->part, "X"), .is_map = is_labels, .is_list = true};
    ikt_source *source IKT_AT_END(ikt_source_close) = NULL;
    IKT_TRY(ikt_source_open_with(ctx, p->file, &options, &source));
    const bool is_row = is_labels && source->n == 1 && source->d > 1; /* which comes whole */
    const int64_t columns = is_row ? 1 : source->d, entries = is_row ? source->d : source->n;
    if (columns != 1)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        is_labels ? "%s: labels must be one column, it has %lld"
                                  : "%s has %lld columns, where one is needed",
                        source->name, (long long)columns);
    if (!ikt_entries_fit(entries, n))
        return ikt_fail(ctx, IKT_ERR_DATA, "%s has %lld %s, but there are %lld rows", source->name,
                        (long long)entries, is_labels ? "labels" : "entries",
                        (long long)ikt_entries_wanted(n));
    const int64_t from = is_row ? first : 0, all = is_row ? entries : count;
    IKT_ARRAYS(held, ctx, "column");
    void *stored = ikt_claim(&held, all, sizeof(double));
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_source_read(source, is_row ? 0 : first, is_row ? 1 : count, stored));
    for (int64_t i = 0; i < count; i++)
        values[i] = ikt_number_at(source->type, stored, from + i);
    return IKT_OK;
}

/* COLLECTIVE. The same as labels, which are integers. */
static ikt_status read_integers(ikt_context *ctx, const ikt_place *p, int64_t n, int64_t first,
                                int64_t count, int64_t *labels) {
    IKT_ARRAYS(held, ctx, "labels");
    double *values = ikt_claim(&held, count, sizeof *values);
    ikt_status st = IKT_OK;
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(read_array(ctx, p, true, n, first, count, values));
    for (int64_t i = 0; st == IKT_OK && i < count; i++)
        if (!(fabs(values[i]) < 9e15) || values[i] != floor(values[i]))
            st = ikt_fail(ctx, IKT_ERR_DATA,
                          "%s, row %lld (counted from 0): %.17g is no label (an integer)", p->file,
                          (long long)(first + i), values[i]);
        else
            labels[i] = (int64_t)values[i];
    return ikt_agree(ctx, st);
}

/* COLLECTIVE. A column of CSV that is parsed for its labels, which are text or integers; of a file
 * of one column that one need not be named.
 *   labels   [count] of the rows from `first` on
 *   names    receives those of text, NULL of integers */
static ikt_status read_csv(ikt_context *ctx, const ikt_place *p, int64_t n, int64_t first,
                           int64_t count, int64_t *labels, char **names) {
    const ikt_reader_options options = {.label_column = label_part(p),
                                        .label_may_lack = !p->part[0],
                                        .keeps_text = true,
                                        .keeps_missing = true};
    ikt_csv_file csv IKT_AT_END(ikt_csv_file_close) = {.ctx = ctx};
    IKT_TRY(ikt_csv_file_open(ctx, p->file, &options, 0, &csv));
    const int64_t column = csv.columns.columns == 1 ? 0 : csv.columns.label;
    if (column < 0)
        return ikt_fail(ctx, IKT_ERR_DATA, /* the same on all ranks */
                        "%s has %lld columns: name the one of the labels, %s:NAME", p->file,
                        (long long)csv.columns.columns, p->file);
    if (!ikt_entries_fit(csv.n, n))
        return ikt_fail(ctx, IKT_ERR_DATA, "%s has %lld labels, but there are %lld rows", p->file,
                        (long long)csv.n, (long long)ikt_entries_wanted(n));
    IKT_TRY(ikt_csv_file_labels(&csv, column, first, count, labels));
    /* Names that are the same stay where they are: who reads rows by blocks may point to them. */
    if (*names && csv.classes && strcmp(*names, csv.classes) == 0) return IKT_OK;
    ikt_free(names);
    *names = csv.classes;
    csv.classes = NULL; /* given away */
    return IKT_OK;
}

/* COLLECTIVE. Whether a column of CSV has text or a code in any row. */
static ikt_status look_at_csv(ikt_context *ctx, const ikt_place *p, bool *is_text) {
    const ikt_reader_options options = {.keeps_text = true, .keeps_missing = true};
    ikt_csv_file csv IKT_AT_END(ikt_csv_file_close) = {.ctx = ctx};
    IKT_TRY(ikt_csv_file_open(ctx, p->file, &options, 0, &csv));
    const int64_t column = csv.columns.columns == 1
                               ? 0
                               : ikt_csv_find(&csv.columns, label_part(p), strlen(label_part(p)));
    return column >= 0 ? ikt_csv_file_has_text(&csv, column, is_text) : IKT_OK;
}

ikt_status ikt_label_file_read(ikt_context *ctx, const char *name, int64_t n, int64_t first,
                               int64_t count, int64_t *labels, bool *present, char **names) {
    ikt_place p;
    bool is_there;
    hid_t file IKT_AT_END(ikt_h5_end) = -1;
    IKT_TRY(ikt_place_find(ctx, name, &p));
    *present = p.file[0] != '\0';
    if (!*present) return IKT_OK;
    if (p.is_csv) return read_csv(ctx, &p, n, first, count, labels, names);
    if (!p.is_hdf5) {
        ikt_free(names);
        return read_integers(ctx, &p, n, first, count, labels);
    }
    IKT_TRY(ikt_h5_open(ctx, p.file, &file));
    IKT_TRY(ikt_labels_read(ctx, file, p.file, label_part(&p), n, first, count, labels, &is_there,
                            names));
    return is_there ? IKT_OK : ikt_agree(ctx, ikt_h5_missing(ctx, file, p.file, label_part(&p)));
}

ikt_status ikt_label_file_has_names(ikt_context *ctx, const char *name, bool *named) {
    ikt_place p;
    hid_t file IKT_AT_END(ikt_h5_end) = -1;
    *named = false;
    IKT_TRY(ikt_place_find(ctx, name, &p));
    if (p.is_csv) return look_at_csv(ctx, &p, named);
    if (!p.is_hdf5) return IKT_OK;
    IKT_TRY(ikt_h5_open(ctx, p.file, &file));
    return ikt_labels_have_names(ctx, file, p.file, label_part(&p), named);
}

void ikt_file_column(const char *path, char *name, size_t size) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t length = strlen(base);
    if (length > 3 && strcmp(base + length - 3, ".gz") == 0) length -= 3;
    for (size_t dot = length; dot-- > 1;)
        if (base[dot] == '.') {
            length = dot;
            break;
        }
    snprintf(name, size, "%.*s", (int)length, base);
}

ikt_status ikt_number_file_read(ikt_context *ctx, const char *name, int64_t n, int64_t first,
                                int64_t count, double *values) {
    ikt_place p;
    IKT_TRY(ikt_place_find(ctx, name, &p));
    if (!p.file[0])
        return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: there is no such file", name);
    if (p.is_hdf5)
        return ikt_source_read_column(ctx, p.file, label_part(&p), n, first, count, values);
    return read_array(ctx, &p, false, n, first, count, values);
}

/* --- of a source ------------------------------------------------------------------------------ */

ikt_status ikt_source_read_labels(ikt_source *source, const char *name, int64_t first,
                                  int64_t count, int64_t *labels, bool *present) {
    if (strlen(name) >= sizeof source->labels_read || strcmp(name, source->labels_read) != 0)
        ikt_free(&source->label_names);
    snprintf(source->labels_read, sizeof source->labels_read, "%s", name);
    source->default_labels = ikt_labels_are_default(name);
    *present = false;
    if (source->ops->read_labels)
        IKT_TRY(source->ops->read_labels(source, name, first, count, labels, present));
    else if (source->from)
        IKT_TRY(ikt_source_read_labels(source->from, name, first, count, labels, present));
    if (*present || source->default_labels) return IKT_OK;
    return ikt_label_file_read(source->ctx, name, source->n_file, first, count, labels, present,
                               &source->label_names);
}

ikt_status ikt_source_no_labels(ikt_source *source, const char *name, const char *key) {
    ikt_source_content content;
    ikt_source_describe(source, &content);
    return ikt_agree(source->ctx,
                     ikt_fail(source->ctx, IKT_ERR_DATA,
                              "%s has no labels '%s' (%s), and there is no file of that name; it "
                              "has these that could be labels: %s",
                              source->name, name, key, ikt_text_or(content.labels, "none")));
}

/* Names of classes that are not those of /labels must not come from the attribute of the file. */
ikt_status ikt_source_read_text(ikt_source *source, const char *name, char **text) {
    const char *own = source->label_names;
    *text = NULL;
    if (strcmp(name, "label_names") != 0 || (!own && source->default_labels)) {
        if (source->ops->read_text) return source->ops->read_text(source, name, text);
        return source->from ? ikt_source_read_text(source->from, name, text) : IKT_OK;
    }
    if (!own) return source->from ? ikt_source_read_text(source->from, name, text) : IKT_OK;
    const int64_t length = (int64_t)strlen(own) + 1;
    IKT_TRY(ikt_alloc_all(source->ctx, text, length, 1, "class names"));
    memcpy(*text, own, (size_t)length);
    return IKT_OK;
}

/* --- what is named ---------------------------------------------------------------------------- */

static ikt_status look(ikt_context *ctx, ikt_place *p) {
    ikt_reader_content content;
    IKT_TRY(ikt_input_check(ctx, p->file));
    p->is_hdf5 = ikt_source_is_hdf5(p->file);
    if (p->is_hdf5) return IKT_OK;
    IKT_TRY(ikt_reader_guess(ctx, p->file, &content));
    p->is_csv = content.format == &ikt_reader_csv;
    return IKT_OK;
}

ikt_status ikt_place_find(ikt_context *ctx, const char *name, ikt_place *place) {
    struct stat about;
    ikt_status st = IKT_OK;
    *place = (ikt_place){.file = ""};
    if (ikt_rank(ctx) == 0 && strlen(name) < IKT_PATH_MAX) {
        const size_t length = ikt_file_name_length(name);
        snprintf(place->file, IKT_PATH_MAX, "%.*s", (int)length, name);
        snprintf(place->part, IKT_PATH_MAX, "%s", name[length] ? name + length + 1 : "");
        if (stat(place->file, &about) == 0)
            st = look(ctx, place);
        else
            place->file[0] = '\0';
    }
    IKT_TRY(ikt_agree(ctx, st));
    ikt_broadcast(ctx, place, sizeof *place, 0);
    return IKT_OK;
}

/* --- a text for each row ---------------------------------------------------------------------- */

static const char purpose[] = "texts";

static ikt_texts_kind kind_of(hid_t dataset) {
    if (ikt_h5_length(dataset) < 0) return IKT_TEXTS_NONE;
    if (ikt_h5_is_text(dataset)) return IKT_TEXTS_STRINGS;
    return ikt_h5_class(dataset) == H5T_INTEGER ? IKT_TEXTS_WHOLE : IKT_TEXTS_NONE;
}

/* COLLECTIVE. Opens the texts; *dataset is negative where there are none. */
static ikt_status open_texts(ikt_context *ctx, const ikt_place *p, hid_t *file, hid_t *dataset) {
    char path[IKT_PATH_MAX + 8];
    const char *column = p->part + (p->part[0] == '/');
    IKT_TRY(ikt_h5_open(ctx, p->file, file));
    for (int in_obs = 0; in_obs < 2 && column[0] && *dataset < 0; in_obs++) {
        snprintf(path, sizeof path, "%s%s", in_obs ? "obs/" : "", column);
        *dataset = ikt_h5_open_dataset(*file, path);
        if (kind_of(*dataset) != IKT_TEXTS_NONE) continue;
        ikt_h5_close(*dataset);
        *dataset = -1;
    }
    return IKT_OK;
}

ikt_status ikt_texts_look(ikt_context *ctx, const char *name, ikt_texts_kind *kind) {
    ikt_place p;
    hid_t file IKT_AT_END(ikt_h5_end) = -1, dataset IKT_AT_END(ikt_h5_end) = -1;
    IKT_TRY(ikt_place_find(ctx, name, &p));
    *kind = p.is_csv && p.part[0] ? IKT_TEXTS_CELLS : IKT_TEXTS_NONE;
    if (p.is_hdf5) IKT_TRY(open_texts(ctx, &p, &file, &dataset));
    if (dataset >= 0) *kind = kind_of(dataset);
    return IKT_OK;
}

/* --- gathering -------------------------------------------------------------------------------- */

typedef struct {
    ikt_context *ctx;
    int64_t first, count, rows; /* own rows; rows seen */
    int64_t *start;             /* [count + 1] of each text in the bytes */
    char *bytes;
    int64_t length, capacity;
    bool is_utf8;
} gathering;

static ikt_status gather(void *self, int64_t row, const char *text) {
    gathering *g = self;
    g->rows = row + 1;
    if (row < g->first || row >= g->first + g->count) return IKT_OK;
    const int64_t needed = g->length + 2 * (int64_t)strlen(text) + 1;
    if (needed > g->capacity) {
        IKT_TRY(ikt_resize(g->ctx, &g->bytes, 2 * needed, 1, purpose));
        g->capacity = 2 * needed;
    }
    g->is_utf8 &= ikt_utf8_copy(text, g->bytes + g->length, (size_t)(needed - g->length));
    g->length += (int64_t)strlen(g->bytes + g->length) + 1;
    g->start[row - g->first + 1] = g->length;
    return IKT_OK;
}

/* COLLECTIVE. Those of an HDF5 file. */
static ikt_status read_hdf5(const ikt_place *p, int64_t n, gathering *g) {
    hid_t file IKT_AT_END(ikt_h5_end) = -1, dataset IKT_AT_END(ikt_h5_end) = -1;
    IKT_TRY(open_texts(g->ctx, p, &file, &dataset));
    if (dataset < 0) return ikt_h5_missing(g->ctx, file, p->file, p->part);
    const int64_t length = ikt_h5_length(dataset);
    ikt_status st = IKT_OK;
    if (ikt_entries_fit(length, n))
        st = ikt_h5_visit_texts(g->ctx, dataset, g->first, g->count, true, gather, g);
    g->rows = length;
    return st;
}

static ikt_status read_texts(const ikt_place *p, int64_t n, gathering *g) {
    IKT_TRY(p->is_hdf5 ? read_hdf5(p, n, g)
                       : ikt_csv_visit_column(g->ctx, p->file, p->part, gather, g));
    if (!ikt_entries_fit(g->rows, n))
        return ikt_fail(g->ctx, IKT_ERR_DATA, "%s: '%s' has %lld texts, but there are %lld rows",
                        p->file, p->part, (long long)g->rows, (long long)ikt_entries_wanted(n));
    if (!g->is_utf8 && !p->is_hdf5) ikt_h5_warn_latin1(g->ctx, p->file);
    return IKT_OK;
}

ikt_status ikt_texts_read(ikt_context *ctx, const char *name, int64_t n, int64_t first,
                          int64_t count, ikt_texts *out) {
    gathering g = {.ctx = ctx, .first = first, .count = count, .is_utf8 = true};
    ikt_place p;
    IKT_ARRAYS(held, ctx, purpose);
    *out = (ikt_texts){.count = count};
    IKT_TRY(ikt_place_find(ctx, name, &p));
    g.start = ikt_claim(&held, count + 1, sizeof *g.start);
    IKT_TRY(ikt_arrays_agree(&held));
    const ikt_status st = read_texts(&p, n, &g);
    out->bytes = g.bytes;
    IKT_TRY(ikt_agree(ctx, st));
    IKT_TRY(ikt_alloc_all(ctx, &out->text, count, sizeof *out->text, purpose));
    for (int64_t i = 0; i < count; i++)
        out->text[i] = g.bytes + g.start[i];
    return IKT_OK;
}

void ikt_texts_free(ikt_texts *texts) {
    ikt_free(&texts->text);
    ikt_free(&texts->bytes);
}
