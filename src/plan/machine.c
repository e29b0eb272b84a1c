/* The constants of a machine, and their file. */
#define _POSIX_C_SOURCE 200809L
#include "plan/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/comm.h"
#include "base/memory.h"

#define RATE(name, fallback, unit, help)                                                           \
    { #name, IKT_KEY_REAL, offsetof(ikt_machine, name), fallback, 1e-9, 1e15, 0, NULL, unit, help }

static const ikt_key keys[] = {
    {"name", IKT_KEY_STRING, offsetof(ikt_machine, name),
     "built-in constants: two ranks on two cores of a Xeon with AVX-512 and VNNI, in a virtual "
     "machine; measure yours with iktsne plan --calibrate",
     0, 0, 0, NULL, "", "What was measured"},
    RATE(codes_u8, "279", "1e9/s a thread", "Coordinates of bytes against those of a centre"),
    RATE(codes_f32, "62", "1e9/s a thread", "Coordinates of float32 against those of a centre"),
    RATE(lists, "2000", "1e6/s a thread", "Distances offered to lists of the nearest centres"),
    RATE(walks, "8.8", "1e6/s a thread", "Cells found in lists of the nearest centres"),
    RATE(postings, "500", "1e6/s a thread", "Columns that sparse rows share with centres"),
    RATE(trees, "300", "1e6/s a thread", "Nodes of random trees on the way to a row's cell"),
    RATE(similarity, "71.2", "1e9/s a thread", "Bytes of codes compared with others"),
    RATE(distance, "7.97", "1e9/s a thread", "Coordinates of pairs of rows in a neighbour search"),
    RATE(distance_block, "57", "1e9/s a thread", "Coordinates of pairs of rows, distances alone"),
    RATE(probes, "12.9", "1e6/s a thread", "Cells that the rows of a search look at"),
    RATE(keeps, "13", "1e6/s a thread", "Neighbours kept among candidates"),
    RATE(refine, "23.7", "1e6/s a thread", "Neighbours of neighbours compared with a row"),
    RATE(weights, "34.9", "1e6/s a thread", "Neighbours whose Gaussian weight is found"),
    RATE(symmetrise, "11.8", "1e6/s a thread", "Neighbours brought into the symmetric P"),
    RATE(rows, "1570", "1e6/s a thread", "Values read and brought to scale"),
    RATE(projection, "54.3", "1e9/s a thread", "Multiply-adds of rows onto components"),
    RATE(covariance, "17.9", "1e9/s a thread", "Multiply-adds of the covariance matrix"),
    RATE(eigen, "3.54", "1e9/s", "Columns, to the third power, of an eigenvalue problem"),
    RATE(locality, "1.46", "1e9/s", "Coordinates of centres brought into an order of nearness"),
    RATE(nearest_cell, "8.92", "1e9/s a thread", "Coordinates compared on the way to a row's cell"),
    RATE(attraction_near, "1160", "1e6/s a thread", "Entries of P, 2^16 rows on a rank"),
    RATE(attraction_far, "973", "1e6/s a thread", "Entries of P, 2^19 rows on a rank"),
    RATE(spread, "129", "1e6/s a thread", "Points spread to the grid"),
    RATE(gather, "104", "1e6/s a thread", "Points gathered from the grid"),
    RATE(fft_near, "392", "1e6/s a thread", "Nodes of a padded grid of 2^20, convolved"),
    RATE(fft_far, "273", "1e6/s a thread", "Nodes of a padded grid of 2^24, convolved"),
    RATE(kernel, "3980", "1e6/s a thread", "Pairs of the exact repulsion"),
    RATE(step, "646", "1e6/s a thread", "Points moved"),
    RATE(sums, "187", "1e6/s a thread", "Points whose bounds and sum Z are found"),
    RATE(divergence, "1740", "1e6/s a thread", "Entries of P, what the divergence adds"),
    RATE(measures, "10.8", "1e6/s a thread", "Points measured in the map"),
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
    const double near = 20; /* log2 of the nodes that fft_near is measured at */
    return (ikt_fft_rates){.transform = 1e6 * machine->fft_near * threads * near,
                           .bandwidth = 1e9 * machine->bandwidth,
                           .latency = 1e-6 * machine->latency};
}

void ikt_machine_file(ikt_context *ctx, char *path, bool *exists) {
    struct {
        char path[IKT_STRING_MAX];
        bool exists;
    } found;
    memset(&found, 0, sizeof found);
    if (ikt_rank(ctx) == 0) {
        const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
        int length = 0;
        if (config && config[0])
            length = snprintf(found.path, sizeof found.path, "%s/iktsne/machine.yaml", config);
        else if (home && home[0])
            length =
                snprintf(found.path, sizeof found.path, "%s/.config/iktsne/machine.yaml", home);
        if (length >= (int)sizeof found.path) found.path[0] = '\0';
        found.exists = found.path[0] && access(found.path, F_OK) == 0;
    }
    ikt_broadcast(ctx, &found, (int64_t)sizeof found, 0);
    memcpy(path, found.path, sizeof found.path);
    *exists = found.exists;
}

ikt_status ikt_machine_load(ikt_context *ctx, const char *named, ikt_machine *machine) {
    const ikt_config_part part = ikt_machine_part(machine);
    char usual[IKT_STRING_MAX];
    bool exists;
    IKT_TRY(ikt_config_defaults(ctx, &part, 1));
    ikt_machine_file(ctx, usual, &exists);
    if (!named[0] && !exists) return IKT_OK;
    return ikt_config_load(ctx, &part, 1, named[0] ? named : usual);
}

/* LOCAL. Makes the folders that the path names. */
static ikt_status make_folders(ikt_context *ctx, const char *path) {
    char folder[IKT_STRING_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0777) != 0 && errno != EEXIST)
            return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be made: %s", folder, strerror(errno));
        *slash = '/';
    }
    return IKT_OK;
}

/* LOCAL. */
static ikt_status write_text(ikt_context *ctx, const char *path, const char *shown,
                             const char *text) {
    FILE *file = fopen(path, "w");
    bool good = file && fputs(text, file) >= 0;
    if (file && fclose(file) != 0) good = false;
    if (good) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be written: %s", shown, strerror(errno));
}

ikt_status ikt_machine_check(ikt_context *ctx, const char *path) {
    IKT_TRY(ikt_agree(ctx, ikt_rank(ctx) == 0 ? make_folders(ctx, path) : IKT_OK));
    return ikt_atomic_check(ctx, path, true);
}

ikt_status ikt_machine_write(ikt_context *ctx, const ikt_machine *machine, const char *path) {
    char temporary[IKT_PATH_MAX], *text = NULL;
    ikt_machine copy = *machine;
    ikt_config_part part = ikt_machine_part(&copy);
    bool is_root = ikt_rank(ctx) == 0;
    IKT_TRY(ikt_atomic_begin(ctx, path, true, temporary));
    ikt_status st = ikt_config_print(ctx, &part, 1, &text);
    if (st == IKT_OK && is_root) st = write_text(ctx, temporary, path, text);
    ikt_free(&text);
    return ikt_atomic_end(ctx, path, temporary, st);
}
