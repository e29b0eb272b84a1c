/* A configuration of two sections with every type of key, for the tests of src/config. */
#ifndef IKT_TEST_CONFIG_H
#define IKT_TEST_CONFIG_H

#include "support/ikt_test.h"

#include <stdbool.h>
#include <string.h>

#include "config/config.h"

typedef struct {
    int64_t psi, neighbours;
    double rate;
    int kind;
} sample_isolation;

typedef struct {
    char file[IKT_STRING_MAX], title[IKT_STRING_MAX];
    bool overwrite;
    double tolerance;
} sample_output;

typedef struct {
    sample_isolation isolation;
    sample_output output;
} sample;

enum { SAMPLE_PARTS = 2 };

static const ikt_key sample_isolation_keys[] = {
    {"psi", IKT_KEY_INT, offsetof(sample_isolation, psi), "250", 2, 65536, 0, NULL, "points",
     "Points of a partitioning"},
    {"neighbours", IKT_KEY_INT, offsetof(sample_isolation, neighbours), "auto", 1, 9e15, 1, NULL,
     "", "Neighbours of a row"},
    {"rate", IKT_KEY_REAL, offsetof(sample_isolation, rate), "auto", -1e6, 1e12, 1, NULL, "",
     "Step length"},
    {"kind", IKT_KEY_CHOICE, offsetof(sample_isolation, kind), "isolation", 0, 0, 0,
     "isolation|gaussian|knn", "", "Kernel"}};

static const ikt_key sample_output_keys[] = {
    {"file", IKT_KEY_STRING, offsetof(sample_output, file), "", 0, 0, 0, NULL, "", "File"},
    {"title", IKT_KEY_STRING, offsetof(sample_output, title), "a title", 0, 0, 0, NULL, "",
     "Title of the picture"},
    {"overwrite", IKT_KEY_BOOL, offsetof(sample_output, overwrite), "no", 0, 0, 0, NULL, "",
     "Replace files that exist"},
    {"tolerance", IKT_KEY_REAL, offsetof(sample_output, tolerance), "0.1", -1e308, 1e308, 0, NULL,
     "", "Tolerance"}};

static const ikt_section sample_isolation_section = {"isolation", "The kernel",
                                                     sample_isolation_keys, 4};
static const ikt_section sample_output_section = {"output", "What is written", sample_output_keys,
                                                  4};

static inline void sample_bind(sample *s, ikt_config_part parts[SAMPLE_PARTS]) {
    parts[0] = (ikt_config_part){&sample_isolation_section, &s->isolation};
    parts[1] = (ikt_config_part){&sample_output_section, &s->output};
}

/* Binds, and sets the defaults. */
static inline void sample_begin(ikt_context *ctx, sample *s, ikt_config_part parts[SAMPLE_PARTS]) {
    memset(s, 0, sizeof *s);
    sample_bind(s, parts);
    assert_int_equal(ikt_config_defaults(ctx, parts, SAMPLE_PARTS), IKT_OK);
}

/* Member by member: padding and what lies behind the end of a string do not count. */
static inline void assert_same_sample(const sample *a, const sample *b) {
    assert_int_equal(a->isolation.psi, b->isolation.psi);
    assert_int_equal(a->isolation.neighbours, b->isolation.neighbours);
    assert_memory_equal(&a->isolation.rate, &b->isolation.rate, sizeof a->isolation.rate);
    assert_int_equal(a->isolation.kind, b->isolation.kind);
    assert_string_equal(a->output.file, b->output.file);
    assert_string_equal(a->output.title, b->output.title);
    assert_int_equal(a->output.overwrite, b->output.overwrite);
    assert_memory_equal(&a->output.tolerance, &b->output.tolerance, sizeof a->output.tolerance);
}

/* The last call failed with the status and exactly this message; forgets it. */
static inline void assert_failed(ikt_context *ctx, ikt_status got, ikt_status expected,
                                 const char *message) {
    assert_string_equal(ikt_message(ctx), message);
    assert_int_equal(got, expected);
    ikt_clear(ctx);
}

#endif
