/* Writing a configuration back: what is printed parses to the same values, bit for bit. */
#include "unit/test_config.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/encoding.h"
#include "base/memory.h"
#include "base/rng.h"
#include "config/value.h"
#include "settings/settings.h"

enum { RANDOM_CASES = 400, SEED = 20 };

static void assert_round_trip(ikt_context *ctx, sample *s) {
    sample again;
    ikt_config_part parts[SAMPLE_PARTS], other[SAMPLE_PARTS];
    char *text = NULL;
    sample_bind(s, parts);
    sample_begin(ctx, &again, other);
    assert_int_equal(ikt_config_print(ctx, parts, SAMPLE_PARTS, &text), IKT_OK);
    ikt_status st = ikt_config_parse_text(ctx, other, SAMPLE_PARTS, "printed", text);
    if (st != IKT_OK) fail_msg("%s\n%s", ikt_message(ctx), text);
    assert_same_sample(s, &again);
    ikt_free(&text);
}

static void text_of_the_defaults(void **state) {
    sample s;
    ikt_config_part parts[SAMPLE_PARTS];
    char *text = NULL;
    sample_begin(*state, &s, parts);
    assert_int_equal(ikt_config_print(*state, parts, SAMPLE_PARTS, &text), IKT_OK);
    assert_string_equal(text, "isolation:\n  psi: 250\n  neighbours: auto\n  rate: auto\n"
                              "  kind: isolation\noutput:\n  file: \"\"\n  title: \"a title\"\n"
                              "  overwrite: no\n  tolerance: 0.1\n");
    ikt_free(&text);
}

static void numbers_read_well(void **state) {
    static const struct {
        double value;
        const char *text;
    } numbers[] = {{30, "30"},       {0, "0"},           {-250, "-250"},  {0.1, "0.1"},
                   {1e6, "1000000"}, {1200.5, "1200.5"}, {1e22, "1e+22"}, {2.5e-10, "2.5e-10"}};
    char text[IKT_REAL_TEXT];
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        ikt_real_print(numbers[i].value, text);
        assert_string_equal(text, numbers[i].text);
    }
}

/* Any double: random bits, but for those that are no number or out of the key's range. */
static double random_real(int64_t row) {
    double value;
    uint64_t bits = ikt_rng_u64(SEED, IKT_RNG_TEST, row, 0);
    memcpy(&value, &bits, sizeof value);
    return isfinite(value) && fabs(value) <= 1e308 ? value : 0.25;
}

static void numbers_come_back_bit_for_bit(void **state) {
    static const double edges[] = {0,       -0.0,
                                   0.1,     1.0 / 3,
                                   DBL_MIN, 5e-324,
                                   -1e300,  1e308,
                                   1e22,    123456789012345678.0,
                                   2.5e-10, 3.141592653589793};
    sample s;
    ikt_config_part parts[SAMPLE_PARTS];
    sample_begin(*state, &s, parts);
    for (size_t e = 0; e < sizeof edges / sizeof *edges; e++) {
        s.output.tolerance = edges[e]; /* -1e300 stands for auto only where auto is allowed */
        assert_round_trip(*state, &s);
    }
    for (int64_t c = 0; c < RANDOM_CASES; c++) {
        s.output.tolerance = random_real(c);
        s.isolation.neighbours =
            1 + ikt_rng_below(SEED, IKT_RNG_TEST, c, 1, INT64_C(9000000000000000));
        s.isolation.kind = (int)(c % 3);
        s.output.overwrite = c % 2 == 0;
        assert_round_trip(*state, &s);
    }
}

static int encode(uint32_t point, char *text) {
    int length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const unsigned char head[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (int i = length - 1; i > 0; i--, point >>= 6)
        text[i] = (char)(0x80 | (point & 0x3f));
    text[0] = (char)(head[length] | point);
    return length;
}

/* Every code point of the first plane and some beyond, with neighbours that quoting could upset. */
static void every_character_comes_back(void **state) {
    sample s;
    ikt_config_part parts[SAMPLE_PARTS];
    sample_begin(*state, &s, parts);
    uint32_t point = 1;
    while (point <= 0x10ffff) {
        char *at = s.output.file;
        while (at < s.output.file + IKT_STRING_MAX - 16 && point <= 0x10ffff) {
            if (point == 0xd800) point = 0xe000; /* surrogates are no characters */
            at += encode(point, at);
            if (point % 7 == 0) at += sprintf(at, " \\:");
            point += point < 0x10000 ? 1 : 1023;
        }
        *at = '\0';
        assert_true(ikt_utf8_valid(s.output.file));
        assert_round_trip(*state, &s);
    }
}

static void difficult_strings_come_back(void **state) {
    static const char *const strings[] = {" leading", "trailing ", "two\nlines\n", "\ttab",
                                          "a: b # c", "'quoted'",  "\"double\"",   "back\\slash",
                                          "null",     "~",         "yes",          "&anchor",
                                          "*alias",   "!tag",      "%d %s",        "- item",
                                          "{a: b}",   "---",       "\x7f\x1b[31m"};
    sample s;
    ikt_config_part parts[SAMPLE_PARTS];
    sample_begin(*state, &s, parts);
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        strcpy(s.output.title, strings[i]);
        assert_round_trip(*state, &s);
    }
}

static void strings_that_are_no_text_are_refused(void **state) {
    static const char *const wrong[] = {"\x80",
                                        "a\xc3",
                                        "\xc0\xaf",
                                        "\xe0\x80\xaf",
                                        "\xed\xa0\x80",
                                        "\xf4\x90\x80\x80",
                                        "\xf8\x88\x80\x80\x80",
                                        "\xff"};
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        sample s;
        ikt_config_part parts[SAMPLE_PARTS];
        char *text = NULL;
        sample_begin(*state, &s, parts);
        assert_false(ikt_utf8_valid(wrong[w]));
        strcpy(s.output.file, wrong[w]);
        assert_int_equal(ikt_config_print(*state, parts, SAMPLE_PARTS, &text), IKT_ERR_USAGE);
        assert_null(text);
        ikt_clear(*state);
    }
}

/* The program's own tables: defaults are legal, names differ, and all of it comes back. */
static void the_programs_own_configuration(void **state) {
    static ikt_settings settings, again;
    ikt_config_part parts[IKT_SETTINGS_PARTS], other[IKT_SETTINGS_PARTS];
    char *text = NULL, *second = NULL;
    ikt_settings_parts(&settings, parts);
    ikt_settings_parts(&again, other);
    assert_int_equal(ikt_config_defaults(*state, parts, IKT_SETTINGS_PARTS), IKT_OK);
    assert_int_equal(ikt_config_override(*state, parts, IKT_SETTINGS_PARTS, "run.seed=9e15"),
                     IKT_OK);
    assert_int_equal(ikt_config_print(*state, parts, IKT_SETTINGS_PARTS, &text), IKT_OK);
    assert_int_equal(ikt_config_parse_text(*state, other, IKT_SETTINGS_PARTS, "printed", text),
                     IKT_OK);
    assert_int_equal(ikt_config_print(*state, other, IKT_SETTINGS_PARTS, &second), IKT_OK);
    assert_string_equal(text, second);
    assert_int_equal(again.run.seed, INT64_C(9000000000000000));
    ikt_free(&text);
    ikt_free(&second);
}

/* Every key of every section, in lines that fit a terminal. */
static void the_description_is_complete(void **state) {
    static ikt_settings settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char *text = NULL, name[128];
    ikt_settings_parts(&settings, parts);
    assert_int_equal(ikt_config_describe(*state, parts, IKT_SETTINGS_PARTS, &text), IKT_OK);
    for (int p = 0; p < IKT_SETTINGS_PARTS; p++)
        for (size_t k = 0; k < parts[p].section->n_keys; k++) {
            const ikt_key *key = &parts[p].section->keys[k];
            snprintf(name, sizeof name, "\n  %s.%s = %s\n", parts[p].section->name, key->name,
                     key->fallback[0] ? key->fallback : "\"\"");
            if (!strstr(text, name)) fail_msg("not described:%s", name);
            assert_true(strlen(key->help) > 10);
        }
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 100);
    ikt_free(&text);
}

/* Of every line that is no comment, what ikt_config_print writes; and every line fits. */
static void comments_change_nothing(void **state) {
    static ikt_settings settings, again;
    ikt_config_part parts[IKT_SETTINGS_PARTS], other[IKT_SETTINGS_PARTS];
    char *plain = NULL, *commented = NULL, *back = NULL;
    ikt_settings_parts(&settings, parts);
    ikt_settings_parts(&again, other);
    assert_int_equal(ikt_config_defaults(*state, parts, IKT_SETTINGS_PARTS), IKT_OK);
    assert_int_equal(ikt_config_print(*state, parts, IKT_SETTINGS_PARTS, &plain), IKT_OK);
    assert_int_equal(ikt_config_print_commented(*state, parts, IKT_SETTINGS_PARTS, &commented),
                     IKT_OK);
    assert_int_equal(
        ikt_config_parse_text(*state, other, IKT_SETTINGS_PARTS, "commented", commented), IKT_OK);
    assert_int_equal(ikt_config_print(*state, other, IKT_SETTINGS_PARTS, &back), IKT_OK);
    assert_string_equal(back, plain);
    int comments = 0, keys = 0;
    for (const char *line = commented; *line; line += strcspn(line, "\n") + 1) {
        assert_true(strcspn(line, "\n") <= 100);
        comments += line[strspn(line, " ")] == '#';
    }
    for (int p = 0; p < IKT_SETTINGS_PARTS; p++)
        keys += (int)parts[p].section->n_keys;
    assert_true(comments >= 2 * keys);
    ikt_free(&plain);
    ikt_free(&commented);
    ikt_free(&back);
}

/* A row of a table for each key, of as many cells as its heading: bars within texts are escaped. */
static void the_markdown_is_complete(void **state) {
    static ikt_settings settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char *text = NULL, name[128];
    ikt_settings_parts(&settings, parts);
    assert_int_equal(ikt_config_describe_markdown(*state, parts, IKT_SETTINGS_PARTS, &text),
                     IKT_OK);
    for (int p = 0; p < IKT_SETTINGS_PARTS; p++)
        for (size_t k = 0; k < parts[p].section->n_keys; k++) {
            snprintf(name, sizeof name, "\n| `%s.%s` | `", parts[p].section->name,
                     parts[p].section->keys[k].name);
            if (!strstr(text, name)) fail_msg("not described:%s", name);
        }
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        int bars = 0;
        for (const char *c = line; line[0] == '|' && *c != '\n'; c++)
            bars += *c == '|' && (c == line || c[-1] != '\\');
        assert_true(line[0] != '|' || bars == 5);
    }
    ikt_free(&text);
}

static void distance_of_names(void **state) {
    char a[101], b[101];
    (void)state;
    assert_int_equal(ikt_name_distance("", ""), 0);
    assert_int_equal(ikt_name_distance("psi", ""), 3);
    assert_int_equal(ikt_name_distance("psi", "psi"), 0);
    assert_int_equal(ikt_name_distance("psi", "pis"), 1); /* neighbours swapped */
    assert_int_equal(ikt_name_distance("psi", "pssi"), 1);
    assert_int_equal(ikt_name_distance("psi", "pi"), 1);
    assert_int_equal(ikt_name_distance("psi", "phi"), 1);
    assert_int_equal(ikt_name_distance("kitten", "sitting"), 3);
    memset(a, 'a', 100);
    memset(b, 'a', 100);
    a[63] = b[63] = '\0';
    assert_int_equal(ikt_name_distance(a, b), 0);
    a[63] = b[63] = 'a';
    a[100] = b[100] = '\0';
    assert_true(ikt_name_distance(a, b) >= 100);
}

IKT_MPI_TESTS(ikt_test(text_of_the_defaults), ikt_test(numbers_read_well),
              ikt_test(numbers_come_back_bit_for_bit), ikt_test(every_character_comes_back),
              ikt_test(difficult_strings_come_back), ikt_test(strings_that_are_no_text_are_refused),
              ikt_test(the_programs_own_configuration), ikt_test(the_description_is_complete),
              ikt_test(comments_change_nothing), ikt_test(the_markdown_is_complete),
              ikt_test(distance_of_names))
