/* How t-SNE has its regulariser: what both ways of evaluating t-SNE (divergence.c, dense_tsne.c)
 * share of it. */
#ifndef IKT_OBJECTIVE_REGULARISER_H
#define IKT_OBJECTIVE_REGULARISER_H

#include "objective/objective.h"

/* LOCAL, pure. Whether the settings ask for one; whether it pulls at the map, and is not only
 * measured. */
static inline bool ikt_regulariser_is_there(const ikt_objective_options *options) {
    return options->regulariser.kind != IKT_REGULARISER_NONE;
}
static inline bool ikt_regulariser_pulls(const ikt_objective_options *options) {
    return ikt_regulariser_is_there(options) && options->regulariser.weight > 0;
}

/* COLLECTIVE. The regulariser that the options ask for; an automatic rank has been found.
 *   sums   of the map's kernel; borrowed
 *   out    NULL where they ask for none
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_regulariser_create(ikt_context *ctx, const ikt_objective_inputs *inputs,
                                  ikt_kernelsum *sums, ikt_regulariser **out);

/* The evaluation that it adds to. */
typedef struct {
    const ikt_objective *objective;
    int64_t iteration;
    bool wants_value;
    const double *phi; /* [n_local] */
    float *field;      /* [n_local * q] grad phi, and gradient->repulsion; receives the sum */
} ikt_regulariser_map;

/* COLLECTIVE. Adds value and gradient to those of the divergence, where the regulariser is on:
 * from options.regulariser.from on, or after the first phase. Nothing happens where there is none
 * (NULL) and where the map is not sound. Errors: those of ikt_laplacian_evaluate. */
ikt_status ikt_regulariser_add(ikt_regulariser *regulariser,
                               const ikt_regulariser_settings *settings,
                               const ikt_regulariser_map *map, ikt_gradient *gradient,
                               ikt_objective_terms *terms);

/* LOCAL, pure. The functions of an ikt_objective_kind. */
int ikt_regulariser_state(const ikt_objective_shape *shape,
                          ikt_objective_array array[IKT_OBJECTIVE_ARRAYS_MOST]);
void *ikt_regulariser_state_array(ikt_regulariser *regulariser, int64_t iteration, int k);

/* LOCAL. "laptsne K 8, lambda 0.5, ": what t-SNE is with it.
 *   eigenvalues   from the second on */
void ikt_regulariser_describe(double weight, int64_t eigenvalues, char *text, size_t size);

/* LOCAL, pure. Bytes, 0 where there is none; and the sets of charges that sums take together. */
int64_t ikt_regulariser_memory(const ikt_objective_shape *shape);
int ikt_regulariser_charges(const ikt_objective_shape *shape);

#endif
