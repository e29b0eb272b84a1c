/* Rows and centres as bytes, for choosing which centres are near a row: those of codes, and those
 * of cells.
 *
 * Method: less the mean of the centres, a row is a step of its own times whole numbers, from -63 to
 * 63, and a centre from -127 to 127. |c|^2/2 - x.c then is half the squared length of the centre
 * less both steps times a sum of products of bytes, which is exact: the same bits on every
 * instruction set. Advantage: a quarter of the memory that is read, and up to four times the
 * multiply-adds an instruction. Disadvantage: values are off by what rounding to bytes takes away,
 * more where several columns are far larger than the others; so they only choose what is looked at,
 * and only where a trial among all centres shows that they choose about as floats do
 * (isolation/near_trial.h, cells/pyramid.c, neighbours/byte_lists.h).
 */
#ifndef IKT_METRIC_NEAR_BYTES_H
#define IKT_METRIC_NEAR_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arrays.h"
#include "base/cpu.h"

enum {
    IKT_BYTES_ROW = 63,          /* steps of a row, */
    IKT_BYTES_MIDDLE = 64,       /* what stands for 0 of them */
    IKT_BYTES_CENTRE = 127,      /* and of a centre, at most */
    IKT_BYTES_COLUMNS = 1 << 17, /* at most: sums of products fit 31 bits */
    IKT_BYTES_WORTH = 257,       /* columns from which on rows are tried as bytes */
    IKT_BYTES_HEAD = 3,          /* words before the bytes of a row, and of a vector of centres */
    IKT_BYTES_PAIRS = 4,         /* rows that another one is multiplied by at once (score_pairs) */
    IKT_KERNEL_ROWS = 24         /* a multiple of the rows that any kernel takes at a time */
};

/* Centres sixteen to a vector, one a lane: half the squared length (infinite in lanes without a
 * centre) and the step as float32, what the middle of a row's bytes adds to its sums, and the
 * bytes. */
typedef struct {
    int64_t d;
    int64_t words; /* of a row: its step and half its squared length as float32, the sum of its
                      numbers of steps, and its bytes, four to a word */
    const int32_t *word; /* [vectors][words][16] */
    int64_t vectors;
} ikt_near_bytes;

/* The own rows of a data set as words, in their order or, while a pass searches, in its slots. */
typedef struct {
    const float *mean; /* [d] that was taken away */
    int32_t *word;     /* [rows * words] */
    bool is_half;      /* half precision holds every number of the rows themselves */
} ikt_byte_rows;

/* LOCAL, pure. Whether rows that are no bytes themselves can be made bytes. */
static inline bool ikt_bytes_suit(bool is_u8, bool is_manhattan, int64_t d) {
    return !is_u8 && !is_manhattan && d <= IKT_BYTES_COLUMNS;
}

/* LOCAL, pure. Words of a row of d columns; bytes that `count` centres take. */
int64_t ikt_near_bytes_words(int64_t d);
int64_t ikt_near_bytes_size(int64_t count, int64_t d);

/* LOCAL. The mean of rows [count * d], by all threads.
 *   mean   [d], receives it */
void ikt_near_bytes_mean(ikt_context *ctx, const float *rows, int64_t count, int64_t d,
                         float *mean);

/* LOCAL. Makes centres, by all threads: number j is the row index[j] of `rows`. Errors:
 * IKT_ERR_RESOURCE.
 *   held    claims its memory
 *   rows    finite, of squared lengths that float32 holds
 *   index   [count]; NULL: number j is row j
 *   mean    [d] that is taken away */
ikt_status ikt_near_bytes_create(ikt_arrays *held, const float *rows, const int64_t *index,
                                 int64_t count, int64_t d, const float *mean, ikt_near_bytes *out);

/* LOCAL. Writes rows x[count * d] as words [count * words]. */
void ikt_near_bytes_rows(const float *x, int64_t count, int64_t d, const float *mean,
                         int32_t *word);

/* LOCAL, one thread. Rows as words become centres, of the same numbers of steps: as
 * ikt_near_bytes_create, but for what they are rounded to.
 *   packed   [ikt_near_bytes_size(count, d)] bytes, receives the words of the vectors */
void ikt_near_bytes_pack(const int32_t *word, int64_t count, int64_t d, int32_t *packed);

/* LOCAL, pure. Bytes of scratch memory that values of all pairs of `count` rows take. */
int64_t ikt_near_bytes_pairs_size(int64_t count, int64_t d);

/* One instruction set's kernel. LOCAL. As ikt_codes_kernel.score_chosen: the value of row[i] and
 * centre 16 * first + j at out[i * stride + j]; values of rows up to a multiple of
 * IKT_KERNEL_ROWS may be written, too. */
typedef struct {
    void (*score_chosen)(const void *word, const uint32_t *row, int64_t count,
                         const ikt_near_bytes *centres, int64_t first, int64_t end, void *out,
                         int64_t stride);
    /* The values of a row and other rows, as words, that lie anywhere: the bits of score_chosen
     * where these are packed.
     *   out     [count] */
    void (*score_rows)(const int32_t *row, const char *const *other, int64_t count, int64_t d,
                       float *out);
    /* The values of some rows, as words, that lie anywhere, for each other: that of row a and other
     * row b, of which one is among the first `fresh`, at out[a * stride + b]; other places may hold
     * anything. The same bits. `scratch` has ikt_near_bytes_pairs_size(count, d) bytes. */
    void (*score_pairs)(const char *const *row, int64_t fresh, int64_t count, int64_t d,
                        int32_t *scratch, float *out, int64_t stride);
} ikt_near_bytes_kernel;

IKT_KERNELS(const ikt_near_bytes_kernel, ikt_near_bytes_kernel)

#endif
