/* A study: data sets x methods x parameter values x seeds, and what is measured.
 *
 * What a YAML file says, checked as far as it can be without the data. See docs/studies.md for the
 * file, ikt_study_plan for what becomes of it.
 */
#ifndef IKT_STUDY_SPEC_H
#define IKT_STUDY_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "config/key.h"
#include "config/yaml_tree.h"

/* --- lists of values (values.c) --------------------------------------------------------------- */

/* Lists of values as studies write them: [1, 5, .., 97, 0.01n, 0.05n, .., 0.97n]. `..` continues
 * the step of the two values before it up to the value after it. A number followed by n is a share
 * of the rows of the data set; it becomes a number when the data set is known. */
enum { IKT_STUDY_TEXT = 64, IKT_STUDY_VALUES_MOST = 4096 };

typedef struct {
    bool is_number, is_share; /* a share of the rows */
    double number;
    char text[IKT_STUDY_TEXT]; /* as written */
} ikt_study_value;

typedef struct {
    ikt_study_value *value; /* [count], owned */
    int64_t count;
} ikt_study_values;

/* LOCAL. Reads a list, or a single value as a list of one. Errors: IKT_ERR_USAGE with the line: a
 * `..` without two numbers before and one after it of the same kind, or whose step never gets
 * there; too many values; a list within the list. IKT_ERR_RESOURCE. */
ikt_status ikt_study_values_read(ikt_context *ctx, const ikt_yaml *yaml, int node,
                                 ikt_study_values *out);
void ikt_study_values_destroy(ikt_study_values *values);

/* LOCAL. The value as text for a key, with n rows: shares of an integer key are rounded, and are at
 * least 1. */
void ikt_study_value_text(const ikt_study_value *value, const ikt_key *key, int64_t n,
                          char text[IKT_STUDY_TEXT]);

/* --- studies ---------------------------------------------------------------------------------- */

enum {
    IKT_STUDY_NAME = 192,
    IKT_STUDY_AXES = 4,
    IKT_STUDY_MEASURES = 32,
    IKT_STUDY_DATA_MOST = 1024
};

/* Settings as `section.key=value`, applied in order. */
typedef struct {
    char (*text)[IKT_STRING_MAX]; /* [count], owned */
    int64_t count;
} ikt_assignments;

/* A key that takes several values. */
typedef struct {
    char name[IKT_STUDY_NAME]; /* "isolation.psi" */
    const ikt_key *key;
    ikt_study_values values;
} ikt_study_axis;

typedef struct {
    char name[IKT_STUDY_NAME];
    ikt_assignments settings;
    ikt_study_axis axis[IKT_STUDY_AXES];
    int axes;
    int64_t landmarks; /* embedded in place of all rows, which are placed in their map; 0: none */
    ikt_assignments given; /* "DATA=MAP": maps of other programs in place of runs; usually none */
} ikt_study_method;

typedef struct {
    char name[IKT_STUDY_NAME];
    char file[IKT_STRING_MAX];      /* given, or "" where it is generated */
    char generator[IKT_STUDY_NAME]; /* "" where it is a file */
    ikt_assignments options;        /* of the generator, as key=value */
    int64_t seed;                   /* of the generator; IKT_AUTO_INT: that of each run */
    int64_t n_seeds;                /* of the study's seeds, the first so many are taken */
    bool is_optional;               /* a missing file is a warning */
    bool is_source;                 /* not embedded: other data sets and settings refer to it */
    ikt_assignments settings;       /* for this data set only */
    char reference[IKT_STUDY_NAME]; /* data set whose map this one's is compared with; or "" */
    double *published;              /* [methods * measures] of the literature; NaN: none; or NULL */
} ikt_study_data;

typedef struct {
    char path[IKT_STRING_MAX]; /* of the file */
    char name[IKT_STUDY_NAME]; /* file name without folder and ending */
    char title[IKT_STRING_MAX];
    char about[4 * IKT_STRING_MAX]; /* a paragraph for the report */
    ikt_assignments settings;       /* for every run */
    ikt_study_data *data;           /* [n_data] */
    int64_t n_data;
    ikt_study_method *method; /* [n_methods] */
    int64_t n_methods;
    int64_t *seed; /* [n_seeds] */
    int64_t n_seeds;
    char (*measure)[IKT_STUDY_NAME]; /* [n_measures] */
    int64_t n_measures;
    bool over_rows; /* curves are drawn over the number of rows, not over the parameter */
    bool has_rank_curves;
} ikt_study;

/* COLLECTIVE. Reads and checks a study; no data set is opened.
 *   out   the same on every rank; freed with ikt_study_destroy; empty on failure.
 * Errors: those of ikt_yaml_load; IKT_ERR_USAGE with line for whatever is unknown (key, setting,
 * measure, generator, data set referred to), missing, repeated or contradictory. */
ikt_status ikt_study_read(ikt_context *ctx, const char *path, ikt_study *out);
void ikt_study_destroy(ikt_study *study);

/* LOCAL, pure. The name of a file without its folders. */
const char *ikt_study_base(const char *path);

/* LOCAL, pure. The map that an entry of ikt_study_method.given names for a data set; NULL where the
 * entry is one of another data set. */
const char *ikt_study_given_map(const ikt_study_data *data, const char *given);

/* LOCAL. Number of the data set of that name; -1 where there is none. */
int64_t ikt_study_find_data(const ikt_study *study, const char *name);

#endif
