/* The filter in plain C. See filter.h. */
#define LANE_WIDTH 4
#include "metric/filter_body.h"

const ikt_filter_kernel ikt_filter_portable = {block, thin};
