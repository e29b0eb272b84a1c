/* Writing a kept graph (graph_form.h): begun before the run, filled as its parts are there. */
#ifndef IKT_IO_RESULTS_GRAPH_WRITE_H
#define IKT_IO_RESULTS_GRAPH_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"
#include "io/results/graph_file.h"

typedef struct ikt_graph_writer ikt_graph_writer;

/* COLLECTIVE, all of the following, but for _path. Begins the file beside its name.
 *   out   owned by the caller, NULL on failure. Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_graph_writer_begin(ikt_context *ctx, const char *path, bool overwrite,
                                  ikt_graph_writer **out);

/* LOCAL. The name it will have. */
const char *ikt_graph_writer_path(const ikt_graph_writer *writer);

/* Says how much comes, and writes where rows begin.
 *   rows     of the rows
 *   start   [rows->count + 1] of the own rows, from start[0] = 0 on
 * Errors: IKT_ERR_FILE (also where the disk has no room for it). */
ikt_status ikt_graph_writer_rows(ikt_graph_writer *writer, const ikt_rows *rows,
                                 const int64_t *start);

/* Columns and weights of the own rows, [start[rows->count]] each. Errors: IKT_ERR_FILE. */
ikt_status ikt_graph_writer_columns(ikt_graph_writer *writer, const uint32_t *column);
ikt_status ikt_graph_writer_weights(ikt_graph_writer *writer, const float *weight);

/* What belongs to the rows: positions; the start (see graph_file.h), q numbers a row; labels.
 * Errors: IKT_ERR_FILE. */
ikt_status ikt_graph_writer_positions(ikt_graph_writer *writer, uint32_t *position);
ikt_status ikt_graph_writer_start(ikt_graph_writer *writer, ikt_graph_start what, int64_t q,
                                  void *start);
ikt_status ikt_graph_writer_labels(ikt_graph_writer *writer, const int64_t *labels);
ikt_status ikt_graph_writer_marked(ikt_graph_writer *writer, int64_t *rows, int64_t count);

/* Attributes. Errors: IKT_ERR_FILE. */
ikt_status ikt_graph_writer_text(ikt_graph_writer *writer, const char *name, const char *text);
ikt_status ikt_graph_writer_int(ikt_graph_writer *writer, const char *name, int64_t value);

/* Completes the file and gives it its name, or removes it where `local` is not IKT_OK; frees, sets
 * to NULL; accepts NULL. Errors: `local`, IKT_ERR_FILE. */
ikt_status ikt_graph_writer_end(ikt_graph_writer **writer, ikt_status local);

/* Removes a file that will not be completed; frees, sets to NULL; accepts NULL. */
void ikt_graph_writer_abandon(ikt_graph_writer **writer);

#endif
