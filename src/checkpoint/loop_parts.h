/* The loop's state as parts of a file: in checkpoints, and in results for --extend. */
#ifndef IKT_CHECKPOINT_LOOP_PARTS_H
#define IKT_CHECKPOINT_LOOP_PARTS_H

#include "checkpoint/checkpoint.h"
#include "io/hdf5/parts.h"
#include "layout/layout.h"

enum {
    IKT_LOOP_NUMBERS = 2 + IKT_PHASE_NUMBERS,
    IKT_LOOP_REALS = 1 + IKT_PHASE_REALS,
    IKT_LOOP_HEADS = 2, /* parts whose size does not depend on the trace */
    IKT_LOOP_PARTS_MOST = IKT_LOOP_HEADS + 6 + IKT_LOOP_ARRAYS_MOST
};

/* A trace as columns, which files have. */
typedef struct {
    int64_t *iteration; /* [count]; so all, owned */
    double *value, *error, *norm, *seconds;
    double *eigenvalue; /* [count][IKT_TRACE_EIGENVALUES] */
} ikt_trace_columns;

/* LOCAL. Free with ikt_trace_columns_destroy, also after a failure. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_trace_columns_make(ikt_context *ctx, const ikt_trace_point *point, int64_t count,
                                  ikt_trace_columns *out);
void ikt_trace_columns_destroy(ikt_trace_columns *columns);

/* Where single numbers and columns are while they are written or read. */
typedef struct {
    int64_t number[IKT_LOOP_NUMBERS];
    double real[IKT_LOOP_REALS];
    ikt_trace_columns trace;            /* [points] */
    ikt_part part[IKT_LOOP_PARTS_MOST]; /* [count] heads first */
    int64_t count;
} ikt_loop_parts;

/* LOCAL. Parts that hold a state, for writing.
 *   rows    of the loop
 *   state   lent as long as the parts
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

/* The state of a finished run, in its result file, from which --extend goes on. */

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
 *   last    the loop's last state, without its trace; lent as long as the parts
 *   trace   of the run; lent likewise
 *   out     free with ikt_loop_parts_destroy
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_finished_parts(ikt_context *ctx, const ikt_rows *rows, const ikt_loop_state *last,
                              const ikt_trace *trace, ikt_loop_parts *out);

#endif
