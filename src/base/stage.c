/* Stages and their counters. See stage.h. */
#define _POSIX_C_SOURCE 200809L
#include "base/stage.h"

#include <math.h>
#include <time.h>

#include "base/context.h"

#define STAGE_ROW(id, name, depth, saved) [IKT_STAGE_##id] = {name, saved, depth},
static const struct {
    const char *name, *saved;
    int depth;
} stages[IKT_STAGE_COUNT] = {IKT_STAGE_TABLE(STAGE_ROW)};
#undef STAGE_ROW

const char *ikt_stage_name(ikt_stage stage) {
    return stages[stage].name;
}

const char *ikt_stage_saved(ikt_stage stage) {
    return stages[stage].saved;
}

int ikt_stage_depth(ikt_stage stage) {
    return stages[stage].depth;
}

/* Behind the stage and those below it, which follow it in the table. */
static int stage_end(ikt_stage stage) {
    int end = (int)stage + 1;
    while (end < IKT_STAGE_COUNT && stages[end].depth > stages[stage].depth)
        end++;
    return end;
}

bool ikt_stage_is_open(const ikt_context *ctx, ikt_stage stage) {
    for (int s = 0; s < ctx->stages_open; s++)
        if (ctx->stage_open[s] == stage) return true;
    return false;
}

ikt_stage ikt_stage_current(const ikt_context *ctx) {
    for (int s = 0; s < ctx->stages_open; s++)
        if (stages[ctx->stage_open[s]].depth == 1) return ctx->stage_open[s];
    return IKT_STAGE_TOTAL;
}

ikt_stage ikt_stage_innermost(const ikt_context *ctx) {
    return ctx->stages_open > 0 ? ctx->stage_open[ctx->stages_open - 1] : IKT_STAGE_TOTAL;
}

double ikt_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double ikt_stage_seconds(const ikt_context *ctx, ikt_stage stage) {
    const double finished = ctx->stage_seconds[stage];
    return ikt_stage_is_open(ctx, stage) ? finished + ikt_now() - ctx->stage_begun[stage]
                                         : finished;
}

void ikt_traffic_collective(ikt_context *ctx, int64_t sent, int64_t received) {
    int64_t *counter = ctx->traffic[ikt_stage_innermost(ctx)];
    counter[IKT_TRAFFIC_COLLECTIVES]++;
    if (ctx->size == 1) return;
    counter[IKT_TRAFFIC_BYTES_SENT] += sent;
    counter[IKT_TRAFFIC_BYTES_RECEIVED] += received;
}

void ikt_traffic_messages(ikt_context *ctx, int64_t sent, int64_t bytes_sent, int64_t received,
                          int64_t bytes_received) {
    int64_t *counter = ctx->traffic[ikt_stage_innermost(ctx)];
    counter[IKT_TRAFFIC_MESSAGES_SENT] += sent;
    counter[IKT_TRAFFIC_BYTES_SENT] += bytes_sent;
    counter[IKT_TRAFFIC_MESSAGES_RECEIVED] += received;
    counter[IKT_TRAFFIC_BYTES_RECEIVED] += bytes_received;
}

int64_t ikt_traffic_count(const ikt_context *ctx, ikt_stage stage, ikt_traffic_kind kind) {
    int64_t sum = 0;
    for (int s = (int)stage; s < stage_end(stage); s++)
        sum += ctx->traffic[s][kind];
    return sum;
}

void ikt_wait_add(ikt_context *ctx, double seconds) {
    const ikt_stage stage = ikt_stage_innermost(ctx);
    ctx->waited[stage] += seconds;
    ctx->longest_wait[stage] = fmax(ctx->longest_wait[stage], seconds);
}

double ikt_wait_seconds(const ikt_context *ctx, ikt_stage stage) {
    double sum = 0;
    for (int s = (int)stage; s < stage_end(stage); s++)
        sum += ctx->waited[s];
    return sum;
}

double ikt_wait_longest(const ikt_context *ctx, ikt_stage stage) {
    double longest = 0;
    for (int s = (int)stage; s < stage_end(stage); s++)
        longest = fmax(longest, ctx->longest_wait[s]);
    return longest;
}

const char *ikt_traffic_name(ikt_traffic_kind kind) {
    static const char *const names[IKT_TRAFFIC_KINDS] = {
        "bytes_sent", "bytes_received", "messages_sent", "messages_received", "collective_calls"};
    return names[kind];
}
