/* The parts of the viewer's page: the order of the points, the points, what is known of their rows,
 * pictures, the blocks of text in which all of that is written, and the page itself.
 */
#ifndef IKT_VIEWER_PARTS_H
#define IKT_VIEWER_PARTS_H

#include <stdio.h>

#include "config/value.h"
#include "plot/colouring.h"
#include "viewer/viewer.h"

/* --- curve.c: the order of the points --------------------------------------------------------- */

/* A square round the map (a cube where it has three dimensions) is cut into 2^24 steps a side, as
 * fine as the single-precision numbers of the map are at its edge. The bits of x and y interleaved
 * (Morton 1966) are a point's code; sorted by code, then row, the points of every square of every
 * level of the quadtree stand together.
 */

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

/* --- blocks.c: items as blocks of text -------------------------------------------------------- */

/* A block is a <script> element that a browser does not run but keeps as text: the items' bytes,
 * deflated (RFC 1951) and in base64. Blocks are small, because a browser's strings are limited, and
 * each is unpacked by itself, when it is asked for.
 */

typedef struct {
    int64_t n;             /* over all ranks, below 2^32 */
    int64_t count;         /* of this rank */
    const uint32_t *place; /* [count] of each in the order, ascending; over all ranks 0 .. n - 1 */
    int64_t bytes;         /* of an item, where all have as many */
    int64_t per_block;     /* items */
    const char *name;      /* of the blocks: their ids are NAME-0, NAME-1, ... */
    /* LOCAL. The number of bytes of this rank's i-th item; NULL: `bytes`. */
    int64_t (*length)(const void *self, int64_t i);
    /* LOCAL. The bytes of this rank's i-th item. */
    void (*fill)(const void *self, int64_t i, uint8_t *item);
    /* LOCAL. The bytes of a block of `count` items in the form in which they are packed; NULL: item
     * after item. */
    void (*arrange)(const uint8_t *items, int64_t count, int64_t bytes, uint8_t *block);
    const void *self;
} ikt_block_items;

/* COLLECTIVE. Writes the items of all ranks, in their order, as blocks; ranks pack at the same
 * time.
 *   file   open for writing on rank 0; NULL on the others
 * Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE (a block of more than 256 MiB). Memory: four times a
 * block; on rank 0 also 16 blocks. */
ikt_status ikt_blocks_write(ikt_context *ctx, const ikt_block_items *items, FILE *file,
                            const char *path);

/* LOCAL. Writes `bytes` bytes of a number, the lowest first; returns what is behind them. */
uint8_t *ikt_put_number(uint8_t *out, uint64_t number, int bytes);

/* LOCAL. The first `bytes` bytes of items that stand `stride` bytes apart, one kind after the
 * other, which deflates better. */
void ikt_arrange_planes(const uint8_t *items, int64_t count, int64_t stride, int64_t bytes,
                        uint8_t *block);

/* --- curve.c: the points of a map as bytes ---------------------------------------------------- */

enum { IKT_POINTS_PER_BLOCK = 1 << 18 };

typedef struct {
    const ikt_rows *rows;
    ikt_viewer_map map;
    ikt_curve_box box;
    uint64_t *code;  /* [rows->count] of the rows */
    uint32_t *row;   /* [rows->count] own rows (from 0) in the order of the curve */
    uint32_t *place; /* [rows->count] their places, ascending */
} ikt_viewer_points;

/* COLLECTIVE. Orders the points. Errors: IKT_ERR_DATA, IKT_ERR_RESOURCE; empty then. */
ikt_status ikt_viewer_points_create(ikt_context *ctx, const ikt_rows *rows,
                                    const ikt_viewer_map *map, ikt_viewer_points *out);
void ikt_viewer_points_destroy(ikt_viewer_points *points);

/* LOCAL. The points as items: code (6 bytes), row (4), z where the map has three dimensions (3). A
 * block holds the bytes of its records one kind after the other: first, highest byte first, the
 * upper 24 bits of the codes as differences to the point before (the first: to 0), then the lower
 * 24; then, lowest byte first, row and z. */
ikt_block_items ikt_viewer_points_items(const ikt_viewer_points *points, const char *name);

/* --- columns.c: what is known of the rows ----------------------------------------------------- */

/* A column with what its legend says. */
typedef struct {
    ikt_colouring colouring; /* classes, and those of the points; empty for numbers and texts */
    int64_t *colour;         /* [n_classes] which colour of the palette each class has */
    double *place;           /* [n_classes * 2] where on the map it is densest */
    ikt_number_range range;  /* of numbers; `missing` also of texts: those that are empty */
    int64_t per_block;       /* items in a block */
    int bytes;               /* of an item; 0: texts */
} ikt_viewer_legend;

/* COLLECTIVE. What the legend of a column says.
 *   map   by which classes that are near on it get colours that differ most
 * Errors: IKT_ERR_DATA (more than 4096 classes), IKT_ERR_RESOURCE. To be freed in any case. */
ikt_status ikt_viewer_legend_learn(ikt_context *ctx, const ikt_rows *rows,
                                   const ikt_viewer_map *map, const ikt_viewer_column *column,
                                   ikt_viewer_legend *out);
void ikt_viewer_legend_free(ikt_viewer_legend *legend);

/* What the items of a column are made of; borrowed. */
typedef struct {
    const ikt_viewer_column *column;
    const ikt_viewer_legend *legend;
    const uint32_t *row; /* of the points */
} ikt_viewer_column_part;

/* LOCAL. The column as items in the order of the points: a class number (1 or 2 bytes), a float (4)
 * or a double (8), bytes of one kind together, the lowest first; or a text with the zero that ends
 * it. */
ikt_block_items ikt_viewer_column_items(const ikt_viewer_column_part *part,
                                        const ikt_viewer_points *points, const char *name);

/* --- pictures.c: pictures of rows ------------------------------------------------------------- */

/* Where not all rows' pictures are wanted, those are taken that stand evenly along the curve of the
 * points, so that every part of the map has some: the k-th of m pictures is that of the row whose
 * place along the curve is floor(k n / m). */

typedef struct {
    int64_t n, count;                /* over all ranks; of this rank */
    int64_t height, width, channels; /* after shrinking */
    int64_t size;                    /* bytes of a picture: height * width * channels */
    int64_t per_block;               /* pictures in a block of the page: about 1 MiB of pixels */
    bool is_scaled;                  /* from floating numbers: least became 0, largest 255 */
    double least, largest;
    uint32_t *place; /* [count] number among the n pictures, ascending; owned */
    uint8_t *pixel;  /* [count * size] owned */
} ikt_pictures;

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
void ikt_pictures_destroy(ikt_pictures *pictures);

/* LOCAL. The pictures as items. */
ikt_block_items ikt_pictures_items(const ikt_pictures *pictures);

/* --- about.c: what the page knows of its data ------------------------------------------------- */

/* Everything that a page holds beside its program; freed as one. */
typedef struct {
    ikt_viewer_points points[IKT_VIEWER_MAPS_MOST];
    int n_maps;
    ikt_viewer_legend *legend; /* [n_columns] */
    ikt_pictures pictures;
} ikt_viewer_parts;

/* LOCAL. Adds a JSON object (docs/view.md names its members). It can stand in a <script> element:
 * what could end that, or begin another, is escaped. */
void ikt_viewer_about(const ikt_viewer_settings *settings, const ikt_viewer_content *content,
                      const ikt_viewer_parts *parts, ikt_text *out);

/* --- the page itself -------------------------------------------------------------------------- */

/* The viewer's page, as the build put it together from page.html, page.css and the scripts
 * (cmake/IktPage.cmake): what stands before the title, from there to the data, and behind them. */

enum { IKT_PAGE_PARTS = 3 };

typedef struct {
    const unsigned char *text; /* [length] UTF-8, without a terminating zero */
    size_t length;
} ikt_page_part;

extern const ikt_page_part ikt_page_parts[IKT_PAGE_PARTS];

#endif
