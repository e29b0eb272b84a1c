/* The checkpoint of a run: a folder with a file for each stage that takes long
 * (those that the table of stages in base/timer.h gives a name for it).
 *
 *   codes.h5          cell codes, as far as they are
 *   neighbours.h5     neighbour lists, as far as they are
 *   probabilities.h5  the lists with their weights, from which P follows; order and start
 *   loop.h5           positions, velocities, gains, phases and trace
 * Before a file is replaced it gets the name X.previous.h5, so that a damaged one costs one
 * interval. What a stage makes follows from what is kept of the stages before it, and in the end
 * from the data: a file that is missing costs time only. Files of stages that are no longer needed
 * are removed.
 */
#ifndef IKT_CHECKPOINT_CHECKPOINT_H
#define IKT_CHECKPOINT_CHECKPOINT_H

#include "base/timer.h"
#include "io/hdf5/stage_file.h"
#include "settings/settings.h"

typedef struct ikt_checkpoint ikt_checkpoint;

/* COLLECTIVE. The checkpoint that run.checkpoint names; with run.resume: no, the files of one that
 * are there are removed first, and no others.
 *   settings   as the user gave them
 *   input      checksums of all that the run reads (pipeline/run_inputs.c); copied
 *   out        NULL where none is wanted
 * Errors: IKT_ERR_RESOURCE, IKT_ERR_FILE (the folder cannot be made, or a file that is no
 * checkpoint has the name of one). */
ikt_status ikt_checkpoint_create(ikt_context *ctx, const ikt_settings *settings, const char *input,
                                 ikt_checkpoint **out);
void ikt_checkpoint_destroy(ikt_checkpoint **checkpoint);

/* COLLECTIVE. What is there for such a run to go on from, changing nothing. Whether it is of the
 * same data is not asked.
 *   stage   "loop": how far it is; NULL: there is nothing, or run.resume is no
 * Errors: IKT_ERR_FILE (as above), IKT_ERR_USAGE (of other settings or of another program). */
ikt_status ikt_checkpoint_look(ikt_context *ctx, const ikt_settings *settings, const char **stage);

/* LOCAL. The folder; lent. */
const char *ikt_checkpoint_folder(const ikt_checkpoint *checkpoint);

/* COLLECTIVE. Writes the file of a stage and removes what it makes superfluous.
 * Errors: IKT_ERR_FILE. */
ikt_status ikt_checkpoint_write(ikt_checkpoint *checkpoint, ikt_stage stage, const ikt_part *parts,
                                int64_t count);

/* COLLECTIVE. Opens the newest file of a stage that is whole; damaged ones are warned of and
 * removed.
 *   out   NULL where there is none
 * Errors: IKT_ERR_USAGE for one of other data, settings or program, with the first difference. */
ikt_status ikt_checkpoint_find(ikt_checkpoint *checkpoint, ikt_stage stage, ikt_stage_file **out);

/* LOCAL. Tells the watch how long it will take to write `bytes` bytes over all ranks. */
void ikt_checkpoint_expect(const ikt_checkpoint *checkpoint, int64_t bytes);

/* COLLECTIVE. Removes files and folder, unless run.checkpoint_keep asks for them. Accepts NULL. */
void ikt_checkpoint_finish(ikt_checkpoint *checkpoint);

/* LOCAL. The head of this program's own files.
 *   input, settings   of fingerprint.h; lent */
ikt_stage_head ikt_checkpoint_head(const char *stage, const char *input, const char *settings);

/* SAME-ARGS. Refuses a head that is not that of this run: of other data or settings, of another
 * version or build of the program, or of another instruction set.
 *   own    of this run
 *   what   how messages name where `head` is from
 * Errors: IKT_ERR_USAGE. */
ikt_status ikt_checkpoint_compare(ikt_context *ctx, const ikt_stage_head *own,
                                  const ikt_stage_head *head, const char *what);

#endif
