/* An embedding as one HTML file.
 *
 * Method: points are sorted along a Z-curve, so that those of any square stand together, and kept
 * in blocks; the page draws from them what is in view (page/tiles.js says how).
 * Advantage: the file holds each point once, no pyramid of pictures, and any classes can be hidden
 * or coloured anew. Disadvantage: all positions are loaded before anything is seen. */
#include "viewer/viewer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arrays.h"
#include "base/atomic_file.h"
#include "base/memory.h"
#include "viewer/parts.h"

/* Everything a page is made of; freed as one. */
typedef struct {
    const ikt_viewer_settings *settings;
    const ikt_viewer_content *content;
    const char *path;
    ikt_viewer_parts parts;
    FILE *file; /* rank 0 */
} page;

static ikt_status failed(ikt_context *ctx, const page *p) {
    return ikt_atomic_failed(ctx, p->path, NULL);
}

static bool put_part(const page *p, int part) {
    const ikt_page_part *text = &ikt_page_parts[part];
    return fwrite(text->text, 1, text->length, p->file) == text->length;
}

/* LOCAL, rank 0. The page up to its data. */
static ikt_status put_head(ikt_context *ctx, page *p, const char *temporary) {
    ikt_text title = {ctx, NULL, 0, 0, IKT_OK}, about = {ctx, NULL, 0, 0, IKT_OK};
    ikt_text_add_xml(&title, p->settings->title);
    ikt_viewer_about(p->settings, p->content, &p->parts, &about);
    ikt_status st = title.status != IKT_OK ? title.status : about.status;
    if (st == IKT_OK) {
        p->file = ikt_atomic_open(temporary);
        bool good = p->file && put_part(p, 0) &&
                    fputs(title.data ? title.data : "", p->file) >= 0 && put_part(p, 1) &&
                    fprintf(p->file, "<script type=\"application/json\" id=\"about\">%s</script>\n",
                            about.data) > 0;
        if (!good) st = failed(ctx, p);
    }
    ikt_free_all(&title.data, &about.data);
    return st;
}

/* COLLECTIVE. The blocks: points of the maps, columns, pictures. */
static ikt_status write_data(ikt_context *ctx, page *p) {
    static const char *const names[IKT_VIEWER_MAPS_MOST] = {"points", "beside"};
    const ikt_viewer_parts *parts = &p->parts;
    char name[32];
    for (int m = 0; m < parts->n_maps; m++) {
        const ikt_block_items points = ikt_viewer_points_items(&parts->points[m], names[m]);
        IKT_TRY(ikt_blocks_write(ctx, &points, p->file, p->path));
    }
    for (int c = 0; c < p->content->n_columns; c++) {
        const ikt_viewer_column_part part = {&p->content->column[c], &parts->legend[c],
                                             parts->points[0].row};
        snprintf(name, sizeof name, "column-%d", c);
        const ikt_block_items items = ikt_viewer_column_items(&part, &parts->points[0], name);
        IKT_TRY(ikt_blocks_write(ctx, &items, p->file, p->path));
    }
    if (!p->content->pictures) return IKT_OK;
    const ikt_block_items pictures = ikt_pictures_items(&parts->pictures);
    return ikt_blocks_write(ctx, &pictures, p->file, p->path);
}

/* COLLECTIVE. Head, data, end. */
static ikt_status write_file(ikt_context *ctx, page *p) {
    char temporary[IKT_PATH_MAX];
    IKT_TRY(ikt_atomic_begin_stream(ctx, p->path, p->settings->overwrite, temporary));
    ikt_status st = ikt_rank(ctx) == 0 ? put_head(ctx, p, temporary) : IKT_OK;
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = write_data(ctx, p);
    if (p->file) {
        if (st == IKT_OK && !put_part(p, IKT_PAGE_PARTS - 1)) st = failed(ctx, p);
        if (fclose(p->file) != 0 && st == IKT_OK) st = failed(ctx, p);
    }
    return ikt_atomic_end(ctx, p->path, temporary, st);
}

/* COLLECTIVE. The order of the points, the legends, the pictures. */
static ikt_status make_parts(ikt_context *ctx, const ikt_viewer_content *content,
                             ikt_viewer_parts *parts) {
    const ikt_viewer_map own = {"", content->q, content->y};
    parts->n_maps = content->beside ? 2 : 1;
    for (int m = 0; m < parts->n_maps; m++)
        IKT_TRY(ikt_viewer_points_create(ctx, content->rows, m == 0 ? &own : content->beside,
                                         &parts->points[m]));
    IKT_TRY(ikt_alloc_all(ctx, &parts->legend, content->n_columns, sizeof *parts->legend, "page"));
    for (int c = 0; c < content->n_columns; c++)
        IKT_TRY(ikt_viewer_legend_learn(ctx, content->rows, &own, &content->column[c],
                                        &parts->legend[c]));
    if (!content->pictures) return IKT_OK;
    return ikt_pictures_read(ctx, content->pictures, content->rows, parts->points[0].row,
                             parts->points[0].place, &parts->pictures);
}

static void free_parts(const ikt_viewer_content *content, ikt_viewer_parts *parts) {
    for (int m = 0; m < parts->n_maps; m++)
        ikt_viewer_points_destroy(&parts->points[m]);
    for (int c = 0; c < content->n_columns && parts->legend; c++)
        ikt_viewer_legend_free(&parts->legend[c]);
    ikt_free(&parts->legend);
    ikt_pictures_destroy(&parts->pictures);
}

/* LOCAL. Numbers that texts tell become a column that gives the colours and one that is told.
 *   out   [2 * given->n_columns]; receives those of the page
 * Returns how many there are. */
static int part_columns(const ikt_viewer_content *given, ikt_viewer_column *out) {
    int count = 0;
    for (int c = 0; c < given->n_columns; c++) {
        ikt_viewer_column colours = given->column[c], told = given->column[c];
        const bool has_both = colours.values && told.texts;
        colours.texts = NULL;
        colours.use = IKT_VIEWER_UNTOLD;
        if (has_both) {
            told.values = NULL;
            if (told.use == IKT_VIEWER_BOTH) told.use = IKT_VIEWER_HOVER;
            if (given->column[c].use != IKT_VIEWER_HOVER) out[count++] = colours;
        }
        out[count++] = told;
    }
    return count;
}

ikt_status ikt_viewer_write(ikt_context *ctx, const ikt_viewer_settings *settings,
                            const ikt_viewer_content *given, const char *path) {
    ikt_viewer_column column[2 * IKT_VIEWER_COLUMNS_MOST];
    ikt_viewer_content own = *given;
    const ikt_viewer_content *content = &own;
    page p = {.settings = settings, .content = content, .path = path};
    const int64_t n = content->rows->n;
    own.n_columns = part_columns(given, column);
    own.column = column;
    for (int64_t m = 0; m < content->n_marked; m++)
        if (content->marked[m] < 0 || content->marked[m] >= n)
            return ikt_fail(ctx, IKT_ERR_USAGE,
                            "row %" PRId64
                            " cannot be marked: the embedding has rows 0 to %" PRId64,
                            content->marked[m], n - 1);
    if (n > IKT_VIEWER_ROWS_MOST)
        return ikt_fail(ctx, IKT_ERR_RESOURCE,
                        "the embedding has %" PRId64 " rows, but a browser holds no more than %d; "
                        "draw a picture instead (iktsne plot), or view a part of the rows",
                        n, IKT_VIEWER_ROWS_MOST);
    ikt_context *claims IKT_AT_END(ikt_part_unclaim) = ctx;
    IKT_TRY(ikt_atomic_check_stream(ctx, path, settings->overwrite));
    ikt_status st = make_parts(ctx, content, &p.parts);
    if (st == IKT_OK) st = write_file(ctx, &p);
    free_parts(content, &p.parts);
    return st;
}
