/* A round over neighbours of neighbours with the scores of a search. See second_neighbours.h. */
#include "neighbours/search.h"

#include "base/comm.h"
#include "base/memory.h"

enum { CANDIDATES = IKT_REFINE_CANDIDATES };

static const char purpose[] = "refine";

typedef struct {
    const ikt_scorer *scorer;
    ikt_second_neighbours round;
    ikt_neighbours *lists;
    ikt_number_set *seen; /* [threads] */
    char *scratch;        /* [threads * scorer.some_bytes] */
} refinement;

/* The list of own row i is sorted before and a heap, worst first, afterwards. */
static void refine_row(const void *self, int64_t i, int thread) {
    const refinement *r = self;
    const ikt_scorer *scorer = r->scorer;
    const int64_t k = r->lists->k;
    float *list = r->lists->score + i * k, score[CANDIDATES];
    uint32_t *row = r->lists->row + i * k, candidate[CANDIDATES];
    const char *plain[CANDIDATES];
    ikt_number_set *seen = &r->seen[thread];
    ikt_number_set_empty(seen);
    ikt_number_set_add(seen, (uint32_t)(scorer->rows.first + i));
    for (int64_t e = 0; e < k; e++)
        ikt_number_set_add(seen, row[e]);
    const int64_t count = ikt_second_neighbours_of(&r->round, i, seen, candidate);
    for (int64_t c = 0; c < count; c++)
        plain[c] = ikt_second_neighbours_part(&r->round, 0, candidate[c]);
    scorer->score_some(scorer, r->round.part[0].data + i * scorer->row_bytes, plain, count,
                       r->scratch + thread * scorer->some_bytes, score);
    ikt_best_reverse(list, row, k);
    for (int64_t c = 0; c < count; c++)
        ikt_best_offer(list, row, k, score[c], candidate[c]);
}

/* Members of the set of a row: candidates, list and itself. */
static int64_t row_members(int64_t k) {
    return CANDIDATES + k + 1;
}

static ikt_status allocate(ikt_context *ctx, refinement *r) {
    const int64_t threads = ikt_threads(ctx);
    IKT_TRY(ikt_alloc(ctx, &r->seen, threads, sizeof *r->seen, purpose));
    for (int64_t t = 0; t < threads; t++)
        IKT_TRY(ikt_number_set_create(ctx, row_members(r->lists->k), &r->seen[t]));
    return ikt_alloc(ctx, &r->scratch, threads * r->scorer->some_bytes, 1, purpose);
}

ikt_status ikt_neighbours_refine(ikt_context *ctx, ikt_tiles *tiles, ikt_list_course *course) {
    refinement r = {.scorer = &tiles->scorer, .lists = course->lists};
    const ikt_row_part plain = {tiles->data, tiles->scorer.row_bytes};
    bool is_new;
    ikt_status st = ikt_agree(ctx, allocate(ctx, &r));
    if (st == IKT_OK)
        st = ikt_second_neighbours_begin(ctx, &tiles->scorer.rows, course, &plain, 1, &r.round,
                                         &is_new);
    if (st == IKT_OK) st = ikt_second_neighbours_run(&r.round, refine_row, &r);
    for (int64_t t = 0; r.seen && t < ikt_threads(ctx); t++)
        ikt_number_set_destroy(&r.seen[t]);
    ikt_free_all(&r.seen, &r.scratch);
    ikt_second_neighbours_end(&r.round);
    return st;
}

int64_t ikt_refine_memory(int64_t n_local, int64_t k, int64_t row_bytes, int ranks, int threads) {
    return threads * ikt_number_set_bytes(row_members(k)) +
           ikt_second_neighbours_memory(n_local, row_bytes, 1, ranks);
}
