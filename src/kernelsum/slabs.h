/* One convolution shared by all ranks: rows of the grid and batches of its columns in slabs.
 *
 * Method: charges are summed to the ranks that own their rows, which transform them; the
 * coefficients are dealt out again by batches of columns (a transpose of blocks), convolved, and go
 * back; potentials are then gathered on every rank, because its points may lie anywhere. Groups of
 * rows and batches of columns are the units of mesh.h, so the bits are those of a rank that does it
 * alone. A rank need not share: of many, so few do that their messages do not cost more than the
 * work saved. Advantage: the transform's work is divided by the ranks. Disadvantage: four transfers
 * in place of one; a grid that one rank transforms in a millisecond is faster replicated. FFTW's
 * own parallel transforms choose algorithms by the slab, and with them bits; so only its
 * transposes, which move data, are used (base/transpose.h).
 */
#ifndef IKT_KERNELSUM_SLABS_H
#define IKT_KERNELSUM_SLABS_H

#include "base/transpose.h"
#include "kernelsum/mesh.h"

/* Memory for what travels, and the plan of its transposes, for one shape of a grid at a time. Start
 * from zero. */
typedef struct {
    ikt_transpose_shape shape; /* that the plan is for */
    ikt_transpose *transpose;
    char *by_rows, *by_batches; /* own rows in all batches; all rows in own batches */
    int64_t numbers;            /* that each has memory for */
    int64_t *counts;            /* [ranks] */
} ikt_slab_space;

/* LOCAL, pure. How many ranks share a grid under the settings, the first ones; 1: all replicate it.
 */
int ikt_slabs_sharers(const ikt_fft_settings *settings, const ikt_grid *grid, int ranks);

/* LOCAL. */
void ikt_slabs_release(ikt_slab_space *space);

/* COLLECTIVE. From each rank's own charges (not yet summed over ranks) to the potentials of all
 * nodes in space->field, on every rank. Counts its parts under the stages GRID_SUM and FFT. Memory
 * and plan are made where the shape of the grid is another one than before.
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_slabs_convolve(ikt_context *ctx, const ikt_mesh_ops *ops, const ikt_mesh *mesh,
                              const ikt_grid *grid, int sharers, const ikt_charges *charges,
                              const ikt_mesh_space *space, ikt_slab_space *slabs);

#endif
