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
