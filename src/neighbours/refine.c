/* A round of either kind. See search.h. */
#include "neighbours/local_join.h"
#include "neighbours/search.h"
#include "neighbours/second_neighbours.h"

ikt_status ikt_neighbours_refine(ikt_context *ctx, ikt_tiles *tiles, ikt_list_course *course) {
    return ikt_local_join_suits(tiles->scorer.score_pairs != NULL, course->lists->k)
               ? ikt_local_join(ctx, tiles, course)
               : ikt_second_neighbours_score(ctx, tiles, course);
}
