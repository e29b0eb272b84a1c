/* Eigenvectors of P in the line from data to embedding: a start, and the number of clusters.
 *
 * Neither is saved by checkpoints: after a stop before the loop's first iteration they are found
 * once more, with the same bits, which takes some tens of products with P; a run that is stopped
 * meanwhile finishes them first. */
#ifndef IKT_PIPELINE_EIGENVECTORS_H
#define IKT_PIPELINE_EIGENVECTORS_H

#include "pipeline/probabilities.h"
#include "settings/settings.h"
#include "spectral/spectrum.h"

/* COLLECTIVE. The eigenvectors that layout.init=spectral starts from, in the order of P.
 *   scores   [rows.count * layout.dimensions] receives them, each of length sqrt(n)
 * Errors: those of ikt_spectrum_map. */
ikt_status ikt_eigenvectors_start(ikt_context *ctx, const ikt_settings *settings,
                                  const ikt_probabilities *p, double *scores,
                                  ikt_spectrum_report *report);

/* COLLECTIVE. What layout.eigengap asks for, which is logged; that no gap stands out is a warning.
 * Errors: those of ikt_eigengap_find. */
ikt_status ikt_eigenvectors_gap(ikt_context *ctx, const ikt_settings *settings,
                                const ikt_probabilities *p, ikt_eigengap *out);

#endif
