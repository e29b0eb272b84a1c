/* The log on rank 0's stderr. */
#define _POSIX_C_SOURCE 200809L
#include "base/log.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/context.h"
#include "base/encoding.h"
#include "base/watch.h"

static const double bar_interval = 0.1, line_interval = 5.0; /* seconds */

/* --- one line --------------------------------------------------------------------------------- */

/* Text is one line, whatever the names and values that the message quotes hold. */
void ikt_log_line(const ikt_context *ctx, ikt_log_level level, const ikt_log_number *number,
                  char *message) {
    static const char *const names[] = {"error", "warning", "stage", "detail", "debug"};
    const char *mark = level == IKT_LOG_ERROR  ? "error: "
                       : level == IKT_LOG_WARN ? "warning: "
                                               : "";
    const ikt_stage stage = ikt_stage_current(ctx);
    char *text = NULL, time[32] = "";
    size_t size = 0;
    struct timespec now;
    struct tm parts;
    if (ctx->watcher && ctx->watcher->log) {
        ikt_make_printable(message);
        ctx->watcher->log(ctx->watcher->self, level, message);
        return;
    }
    if (!ctx->is_json) {
        ikt_make_printable(message);
        fprintf(stderr, "%siktsne: %s%s\n", ctx->bar_open && ctx->terminal ? "\r\033[K" : "", mark,
                message);
        return;
    }
    FILE *line = open_memstream(&text, &size); /* so that lines of several processes do not mix */
    if (!line) return;
    clock_gettime(CLOCK_REALTIME, &now);
    if (gmtime_r(&now.tv_sec, &parts)) strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%S", &parts);
    fprintf(line, "{\"time\": \"%s.%03dZ\", \"level\": \"%s\", \"stage\": ", time,
            (int)(now.tv_nsec / 1000000), names[level]);
    if (stage != IKT_STAGE_TOTAL)
        ikt_quote(line, ikt_stage_name(stage));
    else
        fputs("null", line);
    fputs(", \"message\": ", line);
    ikt_quote(line, message);
    for (; number && number->name; number++) {
        fprintf(line, ", \"%s\": ", number->name);
        if (!number->is_real)
            fprintf(line, "%lld", (long long)number->integer);
        else if (isfinite(number->real))
            fprintf(line, "%.9g", number->real);
        else
            fputs("null", line);
    }
    fputs("}\n", line);
    if (fclose(line) == 0) fwrite(text, 1, size, stderr);
    free(text);
}

/* --- what is logged --------------------------------------------------------------------------- */

bool ikt_log_is_json(const ikt_context *ctx) {
    return ctx->is_json;
}

bool ikt_log_is_verbose(const ikt_context *ctx) {
    return ctx->level >= IKT_LOG_DETAIL;
}

bool ikt_log_is_quiet(const ikt_context *ctx) {
    return ctx->level < IKT_LOG_STAGE;
}

ikt_log_level ikt_log_record(const ikt_context *ctx) {
    return ctx->is_json ? IKT_LOG_STAGE : IKT_LOG_DETAIL;
}

void ikt_log_numbers(const ikt_context *ctx, ikt_log_level level, const ikt_log_number *numbers,
                     const char *format, ...) {
    char message[IKT_MESSAGE_MAX];
    if (level == IKT_LOG_STAGE && ikt_stage_is_open(ctx, IKT_STAGE_LANDMARKS))
        level = IKT_LOG_DETAIL;
    if (ctx->rank != 0 || level > ctx->level) return;
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (length >= 0) ikt_log_line(ctx, level, numbers, message);
}

/* --- warnings of single ranks ----------------------------------------------------------------- */

int ikt_warning_find(const ikt_warnings *w, const char *text) {
    for (int i = 0; i < w->count; i++)
        if (strcmp(w->text[i], text) == 0) return i;
    return -1;
}

/* The last place of a full table says that there was more. */
void ikt_warn(ikt_context *ctx, const char *format, ...) {
    ikt_warnings *w = &ctx->warnings;
    char text[IKT_WARNING_MAX];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || ikt_warning_find(w, text) >= 0 || w->count == IKT_WARNINGS_MAX) return;
    if (w->count == IKT_WARNINGS_MAX - 1)
        snprintf(text, sizeof text, "there were more warnings, which are not shown");
    strcpy(w->text[w->count], text);
    w->is_new[w->count++] = true;
}

void ikt_warning_print(const ikt_context *ctx, const char *text, int64_t count, int64_t first,
                       int64_t last) {
    char ranks[96] = "", message[IKT_WARNING_MAX + sizeof ranks]; /* " (on ranks 2 to 5)" */
    const ikt_log_number numbers[] = {IKT_LOG_INT("ranks", count),
                                      IKT_LOG_INT("first_rank", first),
                                      IKT_LOG_INT("last_rank", last),
                                      {0}};
    if (ctx->size > 1 && count == 1)
        snprintf(ranks, sizeof ranks, " (on rank %lld)", (long long)first);
    else if (ctx->size > 1 && count == ctx->size)
        snprintf(ranks, sizeof ranks, " (on all %d ranks)", ctx->size);
    else if (ctx->size > 1 && count == last - first + 1)
        snprintf(ranks, sizeof ranks, " (on ranks %lld to %lld)", (long long)first,
                 (long long)last);
    else if (ctx->size > 1)
        snprintf(ranks, sizeof ranks, " (on %lld of %d ranks, from %lld to %lld)", (long long)count,
                 ctx->size, (long long)first, (long long)last);
    snprintf(message, sizeof message, "%s%s", text, ranks);
    ikt_log_line(ctx, IKT_LOG_WARN, numbers, message);
}

void ikt_warnings_print(const ikt_context *ctx) {
    const ikt_warnings *w = &ctx->warnings;
    for (int i = 0; i < w->count; i++)
        if (w->is_new[i] && ctx->level >= IKT_LOG_WARN)
            ikt_warning_print(ctx, w->text[i], 1, ctx->rank, ctx->rank);
}

/* --- progress --------------------------------------------------------------------------------- */

void ikt_progress(ikt_context *ctx, const char *unit, int64_t done, int64_t total,
                  const char *extra) {
    ikt_watcher_progress(ctx, unit, done, total);
    if (ctx->rank != 0 || ctx->level < IKT_LOG_STAGE || (ctx->watcher && ctx->watcher->log)) return;
    const double now = ikt_now();
    if (!ctx->bar_open) { /* a new piece of work: the clock starts at its first report */
        ctx->progress_start = ctx->progress_last = now;
        ctx->progress_first = done;
    }
    ctx->bar_open = done < total;
    const double interval = ctx->terminal ? bar_interval : line_interval;
    if (done >= total && !ctx->terminal) return; /* the end is the stage's own line */
    if (now - ctx->progress_last < interval && done < total) return;
    ctx->progress_last = now;
    const double spent = now - ctx->progress_start;
    const double rate = spent > 0 ? (double)(done - ctx->progress_first) / spent : 0;
    const double seconds = rate > 0 ? (double)(total - done) / rate : NAN;
    char left[32] = "?", message[256];
    if (seconds < 120)
        snprintf(left, sizeof left, "%.0f s", seconds);
    else if (seconds < 7200)
        snprintf(left, sizeof left, "%.0f min", seconds / 60);
    else if (seconds >= 7200)
        snprintf(left, sizeof left, "%.1f h", seconds / 3600);
    if (!extra) extra = "";
    if (ctx->terminal) {
        char bar[31] = "";
        const int filled = total > 0 ? (int)(30 * done / total) : 30;
        for (int i = 0; i < 30; i++)
            bar[i] = i < filled ? '#' : '.';
        fprintf(stderr, "\r\033[K  [%s] %lld/%lld %s, %.3g/s, %s left %s", bar, (long long)done,
                (long long)total, unit, rate, left, extra);
        if (done >= total) fprintf(stderr, "\r\033[K"); /* the stage's own line follows */
        fflush(stderr);
        return;
    }
    const ikt_log_number numbers[] = {IKT_LOG_INT("done", done),
                                      IKT_LOG_INT("total", total),
                                      IKT_LOG_REAL("rate", rate),
                                      IKT_LOG_REAL("seconds_left", seconds),
                                      {0}};
    snprintf(message, sizeof message, "%s%lld of %lld %s (%.0f %%), %.3g %s/s, %s left%s%s",
             ctx->is_json ? "" : "  ", (long long)done, (long long)total, unit,
             100.0 * (double)done / (double)total, rate, unit, left, extra[0] ? ", " : "", extra);
    ikt_log_line(ctx, IKT_LOG_STAGE, numbers, message);
}
