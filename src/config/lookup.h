/* Finding a key by its name, and naming the nearest when there is none. */
#ifndef IKT_CONFIG_LOOKUP_H
#define IKT_CONFIG_LOOKUP_H

#include "config/config.h"

/* LOCAL. The part of that section, or NULL with a message that `where` (e.g. "run.yaml, line 3: ")
 * begins and the nearest section, or key without its section, ends. n is at least 1. */
const ikt_config_part *ikt_config_find_section(ikt_context *ctx, const ikt_config_part *parts,
                                               size_t n, const char *where, const char *section);

/* LOCAL. The key of a section, or NULL with a message that names the nearest key of any section. */
const ikt_key *ikt_config_find_key(ikt_context *ctx, const ikt_config_part *parts, size_t n,
                                   const ikt_config_part *part, const char *where,
                                   const char *name);

/* LOCAL. Address of a key's member in a part's settings. */
void *ikt_config_member(const ikt_config_part *part, const ikt_key *key);

#endif
