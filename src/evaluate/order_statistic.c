/* The n-th smallest of some numbers. */
#include "evaluate/order_statistic.h"

static void part(float *values, int64_t low, int64_t high, int64_t *i, int64_t *j) {
    const float pivot = values[low + (high - low) / 2];
    *i = low;
    *j = high;
    while (*i <= *j) {
        while (values[*i] < pivot)
            ++*i;
        while (pivot < values[*j])
            --*j;
        if (*i > *j) break;
        float old = values[*i];
        values[(*i)++] = values[*j];
        values[(*j)--] = old;
    }
}

float ikt_order_statistic(float *values, int64_t count, int64_t place) {
    int64_t low = 0, high = count - 1;
    while (low < high) {
        int64_t i, j;
        part(values, low, high, &i, &j);
        if (place <= j)
            high = j;
        else if (place >= i)
            low = i;
        else
            break;
    }
    return values[place];
}

double ikt_median(float *values, int64_t count) {
    double upper = (double)ikt_order_statistic(values, count, count / 2);
    if (count % 2 == 1) return upper;
    return (upper + (double)ikt_order_statistic(values, count, count / 2 - 1)) / 2;
}
