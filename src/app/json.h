/* Writing JSON: a small writer that cannot produce invalid text. */
#ifndef IKT_APP_JSON_H
#define IKT_APP_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A writer; start with {file}. Keys are NULL inside arrays. */
typedef struct {
    FILE *file;
    int depth;
    bool comma; /* the next value is not the first of its container */
} ikt_json;

/* LOCAL. From now on each outermost container is one line, as those of a log in JSON are: who sends
 * both to one file can read it line by line. */
void ikt_json_among_lines(void);

/* LOCAL, all of them. Containers: begin with '{' or '[', end with '}' or ']'. Text may hold any
 * bytes; those that are no UTF-8 come out as U+FFFD. */
void ikt_json_begin(ikt_json *json, const char *key, char bracket);
void ikt_json_end(ikt_json *json, char bracket);
void ikt_json_text(ikt_json *json, const char *key, const char *value);
void ikt_json_bool(ikt_json *json, const char *key, bool value);
void ikt_json_int(ikt_json *json, const char *key, int64_t value);
void ikt_json_hash(ikt_json *json, const char *key, uint64_t value); /* 16 hexadecimal digits */
/* Numbers in the fewest digits that give the same double; null when not finite. */
void ikt_json_real(ikt_json *json, const char *key, double value);

#endif
