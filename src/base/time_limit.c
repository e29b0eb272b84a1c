/* The time that a run may take. See time_limit.h. */
#define _GNU_SOURCE
#include "base/time_limit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cpu.h"
#include "base/log.h"

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
    int count = 0; /* numbers between colons, at most three */
    for (;; text++) {
        const size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits > 9 || count == 3) return false;
        field[count++] = (double)strtol(text, NULL, 10);
        text += digits;
        if (*text == '\0') break;
        if (*text != ':') return false;
    }
    const double *unit = dash ? hours_first : minutes_first[count - 1];
    *seconds = 86400 * days;
    for (int i = 0; i < count; i++)
        *seconds += unit[i] * field[i];
    return true;
}

/* Asks Slurm for the time that is left; false where it does not say, or not soon. */
static bool ask_slurm(const char *job, double *seconds) {
    char command[128], answer[64] = "";
    if (strlen(job) > 32 || job[strspn(job, "0123456789_")] != '\0') return false;
    snprintf(command, sizeof command, "timeout 20 squeue -h -j %s -o %%L 2>/dev/null", job);
    FILE *pipe = popen(command, "r");
    if (!pipe) return false;
    const bool has_answered = fgets(answer, sizeof answer, pipe) != NULL;
    pclose(pipe);
    answer[strcspn(answer, "\n")] = '\0';
    *seconds = INFINITY;
    return has_answered && (strcmp(answer, "UNLIMITED") == 0 || ikt_time_parse(answer, seconds));
}

/* What Slurm has said is put where newer ones say it themselves: it is asked once, however many
 * runs a study has. */
double ikt_slurm_time_left(ikt_context *ctx, bool may_ask) {
    const char *id = getenv("SLURM_JOB_ID"), *end = getenv("SLURM_JOB_END_TIME");
    const char *array = getenv("SLURM_ARRAY_JOB_ID"), *index = getenv("SLURM_ARRAY_TASK_ID");
    const double now = (double)time(NULL);
    double seconds = INFINITY;
    char job[64], text[32];
    if (!id) return INFINITY;
    if (end) return strtod(end, NULL) > 0 ? strtod(end, NULL) - now : INFINITY;
    /* The number of one task of an array is also that of the whole array, for which Slurm would
     * list all tasks. */
    const bool is_task = array && index;
    snprintf(job, sizeof job, "%s%s%s", is_task ? array : id, is_task ? "_" : "",
             is_task ? index : "");
    if (!may_ask || !ikt_cpu_may_fork() || !ask_slurm(job, &seconds)) {
        ikt_log(ctx, IKT_LOG_WARN,
                "Slurm does not say when the job ends: set run.max_time for the run to stop in "
                "time with a checkpoint");
        return INFINITY;
    }
    snprintf(text, sizeof text, "%.0f", isfinite(seconds) ? now + seconds : 0);
    setenv("SLURM_JOB_END_TIME", text, 1);
    return seconds;
}
