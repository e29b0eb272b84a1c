/* Lists by distances that follow labels: against the formulas in double precision, over ranks and
 * threads, with and without bounds; the figures. */
#include "base/sort.h"
#include "neighbours/fisher_batch.h"
#include "support/fisher_ref.h"
#include "support/fisher_run.h"

enum { MOST = 300 };

/* --- the reference ---------------------------------------------------------------------------- */

static double plain_squared(int64_t a, int64_t b, int64_t n, labelling how) {
    double sum = 0;
    for (int64_t c = 0; c < D; c++)
        sum += pow((double)value_of(a, c, n, how) - (double)value_of(b, c, n, how), 2);
    return sum;
}

/* Log-weights of all rows, natural logarithms, and which entry a row has. */
typedef struct {
    double a[MOST][MOST];
    int64_t entry[MOST];
    bool leaves_out;
    double plain; /* what squared plain distances count */
    int64_t n;
    labelling how;
    const ikt_class_outcome *o;
} reference;

static reference ref; /* too large for a stack */

static void refer(const made *m, int64_t n, labelling how) {
    const ikt_class_support *s = &m->outcome.support;
    const double sigma = m->outcome.sigma.sigma;
    ref.leaves_out = m->settings.affinity.fisher.own == IKT_OWN_LEFT_OUT;
    ref.n = n;
    ref.how = how;
    ref.o = &m->outcome;
    ref.plain = 0;
    for (int64_t i = 0; i < n; i++) {
        ref.entry[i] = -1;
        for (int64_t l = 0; l < s->m; l++) {
            ref.a[i][l] = -plain_squared(i, s->row[l], n, how) / (2 * sigma * sigma);
            if (s->row[l] == i) ref.entry[i] = l;
        }
    }
    const double e = m->settings.affinity.fisher.euclidean;
    if (e > 0) { /* n is below 512: the median of all pairs */
        static double all[MOST * MOST];
        int64_t pairs = 0;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < i; j++)
                all[pairs++] = sqrt(plain_squared(i, j, n, how));
        ikt_sort_f64(all, pairs);
        ref.plain = pow(e * 3.14159265358979323846 / all[pairs / 2], 2);
    }
}

static double ref_squared(const made *m, int64_t i, int64_t j) {
    const ikt_fisher_settings *f = &m->settings.affinity.fisher;
    const ref_pair pair = {.m = ref.o->support.m,
                           .classes = ref.o->classes.classes,
                           .of = ref.o->support.of,
                           .low = ref.a[i],
                           .high = ref.a[j],
                           .one = ref.leaves_out ? ref.entry[i] : -1,
                           .another = ref.leaves_out ? ref.entry[j] : -1};
    const double d = ref_distance(&pair, (ikt_segment_rule)f->rule, (int)f->points);
    return d * d + ref.plain * plain_squared(i, j, ref.n, ref.how);
}

/* Own lists hold the least distances there are, and those are right. */
static void check_lists(const made *m) {
    static double sorted[MOST];
    for (int64_t i = 0; i < m->rows.count; i++) {
        const int64_t row = m->rows.first + i;
        int64_t count = 0;
        for (int64_t j = 0; j < ref.n; j++)
            if (j != row) sorted[count++] = ref_squared(m, row, j);
        ikt_sort_f64(sorted, count);
        for (int64_t e = 0; e < m->lists.k; e++) {
            const double score = (double)m->lists.score[i * m->lists.k + e];
            const int64_t other = m->lists.row[i * m->lists.k + e];
            assert_true(other != row && other < ref.n);
            assert_true(fabs(score - sorted[e]) < 2e-5 * (1 + sorted[e]));
            assert_true(fabs(score - ref_squared(m, row, other)) < 2e-5 * (1 + sorted[e]));
        }
    }
}

static void lists_are_those_of_the_formulas(void **state) {
    ikt_context *ctx = *state;
    static const char *const text[] = {"fisher.support=60 fisher.own=left_out",
                                       "fisher.support=60 fisher.own=kept",
                                       "fisher.support=40 fisher.euclidean=0.3",
                                       "fisher.points=0 fisher.sigma=1.3",
                                       "fisher.points=2 fisher.support=50 fisher.sigma=perplexity",
                                       "fisher.rule=trapezoid fisher.support=50",
                                       "fisher.rule=outer fisher.support=50"};
    for (size_t t = 0; t < sizeof text / sizeof *text; t++) {
        made m;
        make(ctx, N, MIXED, text[t], &m);
        assert_true(m.outcome.proved == 1);
        refer(&m, N, MIXED);
        check_lists(&m);
        for (int64_t i = 0; ikt_size(ctx) == 1 && i < N; i++) /* d(i, j) = d(j, i), bit for bit */
            for (int64_t e = 0; e < m.lists.k; e++) {
                const int64_t j = m.lists.row[i * m.lists.k + e];
                for (int64_t back = 0; back < m.lists.k; back++)
                    if (m.lists.row[j * m.lists.k + back] == i)
                        assert_true(m.lists.score[j * m.lists.k + back] ==
                                    m.lists.score[i * m.lists.k + e]);
            }
        for (int64_t i = 0; i < m.rows.count; i++) { /* p, own entry left out */
            const int64_t row = m.rows.first + i;
            const ref_pair pair = {.m = m.outcome.support.m,
                                   .classes = C,
                                   .of = m.outcome.support.of,
                                   .low = ref.a[row],
                                   .high = ref.a[row],
                                   .one = ref.leaves_out ? ref.entry[row] : -1,
                                   .another = -1};
            double p[REF_CLASSES_MOST];
            ref_point(&pair, 0, p);
            for (int c = 0; c < C; c++)
                assert_true(fabs((double)m.outcome.posterior[i * C + c] - p[c]) < 5e-6);
        }
        unmake(&m);
    }
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* --- bounds and candidates -------------------------------------------------------------------- */

static uint64_t lists_of_some(ikt_context *ctx, int64_t n, const char *text, manner how,
                              double *proved) {
    made m;
    begin(ctx, n, MIXED, text, &m);
    succeed(ctx, run(ctx, &m, K, how));
    const uint64_t hash = lists_hash(ctx, &m);
    if (proved) *proved = m.outcome.proved;
    if (m.recall.sample > 0) assert_true(m.recall.found >= m.outcome.proved - 1e-12);
    unmake(&m);
    return hash;
}

static uint64_t lists_of(ikt_context *ctx, const char *text, manner how, double *proved) {
    return lists_of_some(ctx, N, text, how, proved);
}

static void bounds_and_candidates_give_the_same_lists(void **state) {
    ikt_context *ctx = *state;
    static const char *const text[] = {"fisher.support=60", "fisher.support=60 fisher.own=kept",
                                       "fisher.support=60 fisher.euclidean=0.5",
                                       "fisher.support=30 fisher.points=4 fisher.sigma=0.7",
                                       "fisher.points=7 fisher.sigma=3"};
    char whole[256];
    for (size_t t = 0; t < sizeof text / sizeof *text; t++) {
        double proved;
        const uint64_t all = lists_of(ctx, text[t], COMPUTES_ALL, NULL);
        assert_true(lists_of(ctx, text[t], USUAL, &proved) == all);
        assert_true(proved == 1);
        assert_true(lists_of(ctx, text[t], ORDERS, &proved) == all);
        assert_true(proved == 1);
        snprintf(whole, sizeof whole, "%s fisher.candidates=posterior fisher.among=%d", text[t],
                 N - 1);
        assert_true(lists_of(ctx, whole, USUAL, &proved) == all);
        assert_true(proved == 1);
        snprintf(whole, sizeof whole, "%s fisher.candidates=euclidean fisher.among=%d", text[t],
                 N - 1);
        assert_true(lists_of(ctx, whole, USUAL, &proved) == all);
        assert_true(proved == 1);
        /* Near cells that hold all rows leave none out, but prove nothing. */
        snprintf(whole, sizeof whole, "%s fisher.candidates=near fisher.among=%d", text[t], N);
        assert_true(lists_of(ctx, whole, USUAL, &proved) == all);
        assert_true(proved == 0);
    }
}

/* Of rows of near cells the lists hold most of the true neighbours, and the run says how many: all
 * rows are its sample here. */
static void near_cells_find_what_they_say(void **state) {
    ikt_context *ctx = *state;
    static const char *const run[] = {
        "fisher.support=40 fisher.euclidean=0.3 fisher.candidates=near",
        "fisher.support=60 fisher.candidates=near",
        "fisher.support=60 fisher.euclidean=3 fisher.candidates=near"};
    for (size_t t = 0; t < sizeof run / sizeof *run; t++) {
        made all, m;
        char text[256];
        make(ctx, N, MIXED, run[t], &m);
        assert_int_equal(m.outcome.among, 2000); /* what auto is; all rows are in it */
        assert_true(m.recall.found == 1);
        unmake(&m);
        snprintf(text, sizeof text, "%s fisher.among=%d", run[t], 40);
        make(ctx, N, MIXED, text, &m);
        snprintf(text, sizeof text, "%s fisher.candidates=all", run[t]);
        make(ctx, N, MIXED, text, &all);
        int64_t found = 0;
        for (int64_t i = 0; i < m.rows.count; i++)
            for (int64_t e = 0; e < K; e++)
                found += m.lists.score[i * K + e] <= all.lists.score[i * K + K - 1];
        const double share = (double)ikt_sum_one(ctx, found) / (N * K);
        assert_int_equal(m.recall.sample, N);
        assert_true(fabs(m.recall.found - share) < 1e-12);
        assert_true(share > 0.98 && share < 1);
        unmake(&m);
        unmake(&all);
    }
}

/* A row of the support whose label is hidden among those of another class is among the nearest to
 * the rows that stand where it does: without its weight their probabilities are its own. Theirs are
 * those of its label, so that blocks of the support must be looked at however far they seem to be.
 */
static void blocks_of_the_support_are_not_passed_over(void **state) {
    ikt_context *ctx = *state;
    made m;
    begin(ctx, 1310, HIDDEN,
          "fisher.support=1200 fisher.sigma=0.15 fisher.points=0 fisher.euclidean=0.01", &m);
    succeed(ctx, run(ctx, &m, K, ORDERS));
    for (int64_t i = 0; i < m.rows.count; i++) {
        const int64_t row = m.rows.first + i;
        if (hidden_from(row) == row) continue;
        bool is_there = false;
        for (int64_t e = 0; e < K; e++) {
            assert_true(m.lists.score[i * K + e] == 0);
            is_there = is_there || m.lists.row[i * K + e] == hidden_from(row);
        }
        assert_true(is_there);
    }
    unmake(&m);
}

static void blocks_are_met_from_near_to_far(void **state) {
    (void)state;
    for (int64_t blocks = 1; blocks <= 9; blocks++)
        for (int64_t from = 0; from < blocks; from++) {
            int seen[9] = {0};
            int64_t before = 0;
            for (int64_t i = 0; i < blocks; i++) {
                const int64_t block = ikt_fisher_outward(from, i, blocks);
                const int64_t steps = block < from ? from - block : block - from;
                assert_true(block >= 0 && block < blocks && steps >= before);
                seen[block]++;
                before = steps;
            }
            for (int64_t block = 0; block < blocks; block++)
                assert_int_equal(seen[block], 1);
        }
}

/* Rows that are held in an order of their own: the same candidates, lists and proofs. */
static void the_order_of_rows_changes_no_list(void **state) {
    ikt_context *ctx = *state;
    static const char *const text[] = {
        "fisher.support=40 fisher.among=30", "fisher.support=40 fisher.among=60 fisher.own=kept",
        "fisher.support=40 fisher.among=30 fisher.euclidean=0.3",
        "fisher.support=40 fisher.among=30 fisher.rule=trapezoid fisher.euclidean=0.3",
        "fisher.sigma=0.3 fisher.among=90 fisher.points=2"};
    static const char *const candidates[] = {"posterior", "euclidean"};
    const int64_t many = 1600; /* several blocks on a rank, of which most are far */
    for (size_t t = 0; t < 2 * sizeof text / sizeof *text; t++) {
        char whole[256];
        double proved, again;
        snprintf(whole, sizeof whole, "%s fisher.candidates=%s", text[t / 2], candidates[t % 2]);
        const uint64_t usual = lists_of(ctx, whole, USUAL, &proved);
        assert_true(lists_of(ctx, whole, ORDERS, &again) == usual);
        assert_true(proved == again);
        if (t != 0 && t != 4) continue;
        const uint64_t usual_many = lists_of_some(ctx, many, whole, USUAL, &proved);
        assert_true(lists_of_some(ctx, many, whole, ORDERS, &again) == usual_many);
        assert_true(proved == again);
    }
    const uint64_t all =
        lists_of_some(ctx, many, "fisher.support=40 fisher.sigma=0.4", USUAL, NULL);
    assert_true(lists_of_some(ctx, many, "fisher.support=40 fisher.sigma=0.4", ORDERS, NULL) ==
                all);
}

/* Fewer candidates: what is called proved is what all rows give. */
static void check_proofs(ikt_context *ctx, const char *usual) {
    static const int64_t among[] = {13, 20, 30, 50, 90, 150};
    double before = -1;
    char text[128];
    made all;
    make(ctx, N, MIXED, usual, &all);
    bool is_some = false;
    for (size_t e = 0; e < sizeof among / sizeof *among; e++) {
        made m;
        snprintf(text, sizeof text, "%s fisher.candidates=posterior fisher.among=%d", usual,
                 (int)among[e]);
        make(ctx, N, MIXED, text, &m);
        int64_t same = 0;
        for (int64_t i = 0; i < m.rows.count; i++) {
            const size_t bytes = (size_t)m.lists.k * 4;
            const int64_t at = i * m.lists.k;
            same += memcmp(m.lists.row + at, all.lists.row + at, bytes) == 0 &&
                    memcmp(m.lists.score + at, all.lists.score + at, bytes) == 0;
        }
        const double share = (double)ikt_sum_one(ctx, same) / N;
        assert_true(share >= m.outcome.proved - 1e-12);
        assert_true(m.outcome.proved >= before);
        is_some = is_some || (m.outcome.proved > 0.3 && m.outcome.proved < 1);
        before = m.outcome.proved;
        assert_int_equal(m.recall.sample, N); /* a draw of all of them */
        assert_true(fabs(m.recall.found - 1) < 1e-12 || m.recall.found < 1);
        assert_true(m.recall.found >= share - 1e-12);
        unmake(&m);
    }
    assert_true(is_some && before > 0.9);
    unmake(&all);
}

static void what_is_proved_is_complete(void **state) {
    check_proofs(*state, "fisher.support=40");
    check_proofs(*state, "fisher.support=40 fisher.euclidean=0.3");
}

/* --- ranks and threads ------------------------------------------------------------------------ */

static void bits_do_not_depend_on_ranks_or_threads(void **state) {
    ikt_context *ctx = *state, *alone = ikt_test_alone();
    ikt_context_set_log(alone, IKT_LOG_ERROR);
    static const struct {
        int64_t n;
        labelling how;
        const char *text;
    } run[] = {{N, MIXED, "fisher.support=60"},
               {N, SORTED, "fisher.support=30 fisher.own=kept"},
               {N, TWINS, "fisher.support=60 fisher.euclidean=0.2"},
               {N, MIXED, "fisher.candidates=posterior fisher.among=30 fisher.support=30"},
               {N, SORTED, "fisher.candidates=euclidean fisher.among=30 fisher.permute=yes"},
               {N, MIXED, "fisher.rule=outer fisher.support=20"},
               {N, MIXED, "fisher.candidates=near fisher.among=40 fisher.support=30"},
               {N, TWINS, "fisher.candidates=near fisher.among=30 fisher.euclidean=0.3"},
               {1600, SORTED,
                "fisher.candidates=near fisher.among=200 fisher.euclidean=0.2 fisher.support=40"},
               {5, EVERY, "fisher.candidates=near fisher.sigma=1 fisher.support=5"},
               {5, EVERY, "fisher.sigma=1 fisher.support=5"}};
    for (size_t r = 0; r < sizeof run / sizeof *run; r++) {
        const int64_t n = run[r].n;
        made m;
        uint64_t hash = 0;
        for (int turn = 0; turn < 3; turn++) {
            ikt_context *c = turn == 0 ? alone : ctx;
            if (turn > 0) ikt_context_set_threads(ctx, turn);
            begin(c, n, run[r].how, run[r].text, &m);
            for (int64_t i = 0; n < 2 * C && i < m.rows.count; i++)
                m.labels[i] = (m.rows.first + i) % 2;
            const ikt_class_search job = {.settings = &m.settings,
                                          .data = m.data,
                                          .rows = &m.rows,
                                          .labels = m.rows.count > 0 ? m.labels : NULL,
                                          .k = n - 1 < K ? n - 1 : K};
            succeed(c, ikt_class_search_run(c, &job, false, &m.lists, &m.recall, &m.outcome));
            const uint64_t found = hash_of(c, &m);
            if (turn == 0) hash = found;
            assert_true(found == hash);
            unmake(&m);
        }
    }
    ikt_context_destroy(&alone);
}

/* --- figures -----------------------------------------------------------------------------------
 */

/* Errors of held-out rows by their nearest rows with a label, in double precision. */
static void figures_are_those_of_the_nearest_train_rows(void **state) {
    ikt_context *ctx = *state;
    made m;
    make(ctx, N, MIXED, "fisher.support=60", &m);
    refer(&m, N, MIXED);
    const ikt_class_rows *c = &m.outcome.classes;
    int64_t wrong = 0, by_p = 0, rows = 0, close = 0;
    assert_int_equal(c->classes, C);
    assert_int_equal(c->value[2], 20);
    for (int64_t i = 0; i < N; i++) {
        const int64_t label = label_of(i, N, MIXED);
        assert_int_equal(c->known[i], label < 0 ? -1 : label / 10);
        if (label < 0 || ref.entry[i] >= 0) continue;
        double least = INFINITY, second = INFINITY, p[REF_CLASSES_MOST];
        int64_t nearest = -1;
        for (int64_t j = 0; j < N; j++) {
            if (j == i || label_of(j, N, MIXED) < 0) continue;
            const double d = ref_squared(&m, i, j);
            second = fmin(second, fmax(d, least));
            if (d < least) nearest = j;
            least = fmin(d, least);
        }
        close += second < least + 1e-4; /* which of the two is nearer rounding decides */
        wrong += label_of(nearest, N, MIXED) != label;
        const ref_pair pair = {
            m.outcome.support.m, C, m.outcome.support.of, ref.a[i], ref.a[i], -1, -1};
        ref_point(&pair, 0, p);
        int best = 0;
        for (int e = 1; e < C; e++)
            if (p[e] > p[best]) best = e;
        by_p += 10 * best != label;
        rows++;
    }
    assert_int_equal(m.outcome.held_out.rows, rows);
    assert_int_equal(m.outcome.held_out.sample, rows);
    assert_true(fabs(m.outcome.held_out.space_nearest * (double)rows - (double)wrong) <=
                (double)close + 1e-9);
    assert_true(close < rows / 4);
    assert_true(fabs(m.outcome.held_out.posterior * (double)rows - (double)by_p) < 1e-9);
    assert_true(wrong > 0 && by_p > 0);
    /* A map in which every row lies at its class: nobody is wrong there. */
    float *y = NULL;
    succeed(ctx, ikt_alloc(ctx, &y, 2 * m.rows.count, sizeof *y, "test"));
    for (int64_t i = 0; i < m.rows.count; i++) {
        y[2 * i] = (float)(true_label(m.rows.first + i, N, MIXED) * 100);
        y[2 * i + 1] = (float)i;
    }
    succeed(ctx, ikt_figures_of_map(ctx, &m.rows, 2, y, &m.outcome));
    assert_true(m.outcome.held_out.map_nearest == 0 && m.outcome.used.map_votes == 0);
    for (int64_t i = 0; i < m.rows.count; i++) /* pairs of rows of other classes */
        y[2 * i] = (float)(((m.rows.first + i) / 2) * 1000), y[2 * i + 1] = 0;
    succeed(ctx, ikt_figures_of_map(ctx, &m.rows, 2, y, &m.outcome));
    assert_true(m.outcome.held_out.map_nearest > 0.7);
    ikt_free(&y);
    unmake(&m);
}

IKT_MPI_TESTS(ikt_test(lists_are_those_of_the_formulas),
              ikt_test(bounds_and_candidates_give_the_same_lists),
              ikt_test(near_cells_find_what_they_say),
              ikt_test(blocks_of_the_support_are_not_passed_over),
              ikt_test(blocks_are_met_from_near_to_far),
              ikt_test(the_order_of_rows_changes_no_list), ikt_test(what_is_proved_is_complete),
              ikt_test(bits_do_not_depend_on_ranks_or_threads),
              ikt_test(figures_are_those_of_the_nearest_train_rows))
