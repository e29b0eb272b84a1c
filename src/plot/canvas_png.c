/* Pictures as PNG files, by cairo.
 *
 * cairo writes neither texts nor the space of the colours, so chunks of our own go between its
 * first chunk, the header, and the others. */
#include <cairo.h>
#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "iktsne/version.h"
#include "plot/canvas.h"

/* Bytes of the signature and the header, of an integer, and of the name of a chunk. */
enum { HEAD = 33, INTEGER = 4, KIND = 4 };

typedef struct {
    const ikt_canvas_page *texts; /* NULL: none */
    ikt_canvas_put put;
    void *self;
    unsigned int sent; /* bytes of the signature and the header */
    int error;         /* errno of the first failure */
} png;

static void put_integer(unsigned char bytes[INTEGER], uint32_t value) {
    for (int b = 0; b < INTEGER; b++)
        bytes[b] = (unsigned char)(value >> 8 * (INTEGER - 1 - b));
}

/* A chunk: length, kind, the bytes of `head` and of `text`, check sum. */
static bool put_chunk(const png *p, const char *kind, const char *head, size_t head_bytes,
                      const char *text) {
    const size_t bytes = strlen(text);
    unsigned char length[INTEGER], sum[INTEGER];
    uLong crc = crc32(crc32(0, (const Bytef *)kind, KIND), (const Bytef *)head, (uInt)head_bytes);
    put_integer(length, (uint32_t)(head_bytes + bytes));
    put_integer(sum, (uint32_t)crc32(crc, (const Bytef *)text, (uInt)bytes));
    return p->put(p->self, length, sizeof length) && p->put(p->self, kind, KIND) &&
           p->put(p->self, head, head_bytes) && p->put(p->self, text, bytes) &&
           p->put(p->self, sum, sizeof sum);
}

/* tEXt where the text is ASCII: keyword, zero; otherwise iTXt: that, not compressed, no language.
 */
static bool put_text(const png *p, const char *keyword, const char *text) {
    char head[32] = {0};
    const size_t length = strlen(keyword);
    bool is_ascii = true;
    for (const char *at = text; *at; at++)
        is_ascii &= (unsigned char)*at < 0x80;
    memcpy(head, keyword, length);
    return text[0] == '\0' ||
           put_chunk(p, is_ascii ? "tEXt" : "iTXt", head, length + (is_ascii ? 1 : 5), text);
}

static bool put_chunks(const png *p) {
    static const char perceptual[] = {0};
    if (!put_chunk(p, "sRGB", perceptual, sizeof perceptual, "")) return false;
    if (!p->texts) return true;
    return put_text(p, "Software", "iktsne " IKT_VERSION) &&
           put_text(p, "Title", p->texts->title) && put_text(p, "Comment", p->texts->footer) &&
           put_text(p, "Description", p->texts->description);
}

static cairo_status_t on_png(void *closure, const unsigned char *data, unsigned int length) {
    png *p = closure;
    const unsigned int left = HEAD - p->sent, head = length < left ? length : left;
    bool is_good = p->put(p->self, data, head);
    p->sent += head;
    if (is_good && head > 0 && p->sent == HEAD) is_good = put_chunks(p);
    if (is_good) is_good = p->put(p->self, data + head, length - head);
    if (!is_good) p->error = errno;
    return is_good ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

ikt_status ikt_canvas_send_png(ikt_canvas *c, const ikt_canvas_picture *picture, bool with_texts,
                               ikt_canvas_put put, void *self) {
    png p = {.texts = with_texts ? &c->page : NULL, .put = put, .self = self};
    cairo_surface_t *surface = cairo_image_surface_create_for_data(
        (unsigned char *)picture->pixel, CAIRO_FORMAT_RGB24, (int)picture->width,
        (int)picture->height, (int)picture->width * INTEGER);
    const cairo_status_t status = cairo_surface_write_to_png_stream(surface, on_png, &p);
    cairo_surface_destroy(surface);
    if (status == CAIRO_STATUS_SUCCESS) return IKT_OK;
    return ikt_fail(c->ctx, status == CAIRO_STATUS_NO_MEMORY ? IKT_ERR_RESOURCE : IKT_ERR_FILE,
                    "%s cannot be written: %s", c->page.shown,
                    p.error ? strerror(p.error) : cairo_status_to_string(status));
}
