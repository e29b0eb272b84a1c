/* Numbers as files of other programs store them, made ours.
 *
 * uint8 (and truth values), float32 and float64 keep their type; float16 and integers of up to 16
 * bits come as float32, larger integers as float64, which hold them exactly up to 2^53.
 */
#ifndef IKT_IO_NUMBERS_ELEMENT_H
#define IKT_IO_NUMBERS_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iktsne/type.h"

/* LOCAL, pure. The bytes of a number of the type, and its name, for example "uint8". */
size_t ikt_type_size(ikt_type type);
const char *ikt_type_name(ikt_type type);

/* How a number is stored. */
typedef struct {
    char kind; /* 'u' unsigned, 'i' signed, 'f' floating, 'b' truth value */
    int bytes; /* 1, 2, 4 or 8 */
    bool big;  /* most significant byte first */
} ikt_element;

/* Where the numbers of an n x d array stand in a file that is not compressed. */
typedef struct {
    ikt_element element;
    int64_t offset;  /* bytes before the first */
    int64_t n, d;    /* rows, columns */
    bool by_columns; /* column after column (numpy's Fortran order), not row after row */
} ikt_layout;

/* LOCAL, pure. The type that elements come as; whether the stored bytes are of that type already,
 * but for their order; whether that order is ours, too. */
ikt_type ikt_element_type(ikt_element element);
bool ikt_element_keeps_type(ikt_element element);
bool ikt_element_is_native(ikt_element element);

/* LOCAL. Converts `count` elements to values[i * stride] of ikt_element_type.
 *   stored   [count * element.bytes], need not be aligned; may be `values` where the type is kept
 *            and stride is 1
 * Returns `count`, or the number of the first integer that no floating number holds exactly. */
int64_t ikt_elements_convert(ikt_element element, const void *stored, int64_t count, void *values,
                             int64_t stride);

/* LOCAL. One element; false where a double does not hold it exactly. */
bool ikt_element_number(ikt_element element, const void *stored, double *value);

/* LOCAL, pure. One element, for messages. */
double ikt_element_value(ikt_element element, const void *stored);

#endif
