/* Shapes, letters, discs and the PNG file, each alone. */
#include "support/ikt_test.h"

#include <math.h>
#include <png.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "config/key.h"
#include "plot/canvas.h"
#include "plot/density.h"
#include "plot/figure.h"

static const ikt_rgb white = {255, 255, 255}, black = {0, 0, 0};

#define DESCENT 0.4 /* of letters below the baseline, in capital heights */

enum { PIXELS_MOST = 40 * 30 };

/* A canvas of a PNG file, and what is in that file, which is removed. */
static void begin(ikt_context *ctx, int64_t width, int64_t height, char path[64],
                  ikt_canvas *canvas) {
    snprintf(path, 64, "plot-draw-%ld.png", (long)getpid());
    const ikt_canvas_page page = {.path = path,
                                  .shown = path,
                                  .width = width,
                                  .height = height,
                                  .dpi = 200,
                                  .background = white,
                                  .title = "psi \317\210",
                                  .footer = "",
                                  .description = "me"};
    assert_int_equal(ikt_canvas_open(ctx, IKT_CANVAS_PNG, &page, canvas), IKT_OK);
}

static void end(ikt_canvas *canvas, const char *path, ikt_rgb *pixel) {
    const int64_t width = canvas->page.width, height = canvas->page.height;
    assert_int_equal(ikt_canvas_finish(canvas), IKT_OK);
    ikt_canvas_close(canvas);
    png_image file;
    memset(&file, 0, sizeof file);
    file.version = PNG_IMAGE_VERSION;
    assert_true(png_image_begin_read_from_file(&file, path));
    assert_int_equal(file.width, width);
    assert_int_equal(file.height, height);
    assert_int_equal(file.format, PNG_FORMAT_RGB);
    assert_true(width * height <= PIXELS_MOST);
    assert_true(png_image_finish_read(&file, NULL, pixel, 0, NULL));
    assert_int_equal(remove(path), 0);
}

static int64_t dark_pixels(const ikt_rgb *pixel, int64_t pixels) {
    int64_t count = 0;
    for (int64_t i = 0; i < pixels; i++)
        count += pixel[i].r < 128;
    return count;
}

static void shapes_are_clipped_at_the_borders(void **state) {
    ikt_context *ctx = *state;
    ikt_canvas canvas;
    ikt_rgb pixel[PIXELS_MOST];
    char path[64];
    begin(ctx, 10, 8, path, &canvas);
    ikt_canvas_fill(&canvas, -5, -5, 7, 7, black); /* four pixels */
    ikt_canvas_fill(&canvas, 9, 7, 100, 100, black);
    ikt_canvas_fill(&canvas, 20, 20, 3, 3, black);
    ikt_canvas_fill(&canvas, 3, 3, -2, 5, black);
    const ikt_segment dots[] = {{-50, 4, -50, 4}, {1e6, 1e6, 1e6, 1e6}};
    ikt_canvas_stroke(&canvas, dots, 2, 3, black);
    ikt_canvas_text(&canvas, "far away", 400, -300, 12, false, black);
    end(&canvas, path, pixel);
    assert_int_equal(dark_pixels(pixel, 80), 5);
    begin(ctx, 10, 8, path, &canvas);
    const ikt_segment line = {2, 4.5, 8, 4.5};
    ikt_canvas_stroke(&canvas, &line, 1, 1, black); /* one row of pixels, and the round ends */
    end(&canvas, path, pixel);
    assert_int_equal(dark_pixels(pixel, 80), 6);
    assert_int_equal(pixel[4 * 10 + 5].r, 0);
    assert_int_equal(pixel[3 * 10 + 5].r, 255);
    assert_int_equal(ikt_memory_now(ctx), 0);
}

/* The strokes of a character of size 1; returns how many there are. */
static int glyph_of(char character, ikt_segment *segments) {
    const char text[2] = {character, '\0'}, *at = text;
    double x = -1.5 / 12; /* the empty space to the left of every character */
    const int count = ikt_font_place(&at, &x, 0, 1, segments);
    ikt_segment none[IKT_GLYPH_SEGMENTS];
    assert_int_equal(ikt_font_place(&at, &x, 0, 1, none), -1);
    return count;
}

static void every_printable_character_has_its_own_picture(void **state) {
    (void)state;
    enum { FIRST = 33, LAST = 126 };
    static ikt_segment glyph[LAST + 1][IKT_GLYPH_SEGMENTS];
    int count[LAST + 1];
    ikt_segment none[IKT_GLYPH_SEGMENTS];
    assert_int_equal(glyph_of(' ', none), 0);
    for (int c = FIRST; c <= LAST; c++) {
        count[c] = glyph_of((char)c, glyph[c]);
        assert_in_range(count[c], 1, IKT_GLYPH_SEGMENTS - 1); /* none was cut */
        char text[2] = {(char)c, '\0'};
        double width = ikt_font_width(text, 1);
        for (int i = 0; i < count[c]; i++) {
            const ikt_segment *s = &glyph[c][i];
            assert_true(s->y0 >= -1.15 && s->y1 >= -1.15); /* parentheses rise above capitals */
            assert_true(s->y0 <= DESCENT && s->y1 <= DESCENT);
            assert_true(s->x0 >= -0.06 && s->x1 >= -0.06);
            assert_true(s->x0 < width - 0.15 && s->x1 < width - 0.15);
        }
        for (int other = FIRST; other < c; other++)
            assert_false(count[other] == count[c] &&
                         memcmp(glyph[other], glyph[c], (size_t)count[c] * sizeof **glyph) == 0);
    }
    /* Digits are of one width, so that counts stand in columns. */
    for (char digit = '1'; digit <= '9'; digit++) {
        char text[2] = {digit, '\0'};
        assert_true(ikt_font_width(text, 1) == ikt_font_width("0", 1));
    }
}

/* Two different letters of any script differ in pixels from each other, and from the box of what is
 * no character; where no font has a letter, the canvas says so. */
static void letters_of_other_scripts_are_drawn(void **state) {
    static const char *const letters[] = {"\377", "u", "ü", "ů", "u\314\201", "i", "ï", "ı", "L",
                                          "Ł",    "l", "ł", "o", "ó",         "ø", "z", "ź", "ż",
                                          "ş",    "ș", "ß", "α", "β",         "μ", "Ω", "ω", "Ж",
                                          "ж",    "Й", "й", "я", "б",         "א", "ב", "細"};
    enum { COUNT = sizeof letters / sizeof *letters };
    static ikt_rgb pixel[COUNT][PIXELS_MOST];
    bool is_box[COUNT];
    for (int k = 0; k < COUNT; k++) {
        char path[64];
        ikt_canvas canvas;
        begin(*state, 40, 30, path, &canvas);
        ikt_canvas_text(&canvas, letters[k], 8, 22, 14, false, black);
        is_box[k] = canvas.boxes[0] != '\0';
        assert_true(!is_box[k] || !ikt_font_has(letters[k]));
        assert_true(!is_box[k] || strstr(canvas.boxes, letters[k]));
        canvas.boxes[0] = '\0';
        end(&canvas, path, pixel[k]);
        assert_true(dark_pixels(pixel[k], PIXELS_MOST) > 5);
        for (int other = 0; other < k && !is_box[k]; other++)
            assert_true(memcmp(pixel[other], pixel[k], sizeof *pixel) != 0);
    }
    assert_true(ikt_font_has("Zürich, naïve T, α-cell, Łódź, Жук") && !ikt_font_has("細"));
}

static void text_is_cut_between_characters(void **state) {
    (void)state;
    char out[64];
    double all = ikt_font_width("classes", 10);
    ikt_font_fit("classes", 10, all, out, sizeof out);
    assert_string_equal(out, "classes");
    ikt_font_fit("classes", 10, all - 1, out, sizeof out);
    assert_non_null(strstr(out, "..."));
    assert_true(ikt_font_width(out, 10) <= all - 1);
    /* Of several bytes a character: one box each, and never half of one. */
    assert_true(ikt_font_width("\340\270\201", 10) == ikt_font_width("\377", 10));
    assert_true(ikt_font_width("\001", 10) == 0); /* control characters are left out */
    ikt_font_fit("\303\251\303\251\303\251\303\251", 10, 1000, out, 8);
    assert_string_equal(out, "\303\251\303\251...");
    ikt_font_fit("", 10, 5, out, sizeof out);
    assert_string_equal(out, "");
}

static void counts_have_separators(void **state) {
    (void)state;
    static const struct {
        int64_t count;
        const char *text;
    } cases[] = {{0, "0"},
                 {999, "999"},
                 {1000, "1,000"},
                 {-123456, "-123,456"},
                 {1234567, "1,234,567"},
                 {INT64_MAX, "9,223,372,036,854,775,807"}};
    char out[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ikt_count_text(cases[i].count, out);
        assert_string_equal(out, cases[i].text);
    }
}

static void a_disc_covers_its_area_wherever_it_lies(void **state) {
    ikt_context *ctx = *state;
    static const double radii[] = {0.3, 0.65, 1, 3.5, 12.25};
    for (size_t r = 0; r < sizeof radii / sizeof *radii; r++) {
        ikt_stamp stamp;
        assert_int_equal(ikt_stamp_create(ctx, radii[r], &stamp), IKT_OK);
        int64_t cells = stamp.size * stamp.size, phases = IKT_VIEW_PHASES * IKT_VIEW_PHASES;
        double area = acos(-1) * radii[r] * radii[r];
        for (int64_t p = 0; p < phases; p++) {
            double sum = 0;
            for (int64_t i = 0; i < cells; i++)
                sum += stamp.cover[p * cells + i];
            assert_true(fabs(sum / IKT_COVER_FULL - area) < 0.02 * area + 0.005);
        }
        ikt_stamp_destroy(&stamp);
    }
}

/* Sums of a view of SIDE pixels without margin over 0 <= x, y <= SIDE. */
enum { SIDE = 16 };

static void raster(ikt_context *ctx, double radius, const float *y, int64_t n,
                   ikt_pixel_sum *sums) {
    const ikt_view view = {SIDE / 2.0, SIDE / 2.0, IKT_VIEW_PHASES, SIDE};
    const ikt_linear colour = {100, 200, 300};
    const ikt_raster_points points = {n, y, NULL, &colour};
    ikt_stamp stamp;
    assert_int_equal(ikt_stamp_create(ctx, radius, &stamp), IKT_OK);
    memset(sums, 0, SIDE * SIDE * sizeof *sums);
    for (int64_t row = 0; row < SIDE; row += 5) /* bands that do not divide the side */
        ikt_raster_band(ctx, &view, &stamp, &points, row, row + 5 > SIDE ? SIDE - row : 5,
                        sums + row * SIDE);
    ikt_stamp_destroy(&stamp);
}

static int64_t cover_of(const ikt_pixel_sum *sums) {
    int64_t total = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        assert_int_equal(sums[i].r, 100 * sums[i].cover);
        assert_int_equal(sums[i].g, 200 * sums[i].cover);
        assert_int_equal(sums[i].b, 300 * sums[i].cover);
        total += sums[i].cover;
    }
    return total;
}

static void one_point_covers_the_right_pixels(void **state) {
    ikt_context *ctx = *state;
    static ikt_pixel_sum sums[SIDE * SIDE];
    const float centre[2] = {5.45f, 12.45f}; /* column 5; row 16 - 13 = 3 */
    raster(ctx, 0.5, centre, 1, sums);
    /* All but two slivers a sixteenth of a pixel high: (pi / 4 - 2 * 0.021) * 255. */
    assert_in_range(sums[3 * SIDE + 5].cover, 186, 193);
    assert_true(llabs(cover_of(sums) - 200) < 6); /* pi / 4 of a pixel */
    raster(ctx, 2.5, centre, 1, sums);
    assert_int_equal(sums[3 * SIDE + 5].cover, IKT_COVER_FULL);
    const float opposite[2] = {SIDE - 5.45f, SIDE - 12.45f}; /* the picture turned by 180 degrees */
    static ikt_pixel_sum turned[SIDE * SIDE];
    raster(ctx, 2.5, opposite, 1, turned);
    for (int i = 0; i < SIDE * SIDE; i++)
        assert_true(llabs(sums[i].cover - turned[SIDE * SIDE - 1 - i].cover) <= 1);
    assert_int_equal(sums[3 * SIDE + 9].cover, 0);
    int64_t once = cover_of(sums);
    const float twice[4] = {5.45f, 12.45f, 5.45f, 12.45f};
    raster(ctx, 2.5, twice, 2, sums);
    assert_int_equal(cover_of(sums), 2 * once);
}

static void points_are_clipped_at_the_borders(void **state) {
    ikt_context *ctx = *state;
    static ikt_pixel_sum sums[SIDE * SIDE];
    const float corner[2] = {0, 0};
    raster(ctx, 3, corner, 1, sums);
    double quarter = acos(-1) * 9 / 4 * IKT_COVER_FULL;
    assert_true(fabs((double)cover_of(sums) - quarter) < 0.05 * quarter + 400);
    assert_int_equal(sums[15 * SIDE].cover, IKT_COVER_FULL);
    const float outside[] = {-4, 5, 20, 5, 5, -4, 5, 20, 3e38f, -3e38f, -3e38f, 3e38f, 0, 3e38f};
    raster(ctx, 3, outside, 7, sums);
    assert_int_equal(cover_of(sums), 0);
}

static void dense_pixels_are_more_opaque(void **state) {
    (void)state;
    enum { COUNT = 400 };
    static ikt_shaded pixels[COUNT];
    static uint32_t out[COUNT];
    for (int i = 0; i < COUNT; i++)
        pixels[i] = (ikt_shaded){i == 0 ? 0 : (int64_t)IKT_COVER_FULL * i * i, {0, 0, 0}};
    ikt_shade(pixels, COUNT, IKT_AUTO_REAL, white, out);
    assert_int_equal(out[0], 0xffffff);
    assert_in_range(out[1] >> 16, 60, 190); /* a single point is seen */
    for (int i = 2; i < COUNT; i++)
        assert_true(out[i] <= out[i - 1]);
    assert_int_equal(out[COUNT - 1], 0);
    ikt_shade(pixels, COUNT, 0.2, white, out);
    assert_int_equal(out[1], 0xcccccc);
    for (int i = 0; i < COUNT; i++)
        pixels[i].mean = (ikt_rgb){0x12, 0x34, 0x56};
    ikt_shade(pixels, COUNT, 1, black, out);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], 0x123456);
}

static void mean_colours_are_those_of_light(void **state) {
    (void)state;
    static uint8_t table[65536];
    ikt_linear_table(table);
    for (int v = 0; v < 256; v++) {
        ikt_linear l = ikt_linear_of((ikt_rgb){(uint8_t)v, 0, 255});
        assert_int_equal(table[l.r], v);
        assert_true(l.g == 0 && l.b == 65535);
    }
    /* Half black, half white: 188, not 128. Nothing: no colour. */
    const ikt_pixel_sum sums[2] = {{510, 255 * 65535, 255 * 65535, 255 * 65535}, {0, 0, 0, 0}};
    ikt_shaded out[2];
    ikt_shade_mean(sums, 2, table, out);
    assert_int_equal(out[0].mean.r, 188);
    assert_int_equal(out[0].cover, 510);
    assert_int_equal(out[1].cover, 0);
}

static void a_file_decodes_to_the_same_pixels(void **state) {
    ikt_context *ctx = *state;
    enum { WIDE = 37, HIGH = 21 };
    ikt_canvas canvas;
    ikt_rgb back[PIXELS_MOST];
    uint32_t pixel[WIDE * HIGH];
    char path[64];
    for (uint32_t i = 0; i < WIDE * HIGH; i++)
        pixel[i] = (i * 7 & 255) << 16 | (i * 13 & 255) << 8 | (i / 3 & 255);
    begin(ctx, WIDE + 3, HIGH + 2, path, &canvas);
    const ikt_canvas_picture picture = {WIDE, HIGH, pixel};
    ikt_canvas_show(&canvas, &picture, 3, 2);
    end(&canvas, path, back);
    for (int i = 0; i < WIDE * HIGH; i++) {
        const ikt_rgb v = back[(i / WIDE + 2) * (WIDE + 3) + i % WIDE + 3];
        assert_int_equal((uint32_t)v.r << 16 | (uint32_t)v.g << 8 | v.b, pixel[i]);
    }
    assert_int_equal(back[0].r, 255);
}

/* Texts and the space of the colours are in the file, and every check sum is right: libpng reads
 * them without a warning. */
static void a_file_has_its_texts(void **state) {
    ikt_context *ctx = *state;
    ikt_canvas canvas;
    char path[64];
    begin(ctx, 10, 8, path, &canvas);
    assert_int_equal(ikt_canvas_finish(&canvas), IKT_OK);
    ikt_canvas_close(&canvas);
    FILE *file = fopen(path, "rb");
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_textp text;
    int count, intent;
    assert_non_null(file);
    if (setjmp(png_jmpbuf(png))) fail_msg("libpng refuses the file");
    png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    png_init_io(png, file);
    png_read_info(png, info);
    assert_int_equal(png_get_text(png, info, &text, &count), 3);
    assert_string_equal(text[0].key, "Software");
    assert_string_equal(text[1].key, "Title");
    assert_string_equal(text[1].text, "psi \317\210");
    assert_int_equal(text[1].compression, PNG_ITXT_COMPRESSION_NONE);
    assert_string_equal(text[2].key, "Description");
    assert_string_equal(text[2].text, "me");
    assert_int_equal(text[2].compression, PNG_TEXT_COMPRESSION_NONE);
    assert_int_equal(png_get_sRGB(png, info, &intent), PNG_INFO_sRGB);
    png_destroy_read_struct(&png, &info, NULL);
    fclose(file);
    assert_int_equal(remove(path), 0);
}

static void a_full_disk_is_reported(void **state) {
    ikt_context *ctx = *state;
    ikt_canvas_page page = {.shown = "run.png",
                            .width = 500,
                            .height = 500,
                            .dpi = 200,
                            .background = white,
                            .title = "",
                            .footer = "",
                            .description = ""};
    for (int kind = IKT_CANVAS_PNG; kind <= IKT_CANVAS_PDF; kind++) {
        ikt_canvas canvas;
        page.path = "/dev/full";
        if (access(page.path, W_OK) == 0) {
            assert_int_equal(ikt_canvas_open(ctx, (ikt_canvas_kind)kind, &page, &canvas), IKT_OK);
            ikt_canvas_text(&canvas, "a text", 10, 100, 12, false, black);
            assert_int_equal(ikt_canvas_finish(&canvas), IKT_ERR_FILE);
            ikt_canvas_close(&canvas);
            assert_non_null(strstr(ikt_message(ctx), "run.png"));
            assert_non_null(strstr(ikt_message(ctx), "No space left"));
            ikt_clear(ctx);
        }
        page.path = "/nowhere/x.png";
        assert_int_equal(ikt_canvas_open(ctx, (ikt_canvas_kind)kind, &page, &canvas), IKT_ERR_FILE);
        ikt_canvas_close(&canvas);
        ikt_clear(ctx);
        assert_int_equal(ikt_memory_now(ctx), 0);
    }
}

IKT_MPI_TESTS(ikt_test(shapes_are_clipped_at_the_borders),
              ikt_test(every_printable_character_has_its_own_picture),
              ikt_test(letters_of_other_scripts_are_drawn),
              ikt_test(text_is_cut_between_characters), ikt_test(counts_have_separators),
              ikt_test(a_disc_covers_its_area_wherever_it_lies),
              ikt_test(one_point_covers_the_right_pixels),
              ikt_test(points_are_clipped_at_the_borders), ikt_test(dense_pixels_are_more_opaque),
              ikt_test(mean_colours_are_those_of_light),
              ikt_test(a_file_decodes_to_the_same_pixels), ikt_test(a_file_has_its_texts),
              ikt_test(a_full_disk_is_reported))
