/* A source without missing values. See missing.h. */
#include "data/missing.h"

#include <math.h>
#include <string.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/exact_sum.h"
#include "base/log.h"
#include "base/sort.h"
#include "io/sources/source_ops.h"

static const char purpose[] = "missing values";

typedef struct {
    ikt_source *from;
    bool owns;
    double *fill;     /* [d], or NULL: rows are dropped */
    int64_t *dropped; /* [count] ascending, the same on all ranks */
    int64_t count;
    void *block; /* [block_rows] rows of `from`, while rows are dropped */
    int64_t block_rows;
    int64_t *labels; /* [block_rows], likewise */
} missing_self;

/* --- rows and their numbers in the other source ----------------------------------------------- */

/* LOCAL. The number in the other source of row `row` of those that are left: beyond dropped[k] lie
 * k + 1 numbers more. */
static int64_t original_row(const missing_self *self, int64_t row) {
    int64_t k;
    IKT_FIND_FIRST(k, 0, self->count, self->dropped[k] - k > row);
    return row + k;
}

static bool is_dropped(const missing_self *self, int64_t original) {
    return ikt_find_i64(self->dropped, self->count, original) >= 0;
}

static void put_values(const ikt_source *source, void *rows, int64_t count) {
    const missing_self *self = source->self;
    for (int64_t e = 0; e < count * source->d; e++) {
        const int64_t k = e % source->d;
        if (source->type == IKT_TYPE_F32) {
            float *x = rows;
            if (isnan(x[e])) x[e] = (float)self->fill[k];
        } else {
            double *x = rows;
            if (isnan(x[e])) x[e] = self->fill[k];
        }
    }
}

/* COLLECTIVE. Goes through the rows of the other source that hold rows first .. first + count - 1
 * of those that are left, a block at a time, and copies what is not dropped. read    reads rows of
 * the other source to `block` bytes   of a row */
static ikt_status read_left(ikt_source *source, int64_t first, int64_t count,
                            ikt_status (*read)(missing_self *self, int64_t first, int64_t count,
                                               void *argument),
                            void *argument, const void *block, size_t bytes, void *out) {
    missing_self *self = source->self;
    const int64_t from = count > 0 ? original_row(self, first) : 0;
    const int64_t end = count > 0 ? original_row(self, first + count - 1) + 1 : 0;
    const ikt_row_range range = {from, end - from};
    const int64_t steps = ikt_stream_steps(source->ctx, range.count, self->block_rows);
    char *to = out;
    for (int64_t step = 0; step < steps; step++) {
        const ikt_row_range at = ikt_stream_step(range, self->block_rows, step);
        IKT_TRY(read(self, at.count > 0 ? at.first : 0, at.count, argument));
        for (int64_t i = 0; i < at.count; i++) {
            if (is_dropped(self, at.first + i)) continue;
            memcpy(to, (const char *)block + (size_t)i * bytes, bytes);
            to += bytes;
        }
    }
    return IKT_OK;
}

static ikt_status read_block(missing_self *self, int64_t first, int64_t count, void *argument) {
    (void)argument;
    return ikt_source_read(self->from, first, count, self->block);
}

static ikt_status missing_read(ikt_source *source, int64_t first, int64_t count, void *rows) {
    missing_self *self = source->self;
    const size_t bytes = (size_t)source->d * ikt_type_size(source->type);
    if (!self->fill)
        return read_left(source, first, count, read_block, NULL, self->block, bytes, rows);
    IKT_TRY(ikt_source_read(self->from, first, count, rows));
    put_values(source, rows, count);
    return IKT_OK;
}

/* --- what stands beside the rows -------------------------------------------------------------- */

typedef struct {
    const char *name;
    bool present;
} named_labels;

static ikt_status read_label_block(missing_self *self, int64_t first, int64_t count,
                                   void *argument) {
    named_labels *named = argument;
    return ikt_source_read_labels(self->from, named->name, first, count, self->labels,
                                  &named->present);
}

static ikt_status missing_labels(ikt_source *source, const char *name, int64_t first, int64_t count,
                                 int64_t *labels, bool *present) {
    missing_self *self = source->self;
    named_labels named = {name, false};
    if (self->fill) return ikt_source_read_labels(self->from, name, first, count, labels, present);
    ikt_status st = read_left(source, first, count, read_label_block, &named, self->labels,
                              sizeof *labels, labels);
    *present = named.present;
    return st;
}

static ikt_status missing_marked(ikt_source *source, int64_t **rows, int64_t *count) {
    missing_self *self = source->self;
    int64_t left = 0;
    IKT_TRY(ikt_source_read_marked(self->from, rows, count));
    for (int64_t m = 0; m < *count; m++) {
        int64_t before;
        IKT_FIND_FIRST(before, 0, self->count, self->dropped[before] >= (*rows)[m]);
        if (!is_dropped(self, (*rows)[m])) (*rows)[left++] = (*rows)[m] - before;
    }
    *count = left;
    return IKT_OK;
}

static void missing_close(ikt_source *source) {
    missing_self *self = source->self;
    if (self->owns) ikt_source_close(&self->from);
    ikt_free_all(&self->fill, &self->dropped, &self->block, &self->labels);
}

static const ikt_source_ops missing_ops = {.self_bytes = sizeof(missing_self),
                                           .read = missing_read,
                                           .read_labels = missing_labels,
                                           .read_marked = missing_marked,
                                           .close = missing_close};

const double *ikt_missing_fill(const ikt_source *source) {
    return source->ops == &missing_ops ? ((missing_self *)source->self)->fill : NULL;
}

bool ikt_missing_drops(const ikt_source *source) {
    return source->ops == &missing_ops && ((missing_self *)source->self)->count > 0;
}

int64_t ikt_missing_original(const ikt_source *source, int64_t row) {
    return ikt_missing_drops(source) ? original_row(source->self, row) : row;
}

/* --- what is missing -------------------------------------------------------------------------- */

typedef struct {
    ikt_context *ctx;
    int64_t d;
    double *sum;          /* [d] of the block so far, of values that are there */
    ikt_exact_sum *total; /* [d] */
    int64_t *absent;      /* [d] */
    int64_t *row;         /* [rows] of this rank with a missing value, ascending */
    int64_t rows, capacity;
    ikt_status status;
} counts;

/* Grows by doubling; there are few of them as a rule. */
static void note_row(counts *c, int64_t row) {
    if (c->status == IKT_OK && c->rows == c->capacity) {
        c->capacity = c->capacity > 0 ? 2 * c->capacity : 1024;
        c->status = ikt_resize(c->ctx, &c->row, c->capacity, sizeof *c->row, purpose);
    }
    if (c->status == IKT_OK) c->row[c->rows++] = row;
}

/* Values that are not finite, but not missing, make no mean; the next pass over the rows refuses
 * them with their place. */
static void count_rows(ikt_context *ctx, void *self, const double *rows, ikt_row_range part,
                       bool is_end) {
    counts *c = self;
    (void)ctx;
    for (int64_t i = 0; i < part.count; i++) {
        bool any = false;
        for (int64_t k = 0; k < c->d; k++) {
            const double x = rows[i * c->d + k];
            c->absent[k] += isnan(x);
            any |= isnan(x);
            if (isfinite(x)) c->sum[k] += x;
        }
        if (any) note_row(c, part.first + i);
    }
    for (int64_t k = 0; is_end && k < c->d; k++) {
        ikt_exact_sum_add(&c->total[k], c->sum[k]);
        c->sum[k] = 0;
    }
}

/* COLLECTIVE. The pass; sums and counts are those of all ranks in the end, rows those of each. */
static ikt_status count_missing(ikt_context *ctx, const ikt_row_reader *reader, counts *c) {
    *c = (counts){.ctx = ctx, .d = reader->d};
    IKT_ARRAYS(held, ctx, purpose);
    c->sum = ikt_claim_kept(&held, c->d, sizeof *c->sum);
    c->total = ikt_claim_kept(&held, c->d, sizeof *c->total);
    c->absent = ikt_claim_kept(&held, c->d, sizeof *c->absent);
    IKT_TRY(ikt_arrays_agree(&held));
    IKT_TRY(ikt_blocks_read(ctx, reader, c, count_rows));
    IKT_TRY(ikt_agree(ctx, c->status));
    ikt_exact_sum_reduce(ctx, c->total, c->d);
    ikt_sum_i64(ctx, c->absent, c->d);
    for (int64_t k = 0; k < c->d; k++)
        if (c->absent[k] == reader->n)
            return ikt_fail(ctx, IKT_ERR_DATA,
                            "%s, column %lld (counted from 0) has no value at all: remove the "
                            "column",
                            reader->name, (long long)k);
    return IKT_OK;
}

static void counts_free(counts *c) {
    ikt_free_all(&c->sum, &c->total, &c->absent, &c->row);
}

/* --- medians ---------------------------------------------------------------------------------- */

/* The two middle values of each column that lacks some, found together: counting the values that
 * begin with the bytes found so far by their next byte, eight times. */
typedef struct {
    int64_t d, wanted;
    const int64_t *column; /* [wanted] */
    uint64_t *key;         /* [2 * wanted] bytes found so far, the lowest ones the newest */
    int64_t *before;       /* [2 * wanted] values with these bytes that are to be passed over */
    int64_t *histogram;    /* [2 * wanted * 256] */
    int step;              /* bytes found */
} selection;

/* A number whose order as an unsigned integer is that of the value; -0 is 0. */
static uint64_t key_of(double value) {
    uint64_t bits;
    const double canonical = value == 0 ? 0 : value;
    memcpy(&bits, &canonical, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double value_of(uint64_t key) {
    const uint64_t bits = key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void count_bytes(ikt_context *ctx, void *self, const double *rows, ikt_row_range part,
                        bool is_end) {
    selection *s = self;
    const int rest = 64 - 8 * s->step;
    (void)is_end;
#pragma omp parallel for num_threads(ikt_threads(ctx))
    for (int64_t w = 0; w < 2 * s->wanted; w++)
        for (int64_t i = 0; i < part.count; i++) {
            const double x = rows[i * s->d + s->column[w / 2]];
            if (isnan(x)) continue;
            const uint64_t key = key_of(x);
            if (s->step > 0 && key >> rest != s->key[w]) continue;
            s->histogram[w * 256 + (int64_t)(key >> (rest - 8) & 255)]++;
        }
}

/* COLLECTIVE. Finds the next byte of all. */
static ikt_status find_byte(ikt_context *ctx, const ikt_row_reader *reader, selection *s) {
    memset(s->histogram, 0, (size_t)(2 * s->wanted * 256) * sizeof *s->histogram);
    IKT_TRY(ikt_blocks_read(ctx, reader, s, count_bytes));
    ikt_sum_i64(ctx, s->histogram, 2 * s->wanted * 256);
    for (int64_t w = 0; w < 2 * s->wanted; w++) {
        uint64_t byte = 0;
        while (s->before[w] >= s->histogram[w * 256 + (int64_t)byte])
            s->before[w] -= s->histogram[w * 256 + (int64_t)byte++];
        s->key[w] = s->key[w] << 8 | byte;
    }
    s->step++;
    return IKT_OK;
}

/* COLLECTIVE. Medians of the columns that lack values, into `fill`. */
static ikt_status find_medians(ikt_context *ctx, const ikt_row_reader *reader,
                               const int64_t *absent, double *fill) {
    selection s = {.d = reader->d};
    IKT_ARRAYS(held, ctx, purpose);
    int64_t *column = ikt_claim(&held, s.d, sizeof *column);
    for (int64_t k = 0; column && k < s.d; k++)
        if (absent[k] > 0) column[s.wanted++] = k;
    s.column = column;
    s.key = ikt_claim(&held, 2 * s.wanted, sizeof *s.key);
    s.before = ikt_claim(&held, 2 * s.wanted, sizeof *s.before);
    s.histogram = ikt_claim(&held, 2 * s.wanted * 256, sizeof *s.histogram);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t w = 0; w < s.wanted; w++) {
        const int64_t there = reader->n - absent[column[w]];
        s.before[2 * w] = (there - 1) / 2;
        s.before[2 * w + 1] = there / 2;
    }
    while (s.wanted > 0 && s.step < 8)
        IKT_TRY(find_byte(ctx, reader, &s));
    for (int64_t w = 0; w < s.wanted; w++)
        fill[column[w]] = value_of(s.key[2 * w]) / 2 + value_of(s.key[2 * w + 1]) / 2;
    return IKT_OK;
}

/* --- making the source ------------------------------------------------------------------------ */

static void log_missing(ikt_context *ctx, const ikt_source *from, const counts *c,
                        ikt_missing how) {
    static const char *const done[] = {[IKT_MISSING_MEAN] = "; each gets the mean of its column",
                                       [IKT_MISSING_MEDIAN] =
                                           "; each gets the median of its column",
                                       [IKT_MISSING_DROP] = "; these rows are left out"};
    int64_t values = 0, columns = 0;
    const int64_t rows = ikt_sum_one(ctx, c->rows);
    for (int64_t k = 0; k < c->d; k++) {
        values += c->absent[k];
        columns += c->absent[k] > 0;
    }
    ikt_log_numbers(ctx, IKT_LOG_STAGE,
                    IKT_LOG_NUMBERS(IKT_LOG_INT("values", values), IKT_LOG_INT("rows", rows),
                                    IKT_LOG_INT("columns", columns)),
                    "%s: %lld values are missing, in %lld rows and %lld columns%s",
                    ikt_source_name(from), (long long)values, (long long)rows, (long long)columns,
                    values > 0 ? done[how] : "");
}

/* COLLECTIVE. The rows with missing values of all ranks, and what it takes to pass over them. */
static ikt_status gather_dropped(ikt_context *ctx, const ikt_source *from, const counts *c,
                                 missing_self *self) {
    const int64_t d = ikt_source_columns(from);
    self->count = ikt_sum_one(ctx, c->rows);
    self->block_rows = ikt_stream_rows(d, (int64_t)sizeof(double));
    IKT_ARRAYS(held, ctx, purpose);
    int64_t *each = ikt_claim(&held, ikt_size(ctx), sizeof *each);
    self->dropped = ikt_claim_kept(&held, self->count, sizeof *self->dropped);
    self->block = ikt_claim_kept(&held, self->block_rows * d, ikt_type_size(ikt_source_type(from)));
    self->labels = ikt_claim_kept(&held, self->block_rows, sizeof *self->labels);
    IKT_TRY(ikt_arrays_agree(&held));
    ikt_gather_counts(ctx, c->rows, each);
    ikt_allgather(ctx, c->row, c->rows, sizeof *c->row, self->dropped, each);
    if (self->count == ikt_source_rows(from))
        return ikt_fail(
            ctx, IKT_ERR_DATA,
            "%s: every row has a missing value, so that preprocess.missing: drop leaves "
            "none; take mean or median, or remove the columns that lack most",
            ikt_source_name(from));
    return IKT_OK;
}

/* COLLECTIVE. What the source on top needs, from passes over the other one. */
static ikt_status look_at_rows(ikt_context *ctx, ikt_missing how, missing_self *self) {
    const int64_t d = ikt_source_columns(self->from), n = ikt_source_rows(self->from);
    ikt_raw_rows raw IKT_AT_END(ikt_raw_rows_destroy) = {0};
    ikt_row_reader reader;
    counts c IKT_AT_END(counts_free) = {.d = 0};
    IKT_TRY(ikt_raw_rows_create(ctx, self->from, &raw, &reader));
    IKT_TRY(count_missing(ctx, &reader, &c));
    log_missing(ctx, self->from, &c, how);
    if (how == IKT_MISSING_DROP) return gather_dropped(ctx, self->from, &c, self);
    IKT_TRY(ikt_alloc_all(ctx, &self->fill, d, sizeof *self->fill, purpose));
    for (int64_t k = 0; k < d; k++)
        self->fill[k] = ikt_exact_sum_value(&c.total[k]) / (double)(n - c.absent[k]);
    return how == IKT_MISSING_MEDIAN ? find_medians(ctx, &reader, c.absent, self->fill) : IKT_OK;
}

ikt_status ikt_missing_open(ikt_context *ctx, ikt_source *from, bool owns, ikt_missing how,
                            const double *fill, ikt_source **out) {
    *out = NULL;
    if (how == IKT_MISSING_REFUSE || ikt_source_type(from) == IKT_TYPE_U8) return IKT_OK;
    if (ikt_source_is_sparse(from))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "preprocess.missing is for dense rows, and %s is sparse: what is not there "
                        "counts as 0",
                        ikt_source_name(from));
    IKT_TRY(ikt_source_new(ctx, &missing_ops, from->format, ikt_source_name(from), "", out));
    missing_self *self = (*out)->self;
    self->from = (*out)->from = from;
    ikt_status st = IKT_OK;
    if (fill && how != IKT_MISSING_DROP) {
        st = ikt_alloc_all(ctx, &self->fill, from->d, sizeof *self->fill, purpose);
        if (st == IKT_OK) memcpy(self->fill, fill, (size_t)from->d * sizeof *fill);
    } else {
        st = look_at_rows(ctx, how, self);
    }
    (*out)->d = from->d;
    (*out)->type = from->type;
    (*out)->n = (*out)->n_file = from->n - self->count;
    self->owns = owns && st == IKT_OK && (self->fill || self->count > 0);
    if (st != IKT_OK || !(self->fill || self->count > 0)) ikt_source_close(out);
    return st;
}

/* --- the rows of a source as they are --------------------------------------------------------- */

void ikt_widen(ikt_type type, const void *from, int64_t count, double *to) {
    if (type == IKT_TYPE_U8) {
        const uint8_t *x = from;
        for (int64_t i = 0; i < count; i++)
            to[i] = x[i];
    } else if (type == IKT_TYPE_F32) {
        const float *x = from;
        for (int64_t i = 0; i < count; i++)
            to[i] = (double)x[i];
    } else {
        const double *x = from;
        for (int64_t i = 0; i < count; i++)
            to[i] = x[i];
    }
}

static ikt_status read_raw(void *self, int64_t first, int64_t count, double *rows) {
    ikt_raw_rows *raw = self;
    const int64_t d = ikt_source_columns(raw->source);
    const ikt_type type = ikt_source_type(raw->source);
    const int64_t bytes = d * (int64_t)ikt_type_size(type);
    IKT_TRY(ikt_source_read(raw->source, first, count, raw->native));
#pragma omp parallel for schedule(static) num_threads(ikt_threads(raw->ctx))
    for (int64_t i = 0; i < count; i++)
        ikt_widen(type, (const char *)raw->native + i * bytes, d, rows + i * d);
    return IKT_OK;
}

ikt_status ikt_raw_rows_create(ikt_context *ctx, ikt_source *source, ikt_raw_rows *out,
                               ikt_row_reader *reader) {
    const int64_t n = ikt_source_rows(source), d = ikt_source_columns(source);
    const int64_t values = ikt_stream_rows(d, (int64_t)sizeof(double)) * d;
    *out = (ikt_raw_rows){ctx, source, NULL};
    *reader = (ikt_row_reader){read_raw, out, n, d, ikt_source_name(source)};
    return ikt_alloc_all(ctx, &out->native, values, ikt_type_size(ikt_source_type(source)),
                         "row blocks");
}

void ikt_raw_rows_destroy(ikt_raw_rows *rows) {
    ikt_free(&rows->native);
}
