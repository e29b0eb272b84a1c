/* Writing JSON. */
#include "app/json.h"

#include <math.h>

#include "config/utf8.h"
#include "config/value.h"

/* Bytes that are no UTF-8 (file names may hold any) become U+FFFD. */
static void quote(FILE *file, const char *text) {
    fputc('"', file);
    while (*text) {
        uint32_t point = 0;
        int length = ikt_utf8_decode(text, &point);
        if (length == 0)
            fputs("\\ufffd", file);
        else if (point == '"' || point == '\\')
            fprintf(file, "\\%c", (int)point);
        else if (point < 32)
            fprintf(file, "\\u%04x", (unsigned)point);
        else
            fprintf(file, "%.*s", length, text);
        text += length > 0 ? length : 1;
    }
    fputc('"', file);
}

static void lead(ikt_json *json, const char *key) {
    if (json->comma) fputc(',', json->file);
    if (json->depth > 0) fprintf(json->file, "\n%*s", 2 * json->depth, "");
    if (key) {
        quote(json->file, key);
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
    fprintf(json->file, "\n%*s%c", 2 * json->depth, "", bracket);
    json->comma = true;
    if (json->depth == 0) fputc('\n', json->file);
}

void ikt_json_text(ikt_json *json, const char *key, const char *value) {
    lead(json, key);
    quote(json->file, value);
}

void ikt_json_bool(ikt_json *json, const char *key, bool value) {
    lead(json, key);
    fputs(value ? "true" : "false", json->file);
}

void ikt_json_int(ikt_json *json, const char *key, int64_t value) {
    lead(json, key);
    fprintf(json->file, "%lld", (long long)value);
}

void ikt_json_real(ikt_json *json, const char *key, double value) {
    char text[IKT_REAL_TEXT] = "null";
    lead(json, key);
    if (isfinite(value)) ikt_real_print(value, text);
    fputs(text, json->file);
}
