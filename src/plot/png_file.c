/* A picture to a PNG file.
 *
 * libpng reports errors by longjmp. The jump is confined to one function whose variables do not
 * change after setjmp; the message travels in the error pointer. */
#include "plot/png_file.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { REASON_MAX = 200, TEXTS_MAX = 8, COMPRESSION = 6 };

typedef struct {
    ikt_png_put put;
    void *self;
    char reason[REASON_MAX];
} sink;

static void on_error(png_structp png, png_const_charp message) {
    sink *s = png_get_error_ptr(png);
    if (s->reason[0] == '\0') snprintf(s->reason, REASON_MAX, "%s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) {
    (void)png, (void)message; /* nothing that libpng warns of when writing harms the file */
}

static void on_write(png_structp png, png_bytep data, png_size_t bytes) {
    sink *s = png_get_io_ptr(png);
    if (s->put(s->self, data, bytes)) return;
    snprintf(s->reason, REASON_MAX, "%s", strerror(errno));
    png_error(png, "writing failed");
}

static void on_flush(png_structp png) {
    (void)png; /* fclose flushes, and its result is checked */
}

static bool is_ascii(const char *text) {
    while (*text != '\0' && (unsigned char)*text < 0x80)
        text++;
    return *text == '\0';
}

static void set_texts(png_structp png, png_infop info, const ikt_png_text *texts, int n_texts) {
    png_text chunks[TEXTS_MAX];
    int count = 0;
    for (int i = 0; i < n_texts && count < TEXTS_MAX; i++) {
        if (texts[i].text[0] == '\0') continue;
        bool ascii = is_ascii(texts[i].text);
        size_t length = strlen(texts[i].text);
        memset(&chunks[count], 0, sizeof chunks[count]);
        chunks[count].compression = ascii ? PNG_TEXT_COMPRESSION_NONE : PNG_ITXT_COMPRESSION_NONE;
        /* libpng takes them without const but only copies them. */
        memcpy(&chunks[count].key, &texts[i].keyword, sizeof chunks[count].key);
        memcpy(&chunks[count].text, &texts[i].text, sizeof chunks[count].text);
        if (ascii)
            chunks[count].text_length = length;
        else
            chunks[count].itxt_length = length;
        count++;
    }
    if (count > 0) png_set_text(png, info, chunks, count);
}

/* 0 when everything was handed to the file, 1 after a jump from on_error. */
static int encode(png_structp png, png_infop info, const ikt_image *image,
                  const ikt_png_text *texts, int n_texts) {
    if (setjmp(png_jmpbuf(png))) return 1;
    png_set_compression_level(png, COMPRESSION);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
    png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height, 8,
                 PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    set_texts(png, info, texts, n_texts);
    png_write_info(png, info);
    for (int64_t row = 0; row < image->height; row++)
        png_write_row(png, (png_const_bytep)(image->pixel + row * image->width));
    png_write_end(png, info);
    return 0;
}

static ikt_status write_open(ikt_context *ctx, sink *s, const char *shown, const ikt_image *image,
                             const ikt_png_text *texts, int n_texts) {
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, s, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        png_destroy_write_struct(&png, NULL);
        return ikt_fail(ctx, IKT_ERR_RESOURCE, "%s: out of memory for libpng", shown);
    }
    png_set_write_fn(png, s, on_write, on_flush);
    int failed = encode(png, info, image, texts, n_texts);
    png_destroy_write_struct(&png, &info);
    if (failed) return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be written: %s", shown, s->reason);
    return IKT_OK;
}

ikt_status ikt_png_send(ikt_context *ctx, const char *shown, const ikt_image *image,
                        ikt_png_put put, void *self) {
    sink s = {put, self, ""};
    return write_open(ctx, &s, shown, image, NULL, 0);
}

static bool put_in_file(void *self, const void *bytes, size_t count) {
    return fwrite(bytes, 1, count, self) == count;
}

ikt_status ikt_png_write(ikt_context *ctx, const char *path, const char *shown,
                         const ikt_image *image, const ikt_png_text *texts, int n_texts) {
    _Static_assert(sizeof(ikt_rgb) == 3, "a row of pixels is a row of a PNG file");
    FILE *file = fopen(path, "wb");
    sink s = {put_in_file, file, ""};
    if (!file)
        return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be written: %s", shown, strerror(errno));
    ikt_status st = write_open(ctx, &s, shown, image, texts, n_texts);
    if (fclose(file) != 0 && st == IKT_OK)
        st = ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be written: %s", shown, strerror(errno));
    return st;
}
