/* The output file of a run.
 *
 *   /embedding    n x q float32 (q = 1, 2 or 3), row i = input row i
 *   /labels       n integers, /marked: rows to mark; where the input had them
 *   /trace/       iteration, kl (cost where the objective is another), gradient_norm, and
 *                 standard_error where the values are estimates
 *   /state        what a run that is extended goes on from: see stage_file.h for its head
 *   /fisher/      of affinity.kind = fisher: posterior n x C float32, classes (their labels),
 *                 support (rows whose labels were used), held_out (rows of the figures)
 *   /diagnostics/ what is known of single rows, n numbers each; where a verb has such
 *   /provenance   attributes: configuration (YAML), version, input, hash, ...
 *   /provenance/run  what varies from run to run: host, ranks, times, memory; trace_seconds
 * The root has attributes format = "iktsne-result" and format_version, and label_names, "a\nb\n",
 * where the classes have names: line k names class k. Everything outside /provenance/run compares
 * equal between two runs of equal settings, on any number of ranks.
 */
#ifndef IKT_IO_RESULTS_RESULT_H
#define IKT_IO_RESULTS_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "dist/rows.h"
#include "io/hdf5/parts.h"
#include "io/hdf5/stage_file.h"

/* Versions of the format; append only. */
typedef enum { IKT_RESULT_FIRST = 1, IKT_RESULT_CURRENT = IKT_RESULT_FIRST } ikt_result_version;

/* A named fact, as text. */
typedef struct {
    char name[64];
    char text[4096];
} ikt_note;

/* A number for each row. */
typedef enum { IKT_COLUMN_FLOAT, IKT_COLUMN_DOUBLE, IKT_COLUMN_INT64 } ikt_column_type;
typedef struct {
    const char *name;
    ikt_column_type type;
    const void *values; /* [rows.count] */
} ikt_result_column;

/* What is written; everything is borrowed, and but for the rows the same on every rank. */
typedef struct {
    ikt_rows rows;
    int q;                   /* dimensions */
    const float *embedding;  /* [rows.count * q] */
    const int64_t *labels;   /* [rows.count], or NULL */
    const char *label_names; /* a line a class, or NULL */
    const int64_t *marked;   /* [n_marked] */
    int64_t n_marked;
    int64_t n_trace;
    const int64_t *trace_iteration; /* [n_trace] */
    const char *value_name;         /* of the objective's values in the trace: "kl" or "cost" */
    const double *trace_value, *trace_gradient_norm, *trace_seconds;
    const double *trace_error;      /* [n_trace] standard errors of estimated values, or NULL */
    const double *trace_eigenvalue; /* [n_trace * trace_eigenvalues] of the map's graph */
    int64_t trace_eigenvalues;      /* 0: none */
    const char *configuration;      /* YAML */
    const ikt_note *facts;          /* [n_facts] the same in every equal run */
    int64_t n_facts;
    const ikt_note *circumstances; /* [n_circumstances] what varies */
    int64_t n_circumstances;
    const ikt_result_column *columns; /* [n_columns] */
    int64_t n_columns;
    const char *own_name; /* of the affinity, for a group of what it found */
    const ikt_part *own;  /* [n_own] which are in it */
    int64_t n_own;
    const ikt_part *state; /* [n_state] */
    int64_t n_state;
    ikt_stage_head state_head;
} ikt_result;

/* LOCAL, pure. What the file takes at most, by rows.n, q and the counts of the rest. */
int64_t ikt_result_bytes(const ikt_result *result);

/* COLLECTIVE. Writes the file beside its name and renames it. Errors: IKT_ERR_FILE. */
ikt_status ikt_result_write(ikt_context *ctx, const char *path, bool overwrite,
                            const ikt_result *result);

/* A map opened for reading: that of a result file, or of any other program.
 *
 *   RUN.h5                /embedding of any HDF5 file, a result of ours or not
 *   FILE.h5:DATASET       another data set of an HDF5 file: cells.h5ad:obsm/X_umap
 *   MAP.npy               an array; also gzipped
 *   MAP.csv, MAP.tsv      with a header or without; the columns x, y and z, or all columns of
 *                         numbers where these are one to three; also gzipped
 *   MAP.csv:NAME,NAME     these columns, by names or by numbers from 1, in this order
 *   FILE.npz:NAME, FILE.mat:NAME   an array of several
 * A colon parts file and name unless it belongs to the name of a file that is there. Positions have
 * one to three columns, come as float32 and, where the file is not a result, must be finite. */
typedef struct ikt_result_file ikt_result_file;

/* COLLECTIVE. Errors: IKT_ERR_FILE (missing, damaged, of no known format); IKT_ERR_DATA (no map of
 * one to three columns, with those that the file has; newer format); IKT_ERR_USAGE (no such
 * columns). */
ikt_status ikt_result_open(ikt_context *ctx, const char *path, ikt_result_file **out);
/* COLLECTIVE. Closes, frees and sets to NULL; accepts NULL. */
void ikt_result_close(ikt_result_file **file);

/* COLLECTIVE. What the run's state has to agree with; borrowed as long as the file is open. And
 * parts of it. Errors: IKT_ERR_USAGE (there is no state), IKT_ERR_DATA, IKT_ERR_FILE. */
ikt_status ikt_result_state_head(ikt_result_file *file, ikt_stage_head *head);
ikt_status ikt_result_read_state(ikt_result_file *file, const ikt_part *parts, int64_t count);

/* LOCAL. Whether it is /embedding of an HDF5 file, which may have notes, settings and a state
 * beside it; other maps have none. The name of the file alone; borrowed. */
bool ikt_result_is_run(const ikt_result_file *file);
const char *ikt_result_path(const ikt_result_file *file);

/* LOCAL. Rows of the embedding, and its dimensions: 1, 2 or 3. */
int64_t ikt_result_rows(const ikt_result_file *file);
int ikt_result_dimensions(const ikt_result_file *file);

/* COLLECTIVE. Rows first .. first + count - 1 into y[count * q]. Errors: IKT_ERR_FILE; IKT_ERR_DATA
 * naming the first number that is no position. */
ikt_status ikt_result_read_embedding(ikt_result_file *file, int64_t first, int64_t count, float *y);

/* COLLECTIVE. As ikt_source_read_labels and ikt_source_read_marked. */
ikt_status ikt_result_read_labels(ikt_result_file *file, const char *dataset, int64_t first,
                                  int64_t count, int64_t *labels, bool *present);
ikt_status ikt_result_read_marked(ikt_result_file *file, int64_t **rows, int64_t *count);

/* COLLECTIVE. A text attribute of the file ("label_names"), on every rank, freed with ikt_free;
 * NULL where there is none. */
ikt_status ikt_result_read_text(ikt_result_file *file, const char *name, char **text);

/* COLLECTIVE. The stored configuration (YAML), on every rank; *text is NULL where there is none.
 * Freed with ikt_free. */
ikt_status ikt_result_configuration(ikt_result_file *file, char **text);

/* COLLECTIVE. Calls `visit` on every rank for each text attribute of /provenance (varying = false)
 * and /provenance/run (varying = true). Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. */
typedef void (*ikt_note_visitor)(void *self, const char *name, const char *text, bool varying);
ikt_status ikt_result_notes(ikt_result_file *file, ikt_note_visitor visit, void *self);

#endif
