/* What the readers of a study's parts share. */
#ifndef IKT_STUDY_SPEC_PARTS_H
#define IKT_STUDY_SPEC_PARTS_H

#include "config/yaml_tree.h"
#include "study/spec.h"

typedef struct {
    ikt_context *ctx;
    const ikt_yaml *yaml;
    ikt_study *study;
} ikt_spec_reader;

/* SAME-ARGS, all of them. Errors: IKT_ERR_USAGE with line, IKT_ERR_RESOURCE. */

/* A mapping of settings, `affinity.kind: gaussian` or `affinity: {kind: gaussian}`, appended to
 * *out. A node that is not there is no setting. */
ikt_status ikt_spec_settings(ikt_spec_reader *r, int node, ikt_assignments *out);

/* The key of "section.key"; NULL with a message where there is none, or where a study sets it
 * itself. */
const ikt_key *ikt_spec_key(ikt_spec_reader *r, int node, const char *name);

/* Appends "name=value"; a name that is there already is an error at the node. */
ikt_status ikt_spec_assign(ikt_spec_reader *r, int node, const char *name, const char *value,
                           ikt_assignments *out);

/* A scalar of at most `size` - 1 bytes; "" and IKT_OK where there is no node. */
ikt_status ikt_spec_text(ikt_spec_reader *r, int node, const char *what, char *text, size_t size);

/* The lists `data` and `methods`. Data sets come last: they refer to methods and measures. */
ikt_status ikt_spec_methods(ikt_spec_reader *r, int node);
ikt_status ikt_spec_data(ikt_spec_reader *r, int node);

#endif
