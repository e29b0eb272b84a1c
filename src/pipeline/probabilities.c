/* From data to P. See probabilities.h; read ikt_probabilities_compute, at the end, first. */
#include "pipeline/probabilities.h"

#include <string.h>

#include "affinity/matrix.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "cells/cells.h"
#include "evaluate/accuracy.h"
#include "isolation/model.h"
#include "neighbours/exact.h"
#include "neighbours/fine.h"
#include "neighbours/tiles.h"
#include "objective/objective.h"
#include "pipeline/compared.h"
#include "pipeline/early_outputs.h"
#include "pipeline/graph_input.h"

enum { LABEL_NEIGHBOURS = 10 };

/* What every step is told; lent. */
typedef struct {
    const ikt_settings *settings;
    const ikt_affinity *kind;
    ikt_dataset *data;
    const ikt_probabilities_options *options;
    const ikt_pairwise *pairs; /* the scores of all pairs come from this file; or NULL */
} job;

static ikt_affinity_job weighing_of(const job *j, const ikt_probabilities *p) {
    return (ikt_affinity_job){.settings = &j->settings->affinity,
                              .k = p->k,
                              .t = j->settings->isolation.partitionings,
                              .data = j->data,
                              .rows = &p->rows,
                              .order = p->is_ordered ? &p->order : NULL};
}

/* --- lists of the most similar rows, or the dense P ------------------------------------------- */

/* COLLECTIVE. Empty lists, or what a checkpoint holds of them. */
static ikt_status begin_lists(ikt_context *ctx, ikt_probabilities *p, ikt_list_course *course) {
    *course = (ikt_list_course){.lists = &p->lists};
    IKT_TRY(ikt_agree(ctx, ikt_neighbours_create(ctx, &p->rows, p->k, &p->lists)));
    return ikt_list_course_begin(ctx, p->hooks ? &p->hooks->lists : NULL, &p->lists, course);
}

/* COLLECTIVE. From the scores of all pairs to P. */
static ikt_status weigh_dense(ikt_context *ctx, const job *j, ikt_probabilities *p) {
    const ikt_affinity_job weighing = weighing_of(j, p);
    p->entries = p->rows.n * (p->rows.n - 1);
    IKT_TRY(j->kind->dense(ctx, &weighing, &p->dense, &p->zero_similarity));
    return ikt_dense_check(ctx, &p->dense);
}

static ikt_status compare_all(ikt_context *ctx, const job *j, const ikt_scorer *scorer,
                              ikt_probabilities *p) {
    ikt_list_course course;
    if (p->is_dense) {
        ikt_stage_begin(ctx, IKT_STAGE_AFFINITY);
        ikt_status st = ikt_dense_fill(ctx, scorer, &p->dense);
        if (st == IKT_OK) st = weigh_dense(ctx, j, p);
        ikt_stage_end(ctx, IKT_STAGE_AFFINITY);
        return st;
    }
    ikt_stage_begin(ctx, IKT_STAGE_NEIGHBOURS);
    ikt_status st = begin_lists(ctx, p, &course);
    if (st == IKT_OK) st = ikt_neighbours_exact(ctx, scorer, &course);
    ikt_list_course_end(&course);
    if (st == IKT_OK) ikt_neighbours_sort(ctx, &p->lists);
    ikt_stage_end(ctx, IKT_STAGE_NEIGHBOURS);
    return st;
}

static ikt_status order_codes(ikt_context *ctx, const ikt_order *order, ikt_codes *codes) {
    ikt_stage_begin(ctx, IKT_STAGE_ORDER);
    ikt_status st = ikt_order_apply(ctx, order, codes->code, codes->stride, codes->code,
                                    codes->stride, codes->stride);
    ikt_stage_end(ctx, IKT_STAGE_ORDER);
    return st;
}

/* COLLECTIVE. The search among the rows of near cells and the rounds of refinement after it, from
 * where they were left off, and how much of the truth they found.
 *   fine   the cells that are searched; NULL: coarse ones */
static ikt_status search_near(ikt_context *ctx, const job *j, const ikt_cells *cells,
                              const ikt_fine_cells *fine, ikt_tiles *tiles, ikt_probabilities *p) {
    const ikt_affinity_settings *settings = &j->settings->affinity;
    const bool has_triplets = ikt_layout_objective(&j->settings->layout)->lists != NULL;
    const int64_t n = p->rows.n;
    const int64_t candidates = fine ? ikt_affinity_fine_candidates(settings, n, fine->cells, p->k)
                                    : ikt_affinity_candidates(settings, n, p->k, has_triplets);
    const int64_t rounds = ikt_affinity_refinements(settings, fine != NULL);
    ikt_list_course course;
    p->rounds = rounds;
    ikt_stage_begin(ctx, IKT_STAGE_NEIGHBOURS);
    ikt_status st = begin_lists(ctx, p, &course);
    while (st == IKT_OK && course.progress.round <= rounds) {
        st = course.progress.round > 0 ? ikt_neighbours_refine(ctx, tiles, &course)
             : fine                    ? ikt_neighbours_fine(ctx, fine, tiles, candidates, &course)
                    : ikt_neighbours_search(ctx, cells, tiles, candidates, &course);
        if (st == IKT_OK) ikt_list_course_next(&course);
    }
    ikt_list_course_end(&course);
    ikt_stage_end(ctx, IKT_STAGE_NEIGHBOURS);
    ikt_stage_begin(ctx, IKT_STAGE_RECALL);
    if (st == IKT_OK)
        st = ikt_recall_measure(ctx, tiles, &p->lists, (uint64_t)j->settings->run.seed,
                                ikt_recall_rows(n), &p->recall);
    ikt_stage_end(ctx, IKT_STAGE_RECALL);
    return st;
}

/* COLLECTIVE. Brings rows into the order of their coarse cells and compares those of near ones.
 *   cell    [rows.count] the cells where they came with the codes, or NULL
 *   codes   what is compared; NULL: the rows themselves */
static ikt_status compare_near(ikt_context *ctx, const job *j, const ikt_model *model,
                               uint16_t *cell, ikt_codes *codes, ikt_probabilities *p) {
    ikt_cells cells = {0};
    ikt_tiles tiles = {0};
    IKT_TRY(ikt_rows_order(ctx, j->data, &p->rows, model->coarse_row, model->spec.coarse, cell,
                           &cells, &p->order));
    p->is_ordered = true;
    ikt_status st;
    if (codes) {
        st = order_codes(ctx, &p->order, codes);
        if (st == IKT_OK)
            st = ikt_agree(ctx, ikt_tiles_codes(ctx, &cells, &p->rows, codes, &tiles));
    } else {
        ikt_stage_begin(ctx, IKT_STAGE_READ);
        st = ikt_tiles_data(ctx, &cells, &p->order, j->data, &tiles);
        ikt_stage_end(ctx, IKT_STAGE_READ);
    }
    if (st == IKT_OK) st = search_near(ctx, j, &cells, NULL, &tiles, p);
    ikt_tiles_destroy(&tiles);
    ikt_cells_destroy(&cells);
    return st;
}

/* COLLECTIVE. Brings rows into the order of the centres nearest to them and compares their codes
 * with those of the rows near the same centres. */
static ikt_status compare_fine(ikt_context *ctx, const job *j, ikt_code_places *places,
                               ikt_codes *codes, ikt_probabilities *p) {
    ikt_cells cells = {0};
    ikt_tiles tiles = {0};
    ikt_fine_cells fine;
    ikt_stage_begin(ctx, IKT_STAGE_CELLS);
    ikt_status st = ikt_fine_cells_create(ctx, &p->rows, places, &cells, &p->order, &fine);
    ikt_stage_end(ctx, IKT_STAGE_CELLS);
    IKT_TRY(st);
    p->is_ordered = true;
    st = order_codes(ctx, &p->order, codes);
    if (st == IKT_OK) st = ikt_agree(ctx, ikt_tiles_codes(ctx, &cells, &p->rows, codes, &tiles));
    if (st == IKT_OK) st = search_near(ctx, j, &cells, &fine, &tiles, p);
    ikt_tiles_destroy(&tiles);
    ikt_cells_destroy(&cells);
    ikt_fine_cells_destroy(&fine);
    return st;
}

static ikt_status find_by_distances(ikt_context *ctx, const job *j, ikt_probabilities *p) {
    if (!p->is_dense && ikt_affinity_is_approximate(&j->settings->affinity, p->rows.n)) {
        /* A model without a partitioning but the coarse one. */
        const ikt_model_spec spec = {.seed = (uint64_t)j->settings->run.seed,
                                     .n = p->rows.n,
                                     .psi = 1,
                                     .coarse = ikt_cells_choose(p->rows.n, 0)};
        ikt_model *centres = NULL;
        ikt_status st = ikt_agree(ctx, ikt_model_create(ctx, &spec, &centres));
        if (st == IKT_OK) st = compare_near(ctx, j, centres, NULL, NULL, p);
        ikt_model_destroy(&centres);
        return st;
    }
    ikt_scorer scorer;
    ikt_stage_begin(ctx, IKT_STAGE_READ);
    ikt_status st = ikt_scorer_data(ctx, j->data, &p->rows, &scorer);
    ikt_stage_end(ctx, IKT_STAGE_READ);
    if (st == IKT_OK) st = compare_all(ctx, j, &scorer, p);
    ikt_scorer_destroy(&scorer);
    return st;
}

/* Codes of the own rows, and what orders them. */
typedef struct {
    ikt_model *model;
    ikt_codes codes;
    ikt_code_places places;
} coded;

/* Draws the model, from the rows of the input or of isolation.model_from, and codes the own rows;
 * from here on the coordinates are not needed. */
static ikt_status code_rows(ikt_context *ctx, const job *j, ikt_probabilities *p, coded *out) {
    const int64_t drawn = ikt_dataset_rows(ikt_dataset_model(j->data));
    ikt_model_writer *writer = j->options->model_writer;
    const ikt_codes_rows shape = ikt_codes_rows_of(j->data);
    ikt_model_spec spec;
    IKT_TRY(ikt_model_spec_make(ctx, j->settings, p->rows.n, drawn, &shape, &spec));
    p->psi = spec.psi;
    p->pool = spec.pool;
    if (p->pool > 0)
        ikt_log_numbers(
            ctx, IKT_LOG_STAGE,
            (ikt_log_number[]){IKT_LOG_INT("psi", p->psi), IKT_LOG_INT("pool", p->pool), {0}},
            "isolation: psi %lld, centres from a pool of %lld rows", (long long)p->psi,
            (long long)p->pool);
    ikt_stage_begin(ctx, IKT_STAGE_CODES);
    ikt_status st = ikt_model_create(ctx, &spec, &out->model);
    if (st == IKT_OK && spec.coarse > 0 && spec.form == IKT_FORM_VORONOI)
        st = ikt_alloc(ctx, &out->places.coarse, p->rows.count, sizeof(uint16_t), "cells");
    out->places.near = spec.near;
    if (st == IKT_OK)
        st =
            ikt_alloc(ctx, &out->places.list, p->rows.count * spec.near, sizeof(uint32_t), "cells");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK)
        st = ikt_codes_compute_within(ctx, (ikt_codes_budget){0, 0},
                                      p->hooks ? &p->hooks->codes : NULL, j->data, &p->rows,
                                      out->model, &out->codes, &out->places);
    ikt_stage_end(ctx, IKT_STAGE_CODES);
    p->cells = out->codes.check;
    if (st == IKT_OK && writer)
        st = ikt_run_model_codes(ctx, writer, j->data, &p->rows, out->model, &out->codes,
                                 &j->settings->layout);
    return st;
}

/* --- the whole kernel ------------------------------------------------------------------------- */

/* COLLECTIVE. Rows without similarity get weights for their nearest rows, as in any P; all others
 * have none in this graph. */
static ikt_status adopt_zero_rows(ikt_context *ctx, const job *j, ikt_probabilities *p) {
    ikt_zero_similarity zeros = {0, p->k, NULL, NULL};
    uint8_t *marked = NULL;
    if (p->whole.zero == 0) return IKT_OK;
    IKT_TRY(ikt_alloc_all(ctx, &marked, p->rows.count, 1, "zero similarity"));
    for (int64_t i = 0; i < p->rows.count; i++)
        marked[i] = p->whole.total[i] == 0;
    ikt_status st = ikt_zero_similarity_find_ordered(
        ctx, j->data, &p->rows, p->is_ordered ? &p->order : NULL, marked, p->k, &zeros);
    ikt_free(&marked);
    if (st == IKT_OK)
        st = ikt_agree(ctx, ikt_directed_from_zeros(ctx, &zeros, &p->rows, &p->weights));
    p->zero_similarity = zeros.count;
    ikt_zero_similarity_destroy(&zeros);
    return st;
}

/* COLLECTIVE. The whole kernel of codes, which it takes over; rows first come into the order of
 * their coarse cells, where there are such. */
static ikt_status take_whole(ikt_context *ctx, const job *j, coded *c, ikt_probabilities *p) {
    const ikt_model_spec *spec = &c->model->spec;
    ikt_cells cells = {0};
    ikt_fine_cells fine;
    ikt_status st = IKT_OK;
    if (spec->near > 0) {
        ikt_stage_begin(ctx, IKT_STAGE_CELLS);
        st = ikt_fine_cells_create(ctx, &p->rows, &c->places, &cells, &p->order, &fine);
        if (st == IKT_OK) ikt_fine_cells_destroy(&fine);
        ikt_stage_end(ctx, IKT_STAGE_CELLS);
    } else if (spec->coarse > 0) {
        st = ikt_rows_order(ctx, j->data, &p->rows, c->model->coarse_row, spec->coarse,
                            c->places.coarse, &cells, &p->order);
    }
    p->is_ordered = st == IKT_OK && (spec->near > 0 || spec->coarse > 0);
    if (p->is_ordered) st = order_codes(ctx, &p->order, &c->codes);
    ikt_cells_destroy(&cells);
    ikt_stage_begin(ctx, IKT_STAGE_AFFINITY);
    if (st == IKT_OK)
        st = ikt_whole_create(ctx, &p->rows, c->model->psi, (uint64_t)j->settings->run.seed,
                              &c->codes, &p->whole);
    if (st == IKT_OK) st = adopt_zero_rows(ctx, j, p);
    ikt_stage_end(ctx, IKT_STAGE_AFFINITY);
    return st;
}

/* Whether rows are compared by codes, and these have to be kept. */
static bool needs_codes(const job *j) {
    const bool has_codes = j->kind->scores == IKT_SCORES_CODES;
    return (j->options->needs & IKT_NEEDS_CODES) ||
           (has_codes && (j->options->needs & IKT_NEEDS_FEATURES));
}

/* COLLECTIVE. What objectives that compare any two rows do that by, beside lists. */
static ikt_status read_compared(ikt_context *ctx, const job *j, ikt_probabilities *p) {
    const bool has_matrix = j->pairs && !(j->data && j->pairs == ikt_dataset_pairs(j->data));
    ikt_stage_begin(ctx, IKT_STAGE_READ);
    const ikt_status st =
        has_matrix
            ? ikt_compared_matrix(ctx, j->pairs, (ikt_edges)j->settings->affinity.graph.values,
                                  &p->rows, &p->features)
            : ikt_compared_rows(ctx, j->data, &p->rows, p->is_ordered ? &p->order : NULL,
                                &p->features);
    ikt_stage_end(ctx, IKT_STAGE_READ);
    return st;
}

static ikt_status find_by_codes(ikt_context *ctx, const job *j, ikt_probabilities *p) {
    const ikt_landmarks *landmarks = j->options->landmarks;
    const bool needs_lists = j->options->needs & (IKT_NEEDS_P | IKT_NEEDS_NEIGHBOURS);
    coded c = {.model = NULL};
    ikt_status st = code_rows(ctx, j, p, &c);
    if (st == IKT_OK && landmarks && !p->is_found) {
        st = ikt_agree(ctx, ikt_alloc(ctx, &p->start, landmarks->q * p->rows.count,
                                      sizeof *p->start, "embedding"));
        if (st == IKT_OK)
            st = ikt_landmarks_place_codes(ctx, landmarks, &p->rows, &c.codes, p->start);
    }
    if (st == IKT_OK && p->is_whole) {
        st = take_whole(ctx, j, &c, p);
    } else if (st == IKT_OK && (p->is_found || !needs_lists)) {
        if (p->is_ordered) st = order_codes(ctx, &p->order, &c.codes);
    } else if (st == IKT_OK && c.model->spec.near > 0) {
        st = compare_fine(ctx, j, &c.places, &c.codes, p);
    } else if (st == IKT_OK && c.model->spec.coarse > 0) {
        st = compare_near(ctx, j, c.model, c.places.coarse, &c.codes, p);
    } else if (st == IKT_OK) {
        const ikt_scorer scorer = ikt_scorer_codes(&c.codes, &p->rows);
        st = compare_all(ctx, j, &scorer, p);
    }
    if (st == IKT_OK && needs_codes(j)) {
        p->codes = c.codes;
        c.codes = (ikt_codes){0};
    }
    ikt_model_destroy(&c.model);
    ikt_codes_destroy(&c.codes);
    ikt_code_places_destroy(&c.places);
    return st;
}

/* COLLECTIVE. Lists by distances that follow labels; where a checkpoint has them, the rest. */
static ikt_status find_by_labels(ikt_context *ctx, const job *j, ikt_probabilities *p) {
    const ikt_class_search search = {.settings = j->settings,
                                     .data = j->data,
                                     .rows = &p->rows,
                                     .labels = j->options->labels,
                                     .names = j->options->label_names,
                                     .hooks = p->hooks,
                                     .model_writer = j->options->model_writer,
                                     .k = p->k};
    return ikt_class_search_run(ctx, &search, p->is_found, &p->lists, &p->recall, &p->classes);
}

static ikt_status find_in_matrix(ikt_context *ctx, const job *j, ikt_probabilities *p) {
    const bool is_data = j->data && j->pairs == ikt_dataset_pairs(j->data);
    const ikt_edges values =
        is_data ? IKT_EDGES_DISTANCES : (ikt_edges)j->settings->affinity.graph.values;
    const ikt_stage stage = p->is_dense ? IKT_STAGE_AFFINITY : IKT_STAGE_NEIGHBOURS;
    if (j->pairs->n != p->rows.n)
        return ikt_fail(ctx, IKT_ERR_DATA, "%s has %lld rows, the data has %lld: not the same data",
                        ikt_source_name(j->pairs->source), (long long)j->pairs->n,
                        (long long)p->rows.n);
    ikt_stage_begin(ctx, stage);
    ikt_status st = p->is_dense
                        ? ikt_matrix_dense(ctx, j->pairs, &p->rows, values, &p->dense)
                        : ikt_matrix_lists(ctx, j->pairs, &p->rows, values, p->k, &p->lists);
    if (st == IKT_OK && p->is_dense) st = weigh_dense(ctx, j, p);
    ikt_stage_end(ctx, stage);
    return st;
}

/* --- from lists to P -------------------------------------------------------------------------- */

/* Label accuracy of the lists, while they still have scores. */
static ikt_status measure_accuracy(ikt_context *ctx, const int64_t *labels, ikt_probabilities *p) {
    int64_t *ordered = NULL;
    const int64_t bytes = sizeof *ordered;
    ikt_status st = IKT_OK;
    if (p->is_ordered) {
        st = ikt_agree(ctx, ikt_alloc(ctx, &ordered, p->rows.count, sizeof *ordered, "labels"));
        if (st == IKT_OK)
            st = ikt_order_apply(ctx, &p->order, labels, bytes, ordered, bytes, bytes);
    }
    if (st == IKT_OK)
        st = ikt_list_label_accuracy(ctx, &p->rows, &p->lists, ordered ? ordered : labels,
                                     LABEL_NEIGHBOURS, &p->accuracy);
    ikt_free(&ordered);
    return st;
}

/* COLLECTIVE. From lists with scores to what the objective needs of them: the lists as they are,
 * weights, or both. A checkpoint holds lists with weights, unless their scores are needed. */
static ikt_status weigh(ikt_context *ctx, const job *j, ikt_probabilities *p) {
    const bool needs_scores = j->options->needs & IKT_NEEDS_NEIGHBOURS;
    const bool needs_weights = j->options->needs & IKT_NEEDS_P;
    const ikt_affinity_job weighing = weighing_of(j, p);
    const int64_t entries = p->rows.count * p->lists.k;
    ikt_status st = IKT_OK;
    ikt_stage_begin(ctx, IKT_STAGE_AFFINITY);
    if (j->options->labels && !p->is_found) st = measure_accuracy(ctx, j->options->labels, p);
    if (st == IKT_OK && needs_scores && !p->is_found) st = ikt_probabilities_save_where_due(ctx, p);
    if (st == IKT_OK && needs_scores && needs_weights) {
        st = ikt_agree(ctx, ikt_neighbours_create(ctx, &p->rows, p->lists.k, &p->neighbours));
        if (st == IKT_OK && entries > 0) {
            memcpy(p->neighbours.row, p->lists.row, (size_t)entries * sizeof *p->lists.row);
            memcpy(p->neighbours.score, p->lists.score, (size_t)entries * sizeof *p->lists.score);
        }
    } else if (st == IKT_OK && needs_scores) {
        p->neighbours = p->lists;
        p->lists = (ikt_neighbours){0};
    }
    if (st == IKT_OK && needs_scores) ikt_neighbours_sort(ctx, &p->neighbours);
    if (st == IKT_OK && needs_weights && (needs_scores || !p->is_found))
        st = j->kind->weigh(ctx, &weighing, &p->lists, &p->zero_similarity);
    if (st == IKT_OK && !needs_scores && !p->is_found)
        st = ikt_probabilities_save_where_due(ctx, p);
    ikt_stage_end(ctx, IKT_STAGE_AFFINITY);
    return st;
}

/* COLLECTIVE. From weights to the symmetric P, by way of a file where they are written. */
static ikt_status symmetrise(ikt_context *ctx, const job *j, ikt_probabilities *p) {
    ikt_stage_begin(ctx, IKT_STAGE_GRAPH);
    ikt_status st = IKT_OK;
    if (!p->weights.start)
        st = ikt_agree(ctx, ikt_directed_from_lists(ctx, &p->lists, &p->weights));
    p->weights.symmetry = j->kind->symmetry;
    if (st == IKT_OK && j->options->graph_writer)
        st = ikt_run_graph_rows(ctx, j->settings, j->options, p);
    if (st == IKT_OK) st = ikt_graph_from_directed(ctx, &p->rows, &p->weights, &p->graph);
#ifdef NDEBUG
    if (st == IKT_OK && !p->is_whole) st = ikt_graph_check_sums(ctx, &p->graph);
#else
    if (st == IKT_OK && !p->is_whole) st = ikt_graph_check(ctx, &p->graph);
#endif
    if (st == IKT_OK && !p->is_whole) p->entries = ikt_graph_entries(ctx, &p->graph);
    ikt_stage_end(ctx, IKT_STAGE_GRAPH);
    return st;
}

/* Outputs and forms that an objective with these needs does not have. */
static ikt_status check_needs(ikt_context *ctx, const ikt_settings *settings,
                              const ikt_probabilities_options *options, bool has_sparse_graph) {
    const char *name = ikt_layout_objective(&settings->layout)->name;
    const ikt_affinity *kind = ikt_affinity_of(&settings->affinity);
    if (options->graph_writer && !(options->needs & IKT_NEEDS_P))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "output.graph keeps P, which layout.objective=%s does not make", name);
    if ((options->needs & IKT_NEEDS_CODES) && !has_sparse_graph && kind->scores != IKT_SCORES_CODES)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "layout.objective works on the codes of the Isolation kernel, but "
                        "affinity.kind is %s; take affinity.kind=isolation",
                        kind->name);
    if (!(options->needs & IKT_NEEDS_NEIGHBOURS)) return IKT_OK;
    if (has_sparse_graph && (options->needs & IKT_NEEDS_FEATURES)) return IKT_OK;
    if (settings->affinity.support != IKT_SUPPORT_SPARSE || has_sparse_graph)
        return ikt_fail(
            ctx, IKT_ERR_USAGE,
            "layout.objective=%s works on lists of neighbours, which %s does not give", name,
            has_sparse_graph                                  ? "a graph"
            : settings->affinity.support == IKT_SUPPORT_DENSE ? "affinity.support=dense"
                                                              : "affinity.support=whole");
    return IKT_OK;
}

ikt_status ikt_probabilities_compute(ikt_context *ctx, const ikt_settings *settings,
                                     ikt_dataset *data, const ikt_probabilities_options *options,
                                     ikt_probabilities *p) {
    const unsigned of_lists = IKT_NEEDS_P | IKT_NEEDS_NEIGHBOURS | IKT_NEEDS_CODES;
    const unsigned of_rows = of_lists | IKT_NEEDS_FEATURES;
    job j = {settings, ikt_affinity_of(&settings->affinity), data, options, NULL};
    ikt_pairwise pairs = {.source = NULL};
    if (!(options->needs & of_rows) && !options->model_writer && !options->graph_writer)
        return IKT_OK;
    if (settings->input.graph[0]) IKT_TRY(ikt_pairwise_open(ctx, settings->input.graph, &pairs));
    if (pairs.source)
        j.pairs = &pairs;
    else if (data && j.kind->scores == IKT_SCORES_DISTANCES) /* of a precomputed matrix; or NULL */
        j.pairs = ikt_dataset_pairs(data);
    const bool has_sparse_graph = settings->input.graph[0] && !pairs.source;
    p->is_dense = settings->affinity.support == IKT_SUPPORT_DENSE;
    p->is_whole = settings->affinity.support == IKT_SUPPORT_WHOLE;
    ikt_status st = check_needs(ctx, settings, options, has_sparse_graph);
    const bool is_joined = has_sparse_graph && (options->needs & IKT_NEEDS_FEATURES);
    if (st == IKT_OK && !is_joined) st = ikt_settings_lists(ctx, settings, p->rows.n, &p->k);
    if (st == IKT_OK && is_joined) {
        ikt_stage_begin(ctx, IKT_STAGE_GRAPH);
        st = ikt_compared_graph(ctx, settings, &p->rows, p);
        ikt_stage_end(ctx, IKT_STAGE_GRAPH);
    } else if (st == IKT_OK && has_sparse_graph) {
        ikt_stage_begin(ctx, IKT_STAGE_AFFINITY);
        st = ikt_graph_weights(ctx, settings, data, &p->rows, p);
        ikt_stage_end(ctx, IKT_STAGE_AFFINITY);
    } else if (st == IKT_OK) {
        /* p->lists of p->k neighbours, in the order that p->is_ordered tells, or p->dense. Where a
         * checkpoint has had the lists, codes alone are made, for those who need them. */
        const bool writes_codes = options->model_writer && j.kind->scores == IKT_SCORES_CODES;
        if (j.kind->scores == IKT_SCORES_CLASSES)
            st = find_by_labels(ctx, &j, p);
        else if ((p->is_found || (options->needs & of_rows) == IKT_NEEDS_FEATURES) &&
                 !needs_codes(&j) && !writes_codes)
            st = IKT_OK;
        else if (j.pairs)
            st = find_in_matrix(ctx, &j, p);
        else
            st = j.kind->scores == IKT_SCORES_CODES ? find_by_codes(ctx, &j, p)
                                                    : find_by_distances(ctx, &j, p);
        if (st == IKT_OK && !p->is_dense && p->lists.k > 0) st = weigh(ctx, &j, p);
        if (st == IKT_OK && (options->needs & IKT_NEEDS_FEATURES) && !needs_codes(&j))
            st = read_compared(ctx, &j, p);
        if (st == IKT_OK && options->model_writer && p->features.tile)
            st = ikt_run_model_rows(ctx, options->model_writer, data, &p->rows, &p->neighbours,
                                    &p->features, p->is_ordered ? &p->order : NULL,
                                    &settings->layout);
    }
    ikt_pairwise_close(&pairs);
    const bool is_sparse = !p->is_dense && (!p->is_whole || p->zero_similarity > 0);
    if (st == IKT_OK && is_sparse && (options->needs & IKT_NEEDS_P)) st = symmetrise(ctx, &j, p);
    if (st != IKT_OK) ikt_probabilities_destroy(p);
    return st;
}

void ikt_probabilities_destroy(ikt_probabilities *p) {
    ikt_free(&p->start);
    ikt_free(&p->scores);
    ikt_neighbours_destroy(&p->lists);
    ikt_neighbours_destroy(&p->neighbours);
    ikt_codes_destroy(&p->codes);
    ikt_features_destroy(&p->features);
    ikt_joined_destroy(&p->joined);
    ikt_directed_destroy(&p->weights);
    ikt_order_destroy(&p->order);
    ikt_graph_destroy(&p->graph);
    ikt_dense_destroy(&p->dense);
    ikt_whole_destroy(&p->whole);
    ikt_class_outcome_destroy(&p->classes);
}
