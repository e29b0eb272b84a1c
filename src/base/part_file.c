/* Unfinished files, their locks and their owners. See part_file.h. */
#define _GNU_SOURCE
#include "base/part_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/row_hash.h"

struct ikt_part_lock {
    ikt_part_lock *next;
    int file;
    bool is_claim;           /* the file is still to be made */
    char part[IKT_PATH_MAX]; /* the name of the unfinished file */
    char target[IKT_PATH_MAX];
};

static const char between[] = ".part-", end_of_lock[] = ".lock", digits[] = "0123456789abcdef";
enum {
    START_SIZE = 200,
    DIGITS = 8, /* of MACHINE, and of RANDOM, both hexadecimal */
    TAIL = sizeof between - 1 + 2 * DIGITS + 1,
    NAME_MOST = 200 /* bytes of a name; with what Open MPI appends it is below 255 */
};

/* --- names ------------------------------------------------------------------------------------ */

/* Eight digits for one start of this machine, all zero where the system does not say. */
static void name_machine(char machine[DIGITS + 1]) {
    static const char zero[] = "00000000";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    const bool is_known = file && fread(machine, 1, DIGITS, file) == DIGITS;
    if (file) fclose(file);
    machine[DIGITS] = '\0';
    if (!is_known || strspn(machine, digits) != DIGITS) strcpy(machine, zero);
}

static bool is_here(const char *machine_of_part) {
    char machine[DIGITS + 1];
    name_machine(machine);
    return strspn(machine, "0") < DIGITS && memcmp(machine, machine_of_part, DIGITS) == 0;
}

/* Whether ".part-MACHINE-RANDOM" begins here. */
static bool is_tail(const char *text) {
    const size_t at = strlen(between);
    if (strncmp(text, between, at) != 0) return false;
    if (strspn(text + at, digits) != DIGITS || text[at + DIGITS] != '-') return false;
    return strspn(text + at + DIGITS + 1, digits) == DIGITS;
}

/* What stands before that: the target, of which a long name is cut between two letters, and told
 * from others that begin in the same way by its hash. */
static void name_stem(const char *target, char stem[IKT_PATH_MAX]) {
    const char *slash = strrchr(target, '/'), *last = slash ? slash + 1 : target;
    const size_t length = strlen(last);
    size_t kept = length;
    if (length > NAME_MOST)
        for (kept = NAME_MOST - DIGITS - 1; kept > 0 && (last[kept] & 0xC0) == 0x80; kept--) {
        }
    int end = snprintf(stem, IKT_PATH_MAX, "%.*s", (int)(last - target + (int)kept), target);
    if (kept < length)
        snprintf(stem + end, IKT_PATH_MAX - (size_t)end, "~%0*" PRIx32, DIGITS,
                 (uint32_t)ikt_hash_bytes(last, length, 0));
}

size_t ikt_part_length(const char *name, const char *target) {
    char stem[IKT_PATH_MAX];
    name_stem(target, stem);
    const size_t length = strlen(stem);
    return strncmp(name, stem, length) == 0 && is_tail(name + length) ? length + TAIL : 0;
}

/* False where there is none: a stream NAME has no lock, and NAME.lock is somebody else's. */
static bool name_lock(const char *part, char lock[IKT_PATH_MAX]) {
    const char *tail = strrchr(part, '.');
    if (!tail || !is_tail(tail) || tail[TAIL] != '\0') return false;
    return snprintf(lock, IKT_PATH_MAX, "%s%s", part, end_of_lock) < IKT_PATH_MAX;
}

/* --- making ----------------------------------------------------------------------------------- */

static uint32_t draw(void) {
    uint32_t number;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) == sizeof number) return number;
    return (uint32_t)(ikt_now() * 1e9) ^ (uint32_t)getpid(); /* names that are taken are passed */
}

/* What schedulers say of a job that they start again when its machine has failed. LSF and Grid
 * Engine say no more than that a start is not the first. */
static const struct {
    const char *job, *task, *place, *starts;
} schedulers[] = {{"SLURM_JOB_ID", NULL, "SLURM_CLUSTER_NAME", "SLURM_RESTART_COUNT"},
                  {"LSB_JOBID", "LSB_JOBINDEX", "LSF_ENVDIR", "LSB_RESTART"},
                  {"JOB_ID", "SGE_TASK_ID", "SGE_CLUSTER_NAME", "RESTARTED"}};

/* A start of a job, "SCHEDULER PLACE JOB TASK START"; "" of other processes. */
static void name_start(char name[START_SIZE], int64_t *start) {
    name[0] = '\0';
    *start = 0;
    for (size_t s = 0; s < sizeof schedulers / sizeof *schedulers; s++) {
        const char *job = getenv(schedulers[s].job), *place = getenv(schedulers[s].place);
        const char *task = schedulers[s].task ? getenv(schedulers[s].task) : "-";
        const char *starts = getenv(schedulers[s].starts); /* maybe none the first time */
        if (!job || !task) continue;
        if (starts) *start = strcmp(starts, "Y") == 0 ? 1 : strtoll(starts, NULL, 10);
        snprintf(name, START_SIZE, "%s %.80s %.40s %.20s ", schedulers[s].job, place ? place : "-",
                 job, task);
        return;
    }
}

/* Writes this start into the file of a lock. It must be there when the machine fails. */
static void note_start(int lock) {
    char name[START_SIZE], text[START_SIZE + 24];
    int64_t start;
    name_start(name, &start);
    if (!name[0]) return;
    snprintf(text, sizeof text, "%s%lld\n", name, (long long)start);
    if (write(lock, text, strlen(text)) > 0) (void)fsync(lock);
}

/* Opens the file of a lock that nobody else has, and takes the lock; -1 with errno: EEXIST where
 * the name is taken, or another has removed it between the two, which NFS shows by the name alone.
 */
static int make_lock(const char *lock) {
    struct stat is, named;
    const int file = open(lock, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) return -1;
    const bool is_refused = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!is_refused && fstat(file, &is) == 0 && stat(lock, &named) == 0 &&
        is.st_ino == named.st_ino && is.st_dev == named.st_dev)
        return file;
    close(file);
    errno = EEXIST;
    return -1;
}

/* The lock and then the file: a file without a lock is one that its run has left behind. */
static int make_pair(const char *part) {
    char lock[IKT_PATH_MAX];
    if (!name_lock(part, lock)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int held = make_lock(lock);
    const int file = held < 0 ? -1 : open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) {
        close(file);
        note_start(held);
        return held;
    }
    const int reason = errno;
    if (held >= 0) {
        unlink(lock);
        close(held);
    }
    errno = reason;
    return -1;
}

/* The claim of a target whose file has been made: that has a lock of its own. */
static void release_claim(ikt_context *ctx, const char *target) {
    for (ikt_part_lock *one = ctx->part_locks; one; one = one->next)
        if (one->is_claim && strcmp(one->target, target) == 0) {
            ikt_part_release(ctx, one->part);
            return;
        }
}

ikt_status ikt_part_create(ikt_context *ctx, const char *path, const char *target,
                           char part[IKT_PATH_MAX]) {
    enum { TRIALS = 100 };
    ikt_part_lock *made = NULL;
    char machine[DIGITS + 1], stem[IKT_PATH_MAX];
    int file = -1;
    name_machine(machine);
    name_stem(target, stem);
    errno = EEXIST;
    for (int trial = 0; trial < TRIALS && file < 0 && errno == EEXIST; trial++) {
        if (snprintf(part, IKT_PATH_MAX, "%s%s%s-%08" PRIx32, stem, between, machine, draw()) >=
            IKT_PATH_MAX)
            return ikt_fail(ctx, IKT_ERR_FILE, "%.200s...: the path is too long", path);
        file = make_pair(part);
    }
    if (file < 0)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be written: %s", path, strerror(errno));
    const ikt_status st = ikt_alloc(ctx, &made, 1, sizeof *made, "unfinished files");
    if (st != IKT_OK) {
        ikt_part_remove(part);
        close(file);
        return st;
    }
    release_claim(ctx, target);
    made->next = ctx->part_locks;
    made->file = file;
    strcpy(made->part, part);
    strcpy(made->target, target);
    ctx->part_locks = made;
    return IKT_OK;
}

static ikt_part_lock *find_own(const ikt_context *ctx, const char *part) {
    ikt_part_lock *one = ctx->part_locks;
    while (one && strcmp(one->part, part) != 0)
        one = one->next;
    return one;
}

const char *ikt_part_target(const ikt_context *ctx, const char *part) {
    const ikt_part_lock *own = find_own(ctx, part);
    return own ? own->target : NULL;
}

void ikt_part_claim(ikt_context *ctx, const char *part) {
    ikt_part_lock *own = find_own(ctx, part);
    if (!own) return;
    unlink(part);
    own->is_claim = true;
}

/* --- ending ----------------------------------------------------------------------------------- */

void ikt_part_release(ikt_context *ctx, const char *part) {
    char lock[IKT_PATH_MAX];
    for (ikt_part_lock **at = &ctx->part_locks; *at; at = &(*at)->next) {
        ikt_part_lock *found = *at;
        if (strcmp(found->part, part) != 0) continue;
        if (name_lock(part, lock)) unlink(lock);
        close(found->file);
        *at = found->next;
        ikt_free(&found);
        return;
    }
}

void ikt_part_unclaim(ikt_context **ctx) {
    for (ikt_part_lock *one = *ctx ? (*ctx)->part_locks : NULL, *next; one; one = next) {
        next = one->next;
        if (one->is_claim) ikt_part_release(*ctx, one->part);
    }
}

void ikt_part_release_all(ikt_context *ctx) {
    while (ctx->part_locks)
        ikt_part_release(ctx, ctx->part_locks->part);
}

void ikt_part_remove(const char *part) {
    char lock[IKT_PATH_MAX];
    struct stat is;
    if (lstat(part, &is) == 0 && S_ISREG(is.st_mode)) { /* a stream stays */
        (void)!truncate(part, 0);
        unlink(part);
    }
    if (name_lock(part, lock)) unlink(lock);
}

/* --- those of others -------------------------------------------------------------------------- */

typedef enum { OWNER_ALIVE, OWNER_GONE, OWNER_UNKNOWN } owner;

/* Whether the file of a lock is of an earlier start of the job that this process is of. */
static bool is_of_earlier_start(const char *lock) {
    char name[START_SIZE], text[START_SIZE + 24] = "";
    int64_t start;
    name_start(name, &start);
    FILE *file = name[0] ? fopen(lock, "r") : NULL;
    if (!file) return false;
    const bool is_read = fgets(text, sizeof text, file) && strchr(text, '\n');
    fclose(file);
    return is_read && strncmp(text, name, strlen(name)) == 0 &&
           strtoll(text + strlen(name), NULL, 10) < start;
}

static bool is_older(const char *name, int64_t oldest) {
    struct stat is;
    return stat(name, &is) == 0 ? (int64_t)is.st_mtim.tv_sec < oldest : errno == ENOENT;
}

/* LOCAL. Who writes the unfinished file `part`. Where its run is gone, both files are removed while
 * the lock is held: a run that has made the lock's file and not locked it yet then sees that it is
 * gone, and makes another. Of a run of another machine there is the job that it was of, and the
 * time since which nothing was written: `oldest`, of the file system's clock. */
static owner find_owner(const char *part, size_t length, int64_t oldest) {
    char lock[IKT_PATH_MAX];
    if (!name_lock(part, lock)) return OWNER_UNKNOWN;
    if (!is_here(part + length - 2 * DIGITS - 1)) {
        if (!is_of_earlier_start(lock) && !(is_older(part, oldest) && is_older(lock, oldest)))
            return OWNER_UNKNOWN;
        ikt_part_remove(part);
        return OWNER_GONE;
    }
    const int file = open(lock, O_RDWR | O_CLOEXEC);
    if (file < 0 && errno != ENOENT) return OWNER_UNKNOWN;
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) != 0) {
        const bool is_held = errno == EWOULDBLOCK;
        close(file);
        return is_held ? OWNER_ALIVE : OWNER_UNKNOWN;
    }
    ikt_part_remove(part);
    if (file >= 0) close(file);
    return OWNER_GONE;
}

/* What is left of a file that is gone: its lock, where the run was killed before it made the file,
 * and what Open MPI's shared file pointers leave where a rank is killed, "NAME.data.0". */
static bool is_rest(const char *rest) {
    return strcmp(rest, end_of_lock) == 0 || strncmp(rest, ".data.", 6) == 0 ||
           strncmp(rest, ".metadata.", 10) == 0;
}

static void sweep_one(ikt_context *ctx, char *path, size_t length, int64_t oldest, bool of_files,
                      bool *is_written) {
    struct stat is = {.st_size = 0};
    char rest[IKT_PATH_MAX];
    snprintf(rest, sizeof rest, "%s", path);
    path[length] = '\0';
    if (find_own(ctx, path)) return;
    const bool is_file = strlen(rest) == length, is_there = lstat(path, &is) == 0;
    if (is_file != of_files || is_there != is_file) return;
    if (!is_file && !is_rest(rest + length)) return;
    const owner who = find_owner(path, length, oldest);
    if (who == OWNER_GONE && !is_file) unlink(rest);
    if (who == OWNER_ALIVE) *is_written = true;
    if (!is_file) return;
    if (who == OWNER_GONE)
        ikt_log(ctx, IKT_LOG_STAGE,
                "%s, which a run that was killed had left, is removed (%.1f MB)", path,
                (double)is.st_size / 1e6);
    else if (who == OWNER_UNKNOWN)
        ikt_warn(ctx,
                 "%s may be of a run on another machine, and is left as it is: if no run writes it "
                 "any more, remove it",
                 path);
}

/* Of the clock of the file system: that of this machine may be wrong. INT64_MIN: nothing is old. */
static int64_t find_oldest(const ikt_context *ctx, const char *target, int64_t seconds) {
    struct stat is;
    const ikt_part_lock *one = seconds > 0 ? ctx->part_locks : NULL;
    while (one && strcmp(one->target, target) != 0)
        one = one->next;
    return one && fstat(one->file, &is) == 0 ? (int64_t)is.st_mtim.tv_sec - seconds : INT64_MIN;
}

void ikt_part_sweep(ikt_context *ctx, const char *target, int64_t seconds, bool *is_written) {
    const char *slash = strrchr(target, '/'), *last = slash ? slash + 1 : target;
    const int before = (int)(last - target);
    const int64_t oldest = find_oldest(ctx, target, seconds);
    char folder[IKT_PATH_MAX], path[2 * IKT_PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", before, target);
    DIR *entries = opendir(before > 0 ? folder : ".");
    *is_written = false;
    if (!entries) return;
    for (int pass = 0; pass < 2; pass++, rewinddir(entries)) /* files, and what is left of them */
        for (struct dirent *entry; (entry = readdir(entries));) {
            const size_t length = ikt_part_length(entry->d_name, last);
            if (length == 0) continue;
            snprintf(path, sizeof path, "%s%s", folder, entry->d_name);
            if (strlen(path) < IKT_PATH_MAX)
                sweep_one(ctx, path, (size_t)before + length, oldest, pass == 0, is_written);
        }
    closedir(entries);
}
