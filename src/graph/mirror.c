/* Entries between own rows, transposed and joined. See mirror.h.
 *
 * Method: a radix pass and a merge for each piece of consecutive rows. Rows are sorted, so the
 * entries that lead to a piece are a run in each row, and the next piece begins where that ends.
 * Threads share out the rows that entries come from, count how many lead to each row of the piece,
 * and put them where those of lower rows end: ascending by the row they come from, whatever the
 * threads. What leads to a row and what the row has are then two ascending lists.
 * Advantage: nothing is searched for, and what is written at random places stays within the piece.
 * Disadvantage: every piece looks at every row, so there are few of them. */
#include "graph/mirror.h"

#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/sort.h"

enum { PIECE_ENTRIES = 1 << 21, PIECES_MOST = 32 };

static const char purpose[] = "symmetrise";

/* An entry at the row that it leads to. */
typedef struct {
    uint32_t column; /* global number of the row it comes from */
    float value;
} entry;

typedef struct {
    ikt_context *ctx;
    const ikt_rows *distribution;
    const ikt_directed *rows;
    int threads;
    int64_t pieces, widest; /* rows of a piece, at most */
    int64_t from, to;       /* the piece under way: own rows, local numbers */
    uint32_t *next;         /* [n_local] entries of each row before the piece */
    uint32_t *place; /* [threads][widest] entries of each row; then where the next one goes */
    int64_t *first;  /* [widest + 1] where what leads to each row of the piece begins */
    entry *entry;
    int64_t room; /* of `entry` */
} mirror;

static ikt_status begin(mirror *m) {
    const int64_t n = m->rows->n_local, entries = m->rows->start[n];
    const int64_t wanted = entries / PIECE_ENTRIES + 1;
    m->pieces = ikt_larger(ikt_smaller(ikt_smaller(wanted, PIECES_MOST), n), 1);
    m->widest = n / m->pieces + 1;
    IKT_TRY(ikt_alloc(m->ctx, &m->next, n, sizeof *m->next, purpose));
    IKT_TRY(ikt_alloc(m->ctx, &m->place, m->threads * m->widest, sizeof *m->place, purpose));
    IKT_TRY(ikt_alloc(m->ctx, &m->first, m->widest + 1, sizeof *m->first, purpose));
    if (m->distribution->first == 0) return IKT_OK; /* no lower rank's rows stand before own ones */
#pragma omp parallel for schedule(static) num_threads(m->threads)
    for (int64_t i = 0; i < n; i++) {
        const uint32_t *column = m->rows->column + m->rows->start[i];
        int64_t at;
        IKT_FIND_FIRST(at, 0, m->rows->start[i + 1] - m->rows->start[i],
                       column[at] >= m->distribution->first);
        m->next[i] = (uint32_t)at;
    }
    return IKT_OK;
}

static void end(mirror *m) {
    ikt_free(&m->next);
    ikt_free(&m->place);
    ikt_free(&m->first);
    ikt_free(&m->entry);
}

/* --- a piece, transposed ---------------------------------------------------------------------- */

/* One thread's share of the rows: counts their entries that lead to the piece. */
static void count_entries(const mirror *m, int thread) {
    const int64_t *start = m->rows->start, n = m->rows->n_local;
    const uint32_t *column = m->rows->column;
    const int64_t before = m->distribution->first + m->from;
    const int64_t behind = m->distribution->first + m->to;
    uint32_t *count = m->place + thread * m->widest;
    for (int64_t i = n * thread / m->threads; i < n * (thread + 1) / m->threads; i++)
        for (int64_t e = start[i] + m->next[i]; e < start[i + 1] && column[e] < behind; e++)
            count[column[e] - before]++;
}

/* Puts them where they belong, and goes on to the next piece. */
static void place_entries(const mirror *m, int thread) {
    const int64_t *start = m->rows->start, n = m->rows->n_local;
    const uint32_t *column = m->rows->column;
    const float *value = m->rows->value;
    const int64_t before = m->distribution->first + m->from;
    const int64_t behind = m->distribution->first + m->to;
    uint32_t *place = m->place + thread * m->widest;
    entry *to = m->entry;
    for (int64_t i = n * thread / m->threads; i < n * (thread + 1) / m->threads; i++) {
        const uint32_t own = (uint32_t)(m->distribution->first + i);
        int64_t e = start[i] + m->next[i];
        for (; e < start[i + 1] && column[e] < behind; e++)
            to[place[column[e] - before]++] = (entry){own, value[e]};
        m->next[i] = (uint32_t)(e - start[i]);
    }
}

/* From the counts of all threads to where each row begins, and within it each thread. */
static int64_t sum_counts(mirror *m) {
    int64_t sum = 0;
    for (int64_t row = 0; row < m->to - m->from; row++) {
        m->first[row] = sum;
        for (int t = 0; t < m->threads; t++) {
            uint32_t *place = &m->place[t * m->widest + row];
            const uint32_t count = *place;
            *place = (uint32_t)sum;
            sum += count;
        }
    }
    m->first[m->to - m->from] = sum;
    return sum;
}

static ikt_status transpose_piece(mirror *m) {
    memset(m->place, 0, (size_t)(m->threads * m->widest) * sizeof *m->place);
#pragma omp parallel for schedule(static, 1) num_threads(m->threads)
    for (int t = 0; t < m->threads; t++)
        count_entries(m, t);
    const int64_t entries = sum_counts(m);
    if (entries > UINT32_MAX)
        return ikt_fail(m->ctx, IKT_ERR_RESOURCE,
                        "%lld entries of P lead to the 32nd part of the rows of rank %d, more than "
                        "2^32: use more ranks",
                        (long long)entries, ikt_rank(m->ctx));
    if (entries > m->room) {
        IKT_TRY(ikt_reserve(m->ctx, &m->entry, entries, sizeof *m->entry, purpose));
        m->room = entries;
    }
#pragma omp parallel for schedule(static, 1) num_threads(m->threads)
    for (int t = 0; t < m->threads; t++)
        place_entries(m, t);
    return IKT_OK;
}

/* --- a piece, joined -------------------------------------------------------------------------- */

/* What leads to a row beside what the row has. Entries that the row has not are left in front;
 * returns how many these are. */
static int64_t join_row(const mirror *m, int64_t row, ikt_mirror_meet *meet, const void *self) {
    const ikt_directed *rows = m->rows;
    entry *from = m->entry + m->first[row - m->from];
    const int64_t count = m->first[row - m->from + 1] - m->first[row - m->from];
    int64_t e = rows->start[row], single = 0;
    const int64_t last = rows->start[row + 1];
    for (int64_t k = 0; k < count; k++) {
        while (e < last && rows->column[e] < from[k].column)
            e++;
        if (e < last && rows->column[e] == from[k].column)
            rows->value[e] = meet(self, rows->value[e], from[k].value);
        else
            from[single++] = from[k];
    }
    return single;
}

/* Joins the rows of the piece, makes room for entries without a mirror image, and puts them there.
 */
static ikt_status join_piece(const mirror *m, ikt_mirror_meet *meet, const void *self,
                             ikt_directed *single, int64_t *next) {
#pragma omp parallel for schedule(dynamic, 256) num_threads(m->threads)
    for (int64_t row = m->from; row < m->to; row++)
        next[row] = join_row(m, row, meet, self);
    for (int64_t row = m->from; row < m->to; row++)
        single->start[row + 1] += single->start[row] + next[row];
    const int64_t entries = single->start[m->to];
    IKT_TRY(ikt_resize(m->ctx, &single->column, entries, sizeof *single->column, "graph"));
    IKT_TRY(ikt_resize(m->ctx, &single->value, entries, sizeof *single->value, "graph"));
#pragma omp parallel for schedule(dynamic, 256) num_threads(m->threads)
    for (int64_t row = m->from; row < m->to; row++) {
        const entry *of_row = m->entry + m->first[row - m->from];
        const int64_t at = single->start[row], count = next[row];
        for (int64_t k = 0; k < count; k++) {
            single->column[at + k] = of_row[k].column;
            single->value[at + k] = of_row[k].value;
        }
        next[row] += at;
    }
    return IKT_OK;
}

ikt_status ikt_mirror_join(ikt_context *ctx, const ikt_rows *distribution, const ikt_directed *rows,
                           ikt_mirror_meet *meet, const void *self, ikt_directed *single,
                           int64_t *next) {
    mirror m = {
        .ctx = ctx, .distribution = distribution, .rows = rows, .threads = ikt_threads(ctx)};
    const int64_t n = rows->n_local;
    ikt_status st = begin(&m);
    for (int64_t piece = 0; piece < m.pieces && st == IKT_OK; piece++) {
        m.from = n * piece / m.pieces;
        m.to = n * (piece + 1) / m.pieces;
        st = transpose_piece(&m);
        if (st == IKT_OK) st = join_piece(&m, meet, self, single, next);
    }
    end(&m);
    return st;
}
