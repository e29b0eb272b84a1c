/* The points as the viewer's page holds them: in the order of the curve, as bytes.
 *
 * A point's record: its code (6 bytes), its row (4), z where the map has three dimensions (3), and
 * of each column a class number (1 or 2 bytes) or a float (4). All little-endian.
 */
#ifndef IKT_VIEWER_POINTS_H
#define IKT_VIEWER_POINTS_H

#include "plot/colouring.h"
#include "viewer/blocks.h"
#include "viewer/curve.h"
#include "viewer/viewer.h"

/* A column with what its legend says. */
typedef struct {
    ikt_colouring colouring; /* classes, and those of the points; empty for numbers */
    double least, largest;   /* of the finite numbers; NaN where there are none */
    double least_above_zero; /* of the numbers above 0; NaN where there are none */
    int64_t missing;         /* numbers that are not finite */
    int bytes;               /* of a point */
} ikt_viewer_legend;

typedef struct {
    const ikt_viewer_content *content;
    ikt_curve_box box;
    uint64_t *code;  /* [rows->count] of the rows */
    uint32_t *row;   /* [rows->count] own rows (from 0) in the order of the curve */
    uint32_t *place; /* [rows->count] their places, ascending */
    ikt_viewer_legend legend[IKT_VIEWER_COLUMNS_MOST];
} ikt_viewer_points;

/* COLLECTIVE. Orders the points and learns what the legends say. Errors: IKT_ERR_DATA,
 * IKT_ERR_RESOURCE; empty then. */
ikt_status ikt_viewer_points_create(ikt_context *ctx, const ikt_viewer_content *content,
                                    ikt_viewer_points *out);
void ikt_viewer_points_destroy(ikt_viewer_points *points);

/* LOCAL. The points as items, 262,144 a block. A block holds the bytes of its records one kind
 * after the other, which deflates better: first, highest byte first, the upper 24 bits of the codes
 * as differences to the point before (the first: to 0), then the lower 24; then, lowest byte first,
 * row, z and columns. */
ikt_block_items ikt_viewer_points_items(const ikt_viewer_points *points);

#endif
