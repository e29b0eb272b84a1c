/* iktsne landmarks: some rows that stand for all, as a data set of their own
 * (pipeline/pipeline.h). */
#include <string.h>

#include "app/settings_read.h"
#include "app/verb.h"
#include "base/atomic_file.h"
#include "pipeline/pipeline.h"
#include "settings/checks.h"

static ikt_status run(ikt_context *ctx, int argc, char **argv) {
    ikt_settings_words words = {.more = NULL};
    ikt_landmark_request request;
    ikt_settings settings;
    int64_t found;
    bool help, overwrite;
    const ikt_option options[] = {
        {"count", IKT_KEY_INT, "N", "10000", 1, 1e9, NULL, &request.count,
         "The landmarks, as many as k-means has centres"},
        {"steps", IKT_KEY_INT, "N", IKT_LANDMARK_STEPS_TEXT, 0, 1e6, NULL, &request.steps,
         "The most iterations of k-means; it ends earlier when no row changes its cluster, and 0 "
         "takes rows that are drawn at random"},
        {"overwrite", IKT_FLAG(&overwrite), "Replace OUT.h5 if it exists"},
        {0}};
    IKT_TRY(ikt_options_parse(ctx, &ikt_verb_landmarks, options, argc, argv, words.word, 2,
                              IKT_WORDS_MOST, &words.count, &help));
    if (help) return IKT_OK;
    if (strchr(words.word[1], '='))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "name the data and the file of the landmarks first, and settings after "
                        "them: iktsne landmarks DATA.h5 OUT.h5 %s",
                        words.word[1]);
    IKT_TRY(ikt_settings_read(ctx, &words, &settings));
    settings.output.overwrite |= overwrite;
    ikt_files files = {.ctx = ctx};
    ikt_run_files_read(&settings, &files);
    ikt_files_add_hdf5(&files, IKT_FILE_WRITTEN, "output.file", settings.output.file, ".h5", false);
    IKT_TRY(ikt_files_check(&files));
    IKT_TRY(ikt_inputs_check(ctx, words.word, 1));
    IKT_TRY(ikt_atomic_check(ctx, settings.output.file, settings.output.overwrite));
    return ikt_landmark_file_write(ctx, &settings, &request, &found);
}

const ikt_verb ikt_verb_landmarks = {
    "landmarks", "DATA.h5 OUT.h5 [SECTION.KEY=VALUE ...] [options]",
    "Choose rows that stand for all, by k-means, and write them as a data set",
    "Embed OUT.h5 with output.model, and place all rows in its map by `iktsne transform`: the way "
    "of LaptSNE's paper with large data. Settings of the sections input and preprocess, and "
    "run.seed, count; those of the map do not matter here",
    run};
