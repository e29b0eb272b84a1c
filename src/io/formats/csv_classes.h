/* The names in a label column, numbered 0, 1, ... in the order of their bytes.
 *
 * That order does not depend on the order of the rows, so a shuffled file has the same numbers.
 * Cost: a search by halving for each cell, a move of the sorted array for each new name.
 */
#ifndef IKT_IO_FORMATS_CSV_CLASSES_H
#define IKT_IO_FORMATS_CSV_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

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

#endif
