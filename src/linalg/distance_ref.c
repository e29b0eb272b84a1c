/* The squared Euclidean distance as the formula says, in double precision; for tests. */
#include "linalg/distance.h"

double ikt_distance_ref(const float *x, const float *y, int64_t d) {
    double sum = 0;
    for (int64_t k = 0; k < d; k++) {
        double difference = (double)x[k] - (double)y[k];
        sum += difference * difference;
    }
    return sum;
}
