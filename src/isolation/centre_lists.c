/* Lists of a row's nearest distinct centres. See centre_lists.h. */
#include "isolation/centre_lists.h"

#include <math.h>

#include "base/log.h"

enum { LIST_LEAST = 32 };

/* After `length` entries a partitioning is still open with the chance (1 - psi/centres)^length. */
int64_t ikt_list_length(int64_t centres, const ikt_model_spec *spec) {
    double fine = (double)centres / (double)spec->psi * (log((double)spec->t) + 4.6);
    double rough = spec->coarse > 0 ? (double)centres / (double)spec->coarse * 4.6 : 0;
    int64_t length = (int64_t)ceil(fmax(fine, rough));
    if (length < LIST_LEAST) length = LIST_LEAST;
    if (length < spec->near) length = spec->near;
    return length < centres ? length : centres;
}

void ikt_list_tighten(ikt_select *kept, int64_t rows, int64_t length, int64_t chunks, int64_t chunk,
                      int64_t count) {
    if (chunks != 1 && chunks != 4 && chunks != 16) return;
    const double expected = (double)length * (double)(chunks * chunk) / (double)count;
    const int64_t most = (int64_t)(expected + 4 * sqrt(expected) + 4);
    for (int64_t r = 0; most < length && r < rows; r++)
        ikt_select_tighten(&kept[r], most);
}

ikt_pair ikt_list_certain(const ikt_select *kept, rounding round, bool is_manhattan, double x_norm,
                          double largest_norm) {
    if (kept->limit == UINT64_MAX) return UINT64_MAX;
    double bound = 0;
    if (x_norm <= largest_safe_norm && largest_norm <= largest_safe_norm) {
        const double least_out = (double)ikt_pair_value(kept->limit);
        const double distance =
            is_manhattan ? x_norm + least_out - 2 * round.tiny
                         : x_norm + 2 * (least_out - round.start * x_norm / 2 - 2 * round.tiny);
        bound = distance * (1 - round.definition) - round.tiny;
    }
    return ikt_pair_make(bound > 0 ? (float)(bound * (1 - 0x1p-22)) : 0, 0);
}

void ikt_list_report(ikt_context *ctx, int64_t length, int64_t distinct, int64_t open,
                     int64_t rows) {
    ikt_log(ctx, IKT_LOG_DETAIL,
            "codes: lists of %lld of %lld distinct centres; on this rank %lld of %lld rows needed "
            "all of them",
            (long long)length, (long long)distinct, (long long)open, (long long)rows);
}
