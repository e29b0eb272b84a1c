/* How threads wait for each other. See waiting.h. */
#define _POSIX_C_SOURCE 200809L
#include "base/waiting.h"

#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/sort.h"

enum { CROWD_MOST = 64 };
static const double window = .05, shortest_pause = .05, longest_pause = 4, lack_most = .2;

/* --- the decision ----------------------------------------------------------------------------- */

bool ikt_waiting_is_due(const ikt_waiting *w, double now) {
    return now - w->since >= (w->spins ? window : w->pause);
}

void ikt_waiting_decide(ikt_waiting *w, int threads, double now, double used) {
    const double elapsed = now - w->since, lack = threads * elapsed - (used - w->used);
    const bool was_shared = w->spins && lack > lack_most * elapsed;
    if (was_shared)
        w->pause = w->pause < longest_pause / 2 ? 2 * w->pause : longest_pause;
    else if (w->spins)
        w->pause = w->pause / 2 > shortest_pause ? w->pause / 2 : shortest_pause;
    w->spins = !was_shared;
    w->since = now;
    w->used = used;
}

/* --- what OpenMP is told ---------------------------------------------------------------------- */

/* Of LLVM's library; NULL in others. Milliseconds, of the thread that calls. */
extern void kmp_set_blocktime(int) __attribute__((weak));
extern int kmp_get_blocktime(void) __attribute__((weak));

/* OpenMP is one for the process, and so is this. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int depth; /* of ikt_waiting_begin */
static ikt_waiting waiting;
static int blocktime; /* of LLVM's library when the outermost began; -1: not asked yet */
static struct {
    int threads; /* that are added by a team that sleeps; 0: there is none */
    pid_t process;
    pthread_t leader;
    sem_t end;
} crowd;

static void *lead_crowd(void *unused) {
    int present = 0;
    (void)unused;
#pragma omp parallel num_threads(crowd.threads + 1) reduction(+ : present)
    present++;
    while (present > 0 && sem_wait(&crowd.end) != 0) { /* interrupted */
    }
    return NULL;
}

/* A fork has no crowd, but all that was noted of it. */
static void dismiss_crowd(void) {
    if (crowd.threads > 0 && crowd.process == getpid()) {
        sem_post(&crowd.end);
        pthread_join(crowd.leader, NULL);
        sem_destroy(&crowd.end);
    }
    crowd.threads = 0;
}

static void gather_crowd(int count) {
    if (crowd.threads == count && crowd.process == getpid()) return;
    dismiss_crowd();
    if (count < 1 || count > CROWD_MOST || ikt_address_space_left() < (int64_t)1 << 30) return;
    if (sem_init(&crowd.end, 0, 0) != 0) return;
    crowd.threads = count;
    crowd.process = getpid();
    if (pthread_create(&crowd.leader, NULL, lead_crowd, NULL) == 0) return;
    sem_destroy(&crowd.end);
    crowd.threads = 0;
}

/* Makes it so, for teams of `threads`. */
static void tell_openmp(int threads, bool spins) {
    if (kmp_set_blocktime && kmp_get_blocktime) {
        if (blocktime < 0) blocktime = kmp_get_blocktime();
        kmp_set_blocktime(spins ? blocktime : 0);
    } else if (spins || threads < 2) {
        dismiss_crowd();
    } else {
        gather_crowd(omp_get_num_procs() + 1 - threads);
    }
}

static bool is_chosen_by_user(void) {
    return getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") || getenv("KMP_BLOCKTIME");
}

/* Processor time of all threads of the process, in seconds. */
static double processor_time(void) {
    struct timespec t;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0
               ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec
               : 0;
}

void ikt_waiting_begin(ikt_context *ctx) {
    pthread_mutex_lock(&lock);
    if (depth++ == 0) blocktime = -1;
    if (!is_chosen_by_user()) {
        waiting = (ikt_waiting){.since = ikt_now(), .pause = shortest_pause};
        tell_openmp(ctx->threads, false);
    }
    pthread_mutex_unlock(&lock);
}

void ikt_waiting_end(ikt_context **ctx) {
    pthread_mutex_lock(&lock);
    waiting = (ikt_waiting){.since = ikt_now(), .pause = shortest_pause};
    if (--depth == 0 && !is_chosen_by_user()) tell_openmp((*ctx)->threads, true);
    pthread_mutex_unlock(&lock);
}

void ikt_waiting_adapt(const ikt_context *ctx) {
    const double now = ikt_now();
    pthread_mutex_lock(&lock);
    if (depth > 0 && ctx->threads > 1 && ikt_waiting_is_due(&waiting, now) &&
        !is_chosen_by_user()) {
        const bool did_spin = waiting.spins;
        ikt_waiting_decide(&waiting, ctx->threads, now, processor_time());
        if (waiting.spins != did_spin) tell_openmp(ctx->threads, waiting.spins);
    }
    pthread_mutex_unlock(&lock);
}
