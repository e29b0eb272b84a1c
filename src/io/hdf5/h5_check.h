/* Whether HDF5 survives a file.
 *
 * HDF5 trusts what it reads: of files with a few damaged bytes it crashes on some and reads others
 * for ever (release 1.10; one in twenty-five of our results with random damage). A job of a
 * thousand ranks should end with a sentence instead.
 *
 * Method: a process forked for the purpose opens the file alone, with neither MPI nor the files
 * that are open here, and goes through what we read later: groups, attributes, types and the index
 * of chunks. It may use a few seconds of processor time and some memory. Only its end matters: what
 * is merely wrong is left to whoever reads it, and who needs it.
 *
 * Cost: a fork, and the metadata read once more. Where this process may not be forked
 * (base/sandbox.h), or the check was ended from outside, the file is only opened: that it could not
 * be checked says nothing about it. Values of large chunks are not read, as unpacking one may take
 * longer than any check should.
 */
#ifndef IKT_IO_HDF5_H5_CHECK_H
#define IKT_IO_HDF5_H5_CHECK_H

#include <stddef.h>

#include "base/status.h"

typedef enum {
    IKT_H5_SOUND,   /* can be opened and gone through */
    IKT_H5_REFUSED, /* HDF5 refuses to open it */
    IKT_H5_BROKEN,  /* HDF5 does not survive it */
    IKT_H5_LATE     /* the file system did not answer in time */
} ikt_h5_soundness;

/* LOCAL. Tries a regular file.
 *   reason   why it is refused or broken, at most `size` bytes; "" for a sound one
 */
ikt_h5_soundness ikt_h5_check(const ikt_context *ctx, const char *path, char *reason, size_t size);

#endif
