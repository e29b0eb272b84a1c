/* Bytes that are read in order: of a file, gzipped or not, or of a member of an archive; and the
 * numbers of other machines that they hold.
 *
 * The readers of binary formats know nothing else of where their numbers come from, so every format
 * can be read from every place.
 */
#ifndef IKT_IO_FORMATS_BYTES_H
#define IKT_IO_FORMATS_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

#include "io/formats/reader.h"

/* Deflate makes nothing shorter than this part of it. Without that limit a few damaged bytes of a
 * header would have us ask for any amount of memory. */
enum { IKT_DEFLATE_MOST = 1032 };

typedef struct ikt_bytes ikt_bytes;

/* A way of storing bytes. */
typedef struct {
    /* LOCAL. As ikt_bytes_read. */
    ikt_status (*read)(ikt_bytes *bytes, void *data, int64_t count, int64_t *got);
    void (*close)(ikt_bytes *bytes);
} ikt_bytes_ops;

/* All zero: closed. */
struct ikt_bytes {
    ikt_context *ctx;
    const ikt_bytes_ops *ops;
    const char *path; /* for messages; borrowed */
    void *handle;     /* of the ops */
    int64_t done;     /* of a member of an archive: how many were read */
    int64_t size;     /* how many there are; -1: that shows when their end comes */
    int64_t packed;   /* bytes that they take compressed; 0: they are not, or it is not known */
    bool is_plain;    /* those of a file that is not compressed, of known length */
};

/* LOCAL. Opens a file, gzipped or not. Errors: IKT_ERR_FILE with path and reason; *bytes is closed
 * then. */
ikt_status ikt_bytes_open(ikt_context *ctx, const char *path, ikt_bytes *bytes);

/* LOCAL. Reads `count` bytes, or fewer where the end comes; *got tells how many. Errors:
 * IKT_ERR_FILE: cannot be read, damaged compression. */
ikt_status ikt_bytes_read(ikt_bytes *bytes, void *data, int64_t count, int64_t *got);

/* LOCAL. Closes; accepts a closed one. */
void ikt_bytes_close(ikt_bytes *bytes);

/* Files that may be gzipped: opening, and the reason of a failure.
 *
 * zlib reads plain files, too, so no reader needs to know whether its file is compressed. It tells
 * failures in three ways (errno, a number, a text); here they become our message.
 */

/* LOCAL. Opens a file for reading, compressed or not. *file is closed with gzclose; NULL where it
 * cannot be opened. Errors: IKT_ERR_FILE with path and reason. */
ikt_status ikt_gz_open(ikt_context *ctx, const char *path, gzFile *file);

/* LOCAL. IKT_OK, or IKT_ERR_FILE with path and reason after a failed call on the file. That the
 * data end within their compression is no failure here: the caller knows better what is missing. */
ikt_status ikt_gz_check(ikt_context *ctx, const char *path, gzFile file);

/* An array of the reader's n x d numbers of another machine, after its header: what a reader of
 * such a format has as `self`. */
typedef struct {
    ikt_bytes bytes;
    ikt_element element;
    int64_t header;        /* bytes before the elements */
    bool by_columns;       /* column after column (Fortran's order): a row is all over the file */
    bool is_list;          /* the array has one axis */
    bool may_go_on;        /* more bytes may follow the elements */
    int64_t lead;          /* see ikt_layout; such arrays are read by their layout alone */
    unsigned char *stored; /* a block as it is stored; by columns: all of the array */
} ikt_binary;

/* LOCAL. Ends the header: sets the reader's n, d, type and layout. Bytes of known number must have
 * the announced length, or at least that where more may follow.
 * Errors: IKT_ERR_DATA (impossible size, too long), IKT_ERR_FILE (too short). */
ikt_status ikt_binary_shape(ikt_reader *reader, int64_t n, int64_t d);

/* LOCAL. `read` and `close` of a reader whose `self` is an ikt_binary. Errors: IKT_ERR_FILE: the
 * file ends too early or is damaged, with the sizes; IKT_ERR_DATA: as the next function, or bytes
 * that follow the last row. */
ikt_status ikt_binary_read(ikt_reader *reader, int64_t count, void *rows, int32_t *labels);
void ikt_binary_close(ikt_reader *reader);

/* LOCAL. The next `count` rows of the array that stands by columns in array->stored. Errors:
 * IKT_ERR_DATA: a 64-bit integer beyond 2^53. */
ikt_status ikt_binary_turn(const ikt_reader *reader, const ikt_binary *array, int64_t count,
                           void *rows);

/* LOCAL, pure. a * b, both at least 0, or -1 where that is too much for a file. */
int64_t ikt_binary_product(int64_t a, int64_t b);

/* The header of NPY, numpy's array file: magic, version 1 to 3, and a dictionary as text. */

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

/* LOCAL. Reads the header; the elements follow in `bytes`. Errors: IKT_ERR_FILE (ends in its
 * header), IKT_ERR_DATA (no NPY, malformed). */
ikt_status ikt_npy_header_read(ikt_bytes *bytes, ikt_npy_header *header);

/* LOCAL. Begins to read an array, which stands in the open bytes of a reader of ikt_reader_npy:
 * sets what the reader tells. Errors: IKT_ERR_FILE, IKT_ERR_DATA. */
ikt_status ikt_npy_begin(ikt_reader *reader);

#endif
