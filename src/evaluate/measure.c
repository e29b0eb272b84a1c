/* The table of measures and the list of their results. */
#include "evaluate/measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"

typedef struct {
    const char *family;
    bool needs_labels, needs_input;
    ikt_status (*compute)(ikt_context *ctx, const ikt_measure_settings *settings,
                          const ikt_measured *what, ikt_measures *out);
} family;

static const family families[] = {{"clusters", true, false, ikt_measure_clusters},
                                  {"label accuracy", true, false, ikt_measure_label_accuracy},
                                  {"ranks", false, true, ikt_measure_ranks}};

ikt_measure_settings ikt_measure_defaults(void) {
    return (ikt_measure_settings){10, 12, 20000, 2000, 1};
}

static ikt_status check_positions(ikt_context *ctx, const ikt_measured *what) {
    ikt_status st = IKT_OK;
    for (int64_t e = 0; e < 2 * what->map.count && st == IKT_OK; e++)
        if (!isfinite(what->y[e]))
            st = ikt_fail(ctx, IKT_ERR_DATA, "the position of row %lld is not finite",
                          (long long)(what->map.first + e / 2));
    return ikt_agree(ctx, st);
}

ikt_status ikt_measures_compute(ikt_context *ctx, const ikt_measure_settings *settings,
                                const ikt_measured *what, ikt_measures *out) {
    IKT_TRY(check_positions(ctx, what));
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        if (families[f].needs_labels && !what->has_labels) continue;
        if (families[f].needs_input && !what->data) continue;
        IKT_TRY(families[f].compute(ctx, settings, what, out));
    }
    return IKT_OK;
}

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
    measures->count = measures->room = 0;
}

ikt_status ikt_measure_replicate(ikt_context *ctx, const ikt_row_map *map, const void *own,
                                 size_t size, void *all) {
    int64_t *counts = NULL;
    void *rows = NULL;
    ikt_status st = ikt_alloc(ctx, &counts, ikt_size(ctx), sizeof *counts, "measures");
    if (st == IKT_OK) st = ikt_alloc(ctx, &rows, map->n, size, "measures");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        for (int r = 0; r < ikt_size(ctx); r++)
            counts[r] = ikt_row_map_count(map, r);
        ikt_allgather(ctx, own, map->count, size, rows, counts);
        memcpy(all, &rows, sizeof rows);
    } else {
        ikt_free(&rows);
        memcpy(all, &rows, sizeof rows); /* NULL */
    }
    ikt_free(&counts);
    return st;
}
