/* A YAML file of any depth as a tree whose nodes know their lines.
 *
 * For files with lists and nested mappings (studies); settings of a run, two levels of scalars,
 * are read by config.h. Nodes are numbers from 1; 0 stands for "there is none" and is accepted by
 * every function below. The tree is whatever libyaml's document is.
 */
#ifndef IKT_CONFIG_YAML_TREE_H
#define IKT_CONFIG_YAML_TREE_H

#include <stddef.h>

#include "base/status.h"

typedef struct ikt_yaml ikt_yaml;

typedef enum { IKT_YAML_NONE, IKT_YAML_SCALAR, IKT_YAML_LIST, IKT_YAML_MAPPING } ikt_yaml_kind;

/* COLLECTIVE. Reads a file on every rank. Errors: those of ikt_text_file_load; IKT_ERR_USAGE with
 * file and line where it is not valid YAML. *out is NULL on failure. */
ikt_status ikt_yaml_load(ikt_context *ctx, const char *path, ikt_yaml **out);

/* SAME-ARGS. The same from text; `name` stands for the file in messages, and is copied. */
ikt_status ikt_yaml_parse(ikt_context *ctx, const char *name, const char *text, ikt_yaml **out);

/* LOCAL. Frees and sets to NULL; accepts NULL. */
void ikt_yaml_destroy(ikt_yaml **yaml);

/* LOCAL, all that follow. The outermost node; 0 for an empty file. */
int ikt_yaml_root(const ikt_yaml *yaml);
ikt_yaml_kind ikt_yaml_kind_of(const ikt_yaml *yaml, int node);

/* Items of a list or pairs of a mapping; 0 of anything else. */
int ikt_yaml_count(const ikt_yaml *yaml, int node);
int ikt_yaml_item(const ikt_yaml *yaml, int node, int i);        /* i-th of a list */
const char *ikt_yaml_key(const ikt_yaml *yaml, int node, int i); /* "" where it is no scalar */
int ikt_yaml_value(const ikt_yaml *yaml, int node, int i);       /* i-th of a mapping */

/* The value of a key; 0 where the mapping has none. */
int ikt_yaml_find(const ikt_yaml *yaml, int node, const char *key);

/* Text of a scalar, "" of anything else. */
const char *ikt_yaml_text(const ikt_yaml *yaml, int node);

/* Records IKT_ERR_USAGE with "FILE, line N: " before the sentence, and returns it. */
ikt_status ikt_yaml_fail(ikt_context *ctx, const ikt_yaml *yaml, int node, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* "FILE, line N: " of a node. */
void ikt_yaml_where(const ikt_yaml *yaml, int node, char *text, size_t size);

/* Fails at the first key of the mapping that is not in `known` (ended by NULL), naming the nearest,
 * or that comes twice; and where the node is no mapping. `what` names the node: "a data set". */
ikt_status ikt_yaml_check_keys(ikt_context *ctx, const ikt_yaml *yaml, int node, const char *what,
                               const char *const *known);

#endif
