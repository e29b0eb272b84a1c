/* Measuring an embedding that a program has, against the rows that it has. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/api.h"
#include "base/arrays.h"
#include "base/comm.h"
#include "base/row_hash.h"

enum { NAMES_MOST = 64, NAME_SIZE = 64, FAMILIES_SIZE = 1024 };

/* What was asked for: names as they were given, and the families that have them. */
typedef struct {
    char name[NAMES_MOST][NAME_SIZE];
    int count;
    char families[FAMILIES_SIZE]; /* "ranks,clusters"; "" for all */
} wanted;

ikt_measuring ikt_measuring_defaults(void) {
    const ikt_measure_settings usual = ikt_measure_defaults();
    return (ikt_measuring){.names = "",
                           .k = usual.k,
                           .trust_k = usual.trust_k,
                           .exact_limit = usual.exact_limit,
                           .sample = usual.sample,
                           .seed = usual.seed};
}

static bool is_family(const char *name) {
    for (int f = 0; ikt_measure_family_name(f); f++)
        if (strcmp(ikt_measure_family_name(f), name) == 0) return true;
    return false;
}

/* Whether a measure comes under a name, in letters of any case: its own name, "#-NN accuracy" for
 * any number, its first words ("trustworthiness" is that over any number of neighbours), or what
 * the verb `evaluate` knows it by. */
static bool is_named(const char *measure, const char *name) {
    const size_t length = strlen(name);
    if (strncasecmp(measure, name, length) == 0)
        return measure[length] == '\0' || strncmp(measure + length, " (", 2) == 0;
    const ikt_measure_name *a = ikt_measure_find(measure), *b = ikt_measure_find(name);
    return a && (a == b || ikt_measure_is_asked(a, name));
}

/* The family of a name; NULL where there is no such measure. */
static const char *family_of(const char *name) {
    if (is_family(name)) return name;
    const ikt_measure_name *found = ikt_measure_find(name);
    for (int i = 0; !found && ikt_measure_pattern(i); i++)
        if (is_named(ikt_measure_pattern(i)->pattern, name) ||
            ikt_measure_is_asked(ikt_measure_pattern(i), name))
            found = ikt_measure_pattern(i);
    return found && is_family(found->family) ? found->family : NULL;
}

/* SAME-ARGS. */
static ikt_status parse_names(ikt_context *ctx, const char *list, wanted *out) {
    *out = (wanted){.count = 0};
    while (*list) {
        const size_t length = strcspn(list, ",");
        const char *begin = list + strspn(list, " ");
        size_t used = length > (size_t)(begin - list) ? length - (size_t)(begin - list) : 0;
        while (used > 0 && begin[used - 1] == ' ')
            used--;
        if (used == 0 || used >= NAME_SIZE || out->count == NAMES_MOST)
            return ikt_fail(ctx, IKT_ERR_USAGE,
                            "'%.200s' is no list of measures such as trustworthiness,clusters",
                            list);
        char *name = out->name[out->count++];
        memcpy(name, begin, used);
        name[used] = '\0';
        const char *family = family_of(name);
        if (!family) {
            char hint[128];
            ikt_measure_hint(name, hint, sizeof hint);
            return ikt_fail(ctx, IKT_ERR_USAGE, "there is no measure '%s'%s (docs/measures.md)",
                            name, hint);
        }
        const size_t full = strlen(out->families);
        snprintf(out->families + full, sizeof out->families - full, "%s%s", full > 0 ? "," : "",
                 family);
        list += length + (list[length] == ',');
    }
    return IKT_OK;
}

static bool is_wanted(const wanted *w, const char *measure) {
    const ikt_measure_name *found = ikt_measure_find(measure);
    for (int i = 0; i < w->count; i++)
        if (is_named(measure, w->name[i]) || (found && strcmp(found->family, w->name[i]) == 0))
            return true;
    return w->count == 0;
}

/* COLLECTIVE. Both in equal blocks; what there is was checked. */
static ikt_status measure(ikt_embedding *embedding, const ikt_settings *settings,
                          const ikt_measuring *how, const wanted *names, ikt_source *source,
                          const int64_t *labels) {
    ikt_context *ctx = embedding->ctx;
    const ikt_run *run = &embedding->run;
    const int64_t n = run->rows.n;
    ikt_dataset *data IKT_AT_END(ikt_dataset_destroy) = NULL;
    ikt_measures found IKT_AT_END(ikt_measures_destroy) = {0};
    ikt_measure_settings used = ikt_measure_defaults();
    used.k = how->k;
    used.fits_k = true;
    used.trust_k = ikt_measure_trust_k(how->trust_k, n);
    used.exact_limit = how->exact_limit;
    used.sample = how->sample;
    used.seed = how->seed;
    used.only = names->count > 0 ? names->families : NULL;
    if (n < 4 || how->k < 1 || how->trust_k < 1 || how->sample < 1 || how->exact_limit < 0)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "measures need at least 4 rows, and 1 or more neighbours and rows of a "
                        "sample");
    if (source && ikt_source_rows(source) != n)
        return ikt_fail(ctx, IKT_ERR_DATA, "there are %lld rows, but the embedding has %lld",
                        (long long)ikt_source_rows(source), (long long)n);
    if (source) IKT_TRY(ikt_dataset_create(ctx, source, &settings->preprocess, &data));
    const ikt_measured what = {.rows = run->rows,
                               .y = run->embedding.y,
                               .q = embedding->q,
                               .labels = labels,
                               .has_labels = ikt_max_one(ctx, labels != NULL) > 0,
                               .data = data};
    ikt_measures_destroy(&embedding->measures);
    IKT_TRY(ikt_measures_compute(ctx, &used, &what, &found));
    int64_t kept = 0;
    for (int64_t i = 0; i < found.count; i++)
        if (is_wanted(names, found.list[i].name)) found.list[kept++] = found.list[i];
    found.count = kept;
    return ikt_give(&embedding->measures, found);
}

/* COLLECTIVE. */
static ikt_status check_same(const ikt_embedding *embedding, const ikt_parameters *parameters,
                             const ikt_data *data, const ikt_measuring *how) {
    ikt_context *ctx = embedding->ctx;
    const int64_t number[] = {how->k, how->trust_k, how->exact_limit, how->sample,
                              (int64_t)how->seed};
    int64_t hash;
    IKT_TRY(ikt_parameters_hash(ctx, parameters, &hash));
    const uint64_t named = ikt_hash_bytes(how->names, strlen(how->names), (uint64_t)hash);
    hash = (int64_t)(ikt_hash_bytes(number, sizeof number, named) >> 1);
    const int64_t kinds = data ? 1 + 2 * data->has_rows + 4 * data->has_sparse : 0;
    const bool has_labels = data && data->labels, has_rows = data && data->count > 0;
    int64_t most[] = {has_labels, has_rows && !has_labels};
    ikt_max_i64(ctx, most, 2);
    if (!ikt_is_shared(ctx, hash))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "the parameters, or what is to be measured, are not the same on all ranks");
    if (!ikt_is_shared(ctx, kinds))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "the ranks do not give the same kinds of data: each describes rows, also "
                        "where it has none");
    if (most[0] > 0 && most[1] > 0)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "some ranks give labels of their rows, and some do not");
    if (!data || data->count == embedding->count) return ikt_agree(ctx, IKT_OK);
    return ikt_agree(ctx,
                     ikt_fail(ctx, IKT_ERR_DATA,
                              "the rows to measure with are not those of the embedding: rank "
                              "%d has %lld, and %lld there",
                              ikt_rank(ctx), (long long)data->count, (long long)embedding->count));
}

/* COLLECTIVE. With what the program gives. */
static ikt_status measure_with(ikt_embedding *embedding, const ikt_parameters *parameters,
                               const ikt_data *data, const ikt_measuring *how) {
    ikt_data_sources given IKT_AT_END(ikt_data_close) = {.rows = NULL};
    int64_t *labels IKT_AT_END(ikt_free) = NULL;
    wanted names;
    IKT_TRY(check_same(embedding, parameters, data, how));
    IKT_TRY(parse_names(embedding->ctx, how->names, &names));
    if (data && (data->has_rows || data->has_sparse))
        IKT_TRY(ikt_data_open(embedding->ctx, data, &given));
    if (data && ikt_max_one(embedding->ctx, data->labels != NULL) > 0)
        IKT_TRY(ikt_embedding_take(embedding, data->labels, sizeof *labels, &labels));
    return measure(embedding, &parameters->settings, how, &names, given.rows,
                   labels ? labels : embedding->run.labels);
}

ikt_status ikt_embedding_evaluate(ikt_embedding *embedding, const ikt_parameters *parameters,
                                  const ikt_data *data, const ikt_measuring *how) {
    ikt_clear(embedding->caller);
    return ikt_embedding_outcome(embedding, measure_with(embedding, parameters, data, how));
}
