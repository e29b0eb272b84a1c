/* Nearest centre of many rows: the computation that this project exists for.
 *
 * A *packed* partitioning holds its psi centres sixteen to a vector, one centre per SIMD lane:
 * word[vector][w][lane], where a word of four bytes is one float32, two 16-bit or four 8-bit
 * coordinates. A *tile* holds a few hundred rows interleaved by register blocks,
 * word[group][w][row], sized to stay in the second-level cache while all partitionings pass by.
 * Distances live in registers only: each lane keeps the best value it has seen and the vector it
 * came from, and the sixteen lanes of a row are compared once at the end.
 *
 * Definition of the cell of x (the same bits on every instruction set, number of threads and
 * ranks), where ties go to the lowest j:
 * - uint8: argmin_j |x - c_j|^2 in exact integers.
 * - float32: argmin_j D_j, with D_j the value in float32 of the loop, over the dimensions in order,
 *   D = fma(x_k - c_jk, x_k - c_jk, D) from D = 0.
 *
 * The float32 kernels mostly compute |c|^2/2 - x.c, half the work, and fall back to the definition
 * where the rounding of that could matter (codes_f32.kernel.c).
 *
 * By Manhattan distances it is
 * - uint8: argmin_j sum_k |x_k - c_jk| in exact integers;
 * - float32: argmin_j D_j, with D = D + |x_k - c_jk| over the dimensions in order.
 * Those kernels compute the definition itself: there is no form of it with half the work.
 */
#ifndef IKT_ISOLATION_CODES_KERNEL_H
#define IKT_ISOLATION_CODES_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arrays.h"
#include "base/cpu.h"
#include "base/status.h"
#include "metric/near_bytes.h"

enum {
    IKT_LANES = 16,
    IKT_SEEN_WORDS = 48,     /* words of what the lanes of a row have seen, at most */
    IKT_ROW_TILE_MOST = 480, /* rows of a tile, at most */
    /* Largest number of columns for which the uint8 score |c|^2 - 2 x.(c - 128) fits an int32:
     * |score| <= d * (255^2 + 2 * 255 * 128) < 2^31 for d <= 16480. Wider rows are summed in pieces
     * of this many columns, whose sums go to 64 bits. */
    IKT_U8_COLUMNS = 16384
};

/* The centres of one partitioning in the layout of a kernel. The arrays are borrowed from whoever
 * owns the slab (ikt_centres_place). */
typedef struct {
    int64_t psi, d;
    int64_t vectors; /* ceil(psi / 16); lanes beyond psi hold centres at infinity */
    int64_t words;   /* 4-byte words of a centre */
    void *word;      /* [vectors][words][16] */
    void *start;     /* [vectors*16] float32: |c|^2/2 less its error bound; uint8: int32 |c|^2 */
    float *bias;     /* [vectors*16] 0, and infinity beyond psi (float32 only) */
    double *norm;    /* [vectors*16] |c|^2; exact for uint8 */
    double largest_norm; /* of the psi centres */
} ikt_centres;

/* Rows interleaved by groups, and what their lanes have seen so far. */
typedef struct {
    int64_t count;  /* rows */
    int64_t groups; /* ceil(count / rows of the kernel); the last row fills up the last group */
    void *word;     /* [groups][words][rows of the kernel] */
    void *seen;     /* [groups*rows][3 or 2][16] least value of each lane, second least (float32
                       only), and the vector of the least, the lowest on ties */
    float *partial; /* [groups*rows][BLOCK_VECTORS][16] sums between two blocks of dimensions */
    double *norm;   /* [groups*rows] |x|^2 (float32 only) */
} ikt_row_block;

typedef struct {
    int64_t d, words;
    int64_t capacity;    /* rows that fit */
    ikt_row_block all;   /* the staged rows */
    ikt_row_block doubt; /* float32: rows of `all` to be decided by the definition */
    int32_t *doubtful;   /* [capacity] their numbers in `all` */
    uint32_t *cell;      /* [capacity] scratch for the cells of the doubtful rows */
    int direct_left;     /* float32: partitionings to go straight to the definition (see
                            codes_f32.kernel.c) */
} ikt_row_tile;

/* One instruction set's kernel for one type of data. */
typedef struct {
    const char *name;
    bool is_u8;
    bool is_manhattan;
    int rows;     /* rows of a register block */
    int per_word; /* coordinates in a 4-byte word: 1, 2 or 4 */
    int multiple; /* words of a row are a multiple of this */
    /* LOCAL. cell[count of the tile] = number of the nearest centre of each staged row. */
    void (*assign)(ikt_row_tile *tile, const ikt_centres *centres, uint32_t *cell);
    /* LOCAL. Values of all staged rows and the centres of vectors first .. end - 1, that of row r
     * and centre 16 * first + j at out[r * stride + j]: uint8: int32 |c|^2 - 2 x.c and what depends
     * on x alone, exact, for at most IKT_U8_COLUMNS columns; float32: |c|^2/2 - x.c with the
     * rounding of kernel_f32_bound.h. By Manhattan distances: the distance by definition, which
     * nothing has to be certified of. Rows up to a multiple of `rows` are written. */
    void (*score)(const ikt_row_tile *tile, const ikt_centres *centres, int64_t first, int64_t end,
                  void *out, int64_t stride);
    /* LOCAL. The same for rows that are chosen from some that stand side by side as words
     * (ikt_row_words): the value of row[i] goes to out[i * stride + ...]; float32 values are summed
     * up in one piece. Values of rows up to a multiple of `rows` are written here, too.
     *   row   [count] */
    void (*score_chosen)(const void *word, const uint32_t *row, int64_t count,
                         const ikt_centres *centres, int64_t first, int64_t end, void *out,
                         int64_t stride);
} ikt_codes_kernel;

/* LOCAL. The kernel for `isa`. */
const ikt_codes_kernel *ikt_codes_kernel_choose(bool is_u8, bool is_manhattan, ikt_isa isa);

/* LOCAL, pure. Whether the values that `score` gives are in the order of the distance that defines
 * cells, ties included. */
static inline bool ikt_kernel_is_exact(const ikt_codes_kernel *kernel) {
    return kernel->is_u8 || kernel->is_manhattan;
}

/* LOCAL. Bytes of one packed partitioning; a multiple of 64. */
int64_t ikt_centres_bytes(const ikt_codes_kernel *kernel, int64_t psi, int64_t d);

/* LOCAL. Lays the arrays of *centres out in `memory` (ikt_centres_bytes, aligned to 64),
 * which must outlive it, and sets the shape. */
void ikt_centres_place(const ikt_codes_kernel *kernel, int64_t psi, int64_t d, void *memory,
                       ikt_centres *centres);

/* LOCAL. Packs the centres: centre j is the row number index[j] of `rows` (row-major, d columns,
 * uint8 or float32 as the kernel's type). All coordinates must be finite.
 *   norm   |c|^2 of each of the rows where that is known; or NULL */
void ikt_centres_fill(const ikt_codes_kernel *kernel, ikt_centres *centres, const void *rows,
                      const int64_t *index, const double *norm);

/* LOCAL. A tile for rows of d columns, whose arrays are claimed in `held`. */
void ikt_row_tile_create(ikt_arrays *held, const ikt_codes_kernel *kernel, int64_t d,
                         ikt_row_tile *tile);

/* LOCAL. Rows that a tile holds and the bytes it takes. */
int64_t ikt_row_tile_rows(const ikt_codes_kernel *kernel, int64_t d);
int64_t ikt_row_tile_bytes(const ikt_codes_kernel *kernel, int64_t d);

/* LOCAL. Copies rows[count*d] into the tile, 1 <= count <= capacity. */
void ikt_row_tile_stage(const ikt_codes_kernel *kernel, ikt_row_tile *tile, const void *rows,
                        int64_t count);

/* LOCAL, pure. Words of a row of d columns. */
int64_t ikt_row_words(const ikt_codes_kernel *kernel, int64_t d);

/* LOCAL. Writes rows[count*d] as words, a row after the other, for score_chosen.
 *   word   [count * ikt_row_words] */
void ikt_row_words_write(const ikt_codes_kernel *kernel, const void *rows, int64_t count, int64_t d,
                         void *word);

/* LOCAL. assign of the kernel, with psi = 1 answered without arithmetic. */
void ikt_row_tile_assign(const ikt_codes_kernel *kernel, ikt_row_tile *tile,
                         const ikt_centres *centres, uint32_t *cell);

IKT_KERNELS(const ikt_codes_kernel, ikt_codes_f32)
IKT_KERNELS(const ikt_codes_kernel, ikt_codes_f32_l1)
IKT_KERNELS(const ikt_codes_kernel, ikt_codes_u8)
IKT_KERNELS(const ikt_codes_kernel, ikt_codes_u8_l1)

#endif
