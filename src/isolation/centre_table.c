/* The table of distinct centres, and the walk. See centre_table.h. */
#include "isolation/centre_table.h"

#include <math.h>
#include <string.h>

#include <omp.h>

#include "base/arrays.h"
#include "base/cpu.h"
#include "base/log.h"
#include "base/sort.h"
#include "isolation/coding.h"

/* Centres of a line, its words, and where in the last word the number of members before begins. */
enum { LINE = 480, LINE_WORDS = 8, LINE_BEFORE = 32 };

static const char purpose[] = "centres";

/* --- sizes ------------------------------------------------------------------------------------ */

static int64_t bits_bytes(int64_t count, int64_t parts) {
    return 8 * count * ikt_divide_up(parts, 64) +
           8 * LINE_WORDS * parts * ikt_divide_up(count, LINE);
}

static int64_t lists_bytes(int64_t count, int64_t uses) {
    return 8 * (count + 1) + (4 + 2 + 4) * uses;
}

int64_t ikt_centre_table_bytes(int64_t count, int64_t parts, int64_t uses) {
    return 8 * count + 8 * (parts + 1) +
           ikt_smaller(bits_bytes(count, parts), lists_bytes(count, uses));
}

/* --- making it -------------------------------------------------------------------------------- */

/* The place of a row that is there, at `from` or behind it: steps that double, then halving. */
static int64_t find_behind(const int64_t *row, int64_t count, int64_t from, int64_t wanted) {
    int64_t step = 1, at;
    while (from + step < count && row[from + step] <= wanted) {
        from += step;
        step *= 2;
    }
    IKT_FIND_FIRST(at, from, ikt_smaller(from + step, count), row[at] >= wanted);
    return at;
}

static uint64_t *line_of(const ikt_centre_table *table, int64_t line, int64_t part) {
    return table->member + (line * table->parts + part) * LINE_WORDS;
}

/* The members of a part, as a row of bits or a list, and how many there are before each line. */
static void add_members(ikt_centre_table *table, int64_t part, const int64_t *row) {
    const int64_t centres = table->first[part + 1] - table->first[part];
    for (int64_t j = 0, at = 0; j < centres; j++) {
        at = find_behind(table->row, table->count, at, row[j]);
        if (table->index)
            table->index[table->first[part] + j] = (int32_t)at;
        else
            line_of(table, at / LINE, part)[at % LINE / 64] |= UINT64_C(1) << at % LINE % 64;
    }
    uint64_t before = 0;
    for (int64_t l = 0; l < table->lines; l++) {
        uint64_t *line = line_of(table, l, part), here = 0;
        for (int w = 0; w < LINE_WORDS; w++)
            here += (uint64_t)__builtin_popcountll(line[w]);
        line[LINE_WORDS - 1] |= before << LINE_BEFORE;
        before += here;
    }
}

/* A word of a line without the number that stands in the last. */
static inline uint64_t bits_of(const uint64_t *line, int word) {
    return word == LINE_WORDS - 1 ? (uint32_t)line[word] : line[word];
}

/* By centre: the parts of which it is a member. A thread writes the centres of its lines. */
static void transpose_bits(ikt_context *ctx, ikt_centre_table *table) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(ctx))
    for (int64_t l = 0; l < table->lines; l++)
        for (int64_t p = 0; p < table->parts; p++)
            for (int w = 0; w < LINE_WORDS; w++)
                for (uint64_t left = bits_of(line_of(table, l, p), w); left; left &= left - 1) {
                    const int64_t centre = l * LINE + w * 64 + __builtin_ctzll(left);
                    table->uses[centre * table->words + p / 64] |= UINT64_C(1) << p % 64;
                }
}

static void transpose_lists(ikt_centre_table *table) {
    int64_t *start = table->start;
    for (int64_t e = 0; e < table->first[table->parts]; e++)
        start[table->index[e] + 1]++;
    for (int64_t c = 0; c < table->count; c++)
        start[c + 1] += start[c];
    for (int64_t p = 0; p < table->parts; p++)
        for (int64_t e = table->first[p]; e < table->first[p + 1]; e++) {
            const int64_t at = start[table->index[e]]++;
            table->part[at] = (uint16_t)p;
            table->cell[at] = (uint32_t)(e - table->first[p]);
        }
    for (int64_t c = table->count; c > 0; c--)
        start[c] = start[c - 1]; /* the fill moved them on */
    start[0] = 0;
}

static ikt_status allocate(ikt_centre_table *table) {
    ikt_arrays *held = &table->held;
    const int64_t uses = table->first[table->parts], lines = ikt_divide_up(table->count, LINE);
    if (bits_bytes(table->count, table->parts) <= lists_bytes(table->count, uses)) {
        table->lines = lines;
        table->uses = ikt_claim(held, table->count * table->words, sizeof *table->uses);
        table->member = ikt_claim(held, lines * table->parts * LINE_WORDS, sizeof *table->member);
        return held->status;
    }
    table->index = ikt_claim(held, uses, sizeof *table->index);
    table->start = ikt_claim(held, table->count + 1, sizeof *table->start);
    table->part = ikt_claim(held, uses, sizeof *table->part);
    table->cell = ikt_claim(held, uses, sizeof *table->cell);
    return held->status;
}

static ikt_status fill(ikt_context *ctx, const ikt_model *model, int64_t first,
                       ikt_centre_table *table) {
    ikt_draws draws IKT_AT_END(ikt_draws_destroy) = {0};
    IKT_TRY(ikt_draws_create(ctx, model, ikt_threads(ctx), &draws));
    IKT_TRY(allocate(table));
#pragma omp parallel for schedule(dynamic, 1) num_threads(ikt_threads(ctx))
    for (int64_t p = 0; p < table->parts; p++)
        add_members(table, p, ikt_model_draw(model, &draws, omp_get_thread_num(), first + p));
    if (table->index)
        transpose_lists(table);
    else
        transpose_bits(ctx, table);
    return IKT_OK;
}

static int64_t common_divisor(int64_t a, int64_t b) {
    while (b > 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

ikt_status ikt_centre_table_create(ikt_context *ctx, const ikt_model *model, int64_t first,
                                   int64_t parts, ikt_centre_table *out) {
    ikt_centre_table made IKT_AT_END(ikt_centre_table_destroy) = {
        .parts = parts, .words = ikt_divide_up(parts, 64), .held = ikt_arrays_of(ctx, purpose)};
    *out = (ikt_centre_table){0};
    IKT_TRY(ikt_model_distinct(ctx, model, first, parts, &made.row, &made.count));
    made.first = ikt_claim(&made.held, parts + 1, sizeof *made.first);
    IKT_TRY(made.held.status);
    for (int64_t p = 0; p < parts; p++)
        made.first[p + 1] = made.first[p] + ikt_model_centres(&model->spec, first + p);
    IKT_TRY(fill(ctx, model, first, &made));
    made.stride = (int64_t)(0.6180339887498949 * (double)made.count);
    while (made.stride < 1 || common_divisor(made.count, made.stride) > 1)
        made.stride++;
    return ikt_give(out, made);
}

void ikt_centre_table_destroy(ikt_centre_table *table) {
    ikt_free(&table->row);
    ikt_arrays_free(&table->held);
    *table = (ikt_centre_table){0};
}

/* --- using it --------------------------------------------------------------------------------- */

const int32_t *ikt_centre_members(const ikt_centre_table *table, int64_t part, int32_t *scratch,
                                  int64_t *count) {
    *count = table->first[part + 1] - table->first[part];
    if (table->index) return table->index + table->first[part];
    for (int64_t l = 0, at = 0; l < table->lines; l++)
        for (int w = 0; w < LINE_WORDS; w++)
            for (uint64_t left = bits_of(line_of(table, l, part), w); left; left &= left - 1)
                scratch[at++] = (int32_t)(l * LINE + w * 64 + __builtin_ctzll(left));
    return scratch;
}

void ikt_parts_open(const ikt_centre_table *table, uint64_t *open) {
    memset(open, 0, (size_t)table->words * sizeof *open);
    for (int64_t p = 0; p < table->parts; p++)
        open[p / 64] |= UINT64_C(1) << p % 64;
}

/* Members of a line's part up to a centre, which is one itself: its number in the part. */
static inline uint32_t number_in(const uint64_t *line, int64_t bit) {
    uint64_t before = line[LINE_WORDS - 1] >> LINE_BEFORE;
    for (int64_t w = 0; w < bit / 64; w++)
        before += (uint64_t)__builtin_popcountll(line[w]);
    const uint64_t below = (UINT64_C(1) << bit % 64) - 1;
    return (uint32_t)(before + (uint64_t)__builtin_popcountll(line[bit / 64] & below));
}

/* The parts of a centre that are open get it. Returns how many there are. */
static inline int64_t take_bits(const ikt_centre_table *table, int64_t centre, uint64_t *open,
                                uint32_t *cell) {
    const uint64_t *uses = table->uses + centre * table->words;
    const uint64_t *line = line_of(table, centre / LINE, 0);
    int64_t taken = 0;
    for (int64_t w = 0; w < table->words; w++) {
        const uint64_t found = open[w] & uses[w];
        for (uint64_t left = found; left; left &= left - 1, taken++) {
            const int64_t p = w * 64 + __builtin_ctzll(left);
            cell[p] = number_in(line + p * LINE_WORDS, centre % LINE);
        }
        open[w] &= ~found;
    }
    return taken;
}

static inline int64_t take_lists(const ikt_centre_table *table, int64_t centre, uint64_t *open,
                                 uint32_t *cell) {
    int64_t taken = 0;
    for (int64_t u = table->start[centre]; u < table->start[centre + 1]; u++) {
        const int64_t p = table->part[u];
        if (!ikt_part_is_open(open, p)) continue;
        cell[p] = table->cell[u];
        open[p / 64] &= ~(UINT64_C(1) << p % 64);
        taken++;
    }
    return taken;
}

/* Static, since the clones of a function are visible outside of the library. */
IKT_WIDEST_VECTORS
static int64_t walk(const ikt_centre_table *table, const ikt_pair *pair, int64_t count,
                    ikt_pair certain, uint64_t *open, uint32_t *cell) {
    int64_t left = 0;
    for (int64_t w = 0; w < table->words; w++)
        left += __builtin_popcountll(open[w]);
    for (int64_t e = 0; e < count && left > 0 && pair[e] < certain; e++) {
        const int64_t centre = ikt_pair_number(pair[e]);
        left -= table->index ? take_lists(table, centre, open, cell)
                             : take_bits(table, centre, open, cell);
    }
    return left;
}

int64_t ikt_centre_walk(const ikt_centre_table *table, const ikt_pair *pair, int64_t count,
                        ikt_pair certain, uint64_t *open, uint32_t *cell) {
    return walk(table, pair, count, certain, open, cell);
}

/* --- lists of a row's nearest distinct centres ------------------------------------------------ */

enum { LIST_LEAST = 32 };

/* After `length` entries a partitioning is still open with the chance (1 - psi/centres)^length. */
int64_t ikt_list_length(int64_t centres, const ikt_model_spec *spec) {
    double fine = (double)centres / (double)spec->psi * (log((double)spec->t) + 4.6);
    double rough = spec->coarse > 0 ? (double)centres / (double)spec->coarse * 4.6 : 0;
    int64_t length = (int64_t)ceil(fmax(fine, rough));
    if (length < LIST_LEAST) length = LIST_LEAST;
    if (length < spec->near) length = spec->near;
    return length < centres ? length : centres;
}

void ikt_list_tighten(ikt_select *kept, int64_t rows, int64_t length, int64_t chunks, int64_t chunk,
                      int64_t count) {
    if (chunks != 1 && chunks != 4 && chunks != 16) return;
    const double expected = (double)length * (double)(chunks * chunk) / (double)count;
    const int64_t most = (int64_t)(expected + 4 * sqrt(expected) + 4);
    for (int64_t r = 0; most < length && r < rows; r++)
        ikt_select_tighten(&kept[r], most);
}

ikt_pair ikt_list_certain(const ikt_select *kept, rounding round, bool is_manhattan, double x_norm,
                          double largest_norm) {
    if (kept->limit == UINT64_MAX) return UINT64_MAX;
    double bound = 0;
    if (x_norm <= largest_safe_norm && largest_norm <= largest_safe_norm) {
        const double least_out = (double)ikt_pair_value(kept->limit);
        const double distance =
            is_manhattan ? x_norm + least_out - 2 * round.tiny
                         : x_norm + 2 * (least_out - round.start * x_norm / 2 - 2 * round.tiny);
        bound = distance * (1 - round.definition) - round.tiny;
    }
    return ikt_pair_make(bound > 0 ? (float)(bound * (1 - 0x1p-22)) : 0, 0);
}

void ikt_list_report(ikt_context *ctx, int64_t length, int64_t distinct, int64_t open,
                     int64_t rows) {
    ikt_log(ctx, IKT_LOG_DETAIL,
            "codes: lists of %lld of %lld distinct centres; on this rank %lld of %lld rows needed "
            "all of them",
            (long long)length, (long long)distinct, (long long)open, (long long)rows);
}
