/* From data to embedding: the steps that a recipe names, one after the other. */
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "base/watch.h"
#include "pipeline/line.h"
#include "settings/checks.h"

/* The function of each step; what opens the inputs comes before the line (pipeline.c), and what
 * makes positions has a table of its own (start.c). */
/* clang-format off */
static ikt_line_step *const run[IKT_STEPS] = {
    [IKT_STEP_LANDMARKS] = ikt_step_landmarks,
    [IKT_STEP_CODE] = ikt_step_code,
    [IKT_STEP_SEARCH_CODES] = ikt_step_search_codes,
    [IKT_STEP_SEARCH_CLASSES] = ikt_step_search_classes,
    [IKT_STEP_SEARCH_MATRIX] = ikt_step_search_matrix,
    [IKT_STEP_SEARCH_PAIRS] = ikt_step_search_matrix,
    [IKT_STEP_SEARCH_ROWS] = ikt_step_search_rows,
    [IKT_STEP_JOIN] = ikt_step_join,
    [IKT_STEP_EDGES] = ikt_step_edges,
    [IKT_STEP_KEEP] = ikt_step_keep,
    [IKT_STEP_WEIGH] = ikt_step_weigh,
    [IKT_STEP_FILL_MATRIX] = ikt_step_fill_matrix,
    [IKT_STEP_FILL_CODES] = ikt_step_fill_codes,
    [IKT_STEP_FILL_PAIRS] = ikt_step_fill_matrix,
    [IKT_STEP_FILL_ROWS] = ikt_step_fill_rows,
    [IKT_STEP_WHOLE] = ikt_step_whole,
    [IKT_STEP_COMPARE_DISTANCES] = ikt_step_compare_distances,
    [IKT_STEP_COMPARE_SIMILARITIES] = ikt_step_compare_similarities,
    [IKT_STEP_COMPARE_CODES] = ikt_step_compare_codes,
    [IKT_STEP_COMPARE_PAIRS] = ikt_step_compare_pairs,
    [IKT_STEP_COMPARE_ROWS] = ikt_step_compare_rows,
    [IKT_STEP_SYMMETRISE] = ikt_step_symmetrise,
    [IKT_STEP_EIGENVECTORS] = ikt_step_eigenvectors,
    [IKT_STEP_LOOP_FROM_TSNE] = ikt_step_loop,
    [IKT_STEP_LOOP] = ikt_step_loop};
/* clang-format on */

/* COLLECTIVE. Where all pairs of rows come from, if they come from somewhere: a matrix in place of
 * a graph, or the data of a precomputed one. */
static ikt_status open_pairs(ikt_line *line) {
    ikt_settings *settings = line->settings;
    const ikt_pairwise *matrix = &line->matrix;
    line->pair_values = IKT_EDGES_DISTANCES;
    if (settings->input.graph[0])
        IKT_TRY(ikt_pairwise_open(line->ctx, settings->input.graph, &line->matrix));
    settings->affinity.graph.is_pairwise = matrix->source != NULL;
    if (!matrix->source) {
        if (line->data) line->pairs = ikt_dataset_pairs(line->data);
        return IKT_OK;
    }
    line->pairs = matrix;
    line->pair_values = (ikt_edges)settings->affinity.graph.values;
    return ikt_check_graph_rows(line->ctx, ikt_source_name(matrix->source), matrix->n,
                                line->rows->n);
}

ikt_status ikt_line_begin(ikt_line *line) {
    IKT_TRY(open_pairs(line));
    return ikt_line_load(line);
}

/* COLLECTIVE. From P on up to the loop there is nothing that a checkpoint holds, and what comes
 * before has been saved where that was due: a signal to stop is heeded at once. */
static ikt_status make(ikt_line *line, ikt_step_id id) {
    const ikt_checkpoint_hooks *hooks = line->options->hooks;
    const bool may_stop = hooks && id >= IKT_STEP_FILL_MATRIX && id < IKT_STEP_LOOP_FROM_TSNE;
    const ikt_saver nothing = {.where = may_stop ? ikt_checkpoint_folder(hooks->checkpoint) : NULL};
    bool has_worked = false;
    IKT_MAY_PAUSE(line->ctx, &nothing, &has_worked);
    if (run[id]) IKT_TRY(run[id](line));
    return ikt_step_of(id)->makes == IKT_VALUE_POSITIONS ? ikt_line_start(line, id) : IKT_OK;
}

ikt_status ikt_line_run(ikt_line *line, ikt_step_id first, ikt_step_id end) {
    const unsigned related = IKT_VALUE_CODES | IKT_VALUE_LISTS | IKT_VALUE_WEIGHTS | IKT_VALUE_P;
    if (line->k == 0 && ikt_steps_make(line->steps, related))
        IKT_TRY(ikt_settings_lists(line->ctx, line->settings, line->rows->n, &line->k));
    for (int s = 0; s < line->steps->count; s++) {
        const ikt_step_id id = line->steps->id[s];
        if (id < first || id >= end) continue;
        IKT_TRY(make(line, id));
    }
    return IKT_OK;
}

void ikt_line_end(ikt_line *line) {
    ikt_landmarks_destroy(&line->landmarks);
    ikt_line_forget_model(line);
    ikt_free_all(&line->eigenvectors, &line->start, &line->scores);
    ikt_neighbours_destroy(&line->lists);
    ikt_neighbours_destroy(&line->neighbours);
    ikt_codes_destroy(&line->codes);
    ikt_features_destroy(&line->features);
    ikt_joined_destroy(&line->joined);
    ikt_directed_destroy(&line->weights);
    ikt_order_destroy(&line->order);
    ikt_graph_destroy(&line->graph);
    ikt_dense_destroy(&line->dense);
    ikt_whole_destroy(&line->whole);
    ikt_class_outcome_destroy(&line->classes);
    ikt_pairwise_close(&line->matrix);
}

/* What was decided and learned while P was made. */
static void note_probabilities(ikt_line *line) {
    ikt_settings *settings = line->settings;
    ikt_embed_result *out = line->out;
    ikt_whole_settings *whole = &settings->affinity.whole;
    out->zero_similarity = line->zero_similarity;
    out->entries = line->entries;
    out->cells = line->cells;
    out->recall = line->recall;
    out->accuracy = line->accuracy;
    out->classes = line->classes; /* given away */
    line->classes = (ikt_class_outcome){.is_there = false};
    ikt_class_outcome_resolve(&out->classes, settings);
    ikt_line_note(line, settings);
    if (line->rounds >= 0) settings->affinity.refinements = line->rounds;
    if (line->passes > 0) settings->affinity.passes = line->passes;
    if (ikt_form_of(line).whole && whole->step <= IKT_AUTO_REAL)
        whole->step = ikt_whole_step_auto(
            line->psi, line->rows->n, ikt_whole_noise(whole, line->whole.t, line->whole.others));
}

/* The same for people; nothing where nothing was made of the rows. */
static void tell_probabilities(const ikt_line *line, double seconds) {
    ikt_context *ctx = line->ctx;
    const double entries = (double)line->entries / (double)line->rows->n;
    if (line->k == 0) return;
    if (ikt_form_of(line).whole)
        ikt_log_numbers(ctx, IKT_LOG_STAGE,
                        IKT_LOG_NUMBERS(IKT_LOG_INT("largest_cell", line->whole.largest),
                                        IKT_LOG_REAL("seconds", seconds)),
                        "P: the whole kernel, from %lld partitionings of %lld cells, of up to %lld "
                        "rows, in %.1f s",
                        (long long)line->whole.t, (long long)line->whole.psi,
                        (long long)line->whole.largest, seconds);
    else if (line->entries == 0)
        ikt_log_numbers(
            ctx, IKT_LOG_STAGE,
            IKT_LOG_NUMBERS(IKT_LOG_INT("k", line->k), IKT_LOG_REAL("seconds", seconds)),
            "lists of %lld neighbours a row, in %.1f s", (long long)line->k, seconds);
    else
        ikt_log_numbers(ctx, IKT_LOG_STAGE,
                        IKT_LOG_NUMBERS(IKT_LOG_INT("entries", line->entries),
                                        IKT_LOG_REAL("seconds", seconds)),
                        "P: %lld entries, %.1f a row, in %.1f s", (long long)line->entries, entries,
                        seconds);
    if (line->recall.sample > 0) {
        char what[IKT_RECALL_TEXT];
        ikt_recall_describe(&line->recall, what);
        ikt_log_numbers(ctx, IKT_LOG_STAGE,
                        IKT_LOG_NUMBERS(IKT_LOG_REAL("similarity", line->recall.similarity),
                                        IKT_LOG_INT("sample", line->recall.sample),
                                        line->recall.found < 0
                                            ? (ikt_log_number){0}
                                            : IKT_LOG_REAL("found", line->recall.found)),
                        "the search found %s", what);
    }
    if (line->zero_similarity > 0)
        ikt_log_numbers(ctx, IKT_LOG_WARN,
                        IKT_LOG_NUMBERS(IKT_LOG_INT("rows", line->zero_similarity)), "%lld rows %s",
                        (long long)line->zero_similarity,
                        ikt_affinity_of(&line->settings->affinity)->zero_similarity_because);
}

/* SAME-ARGS. Resolves the settings, and finds the steps where a recipe has not. */
static ikt_status resolve(ikt_context *ctx, ikt_settings *settings, const ikt_dataset *data,
                          const ikt_rows *rows, const ikt_embed_options *options,
                          ikt_steps *steps) {
    const ikt_shape shape = {.has_rows = data != NULL};
    IKT_TRY(ikt_layout_resolve(ctx, &settings->layout, rows->n));
    if (settings->affinity.support == IKT_SUPPORT_WHOLE)
        IKT_TRY(ikt_whole_resolve(ctx, &settings->affinity.whole, rows->n,
                                  settings->isolation.partitionings, settings->layout.iterations));
    if (options->steps) {
        *steps = *options->steps;
        return IKT_OK;
    }
    const ikt_facts facts = ikt_facts_of(settings, &shape);
    return ikt_steps_find(ctx, settings, &facts, ikt_steps_wanted(settings, &facts), steps);
}

/* COLLECTIVE. What the metric that follows labels tells of them in the map. */
static ikt_status measure_labels(const ikt_line *line) {
    ikt_embed_result *out = line->out;
    if (!out->classes.is_there) return IKT_OK;
    IKT_IN_STAGE(line->ctx, IKT_STAGE_MEASURES);
    return ikt_figures_of_map(line->ctx, line->rows, line->settings->layout.dimensions, out->y,
                              &out->classes);
}

ikt_status ikt_embed_dataset(ikt_context *ctx, ikt_settings *settings, ikt_dataset *data,
                             const ikt_rows *rows, const ikt_embed_options *options,
                             ikt_embed_result *out) {
    const double begun = ikt_now();
    ikt_loop_state saved IKT_AT_END(ikt_loop_state_destroy) = {0};
    ikt_embed_result made IKT_AT_END(ikt_embed_result_destroy) = {.accuracy = -1};
    ikt_steps steps;
    bool is_saved = false;
    *out = made;
    IKT_TRY(resolve(ctx, settings, data, rows, options, &steps));
    if (options->from) ikt_warn_of_iterations(ctx, settings, 0, true);
    if (options->hooks) IKT_TRY(ikt_checkpoint_load_loop(options->hooks, &saved, &is_saved));
    ikt_line line IKT_AT_END(ikt_line_end) = {.ctx = ctx,
                                              .steps = &steps,
                                              .settings = settings,
                                              .data = data,
                                              .rows = rows,
                                              .options = options,
                                              .from = options->from,
                                              .out = &made};
    /* The loop goes on from the state that has come furthest; NULL: it begins at the start. */
    if (is_saved && (!line.from || saved.iteration > line.from->iteration)) line.from = &saved;
    IKT_TRY(ikt_line_begin(&line));
    /* Up to P and what the objective takes, which is noted before a start may take long. */
    IKT_TRY(ikt_line_run(&line, 0, IKT_STEP_EIGENVECTORS));
    note_probabilities(&line);
    tell_probabilities(&line, ikt_now() - begun);
    made.y = line.start; /* positions among landmarks, if any: the start takes them from here */
    line.start = NULL;
    IKT_TRY(ikt_line_run(&line, IKT_STEP_EIGENVECTORS, IKT_STEPS));
    ikt_line_end(&line);
    IKT_TRY(measure_labels(&line));
    return ikt_give(out, made);
}

void ikt_embed_result_destroy(ikt_embed_result *embedding) {
    ikt_free(&embedding->y);
    ikt_trace_destroy(&embedding->trace);
    ikt_loop_state_destroy(&embedding->last);
    ikt_class_outcome_destroy(&embedding->classes);
}
