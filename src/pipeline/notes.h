/* The facts of a run, gathered one by one into one list: the provenance of the result file has them
 * as texts, and the summary in JSON with their types. */
#ifndef IKT_PIPELINE_NOTES_H
#define IKT_PIPELINE_NOTES_H

#include "base/timer.h"
#include "io/results/result.h"
#include "isolation/codes.h"

enum { IKT_FACTS_MOST = 48, IKT_CIRCUMSTANCES_MOST = 16 + 2 * IKT_STAGE_COUNT };

typedef enum { IKT_FACT_TEXT, IKT_FACT_INT, IKT_FACT_REAL, IKT_FACT_BOOL } ikt_fact_kind;

/* What a fact is besides its text. */
typedef struct {
    ikt_fact_kind kind;
    double number; /* integers of a run are below 2^53 */
} ikt_fact_value;

/* All zero: none. */
typedef struct {
    ikt_note fact[IKT_FACTS_MOST]; /* the same in every equal run */
    ikt_fact_value value[IKT_FACTS_MOST];
    ikt_note circumstance[IKT_CIRCUMSTANCES_MOST]; /* varies: ranks, threads, folder */
    int64_t n_facts, n_circumstances;
} ikt_notes;

/* LOCAL. Each adds one; what is beyond the most of them is a defect. Reals are written so that they
 * read back exactly: values[count]. */
void ikt_note_fact(ikt_notes *notes, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void ikt_note_int(ikt_notes *notes, const char *name, int64_t value);
void ikt_note_real(ikt_notes *notes, const char *name, double value);
void ikt_note_share(ikt_notes *notes, const char *name, double value); /* to six decimals */
void ikt_note_bool(ikt_notes *notes, const char *name, bool value);    /* "yes" or "no" */
void ikt_note_hash(ikt_notes *notes, const char *name, uint64_t hash);
void ikt_note_reals(ikt_notes *notes, const char *name, const double *values, int count);
void ikt_note_cells(ikt_notes *notes, const ikt_code_check *cells); /* where there is a sample */

/* LOCAL. Version, commit and compiler of this program. */
void ikt_notes_program(ikt_notes *notes);

/* COLLECTIVE. Adds ranks, threads and folder, and gives all ranks the notes of rank 0: HDF5 wants
 * equal attributes. */
void ikt_notes_share(ikt_context *ctx, ikt_notes *notes);

#endif
