/* One value: from text with a message that says what would do, and back to text. */
#include "config/value.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"

static ikt_status refuse(ikt_context *ctx, const ikt_key *key, const char *what, const char *text) {
    char expected[256];
    ikt_value_expected(key, expected, sizeof expected);
    return ikt_fail(ctx, IKT_ERR_USAGE, "%s: '%.80s' is not %s", what, text, expected);
}

/* The whole text as a finite number. */
static bool parse_number(const char *text, double *value) {
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    bool hexadecimal = strpbrk(text, "xX") != NULL;
    return end != text && *end == '\0' && isfinite(*value) && !hexadecimal &&
           strchr(" \t\n\r\f\v", text[0]) == NULL;
}

static bool parse_integer(const char *text, int64_t *value) {
    char *end;
    errno = 0;
    long long exact = strtoll(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0 && strchr(" \t\n\r\f\v", text[0]) == NULL) {
        *value = exact;
        return true;
    }
    double number; /* 1e6 is an integer, too */
    if (!parse_number(text, &number) || fabs(number) > 9e15 || number != floor(number))
        return false;
    *value = (int64_t)number;
    return true;
}

static bool parse_bool(const char *text, bool *value) {
    static const char *const words[] = {"no",  "yes", "false", "true",
                                        "off", "on",  "0",     "1"}; /* odd entries are true */
    for (int i = 0; i < 8; i++)
        if (strcasecmp(text, words[i]) == 0) {
            *value = i % 2 == 1;
            return true;
        }
    return false;
}

/* Index of `text` among "a|b|c", or -1. */
static int choice_index(const char *choices, const char *text) {
    size_t length = strlen(text);
    int index = 0;
    for (const char *at = choices;; index++) {
        size_t width = strcspn(at, "|");
        if (width == length && strncmp(at, text, length) == 0) return index;
        if (at[width] == '\0') return -1;
        at += width + 1;
    }
}

static void choice_name(const char *choices, int index, char *text, size_t size) {
    while (index-- > 0)
        choices += strcspn(choices, "|") + 1;
    snprintf(text, size, "%.*s", (int)strcspn(choices, "|"), choices);
}

ikt_status ikt_value_parse(ikt_context *ctx, const ikt_key *key, const char *what, const char *text,
                           void *member) {
    bool is_auto = key->allow_auto && strcmp(text, "auto") == 0;
    switch (key->type) {
    case IKT_KEY_INT: {
        int64_t value = IKT_AUTO_INT;
        if (!is_auto &&
            (!parse_integer(text, &value) || (double)value < key->low || (double)value > key->high))
            return refuse(ctx, key, what, text);
        *(int64_t *)member = value;
        return IKT_OK;
    }
    case IKT_KEY_REAL: {
        double value = IKT_AUTO_REAL;
        if (!is_auto && (!parse_number(text, &value) || value < key->low || value > key->high))
            return refuse(ctx, key, what, text);
        *(double *)member = value;
        return IKT_OK;
    }
    case IKT_KEY_BOOL:
        return parse_bool(text, member) ? IKT_OK : refuse(ctx, key, what, text);
    case IKT_KEY_CHOICE: {
        int index = choice_index(key->choices, text);
        if (index < 0) return refuse(ctx, key, what, text);
        *(int *)member = index;
        return IKT_OK;
    }
    case IKT_KEY_STRING:
        if (strlen(text) >= IKT_STRING_MAX)
            return ikt_fail(ctx, IKT_ERR_USAGE, "%s: longer than %d characters", what,
                            IKT_STRING_MAX - 1);
        if (!ikt_utf8_valid(text)) /* the configuration is written back as YAML, which is UTF-8 */
            return ikt_fail(ctx, IKT_ERR_USAGE, "%s: not UTF-8 text", what);
        strcpy(member, text);
        return IKT_OK;
    }
    return IKT_ERR_INTERNAL;
}

void ikt_real_print(double value, char text[IKT_REAL_TEXT]) {
    if (value == floor(value) && fabs(value) < 1e15) { /* "%g" would write 30 as 3e+01 */
        snprintf(text, IKT_REAL_TEXT, "%.0f", value);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, IKT_REAL_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value) return;
    }
}

void ikt_value_print(const ikt_key *key, const void *member, char *text, size_t size) {
    char real[IKT_REAL_TEXT] = "auto";
    switch (key->type) {
    case IKT_KEY_INT:
        if (key->allow_auto && *(const int64_t *)member == IKT_AUTO_INT)
            snprintf(text, size, "auto");
        else
            snprintf(text, size, "%lld", (long long)*(const int64_t *)member);
        break;
    case IKT_KEY_REAL:
        if (!key->allow_auto || *(const double *)member != IKT_AUTO_REAL)
            ikt_real_print(*(const double *)member, real);
        snprintf(text, size, "%s", real);
        break;
    case IKT_KEY_BOOL:
        snprintf(text, size, "%s", *(const bool *)member ? "yes" : "no");
        break;
    case IKT_KEY_CHOICE:
        choice_name(key->choices, *(const int *)member, text, size);
        break;
    case IKT_KEY_STRING:
        snprintf(text, size, "%s", (const char *)member);
        break;
    }
}

void ikt_value_expected(const ikt_key *key, char *text, size_t size) {
    const char *or_auto = key->allow_auto ? ", or auto" : "";
    switch (key->type) {
    case IKT_KEY_INT:
        snprintf(text, size, "an integer from %.15g to %.15g%s", key->low, key->high, or_auto);
        break;
    case IKT_KEY_REAL:
        snprintf(text, size, "a number from %g to %g%s", key->low, key->high, or_auto);
        break;
    case IKT_KEY_BOOL:
        snprintf(text, size, "yes or no");
        break;
    case IKT_KEY_STRING:
        snprintf(text, size, "text");
        break;
    case IKT_KEY_CHOICE: {
        size_t used = (size_t)snprintf(text, size, "one of ");
        for (const char *c = key->choices; *c && used + 3 < size; c++) {
            if (*c == '|') {
                text[used++] = ',';
                text[used++] = ' ';
            } else {
                text[used++] = *c;
            }
        }
        text[used] = '\0';
        break;
    }
    }
}
