/* What a run refuses before its first long stage, apart from what reading the data tells.
 *
 * Used by the run itself and by its rehearsal (pipeline/pipeline.h).
 */
#ifndef IKT_SETTINGS_CHECKS_H
#define IKT_SETTINGS_CHECKS_H

#include <stdbool.h>

#include "settings/settings.h"

/* SAME-ARGS. Refuses what preprocess.missing does not go with: rows of a host program that would be
 * left out, and a model from other rows. Errors: IKT_ERR_USAGE. */
ikt_status ikt_check_missing(ikt_context *ctx, const ikt_settings *settings, bool is_guest);

/* SAME-ARGS. Whether the other settings allow output.model, where it is wanted.
 * Errors: IKT_ERR_USAGE. */
ikt_status ikt_check_model(ikt_context *ctx, const ikt_settings *settings);

/* SAME-ARGS. Whether the other settings allow affinity.kind = fisher, where that is asked for.
 * Errors: IKT_ERR_USAGE. */
ikt_status ikt_check_fisher(ikt_context *ctx, const ikt_settings *settings);

/* SAME-ARGS. Whether the other settings allow affinity.support = whole, where that is asked for.
 * Errors: IKT_ERR_USAGE. */
ikt_status ikt_check_whole(ikt_context *ctx, const ikt_settings *settings);

/* SAME-ARGS. Whether the objective can work on the form of P that is asked for.
 * Errors: IKT_ERR_USAGE. */
ikt_status ikt_check_objective(ikt_context *ctx, const ikt_settings *settings);

/* SAME-ARGS. Whether the other settings allow preprocess.metric = precomputed, where that is asked
 * for, and what follows from it: the searches are exact. Errors: IKT_ERR_USAGE. */
ikt_status ikt_check_precomputed(ikt_context *ctx, ikt_settings *settings);

/* SAME-ARGS. Whether the other settings allow input.similarities, where that is given, and what
 * follows from it: the metric is `precomputed`, of similarities, and rows start at the map of kpca
 * unless something is said of that. To be asked before the input is opened; asking again changes
 * nothing. Errors: IKT_ERR_USAGE. */
ikt_status ikt_check_similarities(ikt_context *ctx, ikt_settings *settings);

/* SAME-ARGS. Whether a map of similarities (kpca, kda) can be made of what there is.
 *   has_rows   there are rows, of a file or handed over: not a graph alone
 * Errors: IKT_ERR_USAGE. */
ikt_status ikt_check_kernel_map(ikt_context *ctx, const ikt_settings *settings, bool has_rows);

/* SAME-ARGS. Whether the other settings allow rows that are held sparse, once that is known.
 * Errors: IKT_ERR_USAGE. */
ikt_status ikt_check_sparse(ikt_context *ctx, const ikt_settings *settings, bool is_sparse);

/* COLLECTIVE. What run.checkpoint and run.max_time ask for. The latter is a time, counted from the
 * start of the process; "none"; or "auto": the end of the Slurm job, from SLURM_JOB_END_TIME, which
 * Slurm sets since 23.02, or else as `squeue` tells.
 *   is_guest     in a program that calls the library: no process is started to ask `squeue`
 *   is_watched   whether the run stops at signals and in time
 *   seconds      from now until it has to have ended; infinite without a limit
 * Errors: IKT_ERR_USAGE. */
ikt_status ikt_check_limits(ikt_context *ctx, const ikt_run_settings *run, bool is_guest,
                            bool *is_watched, double *seconds);

/* LOCAL, pure. A time as Slurm writes it: minutes, minutes:seconds, hours:minutes:seconds,
 * days-hours, days-hours:minutes or days-hours:minutes:seconds; digits only.
 *   seconds   receives the time
 * Returns false for any other text. */
bool ikt_time_parse(const char *text, double *seconds);

/* LOCAL, pure. What output.file will take at most. */
int64_t ikt_check_result_bytes(ikt_context *ctx, const ikt_settings *settings, int64_t n);

/* COLLECTIVE. As soon as the rows are counted: a disk that is full now will hardly be emptier after
 * the run. Nothing without output.file. Errors: IKT_ERR_FILE. */
ikt_status ikt_check_room(ikt_context *ctx, const ikt_settings *settings, int64_t n);

/* --- settings of parts that are not in use, which would otherwise be ignored without a word ---
 *
 * The rule: a setting counts as given where its value differs from its default, or from the value
 * that run.preset begins with. A configuration that the program has written, which names every key,
 * is therefore accepted again. What only the number of rows decides (an `auto`) counts as in use.
 */

/* SAME-ARGS. Refuses a setting that is given and not in use.
 *   has_rows        there are rows, of input.file or handed over: not a graph alone
 *   is_kept_graph   input.graph was kept by a run: it has its own settings of the kernel, which
 *                   ikt_graph_settings_adopt has compared with these
 * Errors: IKT_ERR_USAGE, naming the setting that would bring it into use. */
ikt_status ikt_unused_check(ikt_context *ctx, const ikt_settings *settings, bool has_rows,
                            bool is_kept_graph);

/* SAME-ARGS. Sets what is not in use to its default, or to the value of run.preset.
 *   shared   NULL, or settings: only what has the same value in these is changed. That is what a
 *            study says for all of its methods, of which each uses its part. */
ikt_status ikt_unused_reset(ikt_context *ctx, ikt_settings *settings, bool has_rows,
                            const ikt_settings *shared);

#endif
