/* What the stages of a plan share: numbers of the workload, and the basic operations, transfers and
 * passes that they are made of.
 *
 * n, m: rows in all and of the rank; d columns of the file, c of what the kernels read; T threads,
 * R ranks; k neighbours; rates of machine.h are per thread. */
#ifndef IKT_PLAN_TASK_H
#define IKT_PLAN_TASK_H

#include <math.h>

#include "plan/plan.h"

static const double giga = 1e9, mega = 1e6;

/* What an operation of a stage costs in basic ones, beyond its inner kernel: means of what was
 * timed on two cores of a Xeon with AVX-512 and on one of an EPYC, which differ by a third or less
 * of most, and by 1.8 at most. In multiply-adds: */
static const double block_coordinate = 1.06, /* of a pair, its distance alone */
    projected_coordinate = 1.37,             /* of a row, onto a component */
    covariance_product = 3.63,               /* of the upper triangle, of a row */
    read_value = 48;                         /* of the file, brought to scale */
/* In gathers: */
static const double searched_coordinate = 0.07, /* of a pair, and the best kept */
    eigen_cube = 0.432;                         /* of d^3, on one thread */
/* In bytes of codes: */
static const double searched_byte = 1.82;

enum { RING_ROWS = 1024 };

/* A workload, the machine that it meets, numbers that many stages need, and what comes out. */
typedef struct {
    const ikt_workload *w;
    const ikt_machine *m;
    double n, rows;     /* n and m */
    double early, late; /* evaluations of the gradient with exaggeration, and without */
    double regularised; /* with the regulariser, */
    double charges;     /* which then takes so many sums with charges */
    double reports;     /* of them, with the value of the objective */
    double axes, kernels;
    ikt_cost *own; /* [IKT_STAGE_COUNT] what each stage costs without those below it */
} ikt_task;

/* LOCAL, pure. A vector that moves `times` times, less what stays where it is; `rate` in GB/s. */
ikt_cost ikt_cost_collective(const ikt_machine *m, int ranks, double times, double bytes,
                             double rate, double sent);

/* LOCAL, pure. Adds `times` times the other cost. */
void ikt_cost_add(ikt_cost *cost, double times, ikt_cost other);

/* LOCAL, pure. Adds what stages cost: all of those before the loop; the loop and what is in it. */
void ikt_plan_before_loop(const ikt_task *t);
void ikt_plan_loop(const ikt_task *t);

/* `count` operations, on all threads, of so many basic ones of a rate. */
static inline void work(const ikt_task *t, ikt_stage stage, double count, double basic,
                        double rate) {
    t->own[stage].seconds += count * basic / (rate * t->w->threads);
}

static inline void arithmetic(const ikt_task *t, ikt_stage stage, double count, double basic) {
    work(t, stage, count, basic, t->m->multiply_adds * giga);
}

static inline void gathering(const ikt_task *t, ikt_stage stage, double count, double basic) {
    work(t, stage, count, basic, t->m->gathers * mega);
}

static inline void reduce(const ikt_task *t, ikt_stage stage, double times, double bytes) {
    ikt_cost_add(&t->own[stage], times, ikt_cost_reduction(t->m, t->w->ranks, bytes));
}

static inline void concatenate(const ikt_task *t, ikt_stage stage, double times, double bytes) {
    ikt_cost_add(&t->own[stage], times, ikt_cost_concatenation(t->m, t->w->ranks, bytes));
}

static inline void send(const ikt_task *t, ikt_stage stage, double times, double messages,
                        double bytes) {
    ikt_cost_add(&t->own[stage], times, ikt_cost_messages(t->m, messages, bytes));
}

/* Rows of so many bytes brought to their slots: all but 1/R of them on another rank, in slices of
 * 64 bytes. */
static inline void move(const ikt_task *t, ikt_stage stage, int64_t bytes) {
    const double others = t->w->ranks - 1, slices = ceil((double)bytes / 64);
    send(t, stage, 1, slices * others, others / t->w->ranks * t->rows * (double)bytes);
}

/* A share of the own rows: m d values from the file, of sparse rows with a column of four bytes
 * each; brought to scale unless they stay bytes; and projected, m d c multiply-adds, where they are
 * reduced. */
static inline void pass(const ikt_task *t, ikt_stage stage, double share, bool reduced) {
    const ikt_data_shape *data = &t->w->data;
    const double values = share * t->rows * (data->is_sparse ? data->entries : (double)data->d);
    const double bytes = (double)ikt_type_size(data->type) + (data->is_sparse ? 4 : 0);
    t->own[stage].seconds += values * bytes / (t->m->file * mega);
    if (!t->w->is_u8) arithmetic(t, stage, values, read_value);
    if (reduced && t->w->settings.preprocess.pca > 0)
        arithmetic(t, stage, values * (double)t->w->columns, projected_coordinate);
}

/* Principal components of a share of the own rows, which have `columns` columns: two passes,
 * columns^2 / 2 products a row, columns^3 on one thread, and the upper triangle summed over ranks.
 */
static inline void components(const ikt_task *t, ikt_stage stage, double share, double columns,
                              bool reduced) {
    const double triangle = columns * (columns + 1) / 2;
    pass(t, stage, 2 * share, reduced);
    arithmetic(t, stage, share * t->rows * triangle, covariance_product);
    t->own[stage].seconds += pow(columns, 3) * eigen_cube / (t->m->gathers * mega);
    reduce(t, stage, 1, 8 * triangle);
}

/* Statistics of the columns, where rows are brought to scale; components of a sample of the rows,
 * where they are reduced. */
static inline void preprocess(const ikt_task *t, ikt_stage stage) {
    if (!t->w->is_u8) pass(t, stage, 1, false);
    const ikt_preprocess_settings *rows = &t->w->settings.preprocess;
    const double share = (double)ikt_pca_rows(rows, (int64_t)t->n) / t->n;
    if (rows->pca > 0) components(t, stage, share, (double)t->w->data.d, false);
}

/* Pairs of rows: bytes of codes compared, or squared differences. */
static inline void pairs(const ikt_task *t, ikt_stage stage, double count) {
    if (t->w->is_isolation)
        work(t, stage, count * (double)ikt_workload_searched_bytes(t->w), searched_byte,
             t->m->compares * giga);
    else
        gathering(t, stage, count * (double)t->w->columns, searched_coordinate);
}

/* All pairs: blocks of rows go round the ring of ranks. */
static inline void all_pairs(const ikt_task *t, ikt_stage stage) {
    pairs(t, stage, t->rows * t->n);
    send(t, stage, 1, ceil(t->rows / RING_ROWS) * (t->w->ranks - 1),
         (t->n - t->rows) * (double)ikt_workload_searched_bytes(t->w));
}

#endif
