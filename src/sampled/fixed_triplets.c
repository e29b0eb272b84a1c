/* Drawing triplets once. See fixed_triplets.h. */
#include "sampled/fixed_triplets.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/rng.h"
#include "dist/shuffle.h"

enum {
    TRIES = 8,              /* of a far row, until it is farther than the near one */
    BATCH_BYTES = 64 << 20, /* of rows that are fetched at a time, about */
    BATCH_ROWS_MOST = 1 << 14
};

static const char purpose[] = "triplets";

/* A triplet on its way. */
typedef struct {
    uint32_t i, j, k;
    float l; /* D_ik - D_ij; later the weight */
} drawn_triplet;

typedef struct {
    ikt_context *ctx;
    const ikt_similarity *similarity;
    const ikt_neighbours *lists;
    const ikt_triplet_settings *settings;
    uint64_t seed;
    int64_t near, places;   /* near triplets of a row; all of them */
    char *own;              /* [rows.count] payloads of the own rows */
    drawn_triplet *triplet; /* [rows.count * places] */
} drawing;

/* --- draws ------------------------------------------------------------------------------------ */

/* A row other than i. */
static uint32_t draw_other(const drawing *d, int64_t i, int64_t place, int64_t attempt) {
    const int64_t n = d->similarity->rows.n;
    const int64_t row =
        ikt_rng_below(d->seed, IKT_RNG_TRIPLETS, i, (uint64_t)(place * TRIES + attempt), n - 1);
    return (uint32_t)(row < i ? row : row + 1);
}

/* The second row of a random triplet: neither i nor the first one. */
static uint32_t draw_third(const drawing *d, int64_t i, int64_t place, int64_t first) {
    const int64_t n = d->similarity->rows.n, low = i < first ? i : first;
    const int64_t high = i < first ? first : i;
    int64_t row = ikt_rng_below(d->seed, IKT_RNG_TRIPLETS, i, (uint64_t)(place * TRIES + 1), n - 2);
    row += row >= low;
    return (uint32_t)(row + (row >= high));
}

/* What a try is about: near triplets without a far row yet, and in the first one the random ones.
 */
static bool is_open(const drawing *d, const drawn_triplet *t, int64_t place, int64_t attempt) {
    return place < d->near ? !(t->l > 0) : attempt == 0;
}

static void draw_row(const drawing *d, int64_t i, int64_t attempt) {
    const int64_t row = d->similarity->rows.first + i, m = d->settings->neighbours;
    for (int64_t place = 0; place < d->places; place++) {
        drawn_triplet *t = d->triplet + i * d->places + place;
        if (!is_open(d, t, place, attempt)) continue;
        t->i = (uint32_t)row;
        if (place < d->near) {
            t->j = d->lists->row[i * m + place / d->settings->outliers];
            t->k = draw_other(d, row, place, attempt);
        } else {
            t->j = draw_other(d, row, place, 0);
            t->k = draw_third(d, row, place, (int64_t)t->j);
        }
    }
}

/* --- their D ---------------------------------------------------------------------------------- */

/* Rows whose payloads are here. */
typedef struct {
    const drawing *d;
    ikt_row_set set; /* of other ranks */
    char *payload;   /* [set.count] */
} fetched;

static const char *payload_of(const fetched *f, uint32_t row) {
    const ikt_rows *rows = &f->d->similarity->rows;
    const int64_t own = (int64_t)row - rows->first;
    const size_t bytes = f->d->similarity->bytes;
    if (own >= 0 && own < rows->count) return f->d->own + (size_t)own * bytes;
    return f->payload + (size_t)ikt_row_set_place(&f->set, row) * bytes;
}

static void want(fetched *f, uint32_t row) {
    const ikt_rows *rows = &f->d->similarity->rows;
    const int64_t own = (int64_t)row - rows->first;
    if (own < 0 || own >= rows->count) ikt_row_set_add(&f->set, row);
}

/* COLLECTIVE. Fetches what the open triplets of some own rows are drawn to. */
static ikt_status fetch(const drawing *d, int64_t first, int64_t last, int64_t attempt,
                        fetched *f) {
    *f = (fetched){.d = d};
    IKT_TRY(ikt_agree(d->ctx, ikt_row_set_create(d->ctx, d->similarity->rows.n, &f->set)));
    for (int64_t e = first * d->places; e < last * d->places; e++) {
        const drawn_triplet *t = d->triplet + e;
        if (!is_open(d, t, e % d->places, attempt)) continue;
        want(f, t->k);
        if (e % d->places >= d->near) want(f, t->j);
    }
    ikt_row_set_number(&f->set);
    IKT_ARRAYS(held, d->ctx, purpose);
    uint32_t *row = ikt_claim(&held, f->set.count, sizeof *row);
    f->payload = ikt_claim_kept(&held, f->set.count, d->similarity->bytes);
    IKT_TRY(ikt_arrays_agree(&held));
    ikt_row_set_list(&f->set, row);
    return ikt_gather_rows(d->ctx, &d->similarity->rows, row, f->set.count, d->own,
                           d->similarity->bytes, f->payload);
}

/* L of the open triplets of own row i; of random ones the nearer row becomes j. */
static void compare_row(const fetched *f, int64_t i, int64_t attempt, void *scratch,
                        const char **other, float *found) {
    const drawing *d = f->d;
    drawn_triplet *triplet = d->triplet + i * d->places;
    const float *near = d->lists->score + i * d->settings->neighbours;
    int64_t count = 0;
    for (int64_t place = 0; place < d->places; place++) {
        if (!is_open(d, triplet + place, place, attempt)) continue;
        other[count++] = payload_of(f, triplet[place].k);
        if (place >= d->near) other[count++] = payload_of(f, triplet[place].j);
    }
    d->similarity->kind->some(d->similarity, d->own + (size_t)i * d->similarity->bytes, other,
                              count, scratch, found);
    for (int64_t place = 0; place < d->places; place++) {
        drawn_triplet *t = triplet + place;
        if (!is_open(d, t, place, attempt)) continue;
        const float of_k = *found++;
        t->l = of_k - (place < d->near ? near[place / d->settings->outliers] : *found++);
        if (place < d->near || t->l >= 0) continue;
        const uint32_t nearer = t->k;
        t->k = t->j;
        t->j = nearer;
        t->l = -t->l;
    }
}

static ikt_status compare(const fetched *f, int64_t first, int64_t last, int64_t attempt) {
    const drawing *d = f->d;
    const int threads = ikt_threads(d->ctx);
    const int64_t most = 2 * d->places, scratch = d->similarity->scorer.scratch_bytes;
    IKT_ARRAYS(held, d->ctx, purpose);
    const char **other = ikt_claim(&held, threads * most, sizeof *other);
    float *found = ikt_claim(&held, threads * most, sizeof *found);
    char *space = ikt_claim(&held, threads * scratch, 1);
    ikt_status st = held.status;
#pragma omp parallel for schedule(static) num_threads(threads) if (st == IKT_OK)
    for (int64_t i = first; i < (st == IKT_OK ? last : first); i++) {
        const int64_t thread = omp_get_thread_num();
        compare_row(f, i, attempt, space + thread * scratch, other + thread * most,
                    found + thread * most);
    }
    return st;
}

/* COLLECTIVE. The triplets of the own rows, some rows at a time. */
static ikt_status draw_all(const drawing *d) {
    const int64_t n_local = d->similarity->rows.count;
    int64_t batch = BATCH_BYTES / (d->places * (int64_t)d->similarity->bytes) + 1;
    if (batch > BATCH_ROWS_MOST) batch = BATCH_ROWS_MOST;
    const int64_t batches = ikt_max_one(d->ctx, (n_local + batch - 1) / batch);
    for (int64_t b = 0; b < batches; b++) {
        const int64_t first = b * batch < n_local ? b * batch : n_local;
        const int64_t last = first + batch < n_local ? first + batch : n_local;
        for (int64_t attempt = 0; attempt < TRIES; attempt++) {
            fetched f;
            for (int64_t i = first; i < last; i++)
                draw_row(d, i, attempt);
            ikt_status st = fetch(d, first, last, attempt, &f);
            if (st == IKT_OK) st = ikt_agree(d->ctx, compare(&f, first, last, attempt));
            ikt_row_set_destroy(&f.set);
            ikt_free(&f.payload);
            IKT_TRY(st);
        }
    }
    return IKT_OK;
}

/* COLLECTIVE. L becomes the weight; the paper's ratios are divided by the greatest of all ranks.
 *   mean   receives that of all weights */
static ikt_status weigh(const drawing *d, double *mean) {
    const ikt_triplet_weighing weighing = (ikt_triplet_weighing)d->settings->weights;
    const int64_t count = d->similarity->rows.count * d->places;
    const int64_t m = d->settings->neighbours, outliers = d->settings->outliers;
    ikt_exact_sum sum = {{0}, 0, 0};
    double most = 0;
    for (int64_t e = 0; e < count; e++)
        most = fmax(most, (double)d->triplet[e].l);
    ikt_max_f64(d->ctx, &most, 1);
    for (int64_t e = 0; e < count; e++) {
        const int64_t i = e / d->places, place = e % d->places;
        const bool is_random = place >= d->near;
        const double share = is_random ? ikt_triplet_random_share(weighing) : 1;
        const double near =
            is_random
                ? 1
                : ikt_triplet_near(weighing, (double)d->lists->score[i * m + place / outliers]);
        d->triplet[e].l =
            (float)ikt_triplet_weight(weighing, near, share * (double)d->triplet[e].l, most);
        ikt_exact_sum_add(&sum, (double)d->triplet[e].l);
    }
    ikt_exact_sum_reduce(d->ctx, &sum, 1);
    *mean = ikt_exact_sum_value(&sum) / (double)(d->similarity->rows.n * d->places);
    return ikt_similarity_check(d->ctx, *mean);
}

/* --- lists ------------------------------------------------------------------------------------ */

/* COLLECTIVE. Brings the triplets to the owners of a role's rows, and lists them by these. */
static ikt_status list_role(const drawing *d, ikt_triplet_role role, ikt_triplet_list *list) {
    const ikt_rows *rows = &d->similarity->rows;
    const int64_t count = rows->count * d->places;
    ikt_shuffle shuffle IKT_AT_END(ikt_shuffle_destroy) = {0};
    IKT_ARRAYS(held, d->ctx, purpose);
    drawn_triplet *sent = NULL, *come = NULL;
    int64_t *next = NULL;
    IKT_TRY(ikt_agree(d->ctx, ikt_shuffle_create(d->ctx, purpose, &shuffle)));
    for (int pass = 0; pass < 2; pass++) { /* counts, then copies */
        for (int64_t e = 0; e < count; e++) {
            const drawn_triplet *t = d->triplet + e;
            if (!(t->l > 0)) continue;
            const uint32_t row = role == IKT_AS_ANCHOR ? t->i : role == IKT_AS_NEAR ? t->j : t->k;
            const int owner = ikt_rows_owner(rows, row);
            if (pass == 0)
                ikt_shuffle_count(&shuffle, owner);
            else
                sent[ikt_shuffle_next(&shuffle, owner)] = *t;
        }
        if (pass == 1) break;
        ikt_shuffle_group(d->ctx, &shuffle);
        ikt_shuffle_meet(d->ctx, &shuffle);
        sent = ikt_claim(&held, shuffle.sent, sizeof *sent);
        come = ikt_claim(&held, shuffle.received, sizeof *come);
        list->start = ikt_claim_kept(&held, rows->count + 1, sizeof *list->start);
        list->entry = ikt_claim_kept(&held, shuffle.received, sizeof *list->entry);
        next = ikt_claim(&held, rows->count + 1, sizeof *next);
        IKT_TRY(ikt_arrays_agree(&held));
    }
    ikt_shuffle_send(d->ctx, &shuffle, sent, come, sizeof *sent);
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t e = 0; e < shuffle.received; e++) {
            const uint32_t of[] = {come[e].i, come[e].j, come[e].k};
            const int64_t own = (int64_t)of[role] - rows->first;
            if (pass == 0)
                list->start[own + 1]++;
            else
                list->entry[next[own]++] = (ikt_triplet_entry){
                    of[role == IKT_AS_ANCHOR], of[role == IKT_AS_FAR ? 1 : 2], come[e].l};
        }
        for (int64_t i = 0; i < rows->count && pass == 0; i++) {
            list->start[i + 1] += list->start[i];
            next[i + 1] = list->start[i + 1];
        }
    }
    return IKT_OK;
}

ikt_status ikt_fixed_triplets_draw(ikt_context *ctx, const ikt_similarity *similarity,
                                   const ikt_neighbours *lists,
                                   const ikt_triplet_settings *settings, uint64_t seed,
                                   ikt_fixed_triplets *out) {
    const int64_t near = settings->neighbours * settings->outliers;
    const int64_t n_local = similarity->rows.count;
    drawing d = {.ctx = ctx,
                 .similarity = similarity,
                 .lists = lists,
                 .settings = settings,
                 .seed = seed,
                 .near = near,
                 .places = near + settings->random};
    *out = (ikt_fixed_triplets){.rows = similarity->rows, .drawn = similarity->rows.n * d.places};
    IKT_ARRAYS(held, ctx, purpose);
    d.own = ikt_claim_kept(&held, n_local, similarity->bytes);
    d.triplet = ikt_claim(&held, n_local * d.places, sizeof *d.triplet);
    char *own IKT_AT_END(ikt_free) = d.own;
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t i = 0; i < n_local; i++)
        similarity->kind->put(similarity, i, own + (size_t)i * similarity->bytes);
    IKT_TRY(draw_all(&d));
    ikt_free(&own);
    IKT_TRY(weigh(&d, &out->mean));
    for (int role = 0; role < IKT_TRIPLET_ROLES; role++)
        IKT_TRY(list_role(&d, (ikt_triplet_role)role, &out->as[role]));
    return IKT_OK;
}

void ikt_fixed_triplets_destroy(ikt_fixed_triplets *triplets) {
    for (int role = 0; role < IKT_TRIPLET_ROLES; role++) {
        ikt_free_all(&triplets->as[role].start, &triplets->as[role].entry);
    }
}

int64_t ikt_fixed_triplets_memory(int64_t n_local, const ikt_triplet_settings *s) {
    const int64_t places = s->neighbours * s->outliers + s->random;
    const int64_t lists = IKT_TRIPLET_ROLES * (int64_t)sizeof(ikt_triplet_entry);
    return n_local * (places * (lists + 3 * (int64_t)sizeof(drawn_triplet)) + 32);
}
