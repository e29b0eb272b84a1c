/* From rows, or from a matrix of all pairs, to what an affinity weighs: lists of the most similar
 * rows, or the dense P at once.
 *
 * There is one way for each of the scores that a kind of affinity may ask for (affinity/kind.h): by
 * cell codes, by distances. Each goes by all pairs, or among the rows of near cells; and where P is
 * dense, scores become P at once.
 */
#ifndef IKT_PIPELINE_SIMILAR_H
#define IKT_PIPELINE_SIMILAR_H

#include "affinity/kind.h"
#include "io/sources/pairwise.h"
#include "pipeline/probabilities.h"

/* Lent. */
typedef struct {
    const ikt_settings *settings;
    const ikt_affinity *kind;
    ikt_dataset *data;
    const ikt_probabilities_options *options;
    const ikt_pairwise *pairs; /* the scores of all pairs come from this file; or NULL */
} ikt_similar_job;

/* COLLECTIVE. Finds the most similar rows of each.
 *   p   receives order, start, recall, codes where they are needed, and what was resolved; p->lists
 *       of p->k neighbours, sorted or not, in the order that p->is_ordered tells; or p->dense
 * Where a checkpoint has had the lists, codes alone are made, for those who need them.
 * Errors: IKT_ERR_USAGE, IKT_ERR_RESOURCE, those of reading, IKT_STOPPED. */
ikt_status ikt_similar_find(ikt_context *ctx, const ikt_similar_job *job, ikt_probabilities *p);

/* LOCAL. What a kind of affinity is told. */
ikt_affinity_job ikt_similar_weighing(const ikt_similar_job *job, const ikt_probabilities *p);

#endif
