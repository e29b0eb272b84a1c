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
static const double shortest_pause = .05, longest_pause = 4, lack_most = .2;
/* Seconds of a trial. Among thousands of ranks some one always loses a few milliseconds. */
static const double window_alone = .05, window_of_ranks = .25;

/* --- the decision ----------------------------------------------------------------------------- */

bool ikt_waiting_is_due(const ikt_waiting *w, int ranks, double now) {
    const double window = ranks > 1 ? window_of_ranks : window_alone;
    return now - w->since >= (w->spins ? window : w->pause);
}

bool ikt_waiting_lacks(const ikt_waiting *w, int threads, ikt_waiting_clock at) {
    const double elapsed = at.now - w->since, waited = at.waited - w->waited;
    const double asked = elapsed + (threads - 1) * (elapsed - waited);
    return w->spins && asked - (at.used - w->used) > lack_most * elapsed;
}

void ikt_waiting_decide(ikt_waiting *w, bool is_lacking, ikt_waiting_clock at) {
    if (is_lacking)
        w->pause = w->pause < longest_pause / 2 ? 2 * w->pause : longest_pause;
    else if (w->spins)
        w->pause = w->pause / 2 > shortest_pause ? w->pause / 2 : shortest_pause;
    w->spins = !is_lacking;
    w->since = at.now;
    w->used = at.used;
    w->waited = at.waited;
}

/* --- what OpenMP is told ---------------------------------------------------------------------- */

/* Of LLVM's library; NULL in others. Milliseconds, of the thread that calls. */
extern void kmp_set_blocktime(int) __attribute__((weak));
extern int kmp_get_blocktime(void) __attribute__((weak));

/* OpenMP is one for the process, and so is this. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int depth;     /* of ikt_waiting_begin */
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

static ikt_waiting_clock clock_of(const ikt_context *ctx) {
    ikt_waiting_clock at = {.now = ikt_now()};
    struct timespec t; /* of all threads of the process */
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0)
        at.used = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    for (int s = 0; s < IKT_STAGE_COUNT; s++)
        at.waited += ctx->waited[s];
    return at;
}

void ikt_waiting_begin(ikt_context *ctx) {
    ctx->waiting = (ikt_waiting){.since = ikt_now(), .pause = shortest_pause};
    pthread_mutex_lock(&lock);
    if (depth++ == 0) blocktime = -1;
    if (!is_chosen_by_user()) tell_openmp(ctx->threads, false);
    pthread_mutex_unlock(&lock);
}

void ikt_waiting_end(ikt_context **ctx) {
    (*ctx)->waiting.pause = 0;
    (*ctx)->ranks_sleep = (*ctx)->is_crowded;
    pthread_mutex_lock(&lock);
    if (--depth == 0 && !is_chosen_by_user()) tell_openmp((*ctx)->threads, true);
    pthread_mutex_unlock(&lock);
}

/* --- the agreement of ranks ------------------------------------------------------------------- */

static const int64_t is_due = (int64_t)1 << 32; /* more than there are ranks that may lack time */

static bool may_adapt(const ikt_context *ctx) {
    return ctx->waiting.pause > 0 && (ctx->size > 1 || ctx->threads > 1);
}

int64_t ikt_waiting_pack(const ikt_context *ctx) {
    const ikt_waiting *w = &ctx->waiting;
    if (!may_adapt(ctx)) return 0;
    const ikt_waiting_clock at = clock_of(ctx);
    /* Threads that sleep, since the user says so, use less than they could have. */
    const bool lacks =
        (ctx->threads == 1 || !is_chosen_by_user()) && ikt_waiting_lacks(w, ctx->threads, at);
    return lacks + (ctx->rank == 0 && ikt_waiting_is_due(w, ctx->size, at.now) ? is_due : 0);
}

void ikt_waiting_unpack(ikt_context *ctx, int64_t sum) {
    ikt_waiting *w = &ctx->waiting;
    if (sum < is_due) return;
    ikt_waiting_decide(w, sum > is_due, clock_of(ctx));
    ctx->ranks_sleep = ctx->is_crowded || !w->spins;
    pthread_mutex_lock(&lock);
    if (depth > 0 && !is_chosen_by_user()) tell_openmp(ctx->threads, w->spins);
    pthread_mutex_unlock(&lock);
}
