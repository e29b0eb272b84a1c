/* Results of a study over its seeds: one entry for each data set, method and choice of values. */
#ifndef IKT_STUDY_SUMMARY_H
#define IKT_STUDY_SUMMARY_H

#include "study/results.h"

typedef struct {
    int64_t data, method;
    const ikt_study_run *first; /* a run of it, lent: the values are in it */
    double x; /* the value of the method's first axis; NaN where it is no number */
    int64_t good, failed, open; /* runs that succeeded, failed, are not made */
    double rows;
    /* Median and range over the seeds, [n_measures] of them; NaN where no run has the measure. */
    double median[IKT_STUDY_MEASURES], low[IKT_STUDY_MEASURES], high[IKT_STUDY_MEASURES];
} ikt_study_cell;

typedef struct {
    ikt_study_cell *cell; /* [count] in the order of the plan */
    int64_t count;
} ikt_study_summary;

/* LOCAL. Medians of an even number of values are the mean of the two in the middle.
 *   plan   lent until destroy. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_study_summary_make(ikt_context *ctx, const ikt_study *study,
                                  const ikt_study_plan *plan, const ikt_study_result *result,
                                  ikt_study_summary *out);
void ikt_study_summary_destroy(ikt_study_summary *summary);

/* LOCAL. The entry of a data set and method whose median is best by measure m; NULL where there is
 * none. */
const ikt_study_cell *ikt_study_summary_best(const ikt_study *study,
                                             const ikt_study_summary *summary, int64_t data,
                                             int64_t method, int64_t m);

#endif
