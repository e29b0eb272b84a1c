/* How the threads of this process wait for each other at the ends of parallel regions.
 *
 * OpenMP lets a thread that waits keep its core busy for milliseconds before it sleeps: the
 * quickest where each thread has a core of its own, and ruinous where others use the cores too,
 * since the thread that all wait for then stands behind those that wait. Here threads sleep at
 * once, and keep their cores between the short regions of the loop only as long as the process gets
 * all the processor time that its threads ask for.
 *
 * Method: LLVM's OpenMP library is told so (kmp_set_blocktime). GNU's reads the environment before
 * main begins, and has no call for it; but it lets threads spin for a moment only where its threads
 * outnumber the processors. So a thread that sleeps, with just enough threads of OpenMP's that
 * sleep too, makes it so. Advantage: the choice can change while the program runs, also in a
 * program of others that has loaded OpenMP long before. Disadvantage: one or two more threads that
 * do nothing; where threads are far fewer than processors (more than 64 would have to be added),
 * and where addresses are limited to less than a gigabyte, it is left as it is.
 *
 * OMP_WAIT_POLICY, GOMP_SPINCOUNT or KMP_BLOCKTIME in the environment win: nothing is done then.
 */
#ifndef IKT_BASE_WAITING_H
#define IKT_BASE_WAITING_H

#include <stdbool.h>

#include "base/status.h"

/* LOCAL. From here on threads sleep while they wait, until the end of as many calls of
 * ikt_waiting_end: what is OpenMP's is the whole process's. Called again where the context's number
 * of threads may have changed. */
void ikt_waiting_begin(ikt_context *ctx);
void ikt_waiting_end(ikt_context **ctx);

/* LOCAL, between two iterations of short parallel regions: lets threads keep their cores, or makes
 * them sleep, by what the process got of late. Does nothing outside ikt_waiting_begin. */
void ikt_waiting_adapt(const ikt_context *ctx);

/* Of the decision: how threads wait now, and since when. */
typedef struct {
    bool spins;   /* threads keep their cores */
    double since; /* the time that this stretch began, in seconds */
    double used;  /* processor time of the process then, in seconds */
    double pause; /* seconds of sleeping waits before the next trial of the other */
} ikt_waiting;

/* LOCAL. Whether it is time to decide anew. */
bool ikt_waiting_is_due(const ikt_waiting *w, double now);

/* LOCAL. The decision. Threads that keep their cores use all the time they get: where the process
 * lacks more than a fifth of a core, others have it, and the next trial comes after twice the
 * pause.
 *   now, used   the time, and the processor time of the process, in seconds */
void ikt_waiting_decide(ikt_waiting *w, int threads, double now, double used);

#endif
