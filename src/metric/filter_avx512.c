/* The filter on AVX-512. See filter.h. */
#include "metric/filter.h"

#if defined(__x86_64__)
#define LANE_WIDTH 16
#include "metric/filter_body.h"

const ikt_filter_kernel ikt_filter_avx512 = {block, thin};
#endif
