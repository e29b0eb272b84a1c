/* Facts for the provenance of a result file, gathered one by one. */
#ifndef IKT_PIPELINE_NOTES_H
#define IKT_PIPELINE_NOTES_H

#include "io/results/result.h"

enum { IKT_NOTES_MOST = 24, IKT_NOTES_VARYING = 3 };

/* All zero: none. */
typedef struct {
    ikt_note fact[IKT_NOTES_MOST]; /* the same in every equal run */
    int64_t count;
    ikt_note varying[IKT_NOTES_VARYING]; /* ranks, threads, folder */
} ikt_notes;

/* LOCAL. Each adds a fact; what is beyond IKT_NOTES_MOST of them is a defect. Numbers are written
 * so that they read back exactly. values   [count] */
void ikt_note_text(ikt_notes *notes, const char *name, const char *text);
void ikt_note_int(ikt_notes *notes, const char *name, int64_t value);
void ikt_note_hash(ikt_notes *notes, const char *name, uint64_t hash);
void ikt_note_reals(ikt_notes *notes, const char *name, const double *values, int count);

/* LOCAL. Version, commit and compiler of this program. */
void ikt_notes_program(ikt_notes *notes);

/* COLLECTIVE. Notes what varies from run to run, and gives all ranks the notes of rank 0: HDF5
 * wants equal attributes. */
void ikt_notes_share(ikt_context *ctx, ikt_notes *notes);

#endif
