/* New rows in a map of TriMap by the whole way from rows to places: what each costs where it was
 * put, against the definition in plain sums of double precision. Lists and far rows are all old
 * rows, as these are few; random triplets are left out. */
#include "support/run.h"

#include <math.h>

#include "sampled/triplet.h"
#include "transform/transform.h"

/* The last old rows and the first new ones are copies of one row, but for some noise. */
enum { OLD = 70, COPIES = 12, NEW = 15, NEW_COPIES = 3, COLUMNS = 4, NEAR = 35, FROM = 8, TO = 11 };

static float entry_of(int64_t row, int64_t column, double noise) {
    const bool is_copy = noise > 0 && row >= OLD - COPIES && row < OLD + NEW_COPIES;
    const double x = ikt_rng_normal(1, IKT_RNG_TEST, is_copy ? OLD : row, (uint64_t)column);
    return (float)(x + noise * ikt_rng_normal(2, IKT_RNG_TEST, row, (uint64_t)column));
}

static double square_between(int64_t i, int64_t j, double noise) {
    double sum = 0;
    for (int64_t c = 0; c < COLUMNS; c++)
        sum += pow((double)entry_of(i, c, noise) - (double)entry_of(j, c, noise), 2);
    return sum;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The mean distance of a row to some of its nearest old rows. */
static double plain_scale(int64_t i, double noise) {
    double away[OLD], sum = 0;
    int64_t others = 0;
    for (int64_t j = 0; j < OLD; j++)
        if (j != i) away[others++] = sqrt(square_between(i, j, noise));
    qsort(away, (size_t)others, sizeof *away, ascending);
    for (int64_t e = FROM - 1; e < TO; e++)
        sum += away[e];
    return sum / (TO - FROM + 1);
}

/* The scales of all rows, none of which is below a thousandth of the mean of the old ones': of
 * these before they have that floor themselves, and of new rows after it. */
static void plain_scales(double noise, double scale[OLD + NEW]) {
    double mean = 0, floored = 0;
    for (int64_t i = 0; i < OLD + NEW; i++)
        scale[i] = plain_scale(i, noise);
    for (int64_t i = 0; i < OLD; i++)
        mean += scale[i] / OLD;
    for (int64_t i = 0; i < OLD + NEW; i++) {
        scale[i] = fmax(scale[i], IKT_SCALE_LEAST * (i < OLD ? mean : floored));
        if (i < OLD) floored += scale[i] / OLD;
    }
}

/* D of all rows to the old ones, and the greatest L of an old row, its nearest one and another. */
typedef struct {
    double d[OLD + NEW][OLD], most;
} plain;

static void plain_similarities(double noise, plain *out) {
    double scale[OLD + NEW];
    plain_scales(noise, scale);
    out->most = 0;
    for (int64_t i = 0; i < OLD + NEW; i++) {
        double least = INFINITY;
        for (int64_t j = 0; j < OLD; j++) {
            out->d[i][j] = square_between(i, j, noise) / (scale[i] * scale[j]);
            if (j != i) least = fmin(least, out->d[i][j]);
        }
        for (int64_t j = 0; j < OLD && i < OLD; j++)
            out->most = fmax(out->most, out->d[i][j] - least);
    }
}

/* The mean over the near rows j of a new row and all old rows k of the weighted loss. */
static double plain_cost(const plain *p, const ikt_transformed *done, int64_t row, const float *y) {
    const ikt_triplet_settings *s = &done->loaded.settings.layout.own.triplet;
    const ikt_triplet_rule rule = {s->t, s->t_prime};
    const ikt_triplet_weighing weighing = (ikt_triplet_weighing)s->weights;
    const double *d = p->d[OLD + row];
    double sorted[OLD], sum = 0;
    memcpy(sorted, d, sizeof sorted);
    qsort(sorted, OLD, sizeof *sorted, ascending);
    for (int64_t j = 0; j < OLD; j++) {
        if (d[j] > sorted[NEAR - 1]) continue;
        const double near = weighing == IKT_TRIPLET_NEAR ? exp(-d[j]) : 1;
        for (int64_t k = 0; k < OLD; k++) {
            double u = 0, v = 0;
            if (!(d[k] > d[j])) continue;
            for (int c = 0; c < 2; c++) {
                u += pow((double)y[c] - (double)done->loaded.y[2 * j + c], 2);
                v += pow((double)y[c] - (double)done->loaded.y[2 * k + c], 2);
            }
            sum += ikt_triplet_weight(weighing, near, d[k] - d[j], p->most) *
                   ikt_triplet(&rule, u, v).loss;
        }
    }
    return sum / (NEAR * OLD);
}

static void write_rows(ikt_context *ctx, const char *name, int64_t first, int64_t count,
                       double noise) {
    float rows[OLD * COLUMNS];
    ikt_table_writer *table;
    for (int64_t e = 0; e < count * COLUMNS; e++)
        rows[e] = entry_of(first + e / COLUMNS, e % COLUMNS, noise);
    succeed(ctx, ikt_table_create(ctx, name, true, count, COLUMNS, IKT_TYPE_F32, false, &table));
    succeed(ctx, ikt_table_write(table, 0, ikt_rank(ctx) == 0 ? count : 0, rows, NULL));
    succeed(ctx, ikt_table_close(&table, IKT_OK));
}

static void expect_costs(ikt_context *ctx, const char *weights, double noise) {
    static plain p;
    run_files f = {.folder = ""};
    char new[IO_NAME_MAX], model[IO_NAME_MAX], text[512];
    io_name(ctx, "old.h5", f.input);
    io_name(ctx, "run.h5", f.output);
    io_name(ctx, "new.h5", new);
    io_name(ctx, "model.h5", model);
    write_rows(ctx, f.input, 0, OLD, noise);
    write_rows(ctx, new, OLD, NEW, noise);
    snprintf(text, sizeof text,
             "layout.objective=trimap affinity.kind=knn preprocess.normalise=none trimap.random=0 "
             "layout.iterations=100 trimap.neighbours=%d trimap.scale_from=%d trimap.scale_to=%d "
             "trimap.weights=%s output.model=%s",
             NEAR, FROM, TO, weights, model);
    const ikt_settings settings = run_settings(ctx, &f, text);
    ikt_run run;
    succeed(ctx, ikt_pipeline_run(ctx, &settings, NULL, &run));
    succeed(ctx, ikt_run_model_end(ctx, &run));
    ikt_run_destroy(&run);

    const ikt_transform_request request = {.model = model,
                                           .input = new,
                                           .dataset = "X",
                                           .labels = "labels",
                                           .neighbours = IKT_AUTO_INT,
                                           .trials = 200};
    ikt_transformed done;
    succeed(ctx, ikt_transform_run(ctx, &request, &done));
    assert_int_equal(done.k, NEAR);
    plain_similarities(noise, &p);
    for (int64_t i = 0; i < done.rows.count; i++) {
        const int64_t row = done.rows.first + i;
        const double wanted = plain_cost(&p, &done, row, done.y + 2 * i);
        if (!(fabs(done.divergence[i] - wanted) <= 2e-5 * wanted))
            fail_msg("%s, row %d costs %.9g, not %.9g", weights, (int)row, done.divergence[i],
                     wanted);
    }
    ikt_transformed_destroy(&done);
    io_remove(ctx, f.input);
    io_remove(ctx, f.output);
    io_remove(ctx, new);
    io_remove(ctx, model);
}

static void new_rows_cost_what_the_definition_says(void **state) {
    expect_costs(*state, "near", 0);
    expect_costs(*state, "log", 0);
    expect_costs(*state, "unit", 0);
    expect_costs(*state, "ratio", 0);
}

/* Copies are no more than a thousandth of the mean scale apart: none of them, old or new, has a
 * scale below that. */
static void among_copies_scales_have_a_floor(void **state) {
    expect_costs(*state, "log", 1e-5);
}

IKT_MPI_TESTS(ikt_test(new_rows_cost_what_the_definition_says),
              ikt_test(among_copies_scales_have_a_floor))
