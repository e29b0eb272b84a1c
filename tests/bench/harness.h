/* Timing one hot path alone, beside what the machine can do at best.
 *
 * Method: a case is a piece of work and up to two limits, passes that do nothing but what the work
 * cannot do without (reading the bytes once, the multiply-adds). All are repeated in turn, for
 * equally long. The ratio is that of the quickest passes among eight neighbouring samples of each,
 * and of these ratios the median: the quickest were not interrupted, the neighbourhood leaves out
 * that a machine's speed changes. Seconds and rates are the best of all samples. Advantage: ratios
 * hold on a machine with other users, where seconds do not. Disadvantage: a long pass finds fewer
 * quiet moments than the short ones of its limit, so its ratio is rather too low than too high.
 */
#ifndef IKT_BENCH_HARNESS_H
#define IKT_BENCH_HARNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"

enum { BENCH_LIMITS = 2, BENCH_NAME = 48, BENCH_SIZE = 96 };

/* COLLECTIVE. Does something once and returns the seconds that it took on this rank. What is not to
 * be timed (making ready, checking) is left out by the pass itself. */
typedef double bench_pass(void *self);

typedef struct {
    const char *name; /* of a limit: "copying the points"; NULL: there is none */
    bench_pass *pass;
    void *self;
    double amount; /* of the unit of the case, done by a pass on this rank */
} bench_part;

typedef struct {
    const char *path;      /* line of the table in bench.c */
    char size[BENCH_SIZE]; /* "1,000,000 points, grid 1200 x 1250" */
    const char *unit;      /* "points" */
    bench_part work;       /* its name is not looked at */
    bench_part limit[BENCH_LIMITS];
} bench_case;

/* What was measured. Seconds of the slowest rank; rates of all ranks together, per second. */
typedef struct {
    char path[BENCH_NAME], size[BENCH_SIZE], unit[BENCH_NAME];
    int64_t repeats;
    double least, median, rate;
    struct {
        char name[BENCH_NAME]; /* "": none */
        double rate, ratio;    /* of the work's rate to this one */
    } limit[BENCH_LIMITS];
} bench_record;

typedef struct {
    ikt_context *ctx;
    int64_t rows;   /* of the made-up data */
    double seconds; /* to repeat each pass for, about */
    bool quick;     /* tiny sizes, for the test that all of this works */
    bench_record *record;
    int64_t count;
} bench;

/* COLLECTIVE. Measures a case, adds its record and prints a line to standard error. Errors:
 * IKT_ERR_RESOURCE. */
ikt_status bench_measure(bench *b, const bench_case *c);

/* LOCAL. A number in groups of three digits, "1,000,000", as text in a buffer of 32 bytes. */
const char *bench_grouped(int64_t value, char *text);

#endif
