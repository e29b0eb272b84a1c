/* A checksum at the end of a file, so that damage is noticed before anything is believed.
 *
 * The bytes of a complete file are hashed in blocks, each with its number, and the sum is appended
 * with the length. Readers of HDF5 do not look behind the end of their data, so the file stays what
 * it was. Advantage: any damage, of contents and of structure, is found before a library gets to
 * see the file; ranks share the work. Disadvantage: what was written is read once more.
 */
#ifndef IKT_BASE_SEAL_H
#define IKT_BASE_SEAL_H

#include "base/status.h"

/* COLLECTIVE. Seals a file that all ranks have closed. Errors: IKT_ERR_FILE. */
ikt_status ikt_seal_put(ikt_context *ctx, const char *path);

/* COLLECTIVE. Errors: IKT_ERR_DATA where the file is not sealed, shorter or longer than when it
 * was, or changed; IKT_ERR_FILE where it cannot be read. */
ikt_status ikt_seal_check(ikt_context *ctx, const char *path);

#endif
