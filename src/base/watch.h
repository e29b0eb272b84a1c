/* Stop requests: what may interrupt a long stage is a signal, the end of the time that the run has,
 * or a checkpoint that is due.
 *
 * Method: a signal only sets a flag, and the clock of rank 0 alone decides about time. A stage
 * polls for a request between two pieces of its work; the ranks then agree, so that all of them
 * save or stop at the same piece. The loop needs no message of its own for that: its requests are
 * packed into a sum that it makes anyway (ikt_watch_pack, ikt_watch_unpack).
 * Advantage: no rank is ever interrupted within a collective. Disadvantage: a stage that cannot
 * pause is finished first.
 */
#ifndef IKT_BASE_WATCH_H
#define IKT_BASE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arrays.h"
#include "base/status.h"
#include "iktsne/watcher.h"

/* What all ranks are requested to do. */
typedef enum {
    IKT_REQUEST_NONE,
    IKT_REQUEST_SAVE, /* a checkpoint, and to go on */
    IKT_REQUEST_STOP  /* a checkpoint, and to end */
} ikt_request;

/* Writes a checkpoint of a stage. COLLECTIVE, and only where all ranks are. */
typedef struct ikt_saver {
    void *self;
    ikt_status (*save)(void *self);
    const char *where; /* the folder of checkpoints, for messages */
    int64_t iteration; /* that comes next, for messages; 0 outside of the loop */
} ikt_saver;

/* LOCAL. From now on SIGUSR1 asks for a checkpoint (those that come until it is complete, or within
 * two seconds after it, for the same one), SIGTERM, SIGUSR2 and SIGINT for an end; a
 * second one of these, some seconds later, ends the process at once. Files stay whole: they get
 * their names when they are complete. And: from now on they do what they do by default. */
void ikt_watch_signals(void);
void ikt_watch_signals_end(void);

/* LOCAL. Whether a signal has asked this process for an end; for what waits on something else. */
bool ikt_watch_is_signalled(void);

/* SAME-ARGS. Begins to watch; before that there are no requests.
 *   seconds      until the run has to have ended, or infinite
 *   save_every   seconds between two checkpoints, or infinite: only where they are asked for */
void ikt_watch_begin(ikt_context *ctx, double seconds, double save_every);
void ikt_watch_end(ikt_context *ctx);

/* LOCAL. What asked for the end, for messages: "SIGTERM", "the end of its time". */
const char *ikt_watch_reason(const ikt_context *ctx);

/* LOCAL. How long the next checkpoint will take: so much earlier a run stops for lack of time. */
void ikt_watch_expect(ikt_context *ctx, double seconds);

/* COLLECTIVE. Polls for a request of any rank, by one small reduction; the same on all ranks. */
ikt_request ikt_watch_poll(ikt_context *ctx);

/* LOCAL, both. The same without a reduction of its own, for a caller that sums integers over all
 * ranks anyway: `pack` gives what this rank adds to the sum, `unpack` takes the sum. */
int64_t ikt_watch_pack(ikt_context *ctx);
ikt_request ikt_watch_unpack(ikt_context *ctx, int64_t sum);

/* COLLECTIVE. Handles a request. A checkpoint that a signal asked for is said in the log, with the
 * file and the iteration. A checkpoint that cannot be written is a warning where the run
 * goes on, and an error where it has to end. `saver` may be NULL: there is nothing to save, and
 * nothing happens. Returns IKT_STOPPED, with a message, where the run has to end. */
ikt_status ikt_watch_handle(ikt_context *ctx, ikt_request request, const ikt_saver *saver);

/* COLLECTIVE. Polls for a request and handles it, between two pieces of work. A checkpoint is
 * written only where some rank has done something since the last one, and the end of the time is
 * heeded only where this start has: a run whose time is over again and again has to come to its
 * end. A signal to stop is heeded at once, since who sends it does not wait for long.
 *   has_worked   of this rank, since the last checkpoint; cleared when one is written */
ikt_status ikt_watch_pause_after(ikt_context *ctx, const ikt_saver *saver, bool *has_worked);

/* SAME-ARGS. To the end of the block in which this stands, ikt_watch_pause, which is called by code
 * that knows nothing of the stage that it works for, does as ikt_watch_pause_after with these,
 * which are borrowed. Where the saver has no folder nothing changes. A saver without a function is
 * for what no checkpoint holds: there `has_worked` stays false. */
#define IKT_MAY_PAUSE(ctx, saver, has_worked)                                                      \
    const ikt_pausing ikt_may_pause_ IKT_AT_END(ikt_watch_forbid) =                                \
        ikt_watch_allow((ctx), (saver), (has_worked))

/* Who may pause outside of that block. */
typedef struct {
    ikt_context *ctx;
    const ikt_saver *saver;
    bool *has_worked;
} ikt_pausing;

ikt_pausing ikt_watch_allow(ikt_context *ctx, const ikt_saver *saver, bool *has_worked);
void ikt_watch_forbid(const ikt_pausing *pausing);

/* COLLECTIVE. Between two pieces of work that no checkpoint holds, and that change nothing of what
 * one would. */
ikt_status ikt_watch_pause(ikt_context *ctx);

/* COLLECTIVE. From now on a program that calls the library is told of progress and may ask for an
 * end; `watcher` is borrowed until the next call, NULL: nobody is told. The same, NULL or not, on
 * all ranks. */
void ikt_watcher_set(ikt_context *ctx, const ikt_watcher *watcher);

/* LOCAL. Tells the watcher of a step, and of an iteration; see iktsne/watcher.h. */
void ikt_watcher_progress(ikt_context *ctx, const char *unit, int64_t done, int64_t total);
void ikt_watcher_report(ikt_context *ctx, int64_t iteration, double value, const float *positions);

/* LOCAL. Iterations between two reports; 0: none are wanted. Whether this rank was asked to stop.
 */
int64_t ikt_watcher_every(const ikt_context *ctx);
bool ikt_watcher_wants_stop(const ikt_context *ctx);

/* COLLECTIVE. Between two pieces of the work of a stage that comes before the layout: IKT_STOPPED,
 * with a message, where the watcher of any rank has asked for an end. Without a watcher nothing is
 * communicated. */
ikt_status ikt_watcher_poll(ikt_context *ctx);

/* COLLECTIVE. Polls for a request at the end of a stage: a checkpoint is written here, where it is
 * complete, once a tenth of the usual interval has passed since the last. */
ikt_status ikt_watch_stage_end(ikt_context *ctx, const ikt_saver *saver);

#endif
