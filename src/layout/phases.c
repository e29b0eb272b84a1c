/* The phases of a run. See layout.h. */
#include "layout/layout.h"

#include <math.h>
#include <string.h>

/* KL is compared over a few iterations: it wavers from one to the next while gains adapt. */
enum { CHECK_EVERY = 3, PATIENCE = 3 };

/* Iterations of a phase before its checks count: the velocities of the phase before die out. */
enum { SETTLE = 15 };

/* What an iteration has to take off KL, relative to KL, to count as progress. */
static const double least_rate = 1e-4;

ikt_phases ikt_phases_begin(const ikt_layout_settings *settings) {
    return (ikt_phases){.settings = settings,
                        .is_exaggerated = ikt_layout_objective(settings)->has_exaggeration,
                        .checked = -1};
}

bool ikt_phases_want_value(const ikt_phases *phases, int64_t iteration) {
    return phases->settings->stop == IKT_STOP_AUTO &&
           (iteration - phases->begun) % CHECK_EVERY == 0;
}

/* Whether KL says that the phase is over: exaggeration, once KL has begun to fall and has not
 * fallen faster for some checks; the run, once it has taken too little off for some. */
static bool check(ikt_phases *p, int64_t iteration, double kl) {
    const bool is_first = p->checked < p->begun;
    const double rate =
        is_first ? 0 : (p->kl - kl) / fabs(p->kl) / (double)(iteration - p->checked);
    p->kl = kl;
    p->checked = iteration;
    if (iteration - p->begun < SETTLE) return false;
    if (!p->is_exaggerated) {
        p->misses = rate < least_rate ? p->misses + 1 : 0;
    } else if (rate > p->best_rate) {
        p->best_rate = rate;
        p->misses = 0;
    } else if (p->best_rate >= least_rate) {
        p->misses++;
    }
    return p->misses >= PATIENCE;
}

void ikt_phases_decide(ikt_phases *p, int64_t iteration, double kl) {
    const ikt_layout_settings *s = p->settings;
    const bool is_over = ikt_phases_want_value(p, iteration) && check(p, iteration, kl);
    if (p->is_exaggerated) {
        if (is_over || iteration >= s->exaggeration_iterations) {
            p->is_exaggerated = false;
            p->exaggeration_end = p->begun = iteration;
            p->checked = iteration - 1; /* none in the new phase */
            p->misses = 0;
        }
        p->is_done = iteration >= s->iterations;
    } else {
        p->is_done = (is_over && !p->is_extended) || iteration >= s->iterations;
    }
    if (p->is_done) p->end = iteration;
}

void ikt_phases_stop(ikt_phases *p, int64_t iteration) {
    if (p->is_exaggerated) p->exaggeration_end = iteration;
    p->is_done = true;
    p->end = iteration;
}

void ikt_phases_pack(const ikt_phases *p, int64_t number[IKT_PHASE_NUMBERS],
                     double real[IKT_PHASE_REALS]) {
    const int64_t numbers[IKT_PHASE_NUMBERS] = {
        p->is_exaggerated, p->is_done, p->exaggeration_end, p->end, p->begun,
        p->checked,        p->misses};
    const double reals[IKT_PHASE_REALS] = {p->kl, p->best_rate};
    memcpy(number, numbers, sizeof numbers);
    memcpy(real, reals, sizeof reals);
}

void ikt_phases_unpack(const int64_t number[IKT_PHASE_NUMBERS], const double real[IKT_PHASE_REALS],
                       ikt_phases *p) {
    p->is_exaggerated = number[0] != 0;
    p->is_done = number[1] != 0;
    p->exaggeration_end = number[2];
    p->end = number[3];
    p->begun = number[4];
    p->checked = number[5];
    p->misses = (int)number[6];
    p->kl = real[0];
    p->best_rate = real[1];
}
