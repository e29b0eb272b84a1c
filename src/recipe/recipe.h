/* What a run is: one place that decides it, for everybody who asks.
 *
 *     settings, shape of the inputs -> recipe | one sentence
 *
 * The recipe has the settings as the run will use them and what it has to do in numbers, from which
 * the run is made, its memory and time are planned, and studies are listed. `embed`, its dry run,
 * `plan`, `study` and the library ask ikt_recipe_make and nobody else whether a run is possible.
 */
#ifndef IKT_RECIPE_RECIPE_H
#define IKT_RECIPE_RECIPE_H

#include <stdbool.h>
#include <stdint.h>

#include "dist/rows.h"
#include "isolation/codes.h"
#include "isolation/model.h"
#include "recipe/shape.h"
#include "recipe/steps.h"
#include "settings/settings.h"

/* What a run has to do, in numbers: all that a prediction of its time and memory starts from. Made
 * from the settings and the shape of the data alone, so that a run can be planned for data and
 * machines that are not at hand. */
typedef struct {
    ikt_settings settings; /* nothing in it is "auto" that depends on n */
    ikt_data_shape data;
    ikt_rows distribution; /* of rank 0, which has the most rows */
    int ranks, threads;
    int64_t columns;            /* after reduction: of what the kernels read */
    bool is_as_read;            /* rows are compared as the file has them, as far as is known */
    bool is_u8;                 /* they read bytes */
    ikt_codes_rows rows;        /* what codes are made of */
    bool is_pairs;              /* which are those of a matrix of all distances */
    ikt_affinity_scores scores; /* how rows are compared; NONE: neighbours come from a file, */
    bool is_joined;   /* as the pairs that a sparse graph joins, which rows are compared by; */
    bool has_matrix;  /* or all pairs of rows are compared by a matrix */
    bool is_measured; /* lists by codes are gone through by distances (sampled/lone_rows.h) */
    bool is_forest;   /* codes come from trees */
    bool is_dense;    /* P of all pairs; */
    bool is_whole;    /* the whole kernel: no neighbours; */
    bool is_listed;   /* or else of lists, or of the edges of a graph */
    bool is_near;     /* neighbours are searched for in near cells, and rows are ordered */
    bool is_exact;    /* repulsion over all pairs */
    int64_t k;
    int64_t candidates;   /* of a row: n, or of near cells */
    int64_t passes;       /* searches with cells of their own */
    int64_t rounds;       /* among near rows, after the search */
    int64_t cells;        /* coarse ones that there are; 0: none */
    int64_t psi, t;       /* isolation */
    ikt_model_spec model; /* of the codes, and of the cells alone where there are none */
    bool has_lists;       /* codes come from lists of distinct centres */
    int64_t centres;      /* that every rank holds for them; of trees: sampled rows */
    int64_t compared;     /* of these, those that a row is compared with */
    int64_t landmarks;    /* rows that are embedded first; 0: none */
} ikt_workload;

/* Of labels, which are not looked at before they are needed. */
enum { IKT_USUAL_CLASSES = 10 };

/* A run has its settings three times. Those of the recipe are what was asked for, with what follows
 * from the inputs. Those of `work` are the same with everything resolved for the rows: steps,
 * predictions, and what is said of the iterations of a checkpoint, follow from them. Those of the
 * run (run->settings) begin as a copy of the first, in which the run puts what it decides in place
 * of "auto", and which it writes. */
typedef struct {
    ikt_settings settings; /* what depends on the rows is auto */
    ikt_workload work;     /* what these rows make of that, with nothing left to be chosen */
    ikt_graph_about graph; /* of the shape, with what is used of it; its text is borrowed */
    ikt_steps steps;
    bool has_labels;
    int64_t start_rows, start_dimensions; /* of layout.init_file, as a shape has them */
    bool is_perplexity_auto;              /* by the number of rows */
} ikt_recipe;

/* SAME-ARGS, pure but for a line of the log. Decides what a run is.
 *   settings         as the user gave them
 *   shape            of the inputs; borrowed
 *   ranks, threads   of the run
 * Errors: IKT_ERR_USAGE and IKT_ERR_DATA, in one sentence that says what does not go together, and
 * what would. */
ikt_status ikt_recipe_make(ikt_context *ctx, const ikt_settings *settings, const ikt_shape *shape,
                           int ranks, int threads, ikt_recipe *out);

/* SAME-ARGS. Refuses what the settings alone say cannot be, before any file is opened. */
ikt_status ikt_recipe_check_settings(ikt_context *ctx, const ikt_settings *settings);

/* SAME-ARGS. Decides again what the rows decide, once they are open and those that lack values have
 * been left out: recipe->work, and the perplexity where it is auto.
 *   n, type    of the rows that are left
 *   settings   those of the recipe, or of the run
 * Errors: as ikt_recipe_make, of numbers that these rows do not allow. */
ikt_status ikt_recipe_fit(ikt_context *ctx, ikt_recipe *recipe, int64_t n, ikt_type type,
                          ikt_settings *settings);

/* SAME-ARGS. Resolves settings that go together for the shape of the rows. Errors: IKT_ERR_USAGE.
 */
ikt_status ikt_workload_make(ikt_context *ctx, const ikt_settings *settings,
                             const ikt_data_shape *data, int ranks, int threads, ikt_workload *out);

/* SAME-ARGS. That of the landmarks, where there are any. Errors: as above. */
ikt_status ikt_workload_of_landmarks(ikt_context *ctx, const ikt_workload *w, ikt_workload *out);

/* Whether rows are searched as bytes, unless a trial says that these do not do. */
bool ikt_workload_has_bytes(const ikt_workload *w);

/* LOCAL, pure. And whether half precision holds the rows themselves, as far as it is known. */
bool ikt_workload_has_halves(const ikt_workload *w);

/* LOCAL, pure. Whether rounds after the search are local joins (neighbours/local_join.h), unless
 * the trial of bytes shows that they are not. */
bool ikt_workload_is_joined(const ikt_workload *w);

/* LOCAL. The settings of a workload with everything resolved that data, ranks and threads decide:
 * what a run would write into its provenance. */
void ikt_workload_settings(const ikt_workload *work, ikt_settings *out);

/* LOCAL. What goes together in a run, asked of ikt_recipe_make, as Markdown: for every objective
 * what it takes, the affinities with the forms of P that it goes with, its starts and its inputs
 * (docs/combinations.md, embed --list-methods). */
void ikt_methods_describe(ikt_text *text);

#endif
