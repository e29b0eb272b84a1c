/* Put before the libraries of a program under MPICH, whose ranks spin while they wait, also where
 * they are more than the processors: the one that is waited for then waits for its turn. Here the
 * others give theirs away whenever UCX has nothing new for them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker) {
    static unsigned (*progress)(void *);
    if (!progress) {
        void *found = dlsym(RTLD_NEXT, "ucp_worker_progress");
        if (!found) abort(); /* the library is not among those that the program names */
        memcpy(&progress, &found, sizeof progress);
    }
    const unsigned done = progress(worker);
    if (done == 0) sched_yield();
    return done;
}
