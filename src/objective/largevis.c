/* LargeVis (Tang, Liu, Zhang & Mei 2016, equation 6) by negative samples: the kernel of t-SNE,
 * gamma = 7, m = M = 5. */
#include <stddef.h>

#include "objective/negative_sampling.h"

static const ikt_key keys[] = {
    IKT_NEGATIVE_KEY(repulsion, IKT_KEY_REAL, "7", 0, 1e6, 0, "",
                     "The weight gamma of the repulsion by negative samples"),
    IKT_NEGATIVE_KEYS};

static const ikt_section section = {"largevis",
                                    "The objective of LargeVis (layout.objective: largevis)", keys,
                                    sizeof keys / sizeof *keys};

static const ikt_negative_kind negatives = {.soft = 0.1, .clip = 5, .share = 1, .usual_far = 64};

const ikt_objective_kind ikt_objective_largevis = {.name = "largevis",
                                                   .section = &section,
                                                   .keys = offsetof(ikt_objective_own, largevis),
                                                   .negatives = &negatives,
                                                   .resolve = ikt_negatives_resolve,
                                                   .iterations = 1000,
                                                   .many_iterations = 2000,
                                                   IKT_NEGATIVE_SAMPLING_KIND};
