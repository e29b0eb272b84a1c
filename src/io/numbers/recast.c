/* Numbers of one type as numbers of another. See recast.h. */
#include "io/numbers/recast.h"

double ikt_number_at(ikt_type type, const void *values, int64_t i) {
    return type == IKT_TYPE_U8    ? (double)((const uint8_t *)values)[i]
           : type == IKT_TYPE_F32 ? (double)((const float *)values)[i]
                                  : ((const double *)values)[i];
}

void ikt_number_put(ikt_type type, void *values, int64_t i, double value) {
    if (type == IKT_TYPE_F32)
        ((float *)values)[i] = (float)value;
    else if (type == IKT_TYPE_F64)
        ((double *)values)[i] = value;
    else
        ((uint8_t *)values)[i] = (uint8_t)value;
}

int64_t ikt_recast(ikt_type from, const void *values, ikt_type to, void *recast, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        const double value = ikt_number_at(from, values, i);
        if (!ikt_number_fits(to, value)) return i;
        ikt_number_put(to, recast, i, value);
    }
    return -1;
}
