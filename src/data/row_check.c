/* Rows that no statistic has seen. */
#include "data/row_check.h"

#include <math.h>

#include "data/normalise.h"

int64_t ikt_rows_find_bad(const float *rows, int64_t count, int64_t columns) {
    const float most = 4e18f / sqrtf((float)columns); /* (2 most)^2 columns fits a float */
    for (int64_t i = 0; i < count; i++) {
        bool good = true;
        for (int64_t k = 0; k < columns; k++)
            good &= fabsf(rows[i * columns + k]) <= most;
        if (!good) return i;
    }
    return -1;
}

ikt_status ikt_row_refuse(ikt_context *ctx, const ikt_source *source, int64_t row,
                          const void *native, double *room) {
    const int64_t d = ikt_source_columns(source);
    const ikt_normaliser identity = {.mode = IKT_NORMALISE_NONE, .d = d};
    ikt_normaliser_row(&identity, ikt_source_type(source), native, room);
    for (int64_t k = 0; k < d; k++)
        if (!isfinite(room[k]))
            return ikt_fail(ctx, IKT_ERR_DATA,
                            "%s, row %lld, column %lld (counted from 0): value is %s; remove the "
                            "row or replace the value",
                            ikt_source_name(source), (long long)row, (long long)k,
                            isnan(room[k]) ? "NaN" : "infinite");
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s, row %lld lies too far from the data that the model was made of for "
                    "distances in single precision; remove it, or bring it to the same units",
                    ikt_source_name(source), (long long)row);
}
