/* Columns of other files beside a map: numbers, classes and texts, a row each.
 *
 * A file may hold an entry for each row of the map; or, where the map has some rows of its input
 * only, one for each row of the input, of which those of the map are taken by their numbers. A run
 * stores these where it left rows out (/diagnostics/row); one of the first rows of its input
 * (input.rows) has the numbers 0, 1, 2, ..., by which columns of that file are taken and no others:
 * that a longer file is of the same rows nothing tells.
 */
#ifndef IKT_IO_RESULTS_BESIDE_H
#define IKT_IO_RESULTS_BESIDE_H

#include "io/results/result.h"
#include "io/sources/labels.h"

/* Rows first .. first + count - 1 of a map of n. */
typedef struct {
    ikt_context *ctx;
    int64_t n, first, count;
    int64_t *original; /* [count] their numbers in the input, ascending; NULL: those in the map */
    bool original_is_known;   /* on all ranks: they are stored */
    int64_t least;            /* entries that a file of the input has at least */
    char input[IKT_PATH_MAX]; /* whose first rows the map has; else "" */
} ikt_beside;

/* COLLECTIVE. Reads what the map knows of the rows; free with ikt_beside_close, also after a
 * failure. Numbers that do not ascend are not known. Errors: IKT_ERR_DATA (another
 * number of them), IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_beside_open(ikt_context *ctx, ikt_result_file *map, int64_t first, int64_t count,
                           ikt_beside *out);
void ikt_beside_close(ikt_beside *beside);

/* COLLECTIVE. Whether a column of another length than the map's may be one of the input. */
bool ikt_beside_may_be_input(const ikt_beside *beside, const char *name);

/* COLLECTIVE. As ikt_label_file_read and ikt_number_file_read, of these rows. */
ikt_status ikt_beside_labels(const ikt_beside *beside, const char *name, int64_t *labels,
                             char **names);
ikt_status ikt_beside_numbers(const ikt_beside *beside, const char *name, double *values);

/* COLLECTIVE. Integers of a data set that has an entry for each row of the input, in all their
 * digits.
 *   are_whole   receives whether it holds integers: no values are read of another
 * Errors: those of ikt_column_open and ikt_column_read_wholes. */
ikt_status ikt_beside_wholes(const ikt_beside *beside, const char *path, const char *dataset,
                             bool *are_whole, int64_t *values);

/* COLLECTIVE. As ikt_texts_read, of these rows. */
ikt_status ikt_beside_texts(const ikt_beside *beside, const char *name, ikt_texts *texts);

#endif
