/* What transfers cost on a machine. See plan.h. */
#include <math.h>

#include "plan/task.h"

static const double micro = 1e-6;

ikt_cost ikt_cost_collective(const ikt_machine *m, int ranks, double times, double bytes,
                             double rate, double sent) {
    if (ranks == 1) return (ikt_cost){.collectives = 1};
    const double moved = times * bytes * (ranks - 1) / ranks, doublings = ceil(log2((double)ranks));
    return (ikt_cost){times * doublings * m->latency * micro + moved / (rate * giga), sent, 0, 1};
}

ikt_cost ikt_cost_reduction(const ikt_machine *m, int ranks, double bytes) {
    return ikt_cost_collective(m, ranks, 2, bytes, m->reduction, bytes);
}

ikt_cost ikt_cost_concatenation(const ikt_machine *m, int ranks, double bytes) {
    return ikt_cost_collective(m, ranks, 1, bytes, m->bandwidth, bytes / ranks);
}

ikt_cost ikt_cost_messages(const ikt_machine *m, double messages, double bytes) {
    return (ikt_cost){messages * m->latency * micro + bytes / (m->bandwidth * giga), bytes,
                      messages, 0};
}

void ikt_cost_add(ikt_cost *cost, double times, ikt_cost other) {
    cost->seconds += times * other.seconds;
    cost->bytes_sent += times * other.bytes_sent;
    cost->messages += times * other.messages;
    cost->collectives += times * other.collectives;
}
