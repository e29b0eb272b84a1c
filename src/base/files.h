/* The files that a command reads and writes, in one list, and the rules that hold for all commands:
 * nothing that is written takes the place of what is read, or of something else that is written;
 * and no file gets a name that says another format, which programs would go by.
 *
 * A file is known by its device and inode, and one that is not there yet by those of its folder and
 * its last name: so that neither another spelling (./x, a//b) nor a symbolic or hard link, nor a
 * link to a folder, makes two files of one. A matrix as 10x Genomics has it is read with the files
 * beside it. Files that are no regular ones (pipes, devices) hold nothing that could be lost, and
 * are passed over.
 */
#ifndef IKT_BASE_FILES_H
#define IKT_BASE_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic_file.h"
#include "base/status.h"

typedef enum {
    IKT_FILE_READ,
    IKT_FILE_WRITTEN,
    IKT_FILE_CHANGED,  /* read, and replaced by what goes on from it: a result that is extended, a
                          checkpoint */
    IKT_FILE_ADDED_TO, /* replaced by a copy that has all that was in it: others may read it */
    IKT_FILE_FOLDER    /* a folder whose files the command replaces and removes as it likes */
} ikt_file_use;

typedef struct {
    const char *role; /* as messages name it: a setting, an option, an argument; borrowed */
    ikt_file_use use;
    char path[IKT_PATH_MAX]; /* without the PART of FILE:PART, once it was looked at */
    const char *what;        /* is written: "an HDF5 file"; borrowed. NULL: its name says nothing */
    const char *endings;     /* by which programs know that, the advised one first; borrowed */
    bool is_map;             /* an HDF5 file from which verbs make pictures, tables, pages */
    /* What ikt_files_look finds; the same on every rank. */
    bool is_there, is_regular, is_folder;
    uint64_t device, inode;               /* of what is there */
    int64_t bytes, changed;               /* its length; its last change in ns since 1970 */
    uint64_t folder_device, folder_inode; /* of the folder that it is or would be in */
    char last[256];                       /* its name in that folder, links followed */
} ikt_file;

/* Begins as {.ctx = ctx}. */
typedef struct {
    ikt_context *ctx;
    ikt_file *file; /* [count] owned */
    int64_t count;
    ikt_status status; /* the first failure */
} ikt_files;

/* LOCAL. Adds a file, unless it is there with that role; a name that is NULL or "" is none.
 *   name   of a file that is read also FILE:PART. Where there is no such file the entry says
 * nothing: it may be the name of something else, and who reads it tells what is wrong */
void ikt_files_add(ikt_files *files, ikt_file_use use, const char *role, const char *name);

/* LOCAL. The same for a file that is written in one format whatever its name is; a name that says
 * another one is refused by ikt_files_check.
 *   what      as messages call it: "CSV text"; borrowed
 *   endings   that are its own, ".csv .txt", the advised one first; with .gz among them it may be
 *             compressed as a whole; borrowed. So are other endings of the same formats */
void ikt_files_add_written(ikt_files *files, const char *role, const char *name, const char *what,
                           const char *endings);

/* LOCAL. The same of a picture (PNG, SVG or PDF), and of an HTML page. */
void ikt_files_add_picture(ikt_files *files, const char *role, const char *name);
void ikt_files_add_page(ikt_files *files, const char *role, const char *name);

/* LOCAL. The same of HDF5.
 *   ending   ".h5", or as other programs expect it: of the name that is advised; borrowed
 *   is_map   whether it is an embedding */
void ikt_files_add_hdf5(ikt_files *files, ikt_file_use use, const char *role, const char *name,
                        const char *ending, bool is_map);

/* LOCAL. Adds the files that are read of a list such as "labels,FILE.h5:DATASET,FILE.npy": what has
 * a colon or a dot may be one. */
void ikt_files_add_list(ikt_files *files, const char *role, const char *list);

/* COLLECTIVE. Looks at all of them, as rank 0 sees them. Errors: IKT_ERR_RESOURCE; IKT_ERR_FILE
 * (the links of an output form a loop). */
ikt_status ikt_files_look(ikt_files *files);

/* COLLECTIVE. Looks at all of them, refuses a file that has two roles of which one is written, and
 * one whose name ends like one of another format, and frees the list. Endings that nobody knows
 * say nothing. Errors: IKT_ERR_USAGE, "output.file and input.file are the same file: data.h5 is
 * read and cannot be the output, too"; those above. */
ikt_status ikt_files_check(ikt_files *files);

/* LOCAL. Whether a file is one that the list which was checked last replaces. For what a file that
 * is read takes from others (parts of a virtual data set of HDF5, ends of external links), which no
 * list names. */
bool ikt_files_replace(const ikt_context *ctx, const char *path);

/* LOCAL. Frees what there is. */
void ikt_files_destroy(ikt_files *files);

#endif
