/* Which distinct centre belongs to which parts of a model, and cells from centres in the order of
 * distance.
 *
 * All parts draw their centres from the same rows. A row's cell in a part is the part's first
 * centre in the order of distance (methods, "Codes without t psi distances"), so that one list of a
 * row's nearest distinct centres, walked along, gives its cells in all parts. Method: where a
 * centre belongs to many parts, the table is two matrices of bits: by centre, the parts that it
 * belongs to, so that a step of the walk looks at 64 parts at a time; and by part, its members, in
 * lines of 480 centres that end with the number of members before them, so that the number of a
 * centre in a part is the popcount of a piece of one cache line. Where that would take more memory
 * than lists, in models whose parts share few centres, it is lists: by centre, its parts and its
 * numbers there; by part, its members. Advantage: the memory is that of the smaller form, a quarter
 * of a byte for each distinct centre and part at most, however large psi is. Disadvantage: two
 * forms of the walk, which give the same cells.
 */
#ifndef IKT_ISOLATION_CENTRE_TABLE_H
#define IKT_ISOLATION_CENTRE_TABLE_H

#include "base/arrays.h"
#include "base/select.h"
#include "base/sort.h"
#include "isolation/kernel_f32_bound.h"
#include "isolation/model.h"

typedef struct {
    int64_t count;  /* distinct centres of the parts */
    int64_t stride; /* see ikt_centre_number */
    int64_t *row;   /* [count] their rows, ascending */
    int64_t parts;  /* of the model, from one of them on: the table counts them from 0 */
    int64_t words;  /* of a mask of parts: ceil(parts / 64) */
    int64_t *first; /* [parts + 1] sums of the numbers of centres of the parts before */
    /* The form of bits; NULL in the other. */
    int64_t lines;    /* of a part: ceil(count / 480) */
    uint64_t *uses;   /* [count][words] the parts that a centre belongs to */
    uint64_t *member; /* [lines][parts][8] 480 bits, one for each centre; above them, in 32 bits,
                         the number of members in the lines before */
    /* The form of lists; NULL in the other. */
    int32_t *index;  /* [first[parts]] the members of each part, ascending */
    int64_t *start;  /* [count + 1] where the uses of each centre begin */
    uint16_t *part;  /* [start[count]] a part that it belongs to */
    uint32_t *cell;  /* [start[count]] and its number there */
    ikt_arrays held; /* these but the rows */
} ikt_centre_table;

/* SAME-ARGS. Makes the table of parts first .. first + parts - 1 of a model. Errors:
 * IKT_ERR_RESOURCE; empty then. */
ikt_status ikt_centre_table_create(ikt_context *ctx, const ikt_model *model, int64_t first,
                                   int64_t parts, ikt_centre_table *out);
void ikt_centre_table_destroy(ikt_centre_table *table);

/* LOCAL, pure. Bytes of a table of `count` distinct centres that are used `uses` times in `parts`
 * parts. Making it takes ikt_model_distinct_bytes beside. */
int64_t ikt_centre_table_bytes(int64_t count, int64_t parts, int64_t uses);

/* LOCAL, pure. The number of centre q in the order of computing: q * stride % count, with a stride
 * near the golden section of `count` that has no divisor in common with it, so that data sorted by
 * class are mixed and the first centres are a sample of all. */
static inline uint32_t ikt_centre_number(const ikt_centre_table *table, int64_t q) {
    return (uint32_t)(q * table->stride % table->count);
}

/* LOCAL, thread-safe. The members of a part as numbers of the table, ascending.
 *   scratch   [the centres of the part], may be overwritten
 *   count     receives how many there are
 * Returns them, in `scratch` or in the table. */
const int32_t *ikt_centre_members(const ikt_centre_table *table, int64_t part, int32_t *scratch,
                                  int64_t *count);

/* LOCAL. A mask in which all parts are open, without a cell.
 *   open   [table->words] */
void ikt_parts_open(const ikt_centre_table *table, uint64_t *open);

/* LOCAL, pure. */
static inline bool ikt_part_is_open(const uint64_t *open, int64_t part) {
    return open[part / 64] >> part % 64 & 1;
}

/* LOCAL, thread-safe. Gives each open part the first centre of a list that is one of its own.
 *   pair      [count] (distance, number of the table), ascending
 *   certain   pairs from it on are not looked at: the list may lack centres that are as near
 *   open      [table->words] parts without a cell; those that get one are taken out
 *   cell      [table->parts], receives the cells of these
 * Returns how many stay open. A walk may go on along another list. */
int64_t ikt_centre_walk(const ikt_centre_table *table, const ikt_pair *pair, int64_t count,
                        ikt_pair certain, uint64_t *open, uint32_t *cell);

/* Lists of a row's nearest distinct centres: how long they are, and how far they can be trusted.
 *
 * Dense rows and sparse ones share them and the table along which they are walked.
 */

/* LOCAL, pure. Length of the lists: 99 of 100 rows find all their cells in it, and every row the
 * near centres that spec->near wants. */
int64_t ikt_list_length(int64_t centres, const ikt_model_spec *spec);

/* LOCAL. After 1, 4 and 16 chunks of centres keeps as many values of each row as are likely to hold
 * all of the final list's (four standard deviations); the others need not be looked at.
 *   kept     [rows], of lists of `length`
 *   chunks   of `chunk` centres each that have been seen, of `count` centres in all */
void ikt_list_tighten(ikt_select *kept, int64_t rows, int64_t length, int64_t chunks, int64_t chunk,
                      int64_t count);

/* LOCAL, pure. The pair below which every centre is in the list: a centre that is not has at least
 * the value of kept->limit, and the definition's rounding and that of the value are bounded
 * (kernel_f32_bound.h). */
ikt_pair ikt_list_certain(const ikt_select *kept, rounding round, bool is_manhattan, double x_norm,
                          double largest_norm);

/* LOCAL. Logs how lists have done.
 *   open   of `rows` rows of this rank, those that needed all centres */
void ikt_list_report(ikt_context *ctx, int64_t length, int64_t distinct, int64_t open,
                     int64_t rows);

#endif
