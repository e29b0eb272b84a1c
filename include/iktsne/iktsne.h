/* iktsne: t-SNE with the Isolation kernel on MPI. All that the library offers.
 *
 *   ikt_context_create      a communicator, threads, the log           context.h
 *   ikt_parameters_create   what an embedding is told                  parameters.h
 *   ikt_embed_rows          rows that the ranks hold -> a map           embed.h
 *   ikt_embedding_positions ...   what came out; files, pictures, measures   map.h
 *
 * The words before a function: COLLECTIVE, all ranks of the context call it, in the same order, and
 * all get the same status; LOCAL, a rank may call it alone; SAME-ARGS, without communication, but
 * all ranks call it with the same arguments. A function that fails returns a status (status.h) and
 * leaves one sentence for people in the context (ikt_message). Nothing is printed but the log of
 * the context, and no function ends the process; only a failing call of MPI itself, which ranks
 * cannot agree on, aborts the job. MPI_Init_thread with MPI_THREAD_FUNNELED (or higher) comes
 * before the first call, MPI_Finalize after the last. docs/library.md has a worked example.
 */
#ifndef IKTSNE_IKTSNE_H
#define IKTSNE_IKTSNE_H

#include "iktsne/context.h"
#include "iktsne/embed.h"
#include "iktsne/embedding.h"
#include "iktsne/parameters.h"
#include "iktsne/status.h"
#include "iktsne/type.h"
#include "iktsne/version.h"

#endif
