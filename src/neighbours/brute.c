/* Exact neighbours by scoring every pair.
 *
 * Advantage: exact and unique. Disadvantage: n^2 scores; right up to about 10^5 rows. */
#include "neighbours/list_course.h"

typedef struct {
    ikt_neighbours *lists;
    int64_t first_row; /* global number of own row 0 */
} keeper;

static void keep_best(void *self, int64_t first, int64_t na, int64_t row, int64_t nb,
                      const float *scores, int64_t stride) {
    const keeper *keep = self;
    int64_t k = keep->lists->k;
    for (int64_t a = first; a < first + na; a++)
        ikt_best_offer_row(keep->lists->score + a * k, keep->lists->row + a * k, k,
                           keep->first_row + a, row, nb, scores + (a - first) * stride);
}

/* Own rows whose lists are made together, where others' rows come round once more for the next: so
 * many that passing them round is little beside scoring. The same on all ranks. */
static int64_t rows_together(const ikt_rows *distribution) {
    const int64_t scores = INT64_C(1) << 34, least = 1024;
    const int64_t rows = scores / distribution->n > least ? scores / distribution->n : least;
    const int64_t most = ikt_rows_count(distribution, 0);
    return rows < most ? rows : most;
}

ikt_status ikt_neighbours_brute_kept(ikt_context *ctx, const ikt_scorer *scorer,
                                     ikt_list_course *course) {
    keeper keep = {course->lists, scorer->rows.first};
    const int64_t own = scorer->rows.count, most = ikt_rows_count(&scorer->rows, 0);
    const int64_t rows = rows_together(&scorer->rows), k = course->lists->k;
    for (int64_t done = 0; done < most; done += rows) {
        const int64_t first = done < own ? done : own;
        int64_t end = done + rows < own ? done + rows : own;
        const bool is_through = ikt_list_done(course, first, end);
        for (int64_t i = first; i < end && !is_through; i++) /* what a stopped run began */
            ikt_best_clear(course->lists->score + i * k, course->lists->row + i * k, k);
        IKT_TRY(ikt_score_some(ctx, scorer, first, is_through ? 0 : end - first, keep_best, &keep));
        ikt_list_note(course, first, end);
        if (done + rows < most) IKT_TRY(ikt_list_pause(ctx, course));
    }
    return IKT_OK;
}

ikt_status ikt_neighbours_brute(ikt_context *ctx, const ikt_scorer *scorer, int64_t k,
                                ikt_neighbours *out) {
    ikt_list_course course = {.lists = out};
    ikt_status st = ikt_agree(ctx, ikt_neighbours_create(ctx, &scorer->rows, k, out));
    if (st == IKT_OK) st = ikt_neighbours_brute_kept(ctx, scorer, &course);
    if (st == IKT_OK)
        ikt_neighbours_sort(ctx, out);
    else
        ikt_neighbours_destroy(out);
    return st;
}
