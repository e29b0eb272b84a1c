/* How MPI begins and ends: under a launcher, or in a process alone. */
#define _POSIX_C_SOURCE 200809L
#include "base/launch.h"

#include <mpi.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu.h"

void ikt_mpi_choose_file_parts(void) {
    setenv("OMPI_MCA_sharedfp", "^lockedfile", 0);
}

/* A parameter of Open MPI in the environment, and its value for a process alone; NULL where Open
 * MPI itself sets it. There is no folder for the process, since those without a daemon would share
 * one of the node, which the first to end takes away from those that begin. */
typedef struct {
    const char *name, *value;
} parameter;

static const parameter of_one_process[] = {{"OMPI_MCA_ess_singleton_isolated", "1"}, /* no daemon */
                                           {"OMPI_MCA_orte_create_session_dirs", "0"},
                                           {"OMPI_MCA_pml", "^cm,ucx"}, /* no search for networks */
                                           {"OMPI_MCA_btl", "self"},
                                           {"OMPI_MCA_ess", NULL},
                                           {"OMPI_MCA_pmix", NULL}};
enum { PARAMETERS = sizeof of_one_process / sizeof *of_one_process };

/* MPI_Init_thread of a process without a launcher. All parameters are taken out of the environment
 * again: programs that are started from here inherit it, and mpirun would fail without a word. */
static bool begin_alone(int wanted, int *level) {
    bool was_there[PARAMETERS];
    for (int i = 0; i < PARAMETERS; i++) {
        was_there[i] = getenv(of_one_process[i].name) != NULL;
        if (of_one_process[i].value) setenv(of_one_process[i].name, of_one_process[i].value, 0);
    }
    /* Without the daemon there is no folder for files in which Open MPI shares the pointers into
     * files; we use none. This one is read at the first opening of a file, and stays. */
    setenv("OMPI_MCA_sharedfp", "^lockedfile,sm", 0);
    const bool has_begun = MPI_Init_thread(NULL, NULL, wanted, level) == MPI_SUCCESS;
    for (int i = 0; i < PARAMETERS; i++)
        if (!was_there[i]) unsetenv(of_one_process[i].name);
    return has_begun;
}

void ikt_mpi_end(void) {
    MPI_Finalize();
}

void ikt_mpi_library(char name[MPI_MAX_LIBRARY_VERSION_STRING]) {
    int length;
    if (MPI_Get_library_version(name, &length) != MPI_SUCCESS) name[0] = '\0';
    name[strcspn(name, "\n")] = '\0';
}

/* Under a launcher a process is one of the group's, also where it then works alone. */
static bool begin(int wanted, int *level) {
    if (!ikt_cpu_has_launcher()) return begin_alone(wanted, level);
    return MPI_Init_thread(NULL, NULL, wanted, level) == MPI_SUCCESS;
}

bool ikt_mpi_begin(bool *has_threads) {
    int level = MPI_THREAD_SINGLE;
    const bool has_begun = begin(MPI_THREAD_FUNNELED, &level);
    *has_threads = level >= MPI_THREAD_FUNNELED;
    return has_begun;
}

static pid_t mpi_process; /* that began MPI here; its forks are not to end it */

/* At the exit of the process, where we have begun MPI and nobody has ended it. */
static void end_mpi(void) {
    int is_over = 1;
    if (mpi_process != getpid()) return;
    if (MPI_Finalized(&is_over) == MPI_SUCCESS && !is_over) MPI_Finalize();
}

const char *ikt_mpi_begin_for_host(void) {
    int has_begun = 0, is_over = 0, level = MPI_THREAD_SINGLE, is_main = 1;
    if (MPI_Initialized(&has_begun) != MPI_SUCCESS || MPI_Finalized(&is_over) != MPI_SUCCESS)
        return "MPI does not say whether it has begun in this process";
    if (is_over)
        return "MPI was ended (MPI_Finalize) in this process, and cannot be begun again: keep it "
               "until the last call of iktsne";
    if (!has_begun) {
        if (!begin(MPI_THREAD_SERIALIZED, &level))
            return "MPI cannot be begun in this process (MPI_Init_thread failed)";
        mpi_process = getpid();
        if (atexit(end_mpi) != 0) return "there is no memory for what ends MPI at the exit";
    }
    if (MPI_Query_thread(&level) != MPI_SUCCESS || MPI_Is_thread_main(&is_main) != MPI_SUCCESS)
        return "MPI does not say what it allows the threads of this process";
    if (level < MPI_THREAD_SERIALIZED && !is_main)
        return "MPI allows calls from the thread that began it only, and this is another one: "
               "begin it with MPI_THREAD_SERIALIZED, or call iktsne from that thread";
    return NULL;
}
