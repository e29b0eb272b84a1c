/* When the phase of exaggeration ends, and when the run does.
 *
 * Fixed: at given iterations. Auto, after opt-SNE (Belkina et al. 2019): exaggeration ends when KL
 * no longer falls faster and faster, that is when clusters have formed; the run ends when an
 * iteration takes less than a ten-thousandth off KL. The rule is free of scale in n and in the
 * map. KL is the same on any ranks and threads, and so are the decisions.
 */
#ifndef IKT_LAYOUT_PHASES_H
#define IKT_LAYOUT_PHASES_H

#include <stdbool.h>
#include <stdint.h>

#include "layout/layout.h"

typedef struct {
    const ikt_layout_settings *settings; /* lent */
    bool is_exaggerated;
    bool is_done;
    bool is_extended;         /* only the number of iterations ends the run */
    int64_t exaggeration_end; /* iterations done when the first phase ended */
    int64_t end;              /* ... when the run ended */
    double kl, best_rate;     /* at the last check; fastest relative fall an iteration */
    int64_t begun, checked;   /* iteration at which the phase began, of the last check */
    int misses;               /* checks in a row that speak for the end of the phase */
} ikt_phases;

/* LOCAL. Before iteration 0; settings are resolved. */
ikt_phases ikt_phases_begin(const ikt_layout_settings *settings);

/* LOCAL. Whether the decision at `iteration` needs KL. */
bool ikt_phases_want_value(const ikt_phases *phases, int64_t iteration);

/* LOCAL. Decides at `iteration`, before its step, whether the step is exaggerated and whether there
 * is one. `kl`: where wanted, else not used. */
void ikt_phases_decide(ikt_phases *phases, int64_t iteration, double kl);

/* LOCAL. All but settings and is_extended as plain numbers, and back. */
void ikt_phases_pack(const ikt_phases *phases, int64_t number[IKT_PHASE_NUMBERS],
                     double real[IKT_PHASE_REALS]);
void ikt_phases_unpack(const int64_t number[IKT_PHASE_NUMBERS], const double real[IKT_PHASE_REALS],
                       ikt_phases *phases);

#endif
