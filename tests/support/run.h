/* Whole runs of a small data set, for tests: its file, and settings. */
#ifndef IKT_TEST_RUN_H
#define IKT_TEST_RUN_H

#include "io/io_files.h"

#include "base/memory.h"
#include "base/rng.h"
#include "io/convert/table_writer.h"
#include "pipeline/outcome.h"
#include "settings/settings.h"
#include "support/assign.h"
#include "support/expect.h"

/* Names of a run's own: its rows, its result, its checkpoint. */
typedef struct {
    char input[IO_NAME_MAX], output[IO_NAME_MAX], folder[IO_NAME_MAX];
} run_files;

/* COLLECTIVE. Writes n rows of d columns with a class each; io_remove(ctx, files.input) when done.
 *   rows     [n * d] all of them, on every rank
 *   labels   [n]; NULL: there are none */
static inline run_files run_files_write(ikt_context *ctx, const float *rows, const int32_t *labels,
                                        int64_t n, int64_t d) {
    run_files f;
    ikt_table_writer *table;
    io_name(ctx, "rows.h5", f.input);
    io_name(ctx, "run.h5", f.output);
    io_name(ctx, "checkpoint", f.folder);
    succeed(ctx, ikt_table_create(ctx, f.input, true, n, d, IKT_TYPE_F32, labels != NULL, &table));
    succeed(ctx, ikt_table_write(table, 0, ikt_rank(ctx) == 0 ? n : 0, rows, labels));
    succeed(ctx, ikt_table_close(&table, IKT_OK));
    return f;
}

/* COLLECTIVE. The same of n rows by turns in one of some clusters, each shifted along a column of
 * its own. d is at least the number of clusters, n * d at most 4096. */
static inline run_files run_files_of_clusters(ikt_context *ctx, int n, int d, int clusters) {
    float rows[4096];
    int32_t labels[4096];
    assert_true(clusters <= d && n * d <= 4096);
    for (int i = 0; i < n; i++)
        labels[i] = i % clusters;
    for (int64_t e = 0; e < n * d; e++)
        rows[e] = (float)(ikt_rng_normal(7, IKT_RNG_TEST, e, 0) + (labels[e / d] == e % d ? 6 : 0));
    return run_files_write(ctx, rows, labels, n, d);
}

/* The settings of a short run that keeps no checkpoint, and those that `text` assigns. */
static inline ikt_settings run_settings(ikt_context *ctx, const run_files *f, const char *text) {
    ikt_settings settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char named[2 * IO_NAME_MAX + 64];
    memset(&settings, 0, sizeof settings);
    ikt_settings_parts(&settings, parts);
    succeed(ctx, ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS));
    snprintf(named, sizeof named, "input.file=%s output.file=%s", f->input, f->output);
    set(ctx, &settings, named);
    set(ctx, &settings,
        "layout.report_every=10 run.checkpoint=none output.state=no output.overwrite=yes");
    set(ctx, &settings, text);
    return settings;
}

/* COLLECTIVE. Makes the run, whose value must fall, and nothing may be left of it in memory.
 * Returns the hash of its map.
 *   value   receives the last one; or NULL */
static inline uint64_t run_hash(ikt_context *ctx, const ikt_settings *settings, double *value) {
    ikt_run run;
    succeed(ctx, ikt_pipeline_run(ctx, settings, NULL, &run));
    const ikt_trace *trace = &run.embedding.trace;
    const double last = trace->point[trace->count - 1].value;
    const uint64_t hash = run.hash;
    assert_true(last < trace->point[0].value);
    if (value) *value = last;
    ikt_run_finish(ctx, &run);
    ikt_run_destroy(&run);
    assert_int_equal(ikt_memory_now(ctx), 0);
    return hash;
}

/* COLLECTIVE. The run is refused for its settings, in a sentence that has `why` in it, and nothing
 * is left of it in memory.
 *   what   the settings, for a message of the test */
static inline void run_is_refused(ikt_context *ctx, const ikt_settings *settings, const char *what,
                                  const char *why) {
    ikt_run run;
    const ikt_status st = ikt_pipeline_run(ctx, settings, NULL, &run);
    if (st != IKT_ERR_USAGE) fail_msg("%s: %d %s", what, (int)st, ikt_message(ctx));
    refuse(ctx, st, IKT_ERR_USAGE, why);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* Lets the run keep a checkpoint in its folder. */
static inline void set_checkpoint(ikt_context *ctx, ikt_settings *settings, const run_files *f) {
    char text[IO_NAME_MAX + 32];
    snprintf(text, sizeof text, "run.checkpoint=%s", f->folder);
    set(ctx, settings, text);
}

#endif
