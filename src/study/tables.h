/* The data sets of a study as files: found, or generated. */
#ifndef IKT_STUDY_TABLES_H
#define IKT_STUDY_TABLES_H

#include "study/plan.h"

/* COLLECTIVE. Fills table[n_data * n_seeds], whose entry i * n_seeds + s is data set i for seed s
 * (the same one for all seeds but where the set is generated anew for each). */
ikt_status ikt_study_tables_find(ikt_context *ctx, const ikt_study *study,
                                 const ikt_study_places *places, ikt_study_table *table);

/* COLLECTIVE. Makes a folder unless it is there. Errors: IKT_ERR_FILE. */
ikt_status ikt_study_make_folder(ikt_context *ctx, const char *path);

/* LOCAL, pure. 64-bit FNV-1a hash of a text, continued from `hash` (0: begin). */
uint64_t ikt_study_hash(uint64_t hash, const char *text);

#endif
