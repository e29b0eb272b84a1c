/* Measures as a table, and as JSON. */
#ifndef IKT_APP_MEASURES_PRINT_H
#define IKT_APP_MEASURES_PRINT_H

#include "app/json.h"
#include "evaluate/measure.h"

/* LOCAL. A table on standard output. */
void ikt_measures_print(const ikt_measures *measures);

/* LOCAL. An object "measures": {name: {"value": ..., "sample": ..., "note": ...}}. */
void ikt_measures_json(ikt_json *json, const ikt_measures *measures);

#endif
