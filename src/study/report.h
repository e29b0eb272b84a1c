/* The report of a study: tables, curves and pictures, as OUTPUT/report/report.html and report.md.
 *
 * It tells what results.csv holds when it is made; a study that is not finished has a report, too.
 */
#ifndef IKT_STUDY_REPORT_H
#define IKT_STUDY_REPORT_H

#include "study/plan.h"

/* COLLECTIVE. Makes the report.
 *   path   [IKT_STRING_MAX], receives the name of the HTML page.
 * Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE, those of plotting. */
ikt_status ikt_study_report(ikt_context *ctx, const ikt_study_plan *plan,
                            char path[IKT_STRING_MAX]);

#endif
