/* How t-SNE has its regulariser. See regulariser.h. */
#include "objective/regulariser.h"

#include <stdio.h>

#include "base/log.h"
#include "base/sort.h"
#include "config/value.h"
#include "spectral/spectrum.h"

/* Where the rank is found by the eigengap it is at most this, and the arrays of the state, which
 * has to be known before P is, are made for it. */
enum { RANK_FOUND_MOST = IKT_EIGENGAP_VALUES - 1 };

static const double weight_to_warn_from = 3;

/* What sums of so many rows cannot tell from 0 in a degree: beside 1, the row's own term, which is
 * taken off. */
static double floor_of(const ikt_objective_options *options) {
    const bool is_tight = options->accuracy == IKT_ACCURACY_TIGHT;
    if (options->repulsion == IKT_REPULSION_EXACT) return 1e-5;
    if (options->repulsion == IKT_REPULSION_TREE) return is_tight ? 1e-3 : 1e-2;
    return is_tight ? 1e-4 : 1e-2;
}

/* Columns of the state. */
static int64_t columns_of(const ikt_regulariser_settings *settings, int64_t n) {
    const bool is_found = settings->rank == IKT_AUTO_INT;
    return ikt_regulariser_columns(is_found ? ikt_smaller(RANK_FOUND_MOST, n) : settings->rank, n);
}

/* K as the eigengap says, but not more than are allowed to be asked for. */
static int64_t rank_found(ikt_context *ctx, int64_t found, int64_t n) {
    const int64_t most = ikt_regulariser_rank_most(n);
    if (found <= most) return found;
    ikt_log(ctx, IKT_LOG_WARN,
            "layout.regulariser_rank = auto takes %lld in place of the %lld clusters of the "
            "eigengap: groups of fewer than four rows are none",
            (long long)most, (long long)found);
    return most;
}

ikt_status ikt_regulariser_create(ikt_context *ctx, const ikt_objective_inputs *inputs,
                                  ikt_kernelsum *sums, ikt_regulariser **out) {
    *out = NULL;
    if (!ikt_regulariser_is_there(&inputs->options)) return IKT_OK;
    ikt_laplacian_setup setup = {.rows = inputs->rows,
                                 .q = inputs->q,
                                 .settings = inputs->options.regulariser,
                                 .seed = inputs->options.seed,
                                 .sums = sums,
                                 .floor = floor_of(&inputs->options)};
    if (setup.settings.weight >= weight_to_warn_from)
        ikt_log(ctx, IKT_LOG_WARN,
                "layout.regulariser_weight = %g outweighs the divergence: neighbours in the data "
                "will not be neighbours in the map; 0.03 to 1 is usual",
                setup.settings.weight);
    setup.columns = columns_of(&setup.settings, inputs->rows.n);
    if (setup.settings.rank == IKT_AUTO_INT)
        setup.settings.rank = rank_found(ctx, setup.settings.found, inputs->rows.n);
    return ikt_laplacian_create(ctx, &setup, out);
}

ikt_status ikt_regulariser_add(ikt_regulariser *regulariser,
                               const ikt_regulariser_settings *settings,
                               const ikt_regulariser_map *map, ikt_gradient *gradient,
                               ikt_objective_terms *terms) {
    const bool is_on = settings->from == IKT_AUTO_INT ? !map->objective->is_exaggerated
                                                      : map->iteration >= settings->from;
    if (!regulariser || !is_on || terms->condition == IKT_MAP_NOT_FINITE ||
        terms->condition == IKT_MAP_UNRESOLVED)
        return IKT_OK;
    const ikt_laplacian_map at = {.iteration = map->iteration,
                                  .y = map->objective->y,
                                  .phi = map->phi,
                                  .field = map->field,
                                  .wants_residual = map->wants_value};
    ikt_laplacian_terms found;
    IKT_TRY(ikt_laplacian_evaluate(regulariser, &at, (double)gradient->repulsion_scale, map->field,
                                   &found));
    if (settings->weight > 0) gradient->repulsion_scale = 1;
    terms->divergence = terms->value;
    terms->value += settings->weight * found.value;
    terms->eigenvalue = found.eigenvalue;
    terms->eigenvalues = found.count;
    terms->residual = found.residual;
    return IKT_OK;
}

int ikt_regulariser_state(const ikt_objective_shape *shape,
                          ikt_objective_array array[IKT_OBJECTIVE_ARRAYS_MOST]) {
    if (!ikt_regulariser_is_there(&shape->options)) return 0;
    const int64_t columns = columns_of(&shape->options.regulariser, shape->rows.n);
    array[0] = (ikt_objective_array){"eigenvectors", IKT_PART_F32, false, columns};
    array[1] =
        (ikt_objective_array){"eigenvector_numbers", IKT_PART_I64, true, IKT_LAPLACIAN_NUMBERS};
    return 2;
}

void *ikt_regulariser_state_array(ikt_regulariser *regulariser, int64_t iteration, int k) {
    return k == 0 ? (void *)ikt_laplacian_state_block(regulariser, iteration)
                  : ikt_laplacian_state_numbers(regulariser, iteration);
}

void ikt_regulariser_describe(double weight, int64_t eigenvalues, char *text, size_t size) {
    snprintf(text, size, "laptsne K %lld, lambda %g, ", (long long)(eigenvalues + 1), weight);
}

int64_t ikt_regulariser_memory(const ikt_objective_shape *shape) {
    const ikt_regulariser_settings *settings = &shape->options.regulariser;
    if (!ikt_regulariser_is_there(&shape->options)) return 0;
    return ikt_laplacian_memory(settings, &shape->rows, shape->q,
                                columns_of(settings, shape->rows.n), shape->threads);
}

int ikt_regulariser_charges(const ikt_objective_shape *shape) {
    return ikt_regulariser_is_there(&shape->options) ? IKT_LAPLACIAN_GROUP : 0;
}
