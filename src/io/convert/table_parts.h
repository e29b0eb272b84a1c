/* What the writers of dense and of sparse rows share: a file with labels and attributes, begun and
 * closed alike. See table_writer.h and table_writer.h for what it is to others. */
#ifndef IKT_IO_CONVERT_TABLE_PARTS_H
#define IKT_IO_CONVERT_TABLE_PARTS_H

#include "base/atomic_file.h"
#include "io/convert/table_writer.h"
#include "io/hdf5/h5.h"

enum { IKT_TABLE_IDS = 4 };

struct ikt_table_writer {
    ikt_context *ctx;
    char path[IKT_PATH_MAX], temporary[IKT_PATH_MAX];
    hid_t file, labels;
    hid_t ids[IKT_TABLE_IDS]; /* of the rows: the writer's own; negative ones are not there */
    hid_t memory;             /* HDF5's type of an element; not owned */
    hid_t index;              /* of sparse rows: type of the column numbers; not owned */
};

/* COLLECTIVE. Begins the file without rows.
 *   bytes   that the rows will take, at most. Errors as ikt_table_create. */
ikt_status ikt_table_begin(ikt_context *ctx, const char *path, bool overwrite, int64_t n,
                           int64_t bytes, ikt_type type, bool labels, ikt_table_writer **out);

/* COLLECTIVE. Labels of rows, where the file has any. Errors: IKT_ERR_FILE, agreed. */
ikt_status ikt_table_write_labels(ikt_table_writer *writer, int64_t first, int64_t count,
                                  const int32_t *labels);

#endif
