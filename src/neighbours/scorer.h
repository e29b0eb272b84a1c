/* How similar rows are: blocks of rows against blocks of rows.
 *
 * A scorer compares rows by their cell codes or by a metric (metric/metric.h); smaller scores are
 * more similar. It takes rows in two forms. *Plain* rows lie side by side and are the left-hand
 * side of a score. *Packed* rows are a block in the form of the right-hand side. Every score that
 * is kept is computed here (exact.h, nearest.h), so a pair of rows has the same bits wherever it is
 * met, and a new kernel is one struct.
 */
#ifndef IKT_NEIGHBOURS_SCORER_H
#define IKT_NEIGHBOURS_SCORER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"
#include "base/status.h"
#include "data/dataset.h"
#include "dist/rows.h"
#include "isolation/codes.h"
#include "metric/metric.h"

typedef struct ikt_scorer ikt_scorer;

struct ikt_scorer {
    ikt_rows rows;     /* distribution of the rows */
    const void *plain; /* [rows.count * row_bytes] own rows, borrowed; NULL in tiles (tiles.h) */
    void *owned;       /* memory behind `plain` that belongs to the scorer, or NULL */
    const ikt_metric *metric; /* of rows; NULL for codes */
    ikt_isa isa;              /* what to compute with */
    int64_t d;                /* columns, or entries of a code */
    int64_t row_bytes;        /* of a plain row */
    int width;                /* codes: bytes of an entry */
    double score_most;        /* the greatest score there is, or 0 where there is none */
    bool keeps_packed;     /* tiles hold the rows packed, too: packing costs as much as scoring */
    int64_t scratch_bytes; /* scratch memory that `score_one` needs */
    /* LOCAL. Bytes of a packed block of `count` rows. */
    int64_t (*packed_bytes)(const ikt_scorer *scorer, int64_t count);
    /* LOCAL, called from several threads. Rows that are held narrower than they are compared: plain
     * rows as the left-hand side of `score`, of floats. NULL where that takes plain rows. */
    void (*widen)(const ikt_scorer *scorer, const void *plain, int64_t count, float *wide);
    /* LOCAL. Packs plain rows; NULL where packed rows are the plain ones. */
    void (*pack)(const ikt_scorer *scorer, const void *plain, int64_t count, void *packed);
    /* LOCAL, called from several threads. score[a * ikt_score_stride(nb) + b] = score of plain row
     * a (as `widen` has it) against packed row b; entries from nb on may hold anything. */
    void (*score)(const ikt_scorer *scorer, const void *plain, int64_t na, const void *packed,
                  int64_t nb, float *score);
    /* LOCAL, called from several threads. score[c] = score of a plain row against other plain rows,
     * given where each begins: the same bits as those of `score`. */
    void (*score_one)(const ikt_scorer *scorer, const char *row, const char *const *other,
                      int64_t count, void *scratch, float *score);
    /* LOCAL, called from several threads. Scores of plain rows, given where each begins, for each
     * other: that of row b for row a, where one of both is among the first `fresh`, at
     * score[a * ikt_score_stride(count) + b]; other places may hold anything. The same bits as
     * those of `score`. NULL where there is no quicker way than one row after the other. `scratch`
     * has pairs_bytes(count, d) bytes. */
    void (*score_pairs)(const ikt_scorer *scorer, const char *const *row, int64_t fresh,
                        int64_t count, void *scratch, float *score);
    int64_t (*pairs_bytes)(int64_t count, int64_t d);
};

/* LOCAL. Distance between rows of a tile of scores against nb rows: nb rounded up to 16. */
static inline int64_t ikt_score_stride(int64_t nb) {
    return (nb + 15) / 16 * 16;
}

/* LOCAL. Scores are numbers of partitionings in which two codes differ: t (1 - K). `codes` are
 * borrowed; there is nothing to free. */
ikt_scorer ikt_scorer_codes(const ikt_codes *codes, const ikt_rows *rows);

/* LOCAL. Scores are distances of rows in memory, which are borrowed as long as the scorer lives:
 * x [rows->count * d], or NULL for a scorer of tiles. There is nothing to free. */
ikt_scorer ikt_scorer_rows(const ikt_metric *metric, const float *x, int64_t d,
                           const ikt_rows *rows);

/* LOCAL. The same distances, of rows in half precision (metric/halves.h): 2 d bytes a row. There is
 * nothing to free.
 *   half   [rows->count * d], borrowed; NULL for a scorer of tiles */
ikt_scorer ikt_scorer_halves(const ikt_metric *metric, const uint16_t *half, int64_t d,
                             const ikt_rows *rows);

/* LOCAL. Scores order the rows of a list about as squared distances do: |b|^2 / 2 - a.b of rows as
 * bytes (metric/near_bytes.h). They choose which rows are looked at by the distance itself
 * (byte_lists.h). There is nothing to free.
 *   plain   [rows->count * words] such rows, borrowed; NULL for a scorer of tiles */
ikt_scorer ikt_scorer_bytes(const int32_t *plain, int64_t d, const ikt_rows *rows);

/* COLLECTIVE. Distances of the preprocessed rows of `data`, by its metric. Reads the own rows into
 * memory: 4 d bytes each. Free with ikt_scorer_destroy. Errors: IKT_ERR_RESOURCE, those of reading.
 */
ikt_status ikt_scorer_data(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                           ikt_scorer *out);

/* LOCAL. Packs plain rows, by all threads; for scorers that have `pack`.
 *   packed   [scorer->packed_bytes(scorer, count)] bytes */
void ikt_scorer_pack(ikt_context *ctx, const ikt_scorer *scorer, const void *plain, int64_t count,
                     void *packed);

/* LOCAL. Frees what the scorer owns; accepts an empty one. */
void ikt_scorer_destroy(ikt_scorer *scorer);

/* COLLECTIVE. Reads the own rows of `data` into x [rows->count * d], some at a time. Errors: those
 * of reading, IKT_STOPPED (ikt_watch_pause). */
ikt_status ikt_scorer_read(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows, float *x);

/* COLLECTIVE. The same, as halves, which hold all of their numbers. Errors: those, and
 * IKT_ERR_RESOURCE. */
ikt_status ikt_scorer_read_halves(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                                  uint16_t *half);

#endif
