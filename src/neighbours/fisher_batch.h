/* What a search in the Fisher metric works on: batches of own rows, and blocks of rows that they
 * are compared with. Private to the files fisher_*.c. */
#ifndef IKT_NEIGHBOURS_FISHER_BATCH_H
#define IKT_NEIGHBOURS_FISHER_BATCH_H

#include "base/arrays.h"
#include "base/select.h"
#include "neighbours/fisher_search.h"

enum {
    FISHER_BLOCK_ROWS = 512, /* rows of a block that goes round the ring */
    FISHER_OWN_ROWS = 16,    /* own rows that are compared with a block together */
    FISHER_NEAR = 2          /* times k: rows that come first */
};

/* The ball that square roots of probabilities of a block lie in, and what else is known of the
 * block before it is looked at. */
typedef struct {
    float radius;
    float has_support;              /* of rows whose weights are left out: 0 or 1 */
    float centre[IKT_CLASSES_MOST]; /* as many as there are classes are used */
} ikt_fisher_ball;

/* Rows that a batch is compared with, wherever they lie, `most` of them at a time. */
typedef struct {
    int64_t count;
    uint32_t *number;                  /* [most] of the rows */
    const float **weight, **root, **x; /* [most] where the parts of each lie */
    int32_t *lane;                     /* [most] of rows of the support whose weights are left
                                          out; else -1 */
    int32_t *support;                  /* [most] which rows these are, and */
    int64_t supports;                  /* how many */
    float *packed_root, *packed_x;
    float *half;       /* [most * lanes] for middles of lines; NULL where none is a bound */
    uint8_t *has_half; /* [most] which are made, the others when they are needed; NULL: all are */
} ikt_fisher_block;

/* What a thread needs of its own. */
typedef struct {
    float *chord, *plain, *space; /* [FISHER_OWN_ROWS * rows of a block] tiles of squared chords, of
                                     plain distances, and of both together */
    float *low, *high;            /* [lanes] log-weights with entries left out */
    float *root_low, *root_high, *root_middle; /* [wide] */
    float *line;                               /* of ikt_segment_distance */
    float *pair;                               /* [IKT_PACK_ROWS * d] a packed row */
    float one[IKT_PACK_ROWS];
    int64_t lengths;
} ikt_fisher_scratch;

/* A batch of own rows. */
typedef struct {
    ikt_context *ctx;
    const ikt_fisher_rows *rows;
    const uint8_t *allowed;
    int64_t count;
    const int64_t *row;
    const float *weight, *root, *x;
    float *half;        /* [count * lanes] for middles of lines; NULL where none is a bound */
    float *chord_row;   /* [count * classes] roots side by side */
    ikt_pair *buffer;   /* [count * IKT_SELECT_CAPACITY * selected] */
    ikt_select *select; /* [count] */
    int64_t selected;
    ikt_pair *near, *last; /* [count] the last pair that comes first, and that is a candidate */
    bool has_near;         /* some come first */
    const int64_t *at;     /* [count] which list each has, of */
    float *best;           /* all lists */
    uint32_t *best_row;
    int64_t k;
    uint8_t *reach;        /* [count / FISHER_OWN_ROWS] groups that a block is near enough to */
    ikt_fisher_ball *ball; /* [own blocks] where rows are ordered, else NULL */
    ikt_fisher_block block;
    int threads;                 /* that work on it */
    ikt_fisher_scratch *scratch; /* [threads] */
    ikt_arrays *held;            /* what all of these are claimed in */
} ikt_fisher_batch;

/* Whether candidates are the nearest by plain distance. */
static inline bool ikt_fisher_by_plain(const ikt_fisher_batch *b) {
    return b->rows->candidates == IKT_CANDIDATES_EUCLIDEAN;
}

/* Whether plain distances are compared with chords, and added to them. */
static inline bool ikt_fisher_adds(const ikt_fisher_batch *b) {
    return b->rows->euclidean > 0;
}

/* The k best of own row a. */
static inline float *ikt_fisher_best(const ikt_fisher_batch *b, int64_t a) {
    return b->best + b->at[a] * b->k;
}

/* --- pairs (fisher_pairs.c) ------------------------------------------------------------------- */

/* LOCAL, pure. The limit on squared chords with plain distances that follows from the worst score
 * of a list: 4 h^2 + e x^2 <= d^2. */
float ikt_fisher_space_limit(const ikt_fisher_batch *b, float worst);

/* LOCAL, pure. The lane of an own row whose weight is left out of its pairs; -1. */
int64_t ikt_fisher_lane(const ikt_fisher_batch *b, int64_t a);

/* --- passes over a block ---------------------------------------------------------------------- */

/* What a pass does: it selects the rows that come first and the candidates, offers those that come
 * first, or offers the rest. */
typedef enum { IKT_FISHER_SELECT, IKT_FISHER_FIRST, IKT_FISHER_REST } ikt_fisher_pass;

/* LOCAL. Makes the tiles of distances of the own rows first .. first + na - 1, at most
 * FISHER_OWN_ROWS, to the rows of a block, as far as the pass needs them.
 *   has_chords   whether chords are needed */
void ikt_fisher_tiles(const ikt_fisher_batch *b, bool has_chords, int64_t first, int64_t na,
                      const ikt_fisher_block *other, ikt_fisher_scratch *s);

/* LOCAL. A pass of own row a over a block whose tiles are made.
 *   place   of the row in the tiles */
void ikt_fisher_visit(const ikt_fisher_batch *b, ikt_fisher_pass what, int64_t a, int64_t place,
                      const ikt_fisher_block *other, ikt_fisher_scratch *s);

/* LOCAL. Before the first block, and behind the last: up to which pair rows come first, and are
 * candidates, of own row a. */
void ikt_fisher_select_begin(const ikt_fisher_batch *b, int64_t a);
void ikt_fisher_select_end(const ikt_fisher_batch *b, int64_t a, int64_t near);

/* LOCAL, pure. The most that row a can use: the limit on what rows are compared with bounds by. */
float ikt_fisher_limit(const ikt_fisher_batch *b, int64_t a);

/* LOCAL. Roots and halves of the own rows of a batch. */
void ikt_fisher_own_begin(ikt_fisher_batch *b);

/* --- batches (fisher_batch.c) ----------------------------------------------------------------- */

/* LOCAL, pure. Own rows of a batch, which have products for middles of lines. */
int64_t ikt_fisher_batch_rows(int64_t lanes);

/* LOCAL, pure. All of `blocks` blocks, those near the block `from` first: the i-th of them, by
 * turns behind it and before it as long as there are both. */
int64_t ikt_fisher_outward(int64_t from, int64_t i, int64_t blocks);

/* LOCAL, pure. Own rows whose buffers of so many selected pairs are held together. */
int64_t ikt_fisher_select_rows(int64_t selected);

/* LOCAL. What batches of up to `most` rows need, and a block of up to `block_rows`; b has context,
 * rows, threads, what to claim in, and how many are selected.
 *   is_lazy   halves of the block are made when they are needed
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_fisher_batch_create(ikt_fisher_batch *b, int64_t most, int64_t block_rows,
                                   bool is_lazy);

/* LOCAL. A block whose rows are known, by number, weight, root and x: which are of the support, and
 * what distances are computed from.
 *   has_roots, has_x   which of these are there */
void ikt_fisher_block_begin(const ikt_fisher_batch *b, ikt_fisher_block *block, bool has_roots,
                            bool has_x);

/* LOCAL. Balls of the own blocks, where rows are ordered, and two blocks on their way round the
 * ring. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_fisher_ring_create(ikt_fisher_batch *b, float **here, float **next);

/* LOCAL. Bytes of a batch, but its lists. */
int64_t ikt_fisher_batch_memory(int64_t most, int64_t block_rows, int64_t selected, int64_t lanes,
                                int64_t wide, int64_t d, int threads);

#endif
