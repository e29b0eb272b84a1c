/* Lists of the distinct centres nearest to each row of a tile: what codes from lists are made with,
 * whether rows are compared with all centres (here) or with near ones (codes_near.c).
 *
 *     all centres (here) or near ones (near_search.h) -> a list -> sort, walk, close
 */
#ifndef IKT_ISOLATION_ROW_LISTS_H
#define IKT_ISOLATION_ROW_LISTS_H

#include "base/arrays.h"
#include "base/select.h"
#include "isolation/centre_table.h"
#include "isolation/coding.h"
#include "isolation/near_centres.h"

/* What one thread works with. */
typedef struct {
    ikt_row_tile tile;  /* rows as the kernel takes them */
    const void *x;      /* [rows * d] the rows side by side, borrowed */
    void *value;        /* values of a chunk of centres for the rows of the tile */
    ikt_select *kept;   /* [rows_most] their lists: numbers in the order of computing until they
                           are sorted, and numbers of the table then */
    ikt_pair *pair;     /* [rows_most * IKT_SELECT_CAPACITY * length] memory of the lists */
    uint64_t *open;     /* [words of the table] the parts without a cell, of one row */
    uint32_t *cell;     /* [parts] the cells of one row */
    int32_t *member;    /* [the most centres of a part] */
    ikt_row_tile alone; /* one row that its list leaves open, */
    void *all;          /* [rows of the kernel * centres] its values of all centres, */
    ikt_pair *longer;   /* [IKT_SELECT_CAPACITY * length] and its list among them */
    int64_t open_rows;  /* rows whose list was too short, so far */
} ikt_list_tile;

typedef struct {
    const ikt_coding *c;
    ikt_isa isa;
    ikt_centre_table table;
    ikt_near_centres near; /* the order of computing, where centres have places; otherwise empty,
                              and the order is that of ikt_centre_number */
    ikt_centres centres;   /* all distinct ones, packed in the order of computing */
    void *slab;            /* their memory */
    void *rows;        /* [table.count * d] the centres as rows: by place where they have places, by
                          number otherwise; NULL for bytes that are compared with all */
    int64_t length;    /* of a list */
    int64_t rows_most; /* whose lists are held together */
    ikt_list_tile *space; /* [threads] */
    ikt_arrays held;      /* these and their arrays */
} ikt_row_lists;

/* COLLECTIVE. Fetches the distinct centres of c->model, gives them places where the model's spec or
 * c->places ask for those, and packs them. Errors: IKT_ERR_RESOURCE, those of reading; destroy it
 * in any case.
 *   rows   whose lists are held together, at least ikt_row_lists_tile */
ikt_status ikt_row_lists_create(const ikt_coding *c, int64_t rows, ikt_row_lists *out);
void ikt_row_lists_destroy(ikt_row_lists *lists);

/* LOCAL, pure. Rows that can be compared with all centres at a time; bytes of all this. */
int64_t ikt_row_lists_tile(const ikt_codes_kernel *kernel, int64_t d);
int64_t ikt_row_lists_bytes(const ikt_codes_kernel *kernel, const ikt_model_spec *spec,
                            int64_t distinct, int64_t d, int64_t rows, int threads);

/* All of the following: LOCAL, from several threads with a tile each. */

/* The lists of rows among all centres.
 *   x       [count * d], borrowed until the next rows
 *   count   at most ikt_row_lists_tile */
void ikt_row_lists_compare_all(const ikt_row_lists *lists, ikt_list_tile *s, const void *x,
                               int64_t count);

/* Fills s->cell of a row that was compared with all centres, and sorts its list by the distance
 * that defines cells; ties go to the lower number. */
void ikt_row_list_cells(const ikt_row_lists *lists, ikt_list_tile *s, int64_t r);

/* Fills s->cell from the sorted list of row r up to the pair `certain`; returns how many parts that
 * leaves open, in s->open. */
int64_t ikt_row_list_walk(const ikt_row_lists *lists, ikt_list_tile *s, int64_t r,
                          ikt_pair certain);

/* Fills what is open in s->cell by all centres. */
void ikt_row_list_close(const ikt_row_lists *lists, ikt_list_tile *s, int64_t r);

/* Sorts a list whose numbers are places by a distance that has the same bits on every
 * instruction set, too, but is added up in sixteen lanes: of two centres almost equally far either
 * may come first. */
void ikt_near_list_sort(const ikt_row_lists *lists, ikt_list_tile *s, int64_t r);

/* The row r of the tile. */
static inline const void *ikt_list_row(const ikt_row_lists *lists, const ikt_list_tile *s,
                                       int64_t r) {
    return (const char *)s->x + r * lists->c->d * lists->c->element;
}

#endif
