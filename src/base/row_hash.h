/* Checksums: of a distributed array of rows, which does not depend on how it is distributed; and at
 * the end of a file, so that damage is noticed before anything is believed.
 *
 * Each row is hashed with its global number; the hashes are added modulo 2^64. The bytes of a
 * complete file are hashed in blocks, each with its number, and the sum is appended with the
 * length: the file's seal. Readers of HDF5 do not look behind the end of their data, so the file
 * stays what it was. Advantage: any damage, of contents and of structure, is found before a library
 * gets to see the file; ranks share the work. Disadvantage: what was written is read once more. */
#ifndef IKT_BASE_ROW_HASH_H
#define IKT_BASE_ROW_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* COLLECTIVE. Hash of the array whose rows first_row .. first_row + n_local - 1 this rank holds in
 * `rows` (row_bytes bytes each). Equal on every rank and for every distribution. */
uint64_t ikt_row_hash(ikt_context *ctx, const void *rows, int64_t first_row, int64_t n_local,
                      size_t row_bytes);

/* LOCAL. What this rank's rows add to it, for arrays that pass by in blocks: sums of these modulo
 * 2^64, over blocks and ranks, are the hash of the whole. */
uint64_t ikt_row_hash_local(ikt_context *ctx, const void *rows, int64_t first_row, int64_t n_local,
                            size_t row_bytes);

/* COLLECTIVE. Sum modulo 2^64 of what each rank has, the same on every rank. */
uint64_t ikt_hash_total(ikt_context *ctx, uint64_t mine);

/* LOCAL. What entry (row, column) of a matrix adds to a sum modulo 2^64 that is 0 where every entry
 * has a mirror image of the same bits, and, but for a chance of 2^-64, not 0 otherwise. */
uint64_t ikt_hash_entry(int64_t row, int64_t column, float value);

/* LOCAL. 64-bit hash of a byte string (for fingerprints of settings). */
uint64_t ikt_hash_bytes(const void *data, size_t bytes, uint64_t seed);

/* COLLECTIVE. Hash of all bytes of a file, which the ranks share. Errors: IKT_ERR_FILE. */
ikt_status ikt_file_hash(ikt_context *ctx, const char *path, uint64_t *hash);

/* COLLECTIVE. Seals a file that all ranks have closed. Errors: IKT_ERR_FILE. */
ikt_status ikt_seal_put(ikt_context *ctx, const char *path);

/* COLLECTIVE. Whether a file is sealed. HDF5 takes the seal away when another program changes the
 * file, which then is like any file of another program. A file that was found whole is not read
 * again by the same context, as long as its inode, its length and its times stay what they are.
 * Errors: IKT_ERR_DATA where it is sealed, and shorter, longer or other than when it was;
 * IKT_ERR_FILE where it cannot be read. */
ikt_status ikt_seal_look(ikt_context *ctx, const char *path, bool *is_sealed);

/* COLLECTIVE. The same of a file that has to be sealed: IKT_ERR_DATA where it is not. */
ikt_status ikt_seal_check(ikt_context *ctx, const char *path);

#endif
