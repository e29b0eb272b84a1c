/* Text in pictures, with letters of our own: ASCII here, Latin, Greek and Cyrillic in letters.c.
 *
 * A character is a path on a grid where a capital is 12 high, the baseline is 0 and the stroke is
 * about 1.5 wide: M moves, L draws a line, Q a parabola (control point, end point).
 * Advantage: 95 lines of readable data serve every size. Disadvantage: no hinting, so text below
 * about 8 pixels is grey. */
#include "plot/canvas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/encoding.h"
#include "plot/letters.h"

#define CAPITAL 12.0 /* grid units */
#define BEARING 1.5  /* empty grid units at either side of a character */

enum { FIRST = 32, LAST = 126, CURVE_PIECES = 6 };

static const ikt_glyph glyphs[LAST - FIRST + 1] = {
    {2, ""},                                           /* space */
    {0, "M0 12L0 4M0 0L0 0.2"},                        /* ! */
    {3, "M0 12L0 9M3 12L3 9"},                         /* " */
    {8, "M1.5 0L3 12M5 0L6.5 12M0 4L7.6 4M0.4 8L8 8"}, /* # */
    {7, "M6.7 8.6Q6 10.3 3.5 10.3Q0.2 10.3 0.2 8.1Q0.2 6.2 3.5 5.8Q7 5.4 7 3.2Q7 0.8 3.5 0.8"
        "Q0.7 0.8 0 3M3.5 12L3.5 -1"}, /* $ */
    {10, "M1 0L9 12M2 12Q4 12 4 9.5Q4 7 2 7Q0 7 0 9.5Q0 12 2 12"
         "M8 5Q10 5 10 2.5Q10 0 8 0Q6 0 6 2.5Q6 5 8 5"}, /* % */
    {8.5, "M8.5 0L2 8Q0.5 12 3.5 12Q6.2 12 5.8 9Q5.4 7.4 2.6 6Q0 4.8 0 2.8Q0 0 3 0"
          "Q7 0 8 5"},                                                     /* & */
    {0, "M0 12L0 9"},                                                      /* ' */
    {2.5, "M2.5 13Q0 10 0 5Q0 0 2.5 -3"},                                  /* ( */
    {2.5, "M0 13Q2.5 10 2.5 5Q2.5 0 0 -3"},                                /* ) */
    {5.2, "M2.6 12L2.6 6M0 10.5L5.2 7.5M0 7.5L5.2 10.5"},                  /* * */
    {7.5, "M0 5L7.5 5M3.75 8.75L3.75 1.25"},                               /* + */
    {0.8, "M0.8 0.4L0.8 0Q0.8 -1.4 0 -2.2"},                               /* , */
    {4, "M0 5L4 5"},                                                       /* - */
    {0, "M0 0L0 0.2"},                                                     /* . */
    {5, "M0 -1L5 13"},                                                     /* / */
    {7.5, "M3.75 12Q7.5 12 7.5 6Q7.5 0 3.75 0Q0 0 0 6Q0 12 3.75 12"},      /* 0 */
    {7.5, "M1 9.4L4.4 12L4.4 0"},                                          /* 1 */
    {7.5, "M0.2 9Q0.2 12 3.75 12Q7.2 12 7.2 8.9Q7.2 7 5 4.7L0.2 0L7.4 0"}, /* 2 */
    {7.5, "M0.4 9.8Q1.1 12 3.6 12Q7 12 7 9.2Q7 6.4 2.7 6.4L3.5 6.4Q7.5 6.4 7.5 3.2"
          "Q7.5 0 3.6 0Q0.7 0 0.1 2.4"},  /* 3 */
    {7.5, "M5.6 0L5.6 12L0 3.3L7.5 3.3"}, /* 4 */
    {7.5, "M6.8 12L1.2 12L0.6 6.3Q1.8 7.5 3.8 7.5Q7.5 7.5 7.5 3.8Q7.5 0 3.6 0Q0.8 0 0.1 2.1"},
    {7.5, "M6.8 10.5Q6.2 12 4.1 12Q0 12 0 5Q0 0 3.8 0Q7.5 0 7.5 3.8Q7.5 7.4 3.9 7.4"
          "Q0.6 7.4 0 4.2"},       /* 6 */
    {7.5, "M0.1 12L7.4 12L2.6 0"}, /* 7 */
    {7.5, "M3.75 6.4Q0.5 6.4 0.5 9.2Q0.5 12 3.75 12Q7 12 7 9.2Q7 6.4 3.75 6.4Q0 6.4 0 3.2"
          "Q0 0 3.75 0Q7.5 0 7.5 3.2Q7.5 6.4 3.75 6.4"}, /* 8 */
    {7.5, "M0.7 1.5Q1.3 0 3.4 0Q7.5 0 7.5 7Q7.5 12 3.7 12Q0 12 0 8.2Q0 4.6 3.6 4.6"
          "Q6.9 4.6 7.5 7.8"},                                                /* 9 */
    {0, "M0 0L0 0.2M0 7L0 7.2"},                                              /* : */
    {0.8, "M0.8 0.4L0.8 0Q0.8 -1.4 0 -2.2M0.8 7L0.8 7.2"},                    /* ; */
    {7, "M7 9L0 5L7 1"},                                                      /* < */
    {7.5, "M0 6.8L7.5 6.8M0 3.2L7.5 3.2"},                                    /* = */
    {7, "M0 9L7 5L0 1"},                                                      /* > */
    {6, "M0 9.4Q0.2 12 3 12Q6 12 6 9.2Q6 7.6 4.5 6.5Q3 5.4 3 3.6M3 0L3 0.2"}, /* ? */
    {10, "M7.5 4.4Q7.5 7.4 5 7.4Q2.5 7.4 2.5 4.4Q2.5 1.6 4.7 1.6Q7.2 1.6 7.5 4.4L7.5 7.4"
         "M7.5 4.4Q7.5 1.6 8.8 1.6Q10 1.6 10 5Q10 10.5 5.2 10.5Q0 10.5 0 4.5Q0 -2 5.4 -2"
         "Q7.4 -2 8.6 -1.2"},           /* @ */
    {9, "M0 0L4.5 12L9 0M1.5 4L7.5 4"}, /* A */
    {7.8, "M0 6.4L0 0L4 0Q7.8 0 7.8 3.2Q7.8 6.4 4 6.4L0 6.4L0 12L3.8 12Q7.2 12 7.2 9.2"
          "Q7.2 6.4 3.8 6.4"},                                                /* B */
    {8.3, "M8.3 9.4Q7.3 12 4.6 12Q0 12 0 6Q0 0 4.6 0Q7.3 0 8.3 2.6"},         /* C */
    {8.5, "M0 0L0 12L3.5 12Q8.5 12 8.5 6Q8.5 0 3.5 0L0 0"},                   /* D */
    {6.8, "M6.8 12L0 12L0 0L6.8 0M0 6.3L6 6.3"},                              /* E */
    {6.6, "M6.6 12L0 12L0 0M0 6L5.8 6"},                                      /* F */
    {8.6, "M8.4 9.4Q7.3 12 4.6 12Q0 12 0 6Q0 0 4.6 0Q8.6 0 8.6 5.4L5 5.4"},   /* G */
    {8.4, "M0 0L0 12M8.4 0L8.4 12M0 6.2L8.4 6.2"},                            /* H */
    {0, "M0 0L0 12"},                                                         /* I */
    {5, "M5 12L5 3.6Q5 0 2.4 0Q0.3 0 0 2.4"},                                 /* J */
    {7.8, "M0 0L0 12M7.5 12L0 4.4M2.8 7.2L7.8 0"},                            /* K */
    {6.3, "M0 12L0 0L6.3 0"},                                                 /* L */
    {10, "M0 0L0 12L5 3.6L10 12L10 0"},                                       /* M */
    {8.4, "M0 0L0 12L8.4 0L8.4 12"},                                          /* N */
    {9.2, "M4.6 12Q9.2 12 9.2 6Q9.2 0 4.6 0Q0 0 0 6Q0 12 4.6 12"},            /* O */
    {7.6, "M0 0L0 12L4 12Q7.6 12 7.6 8.7Q7.6 5.4 4 5.4L0 5.4"},               /* P */
    {9.2, "M4.6 12Q9.2 12 9.2 6Q9.2 0 4.6 0Q0 0 0 6Q0 12 4.6 12M5.6 3L9 -1"}, /* Q */
    {7.8, "M0 0L0 12L4 12Q7.6 12 7.6 8.8Q7.6 5.6 4 5.6L0 5.6M4.4 5.6L7.8 0"}, /* R */
    {7.6, "M7.2 9.5Q6.4 12 3.8 12Q0.3 12 0.3 9.1Q0.3 6.7 3.8 6.2Q7.6 5.6 7.6 3.1Q7.6 0 3.8 0"
          "Q0.8 0 0 2.6"},                               /* S */
    {8, "M0 12L8 12M4 12L4 0"},                          /* T */
    {8.2, "M0 12L0 4.2Q0 0 4.1 0Q8.2 0 8.2 4.2L8.2 12"}, /* U */
    {8.8, "M0 12L4.4 0L8.8 12"},                         /* V */
    {13, "M0 12L3.2 0L6.5 11L9.8 0L13 12"},              /* W */
    {8, "M0 0L8 12M0 12L8 0"},                           /* X */
    {8.4, "M0 12L4.2 5.6L8.4 12M4.2 5.6L4.2 0"},         /* Y */
    {7.6, "M0.2 12L7.6 12L0 0L7.6 0"},                   /* Z */
    {2.4, "M2.4 13L0 13L0 -3L2.4 -3"},                   /* [ */
    {5, "M0 13L5 -1"},                                   /* \ */
    {2.4, "M0 13L2.4 13L2.4 -3L0 -3"},                   /* ] */
    {6, "M0 8L3 12L6 8"},                                /* ^ */
    {7, "M0 -2.4L7 -2.4"},                               /* _ */
    {2, "M0 12L2 9.6"},                                  /* ` */
    {6.2, "M0.5 6.7Q1.2 8.2 3.2 8.2Q6.2 8.2 6.2 5.2L6.2 0M6.2 4.8L3.2 4.6Q0 4.4 0 2.2"
          "Q0 0 2.5 0Q5.2 0 6.2 2.6"},                                           /* a */
    {7, "M0 12L0 0M0 4.1Q0 8.2 3.6 8.2Q7 8.2 7 4.1Q7 0 3.6 0Q0 0 0 4.1"},        /* b */
    {6, "M6 6.4Q5.3 8.2 3.5 8.2Q0 8.2 0 4.1Q0 0 3.5 0Q5.3 0 6 1.8"},             /* c */
    {7, "M7 12L7 0M7 4.1Q7 8.2 3.4 8.2Q0 8.2 0 4.1Q0 0 3.4 0Q7 0 7 4.1"},        /* d */
    {6.8, "M0 4.4L6.8 4.4Q6.8 8.2 3.5 8.2Q0 8.2 0 4.1Q0 0 3.6 0Q5.7 0 6.5 1.7"}, /* e */
    {4.2, "M4.2 12Q1.5 12.2 1.5 9.4L1.5 0M0 8L4 8"},                             /* f */
    {7, "M7 8L7 -0.4Q7 -3.8 3.5 -3.8Q1.2 -3.8 0.4 -2.4M7 4.2Q7 8.2 3.4 8.2Q0 8.2 0 4.2"
        "Q0 0.2 3.4 0.2Q7 0.2 7 4.2"},                            /* g */
    {6.4, "M0 12L0 0M0 4.6Q0 8.2 3.4 8.2Q6.4 8.2 6.4 4.8L6.4 0"}, /* h */
    {0, "M0 8L0 0M0 11.3L0 11.5"},                                /* i */
    {2, "M2 8L2 -1.2Q2 -3.8 0 -3.8M2 11.3L2 11.5"},               /* j */
    {6.2, "M0 12L0 0M5.8 8L0 2.8M2.2 4.8L6.2 0"},                 /* k */
    {1.8, "M0 12L0 2.2Q0 0 1.8 0"},                               /* l */
    {10.8, "M0 8L0 0M0 4.6Q0 8.2 2.9 8.2Q5.4 8.2 5.4 4.8L5.4 0M5.4 4.6Q5.4 8.2 8.3 8.2"
           "Q10.8 8.2 10.8 4.8L10.8 0"},                                    /* m */
    {6.4, "M0 8L0 0M0 4.6Q0 8.2 3.4 8.2Q6.4 8.2 6.4 4.8L6.4 0"},            /* n */
    {7.2, "M3.6 8.2Q7.2 8.2 7.2 4.1Q7.2 0 3.6 0Q0 0 0 4.1Q0 8.2 3.6 8.2"},  /* o */
    {7, "M0 8L0 -3.8M0 4.1Q0 8.2 3.6 8.2Q7 8.2 7 4.1Q7 0 3.6 0Q0 0 0 4.1"}, /* p */
    {7, "M7 8L7 -3.8M7 4.1Q7 8.2 3.4 8.2Q0 8.2 0 4.1Q0 0 3.4 0Q7 0 7 4.1"}, /* q */
    {3.8, "M0 8L0 0M0 4.2Q0 8.2 3.8 8"},                                    /* r */
    {5.8, "M5.4 6.5Q4.9 8.2 2.9 8.2Q0.2 8.2 0.2 6.2Q0.2 4.6 2.9 4.2Q5.8 3.8 5.8 2.1"
          "Q5.8 0 2.9 0Q0.5 0 0 1.9"},                      /* s */
    {4.2, "M1.5 10.6L1.5 2.4Q1.5 0 4.2 0.1M0 8L4 8"},       /* t */
    {6.4, "M0 8L0 3.4Q0 0 3 0Q6.4 0 6.4 3.6M6.4 8L6.4 0"},  /* u */
    {6.8, "M0 8L3.4 0L6.8 8"},                              /* v */
    {10, "M0 8L2.4 0L5 7.4L7.6 0L10 8"},                    /* w */
    {6.2, "M0 0L6 8M0.2 8L6.2 0"},                          /* x */
    {6.8, "M0 8L3.5 0M6.8 8L3.5 0L2.7 -2Q2 -3.8 0.2 -3.8"}, /* y */
    {6, "M0.2 8L6 8L0 0L6 0"},                              /* z */
    {3.2, "M3.2 13Q1.4 13 1.4 10.6L1.4 7.2Q1.4 5 0 5Q1.4 5 1.4 2.8L1.4 -0.6Q1.4 -3 3.2 -3"},
    {0, "M0 13L0 -3"}, /* | */
    {3.2, "M0 13Q1.8 13 1.8 10.6L1.8 7.2Q1.8 5 3.2 5Q1.8 5 1.8 2.8L1.8 -0.6Q1.8 -3 0 -3"},
    {7, "M0 4Q0.4 6.2 2 6.2Q3 6.2 3.7 5.2Q4.4 4.2 5.2 4.2Q6.6 4.2 7 6.2"}, /* ~ */
};

static const ikt_glyph missing = {6, "M0 0L0 12L6 12L6 0L0 0"};
static const ikt_glyph wide = {12, "M0 0L0 12L12 12L12 0L0 0"};

const ikt_glyph *ikt_ascii_glyph(uint32_t point) {
    return point < FIRST || point > LAST ? NULL : &glyphs[point - FIRST];
}

/* Characters of East Asia and pictures are as wide as they are high. */
static bool is_wide(uint32_t point) {
    return (point >= 0x1100 && point < 0x1160) || (point >= 0x2e80 && point < 0xa4d0) ||
           (point >= 0xac00 && point < 0xd7b0) || (point >= 0xf900 && point < 0xfb00) ||
           (point >= 0xff00 && point < 0xff61) || (point >= 0x1f300 && point < 0x40000);
}

/* The letter at *text with the mark that may follow it, and moves *text behind them; false at the
 * end. *is_own receives whether there is such a letter, rather than a box. */
static bool next_letter(const char **text, ikt_letter *letter, bool *is_own) {
    const uint32_t point = ikt_utf8_next(text);
    if (point == 0) return false;
    *is_own = ikt_letter_find(point, letter);
    if (!*is_own) {
        *letter = (ikt_letter){.glyph = is_wide(point) ? wide : missing, .scale = 1, .mark = ""};
        return true;
    }
    const char *behind = *text;
    if (ikt_letter_combine(ikt_utf8_next(&behind), letter)) *text = behind;
    return true;
}

static double advance(const ikt_letter *of, double size) {
    return (of->scale * of->glyph.width + 2 * BEARING) * size / CAPITAL;
}

double ikt_font_width(const char *text, double size) {
    double width = 0;
    bool is_own;
    for (ikt_letter of; next_letter(&text, &of, &is_own);)
        width += advance(&of, size);
    return width;
}

bool ikt_font_has(const char *text) {
    bool is_own = true;
    for (ikt_letter of; is_own && next_letter(&text, &of, &is_own);)
        continue;
    return is_own;
}

/* Segments of a path whose zero is at (x, y), in pixels, of letters of that size; returns how many
 * there are then. The paths are constants of this folder and checked by the tests, so they
 * are read trustingly. */
static int trace(const char *path, double size, double x, double y, ikt_segment *segments,
                 int count) {
    double pen_x = 0, pen_y = 0; /* grid units */
    for (const char *at = path; *at;) {
        const char command = *at++;
        const int numbers = command == 'Q' ? 4 : 2;
        const int pieces = command == 'M' ? 0 : command == 'L' ? 1 : CURVE_PIECES;
        const double x0 = pen_x, y0 = pen_y;
        double v[4] = {0};
        for (int i = 0; i < numbers; i++) {
            char *end;
            v[i] = strtod(at, &end);
            at = end;
        }
        for (int i = 1; i <= pieces && count < IKT_GLYPH_SEGMENTS; i++) {
            const double t = (double)i / pieces, a = (1 - t) * (1 - t), b = 2 * t * (1 - t);
            const double to_x = command == 'L' ? v[0] : a * x0 + b * v[0] + t * t * v[2];
            const double to_y = command == 'L' ? v[1] : a * y0 + b * v[1] + t * t * v[3];
            segments[count++] =
                (ikt_segment){x + pen_x / CAPITAL * size, y + -pen_y / CAPITAL * size,
                              x + to_x / CAPITAL * size, y + -to_y / CAPITAL * size};
            pen_x = to_x;
            pen_y = to_y;
        }
        pen_x = v[numbers - 2];
        pen_y = v[numbers - 1];
    }
    return count;
}

int ikt_font_place(const char **text, double *x, double y, double size, ikt_segment *segments) {
    ikt_letter of;
    bool is_own;
    if (!next_letter(text, &of, &is_own)) return -1;
    const double left = *x + BEARING * size / CAPITAL;
    const int count = trace(of.glyph.path, of.scale * size, left, y, segments, 0);
    *x += advance(&of, size);
    return trace(of.mark, size, left + of.mark_x / CAPITAL * size, y - of.mark_y / CAPITAL * size,
                 segments, count);
}

void ikt_font_fit(const char *text, double size, double width, char *out, int bytes) {
    size_t length = strlen(text), room = (size_t)bytes - 4;
    if (length < (size_t)bytes && ikt_font_width(text, size) <= width) {
        memcpy(out, text, length + 1);
        return;
    }
    const char *end = text, *next = text;
    double used = ikt_font_width("...", size);
    bool is_own;
    for (ikt_letter of; next_letter(&next, &of, &is_own);) {
        used += advance(&of, size);
        if (used > width || (size_t)(next - text) > room) break;
        end = next;
    }
    snprintf(out, (size_t)bytes, "%.*s...", (int)(end - text), text);
}
