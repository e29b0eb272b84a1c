/* Rows of data in the group of a sparse matrix (sparse_group.h).
 *
 * Method: one pass over indptr when the group is opened checks it and learns how many rows make
 * blocks of a bounded number of entries; a range of rows is then a range of indptr and a range of
 * the columns and values. Advantage: each rank reads its own rows and nothing else, and no damage
 * in the file leads beyond an array. Disadvantage: a matrix stored by columns (CSC) would have to
 * be turned round first, and is refused.
 * Columns of a row may stand in any order; a value that comes twice counts as its sum, as in SciPy.
 */
#ifndef IKT_IO_SOURCES_SOURCE_CSR_H
#define IKT_IO_SOURCES_SOURCE_CSR_H

#include <hdf5.h>
#include <stdbool.h>

#include "io/numbers/sparse_rows.h"
#include "io/sources/source.h"

typedef struct ikt_csr_reader ikt_csr_reader;

/* What is known of an opened group. */
typedef struct {
    int64_t n, d;    /* of `shape` */
    ikt_type type;   /* of the values as they are read: never uint8 */
    ikt_type stored; /* the same, but uint8 of bytes and truth values */
    int64_t entries; /* of the rows that are used */
    int64_t longest; /* entries of the longest of them, as stored */
    int64_t block;   /* rows to read at a time; see ikt_source_block_rows */
} ikt_csr_facts;

/* LOCAL. Opens the parts of a group, as ikt_csr_group_open.
 *   group   an open group, taken over also on failure
 *   name    "file.h5:/X", lent until ikt_csr_close
 * Errors: those of ikt_csr_group_open (more than 2^31 - 1 columns among them). */
ikt_status ikt_csr_open(ikt_context *ctx, hid_t group, const char *name, ikt_csr_reader **out);

/* COLLECTIVE. Goes through indptr of the first `rows` rows (0: all); `facts` are complete after it.
 * Errors: IKT_ERR_DATA with the row that is wrong, IKT_ERR_FILE. Cost: 8 n / ranks bytes read. */
ikt_status ikt_csr_scan(ikt_csr_reader *csr, int64_t rows);

/* LOCAL. */
const ikt_csr_facts *ikt_csr_about(const ikt_csr_reader *csr);

/* COLLECTIVE. Rows first .. first + count - 1, in canonical form. Errors: IKT_ERR_DATA with row and
 * column (an index beyond the columns, a value that is not finite, an integer of 2^53 or more),
 * IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_csr_read(ikt_csr_reader *csr, int64_t first, int64_t count, ikt_sparse_rows *rows);

/* LOCAL, but COLLECTIVE as all closing. Sets to NULL; accepts NULL. */
void ikt_csr_close(ikt_csr_reader **csr);

#endif
