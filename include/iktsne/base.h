/* What all headers share: what is visible, the status of functions that can fail, types of numbers.
 */
#ifndef IKTSNE_BASE_H
#define IKTSNE_BASE_H

/* Marks what the library offers: nothing else of it can be linked with. */
#if defined(__GNUC__)
#define IKT_API __attribute__((visibility("default")))
#else
#define IKT_API
#endif

/* Around the declarations of a header, for C++. */
#ifdef __cplusplus
#define IKT_BEGIN_C extern "C" {
#define IKT_END_C   }
#else
#define IKT_BEGIN_C
#define IKT_END_C
#endif

/* Outcome of every function that can fail. The values are the program's exit codes. What a function
 * cannot return, because it ends the process, is listed in iktsne.h. */
typedef enum {
    IKT_OK = 0,           /* success */
    IKT_ERR_INTERNAL = 1, /* a defect of this program: please report it */
    IKT_ERR_USAGE = 2,    /* a wrong command line or configuration */
    IKT_ERR_DATA = 3,     /* a file was read, but what it holds cannot be used */
    IKT_ERR_FILE = 4,     /* a file cannot be opened, read, written or renamed */
    IKT_ERR_RESOURCE = 5, /* not enough memory, or a size beyond what a library can index */
    IKT_STOPPED = 75      /* stopped at a limit or signal; a checkpoint was written */
} ikt_status;

/* Types of numbers that rows of data consist of. */
typedef enum {
    IKT_TYPE_U8,  /* uint8_t */
    IKT_TYPE_F32, /* float */
    IKT_TYPE_F64  /* double */
} ikt_type;

/* Types of the integers that say where the entries of sparse rows stand. */
typedef enum {
    IKT_INDEX_32, /* int32_t */
    IKT_INDEX_64  /* int64_t */
} ikt_index;

#endif
