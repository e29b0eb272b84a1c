/* The pipeline: source -> normalise/PCA -> codes -> neighbours -> affinity -> P -> initial -> loop.
 *
 * Each arrow is one collective function that takes the previous value and returns the next; what
 * comes out is an ikt_run, from which file, picture and measures are made. From the codes to the
 * loop: embedding.h.
 */
#ifndef IKT_PIPELINE_PIPELINE_H
#define IKT_PIPELINE_PIPELINE_H

#include <stdint.h>

#include "checkpoint/fingerprint.h"
#include "data/dataset.h"
#include "io/results/model_file.h"
#include "io/sources/source.h"
#include "pipeline/embedding.h"
#include "pipeline/graph_input.h"

/* An embedding and what was learned while making it. */
typedef struct {
    ikt_source *given;     /* the rows, lent until the end; NULL: input.file */
    ikt_settings settings; /* as used: nothing is "auto" that the run had to decide */
    ikt_rows rows;
    ikt_embed_result embedding; /* of the own rows */
    int64_t *labels;            /* [rows.count], or NULL where the input has none */
    char *label_names;          /* a line a class, or NULL */
    int64_t *marked;            /* [n_marked] rows to mark, the same on every rank */
    int64_t n_marked;
    char input_name[IKT_STRING_MAX + 64]; /* "file.h5:/X", or of a graph that stands alone */
    int64_t d;                            /* columns of the input; 0 where there are no rows */
    const char *type;                     /* "uint8", "float32", "float64"; "graph" */
    ikt_graph_about graph;                /* n = 0 without input.graph */
    ikt_graph_writer *graph_writer;       /* output.graph, until P is */
    uint64_t hash;                        /* of the embedding; the same on any ranks */
    double start_time;                    /* seconds since 1970 */
    int64_t predicted_bytes;              /* per rank, before the run */
    ikt_model_writer *model_writer;       /* output.model, with codes; NULL where none is wanted */
    char input_fingerprint[IKT_INPUT_TEXT]; /* shape, type and hash of the input */
    ikt_checkpoint *checkpoint;             /* NULL where none is wanted */
    char *settings_fingerprint;             /* what the result depends on (fingerprint.h); owned */
} ikt_run;

/* COLLECTIVE. Runs the pipeline.
 *   settings   as the user gave them
 *   given      NULL: the rows are those of input.file. Otherwise the rows of a host program, lent
 * until ikt_run_destroy: the run is a guest, which writes no file but those that the settings name,
 * so that without output.file there is no state to extend and run.checkpoint: auto means none; and
 * it catches no signals out        receives the run; free with ikt_run_destroy. Empty on failure
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

/* COLLECTIVE. Whether the source has labels, as many as rows, where some are named.
 * Errors: those of ikt_source_read_labels; IKT_ERR_DATA where they are not there. */
ikt_status ikt_pipeline_check_labels(const ikt_settings *settings, ikt_source *source,
                                     bool *present);

/* COLLECTIVE. Opens input.file and applies input.rows and the preprocessing; with
 * isolation.model_from also that data set (model_rows.h). Both are NULL where there is a graph and
 * no input.file. Errors: those of ikt_source_open and ikt_dataset_create; both NULL then. */
ikt_status ikt_pipeline_open(ikt_context *ctx, const ikt_settings *settings, ikt_source **source,
                             ikt_dataset **data);

/* COLLECTIVE. The same on rows that are given instead of input.file: they stay the caller's, and
 * *source is NULL. */
ikt_status ikt_pipeline_open_on(ikt_context *ctx, const ikt_settings *settings, ikt_source *given,
                                ikt_source **source, ikt_dataset **data);
void ikt_pipeline_close(ikt_source **source, ikt_dataset **data);

#endif
