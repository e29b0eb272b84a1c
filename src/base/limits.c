/* Limits of the process. See limits.h. What is too low was measured: with less, starts on one rank
 * end by a signal or a foreign message. */
#define _POSIX_C_SOURCE 200809L
#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/memory.h"

enum { FILES_LEAST = 32, FILES_WANTED = 1024 }; /* more may be beyond what select() can take */
static const int64_t addresses_least = (int64_t)200 << 20; /* with less MPI may wait for ever */
static const uint64_t stack_least = (uint64_t)1 << 20, thread_stack_least = (uint64_t)1 << 18;

static char sentence[320];

/* MPI opens its own parts as files, and a pipe or a socket for each neighbour. */
static const char *check_files(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return NULL;
    if (limit.rlim_cur < FILES_WANTED) {
        limit.rlim_cur = limit.rlim_max < FILES_WANTED ? limit.rlim_max : FILES_WANTED;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= FILES_LEAST) return NULL;
    snprintf(sentence, sizeof sentence,
             "the limit of open files (ulimit -n) is %" PRIu64
             ", and MPI and HDF5 need %d: raise it",
             (uint64_t)limit.rlim_cur, FILES_LEAST);
    return sentence;
}

static const char *check_stack(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= stack_least) return NULL;
    snprintf(sentence, sizeof sentence,
             "the limit of the stack (ulimit -s) is %" PRIu64 " kB, and the program needs %" PRIu64
             ": raise it",
             (uint64_t)limit.rlim_cur >> 10, stack_least >> 10);
    return sentence;
}

static void *nothing(void *unused) {
    return unused;
}

/* Why a thread with such a stack cannot be started; 0: it can. */
static int start_thread(uint64_t stack) {
    pthread_attr_t how;
    pthread_t thread;
    int error = pthread_attr_init(&how);
    if (error) return error;
    error = pthread_attr_setstacksize(&how, (size_t)stack);
    if (!error) error = pthread_create(&thread, &how, nothing, NULL);
    if (!error) pthread_join(thread, NULL);
    pthread_attr_destroy(&how);
    return error;
}

/* "64k" as OpenMP reads it, in kilobytes where no unit is given; 0 where it is nothing of that
 * kind, which OpenMP says itself. */
static uint64_t bytes_of(const char *text) {
    static const char units[] = "bkmg";
    char *end;
    const uint64_t number = strtoull(text, &end, 10);
    end += strspn(end, " \t");
    const char *unit = *end ? strchr(units, *end | 0x20) : units + 1;
    return unit && number < UINT64_MAX >> 30 ? number << 10 * (unit - units) : 0;
}

static const char *check_thread_stacks(void) {
    const char *text = getenv("OMP_STACKSIZE");
    const uint64_t bytes = text ? bytes_of(text) : 0;
    if (bytes == 0) return NULL;
    const int error = bytes < thread_stack_least ? 0 : start_thread(bytes);
    if (bytes >= thread_stack_least && !error) return NULL;
    snprintf(
        sentence, sizeof sentence,
        "no thread can work with a stack of OMP_STACKSIZE=%.20s%s%s: unset it, or give at least "
        "%" PRIu64 "k",
        text, error ? ": " : "", error ? strerror(error) : "", thread_stack_least >> 10);
    return sentence;
}

static const char *check_addresses(void) {
    const int64_t left = ikt_address_space_left();
    if (left >= addresses_least) return NULL;
    snprintf(
        sentence, sizeof sentence,
        "the limit of address space (ulimit -v or -d) leaves %.0f MB, and MPI alone needs %.0f: "
        "raise it",
        (double)left / 1e6, (double)addresses_least / 1e6);
    return sentence;
}

/* Open MPI ends by a signal where it opens a file by a name that is relative to nothing. */
static const char *check_folder(void) {
    char *folder = getcwd(NULL, 0);
    const bool is_gone = !folder && errno == ENOENT;
    free(folder);
    return is_gone ? "the current folder is not there any more, or cannot be reached: change to "
                     "another"
                   : NULL;
}

const char *ikt_limits_check(bool with_mpi) {
    static const char *(*const checks[])(void) = {check_files, check_stack, check_thread_stacks,
                                                  check_addresses, check_folder};
    const size_t count = sizeof checks / sizeof *checks - !with_mpi;
    const char *found = NULL;
    for (size_t c = 0; !found && c < count; c++)
        found = checks[c]();
    return found;
}

/* A folder cannot be written to, nor opened for it by a name such as /dev/stdout. */
void ikt_limits_hold_streams(void) {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) < 0 && open("/", O_RDONLY) < 0) return;
}

void ikt_limits_exit(int code) {
    if (ikt_address_space_left() == INT64_MAX) exit(code);
    fflush(NULL);
    _exit(code);
}
