/* The Fisher metric in the line. See fisher_line.h; read ikt_class_search_run, at the end,
 * first. */
#include "pipeline/fisher_line.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/timer.h"
#include "dist/shuffle.h"
#include "neighbours/fisher_search.h"
#include "neighbours/scorer.h"
#include "pipeline/line.h"
#include "similarity/similarities.h"

static const char purpose[] = "fisher model";

enum { STREAM_ROWS = 1024, SCALE_ROWS = 512 };

/* Rounds over neighbours of neighbours behind a search among near cells. */
enum { ROUNDS = 1 };

/* Rows from which on it is worth while to hold them in an order of their own. */
enum { ORDER_LEAST = 16384 };

static const double pi = 3.14159265358979323846, is_certain = 0.999, certain_most = 0.9,
                    spread_least = 1e-6, similarity_least = 1e-30,
                    rounding = 1e-6; /* of similarities in single precision */

/* Everything that a model is while it is made. */
typedef struct {
    const ikt_class_search *job;
    const ikt_fisher_settings *settings;
    ikt_class_outcome *out;
    const ikt_metric *metric;
    ikt_arrays held;
    float *x;                  /* [m * d] rows of the support, where rows are compared themselves */
    float *support;            /* [ikt_packed_floats(m, d)] the same as the metric takes them */
    double *self;              /* [m] k(s, s): 0 of these */
    ikt_similarities *similar; /* of rows that are compared by another similarity; else NULL */
    ikt_codes codes;           /* where that is the Isolation kernel */
    float *weight, *root;      /* [rows.count * lanes], [rows.count * wide] */
    ikt_scorer plain;          /* the rows, where plain distances count */
    double euclidean;          /* what their squares count */
} model;

static void destroy_model(model *m) {
    ikt_arrays_free(&m->held);
    ikt_scorer_destroy(&m->plain);
    ikt_similarities_destroy(&m->similar);
    ikt_codes_destroy(&m->codes);
}

/* --- similarities to the support: of rows themselves ------------------------------------------ */

static void compare(const model *m, const float *x, int64_t count, float *squared, float *k) {
    ikt_class_compare(m->metric, x, count, m->support, m->out->support.m,
                      ikt_dataset_columns(m->job->data), squared, k);
}

/* COLLECTIVE. The rows of the support on every rank, and how they compare.
 *   k   [m * m] */
static ikt_status compare_support(ikt_context *ctx, model *m, double *k) {
    const ikt_class_support *support = &m->out->support;
    const int64_t rows = support->m, d = ikt_dataset_columns(m->job->data);
    IKT_ARRAYS(work, ctx, purpose);
    m->x = ikt_claim(&m->held, rows * d, sizeof *m->x);
    m->support = ikt_claim(&m->held, ikt_packed_floats(rows, d), sizeof *m->support);
    float *squared = ikt_claim(&work, ikt_packed_rows(rows), sizeof *squared);
    float *single = ikt_claim(&work, rows, sizeof *single);
    IKT_TRY(ikt_arrays_agree_both(&m->held, &work));
    IKT_TRY(ikt_dataset_gather_floats(m->job->data, support->row, rows, m->x));
    ikt_pack_rows(m->x, rows, d, m->support);
    for (int64_t l = 0; l < rows; l++) {
        compare(m, m->x + l * d, 1, squared, single);
        for (int64_t j = 0; j < rows; j++)
            k[l * rows + j] = (double)single[j];
    }
    return IKT_OK;
}

/* Work space of rows that are compared some at a time. */
typedef struct {
    float *x, *squared; /* of rows themselves: [most * d], [most * ikt_packed_rows(m)] */
    double *similarity; /* of another similarity: [most * m] */
    float *k;           /* [most * m] */
} workspace;

static workspace claim_workspace(const model *m, int64_t most, ikt_arrays *held) {
    const int64_t rows = m->out->support.m, d = ikt_dataset_columns(m->job->data);
    workspace w = {.k = ikt_claim(held, most * rows, sizeof *w.k)};
    if (m->similar) {
        w.similarity = ikt_claim(held, most * rows, sizeof *w.similarity);
        return w;
    }
    w.x = ikt_claim(held, most * d, sizeof *w.x);
    w.squared = ikt_claim(held, most * ikt_packed_rows(rows), sizeof *w.squared);
    return w;
}

/* COLLECTIVE. Similarities of some rows to the support, in w->k. */
static ikt_status compare_rows(ikt_context *ctx, const model *m, ikt_row_range at,
                               const workspace *w) {
    const int64_t d = ikt_dataset_columns(m->job->data), s = m->out->support.m;
    IKT_TRY(ikt_dataset_read(m->job->data, at.first, at.count, w->x));
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < at.count; i += 8) {
        const int64_t count = ikt_smaller(at.count - i, 8);
        compare(m, w->x + i * d, count, w->squared + i * ikt_packed_rows(s), w->k + i * s);
    }
    return IKT_OK;
}

/* --- similarities to the support: by another kernel, or given --------------------------------- */

/* COLLECTIVE. */
static ikt_status begin_similar(ikt_context *ctx, model *m) {
    const ikt_settings *settings = m->job->settings;
    const ikt_class_support *support = &m->out->support;
    ikt_similarity_of of = {.kind = ikt_settings_class_similarity(settings),
                            .bandwidth = settings->kernel.bandwidth,
                            .data = m->job->data};
    if (of.kind == IKT_SIMILARITY_LINEAR) return IKT_OK; /* rows themselves lose no digits */
    if (of.kind == IKT_SIMILARITY_ISOLATION) {
        IKT_TRY(ikt_kernel_codes(ctx, settings, m->job->data, m->job->rows, &m->codes, NULL));
        of.codes = &m->codes;
    }
    return ikt_similarities_create(ctx, &of, m->job->rows, support->row, support->m, &m->similar);
}

/* COLLECTIVE. As compare_support. */
static ikt_status compare_chosen(const model *m, double *k) {
    const int64_t rows = m->out->support.m, most = ikt_similarities_rows_most(m->similar);
    for (int64_t first = 0; first < rows; first += most)
        IKT_TRY(ikt_similarities_of_chosen(m->similar, first, ikt_smaller(most, rows - first),
                                           k + first * rows));
    for (int64_t l = 0; l < rows; l++)
        m->self[l] = k[l * rows + l];
    return IKT_OK;
}

/* COLLECTIVE. As compare_rows. */
static ikt_status compare_similar(const model *m, ikt_row_range at, const workspace *w) {
    IKT_TRY(ikt_similarities_of_rows(m->similar, at.first, at.count, w->similarity, NULL));
    for (int64_t e = 0; e < at.count * m->out->support.m; e++)
        w->k[e] = (float)w->similarity[e];
    return IKT_OK;
}

/* --- sigma, and log-weights ------------------------------------------------------------------- */

/* What single precision cannot hold of similarities, which sigma would still be found by; and what
 * no distance has, which sigma takes for 0. */
static ikt_status check_chosen(ikt_context *ctx, const model *m, const double *k) {
    const int64_t rows = m->out->support.m;
    double largest = 0;
    int64_t negative = 0;
    for (int64_t a = 0; a < rows; a++)
        for (int64_t b = 0; b < rows; b++) {
            largest = fmax(largest, fabs(k[a * rows + b]));
            const double squared = m->self[a] + m->self[b] - 2 * k[a * rows + b];
            negative += b < a && squared < -rounding * fabs(k[a * rows + b]);
        }
    if (largest > 0 && largest < similarity_least)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "the largest similarity of the support of affinity.kind=fisher is %g, too "
                        "small for single precision: multiply all similarities by one number",
                        largest);
    if (negative > 0)
        ikt_log_numbers(ctx, IKT_LOG_STAGE, IKT_LOG_NUMBERS(IKT_LOG_INT("pairs", negative)),
                        "fisher: %lld of %lld pairs of the support are more similar to each other "
                        "than to themselves, which is no distance; sigma takes them for equal",
                        (long long)negative, (long long)(rows * (rows - 1) / 2));
    return IKT_OK;
}

/* COLLECTIVE. How the rows of the support compare, k[m * m]. */
static ikt_status compare_all(ikt_context *ctx, model *m, double *k) {
    IKT_TRY(begin_similar(ctx, m));
    if (!m->similar) return compare_support(ctx, m, k);
    IKT_TRY(compare_chosen(m, k));
    return ikt_agree(ctx, check_chosen(ctx, m, k));
}

/* COLLECTIVE. Sigma from how the rows of the support compare. */
static ikt_status find_sigma(ikt_context *ctx, model *m) {
    const ikt_class_support *support = &m->out->support;
    double given;
    ikt_sigma_rule rule;
    ikt_fisher_sigma(m->settings, &rule, &given);
    IKT_ARRAYS(work, ctx, purpose);
    m->self = ikt_claim(&m->held, support->m, sizeof *m->self);
    double *k = ikt_claim(&work, support->m * support->m, sizeof *k);
    IKT_TRY(ikt_arrays_agree_both(&m->held, &work));
    IKT_TRY(compare_all(ctx, m, k));
    return ikt_agree(ctx,
                     ikt_class_sigma_find(ctx, support, rule, given, k, m->self, &m->out->sigma));
}

/* COLLECTIVE. Log-weights and roots of the own rows, some at a time. */
static ikt_status weigh_rows(ikt_context *ctx, model *m) {
    const ikt_class_lanes *shape = &m->out->support.shape;
    const ikt_rows *rows = m->job->rows;
    int64_t most = STREAM_ROWS, number[STREAM_ROWS];
    const int64_t *row = m->settings->own == IKT_OWN_LEFT_OUT ? number : NULL;
    if (m->similar) most = ikt_smaller(most, ikt_similarities_rows_most(m->similar));
    IKT_ARRAYS(work, ctx, purpose);
    m->weight = ikt_claim(&m->held, rows->count * shape->lanes, sizeof *m->weight);
    m->root = ikt_claim(&m->held, rows->count * shape->wide, sizeof *m->root);
    const workspace w = claim_workspace(m, most, &work);
    IKT_TRY(ikt_arrays_agree_both(&m->held, &work));
    const ikt_row_range own = {rows->first, rows->count};
    const int64_t steps = ikt_stream_steps(ctx, own.count, most);
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(own, most, step);
        const int64_t from = at.first - own.first;
        IKT_TRY(m->similar ? compare_similar(m, at, &w) : compare_rows(ctx, m, at, &w));
        for (int64_t i = 0; i < at.count; i++)
            number[i] = at.first + i;
        ikt_class_weights(ctx, &m->out->support, m->out->sigma.sigma, w.k, m->self, row, at.count,
                          m->weight + from * shape->lanes, m->root + from * shape->wide);
    }
    return IKT_OK;
}

/* --- the share of plain distances ------------------------------------------------------------- */

/* COLLECTIVE. The median distance of all pairs of some drawn rows; 0 where most are equal. */
static ikt_status find_median(ikt_context *ctx, const model *m, double *median) {
    const ikt_class_search *job = m->job;
    const int64_t n = job->rows->n, d = ikt_dataset_columns(job->data);
    const int64_t count = ikt_smaller(n, SCALE_ROWS);
    int64_t row[SCALE_ROWS], pairs = 0;
    IKT_ARRAYS(held, ctx, purpose);
    float *x = ikt_claim(&held, count * d, sizeof *x);
    double *distance = ikt_claim(&held, count * (count - 1) / 2, sizeof *distance);
    ikt_draw_claimed(&held, (uint64_t)job->settings->run.seed, IKT_RNG_SCALE, 0, n, count, row);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_dataset_gather_floats(job->data, row, count, x));
    for (int64_t a = 1; a < count; a++)
        for (int64_t b = 0; b < a; b++)
            distance[pairs++] = sqrt(m->metric->exact(x + a * d, x + b * d, d));
    ikt_sort_f64(distance, pairs);
    *median = distance[pairs / 2];
    return IKT_OK;
}

/* COLLECTIVE. What plain distances count: nothing where most rows are equal. */
static ikt_status weigh_plain(ikt_context *ctx, model *m) {
    const double share = ikt_fisher_euclidean(m->settings, !ikt_dataset_pairs(m->job->data));
    double median;
    m->out->euclidean = 0;
    if (share == 0) return IKT_OK;
    IKT_TRY(find_median(ctx, m, &median));
    if (median > 0) {
        m->out->euclidean = share;
        m->euclidean = pow(share * pi / median, 2);
        return IKT_OK;
    }
    if (m->settings->euclidean == share)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "fisher.euclidean = %g adds plain distances, but most rows are equal",
                        share);
    ikt_log(ctx, IKT_LOG_STAGE,
            "fisher: most rows are equal, so that plain distances do not count");
    return IKT_OK;
}

/* COLLECTIVE. The rows themselves, where plain distances count. */
static ikt_status read_plain(ikt_context *ctx, model *m) {
    IKT_TRY(weigh_plain(ctx, m));
    if (m->euclidean == 0 && m->out->candidates != IKT_CANDIDATES_EUCLIDEAN) return IKT_OK;
    return ikt_scorer_data(ctx, m->job->data, m->job->rows, &m->plain);
}

/* --- what is said of the model ---------------------------------------------------------------- */

static ikt_status note_posterior(ikt_context *ctx, const model *m) {
    const ikt_class_lanes *shape = &m->out->support.shape;
    const int64_t rows = m->job->rows->count;
    double range[2 * IKT_CLASSES_MOST] = {0}; /* largest p of each class, and of 1 - p */
    int64_t certain = 0;
    IKT_TRY(ikt_alloc_all(ctx, &m->out->posterior, rows * shape->classes, sizeof *m->out->posterior,
                          purpose));
    for (int64_t i = 0; i < rows; i++) {
        float most = 0;
        /* Rows of the support lack a part of their own class, whatever sigma is. */
        const bool counts = m->settings->own == IKT_OWN_KEPT ||
                            ikt_class_lane_of(&m->out->support, m->job->rows->first + i) < 0;
        for (int c = 0; c < shape->classes; c++) {
            const float root = m->root[i * shape->wide + c], p = root * root;
            m->out->posterior[i * shape->classes + c] = p;
            most = fmaxf(most, p);
            if (!counts) continue;
            range[2 * c] = fmax(range[2 * c], (double)p);
            range[2 * c + 1] = fmax(range[2 * c + 1], 1 - (double)p);
        }
        certain += (double)most > is_certain;
    }
    ikt_max_f64(ctx, range, 2 * shape->classes);
    m->out->spread = range[0] + range[1] > 0 ? 0 : 1; /* where no row tells */
    for (int c = 0; c < shape->classes; c++)
        m->out->spread = fmax(m->out->spread, range[2 * c] + range[2 * c + 1] - 1);
    m->out->certain = (double)ikt_sum_one(ctx, certain) / (double)m->job->rows->n;
    return IKT_OK;
}

static void tell_model(ikt_context *ctx, const model *m) {
    const ikt_class_outcome *o = m->out;
    const ikt_class_rows *c = &o->classes;
    ikt_log_numbers(
        ctx, IKT_LOG_STAGE,
        IKT_LOG_NUMBERS(IKT_LOG_INT("classes", c->classes), IKT_LOG_INT("train", c->trained),
                        IKT_LOG_INT("labelled", c->labelled), IKT_LOG_INT("support", o->support.m),
                        IKT_LOG_REAL("sigma", o->sigma.sigma),
                        IKT_LOG_REAL("log_likelihood", o->sigma.log_likelihood),
                        IKT_LOG_REAL("certain", o->certain)),
        "fisher: uses %slabels of %lld rows in %d classes, by a support of %lld rows with own "
        "weights %s; %lld rows have no label; sigma %.6g, mean log p %.3f; p > 0.999 on %.1f %% of "
        "the rows",
        o->is_permuted ? "PERMUTED " : "", (long long)c->trained, c->classes,
        (long long)o->support.m, m->settings->own == IKT_OWN_KEPT ? "kept" : "left out",
        (long long)(c->n - c->labelled), o->sigma.sigma, o->sigma.log_likelihood, 100 * o->certain);
    if (o->spread < spread_least)
        ikt_log(ctx, IKT_LOG_WARN,
                "fisher: the probabilities are the same everywhere (fisher.sigma = %.6g is too "
                "large, or the rows are equal), so that labels part rows by rounding at most",
                o->sigma.sigma);
    if (o->certain > certain_most)
        ikt_log(ctx, IKT_LOG_WARN,
                "fisher: on %.1f %% of the rows one class has p > 0.999, so that most rows of a "
                "class are at distance 0 of each other: a larger fisher.sigma would tell them "
                "apart",
                100 * o->certain);
}

/* COLLECTIVE. */
static ikt_status make_model(ikt_context *ctx, model *m) {
    const ikt_class_search *job = m->job;
    ikt_class_outcome *out = m->out;
    const uint64_t seed = (uint64_t)job->settings->run.seed;
    IKT_TRY(ikt_class_rows_make(ctx, m->settings, job->rows, job->labels, job->names, seed,
                                &out->classes));
    const ikt_class_rows *c = &out->classes;
    IKT_TRY(ikt_agree(ctx, ikt_class_support_draw(ctx, c->of_row, c->n, c->classes,
                                                  ikt_fisher_support(m->settings, c->trained), seed,
                                                  &out->support)));
    out->is_permuted = m->settings->permute;
    out->leaves_out = m->settings->own == IKT_OWN_LEFT_OUT;
    out->chance = 1;
    for (int i = 0; i < c->classes; i++)
        out->chance -= pow((double)c->size[i] / (double)c->trained, 2);
    IKT_TRY(find_sigma(ctx, m));
    IKT_TRY(weigh_rows(ctx, m));
    IKT_TRY(note_posterior(ctx, m));
    tell_model(ctx, m);
    return IKT_OK;
}

/* --- lists ------------------------------------------------------------------------------------ */

/* The longest of the kept distances; what is kept of too few rows does not count. */
static double find_longest(ikt_context *ctx, const ikt_neighbours *lists) {
    double longest = 0;
    for (int64_t e = 0; e < lists->n_local * lists->k; e++)
        if (isfinite(lists->score[e])) longest = fmax(longest, (double)lists->score[e]);
    ikt_max_f64(ctx, &longest, 1);
    return sqrt(longest);
}

/* Lists of near cells have no proof: their recall is measured. */
static void tell_lists(ikt_context *ctx, const ikt_class_outcome *o,
                       const ikt_fisher_proof *proof) {
    static const char *const name[] = {"", "all rows", "the nearest by probabilities",
                                       "the nearest by plain distance"};
    const ikt_log_number numbers[] = {IKT_LOG_INT("among", o->among),
                                      IKT_LOG_REAL("proved", o->proved),
                                      IKT_LOG_INT("lengths", proof->lengths),
                                      {0}};
    const double lengths = (double)proof->lengths / (double)proof->rows;
    if (o->candidates == IKT_CANDIDATES_NEAR)
        ikt_log_numbers(ctx, IKT_LOG_STAGE, numbers,
                        "fisher: neighbours among %lld rows of near cells by probabilities; %.1f "
                        "lengths a row",
                        (long long)o->among, lengths);
    else
        ikt_log_numbers(ctx, IKT_LOG_STAGE, numbers,
                        "fisher: neighbours among %s; %.1f %% of the lists are proved to be those "
                        "of all rows; %.1f lengths a row",
                        name[o->candidates], 100 * o->proved, lengths);
}

/* COLLECTIVE. The search that the candidates ask for, from where it was left off. */
static ikt_status search_lists(ikt_context *ctx, const model *m, const ikt_fisher_rows *rows,
                               ikt_neighbours *lists, ikt_fisher_proof *proof) {
    const ikt_class_search *job = m->job;
    const ikt_fisher_held held = {m->weight, m->root, m->plain.owned};
    const ikt_fisher_cells cells = {(uint64_t)job->settings->run.seed, ROUNDS};
    ikt_list_course course IKT_AT_END(ikt_list_course_end) = {0};
    IKT_TRY(ikt_agree(ctx, ikt_neighbours_create(ctx, job->rows, job->k, lists)));
    IKT_TRY(ikt_list_course_begin(ctx, ikt_checkpoint_lists(job->hooks), lists, &course));
    if (rows->candidates == IKT_CANDIDATES_NEAR)
        return ikt_fisher_search_near(ctx, rows, &held, &cells, &course, proof);
    if (rows->rows.n >= ORDER_LEAST || job->orders_always)
        return ikt_fisher_search_ordered(ctx, rows, &held, &course, proof);
    return ikt_fisher_search(ctx, rows, NULL, NULL, &course, proof);
}

/* COLLECTIVE. */
static ikt_status find_lists(ikt_context *ctx, const model *m, const ikt_fisher_rows *rows,
                             ikt_neighbours *lists, ikt_recall *recall) {
    ikt_class_outcome *o = m->out;
    ikt_fisher_proof proof;
    IKT_TRY(search_lists(ctx, m, rows, lists, &proof));
    ikt_neighbours_sort(ctx, lists);
    o->proved = (double)proof.complete / (double)proof.rows;
    o->longest = find_longest(ctx, lists);
    tell_lists(ctx, o, &proof);
    if (rows->candidates == IKT_CANDIDATES_ALL) return IKT_OK;
    return ikt_figures_recall(ctx, rows, lists, (uint64_t)m->job->settings->run.seed, recall);
}

/* What is searched, once there is a model. */
static ikt_fisher_rows rows_of(const model *m) {
    const ikt_class_search *job = m->job;
    return (ikt_fisher_rows){.rows = *job->rows,
                             .job = {.kernel = ikt_segment_kernel_for(ikt_cpu_isa()),
                                     .shape = m->out->support.shape,
                                     .rule = (ikt_segment_rule)m->settings->rule,
                                     .points = (int)m->settings->points},
                             .support = &m->out->support,
                             .leaves_out = m->settings->own == IKT_OWN_LEFT_OUT,
                             .weight = m->weight,
                             .root = m->root,
                             .x = m->plain.plain,
                             .d = m->plain.plain ? ikt_dataset_columns(job->data) : 0,
                             .metric = m->metric,
                             .euclidean = m->euclidean,
                             .candidates = m->out->candidates,
                             .among = m->out->among,
                             .computes_all = job->computes_all};
}

/* COLLECTIVE. The model, which is written where that is wanted, and the lists where they are not
 * there. */
static ikt_status search(ikt_context *ctx, model *m, bool is_found, ikt_fisher_rows *rows,
                         ikt_neighbours *lists, ikt_recall *recall) {
    const ikt_class_search *job = m->job;
    IKT_IN_STAGE(ctx, IKT_STAGE_NEIGHBOURS);
    IKT_TRY(make_model(ctx, m));
    IKT_TRY(read_plain(ctx, m));
    *rows = rows_of(m);
    const ikt_class_columns columns = {m->out->sigma.sigma, m->self, m->x};
    if (job->model_writer)
        IKT_TRY(ikt_class_model_write(ctx, job->model_writer, job->data, rows, &columns,
                                      &job->settings->layout));
    return is_found ? IKT_OK : find_lists(ctx, m, rows, lists, recall);
}

ikt_status ikt_class_search_run(ikt_context *ctx, const ikt_class_search *job, bool is_found,
                                ikt_neighbours *lists, ikt_recall *recall, ikt_class_outcome *out) {
    const ikt_fisher_settings *settings = &job->settings->affinity.fisher;
    model m IKT_AT_END(destroy_model) = {.job = job,
                                         .settings = settings,
                                         .out = out,
                                         .metric = ikt_metric_of(job->data),
                                         .held = ikt_arrays_of(ctx, purpose)};
    ikt_fisher_rows rows;
    out->is_there = true;
    out->candidates = ikt_fisher_candidates_of(settings, job->rows->n);
    out->among = 0;
    if (out->candidates != IKT_CANDIDATES_ALL)
        out->among = ikt_fisher_among(settings, job->rows->n, job->k);
    IKT_TRY(search(ctx, &m, is_found, &rows, lists, recall));
    IKT_IN_STAGE(ctx, IKT_STAGE_RECALL);
    return ikt_figures_of_space(ctx, &rows, (uint64_t)job->settings->run.seed, out);
}
