/* The mesh in single precision. See mesh.h. */
#define REAL       float
#define FFTW(name) fftwf_##name
#define MESH_OPS   ikt_mesh_f32

#include "kernelsum/mesh_body.h"
