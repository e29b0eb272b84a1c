/* The table of families of measures, and what is computed of it. */
#include "evaluate/measure.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/encoding.h"
#include "base/log.h"
#include "config/config.h"
#include "evaluate/family.h"

/* In the order in which measures are listed: first what looks at the map alone. */
static const ikt_measure_family *const families[] = {
    &ikt_family_clusters,  &ikt_family_labels,        &ikt_family_silhouette,
    &ikt_family_kmeans,    &ikt_family_visible,       &ikt_family_ranks,
    &ikt_family_retrieval, &ikt_family_triplets,      &ikt_family_global,
    &ikt_family_outliers,  &ikt_family_data_outliers, &ikt_family_separation,
    &ikt_family_kernel,    &ikt_family_input_labels};
enum { FAMILIES = sizeof families / sizeof *families };

/* The names that measures come under. Where several share a word, all of them are meant. */
/* clang-format off */
static const ikt_measure_name names[] = {
    {"Davies-Bouldin", "clusters", -1, "Davies-Bouldin index of the classes",
     "davies-bouldin davies-bouldin-score davies-bouldin-index db dbi"},
    {"Calinski-Harabasz", "clusters", 1, "Calinski-Harabasz index of the classes",
     "calinski-harabasz calinski-harabasz-score calinski-harabasz-index ch chi"},
    {"silhouette", "silhouette", 1, "silhouette of the classes", "silhouette-score asw"},
    {"NMI of k-means", "kmeans", 1, "k-means clusters against the classes", "nmi k-means"},
    {"silhouette of k-means", "kmeans", 1, "silhouette of k-means clusters",
     "k-means silhouette-of-k-means"},
    {"Davies-Bouldin of k-means", "kmeans", -1, "Davies-Bouldin index of k-means clusters",
     "k-means davies-bouldin-of-k-means"},
    {"NMI of k-means (k #)", "kmeans", 1, "# k-means clusters against the classes", "k-means"},
    {"silhouette of k-means (k #)", "kmeans", 1, "silhouette of # k-means clusters", "k-means"},
    {"Davies-Bouldin of k-means (k #)", "kmeans", -1,
     "Davies-Bouldin index of # k-means clusters", "k-means"},
    {"#-NN accuracy, self included", "labels", 1,
     "accuracy of the # nearest neighbours, the row among them", "self-included"},
    {"#-NN accuracy", "labels", 1, "accuracy of the # nearest neighbours",
     "accuracy knn knn-accuracy k-nn-accuracy neighbours neighbors"},
    {"1-NN error", "labels", -1, "error of the nearest neighbour",
      "1nn 1-nn 1nn-error 1-nn-error error"},
    {"1-NN error, input", "input-labels", -1, "error of the nearest neighbour in the input",
     "1nn-input 1-nn-error-input input-error"},
    {"visualisation epsilon", "visible", -1, NULL, "visualisation epsilon"},
    {"visible epsilon, class #", "visible", -1, NULL, NULL},
    {"AUC_RNX", "ranks", 1, "neighbourhoods of all sizes kept", "auc auc-rnx rnx"},
    {"AUC_RNX (paper's k)", "ranks", 1, "neighbourhoods of the paper's sizes kept",
     "auc auc-rnx rnx"},
    {"trustworthiness (k #)", "ranks", 1, "trustworthiness of # neighbours",
     "trustworthiness trust"},
    {"continuity (k #)", "ranks", 1, "continuity of # neighbours", "continuity"},
    {"AUC_RNX, kernel", "kernel", 1, "neighbourhoods of all sizes kept, by the kernel", NULL},
    {"AUC_RNX (paper's k), kernel", "kernel", 1,
     "neighbourhoods of the paper's sizes kept, by the kernel", NULL},
    {"trustworthiness (k #), kernel", "kernel", 1, "trustworthiness of # neighbours, by the kernel",
     NULL},
    {"continuity (k #), kernel", "kernel", 1, "continuity of # neighbours, by the kernel", NULL},
    {"precision-recall area", "retrieval", 1, "precision and recall of neighbours",
     "precision-recall precision recall"},
    {"triplet accuracy", "triplets", 1, "triplets of rows in the right order",
     "triplet triplet-accuracy random-triplet"},
    {"global score", "global", 1, NULL, "global-score"},
    {"outlier ratio", "outliers", 0, NULL, "outlier-ratio"},
    {"outlier ratio of the data", "data-outliers", 0, NULL, "data-outlier-ratio"},
    {"gamma", "separation", 0, NULL, "gamma"},
    {"gamma spherical", "separation", 0, NULL, "gamma"},
    {"gamma separated", "separation", 0, NULL, "gamma"},
    {"row # to class #", "marked", 0, NULL, NULL},
    {"row # to class #, mean", "marked", 0, NULL, NULL},
    {"marked rows apart", "apart", 0, NULL, NULL},
    {"arrangement error", "reference", -1, NULL, NULL},
    {"arrangement error, second copy", "reference", -1, NULL, NULL},
    {"copies apart", "reference", 1, NULL, NULL},
    {"KL", "run", 0, NULL, NULL},
    {"cost", "run", 0, NULL, NULL},
    {"seconds", "run", 0, NULL, NULL},
    {"seconds similarities", "run", 0, NULL, NULL},
    {"seconds layout", "run", 0, NULL, NULL},
    {"MB per rank", "run", 0, NULL, NULL},
};
/* clang-format on */
enum { NAMES = sizeof names / sizeof *names };

ikt_measure_settings ikt_measure_defaults(void) {
    return (ikt_measure_settings){.k = 10,
                                  .trust_k = 12,
                                  .triplets = 5,
                                  .restarts = 10,
                                  .exact_limit = 20000,
                                  .sample = 2000,
                                  .label_limit = 200000,
                                  .label_sample = 100000,
                                  .seed = 1,
                                  .batch_bytes = (int64_t)256 << 20};
}

const char *ikt_measure_family_name(int i) {
    return i >= 0 && i < FAMILIES ? families[i]->name : NULL;
}

const char *ikt_measure_family_help(int i) {
    return i >= 0 && i < FAMILIES ? families[i]->help : NULL;
}

static size_t family_number(const char *name, size_t length) {
    size_t f = 0;
    while (f < FAMILIES &&
           !(strlen(families[f]->name) == length && strncmp(families[f]->name, name, length) == 0))
        f++;
    return f;
}

/* Whether a list of names, separated by blanks, holds the word [length]; - and _ are the same, and
 * so are large and small letters. */
static bool holds_name(const char *list, const char *word, size_t length) {
    for (; *list; list += strcspn(list, " "), list += strspn(list, " ")) {
        size_t same = 0;
        while (same < length && list[same] && list[same] != ' ' &&
               (list[same] == tolower((unsigned char)word[same]) ||
                (list[same] == '-' && strchr("_ ", word[same]))))
            same++;
        if (same == length && (list[same] == ' ' || list[same] == '\0')) return true;
    }
    return false;
}

/* Number of the family of the next word of a list "a,b", which is moved behind it; FAMILIES where
 * the word is neither a family nor a measure.
 *   measures   receives which single measures of `names` the word asks for; NULL: nobody asks */
static size_t next_family(const char **list, bool *measures) {
    const char *word = *list;
    const size_t length = strcspn(word, ",");
    size_t f = family_number(word, length);
    *list = word[length] ? word + length + 1 : NULL;
    if (f < FAMILIES || length == 0) return f;
    for (int i = 0; i < NAMES; i++) {
        if (!names[i].asked || !holds_name(names[i].asked, word, length)) continue;
        f = family_number(names[i].family, strlen(names[i].family));
        if (measures) measures[i] = true;
    }
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
        const size_t f = next_family(&list, NULL);
        any |= f < FAMILIES &&
               (families[f]->needs & (IKT_MEASURE_NEEDS_INPUT | IKT_MEASURE_NEEDS_CODES)) != 0;
    }
    return any;
}

bool ikt_measures_need_ranks(const char *list) {
    bool any = !list[0];
    while (list && *list) {
        const size_t f = next_family(&list, NULL);
        any |= f < FAMILIES && families[f] == &ikt_family_ranks;
    }
    return any;
}

/* The measures asked for. A family is `whole` where all that it finds is wanted, and not only the
 * single measures that were asked for. */
typedef struct {
    bool family[FAMILIES], whole[FAMILIES], measure[NAMES];
} selection;

/* Whether a family is computed where nobody names it. One that needs nothing of the data is told
 * beside the same of the data alone. */
static bool is_usual(const ikt_measure_family *f, const ikt_measure_settings *settings,
                     bool has_input) {
    return !settings->only && (f->is_cheap || !settings->cheap_only) && (f->needs || has_input);
}

/* SAME-ARGS. Takes "a,b" apart; everything that is possible is wanted where there is no list. */
static ikt_status find_wanted(ikt_context *ctx, const ikt_measure_settings *settings,
                              const ikt_measured *what, selection *asked) {
    bool *wanted = asked->family;
    const bool columns = what->data && !ikt_dataset_pairs(what->data);
    const unsigned has = has_of(what->has_labels, what->data, columns, what->codes);
    for (size_t f = 0; f < FAMILIES; f++)
        wanted[f] = asked->whole[f] =
            is_usual(families[f], settings, what->data) && !lacking(families[f], has);
    for (const char *list = settings->only; list;) {
        const char *name = list;
        const size_t length = strcspn(name, ","), f = next_family(&list, asked->measure);
        if (f == FAMILIES) {
            char known[256] = "";
            for (size_t other = 0; other < FAMILIES; other++) {
                const char *between = other == FAMILIES - 1 ? " and " : ", ";
                ikt_join(known, sizeof known, between, "%s", families[other]->name);
            }
            char word[64], hint[200];
            snprintf(word, sizeof word, "%.*s", (int)length, name);
            ikt_measure_hint(word, hint, sizeof hint);
            return ikt_fail(ctx, IKT_ERR_USAGE,
                            "'%s' is no measure; there are the families %s, and single measures "
                            "such as trustworthiness, accuracy and silhouette%s",
                            word, known, hint);
        }
        const char *missing = lacking(families[f], has);
        if (missing && settings->leaves_out) continue;
        if (missing)
            return ikt_fail(ctx, IKT_ERR_USAGE, "the measures '%s' need %s", families[f]->name,
                            missing);
        wanted[f] = true;
        asked->whole[f] |= family_number(name, length) == f;
    }
    for (size_t f = 0; f < FAMILIES; f++)
        if (wanted[f] && families[f]->check) IKT_TRY(families[f]->check(ctx, settings, what));
    return IKT_OK;
}

/* SAME-ARGS. Whether the labels make classes that the family takes. */
static ikt_status check_classes(ikt_context *ctx, const ikt_measure_view *view,
                                const ikt_measure_family *family, bool *is_good) {
    const int64_t count = view->classes.count, most = family->classes_most;
    const bool by_class = (family->needs & IKT_MEASURE_NEEDS_LABELS) != 0;
    *is_good = most == 0 || (count >= 2 && count < view->labelled && count <= most);
    if (*is_good && by_class && view->labelled < 2) {
        *is_good = false;
        return ikt_measure_refuse(ctx, view->settings,
                                  "the measures '%s' need 2 rows with a label, and there %s",
                                  family->name, view->labelled ? "is one" : "are none");
    }
    if (*is_good) return IKT_OK;
    return ikt_measure_refuse(
        ctx, view->settings,
        "%s need 2 to %lld classes, fewer than the %lld rows with a label; the labels have %lld",
        family->classes_for, (long long)most, (long long)view->labelled, (long long)count);
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
            by_code == ((families[f]->needs & IKT_MEASURE_NEEDS_CODES) != 0)) {
            observer[count].held = ikt_arrays_of(ctx, "measures");
            family[count++] = families[f];
        }
    if (count == 0) return IKT_OK;
    for (int f = 0; f < count && st == IKT_OK; f++) {
        bool is_good;
        st = check_classes(ctx, view, family[f], &is_good);
        if (st == IKT_OK && is_good) st = family[f]->begin(view, &observer[f]);
    }
    st = ikt_agree(ctx, st);
    if (st == IKT_OK)
        st = ikt_queries_run(ctx, view->settings, view->what, view->y, by_code, observer, count);
    for (int f = 0; f < count; f++) {
        if (st == IKT_OK && observer[f].see)
            st = ikt_agree(ctx, family[f]->finish(ctx, view, observer[f].self, out));
        ikt_query_observer_free(&observer[f]);
    }
    return st;
}

/* Drops from place `first` on what families found beside the single measures asked for. */
static void drop_others(const selection *asked, ikt_measures *out, int64_t first) {
    int64_t kept = first;
    for (int64_t i = first; i < out->count; i++) {
        const ikt_measure_name *found = ikt_measure_find(out->list[i].name);
        const size_t f = found ? family_number(found->family, strlen(found->family)) : FAMILIES;
        if (f == FAMILIES || asked->whole[f] || asked->measure[found - names])
            out->list[kept++] = out->list[i];
    }
    out->count = kept;
}

static ikt_status check_finite(ikt_context *ctx, const ikt_measured *what) {
    for (int64_t e = 0; e < what->q * what->rows.count; e++)
        if (!isfinite(what->y[e]))
            return ikt_fail(ctx, IKT_ERR_DATA,
                            "the position of row %lld is not finite, so the map cannot be "
                            "measured; run it again with a smaller learning rate",
                            (long long)(what->rows.first + e / what->q));
    return IKT_OK;
}

static bool asks_for_labels(const bool wanted[FAMILIES]) {
    bool any = false;
    for (size_t f = 0; f < FAMILIES; f++)
        any |= wanted[f] && (families[f]->needs & IKT_MEASURE_NEEDS_LABELS) != 0;
    return any;
}

static void tell_unlabelled(ikt_context *ctx, const ikt_measured *what,
                            const ikt_labelled_map *labelled, ikt_measures *out) {
    out->unlabelled = labelled->missing;
    if (labelled->missing == 0) return;
    ikt_log_numbers(ctx, IKT_LOG_STAGE, IKT_LOG_NUMBERS(IKT_LOG_INT("rows", labelled->missing)),
                    "%lld of %lld rows have no label (below 0, or an empty name): measures of "
                    "classes leave them out",
                    (long long)labelled->missing, (long long)what->rows.n);
}

ikt_status ikt_measures_compute(ikt_context *ctx, const ikt_measure_settings *settings,
                                const ikt_measured *map, ikt_measures *out) {
    ikt_measured with_classes = *map;
    const ikt_measured *what = &with_classes;
    selection asked = {.family = {false}};
    const bool *wanted = asked.family;
    const int64_t before = out->count;
    bool any = false;
    ikt_measure_view view IKT_AT_END(ikt_measure_view_free) = {0};
    ikt_labelled_map labelled IKT_AT_END(ikt_labelled_map_free) = {.missing = 0};
    if (what->q < 1 || what->q > IKT_AXES_MOST)
        return ikt_fail(
            ctx, IKT_ERR_USAGE,
            "a map of %lld columns cannot be measured: measures are defined for 1 to %d",
            (long long)what->q, IKT_AXES_MOST);
    IKT_TRY(ikt_agree(ctx, check_finite(ctx, what)));
    IKT_TRY(find_wanted(ctx, settings, what, &asked));
    for (size_t f = 0; f < FAMILIES; f++)
        any = any || wanted[f];
    if (!any) return IKT_OK;
    if (map->has_labels)
        with_classes.least = ikt_labels_least(ctx, map->labels, map->rows.count, map->names);
    IKT_TRY(ikt_measure_view_make(ctx, settings, what, &view));
    if (asks_for_labels(wanted)) IKT_TRY(ikt_labelled_map_make(ctx, settings, what, &labelled));
    tell_unlabelled(ctx, what, &labelled, out);
    for (size_t f = 0; f < FAMILIES; f++) {
        const bool by_class = (families[f]->needs & IKT_MEASURE_NEEDS_LABELS) != 0;
        const ikt_measure_view *seen = by_class && labelled.view.n > 0 ? &labelled.view : &view;
        bool is_good;
        if (!wanted[f] || !families[f]->compute) continue;
        IKT_TRY(check_classes(ctx, seen, families[f], &is_good));
        if (is_good) IKT_TRY(ikt_agree(ctx, families[f]->compute(ctx, seen, out)));
    }
    IKT_TRY(compute_queries(ctx, &view, false, wanted, out));
    IKT_TRY(compute_queries(ctx, &view, true, wanted, out));
    drop_others(&asked, out, before);
    return IKT_OK;
}

int64_t ikt_measures_memory(const ikt_measure_settings *settings,
                            const ikt_measure_extent *extent) {
    bool listed[FAMILIES + 1] = {false};
    const unsigned has =
        has_of(extent->classes > 0, extent->input, extent->input, extent->stride > 0);
    int64_t most = 0, passes[2] = {0, 0};
    for (const char *list = settings->only; list;)
        listed[next_family(&list, NULL)] = true;
    for (size_t f = 0; f < FAMILIES; f++) {
        const ikt_measure_family *of = families[f];
        const bool by_code = (of->needs & IKT_MEASURE_NEEDS_CODES) != 0;
        const bool runs = settings->only ? listed[f] : is_usual(of, settings, extent->input);
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

bool ikt_measure_is_asked(const ikt_measure_name *name, const char *word) {
    return name->asked && holds_name(name->asked, word, strlen(word));
}

bool ikt_measure_named(const char *word, char *text, size_t size) {
    const ikt_measure_settings usual = ikt_measure_defaults();
    int i = 0;
    if (ikt_measure_find(word)) return snprintf(text, size, "%s", word) > 0;
    while (i < NAMES && !ikt_measure_is_asked(&names[i], word))
        i++;
    if (i == NAMES) return false;
    const char *pattern = names[i].pattern, *number = strchr(pattern, '#');
    if (!number) return snprintf(text, size, "%s", pattern) > 0;
    const int64_t k = number == pattern ? usual.k : usual.trust_k; /* "#-NN", "(k #)" */
    snprintf(text, size, "%.*s%lld%s", (int)(number - pattern), pattern, (long long)k, number + 1);
    return true;
}

/* The nearest of the words "a b c", for as long as they last. */
static void offer_words(ikt_nearest *nearest, const char *words) {
    char word[64];
    while (words && *words) {
        const size_t length = strcspn(words, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        ikt_nearest_offer(nearest, word);
        words += length + (words[length] == ' ');
    }
}

void ikt_measure_hint(const char *name, char *text, size_t size) {
    ikt_nearest nearest = ikt_nearest_begin(name);
    for (int i = 0; i < NAMES; i++) {
        ikt_nearest_offer(&nearest, names[i].pattern);
        offer_words(&nearest, names[i].asked);
    }
    snprintf(text, size, "%s%s", ikt_nearest_say(&nearest),
             strchr(nearest.name, '#') ? " (# stands for a number)" : "");
}

/* The numbers of the name stand where the words have a #, one after the other. */
void ikt_measure_plain(const char *name, char *text, size_t size) {
    const ikt_measure_name *found = ikt_measure_find(name);
    size_t used = 0;
    if (!found || !found->plain) {
        snprintf(text, size, "%s", name);
        return;
    }
    for (const char *at = found->plain; *at && used + 1 < size; at++) {
        if (*at != '#') {
            text[used++] = *at;
            continue;
        }
        name += strcspn(name, "0123456789");
        for (; *name >= '0' && *name <= '9' && used + 1 < size; name++)
            text[used++] = *name;
    }
    text[used] = '\0';
}

int ikt_measure_way(const char *name) {
    const ikt_measure_name *found = ikt_measure_find(name);
    return found ? found->better : 0;
}
