/* The kinds of affinity there are. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "affinity/kind.h"
#include "config/value.h"

static const ikt_affinity *const kinds[IKT_AFFINITIES] = {
    [IKT_AFFINITY_ISOLATION] = &ikt_affinity_isolation,
    [IKT_AFFINITY_GAUSSIAN] = &ikt_affinity_gaussian,
    [IKT_AFFINITY_KNN] = &ikt_affinity_knn,
    [IKT_AFFINITY_ADAPTIVE] = &ikt_affinity_adaptive,
    [IKT_AFFINITY_GRAPH] = &ikt_affinity_graph,
};

const ikt_affinity *ikt_affinity_of(const ikt_affinity_settings *settings) {
    assert(settings->kind >= 0 && settings->kind < IKT_AFFINITIES);
    return kinds[settings->kind];
}

/* " perplexity 30" */
static int describe_key(const ikt_key *key, const char *values, char *text, size_t size) {
    char value[64];
    ikt_value_print(key, values + key->offset, value, sizeof value);
    return snprintf(text, size, " %s %s", key->name, value);
}

void ikt_affinity_describe(const ikt_affinity_settings *settings, char *text, size_t size) {
    const ikt_affinity *kind = ikt_affinity_of(settings);
    size_t used = (size_t)snprintf(text, size, "%s", kind->name);
    for (size_t k = 0; kind->section && k < kind->section->n_keys && used < size; k++)
        used += (size_t)describe_key(&kind->section->keys[k], (const char *)settings + kind->keys,
                                     text + used, size - used);
}

void ikt_affinity_parts(ikt_affinity_settings *settings,
                        ikt_config_part parts[IKT_AFFINITY_PARTS]) {
    int count = 0;
    for (int k = 0; k < IKT_AFFINITIES; k++)
        if (kinds[k]->section)
            parts[count++] =
                (ikt_config_part){kinds[k]->section, (char *)settings + kinds[k]->keys};
    assert(count == IKT_AFFINITY_PARTS);
    (void)count;
}
