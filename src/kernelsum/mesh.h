/* The part of the particle-mesh method that exists in single and in double precision: convolving
 * the grid of charges, and gathering potentials from it.
 *
 * Both precisions are compiled from mesh_body.h. Single precision is half the memory and two thirds
 * of the time. Its rounding error is relative to how much the potential varies over the map (the
 * constant part is kept out of it): measured, 1e-5 of the force on an even map of 10^6 points of
 * span 300, and 3e-6 on an embedding of 70,000 digits. It should grow as the potential does beside
 * its gradient, as the root of the density of points: a hundred times denser maps would still keep
 * the default accuracy. The tight one is computed in double.
 */
#ifndef IKT_KERNELSUM_MESH_H
#define IKT_KERNELSUM_MESH_H

#include <stdint.h>

#include "base/cpu.h"
#include "base/status.h"
#include "kernelsum/grid.h"
#include "kernelsum/spread.h"

/* --- what coefficients are multiplied by ------------------------------------------------------ */

/* What the grid multiplies each coefficient by, and what a point then feels of itself
 * (influence.c).
 *
 * Method: the kernel less its value at 0, sampled at the nodes of the padded
 * grid, is transformed (it is even in both directions: a cosine transform of a quarter) and divided
 * by the windows' transforms, so that the potential of a charge in a node is exact in all nodes.
 * The mean of the kernel is left out of the table and added by the caller, n times: so a potential
 * that is the same everywhere but for a millionth, as early maps have, loses no digits, even in
 * single precision. The grid's own error in the term of a point with itself is known: it depends
 * only on the place of the point in its cell. It is tabulated and taken off. At the density of late
 * maps that is half of the whole error.
 */
enum { IKT_SELF_PLACES = 32 }; /* of the table of self-terms, along each axis of a cell */

typedef struct {
    double mean; /* of the kernel over the padded grid */
    /* [padded[1] / 2 + 1][padded[0] / 2 + 1], real transform of the kernel over that of the
     * windows, with the normalisation of the FFT; zero for the constant coefficient */
    double *table;
    /* [IKT_SELF_PLACES (y)][IKT_SELF_PLACES (x)][4]: phi, its derivatives by x and y, 0 */
    float *self;
} ikt_influence;

/* LOCAL. For a kernel and the grid's spacing and padded size. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_influence_make(ikt_context *ctx, ikt_kernel kernel, const ikt_grid *grid,
                              const ikt_window *window, ikt_influence *out);
void ikt_influence_release(ikt_influence *influence);

/* --- convolving and gathering ----------------------------------------------------------------- */

/* Plans and the kernel's transform for one padded size and spacing. */
typedef struct ikt_mesh ikt_mesh;

/* What an evaluation works in: made by the caller, 64-byte aligned, shared between meshes. */
typedef struct {
    int threads;
    void *field;   /* [field_count] coefficients, by batches of columns */
    void *buffers; /* [threads][buffer_count] */
    /* [nodes[1]][potential_stride] potentials of the nodes; the memory may be that of the charges,
     * which are gone by then */
    void *potential;
    int64_t potential_stride; /* at least nodes[0] and what the windows' vectors reach beyond */
} ikt_mesh_space;

/* Points to gather for. */
typedef struct {
    ikt_isa isa; /* to compute with; the result does not depend on it */
    const ikt_grid *grid;
    const ikt_window *window;
    const float *self;    /* self-terms, see above; NULL: the places are not points */
    const double *amount; /* [count] charges of the points; NULL: all are 1 */
    double everywhere;    /* added to every phi: the sum of all charges * mean */
    const float *y;       /* [count * 2] */
    double *phi;          /* [count], or NULL: not wanted */
    float *gradient;      /* [count * 2], or NULL */
    int64_t count;
} ikt_gather_job;

/* Units of a convolution. The field holds one batch behind the other, each of groups * group_rows
 * rows of `width` numbers. */
typedef struct {
    int64_t groups;     /* of rows of nodes */
    int64_t group_rows; /* rows of a group */
    int64_t batches;    /* of columns */
    int64_t width;      /* numbers of a batch in a row */
} ikt_mesh_shape;

typedef struct {
    size_t size; /* of a number of field, buffers and table */

    /* LOCAL. Takes what it needs from influence->table. Errors: IKT_ERR_RESOURCE. */
    ikt_status (*create)(ikt_context *ctx, const int64_t padded[2], const ikt_influence *influence,
                         ikt_mesh **out);
    void (*destroy)(ikt_mesh **mesh);

    /* LOCAL. Numbers needed in the field for so many rows of nodes, and in a thread's buffer. */
    int64_t (*field_count)(const int64_t padded[2], int64_t rows);
    int64_t (*buffer_count)(const int64_t padded[2]);

    /* LOCAL. Groups of rows and batches of columns: the units of the steps below. */
    ikt_mesh_shape (*shape)(const ikt_mesh *mesh, const ikt_grid *grid);

    /* LOCAL. Potentials = kernel * charges, at the nodes, in three steps. The first transforms only
     * the rows that hold charges, the last only those that are read; between them each column is
     * transformed, multiplied and transformed back while it is in cache, so the padded grid never
     * exists as a whole. Each step does a range of its units, first .. end - 1. The bits do not
     * depend on threads and ranges: units have a fixed width and plans are not timed.
     *   forward   charges of the groups' rows to coefficients in space->field
     *   columns   batches, all rows of them, in space->field
     *   inverse   coefficients of the groups' rows to space->potential */
    void (*forward)(const ikt_mesh *mesh, const ikt_grid *grid, const ikt_charges *charges,
                    const ikt_mesh_space *space, int64_t first, int64_t end);
    void (*columns)(const ikt_mesh *mesh, const ikt_grid *grid, const ikt_mesh_space *space,
                    int64_t first, int64_t end);
    void (*inverse)(const ikt_mesh *mesh, const ikt_grid *grid, const ikt_mesh_space *space,
                    int64_t first, int64_t end);

    /* LOCAL. Potential and gradient at the points. */
    void (*gather)(const ikt_mesh_space *space, const ikt_gather_job *job);
} ikt_mesh_ops;

extern const ikt_mesh_ops ikt_mesh_f32, ikt_mesh_f64;

static inline const ikt_mesh_ops *ikt_mesh_ops_of(const ikt_fft_settings *settings) {
    return settings->single ? &ikt_mesh_f32 : &ikt_mesh_f64;
}

/* LOCAL, pure. Numbers of the table of a mesh, for predictions of memory. */
static inline int64_t ikt_mesh_coefficients(const ikt_grid *grid) {
    return (grid->padded[0] / 2 + 8) * (grid->padded[1] / 2 + 32) + grid->padded[1];
}

#endif
