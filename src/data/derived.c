/* Sets made of a given one, that show what a method does to the structure of data: the tests of
 * Amid and Warmuth 2019 (TriMap), section 2.
 *
 *   subset    some rows, or the rows of some classes: a map should keep its arrangement
 *   outlier   one row is shifted far away: a map should show it
 *   copies    every row again, shifted far away: a map should show two copies
 * Method: every rank holds the source as float32, and a row is a source row plus a multiple of a
 * fixed shift. Advantage: what should be seen is known. Disadvantage: the source must fit into each
 * rank's memory. Lengths are in units of the root mean square distance of the source's rows from
 * their mean; directions are drawn evenly. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/rng.h"
#include "data/generate_sets.h"
#include "dist/rows.h"

/* Draws of purpose IKT_RNG_SHAPE, row 0: the directions of the shift come first. */
enum { ROW_OF_SUBSET = 1, ROW_OF_OUTLIER = 2 };

typedef struct {
    int64_t n;
    float *x;        /* [n * columns] the source */
    int64_t *labels; /* [n], or NULL */
    float *shift;    /* [columns] */
    int64_t *row;    /* [points] source row of each row; NULL: row modulo n */
} derived;

static void release(void *state) {
    derived *s = state;
    ikt_free(&s->x);
    ikt_free(&s->labels);
    ikt_free(&s->shift);
    ikt_free(&s->row);
}

static ikt_status check_size(ikt_generation *g, const ikt_source *source) {
    const int64_t n = ikt_source_rows(source), d = g->columns;
    if (n <= ikt_memory_available(g->ctx) / (d * 8 + 32)) return IKT_OK;
    return ikt_fail(g->ctx, IKT_ERR_RESOURCE,
                    "%s does not fit into the memory of every rank (%.1f MB); use a part of it",
                    ikt_source_name(source), (double)n * (double)(d * 8 + 32) / 1e6);
}

/* One value of a row as float, whatever its type. */
static float element(const void *rows, ikt_type type, int64_t e) {
    switch (type) {
    case IKT_TYPE_U8:
        return ((const uint8_t *)rows)[e];
    case IKT_TYPE_F32:
        return ((const float *)rows)[e];
    default:
        return (float)((const double *)rows)[e];
    }
}

/* COLLECTIVE. Each rank reads its part; all get all. */
static ikt_status load(ikt_generation *g, ikt_source *source, derived *s) {
    ikt_context *ctx = g->ctx;
    const ikt_type type = ikt_source_type(source);
    const ikt_rows rows = ikt_rows_make(s->n, ikt_size(ctx), ikt_rank(ctx));
    const int64_t entries = rows.count * g->columns;
    void *own = NULL;
    float *floats = NULL;
    int64_t *labels = NULL, *counts = NULL;
    bool present = false;
    ikt_status st = ikt_alloc(ctx, &own, entries, ikt_type_size(type), "source");
    if (st == IKT_OK) st = ikt_alloc(ctx, &floats, entries, sizeof *floats, "source");
    if (st == IKT_OK) st = ikt_alloc(ctx, &labels, rows.count, sizeof *labels, "source");
    if (st == IKT_OK) st = ikt_alloc(ctx, &counts, ikt_size(ctx), sizeof *counts, "source");
    if (st == IKT_OK) st = ikt_alloc(ctx, &s->x, s->n * g->columns, sizeof *s->x, "source");
    if (st == IKT_OK) st = ikt_alloc(ctx, &s->labels, s->n, sizeof *s->labels, "source");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) st = ikt_source_read(source, rows.first, rows.count, own);
    if (st == IKT_OK)
        st = ikt_source_read_labels(source, "labels", rows.first, rows.count, labels, &present);
    if (st == IKT_OK) {
        for (int64_t e = 0; e < entries; e++)
            floats[e] = element(own, type, e);
        ikt_gather_counts(ctx, rows.count, counts);
        ikt_allgather(ctx, floats, rows.count, (size_t)g->columns * sizeof *floats, s->x, counts);
        ikt_allgather(ctx, labels, rows.count, sizeof *labels, s->labels, counts);
        if (!present) ikt_free(&s->labels);
    }
    ikt_free(&own);
    ikt_free(&floats);
    ikt_free(&labels);
    ikt_free(&counts);
    return st;
}

static ikt_status check_labels(ikt_generation *g, const derived *s) {
    for (int64_t i = 0; s->labels && i < s->n; i++)
        if (s->labels[i] < INT32_MIN || s->labels[i] > INT32_MAX)
            return ikt_fail(g->ctx, IKT_ERR_DATA,
                            "%s: the label %" PRId64 " of row %" PRId64 " is beyond 32 bits",
                            g->settings.source, s->labels[i], i);
    return IKT_OK;
}

/* COLLECTIVE. Reads the source; what follows is the same on every rank. */
static ikt_status open_source(ikt_generation *g, derived **out) {
    ikt_source *source = NULL;
    IKT_TRY(ikt_source_open(g->ctx, g->settings.source, "X", 0, &source));
    g->columns = ikt_source_columns(source);
    ikt_status st = check_size(g, source);
    if (st == IKT_OK) st = ikt_alloc(g->ctx, out, 1, sizeof **out, "source");
    g->state = *out;
    st = ikt_agree(g->ctx, st);
    if (st == IKT_OK) {
        (*out)->n = ikt_source_rows(source);
        st = load(g, source, *out);
    }
    if (st == IKT_OK) st = ikt_agree(g->ctx, check_labels(g, *out));
    g->has_labels = st == IKT_OK && (*out)->labels;
    ikt_source_close(&source);
    return st;
}

/* LOCAL. Root mean square distance of the rows from their mean, in a fixed order. */
static double spread_of(const derived *s, int64_t d, double *mean) {
    double sum = 0;
    memset(mean, 0, (size_t)d * sizeof *mean);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t c = 0; c < d; c++)
            mean[c] += (double)s->x[i * d + c] / (double)s->n;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t c = 0; c < d; c++) {
            const double off = (double)s->x[i * d + c] - mean[c];
            sum += off * off;
        }
    return sqrt(sum / (double)s->n);
}

/* A shift of `separation` spreads in a random direction. */
static ikt_status draw_shift(ikt_generation *g, derived *s) {
    const int64_t d = g->columns;
    double *work = NULL, length = 0;
    ikt_status st = ikt_alloc(g->ctx, &s->shift, d, sizeof *s->shift, "source");
    if (st == IKT_OK) st = ikt_alloc(g->ctx, &work, d, sizeof *work, "source");
    if (st == IKT_OK) {
        const double wanted = g->settings.separation * spread_of(s, d, work);
        for (int64_t c = 0; c < d; c++) {
            work[c] = ikt_rng_normal(g->seed, IKT_RNG_SHAPE, 0, (uint64_t)c);
            length += work[c] * work[c];
        }
        for (int64_t c = 0; c < d; c++)
            s->shift[c] = (float)(work[c] * wanted / sqrt(length));
    }
    ikt_free(&work);
    return ikt_agree(g->ctx, st);
}

/* Whether a list "0,2,4" holds the number; "all" holds any; -1 where it is no list. */
static int list_has(const char *list, int64_t number) {
    int found = 0;
    if (strcmp(list, "all") == 0) return 1;
    for (const char *at = list; *at;) {
        char *end;
        const long long value = strtoll(at, &end, 10);
        if (end == at || (*end != ',' && *end != '\0')) return -1;
        found |= value == number;
        at = *end ? end + 1 : end;
    }
    return found;
}

/* The rows of the wanted classes into s->row. */
static ikt_status choose_classes(ikt_generation *g, derived *s, int64_t *count) {
    const char *classes = g->settings.classes;
    if (list_has(classes, 0) < 0)
        return ikt_fail(g->ctx, IKT_ERR_USAGE,
                        "subset: classes: '%s' is not a list of labels such as 0,2,4", classes);
    if (strcmp(classes, "all") != 0 && !s->labels)
        return ikt_fail(g->ctx, IKT_ERR_DATA, "subset: %s has no labels to choose classes by",
                        g->settings.source);
    IKT_TRY(ikt_alloc(g->ctx, &s->row, s->n, sizeof *s->row, "source"));
    *count = 0;
    for (int64_t i = 0; i < s->n; i++)
        if (list_has(classes, s->labels ? s->labels[i] : 0) > 0) s->row[(*count)++] = i;
    if (*count > 0) return IKT_OK;
    return ikt_fail(g->ctx, IKT_ERR_DATA, "subset: %s has no row of the classes %s",
                    g->settings.source, classes);
}

/* Draws the wanted share of the chosen rows, which stay in their order. */
static ikt_status thin(ikt_generation *g, derived *s, int64_t count) {
    const int64_t wanted = llround(g->settings.share * (double)count);
    const int64_t points = wanted < 1 ? 1 : wanted, slots = ikt_draw_slots(points);
    int64_t *drawn = NULL, *slot = NULL;
    g->settings.points = points;
    if (points == count) return IKT_OK;
    ikt_status st = ikt_alloc(g->ctx, &drawn, points, sizeof *drawn, "source");
    if (st == IKT_OK) st = ikt_alloc(g->ctx, &slot, slots, sizeof *slot, "source");
    if (st == IKT_OK) {
        ikt_draw_subset(g->seed, IKT_RNG_SHAPE, ROW_OF_SUBSET, count, points, slot, slots, drawn);
        for (int64_t i = 0; i < points; i++)
            s->row[i] = s->row[drawn[i]]; /* drawn[i] >= i: not overwritten yet */
    }
    ikt_free(&drawn);
    ikt_free(&slot);
    return st;
}

static ikt_status prepare_subset(ikt_generation *g) {
    derived *s = NULL;
    int64_t count = 0;
    IKT_TRY(open_source(g, &s));
    ikt_status st = choose_classes(g, s, &count);
    if (st == IKT_OK) st = thin(g, s, count);
    return ikt_agree(g->ctx, st);
}

static ikt_status prepare_outlier(ikt_generation *g) {
    derived *s = NULL;
    IKT_TRY(open_source(g, &s));
    g->settings.points = s->n;
    g->origin = ikt_rng_below(g->seed, IKT_RNG_SHAPE, ROW_OF_OUTLIER, 0, s->n);
    return draw_shift(g, s);
}

static ikt_status prepare_copies(ikt_generation *g) {
    derived *s = NULL;
    IKT_TRY(open_source(g, &s));
    g->settings.points = 2 * s->n;
    return draw_shift(g, s);
}

static void row_derived(const ikt_generation *g, int64_t row, void *out, int32_t *label) {
    const derived *s = g->state;
    const int64_t from = s->row ? s->row[row] : row % s->n, d = g->columns;
    const bool is_shifted = row >= s->n || row == g->origin;
    float *to = out;
    for (int64_t c = 0; c < d; c++)
        to[c] = s->x[from * d + c] + (is_shifted && s->shift ? s->shift[c] : 0);
    if (s->labels) *label = (int32_t)s->labels[from];
}

const ikt_generator ikt_generator_subset = {
    .name = "subset",
    .help = "a share of the rows of a file, drawn at random, or of those of some classes; label: "
            "the file's",
    .uses = {{"source", ""}, {"share", "1"}, {"classes", "all"}},
    .type = IKT_TYPE_F32,
    .labels = true,
    .prepare = prepare_subset,
    .release = release,
    .row = row_derived};

const ikt_generator ikt_generator_outlier = {
    .name = "outlier",
    .help = "the rows of a file, one of them shifted far away in a random direction and marked; "
            "separation in units of the rows' root mean square distance from their mean; label: "
            "the file's",
    .uses = {{"source", ""}, {"separation", "10"}},
    .type = IKT_TYPE_F32,
    .labels = true,
    .prepare = prepare_outlier,
    .release = release,
    .row = row_derived};

const ikt_generator ikt_generator_copies = {
    .name = "copies",
    .help =
        "the rows of a file, and behind them all again, shifted far away in a random direction; "
        "separation as for outlier; label: the file's",
    .uses = {{"source", ""}, {"separation", "10"}},
    .type = IKT_TYPE_F32,
    .labels = true,
    .prepare = prepare_copies,
    .release = release,
    .row = row_derived};
