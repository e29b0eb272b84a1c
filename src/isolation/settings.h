/* Settings of the Isolation kernel. */
#ifndef IKT_ISOLATION_SETTINGS_H
#define IKT_ISOLATION_SETTINGS_H

#include <stdint.h>

#include "base/status.h"
#include "config/key.h"
#include "data/dataset.h"

enum {
    IKT_PSI_MOST = INT32_MAX,      /* files hold the numbers of centres as int32 */
    IKT_PARTITIONINGS_MOST = 65535 /* a number of equal cells has two bytes */
};

/* Most bytes of the rows of all distinct centres for which cells come from lists of them. */
#define IKT_LISTED_BYTES (INT64_C(1) << 30)

/* Rows of the data up to which automatic settings of the kernel are those of small sets. */
#define IKT_SMALL_ROWS_MOST INT64_C(5000)

/* What a partitioning's cells are. */
typedef enum {
    IKT_FORM_VORONOI, /* the rows nearest to each of psi sampled rows */
    IKT_FORM_FOREST   /* the leaves of a random tree that isolates psi sampled rows (tree.h) */
} ikt_isolation_form;

/* Which centres a row is compared with. */
typedef enum { IKT_CELLS_AUTO, IKT_CELLS_EXACT, IKT_CELLS_APPROXIMATE } ikt_cell_search;

typedef struct {
    int64_t psi;           /* centres of a partitioning, or IKT_AUTO_INT */
    int64_t psi_most;      /* that auto takes; or IKT_AUTO_INT */
    int64_t partitionings; /* t */
    int search;            /* ikt_cell_search */
    int64_t candidates;    /* of a row in approximate search, or IKT_AUTO_INT */
    int64_t pool;          /* rows that centres are drawn from, 0 for all, or IKT_AUTO_INT */
    char model_from[IKT_STRING_MAX];    /* file whose rows centres are drawn from; "": the input */
    char model_dataset[IKT_STRING_MAX]; /* in that file */
    int form;                           /* ikt_isolation_form */
} ikt_isolation_settings;

extern const ikt_section ikt_isolation_section;

/* How many centres automatic settings may take. */
typedef enum {
    IKT_PSI_COARSE,  /* n/16, the nearest power of two, at most 4,096: where every centre more costs
                        a distance a row, or cells are large on purpose (dense P) */
    IKT_PSI_INDEXED, /* as below, at most 8,192: where cells come from lists of centres that are
                        all compared (sparse rows) */
    IKT_PSI_FINE     /* n/6 up to 1,000 rows, n/8 from 5,000 on: where cells come from lists of
                        near centres */
} ikt_psi_rule;

/* SAME-ARGS. Checks psi against the rows that the model is drawn from, and chooses it where it is
 * "auto": by the rule, at least 2, at most psi_most and at most `drawn`.
 *   n       rows whose similarity is wanted
 *   drawn   rows that centres are drawn from: n, unless another data set gives the model
 *   psi     receives the number of centres.
 * Why so: in cells of sixteen rows a row is half as similar to its 30th neighbour as to its 10th,
 * so that lists of 30 end where similarity does not; in cells of two rows a quarter of
 * such a list has no similarity at all. Of six and eight, six keeps more of the nearest rows of
 * small sets; from 5,000 rows on even eight and four are level in 10-NN accuracy, and bits are kept
 * (docs/affinities.md).
 * Errors: IKT_ERR_USAGE with the value and what is possible. */
ikt_status ikt_isolation_resolve_psi(ikt_context *ctx, const ikt_isolation_settings *settings,
                                     int64_t n, int64_t drawn, ikt_psi_rule rule, int64_t *psi);

/* SAME-ARGS. Checks the pool, and chooses it where it is "auto": 8 psi rows where that is at most
 * half of n and of all centres, otherwise all; but not more than fit IKT_LISTED_BYTES, if those are
 * psi at least.
 *   n           rows that centres are drawn from
 *   psi         resolved
 *   row_bytes   of a row; 0 where rows are sparse
 *   pool        receives the number of rows, 0 for all
 * Why 8 psi: the time for codes is half of that with 16 psi, and fewer rows cost accuracy: of
 * 200,000 digits, psi n/8, lists from all rows have a 10-NN accuracy of .923, from half of them
 * .912. Trees are compared with no centre, so for the forest form auto is all rows.
 * Errors: IKT_ERR_USAGE. */
ikt_status ikt_isolation_resolve_pool(ikt_context *ctx, const ikt_isolation_settings *settings,
                                      int64_t n, int64_t psi, int64_t row_bytes, int64_t *pool);

/* LOCAL, pure. The centres that a row of a model with `centres` distinct ones is compared with,
 * those of near coarse cells; 0: all, exactly. auto compares with all up to 65,536, and beyond with
 * 16,384, or with 32,768 where rows have more than 256 columns. Such rows, where they can be bytes
 * (near_bytes.h), are compared as those from 8,192 centres on, and with 16,384: that takes a
 * quarter to half of the time, and cells that are means (near_centres.h) lose as few near centres
 * with half as many.
 *   d           columns of a row
 *   has_bytes   rows are of float32, and not compared by Manhattan distances */
int64_t ikt_isolation_candidates(const ikt_isolation_settings *settings, int64_t centres, int64_t d,
                                 bool has_bytes);

/* Whether rows have small neighbourhoods, for which cells have to be small, too. */

/* Rows beyond which psi is bounded by time, so that nothing follows from neighbourhoods. */
enum { IKT_NEIGHBOURHOODS_ROWS_MOST = 524288 };

/* COLLECTIVE. Rows that a cell should hold, as the distances of up to 256 rows to their nearest
 * rows tell.
 *   data        dense rows, 64 at least; fewer than 2^32
 *   cell_rows   receives 4 where neighbourhoods are small, 2 where they are smaller and, of up to
 *               IKT_SMALL_ROWS_MOST rows, what comes next is about equally far; 0, the usual size,
 *               otherwise and where all near rows are about equally far. The same on any number of
 *               ranks
 *   growth      receives the local dimension beyond the 8 nearest rows over that among them
 * Errors: IKT_ERR_RESOURCE; those of reading. Cost: 256 n d multiply-adds over the ranks, one pass
 * over the rows. */
ikt_status ikt_small_neighbourhoods_find(ikt_context *ctx, ikt_dataset *data, int64_t *cell_rows,
                                         double *growth);

#endif
