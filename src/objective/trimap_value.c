/* The value of TriMap by a sample. See trimap.h. */
#include "objective/trimap.h"

#include <math.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/exact_sum.h"
#include "kernelsum/replica.h"

enum { SAMPLE = 4096, FAR = IKT_TRIMAP_VALUE_FAR, PAIRS = FAR / 2 };

static const char purpose[] = "triplets";

static int64_t sample_of(const ikt_rows *rows) {
    return rows->n < SAMPLE ? rows->n : SAMPLE;
}

static double mean_of(ikt_context *ctx, const ikt_trimap_value *v, const ikt_near_edges *edges,
                      int q, const float *y);

/* A far row that is the row itself makes no triplet: its L is 0. */
static void find_l(const ikt_similarity *s, const ikt_near_edges *edges, const char *payload,
                   void *scratch, ikt_trimap_value *v) {
    const int64_t m = v->settings.neighbours;
    for (int64_t a = 0; a < v->pool.count; a++) {
        const int64_t place = v->pool.first + a, i = v->pool.row[place] - v->pool.rows.first;
        const int32_t *far = v->far + a * FAR;
        const char *other[FAR];
        float d[FAR];
        for (int k = 0; k < FAR; k++)
            other[k] = payload + (size_t)far[k] * s->bytes;
        s->kind->some(s, payload + (size_t)place * s->bytes, other, FAR, scratch, d);
        for (int k = 0; k < FAR; k++)
            for (int64_t b = 0; b < m; b++) {
                const float l = d[k] - edges->d[ikt_near_edges_place(edges, i, b)];
                v->l[(a * FAR + k) * m + b] = far[k] == place ? 0 : l;
                v->most = fmax(v->most, far[k] == place ? 0 : (double)l);
            }
        for (int p = 0; p < PAIRS; p++) {
            const bool is_own = far[2 * p] == place || far[2 * p + 1] == place;
            v->l_random[a * PAIRS + p] = is_own ? 0 : d[2 * p + 1] - d[2 * p];
        }
    }
}

ikt_status ikt_trimap_value_create(ikt_context *ctx, const ikt_rows *rows, int q, uint64_t seed,
                                   const ikt_triplet_settings *settings, const ikt_similarity *s,
                                   const ikt_near_edges *edges, ikt_trimap_value *out) {
    const int64_t size = sample_of(rows), m = settings->neighbours;
    *out = (ikt_trimap_value){.settings = *settings};
    IKT_ARRAYS(held, ctx, purpose);
    held.status = ikt_pool_create(ctx, rows, size, 1, seed, IKT_RNG_VALUE, &out->pool);
    if (held.status == IKT_OK) ikt_pool_draw(&out->pool, 0);
    const int64_t count = held.status == IKT_OK ? out->pool.count : 0;
    out->far = ikt_claim_kept(&held, count * FAR, sizeof *out->far);
    out->l = ikt_claim_kept(&held, count * FAR * m, sizeof *out->l);
    out->l_random = ikt_claim_kept(&held, count * PAIRS, sizeof *out->l_random);
    out->y = ikt_claim_kept(&held, size * q, sizeof *out->y);
    char *payload = ikt_claim(&held, size, s->bytes);
    void *scratch = ikt_claim(&held, s->scorer.scratch_bytes, 1);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t a = 0; a < count; a++) {
        const int64_t place = out->pool.first + a;
        s->kind->put(s, out->pool.row[place] - rows->first, payload + (size_t)place * s->bytes);
        ikt_pool_far(&out->pool, place, FAR, out->far + a * FAR);
    }
    ikt_pool_gather(&out->pool, s->bytes, payload);
    find_l(s, edges, payload, scratch, out);
    ikt_max_f64(ctx, &out->most, 1);
    out->mean = mean_of(ctx, out, edges, q, NULL);
    return ikt_similarity_check(ctx, out->mean);
}

void ikt_trimap_value_destroy(ikt_trimap_value *v) {
    ikt_pool_destroy(&v->pool);
    ikt_free_all(&v->far, &v->l, &v->l_random, &v->y);
}

int64_t ikt_trimap_value_memory(const ikt_rows *rows, int q, int64_t m) {
    const int64_t size = sample_of(rows), own = rows->count < size ? rows->count : size;
    return ikt_pool_memory(size, rows->ranks) + 4 * (own * (FAR + FAR * m + PAIRS) + size * q);
}

static double square_between(int q, const float *a, const float *b) {
    double sum = 0;
    for (int c = 0; c < q; c++)
        sum += ((double)a[c] - (double)b[c]) * ((double)a[c] - (double)b[c]);
    return sum;
}

/* The loss of one row's triplets, that of near ones and that of random ones; their weights where
 * there is no y. */
static void add_losses(const ikt_trimap_value *v, const ikt_near_edges *edges, int q,
                       const float *y, int64_t a, ikt_exact_sum sum[2]) {
    const ikt_triplet_settings *s = &v->settings;
    const ikt_triplet_rule rule = {s->t, s->t_prime};
    const ikt_triplet_weighing weighing = (ikt_triplet_weighing)s->weights;
    const double random_share = ikt_triplet_random_share(weighing);
    const float *own = v->y + (v->pool.first + a) * q;
    const int64_t i = v->pool.row[v->pool.first + a] - v->pool.rows.first;
    double square[FAR], near = 0, random = 0;
    for (int k = 0; k < FAR; k++)
        square[k] = square_between(q, own, v->y + (int64_t)q * v->far[a * FAR + k]);
    for (int64_t b = 0; b < s->neighbours; b++) {
        const int64_t edge = ikt_near_edges_place(edges, i, b);
        const double u = y ? square_between(q, own, y + (int64_t)q * edges->near[edge]) : 0;
        const double factor = ikt_triplet_near(weighing, (double)edges->d[edge]);
        for (int k = 0; k < FAR; k++) {
            const double l = (double)v->l[(a * FAR + k) * s->neighbours + b];
            const double w = ikt_triplet_weight(weighing, factor, l, v->most);
            if (w > 0) near += y ? w * ikt_triplet(&rule, u, square[k]).loss : w;
        }
    }
    for (int p = 0; p < PAIRS; p++) {
        const double l = random_share * (double)v->l_random[a * PAIRS + p];
        const double w = ikt_triplet_weight(weighing, 1, fabs(l), v->most);
        const int nearer = l > 0 ? 2 * p : 2 * p + 1, farther = 4 * p + 1 - nearer;
        if (w > 0) random += y ? w * ikt_triplet(&rule, square[nearer], square[farther]).loss : w;
    }
    ikt_exact_sum_add(&sum[0], near);
    ikt_exact_sum_add(&sum[1], random);
}

/* COLLECTIVE. The mean of the losses, or of the weights without y, over all triplets. */
static double mean_of(ikt_context *ctx, const ikt_trimap_value *v, const ikt_near_edges *edges,
                      int q, const float *y) {
    const ikt_triplet_settings *s = &v->settings;
    const double rows = (double)v->pool.size, m = (double)s->neighbours;
    const double of_near = m * (double)s->outliers, of_random = (double)s->random;
    ikt_exact_sum sum[2] = {{{0}, 0, 0}, {{0}, 0, 0}};
    for (int64_t a = 0; a < v->pool.count; a++)
        add_losses(v, edges, q, y, a, sum);
    ikt_exact_sum_reduce(ctx, sum, 2);
    const double near = ikt_exact_sum_value(&sum[0]) / (rows * FAR * m);
    const double random = ikt_exact_sum_value(&sum[1]) / (rows * PAIRS);
    return (of_near * near + of_random * random) / (of_near + of_random);
}

double ikt_trimap_value_of(ikt_context *ctx, const ikt_trimap_value *v, const ikt_near_edges *edges,
                           int q, const float *y) {
    ikt_pool_gather_rows(&v->pool, y, (size_t)q * sizeof *y, (size_t)q * sizeof *y, v->y);
    return mean_of(ctx, v, edges, q, y);
}
