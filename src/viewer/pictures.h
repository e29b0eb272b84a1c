/* Pictures of rows for the viewer's page: which, read from the data, as bytes.
 *
 * Where not all rows' pictures are wanted, those are taken that stand evenly along the curve of the
 * points, so that every part of the map has some.
 */
#ifndef IKT_VIEWER_PICTURES_H
#define IKT_VIEWER_PICTURES_H

#include <stdbool.h>
#include <stdint.h>

#include "dist/rows.h"
#include "io/sources/source.h"

typedef struct {
    const char *path, *dataset;
    int64_t height, width, channels; /* of a row's picture; channels 1 or 3, the last to vary */
    int64_t shrink;                  /* squares of this side become one pixel, their mean */
    int64_t most;                    /* pictures */
} ikt_picture_settings;

typedef struct {
    int64_t n, count;                /* over all ranks; of this rank */
    int64_t height, width, channels; /* after shrinking */
    int64_t size;                    /* bytes of a picture: height * width * channels */
    bool is_scaled;                  /* from floating numbers: least became 0, largest 255 */
    double least, largest;
    uint32_t *place; /* [count] number among the n pictures, ascending; owned */
    uint8_t *pixel;  /* [count * size] owned */
} ikt_pictures;

/* LOCAL, pure. Pictures that n rows get. The k-th is that of the row whose place along the curve is
 * floor(k n / ikt_pictures_count). */
int64_t ikt_pictures_count(const ikt_picture_settings *settings, int64_t n);

/* COLLECTIVE. Reads the data once, in blocks, and keeps the chosen rows' pictures.
 *   row     [rows->count] own rows (from 0) in the order of their places along the curve
 *   place   [rows->count] those places, ascending
 * Floating numbers are scaled from the range of all chosen pictures to 0 .. 255; what is not finite
 * becomes 0. Errors: IKT_ERR_USAGE (the shape is not that of the data's rows; not as many rows),
 * IKT_ERR_DATA, IKT_ERR_FILE, IKT_ERR_RESOURCE. Memory: 16 MiB, and of each chosen picture a byte a
 * pixel, of floating numbers four more. */
ikt_status ikt_pictures_read(ikt_context *ctx, const ikt_picture_settings *settings,
                             const ikt_rows *rows, const uint32_t *row, const uint32_t *place,
                             ikt_pictures *out);
/* LOCAL, pure. Pictures in a block of the page: about 1 MiB of pixels. */
int64_t ikt_pictures_per_block(const ikt_pictures *pictures);

void ikt_pictures_destroy(ikt_pictures *pictures);

#endif
