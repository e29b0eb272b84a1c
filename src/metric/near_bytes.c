/* Making bytes of rows and centres. See near_bytes.h. */
#include "metric/near_bytes.h"

#include <math.h>
#include <string.h>

#include <omp.h>

enum {
    LANES = 16,
    IN_A_WORD = 4,
    MEAN_COLUMNS = 64 /* whose means are found together */
};

static const float least_range = 1e-30F; /* smaller ones are none */
static const float most_step = 1e20F;    /* of a row: products of steps stay finite */

/* The numbers of steps of a row less the mean, from -most to most, plus `middle`; returns the step.
 */
IKT_WIDEST_VECTORS
static float write_steps(const float *x, const float *mean, int64_t d, float most, float middle,
                         int8_t *out) {
    float lane[LANES] = {0}, range = 0;
    for (int64_t k = 0; k < d; k += LANES)
        for (int64_t l = 0; l < LANES && k + l < d; l++) {
            const float gap = fabsf(x[k + l] - mean[k + l]);
            lane[l] = gap > lane[l] ? gap : lane[l];
        }
    for (int l = 0; l < LANES; l++)
        range = lane[l] > range ? lane[l] : range;
    const float scale = range > least_range ? most / range : 0;
    for (int64_t k = 0; k < d; k++) { /* rounded: what is converted is above 0 */
        const float steps = (x[k] - mean[k]) * scale + (most + 1.5F);
        out[k] = (int8_t)((int32_t)steps - (int32_t)(most + 1 - middle));
    }
    return range / most;
}

/* Bytes as words that are `stride` words apart. */
static void write_words(const int8_t *byte, int64_t d, int32_t *word, int64_t stride) {
    for (int64_t k = 0; k < d; k += IN_A_WORD, word += stride) {
        *word = 0;
        memcpy(word, byte + k, (size_t)(d - k < IN_A_WORD ? d - k : IN_A_WORD));
    }
}

int64_t ikt_near_bytes_words(int64_t d) {
    return IKT_BYTES_HEAD + (d + IN_A_WORD - 1) / IN_A_WORD;
}

int64_t ikt_near_bytes_pairs_size(int64_t count, int64_t d) {
    const int64_t vectors = (ikt_near_bytes_words(d) - IKT_BYTES_HEAD + LANES - 1) / LANES;
    return (count + IKT_BYTES_PAIRS) * vectors * LANES * (int64_t)sizeof(int32_t);
}

static int64_t vector_words(int64_t d) {
    return ikt_near_bytes_words(d) * LANES;
}

int64_t ikt_near_bytes_size(int64_t count, int64_t d) {
    return (count + LANES - 1) / LANES * vector_words(d) * (int64_t)sizeof(int32_t);
}

/* Half the squared length of a row less the mean. */
static double half_length(const float *x, const float *mean, int64_t d) {
    double sum = 0;
    for (int64_t k = 0; k < d; k++) {
        const double gap = (double)x[k] - (double)mean[k];
        sum += gap * gap;
    }
    return sum / 2;
}

/* Writes a centre, or what stands in a lane without one, into its lane of a vector.
 *   x      NULL: there is none
 *   byte   [d] to work with */
static void write_centre(const float *x, const float *mean, int64_t d, int8_t *byte,
                         int32_t *head) {
    float half = INFINITY, size = 0;
    int32_t sum = 0;
    if (x) {
        half = (float)half_length(x, mean, d);
        size = write_steps(x, mean, d, IKT_BYTES_CENTRE, 0, byte);
        for (int64_t k = 0; k < d; k++)
            sum += byte[k];
        write_words(byte, d, head + IKT_BYTES_HEAD * LANES, LANES);
    }
    sum *= IKT_BYTES_MIDDLE;
    memcpy(head, &half, sizeof half);
    memcpy(head + LANES, &size, sizeof size);
    memcpy(head + 2 * LANES, &sum, sizeof sum);
}

void ikt_near_bytes_mean(ikt_context *ctx, const float *rows, int64_t count, int64_t d,
                         float *mean) {
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t from = 0; from < d; from += MEAN_COLUMNS) {
        const int64_t columns = d - from < MEAN_COLUMNS ? d - from : MEAN_COLUMNS;
        const float *x = rows + from;
        double sum[MEAN_COLUMNS] = {0};
        for (int64_t q = 0; q < count; q++, x += d)
            for (int64_t k = 0; k < columns; k++)
                sum[k] += (double)x[k];
        for (int64_t k = 0; k < columns; k++)
            mean[from + k] = (float)(sum[k] / (double)count);
    }
}

ikt_status ikt_near_bytes_create(ikt_arrays *held, const float *rows, const int64_t *index,
                                 int64_t count, int64_t d, const float *mean, ikt_near_bytes *out) {
    const int64_t vectors = (count + LANES - 1) / LANES, step = vector_words(d);
    const int threads = ikt_threads(held->ctx);
    IKT_ARRAYS(work, held->ctx, held->purpose);
    int8_t *byte = ikt_claim(&work, threads * d, sizeof *byte);
    int32_t *word = ikt_claim(held, vectors * step, sizeof *word);
    *out = (ikt_near_bytes){
        .d = d, .words = ikt_near_bytes_words(d), .word = word, .vectors = vectors};
    IKT_TRY(work.status);
    IKT_TRY(held->status);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t v = 0; v < vectors; v++)
        for (int64_t lane = 0, j = v * LANES; lane < LANES; lane++, j++) {
            const float *x = j < count ? rows + (index ? index[j] : j) * d : NULL;
            write_centre(x, mean, d, byte + omp_get_thread_num() * d, word + v * step + lane);
        }
    return IKT_OK;
}

void ikt_near_bytes_rows(const float *x, int64_t count, int64_t d, const float *mean,
                         int32_t *word) {
    const int64_t words = ikt_near_bytes_words(d);
    for (int64_t i = 0; i < count; i++, word += words, x += d) {
        int8_t *byte = (int8_t *)(word + IKT_BYTES_HEAD);
        word[words - 1] = 0;
        const float step =
            fminf(write_steps(x, mean, d, IKT_BYTES_ROW, IKT_BYTES_MIDDLE, byte), most_step);
        const float half = (float)half_length(x, mean, d);
        int32_t sum = 0;
        for (int64_t k = 0; k < d; k++)
            sum += byte[k] - IKT_BYTES_MIDDLE;
        memcpy(word, &step, sizeof step);
        memcpy(word + 1, &half, sizeof half);
        word[2] = sum;
    }
}

/* Four bytes less the middle of a row, each by itself. */
static inline int32_t less_middle(int32_t bytes) {
    const uint32_t top = UINT32_C(0x80808080), middle = UINT32_C(0x01010101) * IKT_BYTES_MIDDLE;
    return (int32_t)((((uint32_t)bytes | top) - middle) ^ top);
}

void ikt_near_bytes_pack(const int32_t *word, int64_t count, int64_t d, int32_t *packed) {
    const int64_t words = ikt_near_bytes_words(d);
    const float none = INFINITY;
    for (int64_t first = 0; first < count; first += LANES, packed += vector_words(d))
        for (int64_t lane = 0; lane < LANES; lane++) {
            int32_t *to = packed + lane;
            if (first + lane >= count) {
                for (int64_t w = 0; w < words; w++)
                    to[w * LANES] = 0;
                memcpy(to, &none, sizeof none);
                continue;
            }
            const int32_t *row = word + (first + lane) * words;
            to[0] = row[1];
            to[LANES] = row[0];
            to[2 * LANES] = row[2] * IKT_BYTES_MIDDLE;
            for (int64_t w = IKT_BYTES_HEAD; w < words; w++)
                to[w * LANES] = less_middle(row[w]);
        }
}
