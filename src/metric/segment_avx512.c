/* Points of a line on AVX-512. */
#include "metric/segment.h"

#if defined(__x86_64__)
#define LANE_WIDTH 16
#include "metric/segment_body.h"

const ikt_segment_kernel ikt_segment_avx512 = {roots, speed, halves, middle, chord, arcs};
#endif
