/* The lines of a range of bytes of a text file, gzipped or not; or its vectors in brackets; or the
 * objects of an array of JSON.
 *
 * A range has the lines that begin in it, so ranges that make up a file have each of its lines
 * once, wherever they are cut: within a line, between a return and its line feed, within a line
 * longer than a range. Lines end with line feed, return, or both; vectors with the bracket that
 * closes them, so that arrays of JSON are cut alike on any lines. Objects end behind the bracket
 * that closes them, which what stands before them decides: their range is the whole file.
 *
 * Method: large blocks are read, and a line is given where it stands in its block. Memory: a block,
 * or twice the longest line.
 */
#ifndef IKT_IO_FORMATS_TEXT_LINES_H
#define IKT_IO_FORMATS_TEXT_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

#include "base/status.h"

/* What is wrong with a text, and where. It is kept apart from messages, because who reads a range
 * does not know how many lines stand before it. */
typedef struct {
    ikt_status status; /* IKT_OK: nothing */
    int64_t line;      /* from 1, in the range */
    int64_t column;    /* of the character, from 1; 0: the line as a whole */
    char word[64];     /* what stands there, where there is a column */
    const char *what;  /* the sentence that follows: "is no number" */
} ikt_text_fault;

/* What a text is cut into. A row is none of them, and only a word of messages. */
typedef enum { IKT_UNIT_LINE, IKT_UNIT_VECTOR, IKT_UNIT_OBJECT, IKT_UNIT_ROW } ikt_text_unit;

/* Start with {ctx, path, begin, end}; free with ikt_text_lines_free. */
typedef struct {
    ikt_context *ctx;
    const char *path;
    int64_t begin, end; /* the range; a compressed file has one range, {0, INT64_MAX} */
    ikt_text_unit unit; /* a "line" is one of these */
    int64_t number;     /* of the line, from 1, in the range; in the end: how many there are */
    ikt_text_fault fault;
    gzFile file;
    char *buffer;                   /* bytes at .. filled - 1 are to come */
    int64_t capacity, at, filled;   /* capacity: without the byte that ends the last line */
    int64_t offset;                 /* of buffer[0] in the file */
    int64_t next_feed, next_return; /* none stands from `at` up to there */
    bool file_end;
    /* Of objects: how far the buffer has been looked through, and what is open there; whether the
     * array has ended; and the character that the zero behind the last object stands for. */
    int64_t looked, depth;
    bool is_quoted, is_escaped, is_closed;
    char hidden;
} ikt_text_lines;

/* LOCAL. Goes to the first line of the range; may be called again, for another pass.
 * Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE, and faults as the next function. */
ikt_status ikt_text_lines_open(ikt_text_lines *lines);

/* LOCAL. The next line, or *line = NULL behind the last one. The line ends with a zero, stays until
 * the next call, and may be changed. A byte order mark is left out, empty lines are not.
 * Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE, with a message. And without one, in lines->fault:
 * IKT_ERR_DATA (line over 64 MiB, zero byte, something else behind objects), IKT_ERR_FILE
 * (truncated compression, a vector or an array of objects that no bracket ends). */
ikt_status ikt_text_lines_next(ikt_text_lines *lines, char **line, int64_t *length);

/* LOCAL. Sets the fault at the present line; returns `status`, without a message.
 *   at, line   the character in its line; NULL: the line as a whole */
ikt_status ikt_text_lines_fault(ikt_text_lines *lines, ikt_status status, const char *line,
                                const char *at, const char *what);

/* LOCAL, pure. What a line is called in messages: "line", "vector", "object", "row". */
const char *ikt_text_lines_unit(const ikt_text_lines *lines);

/* LOCAL. Records the message of the fault, "PATH, line 12, column 5: '7:abc' is ...".
 *   before   lines of the file before the range */
ikt_status ikt_text_lines_report(const ikt_text_lines *lines, int64_t before);

/* COLLECTIVE. The outcome of a pass through the ranges of all ranks, whose lines have been counted.
 * A fault is told with the number of its line in the file: the ranks before, whose lines it counts,
 * have none, or else their own comes first.
 *   local    of this rank
 *   before   receives the lines of the file before the range */
ikt_status ikt_text_lines_agree(const ikt_text_lines *lines, ikt_status local, int64_t *before);

/* LOCAL. Closes the file and frees everything. */
void ikt_text_lines_free(ikt_text_lines *lines);

#endif
