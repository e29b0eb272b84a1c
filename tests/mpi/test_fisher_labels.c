/* What labels may and may not change in distances that follow them, and what labels are refused. */
#include "support/fisher_run.h"

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

/* --- rows without labels ---------------------------------------------------------------------- */

enum { MANY = 900 };

/* Shares of the rows without a label whose true label is another than what is told of them: */
typedef struct {
    double posterior, nearest; /* by the likeliest class, by the nearest labelled row of the list */
    double plain;              /* and by plain distance, with true labels */
    int64_t rows;
} hidden_errors;

/* The true label of the labelled row that is nearest by plain distance. */
static int64_t plain_label(int64_t row) {
    double least = INFINITY;
    int64_t nearest = -1;
    for (int64_t j = 0; j < MANY; j++) {
        double squared = 0;
        for (int64_t c = 0; c < D; c++)
            squared +=
                pow((double)value_of(row, c, MANY, MIXED) - (double)value_of(j, c, MANY, MIXED), 2);
        if (label_of(j, MANY, MIXED) < 0 || squared >= least) continue;
        least = squared;
        nearest = j;
    }
    return true_label(nearest, MANY, MIXED);
}

static hidden_errors errors_of_hidden(ikt_context *ctx, const char *text) {
    made m;
    int64_t wrong[4] = {0};
    make(ctx, MANY, MIXED, text, &m);
    const int32_t *told = m.outcome.classes.of_row; /* what the model was told */
    for (int64_t i = 0; i < m.rows.count; i++) {
        const int64_t row = m.rows.first + i, truth = true_label(row, MANY, MIXED);
        if (label_of(row, MANY, MIXED) >= 0) continue;
        const float *p = m.outcome.posterior + i * C;
        int64_t best = 0, e = 0;
        for (int64_t c = 1; c < C; c++)
            if (p[c] > p[best]) best = c;
        while (told[m.lists.row[i * K + e]] < 0)
            assert_true(++e < K);
        wrong[0] += best != truth;
        wrong[1] += told[m.lists.row[i * K + e]] != truth;
        wrong[2] += plain_label(row) != truth;
        wrong[3]++;
    }
    MPI_Allreduce(MPI_IN_PLACE, wrong, 4, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    unmake(&m);
    const double rows = (double)wrong[3];
    return (hidden_errors){(double)wrong[0] / rows, (double)wrong[1] / rows,
                           (double)wrong[2] / rows, wrong[3]};
}

/* Rows whose labels are hidden are told about as well as by plain distance; not at all where the
 * labels of the others are each other's, also where these have own weights. */
static void permuted_labels_tell_nothing_of_hidden_ones(void **state) {
    ikt_context *ctx = *state;
    static const char *const text[] = {"fisher.support=200 fisher.permute=yes",
                                       "fisher.permute=yes fisher.own=kept fisher.sigma=0.5"};
    const hidden_errors usual = errors_of_hidden(ctx, "fisher.support=200");
    const double chance = 1 - 1.0 / C;
    const double deviation = sqrt(chance * (1 - chance) / (double)usual.rows);
    assert_true(usual.rows > 120 && usual.plain < chance - 0.4);
    assert_true(usual.posterior < usual.plain + deviation);
    assert_true(usual.nearest < usual.plain + 2 * deviation);
    for (size_t t = 0; t < sizeof text / sizeof *text; t++) {
        const hidden_errors permuted = errors_of_hidden(ctx, text[t]);
        assert_true(fabs(permuted.posterior - chance) < 3 * deviation);
        assert_true(fabs(permuted.nearest - chance) < 3 * deviation);
    }
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
    expect_refusal(ctx, &m, IKT_ERR_DATA, "fisher.support = 229, but only");
    set(ctx, &m.settings, "fisher.support=7");
    expect_refusal(ctx, &m, IKT_ERR_DATA, "at least 8");
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

IKT_MPI_TESTS(ikt_test(own_labels_leak_only_where_they_are_kept),
              ikt_test(labels_outside_the_support_change_no_bit),
              ikt_test(permuted_labels_tell_nothing_of_hidden_ones),
              ikt_test(what_no_model_can_be_made_of_is_refused))
