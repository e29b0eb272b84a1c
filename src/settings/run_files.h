/* The files of a run, by the settings that name them (base/files.h), and what a run refuses of its
 * outputs before anything long.
 */
#ifndef IKT_SETTINGS_RUN_FILES_H
#define IKT_SETTINGS_RUN_FILES_H

#include "base/files.h"
#include "base/timer.h"
#include "settings/settings.h"

/* LOCAL. Adds what a run of these settings reads: the configuration, data, labels, graph, the rows
 * of a model, positions to start from. Arrays that a host program lends are no files. */
void ikt_run_files_read(const ikt_settings *settings, ikt_files *files);

/* LOCAL. Adds what it writes: result, picture, model, graph, and the files of its checkpoint. The
 * result of a run that is extended (run.extend) is changed. */
void ikt_run_files_written(const ikt_settings *settings, ikt_files *files);

/* LOCAL. The folder of checkpoints: OUT.h5.checkpoint, or as run.checkpoint names it; "" where
 * there are none. */
void ikt_checkpoint_folder_name(const ikt_settings *settings, char folder[IKT_PATH_MAX]);

/* LOCAL. The newer or the older file of a stage that is saved in that folder. */
void ikt_checkpoint_file_name(const char *folder, ikt_stage stage, bool is_previous,
                              char path[IKT_PATH_MAX]);

/* COLLECTIVE. Whether no output that is named is another file of the run. Errors: IKT_ERR_USAGE. */
ikt_status ikt_check_apart(ikt_context *ctx, const ikt_settings *settings);

/* COLLECTIVE. Whether the output files that are named can be written.
 *   needs_file   whether output.file has to be named
 * Errors: IKT_ERR_USAGE, IKT_ERR_FILE. */
ikt_status ikt_check_outputs(ikt_context *ctx, const ikt_settings *settings, bool needs_file);

#endif
