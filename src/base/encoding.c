/* Text. See encoding.h. UTF-8 is decoded strictly, each code point having exactly one spelling. A
 * terminating zero is no continuation byte, so text that is cut short is never read beyond. */
#include "base/encoding.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* --- UTF-8 ------------------------------------------------------------------------------------ */

int ikt_utf8_decode(const char *text, uint32_t *point) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* that needs so many bytes */
    const unsigned char *byte = (const unsigned char *)text;
    int length = byte[0] < 0x80             ? 1
                 : (byte[0] & 0xe0) == 0xc0 ? 2
                 : (byte[0] & 0xf0) == 0xe0 ? 3
                 : (byte[0] & 0xf8) == 0xf0 ? 4
                                            : 0;
    if (length == 0) return 0;
    uint32_t value = length == 1 ? byte[0] : byte[0] & (0x7fu >> length);
    for (int i = 1; i < length; i++) {
        if ((byte[i] & 0xc0) != 0x80) return 0;
        value = value << 6 | (byte[i] & 0x3fu);
    }
    bool surrogate = value >= 0xd800 && value <= 0xdfff;
    if (value < least[length] || value > 0x10ffff || surrogate) return 0;
    *point = value;
    return length;
}

bool ikt_utf8_valid(const char *text) {
    uint32_t point;
    for (int length; *text; text += length) {
        length = ikt_utf8_decode(text, &point);
        if (length == 0) return false;
    }
    return true;
}

uint32_t ikt_utf8_next(const char **text) {
    while (**text) {
        uint32_t point = IKT_UTF8_REPLACEMENT;
        const int length = ikt_utf8_decode(*text, &point);
        *text += length > 0 ? length : 1;
        const bool is_control = point < ' ' && point != '\t' && point != '\n' && point != '\r';
        if (!is_control && point != 0xfffe && point != 0xffff) return point;
    }
    return 0;
}

int ikt_utf8_encode(uint32_t point, char bytes[5]) {
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const int length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (int i = length - 1; i > 0; i--) {
        bytes[i] = (char)(0x80 | (point & 0x3f));
        point >>= 6;
    }
    bytes[0] = (char)(lead[length] | point);
    bytes[length] = '\0';
    return length;
}

const char *ikt_xml_entity(uint32_t point) {
    return point == '&'   ? "&amp;"
           : point == '<' ? "&lt;"
           : point == '>' ? "&gt;"
           : point == '"' ? "&quot;"
                          : NULL;
}

char *ikt_utf8_clean(const char *text, char *out, size_t size) {
    size_t used = 0;
    char bytes[5];
    for (uint32_t point; (point = ikt_utf8_next(&text)) != 0;) {
        const size_t length = (size_t)ikt_utf8_encode(point, bytes);
        if (used + length >= size) break;
        memcpy(out + used, bytes, length);
        used += length;
    }
    out[used] = '\0';
    return out;
}

bool ikt_utf8_copy(const char *text, char *out, size_t size) {
    const bool is_valid = ikt_utf8_valid(text);
    size_t used = 0;
    for (uint32_t point = 0; *text;) {
        char bytes[5];
        const int step = is_valid ? ikt_utf8_decode(text, &point) : 1;
        if (!is_valid) point = (unsigned char)*text; /* Latin-1 is the first 256 code points */
        const size_t length = (size_t)ikt_utf8_encode(point, bytes);
        if (used + length + 1 > size) break;
        memcpy(out + used, bytes, length);
        used += length;
        text += step;
    }
    out[used] = '\0';
    return is_valid;
}

/* --- joined words ---------------------------------------------------------------------------- */

void ikt_join(char *text, size_t size, const char *between, const char *format, ...) {
    size_t used = strlen(text);
    va_list values;
    if (used > 0) used += (size_t)snprintf(text + used, size - used, "%s", between);
    if (used >= size) return;
    va_start(values, format);
    vsnprintf(text + used, size - used, format, values);
    va_end(values);
}

/* --- JSON, base64 ----------------------------------------------------------------------------- */

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

char *ikt_integer_text(int64_t number, bool is_unsigned, char text[IKT_INTEGER_TEXT]) {
    if (is_unsigned)
        snprintf(text, IKT_INTEGER_TEXT, "%" PRIu64, (uint64_t)number);
    else
        snprintf(text, IKT_INTEGER_TEXT, "%" PRId64, number);
    return text;
}

char *ikt_shell_word(const char *text, char *word, size_t size) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_./:,+@%-";
    const bool is_plain = *text && text[strspn(text, plain)] == '\0';
    size_t used = 0;
    if (!is_plain) word[used++] = '\'';
    for (; *text && used + 6 < size; text++)
        used += (size_t)snprintf(word + used, size - used, *text == '\'' ? "'\\''" : "%c", *text);
    if (!is_plain) word[used++] = '\'';
    word[used] = '\0';
    return word;
}

static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int64_t ikt_base64_length(int64_t count) {
    return (count + 2) / 3 * 4;
}

void ikt_base64(const void *bytes, int64_t count, char *text) {
    const uint8_t *byte = bytes;
    for (int64_t i = 0; i < count; i += 3, text += 4) {
        uint32_t three = (uint32_t)byte[i] << 16;
        if (i + 1 < count) three |= (uint32_t)byte[i + 1] << 8;
        if (i + 2 < count) three |= byte[i + 2];
        text[0] = digit[three >> 18];
        text[1] = digit[three >> 12 & 63];
        text[2] = i + 1 < count ? digit[three >> 6 & 63] : '=';
        text[3] = i + 2 < count ? digit[three & 63] : '=';
    }
}

/* --- decimals --------------------------------------------------------------------------------- */

enum { DIGITS_MOST = 9 };

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
    int64_t number = 0;
    int digits = whole > 1 ? whole : 1;
    while (digits < DIGITS_MOST && !is_enough(size, digits - whole, &number))
        digits++;
    const bool is_found = is_enough(size, digits - whole, &number);
    const int length = write_fixed(value < 0, number, digits - whole, text);
    return is_found && strtof(text, NULL) == value ? length : by_printf(value, text);
}
