/* Numbers as files of other programs store them, made ours.
 *
 * uint8 (and truth values), float32 and float64 keep their type; float16, brain floats and integers
 * of up to 16 bits come as float32, larger integers as float64, which hold them exactly up to 2^53.
 */
#ifndef IKT_IO_NUMBERS_ELEMENT_H
#define IKT_IO_NUMBERS_ELEMENT_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iktsne/base.h"

/* LOCAL, pure. The bytes of a number of the type, and its name, for example "uint8". */
size_t ikt_type_size(ikt_type type);
const char *ikt_type_name(ikt_type type);

/* The type that kernels hold rows in: bytes that are exactly such, or else floats; and its bytes.
 */
static inline ikt_type ikt_held_type(bool is_u8) {
    return is_u8 ? IKT_TYPE_U8 : IKT_TYPE_F32;
}

static inline int64_t ikt_held_bytes(bool is_u8) {
    return (int64_t)ikt_type_size(ikt_held_type(is_u8));
}

/* How a number is stored. */
typedef struct {
    char kind; /* 'u' unsigned, 'i' signed, 'f' floating, 'B' a brain float, of 2 bytes, 'b' truth
                  value */
    int bytes; /* 1, 2, 4 or 8 */
    bool big;  /* most significant byte first */
} ikt_element;

/* Where the numbers of an n x d array stand in a file that is not compressed. */
typedef struct {
    ikt_element element;
    int64_t offset;  /* bytes before the first */
    int64_t n, d;    /* rows, columns */
    bool by_columns; /* column after column (numpy's Fortran order), not row after row */
    bool is_list;    /* of one axis, which is n x 1 here */
    int64_t lead; /* bytes before each row, which say as an integer that it has d columns; 0 or 4 */
} ikt_layout;

/* The types of numbers as options and settings name them. */
#define IKT_ELEMENT_NAMES                                                                          \
    "uint8|int8|uint16|int16|uint32|int32|uint64|int64|float16|float32|float64"

/* LOCAL, pure. The type of that number among these names, from 0; behind them stand brain floats
 * and truth values. bytes = 0 where there is none. */
ikt_element ikt_element_numbered(int number, bool big);

/* LOCAL, pure. Numbers as this machine stores them. */
ikt_element ikt_element_native(char kind, int bytes);

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

/* LOCAL. Whole rows as they are stored, what leads each among them, to values[count * d] of
 * ikt_element_type. Returns `count`, or the number of the first row that is said to have another
 * number of columns. Types whose values all fit are meant: no integers of 64 bits. */
int64_t ikt_rows_convert(const ikt_layout *layout, const void *stored, int64_t count, void *values);

/* LOCAL. One element; false where a double does not hold it exactly. */
bool ikt_element_number(ikt_element element, const void *stored, double *value);

/* LOCAL, pure. One element that is an integer, for messages; rounded. */
double ikt_element_integer(ikt_element element, const void *stored);

/* Turning a tile of a matrix that stands by columns into rows.
 *
 * Blocks of rows small enough that the lines they are written to stay in the cache while column
 * after column adds its numbers.
 */

/* LOCAL. values[i * d + c] = stored[c * count + i], converted (ikt_elements_convert).
 *   stored   [columns * count] elements
 *   values   the first value of the tile in rows of d values of ikt_element_type
 * Returns -1, or the place in `stored` of an integer that no floating number holds exactly. */
int64_t ikt_turn(ikt_element element, const void *stored, int64_t columns, int64_t count,
                 void *values, int64_t d);

/* Numbers of one type as numbers of another, where nothing is lost but digits.
 *
 * Floats may round a number, but must be able to hold it; bytes hold it exactly or not at all. What
 * is not finite cannot be embedded, so it fits no type: it is refused when a file is converted,
 * where it can still be mended.
 */

/* LOCAL, pure. The i-th of an array. (In line, as the next one: parsers ask it of each number.) */
static inline double ikt_number_at(ikt_type type, const void *values, int64_t i) {
    return type == IKT_TYPE_U8    ? (double)((const uint8_t *)values)[i]
           : type == IKT_TYPE_F32 ? (double)((const float *)values)[i]
                                  : ((const double *)values)[i];
}

/* LOCAL, pure. Whether a number can be stored as this type. */
static inline bool ikt_number_fits(ikt_type type, double value) {
    if (type == IKT_TYPE_U8) return value >= 0 && value <= 255 && value == floor(value);
    return type == IKT_TYPE_F32 ? fabs(value) <= (double)FLT_MAX : isfinite(value);
}

/* LOCAL. values[count] of type `from` into recast[count] of type `to`. Returns the first that does
 * not fit, or -1. NaN fits a floating-point type where keeps_nan says so, and no type otherwise. */
int64_t ikt_recast(ikt_type from, const void *values, ikt_type to, bool keeps_nan, void *recast,
                   int64_t count);

/* LOCAL. Puts a number that fits at values[i]. */
void ikt_number_put(ikt_type type, void *values, int64_t i, double value);

/* Numbers in decimal notation, correctly rounded, faster than strtod.
 *
 * Method: a number of up to 19 digits whose digits make an integer of at most 2^53, times or over
 * a power of ten of at most 10^22, is one exact integer and one exact power; the one operation
 * between them rounds correctly (W. D. Clinger, How to read floating point numbers accurately, PLDI
 * 1990).
 * Everything else goes to strtod. Advantage: nearly all numbers that files hold are short, and take
 * a few nanoseconds. Disadvantage: numbers of 17 digits are mostly as slow as before.
 */

/* LOCAL, pure. The number that `text` begins with, as strtod reads it in the locale "C" but without
 * hexadecimal ones; nan and inf are numbers.
 *   end   receives the first character behind it. Returns false where there is no number. */
bool ikt_decimal(const char *text, const char **end, double *value);

/* LOCAL, pure. The same where the whole text is the number. */
bool ikt_decimal_whole(const char *text, double *value);

/* LOCAL, pure. Whether the number that `text` begins with, which is `value`, is a whole one in
 * digits alone that a double rounds: 2^53 + 1, an id of 19 digits. */
bool ikt_decimal_rounds(const char *text, double value);

#endif
