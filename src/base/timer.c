/* What a run costs. See timer.h. */
#define _POSIX_C_SOURCE 200809L
#include "base/timer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/comm.h"
#include "base/context.h"
#include "base/encoding.h"
#include "base/memory.h"

/* --- stages and their counters ---------------------------------------------------------------- */

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

ikt_stage ikt_stage_next_saved(int stage) {
    while (stage < IKT_STAGE_COUNT && !stages[stage].saved)
        stage++;
    return (ikt_stage)stage;
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

/* What is done for the landmarks is theirs, whatever stage it would be of all rows. */
static bool is_within_landmarks(const ikt_context *ctx, ikt_stage stage) {
    return stage != IKT_STAGE_LANDMARKS && ikt_stage_is_open(ctx, IKT_STAGE_LANDMARKS);
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
    /* A line for the stages of the first depth. Off JSON short ones are not worth it. */
    const bool has_line = ctx->stage_count[stage] == 1 && (seconds >= 0.1 || ctx->is_json);
    const ikt_log_level level = has_line ? IKT_LOG_STAGE : IKT_LOG_DETAIL;
    if (ikt_stage_depth(stage) == 1 && ctx->status == IKT_OK && ctx->rank == 0 &&
        level <= ctx->level) {
        char message[64];
        snprintf(message, sizeof message, "%s: %.1f s", ikt_stage_name(stage), seconds);
        ikt_log_line(ctx, level, IKT_LOG_NUMBERS(IKT_LOG_REAL("seconds", seconds)), message);
    }
    for (int s = ctx->stages_open - 1; s >= 0; s--)
        if (ctx->stage_open[s] == stage) {
            ctx->stages_open = s;
            return;
        }
}

void ikt_stage_collect(ikt_context *ctx, ikt_stage_times *times) {
    double own[IKT_STAGE_COUNT], least[IKT_STAGE_COUNT], most[IKT_STAGE_COUNT];
    int64_t nanoseconds[IKT_STAGE_COUNT], slowest[IKT_STAGE_COUNT], count[IKT_STAGE_COUNT];
    for (int s = 0; s < IKT_STAGE_COUNT; s++) {
        own[s] = least[s] = most[s] = ikt_stage_seconds(ctx, (ikt_stage)s);
        nanoseconds[s] = (int64_t)(own[s] * 1e9);
        count[s] = ctx->stage_count[s];
    }
    ikt_min_f64(ctx, least, IKT_STAGE_COUNT);
    ikt_max_f64(ctx, most, IKT_STAGE_COUNT);
    ikt_sum_i64(ctx, nanoseconds, IKT_STAGE_COUNT);
    for (int s = 0; s < IKT_STAGE_COUNT; s++)
        slowest[s] = own[s] >= most[s] ? ctx->rank : ctx->size;
    ikt_min_i64(ctx, slowest, IKT_STAGE_COUNT);
    ikt_broadcast(ctx, count, (int64_t)sizeof count, 0);
    for (int s = 0; s < IKT_STAGE_COUNT; s++)
        times[s] = (ikt_stage_times){least[s], 1e-9 * (double)nanoseconds[s] / ctx->size, most[s],
                                     (int)slowest[s], count[s]};
}

static void collect_waits(ikt_context *ctx, ikt_traffic *traffic) {
    int64_t nanoseconds[IKT_STAGE_COUNT];
    double seconds[2][IKT_STAGE_COUNT];
    for (int s = 0; s < IKT_STAGE_COUNT; s++) {
        seconds[0][s] = ikt_wait_seconds(ctx, (ikt_stage)s);
        seconds[1][s] = ikt_wait_longest(ctx, (ikt_stage)s);
        nanoseconds[s] = (int64_t)(seconds[0][s] * 1e9);
    }
    ikt_sum_i64(ctx, nanoseconds, IKT_STAGE_COUNT);
    ikt_max_f64(ctx, seconds[0], 2 * IKT_STAGE_COUNT);
    for (int s = 0; s < IKT_STAGE_COUNT; s++) {
        traffic[s].wait_mean = 1e-9 * (double)nanoseconds[s] / ctx->size;
        traffic[s].wait_most = seconds[0][s];
        traffic[s].wait_longest = seconds[1][s];
    }
}

void ikt_traffic_collect(ikt_context *ctx, ikt_traffic *traffic) {
    enum { COUNTERS = IKT_STAGE_COUNT * IKT_TRAFFIC_KINDS };
    int64_t least[COUNTERS], most[COUNTERS], sum[COUNTERS];
    for (int c = 0; c < COUNTERS; c++)
        sum[c] = ikt_traffic_count(ctx, (ikt_stage)(c / IKT_TRAFFIC_KINDS),
                                   (ikt_traffic_kind)(c % IKT_TRAFFIC_KINDS));
    memcpy(least, sum, sizeof sum);
    memcpy(most, sum, sizeof sum);
    ikt_min_i64(ctx, least, COUNTERS);
    ikt_max_i64(ctx, most, COUNTERS);
    ikt_sum_i64(ctx, sum, COUNTERS);
    for (int c = 0; c < COUNTERS; c++)
        traffic[c / IKT_TRAFFIC_KINDS].of[c % IKT_TRAFFIC_KINDS] =
            (ikt_traffic_range){least[c], most[c], (double)sum[c] / ctx->size};
    collect_waits(ctx, traffic);
}

void ikt_memory_peaks_collect(ikt_context *ctx, ikt_memory_peaks *out) {
    const int64_t mine = ikt_memory_resident_peak();
    memset(out, 0, sizeof *out);
    out->accounted = ctx->memory_peak;
    out->stage = ctx->memory_peak_stage;
    for (int p = 0; p < ctx->purposes; p++) { /* insertion among the largest that are there */
        const int64_t bytes = ctx->purpose[p].at_peak;
        int at = out->n_largest;
        while (at > 0 && out->largest[at - 1].bytes < bytes)
            at--;
        if (bytes <= 0 || at == IKT_PEAK_PURPOSES) continue;
        if (out->n_largest < IKT_PEAK_PURPOSES) out->n_largest++;
        for (int i = out->n_largest - 1; i > at; i--)
            out->largest[i] = out->largest[i - 1];
        snprintf(out->largest[at].name, IKT_PURPOSE_NAME, "%s", ctx->purpose[p].name);
        out->largest[at].bytes = bytes;
    }
    int64_t range[2] = {mine, -mine}, rank = ctx->size;
    ikt_min_i64(ctx, range, 2);
    if (mine == -range[1]) rank = ctx->rank;
    ikt_min_i64(ctx, &rank, 1);
    ikt_broadcast(ctx, out, (int64_t)sizeof *out, (int)rank);
    out->least = range[0];
    out->most = -range[1];
    out->rank = (int)rank;
    out->all = ikt_sum_one(ctx, mine);
    if (ctx->size > IKT_PEAK_RANKS) return;
    out->ranks = ctx->size;
    out->of_rank[ctx->rank] = mine;
    ikt_sum_i64(ctx, out->of_rank, ctx->size);
}

void ikt_memory_peaks_describe(const ikt_memory_peaks *peaks, char *text, size_t size) {
    text[0] = '\0';
    for (int i = 0; i < peaks->n_largest; i++) {
        const ikt_peak_purpose *p = &peaks->largest[i];
        ikt_join(text, size, ", ", "%s %.1f MB (%.0f %%)", p->name, (double)p->bytes / 1e6,
                 100 * (double)p->bytes / (double)peaks->accounted);
    }
}
