/* The part of the particle-mesh method that exists in single and in double precision: convolving
 * the grid of charges, and gathering potentials from it.
 *
 * Both precisions are compiled from transform_body.h and gather_body.h. Single precision is half
 * the memory and two thirds of the time. Its rounding error is relative to how much the potential
 * varies over the map (the constant part is kept out of it): measured, 1e-5 of the force on an even
 * map of 10^6 points of span 300, and 3e-6 on an embedding of 70,000 digits. It should grow as the
 * potential does beside its gradient, as the root of the density of points: a hundred times denser
 * maps would still keep the default accuracy. The tight one is computed in double.
 */
#ifndef IKT_KERNELSUM_MESH_H
#define IKT_KERNELSUM_MESH_H

#include <stdint.h>

#include "base/cpu.h"
#include "base/status.h"
#include "kernelsum/grid.h"
#include "kernelsum/influence.h"
#include "kernelsum/spread.h"
#include "kernelsum/window.h"

/* Plans and the kernel's transform for one padded size and spacing. */
typedef struct ikt_mesh ikt_mesh;

/* What an evaluation works in: made by the caller, 64-byte aligned, shared between meshes. */
typedef struct {
    int threads;
    void *field;   /* [field_count] charges, then potentials */
    void *buffers; /* [threads][2][buffer_count] */
} ikt_mesh_space;

/* Points to gather for. */
typedef struct {
    ikt_isa isa; /* to compute with; the result does not depend on it */
    const ikt_grid *grid;
    const ikt_window *window;
    const ikt_influence *influence; /* mean and self-terms */
    double everywhere;              /* added to every phi: n * mean */
    const float *y;                 /* [count * 2] */
    double *phi;                    /* [count] */
    float *gradient;                /* [count * 2] */
    int64_t count;
} ikt_gather_job;

typedef struct {
    size_t size; /* of a number of field, buffers and table */

    /* LOCAL. Takes what it needs from influence->table. Errors: IKT_ERR_RESOURCE. */
    ikt_status (*create)(ikt_context *ctx, const int64_t padded[2], const ikt_influence *influence,
                         ikt_mesh **out);
    void (*destroy)(ikt_mesh **mesh);

    /* LOCAL. Numbers needed in the field for so many rows of nodes, and in a buffer. */
    int64_t (*field_count)(const int64_t padded[2], int64_t rows);
    int64_t (*buffer_count)(const int64_t padded[2]);

    /* LOCAL. field = kernel * charges, at the nodes. The first pass transforms only the rows that
     * hold charges, the last only those that are read; between them each batch of columns is
     * transformed, multiplied and transformed back while it is in cache, so the padded grid never
     * exists as a whole. The bits do not depend on the threads: batches have a fixed width and
     * plans are not timed. */
    void (*convolve)(const ikt_mesh *mesh, const ikt_grid *grid, const ikt_charges *charges,
                     const ikt_mesh_space *space);

    /* LOCAL. Potential and gradient at the points. */
    void (*gather)(const ikt_mesh *mesh, const ikt_mesh_space *space, const ikt_gather_job *job);
} ikt_mesh_ops;

extern const ikt_mesh_ops ikt_mesh_f32, ikt_mesh_f64;

#endif
