/* The files of a run. See run_files.h. */
#include "settings/run_files.h"

#include <stdio.h>
#include <string.h>

#include "io/sources/labels.h"
#include "io/sources/source.h"

void ikt_run_files_read(const ikt_settings *settings, ikt_files *files) {
    const ikt_input_settings *input = &settings->input;
    const struct {
        const char *role, *name;
    } read[] = {{"the configuration", settings->run.configuration},
                {"input.file", input->file},
                {"input.similarities", input->file[0] ? "" : input->similarities},
                {"input.graph", input->graph},
                {"input.labels", ikt_labels_are_default(input->labels) ? "" : input->labels},
                {"fisher.train", settings->affinity.fisher.train},
                {"isolation.model_from", settings->isolation.model_from},
                {"layout.init_file", settings->layout.init_file}};
    for (size_t r = 0; r < sizeof read / sizeof *read; r++)
        if (!ikt_lent_find(files->ctx, read[r].name))
            ikt_files_add(files, IKT_FILE_READ, read[r].role, read[r].name);
}

void ikt_checkpoint_folder_name(const ikt_settings *settings, char folder[IKT_PATH_MAX]) {
    const char *asked = settings->run.checkpoint;
    folder[0] = '\0';
    if (strcmp(asked, "auto") == 0)
        snprintf(folder, IKT_PATH_MAX, "%s.checkpoint", settings->output.file);
    else if (strcmp(asked, "none") != 0)
        snprintf(folder, IKT_PATH_MAX, "%s", asked);
}

void ikt_checkpoint_file_name(const char *folder, ikt_stage stage, bool is_previous,
                              char path[IKT_PATH_MAX]) {
    snprintf(path, IKT_PATH_MAX, "%.4000s/%s%s.h5", folder, ikt_stage_saved(stage),
             is_previous ? ".previous" : "");
}

void ikt_run_files_written(const ikt_settings *settings, ikt_files *files) {
    const ikt_output_settings *output = &settings->output;
    char folder[IKT_PATH_MAX], path[IKT_PATH_MAX];
    ikt_files_add(files, settings->run.extend > 0 ? IKT_FILE_CHANGED : IKT_FILE_WRITTEN,
                  "output.file", output->file);
    ikt_files_add(files, IKT_FILE_WRITTEN, "output.picture", output->picture);
    ikt_files_add(files, IKT_FILE_WRITTEN, "output.model", output->model);
    ikt_files_add(files, IKT_FILE_WRITTEN, "output.graph", output->graph);
    ikt_checkpoint_folder_name(settings, folder);
    ikt_files_add(files, IKT_FILE_CHANGED, "run.checkpoint", folder);
    for (int file = 0; file < 2 * IKT_STAGE_COUNT && folder[0]; file++) {
        if (!ikt_stage_saved((ikt_stage)(file / 2))) continue;
        ikt_checkpoint_file_name(folder, (ikt_stage)(file / 2), file % 2 != 0, path);
        ikt_files_add(files, IKT_FILE_CHANGED, "run.checkpoint", path);
    }
}

/* Words by which a reader of the help may mean that there shall be no picture. */
static ikt_status check_picture_name(ikt_context *ctx, const char *picture) {
    static const char *const word[] = {"no", "off", "false"};
    for (size_t w = 0; w < sizeof word / sizeof *word; w++)
        if (strcmp(picture, word[w]) == 0)
            return ikt_fail(ctx, IKT_ERR_USAGE,
                            "output.picture=%s would be the name of a file: write "
                            "output.picture=none for no picture",
                            picture);
    return IKT_OK;
}

ikt_status ikt_check_apart(ikt_context *ctx, const ikt_settings *settings) {
    ikt_files files = {.ctx = ctx};
    ikt_run_files_read(settings, &files);
    ikt_run_files_written(settings, &files);
    return ikt_files_check(&files);
}

ikt_status ikt_check_outputs(ikt_context *ctx, const ikt_settings *settings, bool needs_file) {
    const ikt_output_settings *output = &settings->output;
    const bool overwrite = output->overwrite;
    if (!output->file[0] && needs_file)
        return ikt_fail(ctx, IKT_ERR_USAGE, "output.file is not set: name the HDF5 file to write");
    IKT_TRY(check_picture_name(ctx, output->picture));
    if (output->file[0]) IKT_TRY(ikt_atomic_check(ctx, output->file, overwrite));
    if (output->picture[0]) IKT_TRY(ikt_atomic_check_stream(ctx, output->picture, overwrite));
    /* Whether output.graph may be written depends on the graph (pipeline/early_outputs.h). */
    return output->model[0] ? ikt_atomic_check(ctx, output->model, overwrite) : IKT_OK;
}
