/* Opening what the section `input` names. */
#ifndef IKT_SETTINGS_INPUT_H
#define IKT_SETTINGS_INPUT_H

#include "io/sources/source.h"
#include "settings/settings.h"

/* COLLECTIVE. Opens the rows of input.file. Errors: those of ikt_source_open_with; IKT_ERR_USAGE
 * (input.file is missing, the description of raw numbers is incomplete). */
ikt_status ikt_input_open(ikt_context *ctx, const ikt_input_settings *input, ikt_source **out);

/* COLLECTIVE. Opens another file as `input` describes one: its numbers are raw where nothing else
 * is known of it, transposed where those were. */
ikt_status ikt_input_open_like(ikt_context *ctx, const ikt_input_settings *input, const char *file,
                               const char *dataset, ikt_source **out);

/* COLLECTIVE. Tells in the log's details what else the file holds. */
void ikt_input_describe(ikt_context *ctx, const ikt_source *source);

#endif
