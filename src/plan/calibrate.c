/* Measuring the machine. See machine.h. */
#define _GNU_SOURCE
#include "plan/machine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arrays.h"
#include "base/comm.h"
#include "base/cpu.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/timer.h"
#include "io/convert/table_writer.h"
#include "io/sources/source.h"
#include "isolation/codes_kernel.h"
#include "isolation/similarity.h"
#include "kernelsum/grid.h"
#include "metric/metric.h"

enum {
    TRIES = 5,
    SIDE = 256,         /* rows of a block that is compared with another */
    COLUMNS = 64,       /* of a row of floats */
    CODE_BYTES = 448,   /* of a row of codes */
    CENTRES = 512,      /* of a partitioning, of bytes */
    WIDE_COLUMNS = 784, /* of a row of bytes */
    NUMBERS = 1 << 17,  /* doubles of a thread, which a second-level cache holds */
    GATHERED = 1 << 20, /* readings of them, in random order */
    POINTS = 65536,     /* of a rank, in a map with a padded grid of about 2^20 nodes */
    SPAN = 190,         /* of that map */
    FILE_ROWS = 65536,  /* of a rank, of FILE_COLUMNS floats: 16 MB */
    FILE_COLUMNS = 64,
    SHORT_MESSAGES = 200,
    LONG_BYTES = 4 << 20
};

static const char purpose[] = "calibrate";

double ikt_calibrate_slowest(ikt_context *ctx, double seconds) {
    ikt_max_f64(ctx, &seconds, 1);
    return fmax(seconds, 1e-9);
}

/* --- the processor ------------------------------------------------------------- */

/* What a thread works on. */
typedef struct {
    double *number;  /* [NUMBERS] */
    uint32_t *index; /* [GATHERED] */
    float *packed;   /* rows of floats, for ikt_distance_block; borrowed by all threads */
    float *distance; /* [SIDE * SIDE] */
    uint16_t *equal; /* [SIDE * SIDE] */
    ikt_row_tile tile;
    ikt_centres *centres; /* borrowed by all threads */
    double sum;           /* of what was read, so that no compiler leaves the reading out */
} bench_thread;

/* Each does a fixed piece of work and returns how many operations that were. */
static double multiply_adds(bench_thread *t) {
    enum { REPEATS = 16 };
    for (int i = 0; i < REPEATS; i++)
        ikt_metric_euclidean.on(ikt_cpu_isa())
            ->block((const float *)t->number, SIDE, t->packed, SIDE, COLUMNS, t->distance);
    return (double)REPEATS * SIDE * SIDE * COLUMNS;
}

static double byte_coordinates(bench_thread *t) {
    const ikt_codes_kernel *kernel = ikt_codes_kernel_choose(true, false, ikt_cpu_isa());
    uint32_t cell[IKT_ROW_TILE_MOST];
    ikt_row_tile_assign(kernel, &t->tile, t->centres, cell);
    return (double)t->tile.all.count * CENTRES * WIDE_COLUMNS;
}

static double compares(bench_thread *t) {
    const ikt_code_shape shape = {.t = CODE_BYTES / 2, .stride = CODE_BYTES, .width = 2};
    ikt_similarity_block(ikt_cpu_isa(), shape, t->number, SIDE, t->number + SIDE * CODE_BYTES / 8,
                         SIDE, t->equal, SIDE);
    return (double)SIDE * SIDE * CODE_BYTES;
}

static double gathers(bench_thread *t) {
    double sum = 0;
    for (int64_t e = 0; e < GATHERED; e++)
        sum += t->number[t->index[e]];
    t->sum += sum;
    return GATHERED;
}

/* Operations a second and thread while all threads of all ranks do this work; the best try. */
static double rate_of(ikt_context *ctx, bench_thread *thread, double (*work)(bench_thread *)) {
    const int threads = ikt_threads(ctx);
    double best = 0;
    for (int t = 0; t < TRIES; t++) {
        double slowest = 0, operations = 0;
        ikt_barrier(ctx);
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(max                    \
                                                                            : slowest, operations)
        for (int i = 0; i < threads; i++) {
            const double begin = ikt_now();
            operations = work(&thread[i]);
            slowest = ikt_now() - begin;
        }
        best = fmax(best, operations / ikt_calibrate_slowest(ctx, slowest));
    }
    return best;
}

/* The arrays of all threads, held with the others. */
static ikt_status make_thread(ikt_arrays *held, const ikt_codes_kernel *kernel,
                              const uint8_t *bytes, int number, bench_thread *t) {
    t->number = ikt_claim(held, NUMBERS, sizeof *t->number);
    t->index = ikt_claim(held, GATHERED, sizeof *t->index);
    t->distance = ikt_claim(held, SIDE * SIDE, sizeof *t->distance);
    t->equal = ikt_claim(held, SIDE * SIDE, sizeof *t->equal);
    ikt_row_tile_create(held, kernel, WIDE_COLUMNS, &t->tile);
    IKT_TRY(held->status);
    for (int64_t i = 0; i < NUMBERS; i++)
        t->number[i] = (double)(i % 7);
    for (int64_t e = 0; e < GATHERED; e++)
        t->index[e] = (uint32_t)ikt_rng_below(1, IKT_RNG_SAMPLE, e, (uint64_t)number, NUMBERS);
    ikt_row_tile_stage(kernel, &t->tile, bytes, ikt_smaller(SIDE, t->tile.capacity));
    return IKT_OK;
}

/* Bytes as coordinates, and centres that are rows of them. */
static void fill_centres(const ikt_codes_kernel *kernel, uint8_t *bytes, char *memory,
                         ikt_centres *centres) {
    int64_t index[CENTRES];
    for (int64_t i = 0; i < CENTRES * WIDE_COLUMNS; i++)
        bytes[i] = (uint8_t)(31 * i + i / 251);
    for (int64_t c = 0; c < CENTRES; c++)
        index[c] = c;
    ikt_centres_place(kernel, CENTRES, WIDE_COLUMNS, memory, centres);
    ikt_centres_fill(kernel, centres, bytes, index, NULL);
}

static void measure_rates(ikt_context *ctx, bench_thread *thread, ikt_machine *out) {
    out->compares = rate_of(ctx, thread, compares) / 1e9;
    out->bytes = rate_of(ctx, thread, byte_coordinates) / 1e9;
    out->gathers = rate_of(ctx, thread, gathers) / 1e6;
    for (int i = 0; i < ikt_threads(ctx); i++) /* the other numbers are denormal as floats */
        for (int64_t e = 0; e < SIDE * COLUMNS; e++)
            ((float *)thread[i].number)[e] = (float)(e % 7);
    out->multiply_adds = rate_of(ctx, thread, multiply_adds) / 1e9;
}

static ikt_status measure_processor(ikt_context *ctx, ikt_machine *out) {
    const ikt_codes_kernel *kernel = ikt_codes_kernel_choose(true, false, ikt_cpu_isa());
    const int threads = ikt_threads(ctx);
    ikt_centres centres;
    IKT_ARRAYS(held, ctx, purpose);
    bench_thread *thread = ikt_claim(&held, threads, sizeof *thread);
    float *packed = ikt_claim(&held, ikt_packed_floats(SIDE, COLUMNS), sizeof *packed);
    uint8_t *bytes = ikt_claim(&held, CENTRES * WIDE_COLUMNS, 1);
    char *memory = ikt_claim(&held, ikt_centres_bytes(kernel, CENTRES, WIDE_COLUMNS), 1);
    IKT_TRY(ikt_arrays_agree(&held));
    fill_centres(kernel, bytes, memory, &centres);
    for (int i = 0; i < threads && held.status == IKT_OK; i++) {
        thread[i] = (bench_thread){.packed = packed, .centres = &centres};
        held.status = make_thread(&held, kernel, bytes, i, &thread[i]);
    }
    IKT_TRY(ikt_arrays_agree(&held));
    measure_rates(ctx, thread, out);
    return IKT_OK;
}

/* The transforms of a sum over points at random, by the clock of their stage. */
static ikt_status measure_fft(ikt_context *ctx, ikt_machine *out) {
    ikt_fft_settings fft = ikt_fft_preset(IKT_FFT_DEFAULT);
    const ikt_rows rows =
        ikt_rows_make((int64_t)POINTS * ikt_size(ctx), ikt_size(ctx), ikt_rank(ctx));
    ikt_kernelsum *sums IKT_AT_END(ikt_kernelsum_destroy) = NULL;
    double best = 1e30;
    fft.sharing = IKT_SHARING_REPLICATED;
    IKT_ARRAYS(held, ctx, purpose);
    float *y = ikt_claim(&held, 2 * rows.count, sizeof *y);
    float *gradient = ikt_claim(&held, 2 * rows.count, sizeof *gradient);
    double *phi = ikt_claim(&held, rows.count, sizeof *phi);
    IKT_TRY(ikt_arrays_agree(&held));
    for (int64_t e = 0; e < 2 * rows.count; e++)
        y[e] = (float)(SPAN * ikt_rng_uniform(1, IKT_RNG_SAMPLE, 2 * rows.first + e, 0));
    IKT_TRY(ikt_kernelsum_create_fft(ctx, &rows, ikt_student, &fft, &sums));
    for (int t = 0; t < TRIES; t++) {
        const double before = ikt_stage_seconds(ctx, IKT_STAGE_FFT);
        ikt_kernelsum_evaluate(
            sums, &(ikt_kernelsum_request){.y = y, .value = phi, .gradient = gradient});
        const double took = ikt_stage_seconds(ctx, IKT_STAGE_FFT) - before;
        best = fmin(best, ikt_calibrate_slowest(ctx, took)); /* the first makes FFTW's plans */
    }
    const ikt_grid grid = ikt_grid_fit(&fft, &(ikt_bounds){{0, 0}, {SPAN, SPAN}});
    out->fft = (double)(grid.padded[0] * grid.padded[1]) / best / ikt_threads(ctx) / 1e6;
    return IKT_OK;
}

/* --- files ------------------------------------------------------------------------------------ */

static ikt_status measure_file(ikt_context *ctx, const char *path, ikt_machine *out) {
    const int64_t first = ikt_rank(ctx) * (int64_t)FILE_ROWS;
    ikt_table_writer *writer = NULL;
    ikt_source *source = NULL;
    float *rows = NULL;
    double best = 1e30;
    IKT_TRY(ikt_alloc_all(ctx, &rows, FILE_ROWS * FILE_COLUMNS, sizeof *rows, purpose));
    ikt_status st = ikt_table_create(ctx, path, false, ikt_size(ctx) * (int64_t)FILE_ROWS,
                                     FILE_COLUMNS, IKT_TYPE_F32, false, &writer);
    const bool is_ours = st == IKT_OK;
    if (st == IKT_OK) {
        st = ikt_table_write(writer, first, FILE_ROWS, rows, NULL);
        st = ikt_table_close(&writer, st);
    }
    if (st == IKT_OK) st = ikt_source_open(ctx, path, "X", 0, &source);
    for (int t = 0; t < TRIES && st == IKT_OK; t++) {
        const double begin = ikt_now();
        st = ikt_source_read(source, first, FILE_ROWS, rows);
        best = fmin(best, ikt_calibrate_slowest(ctx, ikt_now() - begin));
    }
    ikt_source_close(&source);
    ikt_free(&rows);
    if (ikt_rank(ctx) == 0 && is_ours) remove(path); /* where writing failed there is none */
    out->file = FILE_ROWS * FILE_COLUMNS * (double)sizeof(float) / best / 1e6;
    return st;
}

/* --- messages --------------------------------------------------------------------------------- */

/* Seconds of passing so many bytes round the ring once; of adding them up where `in` is NULL. */
static double exchange(ikt_context *ctx, char *out, char *in, int64_t bytes, int repeats) {
    const int rank = ikt_rank(ctx), size = ikt_size(ctx);
    double best = 1e30;
    for (int t = 0; t < TRIES; t++) {
        ikt_barrier(ctx);
        const double begin = ikt_now();
        for (int i = 0; i < repeats; i++)
            if (in)
                ikt_send_receive(ctx, out, bytes, (rank + 1) % size, in, bytes,
                                 (rank + size - 1) % size);
            else
                ikt_sum_i64(ctx, (int64_t *)(void *)out, bytes / 8);
        best = fmin(best, ikt_calibrate_slowest(ctx, (ikt_now() - begin) / repeats));
    }
    return best;
}

static ikt_status measure_messages(ikt_context *ctx, ikt_machine *out) {
    const int size = ikt_size(ctx);
    if (size == 1) return IKT_OK;
    IKT_ARRAYS(held, ctx, purpose);
    char *sent = ikt_claim(&held, LONG_BYTES, 1), *received = ikt_claim(&held, LONG_BYTES, 1);
    IKT_TRY(ikt_arrays_agree(&held));
    out->latency = 1e6 * exchange(ctx, sent, received, 8, SHORT_MESSAGES);
    out->bandwidth = LONG_BYTES / exchange(ctx, sent, received, LONG_BYTES, 4) / 1e9;
    const double seconds = exchange(ctx, received, NULL, LONG_BYTES, 1);
    out->reduction = 2.0 * LONG_BYTES * (size - 1) / size / seconds / 1e9;
    return IKT_OK;
}

ikt_status ikt_calibrate(ikt_context *ctx, const char *scratch, ikt_machine *out) {
    char host[256] = "an unknown host";
    if (gethostname(host, sizeof host - 1) != 0) snprintf(host, sizeof host, "an unknown host");
    const int ranks = ikt_size(ctx), threads = ikt_threads(ctx);
    snprintf(out->name, sizeof out->name, "measured with %d rank%s x %d thread%s, %s, on %s", ranks,
             ikt_plural(ranks), threads, ikt_plural(threads), ikt_isa_name(ikt_cpu_isa()), host);
    ikt_broadcast(ctx, out->name, sizeof out->name, 0);
    ikt_log(ctx, IKT_LOG_STAGE, "measuring this machine: messages, files, processor");
    IKT_TRY(measure_messages(ctx, out));
    IKT_TRY(measure_file(ctx, scratch, out));
    IKT_TRY(measure_processor(ctx, out));
    return measure_fft(ctx, out);
}
