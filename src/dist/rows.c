/* Contiguous blocks of rows: the first n % ranks ranks own one row more than the others. */
#include "dist/rows.h"

ikt_rows ikt_rows_make(int64_t n, int ranks, int rank) {
    ikt_rows rows = {n, ranks, 0, 0};
    rows.first = ikt_rows_first(&rows, rank);
    rows.count = ikt_rows_count(&rows, rank);
    return rows;
}

int64_t ikt_rows_first(const ikt_rows *rows, int rank) {
    int64_t base = rows->n / rows->ranks, more = rows->n % rows->ranks;
    return rank * base + (rank < more ? rank : more);
}

int64_t ikt_rows_count(const ikt_rows *rows, int rank) {
    return rows->n / rows->ranks + (rank < rows->n % rows->ranks ? 1 : 0);
}

int ikt_rows_owner(const ikt_rows *rows, int64_t row) {
    int64_t base = rows->n / rows->ranks, more = rows->n % rows->ranks;
    int64_t in_larger = more * (base + 1); /* rows in the blocks of base + 1 */
    if (row < in_larger) return (int)(row / (base + 1));
    return (int)(more + (row - in_larger) / base);
}
