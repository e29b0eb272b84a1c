/* Counter-based random numbers, and random subsets: pure functions of (seed, purpose, row, draw).
 *
 * Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011). There is no state, so any rank or thread
 * can make any draw and every layout of the ranks gets the same ones.
 * Subsets without replacement: Floyd's algorithm (Bentley & Floyd, CACM 30(9), 1987). For j = n -
 * count .. n - 1 draw r uniformly from 0 .. j and take r, or j if r was taken before. Every subset
 * is equally likely and exactly `count` draws are made, for count = n as well. What is taken is
 * kept in an open-addressing table.
 */
#ifndef IKT_BASE_RNG_H
#define IKT_BASE_RNG_H

#include <stdint.h>

#include "base/arrays.h"

/* What a draw is for. Append only: changing a number changes every result. */
typedef enum {
    IKT_RNG_MODEL = 1,     /* centres of a partitioning; row = partitioning */
    IKT_RNG_JITTER = 2,    /* jitter of the initial positions */
    IKT_RNG_INITIAL = 3,   /* random initial positions */
    IKT_RNG_SAMPLE = 4,    /* rows sampled for a measure */
    IKT_RNG_GENERATE = 5,  /* data set generators; row = row of the data set */
    IKT_RNG_DEFORM = 6,    /* deformation of source images */
    IKT_RNG_SHAPE = 7,     /* parameters shared by a whole generated set (centres of clusters) */
    IKT_RNG_PLOT = 8,      /* colours and the like */
    IKT_RNG_TEST = 9,      /* tests and benchmarks */
    IKT_RNG_CELLS = 10,    /* centres of the coarse cells */
    IKT_RNG_POOL = 11,     /* rows that the centres are drawn from */
    IKT_RNG_LANDMARK = 12, /* rows that are embedded first */
    IKT_RNG_TREE = 13,     /* splits of random trees; row = partitioning */
    IKT_RNG_TRIPLET = 20,  /* random triplets of a measure */
    IKT_RNG_KMEANS = 21,   /* first centres of k-means; draw = restart and centre */
    IKT_RNG_COPIES = 22,   /* triplets over two copies of a data set */
    IKT_RNG_AXES = 23,     /* sparse rows whose principal axes make a start */
    IKT_RNG_WHOLE = 30,    /* order of the partitionings in an epoch; row = epoch */
    IKT_RNG_BLOCKS = 31,   /* order of a cell's rows; row = iteration */
    IKT_RNG_PAIRS = 32,    /* pairs of rows that estimate a divergence; row = pair */
    IKT_RNG_SAMPLED = 40,  /* rows of the pool of a sampled objective; row = epoch */
    IKT_RNG_FAR = 41,      /* which of them are far rows of a tile; row = tile, draw = epoch */
    IKT_RNG_VALUE = 42,    /* the pool that a sampled objective's value is taken from */
    IKT_RNG_TRIPLETS = 43, /* triplets of TriMap that are drawn once; row = row */
    IKT_RNG_PLACING = 50,  /* of new rows: far rows, row = 0; pairs of these, 1; references, 2 */
    IKT_RNG_SPECTRAL = 60, /* vectors that eigenvectors are sought from; row = row */
    IKT_RNG_BATCH = 61,    /* rows that a step moves; row = iteration */
    IKT_RNG_SUPPORT = 80,  /* support of a model of classes: those of least draw; row = row */
    IKT_RNG_PERMUTE = 81,  /* order of the labels of the permuted baseline; row = row */
    IKT_RNG_HELD_OUT = 82, /* held-out rows that figures are taken from; row = row */
    IKT_RNG_SCALE = 83,    /* rows whose distances tell a scale */
    IKT_RNG_KERNEL = 84,   /* rows that a kernel map is made of */
    IKT_RNG_SHUFFLED = 85, /* labels that are permuted for a ridge; row = permutation */
    IKT_RNG_CENTRES = 90   /* rows that k-means of all rows begins with; row = 0 */
} ikt_rng_purpose;

/* LOCAL, all of them, pure. `draw` counts the draws of one row, 0 <= draw < 2^48. */
uint64_t ikt_rng_u64(uint64_t seed, ikt_rng_purpose purpose, int64_t row, uint64_t draw);

/* Uniform in [0, 1), 53 bits. */
double ikt_rng_uniform(uint64_t seed, ikt_rng_purpose purpose, int64_t row, uint64_t draw);

/* Standard normal by Box-Muller; one draw number gives one value. */
double ikt_rng_normal(uint64_t seed, ikt_rng_purpose purpose, int64_t row, uint64_t draw);

/* Uniform in {0, ..., bound - 1} without bias beyond 2^-64 * bound; bound >= 1. */
int64_t ikt_rng_below(uint64_t seed, ikt_rng_purpose purpose, int64_t row, uint64_t draw,
                      int64_t bound);

/* LOCAL, pure. Number `index` of the sequence that begins at `key`, by the output function of
 * SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): for inner loops, with a key of ikt_rng_u64. */
static inline uint64_t ikt_rng_mix(uint64_t key, uint64_t index) {
    uint64_t x = key + (index + 1) * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* LOCAL, pure. Brings 64 random bits to 0 .. bound - 1, bound >= 1. */
static inline int64_t ikt_rng_scale(uint64_t bits, int64_t bound) {
    __extension__ typedef unsigned __int128 wide;
    return (int64_t)(uint64_t)((wide)bits * (uint64_t)bound >> 64);
}

/* LOCAL, pure. Slots that a table for `count` draws needs at least: a power of two. */
int64_t ikt_draw_slots(int64_t count);

/* LOCAL, from several threads with tables of their own. Draws `count` distinct numbers below n.
 *   seed, what, which   key the draws (rng.h)
 *   slot                [slots] work space; slots a power of two, at least ikt_draw_slots(count).
 *                       The result does not depend on it
 *   number              [count], receives them in ascending order */
void ikt_draw_subset(uint64_t seed, ikt_rng_purpose what, int64_t which, int64_t n, int64_t count,
                     int64_t *slot, int64_t slots, int64_t *number);

/* LOCAL. The same with work space of its own, into an array that was claimed of `held`: nothing
 * where that failed, and held->status says whether this did. */
void ikt_draw_claimed(ikt_arrays *held, uint64_t seed, ikt_rng_purpose what, int64_t which,
                      int64_t n, int64_t count, int64_t *number);

#endif
