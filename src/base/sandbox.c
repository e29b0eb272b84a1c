/* A task tried in a process of its own. See trial.h. */
#define _DEFAULT_SOURCE /* fork, and limits */
#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cpu.h"

enum { REASON_SIZE = 256, EXIT_REFUSED = 7 };

/* Bytes of addresses that this process has. */
static int64_t mapped(void) {
    long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%lld", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

static void limit(int what, int64_t value) {
    const struct rlimit both = {(rlim_t)value, (rlim_t)value};
    (void)setrlimit(what, &both);
}

/* Dies quietly: no reports of MPI or of the C library, no image of the memory, and soon. */
static void confine(int64_t seconds, int64_t bytes) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGTERM};
    const int nowhere = open("/dev/null", O_WRONLY);
    for (size_t s = 0; s < sizeof signals / sizeof *signals; s++)
        signal(signals[s], SIG_DFL);
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, seconds);
    const int64_t now = mapped();
    if (now > 0) limit(RLIMIT_AS, now + bytes);
}

/* Its end: what it said, and how it died. */
static ikt_sandbox_end hear(pid_t child, int answer, char *reason, size_t size) {
    int outcome = 0;
    size_t length = 0;
    ssize_t now = 1;
    while (now > 0 && length + 1 < size) {
        now = read(answer, reason + length, size - 1 - length);
        if (now < 0 && errno == EINTR)
            now = 1;
        else if (now > 0)
            length += (size_t)now;
    }
    reason[length] = '\0';
    while (waitpid(child, &outcome, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0) return IKT_TRIAL_PASSED;
    if (WIFEXITED(outcome) && WEXITSTATUS(outcome) == EXIT_REFUSED) return IKT_TRIAL_REFUSED;
    const bool endless =
        WIFSIGNALED(outcome) && (WTERMSIG(outcome) == SIGXCPU || WTERMSIG(outcome) == SIGKILL);
    snprintf(reason, size, "%s", endless ? "does not come to an end with" : "crashes on");
    return IKT_TRIAL_DIED;
}

ikt_sandbox_end ikt_sandbox(bool (*task)(void *about, char *reason, size_t size), void *about,
                            int64_t seconds, int64_t bytes, char *reason, size_t size) {
    int ends[2];
    reason[0] = '\0';
    if (!ikt_cpu_may_fork() || pipe(ends) != 0) return IKT_TRIAL_NONE;
    fflush(NULL); /* what is buffered would be written twice */
    const pid_t child = fork();
    if (child == 0) {
        char own[REASON_SIZE] = "";
        confine(seconds, bytes);
        const bool accepts = task(about, own, sizeof own);
        const ssize_t told = write(ends[1], own, strlen(own));
        _exit(accepts ? 0 : told >= 0 ? EXIT_REFUSED : 1);
    }
    close(ends[1]);
    const ikt_sandbox_end found = child < 0 ? IKT_TRIAL_NONE : hear(child, ends[0], reason, size);
    close(ends[0]);
    return found;
}
