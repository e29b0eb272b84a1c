/* The file from which new rows are placed into a finished embedding (docs/transform.md).
 *
 *   /preprocess/shift, scale      d float64 each; absent where columns stay as they are
 *   /preprocess/mean, components  d and k x d float64; absent without reduction
 *   /centres         distinct centres, after preprocessing: uint8 or float32
 *   /partitionings   t x psi int32: numbers of centres, ascending in each
 *   /codes           n x t: cell of each row in each partitioning; uint8, uint16 for psi > 256, or
 *                    uint32 for psi > 65536
 *   /embedding       n x q float32
 *   /labels          n int64, where the input had them; with the attribute label_names of the root,
 *                    "a\nb\n", where classes have names: line k names class k
 *   /column_names    bytes: the names of the input's columns, "a\nb\n", where all have one
 *   /preprocess/fill  input_columns double: what stood for missing values, where some could be
 *   /rows, /scales   n x columns and n float32, in place of centres, partitionings and codes: rows
 *                    after preprocessing, and their scales (sampled/far_similarity.h)
 *   /fisher/...      in place of all of these, of maps that follow labels (metric/class_model.h):
 *                    support and classes, m int64 and int32: rows of the support, ascending, and
 * the class of each; self, m double: k(s, s); numbers, 2 double: sigma, and what squared plain
 * distances count; support_rows, m x columns float32, where rows are compared themselves; weights,
 * n x lanes float32: log-weights of the old rows. /rows is there where plain distances count
 *   /kernel/...      of maps that are linear in similarities (similarity/kernel_map.h):
 *                    landmarks, m int64: the rows that the map is made of, ascending; weights,
 *                    q x m, means, m, and numbers, 2 double: the mean of all similarities and the
 *                    bandwidth (0 without one); origin, q double: what was taken off all places,
 *                    as every map has its mean at 0; rows, m x columns float32: the landmarks of a
 *                    linear or Gaussian kernel, or codes, m x t, of the Isolation kernel, which
 *                    has /centres and /partitionings, too
 *   /provenance      attributes: configuration (YAML), version, input, hashes
 * The root has attributes format = "iktsne-model", format_version, and those of ikt_model_shape.
 * All of it is the same in equal runs on any number of ranks.
 */
#ifndef IKT_IO_RESULTS_MODEL_FILE_H
#define IKT_IO_RESULTS_MODEL_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "io/results/result.h"

/* Versions of the format; append only. A model is written in the first one that can hold it. */
typedef enum {
    IKT_MODEL_FIRST = 1,
    IKT_MODEL_WIDE = 2,    /* codes may be uint32 */
    IKT_MODEL_METRIC = 3,  /* there may be a metric, which older programs would pass over */
    IKT_MODEL_PLACING = 4, /* new rows may be placed otherwise than by the kernel of t-SNE */
    IKT_MODEL_CLASSES = 5, /* ... or by distances that follow labels */
    IKT_MODEL_KERNEL = 6,  /* ... or by a map of similarities */
    IKT_MODEL_CURRENT = IKT_MODEL_KERNEL
} ikt_model_version;

/* The data sets. Elements in memory are of the types above, rows dense unless a stride is given. */
typedef enum {
    IKT_MODEL_SHIFT,
    IKT_MODEL_SCALE,
    IKT_MODEL_MEAN,
    IKT_MODEL_COMPONENTS,
    IKT_MODEL_CENTRES,
    IKT_MODEL_PARTITIONINGS,
    IKT_MODEL_CODES,
    IKT_MODEL_EMBEDDING,
    IKT_MODEL_LABELS,
    IKT_MODEL_FILL,
    IKT_MODEL_ROWS,
    IKT_MODEL_SCALES,
    IKT_MODEL_SUPPORT,
    IKT_MODEL_SUPPORT_CLASS,
    IKT_MODEL_SUPPORT_SELF,
    IKT_MODEL_SUPPORT_ROWS,
    IKT_MODEL_CLASS_NUMBERS,
    IKT_MODEL_WEIGHTS,
    IKT_MODEL_LANDMARKS,
    IKT_MODEL_LANDMARK_ROWS,
    IKT_MODEL_LANDMARK_CODES,
    IKT_MODEL_KERNEL_WEIGHTS,
    IKT_MODEL_KERNEL_MEANS,
    IKT_MODEL_KERNEL_NUMBERS,
    IKT_MODEL_KERNEL_ORIGIN,
    IKT_MODEL_COLUMN_NAMES,
    IKT_MODEL_PARTS
} ikt_model_part;

/* By what new rows are placed. */
typedef enum {
    IKT_PLACING_DIVERGENCE, /* their own KL divergence, with the kernel of t-SNE */
    IKT_PLACING_TRIPLETS,   /* the loss of their own triplets */
    IKT_PLACING_CLASSES,    /* their own KL divergence, by the Fisher metric */
    IKT_PLACING_PROJECTION, /* a linear map of their similarities */
    IKT_PLACINGS
} ikt_model_placing;

/* By what kernel rows and landmarks of IKT_PLACING_PROJECTION are similar; append only. */
typedef enum {
    IKT_MODEL_OF_LINEAR = 1,
    IKT_MODEL_OF_GAUSSIAN = 2,
    IKT_MODEL_OF_ISOLATION = 3,
    IKT_MODEL_OF_GIVEN = 4 /* new rows are their similarities to the landmarks */
} ikt_model_kernel;

/* What the sizes of the data sets follow from. */
typedef struct {
    int64_t n;       /* rows embedded */
    int64_t q;       /* dimensions of the map */
    int64_t d;       /* columns of the input */
    int64_t columns; /* after reduction */
    int64_t centres; /* distinct ones of all partitionings */
    int64_t t, psi;  /* partitionings, centres of each */
    bool is_u8;      /* rows and centres are bytes as they are */
    bool is_shifted; /* there are shift and scale */
    bool is_reduced; /* there are mean and components */
    bool is_unit;    /* rows are brought to length 1 */
    int64_t metric;  /* ikt_metric_kind (data/normalise.h); 0, Euclidean, is not written */
    int64_t placing; /* ikt_model_placing; 0 is not written */
    bool has_rows;   /* there are rows; centres, t and psi are 0 then */
    int64_t support, classes, lanes; /* of IKT_PLACING_CLASSES: rows of the support, their classes,
                                        log-weights of a row; else 0 and not written. Of
                                        IKT_PLACING_PROJECTION the first: landmarks */
    int64_t kernel;                  /* ikt_model_kernel of IKT_PLACING_PROJECTION; else 0 */
    bool is_of_similarities;         /* likewise: new rows are their similarities to the support */
    int64_t name_bytes;        /* of the names of the input's columns; 0: none, and not written */
    bool has_labels, has_fill; /* known when reading; not written */
} ikt_model_shape;

/* LOCAL, pure. Whether there are centres, partitionings and codes of all rows. */
static inline bool ikt_model_has_codes(const ikt_model_shape *shape) {
    return !shape->has_rows && shape->placing != IKT_PLACING_CLASSES &&
           shape->placing != IKT_PLACING_PROJECTION;
}

/* LOCAL, pure. Whether there are centres and partitionings. */
static inline bool ikt_model_has_cells(const ikt_model_shape *shape) {
    return ikt_model_has_codes(shape) || shape->kernel == IKT_MODEL_OF_ISOLATION;
}

/* LOCAL, pure. Bytes of an entry of the codes. */
static inline int ikt_model_code_bytes(const ikt_model_shape *shape) {
    return shape->psi <= 256 ? 1 : shape->psi <= 65536 ? 2 : 4;
}

/* Reading a model file. */

typedef struct ikt_model_file ikt_model_file;

/* COLLECTIVE. Opens a model and checks that its seal is whole (base/row_hash.h) and that all it
 * must hold is there, in the sizes and types that its shape says. The file is opened for reading
 * only.
 *   out   receives the file, closed with ikt_model_file_close; NULL on failure
 * Errors: IKT_ERR_FILE (missing, not HDF5, truncated); IKT_ERR_DATA (not a model, a newer format,
 * no seal or another than its bytes have, parts that are missing or of other sizes). */
ikt_status ikt_model_file_open(ikt_context *ctx, const char *path, ikt_model_file **out);
/* COLLECTIVE. Closes, frees and sets to NULL; accepts NULL. */
void ikt_model_file_close(ikt_model_file **file);

/* LOCAL. */
const ikt_model_shape *ikt_model_file_shape(const ikt_model_file *file);
const char *ikt_model_file_path(const ikt_model_file *file);

/* LOCAL. Fails with what is wrong with the file, always with IKT_ERR_DATA. */
ikt_status ikt_model_file_damaged(const ikt_model_file *file, const char *what);

/* COLLECTIVE. Reads rows first .. first + count - 1 of a part that is there; ranks may ask for
 * different ranges, and for none. Numbers are finite, but for logarithms of 0 in fisher/weights;
 * rows, centres, cells and classes are such as the shape has.
 *   rows   [count] rows, `stride` bytes from one to the next, 0: dense; gaps are left as they are
 * Errors: IKT_ERR_DATA (numbers that are not), IKT_ERR_FILE (checksums), IKT_ERR_RESOURCE, agreed.
 */
ikt_status ikt_model_file_read(ikt_model_file *file, ikt_model_part part, int64_t first,
                               int64_t count, void *rows, int64_t stride);

/* COLLECTIVE. An attribute of /provenance on every rank, freed with ikt_free; NULL where there is
 * none. */
ikt_status ikt_model_file_note(ikt_model_file *file, const char *name, char **text);

/* COLLECTIVE. The names of the classes, and those of the input's columns, a line each, on every
 * rank, freed with ikt_free; NULL where there are none. Errors: those of reading; IKT_ERR_DATA for
 * other than one name for each column. */
ikt_status ikt_model_file_label_names(ikt_model_file *file, char **names);
ikt_status ikt_model_file_column_names(ikt_model_file *file, char **names);

/* Writing a model file, part by part, while a run goes on.
 *
 * Codes exist early in a run and positions at its end; what is written at once need not be kept in
 * memory. The file appears under its name when all of it is there (base/atomic_file.h).
 */

typedef struct ikt_model_writer ikt_model_writer;

/* COLLECTIVE. Begins a file beside its name.
 *   out   receives the writer, for ikt_model_writer_end or _abandon; NULL on failure
 * Errors: IKT_ERR_FILE (cannot be written, exists and not `overwrite`), IKT_ERR_RESOURCE. */
ikt_status ikt_model_writer_begin(ikt_context *ctx, const char *path, bool overwrite,
                                  ikt_model_writer **out);

/* COLLECTIVE, same arguments; before any part. Errors: IKT_ERR_FILE. */
ikt_status ikt_model_writer_shape(ikt_model_writer *writer, const ikt_model_shape *shape);

/* COLLECTIVE. Writes rows first .. first + count - 1 of a data set, which the first call makes.
 * Every row is written once, by one rank.
 *   rows     [count] rows, `stride` bytes from one to the next, 0: dense; NULL where count is 0
 * Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE, agreed. */
ikt_status ikt_model_writer_part(ikt_model_writer *writer, ikt_model_part part, int64_t first,
                                 int64_t count, const void *rows, int64_t stride);

/* COLLECTIVE, same arguments. The names of the classes of its labels, a line each; NULL: they are
 * numbers. Errors: IKT_ERR_FILE. */
ikt_status ikt_model_writer_label_names(ikt_model_writer *writer, const char *names);

/* COLLECTIVE, same arguments; after all parts. Attributes of /provenance, and with them
 * "model_hash": of every row that was written, the same on any ranks. Errors: IKT_ERR_FILE. */
ikt_status ikt_model_writer_notes(ikt_model_writer *writer, const char *configuration,
                                  const ikt_note *notes, int64_t count);

/* COLLECTIVE. `local` is this rank's outcome so far: where all succeeded the file gets its name,
 * otherwise it is removed. Frees *writer. Returns the agreed outcome; accepts NULL. */
ikt_status ikt_model_writer_end(ikt_model_writer **writer, ikt_status local);

/* COLLECTIVE. Removes what was written and frees *writer; accepts NULL. */
void ikt_model_writer_abandon(ikt_model_writer **writer);

#endif
