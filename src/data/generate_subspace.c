/* Clusters in subspaces: the sets of the Isolation-kernel paper (tables 1, 2 and 9).
 *
 * A cluster is normal in its own dimensions and zero in all others, so clusters centred at zero
 * meet at the origin and nowhere else. The row at the origin is row 0, is marked, and bears the
 * label of a cluster, because it belongs to several: cluster 1, as the paper's text has it for
 * five-subspace, or cluster 3 of shared-subspace, as its table 9 has it. Clusters are numbered from
 * 1 and follow one another in the file. */
#include <math.h>
#include <string.h>

#include "data/generate_sets.h"

typedef struct {
    int cluster;        /* numbered from 0 */
    int64_t from, past; /* its dimensions: from <= dimension < past */
    double mean, sd;
} subspace;

/* Fills the row with normal values in the subspace, or with zeros alone. */
static void fill(const ikt_generation *g, int64_t row, const subspace *s, float *x) {
    memset(x, 0, (size_t)g->columns * sizeof *x);
    if (row == g->origin) return;
    for (int64_t c = s->from; c < s->past; c++)
        x[c] = (float)(s->mean + s->sd * ikt_generate_normal(g, row, (uint64_t)c));
}

static ikt_status prepare(ikt_generation *g, int64_t clusters, int64_t least_points) {
    const ikt_generate_settings *s = &g->settings;
    g->columns = s->dimensions;
    g->origin = 0;
    if (s->points < least_points)
        return ikt_fail(g->ctx, IKT_ERR_USAGE, "%s needs at least %lld points, not %lld",
                        g->generator->name, (long long)least_points, (long long)s->points);
    if (s->dimensions % clusters == 0) return IKT_OK;
    return ikt_fail(g->ctx, IKT_ERR_USAGE,
                    "%s divides its dimensions among %lld clusters: %lld is not a multiple",
                    g->generator->name, (long long)clusters, (long long)s->dimensions);
}

static ikt_status prepare_five(ikt_generation *g) {
    return prepare(g, 5, 5);
}

/* The first point of cluster 1 is moved to the origin: 1250 points are 5 clusters of 250. */
static void row_five(const ikt_generation *g, int64_t row, void *out, int32_t *label) {
    static const double mean[] = {0, 0, 0, 400, 500}, sd[] = {1, 16, 81, 256, 625};
    int64_t own = g->columns / 5, k = row * 5 / g->settings.points;
    bool is_sd = g->settings.scale == IKT_SCALE_SD;
    subspace s = {(int)k, k * own, (k + 1) * own, mean[k], is_sd ? sd[k] : sqrt(sd[k])};
    fill(g, row, &s, out);
    *label = (int32_t)k + 1;
}

static ikt_status prepare_two(ikt_generation *g) {
    return prepare(g, 2, 3);
}

/* The origin is a point of its own: 1001 points are 2 clusters of 500 and the origin. */
static void row_two(const ikt_generation *g, int64_t row, void *out, int32_t *label) {
    int64_t own = g->columns / 2, k = row == 0 ? 0 : (row - 1) * 2 / (g->settings.points - 1);
    subspace s = {(int)k, k * own, (k + 1) * own, 0, 1};
    fill(g, row, &s, out);
    *label = (int32_t)k + 1;
}

static ikt_status prepare_shared(ikt_generation *g) {
    g->settings.dimensions = 100;
    return prepare(g, 1, 52);
}

/* Clusters of 500, 500 and 20 points, or in this proportion, and the origin. */
static void row_shared(const ikt_generation *g, int64_t row, void *out, int32_t *label) {
    static const subspace clusters[] = {{0, 0, 51, 0, 1}, {1, 49, 100, 0, 1}, {2, 49, 51, 0, 1}};
    int64_t share = row == 0 ? 50 : (row - 1) * 51 / (g->settings.points - 1);
    int k = share < 25 ? 0 : share < 50 ? 1 : 2;
    fill(g, row, &clusters[k], out);
    *label = k + 1;
}

const ikt_generator ikt_generator_five_subspace = {
    .name = "five-subspace",
    .help = "5 clusters in 10 dimensions each, 3 of which meet at the origin (paper, table 1); the "
            "label is the cluster",
    .uses = {{"points", "1250"}, {"dimensions", "50"}, {"scale", "sd"}},
    .type = IKT_TYPE_F32,
    .labels = true,
    .prepare = prepare_five,
    .row = row_five};

const ikt_generator ikt_generator_two_subspace = {
    .name = "two-subspace",
    .help = "2 clusters in 100 dimensions each, and the origin (paper, table 2); the label is the "
            "cluster",
    .uses = {{"points", "1001"}, {"dimensions", "200"}},
    .type = IKT_TYPE_F32,
    .labels = true,
    .prepare = prepare_two,
    .row = row_two};

const ikt_generator ikt_generator_shared_subspace = {
    .name = "shared-subspace",
    .help = "3 clusters that share dimensions 50 and 51 of 100, and the origin (paper, table 9); "
            "the label is the cluster",
    .uses = {{"points", "1021"}},
    .type = IKT_TYPE_F32,
    .labels = true,
    .prepare = prepare_shared,
    .row = row_shared};
