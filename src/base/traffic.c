/* Counters of communication. See traffic.h. */
#include "base/traffic.h"

#include "base/context.h"

static int64_t *counters_here(ikt_context *ctx) {
    return ctx->traffic[ikt_stage_innermost(ctx)];
}

void ikt_traffic_collective(ikt_context *ctx, int64_t sent, int64_t received) {
    int64_t *counter = counters_here(ctx);
    counter[IKT_TRAFFIC_COLLECTIVES]++;
    if (ctx->size == 1) return;
    counter[IKT_TRAFFIC_BYTES_SENT] += sent;
    counter[IKT_TRAFFIC_BYTES_RECEIVED] += received;
}

void ikt_traffic_messages(ikt_context *ctx, int64_t sent, int64_t bytes_sent, int64_t received,
                          int64_t bytes_received) {
    int64_t *counter = counters_here(ctx);
    counter[IKT_TRAFFIC_MESSAGES_SENT] += sent;
    counter[IKT_TRAFFIC_BYTES_SENT] += bytes_sent;
    counter[IKT_TRAFFIC_MESSAGES_RECEIVED] += received;
    counter[IKT_TRAFFIC_BYTES_RECEIVED] += bytes_received;
}

int64_t ikt_traffic_count(const ikt_context *ctx, ikt_stage stage, ikt_traffic_kind kind) {
    /* Stages are numbered so that those below one follow it. */
    int64_t sum = ctx->traffic[stage][kind];
    int depth = ikt_stage_depth(stage);
    for (int s = (int)stage + 1; s < IKT_STAGE_COUNT && ikt_stage_depth((ikt_stage)s) > depth; s++)
        sum += ctx->traffic[s][kind];
    return sum;
}

const char *ikt_traffic_name(ikt_traffic_kind kind) {
    static const char *const names[IKT_TRAFFIC_KINDS] = {
        "bytes_sent", "bytes_received", "messages_sent", "messages_received", "collective_calls"};
    return names[kind];
}
