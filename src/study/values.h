/* Lists of values as studies write them: [1, 5, .., 97, 0.01n, 0.05n, .., 0.97n].
 *
 * `..` continues the step of the two values before it up to the value after it. A number followed
 * by n is a share of the rows of the data set; it becomes a number when the data set is known.
 */
#ifndef IKT_STUDY_VALUES_H
#define IKT_STUDY_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "config/key.h"
#include "config/yaml_tree.h"

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

#endif
