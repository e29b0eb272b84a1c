/* The mesh in double precision. See mesh.h. */
#define REAL       double
#define FFTW(name) fftw_##name
#define MESH_OPS   ikt_mesh_f64

#include "kernelsum/mesh_body.h"
