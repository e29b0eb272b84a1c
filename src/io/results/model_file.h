/* The file from which new rows are placed into a finished embedding (docs/transform.md).
 *
 *   /preprocess/shift, scale      d float64 each; absent where columns stay as they are
 *   /preprocess/mean, components  d and k x d float64; absent without reduction
 *   /centres         distinct centres, after preprocessing: uint8 or float32
 *   /partitionings   t x psi int32: numbers of centres, ascending in each
 *   /codes           n x t: cell of each row in each partitioning; uint8, or uint16 for psi > 256
 *   /embedding       n x q float32
 *   /labels          n int64, where the input had them
 *   /provenance      attributes: configuration (YAML), version, input, hashes
 * The root has attributes format = "iktsne-model", format_version, and those of ikt_model_shape.
 * All of it is the same in equal runs on any number of ranks.
 */
#ifndef IKT_IO_RESULTS_MODEL_FILE_H
#define IKT_IO_RESULTS_MODEL_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Versions of the format; append only. */
typedef enum { IKT_MODEL_FIRST = 1, IKT_MODEL_CURRENT = IKT_MODEL_FIRST } ikt_model_version;

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
    IKT_MODEL_PARTS
} ikt_model_part;

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
    bool has_labels; /* known when reading; not written */
} ikt_model_shape;

/* LOCAL, pure. Bytes of an entry of the codes. */
static inline int ikt_model_code_bytes(const ikt_model_shape *shape) {
    return shape->psi <= 256 ? 1 : 2;
}

#endif
