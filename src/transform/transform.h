/* Placing new rows into a finished embedding:
 *     model file -> new rows -> codes -> neighbours among the old -> p_j|i -> places,
 * of maps by triplets
 *     model file -> new rows -> codes, or the rows -> near old rows and D to them and to far ones
 *         -> places,
 * of maps that are linear in similarities (kpca, kda)
 *     model file -> new rows -> similarities to landmarks -> places.
 *
 * The old rows stay where they are and the new ones do not see each other, so the place of a row is
 * a function of the model and that row: the same bits in any batch, on any ranks and threads.
 */
#ifndef IKT_TRANSFORM_TRANSFORM_H
#define IKT_TRANSFORM_TRANSFORM_H

#include "data/dataset.h"
#include "dist/rows.h"
#include "io/results/model_file.h"
#include "isolation/model.h"
#include "neighbours/neighbours.h"
#include "neighbours/scorer.h"
#include "pipeline/notes.h"
#include "settings/settings.h"

/* Positions that are tried for a new row at most where nothing else is said. */
#define IKT_TRANSFORM_TRIALS_TEXT "200"
enum { IKT_TRANSFORM_TRIALS = 200 };

/* What is wanted; texts are borrowed. */
typedef struct {
    const char *model, *input; /* files */
    const char *dataset; /* of the rows in the input; "": of the name that the model's rows had */
    const char *labels;  /* data set of labels beside them; absent is fine for "labels". "": of the
                            name that those of the model had, if that is no file; may be absent */
    int64_t neighbours;  /* old rows of a list, or IKT_AUTO_INT: as the model's run had */
    int64_t trials;      /* most evaluations of the divergence of a row */
    const char *writes;  /* what the log says will be written, "a.h5 and a.png"; or NULL */
    ikt_source *given;   /* new rows in place of those of `input`, borrowed; NULL: none */
} ikt_transform_request;

/* A model file brought into memory: what places new rows (docs/transform.md). The same on every
 * rank. */
typedef struct {
    ikt_model_file *file;  /* open, for codes and labels */
    ikt_model_shape shape; /* of it */
    ikt_settings settings; /* of the run that made it */
    char hash[32];         /* of what the file holds, as it says; "" where it does not */
    ikt_normaliser normaliser;
    double *fill;       /* [d] what stands for missing values, or NULL */
    ikt_pca *pca;       /* NULL: no reduction */
    ikt_model *model;   /* "rows" are numbers of distinct centres; NULL where there are no codes */
    float *scale;       /* [n] scales of the old rows, of maps by triplets of rows; else NULL */
    float *y;           /* [n * q] the embedding */
    char *label_names;  /* of the classes of its labels, a line a class; NULL: they are numbers */
    char *column_names; /* of the columns of its rows, a line each, or NULL */
} ikt_loaded_model;

/* New rows and their places. */
typedef struct {
    ikt_loaded_model loaded; /* the model, with the old embedding on every rank */
    ikt_rows rows;
    int64_t k;          /* neighbours: of a map by triplets the near rows of a row */
    float *y;           /* [rows.count * q] */
    double *divergence; /* [rows.count] KL_i; of a map by triplets E (triplet_placing.h). NULL of
                           maps of similarities, in which nothing is optimised */
    float *similarity;  /* [rows.count] K to the most similar old row, or exp(-D) where rows are
                           compared by distances, exp(-d^2) by Fisher's; 0 flags an outlier. Of
                           maps of similarities K to the most similar landmark, of any sign */
    int64_t *nearest;   /* [rows.count] that old row (the first of the list) */
    float *distance;    /* [rows.count] from the nearest of some fitted rows; NULL where the model
                           holds no rows, or fewer than 30 */
    int64_t *is_far; /* [rows.count] whether that is more than fitted rows have (0, 1), or NULL */
    char dataset[IKT_STRING_MAX], labels_name[IKT_STRING_MAX]; /* that were read */
    int64_t *labels;    /* [rows.count], or NULL where the input has none */
    char *label_names;  /* a line a class, those of the model first; or NULL */
    int64_t labelled;   /* new rows over all ranks that have a label which old rows may have */
    bool is_comparable; /* whether old and new rows have labels, both with names or both without */
    ikt_code_check cells;    /* of cells found by approximate search */
    int64_t zero_similarity; /* rows whose similarity is 0 */
    int64_t unsettled;       /* rows that the limit of trials stopped */
    bool has_distance;       /* whether there are distance and is_far, the same on all ranks */
    int64_t far;             /* rows that are far */
    double mean_divergence;
    double accuracy; /* see ikt_transform_accuracy; negative where there are no labels */
    char input_name[IKT_STRING_MAX + 64];
    int64_t d;
    const char *type; /* "uint8" */
    uint64_t hash;    /* of the places */
    ikt_notes *facts; /* once the file is written; owned */
    int64_t predicted_bytes;
} ikt_transformed;

/* COLLECTIVE. Places the rows of the input.
 *   out   free with ikt_transformed_destroy; empty on failure
 * Errors: those of ikt_model_load, ikt_loaded_model_dataset and reading; IKT_ERR_USAGE for more
 * neighbours than old rows; IKT_ERR_RESOURCE before anything long where memory would not do. */
ikt_status ikt_transform_run(ikt_context *ctx, const ikt_transform_request *request,
                             ikt_transformed *out);
void ikt_transformed_destroy(ikt_transformed *done);

/* LOCAL, pure. Whether new rows are projected by their similarities, and not moved. */
bool ikt_transform_projects(const ikt_loaded_model *loaded);

/* COLLECTIVE. Share of the new rows with a label whose class is that of most of the 10 nearest old
 * rows with one in the map (ties to the smallest label); a class that no old row has, of which a
 * warning tells, is another. Negative where old or new rows have no labels, or one side names and
 * the other numbers. Memory: 50 bytes an old row.
 *   done   receives accuracy and labelled
 * Errors: IKT_ERR_RESOURCE, those of reading. */
ikt_status ikt_transform_accuracy(ikt_context *ctx, ikt_transformed *done);

/* COLLECTIVE. A result file (io/results/result.h) of the new rows: places, labels, provenance with
 * the model's name and hash, and per row /diagnostics/divergence (or cost), similarity, nearest,
 * distance and is_far.
 * Its configuration is that of the model's run with the new input, so that `evaluate --input` and
 * `plot` read it like any other. Errors: IKT_ERR_FILE. */
ikt_status ikt_transform_write(ikt_context *ctx, const ikt_transform_request *request,
                               ikt_transformed *done, const char *path, bool overwrite);

/* COLLECTIVE. The new rows coloured by label before the old ones in grey. Errors: IKT_ERR_FILE. */
ikt_status ikt_transform_picture(ikt_context *ctx, const ikt_transformed *done, const char *path,
                                 bool overwrite);

/* --- the steps of ikt_transform_run ----------------------------------------------------------- */

/* COLLECTIVE. Opens and reads a model; codes and centres stay in the file.
 *   out   free with ikt_loaded_model_destroy; empty on failure
 * Errors: those of ikt_model_file_open; IKT_ERR_DATA for numbers and positions that cannot be. */
ikt_status ikt_model_load(ikt_context *ctx, const char *path, ikt_loaded_model *out);
void ikt_loaded_model_destroy(ikt_loaded_model *loaded);

/* COLLECTIVE. New rows under the preprocessing of the model, with its centres as what codes are
 * made from.
 *   source   borrowed until ikt_dataset_destroy, as is `loaded`
 * New rows get their cells by the search that found those of the old rows (isolation.search), so
 * that an old row gets its own once more.
 * Errors: IKT_ERR_DATA for another number of columns; those of opening. */
ikt_status ikt_loaded_model_dataset(ikt_context *ctx, ikt_loaded_model *loaded, ikt_source *source,
                                    ikt_dataset **out);

/* COLLECTIVE. The labels of the new rows, where there are some. Where they and those of the model
 * have names, classes of one name get one number, and `label_names` has all of them; where one side
 * has none a warning tells so.
 *   done   has the model and the distribution of the new rows; receives labels, label_names,
 *          is_comparable
 * Errors: those of reading; IKT_ERR_DATA for labels that were asked for and are not there. */
ikt_status ikt_new_labels_read(ikt_context *ctx, const ikt_transform_request *request,
                               ikt_source *source, ikt_transformed *done);

/* From new rows to the old rows that they are similar to: codes -> lists -> p_j|i.
 *
 * The old codes pass by in blocks; the search is exact. A new row that shares no cell with any old
 * row (which needs a model of other rows, isolation.model_from) is given the cells of its nearest
 * centre in whose cell some partitioning has an old row, and becomes similar to those rows. */
typedef struct {
    ikt_neighbours lists;    /* old rows, with p_j|i in place of scores */
    float *similarity;       /* [n_local] K to the most similar old row; 0: none shares a cell */
    int64_t zero_similarity; /* rows over all ranks whose similarity is 0 */
    ikt_code_check cells;    /* of the new rows */
} ikt_new_lists;

/* COLLECTIVE. The most similar old rows of rows that a scorer holds, as they stand in the file.
 *   scorer   of codes or of rows, like the file; its own rows need not be those of a distribution
 *   lists    receives them, of scorer->rows.count rows
 * Errors: IKT_ERR_RESOURCE, those of reading. */
ikt_status ikt_old_rows_search(ikt_context *ctx, const ikt_loaded_model *loaded,
                               const ikt_scorer *scorer, ikt_neighbours *lists);

/* COLLECTIVE.
 *   data   new rows, of ikt_loaded_model_dataset
 *   rows    of them
 *   k      old rows of a list, 1 .. those there are
 *   kept   NULL, or receives the codes; the lists then have scores in place of p_j|i
 *   out    free with ikt_new_lists_destroy; empty on failure, and so is *kept
 * Errors: IKT_ERR_RESOURCE, those of reading; IKT_ERR_DATA for codes that are no cells. */
ikt_status ikt_new_lists_find(ikt_context *ctx, const ikt_loaded_model *loaded, ikt_dataset *data,
                              const ikt_rows *rows, int64_t k, ikt_codes *kept, ikt_new_lists *out);
void ikt_new_lists_destroy(ikt_new_lists *lists);

/* COLLECTIVE. The same in a map that follows labels (IKT_PLACING_CLASSES): the old rows that are
 * nearest in the Fisher metric, with Gaussian weights; labels of new rows are never asked for. The
 * similarity is exp(-d^2) to the nearest old row. Errors: IKT_ERR_RESOURCE, those of reading;
 * IKT_ERR_DATA for a support that is none. */
ikt_status ikt_new_class_lists_find(ikt_context *ctx, const ikt_loaded_model *loaded,
                                    ikt_dataset *data, const ikt_rows *rows, int64_t k,
                                    ikt_new_lists *out);

/* LOCAL, pure. Bytes that it takes with so many old and new rows on a rank, and lists of k. */
int64_t ikt_new_class_lists_memory(const ikt_model_shape *shape, int64_t old, int64_t rows,
                                   int64_t k, int threads);

/* COLLECTIVE. Places new rows in a map that is linear in similarities (similarity/kernel_map.h), by
 * the formula that placed the old ones: an old row that comes again gets its own place.
 *   done   has the model and the distribution of the new rows; receives y, similarity and nearest
 *          (the most similar landmark), cells
 * Errors: IKT_ERR_RESOURCE, those of reading; IKT_ERR_DATA for what is no such map, and for
 * similarities that are not finite. */
ikt_status ikt_new_rows_project(ikt_context *ctx, ikt_dataset *data, ikt_transformed *done);

/* LOCAL, pure. Bytes that it takes. */
int64_t ikt_new_rows_project_memory(const ikt_model_shape *shape);

/* COLLECTIVE. Places new rows in a map by triplets (objective/triplet_placing.h).
 *   data     of ikt_loaded_model_dataset
 *   trials   most evaluations of a row's loss
 *   done     has the model, the distribution of the new rows and k; receives y, divergence,
 *            similarity, nearest, cells, zero_similarity, and in `unsettled` those of this rank
 * Errors: those of ikt_new_lists_find. */
ikt_status ikt_new_triplets_place(ikt_context *ctx, ikt_dataset *data, int64_t trials,
                                  ikt_transformed *done);

/* COLLECTIVE. Distances of new rows from up to 2,048 rows of the fit, drawn by the seed of the run:
 * the model's centres, rows, support or landmarks, after preprocessing. Warns where more of them
 * are far than rows like the fitted ones would be (transform_far.c has the rule).
 *   done   has the model and the distribution of the new rows; receives distance, is_far, far
 * Errors: IKT_ERR_RESOURCE, those of reading. Cost: 2,048 distances a row, a pass over the rows. */
ikt_status ikt_new_rows_distances(ikt_context *ctx, ikt_dataset *data, ikt_transformed *done);

/* LOCAL, pure. Bytes that it takes. */
int64_t ikt_new_rows_distance_memory(const ikt_model_shape *shape, int threads);

/* LOCAL, pure. How many of n old rows are far rows, and how long the lists of distances are of
 * which k near rows are taken. */
int64_t ikt_new_triplets_far(int64_t n);
int64_t ikt_new_triplets_lists(const ikt_loaded_model *loaded, int64_t k);

#endif
