/* Points dealt out by place. See stretches.h. */
#include "kernelsum/stretches.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/sort.h"

enum { SAMPLES = 256, LEVELS = IKT_OCTREE_BITS + 1 };

ikt_status ikt_stretches_create(ikt_context *ctx, const ikt_rows *rows, ikt_stretches *out) {
    const char *purpose = "repulsion";
    const int64_t ranks = rows->ranks, n = rows->count;
    *out = (ikt_stretches){0};
    IKT_TRY(ikt_shuffle_create(ctx, purpose, &out->shuffle));
    IKT_TRY(ikt_alloc(ctx, &out->order, n, sizeof *out->order, purpose));
    IKT_TRY(ikt_alloc(ctx, &out->begin, ranks + 1, sizeof *out->begin, purpose));
    if (ranks == 1) { /* all stay */
        out->shuffle.send_counts[0] = out->shuffle.recv_counts[0] = n;
        out->shuffle.sent = out->shuffle.received = n;
        return IKT_OK;
    }
    IKT_TRY(ikt_alloc(ctx, &out->leaving, n, sizeof *out->leaving, purpose));
    IKT_TRY(ikt_alloc(ctx, &out->sample, SAMPLES * (ranks + 1), sizeof *out->sample, purpose));
    IKT_TRY(ikt_alloc(ctx, &out->samples, ranks, sizeof *out->samples, purpose));
    return ikt_alloc(ctx, &out->around, ranks * LEVELS, sizeof *out->around, purpose);
}

void ikt_stretches_destroy(ikt_stretches *stretches) {
    ikt_shuffle_destroy(&stretches->shuffle);
    ikt_free_all(&stretches->order, &stretches->begin, &stretches->leaving, &stretches->arriving,
                 &stretches->sample, &stretches->samples, &stretches->around);
}

/* COLLECTIVE. The cube around all points: the tree's origin; its side, or -1 where a coordinate is
 * not finite. */
static double find_cube(ikt_context *ctx, const ikt_rows *rows, int q, const float *y,
                        ikt_octree *tree) {
    double least[7]; /* of the coordinates, of their opposites, and -1 for one that is not finite */
    double side = 0;
    for (int k = 0; k < 7; k++)
        least[k] = k < 6 ? INFINITY : 0;
    for (int64_t i = 0; i < rows->count; i++)
        for (int c = 0; c < q; c++) {
            const double at = (double)y[q * i + c];
            if (!isfinite(at)) least[6] = -1;
            least[c] = at < least[c] ? at : least[c];
            least[3 + c] = -at < least[3 + c] ? -at : least[3 + c];
        }
    ikt_min_f64(ctx, least, 7);
    for (int c = 0; c < 3; c++) {
        tree->origin[c] = c < q ? 0.5 * (least[c] - least[3 + c]) : 0;
        side = c < q ? fmax(side, -least[3 + c] - least[c]) : side;
    }
    return least[6] < 0 ? -1 : side;
}

/* Points of the sorted keys below one. */
static int64_t below(const ikt_octree *tree, uint64_t key) {
    int64_t at;
    IKT_FIND_FIRST(at, 0, tree->n, tree->key[at] >= key);
    return at;
}

/* COLLECTIVE. Where the stretches of all ranks begin, from the sorted keys of the own rows. */
static void find_beginnings(ikt_context *ctx, const ikt_octree *tree, ikt_stretches *s) {
    const int ranks = ikt_size(ctx);
    uint64_t *own = s->sample + (int64_t)SAMPLES * ranks;
    const int64_t shown = tree->n < SAMPLES ? tree->n : SAMPLES;
    int64_t all = 0;
    for (int64_t k = 0; k < shown; k++)
        own[k] = tree->key[k * tree->n / shown];
    ikt_gather_counts(ctx, shown, s->samples);
    for (int r = 0; r < ranks; r++)
        all += s->samples[r];
    ikt_allgather(ctx, own, shown, sizeof *own, s->sample, s->samples);
    ikt_sort_i64((int64_t *)s->sample, all); /* keys have 63 bits */
    s->begin[0] = 0;
    s->begin[ranks] = IKT_OCTREE_KEYS;
    for (int r = 1; r < ranks; r++) {
        s->begin[r] = s->sample[all * r / ranks];
        for (int level = 0; level < LEVELS; level++) {
            const uint64_t size = UINT64_C(1) << 3 * level, box = s->begin[r] & ~(size - 1);
            s->around[r * LEVELS + level] = below(tree, box + size) - below(tree, box);
        }
    }
    ikt_sum_i64(ctx, s->around + LEVELS, (int64_t)(ranks - 1) * LEVELS);
    for (int r = 1; r < ranks;
         r++) { /* the largest box that a leaf may be, or the smallest there is */
        int level = 0;
        while (level + 1 < LEVELS && s->around[r * LEVELS + level + 1] <= IKT_OCTREE_LEAF)
            level++;
        s->begin[r] &= ~((UINT64_C(1) << 3 * level) - 1);
    }
}

/* COLLECTIVE. The points there, where they are sorted again: ties keep the order of ranks, and so
 * that of rows. */
static ikt_status travel(ikt_context *ctx, int q, const float *y, ikt_stretches *s,
                         ikt_octree *tree) {
    for (int r = 0; r < ikt_size(ctx); r++)
        s->shuffle.send_counts[r] = below(tree, s->begin[r + 1]) - below(tree, s->begin[r]);
    for (int64_t k = 0; k < tree->n; k++) {
        s->leaving[k].key = tree->key[k];
        for (int c = 0; c < 3; c++)
            s->leaving[k].at[c] = c < q ? y[q * (int64_t)s->order[k] + c] : 0;
    }
    ikt_shuffle_group(ctx, &s->shuffle);
    ikt_shuffle_meet(ctx, &s->shuffle);
    const int64_t n = s->shuffle.received;
    ikt_status st = ikt_octree_claim_points(ctx, tree, n);
    if (st == IKT_OK && n > s->room) {
        ikt_free(&s->arriving);
        s->room = 0;
        st = ikt_alloc(ctx, &s->arriving, n + n / 16, sizeof *s->arriving, "repulsion");
        if (st == IKT_OK) s->room = n + n / 16;
    }
    IKT_TRY(ikt_agree(ctx, st));
    ikt_shuffle_send(ctx, &s->shuffle, s->leaving, s->arriving, sizeof *s->leaving);
    tree->n = n;
    for (int64_t i = 0; i < n; i++) {
        tree->key[i] = s->arriving[i].key;
        tree->row[i] = (uint32_t)i;
    }
    ikt_octree_sort(tree);
    for (int c = 0; c < 3; c++)
        for (int64_t i = 0; i < n; i++)
            tree->at[c][i] = s->arriving[tree->row[i]].at[c];
    return IKT_OK;
}

ikt_status ikt_stretches_deal(ikt_context *ctx, const ikt_rows *rows, int q, const float *y,
                              ikt_stretches *s, ikt_octree *tree, bool *finite) {
    const int ranks = rows->ranks, me = ikt_rank(ctx);
    const double side = find_cube(ctx, rows, q, y, tree);
    *finite = side >= 0;
    if (!*finite) return IKT_OK;
    tree->n = rows->count;
#pragma omp parallel for schedule(static) num_threads(ikt_threads(ctx))
    for (int64_t i = 0; i < tree->n; i++) {
        tree->key[i] = ikt_octree_key(tree, q, side, y + q * i);
        tree->row[i] = (uint32_t)i;
    }
    ikt_octree_sort(tree);
    if (tree->n > 0) memcpy(s->order, tree->row, (size_t)tree->n * sizeof *s->order);
    tree->low = 0;
    tree->high = IKT_OCTREE_KEYS;
    if (ranks > 1) {
        find_beginnings(ctx, tree, s);
        tree->low = s->begin[me];
        tree->high = s->begin[me + 1];
        return travel(ctx, q, y, s, tree);
    }
    for (int64_t i = 0; i < tree->n; i++)
        tree->row[i] = (uint32_t)i;
    for (int c = 0; c < 3; c++)
        for (int64_t i = 0; i < tree->n; i++)
            tree->at[c][i] = c < q ? y[q * (int64_t)s->order[i] + c] : 0;
    return IKT_OK;
}

void ikt_stretches_send(ikt_context *ctx, const ikt_stretches *s, const void *in, void *out,
                        size_t bytes) {
    ikt_shuffle_send(ctx, &s->shuffle, in, out, bytes);
}

void ikt_stretches_answer(ikt_context *ctx, const ikt_stretches *s, const void *in, void *out,
                          size_t bytes) {
    ikt_shuffle_answer(ctx, &s->shuffle, in, out, bytes);
}
