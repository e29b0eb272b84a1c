/* Transposed entries, a batch of rows at a time, and what they meet. See transpose.h. */
#include <string.h>

#include "graph/transpose.h"

#include "base/arrays.h"
#include "base/comm.h"
#include "base/memory.h"
#include "base/sort.h"

static const char purpose[] = "symmetrise";

ikt_status ikt_transpose_begin(ikt_context *ctx, const ikt_rows *distribution,
                               const ikt_directed *rows, ikt_transpose *out) {
    *out = (ikt_transpose){.ctx = ctx, .distribution = distribution, .rows = rows};
    return ikt_shuffle_create(ctx, purpose, &out->shuffle);
}

void ikt_transpose_end(ikt_transpose *t) {
    ikt_shuffle_destroy(&t->shuffle);
    ikt_free_all(&t->sent, &t->received);
}

/* Whether an entry has to travel. */
static bool is_wanted(const ikt_transpose *t, int64_t e, bool only_positive) {
    return !ikt_is_own(t->distribution, t->rows->column[e]) &&
           (!only_positive || t->rows->value[e] > 0);
}

/* Fills `sent` with the entries of own rows first .. last - 1, grouped by the owners of the
 * columns. */
static ikt_status fill(ikt_transpose *t, int64_t first, int64_t last, bool only_positive) {
    const ikt_directed *rows = t->rows;
    ikt_shuffle_clear(t->ctx, &t->shuffle);
    for (int64_t e = rows->start[first]; e < rows->start[last]; e++)
        if (is_wanted(t, e, only_positive))
            ikt_shuffle_count(&t->shuffle, ikt_rows_owner(t->distribution, rows->column[e]));
    ikt_shuffle_group(t->ctx, &t->shuffle);
    IKT_TRY(ikt_reserve(t->ctx, &t->sent, t->shuffle.sent, sizeof *t->sent, purpose));
    for (int64_t i = first; i < last; i++)
        for (int64_t e = rows->start[i]; e < rows->start[i + 1]; e++) {
            if (!is_wanted(t, e, only_positive)) continue;
            int owner = ikt_rows_owner(t->distribution, rows->column[e]);
            int64_t local = rows->column[e] - ikt_rows_first(t->distribution, owner);
            t->sent[ikt_shuffle_next(&t->shuffle, owner)] = (ikt_transposed_entry){
                (uint32_t)local, (uint32_t)(t->distribution->first + i), rows->value[e]};
        }
    return IKT_OK;
}

ikt_status ikt_transpose_run(ikt_transpose *t, bool only_positive,
                             void (*take)(void *self, const ikt_transposed_entry *), void *self) {
    ikt_context *ctx = t->ctx;
    const int64_t *start = t->rows->start, rows = t->distribution->count;
    const int shares = ikt_threads(ctx);
    int64_t first = 0, last = 0;
    if (ikt_size(ctx) == 1) return IKT_OK;
    while (ikt_max_one(ctx, first < rows)) {
        while (last < rows && start[last + 1] - start[first] <= IKT_TRANSPOSE_BATCH)
            last++;
        if (last == first && first < rows) last++;
        IKT_TRY(ikt_agree(ctx, fill(t, first, last, only_positive)));
        ikt_shuffle_meet(ctx, &t->shuffle);
        const int64_t count = t->shuffle.received;
        IKT_TRY(
            ikt_agree(ctx, ikt_reserve(ctx, &t->received, count, sizeof *t->received, purpose)));
        ikt_shuffle_send(ctx, &t->shuffle, t->sent, t->received, sizeof *t->sent);
        /* OpenMP may start fewer threads than it is asked for (OMP_THREAD_LIMIT, OMP_DYNAMIC): the
         * own rows are cut into shares that a loop deals out, never the number of a thread. */
#pragma omp parallel for schedule(static, 1) num_threads(shares)
        for (int s = 0; s < shares; s++) {
            const ikt_rows share = ikt_rows_make(rows, shares, s);
            for (int64_t e = 0; e < count; e++)
                if (t->received[e].row >= share.first &&
                    t->received[e].row - share.first < share.count)
                    take(self, &t->received[e]);
        }
        first = last;
    }
    return IKT_OK;
}

/* --- entries between own rows ----------------------------------------------------------------- */

/* Entries between own rows, transposed and joined.
 *
 * Method: a radix pass and a merge for each piece of consecutive rows. Rows are sorted, so the
 * entries that lead to a piece are a run in each row, and the next piece begins where that ends.
 * Threads share out the rows that entries come from and put each entry where those of lower rows
 * end: ascending by the row they come from, whatever the threads. How many lead to each row of a
 * piece was counted in the pass before, which had the next run of each row in the same line of the
 * cache. What leads to a row and what the row has are then two ascending lists.
 * Advantage: nothing is searched for, and what is written at random places stays within the piece.
 * Disadvantage: every piece looks at every row, so there are few of them, and rows are asked for
 * ahead. */

enum { PIECE_ENTRIES = 1 << 21, PIECES_MOST = 16, ROWS_AHEAD = 16 };

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
    int64_t beyond;         /* where the piece behind it ends */
    uint32_t *next;         /* [n_local] entries of each row before the piece */
    uint32_t *place; /* [threads][widest] entries of each row; then where the next one goes */
    uint32_t *ahead; /* the same of the piece behind */
    int64_t *first;  /* [widest + 1] where what leads to each row of the piece begins */
    entry *entry;
    int64_t room;        /* of `entry` */
    int64_t single_room; /* entries without a mirror image that there is room for */
} mirror;

static ikt_status begin(mirror *m) {
    const int64_t n = m->rows->n_local, entries = m->rows->start[n];
    const int64_t wanted = entries / PIECE_ENTRIES + 1;
    m->pieces = ikt_larger(ikt_smaller(ikt_smaller(wanted, PIECES_MOST), n), 1);
    m->widest = n / m->pieces + 1;
    IKT_TRY(ikt_alloc(m->ctx, &m->next, n, sizeof *m->next, purpose));
    IKT_TRY(ikt_alloc(m->ctx, &m->place, m->threads * m->widest, sizeof *m->place, purpose));
    IKT_TRY(ikt_alloc(m->ctx, &m->ahead, m->threads * m->widest, sizeof *m->ahead, purpose));
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
    ikt_free_all(&m->next, &m->place, &m->ahead, &m->first, &m->entry);
}

/* --- a piece, transposed ---------------------------------------------------------------------- */

/* One thread's share of the rows: puts their entries that lead to the piece where they belong, and
 * counts those that lead to the piece behind, which stand next to them. */
static void place_entries(const mirror *m, int thread) {
    const int64_t *start = m->rows->start, n = m->rows->n_local;
    const uint32_t *column = m->rows->column;
    const float *value = m->rows->value;
    const int64_t before = m->distribution->first + m->from;
    const int64_t behind = m->distribution->first + m->to;
    const int64_t beyond = m->distribution->first + m->beyond;
    uint32_t *place = m->place + thread * m->widest, *ahead = m->ahead + thread * m->widest;
    entry *to = m->entry;
    const int64_t last = n * (thread + 1) / m->threads;
    for (int64_t i = n * thread / m->threads; i < last; i++) {
        const int64_t soon = i + ROWS_AHEAD < last ? i + ROWS_AHEAD : i;
        __builtin_prefetch(column + start[soon] + m->next[soon]);
        __builtin_prefetch(value + start[soon] + m->next[soon]);
        const uint32_t own = (uint32_t)(m->distribution->first + i);
        int64_t e = start[i] + m->next[i];
        for (; e < start[i + 1] && column[e] < behind; e++)
            to[place[column[e] - before]++] = (entry){own, value[e]};
        m->next[i] = (uint32_t)(e - start[i]);
        for (; e < start[i + 1] && column[e] < beyond; e++)
            ahead[column[e] - behind]++;
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

/* Every pass but the first finds what leads to its piece counted, and room for it. */
static ikt_status transpose_piece(mirror *m) {
    const int64_t entries = sum_counts(m);
    if (entries > UINT32_MAX)
        return ikt_fail(m->ctx, IKT_ERR_RESOURCE,
                        "%lld entries of P lead to the 16th part of the rows of rank %d, more than "
                        "2^32: use more ranks",
                        (long long)entries, ikt_rank(m->ctx));
    if (entries > m->room) {
        IKT_TRY(ikt_reserve(m->ctx, &m->entry, entries, sizeof *m->entry, purpose));
        m->room = entries;
    }
    memset(m->ahead, 0, (size_t)(m->threads * m->widest) * sizeof *m->ahead);
#pragma omp parallel for schedule(static, 1) num_threads(m->threads)
    for (int t = 0; t < m->threads; t++)
        place_entries(m, t);
    return IKT_OK;
}

/* On to the piece behind, whose entries are counted. */
static void go_on(mirror *m, int64_t piece) {
    uint32_t *const counted = m->ahead;
    m->ahead = m->place;
    m->place = counted;
    m->from = m->to;
    m->to = m->beyond;
    m->beyond = m->rows->n_local * ikt_smaller(piece + 2, m->pieces) / m->pieces;
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

static ikt_status resize_single(mirror *m, ikt_directed *single, int64_t entries) {
    m->single_room = entries;
    IKT_TRY(ikt_resize(m->ctx, &single->column, entries, sizeof *single->column, "graph"));
    return ikt_resize(m->ctx, &single->value, entries, sizeof *single->value, "graph");
}

/* Room for the entries without a mirror image up to the end of the piece, and for a sixteenth more
 * than all rows will have if they go on like this: what grows is moved, with every piece otherwise.
 */
static ikt_status make_room(mirror *m, ikt_directed *single) {
    const int64_t entries = single->start[m->to];
    if (entries <= m->single_room) return IKT_OK;
    const double expected = (double)entries * (double)m->rows->n_local / (double)m->to;
    return resize_single(m, single,
                         m->to < m->rows->n_local ? (int64_t)(expected * 17 / 16) + 1 : entries);
}

/* Joins the rows of the piece, makes room for entries without a mirror image, and puts them there.
 */
static ikt_status join_piece(mirror *m, ikt_mirror_meet *meet, const void *self,
                             ikt_directed *single, int64_t *next) {
#pragma omp parallel for schedule(dynamic, 256) num_threads(m->threads)
    for (int64_t row = m->from; row < m->to; row++)
        next[row] = join_row(m, row, meet, self);
    for (int64_t row = m->from; row < m->to; row++)
        single->start[row + 1] += single->start[row] + next[row];
    IKT_TRY(make_room(m, single));
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
    mirror m IKT_AT_END(end) = {
        .ctx = ctx, .distribution = distribution, .rows = rows, .threads = ikt_threads(ctx)};
    IKT_TRY(begin(&m));
    /* an empty piece before the first one */
    m.beyond = rows->n_local / m.pieces;
    IKT_TRY(transpose_piece(&m));
    for (int64_t piece = 0; piece < m.pieces; piece++) {
        go_on(&m, piece);
        IKT_TRY(transpose_piece(&m));
        IKT_TRY(join_piece(&m, meet, self, single, next));
    }
    return resize_single(&m, single, single->start[rows->n_local]);
}

/* --- all of them ------------------------------------------------------------------------------ */

typedef struct {
    const ikt_directed *rows;
    ikt_mirror_meet *meet;
    const void *self;
    bool met_are_negative;
    ikt_directed *single;
    int64_t *next; /* [n_local] where the next one of each row belongs */
} joining;

/* Where an own row has the column of an entry that came; -1 where it has not. */
static int64_t find(const joining *j, const ikt_transposed_entry *from) {
    const int64_t begin = j->rows->start[from->row];
    const int64_t found =
        ikt_find_u32(j->rows->column + begin, j->rows->start[from->row + 1] - begin, from->column);
    return found < 0 ? -1 : begin + found;
}

static void join(void *self, const ikt_transposed_entry *from) {
    const joining *j = self;
    const int64_t at = find(j, from);
    if (at < 0)
        j->single->start[from->row + 1]++;
    else
        j->rows->value[at] = j->meet(j->self, j->rows->value[at], from->value);
}

static void place_single(void *self, const ikt_transposed_entry *from) {
    const joining *j = self;
    if (!j->met_are_negative && find(j, from) >= 0) return;
    const int64_t at = j->next[from->row]++;
    j->single->column[at] = from->column;
    j->single->value[at] = from->value;
}

ikt_status ikt_directed_join(ikt_context *ctx, const ikt_rows *distribution,
                             const ikt_directed *rows, ikt_mirror_meet *meet, const void *self,
                             bool met_are_negative, ikt_directed *single) {
    const int64_t count = distribution->count;
    ikt_transpose transpose IKT_AT_END(ikt_transpose_end) = {0};
    joining j = {rows, meet, self, met_are_negative, single, NULL};
    IKT_ARRAYS(held, ctx, "graph");
    *single = (ikt_directed){.n_local = count};
    single->start = ikt_claim_kept(&held, count + 1, sizeof *single->start);
    held.purpose = purpose;
    j.next = ikt_claim(&held, count, sizeof *j.next);
    if (held.status == IKT_OK)
        held.status = ikt_transpose_begin(ctx, distribution, rows, &transpose);
    if (held.status == IKT_OK) held.status = ikt_directed_sort(ctx, rows);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_transpose_run(&transpose, false, join, &j));
    IKT_TRY(ikt_agree(ctx, ikt_mirror_join(ctx, distribution, rows, meet, self, single, j.next)));
    IKT_TRY(ikt_transpose_run(&transpose, met_are_negative, place_single, &j));
    ikt_transpose_end(&transpose);
    ikt_arrays_free(&held);
    return ikt_agree(ctx, ikt_size(ctx) > 1 ? ikt_directed_sort(ctx, single) : IKT_OK);
}
