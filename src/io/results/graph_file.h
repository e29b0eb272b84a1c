/* A neighbour graph in a file: in HDF5, of another program or kept by a run of ours; or of another
 * format (foreign_graph.h), which has nothing beside the matrix. */
#ifndef IKT_IO_RESULTS_GRAPH_FILE_H
#define IKT_IO_RESULTS_GRAPH_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"

typedef struct ikt_graph_file ikt_graph_file;

/* What a kept graph knows of where its run began. */
typedef enum {
    IKT_GRAPH_START_NONE,
    IKT_GRAPH_START_PCA,
    IKT_GRAPH_START_LANDMARK
} ikt_graph_start;

/* COLLECTIVE. Opens a graph in memory, where the name is that of one (io/sources/source.h), or FILE
 * or FILE:PATH, PATH being the group of a sparse matrix in it; without one, `graph`, or else the
 * only square sparse matrix by rows that the file has. Errors: IKT_ERR_FILE; IKT_ERR_DATA (no such
 * group, none or several to choose from, with their names; not square; no CSR matrix);
 * IKT_ERR_USAGE (kept by a newer program). */
ikt_status ikt_graph_file_open(ikt_context *ctx, const char *name, ikt_graph_file **out);
/* COLLECTIVE. Closes, frees and sets to NULL; accepts NULL. */
void ikt_graph_file_close(ikt_graph_file **file);

/* LOCAL, all of the following. */
int64_t ikt_graph_file_rows(const ikt_graph_file *file);
int64_t ikt_graph_file_entries(const ikt_graph_file *file);
const char *ikt_graph_file_name(const ikt_graph_file *file);   /* "file.h5:/graph" */
const char *ikt_graph_file_values(const ikt_graph_file *file); /* its own attribute, or "" */
bool ikt_graph_file_is_kept(const ikt_graph_file *file);
bool ikt_graph_file_is_ordered(const ikt_graph_file *file);
ikt_graph_start ikt_graph_file_start(const ikt_graph_file *file, int64_t *q);

/* LOCAL. A text attribute of the file, freed with ikt_free; NULL where there is none. */
ikt_status ikt_graph_file_text(const ikt_graph_file *file, const char *name, char **text);
/* LOCAL. An integer attribute; false where there is none. */
bool ikt_graph_file_int(const ikt_graph_file *file, const char *name, int64_t *value);

/* COLLECTIVE, as all that follow: see sparse_group.h, whose checks are made. Files of other formats
 * give the rows that ikt_rows_make makes a rank's own, and no others. */
ikt_status ikt_graph_file_starts(const ikt_graph_file *file, int64_t first, int64_t count,
                                 int64_t *start);
ikt_status ikt_graph_file_edges(const ikt_graph_file *file, int64_t first, int64_t count,
                                const int64_t *start, uint32_t *column, double *value);

/* The slots of the rows of a distribution; over all ranks a permutation.
 * Errors: IKT_ERR_DATA where they are none, IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_graph_file_slots(const ikt_graph_file *file, const ikt_rows *rows, uint32_t *slot);

/* The start of the rows of a distribution: double [rows->count * q] of PCA, float of landmarks. */
ikt_status ikt_graph_file_read_start(const ikt_graph_file *file, const ikt_rows *rows, void *start);

/* As ikt_labels_read (labels.h) and ikt_source_read_marked. */
ikt_status ikt_graph_file_labels(const ikt_graph_file *file, const char *name, int64_t first,
                                 int64_t count, int64_t *labels, bool *present, char **names);
ikt_status ikt_graph_file_marked(const ikt_graph_file *file, int64_t **rows, int64_t *count);

/* The numbers in the data of the rows of a distribution, [rows->count], freed with ikt_free; NULL
 * where a kept graph does not tell, as no row was left out. */
ikt_status ikt_graph_file_originals(const ikt_graph_file *file, const ikt_rows *rows,
                                    int64_t **original);

/* Names and versions of a kept graph (output.graph), for the files of io/ that read and write it.
 *
 *   /graph      a CSR group (sparse_group.h) of the weights p_j|i: rows in the order of the input,
 *               those of a row ascending by column and summing to 1, zeros left out. Attribute
 *               values = "conditional"
 *   /position   [n] uint32, where rows were ordered by coarse cells: the slot of each row
 *   /start      [n x q] where the run began at principal components: their scores, float64; where
 *               it began at landmarks: places among them, float32
 *   /row        [n] int64, where rows were left out: the number of each row in the data
 *   /labels     [n] int64, /marked, attribute label_names: as in data files, where the input had
 *               them
 *   attributes of the root: format = "iktsne-graph", format_version; version, input, settings,
 *               settings_given, seed, and what was learned while the graph was made
 *
 * Why p_j|i and not P: P = (A + A.T) / (2 n) is a line of scipy, while p_j|i is what a kernel says
 * of a row, takes 2/3 of the space, and is what the symmetrisation takes, so that own and foreign
 * graphs go one way. Why the order: sums along a row of P follow the slots, and only with them does
 * a second run have the bits of the first.
 */

/* Versions of the format; append only. */
typedef enum { IKT_GRAPH_FIRST = 1, IKT_GRAPH_CURRENT = IKT_GRAPH_FIRST } ikt_graph_version;

#define IKT_GRAPH_FORMAT      "iktsne-graph"
#define IKT_GRAPH_GROUP       "graph"
#define IKT_GRAPH_CONDITIONAL "conditional"

/* Writing a kept graph: begun before the run, filled as its parts are there. */

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
 * Errors: IKT_ERR_FILE (also where it does not fit on the disk). */
ikt_status ikt_graph_writer_rows(ikt_graph_writer *writer, const ikt_rows *rows,
                                 const int64_t *start);

/* Columns and weights of the own rows, [start[rows->count]] each. Errors: IKT_ERR_FILE. */
ikt_status ikt_graph_writer_columns(ikt_graph_writer *writer, const uint32_t *column);
ikt_status ikt_graph_writer_weights(ikt_graph_writer *writer, const float *weight);

/* What belongs to the rows: their slots; the start (see above), q numbers a row; labels; their
 * numbers in the data.
 * Errors: IKT_ERR_FILE. */
ikt_status ikt_graph_writer_slots(ikt_graph_writer *writer, uint32_t *slot);
ikt_status ikt_graph_writer_start(ikt_graph_writer *writer, ikt_graph_start what, int64_t q,
                                  void *start);
ikt_status ikt_graph_writer_labels(ikt_graph_writer *writer, const int64_t *labels);
ikt_status ikt_graph_writer_originals(ikt_graph_writer *writer, const int64_t *original);
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
