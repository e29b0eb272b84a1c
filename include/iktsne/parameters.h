/* What an embedding is told: the keys of `iktsne embed --help`, with the same names and values.
 *
 * Keys are texts, "isolation.psi", and so are values, "512", "auto", "yes": what a release adds
 * needs no new function. Every rank holds the same parameters.
 */
#ifndef IKTSNE_PARAMETERS_H
#define IKTSNE_PARAMETERS_H

#include <stddef.h>

#include "iktsne/context.h"

IKT_BEGIN_C

typedef struct ikt_parameters ikt_parameters;

/* SAME-ARGS. Parameters with all keys at their defaults.
 *   ctx   lent until ikt_parameters_destroy
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
 *   yaml   receives a text that is lent until the next call for these parameters
 * Errors: IKT_ERR_RESOURCE. */
IKT_API ikt_status ikt_parameters_yaml(ikt_parameters *parameters, const char **yaml);

IKT_END_C

#endif
