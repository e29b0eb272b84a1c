/* Writing JSON. */
#include "app/json.h"

#include <math.h>

#include "base/encoding.h"
#include "config/value.h"

static bool is_line;

void ikt_json_among_lines(void) {
    is_line = true;
}

/* A line of its own, unless all is to be on one. */
static void indent(const ikt_json *json, const char *otherwise) {
    if (is_line)
        fputs(otherwise, json->file);
    else
        fprintf(json->file, "\n%*s", 2 * json->depth, "");
}

static void lead(ikt_json *json, const char *key) {
    if (json->comma) fputc(',', json->file);
    if (json->depth > 0) indent(json, json->comma ? " " : "");
    if (key) {
        ikt_quote(json->file, key);
        fputs(": ", json->file);
    }
    json->comma = true;
}

void ikt_json_begin(ikt_json *json, const char *key, char bracket) {
    lead(json, key);
    fputc(bracket, json->file);
    json->depth++;
    json->comma = false;
}

void ikt_json_end(ikt_json *json, char bracket) {
    json->depth--;
    indent(json, "");
    fputc(bracket, json->file);
    json->comma = true;
    if (json->depth == 0) fputc('\n', json->file);
}

void ikt_json_text(ikt_json *json, const char *key, const char *value) {
    lead(json, key);
    ikt_quote(json->file, value);
}

void ikt_json_bool(ikt_json *json, const char *key, bool value) {
    lead(json, key);
    fputs(value ? "true" : "false", json->file);
}

void ikt_json_int(ikt_json *json, const char *key, int64_t value) {
    lead(json, key);
    fprintf(json->file, "%lld", (long long)value);
}

void ikt_json_hash(ikt_json *json, const char *key, uint64_t value) {
    lead(json, key);
    fprintf(json->file, "\"%016llx\"", (unsigned long long)value);
}

void ikt_json_real(ikt_json *json, const char *key, double value) {
    char text[IKT_REAL_TEXT] = "null";
    lead(json, key);
    if (isfinite(value)) ikt_real_print(value, text);
    fputs(text, json->file);
}
