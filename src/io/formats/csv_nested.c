/* Cells within cells: the members of an object of JSON, the numbers of a vector. See csv_file.h. */
#include "io/formats/csv_file.h"

#include <string.h>

#include "base/encoding.h"
#include "io/numbers/element.h"

static const char blanks[] = " \t\r\n";

static char *skip(char *at) {
    return at + strspn(at, blanks);
}

/* --- vectors ---------------------------------------------------------------------------------- */

int64_t ikt_csv_vector(const char *cell, double *values, int64_t most) {
    static const char open[] = "[({", close[] = "])}";
    const char *bracket = *cell ? strchr(open, *cell) : NULL, *at = cell + 1;
    if (!bracket) return -1;
    int64_t count = 0;
    for (at += strspn(at, blanks); *at && *at != close[bracket - open]; count++) {
        double value;
        if (!ikt_decimal(at, &at, &value)) return -1;
        if (count < most) values[count] = value;
        const char *end = at;
        at += strspn(at, blanks);
        const bool is_comma = *at == ',';
        if (is_comma) at += 1 + strspn(at + 1, blanks);
        if (!is_comma && at == end && *at != close[bracket - open]) return -1;
    }
    if (*at == '\0') return -1;
    at++;
    return at[strspn(at, blanks)] == '\0' ? count : -1;
}

/* --- objects ---------------------------------------------------------------------------------- */

static int hex(const char *at) {
    int value = 0;
    for (int k = 0; k < 4; k++) {
        const char c = at[k];
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) return -1;
        value = 16 * value + digit;
    }
    return value;
}

/* "\u00e4", or a pair of them, of which *at stands on the first digit, as UTF-8; what ends texts in
 * C, or is half of a pair, as the sign for what is none. */
static char *take_code(const char **at, char *to) {
    int code = hex(*at);
    if (code < 0) return NULL;
    *at += 4;
    if (code >= 0xD800 && code < 0xDC00 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        const int low = hex(*at + 2);
        if (low >= 0xDC00 && low < 0xE000) {
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            *at += 6;
        }
    }
    if (code == 0 || (code >= 0xD800 && code < 0xE000)) code = IKT_UTF8_REPLACEMENT;
    char bytes[5];
    const int length = ikt_utf8_encode((uint32_t)code, bytes);
    memcpy(to, bytes, (size_t)length);
    return to + length;
}

/* A text between quotes, unescaped where it stands: writing never overtakes reading. Leaves *at
 * behind it; *end is where its zero belongs. False where no quote closes it. */
static bool take_text(char **at, char **end) {
    static const char named[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *from = *at + 1;
    char *to = *at;
    while (*from != '"') {
        if (*from == '\0') return false;
        if (*from != '\\') {
            *to++ = *from++;
            continue;
        }
        const char *name = from[1] ? strchr(named, from[1]) : NULL;
        if (name) {
            *to++ = meant[name - named];
            from += 2;
        } else if (from[1] == 'u') {
            from += 2;
            to = take_code(&from, to);
            if (!to) return false;
        } else {
            return false;
        }
    }
    *at += from + 1 - *at;
    *end = to;
    return true;
}

/* What is no text: a number, a word, or an array or object with all that it holds. */
static bool take_other(char **at, char **end) {
    char *from = *at;
    int depth = 0;
    for (bool is_quoted = false; *from; from++) {
        if (is_quoted) {
            if (*from == '\\' && from[1])
                from++;
            else if (*from == '"')
                is_quoted = false;
            continue;
        }
        if (depth == 0 && strchr(",}]", *from)) break;
        is_quoted = *from == '"';
        depth += *from == '[' || *from == '{';
        depth -= *from == ']' || *from == '}';
    }
    *end = from;
    while (*end > *at && strchr(blanks, (*end)[-1]))
        --*end;
    const bool is_some = *end > *at && *from;
    *at = from;
    return is_some;
}

/* The cell of a member. Members mostly stand in the order of the keys: the search begins behind the
 * last one. -1 where there is none. */
static int64_t find_key(const ikt_csv_records *r, const char *name, int64_t *number,
                        const char **key) {
    for (int64_t tried = 0; tried < r->key_count; tried++) {
        if (*number == r->key_count) *number = 0;
        if (*number == 0) *key = r->keys;
        const bool is_it = strcmp(*key, name) == 0;
        const int64_t found = (*number)++;
        *key += strlen(*key) + 1;
        if (is_it) return found;
    }
    return -1;
}

bool ikt_json_is_value(const char *cell) {
    static const char *const words[] = {"true", "false", "null"};
    const char last = cell[strlen(cell) - 1];
    double value;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if (strcmp(cell, words[w]) == 0) return true;
    return *cell == '['   ? last == ']'
           : *cell == '{' ? last == '}'
                          : ikt_decimal_whole(cell, &value);
}

static ikt_status no_object(const ikt_csv_records *r, const char *what) {
    return ikt_fail(r->lines.ctx, IKT_ERR_DATA,
                    "%s, %s %lld: %s: JSON is read as one object a line, an array of objects, or "
                    "an object of columns",
                    r->lines.path, ikt_text_lines_unit(&r->lines), (long long)ikt_csv_line(r),
                    what);
}

bool ikt_json_take(char **at, char **value, char **end, bool *is_text) {
    *at = *value = skip(*at);
    *is_text = **at == '"';
    if (!(*is_text ? take_text(at, end) : take_other(at, end))) return false;
    *at = skip(*at);
    return true;
}

ikt_status ikt_csv_cut_object(ikt_csv_records *r, char *at) {
    static char nothing[] = "", absent[] = "";
    int64_t number = 0;
    const char *key = r->keys;
    r->cells = 0;
    for (int64_t k = 0; k < r->key_count; k++)
        IKT_TRY(ikt_csv_add_cell(r, absent));
    at = skip(at);
    if (*at != '{') return no_object(r, "it does not begin with {");
    for (at = skip(at + 1); *at != '}'; at = skip(at)) {
        char *name = at, *name_end, *cell, *end;
        if (*at != '"' || !take_text(&at, &name_end)) return no_object(r, "a member has no name");
        at = skip(at);
        if (*at != ':') return no_object(r, "a name has no value");
        *name_end = '\0';
        bool is_text;
        at++;
        if (!ikt_json_take(&at, &cell, &end, &is_text)) return no_object(r, "a value has no end");
        const char sign = *at;
        if (sign != ',' && sign != '}') return no_object(r, "a member has no end");
        *end = '\0'; /* perhaps on the sign */
        if (!is_text && !ikt_json_is_value(cell))
            return no_object(r, "a value is no value of JSON");
        const int64_t place = r->keys ? find_key(r, name, &number, &key) : -1;
        if (place >= 0 && r->cell[place] != absent)
            return no_object(r, "it has two members of the same name");
        if (!r->keys)
            IKT_TRY(ikt_csv_add_cell(r, name));
        else if (place >= 0)
            r->cell[place] = !is_text && strcmp(cell, "null") == 0 ? nothing : cell;
        if (sign == '}') break;
        at++;
    }
    at = skip(at + 1);
    if (*at == ',') at = skip(at + 1);
    return *at ? no_object(r, "something follows the object") : IKT_OK;
}
