/* How many nodes, ranks and threads a run should be given.
 *
 * Method: every sensible placement is planned (plan.h): numbers of nodes that double, ranks of a
 * node that divide its cores evenly, threads that stay within a memory domain. What does not fit
 * into the memory of a node is left out. On each number of nodes the fewest ranks win whose time is
 * within a tenth of the best; more nodes are taken as long as they are used at half efficiency or
 * better and a tenth faster. Advantage: the same predictions as everywhere, so a recommendation can
 * be checked by planning its neighbours. Disadvantage: it is as good as they are; the constants of
 * a machine say nothing of memory domains, for which the rule on threads stands, nor of a network
 * that is shared.
 */
#ifndef IKT_PLAN_RECOMMEND_H
#define IKT_PLAN_RECOMMEND_H

#include "plan/plan.h"

/* What there is to run on. */
typedef struct {
    int64_t nodes;
    int64_t cores;   /* of a node */
    int64_t domains; /* of a node, that share a memory (NUMA) */
    int64_t memory;  /* bytes of a node */
} ikt_cluster;

typedef struct {
    int64_t nodes, ranks; /* ranks in all; as many on each node */
    int64_t threads;      /* of a rank */
    double seconds;       /* predicted, of the whole run */
    int64_t node_bytes;   /* predicted, at the peak */
} ikt_placement;

/* Numbers of nodes that are tried: 1, 2, 4, ... and all of them. */
enum { IKT_PLACEMENTS_MOST = 64 };

typedef struct {
    ikt_cluster cluster;
    ikt_placement single;  /* one rank; it may not fit */
    ikt_placement best;    /* the recommendation, where there is one */
    ikt_placement leanest; /* of all the one that takes the least memory of a node */
    const char *advice;    /* a setting that would need less memory; NULL where none is known */
    bool fits;             /* whether anything fits, so that there is a recommendation */
    int count;
    ikt_placement
        of_nodes[IKT_PLACEMENTS_MOST]; /* [count] the best of each number of nodes that fit */
} ikt_recommendation;

/* Of a node's memory, that a run may be planned to take: the rest is the system's. */
#define IKT_MEMORY_SHARE 0.9

/* LOCAL. What this machine has: one node, the processors that this process may use, its memory that
 * is free, its domains. */
ikt_cluster ikt_cluster_here(void);

/* SAME-ARGS. `settings` with run.threads set: at most so many threads a rank.
 *   machine   the constants
 *   base      bytes that a process takes before it reads any data
 * Errors: IKT_ERR_USAGE, as an embedding would. */
ikt_status ikt_recommend(ikt_context *ctx, const ikt_settings *settings, const ikt_data_shape *data,
                         const ikt_machine *machine, int64_t base, const ikt_cluster *cluster,
                         ikt_recommendation *out);

/* LOCAL, pure. The efficiency of a placement: how much of its nodes' time another one would have
 * taken. */
double ikt_placement_efficiency(const ikt_placement *placement, const ikt_placement *than);

#endif
