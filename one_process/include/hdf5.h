/* The HDF5 of one process, with the two calls that say how ranks share a file: there are none. */
#ifndef IKT_ONE_PROCESS_HDF5_H
#define IKT_ONE_PROCESS_HDF5_H

#include_next <hdf5.h>
#include <mpi.h>

static inline herr_t H5Pset_fapl_mpio(hid_t list, MPI_Comm comm, MPI_Info info) {
    (void)list, (void)comm, (void)info;
    return 0;
}

static inline herr_t H5Pset_dxpl_mpio(hid_t list, H5FD_mpio_xfer_t mode) {
    (void)list, (void)mode;
    return 0;
}

#endif
