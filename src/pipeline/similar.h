/* From rows to what an affinity weighs: lists of the most similar rows, or all scores.
 *
 * There is one way for each of the scores that a kind of affinity may ask for (affinity/kind.h):
 * by cell codes, by distances. Each goes by all pairs, or among the rows of near cells; and where P
 * is dense, scores become P at once.
 */
#ifndef IKT_PIPELINE_SIMILAR_H
#define IKT_PIPELINE_SIMILAR_H

#include "affinity/kind.h"
#include "neighbours/tiles.h"
#include "pipeline/probabilities.h"

/* What the ways need to know, lent to them. */
typedef struct {
    const ikt_settings *settings;
    const ikt_affinity *kind;
    ikt_dataset *data;
    const ikt_rows *rows;
} ikt_similar_job;

/* COLLECTIVE. The two ways.
 *   p       receives order, start, recall, and what was resolved; and the dense P, where
 * p->is_dense lists   receives sorted or unsorted lists of p->k neighbours, in positions where
 * p->is_ordered; untouched where P is dense Errors: IKT_ERR_USAGE, IKT_ERR_RESOURCE, those of
 * reading, IKT_STOPPED. */
ikt_status ikt_similar_by_codes(ikt_context *ctx, const ikt_similar_job *job, ikt_probabilities *p,
                                ikt_neighbours *lists);
ikt_status ikt_similar_by_distances(ikt_context *ctx, const ikt_similar_job *job,
                                    ikt_probabilities *p, ikt_neighbours *lists);

/* COLLECTIVE. Hands codes to p->keep alone, where P is there already. Errors: those above. */
ikt_status ikt_similar_keep_codes(ikt_context *ctx, const ikt_similar_job *job,
                                  ikt_probabilities *p);

/* LOCAL, pure. Whether rows are ordered by coarse cells and compared with those of near cells. */
bool ikt_similar_is_near(const ikt_similar_job *job, const ikt_probabilities *p);

/* COLLECTIVE. What the ways share: all pairs, into lists or the dense P; and rows of near cells. */
ikt_status ikt_similar_all(ikt_context *ctx, const ikt_similar_job *job, const ikt_scorer *scorer,
                           ikt_probabilities *p, ikt_neighbours *lists);
ikt_status ikt_similar_near(ikt_context *ctx, const ikt_similar_job *job, const ikt_cells *cells,
                            ikt_tiles *tiles, ikt_probabilities *p, ikt_neighbours *lists);

/* LOCAL. What a kind of affinity is told. */
ikt_affinity_job ikt_similar_weighing(const ikt_similar_job *job, const ikt_probabilities *p);

#endif
