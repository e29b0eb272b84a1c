/* Attraction by cells. See whole_attraction.h; ikt_whole_attraction_end is the course of it. */
#include "objective/whole_attraction.h"

#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/timer.h"
#include "objective/whole_draw.h"

/* Partitionings whose forces are kept until all of them are there, to be added in one order; cells
 * beyond so many rows have their blocks shared among the threads. */
enum { ROUND = 4, LARGE_CELL = 1 << 14, CELLS_A_THREAD = 32 };

static const char purpose[] = "attraction";

/* What is computed with of a row, which travels to the rank that computes its cell: the cell (its
 * bits; of rows that travel), 1 / S_i (0 where that is 0), the position. */
enum { ITEM_HEAD = 2 };

/* Rows whose items are fetched ahead: they lie anywhere in memory. */
enum { AHEAD = 64 };

/* Rows of a round on their way, by rank, then partitioning, then row. */
typedef struct {
    ikt_transfer *there;
    int64_t *leaving, *coming; /* [ranks] rows that go to each rank, and that come from it */
    float *sent;               /* [most_leaving][2 + q] items */
    uint32_t *sent_row;        /* [most_leaving] */
    int64_t first;             /* number of the first item that comes */
} round_rows;

struct ikt_whole_attraction {
    ikt_context *ctx;
    const ikt_whole *whole;
    ikt_whole_sampling sampling;
    int q;
    ikt_kernel kernel;
    ikt_isa isa;
    int64_t iteration;    /* under way */
    const int32_t *drawn; /* [n_drawn] its partitionings, in `order` */
    int64_t n_drawn;
    int32_t *order;   /* [t] */
    float *item;      /* [n_local + 2 * most_coming][2 + q] of own rows, and of those that come */
    float *force;     /* [ROUND][n_local * q] of the partitionings of a round */
    int parts;        /* of the own rows, that are counted and placed each by a thread */
    uint32_t *count;  /* [parts + 2][psi] rows of each cell: of lower ranks, own, of higher ones */
    int64_t *first;   /* [psi + 1] where the rows of each cell begin in `member` */
    uint32_t *member; /* rows by cell: numbers of items */
    int64_t padded;   /* rows of the largest block, and up to a multiple of sixteen */
    float *space;     /* [threads][(2 q + 1) * padded] for blocks */

    /* On several ranks. While the cells of a round are computed, the rows of the next one travel.
     */
    round_rows round[2];
    const round_rows *now; /* the round that is computed */
    int32_t *owner;        /* [psi] */
    ikt_transfer *back;
    int64_t *place; /* [ranks] */
    int64_t most_leaving, most_coming;
    float *answered, *answers;     /* [most * q] forces that go back; that come back */
    uint32_t *come;                /* [most_coming] items by partitioning, then rank */
    int64_t come_first[ROUND + 1]; /* where those of each partitioning begin */
    int64_t come_higher[ROUND];    /* ... and those of higher ranks */
    ikt_arrays held;
};

/* --- making and destroying -------------------------------------------------------------------- */

/* The most rows that leave, or come, in a round. */
static int64_t most_of(const ikt_whole_attraction *a, const int64_t *rows) {
    const ikt_whole *w = a->whole;
    int64_t most = 0;
    for (int64_t p = 0; p < w->t; p++) {
        int64_t sum = 0;
        for (int64_t r = 0; r < ikt_size(a->ctx); r++)
            sum += rows[r * w->t + p];
        if (sum > most) most = sum;
    }
    return ROUND * most;
}

/* LOCAL. */
static ikt_status allocate_transfers(ikt_whole_attraction *a) {
    ikt_context *ctx = a->ctx;
    const int64_t ranks = ikt_size(ctx), q = a->q, item = ITEM_HEAD + q;
    a->most_leaving = most_of(a, a->whole->leaving);
    a->most_coming = most_of(a, a->whole->coming);
    if (a->most_leaving > INT32_MAX || 2 * a->most_coming > INT32_MAX - a->whole->rows.count)
        return ikt_fail(ctx, IKT_ERR_RESOURCE,
                        "a rank has too many rows for the whole kernel: use more ranks");
    const int64_t leaving = a->most_leaving, coming = a->most_coming;
    ikt_arrays *held = &a->held;
    a->owner = ikt_claim(held, a->whole->psi, sizeof *a->owner);
    a->place = ikt_claim(held, ranks, sizeof *a->place);
    a->answers = ikt_claim(held, leaving * q, sizeof *a->answers);
    a->answered = ikt_claim(held, coming * q, sizeof *a->answered);
    a->come = ikt_claim(held, coming, sizeof *a->come);
    for (int k = 0; k < 2; k++) {
        round_rows *round = &a->round[k];
        round->first = a->whole->rows.count + k * coming;
        round->leaving = ikt_claim(held, ranks, sizeof *round->leaving);
        round->coming = ikt_claim(held, ranks, sizeof *round->coming);
        round->sent = ikt_claim(held, leaving * item, sizeof *round->sent);
        round->sent_row = ikt_claim(held, leaving, sizeof *round->sent_row);
        IKT_TRY(ikt_transfer_create(ctx, (size_t)item * sizeof(float), &round->there));
    }
    return ikt_transfer_create(ctx, (size_t)q * sizeof(float), &a->back);
}

/* As many parts as leave counting the rows dearer than joining the counts. */
static int parts_of(int64_t n_local, int64_t psi, int threads) {
    const int64_t worth = n_local / (2 * psi);
    return worth < 1 ? 1 : worth < threads ? (int)worth : threads;
}

static int64_t padded_block(int64_t rows) {
    return (rows + IKT_WHOLE_LANES - 1) / IKT_WHOLE_LANES * IKT_WHOLE_LANES;
}

/* LOCAL. */
static ikt_status allocate(ikt_whole_attraction *a) {
    ikt_context *ctx = a->ctx;
    const ikt_whole *w = a->whole;
    const int64_t n = w->rows.count, threads = ikt_threads(ctx), space = (2 * a->q + 1) * a->padded;
    ikt_arrays *held = &a->held;
    a->order = ikt_claim(held, w->t, sizeof *a->order);
    a->force = ikt_claim(held, ROUND * n * a->q, sizeof *a->force);
    a->count = ikt_claim(held, (a->parts + 2) * w->psi, sizeof *a->count);
    a->first = ikt_claim(held, w->psi + 1, sizeof *a->first);
    a->space = ikt_claim(held, threads * space, sizeof *a->space);
    if (ikt_size(ctx) > 1) IKT_TRY(allocate_transfers(a));
    a->item = ikt_claim(held, (n + 2 * a->most_coming) * (ITEM_HEAD + a->q), sizeof *a->item);
    a->member = ikt_claim(held, n + a->most_coming / ROUND, sizeof *a->member);
    return held->status;
}

ikt_status ikt_whole_attraction_create(ikt_context *ctx, const ikt_whole *w, int q,
                                       ikt_kernel kernel, const ikt_whole_sampling *sampling,
                                       ikt_whole_attraction **out) {
    ikt_whole_attraction *a IKT_AT_END(ikt_whole_attraction_destroy) = NULL;
    *out = NULL;
    IKT_TRY(ikt_alloc_all(ctx, &a, 1, sizeof *a, purpose));
    const int64_t most = sampling->block > 3 ? sampling->block : 3;
    *a = (ikt_whole_attraction){.ctx = ctx,
                                .whole = w,
                                .sampling = *sampling,
                                .q = q,
                                .kernel = kernel,
                                .isa = ikt_cpu_isa(),
                                .parts = parts_of(w->rows.count, w->psi, ikt_threads(ctx)),
                                .padded = padded_block(most < w->largest ? most : w->largest),
                                .held = ikt_arrays_of(ctx, purpose)};
    IKT_TRY(ikt_agree(ctx, allocate(a)));
    return ikt_give(out, a);
}

void ikt_whole_attraction_destroy(ikt_whole_attraction **attraction) {
    ikt_whole_attraction *a = *attraction;
    if (!a) return;
    for (int k = 0; k < 2; k++)
        ikt_transfer_destroy(&a->round[k].there);
    ikt_transfer_destroy(&a->back);
    ikt_arrays_free(&a->held);
    ikt_free(attraction);
}

/* --- rows on their way to the rank that computes their cell ----------------------------------- */

static int64_t tile_end(const ikt_whole *w, int64_t first) {
    const int64_t end = (first / IKT_WHOLE_TILE + 1) * IKT_WHOLE_TILE;
    return end < w->rows.count ? end : w->rows.count;
}

/* Counts own rows first .. last - 1 by cell. */
static void count_rows(const ikt_whole *w, int64_t p, int64_t first, int64_t last,
                       uint32_t *count) {
    uint32_t cell[IKT_WHOLE_TILE];
    while (first < last) {
        const int64_t end = tile_end(w, first) < last ? tile_end(w, first) : last;
        ikt_whole_cells(w, p, first, end - first, cell);
        for (int64_t i = 0; i < end - first; i++)
            count[cell[i]]++;
        first = end;
    }
}

/* Who computes the cells of partitioning p; uses the first counts. */
static void find_owners(ikt_whole_attraction *a, int64_t p) {
    memset(a->count, 0, (size_t)a->whole->psi * sizeof *a->count);
    count_rows(a->whole, p, 0, a->whole->rows.count, a->count);
    ikt_whole_owners(a->whole, p, a->count, a->owner);
}

static void pack_row(const ikt_whole_attraction *a, const round_rows *round, int64_t i,
                     uint32_t cell) {
    const int64_t at = a->place[a->owner[cell]]++, numbers = ITEM_HEAD + a->q;
    memcpy(round->sent + at * numbers, a->item + i * numbers, (size_t)numbers * sizeof *a->item);
    memcpy(round->sent + at * numbers, &cell, sizeof cell);
    round->sent_row[at] = (uint32_t)i;
}

/* Starts sending the rows that other ranks compute cells of, for the partitionings of a round.
 *   p   [count] partitionings */
static void send_rows(ikt_whole_attraction *a, const int32_t *p, int64_t count,
                      const round_rows *round) {
    const ikt_whole *w = a->whole;
    const int ranks = ikt_size(a->ctx), rank = ikt_rank(a->ctx);
    int64_t sent = 0;
    for (int r = 0; r < ranks; r++) {
        round->leaving[r] = round->coming[r] = 0;
        for (int64_t j = 0; j < count; j++) {
            round->leaving[r] += w->leaving[r * w->t + p[j]];
            round->coming[r] += w->coming[r * w->t + p[j]];
        }
        a->place[r] = sent;
        sent += round->leaving[r];
    }
    for (int64_t j = 0; j < count; j++) {
        uint32_t cell[IKT_WHOLE_TILE];
        find_owners(a, p[j]);
        for (int64_t first = 0; first < w->rows.count; first += IKT_WHOLE_TILE) {
            const int64_t rows = tile_end(w, first) - first;
            ikt_whole_cells(w, p[j], first, rows, cell);
            for (int64_t i = 0; i < rows; i++)
                if (a->owner[cell[i]] != rank) pack_row(a, round, first + i, cell[i]);
        }
    }
    ikt_transfer_begin(round->there, round->sent, round->leaving,
                       a->item + round->first * (ITEM_HEAD + a->q), round->coming);
}

/* Brings the numbers of the items that have come into the order of partitionings, and in each of
 * ranks: rows then are in ascending order. */
static void list_come(ikt_whole_attraction *a, const int32_t *p, int64_t count) {
    const ikt_whole *w = a->whole;
    const int ranks = ikt_size(a->ctx), rank = ikt_rank(a->ctx);
    int64_t listed = 0, begin = a->now->first;
    for (int r = 0; r < ranks; begin += a->now->coming[r++])
        a->place[r] = begin;
    for (int64_t j = 0; j < count; j++) {
        a->come_first[j] = listed;
        for (int r = 0; r < ranks; r++) {
            if (r == rank) a->come_higher[j] = listed;
            for (int64_t e = 0; e < w->coming[r * w->t + p[j]]; e++)
                a->come[listed++] = (uint32_t)a->place[r]++;
        }
        a->come_first[j + 1] = listed;
    }
}

static uint32_t item_cell(const ikt_whole_attraction *a, int64_t item) {
    uint32_t cell;
    memcpy(&cell, a->item + item * (ITEM_HEAD + a->q), sizeof cell);
    return cell;
}

/* Forces that have come back, to the rows that they are of. */
static void take_answers(ikt_whole_attraction *a, const int32_t *p, int64_t count) {
    const ikt_whole *w = a->whole;
    const int64_t n = w->rows.count, q = a->q;
    int64_t at = 0;
    for (int r = 0; r < ikt_size(a->ctx); r++)
        for (int64_t j = 0; j < count; j++)
            for (int64_t e = 0; e < w->leaving[r * w->t + p[j]]; e++, at++)
                memcpy(a->force + q * (j * n + a->now->sent_row[at]), a->answers + q * at,
                       (size_t)q * sizeof *a->force);
}

/* --- rows by cell ------------------------------------------------------------------------------
 *
 * A counting sort whose parts are: rows of lower ranks, own rows in as many parts as there are
 * threads for, rows of higher ranks. It keeps the order of rows within a cell, so that the cell's
 * rows stand in ascending order however many ranks and threads there are. */

static int64_t part_first(const ikt_whole_attraction *a, int part) {
    return a->whole->rows.count * part / a->parts;
}

static void count_come(const ikt_whole_attraction *a, int64_t from, int64_t to, uint32_t *count) {
    for (int64_t e = from; e < to; e++)
        count[item_cell(a, a->come[e])]++;
}

/* Counts become the places where the rows of each part begin. */
static void find_places(ikt_whole_attraction *a) {
    const int64_t psi = a->whole->psi;
    int64_t place = 0;
    for (int64_t c = 0; c < psi; c++) {
        a->first[c] = place;
        for (int part = 0; part < a->parts + 2; part++) {
            const uint32_t rows = a->count[part * psi + c];
            a->count[part * psi + c] = (uint32_t)place;
            place += rows;
        }
    }
    a->first[psi] = place;
}

static void place_rows(ikt_whole_attraction *a, int64_t p, int part) {
    const ikt_whole *w = a->whole;
    const bool is_alone = ikt_size(a->ctx) == 1;
    const int32_t rank = ikt_rank(a->ctx);
    uint32_t cell[IKT_WHOLE_TILE], *place = a->count + (part + 1) * w->psi;
    int64_t first = part_first(a, part);
    const int64_t last = part_first(a, part + 1);
    while (first < last) {
        const int64_t end = tile_end(w, first) < last ? tile_end(w, first) : last;
        ikt_whole_cells(w, p, first, end - first, cell);
        for (int64_t i = 0; i < end - first; i++)
            if (is_alone || a->owner[cell[i]] == rank)
                a->member[place[cell[i]]++] = (uint32_t)(first + i);
        first = end;
    }
}

static void place_come(ikt_whole_attraction *a, int64_t from, int64_t to, uint32_t *place) {
    for (int64_t e = from; e < to; e++)
        a->member[place[item_cell(a, a->come[e])]++] = a->come[e];
}

/* Brings the rows of the cells that this rank computes into a->member, for partitioning p, the j-th
 * of the round. */
static void sort_rows(ikt_whole_attraction *a, int64_t p, int64_t j) {
    const int64_t psi = a->whole->psi;
    const bool is_alone = ikt_size(a->ctx) == 1;
    const int32_t rank = ikt_rank(a->ctx);
    uint32_t *lower = a->count, *higher = a->count + (a->parts + 1) * psi;
    if (!is_alone) find_owners(a, p);
    memset(a->count, 0, (size_t)((a->parts + 2) * psi) * sizeof *a->count);
#pragma omp parallel for schedule(static, 1) num_threads(a->parts) if (a->parts > 1)
    for (int part = 0; part < a->parts; part++) {
        uint32_t *count = a->count + (part + 1) * psi;
        count_rows(a->whole, p, part_first(a, part), part_first(a, part + 1), count);
        for (int64_t c = 0; !is_alone && c < psi; c++)
            if (count[c] > 0 && a->owner[c] != rank) count[c] = 0;
    }
    if (!is_alone) {
        count_come(a, a->come_first[j], a->come_higher[j], lower);
        count_come(a, a->come_higher[j], a->come_first[j + 1], higher);
    }
    find_places(a);
#pragma omp parallel for schedule(static, 1) num_threads(a->parts) if (a->parts > 1)
    for (int part = 0; part < a->parts; part++)
        place_rows(a, p, part);
    if (!is_alone) {
        place_come(a, a->come_first[j], a->come_higher[j], lower);
        place_come(a, a->come_higher[j], a->come_first[j + 1], higher);
    }
}

/* --- pairs within blocks ---------------------------------------------------------------------- */

/* Where the force of a row of a cell goes. */
static inline float *force_of(const ikt_whole_attraction *a, int q, int64_t j, uint32_t member) {
    const int64_t n = a->whole->rows.count;
    return member < n ? a->force + q * (j * n + member)
                      : a->answered + q * (member - a->now->first);
}

static ikt_whole_block block_in(const ikt_whole_attraction *a, int64_t rows) {
    float *space = a->space + omp_get_thread_num() * (2 * a->q + 1) * a->padded;
    ikt_whole_block block = {.rows = rows, .q = a->q, .kernel = a->kernel};
    block.share = space;
    for (int c = 0; c < a->q; c++) {
        block.at[c] = space + (1 + 2 * c) * a->padded;
        block.force[c] = space + (2 + 2 * c) * a->padded;
    }
    return block;
}

/* Positions and shares of the rows of a block, with zeros up to a multiple of sixteen. `left` rows
 * are there from its first to the end of the cell; another thread may be moving those behind. */
static inline void load_rows(const ikt_whole_attraction *a, int q, const uint32_t *member,
                             int64_t left, const ikt_whole_block *block) {
    const int64_t numbers = ITEM_HEAD + q;
    for (int64_t e = 0; e < block->rows; e++) {
        const float *item = a->item + member[e] * numbers;
        __builtin_prefetch(a->item + member[e + AHEAD < left ? e + AHEAD : e] * numbers);
        block->share[e] = item[1];
        for (int c = 0; c < q; c++)
            block->at[c][e] = item[ITEM_HEAD + c];
    }
    for (int64_t e = block->rows; e < padded_block(block->rows); e++) {
        block->share[e] = 0;
        for (int c = 0; c < q; c++)
            block->at[c][e] = 0;
    }
}

static inline void store_forces(const ikt_whole_attraction *a, int q, int64_t j,
                                const uint32_t *member, const ikt_whole_block *block, float scale) {
    for (int64_t e = 0; e < block->rows; e++) {
        float *force = force_of(a, q, j, member[e]);
        for (int c = 0; c < q; c++)
            force[c] = scale * block->force[c][e];
    }
}

/* The rows of a block, whose pairs count `scale` times each, and the `left` ones of its cell from
 * there on. The number of dimensions is a constant of each loop over rows. */
static void compute_block(const ikt_whole_attraction *a, int64_t j, const uint32_t *member,
                          int64_t left, int64_t rows, float scale) {
    const ikt_whole_block block = block_in(a, rows);
    if (a->q == 1)
        load_rows(a, 1, member, left, &block);
    else if (a->q == 2)
        load_rows(a, 2, member, left, &block);
    else
        load_rows(a, 3, member, left, &block);
    ikt_whole_block_sum(a->isa, &block);
    if (a->q == 1)
        store_forces(a, 1, j, member, &block, scale);
    else if (a->q == 2)
        store_forces(a, 2, j, member, &block, scale);
    else
        store_forces(a, 3, j, member, &block, scale);
}

/* The blocks from .. to - 1 of a cell of `rows` rows. */
static void compute_blocks(const ikt_whole_attraction *a, int64_t j, const uint32_t *member,
                           int64_t rows, int64_t blocks, int64_t from, int64_t to) {
    for (int64_t b = from; b < to; b++) {
        const int64_t first = ikt_whole_block_first(rows, blocks, b);
        const int64_t count = ikt_whole_block_first(rows, blocks, b + 1) - first;
        compute_block(a, j, member + first, rows - first, count,
                      ikt_whole_block_scale(rows, count));
    }
}

/* A cell of partitioning p: one block as it is, or blocks of shuffled rows. Returns their number.
 */
static int64_t prepare_cell(const ikt_whole_attraction *a, int64_t p, int64_t cell) {
    const int64_t rows = a->first[cell + 1] - a->first[cell];
    const int64_t blocks = ikt_whole_blocks(rows, a->sampling.block);
    if (blocks > 1)
        ikt_whole_shuffle(&a->sampling, a->iteration, p, cell, a->member + a->first[cell], rows);
    return blocks;
}

/* Forces of partitioning p, the j-th of the round, for the rows of the cells computed here. */
static void compute_cells(const ikt_whole_attraction *a, int64_t p, int64_t j) {
    const int64_t psi = a->whole->psi, threads = ikt_threads(a->ctx);
    const int64_t chunk = psi / (CELLS_A_THREAD * threads) + 1;
    int64_t large = 0;
#pragma omp parallel for schedule(dynamic) num_threads(threads) reduction(+ : large)
    for (int64_t begin = 0; begin < psi; begin += chunk)
        for (int64_t c = begin; c < begin + chunk && c < psi; c++) {
            const int64_t rows = a->first[c + 1] - a->first[c];
            if (rows == 0) continue;
            if (rows > LARGE_CELL) {
                large++;
                continue;
            }
            const int64_t blocks = prepare_cell(a, p, c);
            compute_blocks(a, j, a->member + a->first[c], rows, blocks, 0, blocks);
        }
    for (int64_t c = 0; large > 0 && c < psi; c++) {
        const int64_t rows = a->first[c + 1] - a->first[c];
        if (rows <= LARGE_CELL) continue;
        const int64_t blocks = prepare_cell(a, p, c);
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t b = 0; b < blocks; b++)
            compute_blocks(a, j, a->member + a->first[c], rows, blocks, b, b + 1);
    }
}

/* --- the course ------------------------------------------------------------------------------- */

static int64_t round_count(const ikt_whole_attraction *a, int64_t first) {
    return a->n_drawn - first < ROUND ? a->n_drawn - first : ROUND;
}

double ikt_whole_attraction_step(const ikt_whole_attraction *a, int64_t iteration) {
    return ikt_whole_step(&a->sampling, iteration);
}

void ikt_whole_attraction_begin(ikt_whole_attraction *a, int64_t iteration, const float *y) {
    const int64_t numbers = ITEM_HEAD + a->q;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(a->ctx))
    for (int64_t i = 0; i < a->whole->rows.count; i++) {
        const int64_t total = a->whole->total[i];
        a->item[i * numbers + 1] = total > 0 ? (float)(1 / (double)total) : 0;
        memcpy(a->item + i * numbers + ITEM_HEAD, y + a->q * i, (size_t)a->q * sizeof *y);
    }
    a->iteration = iteration;
    a->drawn = ikt_whole_draw(&a->sampling, iteration, a->order, &a->n_drawn);
    if (ikt_size(a->ctx) > 1) send_rows(a, a->drawn, round_count(a, 0), &a->round[0]);
}

/* Adds the forces of a round, in the order of the draw. */
static void add_round(const ikt_whole_attraction *a, int64_t count, float *force) {
    const int64_t numbers = a->q * a->whole->rows.count;
    const double factor = (double)a->whole->t / (double)a->n_drawn / (2 * (double)a->whole->rows.n);
#pragma omp parallel for schedule(static) num_threads(ikt_threads(a->ctx))
    for (int64_t e = 0; e < numbers; e++) {
        double sum = 0;
        for (int64_t j = 0; j < count; j++)
            sum += (double)a->force[j * numbers + e];
        force[e] = (float)((double)force[e] + factor * sum);
    }
}

/* Takes what has come for the round that begins at `first`, and starts sending what the next one
 * needs. */
static void exchange_rows(ikt_whole_attraction *a, int64_t first) {
    const int64_t next = first + ROUND, k = first / ROUND % 2;
    ikt_stage_begin(a->ctx, IKT_STAGE_HALO);
    a->now = &a->round[k];
    ikt_transfer_end(a->now->there);
    list_come(a, a->drawn + first, round_count(a, first));
    if (next < a->n_drawn) send_rows(a, a->drawn + next, round_count(a, next), &a->round[1 - k]);
    ikt_stage_end(a->ctx, IKT_STAGE_HALO);
}

static void exchange_forces(ikt_whole_attraction *a, int64_t first) {
    ikt_stage_begin(a->ctx, IKT_STAGE_HALO);
    ikt_transfer_begin(a->back, a->answered, a->now->coming, a->answers, a->now->leaving);
    ikt_transfer_end(a->back);
    take_answers(a, a->drawn + first, round_count(a, first));
    ikt_stage_end(a->ctx, IKT_STAGE_HALO);
}

void ikt_whole_attraction_end(ikt_whole_attraction *a, float *force) {
    const bool is_alone = ikt_size(a->ctx) == 1;
    for (int64_t first = 0; first < a->n_drawn; first += ROUND) {
        const int64_t count = round_count(a, first);
        if (!is_alone) exchange_rows(a, first);
        ikt_stage_begin(a->ctx, IKT_STAGE_ATTRACTION);
        for (int64_t j = 0; j < count; j++) {
            sort_rows(a, a->drawn[first + j], j);
            compute_cells(a, a->drawn[first + j], j);
        }
        ikt_stage_end(a->ctx, IKT_STAGE_ATTRACTION);
        if (!is_alone) exchange_forces(a, first);
        ikt_stage_begin(a->ctx, IKT_STAGE_ATTRACTION);
        add_round(a, count, force);
        ikt_stage_end(a->ctx, IKT_STAGE_ATTRACTION);
    }
}

int64_t ikt_whole_attraction_memory(int64_t n_local, int q, int64_t psi,
                                    const ikt_whole_sampling *s, double cut, int threads) {
    const int64_t f = sizeof(float), item = (ITEM_HEAD + q) * f;
    const int64_t parts = parts_of(n_local, psi, threads);
    const int64_t row = item + ROUND * q * f + f;                               /* an own one */
    const int64_t moved = 4 * item + 2 * q * f + 3 * (int64_t)sizeof(uint32_t); /* there and here */
    return n_local * row + (parts + 2) * psi * f + psi * 12 + s->t * (int64_t)sizeof(int32_t) +
           threads * (2 * q + 1) * padded_block(s->block) * f +
           (int64_t)(ROUND * cut * (double)n_local) * moved;
}
