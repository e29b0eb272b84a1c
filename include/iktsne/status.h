/* Outcome of every function that can fail. The values are the program's exit codes. What a function
 * cannot return, because it ends the process, is listed in iktsne.h. */
#ifndef IKTSNE_STATUS_H
#define IKTSNE_STATUS_H

typedef enum {
    IKT_OK = 0,           /* success */
    IKT_ERR_INTERNAL = 1, /* a defect of this program: please report it */
    IKT_ERR_USAGE = 2,    /* a wrong command line or configuration */
    IKT_ERR_DATA = 3,     /* a file was read, but what it holds cannot be used */
    IKT_ERR_FILE = 4,     /* a file cannot be opened, read, written or renamed */
    IKT_ERR_RESOURCE = 5, /* not enough memory, or a size beyond what a library can index */
    IKT_STOPPED = 75      /* stopped at a limit or signal; a checkpoint was written */
} ikt_status;

#endif
