/* What the result of a run depends on, as text that two runs can be compared by. */
#ifndef IKT_CHECKPOINT_FINGERPRINT_H
#define IKT_CHECKPOINT_FINGERPRINT_H

#include "io/sources/source.h"
#include "settings/settings.h"

/* Room for the checksum of one file, and for those of all that a result depends on. */
enum { IKT_INPUT_TEXT = 256, IKT_INPUTS_TEXT = 1024 };

/* Roles whose checksums stand behind those of rows and graph, "; ROLE CHECKSUM", in this order. */
enum { IKT_INPUT_ROLES = 3 };
extern const char *const ikt_input_roles[IKT_INPUT_ROLES];

/* COLLECTIVE. "1000 x 50 float32, hash 0123456789abcdef": shape, type and a checksum of every
 * value, the same on any ranks. Cost: one pass over the source. Errors: those of reading. */
ikt_status ikt_fingerprint_input(ikt_context *ctx, ikt_source *source, char text[IKT_INPUT_TEXT]);

/* LOCAL. The settings, as the user gave them, as YAML: without those that only say where things
 * are, how much is printed and how long the run goes on (layout.iterations). Of files that shape
 * the result it says that there are some: which they are, their checksums say.
 *   text   freed with ikt_free. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_fingerprint_settings(ikt_context *ctx, const ikt_settings *settings, char **text);

/* LOCAL, pure. The first role in which the checksums of two runs differ: "input.file" for rows and
 * graph.
 *   there, here   receive the checksums of that role; "none" */
const char *ikt_fingerprint_input_difference(const char *all_there, const char *all_here,
                                             char there[IKT_INPUTS_TEXT],
                                             char here[IKT_INPUTS_TEXT]);

/* LOCAL, pure. The first line in which two such texts differ, for people: "affinity.neighbours is
 * 30 there and 90 here".
 *   text   [size] */
void ikt_fingerprint_difference(const char *there, const char *here, char *text, size_t size);

#endif
