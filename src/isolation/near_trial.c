/* The trial of bytes. See near_trial.h. */
#include "isolation/near_trial.h"

#include <math.h>
#include <string.h>

#include <omp.h>

#include "base/sort.h"

enum {
    TOGETHER = 8,          /* centres that are tried at a time, */
    TRIED = 15 * TOGETHER, /* and in all */
    CHUNK_VECTORS = 48,    /* of centres: a multiple of a panel */
    CHUNK = CHUNK_VECTORS * IKT_LANES
};

/* What one thread tries with. */
typedef struct {
    int32_t *word; /* [TOGETHER * words] rows in one of the forms */
    float *value;  /* [IKT_KERNEL_ROWS * CHUNK] */
    ikt_pair *pair[2];
    ikt_select kept[2][TOGETHER]; /* the nearest centres of each row, by floats and by bytes */
} trial_space;

typedef struct {
    const ikt_row_lists *lists;
    const ikt_near_form *form[2]; /* plain, and bytes */
    ikt_near_points points[2];
} trial;

/* The place of the centre with that number among those that are tried. */
static int64_t place_of(const trial *t, int64_t tried) {
    return tried * t->lists->table.count / TRIED;
}

/* Finds the nearest other centres of some, by floats or by bytes.
 *   x   [TOGETHER * d] those from number `from` on */
static void find_nearest(const trial *t, trial_space *w, const float *x, int64_t from,
                         bool by_bytes) {
    const ikt_row_lists *l = t->lists;
    const ikt_near_form *form = t->form[by_bytes];
    const int64_t vectors = l->centres.vectors;
    ikt_select *kept = w->kept[by_bytes];
    uint32_t row[TOGETHER];
    ikt_near_rows_write(form, x, TOGETHER, w->word);
    for (int64_t i = 0; i < TOGETHER; i++) {
        row[i] = (uint32_t)i;
        ikt_select_begin(&kept[i], l->isa, l->length,
                         w->pair[by_bytes] + i * IKT_SELECT_CAPACITY * l->length);
    }
    for (int64_t v = 0, end; v < vectors; v = end) {
        const int64_t first = v * IKT_LANES;
        end = ikt_smaller(v + CHUNK_VECTORS, vectors);
        const int64_t offered = ikt_smaller(end * IKT_LANES, l->table.count) - first;
        ikt_near_score(form, &t->points[by_bytes], w->word, row, TOGETHER, v, end, w->value, CHUNK);
        for (int64_t i = 0; i < TOGETHER; i++)
            ikt_select_floats(&kept[i], place_of(t, from + i), first, offered,
                              w->value + i * CHUNK);
    }
    for (int64_t i = 0; i < TOGETHER; i++)
        ikt_select_end(&kept[i]);
}

static bool has_number(const ikt_select *kept, uint32_t number) {
    for (int64_t e = 0; e < kept->count; e++)
        if (ikt_pair_number(kept->pair[e]) == number) return true;
    return false;
}

/* The share of the cells of a row whose centres `all` has and `some` has not.
 *   q   share of the centres that a partitioning has */
static double missed_share(ikt_select *all, const ikt_select *some, double q) {
    double share = 0, first = q; /* probability that a place has the first centre */
    ikt_pairs_sort(all->pair, all->count);
    for (int64_t e = 0; e < all->count; e++, first *= 1 - q)
        if (!has_number(some, ikt_pair_number(all->pair[e]))) share += first;
    return share;
}

/* LOCAL. Rows, and space for each thread. */
static ikt_status create(const trial *t, ikt_arrays *held, float **x, trial_space **space) {
    const ikt_coding *c = t->lists->c;
    const int64_t d = c->d;
    const int64_t words = ikt_larger(t->form[0]->words, t->form[1]->words);
    const int64_t pairs = TOGETHER * IKT_SELECT_CAPACITY * t->lists->length;
    *x = ikt_claim(held, TRIED * d, sizeof **x);
    *space = ikt_claim(held, c->threads, sizeof **space);
    for (trial_space *w = *space; w && w < *space + c->threads; w++) {
        w->word = ikt_claim(held, TOGETHER * words, sizeof *w->word);
        w->value = ikt_claim(held, IKT_KERNEL_ROWS * CHUNK, sizeof *w->value);
        for (int by_bytes = 0; by_bytes < 2; by_bytes++)
            w->pair[by_bytes] = ikt_claim(held, pairs, sizeof *w->pair[by_bytes]);
    }
    IKT_TRY(held->status);
    for (int64_t i = 0; i < TRIED; i++)
        memcpy(*x + i * d, (const float *)t->lists->rows + place_of(t, i) * d,
               (size_t)d * sizeof **x);
    return IKT_OK;
}

ikt_status ikt_near_trial(const ikt_row_lists *lists, const ikt_near_form *plain,
                          const ikt_near_form *bytes, const ikt_near_points *points,
                          double *share) {
    const trial t = {lists, {plain, bytes}, {{.plain = lists->centres}, *points}};
    const ikt_coding *c = lists->c;
    const double q = fmin(1, (double)c->model->spec.psi / (double)lists->table.count);
    double missed[TRIED];
    float *x;
    trial_space *space;
    IKT_ARRAYS(held, c->ctx, "lists");
    IKT_TRY(create(&t, &held, &x, &space));
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->threads)
    for (int64_t from = 0; from < TRIED; from += TOGETHER) {
        trial_space *w = &space[omp_get_thread_num()];
        find_nearest(&t, w, x + from * c->d, from, false);
        find_nearest(&t, w, x + from * c->d, from, true);
        for (int64_t i = 0; i < TOGETHER; i++)
            missed[from + i] = missed_share(&w->kept[0][i], &w->kept[1][i], q);
    }
    *share = 0;
    for (int64_t i = 0; i < TRIED; i++)
        *share += missed[i] / TRIED;
    return IKT_OK;
}
