/* The list of results. */
#include <stdio.h>

#include "base/memory.h"
#include "evaluate/measure.h"

ikt_status ikt_measures_add(ikt_context *ctx, ikt_measures *measures, const char *name,
                            double value, int64_t sample, const char *note) {
    if (measures->count == measures->room) {
        int64_t room = measures->room + 16;
        IKT_TRY(ikt_resize(ctx, &measures->list, room, sizeof *measures->list, "measures"));
        measures->room = room;
    }
    ikt_measure *m = &measures->list[measures->count++];
    *m = (ikt_measure){.value = value, .sample = sample};
    snprintf(m->name, sizeof m->name, "%s", name);
    snprintf(m->note, sizeof m->note, "%s", note);
    return IKT_OK;
}

void ikt_measures_destroy(ikt_measures *measures) {
    ikt_free(&measures->list);
    ikt_rank_curve_destroy(&measures->curve);
    measures->count = measures->room = 0;
}
