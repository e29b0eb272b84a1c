/* Facts for the provenance of a result file, gathered one by one. */
#ifndef IKT_PIPELINE_NOTES_H
#define IKT_PIPELINE_NOTES_H

#include "base/timer.h"
#include "io/results/result.h"
#include "isolation/codes.h"

enum { IKT_FACTS_MOST = 48, IKT_CIRCUMSTANCES_MOST = 16 + 2 * IKT_STAGE_COUNT };

/* All zero: none. */
typedef struct {
    ikt_note fact[IKT_FACTS_MOST];                 /* the same in every equal run */
    ikt_note circumstance[IKT_CIRCUMSTANCES_MOST]; /* varies: ranks, threads, folder */
    int64_t n_facts, n_circumstances;
} ikt_notes;

/* LOCAL. Each adds one; what is beyond the most of them is a defect. Reals are written so that they
 * read back exactly: values[count]. */
void ikt_note_fact(ikt_notes *notes, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void ikt_note_circumstance(ikt_notes *notes, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void ikt_note_hash(ikt_notes *notes, const char *name, uint64_t hash);
void ikt_note_reals(ikt_notes *notes, const char *name, const double *values, int count);
void ikt_note_cells(ikt_notes *notes, const ikt_code_check *cells); /* where there is a sample */

/* LOCAL. Version, commit and compiler of this program. */
void ikt_notes_program(ikt_notes *notes);

/* COLLECTIVE. Adds ranks, threads and folder, and gives all ranks the notes of rank 0: HDF5 wants
 * equal attributes. */
void ikt_notes_share(ikt_context *ctx, ikt_notes *notes);

#endif
