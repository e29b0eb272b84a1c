/* Checkpoint files. See stage_file.h. */
#include "io/hdf5/stage_file.h"

#include "base/atomic_file.h"
#include "base/memory.h"
#include "base/row_hash.h"
#include "io/hdf5/parts_h5.h"
#include "io/hdf5/stage_head.h"

struct ikt_stage_file {
    ikt_context *ctx;
    hid_t file;
    ikt_stage_texts head;
};

/* --- writing ---------------------------------------------------------------------------------- */

static ikt_status write_file(ikt_context *ctx, const char *path, const char *temporary,
                             const ikt_stage_head *head, const ikt_part *parts, int64_t count) {
    const int64_t bytes = IKT_H5_FILE_BYTES + ikt_parts_bytes(parts, count);
    hid_t file;
    ikt_status st = ikt_h5_create_sized(ctx, path, temporary, bytes, &file);
    if (st == IKT_OK) st = ikt_stage_head_write(ctx, file, head);
    if (st == IKT_OK) st = ikt_parts_write(ctx, file, true, parts, count);
    st = ikt_h5_complete(ctx, &file, 1, path, temporary, st);
    return st == IKT_OK ? ikt_seal_put(ctx, temporary) : st;
}

ikt_status ikt_stage_file_write(ikt_context *ctx, const char *path, const char *previous,
                                const ikt_stage_head *head, const ikt_part *parts, int64_t count) {
    char temporary[IKT_PATH_MAX];
    IKT_TRY(ikt_atomic_begin(ctx, path, true, temporary));
    ikt_status st = write_file(ctx, path, temporary, head, parts, count);
    return ikt_atomic_end_keeping(ctx, path, previous, temporary, st);
}

/* --- reading ---------------------------------------------------------------------------------- */

static ikt_status read_head(ikt_stage_file *f, const char *path) {
    bool is_known = false;
    IKT_TRY(ikt_stage_head_read(f->ctx, f->file, &f->head, &is_known));
    if (is_known) return IKT_OK;
    return ikt_fail(f->ctx, IKT_ERR_DATA, "%s is no checkpoint of iktsne", path);
}

ikt_status ikt_stage_file_open(ikt_context *ctx, const char *path, ikt_stage_file **out) {
    ikt_stage_file *f = NULL;
    *out = NULL;
    IKT_TRY(ikt_seal_check(ctx, path));
    IKT_TRY(ikt_agree(ctx, ikt_alloc(ctx, &f, 1, sizeof *f, "checkpoint")));
    *f = (ikt_stage_file){.ctx = ctx, .file = -1};
    ikt_status st = ikt_h5_open(ctx, path, &f->file);
    if (st == IKT_OK) st = ikt_agree(ctx, read_head(f, path));
    if (st != IKT_OK) ikt_stage_file_close(&f);
    *out = f;
    return st;
}

bool ikt_stage_file_is(ikt_context *ctx, const char *path) {
    const ikt_status st = ikt_seal_check(ctx, path);
    ikt_clear(ctx);
    return st == IKT_OK;
}

void ikt_stage_file_close(ikt_stage_file **file) {
    if (!*file) return;
    ikt_h5_close((*file)->file);
    ikt_stage_texts_free(&(*file)->head);
    ikt_free(file);
}

ikt_stage_head ikt_stage_file_head(const ikt_stage_file *file) {
    return ikt_stage_texts_head(&file->head);
}

ikt_status ikt_stage_file_read(ikt_stage_file *file, const ikt_part *parts, int64_t count) {
    return ikt_parts_read(file->ctx, file->file, parts, count);
}
