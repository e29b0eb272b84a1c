/* Names of classes in one text, "a\nb\n": line k names class k. Rows that have no class are class
 * -1, which has a name wherever the others have one. */
#ifndef IKT_IO_SOURCES_LABEL_NAMES_H
#define IKT_IO_SOURCES_LABEL_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define IKT_LABEL_MISSING (-1)

/* LOCAL, pure. How many classes have names. */
int64_t ikt_label_names_count(const char *names);

/* LOCAL, pure. The name of a class, or its number where it has none; `names` may be NULL. Returns
 * `text`, at most `size` bytes. */
const char *ikt_label_name(const char *names, int64_t label, char *text, size_t size);

/* LOCAL. Warns where classes are beyond those that have names; NULL names all.
 *   path     of the file, for the message
 *   labels   [count] */
void ikt_label_names_check(ikt_context *ctx, const char *path, const char *names, int64_t count,
                           const int64_t *labels);

#endif
