/* How MPI begins and ends: under a launcher, or in a process alone.
 *
 * A process that no launcher started needs no network and no daemon that would start further
 * processes. Open MPI 4 readies both all the same, which took 0.30 of the 0.35 s that a command of
 * one process needed to begin; it is told not to, by parameters in the environment, which other MPI
 * libraries ignore. What the user has set of them is left as it is.
 */
#ifndef IKT_BASE_LAUNCH_H
#define IKT_BASE_LAUNCH_H

#include <mpi.h>
#include <stdbool.h>

/* LOCAL, once, by a main program of ours. Begins MPI with
 * MPI_THREAD_FUNNELED: in all processes of the launcher, or alone where there is none.
 *   has_threads   receives whether the library allows threads
 * Returns whether MPI has begun. */
bool ikt_mpi_begin(bool *has_threads);

/* COLLECTIVE over the processes of the launcher, last of all: ends what ikt_mpi_begin began. */
void ikt_mpi_end(void);

/* LOCAL, also before MPI. The first line of what the MPI library calls itself; "" where unknown. */
void ikt_mpi_library(char name[MPI_MAX_LIBRARY_VERSION_STRING]);

/* LOCAL. Begins MPI in a program of others, or finds it begun; what is begun here is ended at the
 * exit of the process. Returns NULL, or why MPI cannot be used here: a sentence, not to be freed.
 */
const char *ikt_mpi_begin_for_host(void);

/* LOCAL, before the first file is opened by MPI. Open MPI 4 chooses a component for shared file
 * pointers at every opening of a file, also where none are used. Its component `lockedfile` writes
 * the absolute path into 256 bytes and thereby ends the program where the path is longer; it is
 * switched off. */
void ikt_mpi_choose_file_parts(void);

#endif
