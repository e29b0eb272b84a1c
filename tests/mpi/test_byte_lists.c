/* Lists of wide rows that are searched as bytes: scores, the trial, and what is decided in the end.
 */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/half.h"
#include "base/rng.h"
#include "neighbours/byte_lists.h"
#include "neighbours/local_join.h"
#include "neighbours/passes.h"
#include "neighbours/search.h"
#include "neighbours/second_neighbours.h"
#include "support/neighbour_lists.h"

enum { N = 700, D = 301, K = 6, STRIDE = 64 };

/* Groups; the same of numbers that half precision holds; groups of which two columns stand on a
 * wide circle; groups with one row beyond measure. */
typedef enum { GROUPS, HALVES, SITES, FAR } kind;

typedef struct {
    float *x; /* [N * D] */
    ikt_source *source;
    ikt_dataset *data;
    ikt_rows rows;
    float *mean;
    ikt_byte_rows bytes;
    ikt_cells cells;
    ikt_order order;
    ikt_arrays held;
} setting;

static void fill(kind what, float *x) {
    for (int64_t i = 0; i < N; i++) {
        for (int64_t k = 0; k < D; k++)
            x[i * D + k] = (float)(ikt_rng_normal(3, IKT_RNG_TEST, 10000 + i % 9, (uint64_t)k) +
                                   .3 * ikt_rng_normal(3, IKT_RNG_TEST, i, (uint64_t)k));
        for (int64_t k = 0; what == HALVES && k < D; k++)
            x[i * D + k] = ikt_half_value(ikt_half_of(x[i * D + k]));
        if (what == SITES) x[i * D] += i % 2 ? 3000 : -3000;
        if (what == FAR && i == 5) x[i * D + 7] = 3e16F;
    }
}

static void open_setting(ikt_context *ctx, kind what, setting *s) {
    const ikt_preprocess_settings raw = {.normalise = IKT_NORMALISE_NONE, .pca = 0};
    *s = (setting){.rows = ikt_rows_make(N, ikt_size(ctx), ikt_rank(ctx)),
                   .held = ikt_arrays_of(ctx, "test")};
    s->x = ikt_claim(&s->held, N * D, sizeof *s->x);
    s->mean = ikt_claim(&s->held, D, sizeof *s->mean);
    assert_int_equal(s->held.status, IKT_OK);
    fill(what, s->x);
    assert_int_equal(ikt_source_from_memory(ctx, s->x, N, D, IKT_TYPE_F32, &s->source), IKT_OK);
    assert_int_equal(ikt_dataset_create(ctx, s->source, &raw, &s->data), IKT_OK);
    const ikt_pass_rows plain = {s->data, &s->rows, 7, NULL};
    assert_int_equal(ikt_pass_order(ctx, &plain, 0, &s->cells, &s->order), IKT_OK);
    ikt_near_bytes_mean(ctx, s->cells.centre, s->cells.count, D, s->mean);
    s->bytes.mean = s->mean;
}

static void close_setting(setting *s) {
    ikt_cells_destroy(&s->cells);
    ikt_order_destroy(&s->order);
    ikt_dataset_destroy(&s->data);
    ikt_source_close(&s->source);
    ikt_arrays_free(&s->held);
}

/* --- scores ----------------------------------------------------------------------------------- */

/* Blocks and single rows have the same bits on every instruction set; and are what they stand for.
 */
static void scores_have_the_same_bits(void **state) {
    enum { OWN = 29, OTHERS = 45 };
    setting s;
    ikt_context *alone = ikt_test_alone();
    static float out[OWN * STRIDE], first[OWN * STRIDE], one[OTHERS];
    const char *other[OTHERS];
    const ikt_rows rows = ikt_rows_make(N, 1, 0);
    (void)state;
    open_setting(alone, GROUPS, &s);
    const int64_t words = ikt_near_bytes_words(D);
    int32_t *word = ikt_claim(&s.held, N * words, sizeof *word);
    ikt_scorer scorer = ikt_scorer_bytes(word, D, &rows);
    void *packed = ikt_claim(&s.held, scorer.packed_bytes(&scorer, OTHERS), 1);
    ikt_near_bytes_rows(s.x, N, D, s.mean, word);
    scorer.pack(&scorer, word + OWN * words, OTHERS, packed);
    const int64_t stride = ikt_score_stride(OTHERS);
    for (int64_t b = 0; b < OTHERS; b++)
        other[b] = (const char *)(word + (OWN + b) * words);
    for (int isa = 0; isa <= (int)ikt_cpu_isa(); isa++) {
        scorer.isa = (ikt_isa)isa;
        scorer.score(&scorer, word, OWN, packed, OTHERS, out);
        if (isa == 0) memcpy(first, out, sizeof out);
        for (int64_t a = 0; a < OWN; a++) {
            scorer.score_one(&scorer, (const char *)(word + a * words), other, OTHERS, NULL, one);
            assert_memory_equal(one, out + a * stride, sizeof one);
            assert_memory_equal(first + a * stride, out + a * stride, sizeof one);
            for (int64_t b = 0; b < OTHERS; b++) {
                double half = 0, product = 0, length = 0;
                for (int64_t k = 0; k < D; k++) {
                    const double p = (double)(s.x[a * D + k] - s.mean[k]);
                    const double q = (double)(s.x[(OWN + b) * D + k] - s.mean[k]);
                    half += q * q / 2;
                    product += p * q;
                    length += p * p / 2;
                }
                assert_true(fabs((double)one[b] - (half - product)) < .01 * (half + length));
            }
        }
    }
    close_setting(&s);
    ikt_context_destroy(&alone);
}

/* All pairs of which one row is among the first `fresh`, beside rows one by one. */
static void pairs_have_the_bits_of_rows(void **state) {
    enum { ROWS = 23, WIDE = 32 };
    setting s;
    ikt_context *alone = ikt_test_alone();
    const char *row[ROWS];
    static float out[ROWS * WIDE], one[ROWS];
    const ikt_rows rows = ikt_rows_make(N, 1, 0);
    (void)state;
    open_setting(alone, SITES, &s);
    const int64_t words = ikt_near_bytes_words(D);
    int32_t *word = ikt_claim(&s.held, N * words, sizeof *word);
    ikt_scorer scorer = ikt_scorer_bytes(word, D, &rows);
    ikt_near_bytes_rows(s.x, N, D, s.mean, word);
    for (int64_t r = 0; r < ROWS; r++)
        row[r] = (const char *)(word + r * 31 * words);
    void *scratch = ikt_claim(&s.held, 1, (size_t)scorer.pairs_bytes(ROWS, D));
    assert_int_equal(ikt_score_stride(ROWS), WIDE);
    for (int isa = 0; isa <= (int)ikt_cpu_isa(); isa++)
        for (int64_t fresh = 0; fresh <= ROWS; fresh += fresh == 7 ? 16 : 7) {
            scorer.isa = (ikt_isa)isa;
            memset(out, 0xFF, sizeof out);
            scorer.score_pairs(&scorer, row, fresh, ROWS, scratch, out);
            for (int64_t a = 0; a < ROWS; a++) {
                scorer.score_one(&scorer, row[a], row, ROWS, NULL, one);
                for (int64_t b = 0; b < (a < fresh ? ROWS : fresh); b++)
                    if (a != b) assert_memory_equal(&one[b], &out[a * WIDE + b], sizeof *one);
            }
        }
    close_setting(&s);
    ikt_context_destroy(&alone);
}

/* --- the trial -------------------------------------------------------------------------------- */

static double share_of(ikt_context *ctx, kind what) {
    setting s;
    double share;
    open_setting(ctx, what, &s);
    assert_int_equal(ikt_byte_lists_try(ctx, s.data, &s.rows, K, &s.held, &s.bytes, &share),
                     IKT_OK);
    close_setting(&s);
    return share;
}

static void the_trial_tells_where_bytes_do(void **state) {
    ikt_context *alone = ikt_test_alone();
    for (int what = GROUPS; what <= FAR; what++) {
        const double share = share_of(*state, (kind)what);
        assert_true(share == share_of(alone, (kind)what));
        if (what <= HALVES) assert_true(share < .01);
        if (what == SITES) assert_true(share > .5 && share < 1);
        if (what == FAR) assert_true(share == 1);
    }
    ikt_context_destroy(&alone);
}

/* --- the lists -------------------------------------------------------------------------------- */

/* Lists by bytes with so many candidates, and what is decided of them, by rows in half precision or
 * by floats. */
static void find(ikt_context *ctx, setting *s, int64_t candidates, bool is_half,
                 ikt_neighbours *out) {
    double share;
    ikt_tiles tiles = {0};
    ikt_neighbours bytes;
    ikt_list_course course = {.lists = &bytes};
    const ikt_pass_rows rows = {s->data, &s->rows, 7, &s->bytes};
    assert_int_equal(ikt_byte_lists_try(ctx, s->data, &s->rows, K, &s->held, &s->bytes, &share),
                     IKT_OK);
    assert_int_equal(ikt_neighbours_create(ctx, &s->rows, ikt_byte_lists_length(N, K), &bytes),
                     IKT_OK);
    assert_int_equal(ikt_pass_search(ctx, &rows, &s->order, candidates, &tiles, &course), IKT_OK);
    ikt_list_course_next(&course);
    assert_int_equal(ikt_pass_tiles(ctx, &rows, &s->cells, &s->order, &tiles), IKT_OK);
    assert_int_equal(ikt_neighbours_search(ctx, &s->cells, &tiles, candidates, &course), IKT_OK);
    ikt_list_course_next(&course);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(ikt_neighbours_refine(ctx, &tiles, &course), IKT_OK);
        ikt_list_course_next(&course);
    }
    ikt_list_course_end(&course);
    ikt_tiles_destroy(&tiles);
    assert_int_equal(ikt_tiles_rows(ctx, &s->order, s->data, is_half, &tiles), IKT_OK);
    assert_int_equal(ikt_neighbours_create(ctx, &s->rows, K, out), IKT_OK);
    assert_int_equal(ikt_byte_lists_decide(ctx, &tiles, &bytes, out), IKT_OK);
    ikt_tiles_destroy(&tiles);
    ikt_neighbours_destroy(&bytes);
}

enum { LIST = K + K / 2 + 8, WAYS = IKT_REFINE_NEAR + 1 };

/* What the lists have to be after a round: the best of what they were and of all pairs of rows that
 * are near one row, or near it and the row itself. */
static void join_plainly(const ikt_tiles *tiles, const uint32_t *nearest, int64_t near,
                         ikt_neighbours *lists) {
    const ikt_scorer *scorer = &tiles->scorer;
    static bool is_met[N][N];
    memset(is_met, 0, sizeof is_met);
    for (uint32_t v = 0; v < N; v++) {
        uint32_t of[WAYS] = {v};
        memcpy(of + 1, nearest + v * near, (size_t)near * sizeof *of);
        for (int64_t a = 0; a <= near; a++)
            for (int64_t b = 0; b <= near; b++)
                is_met[of[a]][of[b]] = of[a] != of[b];
    }
    for (int64_t a = 0; a < N; a++) {
        float *score = lists->score + a * LIST;
        uint32_t *row = lists->row + a * LIST;
        for (int64_t e = 0; e < LIST; e++)
            is_met[a][row[e]] = true;
        ikt_best_clear(score, row, LIST);
        for (int64_t b = 0; b < N; b++) {
            const char *other = tiles->data + b * scorer->row_bytes;
            float value;
            if (!is_met[a][b]) continue;
            scorer->score_one(scorer, tiles->data + a * scorer->row_bytes, &other, 1, NULL, &value);
            ikt_best_offer(score, row, LIST, value, (uint32_t)b);
        }
        ikt_best_sort(score, row, LIST);
    }
}

/* Half of what is set aside is a row's own list; the other half are rows that have it in theirs,
 * the farthest of these, where there are so many. */
static void check_near(const ikt_neighbours *before, const uint32_t *nearest, int64_t near) {
    const int64_t half = near / 2, mentioned = near < LIST ? near : LIST;
    for (int64_t i = 0; i < N; i++) {
        const uint32_t *of = nearest + i * near;
        float least = INFINITY; /* of the farther half that was taken */
        int64_t others = 0, taken = 0;
        assert_memory_equal(of, before->row + i * LIST, (size_t)half * sizeof *of);
        for (int pass = 0; pass < 2; pass++)
            for (int64_t j = 0; j < N; j++)
                for (int64_t e = 0; e < mentioned; e++) {
                    const float score = before->score[j * LIST + e];
                    bool is_own = false, is_taken = false;
                    if (before->row[j * LIST + e] != i) continue;
                    for (int64_t f = 0; f < near; f++) {
                        is_own |= f < half && of[f] == j;
                        is_taken |= f >= half && of[f] == j;
                    }
                    if (is_own) continue;
                    if (pass == 0) {
                        others++;
                        taken += is_taken;
                        if (is_taken && score < least) least = score;
                    } else if (!is_taken) {
                        assert_true(score <= least);
                    }
                }
        assert_true(taken >= (others < half ? others : half));
    }
}

/* Two rounds, of which the second leaves out what the first has compared. */
static void a_join_meets_all_pairs_of_near_rows(void **state) {
    ikt_context *alone = ikt_test_alone();
    static uint32_t row[N * LIST];
    static float score[N * LIST];
    setting s;
    double share;
    ikt_tiles tiles = {0};
    ikt_neighbours lists, plain = {N, LIST, row, score};
    ikt_list_course course = {.lists = &lists};
    (void)state;
    open_setting(alone, GROUPS, &s);
    const ikt_pass_rows rows = {s.data, &s.rows, 7, &s.bytes};
    assert_int_equal(ikt_byte_lists_try(alone, s.data, &s.rows, K, &s.held, &s.bytes, &share),
                     IKT_OK);
    assert_int_equal(ikt_neighbours_create(alone, &s.rows, LIST, &lists), IKT_OK);
    assert_int_equal(ikt_pass_tiles(alone, &rows, &s.cells, &s.order, &tiles), IKT_OK);
    assert_int_equal(ikt_neighbours_search(alone, &s.cells, &tiles, 20, &course), IKT_OK);
    for (int round = 0; round < 3; round++) {
        ikt_list_course_next(&course);
        ikt_neighbours_sort(alone, &lists);
        memcpy(row, lists.row, sizeof row);
        memcpy(score, lists.score, sizeof score);
        assert_int_equal(ikt_local_join(alone, &tiles, &course), IKT_OK);
        check_near(&plain, course.before, ikt_second_neighbours_near(LIST));
        join_plainly(&tiles, course.before, ikt_second_neighbours_near(LIST), &plain);
        ikt_neighbours_sort(alone, &lists);
        assert_memory_equal(lists.row, row, sizeof row);
        assert_memory_equal(lists.score, score, sizeof score);
    }
    ikt_list_course_end(&course);
    ikt_tiles_destroy(&tiles);
    ikt_neighbours_destroy(&lists);
    close_setting(&s);
    assert_int_equal(ikt_memory_now(alone), 0);
    ikt_context_destroy(&alone);
}

/* With all rows as candidates they are ascending by the distance, and nearly all of the nearest. */
static void lists_are_decided_by_the_distance(void **state) {
    ikt_context *ctx = *state;
    static uint32_t row_of[N];
    setting s;
    ikt_neighbours lists;
    open_setting(ctx, GROUPS, &s);
    find(ctx, &s, N, false, &lists);
    memset(row_of, 0, sizeof row_of);
    for (int64_t i = 0; i < s.rows.count; i++)
        row_of[s.rows.first + i] = s.order.row[i];
    for (int64_t i = 0; i < N; i++)
        row_of[i] = (uint32_t)ikt_sum_one(ctx, row_of[i]);
    int64_t nearest = 0;
    for (int64_t i = 0; i < s.rows.count; i++) {
        const float *own = s.x + (int64_t)s.order.row[i] * D;
        float distance[N];
        for (int64_t j = 0; j < N; j++) {
            const float *other = s.x + (int64_t)row_of[j] * D;
            distance[j] = 0;
            for (int64_t k = 0; k < D; k++)
                distance[j] = fmaf(own[k] - other[k], own[k] - other[k], distance[j]);
        }
        for (int64_t e = i * K; e < (i + 1) * K; e++) {
            int64_t before = 0;
            assert_true(lists.row[e] != s.rows.first + i);
            assert_true(lists.score[e] == distance[lists.row[e]]);
            assert_true(e == i * K || lists.score[e] > lists.score[e - 1]);
            for (int64_t j = 0; j < N; j++)
                before += j != s.rows.first + i && distance[j] < lists.score[e];
            nearest += before < K;
        }
    }
    assert_true(ikt_sum_one(ctx, nearest) > 99 * N * K / 100);
    ikt_neighbours_destroy(&lists);
    close_setting(&s);
}

/* Rows in half precision, where that holds them, are the same rows: lists and recall. */
static void halves_decide_as_floats_do(void **state) {
    ikt_context *ctx = *state;
    uint64_t hash[2];
    ikt_recall recall[2];
    for (int is_half = 0; is_half < 2; is_half++) {
        setting s;
        ikt_neighbours lists;
        ikt_tiles tiles = {0};
        open_setting(ctx, HALVES, &s);
        find(ctx, &s, 20, is_half, &lists);
        assert_true(s.bytes.is_half);
        hash[is_half] = hash_lists(ctx, &lists, s.rows.first);
        assert_int_equal(ikt_tiles_rows(ctx, &s.order, s.data, is_half, &tiles), IKT_OK);
        assert_int_equal(tiles.scorer.row_bytes, is_half ? 2 * D : 4 * D);
        assert_int_equal(ikt_recall_measure(ctx, &tiles, &lists, 3, 40, &recall[is_half]), IKT_OK);
        ikt_tiles_destroy(&tiles);
        ikt_neighbours_destroy(&lists);
        close_setting(&s);
    }
    assert_true(hash[0] == hash[1]);
    assert_memory_equal(&recall[0], &recall[1], sizeof recall[0]);
    assert_true(recall[0].found > .95 && recall[0].found <= 1);
}

/* The scores of both forms, in blocks and one by one, on every instruction set. */
static void halves_have_the_scores_of_floats(void **state) {
    enum { OWN = 5, OTHERS = 37 };
    setting s;
    ikt_context *alone = ikt_test_alone();
    static float out[2][OWN * STRIDE], one[2][OTHERS];
    const char *other[2][OTHERS];
    const ikt_rows rows = ikt_rows_make(N, 1, 0);
    (void)state;
    open_setting(alone, HALVES, &s);
    uint16_t *half = ikt_claim(&s.held, N * D, sizeof *half);
    assert_int_equal(ikt_scorer_read_halves(alone, s.data, &rows, half), IKT_OK);
    ikt_scorer scorer[] = {ikt_scorer_rows(&ikt_metric_euclidean, s.x, D, &rows),
                           ikt_scorer_halves(&ikt_metric_euclidean, half, D, &rows)};
    const char *plain[] = {(const char *)s.x, (const char *)half};
    float *packed = ikt_claim(&s.held, scorer->packed_bytes(scorer, OTHERS), 1);
    float *wide = ikt_claim(&s.held, OWN * D, sizeof *wide);
    char *scratch = ikt_claim(&s.held, scorer[1].scratch_bytes, 1);
    for (int isa = 0; isa <= (int)ikt_cpu_isa(); isa++) {
        for (int f = 0; f < 2; f++) {
            const int64_t bytes = scorer[f].row_bytes;
            scorer[f].isa = (ikt_isa)isa;
            if (f) scorer[f].widen(&scorer[f], half, OWN, wide);
            for (int64_t b = 0; b < OTHERS; b++)
                other[f][b] = plain[f] + (OWN + b) * bytes;
            memset(packed, 0xFF, (size_t)scorer->packed_bytes(scorer, OTHERS));
            scorer[f].pack(&scorer[f], other[f][0], OTHERS, packed);
            scorer[f].score(&scorer[f], f ? wide : s.x, OWN, packed, OTHERS, out[f]);
            scorer[f].score_one(&scorer[f], plain[f], other[f], OTHERS, scratch, one[f]);
        }
        for (int64_t a = 0; a < OWN; a++)
            assert_memory_equal(out[0] + a * ikt_score_stride(OTHERS),
                                out[1] + a * ikt_score_stride(OTHERS), OTHERS * sizeof **out);
        assert_memory_equal(one[0], one[1], sizeof *one);
        assert_memory_equal(one[0], out[0], sizeof *one);
    }
    close_setting(&s);
    ikt_context_destroy(&alone);
}

static void lists_do_not_depend_on_ranks_and_threads(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    for (int threads = 1; threads <= 2; threads++) {
        uint64_t hash[2];
        ikt_context_set_threads(ctx, threads);
        if (threads == 2) ikt_set_piece_bytes(ctx, 1 << 20); /* which makes batches small */
        for (int w = 0; w < 2; w++) {
            setting s;
            ikt_neighbours lists;
            ikt_context *on = w ? ctx : alone;
            open_setting(on, SITES, &s);
            find(on, &s, 20, false, &lists);
            hash[w] = hash_lists(on, &lists, s.rows.first);
            ikt_neighbours_destroy(&lists);
            close_setting(&s);
        }
        assert_true(hash[0] == hash[1]);
    }
    assert_int_equal(ikt_memory_now(alone), 0);
    ikt_context_destroy(&alone);
}

IKT_MPI_TESTS(ikt_test(scores_have_the_same_bits), ikt_test(pairs_have_the_bits_of_rows),
              ikt_test(a_join_meets_all_pairs_of_near_rows),
              ikt_test(the_trial_tells_where_bytes_do), ikt_test(lists_are_decided_by_the_distance),
              ikt_test(halves_decide_as_floats_do), ikt_test(halves_have_the_scores_of_floats),
              ikt_test(lists_do_not_depend_on_ranks_and_threads))
