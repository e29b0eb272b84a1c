/* From the numbers at the edges of a graph that was made elsewhere to weights p_j|i, row by row. */
#ifndef IKT_AFFINITY_EDGES_H
#define IKT_AFFINITY_EDGES_H

#include <stdbool.h>
#include <stdint.h>

#include "config/key.h"

/* What the numbers are; as graph.values has them, and behind those what a kept graph holds. */
typedef enum {
    IKT_EDGES_AUTO,          /* as the file says, by attribute or name */
    IKT_EDGES_SIMILARITIES,  /* >= 0: p_j|i = w_ij / sum of the row */
    IKT_EDGES_DISTANCES,     /* >= 0: kernel of graph.weights */
    IKT_EDGES_PROBABILITIES, /* symmetric P up to a factor */
    IKT_EDGES_NONE,          /* an edge is an edge: p_j|i = 1 / edges of the row */
    IKT_EDGES_CONDITIONAL    /* p_j|i itself */
} ikt_edges;

typedef enum { IKT_WEIGHTS_GAUSSIAN, IKT_WEIGHTS_KNN } ikt_edge_kernel;

typedef struct {
    int values;       /* ikt_edges */
    int weights;      /* ikt_edge_kernel */
    bool is_pairwise; /* no key: input.graph is a matrix of all pairs, once that is known */
} ikt_graph_settings;

extern const ikt_section ikt_graph_section;

typedef struct {
    ikt_edges values;
    ikt_edge_kernel kernel; /* of distances */
    double perplexity;      /* of the Gaussian kernel */
    double scale;           /* probabilities: what they are multiplied by */
} ikt_edge_rule;

/* LOCAL, pure. Whether an entry with the number 0 is an edge: where it is a distance. */
bool ikt_edges_keep_zero(ikt_edges values);

/* LOCAL, pure. Edges that a row must have at least. */
double ikt_edges_least(const ikt_edge_rule *rule);

/* LOCAL. Weights of the edges of one row, of which there is at least one. No weight is less than
 * 1e-30: an edge stays an edge.
 *   value    [count] finite, not below 0; ascending by column, so that sums have one order
 *   squared  [count] room
 *   weight   [count], receives p_j|i; sums to 1 but for probabilities and conditional ones */
void ikt_edge_weights(const ikt_edge_rule *rule, const double *value, int64_t count, float *squared,
                      float *weight);

#endif
