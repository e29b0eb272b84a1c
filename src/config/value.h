/* One value of the configuration or the command line: from text, and back. */
#ifndef IKT_CONFIG_VALUE_H
#define IKT_CONFIG_VALUE_H

#include "base/status.h"
#include "config/key.h"

/* LOCAL. Parses `text` for the key into *member (of the type that ikt_key_type states).
 *   what   how messages name the value, e.g. "run.yaml, line 3: isolation.psi" or "--points"
 * Errors: IKT_ERR_USAGE: not of the type, out of range, not one of the choices, no UTF-8 text. */
ikt_status ikt_value_parse(ikt_context *ctx, const ikt_key *key, const char *what, const char *text,
                           void *member);

enum { IKT_REAL_TEXT = 32 };               /* what ikt_real_print needs */
enum { IKT_SETTINGS_TEXT_MOST = 1 << 20 }; /* bytes of a configuration */

/* LOCAL. Writes a finite number in the fewest digits that give the same double: 30, 0.1, 1e+22. */
void ikt_real_print(double value, char text[IKT_REAL_TEXT]);

/* LOCAL. Writes the value as text that parses back to it; at most `size` bytes with the zero. */
void ikt_value_print(const ikt_key *key, const void *member, char *text, size_t size);

/* LOCAL. "an integer from 1 to 4096, or auto": what the key accepts. */
void ikt_value_expected(const ikt_key *key, char *text, size_t size);

/* LOCAL. Edit distance of two names (insertions, deletions, changes, swaps of neighbours), for
 * hints; names longer than 63 characters count as far apart. */
int ikt_name_distance(const char *a, const char *b);

/* LOCAL. Text that grows; `data` is NULL until something is added. Freed with ikt_free(&t.data). */
typedef struct {
    ikt_context *ctx;
    char *data;
    int64_t length, capacity;
    ikt_status status; /* of the first failure */
} ikt_text;

/* LOCAL. Frees what the text holds; accepts an empty struct. */
void ikt_text_free(ikt_text *text);

void ikt_text_add(ikt_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* LOCAL. Adds any bytes as text of an XML or HTML document, or of a quoted attribute in one: what
 * has a meaning there is written out, what cannot stand there is treated as in ikt_utf8_next. */
void ikt_text_add_xml(ikt_text *text, const char *words);

/* LOCAL. Adds `words` broken into lines of at most 88 characters, each behind `indent` blanks. */
void ikt_text_wrap(ikt_text *text, int indent, const char *words);

/* LOCAL. The same into lines of at most `width` characters that begin with `before`: "  # ". */
void ikt_text_wrap_behind(ikt_text *text, const char *before, int width, const char *words);

#endif
