/* The files of a run, by the settings that name them (base/files.h), and what a run refuses before
 * its first long stage, apart from what reading the data tells.
 *
 * Used by the run itself and by its rehearsal (pipeline/pipeline.h).
 */
#ifndef IKT_SETTINGS_CHECKS_H
#define IKT_SETTINGS_CHECKS_H

#include <stdbool.h>

#include "base/files.h"
#include "base/timer.h"
#include "settings/settings.h"

/* LOCAL. Adds what a run of these settings reads: the configuration, data, labels, graph, the rows
 * of a model, positions to start from. Arrays that a host program lends are no files. */
void ikt_run_files_read(const ikt_settings *settings, ikt_files *files);

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

/* LOCAL, pure. Whether run.max_time is given as a time, and not as a word. */
bool ikt_run_has_limit(const ikt_run_settings *run);

/* SAME-ARGS. Refuses a run.max_time that is no time. Errors: IKT_ERR_USAGE. */
ikt_status ikt_check_time(ikt_context *ctx, const ikt_run_settings *run);

/* COLLECTIVE. What run.checkpoint and run.max_time ask for. The latter is a time, counted from the
 * start of the process; "none"; or "auto": the end of the Slurm job (base/time_limit.h).
 *   is_host      in a program that calls the library: no process is started to ask `squeue`
 *   is_watched   whether the run stops at signals and in time
 *   seconds      from now until it has to have ended; infinite without a limit
 * Errors: IKT_ERR_USAGE. */
ikt_status ikt_check_limits(ikt_context *ctx, const ikt_run_settings *run, bool is_host,
                            bool *is_watched, double *seconds);

/* SAME-ARGS. Warns of what makes the map of a run that was begun with another number of iterations
 * than it has now differ from that of one run of so many.
 *   settings   resolved, with the iterations of now
 *   had        iterations that it was to have before; 0: it had ended, and is extended
 *   has_loop   iterations are done; else only the start may depend on their number */
void ikt_warn_of_iterations(ikt_context *ctx, const ikt_settings *settings, int64_t had,
                            bool has_loop);

/* LOCAL, all three. What has to fit the data, which has n rows: a graph or a matrix has as many; so
 * has a map to start from, in layout.dimensions; and the rows of isolation.model_from have as many
 * columns as those that they code.
 *   name   of the file. Errors: IKT_ERR_DATA. */
ikt_status ikt_check_graph_rows(ikt_context *ctx, const char *name, int64_t rows, int64_t n);
ikt_status ikt_check_start(ikt_context *ctx, const ikt_layout_settings *layout, int64_t rows,
                           int64_t dimensions, int64_t n);
ikt_status ikt_check_model_columns(ikt_context *ctx, const char *name, int64_t columns,
                                   const char *of_rows, int64_t d);

/* LOCAL, pure. What output.file will take at most. */
int64_t ikt_check_result_bytes(ikt_context *ctx, const ikt_settings *settings, int64_t n);

/* COLLECTIVE. As soon as the rows are counted: a disk that is full now will hardly be emptier after
 * the run. Nothing without output.file. Errors: IKT_ERR_FILE. */
ikt_status ikt_check_room(ikt_context *ctx, const ikt_settings *settings, int64_t n);

#endif
