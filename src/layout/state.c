/* The loop's state: which arrays it has. See layout.h. */
#include "base/memory.h"
#include "layout/layout.h"

int ikt_loop_arrays(const ikt_layout_settings *settings, const ikt_rows *rows,
                    ikt_objective_array form[IKT_LOOP_ARRAYS_MOST]) {
    const ikt_objective_kind *kind = ikt_layout_objective(settings);
    const int q = (int)settings->dimensions;
    int count = 0;
    form[count++] = (ikt_objective_array){"y", IKT_PART_F32, false, q};
    for (int a = 0; a < kind->optimiser->arrays; a++)
        form[count++] =
            (ikt_objective_array){kind->optimiser->array[a].name, IKT_PART_F32, false, q};
    if (!kind->state) return count;
    const ikt_objective_shape shape = {
        .rows = *rows, .q = q, .options = ikt_layout_options(settings, 0)};
    return count + kind->state(&shape, form + count);
}

int64_t ikt_loop_array_bytes(const ikt_objective_array *array, int64_t n_local) {
    return (array->is_shared ? 1 : n_local) * array->count *
           (int64_t)ikt_part_type_size(array->type);
}

ikt_status ikt_loop_state_allocate(ikt_context *ctx, const ikt_rows *rows, ikt_loop_state *state) {
    for (int a = 0; a < state->arrays; a++)
        IKT_TRY(ikt_alloc(ctx, &state->array[a], ikt_loop_array_bytes(&state->form[a], rows->count),
                          1, "checkpoint"));
    return IKT_OK;
}

void ikt_loop_state_destroy(ikt_loop_state *state) {
    for (int a = 0; a < state->arrays; a++)
        ikt_free(&state->array[a]);
    ikt_free(&state->point);
    state->arrays = 0;
}
