/* What the fuzzers share: one context, inputs as files in memory, and the promises of the readers.
 *
 * libFuzzer calls LLVMFuzzerInitialize once and LLVMFuzzerTestOneInput for each input. What breaks
 * a promise ends the process by fuzz_fail, which libFuzzer reports with the input that led to it.
 */
#ifndef IKT_FUZZ_HARNESS_H
#define IKT_FUZZ_HARNESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "io/formats/reader.h"

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The context of this process, ready for an input: no message, no memory, a peak of zero. */
ikt_context *fuzz_context(void);

/* Path of a file in memory that holds these bytes until the next call; `packed`: compressed, in a
 * second file. */
const char *fuzz_file(const uint8_t *data, size_t size);
const char *fuzz_packed_file(const uint8_t *data, size_t size);

/* Ends the process with the sentence where `holds` is false. */
void fuzz_check(int holds, const char *sentence);

/* An outcome is success without a message, or a documented status with one; nothing is left
 * allocated, and there were never more than `bytes` bytes. */
void fuzz_outcome(ikt_context *ctx, ikt_status status, int64_t bytes);

/* Reads the bytes as a table, of CSV or of the format that they seem to be: whole, in pieces, and
 * compressed. All must come to the same. */
void fuzz_table(const uint8_t *data, size_t size, const ikt_reader_options *options, bool is_csv);

#endif
