/* What this machine can do at best: the yardsticks that hot paths are held against.
 *
 * Each is a pass that does nothing but the operation in question, on all threads, for about a
 * millisecond; the harness repeats it beside the path.
 */
#ifndef IKT_BENCH_LIMITS_H
#define IKT_BENCH_LIMITS_H

#include <stdint.h>

#include "base/cpu.h"
#include "base/status.h"

/* The arithmetic units of so many threads. */
typedef struct {
    ikt_isa isa;
    int threads;
} bench_cores;

/* LOCAL. A pass of fused multiply-adds in float32 at the widest vectors of the instruction set, and
 * the operations that it does: two for each lane of each instruction. self: bench_cores. */
double bench_pass_fma(void *self);
double bench_fma_operations(const bench_cores *cores);

/* LOCAL. The same with the instruction that multiplies and adds small integers: vpdpbusd with VNNI,
 * vpmaddwd and vpaddd otherwise; a multiplication and an addition count as two. */
double bench_pass_dot(void *self);
double bench_dot_operations(const bench_cores *cores);

/* Memory that passes go through. */
typedef struct {
    bench_cores cores;
    int64_t bytes;
    int64_t rounds; /* that a reading pass makes: more than one for memory that stays in cache */
    char *from, *to;
} bench_stream;

/* LOCAL. Errors: IKT_ERR_RESOURCE. */
ikt_status bench_stream_create(ikt_context *ctx, int64_t bytes, bench_stream *out);
void bench_stream_destroy(bench_stream *stream);

/* LOCAL. As much memory for each thread as half a second-level cache holds, read `rounds` times in
 * a pass. Errors: IKT_ERR_RESOURCE. */
ikt_status bench_near_create(ikt_context *ctx, bench_stream *out);
double bench_near_bytes(const bench_stream *stream);

/* LOCAL. Copies `bytes` bytes, reads them; each thread its own share. self: bench_stream. */
double bench_pass_copy(void *self);
double bench_pass_read(void *self);

#endif
