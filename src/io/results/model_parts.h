/* Names, sizes and types of the data sets of a model file, for writing and for reading. */
#ifndef IKT_IO_RESULTS_MODEL_PARTS_H
#define IKT_IO_RESULTS_MODEL_PARTS_H

#include <hdf5.h>
#include <stddef.h>

#include "io/results/model_file.h"

typedef struct {
    const char *name; /* "codes" */
    hid_t type;       /* of an element, in memory and in the file; not owned */
    int64_t n;        /* rows */
    int64_t d;        /* columns; 0: one-dimensional */
    size_t row_bytes; /* dense */
} ikt_model_layout;

/* LOCAL. */
ikt_model_layout ikt_model_layout_of(const ikt_model_shape *shape, ikt_model_part part);

/* LOCAL. Whether a file of that shape must have the part; labels need not be there. */
bool ikt_model_part_needed(const ikt_model_shape *shape, ikt_model_part part);

/* The members of the shape that are attributes of the root. Flags are 0 or 1. */
enum { IKT_MODEL_NUMBERS = 11 };
extern const char *const ikt_model_number_name[IKT_MODEL_NUMBERS];

/* LOCAL. The shape as numbers in the order of the names, and back. */
void ikt_model_shape_pack(const ikt_model_shape *shape, int64_t number[IKT_MODEL_NUMBERS]);
void ikt_model_shape_unpack(const int64_t number[IKT_MODEL_NUMBERS], ikt_model_shape *shape);

/* Rows that are packed or unpacked at a time where memory has gaps between them. */
enum { IKT_MODEL_BLOCK_BYTES = 4 << 20 };

#endif
