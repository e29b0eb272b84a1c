/* Instruction set, affinity mask, placement. */
#ifndef IKT_BASE_CPU_H
#define IKT_BASE_CPU_H

#include <stdbool.h>

#include "base/status.h"

typedef enum {
    IKT_ISA_PORTABLE = 0,
    IKT_ISA_AVX2 = 1,       /* AVX2 and FMA */
    IKT_ISA_AVX512 = 2,     /* AVX-512 F, BW, DQ, VL */
    IKT_ISA_AVX512_VNNI = 3 /* the same with 8-bit dot products */
} ikt_isa;

/* Before a function: compiled for several vector widths, of which the program takes the widest that
 * the processor has. Only for code whose result cannot depend on the width: moves, comparisons and
 * sums in fixed lanes; the second form is for code with fmaf. Not for alternating sums of products,
 * as of complex numbers: GCC 12 fuses these for AVX-512, whatever -ffp-contract says. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) &&       \
    !defined(IKT_SANITIZED) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define IKT_WIDEST_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#define IKT_WIDEST_FUSED   __attribute__((target_clones("avx512f", "fma", "default")))
#else
#define IKT_WIDEST_VECTORS
#define IKT_WIDEST_FUSED
#endif

/* LOCAL. Asks for the line of the cache of an address that will be written, as this processor's
 * own: a line that another one has read would come as a copy, and wait again when it is written.
 * The instruction does nothing on x86-64 processors that lack it. */
static inline void ikt_ask_to_write(const void *address) {
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
#else
    __builtin_prefetch(address, 1);
#endif
}

/* Defines the function name(isa), which returns a function of the given parameters: the inlined
 * `body` with the given arguments, compiled for the instruction set. Parameters and arguments stand
 * in brackets. In place of the above where callers say what to compute with. */
#if defined(__x86_64__)
#define IKT_FOR_EACH_ISA(name, body, parameters, arguments)                                        \
    static void name##_portable parameters {                                                       \
        body arguments;                                                                            \
    }                                                                                              \
    __attribute__((target("avx2"))) static void name##_avx2 parameters {                           \
        body arguments;                                                                            \
    }                                                                                              \
    __attribute__((target("avx512f,avx512dq,avx512vl"))) static void name##_avx512 parameters {    \
        body arguments;                                                                            \
    }                                                                                              \
    static void(*name(ikt_isa isa)) parameters {                                                   \
        return isa >= IKT_ISA_AVX512 ? name##_avx512                                               \
               : isa == IKT_ISA_AVX2 ? name##_avx2                                                 \
                                     : name##_portable;                                            \
    }
#else
#define IKT_FOR_EACH_ISA(name, body, parameters, arguments)                                        \
    static void name##_portable parameters {                                                       \
        body arguments;                                                                            \
    }                                                                                              \
    static void(*name(ikt_isa isa)) parameters {                                                   \
        (void)isa;                                                                                 \
        return name##_portable;                                                                    \
    }
#endif

/* Declares name_portable, name_avx2, ... of a type, which a file NAME.kernel.c defines as
 * IKT_KERNEL(name) and the build compiles once for each instruction set (base/lanes.h); and defines
 * name_for(isa), which gives the address of that for an instruction set. */
#if defined(__x86_64__)
#define IKT_KERNELS(type, name)                                                                    \
    extern type name##_portable, name##_avx2, name##_avx512, name##_avx512_vnni;                   \
    static inline type *name##_for(ikt_isa isa) {                                                  \
        static type *const each[] = {&name##_portable, &name##_avx2, &name##_avx512,               \
                                     &name##_avx512_vnni};                                         \
        return each[isa];                                                                          \
    }
#else
#define IKT_KERNELS(type, name)                                                                    \
    extern type name##_portable;                                                                   \
    static inline type *name##_for(ikt_isa isa) {                                                  \
        (void)isa;                                                                                 \
        return &name##_portable;                                                                   \
    }
#endif

/* LOCAL. The best instruction set of this processor that the program has kernels for, or what the
 * environment variable IKTSNE_ISA (portable, avx2, avx512, avx512_vnni) restricts it to. */
ikt_isa ikt_cpu_isa(void);
const char *ikt_isa_name(ikt_isa isa);

/* LOCAL. Processors in this process's affinity mask. */
int ikt_cpu_mask_count(void);

/* COLLECTIVE. Ranks on this rank's node, and this rank's number among them. */
void ikt_cpu_node_ranks(ikt_context *ctx, int *ranks, int *mine);

/* LOCAL, before MPI. Whether the environment says that a launcher of MPI programs started this
 * process, alone or as one of several. */
bool ikt_cpu_has_launcher(void);

/* LOCAL, before MPI. Whether the environment says that a launcher started this process as one of
 * several: a number of tasks above one, or the number of a rank without one of tasks. The variables
 * of a Slurm job alone say nothing of it: a step sets others. */
bool ikt_cpu_is_one_of_several(void);

/* LOCAL. Whether a launcher gives the size of such a group: not what an MPI of others that has
 * begun in this process leaves in its environment. */
bool ikt_cpu_group_is_announced(void);

/* COLLECTIVE. Checks the launch: fails (IKT_ERR_USAGE) where a launcher announced several tasks but
 * the communicator has one rank; warns where threads outnumber processors; logs the placement. */
ikt_status ikt_cpu_check_launch(ikt_context *ctx);

/* LOCAL. Whether processes may be started from here: not where the environment says IKTSNE_FORK=no,
 * for networks whose driver does not bear it in a process of MPI. */
bool ikt_cpu_may_fork(void);

#endif
