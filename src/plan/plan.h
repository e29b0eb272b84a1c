/* What a run would take, before it is run: memory, and time and transfers stage by stage.
 *
 * Method: what each stage does follows from the workload: its operations, by what they cost in the
 * machine's few basic rates, and the transfers that base/timer.h would count. Advantage: says
 * what a stage costs and why; nothing is fitted to whole runs, so the parts stay true when
 * settings, ranks or machines change. Disadvantage: what depends on the values of the data (how
 * large the map grows, how many neighbours are on other ranks) is taken as usual (usual.c).
 */
#ifndef IKT_PLAN_PLAN_H
#define IKT_PLAN_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/timer.h"
#include "dist/rows.h"
#include "io/sources/source.h"
#include "isolation/codes.h"
#include "isolation/model.h"
#include "kernelsum/grid.h"
#include "plan/machine.h"
#include "recipe/recipe.h"

/* --- the workload (recipe/recipe.h) ----------------------------------------------------------- */

/* Rows that directions for a start are fitted to: more would not turn them visibly. */
enum { IKT_START_ROWS = 1 << 17 };

/* LOCAL, pure. How many of so many columns: fewer of wide rows, which are gone through many times,
 * unless they are the map. */
int64_t ikt_start_rows(const ikt_layout_settings *layout, int64_t d);

/* The same of sparse rows, whose axes are found by products of every two of them. */
enum { IKT_START_SPARSE_ROWS = 1024 };

/* LOCAL, pure. Entries of P for one of the directed neighbour lists: those of pairs that are in one
 * list only appear twice. Counted on digits: 1.26 of 10,000 rows, 1.40 of 70,000, 1.44 of 100,000,
 * 1.51 (90 neighbours) and 1.54 (30) of 1,000,000. */
double ikt_symmetric_share(int64_t n);

/* LOCAL, pure, all of the following. */

/* Whether the objective takes anything that relates rows: P, lists, codes or features. */
bool ikt_workload_relates(const ikt_workload *w);

/* Columns that two rows share: all, or of sparse ones those that both have. */
double ikt_workload_overlap(const ikt_workload *w);

/* Bytes of a row that the kernels read, and of what a search compares: codes, floats or bytes. */
int64_t ikt_workload_row_bytes(const ikt_workload *w);
int64_t ikt_workload_searched_bytes(const ikt_workload *w);

/* Side of the map's bounding box when a share 0 < done <= 1 of the iterations after the
 * exaggeration is done; done = 0: during the exaggeration.
 * Measured, digits under both kernels: 110, 165, 220 for 2,500, 10,000, 70,000 rows after 500 such
 * iterations, about 21.6 n^0.208, and growing there as the root of the iterations. */
double ikt_workload_span(const ikt_workload *w, double done);

/* Share of the entries of P that lead to another rank. Rows in the order of the input have
 * neighbours on all ranks alike; of ordered rows most are near. */
double ikt_workload_cut(const ikt_workload *w);

/* The whole kernel: rows of a block, on average over rows; partitionings of all iterations. */
double ikt_workload_block(const ikt_workload *w);
double ikt_workload_passes(const ikt_workload *w);

/* Rows of other ranks whose positions a rank needs in each iteration, and the ranks they are on.
 * Entries of P that cross over fall on the others' rows at random, and of ordered rows on the same
 * ones much more often: 0.69, 1.8 and 2.7 for each own row were counted on 2, 4 and 7 ranks. */
double ikt_workload_boundary(const ikt_workload *w);
double ikt_workload_partners(const ikt_workload *w);

/* The search among near cells: own blocks of a batch, batches, and rows that all of them fetch from
 * other ranks, and that one of them does at most. */
typedef struct {
    double blocks, batches, rows, most;
} ikt_fetching;
ikt_fetching ikt_workload_fetching(const ikt_workload *w);

/* --- memory ----------------------------------------------------------------------------------- */

/* Predicted bytes per rank of the stages that hold the most; stages follow each other, so the peak
 * is `base` plus the largest of them. */
typedef struct {
    int64_t base;                   /* the process with its libraries and their buffers */
    int64_t stage[IKT_STAGE_COUNT]; /* beyond that; 0: never the most */
    int64_t peak;
    ikt_stage largest;  /* of the peak */
    const char *advice; /* a setting that would need less */
} ikt_memory_plan;

/* LOCAL, pure. Prediction for the rank that has most.
 *   base   bytes that the process takes before it reads any data. */
ikt_memory_plan ikt_memory_plan_make(const ikt_workload *work, int64_t base);

/* LOCAL, pure. Whether a stage is among those that plans predict. */
bool ikt_memory_plan_has(int stage);

/* What placing new rows into a finished embedding has to do. */
typedef struct {
    int64_t n, q;       /* old rows, dimensions of the map */
    int64_t rows;       /* new rows of the rank that has most */
    int64_t columns;    /* of what the kernels read */
    int64_t k;          /* length of the list of a new row */
    int64_t near;       /* of a map by triplets the near rows of a row; else 0 */
    int64_t far;        /* and the far rows of all of them */
    int64_t references; /* bytes of the rows that distances are taken from */
    int64_t by_classes; /* bytes of old and new rows of a map that follows labels; else 0 */
    bool is_u8;
    ikt_model_spec model; /* t, psi and distinct centres */
    double span;          /* of the map */
    ikt_kernel kernel;    /* of the map */
    int threads;
} ikt_out_of_sample_size;

/* LOCAL, pure. The same for placing; there is neither P nor a measure of the input.
 *   base   with the old embedding, which has been read by then */
ikt_memory_plan ikt_memory_plan_out_of_sample(const ikt_out_of_sample_size *size, int64_t base);

/* COLLECTIVE. Logs the prediction and refuses a run that cannot fit on some rank.
 * Errors: IKT_ERR_RESOURCE with stage, need, what is there, and what would help. */
ikt_status ikt_memory_plan_check(ikt_context *ctx, const ikt_memory_plan *plan);

/* COLLECTIVE. The same without the log. */
ikt_status ikt_memory_plan_fits(ikt_context *ctx, const ikt_memory_plan *plan);

/* --- time ------------------------------------------------------------------------------------- */

/* Of the rank that has most to do. */
typedef struct {
    double seconds;     /* transfers included */
    double bytes_sent;  /* payload, as in base/timer.h */
    double messages;    /* sent, point to point */
    double collectives; /* calls */
} ikt_cost;

typedef struct {
    ikt_cost stage[IKT_STAGE_COUNT]; /* with the stages below, as times are */
    double gradients;                /* evaluations of the gradient */
} ikt_time_plan;

typedef struct {
    ikt_workload work;
    ikt_machine machine;
    ikt_memory_plan memory;
    ikt_time_plan time;
} ikt_plan;

/* SAME-ARGS. Memory and time of plan->work on plan->machine.
 *   base   bytes that the process takes before it reads any data
 * Errors: IKT_ERR_USAGE, as an embedding would. */
ikt_status ikt_plan_make(ikt_context *ctx, int64_t base, ikt_plan *plan);

/* LOCAL, pure.
 *   landmarks   the workload of the landmarks, or NULL where there are none */
ikt_time_plan ikt_time_plan_make(const ikt_workload *work, const ikt_workload *landmarks,
                                 const ikt_machine *machine);

/* LOCAL, pure. The loop, per evaluation of the gradient. */
ikt_cost ikt_time_plan_iteration(const ikt_time_plan *plan);

/* LOCAL, pure. The transfers that times are made of. A reduction or a concatenation takes two
 * latencies for each doubling of the ranks (one for a concatenation) and moves its payload twice
 * (once), less what stays where it is; messages follow one another. Nothing on one rank but the
 * call itself.
 *   bytes   of the vector that is reduced; of all parts together */
ikt_cost ikt_cost_reduction(const ikt_machine *machine, int ranks, double bytes);
ikt_cost ikt_cost_concatenation(const ikt_machine *machine, int ranks, double bytes);
ikt_cost ikt_cost_messages(const ikt_machine *machine, double messages, double bytes);

/* --- how many nodes, ranks and threads a run should be given (recommend.c) ---------------------
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
