/* The kinds of affinity, their configuration, and what "auto" means for a number of rows. */
#include "affinity/affinity.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/encoding.h"
#include "base/log.h"
#include "base/sort.h"
#include "config/value.h"

#define KIND(name, NAME, help) [IKT_AFFINITY_##NAME] = &ikt_affinity_##name,
static const ikt_affinity *const kinds[IKT_AFFINITIES] = {IKT_AFFINITY_TABLE(KIND)};

const ikt_affinity *ikt_affinity_of(const ikt_affinity_settings *settings) {
    assert(settings->kind >= 0 && settings->kind < IKT_AFFINITIES);
    return kinds[settings->kind];
}

const ikt_affinity *ikt_affinity_kind_of(ikt_affinity_name name) {
    return kinds[name];
}

const char *ikt_affinity_file(const ikt_affinity_settings *settings) {
    const ikt_affinity *kind = ikt_affinity_of(settings);
    return kind->file_key ? (const char *)settings + kind->file : "";
}

void ikt_affinity_rename_file(ikt_affinity_settings *settings, const char *name) {
    if (ikt_affinity_file(settings)[0])
        snprintf((char *)settings + ikt_affinity_of(settings)->file, IKT_STRING_MAX, "%s", name);
}

void ikt_affinity_describe(const ikt_affinity_settings *settings, char *text, size_t size) {
    const ikt_affinity *kind = ikt_affinity_of(settings);
    snprintf(text, size, "%s", kind->name);
    for (size_t k = 0; kind->section && k < kind->section->n_keys; k++) {
        const ikt_key *key = &kind->section->keys[k];
        char value[64];
        ikt_value_print(key, (const char *)settings + kind->keys + key->offset, value,
                        sizeof value);
        /* Of many keys those that differ from what is usual. */
        if (kind->section->n_keys > 4 && strcmp(value, key->fallback) == 0) continue;
        ikt_join(text, size, " ", "%s %s", key->name, value);
    }
}

void ikt_affinity_parts(ikt_affinity_settings *settings,
                        ikt_config_part parts[IKT_AFFINITY_PARTS]) {
    int count = 0;
    for (int k = 0; k < IKT_AFFINITIES; k++) {
        const ikt_section *section = kinds[k]->section;
        for (int p = 0; section && p < count; p++)
            if (parts[p].section == section) section = NULL;
        if (section) parts[count++] = (ikt_config_part){section, (char *)settings + kinds[k]->keys};
    }
    assert(count == IKT_AFFINITY_PARTS);
    (void)count;
}

/* --- settings --------------------------------------------------------------------------------- */

#define CHOICE(name, NAME, help) "|" #name
#define HELP(name, NAME, help)   "; " help

static const ikt_key affinity_keys[] = {
    {"kind", IKT_KEY_CHOICE, offsetof(ikt_affinity_settings, kind), "isolation", 0, 0, 0,
     &(IKT_AFFINITY_TABLE(CHOICE))[1], "",
     "The kernel that measures how similar two rows are" IKT_AFFINITY_TABLE(HELP)},
    {"neighbours", IKT_KEY_INT, offsetof(ikt_affinity_settings, neighbours), "auto", 1, 1e9, 1,
     NULL, "rows",
     "The number k of most similar rows that each row is attracted to; auto is three times the "
     "perplexity for kinds that have one (section gaussian), three times adaptive.neighbours, but "
     "at least 30, for adaptive, 15 for fuzzy, and 30 otherwise"},
    {"support", IKT_KEY_CHOICE, offsetof(ikt_affinity_settings, support), "sparse", 0, 0, 0,
     "sparse|dense|whole", "",
     "Which pairs of rows have an affinity: sparse keeps only the most similar rows of each row; "
     "dense keeps every pair and takes 4 n^2 bytes over all ranks; whole takes every pair of the "
     "Isolation kernel into account, too, but keeps nothing except cell codes, and draws in each "
     "iteration the pairs that it looks at (section whole)"},
    {"search", IKT_KEY_CHOICE, offsetof(ikt_affinity_settings, search), "auto", 0, 0, 0,
     "auto|exact|approximate", "",
     "How the most similar rows are found: exact compares all pairs; approximate compares a row "
     "only with rows of near cells, and measures on up to 1,000 rows what that misses; auto is "
     "exact up to 16,384 rows. For the whole kernel nothing is searched for, and approximate only "
     "brings the rows into the order of near cells, in which ranks have fewer cells in common"},
    {"passes", IKT_KEY_INT, offsetof(ikt_affinity_settings, passes), "auto", 1, 100, 1, NULL,
     "searches",
     "The approximate searches by distance that follow each other, each with cells around other "
     "rows: what those of one cut apart, those of another leave together. In many columns several "
     "of few candidates find more than one of many; beyond 256 they compare rows as bytes, where "
     "these choose as well, and the lists are decided by the distance; auto is 3 beyond 128 "
     "columns, otherwise 1"},
    {"candidates", IKT_KEY_INT, offsetof(ikt_affinity_settings, candidates), "auto", 2, 1e9, 1,
     NULL, "rows",
     "The rows of near cells that each row is compared with in a pass of approximate search. More "
     "rows find more and take longer; auto is 256 among cells of the Isolation kernel with 16 rows "
     "or fewer, 512 with up to 128, and otherwise 900 log2(n / 2048), four times that for kernels "
     "of distances (twice for triplets), and at least 40 times the neighbours; of several passes "
     "each has 128 log2(n / 2048), and at least 12 times the neighbours"},
    {"refinements", IKT_KEY_INT, offsetof(ikt_affinity_settings, refinements), "auto", 0, 100, 1,
     NULL, "rounds",
     "The rounds after an approximate search in which each row is compared with the neighbours of "
     "its neighbours, and of rows that have it among theirs; auto is 1 where rows are compared "
     "with those near the same centres of the Isolation kernel, 2 after several passes (3 where "
     "rows of more than 256 columns are compared as bytes, for up to 37 neighbours), and 0 "
     "otherwise"}};

const ikt_section ikt_affinity_section = {"affinity", "How similar two rows are", affinity_keys,
                                          sizeof affinity_keys / sizeof *affinity_keys};

/* Candidates for each doubling of the rows, so that about as much is found at any number of them:
 * codes are sought by similarity, of which many rows have the same, distances for the rows. The
 * first few neighbours are found among half as many. */
enum {
    USUAL_NEIGHBOURS = 30,
    EXACT_ROWS = 16384,
    DOUBLINGS_FROM = 2048,
    CODES = 900,
    DISTANCES = 3600,
    DISTANCES_OF_TRIPLETS = 1800,
    DISTANCES_OF_PASSES = 128, /* in each of several passes */
    WIDE_COLUMNS = 128,        /* more are searched in */
    WIDE_PASSES = 3,           /* so many passes */
    FINE_CANDIDATES = 256,     /* of fine cells (neighbours/fine.h), */
    FINE_ROWS = 16             /* and twice as many where those have more rows */
};

bool ikt_affinity_is_approximate(const ikt_affinity_settings *settings, int64_t n) {
    if (settings->search != IKT_SEARCH_AUTO) return settings->search == IKT_SEARCH_APPROXIMATE;
    return n > EXACT_ROWS;
}

int64_t ikt_affinity_candidates(const ikt_affinity_settings *settings, int64_t n, int64_t k,
                                int64_t passes, bool has_triplets) {
    if (settings->candidates != IKT_AUTO_INT)
        return settings->candidates > k ? settings->candidates : k + 1;
    const int64_t least_per_neighbour = passes > 1 ? 12 : 40;
    double doublings = fmax(log2((double)n / DOUBLINGS_FROM), 1);
    const bool has_codes = ikt_affinity_of(settings)->scores == IKT_SCORES_CODES;
    const int64_t each = has_codes      ? CODES
                         : passes > 1   ? DISTANCES_OF_PASSES
                         : has_triplets ? DISTANCES_OF_TRIPLETS
                                        : DISTANCES;
    int64_t wanted = (int64_t)((double)each * doublings);
    return wanted > k * least_per_neighbour ? wanted : k * least_per_neighbour;
}

int64_t ikt_affinity_passes(const ikt_affinity_settings *settings, int64_t columns) {
    if (columns == 0) return 1;
    if (settings->passes != IKT_AUTO_INT) return settings->passes;
    return columns > WIDE_COLUMNS ? WIDE_PASSES : 1;
}

int64_t ikt_affinity_fine_candidates(const ikt_affinity_settings *settings, int64_t n,
                                     int64_t cells, int64_t k) {
    const int64_t usual = n > FINE_ROWS * cells ? 2 * FINE_CANDIDATES : FINE_CANDIDATES;
    const int64_t wanted = ikt_chosen(settings->candidates, usual);
    return wanted > 2 * k ? wanted : 2 * k;
}

ikt_status ikt_affinity_resolve(ikt_context *ctx, const ikt_affinity_settings *settings, int64_t n,
                                int64_t *k) {
    const ikt_affinity *kind = ikt_affinity_of(settings);
    const int64_t usual = kind->neighbours ? kind->neighbours(settings) : USUAL_NEIGHBOURS;
    if (n < 2)
        return ikt_fail(ctx, IKT_ERR_DATA, "an embedding needs at least 2 rows, the data has %lld",
                        (long long)n);
    *k = ikt_chosen(settings->neighbours, ikt_smaller(usual, n - 1));
    if (*k >= n)
        return ikt_fail(
            ctx, IKT_ERR_USAGE,
            "affinity.neighbours = %lld, but a row has only %lld others; choose at most %lld",
            (long long)*k, (long long)(n - 1), (long long)(n - 1));
    if (kind->neighbours == ikt_perplexity_neighbours &&
        3 * settings->gaussian.perplexity > (double)(n - 1))
        ikt_warn(
            ctx,
            "gaussian.perplexity = %g is more than a third of the %lld other rows, so that near "
            "and far rows get much the same weight; at most %g says which are near",
            settings->gaussian.perplexity, (long long)(n - 1), floor((double)(n - 1) / 3));
    if (kind->check_rows) IKT_TRY(kind->check_rows(ctx, settings, n));
    if (!kind->check) return IKT_OK;
    return kind->check(ctx, settings, settings->support == IKT_SUPPORT_SPARSE ? *k : n - 1);
}

void ikt_affinity_shrink(ikt_affinity_settings *settings, int64_t n) {
    settings->candidates = IKT_AUTO_INT;
    if (settings->neighbours != IKT_AUTO_INT)
        settings->neighbours = ikt_smaller(settings->neighbours, n - 1);
    if (ikt_affinity_of(settings)->shrink) ikt_affinity_of(settings)->shrink(settings, n);
}
