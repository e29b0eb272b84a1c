/* Bytes as text: three at a time, and what is left padded with '='. */
#include "base/base64.h"

#include <stdbool.h>

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
