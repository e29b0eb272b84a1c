/* HDF5's printing of errors. See h5_host.h. */
#include "io/hdf5/h5_host.h"

ikt_h5_host ikt_h5_host_keep(void) {
    ikt_h5_host host = {false, NULL, NULL};
    unsigned is_current = 0;
    if (H5Eauto_is_v2(H5E_DEFAULT, &is_current) >= 0 && is_current)
        host.is_known = H5Eget_auto2(H5E_DEFAULT, &host.print, &host.data) >= 0;
    return host;
}

void ikt_h5_host_restore(const ikt_h5_host *host) {
    if (host->is_known) H5Eset_auto2(H5E_DEFAULT, host->print, host->data);
}
