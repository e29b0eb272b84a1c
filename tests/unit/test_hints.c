/* Hints to wrong names: what is near, and what other programs' names are called here. */
#include "support/ikt_test.h"

#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "settings/settings.h"

static void near_is_a_third_of_the_letters(void **state) {
    static const struct {
        const char *wanted, *name;
        bool is_near;
    } cases[] = {{"psi", "psi", true},
                 {"pis", "psi", true},
                 {"psy", "psi", true},
                 {"foo", "psi", false},
                 {"ab", "psi", false},
                 {"", "psi", false},
                 {"grid", "init", false},
                 {"tolerence", "tolerance", true},
                 {"perplxeiyt", "perplexity", true},
                 {"dimension", "dimensions", true},
                 {"iter", "iterations", true}, /* a beginning */
                 {"it", "iterations", false},
                 {"iterations", "iter", false},
                 {"temperature", "iterations", false}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        ikt_nearest nearest = ikt_nearest_begin(cases[c].wanted);
        ikt_nearest_offer(&nearest, cases[c].name);
        if ((nearest.name[0] != '\0') != cases[c].is_near)
            fail_msg("%s and %s", cases[c].wanted, cases[c].name);
    }
}

static void the_nearest_is_offered_and_nothing_far(void **state) {
    (void)state;
    ikt_nearest nearest = ikt_nearest_begin("iteration");
    assert_string_equal(ikt_nearest_say(&nearest), "");
    ikt_nearest_offer(&nearest, "init");
    assert_string_equal(ikt_nearest_say(&nearest), "");
    ikt_nearest_offer_as(&nearest, "iterations", "whole.iterations", 1);
    assert_string_equal(ikt_nearest_say(&nearest), "; did you mean 'whole.iterations'?");
    ikt_nearest_offer_as(&nearest, "iterations", "layout.iterations", 0);
    assert_string_equal(ikt_nearest_say(&nearest), "; did you mean 'layout.iterations'?");
    ikt_nearest_offer(&nearest, "iterations"); /* no nearer than the one before */
    assert_string_equal(ikt_nearest_say(&nearest), "; did you mean 'layout.iterations'?");
}

/* Names that users of other programs type. */
static void names_of_peers_have_a_sentence(void **state) {
    static const char *const names[] = {"metric",        "n_components",
                                        "n_iter",        "max_iter",
                                        "n_jobs",        "use_rep",
                                        "random_state",  "random_seed",
                                        "learning_rate", "early_exaggeration",
                                        "n_neighbors",   "min_dist",
                                        "init",          "perplexity",
                                        "theta",         "negative_gradient_method",
                                        "n_pcs",         "key_added",
                                        "verbose",       "dof",
                                        "N-Components",  "initialization"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!ikt_peer_hint(names[i])) fail_msg("nothing is said to %s", names[i]);
    assert_null(ikt_peer_hint("psi"));
    assert_null(ikt_peer_hint(""));
    assert_null(ikt_peer_hint("n_components n_dims")); /* a name, not a part of the list */
}

/* The setting that means the same here, not merely one that there is. */
static void names_of_peers_lead_to_the_right_setting(void **state) {
    static const struct {
        const char *name, *setting;
    } cases[] = {{"metric", "preprocess.metric "},
                 {"precomputed", "preprocess.metric=precomputed"},
                 {"dof", "layout.degrees_of_freedom "},
                 {"exaggeration", "layout.final_exaggeration"}, /* that of openTSNE */
                 {"early_exaggeration", "layout.exaggeration,"},
                 {"late_exag_coeff", "layout.final_exaggeration"}, /* those of FIt-SNE */
                 {"start_late_exag_iter", "layout.final_exaggeration_from"},
                 {"missing", "preprocess.missing "},
                 {"min_dist", "layout.final_exaggeration "},
                 {"n_components", "layout.dimensions "},
                 {"max_iter", "layout.iterations,"},
                 {"n_jobs", "run.threads "},
                 {"use_rep", "input.dataset,"},
                 {"random_state", "run.seed"},
                 {"learning_rate", "layout.learning_rate,"},
                 {"n_neighbors", "affinity.neighbours"},
                 {"n_pcs", "preprocess.pca;"},
                 {"method", "layout.repulsion "}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *sentence = ikt_peer_hint(cases[i].name);
        if (!sentence || !strstr(sentence, cases[i].setting))
            fail_msg("%s: %s", cases[i].name, sentence ? sentence : "nothing");
    }
}

static bool is_setting(const ikt_config_part *parts, const char *section, const char *key) {
    for (int p = 0; p < IKT_SETTINGS_PARTS; p++)
        for (size_t k = 0; k < parts[p].section->n_keys; k++)
            if (strcmp(parts[p].section->name, section) == 0 &&
                strcmp(parts[p].section->keys[k].name, key) == 0)
                return true;
    return false;
}

/* Every section.key that a sentence names is a setting. */
static void sentences_name_settings_that_there_are(void **state) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
    ikt_settings settings;
    ikt_config_part parts[IKT_SETTINGS_PARTS];
    const char *sentence;
    int found = 0;
    (void)state;
    ikt_settings_parts(&settings, parts);
    for (int i = 0; (sentence = ikt_peer_hint_at(i)) != NULL; i++)
        for (const char *at = sentence; *at; at++) {
            char section[32], key[64];
            const size_t length = strspn(at, letters);
            const size_t more = at[length] == '.' ? strspn(at + length + 1, letters) : 0;
            if (length > 0 && more > 0) {
                snprintf(section, sizeof section, "%.*s", (int)length, at);
                snprintf(key, sizeof key, "%.*s", (int)more, at + length + 1);
                if (!is_setting(parts, section, key)) fail_msg("%s.%s: %s", section, key, sentence);
                found++;
            }
            at += length + more;
            if (!*at) break;
        }
    assert_true(found > 30);
}

IKT_MPI_TESTS(ikt_test(near_is_a_third_of_the_letters),
              ikt_test(the_nearest_is_offered_and_nothing_far),
              ikt_test(names_of_peers_have_a_sentence),
              ikt_test(names_of_peers_lead_to_the_right_setting),
              ikt_test(sentences_name_settings_that_there_are))
