/* Bytes as text of 64 letters (RFC 4648), as HTML files hold them. */
#ifndef IKT_BASE_BASE64_H
#define IKT_BASE_BASE64_H

#include <stdint.h>

/* LOCAL, pure. Letters that `count` bytes become: four for every three bytes begun. */
int64_t ikt_base64_length(int64_t count);

/* LOCAL. Writes them to text[ikt_base64_length(count)], without a terminating zero. */
void ikt_base64(const void *bytes, int64_t count, char *text);

#endif
