/* What of HDF5 belongs to the whole process and not to us: whether it prints its errors.
 *
 * We switch that off, since our messages say them; a program of others wants it back as it was.
 */
#ifndef IKT_IO_HDF5_H5_HOST_H
#define IKT_IO_HDF5_H5_HOST_H

#include <hdf5.h>
#include <stdbool.h>

typedef struct {
    bool is_known;
    H5E_auto2_t print;
    void *data;
} ikt_h5_host;

/* LOCAL. As the program has it, before calls of ours; and given back. */
ikt_h5_host ikt_h5_host_keep(void);
void ikt_h5_host_restore(const ikt_h5_host *host);

#endif
