/* Measuring the machine: the whole, and its transfers. */
#define _GNU_SOURCE
#include "plan/calibrate.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/cpu.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timer.h"
#include "io/convert/table_writer.h"

enum {
    FILE_ROWS = 65536, /* of a rank, of FILE_COLUMNS floats: 16 MB */
    FILE_COLUMNS = 64,
    TRIES = 3,
    SHORT_MESSAGES = 200,
    LONG_BYTES = 4 << 20
};

double ikt_calibrate_slowest(ikt_context *ctx, double seconds) {
    ikt_max_f64(ctx, &seconds, 1);
    return seconds > 1e-9 ? seconds : 1e-9;
}

/* "2 ranks x 4 threads, avx512, on node17" */
static void describe(ikt_context *ctx, char *name) {
    char host[256] = "an unknown host";
    if (gethostname(host, sizeof host - 1) != 0) snprintf(host, sizeof host, "an unknown host");
    snprintf(name, IKT_STRING_MAX, "measured with %d ranks x %d threads, %s, on %s", ikt_size(ctx),
             ikt_threads(ctx), ikt_isa_name(ikt_cpu_isa()), host);
    ikt_broadcast(ctx, name, IKT_STRING_MAX, 0);
}

/* --- files ------------------------------------------------------------------------------------ */

static ikt_status write_rows(ikt_context *ctx, const char *path, const float *rows) {
    ikt_table_writer *writer = NULL;
    int64_t size = ikt_size(ctx), first = ikt_rank(ctx) * (int64_t)FILE_ROWS;
    IKT_TRY(ikt_table_create(ctx, path, true, size * FILE_ROWS, FILE_COLUMNS, IKT_TYPE_F32, false,
                             &writer));
    ikt_status st = ikt_table_write(writer, first, FILE_ROWS, rows, NULL);
    return ikt_table_close(&writer, st);
}

static ikt_status read_rows(ikt_context *ctx, const char *path, float *rows, double *best) {
    ikt_source *source = NULL;
    int64_t first = ikt_rank(ctx) * (int64_t)FILE_ROWS;
    IKT_TRY(ikt_source_open(ctx, path, "X", 0, &source));
    ikt_status st = IKT_OK;
    for (int t = 0; t < TRIES && st == IKT_OK; t++) {
        double begin = ikt_now();
        st = ikt_source_read(source, first, FILE_ROWS, rows);
        double took = ikt_calibrate_slowest(ctx, ikt_now() - begin);
        if (t == 0 || took < *best) *best = took;
    }
    ikt_source_close(&source);
    return st;
}

static ikt_status measure_file(ikt_context *ctx, const char *path, ikt_machine *out) {
    float *rows = NULL;
    double best = 1;
    ikt_status st =
        ikt_agree(ctx, ikt_alloc(ctx, &rows, FILE_ROWS * FILE_COLUMNS, sizeof *rows, "calibrate"));
    if (st == IKT_OK) st = write_rows(ctx, path, rows);
    if (st == IKT_OK) st = read_rows(ctx, path, rows, &best);
    ikt_free(&rows);
    if (ikt_rank(ctx) == 0) remove(path); /* where writing failed there is none */
    out->file = FILE_ROWS * FILE_COLUMNS * (double)sizeof(float) / best / 1e6;
    return st;
}

/* --- messages --------------------------------------------------------------------------------- */

/* Seconds of passing so many bytes round the ring once. */
static double pass_round(ikt_context *ctx, const char *out, char *in, int64_t bytes, int repeats) {
    int rank = ikt_rank(ctx), size = ikt_size(ctx);
    double best = 1e30;
    for (int t = 0; t < TRIES; t++) {
        ikt_barrier(ctx);
        double begin = ikt_now();
        for (int i = 0; i < repeats; i++)
            ikt_send_receive(ctx, out, bytes, (rank + 1) % size, in, bytes,
                             (rank + size - 1) % size);
        double took = ikt_calibrate_slowest(ctx, (ikt_now() - begin) / repeats);
        if (took < best) best = took;
    }
    return best;
}

static double reduce(ikt_context *ctx, int64_t *values, int64_t count) {
    double best = 1e30;
    for (int t = 0; t < TRIES; t++) {
        ikt_barrier(ctx);
        double begin = ikt_now();
        ikt_sum_i64(ctx, values, count);
        double took = ikt_calibrate_slowest(ctx, ikt_now() - begin);
        if (took < best) best = took;
    }
    return best;
}

static ikt_status measure_messages(ikt_context *ctx, ikt_machine *out) {
    char *sent = NULL, *received = NULL;
    int size = ikt_size(ctx);
    if (size == 1) return IKT_OK;
    ikt_status st = ikt_alloc(ctx, &sent, LONG_BYTES, 1, "calibrate");
    if (st == IKT_OK) st = ikt_alloc(ctx, &received, LONG_BYTES, 1, "calibrate");
    st = ikt_agree(ctx, st);
    if (st == IKT_OK) {
        out->latency = 1e6 * pass_round(ctx, sent, received, 8, SHORT_MESSAGES);
        out->bandwidth = LONG_BYTES / pass_round(ctx, sent, received, LONG_BYTES, 4) / 1e9;
        double seconds = reduce(ctx, (int64_t *)(void *)received, LONG_BYTES / 8);
        out->reduction = 2.0 * LONG_BYTES * (size - 1) / size / seconds / 1e9;
    }
    ikt_free(&sent);
    ikt_free(&received);
    return st;
}

ikt_status ikt_calibrate_transfers(ikt_context *ctx, const char *scratch, ikt_machine *out) {
    IKT_TRY(measure_messages(ctx, out));
    return measure_file(ctx, scratch, out);
}

ikt_status ikt_calibrate(ikt_context *ctx, const char *scratch, ikt_machine *out) {
    describe(ctx, out->name);
    ikt_log(ctx, IKT_LOG_STAGE, "measuring this machine: rows, loop, transfers");
    IKT_TRY(ikt_calibrate_transfers(ctx, scratch, out));
    IKT_TRY(ikt_calibrate_rows(ctx, out));
    IKT_TRY(ikt_calibrate_sparse(ctx, out));
    return ikt_calibrate_loop(ctx, out);
}
