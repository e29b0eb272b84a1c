/* The names that measures come under, which of them a study may ask for, and which way is better.
 */
#ifndef IKT_EVALUATE_MEASURE_NAMES_H
#define IKT_EVALUATE_MEASURE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const char *pattern; /* "#-NN accuracy": a # stands for an integer */
    const char *family;  /* of measure.h; "marked": where marked rows landed; "run": of the run */
    int better;          /* +1 larger, -1 smaller, 0 neither */
} ikt_measure_name;

/* LOCAL. What is known about a name; NULL where there is no such measure.
 *   nearest   [size], receives the pattern nearest to it. */
const ikt_measure_name *ikt_measure_find(const char *name, char *nearest, size_t size);

#endif
