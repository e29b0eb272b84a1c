/* The table of metrics, and the packing of dense rows. See metric.h. */
#include "metric/metric.h"

#include <string.h>

enum { LANES = IKT_PACK_ROWS };

static const ikt_metric *const table[] = {&ikt_metric_euclidean};

const ikt_metric *ikt_metric_find(const char *name) {
    for (size_t m = 0; m < sizeof table / sizeof *table; m++)
        if (strcmp(table[m]->name, name) == 0) return table[m];
    return NULL;
}

const ikt_metric *ikt_metric_of(const ikt_dataset *data) {
    (void)data; /* no setting chooses another metric yet */
    return table[0];
}

/* Where the elements of a packed row begin; they are LANES apart. */
static int64_t lane_of(int64_t row, int64_t d) {
    return row / LANES * LANES * d + row % LANES;
}

void ikt_pack_rows(const float *rows, int64_t n, int64_t d, float *packed) {
    const int64_t tail = n % LANES;
    if (tail) memset(packed + (n - tail) * d, 0, sizeof(float) * LANES * (size_t)d);
    for (int64_t row = 0; row < n; row++) {
        float *lane = packed + lane_of(row, d);
        for (int64_t k = 0; k < d; k++)
            lane[k * LANES] = rows[row * d + k];
    }
}

void ikt_pack_rows_from(const float *const *row, int64_t n, int64_t d, float *packed) {
    for (int64_t i = 0; i < n; i++) {
        float *lane = packed + lane_of(i, d);
        for (int64_t k = 0; k < d; k++)
            lane[k * LANES] = row[i][k];
    }
}

void ikt_unpack_rows(const float *packed, int64_t n, int64_t d, float *rows) {
    for (int64_t row = 0; row < n; row++) {
        const float *lane = packed + lane_of(row, d);
        for (int64_t k = 0; k < d; k++)
            rows[row * d + k] = lane[k * LANES];
    }
}
