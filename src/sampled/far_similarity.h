/* How far apart two rows are in the input, as TriMap compares pairs: D = -log similarity.
 *
 * Of distances, D_ij = d_ij^2 / (s_i s_j), s_i being the mean distance of row i to some of its
 * nearest rows (Zelnik-Manor & Perona 2004; TriMap, section 4): rows in dense and in thin regions
 * get neighbours of the same similarity. Of the Isolation kernel K, whose cells are small where
 * rows are dense as they are, D_ij = -log((1 + t K_ij) / (1 + t)), t K_ij being the number of
 * partitionings in which both share a cell: no scale and no limit, and D is at most log(1 + t).
 * Any own row is compared with any row whose payload is here: its codes, or its numbers and scale;
 * where D of a pair is known from a matrix or from a graph (features.h), its number.
 */
#ifndef IKT_SAMPLED_FAR_SIMILARITY_H
#define IKT_SAMPLED_FAR_SIMILARITY_H

#include <stddef.h>
#include <stdint.h>

#include "isolation/codes.h"
#include "neighbours/neighbours.h"
#include "neighbours/scorer.h"
#include "sampled/features.h"
#include "sampled/triplet.h"

typedef struct ikt_similarity ikt_similarity;

/* Where the own rows of a tile are, and the far rows that they are compared with. */
typedef struct {
    int64_t tile, begin, end, lane; /* own rows begin .. end - 1, in the lanes from `lane` on */
    const char *payload;            /* of rows, `stride` bytes apart, */
    size_t stride;
    const int32_t *place; /* [f] which of them are the far ones */
    int64_t f;
    char *scratch; /* [f * row_bytes] */
} ikt_tile_pairs;

/* By what rows are compared: one table of functions for each (far_similarity.c). All are LOCAL, and
 * called from several threads. */
typedef struct {
    /* The payload of an own row (local number): [bytes]. */
    void (*put)(const ikt_similarity *s, int64_t row, void *to);
    /* For ikt_similarity_tile. */
    void (*tile)(const ikt_similarity *s, const ikt_tile_pairs *t, float *d);
    /* D of one row and others, given by their payloads: d[count], the bits of the above.
     *   scratch   [scorer.scratch_bytes] */
    void (*some)(const ikt_similarity *s, const char *row, const char *const *other, int64_t count,
                 void *scratch, float *d);
    /* D of an own row and one of its list; NULL: all that a row is joined to is known.
     *   scale   of the latter */
    float (*listed)(const ikt_similarity *s, int64_t row, uint32_t far, float score, float scale);
} ikt_pair_kind;

struct ikt_similarity {
    ikt_rows rows;
    const ikt_pair_kind *kind;
    ikt_scorer scorer;            /* of codes or rows */
    const ikt_codes *codes;       /* borrowed; or NULL */
    const ikt_features *features; /* borrowed; or NULL */
    ikt_joined joined;            /* of a graph, owned */
    float *scale;     /* [rows.count] s_i; NULL where rows are not compared themselves */
    float *of_score;  /* codes: [t + 1] D of a number of differing entries */
    size_t row_bytes; /* codes or numbers of a row, or its number, */
    size_t bytes;     /* and a payload: with s_i behind them */
};

/* COLLECTIVE. By codes, which are borrowed. Errors: IKT_ERR_RESOURCE. Destroy it in any case. */
ikt_status ikt_similarity_of_codes(ikt_context *ctx, const ikt_rows *rows, const ikt_codes *codes,
                                   ikt_similarity *out);

/* COLLECTIVE. By the rows themselves, or by the numbers of all pairs, of which distances become D;
 * both are borrowed.
 *   lists      of the own rows, with scores, nearest first
 *   from, to   the nearest rows whose mean distance is s_i, counted from 1 among those that are not
 *              at distance 0; where the list has fewer, the last of them. No s_i is below a
 *              thousandth of their mean.
 * Errors: IKT_ERR_DATA where all rows are equal; IKT_ERR_RESOURCE. Destroy it in any case. */
ikt_status ikt_similarity_of_rows(ikt_context *ctx, const ikt_rows *rows,
                                  const ikt_neighbours *lists, const ikt_features *features,
                                  int64_t from, int64_t to, ikt_similarity *out);
ikt_status ikt_similarity_of_matrix(ikt_context *ctx, const ikt_rows *rows,
                                    const ikt_neighbours *lists, ikt_features *features,
                                    int64_t from, int64_t to, ikt_similarity *out);

/* COLLECTIVE. By the pairs that a graph joins.
 *   joined   with distances or similarities; taken over, also on a failure
 * Errors: those of ikt_joined_resolve. Destroy it in any case. */
ikt_status ikt_similarity_of_graph(ikt_context *ctx, const ikt_rows *rows, ikt_joined *joined,
                                   int64_t from, int64_t to, ikt_similarity *out);
void ikt_similarity_destroy(ikt_similarity *similarity);

/* COLLECTIVE. The m rows with the least D of each list, by ascending (D, row).
 *   lists   not looked at where the rows are those of a graph: all that a row is joined to. Those
 *           with fewer of them are counted in the log; in the places that they leave, their nearest
 *           row has the D of rows that are not joined, which gives a triplet no weight
 *   out     lists with D in place of scores
 * Errors: IKT_ERR_DATA where no row has any similarity to another; IKT_ERR_RESOURCE. */
ikt_status ikt_similarity_nearest(ikt_context *ctx, const ikt_similarity *similarity,
                                  const ikt_neighbours *lists, int64_t m, ikt_neighbours *out);

/* LOCAL, from several threads. D of all own rows of a tile and some other rows.
 *   tile      global number
 *   payload   payloads of rows, `stride` bytes apart
 *   place     [f] which of them
 *   scratch   [f * row_bytes] aligned to 64
 *   d         [f * 16] receives them by lanes; lanes without own rows hold 0 */
void ikt_similarity_tile(const ikt_similarity *similarity, int64_t tile, const char *payload,
                         size_t stride, const int32_t *place, int64_t f, void *scratch, float *d);

/* LOCAL, from several threads. Asks for the payloads that the above will read, or for the codes of
 * the own rows of a tile, so that they are there by then. */
void ikt_similarity_ask(const ikt_similarity *similarity, const char *payload, size_t stride,
                        const int32_t *place, int64_t f);
void ikt_similarity_ask_own(const ikt_similarity *similarity, int64_t tile);

/* SAME-ARGS. Refuses rows of which no triplet has a weight.
 *   most   the greatest L of all triplets that were looked at
 * Errors: IKT_ERR_DATA. */
ikt_status ikt_similarity_check(ikt_context *ctx, double most);

#endif
