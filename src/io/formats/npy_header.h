/* The header of NPY, numpy's array file: magic, version, and a dictionary as text; versions 1 to 3.
 */
#ifndef IKT_IO_FORMATS_NPY_HEADER_H
#define IKT_IO_FORMATS_NPY_HEADER_H

#include "io/formats/binary.h"

enum { IKT_NPY_AXES_MOST = 8, IKT_NPY_TYPE_SIZE = 24 };

typedef struct {
    char type[IKT_NPY_TYPE_SIZE]; /* as numpy writes it, "<f4", perhaps cut */
    bool numeric;                 /* of a type that we read; `element` says how it is stored */
    ikt_element element;
    bool fortran;
    int axes;
    int64_t shape[IKT_NPY_AXES_MOST];
    int64_t bytes; /* of the header */
} ikt_npy_header;

/* LOCAL. Reads the header; the elements follow in `bytes`.
 *   path   for messages
 * Errors: IKT_ERR_FILE (ends in its header), IKT_ERR_DATA (no NPY, malformed). */
ikt_status ikt_npy_header_read(ikt_bytes *bytes, const char *path, ikt_npy_header *header);

/* LOCAL. Begins to read an array, whose header stands first in `bytes`: sets what the reader tells.
 *   bytes   given away: closed with the reader, whose ops are ikt_reader_npy
 * Errors: IKT_ERR_FILE, IKT_ERR_DATA. */
ikt_status ikt_npy_begin(ikt_reader *reader, ikt_bytes *bytes);

#endif
