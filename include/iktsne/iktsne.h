/* iktsne: t-SNE with the Isolation kernel on MPI. All that the library offers.
 *
 *   ikt_context_create      a communicator, threads, the log           context.h
 *   ikt_parameters_create   what an embedding is told                  parameters.h
 *   ikt_data_create         rows or graphs that the ranks hold         data.h
 *   ikt_embed               data -> an embedding                       embed.h
 *   ikt_transform           new rows into an embedding                 transform.h
 *   ikt_watcher             progress, and an early end                 watcher.h
 *   ikt_embedding_...       what came out: files, pictures, measures   embedding.h
 *
 * The words before a function: COLLECTIVE, all ranks of the context call it, in the same order, and
 * all get the same status; LOCAL, a rank may call it alone; SAME-ARGS, without communication, but
 * all ranks call it with the same arguments. A function that fails returns a status (base.h) and
 * leaves one sentence for people in the context (ikt_message); the next call that can fail forgets
 * it. Nothing is printed but the log of the context. MPI_Init_thread with MPI_THREAD_FUNNELED (or
 * higher) comes before the first call, MPI_Finalize after the last;
 * ikt_context_create_single does both for a program of one process. docs/library.md has a worked
 * example.
 *
 * What may end the process. A failure on which the ranks cannot agree any more, because some of
 * them wait inside MPI, is printed on standard error and aborts the job (MPI_Abort):
 *   a call of MPI that fails, or HDF5 that refuses to select rows within a collective transfer;
 *   a file that all ranks write and that some could not write, while the others did not come back
 *   from HDF5 or MPI-IO for ten seconds (a disk that fills up though its space was reserved).
 * And a defect calls abort(): memory that is freed twice; in debug builds also a failed assertion,
 * or a context that is destroyed before the parameters and embeddings that were made with it.
 * Everything else is a status, running out of memory and a full disk included.
 */
#ifndef IKTSNE_IKTSNE_H
#define IKTSNE_IKTSNE_H

#include "iktsne/base.h"
#include "iktsne/context.h"
#include "iktsne/data.h"
#include "iktsne/embed.h"
#include "iktsne/embedding.h"
#include "iktsne/parameters.h"
#include "iktsne/transform.h"
#include "iktsne/version.h"
#include "iktsne/watcher.h"

#endif
