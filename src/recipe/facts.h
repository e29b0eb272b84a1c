/* From settings and the shape of the inputs to facts (config/facts.h), and what rules make of them.
 */
#ifndef IKT_RECIPE_FACTS_H
#define IKT_RECIPE_FACTS_H

#include <stdbool.h>

#include "config/facts.h"
#include "config/value.h"
#include "recipe/shape.h"

typedef struct {
    bool has[IKT_FACTS];
} ikt_facts;

/* LOCAL, pure. The facts of a run.
 *   settings   in which the graph and the matrix have put what follows from them (make.c)
 *   shape      NULL: of nothing but the settings, as if all files were there */
ikt_facts ikt_facts_of(const ikt_settings *settings, const ikt_shape *shape);

/* LOCAL, pure. Whether all facts of a list hold, or do not hold, as it says; it ends with 0. */
bool ikt_facts_hold(const ikt_facts *facts, const int16_t *when);

/* LOCAL, pure. Whether the settings alone tell all of these facts, whatever the inputs are. */
bool ikt_facts_are_settings(const int16_t *when);

/* LOCAL. Makes a sentence in which {section.key} stands for the value of that setting, {input} for
 * the name of the input, {graph} for that of the graph, {spectrum} for the setting that asks for
 * eigenvectors, {labelled} for the one that labels are needed for, and {all:WORD} and {any:WORD}
 * for the objectives that have something in common (facts.c), "kpca and kda".
 *   out   freed with ikt_free; NULL on failure
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_sentence_make(ikt_context *ctx, const ikt_settings *settings, const ikt_shape *shape,
                             const char *sentence, char **out);

/* LOCAL, pure. "tsne, nerv or sne", with `last` between the last two. */
void ikt_names_join(const char *const *name, int count, const char *last, char *text, size_t size);

/* LOCAL. Refuses a run for which a rule holds: of its methods, then any other (rules.c).
 *   shape   NULL: no input has been looked at, and only what the settings alone tell is refused
 * Errors: that of the rule. */
ikt_status ikt_rules_check(ikt_context *ctx, const ikt_settings *settings, const ikt_shape *shape);

/* --- settings of parts that are not in use, which would otherwise be ignored without a word ---
 *
 * A setting counts as given where its value differs from its default and from the value that
 * run.preset begins with. A configuration that the program has written, which names every key, is
 * therefore accepted again. What only the number of rows decides (an `auto`) counts as in use.
 */

/* SAME-ARGS. Refuses a setting that is given and not in use, naming what would bring it into use.
 *   shape   NULL: as for ikt_facts_of
 * Errors: IKT_ERR_USAGE. */
ikt_status ikt_unused_check(ikt_context *ctx, const ikt_settings *settings, const ikt_shape *shape);

/* LOCAL, pure. Whether the section of a method is in use; true of all others. */
bool ikt_section_is_used(const ikt_settings *settings, const ikt_facts *facts,
                         const ikt_section *section);

/* SAME-ARGS. Sets what is not in use to its default, or to the value of run.preset.
 *   shared   NULL, or settings: only what has the same value in these is changed. That is what a
 *            study says for all of its methods, of which each uses its part. */
ikt_status ikt_unused_reset(ikt_context *ctx, ikt_settings *settings, const ikt_shape *shape,
                            const ikt_settings *shared);

/* SAME-ARGS. Where the start is the map, takes back what run.preset alone has set for a loop: what
 * is not in use gets its default. Of other objectives everything stays, as checkpoints name it. */
ikt_status ikt_preset_trim(ikt_context *ctx, ikt_settings *settings, const ikt_shape *shape);

/* SAME-ARGS. Where a run has been refused by IKT_ERR_USAGE, adds to the sentence which of the keys
 * that it speaks of have the value that run.preset gives them, whoever else has given it, too.
 * Returns `st`. */
ikt_status ikt_preset_name(ikt_context *ctx, const ikt_settings *settings, ikt_status st);

#endif
