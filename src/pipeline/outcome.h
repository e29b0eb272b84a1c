/* What is made of a finished run: its file, its model, its picture, its cost, its measures. */
#ifndef IKT_PIPELINE_OUTCOME_H
#define IKT_PIPELINE_OUTCOME_H

#include "base/timer.h"
#include "evaluate/measure.h"
#include "io/results/result.h"
#include "pipeline/pipeline.h"

/* LOCAL. The map of a run and what stands beside it, borrowed from the run, as what a result file
 * holds; nothing else of it is set. */
ikt_result ikt_run_map(const ikt_run *run);

/* COLLECTIVE. Writes output.file (io/results/result.h), and sets run->facts. Errors: IKT_ERR_FILE.
 */
ikt_status ikt_run_write(ikt_context *ctx, ikt_run *run);

/* COLLECTIVE. Adds embedding, labels and provenance of a finished run to output.model and gives the
 * file its name; nothing without output.model. Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_run_model_end(ikt_context *ctx, ikt_run *run);

/* LOCAL. The configuration as used, as YAML, but for what names this run's own machine. *text is
 * freed with ikt_free. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_run_configuration(ikt_context *ctx, const ikt_run *run, char **text);

/* COLLECTIVE. Draws output.picture; nothing when that is empty. Errors: IKT_ERR_FILE. */
ikt_status ikt_run_picture(ikt_context *ctx, const ikt_run *run);

/* What a run cost, the same on every rank. */
typedef struct {
    ikt_stage_times times[IKT_STAGE_COUNT];
    ikt_traffic traffic[IKT_STAGE_COUNT];
    ikt_memory_peaks memory;
    int64_t accounted_bytes; /* most that a rank allocated through our account */
} ikt_run_cost;

/* COLLECTIVE. */
void ikt_run_cost_collect(ikt_context *ctx, ikt_run_cost *cost);

/* LOCAL. Notes by which program and of what a run is. */
void ikt_note_origin(const ikt_run *run, ikt_notes *notes);

/* COLLECTIVE. Notes all that is known of a finished run; the same on every rank. */
void ikt_note_run(ikt_context *ctx, const ikt_run *run, const ikt_run_cost *cost, ikt_notes *notes);

/* COLLECTIVE. The measures that output.measures asks for: the cheap ones of the map and its labels,
 * or all, also those that compare with the input, which is read again; and where marked rows
 * landed. Measures that a small data set does not allow are left out. Errors: those of
 * ikt_measures_compute. */
ikt_status ikt_run_measures(ikt_context *ctx, const ikt_run *run, ikt_measures *out);

/* COLLECTIVE. The map of a run as what is measured, without input and codes; borrowed from the
 * run. */
ikt_measured ikt_run_measured(ikt_context *ctx, const ikt_run *run);

/* COLLECTIVE. The measures of the families named ("clusters,ranks"; "" for none), whatever
 * output.measures says, and with has_marked where marked rows landed. The family `kernel` needs
 * the affinity to be the Isolation kernel. Errors: as above. */
ikt_status ikt_run_measures_of(ikt_context *ctx, const ikt_run *run, const char *families,
                               bool has_marked, ikt_measures *out);

/* COLLECTIVE. For each marked row, the distance to it in the map of every class: the median, and
 * the mean, over the rows of the class of their rank among all rows, divided by n - 1. 0 = nearest,
 * 1 = farthest; equal values say that the row lies between the classes. Up to 16 marked rows and 64
 * classes. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_measure_marked(ikt_context *ctx, const ikt_measured *what, const int64_t *marked,
                              int64_t n_marked, ikt_measures *out);

/* COLLECTIVE. Codes of the own rows under the model that the settings give, for measures that rank
 * by the Isolation kernel; freed with ikt_codes_destroy, empty on failure.
 * Errors: IKT_ERR_USAGE where the affinity is another one; those of ikt_codes_compute. */
ikt_status ikt_measure_codes(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                             const ikt_rows *rows, ikt_codes *codes);

/* COLLECTIVE. Divergence KL(P || Q) of t-SNE of a map y[rows->count * q] under the P that the
 * settings give, whatever the objective was: P is computed again from the input. Z is summed
 * exactly up to 50,000 rows, with the tight FFT or tree beyond. Of the whole kernel every pair
 * counts up to 16,384 rows, which takes the memory of a dense P, and a sample of pairs beyond.
 *   beside  labels of the own rows and names of their classes, which P may follow
 *   error   receives the standard error where the value is an estimate, else 0
 * Errors: those of the steps of P (line.h). */
ikt_status ikt_measure_divergence(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                                  const ikt_companions *beside, const ikt_rows *distribution, int q,
                                  const float *y, double *kl, double *error);

#endif
