/* The names that measures come under, which of them a study may ask for, and which way is better.
 */
#ifndef IKT_EVALUATE_MEASURE_NAMES_H
#define IKT_EVALUATE_MEASURE_NAMES_H

typedef struct {
    const char *pattern; /* "#-NN accuracy": a # stands for an integer */
    const char *family;  /* of measure.h; "marked": where marked rows landed; "run": of the run */
    int better;          /* +1 larger, -1 smaller, 0 neither */
} ikt_measure_name;

/* LOCAL, all of them, pure. What is known about a name; NULL where there is no such measure. */
const ikt_measure_name *ikt_measure_find(const char *name);

/* The pattern nearest to a name that is none, for hints. */
const char *ikt_measure_nearest(const char *name);

/* The way in which a measure is better; 0 also where there is no such measure. */
int ikt_measure_way(const char *name);

#endif
