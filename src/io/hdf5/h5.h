/* What the files of io/ share about HDF5: opening in parallel, ranges of rows, attributes, reasons.
 *
 * HDF5 prints its own error stack; that is switched off, and the innermost line of it becomes part
 * of our one message. Groups and data sets are made without time stamps, so that equal contents
 * give equal files.
 */
#ifndef IKT_IO_HDF5_H5_H
#define IKT_IO_HDF5_H5_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arrays.h"
#include "base/atomic_file.h"
#include "base/status.h"
#include "io/numbers/element.h"

/* LOCAL, once, before MPI_Init. Readies HDF5 in such a way that it does not put itself in order at
 * MPI_Finalize or exit, where a file that could not be closed (a full disk) ends in a crash. */
void ikt_h5_begin(void);

/* COLLECTIVE. Opens an existing file on all ranks for reading. Rank 0 looks first, alone, so that a
 * missing or damaged file gives one message; a seal that the file has (base/row_hash.h) is checked
 * before, or by the caller who has looked at it. Warns of a file of ours that has lost it.
 * Errors: IKT_ERR_FILE; IKT_ERR_DATA: it is not what was sealed. *file is negative on failure. */
ikt_status ikt_h5_open(ikt_context *ctx, const char *path, hid_t *file);
ikt_status ikt_h5_open_looked(ikt_context *ctx, const char *path, hid_t *file);

/* COLLECTIVE. Creates a file for writing and reserves `bytes` bytes for it (base/atomic_file.h), so
 * that no write meets a full disk. On failure *file may be open: ikt_h5_complete ends it in any
 * case.
 *   path        the name it will have, for the message
 *   temporary   the one it has
 * Errors: IKT_ERR_FILE. */
ikt_status ikt_h5_create_sized(ikt_context *ctx, const char *path, const char *temporary,
                               int64_t bytes, hid_t *file);

/* COLLECTIVE. Opens a file of ours on all ranks, to add to it. path, temporary as above. Errors:
 * IKT_ERR_FILE. */
ikt_status ikt_h5_open_to_add(ikt_context *ctx, const char *path, const char *temporary,
                              hid_t *file);

/* LOCAL, but COLLECTIVE for files and data sets opened in parallel. Closes whatever `id` is;
 * accepts negative ids. Returns false when closing failed. Clears HDF5's error stack. */
bool ikt_h5_close(hid_t id);

/* The same where a block ends:  const hid_t type IKT_AT_END(ikt_h5_end) = H5Dget_type(dataset); */
static inline void ikt_h5_end(const hid_t *id) {
    (void)ikt_h5_close(*id);
}

/* COLLECTIVE. Agrees on the outcome of writing to the file that `object` is in: ikt_agree_file. */
ikt_status ikt_h5_agree(ikt_context *ctx, hid_t object, ikt_status local);

/* COLLECTIVE. The same after a write that succeeded (`good`) or not: the message names the file,
 * what cannot be written, and HDF5's reason. Errors: IKT_ERR_FILE. */
ikt_status ikt_h5_check_written(ikt_context *ctx, hid_t file, const char *path, bool good,
                                const char *what);

/* COLLECTIVE. Writes what HDF5 still holds back, closes, and agrees on the outcome. After an error
 * of the file system (IKT_ERR_FILE) everything is left open, to be given back when the process
 * ends: HDF5 would try to write again, and wait for ever where that fails on some ranks only.
 *   ids     [count] the file last; negative ones are passed over
 *   path    the name it will have, for the message; temporary: the one it has
 *   local   outcome so far on this rank
 * Errors: `local`, IKT_ERR_FILE. */
ikt_status ikt_h5_complete(ikt_context *ctx, const hid_t *ids, int count, const char *path,
                           const char *temporary, ikt_status local);

/* A file that is written beside its name and gets the name when all of it is there. */
typedef struct {
    ikt_context *ctx;
    hid_t file;
    bool is_sealed; /* set by who wants it sealed in the end (base/row_hash.h) */
    char path[IKT_PATH_MAX], temporary[IKT_PATH_MAX];
} ikt_h5_output;

enum { IKT_H5_OBJECTS_MOST = 32 };

/* COLLECTIVE. Begins such a file, with `bytes` bytes reserved; after a failure there is nothing to
 * end. Reserves more when it is known how much comes. Checks a write, as ikt_h5_check_written does.
 * Errors: IKT_ERR_FILE. */
ikt_status ikt_h5_output_begin(ikt_context *ctx, const char *path, bool overwrite, int64_t bytes,
                               ikt_h5_output *out);
ikt_status ikt_h5_output_reserve(ikt_h5_output *out, int64_t bytes);
ikt_status ikt_h5_output_check(const ikt_h5_output *out, bool good, const char *what);

/* COLLECTIVE. Closes objects [count] that are still open (negative: none) and the file, and gives
 * it its name where `local` is IKT_OK on all ranks; otherwise, or abandoned, it is removed. Errors:
 * `local`, IKT_ERR_FILE. */
ikt_status ikt_h5_output_end(ikt_h5_output *out, const hid_t *objects, int count, ikt_status local);
void ikt_h5_output_abandon(ikt_h5_output *out, const hid_t *objects, int count);

/* LOCAL. Innermost line of HDF5's error stack, or "unknown reason"; clears the stack. Every other
 * call of HDF5 clears it too: ask before closing anything. Returns `text`. */
const char *ikt_h5_reason(char *text, size_t size);

/* What HDF5 1.12 gave other names than 1.10 has. LOCAL, both: whether a file is HDF5's; gives back
 * the texts of variable length that a read of `values` allocated. */
bool ikt_h5_is_file(const char *path);
void ikt_h5_give_back(hid_t type, hid_t space, void *values);

/* LOCAL. Looks a path up below a file or group.
 *   name   of the file, for the message
 * Errors: IKT_ERR_DATA: a link on the way leads nowhere, round in a circle, or out of the file to
 * what is no regular file (opening a pipe would wait for ever). */
ikt_status ikt_h5_find(ikt_context *ctx, hid_t file, const char *name, const char *path,
                       bool *present);

/* LOCAL. Whether a path leads to an object; that object, to be closed, or a negative number. */
bool ikt_h5_has(hid_t object, const char *path);
hid_t ikt_h5_open_object(hid_t parent, const char *path);

/* LOCAL. The same where the object is a data set, or a group. */
hid_t ikt_h5_open_dataset(hid_t parent, const char *path);
hid_t ikt_h5_open_group(hid_t parent, const char *path);

/* LOCAL. Dimensions of a data set, the size of the first one and the product of the others, 1 where
 * there are none, -1 where that is more than any file holds; -1 where `dataset` is none. The class
 * of its elements. */
int ikt_h5_shape(hid_t dataset, int64_t size[2]);
H5T_class_t ikt_h5_class(hid_t dataset);

/* LOCAL. Fails with IKT_ERR_DATA: the file has no such data set; the message names those it has. */
ikt_status ikt_h5_missing(ikt_context *ctx, hid_t file, const char *path, const char *dataset);

/* LOCAL. "FILE:/PATH" of an open object, for messages; at most `size` bytes. Returns `text`. */
const char *ikt_h5_name(hid_t object, char *text, size_t size);

/* COLLECTIVE. A new group. Negative on failure. */
hid_t ikt_h5_create_group(hid_t parent, const char *name);

/* COLLECTIVE. Reads or writes rows first .. first + count - 1 of a data set, whose further
 * dimensions together are one row, as elements of memory type `type`, row-major, in pieces small
 * enough for MPI. Ranks may ask for different ranges and for none (`rows` may then be NULL).
 * Writing needs memory for a copy of the chunks of a piece (at most 128 MiB).
 * Errors: IKT_ERR_FILE, agreed; IKT_ERR_INTERNAL: rows that the data set does not have. */
ikt_status ikt_h5_read_rows(ikt_context *ctx, hid_t dataset, hid_t type, int64_t first,
                            int64_t count, void *rows);
ikt_status ikt_h5_write_rows(ikt_context *ctx, hid_t dataset, hid_t type, int64_t first,
                             int64_t count, const void *rows);

/* COLLECTIVE. Reads columns first .. first + count - 1 of a two-dimensional data set, each as a row
 * of rows[count * number of its rows], as native uint8, float or double (any type where it has one
 * row only). Ranks may ask for different ranges and for none. Needs 4 MiB. Errors: as above. */
ikt_status ikt_h5_read_columns(ikt_context *ctx, hid_t dataset, hid_t type, int64_t first,
                               int64_t count, void *rows);

/* COLLECTIVE. Opens a data set again in such a way that the chunks which hold one column stay in
 * memory (up to 64 MiB). Returns the data set to use, which replaces `dataset`; negative on
 * failure. */
hid_t ikt_h5_open_columns(hid_t file, const char *name, hid_t dataset);

/* LOCAL. Gives HDF5 the filters that we have and it lacks (LZF, for reading), unless the program
 * that calls us did so before. */
void ikt_h5_add_filters(void);

/* LOCAL, after a read that failed. Errors: IKT_ERR_FILE: HDF5 lacks one of the data set's filters,
 * or those of ikt_h5_check_parts; the message says what to do. */
ikt_status ikt_h5_check_filters(ikt_context *ctx, hid_t dataset, const char *name);

/* COLLECTIVE where the data set is virtual, else LOCAL. Whether a data set is made of parts of
 * other files; and, where it is, whether all of them are there, which are opened for it.
 * Errors: IKT_ERR_FILE: one is not, or there are several ranks, on which HDF5 reads none;
 * IKT_ERR_USAGE: the command replaces one of them; those of ikt_h5_check_stays. */
bool ikt_h5_is_virtual(hid_t dataset);
ikt_status ikt_h5_check_parts(ikt_context *ctx, hid_t dataset, const char *name);

/* LOCAL. Whether the file that a data set is in, which an external link may have led to, stays.
 * Errors: IKT_ERR_USAGE: the command replaces it. */
ikt_status ikt_h5_check_stays(ikt_context *ctx, hid_t dataset);

/* LOCAL. Whether any values of a data set were ever written; true where it has none. */
bool ikt_h5_has_storage(hid_t dataset);

/* LOCAL. Whether an object has an attribute. */
bool ikt_h5_has_attribute(hid_t object, const char *name);

/* What a file takes beside its data sets, at most: format, groups, attributes. */
enum { IKT_H5_FILE_BYTES = 256 << 10 };

/* LOCAL, pure. Bytes that a data set of ikt_h5_create takes in the file, at most. */
int64_t ikt_h5_rows_bytes(int64_t n, int64_t row_bytes);

/* How a data set is stored: in chunks of whole rows, about 1 MiB each, with checksums; the same,
 * compressed (deflate), for texts of fixed length, most of which is nothing; in one piece and
 * without checksum, for files that are sealed as a whole: written and read at the speed of the file
 * system. */
typedef enum { IKT_H5_CHECKED, IKT_H5_PACKED, IKT_H5_PLAIN } ikt_h5_form;

/* COLLECTIVE. Creates a data set of n rows (and d columns when d > 0). *dataset is negative on
 * failure. Errors: IKT_ERR_FILE, agreed. */
ikt_status ikt_h5_create(ikt_context *ctx, hid_t parent, const char *name, hid_t type, int64_t n,
                         int64_t d, ikt_h5_form form, hid_t *dataset);

/* LOCAL. Opens a data set of n rows (and d columns when d > 0) for reading, if its size, kind of
 * numbers and their bytes are those; otherwise returns false. *dataset, which may be negative, is
 * closed by the caller. */
bool ikt_h5_open_rows(hid_t parent, const char *name, hid_t type, int64_t n, int64_t d,
                      hid_t *dataset);

/* COLLECTIVE. A new one-dimensional data set of `count` values that every rank holds. Errors:
 * IKT_ERR_FILE, agreed. */
ikt_status ikt_h5_write_array(ikt_context *ctx, hid_t parent, const char *name, hid_t type,
                              int64_t count, const void *values);

/* COLLECTIVE. Attributes with the same value on all ranks. Return false on failure. */
bool ikt_h5_set_text(hid_t object, const char *name, const char *text);
bool ikt_h5_set_int(hid_t object, const char *name, int64_t value);

/* LOCAL. Reads a text attribute (fixed or variable length) into a string of ikt_alloc; NULL with
 * IKT_OK where there is none or it is not one text. */
ikt_status ikt_h5_get_text(ikt_context *ctx, hid_t object, const char *name, char **text);

/* COLLECTIVE. The same for an attribute of the group /provenance of a file, on every rank. */
ikt_status ikt_h5_read_note(ikt_context *ctx, hid_t file, const char *name, char **text);

/* LOCAL. The beginning of a text attribute, for comparing: at most `size` bytes; "" where there is
 * none. Returns `text`. */
const char *ikt_h5_short_text(hid_t object, const char *name, char *text, size_t size);

/* LOCAL. Reads an integer attribute. Returns false where there is none or it is not one integer. */
bool ikt_h5_get_int(hid_t object, const char *name, int64_t *value);

/* COLLECTIVE, and LOCAL. An attribute of `count` integers: written; read, false where there is none
 * of so many integers. */
bool ikt_h5_set_ints(hid_t object, const char *name, int64_t count, const int64_t *value);
bool ikt_h5_get_ints(hid_t object, const char *name, int64_t count, int64_t *value);

/* Integers from here on lose digits as floating numbers (2^53). */
#define IKT_H5_EXACT_MOST 9007199254740992.0

/* A type of numbers of up to 64 bits. */
typedef struct {
    ikt_type type; /* of ours that holds every value: float16 and integers of up to 16 bits come as
                      float32, wider integers as float64 */
    bool is_integer;
    bool is_short;    /* integers that int32 holds */
    bool is_wide;     /* integers of 64 bits, which float64 holds below 2^53 */
    bool is_unsigned; /* of these those without a sign: int64 holds the half of them */
    bool is_truth;    /* truth values: an enumeration of one byte, which HDF5 makes no numbers of */
} ikt_h5_number;

/* LOCAL. What elements of a stored type are; false where they are no such numbers. */
bool ikt_h5_number_of(hid_t type, ikt_h5_number *number);

/* LOCAL, pure. The type in memory by which integers come into int64: the unsigned ones of 64 bits
 * with their bits (ikt_integer_text), as HDF5 would make the greatest of int64 of all beyond it. */
hid_t ikt_h5_integer_type(const ikt_h5_number *number);

/* LOCAL, pure. The type in memory of numbers of ours. */
hid_t ikt_h5_memory_type(ikt_type type);

/* What of HDF5 belongs to the whole process and not to us: whether it prints its errors.
 *
 * We switch that off, since our messages say them; a program of others wants it back as it was.
 */

typedef struct {
    bool is_known;
    H5E_auto2_t print;
    void *data;
} ikt_h5_host;

/* LOCAL. As the program has it, before calls of ours; and given back. */
ikt_h5_host ikt_h5_host_keep(void);
void ikt_h5_host_restore(const ikt_h5_host *host);

/* What an HDF5 file holds that could be embedded, and what could be labels: for messages and
 * `iktsne info`. Of AnnData files the parts are known by their names. */

/* LOCAL, all of them, but for files opened in parallel by all ranks. Texts are cut at `size`. */

/* Whether the file is an AnnData: it says so, or has groups obs and var. */
bool ikt_h5_is_anndata(hid_t file);

/* Whether the file has variables of MATLAB 7.3 at its root. */
bool ikt_h5_is_matlab_file(hid_t file);

/* Whether a data set is a matrix of MATLAB's, which is stored column after column; and whether its
 * elements are numbers (IKT_ERR_DATA: text, cells, no elements at all). */
bool ikt_h5_is_matlab(hid_t dataset);
ikt_status ikt_h5_check_matlab(ikt_context *ctx, hid_t dataset, const char *name);

/* Whether the file is a loom; and whether a data set of it is genes x cells, so that its columns
 * are rows: the matrix and its layers, but not what is told of cells (col_attrs). */
bool ikt_h5_is_loom(hid_t file);
bool ikt_h5_is_by_genes(hid_t file, const char *dataset);

enum { IKT_H5_NAME = 512 };

/* What could be embedded. */
typedef struct {
    char name[IKT_H5_NAME]; /* "obsm/X_pca" */
    int64_t n, d;           /* -1 where a sparse matrix does not say */
    bool is_sparse;
    bool by_columns; /* a sparse matrix that convert makes rows of */
} ikt_h5_matrix;

/* Calls visit(self, matrix) for each of them, in the order of their names: those at the root, and
 * within groups, of AnnData the parts known by name, of others up to four deep; what loom tells of
 * genes is none. */
typedef void ikt_h5_matrix_visitor(void *self, const ikt_h5_matrix *matrix);
void ikt_h5_visit_matrices(hid_t file, ikt_h5_matrix_visitor *visit, void *self);

/* The one that is meant where none is named: the principal components of an AnnData file, in which
 * scanpy seeks neighbours, else X; `matrix` of a loom; else the only one of several columns; "X"
 * where there are none or several. */
void ikt_h5_usual_matrix(hid_t file, char name[IKT_H5_NAME]);

/* "X (2700 x 1838), obsm/X_pca (2700 x 50), layers/counts (sparse)"; "" where there is nothing.
 *   narrow   0, or columns that they have at most: those that may be maps */
void ikt_h5_list_tables(hid_t file, int64_t narrow, char *text, size_t size);

/* "labels, leiden, cell_type": data sets of n entries, and columns of obs. */
void ikt_h5_list_labels(hid_t file, int64_t n, char *text, size_t size);

/* Fails with IKT_ERR_DATA: the file has no such data set; the message lists what it has. */
ikt_status ikt_h5_no_table(ikt_context *ctx, hid_t file, const char *path, const char *dataset);

#endif
