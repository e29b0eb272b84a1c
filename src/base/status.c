/* Failing with a message, and agreeing on an outcome.
 *
 * Agreement is one MIN-reduction of "lowest failing rank" and "lowest rank with a warning"; only
 * when there is one does a second step bring what it has to say, so success costs one small
 * allreduce.
 *
 * Warnings: the lowest rank that has a new text gives it to all; the ranks that have it, too, say
 * so and call it printed; and so on until none has any. The cost grows with the number of different
 * texts only. */
#define _POSIX_C_SOURCE 200809L
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/context.h"
#include "base/encoding.h"
#include "base/part_file.h"

ikt_status ikt_fail(ikt_context *ctx, ikt_status status, const char *format, ...) {
    if (ctx->status != IKT_OK) return ctx->status; /* the first message tells the cause */
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(ctx->message, sizeof ctx->message, format, arguments);
    va_end(arguments);
    if (length < 0) snprintf(ctx->message, sizeof ctx->message, "(message cannot be formatted)");
    ikt_make_printable(ctx->message); /* messages quote files */
    ctx->status = status;
    return status;
}

/* COLLECTIVE. Status and message of the rank `lowest`, on every rank. */
static ikt_status share_verdict(ikt_context *ctx, ikt_status local, int64_t lowest) {
    int64_t status = (int64_t)local;
    ikt_broadcast(ctx, &status, (int64_t)sizeof status, (int)lowest);
    ikt_broadcast(ctx, ctx->message, (int64_t)sizeof ctx->message, (int)lowest);
    ctx->status = (ikt_status)status;
    return ctx->status;
}

/* The first warning of this rank that is not printed yet; -1: none. */
static int first_new(const ikt_warnings *w) {
    for (int i = 0; i < w->count; i++)
        if (w->is_new[i]) return i;
    return -1;
}

/* COLLECTIVE. Rank 0 prints what is new on any rank, each text once with the ranks that gave it.
 *   lowest   rank that has something new; the number of ranks: none */
static void merge_warnings(ikt_context *ctx, int64_t lowest) {
    ikt_warnings *w = &ctx->warnings;
    while (lowest < ctx->size) {
        char text[IKT_WARNING_MAX] = "";
        if (ctx->rank == lowest) strcpy(text, w->text[first_new(w)]);
        ikt_broadcast(ctx, text, (int64_t)sizeof text, (int)lowest);
        const int mine = ikt_warning_find(w, text);
        const bool has = mine >= 0 && w->is_new[mine];
        if (has) w->is_new[mine] = false;
        int64_t count = has;
        int64_t least[3] = {has ? ctx->rank : ctx->size, has ? -ctx->rank : 0,
                            first_new(w) >= 0 ? ctx->rank : ctx->size};
        ikt_sum_i64(ctx, &count, 1);
        ikt_min_i64(ctx, least, 3);
        if (ctx->rank == 0 && ctx->level >= IKT_LOG_WARN)
            ikt_warning_print(ctx, text, count, least[0], -least[1]);
        lowest = least[2];
    }
}

ikt_status ikt_agree(ikt_context *ctx, ikt_status local) {
    int64_t lowest[2] = {local == IKT_OK ? ctx->size : ctx->rank,
                         first_new(&ctx->warnings) >= 0 ? ctx->rank : ctx->size};
    ikt_min_i64(ctx, lowest, 2);
    merge_warnings(ctx, lowest[1]);
    return lowest[0] == ctx->size ? IKT_OK : share_verdict(ctx, local, lowest[0]);
}

/* Of several that failed the first to lose patience should be alone to speak. */
static const double patience = 10, patience_step = 0.1; /* seconds */

ikt_status ikt_agree_file(ikt_context *ctx, ikt_status local, const char *unfinished) {
    int64_t lowest = local == IKT_OK ? ctx->size : ctx->rank;
    if (!ikt_min_soon(ctx, &lowest, local == IKT_OK ? 0 : patience + patience_step * ctx->rank)) {
        ikt_part_remove(unfinished);
        ikt_abort_alone(ctx);
    }
    return lowest == ctx->size ? IKT_OK : share_verdict(ctx, local, lowest);
}
