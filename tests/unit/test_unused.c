/* Settings of parts that are not in use: refused with what would bring them into use; what the
 * program writes is accepted again. */
#define _POSIX_C_SOURCE 200809L
#include "support/ikt_test.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "recipe/facts.h"
#include "settings/settings.h"

static const ikt_shape with_rows = {.has_rows = true}, graph_alone = {.has_rows = false};

/* Defaults, a preset, and assignments divided by blanks. */
static void make(ikt_context *ctx, int preset, const char *assignments, ikt_settings *settings) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char text[256], *rest = text;
    memset(settings, 0, sizeof *settings);
    ikt_settings_parts(settings, parts);
    assert_int_equal(ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS), IKT_OK);
    assert_int_equal(ikt_preset_apply(ctx, parts, IKT_SETTINGS_PARTS, preset), IKT_OK);
    settings->run.preset = preset;
    snprintf(text, sizeof text, "%s", assignments);
    for (char *one = strtok_r(text, " ", &rest); one; one = strtok_r(NULL, " ", &rest))
        assert_int_equal(ikt_config_override(ctx, parts, IKT_SETTINGS_PARTS, one), IKT_OK);
}

static char *printed(ikt_context *ctx, const ikt_settings *settings) {
    ikt_settings copy = *settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char *text = NULL;
    ikt_settings_parts(&copy, parts);
    assert_int_equal(ikt_config_print(ctx, parts, IKT_SETTINGS_PARTS, &text), IKT_OK);
    return text;
}

/* A setting, what makes it idle, what the message names, and what brings it into use. */
static const struct {
    const char *given, *beside, *with, *in_use;
} cases[] = {
    {"gaussian.perplexity=5", "", "affinity.kind=gaussian", "affinity.kind=gaussian"},
    {"gaussian.perplexity=5", "affinity.kind=adaptive", "affinity.kind=gaussian",
     "affinity.kind=gaussian"},
    {"gaussian.perplexity=5", "affinity.kind=graph graph.values=similarities",
     "graph.values=distances and graph.weights=gaussian",
     "affinity.kind=graph graph.values=distances"},
    {"adaptive.neighbours=9", "", "affinity.kind=adaptive", "affinity.kind=adaptive"},
    {"graph.values=distances", "", "input.graph", "affinity.kind=graph"},
    {"graph.weights=knn", "affinity.kind=graph graph.values=none", "graph.values=distances",
     "affinity.kind=graph graph.values=distances"},
    {"isolation.psi=64", "affinity.kind=gaussian", "affinity.kind=isolation", ""},
    {"isolation.form=forest", "affinity.kind=knn", "affinity.kind=isolation", ""},
    {"isolation.partitionings=50", "affinity.kind=graph", "affinity.kind=isolation", ""},
    {"isolation.psi_most=64", "isolation.psi=16", "isolation.psi=auto", ""},
    {"preprocess.pca_rows=4096", "", "preprocess.pca", "preprocess.pca=2"},
    {"isolation.model_dataset=Y", "", "isolation.model_from", "isolation.model_from=a.h5"},
    {"affinity.neighbours=9", "affinity.support=dense", "affinity.support=sparse",
     "affinity.support=dense affinity.kind=knn"},
    {"affinity.search=exact", "affinity.support=dense", "affinity.support=sparse", ""},
    {"affinity.candidates=90", "affinity.search=exact", "affinity.search=approximate", ""},
    {"affinity.refinements=1", "affinity.search=exact", "affinity.search=approximate", ""},
    {"affinity.passes=2", "affinity.search=exact affinity.kind=knn", "affinity.search=approximate",
     "affinity.kind=knn"},
    {"affinity.passes=2", "affinity.search=approximate", "distances",
     "affinity.search=approximate affinity.kind=knn"},
    {"affinity.neighbours=9", "affinity.kind=graph", "no input.graph", ""},
    {"layout.landmarks=50", "", "layout.init=landmark", "layout.init=landmark"},
    {"layout.accuracy=tight", "layout.repulsion=exact", "layout.repulsion=fft", ""},
    {"layout.accuracy=tight", "layout.objective=sne", "layout.repulsion=fft", ""},
    {"layout.grid=slabs", "layout.repulsion=barnes_hut", "layout.repulsion=fft", ""},
    {"layout.grid=slabs", "layout.dimensions=3", "layout.repulsion=fft", "layout.dimensions=2"},
    {"layout.grid=slabs", "layout.objective=largevis", "layout.repulsion=fft", ""},
    {"layout.degrees_of_freedom=2", "layout.objective=trimap", "layout.objective=tsne", ""},
    {"layout.degrees_of_freedom=2", "layout.objective=umap", "umap.a and umap.b", ""},
    {"layout.degrees_of_freedom=2", "layout.objective=largevis", "layout.objective=tsne", ""},
    {"layout.repulsion=exact", "layout.objective=trimap", "trimap sums over triplets", ""},
    {"layout.degrees_of_freedom=2", "layout.objective=jse", "those of the kernel with 1", ""},
    {"layout.degrees_of_freedom=0.5", "layout.objective=nerv", "layout.objective=tsne", ""},
    {"layout.trade_off=0.3", "", "nothing to trade off", "layout.objective=nerv"},
    {"layout.trade_off=0.3", "layout.objective=sne", "layout.objective=nerv or jse",
     "layout.objective=jse"},
    {"layout.repulsion=exact", "layout.objective=eigenmap", "has no such sum",
     "layout.objective=sammon"},
    {"layout.learning_rate=2", "layout.objective=umap layout.final_learning_rate=3",
     "layout.final_learning_rate=auto", "layout.final_learning_rate=3"},
    {"layout.learning_rate=2", "layout.objective=trimap layout.final_learning_rate=3",
     "layout.final_learning_rate=auto", "layout.objective=trimap"},
    {"layout.exaggeration=4", "layout.objective=largevis", "layout.objective=tsne", ""},
    {"layout.momentum=0.3", "layout.objective=largevis", "trimap or sammon",
     "layout.objective=trimap"},
    {"layout.iterations=9", "layout.objective=eigenmap", "other than pca, eigenmap, kpca and kda",
     ""},
    {"isolation.psi=64", "layout.objective=pca", "an objective other than pca",
     "layout.objective=eigenmap"},
    {"layout.final_exaggeration_from=300", "", "layout.final_exaggeration other than 1",
     "layout.final_exaggeration=2"},
    {"run.checkpoint_every=1", "run.checkpoint=none", "run.checkpoint other than none", ""}};

static void idle_settings_are_refused(void **state) {
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        ikt_settings settings;
        char all[256];
        snprintf(all, sizeof all, "%s %s", cases[c].given, cases[c].beside);
        make(*state, IKT_RUN_PRESET_NONE, all, &settings);
        assert_int_equal(ikt_unused_check(*state, &settings, &with_rows), IKT_ERR_USAGE);
        assert_non_null(strstr(ikt_message(*state), cases[c].with));
        ikt_clear(*state);
        assert_int_equal(ikt_unused_reset(*state, &settings, &with_rows, NULL), IKT_OK);
        assert_int_equal(ikt_unused_check(*state, &settings, &with_rows), IKT_OK);
        snprintf(all, sizeof all, "%s %s", cases[c].given, cases[c].in_use);
        make(*state, IKT_RUN_PRESET_NONE, all, &settings);
        assert_int_equal(ikt_unused_check(*state, &settings, &with_rows), IKT_OK);
    }
}

/* A graph that stands alone has no rows to be read or preprocessed; with rows, both have a use. */
static void a_graph_alone_has_no_rows(void **state) {
    static const char *const given[] = {"input.dataset=Y", "preprocess.normalise=zscore"};
    for (int g = 0; g < 2; g++) {
        ikt_settings settings;
        char all[128];
        snprintf(all, sizeof all, "%s affinity.kind=graph input.graph=g.h5", given[g]);
        make(*state, IKT_RUN_PRESET_NONE, all, &settings);
        assert_int_equal(ikt_unused_check(*state, &settings, &graph_alone), IKT_ERR_USAGE);
        assert_non_null(strstr(ikt_message(*state), "input.file"));
        ikt_clear(*state);
        assert_int_equal(ikt_unused_check(*state, &settings, &with_rows), IKT_OK);
    }
}

/* Whatever is written back is accepted, and writing it back again changes nothing. */
static void what_is_printed_is_accepted(void **state) {
    static const char *const kinds[] = {"isolation", "gaussian", "knn", "adaptive"};
    static const char *const beside[] = {"",
                                         "affinity.support=dense",
                                         "affinity.search=exact affinity.neighbours=9",
                                         "layout.init=landmark layout.landmarks=9",
                                         "layout.repulsion=exact",
                                         "layout.objective=nerv layout.trade_off=0.3",
                                         "layout.dimensions=3"};
    for (int k = 0; k < 4; k++)
        for (int b = 0; b < 7; b++)
            for (int preset = 0; preset < IKT_RUN_PRESETS; preset++) {
                ikt_settings settings, again;
                ikt_config_part parts[IKT_SETTINGS_PARTS];
                char all[256], *text, *second;
                snprintf(all, sizeof all, "affinity.kind=%s %s", kinds[k], beside[b]);
                make(*state, preset, all, &settings);
                if (preset == IKT_RUN_PRESET_NONE)
                    assert_int_equal(ikt_unused_check(*state, &settings, &with_rows), IKT_OK);
                /* As a run resolves them. */
                if (settings.layout.repulsion == IKT_REPULSION_AUTO)
                    settings.layout.repulsion = IKT_REPULSION_EXACT;
                settings.layout.accuracy = IKT_ACCURACY_TIGHT;
                if (settings.affinity.kind == IKT_AFFINITY_ISOLATION) settings.isolation.psi = 16;
                assert_int_equal(ikt_unused_reset(*state, &settings, &with_rows, NULL), IKT_OK);
                text = printed(*state, &settings);
                make(*state, IKT_RUN_PRESET_NONE, "", &again);
                ikt_settings_parts(&again, parts);
                assert_int_equal(
                    ikt_config_parse_text(*state, parts, IKT_SETTINGS_PARTS, "text", text), IKT_OK);
                assert_int_equal(ikt_unused_check(*state, &again, &with_rows), IKT_OK);
                assert_int_equal(ikt_unused_reset(*state, &again, &with_rows, NULL), IKT_OK);
                second = printed(*state, &again);
                assert_string_equal(second, text);
                ikt_free(&text);
                ikt_free(&second);
            }
}

/* What a study says for all methods is left to those that use it; what one says itself is not. */
static void shared_settings_are_for_those_that_use_them(void **state) {
    ikt_settings shared, own;
    make(*state, IKT_RUN_PRESET_NONE, "isolation.psi=16", &shared);
    make(*state, IKT_RUN_PRESET_NONE, "isolation.psi=16 affinity.kind=gaussian", &own);
    assert_int_equal(ikt_unused_reset(*state, &own, &with_rows, &shared), IKT_OK);
    assert_true(own.isolation.psi == IKT_AUTO_INT);
    assert_int_equal(ikt_unused_check(*state, &own, &with_rows), IKT_OK);
    make(*state, IKT_RUN_PRESET_NONE, "isolation.psi=32 affinity.kind=gaussian", &own);
    assert_int_equal(ikt_unused_reset(*state, &own, &with_rows, &shared), IKT_OK);
    assert_int_equal(ikt_unused_check(*state, &own, &with_rows), IKT_ERR_USAGE);
    ikt_clear(*state);
}

IKT_MPI_TESTS(ikt_test(idle_settings_are_refused), ikt_test(a_graph_alone_has_no_rows),
              ikt_test(what_is_printed_is_accepted),
              ikt_test(shared_settings_are_for_those_that_use_them))
