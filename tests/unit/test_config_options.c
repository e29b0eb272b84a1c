/* Options of a verb, and the JSON that verbs print. */
#define _POSIX_C_SOURCE 200809L
#include "unit/test_config.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "app/json.h"
#include "app/verb.h"

enum { ARGUMENTS_MAX = 16, TEXT_SIZE = 8192 };

typedef struct {
    int64_t points;
    double width;
    bool labels, overwrite;
    char title[IKT_STRING_MAX];
    int type;
} values;

typedef struct {
    values v;
    const char *positional[2];
    int count;
    bool help;
} outcome;

static ikt_status no_run(ikt_context *ctx, int argc, char **argv) {
    (void)ctx, (void)argc, (void)argv;
    return IKT_OK;
}

static const ikt_verb verb = {"test", "IN [OUT] [options]", "Do what tests do", NULL, no_run};

/* Parses `line`, split at blanks, as what follows the verb; one or two arguments are legal. */
static ikt_status parse(ikt_context *ctx, outcome *o, const char *line) {
    static char copy[TEXT_SIZE];
    char *argv[ARGUMENTS_MAX];
    int argc = 0;
    memset(o, 0, sizeof *o);
    const ikt_option options[] = {
        {"points", IKT_KEY_INT, "N", "1000", 1, 1e9, NULL, &o->v.points, "Number of points"},
        {"width", IKT_KEY_REAL, "W", "auto", 0, 10, NULL, &o->v.width, "Width of lines"},
        {"labels", IKT_KEY_BOOL, NULL, "yes", 0, 0, NULL, &o->v.labels, "Write labels"},
        {"overwrite", IKT_KEY_BOOL, NULL, "no", 0, 0, NULL, &o->v.overwrite, "Replace files"},
        {"title", IKT_KEY_STRING, "TEXT", "", 0, 0, NULL, o->v.title, "Title"},
        {"type", IKT_KEY_CHOICE, "TYPE", "b", 0, 0, "a|b|c", &o->v.type, "Type"},
        {0}};
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word && argc < ARGUMENTS_MAX; word = strtok(NULL, " "))
        argv[argc++] = word;
    return ikt_options_parse(ctx, &verb, options, argc, argv, o->positional, 1, 2, &o->count,
                             &o->help);
}

static void defaults_where_nothing_is_given(void **state) {
    outcome o;
    assert_int_equal(parse(*state, &o, "in"), IKT_OK);
    assert_int_equal(o.v.points, 1000);
    assert_true(o.v.width == IKT_AUTO_REAL);
    assert_true(o.v.labels);
    assert_false(o.v.overwrite);
    assert_string_equal(o.v.title, "");
    assert_int_equal(o.v.type, 1);
    assert_int_equal(o.count, 1);
    assert_string_equal(o.positional[0], "in");
    assert_false(o.help);
}

static void every_form_anywhere(void **state) {
    outcome o;
    assert_int_equal(parse(*state, &o,
                           "--points 1e6 in --width=2.5 --no-labels out --overwrite --title a=b "
                           "--type=c"),
                     IKT_OK);
    assert_int_equal(o.v.points, 1000000);
    assert_true(o.v.width == 2.5);
    assert_false(o.v.labels);
    assert_true(o.v.overwrite);
    assert_string_equal(o.v.title, "a=b");
    assert_int_equal(o.v.type, 2);
    assert_int_equal(o.count, 2);
    assert_string_equal(o.positional[0], "in");
    assert_string_equal(o.positional[1], "out");
}

static void special_cases(void **state) {
    outcome o;
    assert_int_equal(parse(*state, &o, "-- --points -h"), IKT_OK); /* both are names of files */
    assert_string_equal(o.positional[0], "--points");
    assert_string_equal(o.positional[1], "-h");
    assert_int_equal(parse(*state, &o, "- --overwrite=no --labels=off --title="), IKT_OK);
    assert_string_equal(o.positional[0], "-");
    assert_false(o.v.overwrite);
    assert_false(o.v.labels);
    assert_int_equal(parse(*state, &o, "in --points 5 --points 6"), IKT_OK);
    assert_int_equal(o.v.points, 6); /* the last one counts */
    assert_int_equal(parse(*state, &o, "in --title -x"), IKT_OK);
    assert_string_equal(o.v.title, "-x");
}

static void messages(void **state) {
    static const char *const wrong[][2] = {
        {"", "too few arguments; usage: iktsne test IN [OUT] [options]"},
        {"a b c", "too many arguments; usage: iktsne test IN [OUT] [options]"},
        {"in --piont 5", "iktsne test has no option --piont; did you mean --points? (`iktsne test "
                         "--help` lists them)"},
        {"in --tpye=a", "iktsne test has no option --tpye; did you mean --type? (`iktsne test "
                        "--help` lists them)"},
        {"in -points", "iktsne test has no option -points; did you mean --points? (`iktsne test "
                       "--help` lists them)"},
        {"in --no-title", "iktsne test has no option --no-title; did you mean --title? (`iktsne "
                          "test --help` lists them)"},
        {"in --points", "--points needs a value (N)"},
        {"in --points --width", "--points: '--width' is not an integer from 1 to 1000000000"},
        {"in --points 0", "--points: '0' is not an integer from 1 to 1000000000"},
        {"in --points=", "--points: '' is not an integer from 1 to 1000000000"},
        {"in --width 11", "--width: '11' is not a number from 0 to 10, or auto"},
        {"in --type d", "--type: 'd' is not one of a, b, c"},
        {"in --overwrite=maybe", "--overwrite: 'maybe' is not yes or no"},
        {"in --no-labels=yes", "--no-labels takes no value"}};
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        outcome o;
        assert_failed(*state, parse(*state, &o, wrong[w][0]), IKT_ERR_USAGE, wrong[w][1]);
    }
}

/* What `print` writes to standard output, in text[TEXT_SIZE]. */
static void capture(void (*print)(ikt_context *ctx), ikt_context *ctx, char *text) {
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    print(ctx);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    rewind(file);
    text[fread(text, 1, TEXT_SIZE - 1, file)] = '\0';
    fclose(file);
}

static void ask_for_help(ikt_context *ctx) {
    outcome o;
    assert_int_equal(parse(ctx, &o, "a b c d --nonsense --help"), IKT_OK);
    assert_true(o.help);
}

static void help_is_complete(void **state) {
    static const char *const parts[] = {"usage: iktsne test IN [OUT] [options]\n",
                                        "Do what tests do\n",
                                        "  --points N\n",
                                        "Number of points\n",
                                        "(an integer from 1 to 1000000000; default 1000)\n",
                                        "  --width W\n",
                                        "(a number from 0 to 10, or auto; default auto)\n",
                                        "--no-labels turns it off",
                                        "  --overwrite\n",
                                        "(text; default none)\n",
                                        "(one of a, b, c; default b)\n",
                                        "--threads N"};
    char text[TEXT_SIZE];
    capture(ask_for_help, *state, text);
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        if (!strstr(text, parts[p])) fail_msg("'%s' is not in:\n%s", parts[p], text);
}

static void given_options(void **state) {
    char *argv[] = {"in", "--points=5", "--no-labels", "--", "--title"};
    (void)state;
    assert_true(ikt_option_given("points", 5, argv));
    assert_false(ikt_option_given("point", 5, argv));
    assert_false(ikt_option_given("points=5", 1, argv));
    assert_false(ikt_option_given("title", 5, argv));
}

static void write_json(ikt_context *ctx) {
    (void)ctx;
    ikt_json json = {stdout, 0, false};
    ikt_json_begin(&json, NULL, '{');
    ikt_json_text(&json, "a \"b\"\\\n\x01",
                  "Gr\xc3\xbc\xc3\x9f"
                  "e \xff!");
    ikt_json_int(&json, "least", INT64_MIN);
    ikt_json_begin(&json, "numbers", '[');
    ikt_json_real(&json, NULL, 0.1);
    ikt_json_real(&json, NULL, 1.0 / 3);
    ikt_json_real(&json, NULL, (double)NAN);
    ikt_json_real(&json, NULL, (double)-INFINITY);
    ikt_json_real(&json, NULL, 1e300);
    ikt_json_end(&json, ']');
    ikt_json_begin(&json, "empty", '{');
    ikt_json_end(&json, '}');
    ikt_json_bool(&json, "yes", true);
    ikt_json_bool(&json, "no", false);
    ikt_json_end(&json, '}');
}

static void json_is_valid(void **state) {
    char text[TEXT_SIZE];
    capture(write_json, *state, text);
    assert_string_equal(text, "{\n"
                              "  \"a \\\"b\\\"\\\\\\u000a\\u0001\": \"Gr\xc3\xbc\xc3\x9f"
                              "e \\ufffd!\",\n"
                              "  \"least\": -9223372036854775808,\n"
                              "  \"numbers\": [\n    0.1,\n    0.3333333333333333,\n    null,\n"
                              "    null,\n    1e+300\n  ],\n"
                              "  \"empty\": {\n  },\n"
                              "  \"yes\": true,\n"
                              "  \"no\": false\n"
                              "}\n");
}

IKT_MPI_TESTS(ikt_test(defaults_where_nothing_is_given), ikt_test(every_form_anywhere),
              ikt_test(special_cases), ikt_test(messages), ikt_test(help_is_complete),
              ikt_test(given_options), ikt_test(json_is_valid))
