/* How long a run may take. See time_limit.h. */
#define _GNU_SOURCE
#include "settings/time_limit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/log.h"

/* Numbers between colons, at most three. Returns how many, 0 where the text is not of that form. */
static int read_fields(const char *text, double field[3]) {
    int count = 0;
    for (;;) {
        const size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits > 9 || count == 3) return 0;
        field[count++] = (double)strtol(text, NULL, 10);
        text += digits;
        if (*text == '\0') return count;
        if (*text++ != ':') return 0;
    }
}

bool ikt_time_parse(const char *text, double *seconds) {
    static const double minutes_first[3][3] = {{60, 0, 0}, {60, 1, 0}, {3600, 60, 1}};
    static const double hours_first[3] = {3600, 60, 1};
    const char *dash = strchr(text, '-');
    double field[3] = {0, 0, 0}, days = 0;
    if (dash) {
        const size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits > 6 || text + digits != dash) return false;
        days = (double)strtol(text, NULL, 10);
        text = dash + 1;
    }
    const int count = read_fields(text, field);
    if (count == 0) return false;
    const double *unit = dash ? hours_first : minutes_first[count - 1];
    *seconds = 86400 * days;
    for (int i = 0; i < count; i++)
        *seconds += unit[i] * field[i];
    return true;
}

/* Asks Slurm for the time that is left; false where it does not say. */
static bool ask_slurm(const char *job, double *seconds) {
    char command[128], answer[64] = "";
    if (strlen(job) > 32 || job[strspn(job, "0123456789_")] != '\0') return false;
    snprintf(command, sizeof command, "squeue -h -j %s -o %%L 2>/dev/null", job);
    FILE *pipe = popen(command, "r");
    if (!pipe) return false;
    const bool is_told = fgets(answer, sizeof answer, pipe) != NULL;
    pclose(pipe);
    answer[strcspn(answer, "\n")] = '\0';
    if (is_told && strcmp(answer, "UNLIMITED") == 0) {
        *seconds = INFINITY;
        return true;
    }
    return is_told && ikt_time_parse(answer, seconds);
}

/* What Slurm calls this job; false outside of one. The number of one task of an array is also that
 * of the whole array, for which Slurm would list all tasks. */
static bool find_job(char *name, size_t size) {
    const char *job = getenv("SLURM_JOB_ID"), *array = getenv("SLURM_ARRAY_JOB_ID"),
               *task = getenv("SLURM_ARRAY_TASK_ID");
    if (!job) return false;
    if (array && task)
        snprintf(name, size, "%s_%s", array, task);
    else
        snprintf(name, size, "%s", job);
    return true;
}

/* LOCAL, rank 0. What Slurm has said is put where newer ones say it themselves: it is asked once,
 * however many runs a study has. */
static double slurm_limit(ikt_context *ctx) {
    const char *end = getenv("SLURM_JOB_END_TIME");
    const double now = (double)time(NULL);
    double seconds = INFINITY;
    char job[64], text[32];
    if (!find_job(job, sizeof job)) return INFINITY;
    if (end) return strtod(end, NULL) > 0 ? strtod(end, NULL) - now : INFINITY;
    if (ikt_cpu_may_fork() && ask_slurm(job, &seconds)) {
        snprintf(text, sizeof text, "%.0f", isfinite(seconds) ? now + seconds : 0);
        setenv("SLURM_JOB_END_TIME", text, 1);
    } else {
        ikt_log(ctx, IKT_LOG_WARN,
                "Slurm does not say when the job ends: set run.max_time for the run to stop in "
                "time with a checkpoint");
    }
    return seconds;
}

ikt_status ikt_time_limit(ikt_context *ctx, const char *text, double *seconds) {
    *seconds = INFINITY;
    if (strcmp(text, "none") == 0) return IKT_OK;
    if (strcmp(text, "auto") == 0) {
        if (ikt_rank(ctx) == 0) *seconds = slurm_limit(ctx);
        ikt_broadcast(ctx, seconds, (int64_t)sizeof *seconds, 0);
    } else if (!ikt_time_parse(text, seconds)) {
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "run.max_time: '%.80s' is no time: write minutes, hours:minutes:seconds, "
                        "days-hours, auto or none",
                        text);
    }
    if (isfinite(*seconds))
        ikt_log(ctx, IKT_LOG_DETAIL, "%.0f seconds are left for the run", *seconds);
    return IKT_OK;
}
