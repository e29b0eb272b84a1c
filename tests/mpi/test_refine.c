/* Refinement: the k best of a list and of the neighbours of its neighbours, by a plain reference;
 * the same on any ranks and threads; and rows that come from other ranks. */
#include "support/search_setting.h"

#include <string.h>

#include "base/comm.h"
#include "dist/shuffle.h"
#include "neighbours/reverse_neighbours.h"
#include "support/neighbour_lists.h"

enum { NEAR = IKT_REFINE_NEAR, MANY = 40 }; /* lists longer than what of them is followed */

/* Lists after a search that finds little and `rounds` of refinement. */
static void refined(ikt_context *ctx, kind what, int64_t n, bool codes, int64_t k, int rounds,
                    setting *s, ikt_neighbours *lists) {
    prepare(ctx, what, n, codes, s);
    assert_int_equal(search_lists(ctx, &s->cells, &s->tiles, k, k + 4, lists), IKT_OK);
    for (int round = 0; round < rounds; round++)
        assert_int_equal(refine_lists(ctx, &s->tiles, lists), IKT_OK);
    ikt_neighbours_sort(ctx, lists);
}

static uint64_t hash_of(ikt_context *ctx, kind what, int64_t n, bool codes, int64_t k) {
    setting s;
    ikt_neighbours lists;
    refined(ctx, what, n, codes, k, 2, &s, &lists);
    uint64_t hash = hash_lists(ctx, &lists, s.distribution.first);
    ikt_neighbours_destroy(&lists);
    clear(&s);
    return hash;
}

static void results_do_not_depend_on_ranks_and_threads(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    for (int which = 0; which < 8; which++) {
        kind what = which / 4 ? DUPLICATES : SPREAD;
        int64_t n = which / 2 % 2 ? 900 : 10, k = n > 100 ? MANY : 3;
        ikt_context_set_threads(ctx, 1 + which / 2 % 2);
        uint64_t one = hash_of(alone, what, n, which % 2, k);
        assert_true(hash_of(ctx, what, n, which % 2, k) == one);
    }
    assert_int_equal(ikt_memory_now(alone), 0);
    ikt_context_destroy(&alone);
}

enum { N_PLAIN = 300 };

/* Where the row is among the entries from .. end - 1, or -1. */
static int64_t place_of(const uint32_t *entry, int64_t from, int64_t end, uint32_t row) {
    for (int64_t e = from; e < end; e++)
        if (entry[e] == row) return e;
    return -1;
}

static int64_t near_of(const ikt_neighbours *lists) {
    return 2 * lists->k < NEAR ? 2 * lists->k : NEAR;
}

/* What a round follows of row i: the first half of its list; the rows that have it in their first
 * half and are not in its own, nearest first, ties to the lower row, up to half; and of the rest of
 * its list, the nearest that there is room for. */
static void followed_of(const ikt_neighbours *lists, int64_t i, uint32_t followed[NEAR]) {
    const int64_t near = near_of(lists), back = near / 2, first = near - back;
    const uint32_t *own = lists->row + i * lists->k;
    uint32_t reverse[N_PLAIN];
    float score[N_PLAIN];
    int64_t count = 0, filled = first;
    for (int64_t j = 0; j < lists->n_local; j++) {
        const int64_t e = place_of(lists->row + j * lists->k, 0, first, (uint32_t)i);
        if (e < 0 || place_of(own, 0, first, (uint32_t)j) >= 0) continue;
        int64_t at = count++;
        for (; at > 0 && score[at - 1] > lists->score[j * lists->k + e]; at--) {
            score[at] = score[at - 1];
            reverse[at] = reverse[at - 1];
        }
        score[at] = lists->score[j * lists->k + e];
        reverse[at] = (uint32_t)j;
    }
    memcpy(followed, own, (size_t)first * sizeof *own);
    for (int64_t e = 0; e < count && e < back; e++)
        followed[filled++] = reverse[e];
    const int64_t kept = filled;
    for (int64_t e = first; e < lists->k && filled < near; e++)
        if (place_of(followed, first, kept, own[e]) < 0) followed[filled++] = own[e];
    while (filled < near) /* no more rows */
        followed[filled++] = own[0];
}

/* Rows that have a row take the places of the last of its own, each once. */
static void reverse_rows_are_followed(void **state) {
    static uint32_t nearest[N_PLAIN * NEAR];
    ikt_context *alone = ikt_test_alone();
    (void)state;
    for (int64_t k = 15; k <= 40; k += 5) {
        setting s;
        ikt_neighbours lists;
        refined(alone, SPREAD, N_PLAIN, true, k, 0, &s, &lists);
        const int64_t near = near_of(&lists);
        for (int64_t e = 0; e < N_PLAIN * near; e++)
            nearest[e] = lists.row[e / near * k + (e % near < k ? e % near : 0)];
        assert_int_equal(
            ikt_reverse_neighbours_add(alone, &s.distribution, &lists, near, false, nearest),
            IKT_OK);
        for (int64_t i = 0; i < N_PLAIN; i++) {
            uint32_t followed[NEAR];
            followed_of(&lists, i, followed);
            for (int64_t e = 0; e < near; e++) {
                assert_true(place_of(nearest + i * near, 0, near, followed[e]) >= 0);
                assert_true(place_of(followed, 0, near, nearest[i * near + e]) >= 0);
            }
        }
        ikt_neighbours_destroy(&lists);
        clear(&s);
    }
    ikt_context_destroy(&alone);
}

/* Whether j is in the list of row i before the round, or among what is followed of what is. */
static bool is_offered(const ikt_neighbours *before, int64_t i, int64_t j) {
    uint32_t near[NEAR], theirs[NEAR];
    if (place_of(before->row + i * before->k, 0, before->k, (uint32_t)j) >= 0) return true;
    followed_of(before, i, near);
    for (int64_t e = 0; e < near_of(before); e++) {
        followed_of(before, near[e], theirs);
        if (place_of(theirs, 0, near_of(before), (uint32_t)j) >= 0) return true;
    }
    return false;
}

/* Entry e of a refined list: as many of the offered rows are better as stand before it. */
static void check_row(const ikt_neighbours *before, const ikt_neighbours *after, int64_t i,
                      const float *score, int64_t n) {
    for (int64_t e = 0; e < after->k; e++) {
        int64_t better = 0, at = after->row[i * after->k + e];
        assert_true(is_offered(before, i, at) && at != i);
        assert_true(after->score[i * after->k + e] == score[at]);
        for (int64_t j = 0; j < n; j++)
            better += j != i && (score[j] < score[at] || (score[j] == score[at] && j < at)) &&
                      is_offered(before, i, j);
        assert_int_equal(better, e);
    }
}

/* Every pair, as searches score it. */
static void score_all(const ikt_tiles *tiles, int64_t n, float *score) {
    static float packed[(N_PLAIN + 16) * D];
    const ikt_scorer *scorer = &tiles->scorer;
    if (scorer->pack) scorer->pack(scorer, tiles->data, n, packed);
    scorer->score(scorer, tiles->data, n, scorer->pack ? (const void *)packed : tiles->data, n,
                  score);
}

static void lists_are_the_best_of_what_is_offered(void **state) {
    enum { N = N_PLAIN };
    static float all[(N + 16) * (N + 16)];
    ikt_context *alone = ikt_test_alone();
    (void)state;
    static const int64_t lengths[] = {1, 2, 3, 15, 24, MANY}; /* odd and even halves, and none */
    for (size_t l = 0; l < 2 * sizeof lengths / sizeof *lengths; l++) {
        const bool codes = l % 2;
        setting s;
        ikt_neighbours before, after;
        refined(alone, SPREAD, N, codes, lengths[l / 2], 0, &s, &before);
        clear(&s);
        ikt_set_piece_bytes(alone, 1000); /* several batches */
        refined(alone, SPREAD, N, codes, lengths[l / 2], 1, &s, &after);
        score_all(&s.tiles, N, all);
        for (int64_t i = 0; i < N; i++)
            check_row(&before, &after, i, all + i * ikt_score_stride(N), N);
        ikt_neighbours_destroy(&before);
        ikt_neighbours_destroy(&after);
        clear(&s);
    }
    ikt_context_destroy(&alone);
}

/* Rows and scores of the tiles, here those of recall, are right afterwards. */
static void more_is_found_and_rows_stay(void **state) {
    ikt_context *ctx = *state;
    for (int codes = 0; codes < 2; codes++) {
        ikt_recall recall[2];
        for (int rounds = 0; rounds < 2; rounds++) {
            setting s;
            ikt_neighbours lists;
            refined(ctx, SPREAD, 900, codes, MANY, 3 * rounds, &s, &lists);
            assert_int_equal(ikt_recall_measure(ctx, &s.tiles, &lists, 1, 200, &recall[rounds]),
                             IKT_OK);
            ikt_neighbours_destroy(&lists);
            clear(&s);
        }
        assert_true(recall[1].found > recall[0].found + 0.2 && recall[1].found > 0.9);
        assert_true(recall[1].similarity <= 1);
    }
}

/* Every third row is asked for by everyone who does not own it. */
static void rows_are_pulled_from_their_owners(void **state) {
    enum { N = 50, WIDTH = 3 };
    ikt_context *ctx = *state;
    const ikt_rows distribution = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx));
    int32_t own[N * WIDTH], value[N * WIDTH];
    uint32_t row[N];
    int64_t count = 0;
    for (int64_t e = 0; e < distribution.count * WIDTH; e++)
        own[e] = (int32_t)(1000 * (distribution.first + e / WIDTH) + e % WIDTH);
    for (uint32_t i = 0; i < N; i += 3)
        if (i < distribution.first || i >= distribution.first + distribution.count)
            row[count++] = i;
    assert_int_equal(
        ikt_gather_rows(ctx, &distribution, row, count, own, sizeof *own * WIDTH, value), IKT_OK);
    for (int64_t e = 0; e < count * WIDTH; e++)
        assert_int_equal(value[e], 1000 * row[e / WIDTH] + e % WIDTH);
}

IKT_MPI_TESTS(ikt_test(results_do_not_depend_on_ranks_and_threads),
              ikt_test(reverse_rows_are_followed), ikt_test(lists_are_the_best_of_what_is_offered),
              ikt_test(more_is_found_and_rows_stay), ikt_test(rows_are_pulled_from_their_owners))
