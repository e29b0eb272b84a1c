/* Codes from lists of near centres, the places of rows, and the search among fine cells: against
 * the exact codes and every pair of rows, and the same bits whatever the ranks and threads. */
#define _POSIX_C_SOURCE 200809L
#include "support/ikt_test.h"

#include <math.h>
#include <stdlib.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/row_hash.h"
#include "isolation/codes.h"
#include "isolation/coding.h"
#include "neighbours/exact.h"
#include "neighbours/fine.h"
#include "neighbours/foreign.h"
#include "neighbours/search.h"
#include "support/equal_cells.h"

typedef struct {
    const char *name;
    int64_t n, d, psi, t, pool, candidates, near;
    ikt_type type;
    bool is_twofold;  /* every second row is the same point */
    double differing; /* share of cells that may differ from the exact ones */
    bool is_ring;     /* rows lie along a wide circle in two columns */
} problem;

enum { K = 12 };

static const problem problems[] = {
    {"float32, all rows", 6000, 8, 700, 40, 0, 600, 40, IKT_TYPE_F32, false, 0.004, false},
    {"float32, a pool", 6000, 8, 300, 40, 1500, 300, 30, IKT_TYPE_F32, false, 0.001, false},
    {"uint8, all rows", 4000, 20, 500, 70, 0, 500, 40, IKT_TYPE_U8, false, 0.006, false},
    {"uint8, a pool", 5000, 20, 200, 70, 1200, 300, 20, IKT_TYPE_U8, false, 0.004, false},
    {"float32, equal rows", 3000, 5, 300, 30, 0, 400, 40, IKT_TYPE_F32, true, 0.03, false},
    {"float32, one column", 2000, 1, 150, 40, 0, 200, 20, IKT_TYPE_F32, false, 0.004, false},
    /* As bytes, near centres of a ring are hardly told apart. */
    {"float32, a ring", 5000, 6, 2500, 40, 0, 400, 10, IKT_TYPE_F32, false, 0.001, true},
    {"float32, many columns", 5000, 24, 400, 40, 0, 1200, 40, IKT_TYPE_F32, false, 0.02, false},
    /* Of so many columns that cells are means, which find what drawn ones would not. */
    {"float32, wide rows", 1500, 260, 200, 40, 0, 200, 150, IKT_TYPE_F32, false, 0.006, false},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

/* Ten blobs, so that near rows are many and the others far. */
static double coordinate(const problem *p, int64_t row, int64_t k) {
    if (p->is_twofold && row % 2 == 0) return 90;
    const double blob = ikt_rng_uniform(8, IKT_RNG_TEST, row % 10, (uint64_t)k);
    const double value =
        60 + 100 * blob + 12 * ikt_rng_normal(8, IKT_RNG_TEST, 100 + row, (uint64_t)k);
    if (!p->is_ring || k > 1) return value;
    const double angle = 6.3 * ikt_rng_uniform(8, IKT_RNG_TEST, 100 + row, 0);
    return 1e6 * (k == 0 ? sin(angle) : cos(angle));
}

typedef struct {
    void *rows;
    ikt_source *source;
    ikt_dataset *data;
    ikt_rows distribution;
    ikt_codes codes, exact;
    ikt_code_places places;
} setting;

static void open_rows(ikt_context *ctx, const problem *p, setting *s) {
    const ikt_preprocess_settings raw = {.normalise = IKT_NORMALISE_NONE, .pca = 0};
    *s = (setting){.rows = NULL};
    assert_int_equal(ikt_alloc(ctx, &s->rows, p->n * p->d, ikt_type_size(p->type), "test"), IKT_OK);
    for (int64_t e = 0; e < p->n * p->d; e++) {
        const double value = coordinate(p, e / p->d, e % p->d);
        if (p->type == IKT_TYPE_U8)
            ((uint8_t *)s->rows)[e] = (uint8_t)fmin(255, fmax(0, value));
        else
            ((float *)s->rows)[e] = (float)value;
    }
    s->distribution = ikt_rows_make(p->n, ikt_size(ctx), ikt_rank(ctx));
    assert_int_equal(ikt_source_from_memory(ctx, s->rows, p->n, p->d, p->type, &s->source), IKT_OK);
    assert_int_equal(ikt_dataset_create(ctx, s->source, &raw, &s->data), IKT_OK);
}

/* Codes of small blocks, with places, and the exact codes. */
static void compute(ikt_context *ctx, const problem *p, setting *s) {
    const ikt_codes_budget small = {0, 700 * p->d * (int64_t)ikt_type_size(p->type), 0};
    ikt_model_spec spec = {.seed = 3, .n = p->n, .psi = p->psi, .t = p->t, .pool = p->pool};
    ikt_model *model = NULL;
    open_rows(ctx, p, s);
    assert_int_equal(ikt_model_create(ctx, &spec, &model), IKT_OK);
    assert_int_equal(ikt_codes_compute(ctx, s->data, &s->distribution, model, &s->exact, NULL),
                     IKT_OK);
    assert_int_equal(s->exact.check.sample, 0);
    ikt_model_destroy(&model);
    spec.candidates = p->candidates;
    spec.near = s->places.near = p->near;
    assert_int_equal(ikt_alloc(ctx, &s->places.list, s->distribution.count * p->near,
                               sizeof *s->places.list, "test"),
                     IKT_OK);
    assert_int_equal(ikt_model_create(ctx, &spec, &model), IKT_OK);
    assert_int_equal(ikt_codes_compute_within(ctx, small, NULL, s->data, &s->distribution, model,
                                              &s->codes, &s->places),
                     IKT_OK);
    ikt_model_destroy(&model);
}

static void clear(setting *s) {
    ikt_codes_destroy(&s->codes);
    ikt_codes_destroy(&s->exact);
    ikt_code_places_destroy(&s->places);
    ikt_dataset_destroy(&s->data);
    ikt_source_close(&s->source);
    ikt_free(&s->rows);
}

/* Share of the own entries that differ, over all ranks. */
static double share_differing(ikt_context *ctx, const setting *s) {
    int64_t differing = 0;
    for (int64_t i = 0; i < s->codes.n_local; i++)
        for (int64_t p = 0; p < s->codes.t; p++)
            differing += ikt_code_entry(&s->codes, i, p) != ikt_code_entry(&s->exact, i, p);
    return (double)ikt_sum_one(ctx, differing) / (double)(s->distribution.n * s->codes.t);
}

static void nearly_all_cells_are_exact(void **state) {
    ikt_context *ctx = *state;
    for (int q = 0; q < PROBLEMS; q++) {
        const problem *p = &problems[q];
        setting s;
        compute(ctx, p, &s);
        const double share = share_differing(ctx, &s);
        if (!(share <= p->differing)) fail_msg("%s: %g of the cells differ", p->name, share);
        /* What the sample says is what is so. */
        assert_true(s.codes.check.sample > 500 && s.codes.check.sample <= 1000);
        assert_true(fabs(s.codes.check.differing - share) < 0.01);
        clear(&s);
    }
}

/* Where a row is compared with all centres, only rounding can move it: bytes have none. */
static void all_candidates_give_the_exact_cells(void **state) {
    ikt_context *ctx = *state;
    for (int q = 0; q < PROBLEMS; q++) {
        problem p = problems[q];
        setting s;
        p.candidates = p.n;
        compute(ctx, &p, &s);
        const double share = share_differing(ctx, &s);
        if (!(share <= (p.type == IKT_TYPE_U8 ? 0 : 1e-4)))
            fail_msg("%s: %g of the cells differ", p.name, share);
        clear(&s);
    }
}

/* Places are numbers of distinct centres along coarse cells, each once in a list; and every centre
 * is a row that lies at its own place. */
static void places_are_those_of_the_nearest(void **state) {
    ikt_context *ctx = *state;
    const problem *p = &problems[0];
    setting s;
    int64_t *own = NULL;
    compute(ctx, p, &s);
    const ikt_code_places *places = &s.places;
    assert_true(places->centres > p->n * 9 / 10 && places->centres <= p->n);
    assert_int_equal(places->first[0], 0);
    assert_int_equal(places->first[places->cells], places->centres);
    assert_int_equal(ikt_alloc(ctx, &own, places->centres, sizeof *own, "test"), IKT_OK);
    for (int64_t i = 0; i < s.distribution.count; i++) {
        const uint32_t *list = places->list + i * p->near;
        own[list[0]]++;
        for (int64_t e = 0; e < p->near; e++) {
            assert_true(list[e] < places->centres);
            for (int64_t f = 0; f < e; f++)
                assert_true(list[e] != list[f]);
        }
    }
    ikt_sum_i64(ctx, own, places->centres);
    for (int64_t c = 0; c < places->centres; c++)
        assert_true(own[c] >= 1);
    ikt_free(&own);
    clear(&s);
}

static uint64_t hash_all(ikt_context *ctx, const setting *s) {
    const int64_t first = s->distribution.first, count = s->distribution.count;
    return 31 * ikt_row_hash(ctx, s->codes.code, first, count, (size_t)s->codes.stride) +
           ikt_row_hash(ctx, s->places.list, first, count,
                        (size_t)s->places.near * sizeof *s->places.list);
}

static void bits_do_not_depend_on_ranks_and_threads(void **state) {
    ikt_context *ctx = *state;
    ikt_context *alone = ikt_test_alone();
    for (int q = 0; q < PROBLEMS; q++) {
        setting s, one;
        compute(ctx, &problems[q], &s);
        compute(alone, &problems[q], &one);
        if (hash_all(ctx, &s) != hash_all(alone, &one))
            fail_msg("%s: other codes or places than on one rank", problems[q].name);
        clear(&s);
        clear(&one);
    }
    ikt_context_destroy(&alone);
}

/* Kernels of other instruction sets take other numbers of rows at a time. */
static void bits_do_not_depend_on_the_instruction_set(void **state) {
    ikt_context *ctx = *state;
    setting s;
    assert_int_equal(unsetenv("IKTSNE_ISA"), 0);
    const int isas = (int)ikt_cpu_isa() + 1;
    for (int q = 0; q < PROBLEMS; q += 2) {
        compute(ctx, &problems[q], &s);
        const uint64_t best = hash_all(ctx, &s);
        clear(&s);
        for (int isa = 0; isa < isas; isa++) {
            assert_int_equal(setenv("IKTSNE_ISA", ikt_isa_name((ikt_isa)isa), 1), 0);
            compute(ctx, &problems[q], &s);
            if (hash_all(ctx, &s) != best)
                fail_msg("%s: other codes or places with %s", problems[q].name,
                         ikt_isa_name((ikt_isa)isa));
            clear(&s);
        }
        unsetenv("IKTSNE_ISA");
    }
}

/* --- the search ------------------------------------------------------------------------------- */

typedef struct {
    ikt_cells cells;
    ikt_order order;
    ikt_fine_cells fine;
    ikt_tiles tiles;
    ikt_neighbours lists;
} found;

static void search(ikt_context *ctx, setting *s, int64_t candidates, found *f) {
    ikt_list_course course;
    assert_int_equal(
        ikt_fine_cells_create(ctx, &s->distribution, &s->places, &f->cells, &f->order, &f->fine),
        IKT_OK);
    assert_int_equal(ikt_order_apply(ctx, &f->order, s->codes.code, s->codes.stride, s->codes.code,
                                     s->codes.stride, s->codes.stride),
                     IKT_OK);
    assert_int_equal(ikt_tiles_codes(ctx, &f->cells, &s->distribution, &s->codes, &f->tiles),
                     IKT_OK);
    assert_int_equal(ikt_neighbours_create(ctx, &s->distribution, K, &f->lists), IKT_OK);
    assert_int_equal(ikt_list_course_begin(ctx, NULL, &f->lists, &course), IKT_OK);
    assert_int_equal(ikt_neighbours_fine(ctx, &f->fine, &f->tiles, candidates, &course), IKT_OK);
    ikt_list_course_end(&course);
    ikt_neighbours_sort(ctx, &f->lists);
}

static void forget(found *f) {
    ikt_neighbours_destroy(&f->lists);
    ikt_tiles_destroy(&f->tiles);
    ikt_fine_cells_destroy(&f->fine);
    ikt_cells_destroy(&f->cells);
    ikt_order_destroy(&f->order);
}

/* Lists have K other rows, each once, with the scores of their codes; they are nearly those of a
 * search among all pairs. */
static void fine_cells_find_similar_rows(void **state) {
    ikt_context *ctx = *state;
    for (int q = 0; q < PROBLEMS; q++) {
        const problem *p = &problems[q];
        setting s;
        found f;
        ikt_neighbours exact;
        ikt_list_course course;
        compute(ctx, p, &s);
        search(ctx, &s, 300, &f);
        const ikt_scorer scorer = ikt_scorer_codes(&s.codes, &s.distribution);
        assert_int_equal(ikt_neighbours_create(ctx, &s.distribution, K, &exact), IKT_OK);
        assert_int_equal(ikt_list_course_begin(ctx, NULL, &exact, &course), IKT_OK);
        assert_int_equal(ikt_neighbours_exact(ctx, &scorer, &course), IKT_OK);
        ikt_list_course_end(&course);
        ikt_neighbours_sort(ctx, &exact);
        int64_t similarity[2] = {0, 0};
        for (int64_t i = 0; i < s.distribution.count; i++)
            for (int64_t e = 0; e < K; e++) {
                const uint32_t row = f.lists.row[i * K + e];
                assert_true(row < p->n && row != s.distribution.first + i);
                for (int64_t g = 0; g < e; g++)
                    assert_true(row != f.lists.row[i * K + g]);
                if (ikt_is_own(&s.distribution, row))
                    assert_int_equal(p->t - (int64_t)f.lists.score[i * K + e],
                                     equal_cells(&s.codes, i, row - s.distribution.first));
                similarity[0] += p->t - (int64_t)f.lists.score[i * K + e];
                similarity[1] += p->t - (int64_t)exact.score[i * K + e];
            }
        ikt_sum_i64(ctx, similarity, 2);
        if (!((double)similarity[0] > 0.93 * (double)similarity[1]))
            fail_msg("%s: %g of the similarity was found", p->name,
                     (double)similarity[0] / (double)similarity[1]);
        ikt_neighbours_destroy(&exact);
        forget(&f);
        clear(&s);
    }
}

static void lists_do_not_depend_on_ranks_and_threads(void **state) {
    ikt_context *ctx = *state;
    ikt_context *alone = ikt_test_alone();
    for (int q = 0; q < PROBLEMS; q++) {
        setting s, one;
        found f, g;
        compute(ctx, &problems[q], &s);
        compute(alone, &problems[q], &one);
        search(ctx, &s, 100, &f);
        search(alone, &one, 100, &g);
        const uint64_t here = ikt_row_hash(ctx, f.lists.row, s.distribution.first, f.lists.n_local,
                                           K * sizeof *f.lists.row);
        const uint64_t there =
            ikt_row_hash(alone, g.lists.row, 0, g.lists.n_local, K * sizeof *g.lists.row);
        if (here != there) fail_msg("%s: other lists than on one rank", problems[q].name);
        forget(&f);
        forget(&g);
        clear(&s);
        clear(&one);
    }
    ikt_context_destroy(&alone);
}

/* A tile has no more rows than there is memory for, whatever the rows that a kernel takes at a time
 * (6 on AVX2, which do not divide the 1,024 rows of 1,024 columns). */
static void tiles_are_within_their_memory(void **state) {
    (void)state;
    for (int threads = 1; threads <= 3; threads++)
        for (int64_t multiple = 1; multiple <= 8; multiple++)
            for (int64_t most = 1; most <= 40; most++)
                for (int64_t count = 1; count <= 300; count++) {
                    const ikt_coding c = {.threads = threads};
                    const int64_t rows = ikt_coding_tile(&c, count, most, multiple);
                    assert_in_range(rows, 1, most);
                    assert_true(multiple > most || rows % multiple == 0);
                }
}

IKT_MPI_TESTS(ikt_test(nearly_all_cells_are_exact), ikt_test(all_candidates_give_the_exact_cells),
              ikt_test(places_are_those_of_the_nearest),
              ikt_test(bits_do_not_depend_on_ranks_and_threads),
              ikt_test(bits_do_not_depend_on_the_instruction_set),
              ikt_test(fine_cells_find_similar_rows),
              ikt_test(lists_do_not_depend_on_ranks_and_threads),
              ikt_test(tiles_are_within_their_memory))
