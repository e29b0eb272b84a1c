/* UTF-8, decoded strictly: each code point has exactly one spelling.
 *
 * A terminating zero is no continuation byte, so text that is cut short is never read beyond. */
#include "base/utf8.h"

#include <string.h>

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

static bool is_shown(uint32_t point) {
    if (point < ' ') return point == '\t' || point == '\n' || point == '\r';
    return point != 0xfffe && point != 0xffff;
}

uint32_t ikt_utf8_next(const char **text) {
    while (**text) {
        uint32_t point = IKT_UTF8_REPLACEMENT;
        const int length = ikt_utf8_decode(*text, &point);
        *text += length > 0 ? length : 1;
        if (is_shown(point)) return point;
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
