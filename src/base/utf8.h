/* Characters of UTF-8 text: what YAML and JSON are made of. */
#ifndef IKT_BASE_UTF8_H
#define IKT_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* LOCAL. Bytes (1 to 4) of the character that `text` begins with; 0 where the bytes are no UTF-8
 * (overlong, cut short, a surrogate, beyond U+10FFFF).
 *   point   receives its code point; unchanged on 0 */
int ikt_utf8_decode(const char *text, uint32_t *point);

/* LOCAL. True when all of the text is UTF-8. */
bool ikt_utf8_valid(const char *text);

/* LOCAL. Writes text for people as UTF-8: as it is where it is UTF-8, otherwise taken for Latin-1
 * (ISO 8859-1), of which every byte is a character.
 *   out   [size], cut between two characters where it has no room for all; 2 strlen(text) + 1 bytes
 *         are always enough
 * Returns whether the text was UTF-8 already. */
bool ikt_utf8_copy(const char *text, char *out, size_t size);

#endif
