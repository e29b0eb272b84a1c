/* From a study to the runs it consists of.
 *
 * Data sets are found or generated, shares of n become numbers, and every combination of data set,
 * method, values and seed becomes a run with an identity: a fingerprint of all that its result
 * depends on, the contents of its data among it, and of the build of the program. A study that is
 * begun again knows by it what is done already, also where a file has been changed meanwhile.
 */
#ifndef IKT_STUDY_PLAN_H
#define IKT_STUDY_PLAN_H

#include "settings/settings.h"
#include "study/spec.h"

enum { IKT_STUDY_FOLDERS = 16 };

/* Where a study looks for data and leaves results. */
typedef struct {
    const char *output;                    /* folder, made where there is none; borrowed */
    const char *folder[IKT_STUDY_FOLDERS]; /* searched for files of data, in order; borrowed */
    int folders;
    const char *only; /* names of data sets, separated by commas; NULL: all. Borrowed */
    bool any_build;   /* results of other builds of the program are taken as they are */
} ikt_study_places;

/* A data set that is at hand. */
typedef struct {
    char file[IKT_STRING_MAX];
    int64_t n, d;
} ikt_study_table;

typedef struct {
    int64_t data, method; /* numbers in the study */
    int64_t table;        /* of the data set with this run's seed, in the plan */
    int64_t reference;    /* table whose map this one's is compared with, or -1 */
    int64_t seed;
    char value[IKT_STUDY_AXES][IKT_STUDY_TEXT]; /* of the method's axes */
    char map[IKT_STRING_MAX]; /* the map of another program that is measured in place of a run; or
                                 "" */
    uint64_t content;         /* fingerprint of its settings and of what it reads */
    uint64_t id;              /* of the run by this build of the program (ikt_study_id) */
    double cost;              /* grows with the time that the run will take */
} ikt_study_run;

typedef struct {
    const ikt_study *study;           /* borrowed */
    const char *output;               /* folder of the results; borrowed */
    ikt_study_table *table;           /* [n_data * n_seeds]; n = 0 where the data set is left out */
    ikt_study_run *run;               /* [n_runs] in the order of the study */
    const ikt_study_run **by_content; /* [n_runs] the runs by ascending fingerprint */
    int64_t n_runs;
    bool any_build; /* as above */
} ikt_study_plan;

/* COLLECTIVE. Finds or generates the data sets (below OUTPUT/data) and lists the runs.
 *   study    not changed; borrowed until destroy, as places->output is
 *   out      the same on every rank; freed with ikt_study_plan_destroy; empty on failure.
 * A data set that is optional and not found costs a warning and has no runs.
 * Errors: IKT_ERR_FILE, IKT_ERR_DATA (a data set that cannot be read), IKT_ERR_USAGE (`only` names
 * what is not there; no run is left), IKT_ERR_RESOURCE. */
ikt_status ikt_study_plan_make(ikt_context *ctx, const ikt_study *study,
                               const ikt_study_places *places, ikt_study_plan *out);
void ikt_study_plan_destroy(ikt_study_plan *plan);

/* SAME-ARGS. The settings of a run on one of its tables; nothing is set about output.
 *   table   run->table or run->reference */
ikt_status ikt_study_run_settings(ikt_context *ctx, const ikt_study_plan *plan,
                                  const ikt_study_run *run, int64_t table, ikt_settings *out);

/* LOCAL. Number of the run with that fingerprint; -1 where there is none. */
int64_t ikt_study_plan_find(const ikt_study_plan *plan, uint64_t content);

/* LOCAL, pure. The identity of a run by the build of that tag (base/build.h), and back. */
static inline uint64_t ikt_study_id(uint64_t content, uint32_t tag) {
    return content ^ tag;
}

/* LOCAL. "Wine, Isolation, isolation.psi 5, seed 1". */
void ikt_study_run_name(const ikt_study_plan *plan, const ikt_study_run *run, char *text,
                        size_t size);

/* LOCAL, pure. Whether two runs differ in nothing but the seed. */
bool ikt_study_same_values(const ikt_study_plan *plan, const ikt_study_run *a,
                           const ikt_study_run *b);

/* COLLECTIVE. Makes a folder unless it is there. Errors: IKT_ERR_FILE. */
ikt_status ikt_study_make_folder(ikt_context *ctx, const char *path);

/* --- what is done with it (workers.c, report.c) ----------------------------------------------- */

/* COLLECTIVE. Makes all runs that are not done: the ranks divide into groups, which take runs from
 * the queue until it is empty, the longest first.
 *   ranks   of a group; at least 1, at most those there are
 *   retry   make failed runs again
 * Errors: IKT_ERR_FILE, IKT_ERR_USAGE (results.csv), IKT_ERR_RESOURCE, IKT_STOPPED; a failing run
 * is none. */
ikt_status ikt_study_execute_all(ikt_context *ctx, const ikt_study_plan *plan, int64_t ranks,
                                 bool retry);

/* COLLECTIVE. Makes the report: tables, curves and pictures, as OUTPUT/report/report.html and
 * report.md. It tells what results.csv holds now; a study that is not finished has a report, too.
 *   path   [IKT_STRING_MAX], receives the name of the HTML page.
 * Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE, those of plotting. */
ikt_status ikt_study_report(ikt_context *ctx, const ikt_study_plan *plan,
                            char path[IKT_STRING_MAX]);

#endif
