/* No setting of the layout is read and ignored: with each objective that is no t-SNE, every key of
 * the section changes the map or is refused. */
#include "support/run.h"

#include "base/memory.h"
#include "base/rng.h"
#include "layout/layout.h"
#include "pipeline/pipeline.h"

enum { ROWS = 150, COLUMNS = 5, CLASSES = 3 };

/* A change of each key, and what it is beside: the maps with and without the change differ. */
static const struct {
    const char *key, *change, *beside;
} changes[] = {
    {"dimensions", "layout.dimensions=3", ""},
    {"objective", "layout.objective=tsne", ""},
    {"trade_off", "layout.trade_off=0.4", ""},
    {"degrees_of_freedom", "layout.degrees_of_freedom=2", ""},
    {"preset", "layout.preset=matlab", ""},
    {"iterations", "layout.iterations=21", ""},
    {"exaggeration", "layout.exaggeration=4", ""},
    {"exaggeration_iterations", "layout.exaggeration_iterations=5", ""},
    {"tsne_iterations", "layout.tsne_iterations=15", ""},
    {"final_exaggeration", "layout.final_exaggeration=2", ""},
    {"final_exaggeration_from", "layout.final_exaggeration_from=10", ""},
    {"stop", "layout.stop=auto", "layout.iterations=3000"},
    {"learning_rate", "layout.learning_rate=0.3", ""},
    {"learning_rate", "layout.learning_rate=0.3", "layout.final_learning_rate=0.5"},
    {"final_learning_rate", "layout.final_learning_rate=0.5", ""},
    {"final_learning_rate", "layout.final_learning_rate=0.5", "layout.learning_rate=0.3"},
    {"momentum", "layout.momentum=0.3", ""},
    {"final_momentum", "layout.final_momentum=0.3 layout.momentum_switch=5", ""},
    {"momentum_switch", "layout.momentum_switch=5", ""},
    {"init", "layout.init=random", ""},
    {"init", "layout.init=spectral", ""},
    {"landmarks", "layout.landmarks=40", ""},
    {"landmarks", "layout.landmarks=40", "layout.init=landmark"},
    {"init_file", "layout.init_file=none.h5", ""},
    {"init_scale", "layout.init_scale=2", ""},
    {"repulsion", "layout.repulsion=exact", ""},
    {"grid", "layout.grid=slabs", ""},
    {"accuracy", "layout.accuracy=tight", ""},
    {"regulariser", "layout.regulariser=laplacian", ""},
    {"regulariser_weight", "layout.regulariser_weight=0.3", ""},
    {"regulariser_rank", "layout.regulariser_rank=4", ""},
    {"regulariser_form", "layout.regulariser_form=log", ""},
    {"regulariser_from", "layout.regulariser_from=5", ""},
    {"regulariser_vectors", "layout.regulariser_vectors=exact", ""},
    {"regulariser_every", "layout.regulariser_every=2", ""},
    {"batch_rows", "layout.batch_rows=50", ""},
    {"batch_neighbours", "layout.batch_neighbours=5", ""}};
enum { CHANGES = sizeof changes / sizeof *changes };

/* The hash of the map; 0 where the settings are refused. */
static uint64_t map_of(ikt_context *ctx, const ikt_settings *settings) {
    ikt_run run;
    const ikt_status st = ikt_pipeline_run(ctx, settings, NULL, &run);
    if (st == IKT_OK) {
        const uint64_t hash = run.hash;
        ikt_run_destroy(&run);
        assert_true(hash != 0);
        return hash;
    }
    assert_true(st == IKT_ERR_USAGE || st == IKT_ERR_FILE);
    assert_true(strlen(ikt_message(ctx)) > 0);
    ikt_clear(ctx);
    assert_int_equal(ikt_memory_now(ctx), 0);
    return 0;
}

/* report_every and eigengap change what is said of a run, and nothing of the map. */
static void every_key_is_tried(void **state) {
    (void)state;
    for (size_t k = 0; k < ikt_layout_section.n_keys; k++) {
        const char *name = ikt_layout_section.keys[k].name;
        int times = 0;
        for (int c = 0; c < CHANGES; c++)
            times += strcmp(changes[c].key, name) == 0;
        const bool is_said = strcmp(name, "report_every") == 0 || strcmp(name, "eigengap") == 0;
        if (times == 0 && !is_said) fail_msg("layout.%s", name);
    }
}

static void every_key_changes_the_map_or_is_refused(void **state) {
    static const char *const objectives[] = {"trimap", "umap", "largevis"};
    ikt_context *ctx = *state;
    const run_files f = run_files_of_clusters(ctx, ROWS, COLUMNS, CLASSES);
    for (int o = 0; o < 3; o++)
        for (int c = 0; c < CHANGES; c++) {
            char text[64];
            snprintf(text, sizeof text, "layout.iterations=20 layout.objective=%s", objectives[o]);
            ikt_settings settings = run_settings(ctx, &f, text);
            set(ctx, &settings, changes[c].beside);
            const uint64_t without = map_of(ctx, &settings);
            set(ctx, &settings, changes[c].change);
            if (without && map_of(ctx, &settings) == without)
                fail_msg("%s: %s is ignored beside '%s'", objectives[o], changes[c].change,
                         changes[c].beside);
        }
    io_remove(ctx, f.input);
}

IKT_MPI_TESTS(ikt_test(every_key_is_tried), ikt_test(every_key_changes_the_map_or_is_refused))
