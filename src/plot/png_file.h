/* A picture to a PNG file, by libpng.
 *
 * 8-bit RGB, tagged as sRGB, without a time stamp: equal pictures are equal files. */
#ifndef IKT_PLOT_PNG_FILE_H
#define IKT_PLOT_PNG_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "plot/image.h"

/* A text chunk: keyword of at most 79 characters ("Title"), UTF-8 text (tEXt where it is ASCII,
 * iTXt otherwise). */
typedef struct {
    const char *keyword, *text;
} ikt_png_text;

/* LOCAL. Writes the picture as 8-bit RGB to `path`, replacing what is there. Callers give a
 * temporary name of base/atomic_file.h and rename.
 *   shown    name of the final file, for messages
 *   texts    [n_texts]; entries whose text is "" are left out
 * Errors: IKT_ERR_FILE with path and reason, IKT_ERR_RESOURCE. */
ikt_status ikt_png_write(ikt_context *ctx, const char *path, const char *shown,
                         const ikt_image *image, const ikt_png_text *texts, int n_texts);

/* LOCAL. Takes bytes of a PNG file as they come; false, with errno, where it cannot. */
typedef bool (*ikt_png_put)(void *self, const void *bytes, size_t count);

/* LOCAL. Sends the picture, without texts, to `put`. Errors: as above. */
ikt_status ikt_png_send(ikt_context *ctx, const char *shown, const ikt_image *image,
                        ikt_png_put put, void *self);

#endif
