/* Facts of a run, the words that its rules are made of.
 *
 * What a run is follows from its settings and its inputs. Both are first brought into facts that
 * are true or false (recipe/facts.c), and everything that is refused because two things do not go
 * together is a rule over facts: a line of a table with its sentence. Rules of a single method
 * stand in the file of the method, all others in recipe/rules.c.
 */
#ifndef IKT_CONFIG_FACTS_H
#define IKT_CONFIG_FACTS_H

#include <stdint.h>

#include "base/status.h"

typedef enum {
    IKT_FACT_END,
    /* What the settings alone tell, whatever the inputs are: before any file is opened. */
    IKT_FACT_FILE,             /* input.file */
    IKT_FACT_RAW,              /* numbers that input.columns and input.type describe */
    IKT_FACT_SOME_ROWS,        /* input.rows */
    IKT_FACT_TABLE_KEYS,       /* input.skip_columns, input.transposed */
    IKT_FACT_SIMILARITIES,     /* input.similarities */
    IKT_FACT_SPECTRUM_CHANGED, /* whose eigenvalues input.spectrum changes as no others could be */
    IKT_FACT_GRAPH,            /* input.graph */
    IKT_FACT_OTHER_MODEL,      /* isolation.model_from */
    IKT_FACT_TRAIN,            /* fisher.train */
    IKT_FACT_FILLED,           /* preprocess.missing */
    IKT_FACT_DROPPED,          /* ... drop */
    IKT_FACT_REDUCED,          /* preprocess.pca */
    IKT_FACT_SCALED,           /* preprocess.normalise is given, and not none */
    IKT_FACT_SPARSE,           /* affinity.support */
    IKT_FACT_DENSE,
    IKT_FACT_WHOLE,
    IKT_FACT_SEARCH_NEAR, /* affinity.search = approximate */
    IKT_FACT_CELLS_NEAR,  /* isolation.search = approximate */
    IKT_FACT_FOREST,      /* isolation.form = forest */
    IKT_FACT_TAKES_P,     /* what the objective takes */
    IKT_FACT_TAKES_LISTS,
    IKT_FACT_TAKES_FEATURES,
    IKT_FACT_TAKES_PARTS, /* its attraction is in proportion to P */
    IKT_FACT_STANDS,      /* the start is the map */
    IKT_FACT_BATCHES,
    IKT_FACT_STOPS_ITSELF, /* layout.stop = auto */
    IKT_FACT_START_LANDMARKS,
    IKT_FACT_SPECTRUM,      /* eigenvectors of P are wanted */
    IKT_FACT_KERNEL_STANDS, /* the map is one of similarities */
    IKT_FACT_MODEL,         /* output.model */
    IKT_FACT_GRAPH_WRITTEN, /* output.graph */
    IKT_FACT_MEASURES_ALL,
    IKT_FACT_CHECKPOINTS,
    IKT_FACT_EXTENDS,    /* --extend */
    IKT_FACT_TIME_LIMIT, /* run.max_time is given */
    IKT_FACT_OF_INPUTS,  /* of those that follow the inputs tell something, or a graph changes
                            what settings say */
    /* The inputs. What is not known, as of data that are only described, is not held against. */
    IKT_FACT_ROWS,               /* rows: of a file, or in memory */
    IKT_FACT_HOST,               /* a program calls the library */
    IKT_FACT_SPARSE_INPUT,       /* rows that are stored sparse, */
    IKT_FACT_SPARSE_ROWS,        /* and stay so */
    IKT_FACT_KEPT_GRAPH,         /* the graph is of a run of ours, */
    IKT_FACT_SPARSE_GRAPH,       /* a sparse matrix, */
    IKT_FACT_PAIRS_GRAPH,        /* or all pairs */
    IKT_FACT_GRAPH_COMPONENTS,   /* which keeps a start from components */
    IKT_FACT_GRAPH_LANDMARKS,    /* or from landmarks */
    IKT_FACT_EDGE_DISTANCES,     /* whose numbers are, or may be, distances, */
    IKT_FACT_EDGE_PROBABILITIES, /* probabilities, */
    IKT_FACT_EDGES_ALIKE,        /* or of no meaning */
    IKT_FACT_UNLABELLED,         /* there are no labels */
    /* What becomes of the rows. */
    IKT_FACT_MATRIX, /* preprocess.metric = precomputed */
    IKT_FACT_MATRIX_OF_SIMILARITIES,
    IKT_FACT_OTHER_METRIC, /* beside input.similarities */
    IKT_FACT_MANHATTAN,
    /* The affinity. */
    IKT_FACT_BY_CODES, /* rows are compared by cell codes, */
    IKT_FACT_BY_DISTANCES,
    IKT_FACT_BY_CLASSES,        /* or by distances that follow labels */
    IKT_FACT_GRAPH_KIND,        /* affinity.kind = graph */
    IKT_FACT_NEAREST_ONLY,      /* the kind has weights for lists of rows alone */
    IKT_FACT_COUNTS_NEIGHBOURS, /* the kind looks at neighbours in every form */
    IKT_FACT_SEARCH_ALL,        /* affinity.search = exact */
    IKT_FACT_PSI_AUTO,
    IKT_FACT_CLASS_CANDIDATES, /* fisher.candidates = euclidean */
    IKT_FACT_CLASS_DISTANCES,  /* fisher.euclidean > 0 */
    IKT_FACT_CLASS_LINEAR,     /* classes are told apart by inner products of rows, */
    IKT_FACT_CLASS_GAUSSIAN,   /* by a kernel, */
    IKT_FACT_CLASS_CODES,      /* or by codes; else by similarities that are given */
    /* The objective. */
    IKT_FACT_CUSTOM,        /* it is that of a program */
    IKT_FACT_OTHER_DEGREES, /* layout.degrees_of_freedom is not 1 */
    IKT_FACT_TAKES_CODES,
    IKT_FACT_TAKES_LABELS, /* it, or the start */
    IKT_FACT_EXAGGERATES,
    IKT_FACT_REMEMBERS,        /* steps have momentum */
    IKT_FACT_HAS_BEGINNING,    /* nerv and jse: iterations of t-SNE may come first, */
    IKT_FACT_BEGINS_WITH_TSNE, /* and do, as far as that is resolved */
    IKT_FACT_PLACES_BY_TRIPLETS,
    IKT_FACT_PLACES_BY_KERNEL,
    IKT_FACT_SUMS_PAIRS,   /* repulsion may be approximated, */
    IKT_FACT_SUMS_ON_GRID, /* on a grid */
    IKT_FACT_REGULARISED,
    IKT_FACT_LATE_FACTOR,  /* layout.final_exaggeration is not 1 */
    IKT_FACT_RATE_FOLLOWS, /* layout.final_learning_rate = auto */
    /* The start. */
    IKT_FACT_START_PCA,
    IKT_FACT_START_LABELS, /* it takes labels, */
    IKT_FACT_START_P,      /* or eigenvectors of P */
    IKT_FACT_START_FILE,
    IKT_FACT_READS_GRAPH, /* edges are read, with what goes with them */
    IKT_FACT_START_KEPT,  /* the graph keeps it */
    IKT_FACT_KERNEL_MAP,  /* the map, or the start, is one of similarities: */
    IKT_FACT_KERNEL_LINEAR,
    IKT_FACT_KERNEL_GAUSSIAN,
    IKT_FACT_KERNEL_CODES,
    IKT_FACT_KERNEL_SOME, /* kernel.solver = landmarks */
    /* Made of others, for the table of settings that nothing uses. */
    IKT_FACT_SEARCHES,      /* neighbours are searched for */
    IKT_FACT_SEARCHES_NEAR, /* ... perhaps among near cells */
    IKT_FACT_ORDERS,        /* rows come into an order */
    IKT_FACT_LISTS,         /* there are lists of neighbours */
    IKT_FACT_RELATES,       /* rows are related to one another */
    IKT_FACT_COORDINATES,   /* rows with coordinates */
    IKT_FACT_PREPARES,      /* rows are read, and may be prepared */
    IKT_FACT_CODES,         /* cells of the Isolation kernel */
    IKT_FACT_CELLS,         /* ... of rows that are related, or compared with some */
    IKT_FACT_KERNEL_WIDTH,  /* a Gaussian kernel of the section `kernel` */
    IKT_FACT_KERNEL,        /* the section `kernel` */
    IKT_FACT_MOVES,         /* the map is moved */
    IKT_FACT_STUDENT,       /* layout.degrees_of_freedom means something, */
    IKT_FACT_TRADES,        /* layout.trade_off, */
    IKT_FACT_SUMS_ALL,      /* layout.repulsion */
    IKT_FACT_FIRST_RATE,
    IKT_FACT_EDGE_WEIGHTS,  /* distances of a graph become weights */
    IKT_FACT_MEASURES_ROWS, /* rows are compared by distances, or a graph's are */
    IKT_FACT_OWN_SEARCH,    /* affinity.search, candidates and refinements are the search's */
    IKT_FACTS
} ikt_fact;

/* In a rule: the fact must not hold. */
#define IKT_NOT(fact) (-(int)(fact))

enum { IKT_RULE_FACTS_MOST = 5 };

/* Refuses a run where all of `when` hold; a table ends with a line without a sentence. */
typedef struct {
    int16_t when[IKT_RULE_FACTS_MOST + 1]; /* facts, or IKT_NOT of facts; ended by 0 */
    const char *sentence; /* {section.key} stands for the value of a setting as it is printed */
    ikt_status status;
} ikt_rule;

/* A setting that has no effect: of `key` in the section of a method, unless another key of that
 * section differs from a value; or, where that is NULL, unless a fact holds. */
typedef struct {
    const char *key;
    const char *other, *value;
    int16_t fact;
    const char *with; /* what would bring it into use */
} ikt_idle;

#endif
