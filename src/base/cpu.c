/* Instruction set, affinity mask, placement, and the check of the launch. See cpu.h. */
#define _GNU_SOURCE
#include "base/cpu.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/context.h"
#include "base/log.h"

static const char *const isa_names[] = {"portable", "avx2", "avx512", "avx512_vnni"};

ikt_isa ikt_cpu_isa(void) {
    const char *named = getenv("IKTSNE_ISA");
    ikt_isa best = IKT_ISA_PORTABLE;
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) best = IKT_ISA_AVX2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        best = __builtin_cpu_supports("avx512vnni") ? IKT_ISA_AVX512_VNNI : IKT_ISA_AVX512;
#endif
    for (int i = 0; named && i <= (int)best; i++)
        if (strcmp(named, isa_names[i]) == 0) return (ikt_isa)i;
    return best;
}

const char *ikt_isa_name(ikt_isa isa) {
    return isa_names[isa];
}

int ikt_cpu_mask_count(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN); /* more processors than a cpu_set_t holds */
    return online > 0 ? (int)online : 1;
}

void ikt_cpu_node_ranks(ikt_context *ctx, int *ranks, int *mine) {
    MPI_Comm node;
    *ranks = 1;
    *mine = 0;
    if (MPI_Comm_split_type(ctx->comm, MPI_COMM_TYPE_SHARED, ctx->rank, MPI_INFO_NULL, &node) !=
        MPI_SUCCESS)
        return;
    MPI_Comm_size(node, ranks);
    MPI_Comm_rank(node, mine);
    MPI_Comm_free(&node);
}

/* Variables by which launchers tell a process of its group. The innermost launcher stands first:
 * ranks of Open MPI's mpirun also see the Slurm step that holds its daemons, one a node. */
static const char *const group_sizes[] = {
    "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",      "MV2_COMM_WORLD_SIZE", "MPI_LOCALNRANKS",
    "JSM_NAMESPACE_SIZE",   "FLUX_JOB_SIZE", "SLURM_STEP_NUM_TASKS"};
static const char *const group_ranks[] = {"PMIX_RANK",
                                          "PMI_RANK",
                                          "PALS_RANKID",
                                          "ALPS_APP_PE",
                                          "PMIX_NAMESPACE",
                                          "PMI_FD",
                                          "OMPI_MCA_orte_ess_num_procs"};
enum {
    GROUP_SIZES = sizeof group_sizes / sizeof *group_sizes,
    GROUP_RANKS = sizeof group_ranks / sizeof *group_ranks
};

static bool is_set(const char *const *names, int count) {
    for (int i = 0; i < count; i++)
        if (getenv(names[i])) return true;
    return false;
}

bool ikt_cpu_has_launcher(void) {
    return is_set(group_sizes, GROUP_SIZES) || is_set(group_ranks, GROUP_RANKS);
}

bool ikt_cpu_group_is_announced(void) {
    for (int i = 0; i < GROUP_SIZES; i++)
        if (getenv(group_sizes[i]) && atoi(getenv(group_sizes[i])) > 1) return true;
    return false;
}

bool ikt_cpu_is_one_of_several(void) {
    if (ikt_cpu_group_is_announced()) return true;
    return is_set(group_ranks, GROUP_RANKS) && !is_set(group_sizes, GROUP_SIZES);
}

/* SAME-ARGS. Inside an allocation of Slurm without a step, a plain start is one rank: worth
 * refusing as well, since as many tasks were asked for and paid for. */
static ikt_status check_tasks(ikt_context *ctx) {
    const char *variable = NULL;
    int tasks = 0; /* that a launcher announced in the environment */
    for (int i = 0; i <= GROUP_SIZES && tasks < 1; i++) {
        variable = i < GROUP_SIZES ? group_sizes[i] : "SLURM_NTASKS";
        tasks = getenv(variable) ? atoi(getenv(variable)) : 0;
    }
    if (ctx->size > 1 || tasks <= 1 || ikt_is_alone(ctx)) return IKT_OK;
    if (!ikt_mpi_is_there())
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "%s announces %d tasks, and this iktsne was built for one process: unset "
                        "%s to run on one, or build it with MPI (docs/install.md)",
                        variable, tasks, variable);
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "%s announces %d tasks but this MPI sees a single rank: the launcher belongs "
                    "to another MPI, or there was none; start with `srun` or the `mpirun` of the "
                    "MPI that iktsne was built with (`iktsne --version` names it), or unset %s to "
                    "run on one rank",
                    variable, tasks, variable);
}

static void log_placement(ikt_context *ctx) {
    static const char key[] = "Cpus_allowed_list:";
    char line[256], mask[256] = "unknown", host[256] = "";
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0) sscanf(line + strlen(key), "%255s", mask);
    if (file) fclose(file);
    if (gethostname(host, sizeof host - 1) != 0) snprintf(host, sizeof host, "unknown host");
    ikt_log(ctx, IKT_LOG_DETAIL,
            "placement: %d ranks, %d on %s; rank 0: %d threads on processors %s", ctx->size,
            ctx->node_ranks, host, ctx->threads, mask);
}

ikt_status ikt_cpu_check_launch(ikt_context *ctx) {
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    IKT_TRY(check_tasks(ctx));
    log_placement(ctx);
    if (ctx->threads > ikt_cpu_mask_count() || (long)ctx->threads * ctx->node_ranks > online)
        ikt_warn(ctx,
                 "more threads than processors (%d ranks on a node x %d threads, %ld processors): "
                 "set run.threads or start fewer ranks a node",
                 ctx->node_ranks, ctx->threads, online);
    return ikt_agree(ctx, IKT_OK);
}

bool ikt_cpu_may_fork(void) {
    const char *text = getenv("IKTSNE_FORK");
    return !text || strcmp(text, "no") != 0;
}
