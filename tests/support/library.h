/* Parameters of a short embedding through the public interface, for tests. */
#ifndef IKT_TEST_LIBRARY_H
#define IKT_TEST_LIBRARY_H

#include <iktsne/iktsne.h>

#include "support/expect.h"

enum { LIBRARY_SETTINGS = 6 };

static const char *const library_settings[LIBRARY_SETTINGS][2] = {
    {"layout.iterations", "30"},   {"layout.exaggeration_iterations", "10"},
    {"isolation.psi", "16"},       {"isolation.partitionings", "40"},
    {"affinity.neighbours", "12"}, {"run.seed", "7"}};

static inline ikt_parameters *parameters_for(ikt_context *ctx) {
    ikt_parameters *parameters;
    succeed(ctx, ikt_parameters_create(ctx, &parameters));
    for (int i = 0; i < LIBRARY_SETTINGS; i++)
        succeed(ctx,
                ikt_parameters_set(parameters, library_settings[i][0], library_settings[i][1]));
    return parameters;
}

#endif
