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
#include "io/sparse_rows.h"

typedef enum { IKT_TYPE_U8, IKT_TYPE_F32, IKT_TYPE_F64 } ikt_type;

/* LOCAL. Bytes of an element; name ("uint8"). */
size_t ikt_type_size(ikt_type type);
const char *ikt_type_name(ikt_type type);

typedef struct ikt_source ikt_source;

/* COLLECTIVE. Opens the data set (n x d) of an HDF5 file, or the group of a sparse matrix, stored
 * by rows (source_csr.h; "/" where its parts lie at the root). uint8, float32 and float64 keep
 * their type; other integers come as float32 (up to 16 bits) or float64, which hold them exactly
 * (64-bit integers of 2^53 or more are refused when they are read). rows   use only the first rows;
 * 0 = all Errors: IKT_ERR_FILE (missing, damaged), IKT_ERR_DATA (no such data set, with those there
 * are; not two-dimensional; not numbers; a group that is no sparse matrix of rows, or a damaged
 * one; no rows), IKT_ERR_USAGE (rows > n). */
ikt_status ikt_source_open(ikt_context *ctx, const char *path, const char *dataset, int64_t rows,
                           ikt_source **out);

/* COLLECTIVE. A source on an array that every rank holds whole; lent until close. */
ikt_status ikt_source_from_memory(ikt_context *ctx, const void *rows, int64_t n, int64_t d,
                                  ikt_type type, ikt_source **out);

/* COLLECTIVE. The same on sparse rows of float32 or float64 values (`type`), canonical; lent. */
ikt_status ikt_source_from_sparse(ikt_context *ctx, const ikt_sparse_rows *rows, int64_t d,
                                  ikt_type type, ikt_source **out);

/* COLLECTIVE. Closes and sets to NULL; accepts NULL. */
void ikt_source_close(ikt_source **source);

/* LOCAL. */
int64_t ikt_source_rows(const ikt_source *source);
int64_t ikt_source_columns(const ikt_source *source);
ikt_type ikt_source_type(const ikt_source *source);
const char *ikt_source_name(const ikt_source *source); /* "file.h5:/X" */

/* LOCAL. Whether rows are held sparse; they are never uint8 then. Of sparse ones: how many entries
 * the rows hold in all, as stored; the longest of them; and rows to be read at a time, a power of
 * two, so that blocks that begin at its multiples hold a million entries at most, or one row. */
bool ikt_source_is_sparse(const ikt_source *source);
int64_t ikt_source_entries(const ikt_source *source);
int64_t ikt_source_longest_row(const ikt_source *source);
int64_t ikt_source_block_rows(const ikt_source *source);

/* COLLECTIVE. Reads rows first .. first + count - 1 into rows[count * d] of the source's type;
 * those of a sparse source are filled up with zeros. Ranks may ask for different ranges; count may
 * be 0. Errors: IKT_ERR_FILE, agreed; of sparse sources also those of ikt_source_read_sparse. */
ikt_status ikt_source_read(ikt_source *source, int64_t first, int64_t count, void *rows);

/* COLLECTIVE. The same rows of a sparse source as they are held, in canonical form.
 *   rows   grows as needed; free with ikt_sparse_rows_destroy, also after a failure
 * Errors: IKT_ERR_DATA with row and column (an index beyond the columns, a value that is not finite
 * or an integer of 2^53 or more), IKT_ERR_FILE, IKT_ERR_RESOURCE; agreed. */
ikt_status ikt_source_read_sparse(ikt_source *source, int64_t first, int64_t count,
                                  ikt_sparse_rows *rows);

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
