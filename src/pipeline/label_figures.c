/* Figures of labels. See label_figures.h. */
#include "pipeline/label_figures.h"

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

static ikt_status draw_sample(ikt_context *ctx, const ikt_class_outcome *o, bool is_held_out,
                              int64_t most, uint64_t seed, ikt_label_figures *out) {
    const ikt_class_rows *c = &o->classes;
    const bool has_list = c->trained < c->labelled; /* else nobody is left out by one */
    int64_t *slot = NULL, *number = NULL;
    for (int64_t i = 0; i < c->n; i++)
        out->rows += is_of(o, is_held_out, has_list, i);
    out->sample = out->rows < most ? out->rows : most;
    out->votes = VOTES < c->trained - 1 ? VOTES : c->trained - 1;
    const int64_t slots = ikt_draw_slots(out->sample);
    ikt_status st = ikt_alloc(ctx, &out->row, out->sample, sizeof *out->row, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &slot, slots, sizeof *slot, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &number, out->sample, sizeof *number, purpose);
    if (st == IKT_OK && out->sample > 0) {
        ikt_draw_subset(seed, IKT_RNG_HELD_OUT, is_held_out, out->rows, out->sample, slot, slots,
                        number);
        for (int64_t i = 0, seen = 0, at = 0; i < c->n && at < out->sample; i++) {
            if (!is_of(o, is_held_out, has_list, i)) continue;
            if (seen++ == number[at]) out->row[at++] = i;
        }
    }
    ikt_free(&slot);
    ikt_free(&number);
    return st;
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

static ikt_status find_in_space(ikt_context *ctx, const ikt_fisher_rows *rows, const uint8_t *train,
                                const ikt_class_outcome *o, ikt_label_figures *out) {
    const ikt_class_lanes *shape = &rows->job.shape;
    ikt_fisher_rows all = *rows;
    ikt_fisher_own own = {0};
    ikt_neighbours lists = {0};
    wrongs w = {0, 0, 0};
    all.candidates = IKT_CANDIDATES_ALL;
    if (out->sample == 0) return IKT_OK;
    ikt_status st = ikt_fisher_take(ctx, rows, out->row, out->sample, &own);
    const ikt_rows sampled = {.n = rows->rows.n, .ranks = 1, .first = 0, .count = own.count};
    if (st == IKT_OK) st = ikt_neighbours_create(ctx, &sampled, out->votes, &lists);
    st = ikt_agree(ctx, st);
    ikt_list_course course = {.lists = &lists};
    if (st == IKT_OK) st = ikt_fisher_search(ctx, &all, &own, train, &course, NULL);
    if (st == IKT_OK) {
        ikt_neighbours_sort(ctx, &lists);
        for (int64_t a = 0; a < own.count; a++) {
            const int64_t row = own.row[a];
            ask(&o->classes, row, lists.row + a * lists.k, lists.k, &w);
            w.posterior +=
                ikt_class_best(shape, own.root + a * shape->wide) != o->classes.known[row];
        }
        total(ctx, &w);
        out->space_nearest = (double)w.nearest / (double)out->sample;
        out->space_votes = (double)w.votes / (double)out->sample;
        out->posterior = (double)w.posterior / (double)out->sample;
    }
    ikt_neighbours_destroy(&lists);
    ikt_fisher_own_destroy(&own);
    return st;
}

ikt_status ikt_figures_of_space(ikt_context *ctx, const ikt_fisher_rows *rows, uint64_t seed,
                                ikt_class_outcome *o) {
    const bool is_slow = rows->job.rule != IKT_RULE_ARC;
    uint8_t *train = NULL;
    ikt_status st = ikt_alloc(ctx, &train, o->classes.n, 1, purpose);
    for (int64_t i = 0; st == IKT_OK && i < o->classes.n; i++)
        train[i] = o->classes.of_row[i] >= 0;
    if (st == IKT_OK)
        st = draw_sample(ctx, o, true, is_slow ? SLOW_MOST : HELD_OUT_MOST, seed, &o->held_out);
    if (st == IKT_OK)
        st = draw_sample(ctx, o, false, is_slow ? SLOW_MOST : USED_MOST, seed, &o->used);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = find_in_space(ctx, rows, train, o, &o->held_out);
    if (st == IKT_OK) st = find_in_space(ctx, rows, train, o, &o->used);
    ikt_free(&train);
    return st;
}

/* --- in the map ------------------------------------------------------------------------------- */

/* The train rows alone, in a tree. */
typedef struct {
    int64_t count;
    float *y;       /* [count * q] */
    uint32_t *row;  /* [count] */
    int64_t *place; /* [n] number of each, or -1 */
    ikt_tree tree;
} train_tree;

static void destroy_tree(train_tree *t) {
    ikt_free(&t->y);
    ikt_free(&t->row);
    ikt_free(&t->place);
    ikt_tree_destroy(&t->tree);
}

static ikt_status create_tree(ikt_context *ctx, const ikt_class_rows *c, int64_t q, const float *y,
                              train_tree *t) {
    IKT_TRY(ikt_alloc(ctx, &t->y, c->trained * q, sizeof *t->y, purpose));
    IKT_TRY(ikt_alloc(ctx, &t->row, c->trained, sizeof *t->row, purpose));
    IKT_TRY(ikt_alloc(ctx, &t->place, c->n, sizeof *t->place, purpose));
    for (int64_t i = 0; i < c->n; i++) {
        t->place[i] = c->of_row[i] >= 0 ? t->count : -1;
        if (c->of_row[i] < 0) continue;
        memcpy(t->y + t->count * q, y + i * q, (size_t)q * sizeof *y);
        t->row[t->count++] = (uint32_t)i;
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
                    (ikt_log_number[]){IKT_LOG_INT("rows", f->rows),
                                       IKT_LOG_INT("sample", f->sample),
                                       IKT_LOG_REAL("posterior_error", f->posterior),
                                       IKT_LOG_REAL("space_error", f->space_nearest),
                                       IKT_LOG_REAL("space_votes_error", f->space_votes),
                                       IKT_LOG_REAL("map_error", f->map_nearest),
                                       IKT_LOG_REAL("map_votes_error", f->map_votes),
                                       {0}},
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
    float *all = NULL;
    train_tree t = {0};
    const char *const label = o->is_permuted ? "permuted labels" : "labels";
    char unused[64], used[64];
    IKT_TRY(ikt_share_rows(ctx, rows, y, (size_t)q * sizeof *y, purpose, &all));
    ikt_status st = ikt_agree(ctx, create_tree(ctx, &o->classes, q, all, &t));
    if (st == IKT_OK) {
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
    }
    destroy_tree(&t);
    ikt_free(&all);
    return st;
}

/* --- recall ----------------------------------------------------------------------------------- */

void ikt_figures_recall(ikt_context *ctx, const ikt_rows *rows, const ikt_fisher_own *own,
                        const ikt_neighbours *truth, const ikt_neighbours *lists, double sums[3]) {
    const int64_t k = lists->k;
    int64_t found = 0;
    ikt_exact_sum sum[2] = {{{0}, 0, 0}, {{0}, 0, 0}};
    for (int64_t a = 0; a < own->count; a++) {
        const float *list = lists->score + (own->row[a] - rows->first) * k;
        const float *true_list = truth->score + a * k;
        float worst = 0;
        for (int64_t e = 0; e < k; e++)
            worst = true_list[e] > worst ? true_list[e] : worst;
        for (int64_t e = 0; e < k; e++) {
            found += list[e] <= worst;
            if (isfinite(list[e])) ikt_exact_sum_add(&sum[0], sqrt((double)list[e]));
            if (isfinite(true_list[e])) ikt_exact_sum_add(&sum[1], sqrt((double)true_list[e]));
        }
    }
    ikt_exact_sum_reduce(ctx, sum, 2);
    sums[0] = (double)ikt_sum_one(ctx, found);
    sums[1] = ikt_exact_sum_value(&sum[0]);
    sums[2] = ikt_exact_sum_value(&sum[1]);
}
