/* Numbers of other machines: one plain loop for each type, in which the order of the bytes is a
 * branch that compilers take out of the loop. */
#include "io/numbers/element.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/half.h"

static const int64_t exact_most = (int64_t)1 << 53;

size_t ikt_type_size(ikt_type type) {
    static const size_t sizes[] = {sizeof(uint8_t), sizeof(float), sizeof(double)};
    return sizes[type];
}

const char *ikt_type_name(ikt_type type) {
    static const char *const names[] = {"uint8", "float32", "float64"};
    return names[type];
}

ikt_type ikt_element_type(ikt_element e) {
    if (e.kind == 'b' || (e.kind == 'u' && e.bytes == 1)) return IKT_TYPE_U8;
    return e.bytes <= (e.kind == 'f' ? 4 : 2) ? IKT_TYPE_F32 : IKT_TYPE_F64;
}

ikt_element ikt_element_numbered(int number, bool big) {
    static const struct {
        char kind;
        int bytes;
    } known[] = {{'u', 1}, {'i', 1}, {'u', 2}, {'i', 2}, {'u', 4}, {'i', 4}, {'u', 8},
                 {'i', 8}, {'f', 2}, {'f', 4}, {'f', 8}, {'B', 2}, {'b', 1}};
    if (number < 0 || number >= (int)(sizeof known / sizeof *known)) return (ikt_element){0};
    return (ikt_element){known[number].kind, known[number].bytes, big};
}

ikt_element ikt_element_native(char kind, int bytes) {
    const uint16_t one = 1;
    return (ikt_element){kind, bytes, *(const unsigned char *)&one == 0};
}

static bool is_swapped(ikt_element e) {
    return e.bytes > 1 && e.big != ikt_element_native(e.kind, e.bytes).big;
}

bool ikt_element_keeps_type(ikt_element e) {
    return ikt_element_type(e) == IKT_TYPE_U8 || (e.kind == 'f' && e.bytes >= 4);
}

bool ikt_element_is_native(ikt_element e) {
    return ikt_element_keeps_type(e) && !is_swapped(e);
}

static uint8_t same(uint8_t bits) {
    return bits;
}

/* The first half of a float32. */
static float brain_value(uint16_t bits) {
    const uint32_t word = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static bool is_exact(int64_t value) {
    return value <= exact_most && value >= -exact_most;
}

/* A loop over elements whose bits are a `word`, which stands for a `number` that comes as `to`.
 * Where values stand side by side compilers take several at a time. */
#define CONVERSION(name, word, swapped, number, to, value_of, fits)                                \
    static inline int64_t name##_apart(const unsigned char *stored, int64_t count, bool swap,      \
                                       to *out, int64_t stride) {                                  \
        for (int64_t i = 0; i < count; i++) {                                                      \
            word bits;                                                                             \
            number x;                                                                              \
            memcpy(&bits, stored + i * (int64_t)sizeof bits, sizeof bits);                         \
            if (swap) bits = swapped(bits);                                                        \
            memcpy(&x, &bits, sizeof x);                                                           \
            if (!(fits)) return i;                                                                 \
            out[i * stride] = (to)value_of(x);                                                     \
        }                                                                                          \
        return count;                                                                              \
    }                                                                                              \
    static int64_t name(const unsigned char *stored, int64_t count, bool swap, void *values,       \
                        int64_t stride) {                                                          \
        return stride == 1 && !swap ? name##_apart(stored, count, false, values, 1)                \
                                    : name##_apart(stored, count, swap, values, stride);           \
    }

CONVERSION(from_u8, uint8_t, same, uint8_t, uint8_t, , true)
CONVERSION(from_i8, uint8_t, same, int8_t, float, , true)
CONVERSION(from_u16, uint16_t, __builtin_bswap16, uint16_t, float, , true)
CONVERSION(from_i16, uint16_t, __builtin_bswap16, int16_t, float, , true)
CONVERSION(from_u32, uint32_t, __builtin_bswap32, uint32_t, double, , true)
CONVERSION(from_i32, uint32_t, __builtin_bswap32, int32_t, double, , true)
CONVERSION(from_u64, uint64_t, __builtin_bswap64, uint64_t, double, , x <= (uint64_t)exact_most)
CONVERSION(from_i64, uint64_t, __builtin_bswap64, int64_t, double, , is_exact(x))
CONVERSION(from_f16, uint16_t, __builtin_bswap16, uint16_t, float, ikt_half_value, true)
CONVERSION(from_b16, uint16_t, __builtin_bswap16, uint16_t, float, brain_value, true)
CONVERSION(from_f32, uint32_t, __builtin_bswap32, float, float, , true)
CONVERSION(from_f64, uint64_t, __builtin_bswap64, double, double, , true)

int64_t ikt_elements_convert(ikt_element e, const void *stored, int64_t count, void *values,
                             int64_t stride) {
    typedef int64_t conversion(const unsigned char *, int64_t, bool, void *, int64_t);
    static conversion *const wholes[2][4] = {{from_u8, from_u16, from_u32, from_u64},
                                             {from_i8, from_i16, from_i32, from_i64}};
    static conversion *const reals[4] = {NULL, from_f16, from_f32, from_f64};
    const int size = e.bytes == 1 ? 0 : e.bytes == 2 ? 1 : e.bytes == 4 ? 2 : 3;
    conversion *const convert = e.kind == 'f'   ? reals[size]
                                : e.kind == 'B' ? from_b16
                                                : wholes[e.kind == 'i'][size];
    return convert(stored, count, is_swapped(e), values, stride);
}

int64_t ikt_rows_convert(const ikt_layout *l, const void *stored, int64_t count, void *values) {
    const ikt_element word = {'u', (int)l->lead, l->element.big};
    const int64_t row = l->lead + l->d * l->element.bytes;
    const int64_t made = l->d * (int64_t)ikt_type_size(ikt_element_type(l->element));
    for (int64_t i = 0; i < count; i++) {
        const char *from = (const char *)stored + i * row;
        if (l->lead > 0 && (int64_t)ikt_element_integer(word, from) != l->d) return i;
        (void)ikt_elements_convert(l->element, from + l->lead, l->d, (char *)values + i * made, 1);
    }
    return count;
}

bool ikt_element_number(ikt_element e, const void *stored, double *value) {
    const ikt_type type = ikt_element_type(e);
    uint8_t byte;
    float narrow;
    void *at = type == IKT_TYPE_U8 ? (void *)&byte : type == IKT_TYPE_F32 ? (void *)&narrow : value;
    if (ikt_elements_convert(e, stored, 1, at, 1) < 1) return false;
    if (type != IKT_TYPE_F64) *value = type == IKT_TYPE_U8 ? (double)byte : (double)narrow;
    return true;
}

double ikt_element_integer(ikt_element e, const void *stored) {
    uint64_t bits = 0;
    for (int b = 0; b < e.bytes; b++)
        bits = bits << 8 | ((const unsigned char *)stored)[e.big ? b : e.bytes - 1 - b];
    const int unused = 64 - 8 * e.bytes; /* shifting there and back extends the sign */
    return e.kind == 'i' ? (double)((int64_t)(bits << unused) >> unused) : (double)bits;
}

/* Turning a tile of a matrix that stands by columns into rows. */

enum { BLOCK_ROWS = 512 };

int64_t ikt_turn(ikt_element element, const void *stored, int64_t columns, int64_t count,
                 void *values, int64_t d) {
    const char *from = stored;
    char *to = values;
    const int64_t size = element.bytes, value = (int64_t)ikt_type_size(ikt_element_type(element));
    for (int64_t first = 0; first < count; first += BLOCK_ROWS) {
        const int64_t rows = count - first < BLOCK_ROWS ? count - first : BLOCK_ROWS;
        for (int64_t c = 0; c < columns; c++) {
            const int64_t at = c * count + first;
            const int64_t good = ikt_elements_convert(element, from + at * size, rows,
                                                      to + (first * d + c) * value, d);
            if (good < rows) return at + good;
        }
    }
    return -1;
}

/* Numbers of one type as numbers of another. */

void ikt_number_put(ikt_type type, void *values, int64_t i, double value) {
    if (type == IKT_TYPE_F32)
        ((float *)values)[i] = (float)value;
    else if (type == IKT_TYPE_F64)
        ((double *)values)[i] = value;
    else
        ((uint8_t *)values)[i] = (uint8_t)value;
}

int64_t ikt_recast(ikt_type from, const void *values, ikt_type to, bool keeps_nan, void *recast,
                   int64_t count) {
    const bool nan_fits = keeps_nan && to != IKT_TYPE_U8;
    for (int64_t i = 0; i < count; i++) {
        const double value = ikt_number_at(from, values, i);
        if (!ikt_number_fits(to, value) && !(nan_fits && isnan(value))) return i;
        ikt_number_put(to, recast, i, value);
    }
    return -1;
}

/* --- decimal notation ------------------------------------------------------------------------- */

enum { DIGITS_MOST = 19, POWER_MOST = 22, EXPONENT_MOST = 10000 };
static const double powers[POWER_MOST + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Digits as they are read: an integer and a power of ten. */
typedef struct {
    uint64_t integer;
    int digits; /* that count, leading zeros left out */
    int power;
    bool some; /* digit at all */
} decimal;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static const char *take_digits(const char *at, decimal *number, bool fraction) {
    for (; is_digit(*at); at++) {
        number->some = true;
        if (number->digits < DIGITS_MOST) {
            number->integer = 10 * number->integer + (uint64_t)(*at - '0');
            number->power -= fraction;
            number->digits += number->integer > 0;
        } else {
            number->digits = DIGITS_MOST + 1; /* too many: strtod */
        }
    }
    return at;
}

/* "e-05"; nothing is taken where no digit follows. */
static const char *take_exponent(const char *at, decimal *number) {
    const char *from = at + 1;
    const bool negative = *from == '-';
    if (*from == '-' || *from == '+') from++;
    if (!is_digit(*from)) return at;
    int exponent = 0;
    for (; is_digit(*from); from++)
        if (exponent < EXPONENT_MOST) exponent = 10 * exponent + (*from - '0');
    number->power += negative ? -exponent : exponent;
    return from;
}

/* What strtod makes of it. Hexadecimal numbers, and a name in brackets after nan, are none. */
static bool take_slowly(const char *text, const char **end, double *value) {
    char *stop;
    *value = strtod(text, &stop);
    *end = stop;
    for (const char *at = text; at < stop; at++)
        if (*at == 'x' || *at == 'X' || *at == '(') return false;
    return stop != text;
}

bool ikt_decimal(const char *text, const char **end, double *value) {
    decimal number = {0, 0, 0, false};
    const char *at = text;
    const bool negative = *at == '-';
    if (*at == '-' || *at == '+') at++;
    if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) return false;
    at = take_digits(at, &number, false);
    if (*at == '.') at = take_digits(at + 1, &number, true);
    if (!number.some) return take_slowly(text, end, value);
    if (*at == 'e' || *at == 'E') at = take_exponent(at, &number);
    if (number.digits > DIGITS_MOST || number.integer > (uint64_t)exact_most ||
        number.power > POWER_MOST || number.power < -POWER_MOST)
        return take_slowly(text, end, value);
    const double integer = (double)number.integer;
    const double size =
        number.power < 0 ? integer / powers[-number.power] : integer * powers[number.power];
    *value = negative ? -size : size;
    *end = at;
    return true;
}

bool ikt_decimal_whole(const char *text, double *value) {
    const char *end;
    return ikt_decimal(text, &end, value) && *end == '\0';
}

bool ikt_decimal_rounds(const char *text, double value) {
    char held[400]; /* of up to 309 digits */
    const double beyond = 9007199254740992.0;
    if (!(fabs(value) >= beyond) || !isfinite(value)) return false;
    text += *text == '-' || *text == '+';
    text += strspn(text, "0");
    const size_t digits = strspn(text, "0123456789");
    if (strchr(".eE", text[digits]) && text[digits]) return false;
    snprintf(held, sizeof held, "%.0f", fabs(value));
    return strlen(held) != digits || memcmp(held, text, digits) != 0;
}
