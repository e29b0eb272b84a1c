/* Repulsion from far rows on AVX-512. */
#include "objective/negatives.h"

#if defined(__x86_64__)
#define LANE_WIDTH 16
#include "objective/negatives_body.h"

void ikt_negatives_avx512(const ikt_negatives_job *job) {
    repel(job);
}
#endif
