/* What the stages of a run hand their checkpoints to, and get them back from. */
#ifndef IKT_CHECKPOINT_KEEPERS_H
#define IKT_CHECKPOINT_KEEPERS_H

#include "checkpoint/checkpoint.h"
#include "isolation/codes.h"
#include "layout/layout.h"
#include "neighbours/list_course.h"

/* One for each stage, all of one checkpoint. Everything is lent. */
typedef struct {
    ikt_context *ctx;
    ikt_checkpoint *checkpoint;
    const ikt_row_map *map; /* of rows and of positions */
    int64_t q;              /* dimensions */
    ikt_codes_keeper codes;
    ikt_list_keeper lists;
    ikt_loop_keeper loop;
} ikt_keepers;

/* LOCAL. *out must stay where it is. */
void ikt_keepers_make(ikt_context *ctx, ikt_checkpoint *checkpoint, const ikt_row_map *map,
                      int64_t q, ikt_keepers *out);

/* COLLECTIVE. The loop's state in the newest checkpoint, owned by the caller.
 *   found   false: there is none
 * Errors: those of ikt_checkpoint_find and of reading. */
ikt_status ikt_keepers_loop(ikt_keepers *keepers, ikt_loop_state *state, bool *found);

#endif
