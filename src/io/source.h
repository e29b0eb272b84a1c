/* Rows of a data set, opened on all ranks and read by ranges.
 *
 * A source is one way of holding rows (an HDF5 file, an array in memory); all are read alike.
 */
#ifndef IKT_IO_SOURCE_H
#define IKT_IO_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "iktsne/type.h"

/* LOCAL. Bytes of an element; name ("uint8"). */
size_t ikt_type_size(ikt_type type);
const char *ikt_type_name(ikt_type type);

typedef struct ikt_source ikt_source;

/* COLLECTIVE. Opens the data set (n x d) of an HDF5 file. uint8, float32 and float64 keep their
 * type; other integers come as float32 (up to 16 bits) or float64, which hold them exactly (64-bit
 * integers of 2^53 or more are refused when they are read).
 *   rows   use only the first rows; 0 = all
 * Errors: IKT_ERR_FILE (missing, damaged), IKT_ERR_DATA (no such data set, with those there are;
 * not two-dimensional; not numbers; a group; no rows), IKT_ERR_USAGE (rows > n). */
ikt_status ikt_source_open(ikt_context *ctx, const char *path, const char *dataset, int64_t rows,
                           ikt_source **out);

/* COLLECTIVE. A source on an array that every rank holds whole; lent until close. */
ikt_status ikt_source_from_memory(ikt_context *ctx, const void *rows, int64_t n, int64_t d,
                                  ikt_type type, ikt_source **out);

/* COLLECTIVE. A source on rows of which each rank holds its own, in the order of the ranks.
 *   rows     [count * d] of this rank; lent until close
 *   labels   [count], lent until close, or NULL on all ranks with rows: the labels whatever name is
 *            asked for
 *   count    any, also 0; d and type the same on all ranks
 * Errors: IKT_ERR_USAGE (negative sizes, an array that is missing, ranks that disagree),
 * IKT_ERR_DATA (no rows), IKT_ERR_RESOURCE. */
ikt_status ikt_source_from_rows(ikt_context *ctx, const void *rows, const int64_t *labels,
                                int64_t count, int64_t d, ikt_type type, ikt_source **out);

/* COLLECTIVE. Closes and sets to NULL; accepts NULL. */
void ikt_source_close(ikt_source **source);

/* LOCAL. */
int64_t ikt_source_rows(const ikt_source *source);
int64_t ikt_source_columns(const ikt_source *source);
ikt_type ikt_source_type(const ikt_source *source);
const char *ikt_source_name(const ikt_source *source); /* "file.h5:/X" */

/* COLLECTIVE. Reads rows first .. first + count - 1 into rows[count * d] of the source's type.
 * Ranks may ask for different ranges; count may be 0. Errors: IKT_ERR_FILE, agreed. */
ikt_status ikt_source_read(ikt_source *source, int64_t first, int64_t count, void *rows);

/* COLLECTIVE. Reads labels of rows from a data set of n integers beside the rows.
 *   labels    [count]
 *   present   false where the source has no such data set (no error)
 * Errors: IKT_ERR_DATA (wrong length, not integers), IKT_ERR_FILE. */
ikt_status ikt_source_read_labels(ikt_source *source, const char *dataset, int64_t first,
                                  int64_t count, int64_t *labels, bool *present);

/* COLLECTIVE. Rows to be marked in pictures (/marked), the same on every rank, freed with ikt_free;
 * NULL and 0 where there are none. Rows beyond those used are left out. */
ikt_status ikt_source_read_marked(ikt_source *source, int64_t **rows, int64_t *count);

/* COLLECTIVE. A text attribute of the file ("label_names"), on every rank, freed with ikt_free;
 * NULL where there is none. */
ikt_status ikt_source_read_text(ikt_source *source, const char *name, char **text);

#endif
