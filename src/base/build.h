/* Which build of the program this is: what its bits depend on beside data and settings. */
#ifndef IKT_BASE_BUILD_H
#define IKT_BASE_BUILD_H

#include <stdbool.h>
#include <stdint.h>

/* Generated (cmake/IktSources.cmake): "05f2883", or "05f2883-dirty" where files differ from that
 * commit; and "0123456789abcdef", of every file that decides what is computed: sources,
 * headers, and what CMake builds them by. */
extern const char *const ikt_commit;
extern const char *const ikt_sources_hash;

/* LOCAL. "commit 05f2883, sources 0123456789abcdef, GNU 12.2.0 -O3 -DNDEBUG". Static. */
const char *ikt_build_text(void);

/* LOCAL, pure. Whether two such texts stand for the same program: whether they agree after the
 * commit, since a commit may change pages alone. A text of another form equals itself only. */
bool ikt_build_is_same(const char *a, const char *b);

/* LOCAL. The same in short: "0.1.0 05f2883-1a2b3c4d", version, commit, and ikt_build_tag in digits.
 * Static. */
const char *ikt_build_name(void);

/* LOCAL. A checksum of ikt_build_text without the commit, in 32 bits. */
uint32_t ikt_build_tag(void);

#endif
