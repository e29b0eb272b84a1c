/* Configuration keys of the Isolation kernel, and what "auto" means for n rows. */
#include "isolation/settings.h"

#include <stdbool.h>

#include "isolation/near_centres.h"

enum {
    AUTO_LEAST = 2,
    COARSE_ROWS = 16, /* of a cell */
    COARSE_MOST = 4096,
    FINE_ROWS = 8,     /* of a cell, from IKT_SMALL_ROWS_MOST rows of the data on; */
    SMALL_FINER = 24,  /* fewer have 1/24 of the rows more centres, which makes cells of six */
    SMALL_FALLING = 4, /* up to a fifth of that; from there on ever fewer of these */
    INDEXED_MOST = 8192,
    LARGE_MOST = 131072,
    LARGE_ROWS = 2097152,
    NARROW_MOST = 65536, /* cells of two bytes */
    AUTO_POOL = 8,       /* centres of the pool for each of psi */
    EXACT_CENTRES = 65536,
    EXACT_WIDE = 8192, /* of wide rows of floats, which are compared as bytes beyond it */
    CANDIDATES = 16384
};

static const ikt_key keys[] = {
    {"form", IKT_KEY_CHOICE, offsetof(ikt_isolation_settings, form), "voronoi", 0, 0, 0,
     "voronoi|forest", "",
     "What the cells of a partitioning are: voronoi, the rows nearest to each sampled row; or "
     "forest, the leaves of a random tree that isolates the sampled rows by splits of single "
     "columns"},
    {"psi", IKT_KEY_INT, offsetof(ikt_isolation_settings, psi), "auto", 1, IKT_PSI_MOST, 1, NULL,
     "rows",
     "The sampled rows (centres) of a partitioning, the only parameter of the kernel. More centres "
     "make the kernel sharper; auto is a sixth of the rows up to 1,000, falling to an eighth at "
     "5,000 and beyond, at most psi_most, and otherwise (dense P, the whole kernel, the forest "
     "form) the power of two nearest to a sixteenth of the rows, at most 4,096"},
    {"psi_most", IKT_KEY_INT, offsetof(ikt_isolation_settings, psi_most), "auto", 2, IKT_PSI_MOST,
     1, NULL, "rows",
     "The largest psi that isolation.psi: auto takes. On millions of rows a smaller one gives a "
     "coarser kernel in less time, most of which is spent on the cell codes; auto is 131,072 up to "
     "2,097,152 rows, 65,536 for more, whose codes take half of the memory then, and 8,192 for "
     "more than 16,384 sparse rows, which are compared with all centres (4,096 where two rows "
     "share more than a few columns)"},
    {"partitionings", IKT_KEY_INT, offsetof(ikt_isolation_settings, partitionings), "200", 1,
     IKT_PARTITIONINGS_MOST, 0, NULL, "",
     "The number t of partitionings: the similarity of two rows is the share of them in which both "
     "lie in the same cell. More make it smoother and cost time in proportion"},
    {"pool", IKT_KEY_INT, offsetof(ikt_isolation_settings, pool), "auto", 0, 1e12, 1, NULL, "rows",
     "The rows that the centres of all partitionings are drawn from, which are themselves drawn "
     "from all rows. 0 draws the centres from all rows, as in the paper; auto is 8 psi where that "
     "saves at least half of the time, and 0 otherwise and for the forest form"},
    {"search", IKT_KEY_CHOICE, offsetof(ikt_isolation_settings, search), "auto", 0, 0, 0,
     "auto|exact|approximate", "",
     "How the cells of a row are found: exact compares it with all centres; approximate compares "
     "it with the centres of near coarse cells only, and measures on 1,000 rows how many cells "
     "differ from the exact ones; auto is exact for sparse rows and up to 65,536 distinct "
     "centres, or 8,192 of rows of real numbers in more than 256 columns"},
    {"candidates", IKT_KEY_INT, offsetof(ikt_isolation_settings, candidates), "auto", 1, 1e9, 1,
     NULL, "rows",
     "The centres that each row is compared with where its cells are found by approximate search. "
     "More centres make fewer cells differ from the exact ones and take longer; auto is 16,384, "
     "and twice as many for rows of more than 256 columns that are bytes or are compared by "
     "Manhattan distances, whose near centres are harder to find"},
    {"model_from", IKT_KEY_STRING, offsetof(ikt_isolation_settings, model_from), "", 0, 0, 0, NULL,
     "",
     "An HDF5 file with other rows of the same columns, which the centres are drawn from; minmax, "
     "zscore and principal components are then computed from that data set. Empty draws the "
     "centres from the input"},
    {"model_dataset", IKT_KEY_STRING, offsetof(ikt_isolation_settings, model_dataset), "X", 0, 0, 0,
     NULL, "", "The name of the data set in isolation.model_from"}};

const ikt_section ikt_isolation_section = {"isolation",
                                           "The Isolation kernel (affinity.kind: isolation)", keys,
                                           sizeof keys / sizeof *keys};

/* The power of two nearest to n/16 in proportion: the largest p with p * sqrt(2) <= 2 n/16. */
static int64_t coarse_psi(int64_t n, int64_t most) {
    int64_t psi = AUTO_LEAST;
    while (2 * psi <= most &&
           2.0 * (double)(psi * psi) * COARSE_ROWS * COARSE_ROWS <= (double)n * (double)n)
        psi *= 2;
    return psi;
}

/* n/6 up to 1,000 rows, n/8 from 5,000 on, and on a line between these. */
static int64_t fine_psi(int64_t n) {
    const int64_t left = n < IKT_SMALL_ROWS_MOST ? (IKT_SMALL_ROWS_MOST - n) / SMALL_FALLING : 0;
    const int64_t finer = left < n ? left : n;
    const int64_t psi = (n * SMALL_FINER / FINE_ROWS + finer) / SMALL_FINER;
    return psi < AUTO_LEAST ? AUTO_LEAST : psi;
}

ikt_status ikt_isolation_resolve_psi(ikt_context *ctx, const ikt_isolation_settings *settings,
                                     int64_t n, int64_t drawn, ikt_psi_rule rule, int64_t *psi) {
    const int64_t most = settings->psi_most != IKT_AUTO_INT ? settings->psi_most
                         : rule == IKT_PSI_INDEXED          ? INDEXED_MOST
                         : n <= LARGE_ROWS                  ? LARGE_MOST
                                                            : NARROW_MOST;
    *psi = settings->psi;
    if (*psi == IKT_AUTO_INT) {
        *psi = rule != IKT_PSI_COARSE ? fine_psi(n)
                                      : coarse_psi(n, most < COARSE_MOST ? most : COARSE_MOST);
        if (*psi > most) *psi = most;
        if (*psi > drawn) *psi = drawn;
    }
    if (drawn < 1)
        return ikt_fail(ctx, IKT_ERR_DATA, "the Isolation kernel needs rows to draw centres from");
    if (*psi > drawn)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "isolation.psi = %lld is larger than the %lld rows of the data%s; choose "
                        "at most %lld",
                        (long long)*psi, (long long)drawn,
                        settings->model_from[0] ? " in isolation.model_from" : "",
                        (long long)(drawn < IKT_PSI_MOST ? drawn : IKT_PSI_MOST));
    return IKT_OK;
}

ikt_status ikt_isolation_resolve_pool(ikt_context *ctx, const ikt_isolation_settings *settings,
                                      int64_t n, int64_t psi, int64_t row_bytes, int64_t *pool) {
    const int64_t wanted = AUTO_POOL * psi, centres = settings->partitionings * psi;
    const int64_t fitting = row_bytes > 0 ? IKT_LISTED_BYTES / row_bytes : n;
    const bool is_forest = settings->form == IKT_FORM_FOREST;
    const bool pays = !is_forest && 2 * wanted <= (centres < n ? centres : n);
    *pool = settings->pool;
    if (*pool == IKT_AUTO_INT) {
        *pool = pays ? wanted : 0;
        if (!is_forest && (pays ? wanted : n) > fitting && fitting >= psi) *pool = fitting;
    }
    if (*pool > n || (*pool > 0 && *pool < psi))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "isolation.pool = %lld; it must be from isolation.psi = %lld to the %lld "
                        "rows of the data%s, or 0 for all rows",
                        (long long)*pool, (long long)psi, (long long)n,
                        settings->model_from[0] ? " in isolation.model_from" : "");
    if (*pool == n) *pool = 0;
    return IKT_OK;
}

int64_t ikt_isolation_candidates(const ikt_isolation_settings *settings, int64_t centres, int64_t d,
                                 bool has_bytes) {
    const bool is_eased = ikt_near_has_means(has_bytes, d),
               is_hard = d >= IKT_BYTES_WORTH && !is_eased;
    const int64_t most = is_eased ? EXACT_WIDE : EXACT_CENTRES;
    const bool is_exact = settings->search == IKT_CELLS_EXACT ||
                          (settings->search == IKT_CELLS_AUTO && centres <= most);
    const int64_t wanted = ikt_chosen(settings->candidates, is_hard ? 2 * CANDIDATES : CANDIDATES);
    if (is_exact) return 0;
    if (wanted < centres) return wanted;
    return is_eased ? centres : 0;
}
