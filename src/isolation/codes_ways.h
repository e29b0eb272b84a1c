/* The ways of computing codes: all give the cells that codes_kernel.h and tree.h define.
 *
 * Each takes codes that are being computed, and passes over the rows until all entries are there
 * (codes_pass.h). Trees know no coarse partition.
 */
#ifndef IKT_ISOLATION_CODES_WAYS_H
#define IKT_ISOLATION_CODES_WAYS_H

#include "isolation/codes_pass.h"

/* --- from lists of a row's nearest distinct centres (codes_lists.c) --------------------------- */

/* LOCAL, pure. Whether lists pay for a model of `centres` distinct centres: they need half of the
 * distances at most, and all packed centres fit 1 GiB. */
bool ikt_list_pays(bool is_u8, int64_t centres, int64_t psi, int64_t t, int64_t d);

/* COLLECTIVE. Errors: those of ikt_codes_compute, as for the following ways. */
ikt_status ikt_coding_lists(ikt_coding *c);

/* LOCAL. Bytes that it takes beside codes, model and rows.
 *   distinct   of all centres */
int64_t ikt_coding_lists_bytes(const ikt_codes_kernel *kernel, const ikt_model_spec *spec,
                               int64_t distinct, int64_t d, int threads);

/* --- every row against the centres of each partitioning (codes_direct.c) ---------------------- */

ikt_status ikt_coding_direct(ikt_coding *c);
int64_t ikt_coding_direct_bytes(const ikt_codes_kernel *kernel, ikt_codes_budget budget,
                                const ikt_model_spec *spec, int64_t d, int threads);

/* --- every row down each of t random trees (codes_forest.c) ----------------------------------- */

ikt_status ikt_coding_forest(ikt_coding *c);
int64_t ikt_coding_forest_bytes(ikt_codes_budget budget, const ikt_model_spec *spec,
                                int64_t row_bytes, int64_t d, int threads);

/* --- sparse rows, by an inverted index of the centres (codes_sparse.c) ------------------------ */

/* LOCAL, pure. Whether lists pay: they look at fewer centres than the partitionings have, and the
 * index of all distinct ones fits 4 GiB. */
bool ikt_sparse_list_pays(const ikt_model_spec *spec, const ikt_codes_rows *rows, int64_t distinct);

/* COLLECTIVE. In one pass where cells are found from lists, otherwise some partitionings a pass. */
ikt_status ikt_coding_sparse(ikt_coding *c, bool with_lists);

/* LOCAL. distinct: of all centres where lists pay, otherwise 0. */
int64_t ikt_coding_sparse_bytes(ikt_codes_budget budget, const ikt_model_spec *spec,
                                int64_t distinct, const ikt_codes_rows *rows, int threads);

#endif
