/* Repeating passes in turn. See harness.h. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"

enum {
    PARTS = 1 + BENCH_LIMITS,
    REPEATS_LEAST = 3,
    REPEATS_MOST = 256,
    PASSES_MOST = 1000,
    GROUP = 8
};

typedef struct {
    double taken[PARTS][REPEATS_MOST]; /* seconds of the quickest pass of a sample */
    int64_t passes[PARTS];             /* one behind the other in a sample */
    int64_t repeats;
} samples;

static const bench_part *part_of(const bench_case *c, int part) {
    return part == 0 ? &c->work : &c->limit[part - 1];
}

/* Seconds of the quickest of so many passes on the slowest rank; adds those of all to *total. */
static double time_passes(bench *b, const bench_part *part, int64_t passes, double *total) {
    double least = 0;
    if (!part->pass) return 0;
    for (int64_t i = 0; i < passes; i++) {
        ikt_barrier(b->ctx);
        double seconds = part->pass(part->self);
        ikt_max_f64(b->ctx, &seconds, 1);
        if (seconds < 1e-9) seconds = 1e-9;
        if (i == 0 || seconds < least) least = seconds;
        *total += seconds;
    }
    return least;
}

/* As many passes of each part as take about as long as one of the longest: what has the machine's
 * attention for long finds its quiet moments. */
static void choose_passes(bench *b, const bench_case *c, samples *s) {
    double once[PARTS], longest = 0, total = 0;
    for (int p = 0; p < PARTS; p++) {
        time_passes(b, part_of(c, p), 1, &total); /* makes plans and touches memory */
        once[p] = time_passes(b, part_of(c, p), 1, &total);
        longest = once[p] > longest ? once[p] : longest;
    }
    for (int p = 0; p < PARTS; p++) {
        double passes = once[p] > 0 ? longest / once[p] : 1;
        s->passes[p] = passes < PASSES_MOST ? (int64_t)(passes + 0.5) : PASSES_MOST;
    }
}

static void repeat(bench *b, const bench_case *c, samples *s) {
    double total = 0, enough = b->seconds * PARTS;
    choose_passes(b, c, s);
    /* Times are those of the slowest rank, so all ranks stop together. */
    for (s->repeats = 0; s->repeats < REPEATS_MOST; s->repeats++) {
        if (s->repeats >= REPEATS_LEAST && total >= enough) break;
        for (int p = 0; p < PARTS; p++)
            s->taken[p][s->repeats] = time_passes(b, part_of(c, p), s->passes[p], &total);
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Amount of all ranks together; amounts are whole numbers. */
static double amount_of(bench *b, const bench_part *part) {
    return (double)ikt_sum_one(b->ctx, (int64_t)part->amount);
}

static double median_of(double *values, int64_t count) {
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[count / 2];
}

static double least_of(const double *values, int64_t count) {
    double least = values[0];
    for (int64_t i = 1; i < count; i++)
        if (values[i] < least) least = values[i];
    return least;
}

/* Median over groups of neighbouring samples of least time over least time. */
static double time_ratio(const double *limit, const double *work, int64_t repeats) {
    double ratio[REPEATS_MOST];
    const int64_t size = repeats < GROUP ? repeats : GROUP, groups = repeats / size;
    for (int64_t g = 0; g < groups; g++)
        ratio[g] = least_of(limit + g * size, size) / least_of(work + g * size, size);
    return median_of(ratio, groups);
}

static void add_limit(bench *b, const bench_case *c, const samples *s, int l, bench_record *r) {
    const double *taken = s->taken[1 + l], amount = amount_of(b, &c->limit[l]);
    snprintf(r->limit[l].name, BENCH_NAME, "%s", c->limit[l].name);
    r->limit[l].rate = amount / least_of(taken, s->repeats);
    r->limit[l].ratio =
        amount_of(b, &c->work) / amount * time_ratio(taken, s->taken[0], s->repeats);
}

static void summarise(bench *b, const bench_case *c, samples *s, bench_record *r) {
    snprintf(r->path, sizeof r->path, "%s", c->path);
    snprintf(r->size, sizeof r->size, "%s", c->size);
    snprintf(r->unit, sizeof r->unit, "%s", c->unit);
    r->repeats = s->repeats;
    for (int l = 0; l < BENCH_LIMITS; l++)
        if (c->limit[l].pass) add_limit(b, c, s, l, r);
    r->median = median_of(s->taken[0], s->repeats);
    r->least = s->taken[0][0];
    r->rate = amount_of(b, &c->work) / r->least;
}

static void print_line(bench *b, const bench_record *r) {
    if (ikt_rank(b->ctx) != 0) return;
    fprintf(stderr, "%-12s %-52s %10.3f ms", r->path, r->size, 1e3 * r->least);
    for (int l = 0; l < BENCH_LIMITS; l++)
        if (r->limit[l].name[0])
            fprintf(stderr, "  %.2f of %s", r->limit[l].ratio, r->limit[l].name);
    fprintf(stderr, "\n");
}

ikt_status bench_measure(bench *b, const bench_case *c) {
    samples *s = NULL;
    ikt_status st = ikt_alloc(b->ctx, &s, 1, sizeof *s, "bench");
    if (st == IKT_OK) st = ikt_resize(b->ctx, &b->record, b->count + 1, sizeof *b->record, "bench");
    st = ikt_agree(b->ctx, st);
    if (st == IKT_OK) {
        repeat(b, c, s);
        summarise(b, c, s, &b->record[b->count]);
        print_line(b, &b->record[b->count++]);
    }
    ikt_free(&s);
    return st;
}

const char *bench_grouped(int64_t value, char *text) {
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)value), at = 0;
    for (int i = 0; i < length && at < 30; i++) {
        if (i > 0 && (length - i) % 3 == 0) text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = '\0';
    return text;
}
