/* The loop's state as parts of a file: in checkpoints, and in results for --extend. */
#ifndef IKT_CHECKPOINT_LOOP_PARTS_H
#define IKT_CHECKPOINT_LOOP_PARTS_H

#include "io/hdf5/parts.h"
#include "layout/layout.h"

enum {
    IKT_LOOP_NUMBERS = 2 + IKT_PHASE_NUMBERS,
    IKT_LOOP_REALS = 1 + IKT_PHASE_REALS,
    IKT_LOOP_HEADS = 2, /* parts whose size does not depend on the trace */
    IKT_LOOP_PARTS_MOST = IKT_LOOP_HEADS + 4 + IKT_LOOP_ARRAYS_MOST
};

/* A trace as columns, which files have. */
typedef struct {
    int64_t *iteration; /* [count]; so all, owned */
    double *value, *norm, *seconds;
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
 *   read   reads `count` parts of whatever file it is
 *   out    owned by the caller; empty on failure
 * Errors: those of `read`, IKT_ERR_RESOURCE, IKT_ERR_DATA. */
ikt_status ikt_loop_parts_read(ikt_context *ctx, const ikt_rows *rows,
                               const ikt_layout_settings *settings,
                               ikt_status (*read)(void *file, const ikt_part *parts, int64_t count),
                               void *file, ikt_loop_state *out);

#endif
