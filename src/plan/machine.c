/* The constants of a machine, and their file. */
#define _POSIX_C_SOURCE 200809L
#include "plan/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arrays.h"
#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/encoding.h"
#include "base/memory.h"

#define RATE(name, fallback, unit, help)                                                           \
    { #name, IKT_KEY_REAL, offsetof(ikt_machine, name), fallback, 1e-9, 1e15, 0, NULL, unit, help }

static const ikt_key keys[] = {
    {"name", IKT_KEY_STRING, offsetof(ikt_machine, name),
     "built-in constants, from the stages of two ranks on two cores of a Xeon with AVX-512 and "
     "VNNI, in a virtual machine; measure yours with iktsne plan --calibrate",
     0, 0, 0, NULL, "", "What was measured"},
    RATE(multiply_adds, "60.6", "1e9/s a thread", "Multiply-adds of rows of float32 in cache"),
    RATE(bytes, "419", "1e9/s a thread", "Coordinates of bytes against those of a centre"),
    RATE(compares, "130", "1e9/s a thread", "Bytes of codes compared with others"),
    RATE(gathers, "1479", "1e6/s a thread", "Numbers read in random order, in cache"),
    RATE(fft, "435", "1e6/s a thread", "Nodes of a padded grid of 2^20, convolved"),
    RATE(file, "2000", "MB/s a rank", "Reading a file that is in memory"),
    RATE(latency, "1.5", "microseconds", "A short message between two ranks"),
    RATE(bandwidth, "12.5", "GB/s", "A long message between two ranks"),
    RATE(reduction, "5", "GB/s", "A long sum over two ranks")};

const ikt_section ikt_machine_section = {"machine", "How fast the machine is", keys,
                                         sizeof keys / sizeof *keys};

ikt_config_part ikt_machine_part(ikt_machine *machine) {
    return (ikt_config_part){&ikt_machine_section, machine};
}

ikt_fft_rates ikt_machine_fft_rates(const ikt_machine *machine, int threads) {
    const double near = 20; /* log2 of the nodes that fft is measured at */
    return (ikt_fft_rates){.transform = 1e6 * machine->fft / IKT_FFT_COST * threads * near,
                           .bandwidth = 1e9 * machine->bandwidth,
                           .latency = 1e-6 * machine->latency};
}

void ikt_machine_file(ikt_context *ctx, char *path, bool *exists) {
    static const struct {
        const char *variable, *below;
    } places[] = {{"XDG_CONFIG_HOME", ""}, {"HOME", "/.config"}};
    memset(path, 0, IKT_STRING_MAX);
    for (int p = 0; p < 2 && ikt_rank(ctx) == 0; p++) {
        const char *folder = getenv(places[p].variable);
        if (!folder || !folder[0]) continue;
        const int length =
            snprintf(path, IKT_STRING_MAX, "%s%s/iktsne/machine.yaml", folder, places[p].below);
        if (length >= IKT_STRING_MAX) path[0] = '\0';
        break;
    }
    ikt_broadcast(ctx, path, IKT_STRING_MAX, 0);
    *exists = ikt_file_is_there(ctx, path);
}

ikt_status ikt_machine_load(ikt_context *ctx, const char *named, ikt_machine *machine) {
    const ikt_config_part part = ikt_machine_part(machine);
    char usual[IKT_STRING_MAX];
    bool exists;
    IKT_TRY(ikt_config_defaults(ctx, &part, 1));
    ikt_machine_file(ctx, usual, &exists);
    if (!named[0] && !exists) return IKT_OK;
    return ikt_config_load(ctx, &part, 1, ikt_text_or(named, usual));
}

/* LOCAL, rank 0. Whether a file has constants of a machine, whichever; true where there is none. */
static bool is_machine_file(const char *path) {
    char line[256];
    struct stat about;
    bool is = stat(path, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size == 0;
    FILE *file = is ? NULL : fopen(path, "r");
    while (file && !is && fgets(line, sizeof line, file))
        is = strncmp(line, "machine:", strlen("machine:")) == 0;
    if (file) fclose(file);
    return is;
}

/* LOCAL, rank 0. Makes the folders above a file, and looks at what there is in its place. */
static ikt_status prepare(ikt_context *ctx, const char *path) {
    char folder[IKT_STRING_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = folder; (slash = strchr(slash + 1, '/')) != NULL; *slash = '/') {
        *slash = '\0';
        if (mkdir(folder, 0777) != 0 && errno != EEXIST)
            return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be made: %s", folder, strerror(errno));
    }
    if (is_machine_file(path)) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "%s holds no constants of a machine, and --calibrate would replace it: name "
                    "another file with --machine",
                    path);
}

ikt_status ikt_machine_check(ikt_context *ctx, const char *path) {
    IKT_TRY(ikt_agree(ctx, ikt_rank(ctx) == 0 ? prepare(ctx, path) : IKT_OK));
    return ikt_atomic_check(ctx, path, true);
}

ikt_status ikt_machine_write(ikt_context *ctx, const ikt_machine *machine, const char *path) {
    ikt_machine copy = *machine;
    const ikt_config_part part = ikt_machine_part(&copy);
    char *text IKT_AT_END(ikt_free) = NULL;
    IKT_TRY(ikt_agree(ctx, ikt_config_print(ctx, &part, 1, &text)));
    return ikt_agree(ctx, ikt_rank(ctx) == 0 ? ikt_atomic_write_text(ctx, path, text) : IKT_OK);
}
