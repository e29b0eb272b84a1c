/* Numbers as text, in the C locale whatever locale the process has.
 *
 * A program that calls the library may have a locale of its own (setlocale), in which printf writes
 * and strtod reads 0,8. Settings, files and pages have 0.8, so the functions of the C library that
 * read or write numbers are replaced here, for every file that includes base/status.h, by ones that
 * put the calling thread into the C locale while they work. It is done for each call and not once
 * where the library is entered: threads of OpenMP have a locale each, and what the host does in its
 * own functions (watchers, logs, sources of rows) shall find the locale that it has set.
 * Libraries below us keep to the C locale by themselves (cairo) or have no numbers in text (HDF5,
 * libyaml). tests/house/symbols.sh finds an object of the library that calls the C library's own.
 */
#ifndef IKT_BASE_C_LOCALE_H
#define IKT_BASE_C_LOCALE_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* LOCAL. As the functions of the C library without ikt_. */
double ikt_strtod(const char *text, char **end);
float ikt_strtof(const char *text, char **end);
int ikt_strcasecmp(const char *a, const char *b);
int ikt_vsnprintf(char *text, size_t size, const char *format, va_list values)
    __attribute__((format(printf, 3, 0)));
int ikt_snprintf(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int ikt_fprintf(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define strtod(...)     ikt_strtod(__VA_ARGS__)
#define strtof(...)     ikt_strtof(__VA_ARGS__)
#define strcasecmp(...) ikt_strcasecmp(__VA_ARGS__)
#define vsnprintf(...)  ikt_vsnprintf(__VA_ARGS__)
#define snprintf(...)   ikt_snprintf(__VA_ARGS__)
#define fprintf(...)    ikt_fprintf(__VA_ARGS__)

#endif
