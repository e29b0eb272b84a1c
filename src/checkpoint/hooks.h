/* What the stages of a run hand their checkpoints to, and get them back from. */
#ifndef IKT_CHECKPOINT_HOOKS_H
#define IKT_CHECKPOINT_HOOKS_H

#include "checkpoint/checkpoint.h"
#include "isolation/codes.h"
#include "layout/layout.h"
#include "neighbours/neighbours.h"

/* One for each stage, all of one checkpoint. Everything is lent. */
typedef struct {
    ikt_context *ctx;
    ikt_checkpoint *checkpoint;
    const ikt_rows *rows; /* of rows and of slots */
    const ikt_layout_settings *layout; /* resolved by the time that the loop is asked for */
    int64_t q;                         /* dimensions */
    ikt_codes_hooks codes;
    ikt_list_hooks lists;
    ikt_loop_hooks loop;
} ikt_checkpoint_hooks;

/* LOCAL. *out must stay where it is. */
void ikt_checkpoint_hooks_make(ikt_context *ctx, ikt_checkpoint *checkpoint, const ikt_rows *rows,
                               const ikt_layout_settings *layout, ikt_checkpoint_hooks *out);

/* COLLECTIVE. The loop's state in the newest checkpoint, owned by the caller.
 *   found   false: there is none
 * Errors: those of ikt_checkpoint_find and of reading. */
ikt_status ikt_checkpoint_load_loop(ikt_checkpoint_hooks *keepers, ikt_loop_state *state,
                                    bool *found);

#endif
