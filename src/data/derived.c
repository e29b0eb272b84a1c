/* Sets made of a given one, that show what a method does to the structure of data: the tests of
 * Amid and Warmuth 2019 (TriMap), section 2.
 *
 *   subset    some rows, or the rows of some classes: an embedding should keep its arrangement
 *   outlier   one row is shifted far away: an embedding should show it
 *   copies    every row again, shifted far away: an embedding should show two copies
 * Method: every rank holds the source as float32, and a row is a source row plus a multiple of a
 * fixed shift. Advantage: what should be seen is known. Disadvantage: the source must fit into each
 * rank's memory. Lengths are in units of the root mean square distance of the source's rows from
 * their mean; directions are drawn evenly. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/rng.h"
#include "data/generate.h"

/* Draws of purpose IKT_RNG_SHAPE, row 0: the directions of the shift come first. */
enum { ROW_OF_SUBSET = 1, ROW_OF_OUTLIER = 2 };

typedef struct {
    int64_t n;
    float *x;        /* [n * columns] the source */
    int32_t *labels; /* [n], or NULL */
    float *shift;    /* [columns] */
    int64_t *row;    /* [points] source row of each row; NULL: row modulo n */
} derived;

static void release(void *state) {
    derived *s = state;
    ikt_free_all(&s->x, &s->labels, &s->shift, &s->row);
}

/* COLLECTIVE. Reads the source; what follows is the same on every rank. */
static ikt_status open_source(ikt_generation *g, derived **out) {
    ikt_source *source IKT_AT_END(ikt_source_close) = NULL;
    void *x = NULL;
    IKT_TRY(ikt_source_open(g->ctx, g->settings.source, "X", 0, &source));
    g->columns = ikt_source_columns(source);
    IKT_TRY(ikt_alloc_all(g->ctx, out, 1, sizeof **out, "source"));
    derived *s = g->state = *out;
    s->n = ikt_source_rows(source);
    const ikt_status st = ikt_generate_load(g, source, IKT_TYPE_F32, &x, &s->labels);
    s->x = x;
    g->has_labels = st == IKT_OK && s->labels;
    return st;
}

/* A shift in a random direction, in units of the root mean square distance of the rows from their
 * mean; sums are taken in a fixed order. */
static ikt_status draw_shift(ikt_generation *g, derived *s) {
    const int64_t d = g->columns;
    double length = 0, sum = 0;
    IKT_ARRAYS(held, g->ctx, "source");
    s->shift = ikt_claim_kept(&held, d, sizeof *s->shift);
    double *work = ikt_claim(&held, d, sizeof *work);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t i = 0; i < s->n; i++) /* the mean */
        for (int64_t c = 0; c < d; c++)
            work[c] += (double)s->x[i * d + c] / (double)s->n;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t c = 0; c < d; c++) {
            const double off = (double)s->x[i * d + c] - work[c];
            sum += off * off;
        }
    const double wanted = g->settings.separation * sqrt(sum / (double)s->n);
    for (int64_t c = 0; c < d; c++) { /* the direction */
        work[c] = ikt_rng_normal(g->seed, IKT_RNG_SHAPE, 0, (uint64_t)c);
        length += work[c] * work[c];
    }
    for (int64_t c = 0; c < d; c++)
        s->shift[c] = (float)(work[c] * wanted / sqrt(length));
    return IKT_OK;
}

/* Whether the text is "all", or a list such as "0,2,4". */
static bool is_list(const char *text) {
    char *end;
    if (strcmp(text, "all") == 0) return true;
    for (const char *at = text; *at; at = *end ? end + 1 : end) {
        (void)strtoll(at, &end, 10);
        if (end == at || (*end != ',' && *end != '\0')) return false;
    }
    return true;
}

/* Whether such a list holds the number; "all" holds any. */
static bool list_has(const char *list, int64_t number) {
    char *end;
    bool found = strcmp(list, "all") == 0;
    for (const char *at = list; *at && !found; at = *end ? end + 1 : end)
        found = strtoll(at, &end, 10) == number;
    return found;
}

/* The rows of the wanted classes into s->row. */
static ikt_status choose_classes(ikt_generation *g, derived *s, int64_t *count) {
    const char *classes = g->settings.classes;
    if (!is_list(classes))
        return ikt_fail(g->ctx, IKT_ERR_USAGE,
                        "subset: classes: '%s' is not a list of labels such as 0,2,4", classes);
    if (strcmp(classes, "all") != 0 && !s->labels)
        return ikt_fail(g->ctx, IKT_ERR_DATA, "subset: %s has no labels to choose classes by",
                        g->settings.source);
    IKT_TRY(ikt_alloc(g->ctx, &s->row, s->n, sizeof *s->row, "source"));
    *count = 0;
    for (int64_t i = 0; i < s->n; i++)
        if (list_has(classes, s->labels ? s->labels[i] : 0)) s->row[(*count)++] = i;
    if (*count > 0) return IKT_OK;
    return ikt_fail(g->ctx, IKT_ERR_DATA, "subset: %s has no row of the classes %s",
                    g->settings.source, classes);
}

/* Draws the wanted share of the chosen rows, which stay in their order. */
static ikt_status draw_share(ikt_generation *g, derived *s, int64_t count) {
    const int64_t wanted = llround(g->settings.share * (double)count);
    const int64_t points = wanted < 1 ? 1 : wanted, slots = ikt_draw_slots(points);
    g->settings.points = points;
    if (points == count) return IKT_OK;
    IKT_ARRAYS(held, g->ctx, "source");
    int64_t *drawn = ikt_claim(&held, points, sizeof *drawn);
    int64_t *slot = ikt_claim(&held, slots, sizeof *slot);
    IKT_TRY(held.status);
    ikt_draw_subset(g->seed, IKT_RNG_SHAPE, ROW_OF_SUBSET, count, points, slot, slots, drawn);
    for (int64_t i = 0; i < points; i++)
        s->row[i] = s->row[drawn[i]]; /* drawn[i] >= i: not overwritten yet */
    return IKT_OK;
}

static ikt_status prepare_subset(ikt_generation *g) {
    derived *s = NULL;
    int64_t count = 0;
    IKT_TRY(open_source(g, &s));
    ikt_status st = choose_classes(g, s, &count);
    if (st == IKT_OK) st = draw_share(g, s, count);
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
    if (s->labels) *label = s->labels[from];
}

const ikt_generator ikt_generator_subset = {
    .name = "subset",
    .help = "a share of the rows of a file, drawn at random, or of the rows of some classes; the "
            "labels are those of the file",
    .uses = {{"source", ""}, {"share", "1"}, {"classes", "all"}},
    .type = IKT_TYPE_F32,
    .labels = true,
    .prepare = prepare_subset,
    .release = release,
    .row = row_derived};

const ikt_generator ikt_generator_outlier = {
    .name = "outlier",
    .help = "the rows of a file, one of which is shifted far away in a random direction and "
            "marked; the separation is in units of the root mean square distance of the rows from "
            "their mean; the labels are those of the file",
    .uses = {{"source", ""}, {"separation", "10"}},
    .type = IKT_TYPE_F32,
    .labels = true,
    .prepare = prepare_outlier,
    .release = release,
    .row = row_derived};

const ikt_generator ikt_generator_copies = {
    .name = "copies",
    .help = "the rows of a file, and after them all of them again, shifted far away in a random "
            "direction; the separation is as for outlier; the labels are those of the file",
    .uses = {{"source", ""}, {"separation", "10"}},
    .type = IKT_TYPE_F32,
    .labels = true,
    .prepare = prepare_copies,
    .release = release,
    .row = row_derived};
