/* LIBSVM's text: a line is a row, `label index:value index:value ...`, and what it does not name is
 * zero. Indices ascend within a line; they count from 1, or from 0 in a file that uses the 0.
 *
 * Method: a part of a file, a range of its bytes, is gone through twice. The first pass finds
 * everything that can be wrong, counts, and learns the labels and how far the indices reach; what
 * the parts know is merged; the second pass gives rows. So what comes out does not depend on how
 * the file was cut. Advantage: any size in the memory of a block, and every part on a rank of its
 * own. Disadvantage: the file is read twice.
 */
#ifndef IKT_IO_FORMATS_LIBSVM_TEXT_H
#define IKT_IO_FORMATS_LIBSVM_TEXT_H

#include "io/formats/class_labels.h"
#include "io/formats/text_lines.h"
#include "io/numbers/element.h"
#include "io/numbers/sparse_rows.h"

/* A part of a file. Start with the lines' {ctx, path, begin, end} and `type`; free with
 * ikt_libsvm_free. */
typedef struct {
    ikt_text_lines lines;
    ikt_type type; /* which the values must fit */
    ikt_text_labels labels;
    int64_t rows, entries;
    int64_t least, greatest; /* index of the part; INT64_MAX and -1 where there is none */
    ikt_sparse_block line;   /* the first pass: the row at hand */
} ikt_libsvm_part;

/* LOCAL. The first pass: sets what the part knows. lines.number is then its number of lines.
 * Errors: as ikt_text_lines_next; where there is a fault, it is the first one of the part. */
ikt_status ikt_libsvm_scan(ikt_libsvm_part *part);

/* LOCAL. What the greatest and the least index of a file make of it: the index of the first column,
 * and the columns, 0 where no row has an entry. */
void ikt_libsvm_columns(int64_t least, int64_t greatest, int64_t *origin, int64_t *columns);

/* LOCAL. Begins the second pass. Errors: IKT_ERR_FILE. */
ikt_status ikt_libsvm_rewind(ikt_libsvm_part *part);

/* LOCAL. Appends the next rows to a block: `rows` of them, fewer where the block has come to
 * `entries` entries.
 *   origin, columns   of the whole file; part->labels holds those of the whole file
 * Errors: IKT_ERR_FILE: the file has changed since the first pass, with a message. */
ikt_status ikt_libsvm_read(ikt_libsvm_part *part, int64_t rows, int64_t entries, int64_t origin,
                           int64_t columns, ikt_sparse_block *block);

/* LOCAL. Closes and frees; accepts an all-zero part. */
void ikt_libsvm_free(ikt_libsvm_part *part);

/* A LIBSVM file that is not compressed, parsed by all ranks.
 *
 * Method: the file is cut into as many ranges of bytes as there are ranks, and each rank reads the
 * lines that begin in its own. After the first pass the ranks merge what they have learnt. Rows,
 * their order, columns, classes, and the message of the first bad line are those of one rank.
 * Advantage: parsing, which takes longer than reading, is shared by the ranks.
 * Disadvantage: the file is read twice, and all ranks must see it. Memory per rank: a block of
 * text, and the names of classes where labels are text.
 */

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
 *   path   borrowed
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
