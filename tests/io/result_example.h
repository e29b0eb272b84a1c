/* A result file with a bit of everything, the same on any number of ranks. */
#ifndef IKT_TEST_RESULT_EXAMPLE_H
#define IKT_TEST_RESULT_EXAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "dist/rows.h"
#include "io/results/result.h"

enum { RESULT_ROWS_MAX = 4096, RESULT_TRACE = 3 };

typedef struct {
    float y[RESULT_ROWS_MAX * 2];
    int64_t labels[RESULT_ROWS_MAX];
    ikt_result result;
} result_example;

static inline float result_element(int64_t row, int64_t column) {
    return (float)row / 8 - 3 * (float)column;
}

/* n rows; `host` is what varies. */
static inline void result_example_fill(result_example *e, int64_t n, int ranks, int rank,
                                       bool labels, const char *host) {
    static const int64_t marked[] = {2, 0}, iteration[RESULT_TRACE] = {0, 50, 100};
    static const double kl[RESULT_TRACE] = {4.25, 2.5, 1.125};
    static const double norm[RESULT_TRACE] = {1, 0.5, 0.25}, seconds[RESULT_TRACE] = {0, 1.5, 3};
    static const ikt_note facts[] = {
        {"version", "1.2.3"}, {"compiler", "cc \"\xCF\x88\""}, {"kl", "1.125"}};
    static ikt_note circumstances[] = {{"host", ""}, {"ranks", "?"}};
    ikt_rows rows = ikt_rows_make(n, ranks, rank);
    for (int64_t i = 0; i < rows.count; i++) {
        e->labels[i] = (rows.first + i) % 3 - 1;
        for (int64_t c = 0; c < 2; c++)
            e->y[2 * i + c] = result_element(rows.first + i, c);
    }
    for (int b = 0; b < 63 && host[b]; b++)
        circumstances[0].text[b] = host[b];
    e->result = (ikt_result){.rows = rows,
                             .q = 2,
                             .embedding = e->y,
                             .labels = labels ? e->labels : NULL,
                             .label_names = labels ? "one\ntwo\n\xCF\x88\n" : NULL,
                             .marked = marked,
                             .n_marked = n > 2 ? 2 : 0,
                             .n_trace = RESULT_TRACE,
                             .trace_iteration = iteration,
                             .value_name = "kl",
                             .trace_value = kl,
                             .trace_gradient_norm = norm,
                             .trace_seconds = seconds,
                             .configuration = "run:\n  seed: 7\n",
                             .facts = facts,
                             .n_facts = 3,
                             .circumstances = circumstances,
                             .n_circumstances = 2};
}

#endif
