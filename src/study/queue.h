/* The queue of a study: runs that groups of ranks, and jobs of an array, take one after the other.
 *
 * Method: OUTPUT/queue holds a line for each run that was begun: session and identity. Whoever is
 * free locks the file, takes the first run of the list that nobody of this session has, and adds
 * its line. Advantage: the same for groups of one job and for the jobs of an array, which need not
 * know of each other. Disadvantage: a file system with locks is needed, and some milliseconds a
 * run.
 * A session is what runs at the same time: a job, or all jobs of an array. A run that earlier
 * sessions began and never ended is taken again, but not for ever; one that was stopped in good
 * order, with a checkpoint, is as if that session had not begun it.
 */
#ifndef IKT_STUDY_QUEUE_H
#define IKT_STUDY_QUEUE_H

#include "study/plan.h"

enum { IKT_STUDY_SESSION = 128, IKT_STUDY_ATTEMPTS = 3 };

typedef struct {
    int64_t run;      /* taken; -1: none is left */
    int64_t attempts; /* earlier sessions that began it */
} ikt_study_claim;

/* COLLECTIVE. The name of this session: of the Slurm job or array, and how often it was requeued;
 * otherwise host, process and time. The same on every rank. */
void ikt_study_session(ikt_context *ctx, char session[IKT_STUDY_SESSION]);

/* LOCAL, for the first rank of a group. Takes a run.
 *   order    [count] numbers of runs, those to be taken first at the front
 *   cursor   place in `order` up to which all were found taken; 0 at first, kept by the caller
 * Errors: IKT_ERR_FILE. */
ikt_status ikt_study_queue_take(ikt_context *ctx, const ikt_study_plan *plan, const char *output,
                                const char *session, const int64_t *order, int64_t count,
                                int64_t *cursor, ikt_study_claim *out);

/* LOCAL, for the first rank of a group. Notes that a run that was taken has been stopped, and goes
 * on in a later session. Errors: IKT_ERR_FILE. */
ikt_status ikt_study_queue_put_back(ikt_context *ctx, const ikt_study_plan *plan,
                                    const char *output, const char *session, int64_t run);

#endif
