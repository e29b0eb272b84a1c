/* Binary numbers of other machines, from a file, gzipped or not, or from an archive (bytes.h). */
#ifndef IKT_IO_FORMATS_BINARY_H
#define IKT_IO_FORMATS_BINARY_H

#include "io/formats/bytes.h"
#include "io/formats/reader.h"
#include "io/numbers/element.h"

/* An array of the reader's n x d elements in a file, after its header. */
typedef struct {
    ikt_bytes bytes;
    ikt_element element;
    int64_t header;        /* bytes before the elements */
    unsigned char *stored; /* a block as stored */
    int64_t room;          /* bytes of `stored` */
} ikt_binary;

/* LOCAL. Closes and frees what the struct holds; an all-zero struct holds nothing. */
void ikt_binary_close(ikt_binary *array);

/* LOCAL. Reads exactly `bytes` bytes of the header. Errors: IKT_ERR_FILE. */
ikt_status ikt_binary_header(ikt_reader *reader, ikt_binary *array, void *data, int64_t bytes);

/* LOCAL. Ends the header: sets the reader's n, d, type and layout. Bytes of known number must have
 * the announced length, or at least that where `more` may follow.
 * Errors: IKT_ERR_DATA (impossible size, too long), IKT_ERR_FILE (too short). */
ikt_status ikt_binary_shape(ikt_reader *reader, ikt_binary *array, int64_t n, int64_t d, bool more);

/* LOCAL. Reads `count` elements into array->stored. `done` elements of the array have been read
 * before. Errors: IKT_ERR_FILE: the file ends too early or is damaged, with the sizes. */
ikt_status ikt_binary_read(ikt_reader *reader, ikt_binary *array, int64_t done, int64_t count);

/* LOCAL. Converts `count` stored elements, the first at number `first` of array->stored, to the
 * reader's type; values[i * stride]. Errors: IKT_ERR_DATA: a 64-bit integer beyond 2^53. */
ikt_status ikt_binary_convert(ikt_reader *reader, const ikt_binary *array, int64_t first,
                              int64_t count, void *values, int64_t stride);

/* LOCAL. a * b, both at least 0, or -1 where that is too much for a file. */
int64_t ikt_binary_product(int64_t a, int64_t b);

#endif
