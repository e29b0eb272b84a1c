/* An embedding as one HTML file.
 *
 * Method: points are sorted along a Z-curve, so that those of any square stand together, and kept
 * in blocks; the page draws from them what is in view (page/tiles.js says how).
 * Advantage: the file holds each point once, no pyramid of pictures, and any classes can be hidden
 * or coloured anew. Disadvantage: all of it is loaded before anything is seen. */
#include "viewer/viewer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/memory.h"
#include "plot/chart.h"
#include "viewer/about.h"
#include "viewer/page.h"

/* Everything a page is made of; freed as one. */
typedef struct {
    const ikt_viewer_settings *settings;
    const ikt_viewer_content *content;
    const char *path;
    ikt_viewer_points points;
    ikt_pictures pictures;
    FILE *file; /* rank 0 */
} page;

static ikt_status check(ikt_context *ctx, const page *p) {
    const int64_t n = p->content->rows->n;
    for (int64_t m = 0; m < p->content->n_marked; m++)
        if (p->content->marked[m] < 0 || p->content->marked[m] >= n)
            return ikt_fail(ctx, IKT_ERR_USAGE,
                            "row %" PRId64
                            " cannot be marked: the embedding has rows 0 to %" PRId64,
                            p->content->marked[m], n - 1);
    if (n <= IKT_VIEWER_ROWS_MOST) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_RESOURCE,
                    "the embedding has %" PRId64 " rows, but a browser holds no more than %d; draw "
                    "a picture instead (iktsne plot), or view a part of the rows",
                    n, IKT_VIEWER_ROWS_MOST);
}

static ikt_status failed(ikt_context *ctx, const page *p) {
    return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be written: %s", p->path, strerror(errno));
}

static bool put_part(const page *p, int part) {
    const ikt_page_part *text = &ikt_page_parts[part];
    return fwrite(text->text, 1, text->length, p->file) == text->length;
}

/* LOCAL, rank 0. The page up to its data. */
static ikt_status put_head(ikt_context *ctx, page *p, const char *temporary) {
    ikt_text title = {ctx, NULL, 0, 0, IKT_OK}, about = {ctx, NULL, 0, 0, IKT_OK};
    ikt_text_add_xml(&title, p->settings->title);
    ikt_viewer_about(p->settings, &p->points, &p->pictures, &about);
    ikt_status st = title.status != IKT_OK ? title.status : about.status;
    if (st == IKT_OK) {
        p->file = fopen(temporary, "wb");
        bool good = p->file && put_part(p, 0) &&
                    fputs(title.data ? title.data : "", p->file) >= 0 && put_part(p, 1) &&
                    fprintf(p->file, "<script type=\"application/json\" id=\"about\">%s</script>\n",
                            about.data) > 0;
        if (!good) st = failed(ctx, p);
    }
    ikt_free(&title.data);
    ikt_free(&about.data);
    return st;
}

/* LOCAL, rank 0. The page's end; closes the file. */
static ikt_status put_end(ikt_context *ctx, page *p, ikt_status st) {
    if (!p->file) return st;
    if (st == IKT_OK && !put_part(p, IKT_PAGE_PARTS - 1)) st = failed(ctx, p);
    if (fclose(p->file) != 0 && st == IKT_OK) st = failed(ctx, p);
    p->file = NULL;
    return st;
}

static void fill_picture(const void *self, int64_t i, uint8_t *item) {
    const ikt_pictures *pictures = self;
    memcpy(item, pictures->pixel + i * pictures->size, (size_t)pictures->size);
}

/* COLLECTIVE. Points, then pictures. */
static ikt_status put_blocks(ikt_context *ctx, const page *p) {
    const ikt_block_items points = ikt_viewer_points_items(&p->points);
    IKT_TRY(ikt_blocks_write(ctx, &points, p->file, p->path));
    if (!p->content->pictures) return IKT_OK;
    const ikt_block_items pictures = {.n = p->pictures.n,
                                      .count = p->pictures.count,
                                      .place = p->pictures.place,
                                      .bytes = p->pictures.size,
                                      .per_block = ikt_pictures_per_block(&p->pictures),
                                      .name = "pictures",
                                      .fill = fill_picture,
                                      .self = &p->pictures};
    return ikt_blocks_write(ctx, &pictures, p->file, p->path);
}

static ikt_status write_file(ikt_context *ctx, page *p) {
    char temporary[IKT_PATH_MAX];
    IKT_TRY(ikt_atomic_begin_stream(ctx, p->path, p->settings->overwrite, temporary));
    ikt_status st = ikt_rank(ctx) == 0 ? put_head(ctx, p, temporary) : IKT_OK;
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = put_blocks(ctx, p);
    return ikt_atomic_end(ctx, p->path, temporary, put_end(ctx, p, st));
}

static ikt_status make(ikt_context *ctx, page *p) {
    const ikt_viewer_content *content = p->content;
    IKT_TRY(ikt_agree(ctx, check(ctx, p)));
    IKT_TRY(ikt_atomic_check_stream(ctx, p->path, p->settings->overwrite));
    IKT_TRY(ikt_viewer_points_create(ctx, content, &p->points));
    if (content->pictures)
        IKT_TRY(ikt_pictures_read(ctx, content->pictures, content->rows, p->points.row,
                                  p->points.place, &p->pictures));
    return write_file(ctx, p);
}

ikt_status ikt_viewer_write(ikt_context *ctx, const ikt_viewer_settings *settings,
                            const ikt_viewer_content *content, const char *path) {
    page p = {.settings = settings, .content = content, .path = path};
    ikt_status st = make(ctx, &p);
    ikt_viewer_points_destroy(&p.points);
    ikt_pictures_destroy(&p.pictures);
    return st;
}
