/* Whether bytes are LIBSVM's text: by the first line that has more than a label. */
#include <string.h>

#include "io/formats/libsvm_text.h"

static const char *skip(const char *at, const char *end, const char *set) {
    while (at < end && strchr(set, *at) && *at)
        at++;
    return at;
}

static const char *find(const char *at, const char *end, const char *set) {
    while (at < end && (!strchr(set, *at) || !*at))
        at++;
    return at;
}

/* "12:", perhaps with a sign, which is refused later with a message of its own. */
static bool begins_pair(const char *text, const char *end) {
    const char *at = text + (text < end && (*text == '-' || *text == '+'));
    const char *digits = at;
    at = skip(at, end, "0123456789");
    return at > digits && at < end && *at == ':';
}

/* Whether what follows the first word of a line is pairs, and at least one. Where the line is cut
 * at the end of what there is to see, its last word does not count. */
static bool is_line_of_pairs(const char *at, const char *end, bool cut) {
    bool some = false;
    at = skip(find(at, end, " \t"), end, " \t");
    while (at < end && *at != '#') {
        const char *next = find(at, end, " \t");
        bool pair = begins_pair(at, next) || (next - at >= 4 && strncmp(at, "qid:", 4) == 0);
        if (!pair && !(cut && next == end)) return false;
        some |= pair;
        at = skip(next, end, " \t");
    }
    return some;
}

bool ikt_libsvm_probe(const unsigned char *head, int64_t bytes) {
    const char *at = (const char *)head, *end = at + bytes;
    if (memchr(head, '\0', (size_t)bytes)) return false;
    if (bytes >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0) at += 3;
    while (at < end) {
        at = skip(at, end, " \t\r\n");
        const char *line_end = find(at, end, "\r\n"), *word_end = find(at, line_end, " \t#");
        if (skip(word_end, line_end, " \t") < line_end && at < word_end && *word_end != '#')
            return is_line_of_pairs(at, line_end, line_end == end);
        at = line_end;
    }
    return false;
}
