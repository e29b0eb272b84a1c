/* The mesh in single precision. See mesh.h. */
#define REAL       float
#define FFTW(name) fftwf_##name
#define MESH_OPS   ikt_mesh_f32
/* Lanes of a batch of coefficients: these in reverse, and real and imaginary parts exchanged. */
#define REVERSED 14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1
#define SWAPPED  1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14

#include "kernelsum/mesh_body.h"
