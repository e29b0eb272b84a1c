/* Outputs that are written before the loop begins, while there is what they hold: the model of a
 * run (output.model) and its graph (output.graph). A run with either holds little more than one
 * without.
 *
 * Of the model, preprocessing, centres and codes are written here, in the order of the input; the
 * embedding follows at the end of the run (outcome.h). Form of the file: io/results/model_file.h,
 * docs/transform.md. Of the graph the weights are written, in the order of the input, then the
 * start once it is known, and then the file gets its name: it is whole before the loop begins.
 */
#ifndef IKT_PIPELINE_EARLY_OUTPUTS_H
#define IKT_PIPELINE_EARLY_OUTPUTS_H

#include "pipeline/line.h"
#include "sampled/features.h"
#include "similarity/kernel_map.h"

/* COLLECTIVE. Writes shape, preprocessing, distinct centres, partitionings and codes.
 *   data    the rows coded
 *   rows    ownership of them
 *   codes   of the own rows, in the order of the input
 *   layout  of the map that is to come
 * Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE, those of reading the centres. Memory: some 36 MiB, and
 * 8 bytes a distinct centre. */
ikt_status ikt_run_model_codes(ikt_context *ctx, ikt_model_writer *writer, ikt_dataset *data,
                               const ikt_rows *rows, const ikt_model *model, const ikt_codes *codes,
                               const ikt_layout_settings *layout);

/* COLLECTIVE. The same where rows are compared by distances: writes shape, preprocessing, rows and
 * their scales, by which objectives of triplets compare them.
 *   lists      of the own rows, with their distances, nearest first
 *   features   the rows, in the order of the lists
 *   order      that order; NULL: that of the input
 *   layout     of the map that is to come
 * Errors: those of ikt_similarity_of_rows, IKT_ERR_FILE, IKT_ERR_RESOURCE, those of reading.
 * Memory: some 20 MiB, and 8 bytes a row. */
ikt_status ikt_run_model_rows(ikt_context *ctx, ikt_model_writer *writer, ikt_dataset *data,
                              const ikt_rows *rows, const ikt_neighbours *lists,
                              const ikt_features *features, const ikt_order *order,
                              const ikt_layout_settings *layout);

/* A part that every rank holds; rows NULL: there is none of it. */
typedef struct {
    ikt_model_part part;
    int64_t count;
    const void *rows;
} ikt_model_shared;

/* COLLECTIVE. The same of a model of any other make: shape, preprocessing, the parts that all ranks
 * hold, one of the own rows, and these rows themselves where the shape has them.
 *   shape   all but what the preprocessing tells, which it receives
 * Errors: as above. */
ikt_status ikt_run_model_parts(ikt_context *ctx, ikt_model_writer *writer, ikt_dataset *data,
                               const ikt_rows *rows, ikt_model_shape *shape,
                               const ikt_model_shared *parts, size_t count, ikt_model_part own,
                               const void *values);

/* A map of similarities, and what rows are compared by in it; borrowed. */
typedef struct {
    ikt_similarity_kind kind;
    double bandwidth;        /* of the Gaussian kernel, else 0 */
    const int64_t *landmark; /* [map->m] rows that it is made of, ascending */
    const ikt_kernel_map *map;
    const double *origin;   /* [map->q] what will be taken off all places */
    const ikt_model *model; /* of the Isolation kernel, else NULL; */
    const ikt_codes *codes; /* and the codes of the own rows */
} ikt_kernel_projection;

/* COLLECTIVE. The same of a map that is linear in similarities (kpca, kda): writes shape,
 * preprocessing, landmarks with their rows or codes, and the map.
 *   rows   ownership of those of data, and of codes
 * Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE, those of reading. Memory: some 36 MiB. */
ikt_status ikt_run_model_projection(ikt_context *ctx, ikt_model_writer *writer, ikt_dataset *data,
                                    const ikt_rows *rows, const ikt_kernel_projection *projection);

/* COLLECTIVE. Begins the file of output.graph, with what is known of it before P is.
 *   run   with settings as ikt_fingerprint_settings has them, inputs, label names and marked rows
 *   out   NULL without output.graph, and where a graph of these data and settings is there already,
 *         which then is left as it is
 * Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_run_graph_begin(ikt_context *ctx, const ikt_run *run, ikt_graph_writer **out);

/* COLLECTIVE. Writes the weights of a line, and what belongs to them. Errors: IKT_ERR_FILE,
 * IKT_ERR_RESOURCE. Memory: where rows are in slots 4 bytes an entry, and 8 for each of a million;
 * otherwise nothing. */
ikt_status ikt_run_graph_rows(ikt_line *line, ikt_graph_writer *writer);

/* COLLECTIVE. Completes the file and says so; nothing without one. Errors: IKT_ERR_FILE.
 */
ikt_status ikt_run_graph_end(ikt_context *ctx, ikt_graph_writer **writer);

#endif
