/* The names that measures come under. */
#include "evaluate/measure.h"

#include <stdbool.h>
#include <stdlib.h>

#include "config/value.h"

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
