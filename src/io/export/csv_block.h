/* A block of delimited text under construction. */
#ifndef IKT_IO_EXPORT_CSV_BLOCK_H
#define IKT_IO_EXPORT_CSV_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Start with {ctx}; free with ikt_csv_block_destroy. */
typedef struct {
    ikt_context *ctx;
    char *data; /* [length] of [room]; owned */
    int64_t length, room;
    bool guards_formulas; /* cells of text that a spreadsheet would take for a formula begin with '
                           */
    ikt_status status;    /* of the first failure, after which nothing is added */
} ikt_csv_block;

/* LOCAL. Appends bytes as they are; or a cell, in quotes where it holds what has a meaning. */
void ikt_csv_block_add(ikt_csv_block *block, const char *bytes, size_t count);
void ikt_csv_block_text(ikt_csv_block *block, char delimiter, const char *text, size_t count);

/* LOCAL. Replaces the text by a gzip member of it, without name and time; none of no text. Errors:
 * IKT_ERR_RESOURCE. */
ikt_status ikt_csv_block_compress(ikt_csv_block *block);

void ikt_csv_block_destroy(ikt_csv_block *block);

#endif
