/* Cells of sparse rows: the values of all centres from an inverted index, then the definition.
 *
 * The cells are those of codes_kernel.h for the same rows held dense as float32, to the bit: a
 * distance by definition is a merge of two rows (linalg/sparse.h).
 * Method: a row's values for all distinct centres come from the index (postings.h). With lists, the
 * `length` least are kept, sorted by the distance that defines cells and walked through, as for
 * dense rows (codes_list.h); distances are only computed where values leave the order open. Without
 * lists, and in partitionings that a list leaves open, the centres of a partitioning whose values
 * are within rounding of its least one race by definition; mostly there is one. Advantage: nothing
 * of length d is touched for a row. Disadvantage: of models whose partitionings share no centres
 * every centre has to be indexed, some at a time.
 */
#ifndef IKT_ISOLATION_CODES_SPARSE_H
#define IKT_ISOLATION_CODES_SPARSE_H

#include <stdbool.h>

#include "isolation/codes_walk.h"
#include "isolation/postings.h"

typedef struct {
    const ikt_centre_table *table; /* lent */
    const ikt_sparse *centres;     /* lent: the distinct ones, in the order of the table */
    ikt_postings postings;
    ikt_isa isa;
    int64_t stride; /* centre q of the index is number q * stride % table->count */
    int64_t length; /* of a list; 0: there are none */
} ikt_sparse_coder;

/* What one thread works with. */
typedef struct {
    ikt_posted_row *row; /* [rows of a tile] */
    int32_t *slot;       /* their arrays */
    double *entry;
    double *sum;       /* [IKT_POSTINGS_CHUNK] */
    float *value;      /* [IKT_POSTINGS_CHUNK] */
    float *all;        /* [rows of a tile * centres] by number, of rows that race; with lists, of
                          one row */
    ikt_select *kept;  /* [rows of a tile] */
    ikt_pair *pair;    /* [rows of a tile * IKT_SELECT_ROOM * length] */
    int64_t open_rows; /* rows whose list was too short, so far */
} ikt_sparse_space;

/* Rows that are coded together, and their entries: a tile has at most so many of both, or one row.
 */
enum { IKT_SPARSE_TILE_ROWS = 64, IKT_SPARSE_TILE_ENTRIES = 1 << 15 };

/* LOCAL, pure. Whether lists pay: they look at fewer centres than the partitionings have. */
bool ikt_sparse_list_pays(int64_t centres, int64_t psi, int64_t t);

/* LOCAL. Indexes the centres of a model.
 *   with_lists   whether cells are found by lists
 * Errors: IKT_ERR_RESOURCE; empty then. */
ikt_status ikt_sparse_coder_create(ikt_context *ctx, const ikt_model *model,
                                   const ikt_centre_table *table, const ikt_sparse *centres,
                                   bool with_lists, ikt_sparse_coder *out);
void ikt_sparse_coder_destroy(ikt_sparse_coder *coder);

/* LOCAL. longest: entries of a row, at most. Errors: IKT_ERR_RESOURCE; for
 * ikt_sparse_space_destroy also then. */
ikt_status ikt_sparse_space_create(ikt_context *ctx, const ikt_sparse_coder *coder, int64_t longest,
                                   ikt_sparse_space *out);
void ikt_sparse_space_destroy(ikt_sparse_space *space);

/* LOCAL. Rows from `from` on, up to `end`, that make a tile. */
int64_t ikt_sparse_tile(const ikt_sparse *rows, int64_t from, int64_t end);

/* LOCAL. Cells of a tile: rows from .. from + count - 1.
 *   cell   [count * table->parts], receives the cell in each partitioning, the coarse one last */
void ikt_sparse_code(const ikt_sparse_coder *coder, ikt_sparse_space *space, const ikt_sparse *rows,
                     int64_t from, int64_t count, uint16_t *cell);

/* LOCAL, pure. Bytes of coder and spaces. */
int64_t ikt_sparse_coder_bytes(int64_t centres, int64_t d, int64_t entries);
int64_t ikt_sparse_space_bytes(int64_t centres, int64_t length, int64_t longest);

#endif
