/* Lists by distances that follow labels: against the formulas in double precision, over ranks and
 * threads, with and without bounds; what labels may and may not change; the figures. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/row_hash.h"
#include "base/sort.h"
#include "config/config.h"
#include "neighbours/fisher_batch.h"
#include "pipeline/discriminative.h"
#include "support/expect.h"
#include "support/fisher_ref.h"
#include "support/ikt_test.h"

enum { N = 230, D = 6, C = 4, K = 12, MOST = 300 };

static double normal(int64_t row, int64_t column) {
    return ikt_rng_normal(5, IKT_RNG_TEST, row, (uint64_t)column);
}

/* How the rows are labelled. */
typedef enum { MIXED, SORTED, EVERY, TWINS, HIDDEN } labelling;

/* Hidden: two classes far apart. Of their labelled rows the first eight have the label of the other
 * class, and each of these stands in one place with rows without a label. */
enum { HIDDEN_ROWS = 8, HIDDEN_LABELLED = 1200, HIDDEN_EACH = K + 1 };

static int64_t hidden_from(int64_t row) {
    const int64_t of = (row - HIDDEN_LABELLED) / HIDDEN_EACH;
    return row >= HIDDEN_LABELLED && of < HIDDEN_ROWS ? of : row;
}

static int64_t hidden_label(int64_t row) {
    if (row >= HIDDEN_LABELLED) return -1;
    return 10 * (row < HIDDEN_ROWS ? 1 - row % 2 : row % 2);
}

static int64_t true_label(int64_t row, int64_t n, labelling how) {
    return how == SORTED ? row * C / n : row % C;
}

/* A seventh of the rows has no label; of sorted ones the last third has none. */
static int64_t label_of(int64_t row, int64_t n, labelling how) {
    if (how == HIDDEN) return hidden_label(row);
    const bool is_none = how == MIXED ? row % 7 == 3 : how == SORTED && row % 3 == 2;
    return is_none ? -1 - row % 2 : 10 * true_label(row, n, how);
}

/* Twins: every row twice, with another label. */
static float value_of(int64_t row, int64_t column, int64_t n, labelling how) {
    const int64_t from = how == TWINS ? row / 2 : how == HIDDEN ? hidden_from(row) : row;
    if (how == HIDDEN && from < HIDDEN_ROWS) /* away from each other */
        return (float)(column == 0 ? from % 2 * 40 : column == 2 + from / 2 ? 6 : 0);
    if (how == HIDDEN)
        return (float)(normal(from, column) + (column == 0 ? (double)(from % 2 * 40) : 0));
    return (float)(normal(from, column) + (true_label(from, n, how) == column ? 2 : 0));
}

/* --- one search ------------------------------------------------------------------------------- */

typedef struct {
    ikt_rows rows;
    ikt_source *source;
    ikt_dataset *data;
    ikt_neighbours lists;
    ikt_recall recall;
    ikt_class_outcome outcome;
    ikt_settings settings;
    float *x;
    int64_t *labels;
} made;

static void set(ikt_context *ctx, ikt_settings *settings, const char *text) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char copy[512], *word = copy;
    ikt_settings_parts(settings, parts);
    assert_true(snprintf(copy, sizeof copy, "%s", text) < (int)sizeof copy);
    for (word = strtok(word, " "); word; word = strtok(NULL, " "))
        succeed(ctx, ikt_config_override(ctx, parts, IKT_SETTINGS_PARTS, word));
}

typedef enum { USUAL, COMPUTES_ALL, ORDERS } manner;

static ikt_status run(ikt_context *ctx, made *m, int64_t k, manner how) {
    const ikt_class_search job = {.settings = &m->settings,
                                  .data = m->data,
                                  .rows = &m->rows,
                                  .labels = m->labels,
                                  .k = k,
                                  .computes_all = how == COMPUTES_ALL,
                                  .orders_always = how == ORDERS};
    return ikt_class_search_run(ctx, &job, false, &m->lists, &m->recall, &m->outcome);
}

/* The rows of this rank, their labels, and settings. */
static void begin(ikt_context *ctx, int64_t n, labelling how, const char *text, made *m) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    memset(m, 0, sizeof *m);
    m->rows = ikt_rows_make(n, ikt_size(ctx), ikt_rank(ctx));
    succeed(ctx, ikt_alloc(ctx, &m->x, m->rows.count * D, sizeof *m->x, "test"));
    succeed(ctx, ikt_alloc(ctx, &m->labels, m->rows.count, sizeof *m->labels, "test"));
    for (int64_t i = 0; i < m->rows.count; i++) {
        m->labels[i] = label_of(m->rows.first + i, n, how);
        for (int64_t c = 0; c < D; c++)
            m->x[i * D + c] = value_of(m->rows.first + i, c, n, how);
    }
    ikt_settings_parts(&m->settings, parts);
    succeed(ctx, ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS));
    set(ctx, &m->settings, "affinity.kind=fisher preprocess.normalise=none fisher.euclidean=0");
    set(ctx, &m->settings, text);
    succeed(ctx, ikt_source_from_rows(ctx, m->x, NULL, m->rows.count, D, IKT_TYPE_F32, &m->source));
    succeed(ctx, ikt_dataset_create(ctx, m->source, &m->settings.preprocess, &m->data));
}

static void make(ikt_context *ctx, int64_t n, labelling how, const char *text, made *m) {
    begin(ctx, n, how, text, m);
    succeed(ctx, run(ctx, m, n - 1 < K ? n - 1 : K, USUAL));
}

static void unmake(made *m) {
    ikt_class_outcome_destroy(&m->outcome);
    ikt_neighbours_destroy(&m->lists);
    ikt_dataset_destroy(&m->data);
    ikt_source_close(&m->source);
    ikt_free(&m->x);
    ikt_free(&m->labels);
}

/* Lists, posterior and figures, in one number. */
static uint64_t hash_of(ikt_context *ctx, const made *m) {
    const ikt_class_outcome *o = &m->outcome;
    const size_t k = (size_t)m->lists.k, c = (size_t)o->classes.classes;
    const double figure[] = {o->sigma.sigma,
                             o->sigma.log_likelihood,
                             o->certain,
                             o->chance,
                             o->longest,
                             o->held_out.posterior,
                             o->held_out.space_nearest,
                             o->held_out.space_votes,
                             o->used.posterior,
                             o->used.space_nearest,
                             o->used.space_votes};
    uint64_t hash = ikt_row_hash(ctx, m->lists.row, m->rows.first, m->rows.count, 4 * k);
    hash ^= 3 * ikt_row_hash(ctx, m->lists.score, m->rows.first, m->rows.count, 4 * k);
    hash ^= 5 * ikt_row_hash(ctx, o->posterior, m->rows.first, m->rows.count, 4 * c);
    hash ^= 7 * ikt_hash_bytes(figure, sizeof figure, 1);
    return hash ^ 11 * ikt_hash_bytes(o->support.row, (size_t)o->support.m * 8, 1);
}

static uint64_t lists_hash(ikt_context *ctx, const made *m) {
    const size_t k = (size_t)m->lists.k;
    return ikt_row_hash(ctx, m->lists.row, m->rows.first, m->rows.count, 4 * k) ^
           3 * ikt_row_hash(ctx, m->lists.score, m->rows.first, m->rows.count, 4 * k);
}

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
    static const struct {
        const char *text;
        double least;
    } run[] = {{"fisher.support=40 fisher.euclidean=0.3 fisher.candidates=near", 0.98},
               {"fisher.support=60 fisher.candidates=near", 0.98},
               {"fisher.support=60 fisher.euclidean=3 fisher.candidates=near", 0.93}};
    for (size_t t = 0; t < sizeof run / sizeof *run; t++) {
        made all, m;
        char text[256];
        make(ctx, N, MIXED, run[t].text, &m);
        assert_int_equal(m.outcome.among, 2000); /* what auto is; all rows are in it */
        assert_true(m.recall.found == 1);
        unmake(&m);
        snprintf(text, sizeof text, "%s fisher.among=%d", run[t].text, 40);
        make(ctx, N, MIXED, text, &m);
        snprintf(text, sizeof text, "%s fisher.candidates=all", run[t].text);
        make(ctx, N, MIXED, text, &all);
        int64_t found = 0;
        for (int64_t i = 0; i < m.rows.count; i++)
            for (int64_t e = 0; e < K; e++)
                found += m.lists.score[i * K + e] <= all.lists.score[i * K + K - 1];
        const double share = (double)ikt_sum_one(ctx, found) / (N * K);
        assert_int_equal(m.recall.sample, N);
        assert_true(fabs(m.recall.found - share) < 1e-12);
        assert_true(share > run[t].least && share < 1);
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

/* --- labels ----------------------------------------------------------------------------------- */

/* All rows are of the support and have each other's labels: where own weights are left out nothing
 * is told of them; where they are kept everything seems to be. */
static void own_labels_leak_only_where_they_are_kept(void **state) {
    ikt_context *ctx = *state;
    for (int kept = 0; kept < 2; kept++) {
        made m;
        begin(ctx, N, EVERY, "fisher.permute=yes fisher.support=230 fisher.sigma=0.5", &m);
        m.settings.affinity.fisher.own = kept ? IKT_OWN_KEPT : IKT_OWN_LEFT_OUT;
        succeed(ctx, run(ctx, &m, K, USUAL));
        const double chance = m.outcome.chance, error = m.outcome.used.space_nearest;
        assert_true(fabs(chance - 0.75) < 1e-3);
        assert_int_equal(m.outcome.held_out.sample, 0);
        assert_int_equal(m.outcome.used.sample, N);
        if (kept)
            assert_true(error < 0.05 && m.outcome.used.posterior < 0.05);
        else
            assert_true(fabs(error - chance) < 3 * sqrt(chance * (1 - chance) / N));
        unmake(&m);
    }
}

/* Two rows that no draw takes change their labels with each other. */
static void labels_outside_the_support_change_no_bit(void **state) {
    ikt_context *ctx = *state;
    made m, other;
    make(ctx, N, EVERY, "fisher.support=60", &m);
    const uint64_t hash = lists_hash(ctx, &m);
    int64_t last[C] = {-1, -1, -1, -1};
    for (int64_t i = 0; i < N; i++) {
        const int64_t l = true_label(i, N, EVERY);
        if (last[l] < 0 ||
            ikt_rng_u64(1, IKT_RNG_SUPPORT, i, 0) > ikt_rng_u64(1, IKT_RNG_SUPPORT, last[l], 0))
            last[l] = i;
    }
    begin(ctx, N, EVERY, "fisher.support=60", &other);
    for (int64_t i = 0; i < other.rows.count; i++)
        for (int l = 0; l < 2; l++)
            if (other.rows.first + i == last[l]) other.labels[i] = 10 * (1 - l);
    succeed(ctx, run(ctx, &other, K, false));
    assert_true(lists_hash(ctx, &other) == hash);
    unmake(&other);
    begin(ctx, N, EVERY, "fisher.support=60", &other); /* and one of the support does */
    for (int64_t i = 0; i < other.rows.count; i++)
        if (other.rows.first + i == m.outcome.support.row[0])
            other.labels[i] = (other.labels[i] + 10) % 40;
    succeed(ctx, run(ctx, &other, K, false));
    assert_true(lists_hash(ctx, &other) != hash);
    unmake(&other);
    unmake(&m);
}

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

/* --- what is refused -------------------------------------------------------------------------- */

static void expect_refusal(ikt_context *ctx, made *m, ikt_status expected, const char *words) {
    refuse(ctx, run(ctx, m, K, false), expected, words);
    ikt_class_outcome_destroy(&m->outcome);
    memset(&m->outcome, 0, sizeof m->outcome);
}

static void relabel(made *m, int64_t (*of)(int64_t row)) {
    for (int64_t i = 0; i < m->rows.count; i++)
        m->labels[i] = of(m->rows.first + i);
}

static int64_t none(int64_t row) {
    return -1 - row;
}
static int64_t one(int64_t row) {
    (void)row;
    return 4;
}
static int64_t one_row_of_a_class(int64_t row) {
    return row == 100 ? 9 : row % 2;
}

static void what_no_model_can_be_made_of_is_refused(void **state) {
    ikt_context *ctx = *state;
    made m;
    begin(ctx, N, MIXED, "fisher.support=60", &m);
    relabel(&m, none);
    expect_refusal(ctx, &m, IKT_ERR_DATA, "no row has one");
    relabel(&m, one);
    expect_refusal(ctx, &m, IKT_ERR_DATA, "have the same label");
    relabel(&m, one_row_of_a_class);
    expect_refusal(ctx, &m, IKT_ERR_DATA, "class 9 has one train row");
    int64_t *labels = m.labels;
    m.labels = NULL;
    expect_refusal(ctx, &m, IKT_ERR_DATA, "the input has none");
    m.labels = labels;
    for (int64_t i = 0; i < m.rows.count; i++)
        m.labels[i] = label_of(m.rows.first + i, N, MIXED);
    set(ctx, &m.settings, "fisher.support=229");
    expect_refusal(ctx, &m, IKT_ERR_USAGE, "fisher.support = 229, but only");
    set(ctx, &m.settings, "fisher.support=7");
    expect_refusal(ctx, &m, IKT_ERR_USAGE, "at least 8");
    unmake(&m);
    ikt_fisher_settings *f = &m.settings.affinity.fisher;
    snprintf(f->sigma, sizeof f->sigma, "-1");
    assert_int_equal(ikt_fisher_check(ctx, f), IKT_ERR_USAGE);
    ikt_clear(ctx);
    snprintf(f->sigma, sizeof f->sigma, "nan");
    assert_int_equal(ikt_fisher_check(ctx, f), IKT_ERR_USAGE);
    ikt_clear(ctx);
    snprintf(f->sigma, sizeof f->sigma, "likelihood");
    f->rule = IKT_RULE_OUTER;
    f->points = 4;
    assert_int_equal(ikt_fisher_check(ctx, f), IKT_ERR_USAGE);
    assert_non_null(strstr(ikt_message(ctx), "fisher.points = 4"));
    ikt_clear(ctx);
}

IKT_MPI_TESTS(ikt_test(lists_are_those_of_the_formulas),
              ikt_test(bounds_and_candidates_give_the_same_lists),
              ikt_test(near_cells_find_what_they_say),
              ikt_test(blocks_of_the_support_are_not_passed_over),
              ikt_test(blocks_are_met_from_near_to_far),
              ikt_test(the_order_of_rows_changes_no_list), ikt_test(what_is_proved_is_complete),
              ikt_test(bits_do_not_depend_on_ranks_or_threads),
              ikt_test(own_labels_leak_only_where_they_are_kept),
              ikt_test(labels_outside_the_support_change_no_bit),
              ikt_test(figures_are_those_of_the_nearest_train_rows),
              ikt_test(what_no_model_can_be_made_of_is_refused))
