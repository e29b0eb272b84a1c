/* What the result of a run depends on, as text that two runs can be compared by. */
#ifndef IKT_CHECKPOINT_FINGERPRINT_H
#define IKT_CHECKPOINT_FINGERPRINT_H

#include "io/sources/source.h"
#include "settings/settings.h"

enum { IKT_INPUT_TEXT = 256 };

/* COLLECTIVE. "1000 x 50 float32, hash 0123456789abcdef": shape, type and a checksum of every
 * value, the same on any ranks. Cost: one pass over the source. Errors: those of reading. */
ikt_status ikt_fingerprint_input(ikt_context *ctx, ikt_source *source, char text[IKT_INPUT_TEXT]);

/* LOCAL. The settings, as the user gave them, as YAML: without those that only say where things
 * are, how much is printed and how long the run goes on (layout.iterations).
 *   text   freed with ikt_free. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_fingerprint_settings(ikt_context *ctx, const ikt_settings *settings, char **text);

/* LOCAL, pure. The first line in which two such texts differ, for people: "affinity.neighbours is
 * 30 there and 90 here".
 *   text   [size] */
void ikt_fingerprint_difference(const char *there, const char *here, char *text, size_t size);

#endif
