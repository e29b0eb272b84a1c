/* A LIBSVM file that is not compressed, parsed by all ranks.
 *
 * Method: the file is cut into as many ranges of bytes as there are ranks, and each rank reads the
 * lines that begin in its own (libsvm_text.h). After the first pass the ranks merge what they have
 * learnt. Rows, their order, columns, classes, and the message of the first bad line are those of
 * one rank. Advantage: parsing, which takes longer than reading, is shared by the ranks.
 * Disadvantage: the file is read twice, and all ranks must see it. Memory per rank: a block of
 * text, and the names of classes where labels are text.
 */
#ifndef IKT_IO_FORMATS_LIBSVM_RANKS_H
#define IKT_IO_FORMATS_LIBSVM_RANKS_H

#include "io/formats/libsvm_text.h"

typedef struct {
    ikt_context *ctx;
    ikt_libsvm_part part;
    int64_t n, d, entries; /* of the file, or of the rows asked for; d is always of the file */
    int64_t origin;        /* index of the first column in the file */
    int64_t first, count;  /* rows of this rank */
    int64_t first_entry;   /* of this rank's rows */
    int64_t done;          /* rows of this rank that have been read */
    char *classes;         /* "a\nb\n" on every rank; NULL where labels are integers */
} ikt_libsvm_file;

/* COLLECTIVE. Opens the file and takes the first pass. `file` is to be closed in any case.
 *   path   lent
 *   type   which the values must fit
 *   rows   use only the first rows; 0: all
 * Errors: IKT_ERR_FILE, IKT_ERR_DATA (with the first bad line of the file), IKT_ERR_USAGE (rows).
 */
ikt_status ikt_libsvm_file_open(ikt_context *ctx, const char *path, ikt_type type, int64_t rows,
                                ikt_libsvm_file *file);

/* LOCAL. Puts the next of this rank's rows into the block, emptying it before: at most `rows` of
 * them, fewer where they come to `entries` entries, none when all have been read. Errors:
 * IKT_ERR_FILE: the file has changed. */
ikt_status ikt_libsvm_file_read(ikt_libsvm_file *file, int64_t rows, int64_t entries,
                                ikt_sparse_block *block);

/* LOCAL. Closes and frees; accepts an all-zero struct. */
void ikt_libsvm_file_close(ikt_libsvm_file *file);

#endif
