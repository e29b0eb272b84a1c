/* What the own tiles are compared with in a search among near cells: which slots, and where the
 * rows in them lie.
 *
 * Method: own tiles are taken in batches. The rows of a tile have the same candidates: those of the
 * own cell and of the cells whose centres are nearest to its centre, the own cell first, until they
 * are enough. Which rows they are follows from the data alone, whatever the ranks. Cells that stand
 * side by side make one run, so that small cells fill vectors as large ones do; the rows of the
 * nearest cells come first. Tiles of other ranks among them are fetched, once each. */
#ifndef IKT_NEIGHBOURS_NEAR_TILES_H
#define IKT_NEIGHBOURS_NEAR_TILES_H

#include <stdint.h>

#include "base/arrays.h"
#include "cells/cells.h"
#include "neighbours/foreign.h"
#include "neighbours/neighbours.h"
#include "neighbours/tiles.h"

/* A run of at most IKT_TILE_ROWS slots of one rank, whose rows lie side by side here. */
typedef struct {
    uint32_t first, end;
} ikt_probe;

/* Tiles of other ranks. */
typedef struct {
    int64_t count;
    uint32_t *first;           /* [count] their first slots, ascending */
    int64_t *row;              /* [count + 1] rows before each */
    char *data[IKT_ROW_PARTS]; /* their rows */
} ikt_foreign_tiles;

/* What one thread chooses with. */
typedef struct {
    float *centre;   /* dense centres of the cells of some tiles */
    int32_t *word;   /* the same as bytes, where rows are compared so */
    float *distance; /* from these to all centres */
    ikt_pair *near;  /* [cells, and some] the nearest cells of a tile, by distance */
    uint64_t *piece; /* [cells] the slots of each that are candidates: the first, and how many */
    uint64_t *work;  /* [cells] */
} ikt_probe_space;

typedef struct {
    ikt_context *ctx;
    const ikt_cells *cells;
    const ikt_tiles *tiles;
    int64_t candidates;
    const float *mean;      /* [d] of the centres; NULL: these are compared as floats */
    ikt_near_bytes centres; /* less it, where rows are compared as bytes */
    int parts;
    ikt_row_part part[IKT_ROW_PARTS];
    int64_t most;              /* own tiles of a batch */
    int64_t first_tile, count; /* those of this one */
    int64_t *probes;           /* [count] probes of each; 0 where its lists are there */
    ikt_probe *probe;          /* [count * candidates], near cells first */
    ikt_foreign_tiles foreign;
    ikt_probe_space *space; /* [threads] */
    ikt_arrays held;        /* what is not fetched */
} ikt_near_tiles;

/* LOCAL. For a search of `candidates` rows for each row.
 *   tiles   the own ones; cells and tiles are borrowed. Of rows as bytes the centres are bytes, too
 *   part    [parts] at most IKT_ROW_PARTS
 * Errors: IKT_ERR_RESOURCE; ikt_near_tiles_destroy in any case. */
ikt_status ikt_near_tiles_create(ikt_context *ctx, const ikt_cells *cells, const ikt_tiles *tiles,
                                 int64_t candidates, const ikt_row_part *part, int parts,
                                 ikt_near_tiles *out);
void ikt_near_tiles_destroy(ikt_near_tiles *near);

/* COLLECTIVE. Chooses for the batch of own tiles that begins at tile `done`, and fetches; ranks
 * that have finished help others. ikt_near_tiles_let_go in any case.
 *   course   whose lists tell which tiles are done
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_near_tiles_fetch(ikt_near_tiles *near, int64_t done, const ikt_list_course *course);
void ikt_near_tiles_let_go(ikt_near_tiles *near);

/* LOCAL, pure. Where the row in a slot stands among the own rows, or among those that were fetched.
 */
int64_t ikt_near_tiles_place(const ikt_near_tiles *near, uint32_t slot);

/* LOCAL, pure. A part of the row in a slot, own or fetched. */
const char *ikt_near_tiles_row(const ikt_near_tiles *near, int part, uint32_t slot);

/* LOCAL. First own row of a tile of the batch, as a local number. */
static inline int64_t ikt_near_tiles_begin(const ikt_near_tiles *near, int64_t tile) {
    return near->tiles->first[near->first_tile + tile] - near->tiles->scorer.rows.first;
}

/* LOCAL, pure. Tiles of a batch, and most bytes that it takes.
 *   row_bytes   of all parts of a row */
int64_t ikt_near_tiles_batch(int64_t candidates, int64_t row_bytes);
int64_t ikt_near_tiles_memory(int64_t cells, int64_t candidates, int64_t row_bytes, int threads);

#endif
