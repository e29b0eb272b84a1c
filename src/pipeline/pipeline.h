/* The pipeline: source -> normalise/PCA -> codes -> neighbours -> affinity -> P -> initial -> loop.
 *
 * Each arrow is one collective function that takes the previous value and returns the next; what
 * comes out is an ikt_run, from which file, picture and measures are made. From the codes to the
 * loop it is ikt_embed_dataset: what the pipeline makes of all rows, a start from landmarks makes
 * of some.
 */
#ifndef IKT_PIPELINE_PIPELINE_H
#define IKT_PIPELINE_PIPELINE_H

#include <stdint.h>

#include "checkpoint/checkpoint.h"
#include "data/dataset.h"
#include "data/missing.h"
#include "io/results/graph_file.h"
#include "io/results/model_file.h"
#include "io/sources/source.h"
#include "neighbours/search.h"
#include "pipeline/fisher_line.h"
#include "pipeline/notes.h"
#include "plan/plan.h"
#include "recipe/steps.h"
#include "similarity/kernel_map.h"
#include "spectral/spectrum.h"

/* What a run tells of its map of similarities, kpca or kda; m = 0: it has none. */
typedef struct {
    int64_t m, unlabelled; /* rows that it is made of; rows without a label (kda) */
    bool of_labels;
    double bandwidth;                 /* of the Gaussian kernel, else 0 */
    ikt_kernel_pca_facts components;  /* of kpca */
    int q;                            /* eigenvalues of these */
    ikt_discriminant_facts separated; /* of kda */
} ikt_kernel_report;

/* Positions, and what was learned while making them. */
typedef struct {
    float *y; /* [rows->count * q], q = layout.dimensions; owned */
    ikt_trace trace;
    int64_t zero_similarity;          /* rows without similarity to any other */
    int64_t entries;                  /* of P */
    double accuracy;                  /* 10-NN label accuracy of the neighbours; or negative */
    ikt_eigengap gap;                 /* values = 0 without layout.eigengap */
    ikt_spectrum_report eigenvectors; /* of a start from them; else components = 0 */
    ikt_code_check cells;             /* of approximate codes; sample 0: exact, or none */
    ikt_recall recall;                /* of approximate neighbour search; sample 0: exact */
    ikt_class_outcome classes;        /* of affinity.kind = fisher; else is_there is false */
    ikt_kernel_report kernel;         /* of a map of similarities; m = 0: there is none */
    ikt_loop_state last;              /* the loop's, in its own order; where it was wanted */
} ikt_embed_result;

/* What there is beside the data, and what else is wanted. All of it may be empty, and is
 * borrowed. */
typedef struct {
    const int64_t *labels;           /* [rows->count] of the own rows */
    const char *label_names;         /* a line a class */
    const int64_t *original;         /* [rows->count] numbers in the input, as ikt_run has them */
    ikt_model_writer *model_writer;  /* receives model and codes (early_outputs.h) */
    ikt_graph_writer **graph_writer; /* receives P before the loop begins, and is ended */
    ikt_checkpoint_hooks *hooks;     /* the checkpoint to go on from and to write */
    const ikt_loop_state *from;      /* of the finished run that is extended */
    bool want_last;                  /* the loop's last state */
    bool reports;                    /* iterations, to the watcher of the context */
    const ikt_steps *steps;          /* of the recipe; NULL: they follow from settings and data */
} ikt_embed_options;

/* COLLECTIVE. Embeds the rows of a data set, or of a graph.
 *   settings   of the recipe, with what the rows have decided; what the embedding had to decide
 *              replaces "auto"
 *   data       NULL where there is a graph (input.graph) and nothing is taken from the rows
 *   rows        ownership of the rows
 *   out        free with ikt_embed_result_destroy; empty on failure
 * Errors: IKT_ERR_USAGE for settings that do not suit the number of rows, IKT_ERR_RESOURCE,
 * IKT_ERR_DATA, those of reading; IKT_STOPPED, with a checkpoint written. */
ikt_status ikt_embed_dataset(ikt_context *ctx, ikt_settings *settings, ikt_dataset *data,
                             const ikt_rows *rows, const ikt_embed_options *options,
                             ikt_embed_result *out);

void ikt_embed_result_destroy(ikt_embed_result *embedding);

/* How far what is read reaches: into nothing but figures and colours, the map alone, or P. */
typedef enum { IKT_REACHES_NOTHING, IKT_REACHES_MAP, IKT_REACHES_P } ikt_input_reach;

enum { IKT_RUN_INPUTS_MOST = 8 };

/* Something that a run has read. */
typedef struct {
    const char *role;               /* the setting that names it */
    char name[IKT_STRING_MAX + 64]; /* "file.h5:/X"; "" where it is no file of its own */
    char checksum[IKT_INPUT_TEXT];  /* of its contents: "1000 x 50 float32, hash 0123..." */
    ikt_input_reach reach;
    bool is_by_role; /* the fingerprint of the run names the role */
} ikt_run_input;

/* An embedding and what was learned while making it. */
typedef struct {
    ikt_source *given;     /* the rows, borrowed until the end; NULL: input.file */
    ikt_context *claims;   /* the names of its outputs are its own until it is destroyed */
    bool is_host;          /* of a program that lends rows, or other arrays (io/sources/source.h) */
    ikt_settings settings; /* as used (recipe.h): nothing is "auto" that the run had to decide */
    ikt_rows rows;
    ikt_embed_result embedding; /* of the own rows */
    int64_t *labels;            /* [rows.count], or NULL where the input has none */
    char *label_names;          /* a line a class, or NULL */
    int64_t *marked;            /* [n_marked] rows to mark, the same on every rank */
    int64_t n_marked;
    int64_t *original; /* [rows.count] their numbers in the input; NULL where no row is left out */
    char input_name[IKT_STRING_MAX + 64]; /* "file.h5:/X", or of a graph that stands alone */
    int64_t d;                            /* columns of the input; 0 where there are no rows */
    const char *type;                     /* "uint8", "float32", "float64"; "graph" */
    ikt_graph_about graph;                /* n = 0 without input.graph */
    ikt_graph_writer *graph_writer;       /* output.graph, until P is */
    uint64_t hash;                        /* of the embedding; the same on any ranks */
    ikt_notes *facts;                     /* once the file is written; owned */
    double start_time;                    /* seconds since 1970 */
    int64_t predicted_bytes;              /* per rank, before the run */
    ikt_model_writer *model_writer;       /* output.model, with codes; NULL where none is wanted */
    ikt_run_input input[IKT_RUN_INPUTS_MOST]; /* [n_inputs] what was read */
    int n_inputs;
    char input_fingerprint[IKT_INPUTS_TEXT]; /* checksums of what the map depends on */
    ikt_checkpoint *checkpoint;              /* NULL where none is wanted */
    char *settings_fingerprint;              /* what the result depends on (checkpoint.h); owned */
} ikt_run;

/* COLLECTIVE. Runs the pipeline.
 *   settings   as the user gave them
 *   given      NULL: the rows are those of input.file. Otherwise the rows of a host program,
 *              borrowed until ikt_run_destroy. With them, or with a context that has borrowed
 *              arrays (io/sources/source.h), the run is a guest, which writes no file but those
 *              that the settings name, so that without output.file there is no state to extend and
 *              run.checkpoint: auto means none; it catches no signals and starts no process
 *   out        receives the run; free with ikt_run_destroy. Empty on failure
 * With run.checkpoint it handles signals and time limits (base/watch.h); what comes between here
 * and ikt_run_finish is too short to be stopped, so that signals wait. Errors: IKT_ERR_USAGE,
 * IKT_ERR_DATA, IKT_ERR_FILE, IKT_ERR_RESOURCE; see each module. IKT_STOPPED where it was stopped
 * with a checkpoint. */
ikt_status ikt_pipeline_run(ikt_context *ctx, const ikt_settings *settings, ikt_source *given,
                            ikt_run *out);

/* COLLECTIVE. All that is wanted of the run is in files: nobody asks for checkpoints any more, that
 * of the run is removed, unless run.checkpoint_keep asks for it, and the loop's last state freed.
 */
void ikt_run_finish(ikt_context *ctx, ikt_run *run);

/* COLLECTIVE. A model that is not complete is removed. */
void ikt_run_destroy(ikt_run *run);

/* --- rows: opened, completed where values are missing, brought to scale ----------------------- */

/* COLLECTIVE. Puts rows without missing values in place of `*source`, or of `given` ones, which
 * stay the caller's: then *source receives what stands on top of them, if anything has to. */
ikt_status ikt_rows_complete(ikt_context *ctx, ikt_missing how, ikt_source *given,
                             ikt_source **source);

/* COLLECTIVE. The data set of rows, with isolation.model_from that which is the model of the rows
 * (ikt_dataset_take_model).
 *   settings   receive what the rows decide: preprocess.normalise and isolation.psi of auto
 * Rows and centres go through one map: minmax, zscore and principal components are those of the
 * data set that gives the model, and are applied to both (Zhu & Ting 2021, table 8). Without them
 * (normalise none or unit, no reduction) nothing of that data set but the centres is read: bytes
 * need no map, and the common offset that other numbers are freed of is that of the rows to be
 * embedded, which changes no distance. Where both are the same file, every bit is that of a run
 * without isolation.model_from.
 * Errors: those of ikt_dataset_create; IKT_ERR_DATA where the model has other columns. */
ikt_status ikt_rows_open(ikt_context *ctx, ikt_source *rows, ikt_settings *settings,
                         ikt_dataset **data);

/* COLLECTIVE. The same decisions, for those who want no data set. */
ikt_status ikt_rows_resolve(ikt_context *ctx, ikt_source *rows, ikt_settings *settings);

/* COLLECTIVE. The same for those who only plan a run: rows without all values are filled or left
 * out before, as the run will do.
 *   source   replaced where that makes another one of it
 * Errors: those of ikt_rows_complete and ikt_rows_open. */
ikt_status ikt_pipeline_look(ikt_context *ctx, ikt_settings *settings, ikt_source **source);

/* COLLECTIVE. The first half of that alone: which rows there are. Errors: those of
 * ikt_rows_complete. */
ikt_status ikt_rows_look(ikt_context *ctx, const ikt_settings *settings, ikt_source **source);

/* COLLECTIVE. Opens input.file and applies input.rows and the preprocessing, for those who read the
 * rows of a run again.
 *   given    rows in place of input.file, which stay the caller's; *source is NULL then,
 *            or a source on top of them without missing values. Or NULL
 *   source, data   both NULL where there is a graph and no input.file, and on failure
 * Errors: those of ikt_input_open and ikt_rows_open. */
ikt_status ikt_pipeline_open(ikt_context *ctx, const ikt_settings *settings, ikt_source *given,
                             ikt_source **source, ikt_dataset **data);
void ikt_pipeline_close(ikt_source **source, ikt_dataset **data);

/* --- what a run has read ------------------------------------------------------------------------
 *
 * By role: each with a checksum of its contents, by which checkpoints, `--extend` and a kept graph
 * tell whether they are of the same files, wherever these lie, and which the result names. */

/* COLLECTIVE. Reads what the run reads once for its checksums, and notes them in run->inputs and
 * run->input_fingerprint.
 *   source   the rows; NULL: there is a graph alone
 *   run      with settings, rows, labels and graph
 * Errors: those of reading. Cost: one pass over the rows, those of isolation.model_from, the graph,
 * and the positions to start from; timed as reading. */
ikt_status ikt_run_inputs_note(ikt_context *ctx, ikt_source *source, ikt_run *run);

/* LOCAL. What of them P depends on, as text: not the positions to start from. */
void ikt_run_inputs_of_graph(const ikt_run *run, char text[IKT_INPUTS_TEXT]);

/* COLLECTIVE. "graph of 1000 rows, 30000 entries, hash 0123456789abcdef", or "pairs 1000 x 1000
 * float32, hash 0123456789abcdef" of a matrix: the same on any ranks.
 *   data   the text of ikt_fingerprint_input of the rows that go with it, which then follows; or ""
 *   text   receives both
 * A kept graph that was made of other data is warned of. Cost: one pass over the graph. Errors:
 * those of reading. */
ikt_status ikt_graph_fingerprint(ikt_context *ctx, const ikt_settings *settings, const char *data,
                                 char text[IKT_INPUT_TEXT]);

/* COLLECTIVE. "1000 x 2 positions of a run, hash 0123456789abcdef": a checksum of what
 * layout.init_file holds, the same on any ranks. Errors: IKT_ERR_DATA (other numbers of rows or
 * dimensions, positions that are not finite); those of reading. */
ikt_status ikt_start_file_fingerprint(ikt_context *ctx, const ikt_layout_settings *layout,
                                      const ikt_rows *rows, char text[IKT_INPUT_TEXT]);

/* --- the same without the work ---------------------------------------------------------------- */

/* A run up to the point where work would begin: what it would refuse is refused, what it would
 * decide is decided, and nothing is computed or written. What only reading every row can tell is
 * left to the run: values that are not finite, columns that are all the same, and whether a
 * checkpoint is of these very data. */
typedef struct {
    ikt_plan plan;
    ikt_settings settings;                /* as the run would use them */
    char input_name[IKT_STRING_MAX + 64]; /* "file.h5:/X" */
    bool has_labels;
    int64_t result_bytes; /* of output.file, at most */
    double seconds_left;  /* until the run has to have ended; infinite without a limit */
    const char *goes_on;  /* stage of the checkpoint that the run goes on from; NULL: none */
} ikt_rehearsal;

/* COLLECTIVE.
 *   settings   as the user gave them
 *   machine    constants that the time is predicted from
 * Errors: those of ikt_pipeline_run before its first long stage. */
ikt_status ikt_rehearse(ikt_context *ctx, const ikt_settings *settings, const ikt_machine *machine,
                        ikt_rehearsal *out);

/* --- landmarks as a data set file (landmark_file.c) ------------------------------------------- */

/* What `iktsne landmarks` and studies begin with, beside the 10,000 landmarks of the paper. */
#define IKT_LANDMARK_STEPS_TEXT "10"
enum { IKT_LANDMARK_STEPS = 10 };

typedef struct {
    int64_t count; /* landmarks, less than there are rows */
    int64_t steps; /* of k-means at most; 0: rows drawn at random */
} ikt_landmark_request;

/* COLLECTIVE. Chooses landmarks of the rows of settings->input under settings->preprocess, by the
 * seed of settings->run, and writes them as they are in the input, in their order, to
 * settings->output.file: /X (dense), /labels with their names where the input has them, and /rows,
 * their numbers there.
 *   found   how many they are; fewer than asked for where rows lie in fewer places, with a warning
 * Errors: IKT_ERR_USAGE (no rows, no Euclidean distances, as many landmarks as rows), IKT_ERR_DATA
 * (labels beyond 32 bits), IKT_ERR_FILE, IKT_ERR_RESOURCE, those of reading. */
ikt_status ikt_landmark_file_write(ikt_context *ctx, const ikt_settings *settings,
                                   const ikt_landmark_request *request, int64_t *found);

#endif
