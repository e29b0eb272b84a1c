/* From data to P. See probabilities.h. */
#include "pipeline/probabilities.h"

#include <string.h>

#include "base/comm.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "evaluate/list_accuracy.h"
#include "isolation/codes.h"
#include "neighbours/refine.h"
#include "neighbours/scorers.h"
#include "neighbours/search.h"
#include "pipeline/keep.h"
#include "pipeline/rows_order.h"

/* Codes of the own rows and the coarse cells that order them. */
typedef struct {
    ikt_model *model;
    ikt_codes codes;
    uint16_t *cell; /* [map->count] coarse cells, or NULL where the search is exact */
} coded;

static void coded_free(coded *c) {
    ikt_model_destroy(&c->model);
    ikt_codes_destroy(&c->codes);
    ikt_free(&c->cell);
}

/* The model for n rows, drawn from `drawn` rows. */
static ikt_model_spec isolation_spec(const ikt_settings *settings, int64_t n, int64_t drawn,
                                     const ikt_probabilities *p) {
    bool is_near = !p->is_dense && ikt_affinity_is_approximate(&settings->affinity, n);
    int64_t cells = is_near ? ikt_cells_choose(n, p->pool) : 0;
    return (ikt_model_spec){.seed = (uint64_t)settings->run.seed,
                            .n = drawn,
                            .psi = p->psi,
                            .t = settings->isolation.partitionings,
                            .pool = p->pool,
                            .coarse = cells < drawn ? cells : drawn};
}

/* Codes of the own rows; from here on the coordinates are not needed. */
static ikt_status code_rows(ikt_context *ctx, const ikt_model_spec *spec, ikt_dataset *data,
                            const ikt_row_map *map, ikt_model_writer *keep, coded *out) {
    *out = (coded){0};
    ikt_stage_begin(ctx, IKT_STAGE_CODES);
    ikt_status st = ikt_model_create(ctx, spec, &out->model);
    if (st == IKT_OK && spec->coarse > 0)
        st = ikt_alloc(ctx, &out->cell, map->count, sizeof *out->cell, "cells");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = ikt_codes_compute(ctx, data, map, out->model, &out->codes, out->cell);
    ikt_stage_end(ctx, IKT_STAGE_CODES);
    if (st == IKT_OK && keep) st = ikt_keep_codes(ctx, keep, data, map, out->model, &out->codes);
    if (st != IKT_OK) coded_free(out);
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
                            ikt_shelf *shelf, ikt_probabilities *p, ikt_neighbours *lists) {
    const int64_t rounds = settings->affinity.refinements;
    ikt_stage_begin(ctx, IKT_STAGE_NEIGHBOURS);
    ikt_status st = ikt_neighbours_search(
        ctx, cells, shelf, p->k, ikt_affinity_candidates(&settings->affinity, shelf->map.n, p->k),
        lists);
    for (int64_t round = 0; st == IKT_OK && round < rounds; round++)
        st = ikt_neighbours_refine(ctx, shelf, lists);
    ikt_stage_end(ctx, IKT_STAGE_NEIGHBOURS);
    ikt_stage_begin(ctx, IKT_STAGE_RECALL);
    if (st == IKT_OK)
        st = ikt_recall_measure(ctx, shelf, lists, (uint64_t)settings->run.seed, RECALL_SAMPLE,
                                &p->recall);
    ikt_stage_end(ctx, IKT_STAGE_RECALL);
    if (st != IKT_OK) ikt_neighbours_destroy(lists);
    return st;
}

enum { LABEL_NEIGHBOURS = 10 };

/* Label accuracy of the lists, while they still have scores. */
static ikt_status judge(ikt_context *ctx, const ikt_row_map *map, const ikt_neighbours *lists,
                        ikt_probabilities *p) {
    int64_t *labels = NULL;
    if (!p->labels) return IKT_OK;
    ikt_status st = ikt_agree(ctx, ikt_alloc(ctx, &labels, map->count, sizeof *labels, "labels"));
    if (st == IKT_OK && p->is_ordered)
        st = ikt_order_apply(ctx, &p->order, p->labels, sizeof *labels, labels, sizeof *labels,
                             sizeof *labels);
    if (st == IKT_OK)
        st = ikt_list_label_accuracy(ctx, map, lists, p->is_ordered ? labels : p->labels,
                                     LABEL_NEIGHBOURS, &p->accuracy);
    ikt_free(&labels);
    return st;
}

/* From lists of neighbours to P; isolation where `t` > 0, else Gaussian. Takes the lists over. */
static ikt_status weigh(ikt_context *ctx, const ikt_settings *settings, int64_t t,
                        ikt_dataset *data, const ikt_row_map *map, ikt_neighbours *lists,
                        ikt_probabilities *p) {
    ikt_stage_begin(ctx, IKT_STAGE_AFFINITY);
    ikt_status st = judge(ctx, map, lists, p);
    if (st == IKT_OK && t > 0) {
        ikt_isolation_weights(ctx, lists, t, lists->score);
        st = ikt_affinity_adopt_orphans(ctx, data, map, p->is_ordered ? &p->order : NULL, lists,
                                        &p->orphans);
    } else if (st == IKT_OK) {
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

/* Lists from codes, among near cells. */
static ikt_status isolation_near(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                                 const ikt_row_map *map, coded *c, ikt_probabilities *p,
                                 ikt_neighbours *lists) {
    ikt_cells cells = {0};
    ikt_shelf shelf = {0};
    IKT_TRY(ikt_rows_order(ctx, data, map, c->model, c->cell, &cells, &p->order));
    p->is_ordered = true;
    ikt_status st = order_codes(ctx, &p->order, &c->codes);
    if (st == IKT_OK) st = ikt_agree(ctx, ikt_shelf_codes(ctx, &cells, map, &c->codes, &shelf));
    if (st == IKT_OK) st = find_near(ctx, settings, &cells, &shelf, p, lists);
    ikt_shelf_destroy(&shelf);
    ikt_cells_destroy(&cells);
    return st;
}

static ikt_status resolve_isolation(ikt_context *ctx, const ikt_settings *settings, int64_t n,
                                    int64_t drawn, ikt_probabilities *p) {
    IKT_TRY(ikt_isolation_resolve_psi(ctx, &settings->isolation, n, drawn, &p->psi));
    IKT_TRY(ikt_isolation_resolve_pool(ctx, &settings->isolation, drawn, p->psi, &p->pool));
    if (!p->is_dense && ikt_affinity_is_approximate(&settings->affinity, n))
        p->pool = ikt_cells_pool(n, p->pool);
    if (p->pool >= drawn) p->pool = 0;
    if (p->pool > 0)
        ikt_log(ctx, IKT_LOG_STAGE, "isolation: psi %lld, centres from a pool of %lld rows",
                (long long)p->psi, (long long)p->pool);
    return IKT_OK;
}

static ikt_status place_among_landmarks(ikt_context *ctx, const ikt_row_map *map,
                                        const ikt_codes *codes, ikt_probabilities *p) {
    if (!p->landmarks) return IKT_OK;
    ikt_status st = ikt_alloc(ctx, &p->start, 2 * map->count, sizeof *p->start, "embedding");
    IKT_TRY(ikt_agree(ctx, st));
    return ikt_landmarks_place_codes(ctx, p->landmarks, map, codes, p->start);
}

static ikt_status isolation(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                            const ikt_row_map *map, ikt_probabilities *p) {
    const int64_t t = settings->isolation.partitionings;
    coded c = {0};
    ikt_neighbours lists = {0, 0, NULL, NULL};
    const int64_t drawn = ikt_dataset_rows(ikt_dataset_model(data));
    IKT_TRY(resolve_isolation(ctx, settings, map->n, drawn, p));
    const ikt_model_spec spec = isolation_spec(settings, map->n, drawn, p);
    IKT_TRY(code_rows(ctx, &spec, data, map, p->keep, &c));
    ikt_scorer scorer = ikt_scorer_codes(&c.codes, map);
    ikt_status st = place_among_landmarks(ctx, map, &c.codes, p);
    if (st == IKT_OK)
        st = p->is_dense       ? dense(ctx, settings, &scorer, t, data, p)
             : spec.coarse > 0 ? isolation_near(ctx, settings, data, map, &c, p, &lists)
                               : find_all(ctx, &scorer, p->k, &lists);
    coded_free(&c);
    return st == IKT_OK && !p->is_dense ? weigh(ctx, settings, t, data, map, &lists, p) : st;
}

static ikt_status gaussian_near(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                                const ikt_row_map *map, ikt_probabilities *p,
                                ikt_neighbours *lists) {
    const ikt_model_spec spec = {.seed = (uint64_t)settings->run.seed,
                                 .n = map->n,
                                 .psi = 1,
                                 .coarse = ikt_cells_choose(map->n, 0)};
    ikt_model *centres = NULL; /* no partitioning, only the coarse one */
    ikt_cells cells = {0};
    ikt_shelf shelf = {0};
    ikt_status st = ikt_agree(ctx, ikt_model_create(ctx, &spec, &centres));
    if (st == IKT_OK) st = ikt_rows_order(ctx, data, map, centres, NULL, &cells, &p->order);
    ikt_model_destroy(&centres);
    ikt_stage_begin(ctx, IKT_STAGE_READ);
    if (st == IKT_OK) {
        p->is_ordered = true;
        st = ikt_shelf_euclidean(ctx, &cells, &p->order, data, &shelf);
    }
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
                                     const int64_t *labels, const ikt_landmarks *landmarks,
                                     ikt_model_writer *keep, ikt_probabilities *out) {
    memset(out, 0, sizeof *out);
    out->labels = labels;
    out->landmarks = landmarks;
    out->keep = keep;
    out->accuracy = -1;
    out->is_dense = settings->affinity.support == IKT_SUPPORT_DENSE;
    IKT_TRY(ikt_affinity_resolve(ctx, &settings->affinity, &settings->gaussian, map->n, &out->k));
    ikt_status st = settings->affinity.kind == IKT_AFFINITY_ISOLATION
                        ? isolation(ctx, settings, data, map, out)
                        : gaussian(ctx, settings, data, map, out);
    if (st != IKT_OK) ikt_probabilities_destroy(out);
    return st;
}

void ikt_probabilities_destroy(ikt_probabilities *p) {
    ikt_free(&p->start);
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
        fft.sharing = settings->grid;
        st = ikt_kernelsum_create_fft(ctx, map, &fft, sums);
    }
    if (st == IKT_OK)
        st = p->is_dense ? ikt_tsne_dense_create(ctx, &p->dense, *sums, out)
                         : ikt_tsne_create(ctx, &p->graph, *sums, out);
    if (st != IKT_OK) ikt_kernelsum_destroy(sums);
    return st;
}
