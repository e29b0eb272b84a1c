/* What is true of every verb. */
#include "app/overview.h"

#include <stddef.h>

#include "iktsne/status.h"

const char ikt_program_summary[] = "t-SNE with the Isolation kernel, for millions of points on MPI";

const ikt_program_option ikt_program_options[] = {
    {"help", "", "", "complete help of the verb"},
    {"help", "=FORM", "man|bash|zsh|fish",
     "manual page (man); `iktsne --help=bash`, zsh or fish: completion of that shell"},
    {"version", "", "", "version, libraries and instruction set, instead of a verb"},
    {"quiet", "", "", "print warnings and results only"},
    {"verbose", "", "", "print details of each stage"},
    {"log", "KIND", "text|json", "lines of the log as text, or as json: one object a line"},
    {"threads", "N", "", "OpenMP threads of each rank (default: the processors the launcher gave)"},
    {NULL, NULL, NULL, NULL}};

const ikt_exit_code ikt_exit_codes[] = {
    {IKT_OK, "success"},
    {IKT_ERR_INTERNAL, "internal error: please report it"},
    {IKT_ERR_USAGE, "wrong usage or configuration"},
    {IKT_ERR_DATA, "bad data"},
    {IKT_ERR_FILE, "file system"},
    {IKT_ERR_RESOURCE, "not enough memory or other resources"},
    {IKT_STOPPED, "stopped by a signal or in time, with a checkpoint: the same command goes on"},
    {0, NULL}};
