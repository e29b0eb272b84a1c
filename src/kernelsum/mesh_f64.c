/* The mesh in double precision. See mesh.h. */
#define REAL       double
#define FFTW(name) fftw_##name
#define MESH_OPS   ikt_mesh_f64
/* See mesh_f32.c. */
#define REVERSED 6, 7, 4, 5, 2, 3, 0, 1
#define SWAPPED  1, 0, 3, 2, 5, 4, 7, 6

#include "kernelsum/mesh_body.h"
