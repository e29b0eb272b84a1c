/* Cell codes: for each row and each partitioning, the number of the cell that the row falls into.
 *
 * Zhu & Ting 2021, section 4.1. In the Voronoi form the cell of x is its nearest centre, in the
 * forest form the leaf of a random tree (tree.h). Codes
 * replace the data: t bytes a row (2 t for psi > 256), after which no coordinate is needed.
 * Method: X is streamed in blocks, never held whole, and tiles of rows are dealt to the threads.
 * Where partitionings share enough centres, one pass finds all cells from lists of nearest distinct
 * centres (codes_lists.c). Otherwise partitionings are taken in batches whose centres fit a fixed
 * budget, one pass over X a batch (codes_direct.c). Both give the same bits. Advantage: memory
 * independent of n beside the codes. Disadvantage: without lists, large psi * d means several
 * passes over X.
 * Sparse rows stay sparse, and so do their centres (codes_sparse.c): the same cells as of the same
 * rows held dense in float32, by an inverted index of the centres.
 */
#ifndef IKT_ISOLATION_CODES_H
#define IKT_ISOLATION_CODES_H

#include "isolation/codes_pass.h"

/* COLLECTIVE. Codes of the rows of this rank. Bit-identical on any number of ranks and threads and
 * on every instruction set; the cell is defined in codes_kernel.h.
 *   data           rows to code; the centres are rows of ikt_dataset_model(data), which has
 *                  model->spec.n rows. Finite values.
 *   distribution   of the rows of `data`.
 *   model          the same on all ranks.
 *   out            receives the codes, owned by the caller (ikt_codes_destroy); empty on failure.
 *   coarse         [distribution->count], receives the nearest coarse centre of each row; NULL
 *                  where the model has none, and in the forest form, whose coarse cells are found
 *                  without codes (neighbours/cells.h).
 * Errors: IKT_ERR_RESOURCE, those of reading; IKT_ERR_USAGE for the forest form of sparse rows.
 * Cost: n_local d multiply-adds over the threads times
 * the distinct centres, or t psi; in the forest form n_local t steps down trees of some 2 ln(psi)
 * levels. Memory: ikt_codes_memory_peak. */
ikt_status ikt_codes_compute(ikt_context *ctx, ikt_dataset *data, const ikt_rows *distribution,
                             const ikt_model *model, ikt_codes *out, uint16_t *coarse);

/* COLLECTIVE. ikt_codes_compute from where a run before this one has stopped: the hooks load the
 * codes, and save them from time to time (base/watch.h) and when they are complete. Memory: 4 bytes
 * a row more. Errors: IKT_STOPPED as well, with the codes saved. */
ikt_status ikt_codes_compute_kept(ikt_context *ctx, const ikt_codes_hooks *hooks, ikt_dataset *data,
                                  const ikt_rows *distribution, const ikt_model *model,
                                  ikt_codes *out, uint16_t *coarse);

/* COLLECTIVE. The same with a budget of one's own, equal on all ranks; the result does not depend
 * on it. The others allow 256 MiB of centres and 64 MiB of rows. `hooks` may be NULL. */
ikt_status ikt_codes_compute_within(ikt_context *ctx, ikt_codes_budget budget,
                                    const ikt_codes_hooks *hooks, ikt_dataset *data,
                                    const ikt_rows *distribution, const ikt_model *model,
                                    ikt_codes *out, uint16_t *coarse);

/* LOCAL, pure. Distinct centres that each row is compared with, at most, where codes of d columns
 * come from lists of them; 0 where every partitioning is looked at by itself. */
int64_t ikt_codes_distinct(const ikt_model_spec *spec, const ikt_codes_rows *rows);

/* LOCAL. Most bytes that ikt_codes_compute and the model take on a rank with n_local such rows and
 * `threads` threads, the codes included. Only the shape of the spec is looked at. */
int64_t ikt_codes_memory_peak(const ikt_codes_rows *rows, int64_t n_local,
                              const ikt_model_spec *spec, int threads);

#endif
