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
#include "base/timer.h"

static const double bar_interval = 0.1, line_interval = 5.0; /* seconds */

/* --- one line --------------------------------------------------------------------------------- */

static void add_time(FILE *line) {
    struct timespec now;
    struct tm parts;
    char text[32] = "";
    clock_gettime(CLOCK_REALTIME, &now);
    if (gmtime_r(&now.tv_sec, &parts)) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    fprintf(line, "{\"time\": \"%s.%03dZ\"", text, (int)(now.tv_nsec / 1000000));
}

static void add_numbers(FILE *line, const ikt_log_number *number) {
    for (; number && number->name; number++) {
        fprintf(line, ", \"%s\": ", number->name);
        if (!number->is_real)
            fprintf(line, "%lld", (long long)number->integer);
        else if (isfinite(number->real))
            fprintf(line, "%.9g", number->real);
        else
            fputs("null", line);
    }
}

/* Written at once, so that lines of several processes do not mix. */
static void print_json(const ikt_context *ctx, ikt_log_level level, const ikt_log_number *numbers,
                       const char *message) {
    static const char *const names[] = {"error", "warning", "stage", "detail", "debug"};
    char *text = NULL;
    size_t size = 0;
    FILE *line = open_memstream(&text, &size);
    if (!line) return;
    const ikt_stage stage = ikt_stage_current(ctx);
    add_time(line);
    fprintf(line, ", \"level\": \"%s\", \"stage\": ", names[level]);
    if (stage != IKT_STAGE_TOTAL)
        ikt_quote(line, ikt_stage_name(stage));
    else
        fputs("null", line);
    fputs(", \"message\": ", line);
    ikt_quote(line, message);
    add_numbers(line, numbers);
    fputs("}\n", line);
    if (fclose(line) == 0) fwrite(text, 1, size, stderr);
    free(text);
}

/* One line, whatever the names and values that the message quotes hold. */
static void print_text(const ikt_context *ctx, ikt_log_level level, char *message) {
    const char *mark = level == IKT_LOG_ERROR  ? "error: "
                       : level == IKT_LOG_WARN ? "warning: "
                                               : "";
    ikt_make_printable(message);
    fprintf(stderr, "%siktsne: %s%s\n", ctx->bar_open && ctx->terminal ? "\r\033[K" : "", mark,
            message);
}

void ikt_log_line(const ikt_context *ctx, ikt_log_level level, const ikt_log_number *numbers,
                  char *message) {
    if (ctx->is_json)
        print_json(ctx, level, numbers, message);
    else
        print_text(ctx, level, message);
}

/* --- what is logged --------------------------------------------------------------------------- */

bool ikt_log_is_json(const ikt_context *ctx) {
    return ctx->is_json;
}

ikt_log_level ikt_log_record(const ikt_context *ctx) {
    return ctx->is_json ? IKT_LOG_STAGE : IKT_LOG_DETAIL;
}

static bool is_printed(const ikt_context *ctx, ikt_log_level level) {
    if (level == IKT_LOG_STAGE && ikt_stage_is_open(ctx, IKT_STAGE_LANDMARKS))
        level = IKT_LOG_DETAIL;
    return ctx->rank == 0 && level <= ctx->level;
}

static void log_arguments(const ikt_context *ctx, ikt_log_level level,
                          const ikt_log_number *numbers, const char *format, va_list arguments) {
    char message[IKT_MESSAGE_MAX];
    if (vsnprintf(message, sizeof message, format, arguments) >= 0)
        ikt_log_line(ctx, level, numbers, message);
}

void ikt_log(const ikt_context *ctx, ikt_log_level level, const char *format, ...) {
    if (!is_printed(ctx, level)) return;
    va_list arguments;
    va_start(arguments, format);
    log_arguments(ctx, level, NULL, format, arguments);
    va_end(arguments);
}

void ikt_log_numbers(const ikt_context *ctx, ikt_log_level level, const ikt_log_number *numbers,
                     const char *format, ...) {
    if (!is_printed(ctx, level)) return;
    va_list arguments;
    va_start(arguments, format);
    log_arguments(ctx, level, numbers, format, arguments);
    va_end(arguments);
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

/* "(on ranks 2 to 5)"; nothing where there is one rank only. */
static void describe_ranks(const ikt_context *ctx, int64_t count, int64_t first, int64_t last,
                           char *text, size_t size) {
    text[0] = '\0';
    if (ctx->size == 1) return;
    if (count == 1)
        snprintf(text, size, " (on rank %lld)", (long long)first);
    else if (count == ctx->size)
        snprintf(text, size, " (on all %lld ranks)", (long long)count);
    else if (count == last - first + 1)
        snprintf(text, size, " (on ranks %lld to %lld)", (long long)first, (long long)last);
    else
        snprintf(text, size, " (on %lld of %d ranks, from %lld to %lld)", (long long)count,
                 ctx->size, (long long)first, (long long)last);
}

void ikt_warning_print(const ikt_context *ctx, const char *text, int64_t count, int64_t first,
                       int64_t last) {
    char ranks[96], message[IKT_WARNING_MAX + sizeof ranks];
    const ikt_log_number numbers[] = {IKT_LOG_INT("ranks", count),
                                      IKT_LOG_INT("first_rank", first),
                                      IKT_LOG_INT("last_rank", last),
                                      {0}};
    describe_ranks(ctx, count, first, last, ranks, sizeof ranks);
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

static void print_progress(const ikt_context *ctx, const char *unit, int64_t done, int64_t total,
                           double rate, const char *left, const char *extra) {
    char message[256];
    const ikt_log_number numbers[] = {
        IKT_LOG_INT("done", done),
        IKT_LOG_INT("total", total),
        IKT_LOG_REAL("rate", rate),
        IKT_LOG_REAL("seconds_left", rate > 0 ? (double)(total - done) / rate : NAN),
        {0}};
    snprintf(message, sizeof message, "%s%lld of %lld %s (%.0f %%), %.3g %s/s, %s left%s%s",
             ctx->is_json ? "" : "  ", (long long)done, (long long)total, unit,
             100.0 * (double)done / (double)total, rate, unit, left, extra ? ", " : "",
             extra ? extra : "");
    ikt_log_line(ctx, IKT_LOG_STAGE, numbers, message);
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
    if (ctx->terminal)
        draw_bar(unit, done, total, rate, left, extra ? extra : "");
    else
        print_progress(ctx, unit, done, total, rate, left, extra);
}
