/* The attraction kernels in plain C. */
#define LANE_WIDTH 4
#include "base/lanes.h"
#include "objective/attraction.h"
#include "objective/attraction_body.h"

const ikt_attraction_kernel ikt_attraction_portable = {sparse, dense};
