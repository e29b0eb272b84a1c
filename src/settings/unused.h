/* Settings of parts that are not in use, which would otherwise be ignored without a word.
 *
 * The rule: a setting counts as given where its value differs from its default, or from the value
 * that run.preset begins with. A configuration that the program has written, which names every key,
 * is therefore accepted again. What only the number of rows decides (an `auto`) counts as in use.
 */
#ifndef IKT_SETTINGS_UNUSED_H
#define IKT_SETTINGS_UNUSED_H

#include <stdbool.h>

#include "settings/settings.h"

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
