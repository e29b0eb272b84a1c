/* The parts of a report. */
#ifndef IKT_STUDY_REPORT_PARTS_H
#define IKT_STUDY_REPORT_PARTS_H

#include "study/page.h"
#include "study/summary.h"

/* What every part is written from; all lent. */
typedef struct {
    ikt_context *ctx;
    const ikt_study *study;
    const ikt_study_plan *plan;
    const ikt_study_result *result;
    const ikt_study_summary *summary;
    ikt_page *page;
} ikt_report;

/* LOCAL, all of them. A part that has nothing to say writes nothing; failures are the page's. */

/* For each measure with a better way: the best of each method, beside what is published. */
void ikt_report_best(ikt_report *r);

/* How often each method is at least as good as the first one. */
void ikt_report_wins(ikt_report *r);

/* Every entry of a data set that has few. */
void ikt_report_entries(ikt_report *r);

/* Measures against the values of the first axis, or against the rows. */
void ikt_report_curves(ikt_report *r);

/* Runs that failed. */
void ikt_report_failures(ikt_report *r);

enum { IKT_REPORT_CELL = 96 };

/* LOCAL, pure. "isolation.psi 57", or "" where the method has no axes. */
void ikt_report_values(const ikt_study *study, const ikt_study_run *run, char *text, size_t size);

/* LOCAL, pure. Four digits; "-" where it is not finite. */
void ikt_report_number(double value, char text[IKT_REPORT_CELL]);

#endif
