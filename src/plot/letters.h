/* Letters of our own beyond ASCII: Latin with its marks, Greek, Cyrillic. Of this folder only. */
#ifndef IKT_PLOT_LETTERS_H
#define IKT_PLOT_LETTERS_H

#include <stdbool.h>
#include <stdint.h>

/* A path on the grid of font.c, in which a capital is 12 high. */
typedef struct {
    double width; /* grid units between the centres of the outermost strokes */
    const char *path;
} ikt_glyph;

/* A letter: its glyph, made smaller where scale is below 1, and a mark on it. */
typedef struct {
    ikt_glyph glyph;
    double scale;
    const char *mark; /* a path, or "" */
    double mark_x, mark_y;
} ikt_letter;

/* LOCAL, pure. The glyph of a printable ASCII character (font.c); NULL for others. */
const ikt_glyph *ikt_ascii_glyph(uint32_t point);

/* LOCAL, pure. The letter of a character; false where there is none. */
bool ikt_letter_find(uint32_t point, ikt_letter *letter);

/* LOCAL, pure. Puts a combining mark (U+0301, say) on a letter that has none; false where that
 * character is none of ours. */
bool ikt_letter_combine(uint32_t point, ikt_letter *letter);

#endif
