/* The order of the points along the Z-curve, in which the viewer's page keeps them.
 *
 * A square round the map (a cube where it has three dimensions) is cut into 2^24 steps a side, as
 * fine as the single-precision numbers of the map are at its edge. The bits of x and y interleaved
 * (Morton 1966) are a point's code; sorted by code, then row, the points of every square of every
 * level of the quadtree stand together.
 */
#ifndef IKT_VIEWER_CURVE_H
#define IKT_VIEWER_CURVE_H

#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"

enum { IKT_CURVE_BITS = 24 };

typedef struct {
    double corner[3]; /* least x, y, z of the square or cube */
    double side;      /* above 0 */
} ikt_curve_box;

/* COLLECTIVE. The least such box, with the map in its middle.
 *   y   [rows->count * q] positions of this rank's rows
 * All points equal, or none: a box of side 2. Errors: IKT_ERR_DATA naming the first row whose
 * coordinates are not finite. */
ikt_status ikt_curve_fit(ikt_context *ctx, const ikt_rows *rows, int q, const float *y,
                         ikt_curve_box *box);

/* LOCAL. Step 0 .. 2^24 - 1 of a coordinate along axis 0, 1 or 2; its middle lies no further from
 * the coordinate than side / 2^25. */
uint32_t ikt_curve_step(const ikt_curve_box *box, int axis, double coordinate);

/* LOCAL. Code of 48 bits: bit 2 b is bit b of x, bit 2 b + 1 is bit b of y. */
uint64_t ikt_curve_code(uint32_t x, uint32_t y);

/* COLLECTIVE. The place of every row of this rank among all rows, sorted by code, then row.
 *   code    [rows->count]
 *   place   [rows->count], receives 0 .. n - 1
 * Errors: IKT_ERR_RESOURCE. Memory: 16 bytes a row, and 24 for each row that lies in this rank's
 * part of the curve: n / ranks where the points are spread over the square, all of them where a
 * single one far away leaves the others in one 65,536th of it. */
ikt_status ikt_curve_places(ikt_context *ctx, const ikt_rows *rows, const uint64_t *code,
                            uint32_t *place);

/* LOCAL. Sorts item[count] by the lowest 8 * digits bits of key[item]; equal keys keep their order.
 *   work   [count] */
void ikt_curve_sort(const uint64_t *key, int64_t count, int digits, uint32_t *item, uint32_t *work);

#endif
