/* Configuration keys: declared once, in tables beside the module that uses them.
 *
 * A module defines a plain settings struct and one const ikt_section that describes its members.
 * Parsing, checking, --help and the written-back configuration all follow from the tables; modules
 * receive their struct and never look up keys.
 */
#ifndef IKT_CONFIG_KEY_H
#define IKT_CONFIG_KEY_H

#include <stddef.h>
#include <stdint.h>

enum { IKT_STRING_MAX = 1024 }; /* size of a string member, with its terminating zero */

/* The value of an INT or REAL member for which the user (or the default) said "auto". */
#define IKT_AUTO_INT  INT64_MIN
#define IKT_AUTO_REAL (-1e300)

/* LOCAL, pure. What is chosen, or what is usual where that is left to be chosen. */
static inline int64_t ikt_chosen(int64_t value, int64_t usual) {
    return value == IKT_AUTO_INT ? usual : value;
}

typedef enum {
    IKT_KEY_INT,    /* member int64_t */
    IKT_KEY_REAL,   /* member double */
    IKT_KEY_BOOL,   /* member bool; yes/no, true/false, on/off, 1/0 */
    IKT_KEY_STRING, /* member char[IKT_STRING_MAX] */
    IKT_KEY_CHOICE  /* member int: index into `choices` */
} ikt_key_type;

typedef struct {
    const char *name; /* "psi" */
    ikt_key_type type;
    size_t offset;        /* of the member in the section's struct */
    const char *fallback; /* default value, as the user would write it; may be "auto" */
    double low, high;     /* INT, REAL: least and largest legal value, both included */
    int allow_auto;       /* INT, REAL: "auto" is legal */
    const char *choices;  /* CHOICE: "isolation|gaussian" */
    const char *unit;     /* "points", "iterations", "" */
    const char *help;     /* one or two sentences for a scientist, no full stop at the end */
} ikt_key;

/* A key with the name of its member of a struct. */
#define IKT_KEY_OF(of, name, type, usual, low, high, is_auto, choices, unit, help)                 \
    { #name, type, offsetof(of, name), usual, low, high, is_auto, choices, unit, help }

typedef struct {
    const char *name; /* "isolation" */
    const char *help; /* one sentence */
    const ikt_key *keys;
    size_t n_keys;
} ikt_section;

#endif
