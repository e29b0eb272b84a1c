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
#include <zlib.h>

#include "base/atomic_file.h"
#include "base/comm.h"
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
                     pictures->per_block);
    add_themes(out);
    ikt_text_add(out, "}");
}

/* --- items as blocks of text ------------------------------------------------------------------ */

/* Rounds of as many blocks as there are ranks, at most 16. In a round each of these ranks receives
 * the items of one block from all, arranges, deflates and encodes them, and rank 0 writes the texts
 * in their order. Advantage: bounded memory, and the slowest part, deflate, is shared.
 * Disadvantage: one stream a file, from one rank; it is a few hundred megabytes at most. */
enum { AT_ONCE = 16, PLACE_BYTES = sizeof(uint32_t), NO_ZLIB_HEADER = -15, LEVEL = 6, MEMORY = 8 };

static const char purpose[] = "pages";

/* The work of a round; freed as one. */
typedef struct {
    const ikt_block_items *items;
    int64_t ranks;                        /* that pack a block in a round */
    int64_t first;                        /* block of the round */
    int64_t sent;                         /* items of this rank that have been sent */
    int64_t *send, *receive;              /* [size] records to and from each rank */
    uint8_t *outgoing, *incoming, *block; /* records; records; items in order */
    char *text, *texts;                   /* of this rank's block; on rank 0 of all */
    int64_t length;
} work;

/* The block as text. A block of nothing stays without one. */
static ikt_status pack(ikt_context *ctx, work *w, int64_t count) {
    const int64_t bytes = count * w->items->bytes;
    const int64_t capacity = (int64_t)compressBound((uLong)bytes);
    const uint8_t *from = w->block;
    uint8_t *packed = NULL;
    z_stream z;
    if (count == 0) return IKT_OK;
    if (w->items->arrange) {
        w->items->arrange(w->block, count, w->items->bytes, w->incoming);
        from = w->incoming;
    }
    IKT_TRY(ikt_alloc(ctx, &packed, capacity, 1, purpose));
    memset(&z, 0, sizeof z);
    int end = deflateInit2(&z, LEVEL, Z_DEFLATED, NO_ZLIB_HEADER, MEMORY, Z_DEFAULT_STRATEGY);
    if (end == Z_OK) {
        z.next_in = (Bytef *)(uintptr_t)from; /* zlib reads it only */
        z.avail_in = (uInt)bytes;
        z.next_out = packed;
        z.avail_out = (uInt)capacity;
        end = deflate(&z, Z_FINISH);
        deflateEnd(&z);
    }
    w->length = ikt_base64_length((int64_t)z.total_out);
    ikt_status st = IKT_OK;
    if (end != Z_STREAM_END)
        st = ikt_fail(ctx, IKT_ERR_RESOURCE, "zlib cannot compress a block of %" PRId64 " bytes",
                      bytes);
    if (st == IKT_OK) st = ikt_alloc(ctx, &w->text, w->length, 1, purpose);
    if (st == IKT_OK) ikt_base64(packed, (int64_t)z.total_out, w->text);
    ikt_free(&packed);
    return st;
}

/* COLLECTIVE. The round's items to the ranks that pack them. */
static ikt_status exchange_items(ikt_context *ctx, work *w) {
    const ikt_block_items *items = w->items;
    const int64_t bytes = items->bytes, record = PLACE_BYTES + bytes;
    const int64_t first = (w->first + ikt_rank(ctx)) * items->per_block;
    int64_t count = 0; /* items of this rank's block */
    if (ikt_rank(ctx) < w->ranks && first < items->n) {
        const int64_t left = items->n - first;
        count = left < items->per_block ? left : items->per_block;
    }
    /* This rank's items of the round, from `sent` on, as they ascend; each behind its place. */
    int64_t upto = w->sent;
    memset(w->send, 0, (size_t)ikt_size(ctx) * sizeof *w->send);
    for (; upto < items->count; upto++) {
        const int64_t rank = items->place[upto] / items->per_block - w->first;
        if (rank >= w->ranks) break;
        w->send[rank]++;
    }
    ikt_status st = ikt_alloc(ctx, &w->outgoing, upto - w->sent, (size_t)record, purpose);
    for (int64_t i = w->sent; i < upto && st == IKT_OK; i++) {
        uint8_t *out = w->outgoing + (i - w->sent) * record;
        memcpy(out, &items->place[i], PLACE_BYTES);
        items->fill(items->self, i, out + PLACE_BYTES);
    }
    w->sent = upto;
    IKT_TRY(ikt_agree(ctx, st));
    ikt_exchange_counts(ctx, w->send, w->receive);
    st = ikt_alloc(ctx, &w->incoming, count, (size_t)record, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &w->block, count, (size_t)bytes, purpose);
    IKT_TRY(ikt_agree(ctx, st));
    ikt_exchange(ctx, w->outgoing, w->send, w->incoming, w->receive, (size_t)record);
    for (int64_t k = 0; k < count; k++) { /* received in the order of the ranks */
        uint32_t place;
        memcpy(&place, w->incoming + k * record, PLACE_BYTES);
        memcpy(w->block + (place - first) * bytes, w->incoming + k * record + PLACE_BYTES,
               (size_t)bytes);
    }
    return ikt_agree(ctx, pack(ctx, w, count));
}

/* COLLECTIVE. The round's texts to rank 0 and from there to the file. */
static ikt_status write_round(ikt_context *ctx, work *w, FILE *file, const char *path) {
    int64_t total = 0;
    ikt_gather_counts(ctx, w->length, w->receive);
    for (int r = 0; r < ikt_size(ctx); r++) {
        total += w->receive[r];
        w->send[r] = 0;
        if (ikt_rank(ctx) != 0) w->receive[r] = 0;
    }
    w->send[0] = w->length;
    ikt_status st = ikt_rank(ctx) == 0 ? ikt_alloc(ctx, &w->texts, total, 1, purpose) : IKT_OK;
    IKT_TRY(ikt_agree(ctx, st));
    ikt_exchange(ctx, w->text, w->send, w->texts, w->receive, 1);
    const char *text = w->texts;
    bool good = true;
    for (int64_t r = 0; r < w->ranks && good && file; text += w->receive[r++]) {
        if (w->receive[r] == 0) continue;
        good = fprintf(file, "<script type=\"application/octet-stream\" id=\"%s-%" PRId64 "\">",
                       w->items->name, w->first + r) > 0 &&
               fwrite(text, 1, (size_t)w->receive[r], file) == (size_t)w->receive[r] &&
               fputs("</script>\n", file) >= 0;
    }
    if (!good) st = ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be written: %s", path, strerror(errno));
    return ikt_agree(ctx, st);
}

/* COLLECTIVE. Writes the items of all ranks, in their order, as blocks; ranks pack at the same
 * time.
 *   file   open for writing on rank 0; NULL on the others
 * Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. Memory: four times a block; on rank 0 also 16 blocks. */
static ikt_status write_blocks(ikt_context *ctx, const ikt_block_items *items, FILE *file,
                               const char *path) {
    work w = {.items = items, .ranks = ikt_size(ctx) < AT_ONCE ? ikt_size(ctx) : AT_ONCE};
    ikt_status st = ikt_alloc(ctx, &w.send, ikt_size(ctx), sizeof *w.send, purpose);
    if (st == IKT_OK) st = ikt_alloc(ctx, &w.receive, ikt_size(ctx), sizeof *w.receive, purpose);
    st = ikt_agree(ctx, st);
    for (; w.first * items->per_block < items->n && st == IKT_OK; w.first += w.ranks) {
        st = exchange_items(ctx, &w);
        if (st == IKT_OK) st = write_round(ctx, &w, file, path);
        ikt_free(&w.outgoing);
        ikt_free(&w.incoming);
        ikt_free(&w.block);
        ikt_free(&w.text);
        ikt_free(&w.texts);
        w.length = 0;
    }
    ikt_free(&w.send);
    ikt_free(&w.receive);
    return st;
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
    if (st == IKT_OK) st = write_blocks(ctx, &points, p->file, p->path);
    if (st == IKT_OK && p->content->pictures) {
        const ikt_block_items pictures = {.n = p->pictures.n,
                                          .count = p->pictures.count,
                                          .place = p->pictures.place,
                                          .bytes = p->pictures.size,
                                          .per_block = p->pictures.per_block,
                                          .name = "pictures",
                                          .fill = fill_picture,
                                          .self = &p->pictures};
        st = write_blocks(ctx, &pictures, p->file, p->path);
    }
    if (p->file) {
        if (st == IKT_OK && !put_part(p, IKT_PAGE_PARTS - 1)) st = failed(ctx, p);
        if (fclose(p->file) != 0 && st == IKT_OK) st = failed(ctx, p);
    }
    return ikt_atomic_end(ctx, p->path, temporary, st);
}

ikt_status ikt_viewer_write(ikt_context *ctx, const ikt_viewer_settings *settings,
                            const ikt_viewer_content *content, const char *path) {
    page p = {.settings = settings, .content = content, .path = path};
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
    IKT_TRY(ikt_atomic_check_stream(ctx, path, settings->overwrite));
    ikt_status st = ikt_viewer_points_create(ctx, content, &p.points);
    if (st == IKT_OK && content->pictures)
        st = ikt_pictures_read(ctx, content->pictures, content->rows, p.points.row, p.points.place,
                               &p.pictures);
    if (st == IKT_OK) st = write_file(ctx, &p);
    ikt_viewer_points_destroy(&p.points);
    ikt_pictures_destroy(&p.pictures);
    return st;
}
