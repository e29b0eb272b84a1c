/* An embedding as one HTML file.
 *
 * Method: points are sorted along a Z-curve, so that those of any square stand together, and kept
 * in blocks; the page draws from them what is in view (page/tiles.js says how).
 * Advantage: the file holds each point once, no pyramid of pictures, and any classes can be hidden
 * or coloured anew. Disadvantage: all of it is loaded before anything is seen. */
#include "viewer/viewer.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/encoding.h"
#include "base/memory.h"
#include "config/value.h"
#include "viewer/parts.h"

/* --- what the page knows of its data ---------------------------------------------------------- */

enum { RAMP_STEPS = 64, FORMAT_VERSION = 1 };

/* The first `count` bytes of the text in quotes. `<` could end the element that the object stands
 * in, or begin a comment. */
static void add_part(ikt_text *out, const char *text, int64_t count) {
    const char *end = text + count;
    char bytes[5];
    ikt_text_add(out, "\"");
    for (uint32_t point; text < end && (point = ikt_utf8_next(&text)) != 0 && text <= end;) {
        ikt_utf8_encode(point, bytes);
        if (point == '"' || point == '\\')
            ikt_text_add(out, "\\%s", bytes);
        else if (point < 32 || point == 0x7f || strchr("<>&", bytes[0]) || point == 0x2028 ||
                 point == 0x2029)
            ikt_text_add(out, "\\u%04x", (unsigned)point);
        else
            ikt_text_add(out, "%s", bytes);
    }
    ikt_text_add(out, "\"");
}

static void add_text(ikt_text *out, const char *name, const char *text) {
    ikt_text_add(out, "\"%s\":", name);
    add_part(out, text, (int64_t)strlen(text));
    ikt_text_add(out, ",");
}

static void add_number(ikt_text *out, const char *name, double number) {
    if (isfinite(number))
        ikt_text_add(out, "\"%s\":%.17g,", name, number);
    else
        ikt_text_add(out, "\"%s\":null,", name);
}

static void add_colour(ikt_text *out, ikt_rgb colour) {
    ikt_text_add(out, "\"#%02x%02x%02x\",", colour.r, colour.g, colour.b);
}

/* Lists end with a comma that JSON does not allow. */
static void end_list(ikt_text *out, const char *bracket) {
    if (out->data && out->data[out->length - 1] == ',') out->data[--out->length] = '\0';
    ikt_text_add(out, "%s", bracket);
}

/* Line `number` of the text and its length; NULL where there is none or it is empty. */
static const char *line_of(const char *text, int64_t number, int64_t *length) {
    if (!text || number < 0) return NULL;
    for (; number > 0 && text; number--) {
        text = strchr(text, '\n');
        if (text) text++;
    }
    *length = text ? (int64_t)strcspn(text, "\r\n") : 0;
    return *length > 0 ? text : NULL;
}

static void add_column(ikt_text *out, const ikt_viewer_column *column,
                       const ikt_viewer_legend *legend) {
    const ikt_colouring *classes = &legend->colouring;
    ikt_text_add(out, "\n{");
    add_text(out, "name", column->name);
    ikt_text_add(out, "\"bytes\":%d,", legend->bytes);
    if (column->values) {
        add_number(out, "least", legend->least);
        add_number(out, "largest", legend->largest);
        add_number(out, "leastAboveZero", legend->least_above_zero);
        ikt_text_add(out, "\"missing\":%" PRId64 "},", legend->missing);
        return;
    }
    ikt_text_add(out, "\"classes\":[");
    for (int64_t c = 0; c < classes->n_classes; c++) {
        int64_t length = 0;
        const char *name = line_of(column->names, classes->classes[c].label, &length);
        ikt_text_add(out, "[%" PRId64 ",%" PRId64 ",", classes->classes[c].label,
                     classes->classes[c].count);
        add_colour(out, ikt_palette_class(c, classes->n_classes, false));
        add_colour(out, ikt_palette_class(c, classes->n_classes, true));
        if (name) add_part(out, name, length);
        end_list(out, "],");
    }
    end_list(out, "]},");
}

static void add_themes(ikt_text *out) {
    ikt_text_add(out, "\n\"themes\":[");
    for (int black = 0; black < 2; black++) {
        const ikt_theme theme = ikt_theme_get(black);
        ikt_text_add(out, "{\"plain\":");
        add_colour(out, theme.plain);
        ikt_text_add(out, "\"missing\":");
        add_colour(out, theme.missing);
        ikt_text_add(out, "\"ramp\":[");
        for (int step = 0; step < RAMP_STEPS; step++)
            add_colour(out, ikt_palette_value((double)step / (RAMP_STEPS - 1), black));
        end_list(out, "]},");
    }
    end_list(out, "]");
}

/* Adds what the page knows of its data, as a JSON object (docs/view.md names its members). It can
 * stand in a <script> element: what could end that, or begin another, is escaped. */
static void add_about(const ikt_viewer_settings *settings, const ikt_viewer_points *points,
                      const ikt_pictures *pictures, ikt_text *out) {
    const ikt_viewer_content *content = points->content;
    const ikt_block_items items = ikt_viewer_points_items(points);
    ikt_text_add(out, "{\"format\":\"iktsne-view\",\"version\":%d,", FORMAT_VERSION);
    ikt_text_add(out, "\"rows\":%" PRId64 ",\"dimensions\":%d,\"block\":%" PRId64 ",", items.n,
                 content->q, items.per_block);
    add_text(out, "title", settings->title);
    add_text(out, "note", settings->note);
    ikt_text_add(out, "\"corner\":[%.17g,%.17g,%.17g],", points->box.corner[0],
                 points->box.corner[1], points->box.corner[2]);
    add_number(out, "side", points->box.side);
    ikt_text_add(out, "\"black\":%s,\"marked\":[", settings->black ? "true" : "false");
    for (int64_t m = 0; m < content->n_marked; m++)
        ikt_text_add(out, "%" PRId64 ",", content->marked[m]);
    end_list(out, "],\n");
    ikt_text_add(out, "\"columns\":[");
    for (int c = 0; c < content->n_columns; c++)
        add_column(out, &content->column[c], &points->legend[c]);
    end_list(out, "],");
    if (content->pictures)
        ikt_text_add(out,
                     "\n\"pictures\":{\"count\":%" PRId64 ",\"height\":%" PRId64
                     ",\"width\":%" PRId64 ",\"channels\":%" PRId64 ",\"block\":%" PRId64 "},",
                     pictures->n, pictures->height, pictures->width, pictures->channels,
                     ikt_pictures_per_block(pictures));
    add_themes(out);
    ikt_text_add(out, "}");
}

/* --- the file --------------------------------------------------------------------------------- */

/* Everything a page is made of; freed as one. */
typedef struct {
    const ikt_viewer_settings *settings;
    const ikt_viewer_content *content;
    const char *path;
    ikt_viewer_points points;
    ikt_pictures pictures;
    FILE *file; /* rank 0 */
} page;

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
    add_about(p->settings, &p->points, &p->pictures, &about);
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

static void fill_picture(const void *self, int64_t i, uint8_t *item) {
    const ikt_pictures *pictures = self;
    memcpy(item, pictures->pixel + i * pictures->size, (size_t)pictures->size);
}

/* COLLECTIVE. Head, points, pictures, end. */
static ikt_status write_file(ikt_context *ctx, page *p) {
    char temporary[IKT_PATH_MAX];
    const ikt_block_items points = ikt_viewer_points_items(&p->points);
    IKT_TRY(ikt_atomic_begin_stream(ctx, p->path, p->settings->overwrite, temporary));
    ikt_status st = ikt_rank(ctx) == 0 ? put_head(ctx, p, temporary) : IKT_OK;
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = ikt_blocks_write(ctx, &points, p->file, p->path);
    if (st == IKT_OK && p->content->pictures) {
        const ikt_block_items pictures = {.n = p->pictures.n,
                                          .count = p->pictures.count,
                                          .place = p->pictures.place,
                                          .bytes = p->pictures.size,
                                          .per_block = ikt_pictures_per_block(&p->pictures),
                                          .name = "pictures",
                                          .fill = fill_picture,
                                          .self = &p->pictures};
        st = ikt_blocks_write(ctx, &pictures, p->file, p->path);
    }
    if (p->file) {
        if (st == IKT_OK && !put_part(p, IKT_PAGE_PARTS - 1)) st = failed(ctx, p);
        if (fclose(p->file) != 0 && st == IKT_OK) st = failed(ctx, p);
    }
    return ikt_atomic_end(ctx, p->path, temporary, st);
}

static ikt_status make(ikt_context *ctx, page *p) {
    const ikt_viewer_content *content = p->content;
    const int64_t n = content->rows->n;
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
