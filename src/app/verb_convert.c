/* iktsne convert: a file of a foreign format to the HDF5 that embed reads (io/convert/convert.h).
 */
#include <stdio.h>

#include "app/verb.h"
#include "base/files.h"
#include "base/log.h"
#include "io/convert/convert.h"

typedef struct {
    char labels[IKT_STRING_MAX], label_array[IKT_STRING_MAX], label_column[IKT_STRING_MAX];
    char skip_columns[IKT_STRING_MAX], dataset[IKT_STRING_MAX], array[IKT_STRING_MAX];
    char text_columns[IKT_STRING_MAX];
    int missing, type, header, sparse, raw, byte_order;
    int64_t rows, columns, skip;
    bool overwrite;
    const char *path[2]; /* input, output */
} command;

static ikt_status convert(ikt_context *ctx, const command *asked) {
    const ikt_element number = ikt_element_numbered(asked->raw - 1, asked->byte_order == 1);
    const ikt_convert_options options = {
        .feed = {.reader = {.header = (ikt_csv_header)asked->header,
                            .label_column = asked->label_column,
                            .skip_columns = asked->skip_columns,
                            .text_columns = asked->text_columns,
                            .keeps_text = true,
                            .keeps_missing = asked->missing == 1,
                            .array = asked->array},
                 .raw = {number, asked->columns, asked->skip},
                 .dataset = asked->dataset,
                 .labels = asked->labels,
                 .label_array = asked->label_array,
                 .rows = asked->rows},
        .as = asked->type,
        .sparse = (ikt_sparse_choice)asked->sparse,
        .overwrite = asked->overwrite};
    char entries[64] = "";
    ikt_converted made;
    if (asked->raw > 0 && asked->columns == 0)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "--raw needs --columns: raw numbers do not tell how many are a row");
    if (asked->raw == 0 && (asked->columns != 0 || asked->skip != 0 || asked->byte_order != 0))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "--columns, --skip and --byte-order describe raw numbers: give their type, "
                        "too (--raw float32)");
    ikt_files files = {.ctx = ctx};
    ikt_files_add(&files, IKT_FILE_READ, "INPUT", asked->path[0]);
    ikt_files_add(&files, IKT_FILE_READ, "--labels", asked->labels);
    ikt_files_add_hdf5(&files, IKT_FILE_WRITTEN, "OUTPUT.h5", asked->path[1], ".h5", false);
    IKT_TRY(ikt_files_check(&files));
    IKT_TRY(ikt_convert(ctx, asked->path[0], asked->path[1], &options, &made));
    const ikt_log_number numbers[] = {IKT_LOG_INT("rows", made.n),
                                      IKT_LOG_INT("columns", made.d),
                                      IKT_LOG_INT("entries", made.entries),
                                      {0}};
    if (made.sparse)
        snprintf(entries, sizeof entries, ", sparse with %lld entries", (long long)made.entries);
    ikt_log_numbers(ctx, IKT_LOG_STAGE, numbers, "%s: %lld rows x %lld columns, %s%s, %s labels",
                    asked->path[1], (long long)made.n, (long long)made.d, ikt_type_name(made.type),
                    entries, made.labels ? "with" : "without");
    if (made.texts[0])
        ikt_log(ctx, IKT_LOG_STAGE, "columns of text, kept in /columns: %s", made.texts);
    return IKT_OK;
}

static ikt_status run(ikt_context *ctx, int argc, char **argv) {
    command asked;
    bool help;
    const ikt_option options[] = {
        {"labels", IKT_TEXT("FILE", "", asked.labels),
         "The file with the labels, one integer a row (IDX, NPY, CSV), or FILE:NAME for an array "
         "in an NPZ or MATLAB file. For an HDF5 input it is the name of a data set, or of a column "
         "of obs (AnnData)"},
        {"label-array", IKT_TEXT("NAME", "", asked.label_array),
         "The array of an NPZ or MATLAB input that holds the labels"},
        {"label-column", IKT_TEXT("COLUMN", "", asked.label_column),
         "The column of a CSV file that holds the labels, by its name or its number from 1. Labels "
         "that are text are numbered in the order of their sorted values, which are kept in the "
         "attribute label_names"},
        {"skip-columns", IKT_TEXT("LIST", "", asked.skip_columns),
         "The columns of a CSV file to leave out: names or numbers, separated by commas"},
        {"text-columns", IKT_TEXT("LIST", "", asked.text_columns),
         "The columns of a CSV file to keep as text though they hold numbers, such as years. "
         "Columns that begin with text always are, in the group /columns of OUTPUT.h5"},
        {"missing", IKT_CHOICE("WHAT", "refuse", "refuse|nan", &asked.missing),
         "What becomes of values that are missing, NaN in dense rows of any format, and in a CSV "
         "file empty cells, NA, null and ? where numbers should be: refuse them, with the place of "
         "the first, or write them as NaN, which preprocess.missing can fill"},
        {"header", IKT_CHOICE("WHETHER", "auto", "auto|yes|no", &asked.header),
         "Whether the first line of a CSV file names the columns; auto: it does when it holds text "
         "where a number should be"},
        {"array", IKT_TEXT("NAME", "", asked.array),
         "The array of an NPZ or MATLAB file to take. Without it the only array of two axes is "
         "taken, or the one called X, data, ..."},
        {"raw", IKT_CHOICE("TYPE", "no", "no|" IKT_ELEMENT_NAMES, &asked.raw),
         "The file holds numbers of this type alone, row after row; --columns is needed, too"},
        {"columns", IKT_KEY_INT, "N", "0", 0, 1e15, NULL, &asked.columns,
         "The numbers in a row of a raw file"},
        {"skip", IKT_KEY_INT, "BYTES", "0", 0, 1e18, NULL, &asked.skip,
         "The bytes before the first number of a raw file"},
        {"byte-order", IKT_CHOICE("ORDER", "little", "little|big", &asked.byte_order),
         "The byte of a number that comes first in a raw file"},
        {"type", IKT_CHOICE("TYPE", "auto", "auto|uint8|float32|float64", &asked.type),
         "The type of the numbers that are written; auto keeps that of the input (float64 for CSV, "
         "float32 for LIBSVM)"},
        {"sparse", IKT_CHOICE("WHETHER", "auto", "auto|yes|no", &asked.sparse),
         "Whether sparse rows (LIBSVM, sparse matrices of HDF5, NPZ and MATLAB files) are written "
         "as a sparse matrix; auto: those of HDF5 files always are, others where that takes at "
         "most half of the bytes"},
        {"rows", IKT_KEY_INT, "N", "0", 0, 1e15, NULL, &asked.rows,
         "Take only the first N rows; 0 takes all"},
        {"dataset", IKT_TEXT("NAME", "auto", asked.dataset),
         "The data set of an HDF5 input, or the group of a sparse matrix; auto takes what embed "
         "does. Of a CSV file or of JSON lines, the columns to take, separated by commas"},
        {"overwrite", IKT_FLAG(&asked.overwrite), "Replace the output if it exists"},
        {0}};
    IKT_TRY(ikt_options_parse(ctx, &ikt_verb_convert, options, argc, argv, asked.path, 2, 2, NULL,
                              &help));
    return help ? IKT_OK : convert(ctx, &asked);
}

const ikt_verb ikt_verb_convert = {
    "convert", "INPUT OUTPUT.h5 [options]",
    "Convert a file of another format to a data set that embed reads",
    "INPUT is an IDX, NPY, NPZ, MATLAB, CSV, LIBSVM or HDF5 file, compressed or not, or a file of "
    "raw numbers",
    run};
