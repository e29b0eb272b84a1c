/* The labels of a table in text: integers where all of them are, else names of classes.
 *
 * That is not known before the last row, so labels are learnt in a pass of their own. Names are
 * kept in UTF-8: a label that is not UTF-8 is taken for Latin-1 (ISO 8859-1), of which one warning
 * tells.
 */
#ifndef IKT_IO_FORMATS_CSV_LABELS_H
#define IKT_IO_FORMATS_CSV_LABELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* The names in a label column, numbered 0, 1, ... in the order of their bytes.
 *
 * That order does not depend on the order of the rows, so a shuffled file has the same numbers.
 * Cost: a search by halving for each cell, a move of the sorted array for each new name.
 */

/* Beyond this a column of texts is hardly one of classes (names of rows, say). */
enum { IKT_CLASSES_MAX = 100000 };

typedef struct {
    char **name;   /* [count] sorted */
    int64_t count; /* at most IKT_CLASSES_MAX */
    int64_t room;
} ikt_csv_classes;

/* LOCAL. Adds a name if it is new; the text is copied.
 *   full   set to true (never to false) where there is no room for it, which is no error: labels
 *          that turn out to be numbers need no names
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_csv_classes_add(ikt_context *ctx, ikt_csv_classes *classes, const char *name,
                               bool *full);

/* LOCAL. Number of a name, or -1 where it has none. Valid when all names have been added. */
int64_t ikt_csv_classes_find(const ikt_csv_classes *classes, const char *name);

/* LOCAL. "a\nb\n": the names in order, freed with ikt_free. */
ikt_status ikt_csv_classes_list(ikt_context *ctx, const ikt_csv_classes *classes, char **text);

/* LOCAL. Frees the names; an all-zero struct has none. */
void ikt_csv_classes_free(ikt_csv_classes *classes);

/* An all-zero struct has learnt nothing. */
typedef struct {
    ikt_csv_classes classes;
    bool are_text;   /* some label is not an integer of 32 bits */
    bool are_many;   /* more than there is room for */
    bool are_latin1; /* some are not UTF-8 */
    char *text;      /* [room] a label as UTF-8 */
    int64_t room;
} ikt_csv_labels;

/* LOCAL. Takes note of a label. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_csv_labels_learn(ikt_context *ctx, ikt_csv_labels *labels, const char *text);

/* LOCAL. Takes note of the names that another part of the file has, "a\nb\n", which is spoilt.
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_csv_labels_merge(ikt_context *ctx, ikt_csv_labels *labels, char *names);

/* LOCAL. The names of text labels, with a warning on rank 0 where some were taken for Latin-1;
 * "a\nb\n", freed with ikt_free; NULL where labels are integers. Errors: IKT_ERR_DATA (texts, and
 * more than IKT_CLASSES_MAX different ones; `path` for the message), IKT_ERR_RESOURCE. */
ikt_status ikt_csv_labels_list(ikt_context *ctx, const char *path, const ikt_csv_labels *labels,
                               char **text);

/* LOCAL. Number of a label that has been learnt. */
int32_t ikt_csv_labels_number(const ikt_csv_labels *labels, const char *text);

/* LOCAL. Frees what has been learnt. */
void ikt_csv_labels_free(ikt_csv_labels *labels);

#endif
