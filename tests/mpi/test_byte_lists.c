/* Lists of wide rows that are searched as bytes: scores, the trial, and what is decided in the end.
 */
#include "support/ikt_test.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/rng.h"
#include "neighbours/byte_lists.h"
#include "neighbours/passes.h"
#include "neighbours/search.h"
#include "support/neighbour_lists.h"

enum { N = 700, D = 301, K = 6, STRIDE = 64 };

/* Groups; groups of which two columns stand on a wide circle; groups with one row beyond measure.
 */
typedef enum { GROUPS, SITES, FAR } kind;

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
        if (what == GROUPS) assert_true(share < .01);
        if (what == SITES) assert_true(share > .5 && share < 1);
        if (what == FAR) assert_true(share == 1);
    }
    ikt_context_destroy(&alone);
}

/* --- the lists -------------------------------------------------------------------------------- */

/* Lists by bytes with so many candidates, and what is decided of them. */
static void find(ikt_context *ctx, setting *s, int64_t candidates, ikt_neighbours *out) {
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
    assert_int_equal(ikt_neighbours_refine(ctx, &tiles, &course), IKT_OK);
    ikt_list_course_end(&course);
    ikt_tiles_destroy(&tiles);
    assert_int_equal(ikt_tiles_rows(ctx, &s->order, s->data, &tiles), IKT_OK);
    assert_int_equal(ikt_neighbours_create(ctx, &s->rows, K, out), IKT_OK);
    assert_int_equal(ikt_byte_lists_decide(ctx, &tiles, &bytes, out), IKT_OK);
    ikt_tiles_destroy(&tiles);
    ikt_neighbours_destroy(&bytes);
}

/* With all rows as candidates they are ascending by the distance, and nearly all of the nearest. */
static void lists_are_decided_by_the_distance(void **state) {
    ikt_context *ctx = *state;
    static uint32_t row_of[N];
    setting s;
    ikt_neighbours lists;
    open_setting(ctx, GROUPS, &s);
    find(ctx, &s, N, &lists);
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

static void lists_do_not_depend_on_ranks_and_threads(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    for (int threads = 1; threads <= 2; threads++) {
        uint64_t hash[2];
        ikt_context_set_threads(ctx, threads);
        for (int w = 0; w < 2; w++) {
            setting s;
            ikt_neighbours lists;
            ikt_context *on = w ? ctx : alone;
            open_setting(on, SITES, &s);
            find(on, &s, 20, &lists);
            hash[w] = hash_lists(on, &lists, s.rows.first);
            ikt_neighbours_destroy(&lists);
            close_setting(&s);
        }
        assert_true(hash[0] == hash[1]);
    }
    assert_int_equal(ikt_memory_now(alone), 0);
    ikt_context_destroy(&alone);
}

IKT_MPI_TESTS(ikt_test(scores_have_the_same_bits), ikt_test(the_trial_tells_where_bytes_do),
              ikt_test(lists_are_decided_by_the_distance),
              ikt_test(lists_do_not_depend_on_ranks_and_threads))
