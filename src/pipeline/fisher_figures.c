/* Figures of labels. See fisher_line.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/sort.h"
#include "dist/shuffle.h"
#include "evaluate/measure.h"
#include "evaluate/tree.h"
#include "pipeline/fisher_line.h"

static const char purpose[] = "label figures";

enum { HELD_OUT_MOST = 5000, USED_MOST = 1000, SLOW_MOST = 300, VOTES = 10 };

/* --- samples ---------------------------------------------------------------------------------- */

/* The rows that figures of a kind are about. */
static bool is_of(const ikt_class_outcome *o, bool is_held_out, bool has_list, int64_t row) {
    const ikt_class_rows *c = &o->classes;
    const bool is_support = ikt_find_i64(o->support.row, o->support.m, row) >= 0;
    if (!is_held_out) return is_support;
    return c->known[row] != -1 && (has_list ? c->of_row[row] < 0 : !is_support);
}

/* LOCAL. Some of the rows of a kind; which they are, is the caller's. */
static ikt_status draw_sample(ikt_context *ctx, const ikt_class_outcome *o, bool is_held_out,
                              int64_t most, uint64_t seed, ikt_label_figures *out) {
    const ikt_class_rows *c = &o->classes;
    const bool has_list = c->trained < c->labelled; /* else nobody is left out by one */
    for (int64_t i = 0; i < c->n; i++)
        out->rows += is_of(o, is_held_out, has_list, i);
    out->sample = ikt_smaller(out->rows, most);
    out->votes = ikt_smaller(VOTES, c->trained - 1);
    IKT_ARRAYS(held, ctx, purpose);
    out->row = ikt_claim_kept(&held, out->sample, sizeof *out->row);
    int64_t *number = ikt_claim(&held, out->sample, sizeof *number);
    ikt_draw_claimed(&held, seed, IKT_RNG_HELD_OUT, is_held_out, out->rows, out->sample, number);
    IKT_TRY(held.status);
    for (int64_t i = 0, seen = 0, at = 0; i < c->n && at < out->sample; i++) {
        if (!is_of(o, is_held_out, has_list, i)) continue;
        if (seen++ == number[at]) out->row[at++] = i;
    }
    return IKT_OK;
}

/* --- errors ----------------------------------------------------------------------------------- */

/* Wrong answers about some rows. */
typedef struct {
    int64_t nearest, votes, posterior;
} wrongs;

/* Whether the nearest of `count` train rows, and most of them, have another label than `row`. */
static void ask(const ikt_class_rows *c, int64_t row, const uint32_t *nearest, int64_t count,
                wrongs *out) {
    int64_t votes[VOTES];
    for (int64_t e = 0; e < count; e++)
        votes[e] = c->of_row[nearest[e]];
    out->nearest += votes[0] != c->known[row];
    out->votes += ikt_votes_majority(votes, count) != c->known[row];
}

/* COLLECTIVE. */
static void total(ikt_context *ctx, wrongs *w) {
    int64_t value[3] = {w->nearest, w->votes, w->posterior};
    ikt_sum_i64(ctx, value, 3);
    *w = (wrongs){value[0], value[1], value[2]};
}

/* --- in the metric ---------------------------------------------------------------------------- */

/* LOCAL. Those of some rows that this rank has, and room for their lists. */
static ikt_status take_rows(ikt_context *ctx, const ikt_fisher_rows *rows, const int64_t *row,
                            int64_t count, int64_t k, ikt_fisher_own *own, ikt_neighbours *lists) {
    IKT_TRY(ikt_fisher_take(ctx, rows, row, count, own));
    const ikt_rows sampled = {.n = rows->rows.n, .ranks = 1, .first = 0, .count = own->count};
    return ikt_neighbours_create(ctx, &sampled, k, lists);
}

/* COLLECTIVE. The nearest of all rows, or of the train rows, of each of some rows, whatever the
 * candidates of the run are.
 *   row     [count] the same on every rank
 *   own     receives those of this rank, and `lists` their lists, in any order; owned by the caller
 *           also after a failure */
static ikt_status find_lists(ikt_context *ctx, const ikt_fisher_rows *rows, const int64_t *row,
                             int64_t count, int64_t k, const uint8_t *train, ikt_fisher_own *own,
                             ikt_neighbours *lists) {
    ikt_fisher_rows all = *rows;
    ikt_list_course course = {.lists = lists};
    IKT_TRY(ikt_agree(ctx, take_rows(ctx, rows, row, count, k, own, lists)));
    all.candidates = IKT_CANDIDATES_ALL;
    return ikt_fisher_search(ctx, &all, own, train, &course, NULL);
}

static ikt_status find_in_space(ikt_context *ctx, const ikt_fisher_rows *rows, const uint8_t *train,
                                const ikt_class_outcome *o, ikt_label_figures *out) {
    const ikt_class_lanes *shape = &rows->job.shape;
    ikt_fisher_own own IKT_AT_END(ikt_fisher_own_destroy) = {0};
    ikt_neighbours lists IKT_AT_END(ikt_neighbours_destroy) = {0};
    wrongs w = {0, 0, 0};
    if (out->sample == 0) return IKT_OK;
    IKT_TRY(find_lists(ctx, rows, out->row, out->sample, out->votes, train, &own, &lists));
    ikt_neighbours_sort(ctx, &lists);
    for (int64_t a = 0; a < own.count; a++) {
        const int64_t row = own.row[a];
        ask(&o->classes, row, lists.row + a * lists.k, lists.k, &w);
        w.posterior += ikt_class_best(shape, own.root + a * shape->wide) != o->classes.known[row];
    }
    total(ctx, &w);
    out->space_nearest = (double)w.nearest / (double)out->sample;
    out->space_votes = (double)w.votes / (double)out->sample;
    out->posterior = (double)w.posterior / (double)out->sample;
    return IKT_OK;
}

/* LOCAL. */
static ikt_status draw_samples(ikt_context *ctx, bool is_slow, uint64_t seed,
                               ikt_class_outcome *o) {
    const int64_t most = is_slow ? SLOW_MOST : HELD_OUT_MOST;
    IKT_TRY(draw_sample(ctx, o, true, most, seed, &o->held_out));
    return draw_sample(ctx, o, false, ikt_smaller(most, USED_MOST), seed, &o->used);
}

ikt_status ikt_figures_of_space(ikt_context *ctx, const ikt_fisher_rows *rows, uint64_t seed,
                                ikt_class_outcome *o) {
    IKT_ARRAYS(held, ctx, purpose);
    uint8_t *train = ikt_claim(&held, o->classes.n, 1);
    if (train) held.status = draw_samples(ctx, rows->job.rule != IKT_RULE_ARC, seed, o);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t i = 0; i < o->classes.n; i++)
        train[i] = o->classes.of_row[i] >= 0;
    IKT_TRY(find_in_space(ctx, rows, train, o, &o->held_out));
    return find_in_space(ctx, rows, train, o, &o->used);
}

/* --- in the map ------------------------------------------------------------------------------- */

/* The train rows alone, in a tree. */
typedef struct {
    int64_t count;
    float *y;       /* [count * q] */
    uint32_t *row;  /* [count] */
    int64_t *place; /* [n] number of each, or -1 */
    ikt_tree tree;
    ikt_arrays held;
} train_tree;

static void destroy_tree(train_tree *t) {
    ikt_tree_destroy(&t->tree);
    ikt_arrays_free(&t->held);
}

static ikt_status create_tree(ikt_context *ctx, const ikt_class_rows *c, int64_t q, const float *y,
                              train_tree *t) {
    t->y = ikt_claim(&t->held, c->trained * q, sizeof *t->y);
    t->row = ikt_claim(&t->held, c->trained, sizeof *t->row);
    t->place = ikt_claim(&t->held, c->n, sizeof *t->place);
    IKT_TRY(t->held.status);
    for (int64_t i = 0; i < c->n; i++) {
        t->place[i] = -1;
        if (c->of_row[i] < 0) continue;
        memcpy(t->y + t->count * q, y + i * q, (size_t)q * sizeof *y);
        t->row[t->count] = (uint32_t)i;
        t->place[i] = t->count++;
    }
    return ikt_tree_create(ctx, t->y, t->count, q, &t->tree);
}

/* COLLECTIVE. Each rank asks for the sampled rows that it owns. */
static void find_in_map(ikt_context *ctx, const ikt_rows *rows, const ikt_class_rows *c,
                        const train_tree *t, int64_t q, const float *all, ikt_label_figures *out) {
    float score[VOTES];
    uint32_t nearest[VOTES];
    wrongs w = {0, 0, 0};
    if (out->sample == 0) return;
    for (int64_t a = 0; a < out->sample; a++) {
        const int64_t row = out->row[a];
        if (row < rows->first || row >= rows->first + rows->count) continue;
        ikt_tree_nearest(&t->tree, all + row * q, t->place[row], out->votes, score, nearest);
        for (int64_t e = 0; e < out->votes; e++)
            nearest[e] = t->row[nearest[e]];
        ask(c, row, nearest, out->votes, &w);
    }
    total(ctx, &w);
    out->map_nearest = (double)w.nearest / (double)out->sample;
    out->map_votes = (double)w.votes / (double)out->sample;
}

/* --- what is said of them --------------------------------------------------------------------- */

static void tell(ikt_context *ctx, const ikt_label_figures *f, const char *who, const char *name) {
    if (f->sample == 0) return;
    ikt_log_numbers(ctx, IKT_LOG_STAGE,
                    IKT_LOG_NUMBERS(IKT_LOG_INT("rows", f->rows), IKT_LOG_INT("sample", f->sample),
                                    IKT_LOG_REAL("posterior_error", f->posterior),
                                    IKT_LOG_REAL("space_error", f->space_nearest),
                                    IKT_LOG_REAL("space_votes_error", f->space_votes),
                                    IKT_LOG_REAL("map_error", f->map_nearest),
                                    IKT_LOG_REAL("map_votes_error", f->map_votes)),
                    "fisher: %s (%s, %lld of %lld): error of the likeliest class %.1f %%; of the "
                    "nearest train row %.1f %% by the metric and %.1f %% in the map; of the %lld "
                    "nearest %.1f and %.1f %%",
                    who, name, (long long)f->sample, (long long)f->rows, 100 * f->posterior,
                    100 * f->space_nearest, 100 * f->map_nearest, (long long)f->votes,
                    100 * f->space_votes, 100 * f->map_votes);
}

/* Permuted labels that seem to be told: what is left of labels that were put in. */
static void tell_baseline(ikt_context *ctx, const ikt_class_outcome *o, const ikt_label_figures *f,
                          const char *who) {
    const double margin = 3 * sqrt(o->chance * (1 - o->chance) / (double)f->sample);
    const double least = fmin(f->space_nearest, f->map_nearest);
    if (!o->is_permuted || f->sample == 0 || least >= o->chance - margin) return;
    ikt_log(ctx, IKT_LOG_WARN,
            "fisher: permuted labels have an error of %.1f %% on %s, where chance gives %.1f %%: "
            "what the map shows of these rows' labels was put in%s",
            100 * least, who, 100 * o->chance,
            o->leaves_out && f == &o->used ? ", by what each lacks without its own weight" : "");
}

ikt_status ikt_figures_of_map(ikt_context *ctx, const ikt_rows *rows, int64_t q, const float *y,
                              ikt_class_outcome *o) {
    float *all IKT_AT_END(ikt_free) = NULL;
    train_tree t IKT_AT_END(destroy_tree) = {.held = ikt_arrays_of(ctx, purpose)};
    const char *const label = o->is_permuted ? "permuted labels" : "labels";
    char unused[64], used[64];
    IKT_TRY(ikt_share_rows(ctx, rows, y, (size_t)q * sizeof *y, purpose, &all));
    IKT_TRY(ikt_agree(ctx, create_tree(ctx, &o->classes, q, all, &t)));
    find_in_map(ctx, rows, &o->classes, &t, q, all, &o->held_out);
    find_in_map(ctx, rows, &o->classes, &t, q, all, &o->used);
    snprintf(unused, sizeof unused, "whose %s were not used", label);
    snprintf(used, sizeof used, "whose %s WERE used", label);
    if (o->held_out.sample == 0)
        ikt_log(ctx, IKT_LOG_STAGE,
                "fisher: every label was used, so that no figure can tell whether the map "
                "shows more than these labels; hold some back by fisher.train or a smaller "
                "fisher.support");
    tell(ctx, &o->held_out, "held-out rows", unused);
    tell(ctx, &o->used, "rows of the support", used);
    tell_baseline(ctx, o, &o->held_out, "held-out rows");
    tell_baseline(ctx, o, &o->used, "rows of the support");
    return IKT_OK;
}

/* --- recall ----------------------------------------------------------------------------------- */

/* What lists hold of the truth. */
typedef struct {
    int64_t found;            /* entries as near as the true k-th nearest row */
    ikt_exact_sum there, all; /* distances of the lists, and of the true ones */
} held_truth;

static void compare_lists(const float *list, const float *true_list, int64_t k, held_truth *out) {
    float worst = 0;
    for (int64_t e = 0; e < k; e++)
        worst = fmaxf(worst, true_list[e]);
    for (int64_t e = 0; e < k; e++) {
        out->found += list[e] <= worst;
        if (isfinite(list[e])) ikt_exact_sum_add(&out->there, sqrt((double)list[e]));
        if (isfinite(true_list[e])) ikt_exact_sum_add(&out->all, sqrt((double)true_list[e]));
    }
}

ikt_status ikt_figures_recall(ikt_context *ctx, const ikt_fisher_rows *rows,
                              const ikt_neighbours *lists, uint64_t seed, ikt_recall *out) {
    const int64_t n = rows->rows.n, count = ikt_smaller(ikt_recall_rows(n), n), k = lists->k;
    ikt_fisher_own own IKT_AT_END(ikt_fisher_own_destroy) = {0};
    ikt_neighbours truth IKT_AT_END(ikt_neighbours_destroy) = {0};
    held_truth t = {.found = 0};
    IKT_ARRAYS(held, ctx, purpose);
    int64_t *row = ikt_claim(&held, count, sizeof *row);
    ikt_draw_claimed(&held, seed, IKT_RNG_SAMPLE, 0, n, count, row);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(find_lists(ctx, rows, row, count, k, NULL, &own, &truth));
    for (int64_t a = 0; a < own.count; a++)
        compare_lists(lists->score + (own.row[a] - rows->rows.first) * k, truth.score + a * k, k,
                      &t);
    ikt_exact_sum sum[2] = {t.there, t.all};
    ikt_exact_sum_reduce(ctx, sum, 2);
    const double there = ikt_exact_sum_value(&sum[0]), all = ikt_exact_sum_value(&sum[1]);
    const double found = (double)ikt_sum_one(ctx, t.found) / (double)(count * k);
    *out = (ikt_recall){count, found, there > 0 ? all / there : 1};
    return IKT_OK;
}
