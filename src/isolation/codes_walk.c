/* What lists of nearest distinct centres have in common. See codes_walk.h. */
#include "isolation/codes_walk.h"

#include <math.h>

enum { LIST_LEAST = 32 };

/* After `length` entries a partitioning is still open with the chance (1 - psi/centres)^length. */
int64_t ikt_list_length(int64_t centres, int64_t psi, int64_t t, int64_t coarse) {
    double fine = (double)centres / (double)psi * (log((double)t) + 4.6);
    double rough = coarse > 0 ? (double)centres / (double)coarse * 4.6 : 0;
    int64_t length = (int64_t)ceil(fmax(fine, rough));
    if (length < LIST_LEAST) length = LIST_LEAST;
    return length < centres ? length : centres;
}

int64_t ikt_list_stride(int64_t count) {
    int64_t stride = (int64_t)(0.6180339887498949 * (double)count);
    for (;; stride++) {
        int64_t a = count, b = stride > 0 ? stride : 1;
        while (b > 0) {
            int64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1) return stride > 0 ? stride : 1;
    }
}

void ikt_list_tighten(ikt_select *kept, int64_t rows, int64_t length, int64_t seen, int64_t count) {
    double expected = (double)length * (double)seen / (double)count;
    int64_t most = (int64_t)(expected + 4 * sqrt(expected) + 4);
    for (int64_t r = 0; most < length && r < rows; r++)
        ikt_select_tighten(&kept[r], most);
}

float ikt_list_certain_below(rounding round, double x_norm, double largest_norm, float least_out) {
    if (!(x_norm <= largest_safe_norm) || !(largest_norm <= largest_safe_norm)) return 0;
    double squared = x_norm + 2 * ((double)least_out - round.start * x_norm / 2 - 2 * round.tiny);
    double bound = squared * (1 - round.definition) - round.tiny;
    return bound > 0 ? (float)(bound * (1 - 0x1p-22)) : 0;
}

int64_t ikt_list_walk(const ikt_centre_table *table, const ikt_select *kept, ikt_pair certain,
                      uint16_t *cell) {
    int64_t open = table->parts;
    for (int64_t p = 0; p < table->parts; p++)
        cell[p] = IKT_CELL_OPEN;
    for (int64_t e = 0; e < kept->count && open > 0 && kept->pair[e] < certain; e++) {
        int64_t centre = ikt_pair_number(kept->pair[e]);
        for (int64_t u = table->start[centre]; u < table->start[centre + 1]; u++)
            if (cell[table->part[u]] == IKT_CELL_OPEN) {
                cell[table->part[u]] = table->cell[u];
                open -= table->cell[u] != IKT_CELL_OPEN;
            }
    }
    return open;
}
