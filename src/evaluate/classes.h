/* The classes of a labelled data set: distinct labels, numbered in ascending order.
 *
 * Method: each rank sorts its own labels and drops repetitions; the short lists are joined on every
 * rank and sorted again. Labels are any 64-bit integers, also negative ones.
 * Disadvantage: as many labels as rows put all of them on every rank. */
#ifndef IKT_EVALUATE_CLASSES_H
#define IKT_EVALUATE_CLASSES_H

#include <stdint.h>

#include "base/status.h"

typedef struct {
    int64_t count;
    int64_t *label; /* [count] ascending, the same on every rank */
} ikt_classes;

/* COLLECTIVE. The distinct labels of all rows, the same on every rank.
 *   labels   [n_local] of the own rows, lent.
 *   out      freed with ikt_classes_destroy; empty on failure.
 * Errors: IKT_ERR_RESOURCE. Cost: n_local log n_local. */
ikt_status ikt_classes_find(ikt_context *ctx, const int64_t *labels, int64_t n_local,
                            ikt_classes *out);
void ikt_classes_destroy(ikt_classes *classes);

/* LOCAL. Number of the class of a label: 0 .. count - 1; -1 where no row has it. */
int64_t ikt_classes_number(const ikt_classes *classes, int64_t label);

#endif
