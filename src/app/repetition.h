/* What repeats a run: its configuration, with what has to be known for it in comments. */
#ifndef IKT_APP_REPETITION_H
#define IKT_APP_REPETITION_H

#include "io/results/result.h"

/* COLLECTIVE. Prints (rank 0, standard output) the stored configuration as YAML that `iktsne embed`
 * takes. Comments at the head name program, instruction set, folder and hash, and for a file that
 * another verb made the command that made it. Names of further output files (output.picture,
 * output.model) become comments: a repetition would refuse to replace them.
 *   path   of the file, for messages
 * Errors: IKT_ERR_DATA where the file holds no configuration; IKT_ERR_FILE. */
ikt_status ikt_repetition_print(ikt_context *ctx, const char *path, ikt_result_file *file);

#endif
