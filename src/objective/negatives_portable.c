/* Repulsion from far rows in plain C, and the choice of a kernel. */
#define LANE_WIDTH 4
#include "objective/negatives_body.h"

void ikt_negatives_portable(const ikt_negatives_job *job) {
    repel(job);
}

ikt_negatives_kernel *ikt_negatives_kernel_for(ikt_isa isa) {
#if defined(__x86_64__)
    if (isa >= IKT_ISA_AVX512) return ikt_negatives_avx512;
    if (isa == IKT_ISA_AVX2) return ikt_negatives_avx2;
#endif
    (void)isa;
    return ikt_negatives_portable;
}
