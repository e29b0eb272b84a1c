/* The folder of a checkpoint. See checkpoint.h. */
#define _GNU_SOURCE
#include "checkpoint/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/build.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/encoding.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/timer.h"
#include "base/watch.h"
#include "iktsne/version.h"
#include "settings/checks.h"

struct ikt_checkpoint {
    ikt_context *ctx;
    char folder[IKT_PATH_MAX];
    char input[IKT_INPUTS_TEXT];
    char *settings;
    ikt_settings resolved;
    int64_t iterations; /* of the run in all; 0: they are not compared */
    bool has_warned;    /* that there were to be others */
    bool keeps_codes;   /* until the end: the model file is made from them */
    bool is_kept;       /* after the end */
};

/* Guessed for the first file: what a slow shared file system writes in a second. */
static const double bytes_a_second = 2e8;

static void file_name(const ikt_checkpoint *c, ikt_stage stage, bool is_previous, char *path) {
    ikt_checkpoint_file_name(c->folder, stage, is_previous, path);
}

/* --- the folder ------------------------------------------------------------------------------- */

/* LOCAL, rank 0. */
static void remove_file(const ikt_checkpoint *c, ikt_stage stage, bool is_previous) {
    char path[IKT_PATH_MAX];
    file_name(c, stage, is_previous, path);
    unlink(path);
}

static void remove_files(const ikt_checkpoint *c, ikt_stage stage) {
    remove_file(c, stage, true);
    remove_file(c, stage, false);
}

/* LOCAL, rank 0. Removes what a run that was killed while writing has left. */
static void remove_parts(const ikt_checkpoint *c) {
    char path[IKT_PATH_MAX];
    bool is_written;
    IKT_FOR_SAVED_STAGES (s) {
        file_name(c, s, false, path);
        ikt_part_sweep(c->ctx, path, 0, &is_written);
    }
}

static void remove_all(const ikt_checkpoint *c) {
    IKT_FOR_SAVED_STAGES (s)
        remove_files(c, s);
    remove_parts(c);
    rmdir(c->folder); /* stays where others have put files there */
}

/* Whether a file of that size is a checkpoint, perhaps a damaged one, or empty. HDF5 has the
 * attributes of the root, which were written first, at the beginning of the file; where even these
 * are cut off, the file is shorter than the length at byte 40 of its superblock. */
static bool begins_as_own(FILE *file, uint64_t size) {
    static const char signature[] = "\211HDF\r\n\032\n";
    static const size_t magic = sizeof signature - 1;
    char head[1 << 16] = {0};
    enum { LENGTH_AT = 40 };
    uint64_t length = 0;
    const size_t count = fread(head, 1, sizeof head, file);
    if (size == 0) return true;
    if (memcmp(head, signature, magic) != 0) return false;
    if (memmem(head, count, IKT_STAGE_FILE_FORMAT, strlen(IKT_STAGE_FILE_FORMAT))) return true;
    memcpy(&length, head + LENGTH_AT, sizeof length);
    return head[magic] == 0 && size < length;
}

/* LOCAL, rank 0. Whether a file with the name of a checkpoint's file may be replaced. */
static bool is_own(const char *path) {
    struct stat about;
    if (lstat(path, &about) != 0 || !S_ISREG(about.st_mode)) return false;
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    const bool is = begins_as_own(file, (uint64_t)about.st_size);
    fclose(file);
    return is;
}

/* LOCAL, rank 0. Refuses a file of others that has the name of one of ours. */
static ikt_status check_name(const ikt_checkpoint *c, ikt_stage stage, bool is_previous) {
    char path[IKT_PATH_MAX];
    file_name(c, stage, is_previous, path);
    if (access(path, F_OK) != 0 || is_own(path)) return IKT_OK;
    return ikt_fail(c->ctx, IKT_ERR_FILE,
                    "%s is no checkpoint of iktsne, and one would have to be written in its "
                    "place: move it away, or name another folder by run.checkpoint",
                    path);
}

/* LOCAL, rank 0. A run of hours must not find out at its end that it cannot save; and where files
 * of others have the names of ours, none of them is taken for a damaged checkpoint and replaced. */
static ikt_status try_folder(const ikt_checkpoint *c) {
    struct stat about;
    if (!c->folder[0])
        return ikt_fail(c->ctx, IKT_ERR_USAGE,
                        "run.checkpoint is empty: name a folder, or give none or auto");
    const bool is_new = mkdir(c->folder, 0777) == 0;
    if (!is_new && errno != EEXIST)
        return ikt_fail(c->ctx, IKT_ERR_FILE,
                        "the folder %s for checkpoints cannot be made: %s (run.checkpoint names "
                        "another, or none)",
                        c->folder, strerror(errno));
    if (stat(c->folder, &about) == 0 && !S_ISDIR(about.st_mode))
        return ikt_fail(c->ctx, IKT_ERR_FILE,
                        "%s is no folder, and checkpoints are written to one: name another by "
                        "run.checkpoint",
                        c->folder);
    if (access(c->folder, W_OK | X_OK) != 0)
        return ikt_fail(c->ctx, IKT_ERR_FILE,
                        "the folder %s for checkpoints cannot be written to: %s", c->folder,
                        strerror(errno));
    if (is_new) rmdir(c->folder); /* until it is needed */
    IKT_FOR_SAVED_STAGES (s) {
        IKT_TRY(check_name(c, s, false));
        IKT_TRY(check_name(c, s, true));
    }
    return IKT_OK;
}

int64_t ikt_checkpoint_time(const ikt_settings *settings) {
    char folder[IKT_PATH_MAX], path[IKT_PATH_MAX];
    struct stat about;
    int64_t newest = 0;
    ikt_checkpoint_folder_name(settings, folder);
    if (!folder[0]) return 0;
    IKT_FOR_SAVED_STAGES (s) {
        ikt_checkpoint_file_name(folder, s, false, path);
        if (stat(path, &about) != 0) continue;
        const int64_t time = (int64_t)about.st_mtim.tv_sec * 1000000000 + about.st_mtim.tv_nsec;
        newest = ikt_larger(newest, time);
    }
    return newest;
}

/* --- life ------------------------------------------------------------------------------------- */

/* LOCAL. What is known of a checkpoint without looking. */
static ikt_status describe(ikt_context *ctx, const ikt_settings *settings,
                           const ikt_settings *resolved, const char *input, ikt_checkpoint **out) {
    IKT_TRY(ikt_alloc(ctx, out, 1, sizeof **out, "checkpoint"));
    ikt_checkpoint *c = *out;
    c->ctx = ctx;
    c->keeps_codes = settings->output.model[0] != '\0';
    c->is_kept = settings->run.checkpoint_keep;
    c->resolved = *resolved;
    c->iterations = settings->run.extend > 0 ? 0 : resolved->layout.iterations;
    ikt_checkpoint_folder_name(settings, c->folder);
    snprintf(c->input, sizeof c->input, "%s", input);
    return ikt_fingerprint_settings(ctx, settings, &c->settings);
}

/* LOCAL. The folder as a run begins with it: rank 0 sees to it. */
static ikt_status begin_folder(const ikt_checkpoint *c, bool resumes) {
    if (ikt_rank(c->ctx) != 0) return IKT_OK;
    IKT_TRY(try_folder(c));
    (resumes ? remove_parts : remove_all)(c);
    return IKT_OK;
}

ikt_status ikt_checkpoint_create(ikt_context *ctx, const ikt_settings *settings,
                                 const ikt_settings *resolved, const char *input,
                                 ikt_checkpoint **out) {
    ikt_checkpoint *made IKT_AT_END(ikt_checkpoint_destroy) = NULL;
    *out = NULL;
    if (!ikt_run_has_checkpoints(&settings->run)) return IKT_OK;
    IKT_TRY(ikt_agree(ctx, describe(ctx, settings, resolved, input, &made)));
    IKT_TRY(ikt_agree(ctx, begin_folder(made, settings->run.resume)));
    return ikt_give(out, made);
}

void ikt_checkpoint_destroy(ikt_checkpoint **checkpoint) {
    if (!*checkpoint) return;
    ikt_free(&(*checkpoint)->settings);
    ikt_free(checkpoint);
}

const char *ikt_checkpoint_folder(const ikt_checkpoint *checkpoint) {
    return checkpoint->folder;
}

ikt_stage_head ikt_checkpoint_head(const char *stage, const char *input, const char *settings) {
    return (ikt_stage_head){.stage = stage,
                            .version = IKT_VERSION,
                            .build = ikt_build_text(),
                            .isa = ikt_isa_name(ikt_cpu_isa()),
                            .input = input,
                            .settings = settings};
}

static ikt_stage_head head_of(const ikt_checkpoint *c, ikt_stage stage) {
    ikt_stage_head head = ikt_checkpoint_head(ikt_stage_saved(stage), c->input, c->settings);
    head.iterations = c->iterations;
    return head;
}

void ikt_checkpoint_expect(const ikt_checkpoint *checkpoint, int64_t bytes) {
    ikt_watch_expect(checkpoint->ctx, (double)bytes / bytes_a_second);
}

void ikt_checkpoint_finish(ikt_checkpoint *checkpoint) {
    if (!checkpoint || checkpoint->is_kept || ikt_rank(checkpoint->ctx) != 0) return;
    remove_all(checkpoint);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* LOCAL, rank 0. Once a stage has two files of its own, older ones are not needed any more: but
 * lists are made from the codes, and the loop needs P. */
static void remove_older(const ikt_checkpoint *c, ikt_stage stage) {
    if (stage == IKT_STAGE_NEIGHBOURS) remove_file(c, IKT_STAGE_CODES, true);
    if (stage != IKT_STAGE_LAYOUT) return;
    if (!c->keeps_codes) remove_files(c, IKT_STAGE_CODES);
    remove_files(c, IKT_STAGE_NEIGHBOURS);
}

static ikt_status make_folder(const ikt_checkpoint *c) {
    if (ikt_rank(c->ctx) != 0 || mkdir(c->folder, 0777) == 0 || errno == EEXIST) return IKT_OK;
    return ikt_fail(c->ctx, IKT_ERR_FILE, "the folder %s cannot be made: %s", c->folder,
                    strerror(errno));
}

ikt_status ikt_checkpoint_write(ikt_checkpoint *c, ikt_stage stage, const ikt_part *parts,
                                int64_t count) {
    char path[IKT_PATH_MAX], previous[IKT_PATH_MAX];
    const ikt_stage_head head = head_of(c, stage);
    const double begun = ikt_now();
    file_name(c, stage, false, path);
    file_name(c, stage, true, previous);
    IKT_TRY(ikt_agree(c->ctx, make_folder(c)));
    IKT_TRY(ikt_stage_file_write(c->ctx, path, previous, &head, parts, count));
    if (ikt_rank(c->ctx) == 0 && access(previous, F_OK) == 0) remove_older(c, stage);
    ikt_log(c->ctx, IKT_LOG_DETAIL, "checkpoint: %s in %.2f s", path, ikt_now() - begun);
    return IKT_OK;
}

/* --- reading ---------------------------------------------------------------------------------- */

ikt_status ikt_checkpoint_compare(ikt_context *ctx, const ikt_stage_head *own,
                                  const ikt_stage_head *head, const char *what) {
    char difference[512], there[IKT_INPUTS_TEXT], here[IKT_INPUTS_TEXT];
    if (strcmp(head->input, own->input) != 0) {
        const char *role = ikt_fingerprint_input_difference(head->input, own->input, there, here);
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s is of other data (%s) than %s (%s): give back that data, or "
                        "name another file; run.resume=no removes a checkpoint",
                        what, there, role, here);
    }
    if (strcmp(head->settings, own->settings) != 0) {
        ikt_fingerprint_difference(head->settings, own->settings, difference, sizeof difference);
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s is of a run with other settings: %s; run.resume=no removes a "
                        "checkpoint and begins anew",
                        what, difference);
    }
    if (strcmp(head->version, own->version) != 0)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s was made by iktsne %s, this is %s; run.resume=no removes a checkpoint "
                        "and begins anew",
                        what, head->version, own->version);
    if (!ikt_build_is_same(head->build, own->build))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s was made by another build of iktsne (%s), whose bits may differ from "
                        "those of this one (%s): go on with that program, or begin anew with "
                        "run.resume=no, which removes the checkpoint",
                        what, ikt_text_or(head->build, "one that did not note which"), own->build);
    if (strcmp(head->isa, own->isa) != 0)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s was made with the instruction set %s, and this run uses %s, whose bits "
                        "may differ: go on with IKTSNE_ISA=%s on a processor that has it, or begin "
                        "anew with run.resume=no, which removes the checkpoint",
                        what, head->isa, own->isa, head->isa);
    return IKT_OK;
}

/* COLLECTIVE. Opens a file if it can be used; else *out stays NULL. Where a run begins, one that is
 * damaged, or of another stage, is told and removed, so that it does not take the place of an older
 * one. */
static ikt_status try_file(const ikt_checkpoint *c, ikt_stage stage, const char *path, bool begins,
                           ikt_stage_file **out) {
    ikt_context *ctx = c->ctx;
    const ikt_status st = ikt_stage_file_open(ctx, path, ikt_stage_saved(stage), out);
    if (st != IKT_ERR_DATA && st != IKT_ERR_FILE) return st;
    if (begins) {
        ikt_log(ctx, IKT_LOG_WARN, "a checkpoint cannot be used, an older one or the data is: %s",
                ikt_message(ctx));
        if (st == IKT_ERR_DATA && ikt_rank(ctx) == 0) unlink(path);
    }
    ikt_clear(ctx);
    return IKT_OK;
}

/* COLLECTIVE. The newest file of a stage that can be used, or NULL.
 *   path   receives its name */
static ikt_status open_newest(const ikt_checkpoint *c, ikt_stage stage, bool begins,
                              char path[IKT_PATH_MAX], ikt_stage_file **out) {
    *out = NULL;
    for (int previous = 0; previous < 2 && !*out; previous++) {
        file_name(c, stage, previous != 0, path);
        if (ikt_file_is_there(c->ctx, path)) IKT_TRY(try_file(c, stage, path, begins, out));
    }
    return IKT_OK;
}

/* COLLECTIVE. What a file means for a run that is to have other iterations than it was to have when
 * the file was written. */
static ikt_status compare_iterations(ikt_checkpoint *c, ikt_stage stage, ikt_stage_file *file,
                                     const char *path) {
    const int64_t had = ikt_stage_file_head(file).iterations, all = c->iterations;
    const bool is_loop = stage == IKT_STAGE_LAYOUT;
    ikt_loop_numbers number = {.iteration = 0};
    const ikt_part numbers = ikt_part_shared("numbers", IKT_PART_I64, IKT_NUMBERS(number), &number);
    if (all <= 0) return IKT_OK;
    if (is_loop) IKT_TRY(ikt_stage_file_read(file, &numbers, 1));
    if (number.iteration > all)
        return ikt_fail(c->ctx, IKT_ERR_USAGE,
                        "%s has %lld iterations behind it, and layout.iterations = %lld asks for "
                        "fewer: take %lld or more, or begin anew with run.resume=no, which removes "
                        "the checkpoint",
                        path, (long long)number.iteration, (long long)all,
                        (long long)number.iteration);
    if (had == 0 || had == all || c->has_warned) return IKT_OK;
    if (!is_loop && stage != IKT_STAGE_AFFINITY) return IKT_OK; /* nothing depends on them yet */
    ikt_warn_of_iterations(c->ctx, &c->resolved, had, is_loop);
    c->has_warned = true;
    return IKT_OK;
}

/* COLLECTIVE. As ikt_checkpoint_find; where a run does not begin, whether the file is of the same
 * data is not asked. */
static ikt_status find(ikt_checkpoint *c, ikt_stage stage, bool begins, ikt_stage_file **out) {
    char path[IKT_PATH_MAX];
    ikt_stage_file *file IKT_AT_END(ikt_stage_file_close) = NULL;
    *out = NULL;
    IKT_TRY(open_newest(c, stage, begins, path, &file));
    if (!file) return IKT_OK;
    const ikt_stage_head head = ikt_stage_file_head(file);
    ikt_stage_head own = head_of(c, stage);
    if (!begins) own.input = head.input;
    IKT_TRY(ikt_checkpoint_compare(c->ctx, &own, &head, path));
    IKT_TRY(compare_iterations(c, stage, file, path));
    return ikt_give(out, file);
}

ikt_status ikt_checkpoint_find(ikt_checkpoint *c, ikt_stage stage, ikt_stage_file **out) {
    return find(c, stage, true, out);
}

ikt_status ikt_checkpoint_look(ikt_context *ctx, const ikt_settings *settings,
                               const ikt_settings *resolved, const char **stage) {
    ikt_checkpoint *c IKT_AT_END(ikt_checkpoint_destroy) = NULL;
    *stage = NULL;
    if (!ikt_run_has_checkpoints(&settings->run)) return IKT_OK;
    IKT_TRY(ikt_agree(ctx, describe(ctx, settings, resolved, "", &c)));
    IKT_TRY(ikt_agree(ctx, ikt_rank(ctx) == 0 ? try_folder(c) : IKT_OK));
    if (!settings->run.resume) return IKT_OK;
    for (ikt_stage s = IKT_STAGE_COUNT; s-- > 0 && !*stage;) {
        ikt_stage_file *file IKT_AT_END(ikt_stage_file_close) = NULL;
        if (ikt_stage_saved(s)) IKT_TRY(find(c, s, false, &file));
        if (file) *stage = ikt_stage_saved(s);
    }
    return IKT_OK;
}
