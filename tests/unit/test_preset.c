/* Presets of a run: tables that the keys allow, and that change something. */
#include "support/ikt_test.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "settings/settings.h"

static void begin(ikt_context *ctx, ikt_settings *settings,
                  ikt_config_part parts[IKT_SETTINGS_PARTS]) {
    memset(settings, 0, sizeof *settings);
    ikt_settings_parts(settings, parts);
    assert_int_equal(ikt_config_defaults(ctx, parts, IKT_SETTINGS_PARTS), IKT_OK);
}

/* The names of run.preset stand in the order of the tables. */
static void names_lead_to_their_tables(void **state) {
    ikt_settings settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char assignment[64], names[512] = "";
    begin(*state, &settings, parts);
    assert_int_equal(settings.run.preset, IKT_RUN_PRESET_NONE);
    for (int p = 0; p < IKT_RUN_PRESETS; p++) {
        snprintf(assignment, sizeof assignment, "run.preset=%s", ikt_presets[p].name);
        assert_int_equal(ikt_config_override(*state, parts, IKT_SETTINGS_PARTS, assignment),
                         IKT_OK);
        assert_int_equal(settings.run.preset, p);
        if (p > 0) strcat(names, "|");
        strcat(names, ikt_presets[p].name);
    }
    assert_string_equal(names, ikt_preset_names);
}

/* Every preset but none differs from the defaults. */
static void presets_change_something(void **state) {
    ikt_settings settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    char *defaults = NULL;
    begin(*state, &settings, parts);
    assert_int_equal(ikt_config_print(*state, parts, IKT_SETTINGS_PARTS, &defaults), IKT_OK);
    for (int p = IKT_RUN_PRESET_NONE; p < IKT_RUN_PRESETS; p++) {
        char *text = NULL;
        begin(*state, &settings, parts);
        assert_int_equal(ikt_preset_apply(*state, parts, IKT_SETTINGS_PARTS, p), IKT_OK);
        assert_int_equal(ikt_config_print(*state, parts, IKT_SETTINGS_PARTS, &text), IKT_OK);
        assert_int_equal(strcmp(text, defaults) != 0, p != IKT_RUN_PRESET_NONE);
        assert_int_equal(ikt_presets[p].setting[0] != NULL, p != IKT_RUN_PRESET_NONE);
        assert_true(strlen(ikt_presets[p].help) > 10);
        ikt_free(&text);
    }
    ikt_free(&defaults);
}

/* Help and Markdown name every setting of every preset. */
static void descriptions_are_complete(void **state) {
    ikt_text help = {*state, NULL, 0, 0, IKT_OK}, markdown = help;
    ikt_presets_describe(&help);
    ikt_presets_describe_markdown(&markdown);
    for (int p = IKT_RUN_PRESET_NONE + 1; p < IKT_RUN_PRESETS; p++)
        for (const char *const *setting = ikt_presets[p].setting; *setting; setting++) {
            assert_non_null(strstr(help.data, *setting));
            assert_non_null(strstr(markdown.data, *setting));
        }
    ikt_free(&help.data);
    ikt_free(&markdown.data);
}

IKT_MPI_TESTS(ikt_test(names_lead_to_their_tables), ikt_test(presets_change_something),
              ikt_test(descriptions_are_complete))
