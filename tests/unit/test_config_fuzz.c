/* No text brings the reader down: thousands of mutated files and assignments, drawn from a seed.
 *
 * Whatever comes in, the outcome is success or IKT_ERR_USAGE with a message that names the file
 * and a line of it, no memory is left behind, and what was accepted prints and parses back. The
 * sanitizer build sees what the assertions cannot. */
#include "unit/test_config.h"

#include <stdio.h>

#include "base/memory.h"
#include "base/rng.h"

enum {
    FILES = 6000,
    ASSIGNMENTS = 6000,
    LONGEST = 4096,
    MUTATIONS_MAX = 6,
    BYTES_MAX = 64,
    SEED = 7
};

static const char *const originals[] = {
    "isolation:\n  psi: 250\n  neighbours: auto\n  rate: 1e-3\n  kind: knn\noutput:\n"
    "  file: \"a \\x41 \\u263a b.h5\"\n  title: 'it''s'\n  overwrite: yes\n  tolerance: 0.5\n",
    "# comment\r\noutput: {file: x, title: \"\", overwrite: no}\r\nisolation: {psi: 7}\r\n",
    "%YAML 1.1\n---\nisolation:\n  psi: |\n    12\n  kind: >-\n    knn\n...\n",
    "\xef\xbb\xbfoutput:\n  title: Gr\xc3\xb6\xc3\x9f"
    "e \xf0\x9f\x98\x80\n  ? file\n  : \"b\n\n   c\"\n"};

static const char *const pieces[] = {":",
                                     ": ",
                                     "\n",
                                     "\n\n  ",
                                     "  ",
                                     "\t",
                                     "- ",
                                     "? ",
                                     "[",
                                     "]",
                                     "{",
                                     "}",
                                     ",",
                                     "&a ",
                                     "*a",
                                     "!t ",
                                     "!!int ",
                                     "|",
                                     ">",
                                     "'",
                                     "\"",
                                     "#",
                                     "%TAG ! x\n",
                                     "---\n",
                                     "...\n",
                                     "<<",
                                     "\\",
                                     "\\u",
                                     "~",
                                     "null",
                                     "auto",
                                     "1e999",
                                     "-1e300",
                                     "nan",
                                     "0x1p3",
                                     "psi",
                                     "isolation",
                                     "isolation.psi=",
                                     "=",
                                     ".",
                                     "\xef\xbb\xbf",
                                     "\xff",
                                     "\xc3",
                                     "\xe2\x80\xa8",
                                     "\xc2\x85",
                                     "\x01",
                                     "\x7f",
                                     "99999999999999999999",
                                     "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
                                     "{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{"};

typedef struct {
    int64_t row;
    uint64_t draw;
} dice;

static int64_t below(dice *d, int64_t bound) {
    return ikt_rng_below(SEED, IKT_RNG_TEST, d->row, d->draw++, bound);
}

/* Replaces `cut` bytes at `at` by `piece`, as far as there is room. */
static void splice(char *text, size_t at, size_t cut, const char *piece, size_t length) {
    size_t whole = strlen(text);
    if (at + cut > whole) cut = whole - at;
    if (whole - cut + length >= LONGEST) return;
    memmove(text + at + length, text + at + cut, whole - at - cut + 1);
    memcpy(text + at, piece, length);
}

static void mutate(dice *d, char *text) {
    size_t at = (size_t)below(d, (int64_t)strlen(text) + 1), from;
    char copy[LONGEST], byte;
    switch (below(d, 5)) {
    case 0: { /* something that means something to YAML */
        const char *piece = pieces[below(d, (int64_t)(sizeof pieces / sizeof *pieces))];
        splice(text, at, (size_t)below(d, 4), piece, strlen(piece));
        break;
    }
    case 1: /* any byte but zero, which ends a text */
        byte = (char)(1 + below(d, 255));
        splice(text, at, 1, &byte, 1);
        break;
    case 2: /* a hole */
        splice(text, at, (size_t)below(d, 12), "", 0);
        break;
    case 3: /* a stretch of the text twice */
        strcpy(copy, text);
        from = (size_t)below(d, (int64_t)strlen(copy) + 1);
        splice(text, at, 0, copy + from, (size_t)below(d, (int64_t)strlen(copy + from) + 1));
        break;
    default: /* the end cut off */
        if (below(d, 4) == 0) text[at] = '\0';
    }
}

/* An original with mutations or, every fifth time, nothing but bytes. */
static void make_file(dice *d, char *text) {
    int64_t n = (int64_t)(sizeof originals / sizeof *originals), which = d->row % (n + 1);
    if (which == n) {
        size_t length = (size_t)below(d, BYTES_MAX);
        for (size_t i = 0; i < length; i++)
            text[i] = (char)(1 + below(d, 255));
        text[length] = '\0';
        return;
    }
    strcpy(text, originals[which]);
    for (int64_t m = below(d, MUTATIONS_MAX + 1); m > 0; m--)
        mutate(d, text);
}

static size_t lines_of(const char *text) {
    size_t lines = 1;
    for (; *text; text++)
        lines += *text == '\n' || *text == '\r' || *text == '\x85' || *text == '\xa8' ||
                 *text == '\xa9'; /* last bytes of the breaks that only YAML knows */
    return lines;
}

static void check_refusal(ikt_context *ctx, ikt_status st, const char *text) {
    size_t line = 0;
    assert_int_equal(st, IKT_ERR_USAGE);
    assert_int_equal(sscanf(ikt_message(ctx), "fuzz.yaml, line %zu: ", &line), 1);
    assert_true(line >= 1 && line <= lines_of(text) + 1); /* the end may be named as a line */
    ikt_clear(ctx);
}

/* What was accepted prints, parses back to the same, and prints the same. */
static void check_acceptance(ikt_context *ctx, const sample *s, const ikt_config_part *parts) {
    sample again;
    ikt_config_part other[SAMPLE_PARTS];
    char *text = NULL;
    sample_begin(ctx, &again, other);
    assert_int_equal(ikt_config_print(ctx, parts, SAMPLE_PARTS, &text), IKT_OK);
    ikt_status st = ikt_config_parse_text(ctx, other, SAMPLE_PARTS, "printed", text);
    if (st != IKT_OK) fail_msg("%s\n%s", ikt_message(ctx), text);
    assert_same_sample(s, &again);
    ikt_free(&text);
}

static void mutated_files(void **state) {
    ikt_context *ctx = *state;
    int accepted = 0;
    int64_t held = ikt_memory_now(ctx);
    for (int64_t f = 0; f < FILES; f++) {
        dice d = {f, 0};
        char text[LONGEST];
        sample s;
        ikt_config_part parts[SAMPLE_PARTS];
        make_file(&d, text);
        sample_begin(ctx, &s, parts);
        ikt_status st = ikt_config_parse_text(ctx, parts, SAMPLE_PARTS, "fuzz.yaml", text);
        if (st == IKT_OK) {
            accepted++;
            check_acceptance(ctx, &s, parts);
        } else {
            check_refusal(ctx, st, text);
        }
        assert_int_equal(ikt_memory_now(ctx), held);
    }
    /* Neither outcome is rare: the mutations are of the right strength. */
    assert_true(accepted > FILES / 20 && accepted < FILES / 2);
}

static void mutated_assignments(void **state) {
    static const char *const seeds[] = {"isolation.psi=250", "output.file=a=b.h5",
                                        "isolation.rate=auto", "output.tolerance=1e-3"};
    ikt_context *ctx = *state;
    for (int64_t a = 0; a < ASSIGNMENTS; a++) {
        dice d = {FILES + a, 0};
        char text[LONGEST];
        sample s, before;
        ikt_config_part parts[SAMPLE_PARTS];
        strcpy(text, seeds[a % 4]);
        for (int64_t m = 1 + below(&d, MUTATIONS_MAX); m > 0; m--)
            mutate(&d, text);
        sample_begin(ctx, &s, parts);
        before = s;
        ikt_status st = ikt_config_override(ctx, parts, SAMPLE_PARTS, text);
        if (st == IKT_OK) {
            check_acceptance(ctx, &s, parts);
        } else {
            assert_int_equal(st, IKT_ERR_USAGE);
            assert_true(ikt_message(ctx)[0] != '\0');
            assert_same_sample(&s, &before);
            ikt_clear(ctx);
        }
    }
}

/* Nesting as deep as a file of 1 MiB can hold ends at its first level, at once. */
static void deep_nesting_ends_at_once(void **state) {
    static const char *const openings[] = {"[", "{", "- ", "? "};
    enum { DEEP = 1 << 20 };
    ikt_context *ctx = *state;
    for (int o = 0; o < 4; o++) {
        char *text = NULL;
        sample s;
        ikt_config_part parts[SAMPLE_PARTS];
        size_t width = strlen(openings[o]);
        assert_int_equal(ikt_alloc(ctx, &text, DEEP + 1, 1, "test"), IKT_OK);
        for (size_t i = 0; i + width <= DEEP; i += width)
            memcpy(text + i, openings[o], width);
        sample_begin(ctx, &s, parts);
        ikt_status st = ikt_config_parse_text(ctx, parts, SAMPLE_PARTS, "fuzz.yaml", text);
        check_refusal(ctx, st, text);
        ikt_free(&text);
    }
}

IKT_MPI_TESTS(ikt_test(mutated_files), ikt_test(mutated_assignments),
              ikt_test(deep_nesting_ends_at_once))
