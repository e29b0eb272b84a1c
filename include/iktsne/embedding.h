/* An embedding: positions of rows in one, two or three dimensions, and what is known of them. */
#ifndef IKTSNE_EMBEDDING_H
#define IKTSNE_EMBEDDING_H

#include <stdbool.h>
#include <stdint.h>

#include "iktsne/context.h"
#include "iktsne/data.h"
#include "iktsne/parameters.h"

IKT_BEGIN_C

typedef struct ikt_embedding ikt_embedding;

/* COLLECTIVE. Frees *embedding and sets it to NULL; accepts NULL on all ranks. Before MPI_Finalize
 * and before its context. */
IKT_API void ikt_embedding_destroy(ikt_embedding **embedding);

/* LOCAL, down to ikt_embedding_measures. Rows over all ranks; dimensions: 1, 2 or 3. */
IKT_API int64_t ikt_embedding_rows(const ikt_embedding *embedding);
IKT_API int ikt_embedding_dimensions(const ikt_embedding *embedding);

/* The own rows: number of the first, and how many there are: those that this rank gave to
 * ikt_embed_rows, else an equal block. */
IKT_API int64_t ikt_embedding_first(const ikt_embedding *embedding);
IKT_API int64_t ikt_embedding_count(const ikt_embedding *embedding);

/* Positions of the own rows, [count * dimensions], row-major; borrowed as long as the embedding. */
IKT_API const float *ikt_embedding_positions(const ikt_embedding *embedding);

/* Labels of the own rows, [count], borrowed; NULL where the rows have none. */
IKT_API const int64_t *ikt_embedding_labels(const ikt_embedding *embedding);

/* Checksum of the positions of all rows: equal for equal embeddings, on any ranks. `iktsne embed`
 * prints it in 16 hexadecimal digits. */
IKT_API uint64_t ikt_embedding_hash(const ikt_embedding *embedding);

/* Whether the watcher ended the layout before its last iteration. */
IKT_API bool ikt_embedding_is_stopped(const ikt_embedding *embedding);

/* Value of the objective at the end: the KL divergence of t-SNE, or the cost that
 * layout.objective names. NaN where it is not known (a file of another program). */
IKT_API double ikt_embedding_objective(const ikt_embedding *embedding);

/* Iterations that were done, and rows without any similarity to others (docs/affinities.md); -1
 * where it is not known. */
IKT_API int64_t ikt_embedding_iterations(const ikt_embedding *embedding);
IKT_API int64_t ikt_embedding_zero_similarity(const ikt_embedding *embedding);

/* The parameters as used, with what "auto" became, as YAML; borrowed; "" where not known. */
IKT_API const char *ikt_embedding_yaml(const ikt_embedding *embedding);

/* A measure of quality; docs/measures.md defines each. */
typedef struct {
    const char *name; /* "10-NN accuracy"; borrowed as long as the embedding */
    double value;     /* NaN where there is none; the note says why */
    const char *note; /* how to read it */
} ikt_embedding_measure;

/* How many measures there are (those that output.measures asked for), and the i-th. */
IKT_API int64_t ikt_embedding_measures(const ikt_embedding *embedding);
IKT_API ikt_embedding_measure ikt_embedding_measure_at(const ikt_embedding *embedding, int64_t i);

/* LOCAL. Of new rows that were placed (ikt_transform), [count] for the own rows, borrowed; NULL for
 * other embeddings. The divergence of each row (in maps of TriMap the cost of its triplets); its
 * similarity to the most similar old row, where 0 says that the row lies where the embedding has
 * nothing; and the number of that old row. */
IKT_API const double *ikt_embedding_divergences(const ikt_embedding *embedding);
IKT_API const float *ikt_embedding_similarities(const ikt_embedding *embedding);
IKT_API const int64_t *ikt_embedding_nearest(const ikt_embedding *embedding);

/* LOCAL. Likewise: the distance of each row from the nearest of up to 2,048 rows of the fit, and 1
 * where it is larger than 99 in 100 of these have from each other, else 0 (docs/transform.md); NULL
 * also where the model holds fewer than 30 rows, or none. */
IKT_API const float *ikt_embedding_row_distances(const ikt_embedding *embedding);
IKT_API const int64_t *ikt_embedding_far(const ikt_embedding *embedding);

/* COLLECTIVE. The embedding that positions of any origin make, of another program for example: it
 * can be measured, drawn and viewed.
 *   data        how many rows there are, and their labels; other arrays in it are not used
 *   positions   [rows of this rank * dimensions], finite; copied
 *   out         receives the embedding, owned by the caller; NULL on failure; ctx must outlive it
 * Errors: IKT_ERR_USAGE, IKT_ERR_DATA (no rows), IKT_ERR_RESOURCE. */
IKT_API ikt_status ikt_embedding_from_positions(ikt_context *ctx, const ikt_data *data,
                                                const float *positions, int dimensions,
                                                ikt_embedding **out);

/* What is measured, and how; ikt_measuring_defaults fills it. */
typedef struct {
    const char *names;   /* measures or families of them, "trustworthiness,clusters"; "": all that
                            labels and rows allow (docs/measures.md) */
    int64_t k;           /* neighbours of the label accuracy */
    int64_t trust_k;     /* neighbours of trustworthiness and continuity */
    int64_t exact_limit; /* up to this many rows each row is compared with all others */
    int64_t sample;      /* beyond that, this many rows are */
    uint64_t seed;       /* of the sample, of triplets and of k-means */
} ikt_measuring;

/* LOCAL. k 10, trust_k 12, every row up to 20,000, then 2,000 of them, seed 1, all measures. */
IKT_API ikt_measuring ikt_measuring_defaults(void);

/* COLLECTIVE. Measures the quality of an embedding; ikt_embedding_measure_at tells the results,
 * which take the place of those before.
 *   parameters   the same on all ranks; their preprocessing is applied to the rows before they
 *                are compared
 *   data         the rows that were embedded, in the same blocks, and labels; without rows only
 *                what the map and the labels tell is measured. NULL on all ranks: neither. Lent
 *                for the call
 *   how          the same on all ranks
 * Errors: IKT_ERR_USAGE (an unknown name, with the nearest; a measure that lacks what it needs;
 * arguments that differ between ranks), IKT_ERR_DATA (other numbers of rows), IKT_ERR_RESOURCE. */
IKT_API ikt_status ikt_embedding_evaluate(ikt_embedding *embedding,
                                          const ikt_parameters *parameters, const ikt_data *data,
                                          const ikt_measuring *how);

/* Something that a page shows of every row: classes or numbers, which also colour the points, or
 * texts. One of the three is given on all ranks, or numbers, which give the colours, and the texts
 * that tell them: a page holds whole numbers up to 2^53, and of others seven digits. */
typedef struct {
    const char *name;         /* UTF-8 */
    const int64_t *classes;   /* [rows of this rank], in the blocks of the embedding, or NULL */
    const double *numbers;    /* the same, or NULL */
    const char *const *texts; /* the same, UTF-8 of any length, or NULL */
    const char *names;        /* of the classes: line k (from 0) names class k; NULL: none */
    const int32_t *colours;   /* [n_colours] of class k: 0xRRGGBB, negative: as usual; NULL: none */
    int64_t n_colours;
    bool is_hover; /* shown of a point that is pointed at, and no choice of colours */
} ikt_view_column;

/* COLLECTIVE. Writes the embedding as an HTML page to pan and zoom in, as `iktsne view` does.
 *   column   [columns] at most 256, as many on all ranks; borrowed; without any the labels of the
 *            embedding, where it has some
 *   title    above the map; NULL: the name of the file
 * Errors: IKT_ERR_USAGE (columns that are not the same on all ranks; the name says another format),
 * IKT_ERR_FILE, IKT_ERR_DATA (more than 4096 classes), IKT_ERR_RESOURCE. */
IKT_API ikt_status ikt_embedding_view(ikt_embedding *embedding, const char *path, bool overwrite,
                                      const char *title, const ikt_view_column *column,
                                      int columns);

/* COLLECTIVE. Writes the embedding with labels, trace and provenance as `iktsne embed` does: an
 * HDF5 file that every verb of the program reads. (What `iktsne embed --extend` goes on from is in
 * the file of output.file only.) The file appears complete or not at all.
 *   path        the same on all ranks
 *   overwrite   replace a file of that name
 * Errors: IKT_ERR_FILE; IKT_ERR_USAGE for an embedding that came from a file, and where the name
 * says another format than HDF5. */
IKT_API ikt_status ikt_embedding_write(ikt_embedding *embedding, const char *path, bool overwrite);

/* COLLECTIVE. Draws the embedding, coloured by its labels, as a PNG file of 1200 x 1000 pixels, or
 * as SVG or PDF where the name ends so.
 *   title   above the picture; NULL: the name of the file
 * Errors: IKT_ERR_USAGE (the name says another format), IKT_ERR_FILE, IKT_ERR_DATA (more than 4096
 * classes), IKT_ERR_RESOURCE. */
IKT_API ikt_status ikt_embedding_draw(ikt_embedding *embedding, const char *path, bool overwrite,
                                      const char *title);

/* COLLECTIVE. The embedding of a result file, or of any HDF5 file with a data set /embedding of one
 * to three columns; each rank gets an equal block of rows.
 *   out   receives the embedding, owned by the caller; NULL on failure; ctx must outlive it
 * Errors: IKT_ERR_FILE, IKT_ERR_DATA, IKT_ERR_RESOURCE. */
IKT_API ikt_status ikt_embedding_read(ikt_context *ctx, const char *path, ikt_embedding **out);

IKT_END_C

#endif
