/* What this machine can do at best: the yardstick that the benchmarks divide by.
 *
 * Each limit is measured by a loop that does nothing but the operation in question, on all threads
 * of the OpenMP default, best of several short runs (other users of the machine only slow a run
 * down, so the best one is the closest to the truth). Time is the processor time of the slowest
 * thread.
 */
#ifndef IKT_BENCH_LIMITS_H
#define IKT_BENCH_LIMITS_H

#include "base/cpu.h"

/* LOCAL. Billions of float32 operations a second in fused multiply-adds (two operations each) at
 * the widest vectors that `isa` has. */
double ikt_limit_fma(ikt_isa isa);

/* LOCAL. Billions of operations a second (multiplications and additions) in the instruction that
 * multiplies and adds small integers: vpdpbusd with VNNI, vpmaddwd + vpaddd otherwise. */
double ikt_limit_integer(ikt_isa isa);

/* LOCAL. Billions of bytes a second read from memory. */
double ikt_limit_read(void);

/* LOCAL. Processor seconds of the calling thread: on a machine with other users these, unlike wall
 * time, leave out the others' turns. */
double ikt_thread_seconds(void);

#endif
