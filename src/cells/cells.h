/* The coarse cells of a data set: what gives rows their slots and a search its candidates.
 *
 * A sample of rows are centres; a row belongs to the nearest. Cells stand in an order in which near
 * centres are near, and rows are numbered cell by cell: a row's new number is its *slot*.
 * Everything after the codes (neighbours, P, the loop) works in slots.
 */
#ifndef IKT_CELLS_CELLS_H
#define IKT_CELLS_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sort.h"
#include "base/status.h"
#include "data/dataset.h"
#include "dist/order.h"
#include "dist/rows.h"
#include "metric/metric.h"
#include "metric/near_bytes.h"

typedef struct {
    const ikt_metric *metric;    /* by which rows have their nearest cell */
    int64_t count;               /* cells */
    int64_t d;                   /* columns */
    int64_t *first;              /* [count + 1] first slot of each cell */
    float *centre;               /* [count * d] their centres, row-major */
    float *packed;               /* the same, packed by ikt_pack_rows */
    bool is_sparse;              /* centres are the following in place of these */
    ikt_sparse rows;             /* [count] */
    ikt_sparse_pack sparse_pack; /* the same, packed */
} ikt_cells;

/* LOCAL, pure. How many cells suit n rows: 16 sqrt(n) to the next power of two below, between 16
 * and 65536, at most n. Cells of sqrt(n) / 16 rows: to find a row's cell costs about as much as to
 * score it against the rows of near cells.
 *   pool   0, or the rows that centres are drawn from for codes: where there are fewer than cells,
 *          up to four times fewer cells do, since every centre more costs a distance a row */
int64_t ikt_cells_choose(int64_t n, int64_t pool);

/* LOCAL, pure. A pool of rows (0: all) that centres of the cells can be drawn from, too: the pool
 * itself, or as many rows as there are cells. */
int64_t ikt_cells_pool(int64_t n, int64_t pool);

/* COLLECTIVE. Orders the cells and gives every row its slot: by cell, then by row.
 *   data        the rows; the centres' coordinates are read from ikt_dataset_model(data)
 *   centre_row  [count] rows of the centres there, ascending, the same on all ranks
 *   cell        [rows->count] cell of each own row: index into centre_row. Or NULL: each row gets a
 *               near centre (pyramid.c)
 *   bytes       the own rows, where they are held as bytes; NULL: they are read for it
 *   slot        [rows->count], receives the slots
 * Errors: IKT_ERR_RESOURCE, those of reading, IKT_STOPPED (ikt_watch_pause); empty then. Memory: 12
 * count d bytes at the peak. Centres of sparse rows whose cells are given stay sparse; what depends
 * on them has the same bits.
 */
ikt_status ikt_cells_create(ikt_context *ctx, ikt_dataset *data, const int64_t *centre_row,
                            int64_t count, const ikt_rows *rows, const uint16_t *cell,
                            const ikt_byte_rows *bytes, ikt_cells *out, uint32_t *slot);
void ikt_cells_destroy(ikt_cells *cells);

/* COLLECTIVE. Gives rows their slots: by cell, then by row.
 *   cell    [rows->count] entries `stride` apart, cells below `count`
 *   first   [count + 1], receives the first slot of each cell; the same on all ranks
 *   slot    [rows->count], receives the slots
 * Errors: IKT_ERR_RESOURCE. Memory: 8 bytes a cell. */
ikt_status ikt_cells_number(ikt_context *ctx, const ikt_rows *rows, const uint32_t *cell,
                            int64_t stride, int64_t count, int64_t *first, uint32_t *slot);

/* COLLECTIVE. Makes the cells, and plans the exchange that brings rows to their slots.
 *   centre_row, count, cell, bytes   as in ikt_cells_create
 * Errors: IKT_ERR_RESOURCE, those of reading, IKT_STOPPED; both are empty then. */
ikt_status ikt_rows_order(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                          const int64_t *centre_row, int64_t count, const uint16_t *cell,
                          const ikt_byte_rows *bytes, ikt_cells *cells, ikt_order *order);

/* LOCAL. Cell of a slot. */
static inline int64_t ikt_cells_find(const ikt_cells *cells, int64_t slot) {
    return ikt_find_block(cells->first, cells->count, slot);
}

/* --- what they are made with ------------------------------------------------------------------ */

/* LOCAL, a pure function of the points; one thread. An order of points in which near ones stand
 * near each other (locality.c), the same for sparse points as for the same ones held dense.
 *   x       [count * d] coordinates
 *   rows    the points where they are sparse, in place of x; otherwise NULL
 *   order   [count], receives the points' numbers in their new order
 * Errors: IKT_ERR_RESOURCE. Cost: count log2(count) (3 d + log2(count)). Memory: d floats. */
ikt_status ikt_locality_order(ikt_context *ctx, const float *x, const ikt_sparse *rows,
                              int64_t count, int64_t d, uint32_t *order);

/* A near centre of any row, found from the top of a pyramid of means (pyramid.c): a function of
 * row and centres alone; ties go to the lower centre. */
typedef struct ikt_pyramid ikt_pyramid;

/* LOCAL. Errors: IKT_ERR_RESOURCE.
 *   cells   whose dense centres, in their order, it is made of; borrowed
 *   mean    [d] of rows that are bytes already; NULL: rows come as they are
 *   out     owned by the caller; NULL on failure */
ikt_status ikt_pyramid_create(ikt_context *ctx, const ikt_cells *cells, const float *mean,
                              ikt_pyramid **out);
/* LOCAL. Accepts NULL. */
void ikt_pyramid_destroy(ikt_pyramid **pyramid);

/* LOCAL, by all threads. The number of a centre near to each row.
 *   x      [count * d] rows; NULL for rows as bytes
 *   word   [count * words] these, of a pyramid with their mean; otherwise NULL */
void ikt_pyramid_find(const ikt_pyramid *pyramid, const float *x, const int32_t *word,
                      int64_t count, uint32_t *found);

/* LOCAL, pure. Centres and means that a row is compared with, at most, of a pyramid without a mean
 * or with one. */
int64_t ikt_pyramid_compared(int64_t count, bool has_mean);

#endif
