/* The folder of a checkpoint. See checkpoint.h. */
#define _GNU_SOURCE
#include "checkpoint/checkpoint.h"

#include <dirent.h>
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
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "base/watch.h"
#include "checkpoint/fingerprint.h"
#include "iktsne/version.h"
#include "settings/checks.h"

struct ikt_checkpoint {
    ikt_context *ctx;
    char folder[IKT_PATH_MAX];
    char input[IKT_INPUTS_TEXT];
    char *settings;
    bool keeps_codes; /* until the end: the model file is made from them */
    bool is_kept;     /* after the end */
};

/* Guessed for the first file: what a slow shared file system writes in a second. */
static const double bytes_a_second = 2e8;

static void file_name(const ikt_checkpoint *c, ikt_stage stage, bool is_previous, char *path) {
    ikt_checkpoint_file_name(c->folder, stage, is_previous, path);
}

/* --- the folder ------------------------------------------------------------------------------- */

/* LOCAL, rank 0. Removes the older file of a stage, or both of them. */
static void remove_files(const ikt_checkpoint *c, ikt_stage stage, bool both) {
    char path[IKT_PATH_MAX];
    for (int previous = 1; previous >= (both ? 0 : 1); previous--) {
        file_name(c, stage, previous != 0, path);
        unlink(path);
    }
}

/* "codes.h5.part-1234": what ikt_atomic_begin calls a file that is not complete; and what Open
 * MPI's shared file pointers leave beside it where a rank is killed, "codes.h5.part-1234.data.0".
 */
static bool is_name_of_part(const char *name) {
    for (ikt_stage stage = 0; stage < IKT_STAGE_COUNT; stage++) {
        if (!ikt_stage_saved(stage)) continue;
        char begin[64];
        const size_t length =
            (size_t)snprintf(begin, sizeof begin, "%s.h5.part-", ikt_stage_saved(stage));
        if (strncmp(name, begin, length) != 0) continue;
        const char *number = name + length, *rest = number + strspn(number, "0123456789");
        return rest > number && (*rest == '\0' || strncmp(rest, ".data.", 6) == 0 ||
                                 strncmp(rest, ".metadata.", 10) == 0);
    }
    return false;
}

/* LOCAL, rank 0. Removes what a run that was killed while writing has left. */
static void remove_parts(const ikt_checkpoint *c) {
    char path[IKT_PATH_MAX];
    DIR *folder = opendir(c->folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!is_name_of_part(entry->d_name)) continue;
        snprintf(path, sizeof path, "%.3500s/%.500s", c->folder, entry->d_name);
        unlink(path);
    }
    if (folder) closedir(folder);
}

static void remove_all(const ikt_checkpoint *c) {
    for (ikt_stage stage = 0; stage < IKT_STAGE_COUNT; stage++)
        if (ikt_stage_saved(stage)) remove_files(c, stage, true);
    remove_parts(c);
    rmdir(c->folder); /* stays where others have put files there */
}

/* LOCAL, rank 0. Whether a file with the name of a checkpoint's file may be replaced: it is one,
 * perhaps a damaged one, or it is empty. HDF5 has the attributes of the root, which were written
 * first, at the beginning of the file; where even these are cut off, the file is shorter than the
 * length at byte 40 of its superblock. */
static bool is_own(const char *path) {
    static const char signature[] = "\211HDF\r\n\032\n";
    enum { HEAD_BYTES = 1 << 16, LENGTH_AT = 40 };
    char *head = calloc(1, HEAD_BYTES);
    struct stat about;
    uint64_t length = 0;
    bool is_checkpoint = false;
    FILE *file = lstat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "rb") : NULL;
    const size_t count = head && file ? fread(head, 1, HEAD_BYTES, file) : 0;
    if (count > 0 && memcmp(head, signature, strlen(signature)) == 0) {
        memcpy(&length, head + LENGTH_AT, sizeof length);
        is_checkpoint =
            memmem(head, count, IKT_STAGE_FILE_FORMAT, strlen(IKT_STAGE_FILE_FORMAT)) != NULL ||
            (head[strlen(signature)] == 0 && (uint64_t)about.st_size < length);
    }
    const bool is_empty = file && about.st_size == 0;
    if (file) fclose(file);
    free(head);
    return is_checkpoint || is_empty;
}

/* LOCAL, rank 0. A run of hours must not find out at its end that it cannot save; and where files
 * of others have the names of ours, none of them is taken for a damaged checkpoint and replaced. */
static ikt_status try_folder(const ikt_checkpoint *c) {
    struct stat about;
    char path[IKT_PATH_MAX];
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
    for (int file = 0; file < 2 * IKT_STAGE_COUNT; file++) {
        if (!ikt_stage_saved((ikt_stage)(file / 2))) continue;
        file_name(c, (ikt_stage)(file / 2), file % 2 != 0, path);
        if (access(path, F_OK) == 0 && !is_own(path))
            return ikt_fail(
                c->ctx, IKT_ERR_FILE,
                "%s is no checkpoint of iktsne, and one would have to be written in its "
                "place: move it away, or name another folder by run.checkpoint",
                path);
    }
    return IKT_OK;
}

/* --- life ------------------------------------------------------------------------------------- */

/* COLLECTIVE. What is known of a checkpoint without looking. */
static ikt_status describe(ikt_context *ctx, const ikt_settings *settings, const char *input,
                           ikt_checkpoint **out) {
    ikt_checkpoint *c = NULL;
    ikt_status st = ikt_alloc(ctx, &c, 1, sizeof *c, "checkpoint");
    if (st == IKT_OK) {
        c->ctx = ctx;
        c->keeps_codes = settings->output.model[0] != '\0';
        c->is_kept = settings->run.checkpoint_keep;
        ikt_checkpoint_folder_name(settings, c->folder);
        snprintf(c->input, sizeof c->input, "%s", input);
        st = ikt_fingerprint_settings(ctx, settings, &c->settings);
    }
    *out = c;
    return ikt_agree(ctx, st);
}

ikt_status ikt_checkpoint_create(ikt_context *ctx, const ikt_settings *settings, const char *input,
                                 ikt_checkpoint **out) {
    *out = NULL;
    if (strcmp(settings->run.checkpoint, "none") == 0) return IKT_OK;
    ikt_status st = describe(ctx, settings, input, out);
    if (st == IKT_OK && ikt_rank(ctx) == 0) {
        st = try_folder(*out);
        if (st == IKT_OK && settings->run.resume) remove_parts(*out);
        if (st == IKT_OK && !settings->run.resume) remove_all(*out);
    }
    st = ikt_agree(ctx, st);
    if (st != IKT_OK) ikt_checkpoint_destroy(out);
    return st;
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
    return ikt_checkpoint_head(ikt_stage_saved(stage), c->input, c->settings);
}

void ikt_checkpoint_expect(const ikt_checkpoint *checkpoint, int64_t bytes) {
    ikt_watch_expect(checkpoint->ctx, (double)bytes / bytes_a_second);
}

void ikt_checkpoint_finish(ikt_checkpoint *checkpoint) {
    if (!checkpoint || checkpoint->is_kept || ikt_rank(checkpoint->ctx) != 0) return;
    remove_all(checkpoint);
}

/* --- writing ---------------------------------------------------------------------------------- */

ikt_status ikt_checkpoint_write(ikt_checkpoint *c, ikt_stage stage, const ikt_part *parts,
                                int64_t count) {
    char path[IKT_PATH_MAX], previous[IKT_PATH_MAX];
    const ikt_stage_head head = head_of(c, stage);
    const double begun = ikt_now();
    ikt_status st = IKT_OK;
    file_name(c, stage, false, path);
    file_name(c, stage, true, previous);
    if (ikt_rank(c->ctx) == 0 && mkdir(c->folder, 0777) != 0 && errno != EEXIST)
        st = ikt_fail(c->ctx, IKT_ERR_FILE, "the folder %s cannot be made: %s", c->folder,
                      strerror(errno));
    st = ikt_agree(c->ctx, st);
    if (st == IKT_OK) st = ikt_stage_file_write(c->ctx, path, previous, &head, parts, count);
    if (st != IKT_OK) return st;
    /* Once a stage has two files of its own, older ones are not needed any more: but lists are made
     * from the codes, and the loop needs P. */
    const bool has_two = ikt_rank(c->ctx) == 0 && access(previous, F_OK) == 0;
    if (has_two && stage == IKT_STAGE_NEIGHBOURS) remove_files(c, IKT_STAGE_CODES, false);
    if (has_two && stage == IKT_STAGE_LAYOUT) {
        if (!c->keeps_codes) remove_files(c, IKT_STAGE_CODES, true);
        remove_files(c, IKT_STAGE_NEIGHBOURS, true);
    }
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
    if (strcmp(head->build, own->build) != 0)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s was made by another build of iktsne (%s), whose bits may differ from "
                        "those of this one (%s): go on with that program, or begin anew with "
                        "run.resume=no, which removes the checkpoint",
                        what, head->build[0] ? head->build : "one that did not note which",
                        own->build);
    if (strcmp(head->isa, own->isa) != 0)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s was made with the instruction set %s, and this run uses %s, whose bits "
                        "may differ: go on with IKTSNE_ISA=%s on a processor that has it, or begin "
                        "anew with run.resume=no, which removes the checkpoint",
                        what, head->isa, own->isa, head->isa);
    return IKT_OK;
}

/* COLLECTIVE. */
static bool is_there(ikt_context *ctx, const char *path) {
    int64_t found = ikt_rank(ctx) == 0 && access(path, F_OK) == 0;
    ikt_broadcast(ctx, &found, (int64_t)sizeof found, 0);
    return found != 0;
}

ikt_status ikt_checkpoint_find(ikt_checkpoint *c, ikt_stage stage, ikt_stage_file **out) {
    char path[IKT_PATH_MAX];
    *out = NULL;
    for (int previous = 0; previous < 2 && !*out; previous++) {
        file_name(c, stage, previous != 0, path);
        if (!is_there(c->ctx, path)) continue;
        ikt_status st = ikt_stage_file_open(c->ctx, path, out);
        if (st == IKT_OK) break;
        if (st != IKT_ERR_DATA && st != IKT_ERR_FILE) return st;
        ikt_log(c->ctx, IKT_LOG_WARN,
                "a checkpoint cannot be used, an older one or the data is: %s",
                ikt_message(c->ctx));
        /* A damaged one is removed, so that it does not take the place of an older one. */
        if (st == IKT_ERR_DATA && ikt_rank(c->ctx) == 0) unlink(path);
        ikt_clear(c->ctx);
    }
    if (!*out) return IKT_OK;
    const ikt_stage_head head = ikt_stage_file_head(*out), own = head_of(c, stage);
    ikt_status st = ikt_checkpoint_compare(c->ctx, &own, &head, path);
    if (st != IKT_OK) ikt_stage_file_close(out);
    return st;
}

ikt_status ikt_checkpoint_look(ikt_context *ctx, const ikt_settings *settings, const char **stage) {
    ikt_checkpoint *c = NULL;
    char path[IKT_PATH_MAX];
    *stage = NULL;
    if (strcmp(settings->run.checkpoint, "none") == 0) return IKT_OK;
    ikt_status st = describe(ctx, settings, "", &c);
    if (st == IKT_OK) st = ikt_agree(ctx, ikt_rank(ctx) == 0 ? try_folder(c) : IKT_OK);
    const int last = settings->run.resume ? 2 * IKT_STAGE_COUNT - 1 : -1;
    for (int at = last; at >= 0 && st == IKT_OK && !*stage; at--) {
        const ikt_stage s = (ikt_stage)(at / 2);
        ikt_stage_file *file = NULL;
        if (!ikt_stage_saved(s)) continue;
        file_name(c, s, at % 2 == 0, path);
        if (!is_there(ctx, path) || !ikt_stage_file_is(ctx, path)) continue;
        st = ikt_stage_file_open(ctx, path, &file);
        if (st != IKT_OK) break;
        const ikt_stage_head head = ikt_stage_file_head(file);
        ikt_stage_head own = head_of(c, s);
        own.input = head.input; /* whether it is of the same data is not asked */
        st = ikt_checkpoint_compare(ctx, &own, &head, path);
        if (st == IKT_OK) *stage = ikt_stage_saved(s);
        ikt_stage_file_close(&file);
    }
    ikt_checkpoint_destroy(&c);
    return st;
}
