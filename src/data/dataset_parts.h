/* What a data set is made of: for dataset.c and dataset_sparse.c. */
#ifndef IKT_DATA_DATASET_PARTS_H
#define IKT_DATA_DATASET_PARTS_H

#include "base/cpu.h"
#include "data/dataset.h"

struct ikt_dataset {
    ikt_context *ctx;
    ikt_source *source;
    ikt_normaliser normaliser;
    const ikt_pca *pca; /* NULL: no reduction */
    ikt_pca *fitted;    /* the same where it is ours */
    bool is_lent;       /* the map is another's, and rows are checked as they are read */
    bool is_u8;         /* bytes reach the kernels as they are */
    bool from_sparse;   /* rows are held sparse and mapped so: no dense work space */
    bool is_sparse;     /* and the kernels get them so */
    int64_t bad;        /* a row of the block just mapped that cannot be used; -1: none */
    ikt_dataset *model; /* that centres are drawn from; NULL: this one */
    ikt_source *model_source;
    ikt_isa isa;
    int64_t n, d, columns;   /* d as read, columns after reduction */
    size_t row_bytes;        /* of the source */
    int64_t block;           /* rows read at a time */
    unsigned char *native;   /* [block] rows as read */
    float *mapped;           /* [block*columns] */
    ikt_sparse_rows entries; /* rows of a sparse source as read */
    int threads;             /* that `work` has room for */
    int64_t work_stride;     /* doubles a thread: GROUP rows as read, GROUP rows mapped */
    double *work;
};

/* COLLECTIVE. Rows of a sparse source, mapped, as dense floats or doubles: ikt_dataset_read and the
 * reader of such data sets, and their gather. */
ikt_status ikt_dataset_fill_floats(ikt_dataset *d, int64_t first, int64_t count, float *rows);
ikt_status ikt_dataset_fill_doubles(ikt_dataset *d, int64_t first, int64_t count, double *rows);
ikt_status ikt_dataset_fill_gathered(ikt_dataset *d, const int64_t *rows, int64_t count,
                                     float *out);

#endif
