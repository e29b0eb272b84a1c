/* The head of a checkpoint. See stage_head.h. */
#include "io/hdf5/stage_head.h"

#include <string.h>

#include "base/memory.h"

static const char format_name[] = "iktsne-checkpoint";

static const char *const text_name[IKT_STAGE_TEXTS] = {"stage", "version", "input", "settings"};

ikt_status ikt_stage_head_write(ikt_context *ctx, hid_t object, const ikt_stage_head *head) {
    const char *const text[IKT_STAGE_TEXTS] = {head->stage, head->version, head->input,
                                               head->settings};
    char reason[256];
    bool good = ikt_h5_set_text(object, "format", format_name) &&
                ikt_h5_set_int(object, "format_version", IKT_STAGE_FILE_CURRENT);
    for (int t = 0; t < IKT_STAGE_TEXTS && good; t++)
        good = ikt_h5_set_text(object, text_name[t], text[t]);
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
    *is_known = format && strcmp(format, format_name) == 0 &&
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
        *is_known = out->text[t] != NULL;
    }
    return IKT_OK;
}

ikt_stage_head ikt_stage_texts_head(const ikt_stage_texts *t) {
    return (ikt_stage_head){t->text[0], t->text[1], t->text[2], t->text[3]};
}

void ikt_stage_texts_free(ikt_stage_texts *texts) {
    for (int t = 0; t < IKT_STAGE_TEXTS; t++)
        ikt_free(&texts->text[t]);
}
