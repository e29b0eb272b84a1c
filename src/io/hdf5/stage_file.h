/* What a stage of a run has made so far, in a file: a checkpoint.
 *
 *   attributes of the root: format = "iktsne-checkpoint", format_version, stage, version, build,
 *   instruction_set, input, settings, iterations; one data set for each part (parts.h)
 * The file is written in parallel beside its name, sealed (base/row_hash.h) and renamed; the one
 * before it is kept under a second name. It does not depend on the ranks that wrote it.
 */
#ifndef IKT_IO_HDF5_STAGE_FILE_H
#define IKT_IO_HDF5_STAGE_FILE_H

#include "io/hdf5/parts.h"

#define IKT_STAGE_FILE_FORMAT "iktsne-checkpoint"

/* Versions of the format; append only. */
typedef enum {
    IKT_STAGE_FILE_FIRST = 1,
    IKT_STAGE_FILE_CURRENT = IKT_STAGE_FILE_FIRST
} ikt_stage_file_version;

/* What a checkpoint has to agree with to be of use. */
typedef struct {
    const char *stage;    /* "codes" */
    const char *version;  /* of the program */
    const char *build;    /* of the program (base/build.h); "" in files of before it was noted */
    const char *isa;      /* instruction set that the run used; "" likewise */
    const char *input;    /* what the data is: shape and hash */
    const char *settings; /* YAML of all that the result depends on */
    int64_t iterations;   /* that the run was to have in all, which may differ; 0: not noted */
} ikt_stage_head;

/* COLLECTIVE. Writes the file.
 *   previous   name under which the file that was at `path` is kept
 * Errors: IKT_ERR_FILE; `path` is left as it was then. */
ikt_status ikt_stage_file_write(ikt_context *ctx, const char *path, const char *previous,
                                const ikt_stage_head *head, const ikt_part *parts, int64_t count);

typedef struct ikt_stage_file ikt_stage_file;

/* COLLECTIVE. Opens the file of a stage, or of any (NULL), whose seal is whole.
 * Errors: IKT_ERR_DATA (damaged, no checkpoint, of another stage), IKT_ERR_USAGE (of a newer
 * program), IKT_ERR_FILE. */
ikt_status ikt_stage_file_open(ikt_context *ctx, const char *path, const char *stage,
                               ikt_stage_file **out);
/* COLLECTIVE. Closes, frees and sets to NULL; accepts NULL. */
void ikt_stage_file_close(ikt_stage_file **file);

/* LOCAL. Its head; borrowed. */
ikt_stage_head ikt_stage_file_head(const ikt_stage_file *file);

/* COLLECTIVE. Reads parts into their rows. Errors: IKT_ERR_DATA, IKT_ERR_FILE. */
ikt_status ikt_stage_file_read(ikt_stage_file *file, const ikt_part *parts, int64_t count);

#endif
