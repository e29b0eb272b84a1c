/* Text as JSON has it. */
#include "base/quote.h"

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
