/* The whole Isolation kernel: every pair of rows that shares a cell, held as the cells themselves.
 *
 * With K(i, j) the share of the t partitionings in which i and j share a cell (Zhu & Ting 2021,
 * equation 2), and S_i = sum over p of (|cell_p(i)| - 1) = t sum_j K(i, j), the dense P is
 *     P_ij = (number of shared cells) (1 / S_i + 1 / S_j) / (2 n),
 * so that a sum over P is a sum over partitionings of sums within cells: codes and S are all that
 * it needs. Rows with S_i = 0 are alone in every cell; their affinities are a small sparse P beside
 * this one (ikt_zero_similarity).
 * Method: codes are turned in place from rows to tiles, in which the cells of one partitioning lie
 * together. Of each cell with rows on several ranks the rank that has most of them will compute it,
 * the lowest of those that have as many.
 * Advantage: no search, no lists, no P: memory is that of the codes, whatever the sizes of cells.
 * Disadvantage: a sum over P costs the squares of the sizes of cells, unless it is sampled
 * (objective/whole_attraction.h).
 */
#ifndef IKT_AFFINITY_WHOLE_H
#define IKT_AFFINITY_WHOLE_H

#include <stdint.h>

#include "base/status.h"
#include "config/key.h"
#include "dist/rows.h"
#include "isolation/codes.h"

/* --- settings (whole_settings.c) -------------------------------------------------------------- */

/* How an iteration samples the kernel: section `whole`. */
typedef struct {
    int64_t partitionings;      /* in an iteration, or IKT_AUTO_INT; so below */
    int64_t block;              /* most rows of a cell whose pairs are looked at together */
    int64_t last_iterations;    /* that take more partitionings */
    int64_t last_partitionings; /* so many */
    double step;                /* factor on the step length after the exaggeration, or auto */
} ikt_whole_settings;

extern const ikt_section ikt_whole_section;

/* SAME-ARGS. Replaces every "auto" but the step, for n rows, t partitionings and so many iterations
 * in all.
 * Errors: IKT_ERR_USAGE where there are fewer partitionings than an iteration is to take. */
ikt_status ikt_whole_resolve(ikt_context *ctx, ikt_whole_settings *settings, int64_t n, int64_t t,
                             int64_t iterations);

/* LOCAL, pure. The variance of an iteration's draws, as a share of that of 8 of many partitionings
 * none of whose cells is cut into blocks; 0 where nothing is left to be drawn.
 *   settings   resolved but for the step
 *   others     mean number of other rows in a row's cell
 * Source: m of t partitionings without replacement have a variance in proportion to 1/m - 1/t; of
 * the pairs of a cell of g rows (b - 1)/(g - 1) are looked at, which multiplies the first term. */
double ikt_whole_noise(const ikt_whole_settings *settings, int64_t t, double others);

/* Noise up to which the optimiser goes as if there were none. */
#define IKT_WHOLE_LITTLE_NOISE 0.05

/* LOCAL, pure. The step that "auto" stands for where n rows have psi cells: psi sqrt(n) / 8000, but
 * from 1 to 12, and 1 where there is little noise. Noise keeps the optimiser's gains, which would
 * lengthen steps, near 1, also where it is a tenth of that of 8 partitionings; of long steps, too,
 * noise sets the limit, which is the higher the more cells there are. Measured on 4,000 to 30,000
 * digits (docs/whole-kernel.md). */
double ikt_whole_step_auto(int64_t psi, int64_t n, double noise);

/* --- pairs of rows, drawn as P has them ------------------------------------------------ */

/* A sample of the pairs of this P, each drawn with the probability P_ij / sum of P: the mean of f
 * over them is an unbiased estimate of (sum of P f) / (sum of P), whose standard error is the
 * deviation of f over the root of their number. The same on every rank. */
typedef struct {
    int64_t count; /* at most IKT_WHOLE_PAIRS */
    int64_t *row;  /* [2 * count] global rows: both of a pair */
    double *log_p; /* [count] log P_ij */
} ikt_whole_pairs;

enum { IKT_WHOLE_PAIRS = 1 << 15 };

/* --- the value (whole.c) ---------------------------------------------------------------------- */

enum { IKT_WHOLE_TILE = 1024 /* rows */ };

typedef struct {
    ikt_rows rows;
    int64_t t, psi;   /* partitionings; cells of each, some of which may be empty */
    int width;        /* bytes of a cell's number */
    int64_t stride;   /* bytes of a row */
    char *code;       /* tiles of rows: of each partitioning the cells of the tile's rows */
    int64_t *total;   /* [rows.count] S_i */
    int64_t zero;     /* rows over all ranks with S_i = 0 */
    int64_t largest;  /* rows of the largest cell */
    double others;    /* mean number of other rows in a row's cell */
    int64_t *first;   /* [t + 1] into `owner`; NULL on one rank, as the following */
    int32_t *owner;   /* rank that computes a cell, for those that have own rows, ascending */
    int64_t *leaving; /* [ranks * t] own rows whose cells in a partitioning another rank computes */
    int64_t *coming;  /* [ranks * t] rows of other ranks whose cells this one computes */
    ikt_whole_pairs sample;
} ikt_whole;

/* COLLECTIVE. Takes over the codes of the own rows, which become tiles in place.
 *   rows    of the codes, in the order of the loop
 *   psi     cells of a partitioning
 *   seed    of the draws of pairs
 *   codes   empty afterwards, also on failure
 *   out     free with ikt_whole_destroy; empty on failure
 * Errors: IKT_ERR_RESOURCE. Cost: some passes over the codes, and reductions of psi numbers for
 * each partitioning. Memory: ikt_whole_memory. */
ikt_status ikt_whole_create(ikt_context *ctx, const ikt_rows *rows, int64_t psi, uint64_t seed,
                            ikt_codes *codes, ikt_whole *out);
void ikt_whole_destroy(ikt_whole *whole);

/* LOCAL, pure. Bytes beside the codes; and the most while it is made. */
int64_t ikt_whole_memory(int64_t n_local, int64_t psi, int64_t t, int ranks);
int64_t ikt_whole_memory_peak(int64_t n_local, int64_t psi, int64_t t, int ranks, int threads);

/* LOCAL. The cells of own rows in partitioning p.
 *   first, count   local numbers of rows, all of one tile
 *   cell           [count], receives them */
void ikt_whole_cells(const ikt_whole *whole, int64_t p, int64_t first, int64_t count,
                     uint32_t *cell);

/* LOCAL. The rank that computes each cell of partitioning p that has own rows.
 *   count   [psi] own rows of each cell
 *   owner   [psi], receives the rank for those that have some; others are left as they are */
void ikt_whole_owners(const ikt_whole *whole, int64_t p, const uint32_t *count, int32_t *owner);

#endif
