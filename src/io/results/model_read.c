/* Reading a model file. */
#include "io/results/model_file.h"

#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "io/hdf5/h5.h"
#include "io/results/model_parts.h"

struct ikt_model_file {
    ikt_context *ctx;
    hid_t file;
    hid_t part[IKT_MODEL_PARTS]; /* negative: not there */
    char *path;
    ikt_model_shape shape;
};

/* A result and a data set are what one takes for a model by mistake. */
static ikt_status not_a_model(const ikt_model_file *f) {
    return ikt_fail(f->ctx, IKT_ERR_DATA,
                    "%s is not a model to place rows by: `iktsne embed` writes one where "
                    "output.model names it%s",
                    f->path,
                    ikt_h5_has(f->file, "embedding") ? " (this is an embedding without one)" : "");
}

static ikt_status check_format(const ikt_model_file *f) {
    char *format = NULL;
    int64_t version = 0;
    IKT_TRY(ikt_h5_get_text(f->ctx, f->file, "format", &format));
    bool is_model = format && strcmp(format, "iktsne-model") == 0 &&
                    ikt_h5_get_int(f->file, "format_version", &version);
    ikt_free(&format);
    if (!is_model) return not_a_model(f);
    if (version <= IKT_MODEL_CURRENT) return IKT_OK;
    return ikt_fail(f->ctx, IKT_ERR_DATA,
                    "%s has format version %lld; this program reads up to %d: use a newer iktsne",
                    f->path, (long long)version, IKT_MODEL_CURRENT);
}

static ikt_status damaged(const ikt_model_file *f, const char *what) {
    return ikt_fail(f->ctx, IKT_ERR_DATA, "%s is damaged: %s", f->path, what);
}

static ikt_status read_shape(ikt_model_file *f) {
    int64_t number[IKT_MODEL_NUMBERS];
    char what[128];
    for (int i = 0; i < IKT_MODEL_NUMBERS; i++) {
        if (ikt_h5_get_int(f->file, ikt_model_number_name[i], &number[i]) && number[i] >= 0)
            continue;
        snprintf(what, sizeof what, "attribute %s is missing or wrong", ikt_model_number_name[i]);
        return damaged(f, what);
    }
    ikt_model_shape_unpack(number, &f->shape);
    const ikt_model_shape *s = &f->shape;
    bool good = s->n >= 1 && s->q >= 1 && s->q <= 3 && s->d >= 1 && s->columns >= 1 &&
                s->centres >= 1 && s->t >= 1 && s->t <= UINT16_MAX && s->psi >= 1 &&
                s->psi <= UINT16_MAX + 1 && s->psi <= s->centres &&
                (s->is_reduced || s->columns == s->d) && s->columns <= INT32_MAX &&
                s->d <= INT32_MAX && s->n <= INT64_MAX >> 16 && s->centres <= INT64_MAX >> 16;
    return good ? IKT_OK : damaged(f, "its sizes do not fit together");
}

/* Opens one data set and compares it with what the shape says. */
static ikt_status open_part(ikt_model_file *f, ikt_model_part part) {
    const ikt_model_layout layout = ikt_model_layout_of(&f->shape, part);
    const int dimensions = layout.d > 0 ? 2 : 1;
    hsize_t size[2] = {0, 0};
    char what[128];
    if (!ikt_h5_has(f->file, layout.name)) {
        if (!ikt_model_part_needed(&f->shape, part)) return IKT_OK;
        return ikt_h5_missing(f->ctx, f->file, f->path, layout.name);
    }
    f->part[part] = H5Dopen2(f->file, layout.name, H5P_DEFAULT);
    hid_t space = f->part[part] < 0 ? -1 : H5Dget_space(f->part[part]);
    hid_t type = f->part[part] < 0 ? -1 : H5Dget_type(f->part[part]);
    bool good = space >= 0 && type >= 0 && H5Sget_simple_extent_ndims(space) == dimensions &&
                H5Sget_simple_extent_dims(space, size, NULL) == dimensions &&
                (int64_t)size[0] == layout.n && (layout.d == 0 || (int64_t)size[1] == layout.d) &&
                H5Tget_class(type) == H5Tget_class(layout.type) &&
                H5Tget_size(type) == H5Tget_size(layout.type);
    ikt_h5_close(space);
    ikt_h5_close(type);
    if (good) return IKT_OK;
    snprintf(what, sizeof what, "/%s has another size or type than its attributes say",
             layout.name);
    return damaged(f, what);
}

static ikt_status open_parts(ikt_model_file *f) {
    IKT_TRY(check_format(f));
    IKT_TRY(read_shape(f));
    for (int part = 0; part < IKT_MODEL_PARTS; part++)
        IKT_TRY(open_part(f, (ikt_model_part)part));
    f->shape.has_labels = f->part[IKT_MODEL_LABELS] >= 0;
    return IKT_OK;
}

ikt_status ikt_model_file_open(ikt_context *ctx, const char *path, ikt_model_file **out) {
    ikt_model_file *f = NULL;
    *out = NULL;
    ikt_status st = ikt_alloc(ctx, &f, 1, sizeof *f, "model");
    if (st == IKT_OK) {
        f->ctx = ctx;
        f->file = -1;
        for (int part = 0; part < IKT_MODEL_PARTS; part++)
            f->part[part] = -1;
        st = ikt_alloc(ctx, &f->path, (int64_t)strlen(path) + 1, 1, "model");
    }
    if (st == IKT_OK) strcpy(f->path, path);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = ikt_h5_open(ctx, path, &f->file);
    if (st == IKT_OK) st = ikt_agree(ctx, open_parts(f));
    if (st != IKT_OK) ikt_model_file_close(&f);
    *out = f;
    return st;
}

void ikt_model_file_close(ikt_model_file **file) {
    if (!*file) return;
    for (int part = 0; part < IKT_MODEL_PARTS; part++)
        ikt_h5_close((*file)->part[part]);
    ikt_h5_close((*file)->file);
    ikt_free(&(*file)->path);
    ikt_free(file);
}

const ikt_model_shape *ikt_model_file_shape(const ikt_model_file *file) {
    return &file->shape;
}

const char *ikt_model_file_path(const ikt_model_file *file) {
    return file->path;
}

/* COLLECTIVE. Rows come dense, block by block, and are moved apart. */
static ikt_status read_packed(ikt_model_file *f, const ikt_model_layout *layout, hid_t dataset,
                              int64_t first, int64_t count, char *rows, int64_t stride) {
    const int64_t bytes = (int64_t)layout->row_bytes;
    const int64_t block = bytes < IKT_MODEL_BLOCK_BYTES ? IKT_MODEL_BLOCK_BYTES / bytes : 1;
    const int64_t steps = ikt_max_one(f->ctx, (count + block - 1) / block);
    char *packed = NULL;
    ikt_status st =
        ikt_agree(f->ctx, ikt_alloc(f->ctx, &packed, block, layout->row_bytes, "model"));
    for (int64_t step = 0; st == IKT_OK && step < steps; step++) {
        int64_t done = step * block < count ? step * block : count;
        int64_t now = count - done < block ? count - done : block;
        st = ikt_h5_read_rows(f->ctx, dataset, layout->type, first + done, now, packed);
        for (int64_t i = 0; i < now && st == IKT_OK; i++)
            memcpy(rows + (done + i) * stride, packed + i * bytes, layout->row_bytes);
    }
    ikt_free(&packed);
    return st;
}

ikt_status ikt_model_file_read(ikt_model_file *f, ikt_model_part part, int64_t first, int64_t count,
                               void *rows, int64_t stride) {
    const ikt_model_layout layout = ikt_model_layout_of(&f->shape, part);
    if (stride > 0) return read_packed(f, &layout, f->part[part], first, count, rows, stride);
    return ikt_h5_read_rows(f->ctx, f->part[part], layout.type, first, count, rows);
}

ikt_status ikt_model_file_note(ikt_model_file *f, const char *name, char **text) {
    *text = NULL;
    ikt_status st = IKT_OK;
    if (ikt_h5_has(f->file, "provenance")) {
        hid_t group = H5Gopen2(f->file, "provenance", H5P_DEFAULT);
        if (group >= 0) st = ikt_h5_get_text(f->ctx, group, name, text);
        ikt_h5_close(group);
    }
    return ikt_agree(f->ctx, st);
}
