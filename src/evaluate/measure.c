/* The table of families of measures, and what is computed of it. */
#include "evaluate/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/value.h"
#include "evaluate/family.h"

/* In the order in which measures are listed: first what looks at the map alone. */
static const ikt_measure_family *const families[] = {
    &ikt_family_clusters, &ikt_family_labels,     &ikt_family_silhouette, &ikt_family_kmeans,
    &ikt_family_visible,  &ikt_family_ranks,      &ikt_family_retrieval,  &ikt_family_triplets,
    &ikt_family_global,   &ikt_family_separation, &ikt_family_kernel};
enum { FAMILIES = sizeof families / sizeof *families };

ikt_measure_settings ikt_measure_defaults(void) {
    return (ikt_measure_settings){.k = 10,
                                  .trust_k = 12,
                                  .triplets = 5,
                                  .restarts = 10,
                                  .exact_limit = 20000,
                                  .sample = 2000,
                                  .seed = 1,
                                  .batch_bytes = (int64_t)256 << 20};
}

const char *ikt_measure_family_name(int i) {
    return i >= 0 && i < FAMILIES ? families[i]->name : NULL;
}

const char *ikt_measure_family_help(int i) {
    return i >= 0 && i < FAMILIES ? families[i]->help : NULL;
}

/* Number of the next family of a list "a,b", which is moved behind it; FAMILIES where there is no
 * such family. */
static size_t next_family(const char **list) {
    const size_t length = strcspn(*list, ",");
    size_t f = 0;
    while (f < FAMILIES &&
           !(strlen(families[f]->name) == length && memcmp(families[f]->name, *list, length) == 0))
        f++;
    *list = (*list)[length] ? *list + length + 1 : NULL;
    return f;
}

/* What a family needs and `has`, a set of IKT_MEASURE_NEEDS_..., lacks, in words; NULL where
 * nothing is missing. */
static const char *lacking(const ikt_measure_family *f, unsigned has) {
    const unsigned lacks = f->needs & ~has;
    if (lacks & IKT_MEASURE_NEEDS_LABELS) return "labels, and there are none";
    if (lacks & IKT_MEASURE_NEEDS_INPUT) return "the input data, and there is none";
    if (lacks == IKT_MEASURE_NEEDS_COLUMNS)
        return "rows with coordinates, and preprocess.metric = precomputed gives distances only";
    return lacks ? "codes of the Isolation kernel, and there are none" : NULL;
}

static unsigned has_of(bool labels, bool input, bool columns, bool codes) {
    return (columns ? IKT_MEASURE_NEEDS_COLUMNS : 0u) | (labels ? IKT_MEASURE_NEEDS_LABELS : 0u) |
           (input ? IKT_MEASURE_NEEDS_INPUT : 0u) | (codes ? IKT_MEASURE_NEEDS_CODES : 0u);
}

bool ikt_measures_need_input(const char *list) {
    bool any = false;
    while (list && *list) {
        const size_t f = next_family(&list);
        any |= f < FAMILIES &&
               (families[f]->needs & (IKT_MEASURE_NEEDS_INPUT | IKT_MEASURE_NEEDS_CODES)) != 0;
    }
    return any;
}

/* SAME-ARGS. Takes "a,b" apart; everything that is possible is wanted where there is no list. */
static ikt_status find_wanted(ikt_context *ctx, const ikt_measure_settings *settings,
                              const ikt_measured *what, bool wanted[FAMILIES]) {
    const bool columns = what->data && !ikt_dataset_pairs(what->data);
    const unsigned has = has_of(what->has_labels, what->data, columns, what->codes);
    for (size_t f = 0; f < FAMILIES; f++)
        wanted[f] = !settings->only && !lacking(families[f], has) &&
                    (families[f]->is_cheap || !settings->cheap_only);
    for (const char *list = settings->only; list;) {
        const char *name = list;
        const size_t f = next_family(&list);
        if (f == FAMILIES) {
            char known[256] = "";
            for (size_t other = 0; other < FAMILIES; other++) {
                const char *before = other == 0 ? "" : other == FAMILIES - 1 ? " and " : ", ";
                snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", before,
                         families[other]->name);
            }
            return ikt_fail(ctx, IKT_ERR_USAGE, "'%.*s' is no family of measures; there are %s",
                            (int)strcspn(name, ","), name, known);
        }
        const char *missing = lacking(families[f], has);
        if (missing)
            return ikt_fail(ctx, IKT_ERR_USAGE, "the measures '%s' need %s", families[f]->name,
                            missing);
        wanted[f] = true;
    }
    for (size_t f = 0; f < FAMILIES; f++)
        if (wanted[f] && families[f]->check) IKT_TRY(families[f]->check(ctx, settings, what));
    return IKT_OK;
}

/* COLLECTIVE. The wanted families that look at the same kind of queries, in one pass. */
static ikt_status compute_queries(ikt_context *ctx, const ikt_measure_view *view, bool by_code,
                                  const bool wanted[FAMILIES], ikt_measures *out) {
    ikt_query_observer observer[FAMILIES] = {0};
    const ikt_measure_family *family[FAMILIES];
    int count = 0;
    ikt_status st = IKT_OK;
    for (size_t f = 0; f < FAMILIES; f++)
        if (wanted[f] && families[f]->begin &&
            by_code == ((families[f]->needs & IKT_MEASURE_NEEDS_CODES) != 0))
            family[count++] = families[f];
    if (count == 0) return IKT_OK;
    for (int f = 0; f < count && st == IKT_OK; f++)
        st = family[f]->begin(ctx, view, &observer[f]);
    st = ikt_agree(ctx, st);
    if (st == IKT_OK)
        st = ikt_queries_run(ctx, view->settings, view->what, view->y, by_code, observer, count);
    for (int f = 0; f < count; f++) {
        if (st == IKT_OK && observer[f].see)
            st = family[f]->finish(ctx, view, observer[f].self, out);
        if (observer[f].end) observer[f].end(observer[f].self);
    }
    return st;
}

ikt_status ikt_measures_compute(ikt_context *ctx, const ikt_measure_settings *settings,
                                const ikt_measured *what, ikt_measures *out) {
    bool wanted[FAMILIES], any = false;
    ikt_measure_view view;
    ikt_status st = IKT_OK;
    if (what->q < 1 || what->q > IKT_AXES_MOST)
        return ikt_fail(
            ctx, IKT_ERR_USAGE,
            "a map of %lld columns cannot be measured: measures are defined for 1 to %d",
            (long long)what->q, IKT_AXES_MOST);
    for (int64_t e = 0; e < what->q * what->rows.count && st == IKT_OK; e++)
        if (!isfinite(what->y[e]))
            st = ikt_fail(ctx, IKT_ERR_DATA,
                          "the position of row %lld is not finite, so the map cannot be measured; "
                          "run it again with a smaller learning rate",
                          (long long)(what->rows.first + e / what->q));
    IKT_TRY(ikt_agree(ctx, st));
    IKT_TRY(find_wanted(ctx, settings, what, wanted));
    for (size_t f = 0; f < FAMILIES; f++)
        any = any || wanted[f];
    if (!any) return IKT_OK;
    IKT_TRY(ikt_measure_view_make(ctx, settings, what, &view));
    for (size_t f = 0; f < FAMILIES && st == IKT_OK; f++)
        if (wanted[f] && families[f]->compute) st = families[f]->compute(ctx, &view, out);
    if (st == IKT_OK) st = compute_queries(ctx, &view, false, wanted, out);
    if (st == IKT_OK) st = compute_queries(ctx, &view, true, wanted, out);
    ikt_measure_view_free(&view);
    return st;
}

int64_t ikt_measures_memory(const ikt_measure_settings *settings,
                            const ikt_measure_extent *extent) {
    bool listed[FAMILIES + 1] = {false};
    const unsigned has =
        has_of(extent->classes > 0, extent->input, extent->input, extent->stride > 0);
    int64_t most = 0, passes[2] = {0, 0};
    for (const char *list = settings->only; list;)
        listed[next_family(&list)] = true;
    for (size_t f = 0; f < FAMILIES; f++) {
        const ikt_measure_family *of = families[f];
        const bool by_code = (of->needs & IKT_MEASURE_NEEDS_CODES) != 0;
        const bool runs = settings->only ? listed[f] : of->is_cheap || !settings->cheap_only;
        if (!runs || lacking(of, has)) continue;
        const int64_t bytes = of->memory(settings, extent);
        if (!of->compute)
            passes[by_code] += bytes;
        else if (bytes > most)
            most = bytes;
    }
    for (int p = 0; p < 2; p++) {
        const int64_t bytes = passes[p] + ikt_queries_memory(settings, extent, p == 1, true);
        if (passes[p] > 0 && bytes > most) most = bytes;
    }
    return ikt_measure_view_memory(extent) + most;
}

/* --- the names that measures come under ------------------------------------------------------- */

static const ikt_measure_name names[] = {
    {"Davies-Bouldin", "clusters", -1},
    {"Calinski-Harabasz", "clusters", 1},
    {"silhouette", "silhouette", 1},
    {"NMI of k-means", "kmeans", 1},
    {"#-NN accuracy", "labels", 1},
    {"1-NN error", "labels", -1},
    {"visualisation epsilon", "visible", -1},
    {"visible epsilon, class #", "visible", -1},
    {"AUC_RNX", "ranks", 1},
    {"AUC_RNX (paper's k)", "ranks", 1},
    {"trustworthiness (k #)", "ranks", 1},
    {"continuity (k #)", "ranks", 1},
    {"AUC_RNX, kernel", "kernel", 1},
    {"AUC_RNX (paper's k), kernel", "kernel", 1},
    {"trustworthiness (k #), kernel", "kernel", 1},
    {"continuity (k #), kernel", "kernel", 1},
    {"precision-recall area", "retrieval", 1},
    {"triplet accuracy", "triplets", 1},
    {"global score", "global", 1},
    {"gamma", "separation", 0},
    {"gamma spherical", "separation", 0},
    {"gamma separated", "separation", 0},
    {"row # to class #", "marked", 0},
    {"row # to class #, mean", "marked", 0},
    {"marked rows apart", "apart", 0},
    {"arrangement error", "reference", -1},
    {"arrangement error, second copy", "reference", -1},
    {"copies apart", "reference", 1},
    {"KL", "run", 0},
    {"seconds", "run", 0},
    {"seconds similarities", "run", 0},
    {"seconds layout", "run", 0},
    {"MB per rank", "run", 0},
};
enum { NAMES = sizeof names / sizeof *names };

static bool matches(const char *pattern, const char *name) {
    for (; *pattern; pattern++) {
        if (*pattern != '#') {
            if (*name++ != *pattern) return false;
            continue;
        }
        char *end;
        strtoll(name, &end, 10);
        if (end == name || *name == ' ') return false;
        name = end;
    }
    return *name == '\0';
}

const ikt_measure_name *ikt_measure_find(const char *name) {
    for (int i = 0; i < NAMES; i++)
        if (matches(names[i].pattern, name)) return &names[i];
    return NULL;
}

const ikt_measure_name *ikt_measure_pattern(int i) {
    return i >= 0 && i < NAMES ? &names[i] : NULL;
}

const char *ikt_measure_nearest(const char *name) {
    int best = 0;
    for (int i = 1; i < NAMES; i++)
        if (ikt_name_distance(names[i].pattern, name) <
            ikt_name_distance(names[best].pattern, name))
            best = i;
    return names[best].pattern;
}

int ikt_measure_way(const char *name) {
    const ikt_measure_name *found = ikt_measure_find(name);
    return found ? found->better : 0;
}
