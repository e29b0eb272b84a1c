/* Measures of runs and of result files. */
#ifndef IKT_PIPELINE_MEASURES_H
#define IKT_PIPELINE_MEASURES_H

#include "evaluate/measure.h"
#include "pipeline/pipeline.h"

/* COLLECTIVE. The measures that output.measures asks for: of the map and its labels, or also those
 * that compare with the input, which is read again; and where marked rows landed. Measures that a
 * small data set does not allow are left out. Errors: those of ikt_measures_compute. */
ikt_status ikt_run_measures(ikt_context *ctx, const ikt_run *run, ikt_measures *out);

/* COLLECTIVE. For each marked row, the distance to it in the map of every class: the median of its
 * rank among all rows, divided by n - 1, over the rows of the class. 0 = nearest, 1 = farthest;
 * equal values say that the row lies between the classes. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_measure_marked(ikt_context *ctx, const ikt_measured *what, const int64_t *marked,
                              int64_t n_marked, ikt_measures *out);

/* COLLECTIVE. Divergence KL(P || Q) of t-SNE of a map y[map->count * q] under the P that the
 * settings give, whatever the objective was: P is computed again from the input. Z is summed
 * exactly up to 50,000 rows, with the tight FFT or tree beyond. Errors: those of
 * ikt_probabilities_compute. */
ikt_status ikt_measure_divergence(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                                  const ikt_row_map *map, int q, const float *y, double *kl);

#endif
