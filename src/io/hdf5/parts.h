/* Arrays that are written to a group of an HDF5 file, and read back, as a table says.
 *
 * A part is either spread over the ranks by rows, or the same on all of them. What was written on
 * some ranks is read on any number of others.
 */
#ifndef IKT_IO_HDF5_PARTS_H
#define IKT_IO_HDF5_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"

typedef enum {
    IKT_PART_U8,
    IKT_PART_U16,
    IKT_PART_I32,
    IKT_PART_U32,
    IKT_PART_I64,
    IKT_PART_F32,
    IKT_PART_F64
} ikt_part_type;

typedef struct {
    const char *name;
    ikt_part_type type;
    int64_t n, d;         /* rows over all ranks; columns, 0: a list of n numbers */
    bool is_shared;       /* every rank holds all rows */
    int64_t first, count; /* this rank's rows; not looked at where they are shared */
    void *rows;           /* [count * d], or [n * d] */
} ikt_part;

/* LOCAL, pure. The bytes of a number. */
size_t ikt_part_type_size(ikt_part_type type);

/* LOCAL, pure. A part of the rows of a map; a part that all ranks hold. */
ikt_part ikt_part_rows(const char *name, ikt_part_type type, const ikt_rows *distribution,
                       int64_t d, void *rows);
ikt_part ikt_part_shared(const char *name, ikt_part_type type, int64_t n, void *values);

/* How many numbers of 64 bits a struct of such has, which is a part by itself. */
#define IKT_NUMBERS(of) ((int64_t)(sizeof(of) / sizeof(int64_t)))

#endif
