/* A neighbour graph in an HDF5 file: of another program, or kept by a run of ours (graph_form.h).
 */
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

/* COLLECTIVE. Opens FILE or FILE:PATH, PATH being the group of a sparse matrix in it; without one,
 * `graph`, or else the only square sparse matrix by rows that the file has.
 * Errors: IKT_ERR_FILE; IKT_ERR_DATA (no such group, none or several to choose from, with their
 * names; not square; no CSR matrix); IKT_ERR_USAGE (kept by a newer program). */
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

/* COLLECTIVE, as all that follow: see csr_group.h, whose checks are made. */
ikt_status ikt_graph_file_starts(const ikt_graph_file *file, int64_t first, int64_t count,
                                 int64_t *start);
ikt_status ikt_graph_file_edges(const ikt_graph_file *file, int64_t first, int64_t count,
                                const int64_t *start, uint32_t *column, double *value);

/* Positions of the rows of a map; over all ranks a permutation.
 * Errors: IKT_ERR_DATA where they are none, IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_graph_file_positions(const ikt_graph_file *file, const ikt_rows *rows,
                                    uint32_t *position);

/* The start of the rows of a map: double [rows->count * q] of PCA, float of landmarks. */
ikt_status ikt_graph_file_read_start(const ikt_graph_file *file, const ikt_rows *rows, void *start);

/* As ikt_labels_read (labels_h5.h) and ikt_source_read_marked. */
ikt_status ikt_graph_file_labels(const ikt_graph_file *file, const char *name, int64_t first,
                                 int64_t count, int64_t *labels, bool *present, char **names);
ikt_status ikt_graph_file_marked(const ikt_graph_file *file, int64_t **rows, int64_t *count);

#endif
