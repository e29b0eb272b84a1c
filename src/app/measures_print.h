/* Measures as a table, and as JSON; the curve R(k) as CSV. */
#ifndef IKT_APP_MEASURES_PRINT_H
#define IKT_APP_MEASURES_PRINT_H

#include "app/json.h"
#include "evaluate/measure.h"

/* LOCAL. A table on standard output; "none" where there is no value. */
void ikt_measures_print(const ikt_measures *measures);

/* LOCAL. An object "measures": {name: {"value": ..., "sample": ..., "note": ...}}. */
void ikt_measures_json(ikt_json *json, const ikt_measures *measures);

/* COLLECTIVE, the same curve on all ranks. A file of the columns k, Q and R, a line for every k, in
 * 17 digits, which give the same double. Errors: IKT_ERR_FILE. */
ikt_status ikt_curve_write(ikt_context *ctx, const char *path, bool overwrite,
                           const ikt_rank_curve *curve);

#endif
