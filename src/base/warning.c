/* Warnings that a rank keeps until the ranks next agree.
 *
 * Method: the lowest rank that has a new text gives it to all; the ranks that have it, too, say so
 * and call it printed; and so on until none has any. Nothing grows with the number of ranks but the
 * number of different texts. */
#include "base/warning.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/context.h"
#include "base/log_line.h"

static int find(const ikt_warnings *w, const char *text) {
    for (int i = 0; i < w->count; i++)
        if (strcmp(w->text[i], text) == 0) return i;
    return -1;
}

static int first_new(const ikt_warnings *w) {
    for (int i = 0; i < w->count; i++)
        if (w->is_new[i]) return i;
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
    if (length < 0 || find(w, text) >= 0 || w->count == IKT_WARNINGS_MAX) return;
    if (w->count == IKT_WARNINGS_MAX - 1)
        snprintf(text, sizeof text, "there were more warnings, which are not shown");
    strcpy(w->text[w->count], text);
    w->is_new[w->count++] = true;
}

int64_t ikt_warnings_rank(const ikt_context *ctx) {
    return first_new(&ctx->warnings) >= 0 ? ctx->rank : ctx->size;
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

static void print(const ikt_context *ctx, const char *text, int64_t count, int64_t first,
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

void ikt_warnings_merge(ikt_context *ctx, int64_t lowest) {
    ikt_warnings *w = &ctx->warnings;
    while (lowest < ctx->size) {
        char text[IKT_WARNING_MAX] = "";
        if (ctx->rank == lowest) strcpy(text, w->text[first_new(w)]);
        ikt_broadcast(ctx, text, (int64_t)sizeof text, (int)lowest);
        const int mine = find(w, text);
        const bool has = mine >= 0 && w->is_new[mine];
        if (has) w->is_new[mine] = false;
        int64_t count = has;
        int64_t least[3] = {has ? ctx->rank : ctx->size, has ? -ctx->rank : 0,
                            ikt_warnings_rank(ctx)};
        ikt_sum_i64(ctx, &count, 1);
        ikt_min_i64(ctx, least, 3);
        if (ctx->rank == 0 && ctx->level >= IKT_LOG_WARN)
            print(ctx, text, count, least[0], -least[1]);
        lowest = least[2];
    }
}

void ikt_warnings_print(const ikt_context *ctx) {
    const ikt_warnings *w = &ctx->warnings;
    for (int i = 0; i < w->count; i++)
        if (w->is_new[i] && ctx->level >= IKT_LOG_WARN)
            print(ctx, w->text[i], 1, ctx->rank, ctx->rank);
}
