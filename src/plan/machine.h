/* How fast a machine is: the constants by which operation counts become seconds.
 *
 * Rates are of one thread while all threads of all ranks of the launch work, as they were measured
 * (calibrate.h), so shared caches and memory are in them. They are kept in a YAML file that may be
 * edited, and each can be given as machine.KEY=VALUE.
 */
#ifndef IKT_PLAN_MACHINE_H
#define IKT_PLAN_MACHINE_H

#include <stdbool.h>

#include "base/status.h"
#include "config/config.h"
#include "kernelsum/kernelsum.h"

typedef struct {
    char name[IKT_STRING_MAX];  /* what was measured: processor, launch */
    double codes_u8, codes_f32; /* 1e9 coordinates of a row against a centre a second and thread */
    double lists;               /* 1e6 of these distances offered to lists of the nearest */
    double walks;               /* 1e6 cells found in such lists */
    double postings;            /* 1e6 columns that sparse rows share with centres */
    double trees;               /* 1e6 nodes of random trees that a row passes */
    double similarity;          /* 1e9 bytes of codes compared */
    double distance;            /* 1e9 coordinates of pairs of rows, and the best kept */
    double distance_block;      /* 1e9 coordinates of pairs of rows, distances alone */
    double probes;              /* 1e6 cells that a row of a search looks at, beyond distances */
    double keeps;               /* 1e6 neighbours kept among them */
    double refine;              /* 1e6 neighbours of neighbours */
    double weights;             /* 1e6 entries whose Gaussian weight is found */
    double symmetrise;          /* 1e6 directed entries made symmetric */
    double rows;                /* 1e6 values read from memory, brought to scale */
    double projection;          /* 1e9 multiply-adds of rows onto components */
    double covariance;          /* 1e9 multiply-adds of the upper triangle */
    double eigen;               /* 1e9 (d^3) a second, on one thread */
    double locality;            /* 1e9 coordinates halved, on one thread */
    double nearest_cell; /* 1e9 coordinates of rows against centres on the way to their cell */
    double attraction_near, attraction_far; /* 1e6 entries of P: with 2^16 rows on a rank; 2^19 */
    double spread, gather;                  /* 1e6 points */
    double fft_near, fft_far;               /* 1e6 nodes of a padded grid: 2^20 nodes; 2^24 */
    double kernel;                          /* 1e6 pairs of the exact repulsion */
    double step;                            /* 1e6 points moved */
    double sums;                            /* 1e6 points whose bounds and sum Z are found */
    double divergence; /* 1e6 entries of P, what the value of the objective adds to attraction */
    double measures;   /* 1e6 points whose neighbours in the map are found */
    double file;       /* MB a second and rank, from the page cache */
    double latency;    /* microseconds of a short message */
    double bandwidth;  /* GB a second of a long message */
    double reduction;  /* GB a second of a long reduction over two ranks */
} ikt_machine;

/* Its section, named "machine"; the defaults are those of a two-core virtual machine, which the
 * name says. */
extern const ikt_section ikt_machine_section;

/* LOCAL. The part to give to the functions of config.h. */
ikt_config_part ikt_machine_part(ikt_machine *machine);

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
 * can be. Errors: IKT_ERR_FILE. */
ikt_status ikt_machine_check(ikt_context *ctx, const char *path);

/* COLLECTIVE. Writes the constants into a folder that is there. Errors: IKT_ERR_FILE. */
ikt_status ikt_machine_write(ikt_context *ctx, const ikt_machine *machine, const char *path);

#endif
