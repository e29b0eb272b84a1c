/* All centres of a model, for tests. */
#ifndef IKT_TEST_MODEL_ROWS_H
#define IKT_TEST_MODEL_ROWS_H

#include <string.h>

#include "base/memory.h"
#include "isolation/model.h"
#include "support/ikt_test.h"

/* LOCAL. The rows of the centres of all partitionings [t * psi], owned by the caller (ikt_free). */
static inline int64_t *model_rows(ikt_context *ctx, const ikt_model *model) {
    int64_t *rows;
    ikt_draws draws;
    assert_int_equal(ikt_alloc(ctx, &rows, model->t * model->psi, sizeof *rows, "test"), IKT_OK);
    assert_int_equal(ikt_draws_create(ctx, model, 1, &draws), IKT_OK);
    for (int64_t p = 0; p < model->t; p++)
        memcpy(rows + p * model->psi, ikt_model_draw(model, &draws, 0, p),
               (size_t)model->psi * sizeof *rows);
    ikt_draws_destroy(&draws);
    return rows;
}

#endif
