/* What a search by distances that follow labels takes (affinity.kind: fisher). See task.h. */
#include "base/sort.h"
#include "neighbours/fisher_search.h"
#include "plan/task.h"

/* Log-weights of a row, where the classes are not known. */
static int64_t lanes_of(const ikt_workload *w) {
    const int64_t m = ikt_fisher_support(&w->settings.affinity.fisher, w->data.n);
    return ikt_class_lanes_most(m, IKT_USUAL_CLASSES);
}

/* What rows are compared by in the Fisher metric: log-weights and roots, and the rows where plain
 * distances count; in the file, the posterior. */
int64_t ikt_plan_classes_row_bytes(const ikt_workload *w) {
    const ikt_fisher_settings *fisher = &w->settings.affinity.fisher;
    const bool has_rows = ikt_fisher_euclidean(fisher, !w->is_pairs) > 0 ||
                          fisher->candidates == IKT_CANDIDATES_EUCLIDEAN;
    return (lanes_of(w) + 2 * ikt_packed_rows(IKT_USUAL_CLASSES) + (has_rows ? w->columns : 0)) *
           (int64_t)sizeof(float);
}

/* What the search holds beside that: the model, and classes of all rows on every rank. */
int64_t ikt_plan_classes_bytes(const ikt_workload *w) {
    const int64_t m = lanes_of(w), wide = ikt_packed_rows(IKT_USUAL_CLASSES), c = w->columns;
    const int64_t n = w->distribution.n, rows = w->distribution.count;
    const int64_t reading = 1024 * (c + 2 * m), classes = 17 * n;
    const ikt_fisher_settings *fisher = &w->settings.affinity.fisher;
    if (w->scores != IKT_SCORES_CLASSES) return 0;
    const int64_t among = ikt_fisher_among(fisher, n, w->k);
    const ikt_fisher_candidates candidates = ikt_fisher_candidates_of(fisher, n);
    const int64_t selected = ikt_fisher_selected(candidates, among, w->k);
    const int64_t search = ikt_fisher_search_memory(rows, selected, m, wide, c, w->threads);
    const int64_t near =
        ikt_fisher_near_memory(n, rows, among, w->k, m, wide, c, w->ranks, w->threads);
    return (m * (m + c) + reading) * (int64_t)sizeof(double) + classes +
           ikt_larger(search, candidates == IKT_CANDIDATES_NEAR ? near : 0);
}

/* Log-weights of the rows: a distance to each row of the support; the lines to the neighbours; and
 * the bounds of all pairs, or of those of near cells. Blocks of log-weights go round the ring twice
 * for each batch of rows, or those of near cells are fetched. What each log-weight of a row takes
 * was timed on two cores of a Xeon with AVX-512. */
void ikt_plan_classes(const ikt_task *t) {
    const ikt_workload *w = t->w;
    const ikt_stage search = IKT_STAGE_NEIGHBOURS;
    const ikt_fisher_settings *fisher = &w->settings.affinity.fisher;
    const int64_t n = w->distribution.n;
    const bool is_near = ikt_fisher_candidates_of(fisher, n) == IKT_CANDIDATES_NEAR;
    const double lanes = (double)lanes_of(w), batch = 8192, near_batches = 64;
    const double points = (double)fisher->points * (double)w->k;
    const double among = is_near ? (double)ikt_fisher_among(fisher, n, w->k) : t->n;
    const double others = t->n - t->rows, fetched = fmin(t->rows * among / 256, others);
    const ikt_piece pieces[] = {
        {true, search, MULTIPLY_ADDS, t->rows * lanes * t->columns, block_coordinate, 0},
        /* A point of the lines of a row's neighbours, and of those beside them. */
        {true, search, MULTIPLY_ADDS, t->rows * points * lanes, 107, 0},
        /* A pair that bounds leave aside, on average. */
        {true, search, MULTIPLY_ADDS, t->rows * among * lanes, 0.8, 0},
        {is_near, search, MESSAGES, near_batches, fetched * lanes * 4, ikt_workload_partners(w)},
        {!is_near, search, MESSAGES, 2 * ceil(t->rows / batch), others * lanes * 4,
         ceil(t->rows / 512) * t->others}};
    ikt_plan_pass(t, search, 1, true);
    ADD(t, pieces);
}
