/* How fast a machine is: the few rates by which operation counts become seconds.
 *
 * Rates are of one thread while all threads of all ranks of the launch work, as they were measured
 * (ikt_calibrate), so shared caches and memory are in them. They are kept in a YAML file that may
 * be edited, and each can be given as machine.KEY=VALUE.
 */
#ifndef IKT_PLAN_MACHINE_H
#define IKT_PLAN_MACHINE_H

#include <stdbool.h>

#include "base/status.h"
#include "config/config.h"
#include "kernelsum/kernelsum.h"

typedef struct {
    char name[IKT_STRING_MAX]; /* what was measured: processor, launch */
    double multiply_adds;      /* 1e9 of float32, rows of a block against another in cache */
    double bytes;              /* 1e9 coordinates of bytes of a row against those of a centre */
    double compares;           /* 1e9 bytes of codes compared */
    double gathers;            /* 1e6 numbers read in random order from a second-level cache */
    double fft;                /* 1e6 nodes of a padded grid of 2^20, convolved */
    double file;               /* MB a second and rank, from the page cache */
    double latency;            /* microseconds of a short message */
    double bandwidth;          /* GB a second of a long message */
    double reduction;          /* GB a second of a long reduction over two ranks */
} ikt_machine;

/* Its section, named "machine"; the defaults are those of a two-core virtual machine, which the
 * name says. */
extern const ikt_section ikt_machine_section;

/* LOCAL. The part to give to the functions of config.h. */
ikt_config_part ikt_machine_part(ikt_machine *machine);

/* COLLECTIVE. Measures the rates on the machine at hand and fills `out`; what cannot be measured on
 * one rank keeps its value from `out`: latency, bandwidth, reduction.
 *   scratch  name of a file that may be written and is removed again, 16 MB a rank.
 * Method: the inner kernels of the program and plain reads of memory run for some milliseconds, on
 * all ranks and threads of the launch at the same time; the slowest thread counts, and the best of
 * some tries. Advantage: a second suffices. Disadvantage: what a stage takes beyond its inner
 * kernel is a fixed multiple of these (plan.c), which was measured on one machine. Memory: some 6
 * MB a thread. Errors: IKT_ERR_RESOURCE, IKT_ERR_FILE. */
ikt_status ikt_calibrate(ikt_context *ctx, const char *scratch, ikt_machine *out);

/* COLLECTIVE. The same on all ranks: the most of a number of seconds, and more than 0. */
double ikt_calibrate_slowest(ikt_context *ctx, double seconds);

/* What a node of a grid of 2^20 takes within the loop, of what it takes in the measurement. */
#define IKT_FFT_COST 1.11

/* LOCAL. What the sharing of grids is decided by, for ranks of so many threads. */
ikt_fft_rates ikt_machine_fft_rates(const ikt_machine *machine, int threads);

/* COLLECTIVE. Name of the file that plans read when none is named:
 * $XDG_CONFIG_HOME/iktsne/machine.yaml, or $HOME/.config/iktsne/machine.yaml.
 *   path     [IKT_STRING_MAX], the same on all ranks; "" where neither variable is set
 *   exists   whether it is there. */
void ikt_machine_file(ikt_context *ctx, char *path, bool *exists);

/* COLLECTIVE. The built-in constants, then those of a file.
 *   named   the file; "": that of ikt_machine_file, where there is one
 * Errors: those of ikt_config_load. */
ikt_status ikt_machine_load(ikt_context *ctx, const char *named, ikt_machine *machine);

/* COLLECTIVE. Makes the folders of a file to be written, where they are missing, and checks that it
 * can be, in the place of a file with such constants or of none. Errors: IKT_ERR_FILE;
 * IKT_ERR_USAGE (there is a file of something else). */
ikt_status ikt_machine_check(ikt_context *ctx, const char *path);

/* COLLECTIVE. Writes the constants into a folder that is there. Errors: IKT_ERR_FILE. */
ikt_status ikt_machine_write(ikt_context *ctx, const ikt_machine *machine, const char *path);

#endif
