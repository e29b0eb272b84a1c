/* Measures of an embedding (methods, section 4; docs/measures.md has every definition).
 *
 * A family of measures is one file that defines an ikt_measure_family (family.h) and one line of
 * the table in measure.c. Results are the same bits on any ranks and threads: counts are integers,
 * and sums over points are exact or in the order of the rows.
 */
#ifndef IKT_EVALUATE_MEASURE_H
#define IKT_EVALUATE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "data/dataset.h"
#include "dist/rows.h"
#include "isolation/codes.h"
#include "neighbours/neighbours.h"

typedef struct {
    int64_t k;            /* neighbours of the label accuracy, 1 .. n - 1 */
    int64_t trust_k;      /* neighbours of trustworthiness and continuity, below n / 2 */
    int64_t triplets;     /* random triplets of each query, >= 1 */
    int64_t restarts;     /* of k-means, >= 1 */
    int64_t clusters;     /* of k-means beside as many as there are classes; 0: none */
    int64_t exact_limit;  /* up to this many rows every row is a query */
    int64_t sample;       /* queries beyond that, >= 1 */
    int64_t label_limit;  /* the same for the accuracy of labels in the map, and */
    int64_t label_sample; /* rows that are looked at beyond that */
    uint64_t seed;        /* of the samples, of triplets and of k-means */
    int64_t batch_bytes;  /* distances a rank holds at a time; changes the time only */
    bool cheap_only;      /* leave out what costs more than a search for neighbours in the map */
    bool keep_curve;      /* the family `ranks` fills measures->curve */
    bool leaves_out;      /* leave out, too, what is asked for by name and the data do not allow */
    bool fits_k;          /* where fewer rows have a label, k is as many as there are others */
    const char *only; /* families or measures asked for by name, "clusters,trustworthiness"; NULL:
                         all that are possible */
} ikt_measure_settings;

/* COLLECTIVE. The least label that is a class: those below 0 stand for none, but where classes have
 * no names -1 and 1 alone are two of them, as programs that tell two apart write them.
 *   labels   [count] of the own rows
 *   names    a line a class, or NULL */
int64_t ikt_labels_least(ikt_context *ctx, const int64_t *labels, int64_t count, const char *names);

/* The map to measure, and its input; rows, q and has_labels are the same on all ranks. Arrays are
 * of the own rows, borrowed. */
typedef struct {
    ikt_rows rows;
    const float *y;        /* [rows.count * q] */
    int64_t q;             /* columns of y: 1, 2 or 3 */
    const int64_t *labels; /* [rows.count]; has_labels false: none. Below `least`: the row has none,
                              and measures of classes are those of the others */
    int64_t least;         /* 0, or as ikt_labels_least says */
    const char *names;     /* of the classes, a line each; or NULL */
    bool has_labels;
    ikt_dataset *data; /* the input, or NULL on all ranks: families that need it are left out */
    const ikt_codes *codes; /* codes of the own rows, or NULL on all ranks, as with data */
} ikt_measured;

typedef struct {
    char name[48];
    double value;   /* NaN where there is none; the note says why */
    int64_t sample; /* queries it was estimated from; 0: all rows */
    char note[160]; /* how to read it */
} ikt_measure;

/* Agreement of neighbourhoods of every size k = 1 .. count. */
typedef struct {
    int64_t count;    /* n - 2 */
    int64_t queries;  /* rows that were looked from */
    double *overlap;  /* [count] Q(k): share of common neighbours, at overlap[k - 1] */
    double *rescaled; /* [count] R(k) = ((n - 1) Q(k) - k) / (n - 1 - k): 0 is a random map */
} ikt_rank_curve;

typedef struct {
    ikt_measure *list; /* [count], owned */
    int64_t count, capacity;
    ikt_rank_curve curve; /* owned; empty unless asked for */
    int64_t unlabelled;   /* rows without a label, which measures of classes left out */
} ikt_measures;

/* LOCAL. Defaults: k 10, trust_k 12, 5 triplets, 10 restarts, exact up to 20,000 rows, then 2,000
 * queries, seed 1, 256 MiB of distances, all families. */
ikt_measure_settings ikt_measure_defaults(void);

/* LOCAL, pure. The neighbours of trustworthiness and continuity that few rows allow: those that are
 * wanted, but at most n / 3. */
static inline int64_t ikt_measure_trust_k(int64_t wanted, int64_t n) {
    return wanted < n / 3 ? wanted : n / 3;
}

/* LOCAL. i-th family of the table, NULL beyond the last: its name and what it measures. */
const char *ikt_measure_family_name(int i);
const char *ikt_measure_family_help(int i);

/* LOCAL, pure. Whether the list ("clusters,trustworthiness") has a family or measure that compares
 * with the input. */
bool ikt_measures_need_input(const char *families);

/* LOCAL, pure. Whether the family `ranks` is computed for the list; "" stands for all. */
bool ikt_measures_need_ranks(const char *list);

/* A name that measures come under; which of them a study may ask for, and which way is better. */
typedef struct {
    const char *pattern; /* "#-NN accuracy": a # stands for an integer */
    const char *family;  /* of measure.h; "marked": where marked rows landed; "run": of the run */
    int better;          /* +1 larger, -1 smaller, 0 neither */
    const char *plain;   /* in words, with a # where the pattern has one; NULL: the pattern does */
    const char *asked;   /* what it may be asked for by, "trustworthiness knn"; NULL: its family */
} ikt_measure_name;

/* LOCAL, all of them, pure. The entry of a name; NULL where there is no such measure. The i-th
 * entry, NULL beyond the last. */
const ikt_measure_name *ikt_measure_find(const char *name);
const ikt_measure_name *ikt_measure_pattern(int i);

/* Whether a measure may be asked for by a word, in letters of any case: "trust". */
bool ikt_measure_is_asked(const ikt_measure_name *name, const char *word);

/* The first measure that a word asks for, by the name that it has with the numbers of
 * ikt_measure_defaults: "trustworthiness (k 12)" for "trust"; a name that is one as it is.
 *   text   [size] receives it
 * Returns whether there is one. */
bool ikt_measure_named(const char *word, char *text, size_t size);

/* "; did you mean ...?" with what is nearest to a name that is none, a pattern or a word that
 * measures are asked for by; "" where none is near.
 *   text   [size] receives it */
void ikt_measure_hint(const char *name, char *text, size_t size);

/* The name of a measure in words, "accuracy of the 10 nearest neighbours"; the name itself where it
 * says enough.
 *   text   [size] receives it */
void ikt_measure_plain(const char *name, char *text, size_t size);

/* The way in which a measure is better; 0 also where there is no such measure. */
int ikt_measure_way(const char *name);

/* COLLECTIVE; the same settings on all ranks. Appends to *out every measure that what is given
 * allows, or those asked for: families (ikt_measure_family_name), or single measures by their names
 * in words (ikt_measure_name), such as trustworthiness, accuracy or silhouette. Data that do not
 * allow a family (labels that make no clusters, too many columns) cost a warning, or fail where
 * `only` names it.
 *   out   zero-initialised or filled before, the same on every rank; freed with
 *         ikt_measures_destroy, also after a failure.
 * Errors: IKT_ERR_USAGE (k or trust_k too large for n, a family that is unknown or lacks what it
 * needs), IKT_ERR_DATA (a position that is not finite, no clusters), IKT_ERR_RESOURCE, those of
 * reading. */
ikt_status ikt_measures_compute(ikt_context *ctx, const ikt_measure_settings *settings,
                                const ikt_measured *map, ikt_measures *out);

/* COLLECTIVE. The curve alone, from as many queries as the measures take.
 *   what   with data
 *   out    the same on every rank; freed with ikt_rank_curve_destroy; empty on failure
 * Errors: as above. Cost: n d + n operations a query. */
ikt_status ikt_measure_rank_curve(ikt_context *ctx, const ikt_measure_settings *settings,
                                  const ikt_measured *what, ikt_rank_curve *out);
void ikt_rank_curve_destroy(ikt_rank_curve *curve);

/* The sizes that memory depends on. */
typedef struct {
    int64_t n, d, q; /* rows, columns after preprocessing, columns of the map */
    int64_t classes; /* of the labels; 0: none */
    int64_t stride;  /* bytes of a row of codes; 0: none */
    int ranks, threads;
    bool input; /* whether there is any */
} ikt_measure_extent;

/* LOCAL. Predicted peak bytes per rank of ikt_measures_compute, where all rows have a label: those
 * that have one among others are held once more (labelled.c). */
int64_t ikt_measures_memory(const ikt_measure_settings *settings, const ikt_measure_extent *extent);

/* LOCAL. Appends one value. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_measures_add(ikt_context *ctx, ikt_measures *measures, const char *name,
                            double value, int64_t sample, const char *note);

/* LOCAL. Empties the list and frees its memory. */
void ikt_measures_destroy(ikt_measures *measures);

/* --- before anything is placed -------------------------------------------------------------- */

/* COLLECTIVE. Share of rows whose label the majority of their k best neighbours has (of fewer where
 * lists are shorter); among equal votes the smallest label counts. Rows without a label (below 0)
 * neither count nor have a vote, nor do rows count none of whose neighbours has one; negative where
 * no row is left.
 *   lists      neighbours by score, in any order
 *   labels     [rows->count] of the own rows, in the order of the lists
 *   names      of the classes, or NULL
 *   accuracy   the same on every rank
 * Errors: IKT_ERR_RESOURCE. Memory: labels of all rows, 8 n bytes. */
ikt_status ikt_list_label_accuracy(ikt_context *ctx, const ikt_rows *rows,
                                   const ikt_neighbours *lists, const int64_t *labels,
                                   const char *names, int64_t k, double *accuracy);

/* LOCAL. The most frequent of `count` >= 1 votes, the smallest of several; sorts them. */
int64_t ikt_votes_majority(int64_t *votes, int64_t count);

/* --- the structure of the data as a whole (structure.c) --------------------------------------- */

/* COLLECTIVE. Appends
 *   "arrangement error"                of the map, or of its first half where it has twice as many
 *                                      rows as the reference,
 *   "arrangement error, second copy"   then also of the other half, and
 *   "copies apart"                     the share of triplets of rows, two of one half and one of
 *                                      the other, in which the two are nearer to each other: 0.5
 *                                      where the halves are mixed, 1 where they are apart.
 *   map, reference   with labels and the same q; a map without labels, or with fewer than three
 *                    classes in common, appends nothing
 *   seed             of the triplets: five for each row, of at most 20,000 rows
 * Errors: IKT_ERR_USAGE where q differs, IKT_ERR_RESOURCE. Cost: n q; memory: 4 (q + 1) n bytes. */
ikt_status ikt_measure_arrangement(ikt_context *ctx, const ikt_measured *map,
                                   const ikt_measured *reference, uint64_t seed, ikt_measures *out);

/* LOCAL, pure. The error that is left after fitting the points b onto a: 1 - (sum of the singular
 * values of A'B)^2 / (|A|^2 |B|^2), both centred; as scipy.spatial.procrustes. NaN where one of
 * them is a single place. a, b   [count * q], q 1 .. 3 */
double ikt_procrustes_error(const double *a, const double *b, int64_t count, int64_t q);

/* COLLECTIVE. Appends "marked rows apart", the least of the ratios of the marked rows; nothing
 * where none is marked.
 *   marked   [n_marked] rows, the same on every rank
 * The median is over at most 2,000 rows. Errors: IKT_ERR_RESOURCE. Cost: n log n; every rank holds
 * the map. */
ikt_status ikt_measure_apart(ikt_context *ctx, const ikt_measured *what, const int64_t *marked,
                             int64_t n_marked, ikt_measures *out);

/* --- classes (family.c) ----------------------------------------------------------------------- */

/* The classes of a labelled data set: distinct labels, numbered in ascending order. */

typedef struct {
    int64_t count;
    int64_t *label; /* [count] ascending, the same on every rank */
} ikt_classes;

/* COLLECTIVE. The distinct labels of all rows, the same on every rank.
 *   labels   [n_local] of the own rows, borrowed.
 *   out      freed with ikt_classes_destroy; empty on failure.
 * Errors: IKT_ERR_RESOURCE. Cost: n_local log n_local. */
ikt_status ikt_classes_find(ikt_context *ctx, const int64_t *labels, int64_t n_local,
                            ikt_classes *out);
void ikt_classes_destroy(ikt_classes *classes);

/* LOCAL. Number of the class of a label: 0 .. count - 1; -1 where no row has it. */
int64_t ikt_classes_number(const ikt_classes *classes, int64_t label);

#endif
