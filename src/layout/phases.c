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

/* What a value has to stand above that which it is compared with, relative to that and at least,
 * and how often in a row, for steps to be too long. */
static const double risen = 1e-3, risen_least = 1e-6;
enum { RISES = 2 };

/* Whether steps are to lower the value itself, but for exaggeration. */
static bool can_watch(const ikt_layout_settings *s, bool is_estimated) {
    return !is_estimated && ikt_layout_objective(s)->divergence && s->stop == IKT_STOP_FIXED &&
           s->final_exaggeration == 1 && s->regulariser == IKT_REGULARISER_NONE &&
           s->batch_rows == IKT_AUTO_INT;
}

ikt_phases ikt_phases_begin(const ikt_layout_settings *settings, bool is_estimated) {
    const ikt_objective_kind *kind = ikt_layout_objective(settings);
    return (ikt_phases){.settings = settings,
                        .is_exaggerated = kind->has_exaggeration,
                        .is_beginning = kind->begins_with_tsne && settings->tsne_iterations > 0,
                        .is_watched = can_watch(settings, is_estimated),
                        .step = 1,
                        .checked = -1};
}

bool ikt_phases_want_value(const ikt_phases *phases, int64_t iteration) {
    const int64_t since = iteration - phases->begun;
    if (phases->settings->stop == IKT_STOP_AUTO) return since % CHECK_EVERY == 0;
    return phases->is_watched && since % IKT_WATCH_EVERY == 0;
}

/* Halves the steps where values say that they are too long: with exaggeration, which lowers another
 * value, where the map is worse than at the start; later, where it is worse than it was. */
static void watch(ikt_phases *p, int64_t iteration, double value) {
    const bool is_first = p->checked < p->begun;
    const bool is_worse = !is_first && value - p->kl > fmax(risen * fabs(p->kl), risen_least);
    p->checked = iteration;
    p->misses = is_worse ? p->misses + 1 : 0;
    if (p->misses == RISES) {
        p->step /= 2;
        p->misses = 0;
        p->kl = value; /* from here on */
    } else if (is_first || (value < p->kl && !p->is_exaggerated)) {
        p->kl = value;
    }
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

/* A phase begins, in which nothing has been checked yet. */
static void begin_phase(ikt_phases *p, int64_t iteration) {
    p->begun = iteration;
    p->checked = iteration - 1;
    p->misses = 0;
}

void ikt_phases_decide(ikt_phases *p, int64_t iteration, double value) {
    const ikt_layout_settings *s = p->settings;
    const bool is_checked = ikt_phases_want_value(p, iteration);
    bool is_over = false;
    if (is_checked && s->stop == IKT_STOP_AUTO)
        is_over = check(p, iteration, value);
    else if (is_checked && (!p->is_beginning || iteration < s->tsne_iterations))
        watch(p, iteration, value); /* of one objective: that of the iterations before */
    if (p->is_exaggerated && (is_over || iteration >= s->exaggeration_iterations)) {
        p->is_exaggerated = is_over = false;
        p->exaggeration_end = iteration;
        begin_phase(p, iteration);
    }
    if (p->is_beginning && !p->is_exaggerated && (is_over || iteration >= s->tsne_iterations)) {
        p->is_beginning = is_over = false;
        begin_phase(p, iteration);
    }
    const bool is_converged = is_over && !p->is_exaggerated && !p->is_extended;
    p->is_done = is_converged || iteration >= s->iterations;
    if (p->is_done) p->end = iteration;
}

void ikt_phases_stop(ikt_phases *p, int64_t iteration) {
    if (p->is_exaggerated) p->exaggeration_end = iteration;
    p->is_done = true;
    p->end = iteration;
}

void ikt_phases_pack(const ikt_phases *p, int64_t number[IKT_PHASE_NUMBERS],
                     double real[IKT_PHASE_REALS]) {
    const int64_t numbers[IKT_PHASE_NUMBERS] = {p->is_exaggerated + 2 * p->is_beginning,
                                                p->is_done,
                                                p->exaggeration_end,
                                                p->end,
                                                p->begun,
                                                p->checked,
                                                p->misses};
    const double reals[IKT_PHASE_REALS] = {p->kl, p->best_rate, p->step};
    memcpy(number, numbers, sizeof numbers);
    memcpy(real, reals, sizeof reals);
}

void ikt_phases_unpack(const int64_t number[IKT_PHASE_NUMBERS], const double real[IKT_PHASE_REALS],
                       ikt_phases *p) {
    p->is_exaggerated = number[0] & 1;
    p->is_beginning = number[0] & 2;
    p->is_done = number[1] != 0;
    p->exaggeration_end = number[2];
    p->end = number[3];
    p->begun = number[4];
    p->checked = number[5];
    p->misses = (int)number[6];
    p->kl = real[0];
    p->best_rate = real[1];
    p->step = real[2];
}
