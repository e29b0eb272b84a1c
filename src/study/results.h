/* What is known about the runs of a study: one line each in OUTPUT/results.csv.
 *
 * A line is added at once when a run ends, by whichever group of ranks or job made it. A line that
 * was cut off, and lines of runs that the study no longer has, are passed over; a line of this
 * build of the program stands before those of others.
 */
#ifndef IKT_STUDY_RESULTS_H
#define IKT_STUDY_RESULTS_H

#include "study/plan.h"

/* Numbers of every run; those of the study's measures follow. */
typedef enum {
    IKT_RUN_ROWS,
    IKT_RUN_COLUMNS,
    IKT_RUN_ITERATIONS,
    IKT_RUN_KL,
    IKT_RUN_COST, /* of an objective whose value is no KL divergence, or not that alone */
    IKT_RUN_SECONDS,
    IKT_RUN_SIMILARITIES, /* seconds up to P: steps 1 and 2 of the paper */
    IKT_RUN_LAYOUT,       /* seconds of the loop: step 3 */
    IKT_RUN_MEMORY,       /* MB that a rank allocated at most, libraries left out */
    IKT_RUN_NUMBERS
} ikt_run_number;

enum { IKT_STUDY_MESSAGE = 400, IKT_STUDY_BUILD = 128 };

/* One finished run. Plain memory: ranks send it to each other. */
typedef struct {
    bool is_done;                /* there is a line of it */
    bool is_good;                /* it succeeded; otherwise `message` says why not */
    bool is_own;                 /* it was made by this build of the program */
    uint64_t id;                 /* of the run by the build that made it */
    char build[IKT_STUDY_BUILD]; /* which that was (ikt_build_name), */
    uint32_t made_by;            /* and its tag: of one tag are results of the same program */
    char message[IKT_STUDY_MESSAGE];
    uint64_t hash;                                       /* of the embedding */
    double number[IKT_RUN_NUMBERS + IKT_STUDY_MEASURES]; /* NaN: not measured */
} ikt_study_result;

/* LOCAL, pure. A run of which nothing is known: all numbers NaN. */
ikt_study_result ikt_study_result_empty(void);

/* COLLECTIVE over a group of ranks (one_run.c). Makes the run, or takes its given map, writes the
 * embedding (ikt_study_embedding_file) and measures it. Errors: those of the run. IKT_STOPPED. */
ikt_status ikt_study_run_make(ikt_context *ctx, const ikt_study_plan *plan,
                              const ikt_study_run *what, ikt_study_result *out);

/* LOCAL, pure. Place in `number` of the study's measure m. */
int64_t ikt_study_number(const ikt_study *study, int64_t m);

/* LOCAL, for one rank. Adds the line of a run, made by this build. Embeddings are kept for the best
 * runs only: the file of this run (ikt_study_embedding_file), or of others that it surpasses, is
 * removed. Errors: IKT_ERR_FILE; IKT_ERR_USAGE where results.csv belongs to a study with other
 * columns. */
ikt_status ikt_study_results_add(ikt_context *ctx, const ikt_study_plan *plan, int64_t run,
                                 const ikt_study_result *result);

/* LOCAL, pure. OUTPUT/best/ID.h5. */
void ikt_study_embedding_file(const ikt_study_plan *plan, uint64_t id, char path[IKT_STRING_MAX]);

/* LOCAL, pure. The run of a data set and method that is best by measure m; the first of several;
 * -1 where there is none, or no better way. */
int64_t ikt_study_best_run(const ikt_study_plan *plan, const ikt_study_result *result, int64_t data,
                           int64_t method, int64_t m);

/* COLLECTIVE. What is known of every run of the plan, by whichever build.
 *   result   [plan->n_runs], receives it; is_done is false where there is no line.
 * Errors: as above; no file is no error. */
ikt_status ikt_study_results_load(ikt_context *ctx, const ikt_study_plan *plan,
                                  ikt_study_result *result);

/* --- results over the seeds: one entry for each data set, method and choice of values --------- */

typedef struct {
    int64_t data, method;
    const ikt_study_run *first; /* a run of it, borrowed: the values are in it */
    double x;     /* the value of the method's first axis; NaN where it is no number */
    int64_t good; /* runs that succeeded */
    double rows;
    /* Median and range over the seeds, [n_measures] of them; NaN where no run has the measure. */
    double median[IKT_STUDY_MEASURES], low[IKT_STUDY_MEASURES], high[IKT_STUDY_MEASURES];
} ikt_study_cell;

typedef struct {
    ikt_study_cell *cell; /* [count] in the order of the plan */
    int64_t count;
} ikt_study_summary;

/* LOCAL. Medians of an even number of values are the mean of the two in the middle.
 *   plan   borrowed until destroy. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_study_summary_make(ikt_context *ctx, const ikt_study_plan *plan,
                                  const ikt_study_result *result, ikt_study_summary *out);
void ikt_study_summary_destroy(ikt_study_summary *summary);

/* LOCAL. The entry of a data set and method whose median is best by measure m; NULL where there is
 * none. */
const ikt_study_cell *ikt_study_summary_best(const ikt_study *study,
                                             const ikt_study_summary *summary, int64_t data,
                                             int64_t method, int64_t m);

#endif
