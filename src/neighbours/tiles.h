/* The rows of this rank in blocks, in the form in which they are scored and travel.
 *
 * A cell is cut into stretches of IKT_SHELF_ROWS positions; what one rank owns of a stretch is a
 * block. Which positions make a block is known to every rank without asking. A kernel that can
 * score blocks against blocks is one struct of this kind.
 */
#ifndef IKT_NEIGHBOURS_TILES_H
#define IKT_NEIGHBOURS_TILES_H

#include "base/cpu.h"
#include "data/dataset.h"
#include "dist/order.h"
#include "isolation/codes.h"
#include "neighbours/cells.h"

enum { IKT_SHELF_ROWS = 256 };

typedef struct ikt_tiles ikt_tiles;

struct ikt_tiles {
    ikt_rows rows;         /* of positions */
    int64_t blocks;        /* of this rank */
    int64_t *first;        /* [blocks + 1] first position of each, and the end */
    int64_t *offset;       /* [blocks] bytes into data */
    const char *data;      /* the packed blocks */
    void *owned;           /* memory behind `data` that belongs to the tiles, or NULL */
    char *space;           /* for flatten and pack: a block, or NULL */
    ikt_isa isa;           /* what to compute with */
    int64_t d;             /* columns, or entries of a code */
    int64_t stride;        /* bytes of a row of codes; unused for coordinates */
    int width;             /* bytes of an entry of a code */
    int64_t row_bytes;     /* of a row in a block, about: what to size buffers by */
    int64_t left_bytes;    /* of a row as `prepare` leaves it */
    double score_most;     /* the greatest score there is, or 0 where there is none */
    int64_t scratch_bytes; /* that `prepare` may need for a block */
    int64_t some_bytes;    /* that `score_some` may need */
    /* LOCAL. Bytes of a block of `count` rows. */
    int64_t (*bytes)(const void *tiles, int64_t count);
    /* LOCAL. The left-hand side of `score` from a block; may live in `scratch`. */
    const void *(*prepare)(const void *tiles, const char *block, int64_t count, void *scratch);
    /* LOCAL, from several threads. score[a * ikt_score_stride(nb) + b]: smaller is more similar;
     * entries from nb on may hold anything. */
    void (*score)(const void *tiles, const void *left, int64_t na, const char *block, int64_t nb,
                  float *score);
    /* LOCAL. Lays the own rows one behind the other, left_bytes apart, as `prepare` leaves them;
     * and back into blocks. In between only `score_some` may be used. */
    void (*flatten)(ikt_tiles *tiles);
    void (*pack)(ikt_tiles *tiles);
    /* LOCAL, from several threads. score[c] of a row against other rows, all as `flatten` lays
     * them; the same bits as `score`. */
    void (*score_some)(const ikt_tiles *tiles, const char *row, const char *const *other,
                       int64_t count, void *scratch, float *score);
};

/* LOCAL. Where the stretch of the position begins; it does not depend on the ranks. */
int64_t ikt_stretch_begin(const ikt_cells *cells, int64_t position);

/* LOCAL. The block that begins at or contains the position: its first position; its end in *end. */
int64_t ikt_block_at(const ikt_cells *cells, const ikt_rows *rows, int64_t position, int64_t *end);

/* LOCAL. Codes as blocks: scores are numbers of differing cells, t (1 - K).
 *   codes   of the rows at the own positions; lent as long as the tiles lives. */
ikt_status ikt_tiles_codes(ikt_context *ctx, const ikt_cells *cells, const ikt_rows *rows,
                           const ikt_codes *codes, ikt_tiles *out);

/* COLLECTIVE. Coordinates as blocks: scores are squared Euclidean distances of preprocessed rows.
 * Reads the own rows of `data` and brings them to their positions. 4 d bytes a row, twice that
 * while they are packed. Errors: IKT_ERR_RESOURCE, those of reading. */
ikt_status ikt_tiles_euclidean(ikt_context *ctx, const ikt_cells *cells, const ikt_order *order,
                               ikt_dataset *data, ikt_tiles *out);

void ikt_tiles_destroy(ikt_tiles *tiles);

#endif
