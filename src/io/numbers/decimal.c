/* Numbers in decimal notation. See decimal.h. */
#include "io/numbers/decimal.h"

#include <stdint.h>
#include <stdlib.h>

enum { DIGITS_MOST = 19, POWER_MOST = 22, EXPONENT_MOST = 10000 };
static const uint64_t exact_most = (uint64_t)1 << 53;
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
    if (number.digits > DIGITS_MOST || number.integer > exact_most || number.power > POWER_MOST ||
        number.power < -POWER_MOST)
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
