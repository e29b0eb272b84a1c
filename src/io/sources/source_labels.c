/* Labels of the rows of a source: beside the rows, or in a file of their own. See source.h and
 * labels.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/memory.h"
#include "io/hdf5/h5.h"
#include "io/sources/labels.h"
#include "io/sources/source_ops.h"

enum { NAME_SIZE = 1024 };

/* --- a file of their own ---------------------------------------------------------------------- */

typedef struct {
    char file[NAME_SIZE], dataset[NAME_SIZE]; /* "" where there is none */
    bool is_hdf5;
} place;

/* "FILE:DATASET" as rank 0 sees it: other nodes need not see the same names. What is there and no
 * regular file is an error. */
static ikt_status find(ikt_context *ctx, const char *name, place *p) {
    struct stat about;
    ikt_status st = IKT_OK;
    *p = (place){.file = ""};
    if (ikt_rank(ctx) == 0 && strlen(name) < NAME_SIZE) {
        const size_t length = ikt_file_name_length(name);
        snprintf(p->file, NAME_SIZE, "%.*s", (int)length, name);
        const bool is_named = name[length] && name[length + 1];
        snprintf(p->dataset, NAME_SIZE, "%s", is_named ? name + length + 1 : "labels");
        if (stat(p->file, &about) == 0)
            st = ikt_input_check(ctx, p->file);
        else
            p->file[0] = '\0';
        p->is_hdf5 = st == IKT_OK && p->file[0] && ikt_source_is_hdf5(p->file);
    }
    IKT_TRY(ikt_agree(ctx, st));
    ikt_broadcast(ctx, p, sizeof *p, 0);
    return IKT_OK;
}

/* One column of integers in a file of one array. */
static ikt_status read_array(ikt_context *ctx, const char *path, int64_t n, int64_t first,
                             int64_t count, int64_t *labels) {
    ikt_source *source = NULL;
    void *values = NULL;
    IKT_TRY(ikt_source_open(ctx, path, "X", 0, &source));
    ikt_status st = IKT_OK;
    if (source->d != 1)
        st = ikt_fail(ctx, IKT_ERR_DATA, "%s: labels must be one column, it has %lld", source->name,
                      (long long)source->d);
    else if (source->n != n)
        st = ikt_fail(ctx, IKT_ERR_DATA, "%s has %lld labels, but there are %lld rows",
                      source->name, (long long)source->n, (long long)n);
    if (st == IKT_OK) st = ikt_agree(ctx, ikt_alloc(ctx, &values, count, sizeof(double), "labels"));
    if (st == IKT_OK) st = ikt_source_read(source, first, count, values);
    for (int64_t i = 0; st == IKT_OK && i < count; i++) {
        const double value = ikt_number_at(source->type, values, i);
        if (!(fabs(value) < 9e15) || value != floor(value))
            st = ikt_fail(ctx, IKT_ERR_DATA, "%s, row %lld: %g is not an integer", source->name,
                          (long long)(first + i), value);
        else
            labels[i] = (int64_t)value;
    }
    st = ikt_agree(ctx, st);
    ikt_free(&values);
    ikt_source_close(&source);
    return st;
}

ikt_status ikt_label_file_read(ikt_context *ctx, const char *name, int64_t n, int64_t first,
                               int64_t count, int64_t *labels, bool *present, char **names) {
    place p;
    bool is_there;
    hid_t file;
    IKT_TRY(find(ctx, name, &p));
    *present = p.file[0] != '\0';
    if (!*present) return IKT_OK;
    if (!p.is_hdf5) {
        ikt_free(names);
        return read_array(ctx, p.file, n, first, count, labels);
    }
    IKT_TRY(ikt_h5_open(ctx, p.file, &file));
    ikt_status st =
        ikt_labels_read(ctx, file, p.file, p.dataset, n, first, count, labels, &is_there, names);
    if (st == IKT_OK && !is_there)
        st = ikt_agree(ctx, ikt_h5_missing(ctx, file, p.file, p.dataset));
    ikt_h5_close(file);
    return st;
}

ikt_status ikt_label_file_has_names(ikt_context *ctx, const char *name, bool *named) {
    place p;
    hid_t file;
    *named = false;
    IKT_TRY(find(ctx, name, &p));
    if (!p.is_hdf5) return IKT_OK;
    IKT_TRY(ikt_h5_open(ctx, p.file, &file));
    ikt_status st = ikt_labels_have_names(ctx, file, p.file, p.dataset, named);
    ikt_h5_close(file);
    return st;
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
                              source->name, name, key,
                              content.labels[0] ? content.labels : "none"));
}

/* Names of classes that are not those of /labels must not come from the attribute of the file. */
ikt_status ikt_source_read_text(ikt_source *source, const char *name, char **text) {
    const char *own = source->label_names;
    *text = NULL;
    if (strcmp(name, "label_names") != 0 || (!own && source->default_labels))
        return source->ops->read_text ? source->ops->read_text(source, name, text) : IKT_OK;
    if (!own) return IKT_OK;
    const int64_t length = (int64_t)strlen(own) + 1;
    IKT_TRY(ikt_agree(source->ctx, ikt_alloc(source->ctx, text, length, 1, "class names")));
    memcpy(*text, own, (size_t)length);
    return IKT_OK;
}
