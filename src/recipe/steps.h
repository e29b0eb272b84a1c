/* The steps of a run: values, and what makes them.
 *
 * A value is what a run holds: rows, codes, lists of neighbours, P, positions. A step takes values
 * and makes one. The steps of a run follow backwards from what the objective needs: for each value
 * that is wanted the first step of the table that makes it and whose facts hold, and then for what
 * that takes. A new way of making a value is a row of the table (steps.c) and its function in the
 * table of pipeline/embedding.c, of positions in that of pipeline/start.c.
 */
#ifndef IKT_RECIPE_STEPS_H
#define IKT_RECIPE_STEPS_H

#include "base/timer.h"
#include "recipe/facts.h"

typedef enum {
    IKT_VALUE_ROWS = 1 << 0,       /* with coordinates, or of a matrix of all pairs */
    IKT_VALUE_LABELS = 1 << 1,     /* given beside the rows */
    IKT_VALUE_LANDMARKS = 1 << 2,  /* some rows and their positions */
    IKT_VALUE_CODES = 1 << 3,      /* the cells of rows, and the model that they are of */
    IKT_VALUE_LISTS = 1 << 4,      /* the most similar rows of each row, with scores, */
    IKT_VALUE_NEIGHBOURS = 1 << 5, /* and the same, kept for the objective */
    IKT_VALUE_WEIGHTS = 1 << 6,    /* p_j|i of listed or joined pairs */
    IKT_VALUE_P = 1 << 7,          /* symmetric; sparse, dense or whole */
    IKT_VALUE_FEATURES = 1 << 8,   /* what any two rows are compared by */
    IKT_VALUE_EIGENVECTORS = 1 << 9,
    IKT_VALUE_POSITIONS = 1 << 10, /* where the rows start */
    IKT_VALUE_MAP = 1 << 11
} ikt_value;

enum { IKT_VALUES = 12 };

typedef enum {
    IKT_STEP_READ,
    IKT_STEP_LABELS,
    IKT_STEP_LANDMARKS,
    IKT_STEP_CODE,
    IKT_STEP_SEARCH_CODES,
    IKT_STEP_SEARCH_CLASSES,
    IKT_STEP_SEARCH_MATRIX,
    IKT_STEP_SEARCH_PAIRS,
    IKT_STEP_SEARCH_ROWS,
    IKT_STEP_JOIN,
    IKT_STEP_EDGES,
    IKT_STEP_KEEP,
    IKT_STEP_WEIGH,
    IKT_STEP_FILL_MATRIX,
    IKT_STEP_FILL_CODES,
    IKT_STEP_FILL_PAIRS,
    IKT_STEP_FILL_ROWS,
    IKT_STEP_WHOLE,
    IKT_STEP_COMPARE_DISTANCES,
    IKT_STEP_COMPARE_SIMILARITIES,
    IKT_STEP_COMPARE_CODES,
    IKT_STEP_COMPARE_PAIRS,
    IKT_STEP_COMPARE_ROWS,
    IKT_STEP_SYMMETRISE,
    IKT_STEP_EIGENVECTORS,
    IKT_STEP_START_SEPARATED,
    IKT_STEP_START_KERNEL,
    IKT_STEP_START_EIGENVECTORS,
    IKT_STEP_START_LANDMARK_CODES,
    IKT_STEP_START_LANDMARK_ROWS,
    IKT_STEP_START_KEPT_SCORES,
    IKT_STEP_START_KEPT_PLACES,
    IKT_STEP_START_PCA,
    IKT_STEP_START_FILE,
    IKT_STEP_START_RANDOM,
    IKT_STEP_LOOP_FROM_TSNE,
    IKT_STEP_LOOP,
    IKT_STEPS
} ikt_step_id;

enum { IKT_STEP_FACTS_MOST = 3 };

typedef struct {
    const char *name;
    unsigned takes; /* values */
    ikt_value makes;
    ikt_stage stage;                       /* under which time, memory and traffic are counted */
    const char *about;                     /* one clause for people */
    int16_t when[IKT_STEP_FACTS_MOST + 1]; /* as in a rule */
} ikt_step;

typedef struct {
    ikt_step_id id[IKT_STEPS]; /* in the order in which they are made */
    int count;
} ikt_steps;

/* LOCAL, pure. What the table says of a step, and what a value is called. */
const ikt_step *ikt_step_of(ikt_step_id id);
const char *ikt_value_name(ikt_value value);

/* LOCAL, pure. Whether a step is one of these, or one makes some of these values. */
bool ikt_steps_have(const ikt_steps *steps, ikt_step_id id);
bool ikt_steps_make(const ikt_steps *steps, unsigned values);

/* LOCAL, pure. The values that a run asks for: the map, what its objective takes, and what is
 * written of the steps before. */
unsigned ikt_steps_wanted(const ikt_settings *settings, const ikt_facts *facts);

/* LOCAL. The steps that make some values.
 *   settings   resolved: the start is known
 *   facts      of these settings
 * Errors: IKT_ERR_USAGE where nothing makes a value that is wanted, naming it. */
ikt_status ikt_steps_find(ikt_context *ctx, const ikt_settings *settings, const ikt_facts *facts,
                          unsigned wanted, ikt_steps *out);

#endif
