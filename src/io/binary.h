/* Binary numbers of other machines, read through zlib (plain files, too). */
#ifndef IKT_IO_BINARY_H
#define IKT_IO_BINARY_H

#include <zlib.h>

#include "io/reader.h"

/* How an element is stored. */
typedef struct {
    char kind; /* 'u' unsigned, 'i' signed, 'f' floating, 'b' truth value */
    int bytes; /* 1, 2, 4 or 8 */
    bool big;  /* most significant byte first */
} ikt_element;

/* LOCAL. The type that holds such elements exactly (64-bit integers: up to 2^53). */
ikt_type ikt_element_type(ikt_element element);

/* LOCAL. Converts `count` stored elements to the type of ikt_element_type. */
void ikt_element_convert(ikt_element element, const unsigned char *stored, int64_t count,
                         void *values);

/* LOCAL. Reads exactly `bytes` bytes. Errors: IKT_ERR_FILE: the file ends too early, naming the row
 * of the reader at which it does. */
ikt_status ikt_binary_read(ikt_reader *reader, gzFile file, void *data, int64_t bytes);

/* LOCAL. a * b * c as a count of bytes; IKT_ERR_DATA where that cannot be. */
ikt_status ikt_binary_size(ikt_reader *reader, int64_t a, int64_t b, int64_t c, int64_t *bytes);

#endif
