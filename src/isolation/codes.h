/* Cell codes: for each row and each partitioning, the number of the cell that the row falls into.
 *
 * Zhu & Ting 2021, section 4.1. In the Voronoi form the cell of x is its nearest centre, in the
 * forest form the leaf of a random tree (tree.h). Codes replace the data: t entries a row, of one
 * byte up to psi = 256, two up to 65536 and four beyond, after which no coordinate is needed.
 * Method: X is streamed in blocks, never held whole, and tiles of rows are dealt to the threads.
 * Where partitionings share enough centres, one pass finds all cells from lists of nearest distinct
 * centres (row_lists.c). Otherwise partitionings are taken in batches whose centres fit a fixed
 * budget, one pass over X a batch (codes_direct.c). Both give the same bits. Advantage: memory
 * independent of n beside the codes. Disadvantage: without lists, large psi * d means several
 * passes over X.
 * Sparse rows stay sparse, and so do their centres (codes_sparse.c): the same cells as of the same
 * rows held dense in float32, by an inverted index of the centres.
 */
#ifndef IKT_ISOLATION_CODES_H
#define IKT_ISOLATION_CODES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "data/dataset.h"
#include "dist/rows.h"
#include "isolation/model.h"

/* How far approximate cells are exact. */
typedef struct {
    int64_t sample;   /* rows, over all ranks, whose exact cells were found as well; 0: none */
    double differing; /* share of their entries that differ from those */
} ikt_code_check;

typedef struct {
    int64_t n_local;
    int64_t t;      /* entries of a row */
    int64_t stride; /* bytes from row to row, a multiple of 64; the bytes after the entries are 0 */
    int width;      /* bytes of an entry: ikt_code_width(psi) */
    void *code;     /* [n_local*stride bytes], aligned to 64 */
    ikt_code_check check; /* of cells that were found by approximate search */
} ikt_codes;

/* LOCAL, pure. Bytes of an entry that is below psi: 1, 2 or 4. */
static inline int ikt_code_width(int64_t psi) {
    return psi <= 256 ? 1 : psi <= 65536 ? 2 : 4;
}

/* LOCAL, pure. The cell of own row `row` in partitioning p. */
static inline int64_t ikt_code_entry(const ikt_codes *codes, int64_t row, int64_t p) {
    const void *at = (const char *)codes->code + row * codes->stride + p * codes->width;
    return codes->width == 1   ? *(const uint8_t *)at
           : codes->width == 2 ? *(const uint16_t *)at
                               : (int64_t) * (const uint32_t *)at;
}

/* LOCAL. Sets it. */
static inline void ikt_code_set(const ikt_codes *codes, int64_t row, int64_t p, uint32_t cell) {
    void *at = (char *)codes->code + row * codes->stride + p * codes->width;
    if (codes->width == 1)
        *(uint8_t *)at = (uint8_t)cell;
    else if (codes->width == 2)
        *(uint16_t *)at = (uint16_t)cell;
    else
        *(uint32_t *)at = cell;
}

/* LOCAL. Frees the codes and empties the struct; accepts an empty one. */
void ikt_codes_destroy(ikt_codes *codes);

/* LOCAL, pure. Bytes of the codes of n_local rows. */
int64_t ikt_codes_memory(int64_t n_local, int64_t psi, int64_t t);

/* Where rows lie among the centres, for who brings near rows together; found on the way to the
 * codes. */
typedef struct {
    uint16_t *coarse; /* [n_local], receives the nearest coarse centre of each row; NULL where the
                         model has none, and in the forest form, whose coarse cells are found
                         without codes (cells/cells.h) */
    /* Where the distinct centres of the model have places along coarse cells (near_centres.h): */
    int64_t near;    /* entries of a row, 0 for none: set by who wants them */
    uint32_t *list;  /* [n_local * near], receives the places of the centres nearest to each row,
                        nearest first; UINT32_MAX where there are no more */
    int64_t centres; /* the rest is filled in: places, */
    int64_t cells;   /* coarse cells, */
    int64_t *first;  /* [cells + 1] first place of each; owned by the caller */
} ikt_code_places;

/* LOCAL. Frees all arrays; accepts empty ones. */
void ikt_code_places_destroy(ikt_code_places *places);

/* Most that a pass may take: bytes of centres (as gathered and packed together); and of a block of
 * rows, between which a run can be stopped, bytes, and multiply-adds of a thread. 0: as usual. */
typedef struct {
    int64_t batch_bytes, block_bytes, block_products;
} ikt_codes_budget;

/* Checkpoint hooks: they load and save codes that are not complete, so that a run which is stopped
 * can go on. done[i] tells how many entries of own row i are there, in the order in which they are
 * computed: partitioning after partitioning, the coarse one last, so that t + 1 are all. Both are
 * COLLECTIVE. */
typedef struct {
    void *self;
    const char *where; /* for messages */
    /* Fills codes, coarse and list of places (where they are not NULL) and done with what was
     * saved, if anything was. */
    ikt_status (*load)(void *self, ikt_codes *codes, const ikt_code_places *places, int32_t *done);
    ikt_status (*save)(void *self, const ikt_codes *codes, const ikt_code_places *places,
                       const int32_t *done);
} ikt_codes_hooks;

/* Shape of the rows to be coded. */
typedef struct {
    int64_t d;
    bool is_u8;
    bool is_sparse;
    bool is_manhattan;
    bool is_pairs;   /* they are those of a matrix of all distances, of d rows */
    double entries;  /* sparse: of a row or centre, on average */
    int64_t longest; /* sparse: of a row, at most */
} ikt_codes_rows;

/* LOCAL. The shape of the rows of a data set; `entries` of those that centres are drawn from. */
ikt_codes_rows ikt_codes_rows_of(ikt_dataset *data);

/* COLLECTIVE. Codes of the rows of this rank. Bit-identical on any number of ranks and threads and
 * on every instruction set; the cell is defined in codes_kernel.h.
 *   data           rows to code; the centres are rows of ikt_dataset_model(data), which has
 *                  model->spec.n rows. Finite values.
 *   distribution   of the rows of `data`.
 *   model          the same on all ranks.
 *   out            receives the codes, owned by the caller (ikt_codes_destroy); empty on failure.
 *   coarse         [distribution->count], as in ikt_code_places; or NULL
 * Errors: IKT_ERR_RESOURCE, those of reading; IKT_ERR_USAGE for the forest form of sparse rows.
 * Cost: n_local d multiply-adds over the threads times the distinct centres, or t psi; in the
 * forest form n_local t steps down trees of some 2 ln(psi) levels. Memory: ikt_codes_memory_peak.
 */
ikt_status ikt_codes_compute(ikt_context *ctx, ikt_dataset *data, const ikt_rows *distribution,
                             const ikt_model *model, ikt_codes *out, uint16_t *coarse);

/* COLLECTIVE. The same with a budget of one's own, equal on all ranks, on which the result does not
 * depend, from where a run before this one has stopped, and with places.
 *   places   what is wanted of them; or NULL. `near` may be above 0 only where ikt_codes_distinct
 *            is and rows are dense
 *   budget   a member of 0 stands for what the other takes: 256 MiB of centres, 64 MiB of rows
 *   hooks    load the codes, and save them from time to time (base/watch.h) and when they are
 *            complete, for 4 bytes a row more; or NULL
 * Errors: IKT_STOPPED as well, with the codes saved. */
ikt_status ikt_codes_compute_within(ikt_context *ctx, ikt_codes_budget budget,
                                    const ikt_codes_hooks *hooks, ikt_dataset *data,
                                    const ikt_rows *distribution, const ikt_model *model,
                                    ikt_codes *out, ikt_code_places *places);

/* LOCAL, pure. Distinct centres that each row is compared with, at most, where codes of d columns
 * come from lists of them; 0 where every partitioning is looked at by itself. */
int64_t ikt_codes_distinct(const ikt_model_spec *spec, const ikt_codes_rows *rows);

/* LOCAL. Most bytes that ikt_codes_compute and the model take on a rank with n_local such rows and
 * `threads` threads, the codes included. Only the shape of the spec is looked at. */
int64_t ikt_codes_memory_peak(const ikt_codes_rows *rows, int64_t n_local,
                              const ikt_model_spec *spec, int threads);

#endif
