/* Which checkpoints a run goes on from: those of its own program, and no others. */
#define _POSIX_C_SOURCE 200809L
#include "support/ikt_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/build.h"
#include "base/memory.h"
#include "checkpoint/checkpoint.h"

static const char input[] = "10 x 2 float32, hash 0123456789abcdef";

static void defaults(ikt_context *ctx, const char *folder, ikt_settings *settings) {
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    memset(settings, 0, sizeof *settings);
    ikt_settings_parts(settings, parts);
    assert_int_equal(ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS), IKT_OK);
    snprintf(settings->run.checkpoint, sizeof settings->run.checkpoint, "%s", folder);
}

/* What a run with the default settings says to a folder that holds such a checkpoint.
 *   build, isa   NULL: those of this program */
static ikt_status look_at(ikt_context *ctx, const char *build, const char *isa,
                          const char **stage) {
    char folder[] = "checkpoint-XXXXXX", path[64], *text = NULL;
    ikt_settings settings;
    int64_t number[2] = {1, 2};
    const ikt_part part = ikt_part_shared("numbers", IKT_PART_I64, 2, number);
    assert_non_null(mkdtemp(folder));
    defaults(ctx, folder, &settings);
    assert_int_equal(ikt_fingerprint_settings(ctx, &settings, &text), IKT_OK);
    ikt_stage_head head = ikt_checkpoint_head("codes", input, text);
    if (build) head.build = build;
    if (isa) head.isa = isa;
    snprintf(path, sizeof path, "%s/codes.h5", folder);
    assert_int_equal(ikt_stage_file_write(ctx, path, NULL, &head, &part, 1), IKT_OK);
    const ikt_status st = ikt_checkpoint_look(ctx, &settings, &settings, stage);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    ikt_free(&text);
    return st;
}

static void own_checkpoints_are_taken_up(void **state) {
    char another[1024];
    snprintf(another, sizeof another, "commit another, %s", strstr(ikt_build_text(), "sources "));
    const char *const build[] = {NULL, another}; /* a commit alone may have changed pages alone */
    for (int i = 0; i < 2; i++) {
        const char *stage = NULL;
        assert_int_equal(look_at(*state, build[i], NULL, &stage), IKT_OK);
        assert_string_equal(stage, "codes");
    }
}

/* The version is that of this program in all of them. */
static void those_of_other_builds_are_refused(void **state) {
    static const char *const build[] = {"commit 0, sources 0000000000000000, GNU 1 -O0", "", NULL};
    static const char *const isa[] = {NULL, "", "another"};
    static const char *const words[] = {
        "another build of iktsne (commit 0, sources 0000000000000000, GNU 1 -O0)",
        "another build of iktsne (one that did not note which)",
        "the instruction set another, and this run uses"};
    for (int i = 0; i < 3; i++) {
        const char *stage = NULL;
        assert_int_equal(look_at(*state, build[i], isa[i], &stage), IKT_ERR_USAGE);
        assert_null(stage);
        assert_non_null(strstr(ikt_message(*state), words[i]));
        assert_non_null(strstr(ikt_message(*state), "run.resume=no"));
        ikt_clear(*state);
    }
}

IKT_MPI_TESTS(ikt_test(own_checkpoints_are_taken_up), ikt_test(those_of_other_builds_are_refused))
