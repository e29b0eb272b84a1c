/* What the stages of a plan share: numbers of the workload, and the pieces of work and transfers
 * that they are made of.
 *
 * Each stage is a table of pieces: whether this run has it, what it takes, how many operations, and
 * how many basic ones each of them is. In these tables n, m: rows in all and of the rank; d columns
 * of the file, c of what the kernels read; k neighbours. */
#ifndef IKT_PLAN_TASK_H
#define IKT_PLAN_TASK_H

#include <math.h>

#include "plan/plan.h"

/* What an operation of a stage costs in basic ones, beyond its inner kernel: means of what was
 * timed on two cores of a Xeon with AVX-512 and on one of an EPYC, which differ by a third or less
 * of most, and by 1.8 at most. What one stage alone has stands in its table. In multiply-adds: */
static const double block_coordinate = 1.06, /* of a pair, its distance alone */
    byte_coordinate = 0.22,                  /* of a pair, as bytes */
    projected_coordinate = 1.37;             /* of a row, onto a component */
/* In gathers: */
static const double eigen_cube = 0.432, /* of d^3, on one thread */
    shared_column = 2.23;               /* of a sparse row and a centre */

/* What a piece takes; rates are those of machine.h. */
typedef enum {
    MULTIPLY_ADDS, /* on all threads of a rank */
    GATHERS,
    COORDINATES,    /* of bytes */
    COMPARED_BYTES, /* of codes */
    GRID_NODES,
    LONE_MULTIPLY_ADDS, /* on one thread */
    LONE_GATHERS,
    FILE_BYTES,
    MESSAGES, /* transfers */
    CONCATENATION,
    SUM,
    SHARED_SUM /* of which each rank gets a part */
} ikt_resource;

typedef struct {
    bool is_had; /* by this run */
    ikt_stage stage;
    ikt_resource takes;
    double count;    /* of operations; of transfers */
    double each;     /* basic ones of an operation; bytes of a transfer, or of all its messages */
    double messages; /* of a transfer by messages */
} ikt_piece;

/* A workload, the machine that it meets, numbers that many stages need, and what comes out. */
typedef struct {
    const ikt_workload *w;
    const ikt_machine *m;
    double rate[MESSAGES]; /* basic operations a second of a rank */
    double n, rows;        /* n and m */
    double others;         /* ranks but this one */
    double columns;        /* c */
    double searched;       /* bytes of a row that is searched for */
    double entries;        /* of P, on the rank */
    double place;          /* of the rows of a rank, for ikt_rate_between */
    double gradients;      /* evaluations of the gradient, */
    double early, late;    /* with exaggeration, and without */
    double reports;        /* of them, with the value of the objective */
    double axes, kernels;
    ikt_cost *own; /* [IKT_STAGE_COUNT] what each stage costs without those below it */
} ikt_task;

/* LOCAL, pure, all of the following but where it says that it adds. */

/* Adds the pieces that the run has to their stages. */
void ikt_pieces_add(const ikt_task *t, const ikt_piece *piece, size_t count);

#define ADD(task, pieces) ikt_pieces_add(task, pieces, sizeof(pieces) / sizeof *(pieces))

/* Rows compared with others: bytes of codes, or squared differences. */
ikt_piece ikt_pairs_compared(const ikt_task *t, bool is_had, ikt_stage stage, double count);

/* Adds all pairs: blocks of rows go round the ring of ranks. */
void ikt_plan_all_pairs(const ikt_task *t, ikt_stage stage);

/* Adds a pass over a share of the own rows: m d values from the file, brought to scale, and
 * projected where they are reduced. */
void ikt_plan_pass(const ikt_task *t, ikt_stage stage, double share, bool is_reduced);

/* Adds statistics of the columns, and principal components of a sample of the rows. */
void ikt_plan_preprocess(const ikt_task *t, ikt_stage stage);

/* Adds principal components of a share of the own rows, of so many columns. */
void ikt_plan_components(const ikt_task *t, ikt_stage stage, double share, int64_t d,
                         int64_t components, bool is_reduced);

/* Adds what stages cost: all of those before the loop; the loop and what is in it. */
void ikt_plan_before_loop(const ikt_task *t);
void ikt_plan_loop(const ikt_task *t);

/* What is held where something holds. */
static inline int64_t when(bool holds, int64_t bytes) {
    return holds ? bytes : 0;
}

/* What a search needs beside rows and lists: what rows keep that are compared with all; or centres
 * and an order; while rows are moved, a copy of coordinates, or slices. Rows as bytes and their
 * lists are counted here. */
int64_t ikt_plan_search_bytes(const ikt_workload *w);

/* Adds the search by distances that follow labels. Its memory: of a row, of which the rest of the
 * run knows; and what the search holds beside that, 0 where there is no such search. */
void ikt_plan_classes(const ikt_task *t);
int64_t ikt_plan_classes_row_bytes(const ikt_workload *w);
int64_t ikt_plan_classes_bytes(const ikt_workload *w);

/* Between the two sizes at which a cost was measured, and some way beyond, it is a power of the
 * size: `place` is 0 at one and 1 at the other. Of rows of a rank these are 2^16 and 2^19. */
static inline double ikt_between(double near, double far, double place) {
    return near * pow(far / near, place);
}

#endif
