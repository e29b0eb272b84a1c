/* Sums of a kernel of given points, the sources, at other places:
 *     phi(y) = sum_j w(|y - y_j|^2)   and   grad phi(y).
 *
 * Where the sources stay where they are phi is a fixed field. Few sources (or a map that is not
 * plane) are summed one by one, exactly. For many the particle mesh of fft.c is made ONCE, at the
 * tight accuracy (spread, convolve); afterwards a place costs one gather, whatever the number of
 * sources. The grid reaches beyond the sources by a margin; places outside it are summed exactly.
 * Advantage: a fraction of a microsecond a place in place of n kernel values; a pure function of
 * the place, so that results do not depend on what else is asked. Disadvantage: every rank holds
 * all sources, 8 q bytes each, and the potentials of the grid.
 */
#ifndef IKT_KERNELSUM_FIELD_H
#define IKT_KERNELSUM_FIELD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "kernelsum/kernelsum.h"

enum { IKT_FIELD_EXACT_SOURCES = 4096, IKT_FIELD_DIMENSIONS_MOST = 3 };

typedef struct ikt_field ikt_field;

/* LOCAL; equal on ranks with equal arguments. Makes the field of n sources.
 *   y       [n * q] finite positions; not needed afterwards
 *   q       dimensions, 1 .. IKT_FIELD_DIMENSIONS_MOST
 *   kernel  not w log w
 *   exact   sum one by one whatever n; otherwise only up to IKT_FIELD_EXACT_SOURCES and for q != 2
 *   out     receives the field, owned by the caller; NULL on failure
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_field_create(ikt_context *ctx, const float *y, int64_t n, int q, ikt_kernel kernel,
                            bool exact, ikt_field **out);
void ikt_field_destroy(ikt_field **field);

/* LOCAL. The field at `count` places, by all threads; the bits at a place depend on it alone.
 *   y          [count * q] finite positions
 *   phi        [count], receives the sums, each to 1e-6 of itself, with a mesh as a root mean
 *              square (at the densities of t-SNE maps)
 *   gradient   [count * q], receives grad phi; with a mesh its root-mean-square error is 1e-4 of
 *              its own root mean square */
void ikt_field_evaluate(const ikt_field *field, const float *y, int64_t count, double *phi,
                        float *gradient);

/* LOCAL. Whether there is a mesh. */
bool ikt_field_has_mesh(const ikt_field *field);

/* LOCAL, pure. Most bytes that making and holding a field takes.
 *   span   side of the sources' bounding box */
int64_t ikt_field_memory(int64_t n, int q, ikt_kernel kernel, int threads, double span);

#endif
