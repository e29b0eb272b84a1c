/* The table of distinct centres in both of its forms, and the walk, against the draws. */
#include "support/ikt_test.h"

#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "isolation/centre_table.h"
#include "support/model_rows.h"

typedef struct {
    ikt_model_spec spec;
    int64_t first, parts; /* of the table */
    bool is_bits;         /* the form that takes less memory */
} problem;

static const problem problems[] = {
    {{.seed = 3, .n = 1000, .psi = 60, .t = 40, .pool = 130, .coarse = 20}, 0, 41, true},
    {{.seed = 3, .n = 2000, .psi = 700, .t = 70, .coarse = 2000}, 0, 71, true},
    {{.seed = 3, .n = 480, .psi = 480, .t = 3}, 0, 3, true},
    {{.seed = 3, .n = 961, .psi = 900, .t = 64}, 1, 63, true},
    {{.seed = 3, .n = 90000, .psi = 70000, .t = 3}, 0, 3, true},
    {{.seed = 3, .n = 100000, .psi = 20, .t = 210, .coarse = 300}, 0, 211, false},
    {{.seed = 3, .n = 5000, .psi = 8, .t = 300, .pool = 900, .coarse = 10}, 60, 190, false},
    {{.seed = 3, .n = 50, .psi = 1, .t = 2, .coarse = 9}, 2, 1, true},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

typedef struct {
    ikt_model *model;
    ikt_draws draws;
    ikt_centre_table table;
    int32_t *scratch;
} setting;

static void begin(ikt_context *ctx, const problem *p, setting *s) {
    const int64_t most = p->spec.psi > p->spec.coarse ? p->spec.psi : p->spec.coarse;
    assert_int_equal(ikt_model_create(ctx, &p->spec, &s->model), IKT_OK);
    assert_int_equal(ikt_draws_create(ctx, s->model, 1, &s->draws), IKT_OK);
    assert_int_equal(ikt_centre_table_create(ctx, s->model, p->first, p->parts, &s->table), IKT_OK);
    assert_int_equal(ikt_alloc(ctx, &s->scratch, most, sizeof *s->scratch, "test"), IKT_OK);
    assert_int_equal(s->table.uses != NULL, p->is_bits);
    assert_int_equal(s->table.index == NULL, p->is_bits);
}

static void end(setting *s) {
    ikt_free(&s->scratch);
    ikt_centre_table_destroy(&s->table);
    ikt_draws_destroy(&s->draws);
    ikt_model_destroy(&s->model);
}

/* The members of each part are its centres, and the distinct centres are those of all parts. */
static void members_are_the_centres(void **state) {
    for (int q = 0; q < PROBLEMS; q++) {
        const problem *p = &problems[q];
        setting s;
        bool *seen;
        begin(*state, p, &s);
        assert_int_equal(ikt_alloc(*state, &seen, s.table.count, sizeof *seen, "test"), IKT_OK);
        for (int64_t part = 0; part < p->parts; part++) {
            const int64_t *row = ikt_model_draw(s.model, &s.draws, 0, p->first + part);
            int64_t count;
            const int32_t *member = ikt_centre_members(&s.table, part, s.scratch, &count);
            assert_int_equal(count, ikt_model_centres(&p->spec, p->first + part));
            for (int64_t j = 0; j < count; j++) {
                assert_in_range(member[j], 0, s.table.count - 1);
                assert_int_equal(s.table.row[member[j]], row[j]);
                seen[member[j]] = true;
            }
        }
        for (int64_t c = 0; c < s.table.count; c++) {
            assert_true(seen[c]);
            assert_true(c == 0 || s.table.row[c] > s.table.row[c - 1]);
        }
        ikt_free(&seen);
        end(&s);
    }
}

/* A part's cell is the place of the first pair that is one of its centres, below `certain`; a walk
 * in two pieces is the walk. */
static void walks_find_the_first_centre(void **state) {
    enum { LENGTH = 60, TRIALS = 3 };
    for (int q = 0; q < PROBLEMS; q++) {
        const problem *p = &problems[q];
        setting s;
        uint64_t *open;
        uint32_t *cell;
        begin(*state, p, &s);
        assert_int_equal(ikt_alloc(*state, &open, s.table.words, sizeof *open, "test"), IKT_OK);
        assert_int_equal(ikt_alloc(*state, &cell, p->parts, sizeof *cell, "test"), IKT_OK);
        for (uint64_t trial = 0; trial < TRIALS; trial++) {
            ikt_pair pair[LENGTH];
            for (int64_t e = 0; e < LENGTH; e++)
                pair[e] = ikt_pair_make(
                    (float)e, (uint32_t)ikt_rng_below(trial, IKT_RNG_TEST, e, 0, s.table.count));
            const int64_t trusted = trial == 0 ? LENGTH : 20 * (int64_t)trial;
            const ikt_pair certain = ikt_pair_make((float)trusted, 0);
            const int64_t piece = trial == 1 ? 7 : LENGTH;
            ikt_parts_open(&s.table, open);
            ikt_centre_walk(&s.table, pair, piece, certain, open, cell);
            const int64_t left =
                ikt_centre_walk(&s.table, pair + piece, LENGTH - piece, certain, open, cell);
            int64_t unfound = 0;
            for (int64_t part = 0; part < p->parts; part++) {
                const int64_t *row = ikt_model_draw(s.model, &s.draws, 0, p->first + part);
                const int64_t count = ikt_model_centres(&p->spec, p->first + part);
                int64_t wanted = -1;
                for (int64_t e = 0; e < trusted && wanted < 0; e++)
                    wanted = ikt_find_i64(row, count, s.table.row[ikt_pair_number(pair[e])]);
                assert_int_equal(ikt_part_is_open(open, part), wanted < 0);
                if (wanted >= 0) assert_int_equal(cell[part], wanted);
                unfound += wanted < 0;
            }
            assert_int_equal(left, unfound);
        }
        ikt_free(&cell);
        ikt_free(&open);
        end(&s);
    }
}

/* The table takes what is predicted, and no more than lists would. */
static void memory_is_as_predicted(void **state) {
    ikt_context *ctx = *state;
    for (int q = 0; q < PROBLEMS; q++) {
        const problem *p = &problems[q];
        ikt_model *model;
        ikt_centre_table table;
        assert_int_equal(ikt_model_create(ctx, &p->spec, &model), IKT_OK);
        const int64_t before = ikt_memory_now(ctx);
        assert_int_equal(ikt_centre_table_create(ctx, model, p->first, p->parts, &table), IKT_OK);
        const int64_t uses = table.first[p->parts], used = ikt_memory_now(ctx) - before;
        const int64_t predicted = ikt_centre_table_bytes(table.count, p->parts, uses);
        assert_in_range(used, predicted, predicted + 1024); /* arrays are rounded up */
        assert_true(predicted <= 16 * (table.count + 1) + 8 * (p->parts + 1) + 10 * uses);
        ikt_centre_table_destroy(&table);
        ikt_model_destroy(&model);
    }
}

IKT_MPI_TESTS(ikt_test(members_are_the_centres), ikt_test(walks_find_the_first_centre),
              ikt_test(memory_is_as_predicted))
