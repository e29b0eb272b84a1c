/* What a run is: the steps of known runs, what is refused with which sentence, and that everything
 * that is asked for by a step is made by one before it. */
#include "support/ikt_test.h"

#include <stdio.h>
#include <string.h>

#include "recipe/recipe.h"

static const ikt_shape labelled = {
    .data = {.n = 400, .d = 8, .type = IKT_TYPE_F32}, .has_rows = true, .name = "rows.h5:/X"};

/* Defaults and assignments, divided by blanks. */
static ikt_settings given(ikt_context *ctx, const char *assignments) {
    ikt_settings settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char one[128];
    memset(&settings, 0, sizeof settings);
    ikt_settings_parts(&settings, parts);
    assert_int_equal(ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS), IKT_OK);
    while (*assignments) {
        const size_t length = strcspn(assignments, " ");
        snprintf(one, sizeof one, "%.*s", (int)length, assignments);
        assert_int_equal(ikt_config_override(ctx, parts, IKT_SETTINGS_PARTS, one), IKT_OK);
        assignments += length + strspn(assignments + length, " ");
    }
    return settings;
}

static ikt_status make(ikt_context *ctx, const ikt_shape *shape, const char *assignments,
                       ikt_recipe *out) {
    const ikt_settings settings = given(ctx, assignments);
    return ikt_recipe_make(ctx, &settings, shape, 1, 1, out);
}

static const struct {
    const char *settings;
    ikt_step_id steps[IKT_STEPS + 1]; /* ended by IKT_STEPS */
} known[] = {
    {"",
     {IKT_STEP_READ, IKT_STEP_CODE, IKT_STEP_SEARCH_CODES, IKT_STEP_WEIGH, IKT_STEP_SYMMETRISE,
      IKT_STEP_START_PCA, IKT_STEP_LOOP, IKT_STEPS}},
    {"affinity.kind=gaussian layout.init=random",
     {IKT_STEP_READ, IKT_STEP_SEARCH_ROWS, IKT_STEP_WEIGH, IKT_STEP_SYMMETRISE,
      IKT_STEP_START_RANDOM, IKT_STEP_LOOP, IKT_STEPS}},
    {"affinity.kind=gaussian affinity.support=dense layout.init=spectral",
     {IKT_STEP_READ, IKT_STEP_FILL_ROWS, IKT_STEP_EIGENVECTORS, IKT_STEP_START_EIGENVECTORS,
      IKT_STEP_LOOP, IKT_STEPS}},
    {"affinity.support=whole",
     {IKT_STEP_READ, IKT_STEP_CODE, IKT_STEP_WHOLE, IKT_STEP_START_PCA, IKT_STEP_LOOP, IKT_STEPS}},
    {"layout.objective=nerv",
     {IKT_STEP_READ, IKT_STEP_CODE, IKT_STEP_SEARCH_CODES, IKT_STEP_WEIGH, IKT_STEP_SYMMETRISE,
      IKT_STEP_START_PCA, IKT_STEP_LOOP_FROM_TSNE, IKT_STEPS}},
    {"layout.objective=nerv layout.tsne_iterations=0",
     {IKT_STEP_READ, IKT_STEP_CODE, IKT_STEP_SEARCH_CODES, IKT_STEP_WEIGH, IKT_STEP_SYMMETRISE,
      IKT_STEP_START_PCA, IKT_STEP_LOOP, IKT_STEPS}},
    {"layout.objective=trimap",
     {IKT_STEP_READ, IKT_STEP_CODE, IKT_STEP_SEARCH_CODES, IKT_STEP_KEEP, IKT_STEP_COMPARE_CODES,
      IKT_STEP_START_PCA, IKT_STEP_LOOP, IKT_STEPS}},
    {"layout.objective=trimap affinity.kind=knn",
     {IKT_STEP_READ, IKT_STEP_SEARCH_ROWS, IKT_STEP_KEEP, IKT_STEP_COMPARE_ROWS, IKT_STEP_START_PCA,
      IKT_STEP_LOOP, IKT_STEPS}},
    {"affinity.kind=fisher layout.init=kda",
     {IKT_STEP_READ, IKT_STEP_LABELS, IKT_STEP_SEARCH_CLASSES, IKT_STEP_WEIGH, IKT_STEP_SYMMETRISE,
      IKT_STEP_START_SEPARATED, IKT_STEP_LOOP, IKT_STEPS}},
    {"layout.init=landmark affinity.kind=gaussian",
     {IKT_STEP_READ, IKT_STEP_LANDMARKS, IKT_STEP_SEARCH_ROWS, IKT_STEP_WEIGH, IKT_STEP_SYMMETRISE,
      IKT_STEP_START_LANDMARK_ROWS, IKT_STEP_LOOP, IKT_STEPS}},
    {"layout.init=landmark",
     {IKT_STEP_READ, IKT_STEP_LANDMARKS, IKT_STEP_CODE, IKT_STEP_SEARCH_CODES, IKT_STEP_WEIGH,
      IKT_STEP_SYMMETRISE, IKT_STEP_START_LANDMARK_CODES, IKT_STEP_LOOP, IKT_STEPS}},
    {"layout.objective=pca", {IKT_STEP_READ, IKT_STEP_START_PCA, IKT_STEP_LOOP, IKT_STEPS}},
    {"layout.objective=kpca", {IKT_STEP_READ, IKT_STEP_START_KERNEL, IKT_STEP_LOOP, IKT_STEPS}},
    {"layout.objective=kda",
     {IKT_STEP_READ, IKT_STEP_LABELS, IKT_STEP_START_SEPARATED, IKT_STEP_LOOP, IKT_STEPS}},
    {"layout.eigengap=absolute",
     {IKT_STEP_READ, IKT_STEP_CODE, IKT_STEP_SEARCH_CODES, IKT_STEP_WEIGH, IKT_STEP_SYMMETRISE,
      IKT_STEP_EIGENVECTORS, IKT_STEP_START_PCA, IKT_STEP_LOOP, IKT_STEPS}}};

/* 30, at most a third of the other rows; what is given stays, and what nothing reads. */
static void a_perplexity_that_is_not_given_suits_the_rows(void **state) {
    static const struct {
        int64_t n;
        const char *settings;
        double wanted;
    } runs[] = {{400, "affinity.kind=gaussian", 30},
                {91, "affinity.kind=laplacian", 30},
                {31, "affinity.kind=gaussian", 10},
                {4, "affinity.kind=gaussian", 1},
                {31, "affinity.kind=gaussian gaussian.perplexity=20", 20},
                {31, "affinity.kind=gaussian layout.objective=trimap", IKT_AUTO_REAL},
                {31, "", IKT_AUTO_REAL}};
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
        ikt_shape shape = labelled;
        ikt_recipe recipe;
        shape.data.n = runs[r].n;
        assert_int_equal(make(*state, &shape, runs[r].settings, &recipe), IKT_OK);
        assert_true(recipe.work.settings.affinity.gaussian.perplexity == runs[r].wanted);
    }
    ikt_shape few = labelled;
    ikt_recipe recipe;
    few.data.n = 30;
    assert_int_equal(make(*state, &few, "affinity.kind=gaussian gaussian.perplexity=30", &recipe),
                     IKT_ERR_USAGE);
    ikt_clear(*state);
}

static void runs_have_the_steps_that_they_need(void **state) {
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        ikt_recipe recipe;
        int count = 0;
        assert_int_equal(make(*state, &labelled, known[k].settings, &recipe), IKT_OK);
        for (; known[k].steps[count] != IKT_STEPS; count++)
            assert_true(ikt_steps_have(&recipe.steps, known[k].steps[count]));
        assert_int_equal(recipe.steps.count, count);
    }
}

/* 250 iterations with a factor of 12, fewer with 1.5 below 150 rows; what is given stays. */
static void the_first_phase_is_shorter_for_few_rows(void **state) {
    static const struct {
        int64_t n;
        const char *settings;
        int64_t wanted;
        double factor;
    } runs[] = {{400, "", 250, 12},
                {150, "", 250, 12},
                {149, "", 249, 1.5},
                {60, "", 100, 1.5},
                {31, "", 52, 1.5},
                {60, "layout.stop=auto", 400, 1.5},
                {60, "layout.exaggeration=12", 100, 12},
                {60, "layout.preset=matlab", 40, 4},
                {60, "layout.exaggeration_iterations=250", 250, 1.5}};
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
        ikt_shape shape = labelled;
        ikt_recipe recipe;
        shape.data.n = runs[r].n;
        assert_int_equal(make(*state, &shape, runs[r].settings, &recipe), IKT_OK);
        const ikt_layout_settings *layout = &recipe.work.settings.layout;
        assert_int_equal(layout->exaggeration_iterations, runs[r].wanted);
        assert_true(layout->exaggeration == runs[r].factor);
        if (layout->preset == IKT_PRESET_DEFAULT)
            assert_true(layout->learning_rate == (double)runs[r].n / runs[r].factor);
    }
}

/* A value is there when a step takes it, and no step makes what none asks for. */
static void steps_take_what_was_made_before(void **state) {
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        ikt_recipe recipe;
        unsigned made = 0;
        assert_int_equal(make(*state, &labelled, known[k].settings, &recipe), IKT_OK);
        for (int s = 0; s < recipe.steps.count; s++) {
            const ikt_step *step = ikt_step_of(recipe.steps.id[s]);
            assert_int_equal(step->takes & ~made, 0);
            assert_int_equal(made & step->makes, 0);
            made |= step->makes;
        }
        assert_true(made & IKT_VALUE_MAP);
    }
}

/* Settings, the end of their sentence, and the code. */
static const struct {
    const char *settings, *sentence;
    ikt_status status;
} refused[] = {
    {"affinity.support=whole layout.objective=nerv", "would not add up to it; take tsne or sne",
     IKT_ERR_USAGE},
    {"affinity.support=dense layout.objective=umap",
     "affinity.support = dense does not go with layout.objective=umap, which goes along the "
     "entries of a sparse P: take affinity.support=sparse",
     IKT_ERR_USAGE},
    {"affinity.kind=fisher preprocess.metric=manhattan",
     "which preprocess.metric=manhattan does not have: take euclidean, cosine, correlation, or "
     "kernel.kind=isolation",
     IKT_ERR_USAGE},
    {"isolation.form=forest output.model=m.h5", "the file holds centres of cells, not trees",
     IKT_ERR_USAGE},
    {"affinity.kind=fuzzy affinity.support=dense", "leave affinity.support at sparse",
     IKT_ERR_USAGE},
    {"layout.objective=trimap output.graph=g.h5",
     "output.graph keeps P, which layout.objective=trimap does not make", IKT_ERR_USAGE},
    {"affinity.support=whole layout.batch_rows=50", "never holds: take sparse or dense",
     IKT_ERR_USAGE},
    {"layout.batch_rows=50 layout.batch_neighbours=31",
     "layout.batch_neighbours = 31, but a row of P has 30 entries only: take fewer, or "
     "affinity.neighbours more",
     IKT_ERR_USAGE},
    {"gaussian.perplexity=5", "as it goes with affinity.kind=gaussian, ", IKT_ERR_USAGE},
    {"run.max_time=5 run.checkpoint=none", "and run.checkpoint is none", IKT_ERR_USAGE},
    {"run.max_time=soon", "days-hours, auto or none", IKT_ERR_USAGE},
    {"layout.objective=pca layout.regulariser=laplacian", "would have no effect", IKT_ERR_USAGE},
    {"layout.objective=sne layout.degrees_of_freedom=2", "degrees_of_freedom=inf is that of sne",
     IKT_ERR_USAGE},
    {"affinity.support=whole whole.last_iterations=501 layout.iterations=500",
     "whole.last_iterations = 501, but layout.iterations = 500", IKT_ERR_USAGE},
    {"affinity.support=whole whole.partitionings=8 whole.last_partitionings=2",
     "draw from as many or more", IKT_ERR_USAGE},
    {"affinity.support=whole whole.last_iterations=40 whole.partitionings=8 "
     "whole.last_partitionings=8 layout.iterations=40 layout.exaggeration_iterations=10",
     "", IKT_OK},
    {"affinity.support=whole layout.iterations=3", "", IKT_OK},
    {"layout.objective=pca layout.iterations=9", "would have no effect", IKT_ERR_USAGE},
    {"preprocess.pca=9", "but rows.h5:/X has only 8 columns", IKT_ERR_USAGE}};

static void what_does_not_go_together_is_refused(void **state) {
    for (size_t r = 0; r < sizeof refused / sizeof *refused; r++) {
        ikt_recipe recipe;
        assert_int_equal(make(*state, &labelled, refused[r].settings, &recipe), refused[r].status);
        if (!strstr(ikt_message(*state), refused[r].sentence))
            fail_msg("%s: %s", refused[r].settings, ikt_message(*state));
        ikt_clear(*state);
    }
}

/* A kind of affinity without a dense form is refused where one is asked for, whichever it is. */
static void only_kinds_with_a_dense_form_are_dense(void **state) {
    int without = 0;
    for (int k = 0; k < IKT_AFFINITIES; k++) {
        const ikt_affinity *kind = ikt_affinity_kind_of((ikt_affinity_name)k);
        char settings[64];
        ikt_recipe recipe;
        if (k == IKT_AFFINITY_GRAPH) continue; /* of no rows */
        snprintf(settings, sizeof settings, "affinity.support=dense affinity.kind=%s", kind->name);
        const ikt_status st = make(*state, &labelled, settings, &recipe);
        assert_int_equal(st, kind->dense ? IKT_OK : IKT_ERR_USAGE);
        if (!kind->dense && !strstr(ikt_message(*state), "leave affinity.support at sparse"))
            fail_msg("%s: %s", settings, ikt_message(*state));
        without += !kind->dense;
        ikt_clear(*state);
    }
    assert_true(without > 0);
}

static void what_needs_labels_is_refused_without(void **state) {
    static const char *const needs[] = {"layout.objective=kda", "layout.init=kda",
                                        "affinity.kind=fisher"};
    ikt_shape bare = labelled;
    bare.is_unlabelled = true;
    for (size_t n = 0; n < sizeof needs / sizeof *needs; n++) {
        ikt_recipe recipe;
        assert_int_equal(make(*state, &bare, needs[n], &recipe), IKT_ERR_DATA);
        assert_non_null(strstr(ikt_message(*state), "name them by input.labels"));
        assert_non_null(strstr(ikt_message(*state), needs[n]));
        ikt_clear(*state);
        assert_int_equal(make(*state, &labelled, needs[n], &recipe), IKT_OK);
    }
}

/* Trees split columns, which sparse rows do not have, whatever the codes are for. */
static void no_trees_are_grown_from_sparse_rows(void **state) {
    static const char *const codes[] = {"layout.init=random",
                                        "affinity.kind=gaussian layout.init=kpca",
                                        "affinity.kind=fisher kernel.kind=isolation"};
    ikt_shape sparse = labelled;
    sparse.is_stored_sparse = sparse.data.is_sparse = true;
    for (size_t c = 0; c < sizeof codes / sizeof *codes; c++) {
        ikt_recipe recipe;
        char settings[128];
        snprintf(settings, sizeof settings, "isolation.form=forest %s", codes[c]);
        assert_int_equal(make(*state, &sparse, settings, &recipe), IKT_ERR_USAGE);
        assert_non_null(strstr(ikt_message(*state), "sparse"));
        ikt_clear(*state);
        assert_int_equal(make(*state, &labelled, settings, &recipe), IKT_OK);
    }
}

/* A preset is not refused by what it sets itself, where the start is the map; what is given is. */
static void presets_go_with_maps_that_are_their_start(void **state) {
    for (int preset = 0; preset < IKT_RUN_PRESETS; preset++)
        for (int k = 0; k < IKT_OBJECTIVES; k++) {
            const ikt_objective_kind *kind = ikt_objective_kind_of((ikt_objective_name)k);
            ikt_recipe recipe;
            char settings[IKT_PRESET_SETTINGS_MOST * 48] = "";
            size_t used = 0;
            if (!kind->is_start) continue;
            for (const char *const *set = ikt_presets[preset].setting; *set; set++)
                used += (size_t)snprintf(settings + used, sizeof settings - used, "%s ", *set);
            snprintf(settings + used, sizeof settings - used, "run.preset=%s layout.objective=%s",
                     ikt_presets[preset].name, kind->name);
            if (make(*state, &labelled, settings, &recipe) != IKT_OK)
                fail_msg("%s: %s", settings, ikt_message(*state));
            assert_int_equal(recipe.settings.run.preset, preset);
            assert_int_equal(recipe.work.settings.layout.iterations, 0);
            /* What is printed and stored is of no loop either. */
            assert_int_equal(ikt_unused_reset(*state, &recipe.settings, &labelled, NULL), IKT_OK);
            assert_int_equal(recipe.settings.layout.iterations, IKT_AUTO_INT);
            strcat(settings, " layout.learning_rate=7");
            assert_int_equal(make(*state, &labelled, settings, &recipe), IKT_ERR_USAGE);
            ikt_clear(*state);
        }
    /* Nor before the files are opened: `paper` scales columns, of which similarities have none. */
    const ikt_settings of_similarities =
        given(*state, "input.similarities=s.h5 run.preset=paper preprocess.normalise=minmax "
                      "layout.objective=kpca");
    assert_int_equal(ikt_recipe_check_settings(*state, &of_similarities), IKT_OK);
}

/* What is refused because of a key that the preset alone has set names the preset, and goes once
 * that key has another value. */
static void a_preset_that_does_not_fit_is_named(void **state) {
    static const struct {
        const char *settings, *sets, *instead;
    } lines[] = {
        {"run.preset=umap affinity.kind=fuzzy affinity.refinements=2 layout.init=spectral "
         "layout.objective=trimap",
         "(run.preset=umap sets layout.init=spectral:", "layout.init=pca"},
        {"run.preset=laptsne layout.regulariser=laplacian layout.objective=nerv",
         "(run.preset=laptsne sets layout.regulariser=laplacian:", "layout.regulariser=none"},
        {"run.preset=uniform affinity.kind=knn affinity.neighbours=15",
         "(run.preset=uniform sets affinity.neighbours=15:", "affinity.neighbours=5"}};
    ikt_shape few = labelled;
    few.data.n = 10;
    for (size_t l = 0; l < sizeof lines / sizeof *lines; l++) {
        const ikt_shape *shape = strstr(lines[l].settings, "uniform") ? &few : &labelled;
        char settings[256];
        ikt_recipe recipe;
        assert_int_equal(make(*state, shape, lines[l].settings, &recipe), IKT_ERR_USAGE);
        if (!strstr(ikt_message(*state), lines[l].sets)) fail_msg("%s", ikt_message(*state));
        ikt_clear(*state);
        snprintf(settings, sizeof settings, "%s %s", lines[l].settings, lines[l].instead);
        assert_int_equal(make(*state, shape, settings, &recipe), IKT_OK);
    }
    /* Of a key that was given otherwise the preset says nothing. */
    ikt_recipe recipe;
    assert_int_equal(make(*state, &few,
                          "run.preset=uniform affinity.kind=knn "
                          "affinity.neighbours=12",
                          &recipe),
                     IKT_ERR_USAGE);
    assert_null(strstr(ikt_message(*state), "run.preset"));
    ikt_clear(*state);
}

/* Numbers of rows and columns of other files. */
static void other_files_have_to_fit(void **state) {
    ikt_shape shape = labelled;
    ikt_recipe recipe;
    shape.start_rows = 399;
    shape.start_dimensions = 2;
    assert_int_equal(make(*state, &shape, "layout.init_file=a.h5", &recipe), IKT_ERR_DATA);
    assert_non_null(strstr(ikt_message(*state), "a.h5 holds 399 positions, the data has 400 rows"));
    ikt_clear(*state);
    shape.start_rows = 400;
    assert_int_equal(make(*state, &shape, "layout.init_file=a.h5", &recipe), IKT_OK);
    shape.start_dimensions = 3;
    assert_int_equal(make(*state, &shape, "layout.init_file=a.h5", &recipe), IKT_ERR_DATA);
    ikt_clear(*state);
    shape = labelled;
    shape.model_columns = 9;
    assert_int_equal(make(*state, &shape, "isolation.model_from=m.h5", &recipe), IKT_ERR_DATA);
    ikt_clear(*state);
    shape.model_columns = 8;
    assert_int_equal(make(*state, &shape, "isolation.model_from=m.h5", &recipe), IKT_OK);
}

IKT_MPI_TESTS(ikt_test(runs_have_the_steps_that_they_need),
              ikt_test(a_perplexity_that_is_not_given_suits_the_rows),
              ikt_test(the_first_phase_is_shorter_for_few_rows),
              ikt_test(steps_take_what_was_made_before),
              ikt_test(what_does_not_go_together_is_refused),
              ikt_test(only_kinds_with_a_dense_form_are_dense),
              ikt_test(what_needs_labels_is_refused_without),
              ikt_test(a_preset_that_does_not_fit_is_named),
              ikt_test(no_trees_are_grown_from_sparse_rows),
              ikt_test(presets_go_with_maps_that_are_their_start),
              ikt_test(other_files_have_to_fit))
