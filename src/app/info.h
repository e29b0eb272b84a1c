/* Parts of `iktsne info`: a kept graph, and what repeats a run. */
#ifndef IKT_APP_INFO_H
#define IKT_APP_INFO_H

#include "io/results/graph_file.h"
#include "io/results/result.h"

/* COLLECTIVE. Prints what a kept graph (output.graph) is and how it was made.
 *   configuration   only the settings that made it, as YAML
 * Errors: those of reading. */
ikt_status ikt_info_graph(ikt_context *ctx, const ikt_graph_file *file, bool configuration,
                          bool as_json);

/* COLLECTIVE. Prints (rank 0, standard output) the stored configuration as YAML that `iktsne embed`
 * takes. Comments at the head name program, instruction set, folder and hash, and for a file that
 * another verb made the command that made it. Names of further output files (output.picture,
 * output.model) become comments: a repetition would refuse to replace them.
 *   path   of the file, for messages
 * Errors: IKT_ERR_DATA where the file holds no configuration; IKT_ERR_FILE. */
ikt_status ikt_repetition_print(ikt_context *ctx, const char *path, ikt_result_file *file);

#endif
