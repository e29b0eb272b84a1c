/* An embedding as one HTML file in which a browser pans and zooms.
 *
 * The file loads nothing: style, program and data are in it, and its content security policy allows
 * no other script (docs/view.md describes it, and the form of the data). Its bytes are the same for
 * any number of ranks.
 */
#ifndef IKT_VIEWER_VIEWER_H
#define IKT_VIEWER_VIEWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"

/* The most rows that a browser can be expected to hold, the most columns, and maps. */
enum { IKT_VIEWER_ROWS_MOST = 1 << 25, IKT_VIEWER_COLUMNS_MOST = 256, IKT_VIEWER_MAPS_MOST = 2 };

/* Pictures of the rows, read from the data. */
typedef struct {
    const char *path, *dataset;
    int64_t height, width, channels; /* of a row's picture; channels 1 or 3, the last to vary */
    int64_t shrink;                  /* squares of this side become one pixel, their mean */
    int64_t most;                    /* pictures */
} ikt_picture_settings;

/* What a column is for: to colour the points by, to be read of a point that is pointed at, or, what
 * zeroed memory says, both. Texts give no colours. */
typedef enum {
    IKT_VIEWER_BOTH,
    IKT_VIEWER_COLOUR, /* told as well while it gives the colours */
    IKT_VIEWER_HOVER,
    IKT_VIEWER_UNTOLD /* colours alone: what a file says of numbers that texts tell */
} ikt_viewer_use;

/* Something known of every row: classes, numbers or texts. Everything is borrowed. */
typedef struct {
    const char *name;         /* UTF-8 */
    const int64_t *labels;    /* [rows->count] classes, or NULL on all ranks */
    const double *values;     /* [rows->count] numbers, or NULL on all ranks */
    const char *names;        /* of the classes: line k (from 0) names class k; NULL: none */
    const char *const *texts; /* [rows->count] UTF-8 of any length, or NULL on all ranks. One of the
                                 three is given, or numbers and the texts that tell them in full */
    const int32_t *colours;   /* [n_colours] of class k: 0xRRGGBB, negative: none; NULL: none */
    int64_t n_colours;
    ikt_viewer_use use;
} ikt_viewer_column;

/* Another map of the same rows, shown beside the first. */
typedef struct {
    const char *name; /* UTF-8 */
    int q;            /* dimensions: 1, 2 or 3 */
    const float *y;   /* [rows->count * q] */
} ikt_viewer_map;

typedef struct {
    const ikt_rows *rows;            /* which rows this rank has */
    int q;                           /* dimensions: 1, 2 or 3 */
    const float *y;                  /* [rows->count * q] */
    const ikt_viewer_map *beside;    /* NULL: none */
    const ikt_viewer_column *column; /* [n_columns] */
    int n_columns;
    const int64_t *marked; /* [n_marked] rows shown with a cross, the same on all ranks */
    int64_t n_marked;
    const ikt_picture_settings *pictures; /* NULL: none */
} ikt_viewer_content;

/* The background that the page begins with; zeroed memory says that of the reader's system. */
typedef enum { IKT_VIEWER_SYSTEM, IKT_VIEWER_WHITE, IKT_VIEWER_BLACK } ikt_viewer_ground;

typedef struct {
    const char *title, *note; /* UTF-8: above the map, and small below it; "" for none */
    ikt_viewer_ground ground;
    bool overwrite; /* replace a file of that name */
} ikt_viewer_settings;

/* COLLECTIVE. Writes the file (beside its name, renamed). Memory per rank: 80 bytes a row,
 * and two for each column of classes; what parts.h says of curve and pictures; and four blocks (on
 * rank 0 also 16 blocks as text). Errors:
 * IKT_ERR_USAGE (a marked row that does not exist, the pictures' shape), IKT_ERR_DATA (coordinates
 * not finite, with the row; more than 4096 classes), IKT_ERR_FILE, IKT_ERR_RESOURCE (more than
 * IKT_VIEWER_ROWS_MOST rows). */
ikt_status ikt_viewer_write(ikt_context *ctx, const ikt_viewer_settings *settings,
                            const ikt_viewer_content *content, const char *path);

#endif
