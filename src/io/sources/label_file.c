/* Labels from a file of their own. */
#include "io/sources/label_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/memory.h"
#include "io/hdf5/h5.h"
#include "io/numbers/element.h"
#include "io/sources/label_names.h"
#include "io/sources/labels_h5.h"
#include "io/sources/source.h"

enum { NAME_SIZE = 1024 };

typedef struct {
    char file[NAME_SIZE], dataset[NAME_SIZE]; /* "" where there is none */
    bool is_hdf5;
} place;

/* On one rank: other nodes need not see the same names. What is there and no regular file is an
 * error. */
static ikt_status split(ikt_context *ctx, const char *name, place *p) {
    const size_t length = ikt_file_name_length(name);
    memset(p, 0, sizeof *p);
    if (strlen(name) >= NAME_SIZE) return IKT_OK;
    snprintf(p->file, NAME_SIZE, "%.*s", (int)length, name);
    if (name[length]) snprintf(p->dataset, NAME_SIZE, "%s", name + length + 1);
    struct stat about;
    if (stat(p->file, &about) != 0)
        p->file[0] = '\0';
    else
        IKT_TRY(ikt_input_check(ctx, p->file));
    p->is_hdf5 = p->file[0] && ikt_source_is_hdf5(p->file);
    return IKT_OK;
}

static ikt_status find(ikt_context *ctx, const char *name, place *p) {
    *p = (place){.file = ""};
    IKT_TRY(ikt_agree(ctx, ikt_rank(ctx) == 0 ? split(ctx, name, p) : IKT_OK));
    ikt_broadcast(ctx, p, sizeof *p, 0);
    return IKT_OK;
}

static ikt_status read_hdf5(ikt_context *ctx, const place *p, int64_t n, int64_t first,
                            int64_t count, int64_t *labels, char **names) {
    const char *dataset = p->dataset[0] ? p->dataset : "labels";
    const bool is_default = strcmp(dataset, "labels") == 0 || strcmp(dataset, "/labels") == 0;
    bool present = false;
    hid_t file;
    IKT_TRY(ikt_h5_open(ctx, p->file, &file));
    ikt_status st =
        ikt_labels_read(ctx, file, p->file, dataset, n, first, count, labels, &present, names);
    if (st == IKT_OK && !present) st = ikt_agree(ctx, ikt_h5_missing(ctx, file, p->file, dataset));
    if (st == IKT_OK && is_default && !*names) st = ikt_label_names_read(ctx, file, p->file, names);
    if (is_default) { /* others have the names of their own categories */
        if (st == IKT_OK) ikt_label_names_check(ctx, p->file, *names, count, labels);
        st = ikt_agree(ctx, st);
    }
    ikt_h5_close(file);
    return st;
}

static ikt_status take_values(ikt_context *ctx, ikt_source *source, int64_t first, int64_t count,
                              const void *values, int64_t *labels) {
    for (int64_t i = 0; i < count; i++) {
        const double value = ikt_number_at(ikt_source_type(source), values, i);
        if (!(fabs(value) < 9e15) || value != floor(value))
            return ikt_fail(ctx, IKT_ERR_DATA, "%s, row %lld: %g is not an integer",
                            ikt_source_name(source), (long long)(first + i), value);
        labels[i] = (int64_t)value;
    }
    return IKT_OK;
}

static ikt_status check_shape(ikt_context *ctx, const ikt_source *source, int64_t n) {
    if (ikt_source_columns(source) != 1)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s: labels must be one column, it has %lld",
                        ikt_source_name(source), (long long)ikt_source_columns(source));
    if (ikt_source_rows(source) != n)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s has %lld labels, but there are %lld rows",
                        ikt_source_name(source), (long long)ikt_source_rows(source), (long long)n);
    return IKT_OK;
}

static ikt_status read_array(ikt_context *ctx, const place *p, int64_t n, int64_t first,
                             int64_t count, int64_t *labels) {
    ikt_source *source = NULL;
    void *values = NULL;
    IKT_TRY(ikt_source_open(ctx, p->file, "X", 0, &source));
    ikt_status st = check_shape(ctx, source, n); /* the same on all ranks */
    if (st == IKT_OK) st = ikt_agree(ctx, ikt_alloc(ctx, &values, count, sizeof(double), "labels"));
    if (st == IKT_OK) st = ikt_source_read(source, first, count, values);
    if (st == IKT_OK) st = ikt_agree(ctx, take_values(ctx, source, first, count, values, labels));
    ikt_free(&values);
    ikt_source_close(&source);
    return st;
}

ikt_status ikt_label_file_read(ikt_context *ctx, const char *name, int64_t n, int64_t first,
                               int64_t count, int64_t *labels, bool *present, char **names) {
    place p;
    IKT_TRY(find(ctx, name, &p));
    *present = p.file[0] != '\0';
    if (!*present) return IKT_OK;
    if (p.is_hdf5) return read_hdf5(ctx, &p, n, first, count, labels, names);
    ikt_free(names);
    return read_array(ctx, &p, n, first, count, labels);
}

ikt_status ikt_label_file_has_names(ikt_context *ctx, const char *name, bool *named) {
    place p;
    hid_t file;
    *named = false;
    IKT_TRY(find(ctx, name, &p));
    if (!p.is_hdf5) return IKT_OK;
    IKT_TRY(ikt_h5_open(ctx, p.file, &file));
    ikt_status st =
        ikt_labels_have_names(ctx, file, p.file, p.dataset[0] ? p.dataset : "labels", named);
    ikt_h5_close(file);
    return st;
}
