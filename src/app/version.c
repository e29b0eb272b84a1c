/* What the program is made of. */
#include "app/version.h"

#include <cairo.h>
#include <fftw3.h>
#include <hdf5.h>
#include <mpi.h>
#include <string.h>
#include <yaml.h>
#include <zlib.h>

#include "base/cpu.h"
#include "iktsne/build.h"

void ikt_print_version(FILE *file) {
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    unsigned major = 0, minor = 0, release = 0;
    if (MPI_Get_library_version(mpi, &length) != MPI_SUCCESS) mpi[0] = '\0';
    mpi[strcspn(mpi, "\n")] = '\0';
    H5get_libversion(&major, &minor, &release);
    fprintf(file, "iktsne %s (%s)\n", IKT_VERSION, IKT_COMMIT);
    fprintf(file, "compiler:        %s %s\n", IKT_COMPILER, IKT_COMPILE_FLAGS);
    fprintf(file, "instruction set: %s\n", ikt_isa_name(ikt_cpu_isa()));
    fprintf(file, "MPI:             %s\n", mpi);
    fprintf(file, "HDF5:            %u.%u.%u\n", major, minor, release);
    fprintf(file, "FFTW:            %s\n", fftw_version);
    fprintf(file, "FFTW for MPI:    transposes of shared grids\n");
    fprintf(file, "libyaml:         %s\n", yaml_get_version_string());
    fprintf(file, "zlib:            %s\n", zlibVersion());
    fprintf(file, "cairo:           %s\n", cairo_version_string());
}
