/* What goes together in a run, in words: asked of ikt_recipe_make, and therefore true. */
#ifndef IKT_RECIPE_EXPLAIN_H
#define IKT_RECIPE_EXPLAIN_H

#include "config/value.h"

/* LOCAL. Markdown: for every objective what it takes, the affinities with the forms of P that it
 * goes with, its starts and its inputs (docs/combinations.md, embed --list-methods). */
void ikt_methods_describe(ikt_text *text);

#endif
