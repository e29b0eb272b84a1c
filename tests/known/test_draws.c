/* Random draws against published vectors, and which draw belongs to which purpose, row and number.
 */
#include "support/ikt_test.h"

#include <math.h>

#include "base/rng.h"
#include "isolation/model.h"
#include "support/model_rows.h"
#include "support/plain_random.h"

/* Known answers of Random123 (kat_vectors, philox 4x32 10). */
static const struct {
    uint32_t counter[4], key[2], answer[4];
} published[] = {{{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
                 {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                  {0xffffffff, 0xffffffff},
                  {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
                 {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                  {0xa4093822, 0x299f31d0},
                  {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
enum { PUBLISHED = sizeof published / sizeof *published };

static uint64_t joined(uint32_t low, uint32_t high) {
    return (uint64_t)high << 32 | low;
}

static void the_plain_generator_gives_the_published_words(void **state) {
    (void)state;
    for (int v = 0; v < PUBLISHED; v++) {
        uint32_t word[4];
        plain_philox(published[v].counter, published[v].key, word);
        assert_memory_equal(word, published[v].answer, sizeof word);
    }
}

/* Number, purpose and row are taken apart as they have to be put together for the counter. */
static void draws_are_the_published_words(void **state) {
    (void)state;
    for (int v = 0; v < PUBLISHED; v++) {
        const uint32_t *c = published[v].counter, *answer = published[v].answer;
        const uint64_t seed = joined(published[v].key[0], published[v].key[1]);
        const uint64_t number = joined(c[0], c[1] & 0xFFFF);
        const ikt_rng_purpose purpose = (ikt_rng_purpose)(c[1] >> 16);
        const int64_t row = (int64_t)joined(c[2], c[3]);
        const uint64_t low = joined(answer[0], answer[1]), high = joined(answer[2], answer[3]);
        assert_true(ikt_rng_u64(seed, purpose, row, number) == low);
        const double u = ldexp((double)(low >> 11), -53), w = ldexp((double)(high >> 11), -53);
        assert_true(ikt_rng_uniform(seed, purpose, row, number) == u);
        const double normal = sqrt(-2 * log(1 - u)) * cos(2 * acos(-1) * w);
        assert_true(fabs(ikt_rng_normal(seed, purpose, row, number) - normal) < 1e-14);
        for (int64_t bound = 1; bound < 5000; bound += 700)
            assert_int_equal(ikt_rng_below(seed, purpose, row, number, bound),
                             (int64_t)((long double)low * 0x1p-64L * (long double)bound));
    }
}

/* What a file or a seed of today gives must be given for ever: purposes keep their numbers. */
static void purposes_keep_their_numbers(void **state) {
    static const struct {
        int purpose, number;
    } kept[] = {{IKT_RNG_MODEL, 1},   {IKT_RNG_JITTER, 2},   {IKT_RNG_INITIAL, 3},
                {IKT_RNG_SAMPLE, 4},  {IKT_RNG_GENERATE, 5}, {IKT_RNG_DEFORM, 6},
                {IKT_RNG_SHAPE, 7},   {IKT_RNG_PLOT, 8},     {IKT_RNG_TEST, 9},
                {IKT_RNG_CELLS, 10},  {IKT_RNG_POOL, 11},    {IKT_RNG_LANDMARK, 12},
                {IKT_RNG_TREE, 13},   {IKT_RNG_TRIPLET, 20}, {IKT_RNG_KMEANS, 21},
                {IKT_RNG_COPIES, 22}, {IKT_RNG_AXES, 23}};
    (void)state;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        assert_int_equal(kept[i].purpose, kept[i].number);
}

/* A draw of each argument alone, as literal words. */
static void draws_depend_on_every_argument(void **state) {
    static const struct {
        uint64_t seed;
        int purpose;
        int64_t row;
        uint64_t number, answer;
    } pinned[] = {{1, IKT_RNG_INITIAL, 0, 0, UINT64_C(0x6AFCD332ABF8C12C)},
                  {2, IKT_RNG_INITIAL, 0, 0, UINT64_C(0x3D17E91C84D1D4E2)},
                  {1, IKT_RNG_JITTER, 0, 0, UINT64_C(0x52CACDF0F936685E)},
                  {1, IKT_RNG_INITIAL, 1, 0, UINT64_C(0x7AEFD8C3BF4B561C)},
                  {1, IKT_RNG_INITIAL, 0, 1, UINT64_C(0xF1E10BE7FC141DEF)},
                  {INT64_C(1) << 40, IKT_RNG_MODEL, INT64_C(1) << 33, UINT64_C(1) << 41,
                   UINT64_C(0xC2E06E81FEFCB0EC)}};
    (void)state;
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++) {
        const ikt_rng_purpose purpose = (ikt_rng_purpose)pinned[i].purpose;
        uint32_t word[4];
        plain_draw(pinned[i].seed, (uint32_t)purpose, pinned[i].row, pinned[i].number, word);
        assert_int_equal(ikt_rng_u64(pinned[i].seed, purpose, pinned[i].row, pinned[i].number),
                         pinned[i].answer);
        assert_int_equal(joined(word[0], word[1]), pinned[i].answer);
    }
}

/* --- subsets, and the centres of the Isolation kernel ------------------------------------------
 */

enum { MOST = 64 };

static int ascending(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t plain_below(uint64_t seed, uint32_t purpose, int64_t row, uint64_t number,
                           int64_t bound) {
    uint32_t word[4];
    plain_draw(seed, purpose, row, number, word);
    return (int64_t)((long double)joined(word[0], word[1]) * 0x1p-64L * (long double)bound);
}

/* Floyd's algorithm as Bentley printed it, with the set as a list. */
static void plain_subset(uint64_t seed, uint32_t purpose, int64_t which, int64_t n, int64_t count,
                         int64_t *number) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t last = n - count + i;
        int64_t drawn = plain_below(seed, purpose, which, (uint64_t)i, last + 1);
        for (int64_t e = 0; e < i; e++)
            if (number[e] == drawn) {
                drawn = last;
                break;
            }
        number[i] = drawn;
    }
    qsort(number, (size_t)count, sizeof *number, ascending);
}

static void subsets_are_those_of_floyd(void **state) {
    int64_t slot[2 * MOST], found[MOST], wanted[MOST];
    (void)state;
    for (int64_t n = 1; n <= MOST; n += 9)
        for (int64_t count = 1; count <= n; count += 5) {
            ikt_draw_subset(6, IKT_RNG_LANDMARK, n, n, count, slot, 2 * MOST, found);
            plain_subset(6, IKT_RNG_LANDMARK, n, n, count, wanted);
            assert_memory_equal(found, wanted, (size_t)count * sizeof *wanted);
        }
}

/* Centres of partitioning p: a subset of all rows, or of the rows of a pool, which is one of all
 * rows. */
static void centres_are_subsets_keyed_by_their_partitioning(void **state) {
    enum { N = 500, POOL = 40, PSI = 12, T = 5, COARSE = 16 };
    for (int64_t pool = 0; pool <= POOL; pool += POOL) {
        const ikt_model_spec spec = {
            .seed = 8, .n = N, .psi = PSI, .t = T, .pool = pool, .coarse = COARSE};
        int64_t rows[POOL], wanted[COARSE];
        ikt_model *model;
        assert_int_equal(ikt_model_create(*state, &spec, &model), IKT_OK);
        int64_t *row = model_rows(*state, model);
        plain_subset(8, IKT_RNG_POOL, 0, N, POOL, rows);
        for (int64_t p = 0; p <= T; p++) { /* and the coarse cells */
            const int64_t count = p < T ? PSI : COARSE;
            plain_subset(8, p < T ? IKT_RNG_MODEL : IKT_RNG_CELLS, p % T, pool ? pool : N, count,
                         wanted);
            for (int64_t i = 0; i < count && pool; i++)
                wanted[i] = rows[wanted[i]];
            assert_memory_equal(p < T ? row + p * PSI : model->coarse_row, wanted,
                                (size_t)count * sizeof *wanted);
        }
        ikt_free(&row);
        ikt_model_destroy(&model);
    }
}

IKT_MPI_TESTS(ikt_test(the_plain_generator_gives_the_published_words),
              ikt_test(draws_are_the_published_words), ikt_test(purposes_keep_their_numbers),
              ikt_test(draws_depend_on_every_argument), ikt_test(subsets_are_those_of_floyd),
              ikt_test(centres_are_subsets_keyed_by_their_partitioning))
