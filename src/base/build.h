/* Which build of the program this is: what its bits depend on beside data and settings. */
#ifndef IKT_BASE_BUILD_H
#define IKT_BASE_BUILD_H

#include <stdint.h>

/* "0123456789abcdef": of every file below src/; generated (cmake/IktSources.cmake). */
extern const char *const ikt_sources_hash;

/* LOCAL. "commit 05f2883, sources 0123456789abcdef, GNU 12.2.0 -O3 -DNDEBUG": equal texts stand for
 * equal programs. Static. */
const char *ikt_build_text(void);

/* LOCAL. The same in short: "0.1.0 05f2883-1a2b3c4d", version, commit, and ikt_build_tag in digits.
 * Static. */
const char *ikt_build_name(void);

/* LOCAL. A checksum of ikt_build_text, in 32 bits. */
uint32_t ikt_build_tag(void);

#endif
