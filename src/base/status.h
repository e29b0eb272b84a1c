/* Failing with a message, and agreeing on an outcome.
 *
 * A function that fails records one sentence (what, where, what to do) and returns a code. Ranks
 * then agree: either all succeed or all return the same code with the same message. The message
 * recorded first wins on a rank; the lowest failing rank wins over the others.
 */
#ifndef IKT_BASE_STATUS_H
#define IKT_BASE_STATUS_H

#include "base/c_locale.h"
#include "iktsne/context.h"

/* LOCAL. Records the message and returns `status`; where one is held already that one stays, and
 * its status is returned. No full stop and no newline at the end; control characters, which a
 * quoted file may hold, become question marks. At most 2,000 characters are kept. */
ikt_status ikt_fail(ikt_context *ctx, ikt_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* COLLECTIVE. Returns the same status on every rank: IKT_OK when all passed IKT_OK, otherwise the
 * status of the lowest failing rank, whose message every rank then holds. Prints warnings that
 * ranks have kept (ikt_warn). One small allreduce when all is well. */
ikt_status ikt_agree(ikt_context *ctx, ikt_status local);

/* COLLECTIVE. As ikt_agree, after a collective call of a parallel file library that wrote to the
 * file `unfinished`. Where such a call fails on one rank it may hold the others for ever (HDF5 1.10
 * and Open MPI on a full disk do): a rank that failed waits for the others for ten seconds, then
 * removes the file ("": none), prints its message, and aborts the job with its status. */
ikt_status ikt_agree_file(ikt_context *ctx, ikt_status local, const char *unfinished);

/* Leaves the enclosing function on failure. */
#define IKT_TRY(call)                                                                              \
    do {                                                                                           \
        ikt_status ikt_try_status_ = (call);                                                       \
        if (ikt_try_status_ != IKT_OK) return ikt_try_status_;                                     \
    } while (0)

#endif
