/* What was measured, as JSON and as a table in Markdown. */
#ifndef IKT_BENCH_REPORT_H
#define IKT_BENCH_REPORT_H

#include <stdio.h>

#include "harness.h"

/* LOCAL. An array with an object for each record: name, size, unit, seconds {least, median},
 * repeats, rate, limits [{name, rate, ratio}], threads, ranks, isa, version, commit. */
void bench_print_json(const bench *b, FILE *file);

/* LOCAL. A heading that says what ran, and a table with a line for each record and limit. */
void bench_print_markdown(const bench *b, FILE *file);

#endif
