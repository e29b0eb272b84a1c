/* The context: the communicator, threads, message, memory account and log that every call shares.
 *
 * A context is created once per group of ranks and passed first to every function. It holds the
 * only mutable state of the library besides the data that functions return.
 */
#ifndef IKTSNE_CONTEXT_H
#define IKTSNE_CONTEXT_H

#include <mpi.h>

#include "iktsne/base.h"

IKT_BEGIN_C

typedef struct ikt_context ikt_context;

/* Levels of the log; a context prints messages whose level is at most its own. */
typedef enum {
    IKT_LOG_ERROR, /* the run failed; silent in a clean run */
    IKT_LOG_WARN,  /* the run goes on, but the user should look; silent in a clean run */
    IKT_LOG_STAGE, /* at most two lines a stage, from rank 0 */
    IKT_LOG_DETAIL,
    IKT_LOG_DEBUG
} ikt_log_level;

/* How a line of the log is written: for people, or one JSON object a line (docs/logs.md). */
typedef enum { IKT_LOG_TEXT, IKT_LOG_JSON } ikt_log_format;

/* COLLECTIVE over `comm`. Duplicates `comm` and detects threads and placement.
 *   comm      a communicator of an initialised MPI (thread level FUNNELED or higher).
 *   threads   OpenMP threads per rank; 0 = as many as the affinity mask and a quota
 *             of the control group give this rank.
 *   out       receives the context (owned by the caller), NULL on failure.
 * Errors: IKT_ERR_RESOURCE. */
IKT_API ikt_status ikt_context_create(MPI_Comm comm, int threads, ikt_context **out);

/* LOCAL. A context of this process alone, which hides MPI: where nobody has initialised MPI it does
 * so (MPI_Init_thread), and ends it when the process exits; where a program has, that program ends
 * it, after the context is destroyed. Under a launcher such as mpirun every process that calls this
 * is alone, too.
 *   threads   as above
 *   out       receives the context (owned by the caller), NULL on failure
 *   why       receives NULL, or after a failure a sentence for people, which is not to be freed
 * Errors: IKT_ERR_USAGE (MPI was ended already, which cannot be undone; MPI allows calls from the
 * thread that initialised it only, and this is another one), IKT_ERR_RESOURCE. An MPI library that
 * cannot start at all ends the process with a message of its own. */
IKT_API ikt_status ikt_context_create_single(int threads, ikt_context **out, const char **why);

/* COLLECTIVE. Divides the ranks of a context into groups, each with a context of its own, with the
 * same threads and log.
 *   group   from 0: ranks that give the same number are together, in the order they had
 *   out     receives the context of the caller's group (owned by the caller), NULL on failure.
 * Errors: IKT_ERR_RESOURCE. */
IKT_API ikt_status ikt_context_split(ikt_context *ctx, int group, ikt_context **out);

/* COLLECTIVE. Frees *ctx and sets it to NULL; accepts NULL. In debug builds memory still accounted
 * for after a run without failure is a defect: it is named, and the program aborts. */
IKT_API void ikt_context_destroy(ikt_context **ctx);

/* The most threads of a rank. */
enum { IKT_THREADS_MOST = 4096 };

/* LOCAL. Changes the threads per rank that later stages use; 0 = from OMP_NUM_THREADS where that is
 * set, else from the affinity mask. More than IKT_THREADS_MOST are that many. */
IKT_API void ikt_context_set_threads(ikt_context *ctx, int threads);

/* LOCAL. Rank of the caller, number of ranks, OpenMP threads of this rank (at least 1). */
IKT_API int ikt_rank(const ikt_context *ctx);
IKT_API int ikt_size(const ikt_context *ctx);
IKT_API int ikt_threads(const ikt_context *ctx);

/* LOCAL. The duplicated communicator, for libraries that need one (HDF5, ScaLAPACK). */
IKT_API MPI_Comm ikt_comm(const ikt_context *ctx);

/* LOCAL. Why the last function that can fail has failed; "" where it has not. After a collective
 * function failed every rank holds the same text. Every function that returns an ikt_status forgets
 * the message as it begins, and so does ikt_clear. */
IKT_API const char *ikt_message(const ikt_context *ctx);
IKT_API void ikt_clear(ikt_context *ctx);

/* LOCAL. Sets what is printed on rank 0 (stderr): level, and whether a progress bar may be drawn.
 */
IKT_API void ikt_context_set_log(ikt_context *ctx, ikt_log_level level);

/* LOCAL. Sets how lines are written; IKT_LOG_TEXT without it. */
IKT_API void ikt_context_set_log_format(ikt_context *ctx, ikt_log_format format);

IKT_END_C

#endif
