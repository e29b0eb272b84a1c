/* Named stages on the monotonic clock. */
#define _POSIX_C_SOURCE 200809L
#include "base/timer.h"

#include <stdio.h>
#include <time.h>

#include "base/context.h"

#define STAGE_ROW(id, name, depth, saved) [IKT_STAGE_##id] = {name, saved, depth},
static const struct {
    const char *name, *saved;
    int depth;
} stages[IKT_STAGE_COUNT] = {IKT_STAGE_TABLE(STAGE_ROW)};
#undef STAGE_ROW

double ikt_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
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

/* What is done for the landmarks is theirs, whatever stage it would be of all rows. */
static bool is_within_landmarks(const ikt_context *ctx, ikt_stage stage) {
    return stage != IKT_STAGE_LANDMARKS && ikt_stage_is_open(ctx, IKT_STAGE_LANDMARKS);
}

/* A line for the stages of the first depth. Off JSON short ones are not worth it. */
static void log_end(const ikt_context *ctx, ikt_stage stage, double seconds) {
    if (stages[stage].depth != 1 || ctx->status != IKT_OK) return;
    const bool is_first = ctx->stage_count[stage] == 1, is_long = seconds >= 0.1;
    const ikt_log_level level =
        is_first && (is_long || ctx->is_json) ? IKT_LOG_STAGE : IKT_LOG_DETAIL;
    if (ctx->rank != 0 || level > ctx->level) return;
    char message[64];
    snprintf(message, sizeof message, "%s: %.1f s", stages[stage].name, seconds);
    ikt_log_line(ctx, level, (ikt_log_number[]){IKT_LOG_REAL("seconds", seconds), {0}}, message);
}

void ikt_stage_begin(ikt_context *ctx, ikt_stage stage) {
    if (is_within_landmarks(ctx, stage)) return;
    ctx->stage_begun[stage] = ikt_now();
    ctx->stage_count[stage]++;
    if (ctx->stages_open < IKT_STAGES_OPEN_MAX) ctx->stage_open[ctx->stages_open++] = stage;
}

void ikt_stage_end(ikt_context *ctx, ikt_stage stage) {
    if (is_within_landmarks(ctx, stage)) return;
    const double seconds = ikt_now() - ctx->stage_begun[stage];
    ctx->stage_seconds[stage] += seconds;
    log_end(ctx, stage, seconds);
    for (int s = ctx->stages_open - 1; s >= 0; s--)
        if (ctx->stage_open[s] == stage) {
            ctx->stages_open = s;
            return;
        }
}

ikt_stage ikt_stage_innermost(const ikt_context *ctx) {
    return ctx->stages_open > 0 ? ctx->stage_open[ctx->stages_open - 1] : IKT_STAGE_TOTAL;
}

double ikt_stage_seconds(const ikt_context *ctx, ikt_stage stage) {
    const double finished = ctx->stage_seconds[stage];
    return ikt_stage_is_open(ctx, stage) ? finished + ikt_now() - ctx->stage_begun[stage]
                                         : finished;
}

const char *ikt_stage_name(ikt_stage stage) {
    return stages[stage].name;
}

const char *ikt_stage_saved(ikt_stage stage) {
    return stages[stage].saved;
}

int ikt_stage_depth(ikt_stage stage) {
    return stages[stage].depth;
}
