/* iktsne convert: a file of a foreign format to the HDF5 that embed reads (io/convert/convert.h).
 */
#include <stdio.h>

#include "app/verb.h"
#include "base/log.h"
#include "io/convert/convert.h"

typedef struct {
    char labels[IKT_STRING_MAX], label_array[IKT_STRING_MAX], label_column[IKT_STRING_MAX];
    char skip_columns[IKT_STRING_MAX], dataset[IKT_STRING_MAX], array[IKT_STRING_MAX];
    int type, delimiter, header, sparse, raw, byte_order;
    int64_t rows, columns, skip;
    bool overwrite;
} command;

static ikt_convert_options options_of(const command *asked) {
    static const char delimiters[] = {0, ',', ';', '\t', ' '};
    static const char *const raw_types[] = {NULL,     "int8",    "int16",  "int32",
                                            "int64",  "uint8",   "uint16", "uint32",
                                            "uint64", "float32", "float64"};
    return (ikt_convert_options){.feed = {.reader = {.delimiter = delimiters[asked->delimiter],
                                                     .header = (ikt_csv_header)asked->header,
                                                     .label_column = asked->label_column,
                                                     .skip_columns = asked->skip_columns,
                                                     .array = asked->array,
                                                     .raw = {raw_types[asked->raw], asked->columns,
                                                             asked->skip, asked->byte_order == 1}},
                                          .dataset = asked->dataset,
                                          .labels = asked->labels,
                                          .label_array = asked->label_array,
                                          .rows = asked->rows},
                                 .as = asked->type,
                                 .sparse = (ikt_sparse_choice)asked->sparse,
                                 .overwrite = asked->overwrite};
}

static ikt_status convert(ikt_context *ctx, const command *asked, const char *in, const char *out) {
    const ikt_convert_options options = options_of(asked);
    char entries[64] = "";
    ikt_converted made;
    if (asked->raw > 0 && asked->columns == 0)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "--raw needs --columns: raw numbers do not tell how many are a row");
    if (asked->raw == 0 && (asked->columns != 0 || asked->skip != 0 || asked->byte_order != 0))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "--columns, --skip and --byte-order describe raw numbers: give their type, "
                        "too (--raw float32)");
    IKT_TRY(ikt_convert(ctx, in, out, &options, &made));
    const ikt_log_number numbers[] = {IKT_LOG_INT("rows", made.n),
                                      IKT_LOG_INT("columns", made.d),
                                      IKT_LOG_INT("entries", made.entries),
                                      {0}};
    if (made.sparse)
        snprintf(entries, sizeof entries, ", sparse with %lld entries", (long long)made.entries);
    ikt_log_numbers(ctx, IKT_LOG_STAGE, numbers, "%s: %lld rows x %lld columns, %s%s, %s labels",
                    out, (long long)made.n, (long long)made.d, ikt_type_name(made.type), entries,
                    made.labels ? "with" : "without");
    return IKT_OK;
}

static ikt_status run(ikt_context *ctx, int argc, char **argv) {
    command asked;
    bool help;
    const ikt_option options[] = {
        {"labels", IKT_KEY_STRING, "FILE", "", 0, 0, NULL,
         "File with one integer a row (IDX, NPY, CSV), or FILE:NAME, an array in an NPZ or MATLAB "
         "file; of an HDF5 input a data set, or a column of obs (AnnData)",
         asked.labels},
        {"label-array", IKT_KEY_STRING, "NAME", "", 0, 0, NULL,
         "Array of an NPZ or MATLAB input that holds the labels", asked.label_array},
        {"label-column", IKT_KEY_STRING, "COLUMN", "", 0, 0, NULL,
         "Column of a CSV file that holds the labels, by name or number from 1; text is numbered "
         "in the order of its sorted values, whose names go to the attribute label_names",
         asked.label_column},
        {"skip-columns", IKT_KEY_STRING, "LIST", "", 0, 0, NULL,
         "Columns of a CSV file to leave out, names or numbers with commas between",
         asked.skip_columns},
        {"delimiter", IKT_KEY_CHOICE, "NAME", "auto", 0, 0, "auto|comma|semicolon|tab|blank",
         "What separates the cells of a CSV file", &asked.delimiter},
        {"header", IKT_KEY_CHOICE, "WHETHER", "auto", 0, 0, "auto|yes|no",
         "Whether the first line of a CSV file names the columns; auto: when it holds a text where "
         "a number should be",
         &asked.header},
        {"array", IKT_KEY_STRING, "NAME", "", 0, 0, NULL,
         "Array of an NPZ or MATLAB file to take; else the only one of two axes, or X, data, ...",
         asked.array},
        {"raw", IKT_KEY_CHOICE, "TYPE", "no", 0, 0,
         "no|int8|int16|int32|int64|uint8|uint16|uint32|uint64|float32|float64",
         "The file is numbers of this type and nothing else, row after row; with --columns",
         &asked.raw},
        {"columns", IKT_KEY_INT, "N", "0", 0, 1e15, NULL, "Numbers in a row of raw numbers",
         &asked.columns},
        {"skip", IKT_KEY_INT, "BYTES", "0", 0, 1e18, NULL, "Bytes before the first raw number",
         &asked.skip},
        {"byte-order", IKT_KEY_CHOICE, "ORDER", "little", 0, 0, "little|big",
         "Of raw numbers: which byte comes first", &asked.byte_order},
        {"type", IKT_KEY_CHOICE, "TYPE", "auto", 0, 0, "auto|uint8|float32|float64",
         "Type of the numbers written; auto keeps that of the input (CSV: float64, "
         "LIBSVM: float32)",
         &asked.type},
        {"sparse", IKT_KEY_CHOICE, "WHETHER", "auto", 0, 0, "auto|yes|no",
         "Whether sparse rows (LIBSVM, sparse matrices of HDF5, NPZ and MATLAB files) are written "
         "as a sparse matrix; auto: those of HDF5 are, others where that takes at most half of the "
         "bytes",
         &asked.sparse},
        {"rows", IKT_KEY_INT, "N", "0", 0, 1e15, NULL, "Take the first N rows only; 0 is all",
         &asked.rows},
        {"dataset", IKT_KEY_STRING, "NAME", "X", 0, 0, NULL,
         "Data set of an HDF5 input, or the group of a sparse matrix", asked.dataset},
        {"overwrite", IKT_KEY_BOOL, NULL, "no", 0, 0, NULL, "Replace the output if it exists",
         &asked.overwrite},
        {0}};
    const char *path[2];
    IKT_TRY(
        ikt_options_parse(ctx, &ikt_verb_convert, options, argc, argv, path, 2, 2, NULL, &help));
    if (help) return IKT_OK;
    return convert(ctx, &asked, path[0], path[1]);
}

const ikt_verb ikt_verb_convert = {"convert", "INPUT OUTPUT.h5 [options]",
                                   "Convert IDX, NPY, NPZ, MATLAB, CSV, LIBSVM, raw numbers or "
                                   "HDF5 to a data set that embed reads",
                                   run};
