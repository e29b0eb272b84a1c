/* The log on rank 0's stderr. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/context.h"
#include "base/timer.h"

static const double bar_interval = 0.1, line_interval = 5.0; /* seconds */

void ikt_log(const ikt_context *ctx, ikt_log_level level, const char *format, ...) {
    if (ctx->rank != 0 || level > ctx->level) return;
    char line[1200];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0) return;
    const char *mark = level == IKT_LOG_ERROR  ? "error: "
                       : level == IKT_LOG_WARN ? "warning: "
                                               : "";
    fprintf(stderr, "%siktsne: %s%s\n", ctx->bar_open && ctx->terminal ? "\r\033[K" : "", mark,
            line);
}

static void text_of_seconds(double seconds, char *text, size_t size) {
    if (seconds < 120)
        snprintf(text, size, "%.0f s", seconds);
    else if (seconds < 7200)
        snprintf(text, size, "%.0f min", seconds / 60);
    else
        snprintf(text, size, "%.1f h", seconds / 3600);
}

static void draw_bar(const char *unit, int64_t done, int64_t total, double rate, const char *left,
                     const char *extra) {
    char bar[31];
    int filled = total > 0 ? (int)(30 * done / total) : 30;
    for (int i = 0; i < 30; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[30] = '\0';
    fprintf(stderr, "\r\033[K  [%s] %lld/%lld %s, %.3g/s, %s left %s", bar, (long long)done,
            (long long)total, unit, rate, left, extra);
    if (done >= total) fprintf(stderr, "\r\033[K"); /* the stage's own line follows */
    fflush(stderr);
}

void ikt_progress(ikt_context *ctx, const char *unit, int64_t done, int64_t total,
                  const char *extra) {
    if (ctx->rank != 0 || ctx->level < IKT_LOG_STAGE) return;
    double now = ikt_now();
    if (!ctx->bar_open) { /* a new piece of work: the clock starts at its first report */
        ctx->progress_start = ctx->progress_last = now;
        ctx->progress_first = done;
    }
    ctx->bar_open = done < total;
    double interval = ctx->terminal ? bar_interval : line_interval;
    int quiet_end = done >= total && !ctx->terminal;
    if (quiet_end || (now - ctx->progress_last < interval && done < total)) return;
    ctx->progress_last = now;
    double spent = now - ctx->progress_start;
    double rate = spent > 0 ? (double)(done - ctx->progress_first) / spent : 0;
    char left[32] = "?";
    if (rate > 0) text_of_seconds((double)(total - done) / rate, left, sizeof left);
    if (ctx->terminal) {
        draw_bar(unit, done, total, rate, left, extra ? extra : "");
        return;
    }
    fprintf(stderr, "iktsne:   %lld of %lld %s (%.0f %%), %.3g %s/s, %s left%s%s\n",
            (long long)done, (long long)total, unit, 100.0 * (double)done / (double)total, rate,
            unit, left, extra ? ", " : "", extra ? extra : "");
}
