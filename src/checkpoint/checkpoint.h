/* The checkpoint of a run: a folder with a file for each stage that takes long
 * (those that the table of stages in base/timer.h gives a name for it).
 *
 *   codes.h5          cell codes, as far as they are
 *   neighbours.h5     neighbour lists, as far as they are
 *   probabilities.h5  the lists with their weights, from which P follows, order and start; where
 *                     the objective takes lists their scores stand in the place of weights
 *   loop.h5           positions, velocities, gains, phases and trace
 * Before a file is replaced it gets the name X.previous.h5, so that a damaged one costs one
 * interval. What a stage makes follows from what is kept of the stages before it, and in the end
 * from the data: a file that is missing costs time only. Files of stages that are no longer needed
 * are removed.
 */
#ifndef IKT_CHECKPOINT_CHECKPOINT_H
#define IKT_CHECKPOINT_CHECKPOINT_H

#include "base/timer.h"
#include "io/hdf5/parts.h"
#include "io/hdf5/stage_file.h"
#include "io/sources/source.h"
#include "isolation/codes.h"
#include "layout/layout.h"
#include "neighbours/neighbours.h"
#include "settings/settings.h"

/* --- what the result of a run depends on, as text that two runs can be compared by ------------ */

/* Room for the checksum of one file, and for those of all that a result depends on. */
enum { IKT_INPUT_TEXT = 256, IKT_INPUTS_TEXT = 1024 };

/* Roles whose checksums stand behind those of rows and graph, "; ROLE CHECKSUM", in this order. */
enum { IKT_INPUT_ROLES = 3 };
extern const char *const ikt_input_roles[IKT_INPUT_ROLES];

/* COLLECTIVE. "1000 x 50 float32, hash 0123456789abcdef": shape, type and a checksum of every
 * value, the same on any ranks. Cost: one pass over the source. Errors: those of reading. */
ikt_status ikt_fingerprint_input(ikt_context *ctx, ikt_source *source, char text[IKT_INPUT_TEXT]);

/* LOCAL. The settings of the recipe, with what the rows have decided, as YAML; what is decided
 * later is still auto. Without those that only say where things are, how much is printed and how
 * long the run goes on (layout.iterations). Of files that shape the result it says that there are
 * some: which they are, their checksums say.
 *   text   freed with ikt_free. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_fingerprint_settings(ikt_context *ctx, const ikt_settings *settings, char **text);

/* LOCAL, pure. The first role in which the checksums of two runs differ: "input.file" for rows and
 * graph.
 *   there, here   receive the checksums of that role; "none" */
const char *ikt_fingerprint_input_difference(const char *all_there, const char *all_here,
                                             char there[IKT_INPUTS_TEXT],
                                             char here[IKT_INPUTS_TEXT]);

/* LOCAL, pure. The first line in which two such texts differ, for people: "affinity.neighbours is
 * 30 there and 90 here".
 *   text   [size] */
void ikt_fingerprint_difference(const char *there, const char *here, char *text, size_t size);

/* --- the folder ------------------------------------------------------------------------------- */

typedef struct ikt_checkpoint ikt_checkpoint;

/* COLLECTIVE. The checkpoint that run.checkpoint names; with run.resume: no, the files of one that
 * are there are removed first, and no others.
 *   settings   as ikt_fingerprint_settings has them
 *   resolved   the same, with nothing left to be chosen; copied
 *   input      checksums of all that the run reads (pipeline/run_inputs.c); copied
 *   out        NULL where none is wanted
 * Errors: IKT_ERR_RESOURCE, IKT_ERR_FILE (the folder cannot be made, or a file that is no
 * checkpoint has the name of one). */
ikt_status ikt_checkpoint_create(ikt_context *ctx, const ikt_settings *settings,
                                 const ikt_settings *resolved, const char *input,
                                 ikt_checkpoint **out);
void ikt_checkpoint_destroy(ikt_checkpoint **checkpoint);

/* COLLECTIVE. What is there for such a run to go on from, changing nothing. Whether it is of the
 * same data is not asked.
 *   settings, resolved   as above
 *   stage                "loop": how far it is; NULL: there is nothing, or run.resume is no
 * Errors: IKT_ERR_FILE (as above), IKT_ERR_USAGE (as ikt_checkpoint_find). */
ikt_status ikt_checkpoint_look(ikt_context *ctx, const ikt_settings *settings,
                               const ikt_settings *resolved, const char **stage);

/* LOCAL. When the newest file of the checkpoint of such a run was written, in nanoseconds since
 * 1970 by the clock of the file system; 0: there is none. Every stage writes one only after some
 * work, so that a later time is a run that got further. */
int64_t ikt_checkpoint_time(const ikt_settings *settings);

/* LOCAL. The folder; borrowed. */
const char *ikt_checkpoint_folder(const ikt_checkpoint *checkpoint);

/* COLLECTIVE. Writes the file of a stage and removes what it makes superfluous.
 * Errors: IKT_ERR_FILE. */
ikt_status ikt_checkpoint_write(ikt_checkpoint *checkpoint, ikt_stage stage, const ikt_part *parts,
                                int64_t count);

/* COLLECTIVE. Opens the newest file of a stage that is whole; damaged ones are warned of and
 * removed.
 *   out   NULL where there is none
 * Where the run was to have another number of iterations before, it is warned of what depends on
 * that; an extended run, which is warned of it anyway, is not.
 * Errors: IKT_ERR_USAGE for one of other data, settings or program, with the first difference, and
 * for one with more iterations behind it than the run is to have. */
ikt_status ikt_checkpoint_find(ikt_checkpoint *checkpoint, ikt_stage stage, ikt_stage_file **out);

/* LOCAL. Tells the watch how long it will take to write `bytes` bytes over all ranks. */
void ikt_checkpoint_expect(const ikt_checkpoint *checkpoint, int64_t bytes);

/* COLLECTIVE. Removes files and folder, unless run.checkpoint_keep asks for them. Accepts NULL. */
void ikt_checkpoint_finish(ikt_checkpoint *checkpoint);

/* LOCAL. The head of this program's own files.
 *   input, settings   checksums of the inputs, ikt_fingerprint_settings; borrowed */
ikt_stage_head ikt_checkpoint_head(const char *stage, const char *input, const char *settings);

/* SAME-ARGS. Refuses a head that is not that of this run: of other data or settings, of another
 * version or build of the program, or of another instruction set.
 *   own    of this run
 *   what   how messages name where `head` is from
 * Errors: IKT_ERR_USAGE. */
ikt_status ikt_checkpoint_compare(ikt_context *ctx, const ikt_stage_head *own,
                                  const ikt_stage_head *head, const char *what);

/* --- the loop's state as parts of a file: checkpoints, results for --extend ------------------- */

enum {
    IKT_LOOP_HEADS = 2, /* parts whose size does not depend on the trace */
    IKT_LOOP_PARTS_MOST = IKT_LOOP_HEADS + 6 + IKT_LOOP_ARRAYS_MOST
};

/* A trace as columns, which files have. */
typedef struct {
    int64_t *iteration; /* [count]; so all, owned */
    double *value, *error, *norm, *seconds;
    double *eigenvalue; /* [count][IKT_TRACE_EIGENVALUES] */
    ikt_arrays held;
} ikt_trace_columns;

/* LOCAL. Free with ikt_trace_columns_destroy, also after a failure. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_trace_columns_make(ikt_context *ctx, const ikt_trace_point *point, int64_t count,
                                  ikt_trace_columns *out);
void ikt_trace_columns_destroy(ikt_trace_columns *columns);

/* Single numbers, in the order of the file; IKT_NUMBERS of them are a part. */
typedef struct {
    int64_t iteration, points, phase[IKT_PHASE_NUMBERS];
} ikt_loop_numbers;

typedef struct {
    double seconds, phase[IKT_PHASE_REALS];
} ikt_loop_reals;

/* Where single numbers and columns are while they are written or read. */
typedef struct {
    ikt_loop_numbers number;
    ikt_loop_reals real;
    ikt_trace_columns trace;            /* [points] */
    ikt_part part[IKT_LOOP_PARTS_MOST]; /* [count] heads first */
    int64_t count;
} ikt_loop_parts;

/* LOCAL. Parts that hold a state, for writing.
 *   rows    of the loop
 *   state   borrowed as long as the parts
 * Errors: IKT_ERR_RESOURCE. Free with ikt_loop_parts_destroy. */
ikt_status ikt_loop_parts_make(ikt_context *ctx, const ikt_rows *rows, const ikt_loop_state *state,
                               ikt_loop_parts *out);
void ikt_loop_parts_destroy(ikt_loop_parts *parts);

/* COLLECTIVE. Reads a state.
 *   settings   of the loop, resolved: they say which arrays it has
 *   read       reads `count` parts of whatever file it is
 *   out        owned by the caller; empty on failure
 * Errors: those of `read`, IKT_ERR_RESOURCE, IKT_ERR_DATA. */
ikt_status ikt_loop_parts_read(ikt_context *ctx, const ikt_rows *rows,
                               const ikt_layout_settings *settings,
                               ikt_status (*read)(void *file, const ikt_part *parts, int64_t count),
                               void *file, ikt_loop_state *out);

/* --- the state of a finished run, in its result file, from which --extend goes on ------------- */

/* COLLECTIVE. Reads the state from output.file, if it is of the same data and settings. A state of
 * another build of the same version is read with a warning.
 *   rows   of the data
 *   own    what the state has to agree with, of ikt_checkpoint_head
 *   out    owned by the caller; empty on failure
 * Errors: IKT_ERR_USAGE (no state, other settings), IKT_ERR_DATA, IKT_ERR_FILE. */
ikt_status ikt_finished_read(ikt_context *ctx, const ikt_settings *settings, const ikt_rows *rows,
                             const ikt_stage_head *own, ikt_loop_state *out);

/* COLLECTIVE. Whether output.file holds the state of a run with these settings on n rows; whether
 * those were of the same data is not asked. Errors: as above. */
ikt_status ikt_finished_check(ikt_context *ctx, const ikt_settings *settings, int64_t n);

/* LOCAL. The state of a run that has finished, without times: it is the same in every equal run.
 *   last    the loop's last state, without its trace; borrowed as long as the parts
 *   trace   of the run; borrowed likewise
 *   out     free with ikt_loop_parts_destroy
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_finished_parts(ikt_context *ctx, const ikt_rows *rows, const ikt_loop_state *last,
                              const ikt_trace *trace, ikt_loop_parts *out);

/* --- what stages hand their checkpoints to, and get them back from ---------------------------- */

/* One for each stage, all of one checkpoint. Everything is borrowed. */
typedef struct {
    ikt_context *ctx;
    ikt_checkpoint *checkpoint;
    const ikt_rows *rows;              /* of rows and of slots */
    const ikt_layout_settings *layout; /* resolved by the time that the loop is asked for */
    int64_t q;                         /* dimensions */
    ikt_codes_hooks codes;
    ikt_list_hooks lists;
    ikt_loop_hooks loop;
} ikt_checkpoint_hooks;

/* LOCAL. *out must stay where it is. */
void ikt_checkpoint_hooks_make(ikt_context *ctx, ikt_checkpoint *checkpoint, const ikt_rows *rows,
                               const ikt_layout_settings *layout, ikt_checkpoint_hooks *out);

/* LOCAL, pure. Those of single stages; NULL where there are none. */
static inline const ikt_codes_hooks *ikt_checkpoint_codes(const ikt_checkpoint_hooks *hooks) {
    return hooks ? &hooks->codes : NULL;
}
static inline const ikt_list_hooks *ikt_checkpoint_lists(const ikt_checkpoint_hooks *hooks) {
    return hooks ? &hooks->lists : NULL;
}

/* COLLECTIVE. The loop's state in the newest checkpoint, owned by the caller.
 *   found   false: there is none
 * Errors: those of ikt_checkpoint_find and of reading. */
ikt_status ikt_checkpoint_load_loop(ikt_checkpoint_hooks *hooks, ikt_loop_state *state,
                                    bool *found);

#endif
