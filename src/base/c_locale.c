/* The C library's functions for numbers as text, in the C locale. See c_locale.h. */
#define _POSIX_C_SOURCE 200809L
#include "base/c_locale.h"

#include <locale.h>
#include <pthread.h>

/* Here the C library's own are called. */
#undef strtod
#undef strtof
#undef strcasecmp
#undef vsnprintf
#undef snprintf
#undef fprintf

static locale_t c_locale; /* 0 where it cannot be had: then the thread's own stays */

static void find_c_locale(void) {
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Puts the calling thread into the C locale; returns the one to be set when the work is done. */
static locale_t enter(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_c_locale);
    return uselocale(c_locale);
}

double ikt_strtod(const char *text, char **end) {
    const locale_t own = enter();
    const double value = strtod(text, end);
    uselocale(own);
    return value;
}

float ikt_strtof(const char *text, char **end) {
    const locale_t own = enter();
    const float value = strtof(text, end);
    uselocale(own);
    return value;
}

int ikt_strcasecmp(const char *a, const char *b) {
    const locale_t own = enter();
    const int order = strcasecmp(a, b);
    uselocale(own);
    return order;
}

int ikt_vsnprintf(char *text, size_t size, const char *format, va_list values) {
    const locale_t own = enter();
    const int length = vsnprintf(text, size, format, values);
    uselocale(own);
    return length;
}

int ikt_snprintf(char *text, size_t size, const char *format, ...) {
    va_list values;
    va_start(values, format);
    const int length = ikt_vsnprintf(text, size, format, values);
    va_end(values);
    return length;
}

int ikt_fprintf(FILE *file, const char *format, ...) {
    va_list values;
    va_start(values, format);
    const locale_t own = enter();
    const int length = vfprintf(file, format, values);
    uselocale(own);
    va_end(values);
    return length;
}
