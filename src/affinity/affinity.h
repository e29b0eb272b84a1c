/* From neighbours to conditional probabilities p_j|i: settings, kinds of affinity, weights.
 *
 * A kind is one struct in one file and one line in the table of kinds below. The pipeline brings
 * together what it asks for (lists of the most similar rows, or all scores) and knows nothing else
 * of it. A key of its own belongs into a section of its own, which parser, --help and printing then
 * know.
 */
#ifndef IKT_AFFINITY_AFFINITY_H
#define IKT_AFFINITY_AFFINITY_H

#include <stdbool.h>
#include <stdint.h>

#include "affinity/dense.h"
#include "affinity/whole.h"
#include "base/status.h"
#include "config/config.h"
#include "config/facts.h"
#include "data/dataset.h"
#include "dist/order.h"
#include "metric/fisher_settings.h"
#include "neighbours/neighbours.h"

/* The table of kinds: the struct ikt_affinity_NAME, its number, and what the help of affinity.kind
 * says of it. The choices of affinity.kind are in this order. */
#define IKT_AFFINITY_TABLE(KIND)                                                                   \
    KIND(isolation, ISOLATION, "isolation is the Isolation kernel")                                \
    KIND(gaussian, GAUSSIAN, "gaussian is that of plain t-SNE")                                    \
    KIND(knn, KNN, "knn is 1 for the nearest rows and 0 for all others")                           \
    KIND(adaptive, ADAPTIVE,                                                                       \
         "adaptive is a Gaussian whose width at a row is its distance to a near row")              \
    KIND(fuzzy, FUZZY, "fuzzy has the weights of UMAP (docs/umap.md)")                             \
    KIND(fisher, FISHER,                                                                           \
         "fisher is a Gaussian of distances that follow given labels (docs/fisher.md)")            \
    KIND(laplacian, LAPLACIAN, "laplacian falls exponentially with the distance itself")           \
    KIND(graph, GRAPH,                                                                             \
         "graph takes the weights of input.graph, and is implied wherever that is given")

#define IKT_AFFINITY_NUMBER(name, NAME, help) IKT_AFFINITY_##NAME,
typedef enum { IKT_AFFINITY_TABLE(IKT_AFFINITY_NUMBER) IKT_AFFINITIES } ikt_affinity_name;

typedef enum { IKT_SUPPORT_SPARSE, IKT_SUPPORT_DENSE, IKT_SUPPORT_WHOLE } ikt_support;

typedef enum { IKT_SEARCH_AUTO, IKT_SEARCH_EXACT, IKT_SEARCH_APPROXIMATE } ikt_search;

typedef struct {
    double perplexity;
} ikt_gaussian_settings;

typedef struct {
    int64_t neighbours; /* sigma is the distance to so many-th nearest row */
} ikt_adaptive_settings;

/* What the numbers are; as graph.values has them, and behind those what a kept graph holds. */
typedef enum {
    IKT_EDGES_AUTO,          /* as the file says, by attribute or name */
    IKT_EDGES_SIMILARITIES,  /* >= 0: p_j|i = w_ij / sum of the row */
    IKT_EDGES_DISTANCES,     /* >= 0: kernel of graph.weights */
    IKT_EDGES_PROBABILITIES, /* symmetric P up to a factor */
    IKT_EDGES_NONE,          /* an edge is an edge: p_j|i = 1 / edges of the row */
    IKT_EDGES_CONDITIONAL    /* p_j|i itself */
} ikt_edges;

typedef enum { IKT_WEIGHTS_GAUSSIAN, IKT_WEIGHTS_KNN } ikt_edge_kernel;

typedef struct {
    int values;       /* ikt_edges */
    int weights;      /* ikt_edge_kernel */
    bool is_pairwise; /* no key: input.graph is a matrix of all pairs, once that is known */
} ikt_graph_settings;

typedef struct {
    int kind;                 /* ikt_affinity_name */
    int64_t neighbours;       /* k, or IKT_AUTO_INT */
    int support;              /* ikt_support */
    int search;               /* ikt_search */
    int64_t passes;           /* approximate searches by distance, or IKT_AUTO_INT */
    int64_t candidates;       /* of a row in each, or IKT_AUTO_INT */
    int64_t refinements;      /* rounds over neighbours of neighbours after it, or IKT_AUTO_INT */
    ikt_whole_settings whole; /* support: whole, in a section of its own */
    ikt_gaussian_settings gaussian; /* of single kinds, in sections of their own */
    ikt_adaptive_settings adaptive;
    ikt_graph_settings graph;
    ikt_fisher_settings fisher;
} ikt_affinity_settings;

extern const ikt_section ikt_affinity_section, ikt_gaussian_section, ikt_adaptive_section,
    ikt_graph_section;

/* SAME-ARGS. Checks the settings against n rows and resolves what is "auto".
 *   k   receives the neighbours of a row, at most n - 1. With dense support, where every pair has a
 *       weight, they serve kinds that look at neighbours all the same: see there.
 * Errors: IKT_ERR_USAGE with key, value and what is possible. */
ikt_status ikt_affinity_resolve(ikt_context *ctx, const ikt_affinity_settings *settings, int64_t n,
                                int64_t *k);

/* LOCAL. Lowers what was chosen for more rows to what suits a subset of n of them, and leaves to
 * choose again what depends on their number. */
void ikt_affinity_shrink(ikt_affinity_settings *settings, int64_t n);

/* LOCAL, pure. Whether neighbours of n rows are searched for in near cells only (auto: from 16,384
 * rows on), and among how many candidates a row then is. Lists that serve triplets have
 * fewer (settings/settings.h has candidates and rounds of a run). */
bool ikt_affinity_is_approximate(const ikt_affinity_settings *settings, int64_t n);
int64_t ikt_affinity_candidates(const ikt_affinity_settings *settings, int64_t n, int64_t k,
                                int64_t passes, bool has_triplets);

/* LOCAL, pure. How many searches with cells of their own follow each other where rows of so many
 * columns are compared by distance. */
int64_t ikt_affinity_passes(const ikt_affinity_settings *settings, int64_t columns);

/* LOCAL, pure. The same where the rows of so many fine cells are compared (neighbours/fine.h). */
int64_t ikt_affinity_fine_candidates(const ikt_affinity_settings *settings, int64_t n,
                                     int64_t cells, int64_t k);

/* --- kinds ------------------------------------------------------------------------------------ */

/* What the scores of lists and scorers are. */
typedef enum {
    IKT_SCORES_CODES,     /* numbers of differing entries of the rows' cell codes */
    IKT_SCORES_DISTANCES, /* squared Euclidean distances of the preprocessed rows */
    IKT_SCORES_CLASSES,   /* squared Fisher distances, by given labels (metric/segment.h) */
    IKT_SCORES_NONE       /* of a run whose neighbours come from a graph: of no kind */
} ikt_affinity_scores;

/* How both directions of a pair become one entry of P. */
typedef enum {
    IKT_SYMMETRY_MEAN, /* p_ij = (p_j|i + p_i|j) / (2 n), where rows sum to 1 */
    IKT_SYMMETRY_UNION /* w_j|i + w_i|j - w_j|i w_i|j of weights from 0 to 1, the probability that
                          one of two independent events happens; P is that divided by its total */
} ikt_symmetry;

/* What there is to know when weights are made. All of it is borrowed. */
typedef struct {
    const ikt_affinity_settings *settings;
    int64_t k;              /* neighbours of a row, resolved */
    int64_t t;              /* entries of a code, where scores are of codes */
    ikt_dataset *data;      /* the rows, which may be read again; NULL beside a file of all pairs */
    const ikt_rows *rows;   /* of the rows of the lists */
    const ikt_order *order; /* where lists are by slots, the order they are in; or NULL */
} ikt_affinity_job;

typedef struct {
    const char *name; /* as affinity.kind has it */
    ikt_affinity_scores scores;
    ikt_symmetry symmetry;
    const ikt_section *section; /* its keys, which kinds may share; or NULL */
    size_t keys;                /* where their struct is in ikt_affinity_settings */
    const ikt_section *also;    /* the section of others, which it reads, too; or NULL */
    const ikt_rule *rules;      /* what it does not go with; or NULL */
    /* LOCAL. Sets facts of its own keys (config/facts.h); NULL: there are none. */
    void (*facts)(const ikt_affinity_settings *settings, bool *has);
    const char *file_key;   /* the key of a file that it reads beside the data; NULL: none */
    size_t file;            /* where that stands in ikt_affinity_settings */
    bool counts_neighbours; /* affinity.neighbours means something in every form of P */
    /* LOCAL, pure. What affinity.neighbours: auto means; the caller sees to n - 1. NULL: 30. */
    int64_t (*neighbours)(const ikt_affinity_settings *settings);
    /* SAME-ARGS. Refuses settings of its own that contradict others; NULL: there are none.
     *   weighed   other rows that a row gets weights for: its neighbours, or all */
    ikt_status (*check)(ikt_context *ctx, const ikt_affinity_settings *settings, int64_t weighed);
    /* SAME-ARGS. Refuses those of its own that n rows are too few for; NULL: there are none. */
    ikt_status (*check_rows)(ikt_context *ctx, const ikt_affinity_settings *settings, int64_t n);
    /* LOCAL. Lowers its own settings to what suits a subset of n rows; NULL: there are none. */
    void (*shrink)(ikt_affinity_settings *settings, int64_t n);
    /* COLLECTIVE. Puts p_j|i, each row summing to 1, in place of the scores of lists; or weights of
     * a union.
     *   zero_similarity   receives how many rows have no similarity to any other, over all ranks
     * Errors: IKT_ERR_RESOURCE, those of reading. */
    ikt_status (*weigh)(ikt_context *ctx, const ikt_affinity_job *job, ikt_neighbours *lists,
                        int64_t *zero_similarity);
    /* COLLECTIVE. Puts the dense symmetric P in place of the scores of all pairs, which are
     * symmetric. Errors: IKT_ERR_RESOURCE, those of reading; what the matrix holds is lost then.
     * NULL: there is none, as the kind has weights for the nearest rows alone. */
    ikt_status (*dense)(ikt_context *ctx, const ikt_affinity_job *job, ikt_dense *dense,
                        int64_t *zero_similarity);
    const char
        *lighter_search; /* what makes its search take less memory; NULL: nothing of its own */
    bool weighs_alike; /* all neighbours count the same, so that P is held without values: plans */
    bool has_bandwidth_search; /* weights are found by iteration: plans of time count them */
    /* "N rows ...": why a row may have no similarity; NULL: never. */
    const char *zero_similarity_because;
} ikt_affinity;

#define IKT_AFFINITY_DECLARE(name, NAME, help) extern const ikt_affinity ikt_affinity_##name;
IKT_AFFINITY_TABLE(IKT_AFFINITY_DECLARE)

/* What kinds share that find the width of their kernel by gaussian.perplexity. */
#define IKT_PERPLEXITY_KIND                                                                        \
    .section = &ikt_gaussian_section, .keys = offsetof(ikt_affinity_settings, gaussian),           \
    .neighbours = ikt_perplexity_neighbours, .check = ikt_perplexity_check,                        \
    .shrink = ikt_perplexity_shrink, .has_bandwidth_search = true
int64_t ikt_perplexity_neighbours(const ikt_affinity_settings *settings);

/* LOCAL. Puts what `auto` means for n rows into gaussian.perplexity, and says so where these, or
 * the neighbours that are given, are too few for what is usual. Until then `auto` has no meaning
 * but the number of neighbours. */
void ikt_perplexity_resolve(ikt_context *ctx, ikt_affinity_settings *settings, int64_t n);
ikt_status ikt_perplexity_check(ikt_context *ctx, const ikt_affinity_settings *settings,
                                int64_t weighed);
void ikt_perplexity_shrink(ikt_affinity_settings *settings, int64_t n);

/* LOCAL, pure. The kind that the settings name, and any. */
const ikt_affinity *ikt_affinity_of(const ikt_affinity_settings *settings);
const ikt_affinity *ikt_affinity_kind_of(ikt_affinity_name name);

/* LOCAL, pure. The name of the file that the kind reads beside the data, "" for none; a part of the
 * settings. */
const char *ikt_affinity_file(const ikt_affinity_settings *settings);

/* LOCAL. Gives that file another name, where there is one. */
void ikt_affinity_rename_file(ikt_affinity_settings *settings, const char *name);

/* LOCAL, pure. "gaussian perplexity 30": the kind and its own keys, for people.
 *   text   [size] */
void ikt_affinity_describe(const ikt_affinity_settings *settings, char *text, size_t size);

/* LOCAL. Makes similarities of what is in own row i of the matrix, and returns their sum without
 * that of the row with itself. */
typedef double ikt_similarity_row(const ikt_affinity_job *job, const ikt_dense *dense, int64_t i);

/* COLLECTIVE. The dense P of similarities K(i, j) >= 0 of all pairs, symmetric and 0 on the
 * diagonal: p_j|i = K(i, j) / sum of row i (Zhu & Ting 2021, section 4.2).
 *   sum_row           called once for each own row, by any thread
 *   zero_similarity   rows whose sum is 0; they are tied to their nearest rows in job->data
 * Errors: IKT_ERR_DATA where there are such rows and no data; IKT_ERR_RESOURCE, those of reading.
 */
ikt_status ikt_similarities_dense(ikt_context *ctx, const ikt_affinity_job *job,
                                  ikt_similarity_row *sum_row, ikt_dense *dense,
                                  int64_t *zero_similarity);

enum { IKT_AFFINITY_PARTS = 4 };

/* LOCAL. The kinds' own sections, bound to the members of `settings`, for config.h. */
void ikt_affinity_parts(ikt_affinity_settings *settings, ikt_config_part parts[IKT_AFFINITY_PARTS]);

/* --- weights of lists ------------------------------------------------------------------------- */

/* LOCAL. Isolation kernel on neighbour lists whose scores are numbers of differing cells:
 * p_j|i = K(i, j) / sum over the list of K(i, .), with t K(i, j) = t - score (Zhu & Ting 2021,
 * section 4.2, truncated to the k most similar rows).
 *   weight   [n_local * k], receives p_j|i; all zero for a row without any similarity. May be
 *            lists->score itself: weights then take the place of scores.
 * Returns the number of such rows. */
int64_t ikt_isolation_weights(ikt_context *ctx, const ikt_neighbours *lists, int64_t t,
                              float *weight);

/* LOCAL. Gaussian kernel on neighbour lists whose scores are squared distances: p_j|i proportional
 * to exp(-beta_i d_ij^2), beta_i found so that the entropy of the row is log(perplexity).
 *   weight   [n_local * k], receives p_j|i, each row summing to 1; may be lists->score itself. */
void ikt_gaussian_weights(ikt_context *ctx, const ikt_neighbours *lists, double perplexity,
                          float *weight);

/* LOCAL. beta for one row of `count` squared distances (any order) and the sum of
 * exp(-beta (d^2 - least)) in *total; `skip` is an index to leave out, or -1. */
double ikt_gaussian_beta(const float *squared, int64_t count, int64_t skip, double perplexity,
                         double *least, double *total);

/* LOCAL, pure. UMAP's rho and sigma of a row (fuzzy.c): the sum over its k squared distances of
 * exp(-max(0, d - rho) / sigma) is `target`, as far as sigma's lower bound allows. */
typedef struct {
    double rho, sigma;
} ikt_fuzzy_row;
ikt_fuzzy_row ikt_fuzzy_fit(const float *squared, int64_t k, double target);

/* LOCAL, pure. |x - y|^2 / (sigma_x sigma_y) from the squares of all three, by the rule of
 * adaptive.c: infinite where K is 0. */
double ikt_adaptive_exponent(double squared, double reach_x, double reach_y);

/* --- edges of a graph that was made elsewhere ------------------------------------------------- */

typedef struct {
    ikt_edges values;
    ikt_edge_kernel kernel; /* of distances */
    double perplexity;      /* of the Gaussian kernel */
    double scale;           /* probabilities: what they are multiplied by */
} ikt_edge_rule;

/* LOCAL. Weights of the edges of one row, of which there is at least one. No weight is less than
 * 1e-30: an edge stays an edge.
 *   value    [count] finite, not below 0; ascending by column, so that sums have one order
 *   squared  [count] work space
 *   weight   [count], receives p_j|i; sums to 1 but for probabilities and conditional ones */
void ikt_edge_weights(const ikt_edge_rule *rule, const double *value, int64_t count, float *squared,
                      float *weight);

/* --- rows without any similarity -------------------------------------------------------------- */

/* The same on every rank: there are few such rows. */
typedef struct {
    int64_t count, k;
    int64_t *row;      /* [count] global rows, ascending */
    uint32_t *nearest; /* [count * k] their k nearest rows, by ascending (distance, row) */
} ikt_zero_similarity;

/* COLLECTIVE. Finds the nearest rows of the marked ones.
 *   marked  [rows->count] nonzero for the own rows without any similarity
 *   k       neighbours wanted, < n
 * The data is streamed once per thousand of them, and not at all where there are none.
 *   data   NULL: there are no rows, beside a file of all pairs, and marked ones are refused
 * Errors: IKT_ERR_DATA for marked rows without data, those of reading, IKT_ERR_RESOURCE; *out is
 * empty then. */
ikt_status ikt_zero_similarity_find(ikt_context *ctx, ikt_dataset *data, const ikt_rows *rows,
                                    const uint8_t *marked, int64_t k, ikt_zero_similarity *out);

void ikt_zero_similarity_destroy(ikt_zero_similarity *zeros);

/* COLLECTIVE. The same for rows in the order of the loop, all numbers being of that order.
 *   order    the order that they are in, or NULL where it is that of the input
 *   marked   [rows->count] as above, in the order of the loop; changed */
ikt_status ikt_zero_similarity_find_ordered(ikt_context *ctx, ikt_dataset *data,
                                            const ikt_rows *rows, const ikt_order *order,
                                            uint8_t *marked, int64_t k, ikt_zero_similarity *out);

/* COLLECTIVE. Gives rows without any similarity (all weights zero) the uniform weight over their k
 * nearest rows by input distance (zero_similarity.c). Replaces those rows' lists in place.
 *   rows       of the rows of the lists
 *   order     where the lists are by slots: the order they are in; otherwise NULL
 *   lists     with weights in place of scores
 *   zero_similarity   receives their number over all ranks.
 * Errors: those of reading, IKT_ERR_RESOURCE. */
ikt_status ikt_affinity_adopt_zero_similarity(ikt_context *ctx, ikt_dataset *data,
                                              const ikt_rows *rows, const ikt_order *order,
                                              ikt_neighbours *lists, int64_t *zero_similarity);

#endif
