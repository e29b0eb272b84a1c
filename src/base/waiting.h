/* How the threads of this process wait for each other at the ends of parallel regions, and how its
 * ranks do in the iterations of the loop.
 *
 * OpenMP lets a thread that waits keep its core busy for milliseconds before it sleeps, and MPI a
 * rank for as long as it waits: the quickest where each has a core of its own, and ruinous where
 * others use the cores too, since what all wait for then stands behind those that wait. Here
 * threads sleep at once. In the short regions of the loop threads and ranks keep their cores, but
 * only as long as every rank gets all the processor time that its threads ask for.
 *
 * Method: what a rank lacks is looked at in stretches in which all keep their cores, so that they
 * use all that they get; where one lacks too much, all ranks sleep while they wait (comm.c), and
 * try again later. Advantage: one number in a sum that the loop makes anyway decides for all ranks.
 * Threads: LLVM's OpenMP library is told so (kmp_set_blocktime). GNU's reads the environment before
 * main begins, and has no call for it; but it lets threads spin for a moment only where its threads
 * outnumber the processors. So a thread that sleeps, with just enough threads of OpenMP's that
 * sleep too, makes it so. Advantage: the choice can change while the program runs, also in a
 * program of others that has loaded OpenMP long before. Disadvantage: one or two more threads that
 * do nothing; where threads are far fewer than processors (more than 64 would have to be added),
 * and where addresses are limited to less than a gigabyte, it is left as it is.
 *
 * OMP_WAIT_POLICY, GOMP_SPINCOUNT or KMP_BLOCKTIME in the environment win: the threads of such a
 * rank are left alone, and where it has several, it says nothing of what it lacks.
 */
#ifndef IKT_BASE_WAITING_H
#define IKT_BASE_WAITING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* How threads and ranks wait for each other in the loop, and since when. */
typedef struct {
    bool spins;    /* they keep their cores */
    double since;  /* the time that this stretch began, in seconds */
    double used;   /* processor time of the process then, in seconds */
    double waited; /* seconds that the rank had waited in MPI then */
    double pause;  /* seconds of sleeping waits before the next trial of the other */
} ikt_waiting;

/* LOCAL. From here on threads sleep while they wait, until the end of as many calls of
 * ikt_waiting_end: what is OpenMP's is the whole process's. Called again where the context's number
 * of threads may have changed. */
void ikt_waiting_begin(ikt_context *ctx);
void ikt_waiting_end(ikt_context **ctx);

/* LOCAL, both, between two iterations of short parallel regions, for a caller that sums integers
 * over all ranks anyway: `pack` gives what this rank adds to the sum. `unpack` takes the sum, and
 * lets the threads and ranks keep their cores, or makes them sleep, all ranks alike. Nothing
 * happens outside ikt_waiting_begin. */
int64_t ikt_waiting_pack(const ikt_context *ctx);
void ikt_waiting_unpack(ikt_context *ctx, int64_t sum);

/* LOCAL. Of the decision: whether it is time to decide anew. `ranks` wait for each other. */
bool ikt_waiting_is_due(const ikt_waiting *w, int ranks, double now);

/* LOCAL. What a rank had used and waited at a time, in seconds: the time, processor time of the
 * process, time in calls of MPI, in which one thread alone keeps its core. */
typedef struct {
    double now, used, waited;
} ikt_waiting_clock;

/* LOCAL. Whether threads that keep their cores, and so use all the time they get, lack more than a
 * fifth of a core since this stretch began: others have it. */
bool ikt_waiting_lacks(const ikt_waiting *w, int threads, ikt_waiting_clock at);

/* LOCAL. The decision: where some rank lacks time all sleep, and the next trial comes after twice
 * the pause. */
void ikt_waiting_decide(ikt_waiting *w, bool is_lacking, ikt_waiting_clock at);

#endif
