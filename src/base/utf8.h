/* Characters of UTF-8 text: what YAML and JSON are made of. */
#ifndef IKT_BASE_UTF8_H
#define IKT_BASE_UTF8_H

#include <stdbool.h>
#include <stdint.h>

/* LOCAL. Bytes (1 to 4) of the character that `text` begins with; 0 where the bytes are no UTF-8
 * (overlong, cut short, a surrogate, beyond U+10FFFF).
 *   point   receives its code point; unchanged on 0 */
int ikt_utf8_decode(const char *text, uint32_t *point);

/* LOCAL. True when all of the text is UTF-8. */
bool ikt_utf8_valid(const char *text);

#endif
