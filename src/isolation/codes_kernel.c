/* Choice of a kernel, packing of centres, staging of rows. */
#include "isolation/codes_kernel.h"

#include <math.h>
#include <string.h>

#include "isolation/kernel_f32_bound.h"

enum {
    TILE_BYTES = 512 * 1024, /* a quarter of a second-level cache of today's servers */
    TILE_LEAST = 24,         /* a multiple of every kernel's rows, as is the next */
    PANEL_VECTORS = 3        /* most vectors of a register block */
};

const ikt_codes_kernel *ikt_codes_kernel_choose(bool is_u8, bool is_manhattan, ikt_isa isa) {
    if (is_manhattan) return is_u8 ? ikt_codes_u8_l1_for(isa) : ikt_codes_f32_l1_for(isa);
    return is_u8 ? ikt_codes_u8_for(isa) : ikt_codes_f32_for(isa);
}

static int64_t round_up(int64_t value, int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

int64_t ikt_row_words(const ikt_codes_kernel *kernel, int64_t d) {
    return round_up((d + kernel->per_word - 1) / kernel->per_word, kernel->multiple);
}

/* --- centres ---------------------------------------------------------------------------------- */

int64_t ikt_centres_bytes(const ikt_codes_kernel *kernel, int64_t psi, int64_t d) {
    int64_t slots = round_up(psi, IKT_LANES);
    return slots * (ikt_row_words(kernel, d) * 4 + 4 + 4 + 8);
}

void ikt_centres_place(const ikt_codes_kernel *kernel, int64_t psi, int64_t d, void *memory,
                       ikt_centres *centres) {
    int64_t slots = round_up(psi, IKT_LANES), words = ikt_row_words(kernel, d);
    char *at = memory;
    *centres = (ikt_centres){.psi = psi, .d = d, .vectors = slots / IKT_LANES, .words = words};
    centres->word = at;
    centres->norm = (double *)(void *)(at += slots * words * 4);
    centres->start = at += slots * 8;
    centres->bias = (float *)(void *)(at + slots * 4);
}

static double norm_f32(const float *x, int64_t d) {
    double sum = 0;
    for (int64_t k = 0; k < d; k++)
        sum += (double)x[k] * (double)x[k];
    return sum;
}

static double norm_u8(const uint8_t *x, int64_t d) {
    int64_t sum = 0;
    for (int64_t k = 0; k < d; k++)
        sum += (int64_t)x[k] * x[k];
    return (double)sum;
}

/* Writes one row as words that are `stride` words apart. A word of uint8 coordinates is zero beyond
 * d; centres of the four-fold products are stored less 128 (`shift`), which makes them signed. */
static void write_words(const ikt_codes_kernel *kernel, const void *rows, int64_t row, int64_t d,
                        int shift, void *to, int64_t stride) {
    if (!kernel->is_u8) {
        const float *x = (const float *)rows + row * d;
        for (int64_t k = 0; k < d; k++)
            ((float *)to)[k * stride] = x[k];
        return;
    }
    const uint8_t *x = (const uint8_t *)rows + row * d;
    const uint32_t mask = kernel->per_word == 4 ? 0xFFu : 0xFFFFu;
    int32_t *at = to;
    for (int64_t k = 0; k < d; k += kernel->per_word, at += stride) {
        uint32_t word = 0;
        for (int e = 0; e < kernel->per_word && k + e < d; e++)
            word |= ((uint32_t)(x[k + e] - shift) & mask) << (e * 32 / kernel->per_word);
        *at = (int32_t)word;
    }
}

void ikt_centres_fill(const ikt_codes_kernel *kernel, ikt_centres *centres, const void *rows,
                      const int64_t *index, const double *norm) {
    const int64_t d = centres->d, vector_words = centres->words * IKT_LANES;
    const int shift = kernel->per_word == 4 && !kernel->is_manhattan ? 128 : 0;
    centres->largest_norm = 0;
    if (centres->psi % IKT_LANES > 0) /* lanes beyond psi may hold coordinates of other centres */
        memset((int32_t *)centres->word + (centres->vectors - 1) * vector_words, 0,
               (size_t)vector_words * 4);
    for (int64_t j = 0; j < centres->psi; j++) {
        int32_t *at = (int32_t *)centres->word + j / IKT_LANES * vector_words + j % IKT_LANES;
        write_words(kernel, rows, index[j], d, shift, at, IKT_LANES);
        centres->norm[j] = norm            ? norm[index[j]]
                           : kernel->is_u8 ? norm_u8((const uint8_t *)rows + index[j] * d, d)
                                           : norm_f32((const float *)rows + index[j] * d, d);
        centres->largest_norm = fmax(centres->largest_norm, centres->norm[j]);
    }
    /* What is compared before any coordinate is seen: |c|^2, or half of it less its rounding. */
    for (int64_t slot = 0; slot < centres->vectors * IKT_LANES; slot++) {
        const bool is_centre = slot < centres->psi;
        if (kernel->is_u8 && kernel->is_manhattan) { /* the sum of the gaps is at least this */
            ((int32_t *)centres->start)[slot] = is_centre ? 0 : INT32_MAX;
        } else if (kernel->is_u8) {
            const bool fits = is_centre && d <= IKT_U8_COLUMNS;
            ((int32_t *)centres->start)[slot] = fits ? (int32_t)centres->norm[slot] : INT32_MAX;
        } else {
            const double half = centres->norm[slot] / 2 * (1 - 2 * start_gamma(d));
            ((float *)centres->start)[slot] = is_centre ? (float)half : INFINITY;
            centres->bias[slot] = is_centre ? 0 : INFINITY;
        }
    }
}

/* --- rows ------------------------------------------------------------------------------------- */

int64_t ikt_row_tile_rows(const ikt_codes_kernel *kernel, int64_t d) {
    int64_t rows = TILE_BYTES / (4 * ikt_row_words(kernel, d)) / TILE_LEAST * TILE_LEAST;
    return rows < TILE_LEAST ? TILE_LEAST : rows > IKT_ROW_TILE_MOST ? IKT_ROW_TILE_MOST : rows;
}

int64_t ikt_row_tile_bytes(const ikt_codes_kernel *kernel, int64_t d) {
    int64_t row = 4 * (ikt_row_words(kernel, d) + IKT_SEEN_WORDS);
    if (!kernel->is_u8) row = 2 * (row + 4 * PANEL_VECTORS * IKT_LANES + 8) + 8;
    return ikt_row_tile_rows(kernel, d) * row;
}

static void create_block(ikt_arrays *held, const ikt_codes_kernel *kernel, int64_t rows,
                         int64_t words, ikt_row_block *block) {
    block->word = ikt_claim(held, rows * words, 4);
    block->seen = ikt_claim(held, rows * IKT_SEEN_WORDS, 4);
    if (kernel->is_u8) return;
    block->partial = ikt_claim(held, rows * IKT_LANES * PANEL_VECTORS, sizeof *block->partial);
    block->norm = ikt_claim(held, rows, sizeof *block->norm);
}

void ikt_row_tile_create(ikt_arrays *held, const ikt_codes_kernel *kernel, int64_t d,
                         ikt_row_tile *tile) {
    const int64_t rows = ikt_row_tile_rows(kernel, d);
    *tile = (ikt_row_tile){.d = d, .words = ikt_row_words(kernel, d), .capacity = rows};
    create_block(held, kernel, rows, tile->words, &tile->all);
    if (kernel->is_u8) return;
    create_block(held, kernel, rows, tile->words, &tile->doubt);
    tile->doubtful = ikt_claim(held, rows, sizeof *tile->doubtful);
    tile->cell = ikt_claim(held, rows, sizeof *tile->cell);
}

void ikt_row_tile_stage(const ikt_codes_kernel *kernel, ikt_row_tile *tile, const void *rows,
                        int64_t count) {
    ikt_row_block *block = &tile->all;
    block->count = count;
    block->groups = (count + kernel->rows - 1) / kernel->rows;
    for (int64_t i = 0; i < block->groups * kernel->rows; i++) {
        int64_t row = i < count ? i : count - 1; /* the last row fills up the last group */
        int64_t group = i / kernel->rows, lane = i % kernel->rows;
        int32_t *at = (int32_t *)block->word + group * kernel->rows * tile->words + lane;
        write_words(kernel, rows, row, tile->d, 0, at, kernel->rows);
        if (!kernel->is_u8) block->norm[i] = norm_f32((const float *)rows + row * tile->d, tile->d);
    }
}

void ikt_row_words_write(const ikt_codes_kernel *kernel, const void *rows, int64_t count, int64_t d,
                         void *word) {
    const int64_t words = ikt_row_words(kernel, d);
    for (int64_t i = 0; i < count; i++)
        write_words(kernel, rows, i, d, 0, (int32_t *)word + i * words, 1);
}

void ikt_row_tile_assign(const ikt_codes_kernel *kernel, ikt_row_tile *tile,
                         const ikt_centres *centres, uint32_t *cell) {
    if (centres->psi == 1)
        memset(cell, 0, (size_t)tile->all.count * sizeof *cell);
    else
        kernel->assign(tile, centres, cell);
}
