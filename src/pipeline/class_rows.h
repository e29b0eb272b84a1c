/* Which labels a run with affinity.kind = fisher may use: those of the input, of a train list, or
 * permuted ones. */
#ifndef IKT_PIPELINE_CLASS_ROWS_H
#define IKT_PIPELINE_CLASS_ROWS_H

#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"
#include "metric/fisher_settings.h"

/* A label that no train row has. */
#define IKT_CLASS_FOREIGN (-2)

/* The same on every rank. */
typedef struct {
    int64_t n;
    int classes;
    int64_t *value;  /* [classes] labels of the train rows, ascending */
    int64_t *size;   /* [classes] train rows */
    int32_t *known;  /* [n] class of every row that has a label, permuted ones where these are asked
                        for; IKT_CLASS_FOREIGN where no train row has it, -1 without a label */
    int32_t *of_row; /* [n] class of the train rows, -1 of all others */
    int64_t labelled, trained; /* rows with a label; of them, train rows */
} ikt_class_rows;

/* COLLECTIVE.
 *   labels    [rows->count] of the own rows, below 0 for rows without one; NULL on all ranks with
 *             rows: there are none
 *   names     a line a class, or NULL; a class whose line is empty is no label
 *   out       free with ikt_class_rows_destroy; empty on failure
 * Errors: IKT_ERR_DATA (no labels, one class, a class of one row, too many classes; a train list
 * that is empty or names a row twice, out of range or without a label), IKT_ERR_FILE,
 * IKT_ERR_RESOURCE. */
ikt_status ikt_class_rows_make(ikt_context *ctx, const ikt_fisher_settings *settings,
                               const ikt_rows *rows, const int64_t *labels, const char *names,
                               uint64_t seed, ikt_class_rows *out);
void ikt_class_rows_destroy(ikt_class_rows *classes);

/* COLLECTIVE. A checksum of the labels that are used, and of the rows that have them; the same on
 * every rank. Arguments and errors as above. */
ikt_status ikt_class_rows_hash(ikt_context *ctx, const ikt_fisher_settings *settings,
                               const ikt_rows *rows, const int64_t *labels, const char *names,
                               uint64_t seed, uint64_t *hash);

/* LOCAL, pure. "3", or "three" where the classes have names.
 *   text   [size] */
void ikt_class_name(const char *names, int64_t label, char *text, size_t size);

#endif
