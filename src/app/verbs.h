/* All verbs; the table is in main.c. */
#ifndef IKT_APP_VERBS_H
#define IKT_APP_VERBS_H

#include "app/verb.h"

extern const ikt_verb ikt_verb_embed, ikt_verb_generate, ikt_verb_convert, ikt_verb_evaluate,
    ikt_verb_plot, ikt_verb_info, ikt_verb_plan, ikt_verb_transform, ikt_verb_study,
    ikt_verb_export, ikt_verb_align, ikt_verb_view;

#endif
