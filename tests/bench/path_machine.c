/* The machine itself: the limits in their own units. */
#include <stdio.h>

#include "limits.h"
#include "paths.h"

enum { STREAM_BYTES = 1 << 28, STREAM_QUICK = 1 << 16 };

static ikt_status measure(bench *b, const char *size, const char *unit, bench_pass *pass,
                          void *self, double amount) {
    bench_case c = {.path = "machine", .unit = unit, .work = {NULL, pass, self, amount}};
    snprintf(c.size, sizeof c.size, "%s", size);
    return bench_measure(b, &c);
}

static ikt_status measure_arithmetic(bench *b) {
    bench_cores cores = {ikt_cpu_isa(), ikt_threads(b->ctx)};
    IKT_TRY(measure(b, "float32 multiply-adds", "operations", bench_pass_fma, &cores,
                    bench_fma_operations(&cores)));
    return measure(b, "small integer multiply-adds", "operations", bench_pass_dot, &cores,
                   bench_dot_operations(&cores));
}

static ikt_status measure_memory(bench *b) {
    bench_stream stream, near;
    IKT_TRY(ikt_agree(
        b->ctx, bench_stream_create(b->ctx, b->quick ? STREAM_QUICK : STREAM_BYTES, &stream)));
    ikt_status st = ikt_agree(b->ctx, bench_near_create(b->ctx, &near));
    double bytes = (double)stream.bytes;
    if (st == IKT_OK)
        st = measure(b, "reading 256 KiB a thread", "bytes", bench_pass_read, &near,
                     bench_near_bytes(&near));
    if (st == IKT_OK) st = measure(b, "reading 256 MiB", "bytes", bench_pass_read, &stream, bytes);
    if (st == IKT_OK) st = measure(b, "copying 256 MiB", "bytes", bench_pass_copy, &stream, bytes);
    bench_stream_destroy(&near);
    bench_stream_destroy(&stream);
    return st;
}

ikt_status bench_path_machine(bench *b) {
    IKT_TRY(measure_arithmetic(b));
    return measure_memory(b);
}
