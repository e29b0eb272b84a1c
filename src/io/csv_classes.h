/* The names in a label column, numbered 0, 1, ... in the order of their bytes. */
#ifndef IKT_IO_CSV_CLASSES_H
#define IKT_IO_CSV_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum { IKT_CLASSES_MAX = 100000 };

typedef struct {
    char **name;   /* [count] sorted */
    int64_t count; /* at most IKT_CLASSES_MAX */
    int64_t room;
} ikt_csv_classes;

/* LOCAL. Adds a name that is new. Returns IKT_OK and sets *full where there is no room for it. */
ikt_status ikt_csv_classes_add(ikt_context *ctx, ikt_csv_classes *classes, const char *name,
                               bool *full);

/* LOCAL. Number of a name, or -1. */
int64_t ikt_csv_classes_find(const ikt_csv_classes *classes, const char *name);

/* LOCAL. "a\nb\n": the names in order, freed with ikt_free. */
ikt_status ikt_csv_classes_list(ikt_context *ctx, const ikt_csv_classes *classes, char **text);

void ikt_csv_classes_free(ikt_csv_classes *classes);

#endif
