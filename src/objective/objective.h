/* What the loop minimises.
 *
 * A kind of objective is one struct of this form and one line of the table of objectives: what it
 * needs of the data, how it is made from that, its gradient and value, the state that a checkpoint
 * must hold, and the memory that it takes. The loop, the line from data to embedding, the memory
 * plan and the checkpoints ask the kind and know no objective by name. Those that compare P with
 * the map's Q are formulas (divergence.h) that share one way of being evaluated.
 */
#ifndef IKT_OBJECTIVE_OBJECTIVE_H
#define IKT_OBJECTIVE_OBJECTIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "affinity/dense.h"
#include "affinity/whole.h"
#include "base/status.h"
#include "config/config.h"
#include "config/facts.h"
#include "graph/graph.h"
#include "io/hdf5/parts.h"
#include "isolation/codes.h"
#include "kernelsum/kernelsum.h"
#include "neighbours/neighbours.h"
#include "objective/laplacian.h"
#include "optimiser/optimiser.h"
#include "sampled/features.h"
#include "sampled/pool.h"
#include "sampled/triplet.h"

/* What an objective works on; nothing else is made of the data. Flags, to be combined. */
typedef enum {
    IKT_NEEDS_P = 1,          /* the symmetric P, sparse, dense or whole */
    IKT_NEEDS_NEIGHBOURS = 2, /* each row's most similar rows with similarities or distances */
    IKT_NEEDS_CODES = 4,      /* the cell codes of the own rows */
    IKT_NEEDS_LABELS = 8,     /* the labels of the own rows */
    IKT_NEEDS_FEATURES = 16   /* what the similarity of any two rows is made of: codes where the
                                 kernel of affinity.kind compares them, else the rows themselves; of
                                 a sparse graph the pairs that it joins */
} ikt_objective_need;

/* How sums over all pairs of rows are made. */
typedef enum {
    IKT_REPULSION_AUTO,
    IKT_REPULSION_FFT,
    IKT_REPULSION_EXACT,
    IKT_REPULSION_TREE
} ikt_repulsion;
typedef enum { IKT_ACCURACY_DEFAULT, IKT_ACCURACY_TIGHT } ikt_accuracy;

/* Where the rows may start: the choices of layout.init in their order, and whether a start is made
 * of eigenvectors of P; is a map of similarities (section kernel); follows labels; is scaled by
 * layout.init_scale. */
#define IKT_START_TABLE(START)                                                                     \
    START(auto, AUTO, 0, 0, 0, 0)                                                                  \
    START(pca, PCA, 0, 0, 0, 0)                                                                    \
    START(random, RANDOM, 0, 0, 0, 0)                                                              \
    START(landmark, LANDMARK, 0, 0, 0, 0)                                                          \
    START(file, FILE, 0, 0, 0, 1)                                                                  \
    START(spectral, SPECTRAL, 1, 0, 0, 1)                                                          \
    START(kpca, KPCA, 0, 1, 0, 0)                                                                  \
    START(kda, KDA, 0, 1, 1, 0)

#define IKT_START_NUMBER(name, NAME, of_p, of_similarities, of_labels, scaled) IKT_INIT_##NAME,
typedef enum { IKT_START_TABLE(IKT_START_NUMBER) IKT_INITS } ikt_layout_init;

/* What places new rows in a finished map. */
typedef enum {
    IKT_PLACES_NOTHING,
    IKT_PLACES_BY_KERNEL,  /* the kernel of t-SNE, in the fixed field of the old rows */
    IKT_PLACES_BY_TRIPLETS /* with old rows */
} ikt_placing_way;

/* Settings of single objectives, in sections of their own. */
typedef struct {
    ikt_triplet_settings triplet;
    ikt_negative_settings umap, largevis;
} ikt_objective_own;

enum { IKT_OBJECTIVE_PARTS = 3 };

/* LOCAL. These sections, bound to the members of `own`, for config.h. */
void ikt_objective_parts(ikt_objective_own *own, ikt_config_part parts[IKT_OBJECTIVE_PARTS]);

/* LOCAL. Lowers what was chosen for more rows to what suits a subset of n of them. */
void ikt_objective_shrink(ikt_objective_own *own, int64_t n);

/* What the settings say to an objective. */
typedef struct {
    double trade_off;    /* between both divergences, where the objective has two */
    double degrees;      /* of freedom of the map's kernel; 0: 1 */
    int repulsion;       /* ikt_repulsion */
    int accuracy;        /* ikt_accuracy, of FFT and tree */
    int sharing;         /* ikt_fft_sharing */
    ikt_fft_rates rates; /* of the machine, where the sharing is left to them */
    uint64_t seed;       /* for draws */
    ikt_objective_own own;
    ikt_regulariser_settings regulariser; /* of the regulariser of t-SNE */
} ikt_objective_options;

/* What is known of an objective before it is made: enough for its memory and its state. */
typedef struct {
    ikt_rows rows; /* of the loop, in its order */
    int q;         /* dimensions of the map */
    ikt_objective_options options;
    bool is_dense; /* P is dense */
    bool is_whole; /* P is the whole kernel, of which the following holds */
    ikt_whole_settings sampling;
    int64_t psi, t;   /* cells of a partitioning, partitionings */
    double cut;       /* share of the rows whose cell another rank computes, as predicted */
    int64_t boundary; /* rows of other ranks that own rows are attracted to, as predicted */
    double span;      /* side of the box round the map in the end, as predicted */
    int threads;
    int64_t columns; /* of the rows, where features are these; 1 where a row is known by its number,
                        as in a matrix or a graph; 0: they are codes */
} ikt_objective_shape;

/* What an objective is made from. Everything that is pointed to is borrowed until it is
 * destroyed, and NULL where the kind does not need it. Rows are in the order of the loop. */
typedef struct {
    ikt_rows rows;
    int q;
    ikt_objective_options options;
    const ikt_graph *graph;      /* P, sparse; */
    const ikt_dense *dense;      /* or dense, in row blocks; */
    const ikt_whole *whole;      /* or whole, beside which a sparse one may stand, whose
                                    entries are of other pairs. Else they are NULL */
    ikt_whole_settings sampling; /* of the whole kernel, resolved */
    int64_t iterations;          /* of the run in all, by which the last ones are known */
    ikt_neighbours *neighbours;  /* with scores: the most similar rows first. An objective that
                                    has taken what it needs of them may destroy them */
    const ikt_codes *codes;
    ikt_features *features; /* rows or a matrix, unless codes are what rows are compared by; the
                               objective may change the numbers of a matrix */
    ikt_joined *joined;     /* pairs of rows that a graph joins, in place of neighbours, codes and
                               features: the objective takes them over */
    const int64_t *labels;  /* [rows.count] */
} ikt_objective_inputs;

/* An array of an objective's state: spread over the ranks by rows, or the same on all of them. */
typedef struct {
    const char *name; /* in checkpoints; not one of the loop's own (checkpoint/loop_parts.c) */
    ikt_part_type type;
    bool is_shared;
    int64_t count; /* numbers of a row, or of the shared array */
} ikt_objective_array;

enum { IKT_OBJECTIVE_ARRAYS_MOST = 6 };

/* From so many rows on an objective may ask for more iterations. */
enum { IKT_MANY_ROWS = 500000 };

/* What an evaluation tells of the map; the loop acts on it. */
typedef enum {
    IKT_MAP_SOUND,
    IKT_MAP_NOT_FINITE, /* forces overflow */
    IKT_MAP_UNRESOLVED, /* rows lie so far apart that all forces are below the accuracy */
    IKT_MAP_POINT       /* rows lie so near that forces are linear in their differences: place and
                           size of the map change nothing but themselves */
} ikt_map_condition;

typedef struct {
    double value; /* of the objective; NaN where it was not wanted */
    double error; /* standard error of a value that is estimated; 0: it is exact */
    double step;  /* factor on the step length that it asks for after the exaggeration; 0: 1 */
    double z;     /* sum over k != l of the kernel; 0 for objectives without such a sum */
    ikt_map_condition condition;
    /* Of an objective with a regulariser, while that is on; `divergence` is the value without it.
     * Owned by the objective, until the next evaluation; NULL: there are none. */
    const double *eigenvalue; /* [eigenvalues] of the map's graph, from the second on */
    int64_t eigenvalues;
    double divergence, residual; /* of their vectors, the largest: where the value was wanted */
} ikt_objective_terms;

typedef struct ikt_objective ikt_objective;
typedef struct ikt_objective_kind ikt_objective_kind;
typedef struct ikt_divergence ikt_divergence;
typedef struct ikt_negative_kind ikt_negative_kind;

struct ikt_objective_kind {
    const char *name;           /* as layout.objective names it */
    const char *value_name;     /* "KL" where the value is KL(P || Q), else "cost" */
    unsigned needs;             /* ikt_objective_need */
    const ikt_rule *rules;      /* what it does not go with; or NULL */
    const ikt_section *section; /* its own keys, or NULL; */
    size_t keys;                /* where their struct is in ikt_objective_own; */
    const ikt_idle *idle;       /* of these, keys that others leave without effect; or NULL */
    const ikt_negative_kind *negatives; /* what it does with negative samples, whose settings are
                                           its own keys; NULL: it has none */
    int pair_sums; /* sums over all pairs of an evaluation, where it compares no P: plans of time
                      count them */
    bool has_one_pass;      /* with a dense P and exact sums: ikt_objective_is_one_pass */
    bool takes_parts;       /* its attraction is in proportion to P, of which parts may be drawn */
    ikt_placing_way places; /* new rows */
    bool has_exaggeration;  /* early exaggeration makes sense */
    bool begins_with_tsne;  /* its first iterations, layout.tsne_iterations, minimise t-SNE's KL */
    bool frees_neighbours;  /* the lists, once it is made */
    bool is_start;          /* the start is the map, and nothing moves it: eigenvectors of P where
                               P is needed, principal components, or a map of similarities */
    ikt_layout_init start;  /* that start, */
    const char *stays_at;   /* which this is, for the log; */
    const char *map_of;     /* and what the map is, with what must be left out: for messages */
    bool is_annealed; /* its step falls to 0 at the last iteration, which must be known then */
    /* What "auto" stands for with this objective; 0: what it does with t-SNE. */
    double learning_rate;    /* on a quarter of the gradient, as layout.learning_rate */
    int64_t iterations;      /* with layout.stop=fixed */
    int64_t many_iterations; /* the same of IKT_MANY_ROWS rows or more; 0: no more than of fewer */
    double momentum;         /* before layout.momentum_switch */
    double start_deviation;  /* of the first coordinate of a start */
    const ikt_optimiser_kind *optimiser;
    const ikt_divergence *divergence; /* of those that compare P with Q; else NULL */

    /* LOCAL, pure. Replaces what the options leave to be chosen by what suits n rows in q
     * dimensions; NULL: nothing is left. Errors: IKT_ERR_USAGE for options that do not suit it, or
     * that contradict each other. */
    ikt_status (*resolve)(ikt_context *ctx, const ikt_objective_kind *kind, int64_t n, int q,
                          ikt_objective_options *options);
    /* LOCAL. Lowers its own settings to what suits a subset of n rows; NULL: there are none. */
    void (*shrink)(void *settings, int64_t n);
    /* LOCAL, pure. How long the lists of neighbours are where affinity.neighbours is auto, and how
     * long they must be at least. NULL: as long as the kernel asks for.
     *   has_distances   rows are compared by distances, not by codes */
    int64_t (*lists)(const ikt_objective_options *options, bool has_distances, int64_t *least);
    /* COLLECTIVE. Makes out->self and out->y; destroy frees them, also after a failure. out->kind
     * may become one that has only names, functions and what the loop asks for.
     * Errors: IKT_ERR_RESOURCE; the same status on every rank. */
    ikt_status (*create)(ikt_context *ctx, const ikt_objective_inputs *inputs, ikt_objective *out);
    void (*destroy)(ikt_objective *objective);
    /* COLLECTIVE. The gradient at objective->y; its fields are valid until the next call.
     *   iteration    steps done before; the same evaluation may be asked for again after a restart
     *   want_value   whether terms->value is wanted
     * Every rank gets the same terms and the same status. */
    ikt_status (*evaluate)(ikt_objective *objective, int64_t iteration, bool want_value,
                           ikt_gradient *gradient, ikt_objective_terms *terms);
    /* LOCAL. One line on how it is computed, for the log. */
    void (*describe)(const ikt_objective *objective, char *text, size_t size);
    /* LOCAL, pure. The bytes that a rank will hold while the loop runs, without positions,
     * optimiser and what the objective is made from. */
    int64_t (*memory)(const ikt_objective_kind *kind, const ikt_objective_shape *shape);

    /* State that evaluations leave behind for the next ones, beside the positions; NULL where there
     * is none. LOCAL, pure: names and sizes; returns how many arrays there are. LOCAL: where array
     * k is; it is written to a checkpoint between two evaluations, and filled from one before the
     * first. The state is that which evaluate(iteration) begins with, also where that has been
     * evaluated already: the end of one run is the beginning of a longer one. */
    int (*state)(const ikt_objective_shape *shape,
                 ikt_objective_array array[IKT_OBJECTIVE_ARRAYS_MOST]);
    void *(*state_array)(ikt_objective *objective, int64_t iteration, int k);
};

struct ikt_objective {
    const ikt_objective_kind *kind;
    void *self;
    float *y; /* [n_local * q] the positions, in the objective's own table: the loop moves them */
    int q;    /* dimensions */
    bool is_estimated;   /* its values, of some pairs: they have an error */
    bool is_exaggerated; /* said by the loop before an evaluation: the step to come may be of the
                            first phase; */
    bool is_beginning;   /* and that it is t-SNE's KL that is evaluated, where the kind begins so */
};

/* The table of objectives: the struct ikt_objective_NAME, its number, and what the help of
 * layout.objective says of it. The choices of layout.objective are in this order. */
#define IKT_OBJECTIVE_TABLE(KIND)                                                                  \
    KIND(tsne, TSNE, "tsne is KL(P || Q)")                                                         \
    KIND(nerv, NERV, "nerv is (1 - trade_off) KL(P || Q) + trade_off KL(Q || P)")                  \
    KIND(jse, JSE,                                                                                 \
         "jse is a Jensen-Shannon divergence that becomes KL(P || Q) for a small trade_off and "   \
         "KL(Q || P) for one near 1")                                                              \
    KIND(sne, SNE, "sne is KL(P || Q) with a Gaussian kernel in the map (docs/objectives.md)")     \
    KIND(trimap, TRIMAP, "trimap is a sum over triplets of rows (docs/trimap.md)")                 \
    KIND(umap, UMAP, "umap attracts along P and takes repulsion from a random draw of rows")       \
    KIND(largevis, LARGEVIS, "largevis does so, too, by another formula (docs/umap.md)")           \
    KIND(sammon, SAMMON, "sammon keeps the distances of all pairs of rows (docs/objectives.md)")   \
    KIND(pca, PCA, "pca stays at the first principal components, as they are, in no iteration")    \
    KIND(eigenmap, EIGENMAP, "eigenmap stays at eigenvectors of P (docs/spectral.md)")             \
    KIND(kpca, KPCA, "kpca stays at the principal components in the space of a kernel")            \
    KIND(kda, KDA, "kda at the directions that tell the labels apart there (docs/kernels.md)")

#define IKT_OBJECTIVE_NUMBER(name, NAME, help) IKT_OBJECTIVE_##NAME,
typedef enum { IKT_OBJECTIVE_TABLE(IKT_OBJECTIVE_NUMBER) IKT_OBJECTIVES } ikt_objective_name;

#define IKT_OBJECTIVE_DECLARE(name, NAME, help)                                                    \
    extern const ikt_objective_kind ikt_objective_##name;
IKT_OBJECTIVE_TABLE(IKT_OBJECTIVE_DECLARE)

/* LOCAL, pure. The entry of the table. */
const ikt_objective_kind *ikt_objective_kind_of(ikt_objective_name name);

/* LOCAL, pure. Whether one pass over all pairs makes attraction and repulsion (dense_tsne.c). */
bool ikt_objective_is_one_pass(const ikt_objective_kind *kind, const ikt_objective_options *options,
                               bool is_dense);

/* LOCAL. Gathers of positions use 32-bit numbers. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_objective_check_rows(ikt_context *ctx, int64_t rows, int q);

/* COLLECTIVE. An objective of the kind, all positions zero.
 *   inputs   with everything that kind->needs names; its options are resolved
 * Errors: IKT_ERR_RESOURCE; *out is empty then. */
ikt_status ikt_objective_create(ikt_context *ctx, const ikt_objective_kind *kind,
                                const ikt_objective_inputs *inputs, ikt_objective *out);

/* LOCAL. Frees what create made; accepts an empty struct. */
void ikt_objective_destroy(ikt_objective *objective);

/* COLLECTIVE. The longest side of the box round all rows of a map y[n_local * q]. */
double ikt_map_width(ikt_context *ctx, const float *y, int64_t q, int64_t n_local);

#endif
