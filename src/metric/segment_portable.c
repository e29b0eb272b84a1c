/* Points of a line in plain C. */
#include "metric/segment.h"

#define LANE_WIDTH 4
#include "metric/segment_body.h"

const ikt_segment_kernel ikt_segment_portable = {roots, speed, halves, middle, chord, arcs};
