/* How the threads of this process wait for each other at the ends of parallel regions, and its rank
 * for other ranks.
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
 * Ranks that wait for others keep their cores in MPI's calls. Where a rank lacks processor time,
 * all of them sleep between looks instead (comm.c), so that the one that all wait for is not behind
 * those that wait.
 *
 * OMP_WAIT_POLICY, GOMP_SPINCOUNT or KMP_BLOCKTIME in the environment win: nothing is done then,
 * except for ranks of one thread.
 */
#ifndef IKT_BASE_WAITING_H
#define IKT_BASE_WAITING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* SAME-ARGS, at one place among the collectives of all ranks. From here on threads sleep while they
 * wait, until the end of as many calls of ikt_waiting_end: what is OpenMP's is the whole process's.
 * A context is in one such stretch at a time. */
void ikt_waiting_begin(ikt_context *ctx);
void ikt_waiting_end(ikt_context **ctx);

enum { IKT_WAITING_PARTS = 2 };

/* Between two iterations of short parallel regions, which sum integers over all ranks anyway:
 * `pack`, LOCAL, gives what this rank adds to the sum, and `unpack`, SAME-ARGS, lets threads and
 * ranks keep their cores or makes them sleep, by what the process that got least got of late. Does
 * nothing outside ikt_waiting_begin. */
void ikt_waiting_pack(const ikt_context *ctx, int64_t part[IKT_WAITING_PARTS]);
void ikt_waiting_unpack(ikt_context *ctx, const int64_t sum[IKT_WAITING_PARTS]);

/* Of the decision: how threads and ranks wait now, and since when. */
typedef struct {
    bool spins;       /* threads and ranks keep their cores */
    bool ranks_sleep; /* the same on all ranks, as their calls of MPI depend on it */
    double since;     /* the time that this stretch began, in seconds */
    double used;      /* processor time of the process then, in seconds */
    double pause;     /* seconds of sleeping waits before the next trial; 0: not begun */
} ikt_waiting;

/* LOCAL. Whether it is time to decide anew. */
bool ikt_waiting_is_due(const ikt_waiting *w, double now);

/* LOCAL. Whether others have the cores: threads and ranks that keep theirs use all the time they
 * get, so that the process lacks more than a fifth of a core.
 *   now, used   the time, and the processor time of the process, in seconds */
bool ikt_waiting_is_shared(const ikt_waiting *w, int threads, double now, double used);

/* LOCAL. The decision. Where cores are shared, the next trial comes after twice the pause. */
void ikt_waiting_decide(ikt_waiting *w, bool is_shared, double now, double used);

#endif
