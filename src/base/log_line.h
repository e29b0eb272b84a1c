/* What the files of base/ that write to the log share. */
#ifndef IKT_BASE_LOG_LINE_H
#define IKT_BASE_LOG_LINE_H

#include "base/log.h"

/* LOCAL, whatever rank and level: one line on stderr. `message` is changed: control characters
 * become '?'. `numbers` as in ikt_log_numbers, or NULL. */
void ikt_log_line(const ikt_context *ctx, ikt_log_level level, const ikt_log_number *numbers,
                  char *message);

#endif
