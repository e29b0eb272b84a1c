/* A task tried in a process of its own. See sandbox.h. */
#define _DEFAULT_SOURCE /* fork, and limits */
#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/context.h"
#include "base/cpu.h"
#include "base/memory.h"

enum { REASON_SIZE = 256, EXIT_REFUSED = 7 };

void ikt_sandbox_allow(ikt_context *ctx) {
    ctx->may_fork = ctx->node_ranks == ctx->size && ikt_cpu_may_fork();
}

static void limit(int what, int64_t soft, int64_t hard) {
    const struct rlimit both = {(rlim_t)soft, (rlim_t)hard};
    (void)setrlimit(what, &both);
}

/* Dies quietly: no reports of MPI or of the C library, no image of the memory, and soon. The hard
 * limit of processor time lies above the soft one, so that the end is SIGXCPU, not SIGKILL. */
static void confine(const ikt_sandbox_limits *limits) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE,  SIGILL,  SIGABRT, SIGXCPU, SIGTERM,
                                  SIGINT,  SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT, SIGALRM, SIGPIPE};
    const int nowhere = open("/dev/null", O_WRONLY);
    for (size_t s = 0; s < sizeof signals / sizeof *signals; s++)
        signal(signals[s], SIG_DFL);
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    limit(RLIMIT_CORE, 0, 0);
    limit(RLIMIT_CPU, limits->seconds, limits->seconds + 5);
    const int64_t now = ikt_addresses_now(), most = now + limits->bytes;
    if (now > 0) limit(RLIMIT_AS, most, most);
}

/* Reads what the child says, until it closes its end or time is over. Returns whether it did. */
static bool read_answer(int answer, int64_t wall_seconds, char *reason, size_t size) {
    const double end = ikt_now() + (double)wall_seconds;
    size_t length = 0;
    bool is_over = false;
    while (!is_over && length + 1 < size) {
        const double left = end - ikt_now();
        struct pollfd one = {answer, POLLIN, 0};
        if (left <= 0) break;
        const int ready = poll(&one, 1, left < 1e6 ? (int)(1000 * left) + 1 : 1000000000);
        if (ready <= 0) continue; /* interrupted, or too late */
        const ssize_t now = read(answer, reason + length, size - 1 - length);
        if (now > 0) length += (size_t)now;
        is_over = now == 0 || (now < 0 && errno != EINTR);
    }
    reason[length] = '\0';
    return is_over || length + 1 >= size;
}

/* How a process that has ended did so. Only signals that a fault raises in the process itself tell
 * something about the task: others come from outside. */
static ikt_sandbox_end end_of(int outcome, char *reason, size_t size) {
    if (WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0) return IKT_SANDBOX_PASSED;
    if (WIFEXITED(outcome) && WEXITSTATUS(outcome) == EXIT_REFUSED) return IKT_SANDBOX_REFUSED;
    const int by = WIFSIGNALED(outcome) ? WTERMSIG(outcome) : SIGABRT;
    const bool is_fault =
        by == SIGSEGV || by == SIGBUS || by == SIGFPE || by == SIGILL || by == SIGABRT;
    if (!is_fault && by != SIGXCPU) return IKT_SANDBOX_NONE;
    snprintf(reason, size, "%s", is_fault ? "crashes on" : "does not come to an end with");
    return IKT_SANDBOX_DIED;
}

ikt_sandbox_end ikt_sandbox(const ikt_context *ctx,
                            bool (*task)(void *about, char *reason, size_t size), void *about,
                            const ikt_sandbox_limits *limits, char *reason, size_t size) {
    int ends[2], outcome = 0;
    reason[0] = '\0';
    if (!ctx->may_fork || pipe(ends) != 0) return IKT_SANDBOX_NONE;
    fflush(NULL); /* what is buffered would be written twice */
    const pid_t child = fork();
    if (child == 0) {
        char own[REASON_SIZE] = "";
        close(ends[0]);
        confine(limits);
        const bool accepts = task(about, own, sizeof own);
        const ssize_t told = write(ends[1], own, strlen(own));
        _exit(accepts ? 0 : told >= 0 ? EXIT_REFUSED : 1);
    }
    close(ends[1]);
    const bool in_time = child < 0 || read_answer(ends[0], limits->wall_seconds, reason, size);
    close(ends[0]);
    if (child < 0) return IKT_SANDBOX_NONE;
    if (!in_time) kill(child, SIGKILL);
    while (waitpid(child, &outcome, 0) < 0 && errno == EINTR) {
    }
    return in_time ? end_of(outcome, reason, size) : IKT_SANDBOX_LATE;
}
