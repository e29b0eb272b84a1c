/* A run up to the point where work would begin: what it would refuse is refused, what it would
 * decide is decided, and nothing is computed or written.
 *
 * What only reading every row can tell is left to the run: values that are not finite, columns that
 * are all the same, and whether a checkpoint is of these very data.
 */
#ifndef IKT_PIPELINE_REHEARSAL_H
#define IKT_PIPELINE_REHEARSAL_H

#include "plan/plan.h"

typedef struct {
    ikt_plan plan;
    ikt_settings settings;                /* as the run would use them */
    char input_name[IKT_STRING_MAX + 64]; /* "file.h5:/X" */
    bool has_labels;
    int64_t result_bytes; /* of output.file, at most */
    double seconds_left;  /* until the run has to have ended; infinite without a limit */
    const char *goes_on;  /* stage of the checkpoint that the run goes on from; NULL: none */
} ikt_rehearsal;

/* COLLECTIVE.
 *   settings   as the user gave them
 *   machine    constants that the time is predicted from
 * Errors: those of ikt_pipeline_run before its first long stage. */
ikt_status ikt_rehearse(ikt_context *ctx, const ikt_settings *settings, const ikt_machine *machine,
                        ikt_rehearsal *out);

#endif
