/* The configuration section `fisher`: distances that follow given labels (affinity.kind: fisher).
 */
#ifndef IKT_METRIC_FISHER_SETTINGS_H
#define IKT_METRIC_FISHER_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "config/key.h"
#include "metric/class_model.h"

/* Order of the choices of fisher.candidates. */
typedef enum {
    IKT_CANDIDATES_AUTO,
    IKT_CANDIDATES_ALL,
    IKT_CANDIDATES_POSTERIOR, /* nearest by sqrt(p), and the support where own weights count not */
    IKT_CANDIDATES_EUCLIDEAN, /* nearest by the plain distance: another method */
    IKT_CANDIDATES_NEAR       /* of near cells by what posterior compares: approximate */
} ikt_fisher_candidates;

/* Order of the choices of fisher.own. */
typedef enum { IKT_OWN_LEFT_OUT, IKT_OWN_KEPT } ikt_own_weights;

typedef struct {
    int64_t support;            /* m, or IKT_AUTO_INT */
    char sigma[IKT_STRING_MAX]; /* "likelihood", "perplexity" or a number */
    int rule;                   /* ikt_segment_rule */
    int64_t points;             /* T */
    int own;                    /* ikt_own_weights */
    double euclidean;           /* or IKT_AUTO_REAL */
    int candidates;             /* ikt_fisher_candidates */
    int64_t among;              /* candidates of a row, or IKT_AUTO_INT */
    char train[IKT_STRING_MAX]; /* FILE:PART of row numbers; "" = all rows that have a label */
    bool permute;
} ikt_fisher_settings;

extern const ikt_section ikt_fisher_section;

/* SAME-ARGS. Refuses settings that contradict each other. Errors: IKT_ERR_USAGE. */
ikt_status ikt_fisher_check(ikt_context *ctx, const ikt_fisher_settings *settings);

/* LOCAL. What fisher.sigma says.
 *   given   receives a number
 * Returns false where it says nothing that is known, or a number that is not above 0. */
bool ikt_fisher_sigma(const ikt_fisher_settings *settings, ikt_sigma_rule *rule, double *given);

/* LOCAL, pure. The share of plain distances.
 *   has_rows   whether there are rows that have them, and not a matrix of all pairs */
double ikt_fisher_euclidean(const ikt_fisher_settings *settings, bool has_rows);

/* LOCAL, pure. Rows of the support, wanted of so many labelled rows. */
int64_t ikt_fisher_support(const ikt_fisher_settings *settings, int64_t labelled);

/* LOCAL, pure. Candidates of lists of k of n rows: what auto means, beyond 131,072 rows those of
 * near cells, and how many. */
ikt_fisher_candidates ikt_fisher_candidates_of(const ikt_fisher_settings *settings, int64_t n);
int64_t ikt_fisher_among(const ikt_fisher_settings *settings, int64_t n, int64_t k);

#endif
