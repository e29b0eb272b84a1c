/* Reading a configuration: what is accepted, and the message of every kind of mistake. */
#include "unit/test_config.h"

#include <stdio.h>

static ikt_status parse(ikt_context *ctx, sample *s, const char *text) {
    ikt_config_part parts[SAMPLE_PARTS];
    sample_begin(ctx, s, parts);
    return ikt_config_parse_text(ctx, parts, SAMPLE_PARTS, "run.yaml", text);
}

static void defaults_are_those_of_the_tables(void **state) {
    sample s;
    ikt_config_part parts[SAMPLE_PARTS];
    sample_begin(*state, &s, parts);
    assert_int_equal(s.isolation.psi, 250);
    assert_int_equal(s.isolation.neighbours, IKT_AUTO_INT);
    assert_true(s.isolation.rate == IKT_AUTO_REAL);
    assert_int_equal(s.isolation.kind, 0);
    assert_string_equal(s.output.file, "");
    assert_string_equal(s.output.title, "a title");
    assert_false(s.output.overwrite);
    assert_true(s.output.tolerance == 0.1);
}

static void a_default_out_of_range_is_our_defect(void **state) {
    int64_t value;
    const ikt_key key = {"k", IKT_KEY_INT, 0, "9", 0, 5, 0, NULL, "", ""};
    const ikt_section section = {"s", "", &key, 1};
    const ikt_config_part part = {&section, &value};
    assert_failed(*state, ikt_config_defaults(*state, &part, 1), IKT_ERR_INTERNAL,
                  "k: '9' is not an integer from 0 to 5");
}

static void a_file_sets_what_it_names(void **state) {
    sample s;
    assert_int_equal(parse(*state, &s,
                           "# a comment\n"
                           "isolation:\n"
                           "  psi: 1e4   # exactly an integer\n"
                           "  rate: -2.5e-3\n"
                           "  kind: knn\n"
                           "output: {file: \"a b.h5\", overwrite: Yes}\n"),
                     IKT_OK);
    assert_int_equal(s.isolation.psi, 10000);
    assert_true(s.isolation.rate == -2.5e-3);
    assert_int_equal(s.isolation.kind, 2);
    assert_string_equal(s.output.file, "a b.h5");
    assert_true(s.output.overwrite);
    assert_string_equal(s.output.title, "a title"); /* not named: kept */
}

static void forms_of_text_that_are_fine(void **state) {
    static const char *const texts[] = {
        "",
        "\n",
        "# only a comment\n",
        "---\n",
        "---\n...\n",
        "{}",
        "~",
        "isolation:\n",
        "isolation: {}\n",
        "isolation: ~\noutput:\n",
        "isolation:\r\n  psi: 7\r\n",
        "\xef\xbb\xbfisolation:\n  psi: 7\n", /* byte order mark of a Windows editor */
        "%YAML 1.1\n---\nisolation:\n  psi: 7\n",
        "isolation: {psi: '7'}"};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        sample s;
        assert_int_equal(parse(*state, &s, texts[t]), IKT_OK);
        assert_int_equal(s.isolation.psi, strchr(texts[t], '7') ? 7 : 250);
    }
}

static void values_of_each_type(void **state) {
    static const struct {
        const char *text;
        int64_t psi;
    } integers[] = {{"2", 2},         {"+17", 17}, {"1e3", 1000},
                    {"65536", 65536}, {"010", 10}, {"2.50e1", 25}};
    static const char *const yes[] = {"yes", "TRUE", "on", "1"}, *const no[] = {"No", "false",
                                                                                "off", "0"};
    ikt_config_part parts[SAMPLE_PARTS];
    char assignment[64];
    sample s;
    sample_begin(*state, &s, parts);
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        snprintf(assignment, sizeof assignment, "isolation.psi=%s", integers[i].text);
        assert_int_equal(ikt_config_override(*state, parts, SAMPLE_PARTS, assignment), IKT_OK);
        assert_int_equal(s.isolation.psi, integers[i].psi);
    }
    for (int i = 0; i < 4; i++) {
        snprintf(assignment, sizeof assignment, "output.overwrite=%s", yes[i]);
        assert_int_equal(ikt_config_override(*state, parts, SAMPLE_PARTS, assignment), IKT_OK);
        assert_true(s.output.overwrite);
        snprintf(assignment, sizeof assignment, "output.overwrite=%s", no[i]);
        assert_int_equal(ikt_config_override(*state, parts, SAMPLE_PARTS, assignment), IKT_OK);
        assert_false(s.output.overwrite);
    }
}

typedef struct {
    const char *text, *message;
} mistake;

static void check_mistakes(ikt_context *ctx, const mistake *mistakes, size_t count) {
    for (size_t m = 0; m < count; m++) {
        sample s;
        assert_failed(ctx, parse(ctx, &s, mistakes[m].text), IKT_ERR_USAGE, mistakes[m].message);
    }
}

static void unknown_names(void **state) {
    static const mistake mistakes[] = {
        {"isolation:\n  psi: 5\n  pis: 6\n",
         "run.yaml, line 3: unknown key 'isolation.pis'; did you mean 'isolation.psi'?"},
        {"isolation:\n  tolerence: 1\n",
         "run.yaml, line 2: unknown key 'isolation.tolerence'; did you mean 'output.tolerance'?"},
        {"\n\nisolaton:\n  psi: 5\n",
         "run.yaml, line 3: unknown section 'isolaton'; did you mean 'isolation'?"},
        {"psi: 5\n", "run.yaml, line 1: unknown section 'psi'; did you mean 'isolation.psi'?"},
        {"output:\n  file: a\n  Title: b\n",
         "run.yaml, line 3: unknown key 'output.Title'; did you mean 'output.title'?"}};
    check_mistakes(*state, mistakes, sizeof mistakes / sizeof *mistakes);
}

static void wrong_values(void **state) {
    static const mistake mistakes[] = {
        {"isolation:\n  psi: many\n",
         "run.yaml, line 2: isolation.psi: 'many' is not an integer from 2 to 65536"},
        {"isolation:\n  psi: 1\n",
         "run.yaml, line 2: isolation.psi: '1' is not an integer from 2 to 65536"},
        {"isolation:\n  psi: 65537\n",
         "run.yaml, line 2: isolation.psi: '65537' is not an integer from 2 to 65536"},
        {"isolation:\n  psi: 2.5\n",
         "run.yaml, line 2: isolation.psi: '2.5' is not an integer from 2 to 65536"},
        {"isolation:\n  psi: 12x\n",
         "run.yaml, line 2: isolation.psi: '12x' is not an integer from 2 to 65536"},
        {"isolation:\n  psi: 1_000\n",
         "run.yaml, line 2: isolation.psi: '1_000' is not an integer from 2 to 65536"},
        {"isolation:\n  psi: 0x10\n",
         "run.yaml, line 2: isolation.psi: '0x10' is not an integer from 2 to 65536"},
        {"isolation:\n  psi: ' 12'\n",
         "run.yaml, line 2: isolation.psi: ' 12' is not an integer from 2 to 65536"},
        {"isolation:\n  psi: 99999999999999999999999\n",
         "run.yaml, line 2: isolation.psi: '99999999999999999999999' is not an integer from 2 to "
         "65536"},
        {"isolation:\n  psi: auto\n",
         "run.yaml, line 2: isolation.psi: 'auto' is not an integer from 2 to 65536"},
        {"isolation:\n  rate: nan\n",
         "run.yaml, line 2: isolation.rate: 'nan' is not a number from -1e+06 to 1e+12, or auto"},
        {"isolation:\n  rate: 1e400\n",
         "run.yaml, line 2: isolation.rate: '1e400' is not a number from -1e+06 to 1e+12, or "
         "auto"},
        {"isolation:\n  rate: 1,5\n",
         "run.yaml, line 2: isolation.rate: '1,5' is not a number from -1e+06 to 1e+12, or auto"},
        {"isolation:\n  kind: gauss\n",
         "run.yaml, line 2: isolation.kind: 'gauss' is not one of isolation, gaussian, knn"},
        {"output:\n  overwrite: 2\n", "run.yaml, line 2: output.overwrite: '2' is not yes or no"},
        {"isolation:\n  psi:\n  kind: knn\n", "run.yaml, line 2: isolation.psi has no value"},
        {"output: {file: null}\n",
         "run.yaml, line 1: output.file has no value; write \"\" for an empty text"},
        {"output: {file: \"a\\0b\"}\n", "run.yaml, line 1: a value holds a zero byte"}};
    check_mistakes(*state, mistakes, sizeof mistakes / sizeof *mistakes);
}

static void repetitions(void **state) {
    static const mistake mistakes[] = {
        {"isolation:\n  psi: 5\n  psi: 6\n",
         "run.yaml, line 3: isolation.psi is set a second time"},
        {"isolation:\n  psi: 5\noutput:\n  file: a\nisolation:\n  kind: knn\n",
         "run.yaml, line 5: section isolation begins a second time; join the two"},
        {"isolation:\n  psi: 5\n---\nisolation:\n  psi: 6\n",
         "run.yaml, line 3: a second document begins; one file is one configuration"}};
    check_mistakes(*state, mistakes, sizeof mistakes / sizeof *mistakes);
}

#define ANCHOR                                                                                     \
    "anchors and aliases (&name, *name) are not used in this file; write the value out, in "       \
    "quotes "                                                                                      \
    "if it begins with & or *"
#define TAG                                                                                        \
    "tags (!name) are not used in this file; leave it out, or put the value in quotes if it "      \
    "begins "                                                                                      \
    "with !"

static void structures_that_do_not_belong(void **state) {
    static const mistake mistakes[] = {
        {"isolation:\n  psi: [1, 2]\n",
         "run.yaml, line 2: a list or mapping stands where a single value is expected"},
        {"isolation:\n  psi:\n    deep: 2\n",
         "run.yaml, line 3: a list or mapping stands where a single value is expected"},
        {"isolation: 5\n",
         "run.yaml, line 1: a section holds lines of the form `key: value`, indented"},
        {"isolation:\n- psi\n",
         "run.yaml, line 2: a section holds lines of the form `key: value`, indented"},
        {"- isolation\n", "run.yaml, line 1: the file must consist of sections, e.g. `input:`"},
        {"just words\n", "run.yaml, line 1: the file must consist of sections, e.g. `input:`"},
        {"isolation:\n  ? [a]\n  : b\n", "run.yaml, line 2: a key is expected here"},
        {"? {a: b}\n: c\n", "run.yaml, line 1: the name of a section is expected here"},
        {"isolation:\n  psi: &a 5\n", "run.yaml, line 2: " ANCHOR},
        {"isolation:\n  psi: *a\n", "run.yaml, line 2: " ANCHOR},
        {"isolation: &all\n  psi: 5\n", "run.yaml, line 1: " ANCHOR},
        {"isolation:\n  <<: *all\n", "run.yaml, line 2: unknown key 'isolation.<<'"},
        {"*x : {psi: 5}\n", "run.yaml, line 1: " ANCHOR},
        {"isolation:\n  psi: !!int 5\n", "run.yaml, line 2: " TAG},
        {"isolation: !mine\n  psi: 5\n", "run.yaml, line 1: " TAG}};
    check_mistakes(*state, mistakes, sizeof mistakes / sizeof *mistakes);
}

static void text_that_is_no_yaml(void **state) {
    static const mistake mistakes[] = {
        {"isolation:\n\tpsi: 5\n",
         "run.yaml, line 2: not valid YAML: the line begins with a tab; indent with blanks"},
        {"isolation:\n  psi: 5\n kind: knn\n",
         "run.yaml, line 3: not valid YAML: did not find expected key"},
        {"output:\n  file: \"open\n",
         "run.yaml, line 3: not valid YAML: found unexpected end of stream"},
        {"output:\n  title: x\n  file: a\xff\n",
         "run.yaml, line 3: not valid YAML: invalid leading UTF-8 octet"},
        {"output:\n  file: a\x01\n",
         "run.yaml, line 2: not valid YAML: control characters are not allowed"}};
    check_mistakes(*state, mistakes, sizeof mistakes / sizeof *mistakes);
}

static void strings_have_a_greatest_length(void **state) {
    sample s;
    char text[2 * IKT_STRING_MAX] = "output: {file: ";
    size_t head = strlen(text);
    memset(text + head, 'x', IKT_STRING_MAX - 1);
    strcpy(text + head + IKT_STRING_MAX - 1, "}");
    assert_int_equal(parse(*state, &s, text), IKT_OK);
    assert_int_equal(strlen(s.output.file), IKT_STRING_MAX - 1);
    strcpy(text + head + IKT_STRING_MAX - 1, "x}");
    assert_failed(*state, parse(*state, &s, text), IKT_ERR_USAGE,
                  "run.yaml, line 1: output.file: longer than 1023 characters");
}

static void a_long_file_name_leaves_the_line(void **state) {
    char name[4000];
    sample s;
    ikt_config_part parts[SAMPLE_PARTS];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    sample_begin(*state, &s, parts);
    assert_int_equal(
        ikt_config_parse_text(*state, parts, SAMPLE_PARTS, name, "isolation:\n  psi: 0\n"),
        IKT_ERR_USAGE);
    assert_non_null(strstr(ikt_message(*state), "nnn, line 2: isolation.psi: '0' is not"));
}

static void assignments(void **state) {
    sample s;
    ikt_config_part parts[SAMPLE_PARTS];
    sample_begin(*state, &s, parts);
    assert_int_equal(ikt_config_override(*state, parts, SAMPLE_PARTS, "output.file=a=b, c: \"d\""),
                     IKT_OK);
    assert_string_equal(s.output.file, "a=b, c: \"d\"");
    assert_int_equal(ikt_config_override(*state, parts, SAMPLE_PARTS, "output.file="), IKT_OK);
    assert_string_equal(s.output.file, "");
    assert_int_equal(ikt_config_override(*state, parts, SAMPLE_PARTS, "isolation.rate=3"), IKT_OK);
    assert_int_equal(ikt_config_override(*state, parts, SAMPLE_PARTS, "isolation.rate=auto"),
                     IKT_OK);
    assert_true(s.isolation.rate == IKT_AUTO_REAL);
}

static void wrong_assignments(void **state) {
    static const mistake mistakes[] = {
        {"psi=5",
         "'psi=5' is no setting, which is section.key=value; did you mean 'isolation.psi'?"},
        {"isolation.psi", "'isolation.psi' is no setting, which is section.key=value; did you mean "
                          "'isolation.psi'?"},
        {"", "'' is no setting, which is section.key=value"},
        {"unheard=1",
         "'unheard=1' is no setting, which is section.key=value; a file of that name is "
         "written ./unheard=1"},
        {"isolation.unheard=1", "unknown key 'isolation.unheard'"},
        {"unheard.of=1", "unknown section 'unheard'"},
        {"max_iter=5", "'max_iter=5' is no setting, which is section.key=value; the number of "
                       "iterations is layout.iterations, those of the early exaggeration "
                       "included"},
        {"tsne.max-iter=5", "unknown section 'tsne'; the number of iterations is "
                            "layout.iterations, those of the early exaggeration included"},
        {"isolation.psi=", "isolation.psi: '' is not an integer from 2 to 65536"},
        {"isolation.pis=5", "unknown key 'isolation.pis'; did you mean 'isolation.psi'?"},
        {"iso.psi=5", "unknown section 'iso'; did you mean 'isolation.psi'?"},
        {"output.psi=5", "unknown key 'output.psi'; did you mean 'isolation.psi'?"},
        {"output.tolerance=1e309", "output.tolerance: '1e309' is not a number from -1e+308 to "
                                   "1e+308"},
        {"output.file=\xc3(", "output.file: not UTF-8 text"}};
    for (size_t m = 0; m < sizeof mistakes / sizeof *mistakes; m++) {
        sample s, before;
        ikt_config_part parts[SAMPLE_PARTS];
        sample_begin(*state, &s, parts);
        before = s;
        assert_failed(*state, ikt_config_override(*state, parts, SAMPLE_PARTS, mistakes[m].text),
                      IKT_ERR_USAGE, mistakes[m].message);
        assert_same_sample(&s, &before);
    }
}

IKT_MPI_TESTS(ikt_test(defaults_are_those_of_the_tables),
              ikt_test(a_default_out_of_range_is_our_defect), ikt_test(a_file_sets_what_it_names),
              ikt_test(forms_of_text_that_are_fine), ikt_test(values_of_each_type),
              ikt_test(unknown_names), ikt_test(wrong_values), ikt_test(repetitions),
              ikt_test(structures_that_do_not_belong), ikt_test(text_that_is_no_yaml),
              ikt_test(strings_have_a_greatest_length), ikt_test(a_long_file_name_leaves_the_line),
              ikt_test(assignments), ikt_test(wrong_assignments))
