/* The parts of a report. */
#ifndef IKT_STUDY_REPORT_PARTS_H
#define IKT_STUDY_REPORT_PARTS_H

#include "study/page.h"
#include "study/results.h"

/* What every part is written from; all lent. */
typedef struct {
    ikt_context *ctx;
    const ikt_study *study;
    const ikt_study_plan *plan;
    const ikt_study_result *result;
    const ikt_study_summary *summary;
    ikt_page *page;
} ikt_report;

/* --- tables (report_tables.c) ----------------------------------------------------------------- */

/* LOCAL, all of them. A part that has nothing to say writes nothing; failures are the page's. */

/* For each measure with a better way: the best of each method, beside what is published. */
void ikt_report_best(ikt_report *r);

/* How often each method is at least as good as the first one. */
void ikt_report_wins(ikt_report *r);

/* Every entry of a data set that has few. */
void ikt_report_entries(ikt_report *r);

/* Runs that failed. */
void ikt_report_failures(ikt_report *r);

enum { IKT_REPORT_CELL = 96 };

/* LOCAL, pure. "isolation.psi 57", or "" where the method has no axes. */
void ikt_report_values(const ikt_study *study, const ikt_study_run *run, char *text, size_t size);

/* LOCAL, pure. Four digits; "-" where it is not finite. */
void ikt_report_number(double value, char text[IKT_REPORT_CELL]);

/* --- pictures and rank curves of the best embeddings (pictures.c) ----------------------------- */

enum { IKT_STUDY_CURVE_POINTS = 200 };

/* What is shown of a run: its picture in the folder of the report and, where the study asks for it,
 * R(k) at some k, about evenly on a logarithmic scale. */
typedef struct {
    int64_t run, measure;      /* which it is the best by */
    char name[IKT_STUDY_NAME]; /* "picture-3.png" */
    int64_t points;            /* of the curve; 0: there is none */
    double k[IKT_STUDY_CURVE_POINTS], r[IKT_STUDY_CURVE_POINTS];
} ikt_study_picture;

/* COLLECTIVE. Draws into FOLDER, for each data set and method, the run that is best by the first
 * measure that has a better way, and measures its rank curve: neighbours by distance in the input
 * against those in the map.
 *   picture   receives [*count] pictures in the order of data sets and methods, owned by the caller
 *             (ikt_free); runs whose embedding is not there are passed over: embeddings are kept
 *             for the best only, and a study may have been moved without them.
 * Errors: those of reading results and data and of plotting. Cost: see ikt_measure_rank_curve. */
ikt_status ikt_study_pictures_draw(ikt_context *ctx, const ikt_study_plan *plan,
                                   const ikt_study_result *result, const char *folder,
                                   ikt_study_picture **picture, int64_t *count);

#endif
