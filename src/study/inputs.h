/* What a study reads: its data sets as files, found or generated, and the checksums that its runs
 * are known by.
 *
 * OUTPUT/checksums remembers them, a line a file: checksum, device, inode, length, time of the last
 * change in ns, name. A file whose line is there in all of these is not read again, however many
 * runs it serves and however often the study is taken up.
 */
#ifndef IKT_STUDY_INPUTS_H
#define IKT_STUDY_INPUTS_H

#include "base/files.h"
#include "study/plan.h"

typedef struct {
    uint64_t hash;
    uint64_t device, inode;
    int64_t bytes, changed;
} ikt_known_file;

typedef struct {
    ikt_context *ctx;
    char path[IKT_PATH_MAX];
    ikt_known_file *known; /* [count] the same on every rank; owned */
    int64_t count;
} ikt_checksums;

/* COLLECTIVE. Reads OUTPUT/checksums, where it is; the folder is there.
 *   out   freed with ikt_checksums_close. Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_checksums_open(ikt_context *ctx, const char *output, ikt_checksums *out);
void ikt_checksums_close(ikt_checksums *checksums);

/* COLLECTIVE. Continues `hash` by the contents of the files of the list that are there and read, in
 * their order; the list is looked at. Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_checksums_add(ikt_checksums *checksums, const ikt_files *files, uint64_t *hash);

/* LOCAL, pure. 64-bit FNV-1a hash of a text, continued from `hash` (0: begin). */
uint64_t ikt_study_hash(uint64_t hash, const char *text);

/* COLLECTIVE. Looks for a file where the user said, beside the study, and in the current folder:
 * the first place where it is; "" where it is nowhere. */
void ikt_study_find_file(ikt_context *ctx, const ikt_study *study, const ikt_study_places *places,
                         const char *file, char path[IKT_STRING_MAX]);

/* SAME-ARGS. Refuses what a data set lacks, which is in none of these places; of a data set that is
 * optional it is only said. Errors: IKT_ERR_FILE. */
ikt_status ikt_study_lack(ikt_context *ctx, const ikt_study *study, const ikt_study_data *data,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

/* COLLECTIVE. Makes the folders of the results and finds or generates the data sets.
 *   table   [n_data * n_seeds]: entry i * n_seeds + s is data set i for seed s, the same one for
 *           all seeds but where the set is generated anew for each
 * Errors: those of ikt_study_plan_make. */
ikt_status ikt_study_find_tables(ikt_context *ctx, const ikt_study *study,
                                 const ikt_study_places *places, ikt_study_table *table);

/* LOCAL. Whether input.skip_columns is set for this data set by itself. */
bool ikt_study_skips_itself(const ikt_study_data *data);

#endif
