/* The queue of a study. */
#define _GNU_SOURCE
#include "study/queue.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/locked_file.h"

static const char stopped[] = "stopped";

/* Blanks separate the fields of the queue. */
static void set_session(char session[IKT_STUDY_SESSION]) {
    const char *array = getenv("SLURM_ARRAY_JOB_ID"), *job = getenv("SLURM_JOB_ID");
    const char *restarts = getenv("SLURM_RESTART_COUNT");
    char host[64] = "host";
    if (array || job) {
        snprintf(session, IKT_STUDY_SESSION, "slurm-%.40s-%.20s", array ? array : job,
                 restarts ? restarts : "0");
    } else {
        if (gethostname(host, sizeof host - 1) != 0) snprintf(host, sizeof host, "host");
        snprintf(session, IKT_STUDY_SESSION, "%.60s-%ld-%lld", host, (long)getpid(),
                 (long long)time(NULL));
    }
    for (char *c = session; *c; c++)
        if (*c == ' ' || *c == '\n') *c = '-';
}

void ikt_study_session(ikt_context *ctx, char session[IKT_STUDY_SESSION]) {
    memset(session, 0, IKT_STUDY_SESSION);
    if (ikt_rank(ctx) == 0) set_session(session);
    ikt_broadcast(ctx, session, IKT_STUDY_SESSION, 0);
}

/* Whether this session has taken the run, and how many others have, without putting it back. */
static bool is_taken(const char *text, const char *session, uint64_t id, int64_t *attempts) {
    char name[IKT_STUDY_SESSION], note[16];
    uint64_t other;
    bool is_ours = false;
    *attempts = 0;
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        /* A line may be cut off: its fields must not be looked for in the next. */
        const int fields = sscanf(line, "%127s %" SCNx64 "%*1[ ]%15s", name, &other, note);
        if (fields < 2 || other != id) continue;
        const bool is_back = fields == 3 && strcmp(note, stopped) == 0;
        if (strcmp(name, session) == 0)
            is_ours = true;
        else
            *attempts += is_back ? -1 : 1;
    }
    return is_ours;
}

ikt_status ikt_study_queue_take(ikt_context *ctx, const ikt_study_plan *plan, const char *output,
                                const char *session, const int64_t *order, int64_t count,
                                int64_t *cursor, ikt_study_claim *out) {
    char path[IKT_STRING_MAX], line[IKT_STUDY_SESSION + 32];
    ikt_locked_file file;
    *out = (ikt_study_claim){-1, 0};
    snprintf(path, sizeof path, "%.1000s/queue", output);
    IKT_TRY(ikt_locked_open(ctx, path, &file));
    while (*cursor < count &&
           is_taken(file.text, session, plan->run[order[*cursor]].id, &out->attempts))
        ++*cursor;
    ikt_status st = IKT_OK;
    if (*cursor < count) {
        out->run = order[(*cursor)++];
        snprintf(line, sizeof line, "%s %016" PRIx64 "\n", session, plan->run[out->run].id);
        st = ikt_locked_append(&file, line);
    }
    ikt_locked_close(&file);
    return st;
}

ikt_status ikt_study_queue_put_back(ikt_context *ctx, const ikt_study_plan *plan,
                                    const char *output, const char *session, int64_t run) {
    char path[IKT_STRING_MAX], line[IKT_STUDY_SESSION + 32];
    ikt_locked_file file;
    snprintf(path, sizeof path, "%.1000s/queue", output);
    IKT_TRY(ikt_locked_open(ctx, path, &file));
    snprintf(line, sizeof line, "%s %016" PRIx64 " %s\n", session, plan->run[run].id, stopped);
    ikt_status st = ikt_locked_append(&file, line);
    ikt_locked_close(&file);
    return st;
}
