/* Text: characters of UTF-8, which YAML, JSON, XML and PDF are made of, what stands in for bytes
 * that are none, and values as text of other formats.
 *
 * Names of files and of classes may be any bytes. Wherever the program shows them, a byte that is
 * no UTF-8 becomes U+FFFD, the replacement character.
 */
#ifndef IKT_BASE_ENCODING_H
#define IKT_BASE_ENCODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/c_locale.h"

enum { IKT_UTF8_REPLACEMENT = 0xfffd };

/* LOCAL. Bytes (1 to 4) of the character that `text` begins with; 0 where the bytes are no UTF-8
 * (overlong, cut short, a surrogate, beyond U+10FFFF).
 *   point   receives its code point; unchanged on 0 */
int ikt_utf8_decode(const char *text, uint32_t *point);

/* LOCAL. True when all of the text is UTF-8. */
bool ikt_utf8_valid(const char *text);

/* LOCAL. The code point of the next character to be shown, and moves *text behind it; 0 at the end.
 * A byte that is no UTF-8 gives IKT_UTF8_REPLACEMENT. Characters that XML 1.0 cannot hold (U+FFFE,
 * U+FFFF, and control characters but for tab, line feed and carriage return) are passed over. */
uint32_t ikt_utf8_next(const char **text);

/* LOCAL. Writes the character as UTF-8 with a terminating zero; returns its bytes, 1 to 4. */
int ikt_utf8_encode(uint32_t point, char bytes[5]);

/* LOCAL, pure. How XML and HTML, and quoted attributes in them, write a character that has a
 * meaning there: "&amp;"; NULL for one that stands for itself. */
const char *ikt_xml_entity(uint32_t point);

/* LOCAL. Copies the characters to be shown, as ikt_utf8_next gives them, to `out`: UTF-8 of at most
 * `size` bytes with the terminating zero, never cut inside a character. Returns `out`. */
char *ikt_utf8_clean(const char *text, char *out, size_t size);

/* LOCAL. Writes text for people as UTF-8: as it is where it is UTF-8, otherwise taken for Latin-1
 * (ISO 8859-1), of which every byte is a character.
 *   out   [size], cut between two characters where it has no room for all; 2 strlen(text) + 1 bytes
 *         are always enough
 * Returns whether the text was UTF-8 already. */
bool ikt_utf8_copy(const char *text, char *out, size_t size);

/* LOCAL. Adds words to a text[size] that ends with a zero, behind `between` where it has some
 * already; what has no room is cut off. */
void ikt_join(char *text, size_t size, const char *between, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* LOCAL, pure. The text, or another where it is empty. */
static inline const char *ikt_text_or(const char *text, const char *otherwise) {
    return text[0] ? text : otherwise;
}

/* LOCAL. Writes the text in double quotes, as JSON has it; it may hold any bytes. */
void ikt_quote(FILE *file, const char *text);

/* LOCAL. What would break a line or steer the terminal becomes '?'. */
void ikt_make_printable(char *text);

/* LOCAL. An integer as a file has it: unsigned ones of 64 bits are kept as their bits, so that
 * those of 2^63 and more are negative numbers here. Returns `text`. */
enum { IKT_INTEGER_TEXT = 24 };
char *ikt_integer_text(int64_t number, bool is_unsigned, char text[IKT_INTEGER_TEXT]);

/* LOCAL, pure. A word of a command as a shell takes it: in quotes where it holds what a shell would
 * change, or nothing; cut at `size` bytes. Returns `word`. */
char *ikt_shell_word(const char *text, char *word, size_t size);

/* LOCAL, pure. Letters of `count` bytes in base64 (RFC 4648): four for every three bytes begun. */
int64_t ikt_base64_length(int64_t count);

/* LOCAL. Writes them to text[ikt_base64_length(count)], without a terminating zero. */
void ikt_base64(const void *bytes, int64_t count, char *text);

/* The shortest decimal that reads back to the same float32.
 *
 * Method: of 1 to 9 digits (9 always suffice) the fewest whose value, rounded to float32, is the
 * number. Digits come from one multiplication by an exact power of ten and the trial from one
 * division, some tens of nanoseconds; what lies outside 1e-5 .. 1e6 goes through printf. */
enum { IKT_FLOAT_TEXT = 20 };

/* LOCAL, pure. Writes e.g. "-3.25", "12", "1e-07", "nan", "inf"; returns its length. */
int ikt_float_print(float value, char text[IKT_FLOAT_TEXT]);

#endif
