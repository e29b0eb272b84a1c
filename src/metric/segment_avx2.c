/* Points of a line on AVX2. */
#include "metric/segment.h"

#if defined(__x86_64__)
#define LANE_WIDTH 8
#include "metric/segment_body.h"

const ikt_segment_kernel ikt_segment_avx2 = {roots, speed, halves, middle, chord, arcs};
#endif
