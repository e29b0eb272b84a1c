/* Pictures of the best embeddings of a study, and their rank curves R(k). */
#ifndef IKT_STUDY_PICTURES_H
#define IKT_STUDY_PICTURES_H

#include "study/summary.h"

/* The picture of a run in the folder of the report. */
typedef struct {
    int64_t run;
    char name[IKT_STUDY_NAME]; /* "picture-3.png" */
} ikt_study_picture;

/* LOCAL, pure. The runs whose pictures are shown for a data set: for each method the best by the
 * first measure that has a better way.
 *   run   [n_methods], receives them; -1 where there is none. Returns the measure; -1: none. */
int64_t ikt_study_shown(const ikt_study *study, const ikt_study_plan *plan,
                        const ikt_study_result *result, int64_t data, int64_t *run);

/* COLLECTIVE. Draws them into FOLDER.
 *   picture   receives [*count] pictures in the order of data sets and methods, owned by the caller
 *             (ikt_free); runs whose embedding is not there are passed over.
 * Errors: those of reading results and of plotting. */
ikt_status ikt_study_pictures_draw(ikt_context *ctx, const ikt_study *study,
                                   const ikt_study_plan *plan, const ikt_study_result *result,
                                   const char *output, const char *folder,
                                   ikt_study_picture **picture, int64_t *count);

enum { IKT_STUDY_CURVE_POINTS = 200 };

/* R(k) of a run at some k, about evenly on a logarithmic scale. */
typedef struct {
    int64_t run, count;
    double k[IKT_STUDY_CURVE_POINTS], r[IKT_STUDY_CURVE_POINTS];
} ikt_study_rank_curve;

/* COLLECTIVE. Measures the curves of the runs whose pictures are shown (ikt_study_shown):
 * neighbours by distance in the input against those in the map. curve   receives [*count], owned by
 * the caller (ikt_free); runs whose embedding or data is not there are passed over. Errors: those
 * of reading, IKT_ERR_RESOURCE. Cost: see ikt_measure_rank_curve. */
ikt_status ikt_study_rank_curves_make(ikt_context *ctx, const ikt_study *study,
                                      const ikt_study_plan *plan, const ikt_study_result *result,
                                      const char *output, ikt_study_rank_curve **curve,
                                      int64_t *count);

#endif
