/* Numbers in HDF5 files: which types are numbers, what they come as, and lists of them. */
#ifndef IKT_IO_HDF5_H5_NUMBERS_H
#define IKT_IO_HDF5_H5_NUMBERS_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "io/numbers/element.h"

/* Integers from here on lose digits as floating numbers (2^53). */
#define IKT_H5_EXACT_MOST 9007199254740992.0

/* A type of numbers of up to 64 bits. */
typedef struct {
    ikt_type type; /* of ours that holds every value: float16 and integers of up to 16 bits come as
                      float32, wider integers as float64 */
    bool is_integer;
    bool is_short; /* integers that int32 holds */
    bool is_wide;  /* integers of 64 bits, which float64 holds below 2^53 */
    bool is_truth; /* truth values: an enumeration of one byte, which HDF5 makes no numbers of */
} ikt_h5_number;

/* LOCAL. What elements of a stored type are; false where they are no such numbers. */
bool ikt_h5_number_of(hid_t type, ikt_h5_number *number);

/* LOCAL, pure. The type in memory of numbers of ours. */
hid_t ikt_h5_memory_type(ikt_type type);

/* A data set of one dimension that holds numbers. */
typedef struct {
    hid_t dataset;
    int64_t length; /* at most 2^48: sums of lengths fit 64 bits */
    ikt_h5_number number;
} ikt_h5_list;

/* LOCAL. Opens the list CHILD of a group.
 *   is_index   whether only integers will do
 *   name       of the group, for messages
 *   out        to be closed by ikt_h5_close of its data set, also after a failure
 * Errors: IKT_ERR_DATA: there is none, or it is no such list. */
ikt_status ikt_h5_list_open(ikt_context *ctx, hid_t group, const char *child, bool is_index,
                            const char *name, ikt_h5_list *out);

#endif
