/* The table of families of measures, and the list of their results. */
#include "evaluate/measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "evaluate/rank_counts.h"
#include "evaluate/tree.h"

typedef struct {
    const char *name; /* as asked for in settings->only */
    bool needs_labels, needs_input;
    ikt_status (*compute)(ikt_context *ctx, const ikt_measure_settings *settings,
                          const ikt_measured *what, ikt_measures *out);
} family;

static const family families[] = {{"clusters", true, false, ikt_measure_clusters},
                                  {"labels", true, false, ikt_measure_label_accuracy},
                                  {"ranks", false, true, ikt_measure_ranks}};
enum { FAMILIES = sizeof families / sizeof *families };

ikt_measure_settings ikt_measure_defaults(void) {
    return (ikt_measure_settings){.k = 10,
                                  .trust_k = 12,
                                  .exact_limit = 20000,
                                  .sample = 2000,
                                  .seed = 1,
                                  .batch_bytes = (int64_t)256 << 20};
}

static ikt_status check_positions(ikt_context *ctx, const ikt_measured *what) {
    ikt_status st = IKT_OK;
    for (int64_t e = 0; e < 2 * what->map.count && st == IKT_OK; e++)
        if (!isfinite(what->y[e]))
            st = ikt_fail(ctx, IKT_ERR_DATA, "the position of row %lld is not finite",
                          (long long)(what->map.first + e / 2));
    return ikt_agree(ctx, st);
}

/* Number of the family whose name has `length` characters at `name`; FAMILIES if there is none. */
static size_t family_named(const char *name, size_t length) {
    size_t f = 0;
    while (f < FAMILIES &&
           !(strlen(families[f].name) == length && memcmp(families[f].name, name, length) == 0))
        f++;
    return f;
}

/* SAME-ARGS. Takes "a,b" apart; everything is wanted where there is no list. */
static ikt_status find_wanted(ikt_context *ctx, const char *list, bool wanted[FAMILIES]) {
    for (size_t f = 0; f < FAMILIES; f++)
        wanted[f] = !list;
    while (list) {
        size_t length = strcspn(list, ","), f = family_named(list, length);
        if (f == FAMILIES)
            return ikt_fail(ctx, IKT_ERR_USAGE,
                            "'%.*s' is no family of measures; there are clusters, labels and ranks",
                            (int)length, list);
        wanted[f] = true;
        list = list[length] ? list + length + 1 : NULL;
    }
    return IKT_OK;
}

static ikt_status run_family(ikt_context *ctx, const family *f,
                             const ikt_measure_settings *settings, const ikt_measured *what,
                             ikt_measures *out) {
    bool labels_lack = f->needs_labels && !what->has_labels;
    bool input_lacks = f->needs_input && !what->data;
    if (!labels_lack && !input_lacks) return f->compute(ctx, settings, what, out);
    if (!settings->only) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE, "the measures '%s' need %s, and there %s", f->name,
                    labels_lack ? "labels" : "the input data",
                    labels_lack ? "are none" : "is none");
}

ikt_status ikt_measures_compute(ikt_context *ctx, const ikt_measure_settings *settings,
                                const ikt_measured *what, ikt_measures *out) {
    bool wanted[FAMILIES];
    IKT_TRY(find_wanted(ctx, settings->only, wanted));
    IKT_TRY(check_positions(ctx, what));
    for (size_t f = 0; f < FAMILIES; f++)
        if (wanted[f]) IKT_TRY(run_family(ctx, &families[f], settings, what, out));
    return IKT_OK;
}

int64_t ikt_measures_memory(const ikt_measure_settings *settings, int64_t n, int64_t d, int ranks,
                            int threads, bool labels, bool input) {
    int64_t per_thread = settings->k * (int64_t)(sizeof(float) + 2 * sizeof(int64_t));
    int64_t accuracy = n * (int64_t)(2 * sizeof(float) + sizeof(int64_t)) + ikt_tree_memory(n) +
                       threads * per_thread;
    int64_t ranking = ikt_rank_counts_memory(settings, n, d, ranks, threads);
    if (!labels) accuracy = 0;
    if (!input) ranking = 0;
    int64_t counts = ranks * (int64_t)sizeof(int64_t); /* of ikt_measure_replicate */
    return counts + (accuracy > ranking ? accuracy : ranking);
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
    } else {
        ikt_free(&rows);
    }
    memcpy(all, &rows, sizeof rows);
    ikt_free(&counts);
    return st;
}
