/* Values as text of other formats. See encoding.h. */
#include "base/encoding.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/utf8.h"

void ikt_quote(FILE *file, const char *text) {
    fputc('"', file);
    while (*text) {
        uint32_t point = 0;
        int length = ikt_utf8_decode(text, &point);
        if (length == 0)
            fputs("\\ufffd", file);
        else if (point == '"' || point == '\\')
            fprintf(file, "\\%c", (int)point);
        else if (point < 32)
            fprintf(file, "\\u%04x", (unsigned)point);
        else
            fprintf(file, "%.*s", length, text);
        text += length > 0 ? length : 1;
    }
    fputc('"', file);
}

void ikt_make_printable(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f) *text = '?';
}

/* --- base64 ----------------------------------------------------------------------------------- */

static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int64_t ikt_base64_length(int64_t count) {
    return (count + 2) / 3 * 4;
}

static void put(uint32_t three, char *text) {
    text[0] = digit[three >> 18];
    text[1] = digit[three >> 12 & 63];
    text[2] = digit[three >> 6 & 63];
    text[3] = digit[three & 63];
}

void ikt_base64(const void *bytes, int64_t count, char *text) {
    const uint8_t *byte = bytes;
    int64_t whole = count - count % 3;
    for (int64_t i = 0; i < whole; i += 3, text += 4)
        put((uint32_t)byte[i] << 16 | (uint32_t)byte[i + 1] << 8 | byte[i + 2], text);
    if (whole == count) return;
    bool two = whole + 2 == count;
    put((uint32_t)byte[whole] << 16 | (two ? (uint32_t)byte[whole + 1] << 8 : 0), text);
    if (!two) text[2] = '=';
    text[3] = '=';
}

/* --- decimals --------------------------------------------------------------------------------- */

enum { DIGITS_MOST = 9, LIKELY = 8 };

/* All of them are exact doubles. */
static const double power[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6, 1e7,
                               1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};

static int by_printf(float value, char *text) {
    int length = 0;
    for (int digits = 1; digits <= DIGITS_MOST; digits++) {
        length = snprintf(text, IKT_FLOAT_TEXT, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value) break;
    }
    return length;
}

/* Whether `digits` digits behind the point, as an integer, are the number. */
static bool is_enough(double size, int behind, int64_t *number) {
    *number = (int64_t)rint(size * power[behind]);
    return (float)((double)*number / power[behind]) == (float)size;
}

/* number / 10^behind as text. */
static int write_fixed(bool is_negative, int64_t number, int behind, char *text) {
    char reversed[IKT_FLOAT_TEXT];
    int length = 0, at = 0;
    for (int place = 0; number > 0 || place <= behind; place++) {
        if (place == behind && behind > 0) reversed[length++] = '.';
        reversed[length++] = (char)('0' + number % 10);
        number /= 10;
    }
    if (is_negative) text[at++] = '-';
    while (length > 0)
        text[at++] = reversed[--length];
    text[at] = '\0';
    return at;
}

int ikt_float_print(float value, char text[IKT_FLOAT_TEXT]) {
    const double size = fabs((double)value);
    if (!(size >= 1e-5 && size < 1e6)) return by_printf(value, text);
    int whole = 1 - 5; /* digits before the point; 0 and less: zeros behind it */
    while (size >= (whole >= 0 ? power[whole] : 1 / power[-whole]))
        whole++;
    /* With more digits than the shortest has the number is still itself: go down, or up, to it. */
    int64_t number = 0, fewer = 0;
    int digits = LIKELY;
    while (digits < DIGITS_MOST && digits > whole && !is_enough(size, digits - whole, &number))
        digits++;
    if (digits < whole) digits = whole;
    const bool is_found = is_enough(size, digits - whole, &number);
    while (is_found && digits > 1 && digits > whole && is_enough(size, digits - 1 - whole, &fewer))
        number = fewer, digits--;
    while (is_found && digits > whole && number % 10 == 0 && digits > 1)
        number /= 10, digits--;
    const int length = write_fixed(value < 0, number, digits - whole, text);
    return is_found && strtof(text, NULL) == value ? length : by_printf(value, text);
}
