/* One convolution shared by all ranks: rows of the grid and batches of its columns in slabs.
 *
 * Method: charges are summed to the ranks that own their rows, which transform them; the
 * coefficients are dealt out again by batches of columns (a transpose of blocks), convolved, and go
 * back. Charges and potentials travel by the pieces of rows that a rank's points touch
 * (touched.h), or, where the ranks are so many that their messages would cost more, as a reduction
 * and a concatenation of the whole grid. Groups of
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
#include "kernelsum/touched.h"

/* Memory for what travels, and the plan of its transposes, for one shape of a grid at a time. Start
 * from zero. */
typedef struct {
    ikt_transpose_shape shape; /* that the plan is for */
    ikt_transpose *transpose;
    char *by_rows, *by_batches; /* own rows in all batches; all rows in own batches */
    int64_t numbers;            /* that each has memory for */
    int64_t *counts;            /* [ranks] */
    /* Of touched pieces; all NULL where the whole grid travels. */
    uint64_t *bits;            /* [nodes[1]][words] pieces that own points touch */
    uint64_t *asked;           /* [ranks][own rows][words] those of others in the own rows */
    uint8_t *marks;            /* what `bits` is made in */
    int64_t *leaving, *coming; /* [rows of the largest part][words + stride] a message each */
    int64_t *sent, *received;  /* [ranks] nodes of each message of charges */
    int64_t bits_most, asked_most, message_most; /* elements that each has memory for */
} ikt_slab_space;

/* LOCAL, pure. How many ranks share a grid under the settings, the first ones; 1: all replicate it.
 */
int ikt_slabs_sharers(const ikt_fft_settings *settings, const ikt_grid *grid, int ranks);

/* LOCAL, pure. Whether charges and potentials travel by touched pieces: always under
 * IKT_SHARING_SLABS, else where that is quicker by the rates.
 *   points   over all ranks: those of a rank have to be looked through */
bool ikt_slabs_by_pieces(const ikt_fft_settings *settings, const ikt_grid *grid, int64_t points,
                         int ranks, int sharers);

/* LOCAL, pure. The part of the pieces of a grid that a rank's points touch in late maps, for
 * predictions: counted on 1,000,000 digits. */
double ikt_slabs_touched_share(int ranks);

/* COLLECTIVE. Finds the pieces that the own points y[count * 2] and targets [targets * 2] touch,
 * for the ikt_slabs_convolve of these points.
 *   stride   of charges and potentials
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_slabs_touch(ikt_context *ctx, const ikt_mesh_ops *ops, const ikt_mesh *mesh,
                           const ikt_grid *grid, int sharers, int order, int64_t stride,
                           const float *y, int64_t count, const float *target, int64_t targets,
                           ikt_slab_space *slabs);

/* LOCAL. */
void ikt_slabs_release(ikt_slab_space *space);

/* COLLECTIVE. From each rank's own charges (not yet summed over ranks) to potentials in
 * space->potential: of the pieces that ikt_slabs_touch has found, by_pieces, else of all nodes on
 * every rank. Counts its parts under the stages GRID_SUM and FFT. Memory
 * and plan are made where the shape of the grid is another one than before.
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_slabs_convolve(ikt_context *ctx, const ikt_mesh_ops *ops, const ikt_mesh *mesh,
                              const ikt_grid *grid, int sharers, bool by_pieces,
                              const ikt_charges *charges, const ikt_mesh_space *space,
                              ikt_slab_space *slabs);

#endif
