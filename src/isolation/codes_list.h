/* Cells from the ordered list of a row's nearest distinct centres.
 *
 * All partitionings draw their centres from the same rows, so a row needs its distances to the
 * distinct centres only: in the order of distance, the first that belongs to a partitioning is the
 * row's cell there (methods, "Codes without t psi distances"). The cells are those of
 * codes_kernel.h to the bit.
 * Method: a kernel writes the values of a tile of rows and a chunk of centres; for each row the
 * `length` least are kept, sorted by the distance that defines cells, and walked through. What the
 * list leaves open (rare) is decided by the distances to all centres. Advantage: count distances a
 * row in place of t psi. Disadvantage: the lists pay only where there are fewer distinct centres
 * than centres.
 */
#ifndef IKT_ISOLATION_CODES_LIST_H
#define IKT_ISOLATION_CODES_LIST_H

#include "isolation/codes_kernel.h"
#include "isolation/codes_walk.h"

typedef struct {
    const ikt_codes_kernel *kernel;
    const ikt_centre_table *table; /* lent */
    ikt_centres centres;           /* all distinct ones, packed */
    void *slab;                    /* their memory */
    float *rows;                   /* float32: [table->count * d] the same as rows */
    ikt_isa isa;
    int64_t length; /* of a list */
    int64_t stride; /* packed centre q is number q * stride % table->count: data sorted by class
                       are mixed, so that the first centres are a sample of all */
    int64_t d;
} ikt_list_coder;

/* What one thread works with. */
typedef struct {
    ikt_row_tile tile, rest; /* rows; those of them that a list leaves open */
    void *value;             /* [rows of a tile * a chunk] values of a chunk of centres */
    void *all;               /* [rows of the kernel * centres] values of all centres */
    ikt_select *kept;        /* [rows of a tile] */
    ikt_pair *pair;          /* [rows of a tile * IKT_SELECT_ROOM * length] */
    int64_t open_rows;       /* rows whose list was too short, so far */
} ikt_list_space;

/* LOCAL, pure. Whether lists pay for a model of `centres` distinct centres: they need half of the
 * distances at most, and all packed centres fit 1 GiB. */
bool ikt_list_pays(bool is_u8, int64_t centres, int64_t psi, int64_t t, int64_t d);

/* LOCAL. Packs the centres.
 *   gathered   [table->count * d] their coordinates, in the order of the table; may be taken over,
 *              and *gathered is NULL then
 * Errors: IKT_ERR_RESOURCE; empty then. */
ikt_status ikt_list_coder_create(ikt_context *ctx, const ikt_codes_kernel *kernel,
                                 const ikt_model *model, const ikt_centre_table *table, int64_t d,
                                 void **gathered, ikt_list_coder *out);
void ikt_list_coder_destroy(ikt_list_coder *coder);

ikt_status ikt_list_space_create(ikt_context *ctx, const ikt_list_coder *coder,
                                 ikt_list_space *out);
void ikt_list_space_destroy(ikt_list_space *space);

/* LOCAL, pure. Rows that are coded together. */
int64_t ikt_list_rows(const ikt_codes_kernel *kernel, int64_t d);

/* LOCAL. Cells of `count` rows, at most ikt_list_rows.
 *   rows   [count * d] uint8 or float32, as the kernel's type
 *   cell   [count * table->parts], receives the cell in each partitioning, the coarse one last */
void ikt_list_code(const ikt_list_coder *coder, ikt_list_space *space, const void *rows,
                   int64_t count, uint16_t *cell);

/* LOCAL. Bytes of coder and spaces. */
int64_t ikt_list_bytes(const ikt_codes_kernel *kernel, int64_t centres, int64_t length, int64_t d,
                       int threads);

#endif
