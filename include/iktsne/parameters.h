/* What an embedding is told: the keys of `iktsne embed --help`, with the same names and values.
 *
 * Keys are texts, "isolation.psi", and so are values, "512", "auto", "yes": what a release adds
 * needs no new function. Every rank holds the same parameters.
 */
#ifndef IKTSNE_PARAMETERS_H
#define IKTSNE_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iktsne/context.h"

IKT_BEGIN_C

typedef struct ikt_parameters ikt_parameters;

/* SAME-ARGS. Parameters with all keys at their defaults.
 *   ctx   borrowed until ikt_parameters_destroy
 *   out   receives them (owned by the caller), NULL on failure
 * Errors: IKT_ERR_RESOURCE. */
IKT_API ikt_status ikt_parameters_create(ikt_context *ctx, ikt_parameters **out);

/* LOCAL. Frees *parameters and sets it to NULL; accepts NULL. */
IKT_API void ikt_parameters_destroy(ikt_parameters **parameters);

/* SAME-ARGS. Gives a key a value.
 *   key     "section.key"
 *   value   as on the command line; copied
 * Errors: IKT_ERR_USAGE (no such key, with the nearest; not a value of it, with those possible);
 * the key then keeps the value it had. */
IKT_API ikt_status ikt_parameters_set(ikt_parameters *parameters, const char *key,
                                      const char *value);

/* LOCAL. The value of a key, as text that ikt_parameters_set takes.
 *   text   [size] receives it with a zero byte, cut where it does not fit; 1024 bytes always do
 * Errors: IKT_ERR_USAGE (no such key). */
IKT_API ikt_status ikt_parameters_get(const ikt_parameters *parameters, const char *key, char *text,
                                      size_t size);

/* COLLECTIVE. Reads a YAML file as `iktsne embed` does, over the values that are there: rank 0
 * reads it. After a failure some keys may be set.
 * Errors: IKT_ERR_FILE; IKT_ERR_USAGE with file and line. */
IKT_API ikt_status ikt_parameters_load(ikt_parameters *parameters, const char *path);

/* LOCAL. All keys and values as YAML that ikt_parameters_load reads.
 *   yaml   receives a text that is borrowed until the next call for these parameters
 * Errors: IKT_ERR_RESOURCE. */
IKT_API ikt_status ikt_parameters_yaml(ikt_parameters *parameters, const char **yaml);

/* What values a key takes. */
typedef enum {
    IKT_SETTING_INT,   /* whole numbers */
    IKT_SETTING_REAL,  /* numbers */
    IKT_SETTING_BOOL,  /* yes or no */
    IKT_SETTING_TEXT,  /* any text */
    IKT_SETTING_CHOICE /* one of `choices` */
} ikt_setting_type;

/* A key of the parameters; texts are those of the library and live as long as it. */
typedef struct {
    const char *section, *name; /* "isolation", "psi": the key is "isolation.psi" */
    ikt_setting_type type;
    const char *fallback; /* its default, "auto" */
    bool takes_auto;      /* INT, REAL: "auto" is a value, too */
    double low, high;     /* INT, REAL: the least and the largest value */
    const char *choices;  /* CHOICE: "pca|random"; else NULL */
    const char *unit;     /* "rows", or "" */
    const char *help;     /* what it means, in one or two sentences */
} ikt_setting;

/* LOCAL, pure. The i-th key of the parameters, from 0; false where there are no more. For bindings
 * and forms, which need no list of their own. */
IKT_API bool ikt_setting_at(int64_t i, ikt_setting *out);

/* LOCAL, pure. What takes the place here of a name that other programs have, "n_iter" or "theta": a
 * sentence that begins small and has no full stop; NULL where the name is none of those known. */
IKT_API const char *ikt_setting_hint(const char *name);

IKT_END_C

#endif
