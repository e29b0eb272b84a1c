/* Rank curves R(k) of the best embeddings of a study. */
#ifndef IKT_STUDY_RANK_CURVES_H
#define IKT_STUDY_RANK_CURVES_H

#include "study/results.h"

enum { IKT_STUDY_CURVE_POINTS = 200 };

/* R(k) of a run at some k, about evenly on a logarithmic scale. */
typedef struct {
    int64_t run, count;
    double k[IKT_STUDY_CURVE_POINTS], r[IKT_STUDY_CURVE_POINTS];
} ikt_study_rank_curve;

/* COLLECTIVE. Measures the curves of the runs whose pictures are shown (pictures.h): neighbours by
 * distance in the input against those in the map.
 *   curve   receives [*count], owned by the caller (ikt_free); runs whose embedding or data is not
 *           there are passed over.
 * Errors: those of reading, IKT_ERR_RESOURCE. Cost: see ikt_measure_rank_curve. */
ikt_status ikt_study_rank_curves_make(ikt_context *ctx, const ikt_study *study,
                                      const ikt_study_plan *plan, const ikt_study_result *result,
                                      const char *output, ikt_study_rank_curve **curve,
                                      int64_t *count);

#endif
