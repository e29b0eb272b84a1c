/* Where the rows start: principal components, places among landmarks, a file, or at random.
 *
 * A start from landmarks embeds a random subset first, and every row begins at the weighted mean of
 * the landmarks that it is most similar to, after Kobak & Berens 2019 (start of a large embedding
 * from that of a subset). Advantage: the few landmarks find a good arrangement of the clusters,
 * which a large map cannot rearrange any more. Disadvantage: what no landmark stands for has no
 * place; and each row is compared with every landmark, m n scores.
 */
#ifndef IKT_PIPELINE_START_H
#define IKT_PIPELINE_START_H

#include "base/rng.h"
#include "checkpoint/fingerprint.h"
#include "data/dataset.h"
#include "dist/rows.h"
#include "io/results/graph_file.h"
#include "isolation/codes.h"
#include "pipeline/kernel_scores.h"
#include "settings/settings.h"

/* The same on every rank. */
typedef struct {
    int64_t count;
    int64_t *row; /* [count] ascending */
    int q;        /* dimensions */
    float *y;     /* [count * q] their positions, centred */
} ikt_landmarks;

/* LOCAL. Frees what there is; accepts an empty struct. */
void ikt_landmarks_destroy(ikt_landmarks *landmarks);

/* COLLECTIVE. Positions of the own rows, weighted by the Isolation kernel: codes of the own rows in
 * the order of the input, those of the landmarks among them. Rows without similarity to any
 * landmark come to the middle.
 *   y   [rows->count * q] */
ikt_status ikt_landmarks_place_codes(ikt_context *ctx, const ikt_landmarks *landmarks,
                                     const ikt_rows *rows, const ikt_codes *codes, float *y);

/* COLLECTIVE. The same for kinds of affinity that know distances only, weighted by a Gaussian
 * kernel whose width suits each row's distances. Reads the own rows once. */
ikt_status ikt_landmarks_place_rows(ikt_context *ctx, const ikt_landmarks *landmarks,
                                    const ikt_rows *rows, ikt_dataset *data, float *y);

/* COLLECTIVE. `count` of n rows drawn at random, the same on every rank.
 *   row   receives [count] ascending, owned by the caller; NULL on failure
 * Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_start_draw(ikt_context *ctx, uint64_t seed, ikt_rng_purpose what, int64_t n,
                          int64_t count, int64_t **row);

/* What there is to start from, and to tell of it; lent. */
typedef struct {
    const ikt_landmarks *landmarks; /* used with init: landmark */
    double *eigenvectors; /* [rows->count * layout.dimensions] of P, of the own rows, in the
                             order of the input, with init: spectral; their signs
                             become what they have to be. Or NULL */
    const double *scores; /* [rows->count * layout.dimensions] principal components of the
                             own rows, where they are known already; or NULL */
    ikt_graph_writer *graph_writer; /* receives components, or places among landmarks; or NULL */
    const int64_t *labels;          /* [rows->count] of the own rows, for init: kda; or NULL */
    ikt_kernel_report *kernel;      /* receives what is told of init: kpca and kda */
    ikt_model_writer *model_writer; /* receives what places new rows in the map of these, where the
                                       map stays there; or NULL */
} ikt_start_sources;

/* COLLECTIVE. Initial positions, as layout.init says.
 *   settings    layout resolved
 *   data        may be NULL where nothing is taken from the rows
 *   y           [rows->count * layout.dimensions] the positions, owned by the caller. NULL, or with
 *               init: landmark the places of the rows among the landmarks, where those are known
 *
 * layout.init_file is any map that io/results/result.h reads. Positions of a run stay as they are
 * unless layout.init_scale is given: a map that is gone on with keeps its spread. Others are scaled
 * to a standard deviation of 1e-4, as openTSNE does with its own starts: t-SNE must be free to move
 * rows while attraction is exaggerated. Errors: IKT_ERR_RESOURCE, those of reading; of a file
 * IKT_ERR_DATA: other numbers of rows or dimensions, positions that are not finite. */
ikt_status ikt_start(ikt_context *ctx, const ikt_settings *settings, ikt_dataset *data,
                     const ikt_rows *rows, const ikt_start_sources *from, float **y);

/* COLLECTIVE. "1000 x 2 positions of a run, hash 0123456789abcdef": a checksum of what
 * layout.init_file holds, the same on any ranks. Errors: as above. */
ikt_status ikt_start_file_fingerprint(ikt_context *ctx, const ikt_layout_settings *layout,
                                      const ikt_rows *rows, char text[IKT_INPUT_TEXT]);

#endif
