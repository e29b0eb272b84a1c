/* Writing a model file. */
#include "io/results/model_file.h"

#include <stdio.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "io/hdf5/h5.h"
#include "io/results/model_parts.h"

struct ikt_model_writer {
    ikt_context *ctx;
    char path[IKT_PATH_MAX], temporary[IKT_PATH_MAX];
    hid_t file;
    hid_t part[IKT_MODEL_PARTS]; /* negative: not made yet */
    uint64_t hash;               /* of the rows that this rank wrote, added up */
    ikt_model_shape shape;
};

ikt_status ikt_model_writer_begin(ikt_context *ctx, const char *path, bool overwrite,
                                  ikt_model_writer **out) {
    ikt_model_writer *w = NULL;
    *out = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &w, 1, sizeof *w, "model")));
    w->ctx = ctx;
    w->file = -1;
    for (int part = 0; part < IKT_MODEL_PARTS; part++)
        w->part[part] = -1;
    snprintf(w->path, sizeof w->path, "%s", path);
    ikt_status st = ikt_atomic_begin(ctx, path, overwrite, w->temporary);
    if (st == IKT_OK) st = ikt_h5_create(ctx, w->temporary, &w->file);
    if (st != IKT_OK) ikt_model_writer_abandon(&w);
    *out = w;
    return st;
}

static ikt_status note_failure(ikt_model_writer *w, bool good, const char *what) {
    char reason[256];
    ikt_status st = IKT_OK;
    if (!good)
        st = ikt_fail(w->ctx, IKT_ERR_FILE, "%s: %s cannot be written: %s", w->path, what,
                      ikt_h5_reason(reason, sizeof reason));
    return ikt_h5_agree(w->ctx, w->file, st);
}

static int64_t file_bytes(const ikt_model_shape *shape) {
    int64_t bytes = IKT_H5_FILE_BYTES;
    for (int part = 0; part < IKT_MODEL_PARTS; part++) {
        const ikt_model_layout layout = ikt_model_layout_of(shape, (ikt_model_part)part);
        bytes += ikt_h5_rows_bytes(layout.n, (int64_t)layout.row_bytes);
    }
    return bytes;
}

ikt_status ikt_model_writer_shape(ikt_model_writer *w, const ikt_model_shape *shape) {
    int64_t number[IKT_MODEL_NUMBERS];
    w->shape = *shape;
    ikt_model_shape_pack(shape, number);
    IKT_TRY(ikt_atomic_reserve(w->ctx, w->path, w->temporary, file_bytes(shape)));
    bool good = ikt_h5_set_text(w->file, "format", "iktsne-model") &&
                ikt_h5_set_int(w->file, "format_version", IKT_MODEL_CURRENT);
    for (int i = 0; i < IKT_MODEL_NUMBERS && good; i++)
        good = ikt_h5_set_int(w->file, ikt_model_number_name[i], number[i]);
    hid_t group = good ? ikt_h5_create_group(w->file, "preprocess") : -1;
    good = good && group >= 0;
    ikt_status st = note_failure(w, good, "the format");
    ikt_h5_close(group);
    return st;
}

const ikt_model_shape *ikt_model_writer_get_shape(const ikt_model_writer *writer) {
    return &writer->shape;
}

/* COLLECTIVE. Rows with gaps between them are packed block by block. */
static ikt_status write_packed(ikt_model_writer *w, hid_t dataset, const ikt_model_layout *layout,
                               int64_t first, int64_t count, const char *rows, int64_t stride) {
    const int64_t bytes = (int64_t)layout->row_bytes;
    const int64_t block = bytes < IKT_MODEL_BLOCK_BYTES ? IKT_MODEL_BLOCK_BYTES / bytes : 1;
    const int64_t steps = ikt_max_one(w->ctx, (count + block - 1) / block);
    char *packed = NULL;
    ikt_status st =
        ikt_agree(w->ctx, ikt_alloc(w->ctx, &packed, block, layout->row_bytes, "model"));
    for (int64_t step = 0; st == IKT_OK && step < steps; step++) {
        int64_t done = step * block < count ? step * block : count;
        int64_t now = count - done < block ? count - done : block;
        for (int64_t i = 0; i < now; i++)
            memcpy(packed + i * bytes, rows + (done + i) * stride, layout->row_bytes);
        st = ikt_h5_write_rows(w->ctx, dataset, layout->type, first + done, now, packed);
    }
    ikt_free(&packed);
    return st;
}

/* The number of a part goes where no row number reaches. */
static void add_hash(ikt_model_writer *w, ikt_model_part part, size_t row_bytes, int64_t first,
                     int64_t count, const char *rows, int64_t stride) {
    for (int64_t i = 0; i < count; i++)
        w->hash += ikt_hash_bytes(rows + i * stride, row_bytes,
                                  (uint64_t)(first + i) + ((uint64_t)part << 56));
}

ikt_status ikt_model_writer_part(ikt_model_writer *w, ikt_model_part part, int64_t first,
                                 int64_t count, const void *rows, int64_t stride) {
    const ikt_model_layout layout = ikt_model_layout_of(&w->shape, part);
    hid_t *dataset = &w->part[part];
    if (*dataset < 0)
        IKT_TRY(ikt_h5_create_rows(w->ctx, w->file, layout.name, layout.type, layout.n, layout.d,
                                   dataset));
    add_hash(w, part, layout.row_bytes, first, count, rows,
             stride > 0 ? stride : (int64_t)layout.row_bytes);
    if (stride > 0) return write_packed(w, *dataset, &layout, first, count, rows, stride);
    return ikt_h5_write_rows(w->ctx, *dataset, layout.type, first, count, rows);
}

ikt_status ikt_model_writer_notes(ikt_model_writer *w, const char *configuration,
                                  const ikt_note *notes, int64_t count) {
    char hash[32];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)ikt_hash_total(w->ctx, w->hash));
    hid_t group = ikt_h5_create_group(w->file, "provenance");
    bool good = group >= 0 && ikt_h5_set_text(group, "configuration", configuration) &&
                ikt_h5_set_text(group, "model_hash", hash);
    for (int64_t i = 0; i < count && good; i++)
        good = ikt_h5_set_text(group, notes[i].name, notes[i].text);
    ikt_status st = note_failure(w, good, "the provenance");
    ikt_h5_close(group);
    return st;
}

static ikt_status close_all(ikt_model_writer *w, ikt_status local) {
    hid_t ids[IKT_MODEL_PARTS + 1];
    memcpy(ids, w->part, sizeof w->part);
    ids[IKT_MODEL_PARTS] = w->file;
    return ikt_h5_complete(w->ctx, ids, IKT_MODEL_PARTS + 1, w->path, w->temporary, local);
}

ikt_status ikt_model_writer_end(ikt_model_writer **writer, ikt_status local) {
    ikt_model_writer *w = *writer;
    if (!w) return local;
    ikt_status st = ikt_atomic_end(w->ctx, w->path, w->temporary, close_all(w, local));
    ikt_free(writer);
    return st;
}

void ikt_model_writer_abandon(ikt_model_writer **writer) {
    ikt_model_writer *w = *writer;
    if (!w) return;
    close_all(w, IKT_OK); /* after which nobody has it open any more */
    if (ikt_rank(w->ctx) == 0 && w->temporary[0]) ikt_atomic_discard(w->temporary);
    ikt_free(writer);
}
