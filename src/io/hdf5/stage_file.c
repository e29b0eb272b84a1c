/* Arrays as data sets, and checkpoint files. See parts.h and stage_file.h. */
#include "io/hdf5/stage_file.h"

#include <string.h>

#include "base/arrays.h"
#include "base/atomic_file.h"
#include "base/row_hash.h"
#include "io/hdf5/parts_h5.h"

/* --- heads ------------------------------------------------------------------------------------ */

static const char *const text_name[IKT_STAGE_TEXTS] = {"stage",           "version", "build",
                                                       "instruction_set", "input",   "settings"};

/* Files of before these two were noted have neither. */
enum { TEXT_BUILD = 2, TEXT_ISA = 3 };

ikt_status ikt_stage_head_write(ikt_context *ctx, hid_t object, const ikt_stage_head *head) {
    const char *const text[IKT_STAGE_TEXTS] = {head->stage, head->version, head->build,
                                               head->isa,   head->input,   head->settings};
    char reason[256];
    bool good = ikt_h5_set_text(object, "format", IKT_STAGE_FILE_FORMAT) &&
                ikt_h5_set_int(object, "format_version", IKT_STAGE_FILE_CURRENT);
    for (int t = 0; t < IKT_STAGE_TEXTS && good; t++)
        good = !text[t][0] || ikt_h5_set_text(object, text_name[t], text[t]);
    if (good && head->iterations > 0) good = ikt_h5_set_int(object, "iterations", head->iterations);
    ikt_status st = IKT_OK;
    if (!good)
        st = ikt_fail(ctx, IKT_ERR_FILE, "the head of a checkpoint cannot be written: %s",
                      ikt_h5_reason(reason, sizeof reason));
    return ikt_agree(ctx, st);
}

ikt_status ikt_stage_head_read(ikt_context *ctx, hid_t object, ikt_stage_texts *out,
                               bool *is_known) {
    char *format = NULL;
    int64_t version = 0;
    IKT_TRY(ikt_h5_get_text(ctx, object, "format", &format));
    *is_known = format && strcmp(format, IKT_STAGE_FILE_FORMAT) == 0 &&
                ikt_h5_get_int(object, "format_version", &version);
    ikt_free(&format);
    if (*is_known && version > IKT_STAGE_FILE_CURRENT)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "this checkpoint has format version %lld; this program reads up to %d: use "
                        "a newer iktsne",
                        (long long)version, IKT_STAGE_FILE_CURRENT);
    for (int t = 0; t < IKT_STAGE_TEXTS && *is_known; t++) {
        ikt_free(&out->text[t]);
        IKT_TRY(ikt_h5_get_text(ctx, object, text_name[t], &out->text[t]));
        *is_known = out->text[t] != NULL || t == TEXT_BUILD || t == TEXT_ISA;
    }
    out->iterations = 0;
    if (*is_known) ikt_h5_get_int(object, "iterations", &out->iterations);
    return IKT_OK;
}

ikt_stage_head ikt_stage_texts_head(const ikt_stage_texts *t) {
    return (ikt_stage_head){.stage = t->text[0],
                            .version = t->text[1],
                            .build = t->text[2] ? t->text[2] : "",
                            .isa = t->text[3] ? t->text[3] : "",
                            .input = t->text[4],
                            .settings = t->text[5],
                            .iterations = t->iterations};
}

void ikt_stage_texts_free(ikt_stage_texts *texts) {
    for (int t = 0; t < IKT_STAGE_TEXTS; t++)
        ikt_free(&texts->text[t]);
}

struct ikt_stage_file {
    ikt_context *ctx;
    hid_t file;
    ikt_stage_texts head;
};

/* --- writing ---------------------------------------------------------------------------------- */

ikt_status ikt_stage_file_write(ikt_context *ctx, const char *path, const char *previous,
                                const ikt_stage_head *head, const ikt_part *parts, int64_t count) {
    const int64_t bytes = IKT_H5_FILE_BYTES + ikt_parts_bytes(parts, count);
    char temporary[IKT_PATH_MAX];
    hid_t file;
    IKT_TRY(ikt_atomic_begin_keeping(ctx, path, temporary));
    ikt_status st = ikt_h5_create_sized(ctx, path, temporary, bytes, &file);
    if (st == IKT_OK) st = ikt_stage_head_write(ctx, file, head);
    if (st == IKT_OK) st = ikt_parts_write(ctx, file, true, parts, count);
    st = ikt_h5_complete(ctx, &file, 1, path, temporary, st);
    if (st == IKT_OK) st = ikt_seal_put(ctx, temporary);
    return ikt_atomic_end_keeping(ctx, path, previous, temporary, st);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* COLLECTIVE. Opens the file and reads its head. */
static ikt_status open_head(ikt_stage_file *f, const char *path, const char *stage) {
    bool is_known = false;
    IKT_TRY(ikt_seal_check(f->ctx, path));
    IKT_TRY(ikt_h5_open_looked(f->ctx, path, &f->file));
    ikt_status st = ikt_stage_head_read(f->ctx, f->file, &f->head, &is_known);
    if (st == IKT_OK && !is_known)
        st = ikt_fail(f->ctx, IKT_ERR_DATA, "%s is no checkpoint of iktsne", path);
    if (st == IKT_OK && stage && strcmp(ikt_stage_file_head(f).stage, stage) != 0)
        st = ikt_fail(f->ctx, IKT_ERR_DATA, "%s is of the stage '%s' and not of '%s'", path,
                      ikt_stage_file_head(f).stage, stage);
    return ikt_agree(f->ctx, st);
}

ikt_status ikt_stage_file_open(ikt_context *ctx, const char *path, const char *stage,
                               ikt_stage_file **out) {
    *out = NULL;
    IKT_TRY(ikt_alloc_all(ctx, out, 1, sizeof **out, "checkpoint"));
    **out = (ikt_stage_file){.ctx = ctx, .file = -1};
    const ikt_status st = open_head(*out, path, stage);
    if (st != IKT_OK) ikt_stage_file_close(out);
    return st;
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

/* --- arrays as data sets ---------------------------------------------------------------------- */

ikt_part ikt_part_rows(const char *name, ikt_part_type type, const ikt_rows *distribution,
                       int64_t d, void *rows) {
    return (ikt_part){
        name, type, distribution->n, d, false, distribution->first, distribution->count, rows};
}

ikt_part ikt_part_shared(const char *name, ikt_part_type type, int64_t n, void *values) {
    return (ikt_part){name, type, n, 0, true, 0, n, values};
}

static hid_t type_of(const ikt_part *part) {
    const hid_t types[] = {[IKT_PART_U8] = H5T_NATIVE_UINT8,  [IKT_PART_U16] = H5T_NATIVE_UINT16,
                           [IKT_PART_I32] = H5T_NATIVE_INT32, [IKT_PART_U32] = H5T_NATIVE_UINT32,
                           [IKT_PART_I64] = H5T_NATIVE_INT64, [IKT_PART_F32] = H5T_NATIVE_FLOAT,
                           [IKT_PART_F64] = H5T_NATIVE_DOUBLE};
    return types[part->type];
}

size_t ikt_part_type_size(ikt_part_type type) {
    return H5Tget_size(type_of(&(ikt_part){.type = type}));
}

int64_t ikt_parts_bytes(const ikt_part *parts, int64_t count) {
    int64_t bytes = 0;
    for (int64_t p = 0; p < count; p++) {
        const int64_t columns = parts[p].d > 0 ? parts[p].d : 1;
        const int64_t element = (int64_t)ikt_part_type_size(parts[p].type);
        bytes += ikt_h5_rows_bytes(parts[p].n, columns * element);
    }
    return bytes;
}

ikt_status ikt_parts_write(ikt_context *ctx, hid_t group, bool is_plain, const ikt_part *parts,
                           int64_t count) {
    for (const ikt_part *part = parts; part < parts + count; part++) {
        const hid_t type = type_of(part);
        const bool is_idle = part->is_shared && ikt_rank(ctx) != 0; /* all hold it; one writes it */
        hid_t dataset IKT_AT_END(ikt_h5_end) = -1;
        IKT_TRY(ikt_h5_create(ctx, group, part->name, type, part->n, part->d,
                              is_plain ? IKT_H5_PLAIN : IKT_H5_CHECKED, &dataset));
        if (part->n > 0)
            IKT_TRY(ikt_h5_write_rows(ctx, dataset, type, part->first, is_idle ? 0 : part->count,
                                      part->rows));
    }
    return IKT_OK;
}

ikt_status ikt_parts_read(ikt_context *ctx, hid_t group, const ikt_part *parts, int64_t count) {
    for (const ikt_part *part = parts; part < parts + count; part++) {
        hid_t dataset IKT_AT_END(ikt_h5_end) = -1;
        char name[512];
        ikt_status st = IKT_OK;
        if (!ikt_h5_open_rows(group, part->name, type_of(part), part->n, part->d, &dataset))
            st = ikt_fail(ctx, IKT_ERR_DATA, "%s/%s is missing or has another size than expected",
                          ikt_h5_name(group, name, sizeof name), part->name);
        IKT_TRY(ikt_agree(ctx, st));
        if (part->n > 0)
            IKT_TRY(ikt_h5_read_rows(ctx, dataset, type_of(part), part->first, part->count,
                                     part->rows));
    }
    return IKT_OK;
}
