/* From data to P. See probabilities.h. */
#include "pipeline/probabilities.h"

#include <string.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "isolation/codes.h"
#include "neighbours/scorers.h"
#include "neighbours/search.h"
#include "pipeline/rows_order.h"

/* Cell codes of the own rows; from here on the coordinates are not needed. */
static ikt_status compute_codes(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                                const ikt_row_map *map, int64_t psi, ikt_codes *codes) {
    ikt_model *model = NULL;
    ikt_stage_begin(ctx, IKT_STAGE_CODES);
    ikt_status st = ikt_model_create(ctx, (uint64_t)settings->run.seed, map->n, psi,
                                     settings->isolation.partitionings, &model);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = ikt_codes_compute(ctx, data, map, model, codes);
    ikt_model_destroy(&model);
    ikt_stage_end(ctx, IKT_STAGE_CODES);
    return st;
}

enum { RECALL_SAMPLE = 1000 };

static ikt_status find_all(ikt_context *ctx, const ikt_scorer *scorer, int64_t k,
                           ikt_neighbours *lists) {
    ikt_stage_begin(ctx, IKT_STAGE_NEIGHBOURS);
    ikt_status st = ikt_neighbours_brute(ctx, scorer, k, lists);
    ikt_stage_end(ctx, IKT_STAGE_NEIGHBOURS);
    return st;
}

static ikt_status find_near(ikt_context *ctx, const ikt_settings *settings, const ikt_cells *cells,
                            const ikt_shelf *shelf, ikt_probabilities *p, ikt_neighbours *lists) {
    ikt_stage_begin(ctx, IKT_STAGE_NEIGHBOURS);
    ikt_status st = ikt_neighbours_search(
        ctx, cells, shelf, p->k, ikt_affinity_candidates(&settings->affinity, p->k), lists);
    ikt_stage_end(ctx, IKT_STAGE_NEIGHBOURS);
    ikt_stage_begin(ctx, IKT_STAGE_RECALL);
    if (st == IKT_OK)
        st = ikt_recall_measure(ctx, shelf, lists, (uint64_t)settings->run.seed, RECALL_SAMPLE,
                                &p->recall);
    ikt_stage_end(ctx, IKT_STAGE_RECALL);
    if (st != IKT_OK) ikt_neighbours_destroy(lists);
    return st;
}

/* From lists of neighbours to P; isolation where `t` > 0, else Gaussian. Takes the lists over. */
static ikt_status weigh(ikt_context *ctx, const ikt_settings *settings, int64_t t,
                        ikt_dataset *data, const ikt_row_map *map, ikt_neighbours *lists,
                        ikt_probabilities *p) {
    ikt_status st = IKT_OK;
    ikt_stage_begin(ctx, IKT_STAGE_AFFINITY);
    if (t > 0) {
        ikt_isolation_weights(ctx, lists, t, lists->score);
        st = ikt_affinity_adopt_orphans(ctx, data, map, p->is_ordered ? &p->order : NULL, lists,
                                        &p->orphans);
    } else {
        ikt_gaussian_weights(ctx, lists, settings->gaussian.perplexity, lists->score);
    }
    ikt_stage_end(ctx, IKT_STAGE_AFFINITY);
    ikt_stage_begin(ctx, IKT_STAGE_GRAPH);
    if (st == IKT_OK) st = ikt_graph_symmetrise(ctx, map, lists, &p->graph);
    ikt_neighbours_destroy(lists);
#ifndef NDEBUG
    if (st == IKT_OK) st = ikt_graph_check(ctx, &p->graph);
#endif
    if (st == IKT_OK) p->entries = ikt_graph_entries(ctx, &p->graph);
    ikt_stage_end(ctx, IKT_STAGE_GRAPH);
    return st;
}

/* Neighbours over whose number a row without similarity spreads its weight in a dense P. */
static int64_t orphan_neighbours(const ikt_settings *settings, int64_t n) {
    int64_t k = settings->affinity.neighbours == IKT_AUTO_INT ? 30 : settings->affinity.neighbours;
    return k < n ? k : n - 1;
}

static ikt_status dense(ikt_context *ctx, const ikt_settings *settings, const ikt_scorer *scorer,
                        int64_t t, ikt_dataset *data, ikt_probabilities *p) {
    ikt_stage_begin(ctx, IKT_STAGE_AFFINITY);
    ikt_status st =
        t > 0
            ? ikt_dense_isolation(ctx, scorer, t, data, orphan_neighbours(settings, scorer->map.n),
                                  &p->dense, &p->orphans)
            : ikt_dense_gaussian(ctx, scorer, settings->gaussian.perplexity, &p->dense);
    p->entries = scorer->map.n * (scorer->map.n - 1);
    ikt_stage_end(ctx, IKT_STAGE_AFFINITY);
    return st;
}

/* Codes of the rows at the own positions. */
static ikt_status order_codes(ikt_context *ctx, const ikt_order *order, ikt_codes *codes) {
    ikt_stage_begin(ctx, IKT_STAGE_ORDER);
    ikt_status st = ikt_order_apply(ctx, order, codes->code, codes->stride, codes->code,
                                    codes->stride, codes->stride);
    ikt_stage_end(ctx, IKT_STAGE_ORDER);
    return st;
}

/* Lists from codes, among near cells; the codes are gone afterwards. */
static ikt_status isolation_near(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                                 const ikt_row_map *map, ikt_codes *codes, ikt_probabilities *p,
                                 ikt_neighbours *lists) {
    ikt_cells cells = {0};
    ikt_shelf shelf = {0};
    IKT_TRY(ikt_rows_order(ctx, data, map, (uint64_t)settings->run.seed, &cells, &p->order));
    p->is_ordered = true;
    ikt_status st = order_codes(ctx, &p->order, codes);
    if (st == IKT_OK) st = ikt_agree(ctx, ikt_shelf_codes(ctx, &cells, map, codes, &shelf));
    if (st == IKT_OK) st = find_near(ctx, settings, &cells, &shelf, p, lists);
    ikt_shelf_destroy(&shelf);
    ikt_cells_destroy(&cells);
    ikt_codes_destroy(codes);
    return st;
}

static ikt_status isolation(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                            const ikt_row_map *map, ikt_probabilities *p) {
    const int64_t t = settings->isolation.partitionings;
    ikt_codes codes = {0};
    ikt_neighbours lists = {0, 0, NULL, NULL};
    IKT_TRY(ikt_isolation_resolve_psi(ctx, &settings->isolation, map->n, &p->psi));
    ikt_status st = compute_codes(ctx, settings, data, map, p->psi, &codes);
    if (st == IKT_OK && p->is_dense) {
        ikt_scorer scorer = ikt_scorer_codes(&codes, map);
        st = dense(ctx, settings, &scorer, t, data, p);
    } else if (st == IKT_OK && ikt_affinity_is_approximate(&settings->affinity, map->n)) {
        st = isolation_near(ctx, settings, data, map, &codes, p, &lists);
    } else if (st == IKT_OK) {
        ikt_scorer scorer = ikt_scorer_codes(&codes, map);
        st = find_all(ctx, &scorer, p->k, &lists);
    }
    ikt_codes_destroy(&codes);
    return st == IKT_OK && !p->is_dense ? weigh(ctx, settings, t, data, map, &lists, p) : st;
}

static ikt_status gaussian_near(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                                const ikt_row_map *map, ikt_probabilities *p,
                                ikt_neighbours *lists) {
    ikt_cells cells = {0};
    ikt_shelf shelf = {0};
    IKT_TRY(ikt_rows_order(ctx, data, map, (uint64_t)settings->run.seed, &cells, &p->order));
    p->is_ordered = true;
    ikt_stage_begin(ctx, IKT_STAGE_READ);
    ikt_status st = ikt_shelf_euclidean(ctx, &cells, &p->order, data, &shelf);
    ikt_stage_end(ctx, IKT_STAGE_READ);
    if (st == IKT_OK) st = find_near(ctx, settings, &cells, &shelf, p, lists);
    ikt_shelf_destroy(&shelf);
    ikt_cells_destroy(&cells);
    return st;
}

static ikt_status gaussian(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                           const ikt_row_map *map, ikt_probabilities *p) {
    ikt_scorer scorer;
    ikt_neighbours lists = {0, 0, NULL, NULL};
    if (!p->is_dense && ikt_affinity_is_approximate(&settings->affinity, map->n)) {
        IKT_TRY(gaussian_near(ctx, settings, data, map, p, &lists));
        return weigh(ctx, settings, 0, data, map, &lists, p);
    }
    ikt_stage_begin(ctx, IKT_STAGE_READ);
    ikt_status st = ikt_scorer_euclidean(ctx, data, map, &scorer);
    ikt_stage_end(ctx, IKT_STAGE_READ);
    if (st == IKT_OK)
        st = p->is_dense ? dense(ctx, settings, &scorer, 0, data, p)
                         : find_all(ctx, &scorer, p->k, &lists);
    ikt_scorer_euclidean_destroy(&scorer);
    return st == IKT_OK && !p->is_dense ? weigh(ctx, settings, 0, data, map, &lists, p) : st;
}

ikt_status ikt_probabilities_compute(ikt_context *ctx, const ikt_settings *settings,
                                     ikt_dataset *data, const ikt_row_map *map,
                                     ikt_probabilities *out) {
    memset(out, 0, sizeof *out);
    out->is_dense = settings->affinity.support == IKT_SUPPORT_DENSE;
    IKT_TRY(ikt_affinity_resolve(ctx, &settings->affinity, &settings->gaussian, map->n, &out->k));
    ikt_status st = settings->affinity.kind == IKT_AFFINITY_ISOLATION
                        ? isolation(ctx, settings, data, map, out)
                        : gaussian(ctx, settings, data, map, out);
    if (st != IKT_OK) ikt_probabilities_destroy(out);
    return st;
}

void ikt_probabilities_destroy(ikt_probabilities *p) {
    ikt_order_destroy(&p->order);
    ikt_graph_destroy(&p->graph);
    ikt_dense_destroy(&p->dense);
}

ikt_status ikt_probabilities_objective(ikt_context *ctx, const ikt_probabilities *p,
                                       const ikt_layout_settings *settings, ikt_kernelsum **sums,
                                       ikt_objective *out) {
    const ikt_row_map *map = p->is_dense ? &p->dense.map : &p->graph.map;
    *sums = NULL;
    *out = (ikt_objective){NULL, NULL, NULL, NULL};
    ikt_status st;
    if (settings->repulsion == IKT_REPULSION_EXACT) {
        st = ikt_kernelsum_create_exact(ctx, map, sums);
    } else {
        ikt_fft_settings fft = ikt_fft_preset(
            settings->accuracy == IKT_ACCURACY_TIGHT ? IKT_FFT_TIGHT : IKT_FFT_DEFAULT);
        st = ikt_kernelsum_create_fft(ctx, map, &fft, sums);
    }
    if (st == IKT_OK)
        st = p->is_dense ? ikt_tsne_dense_create(ctx, &p->dense, *sums, out)
                         : ikt_tsne_create(ctx, &p->graph, *sums, out);
    if (st != IKT_OK) ikt_kernelsum_destroy(sums);
    return st;
}
