/* Decoding UTF-8, strictly: each code point has exactly one spelling.
 *
 * A terminating zero is no continuation byte, so text that is cut short is never read beyond. */
#include "base/utf8.h"

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

bool ikt_utf8_copy(const char *text, char *out, size_t size) {
    const bool is_valid = ikt_utf8_valid(text);
    size_t used = 0;
    for (uint32_t point = 0; *text; text++) {
        const unsigned char byte = (unsigned char)*text;
        const size_t length = is_valid ? (size_t)ikt_utf8_decode(text, &point) : byte < 128 ? 1 : 2;
        if (used + length + 1 > size) break;
        if (is_valid || length == 1) {
            for (size_t i = 0; i < length; i++)
                out[used + i] = text[i];
            text += length - 1;
        } else {
            out[used] = (char)(0xc0 | byte >> 6);
            out[used + 1] = (char)(0x80 | (byte & 0x3f));
        }
        used += length;
    }
    out[used] = '\0';
    return is_valid;
}
