/* The gradient loop that places the rows in one, two or three dimensions. */
#ifndef IKT_LAYOUT_LAYOUT_H
#define IKT_LAYOUT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "config/key.h"
#include "dist/rows.h"
#include "objective/batch.h"
#include "objective/objective.h"
#include "spectral/spectrum.h"

typedef enum { IKT_PRESET_DEFAULT, IKT_PRESET_MATLAB } ikt_layout_preset;
typedef enum { IKT_STOP_FIXED, IKT_STOP_AUTO } ikt_layout_stop;

typedef struct {
    int64_t dimensions;               /* of the map: 1, 2 or 3 */
    int objective;                    /* ikt_objective_name */
    const ikt_objective_kind *custom; /* no key: an objective that is not in the table takes the
                                         place of `objective`; or NULL */
    double trade_off;                 /* between both divergences, where the objective has two */
    double degrees_of_freedom;        /* alpha of the map's kernel (1 + r^2 / alpha)^-alpha */
    int preset;                       /* ikt_layout_preset */
    int64_t iterations;               /* or IKT_AUTO_INT: from the preset; so below */
    int64_t exaggeration_iterations;  /* first phase, with attraction multiplied */
    int64_t tsne_iterations;          /* minimise t-SNE's KL before the objective's own value */
    int stop;                         /* ikt_layout_stop: whether both are bounds only */
    double exaggeration;
    double final_exaggeration;       /* the factor after the first phase, */
    int64_t final_exaggeration_from; /* from this iteration on; auto, which stays: at once */
    double learning_rate; /* multiplies gradient / 4, the convention of FIt-SNE and openTSNE */
    double final_learning_rate; /* after the first phase */
    double momentum, final_momentum;
    int64_t momentum_switch; /* iteration from which final_momentum holds */
    int init;                /* ikt_layout_init */
    char init_file[IKT_STRING_MAX];
    double init_scale;    /* of what is in it; 0: as it is; auto: see pipeline/start.c */
    int64_t landmarks;    /* rows embedded first (init: landmark) */
    int repulsion;        /* ikt_repulsion */
    int accuracy;         /* ikt_accuracy of FFT and tree */
    int grid;             /* ikt_fft_sharing */
    int64_t report_every; /* iterations between values of the trace */
    int eigengap;         /* ikt_eigengap_kind */
    int regulariser;      /* ikt_regulariser_kind; so below (objective/laplacian.h) */
    int regulariser_form;
    double regulariser_weight;
    int64_t regulariser_rank;
    int64_t regulariser_every, regulariser_from;
    int regulariser_vectors;
    int64_t batch_rows; /* of ikt_batch_settings, so the next; IKT_AUTO_INT: all rows move */
    int64_t batch_neighbours;
    ikt_objective_own own; /* of single objectives, in sections of their own */
} ikt_layout_settings;

extern const ikt_section ikt_layout_section;

/* A start: what it is made of, beside the rows. */
typedef struct {
    const char *name;     /* as layout.init names it */
    bool of_p;            /* eigenvectors of P */
    bool of_similarities; /* a map of these (section kernel), */
    bool of_labels;       /* which follows labels */
    bool is_scaled;       /* by layout.init_scale */
} ikt_start_kind;

/* LOCAL, pure. The start that the settings name, or that the objective stays at; and any. */
const ikt_start_kind *ikt_layout_start(const ikt_layout_settings *settings);

/* LOCAL, pure. The file that positions are read from, layout.init_file where the start may be one;
 * "": there is none. */
const char *ikt_layout_start_file(const ikt_layout_settings *settings);
const ikt_start_kind *ikt_start_kind_of(ikt_layout_init init);

/* LOCAL, pure. The setting by which labels are needed, "layout.objective" or "layout.init"; NULL:
 * they are not. */
const char *ikt_layout_labels_key(const ikt_layout_settings *settings);

/* LOCAL, pure. Whether eigenvectors of P are wanted: for the start, or for their eigenvalues. */
bool ikt_layout_has_spectrum(const ikt_layout_settings *settings);

/* LOCAL, pure. The setting that asks for it, for messages: "layout.init = spectral". */
const char *ikt_layout_spectrum_key(const ikt_layout_settings *settings);

/* LOCAL, pure. The objective that the settings name, and what they say to it.
 *   seed   of the run */
const ikt_objective_kind *ikt_layout_objective(const ikt_layout_settings *settings);
ikt_objective_options ikt_layout_options(const ikt_layout_settings *settings, uint64_t seed);

/* LOCAL, pure. The learning rate that is usual for n rows, in the first phase or after it. */
double ikt_layout_usual_rate(const ikt_layout_settings *settings, double n, bool is_exaggerated);

/* SAME-ARGS. Replaces every "auto" by its value for n rows: the schedule of the preset, learning
 * rate n / exaggeration of each phase, and the way of summing repulsion that suits objective,
 * dimensions and n.
 * Errors: IKT_ERR_USAGE where keys contradict each other. */
ikt_status ikt_layout_resolve(ikt_context *ctx, ikt_layout_settings *settings, int64_t n);

/* Eigenvalues of the map's graph that a line of the trace has room for. */
enum { IKT_TRACE_EIGENVALUES = 30 };

/* One line of the trace. */
typedef struct {
    int64_t iteration;    /* iterations done */
    double value;         /* of the objective, without exaggeration */
    double error;         /* its standard error where it is estimated, else 0 */
    double gradient_norm; /* Euclidean norm of the whole gradient */
    double seconds;       /* since the loop began */
    /* The small eigenvalues from the second on that the regulariser of the objective saw; NaN where
     * there are no more, and while it is not on. */
    double eigenvalue[IKT_TRACE_EIGENVALUES];
} ikt_trace_point;

typedef struct {
    ikt_trace_point *point; /* [count], owned; freed with ikt_trace_destroy */
    int64_t count;
    const char *value_name;   /* of the objective's value: "KL" or "cost" */
    int64_t exaggeration_end; /* iterations done when the first phase ended */
    int64_t end;              /* iterations done in all */
    bool has_converged;       /* ended by the rule of automatic stop, before the last iteration */
    bool is_stopped;          /* ended because the program that watches asked for it */
    /* Of the last map, where the objective has a regulariser: the value without it, and the small
     * eigenvalues of the map's graph from the second on, owned. */
    double divergence;
    double *eigenvalue; /* [eigenvalues] */
    int64_t eigenvalues;
} ikt_trace;

void ikt_trace_destroy(ikt_trace *trace);

/* LOCAL. The last value of the objective, 0 where there is none; its standard error; and what it is
 * called in files: kl or cost. */
double ikt_trace_last(const ikt_trace *trace);
double ikt_trace_last_error(const ikt_trace *trace);
const char *ikt_trace_key(const ikt_trace *trace);

/* COLLECTIVE. Initial positions from q given scores a row (leading principal components), scaled
 * so that the first has standard deviation `target`, or 1e-4 where that is not positive, plus a
 * keyed jitter of 1 % of that, so that identical rows do not stay together (methods, section 3).
 *   scores  [n_local * q]
 *   y       [n_local * q], receives the positions */
void ikt_initial_from_scores(ikt_context *ctx, const ikt_rows *distribution, int q, uint64_t seed,
                             double target, const double *scores, float *y);

/* COLLECTIVE. The same from places of any spread and anywhere, as other programs leave them:
 * centred, and scaled to the deviation `target`, or 1e-4 where that is not positive.
 *   places   [n_local * q], centred in place */
void ikt_initial_from_places(ikt_context *ctx, const ikt_rows *rows, int q, uint64_t seed,
                             double target, double *places, float *y);

/* COLLECTIVE. Initial positions from places in another map that is centred: the places, not made
 * smaller, plus a keyed jitter of 1 % of their spread.
 *   y   [n_local * q] the places in, positions out */
void ikt_initial_from_map(ikt_context *ctx, const ikt_rows *rows, int q, uint64_t seed, float *y);

/* LOCAL. Initial positions y[n_local * q] drawn from N(0, target^2), 1e-4 where that is not
 * positive. */
void ikt_initial_random(ikt_context *ctx, const ikt_rows *rows, int q, uint64_t seed, double target,
                        float *y);

/* The loop between two iterations: all that the rest of it depends on. Its arrays are, in this
 * order: the positions ("y"; not centred), those of the optimiser, those of the objective. */
enum {
    IKT_PHASE_NUMBERS = 7,
    IKT_PHASE_REALS = 3,
    IKT_LOOP_ARRAYS_MOST = 1 + IKT_OPTIMISER_ARRAYS_MOST + IKT_OBJECTIVE_ARRAYS_MOST
};

/* When the phase of exaggeration ends, when that of t-SNE before another objective does, when the
 * run does, and how long its steps are.
 *
 * Fixed: at given iterations. Auto, after opt-SNE (Belkina et al. 2019): exaggeration ends when KL
 * no longer falls faster and faster, that is when clusters have formed; the next phases end when an
 * iteration takes less than a ten-thousandth off the value. The rule is free of scale in n and in
 * the map.
 *
 * Steps: where phases have fixed ends, the value is looked at every IKT_WATCH_EVERY iterations.
 * Where it stands more than a thousandth above the first one of the exaggeration, or the least one
 * of a later phase, twice in a row, steps are halved from then on. That of negative samples or
 * triplets, of a regulariser and of late exaggeration says less, and an estimate may rise by its
 * error alone: these are not looked at.
 *
 * Values are the same on any ranks and threads, and so are the decisions. */
enum { IKT_WATCH_EVERY = 50 };

typedef struct {
    const ikt_layout_settings *settings; /* borrowed */
    bool is_exaggerated;
    bool is_beginning; /* t-SNE's KL is minimised, before the value of the objective */
    bool is_watched;   /* for steps that are too long */
    bool is_done;
    bool is_extended;         /* only the number of iterations ends the run */
    int64_t exaggeration_end; /* iterations done when the first phase ended */
    int64_t end;              /* ... when the run ended */
    double kl, best_rate;     /* at the last check, or the least one of those of steps; fastest
                                 relative fall an iteration */
    double step;              /* factor on the learning rate */
    int64_t begun, checked;   /* iteration at which the phase began, of the last check */
    int misses;               /* checks in a row that speak for its end, or for shorter steps */
} ikt_phases;

/* LOCAL. Before iteration 0; settings are resolved.
 *   is_estimated   values have an error */
ikt_phases ikt_phases_begin(const ikt_layout_settings *settings, bool is_estimated);

/* LOCAL. Whether the decision at `iteration` needs the value. */
bool ikt_phases_want_value(const ikt_phases *phases, int64_t iteration);

/* LOCAL. Decides at `iteration`, before its step, whether there is one, whether it is exaggerated,
 * what it minimises, and how long it is. `value`: where wanted, else not used. */
void ikt_phases_decide(ikt_phases *phases, int64_t iteration, double value);

/* LOCAL. The run ends at `iteration`, whatever was decided. */
void ikt_phases_stop(ikt_phases *phases, int64_t iteration);

/* LOCAL. All but settings, is_watched and is_extended as plain numbers, and back. */
void ikt_phases_pack(const ikt_phases *phases, int64_t number[IKT_PHASE_NUMBERS],
                     double real[IKT_PHASE_REALS]);
void ikt_phases_unpack(const int64_t number[IKT_PHASE_NUMBERS], const double real[IKT_PHASE_REALS],
                       ikt_phases *phases);

typedef struct {
    int64_t iteration; /* steps done */
    int arrays;
    ikt_objective_array form[IKT_LOOP_ARRAYS_MOST]; /* what they are */
    void *array[IKT_LOOP_ARRAYS_MOST];              /* in the order of the loop */
    int64_t phase_number[IKT_PHASE_NUMBERS];        /* of ikt_phases_pack */
    double phase_real[IKT_PHASE_REALS];
    ikt_trace_point *point; /* [points] the trace so far */
    int64_t points;
    double seconds; /* that the loop has taken so far */
} ikt_loop_state;

/* LOCAL, pure. Names and sizes of the arrays of a loop under these settings, which are resolved;
 * returns how many there are. */
int ikt_loop_arrays(const ikt_layout_settings *settings, const ikt_rows *rows,
                    ikt_objective_array form[IKT_LOOP_ARRAYS_MOST]);

/* LOCAL, pure. An array of a loop as a part of a file.
 *   values   or NULL, for the size of the file alone */
ikt_part ikt_loop_part(const ikt_objective_array *form, const ikt_rows *rows, void *values);

/* LOCAL. Claims the arrays that state->form names, for `rows`. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_loop_state_allocate(ikt_context *ctx, const ikt_rows *rows, ikt_loop_state *state);

/* LOCAL. Frees what an owned state holds; accepts an empty one. */
void ikt_loop_state_destroy(ikt_loop_state *state);

/* Writes states to a checkpoint, so that a run that is stopped can go on. */
typedef struct {
    void *self;
    const char *where; /* for messages */
    /* COLLECTIVE. The state is borrowed. */
    ikt_status (*save)(void *self, const ikt_loop_state *state);
} ikt_loop_hooks;

/* Where a loop begins, and what becomes of it. */
typedef struct {
    const ikt_loop_hooks *hooks; /* NULL: it cannot be stopped */
    const ikt_loop_state *from;  /* NULL: at the beginning */
    bool is_extended;            /* the run had ended before: only `iterations` ends it now */
    ikt_loop_state *last; /* receives the state before the last value of the trace, as if there were
                             more iterations to come; owned by the caller. NULL: not wanted */
    /* COLLECTIVE. Tells the watcher of the context (base/watch.h) of an iteration, whose positions
     * are in the table of the objective. NULL: it is not told. */
    ikt_status (*report)(void *reporter, int64_t iteration, double value);
    void *reporter;
    ikt_batch *batch; /* which rows a step moves; NULL: all */
} ikt_loop_course;

/* COLLECTIVE. Minimises the objective by the steps of its optimiser, phase after phase,
 * and centres the map in the end.
 *   settings    resolved
 *   objective   receives the positions in its table
 *   course      or NULL: from the beginning to the end
 *   y           [n_local * q] initial positions in (not looked at where course->from is given),
 *               final positions out
 *   trace       receives one point every report_every iterations and one at the end; the same (but
 *               for seconds) on every rank
 * Before each evaluation one small reduction carries requests to save or stop, which are handled
 * here whatever the objective is (base/watch.h), and whether all positions are finite.
 * Errors: IKT_ERR_DATA when positions stop being finite, naming the iteration; IKT_ERR_RESOURCE;
 * IKT_STOPPED, with a state saved; IKT_ERR_USAGE where the state has more iterations behind it than
 * the settings ask for; those of the objective. */
ikt_status ikt_layout_run(ikt_context *ctx, const ikt_layout_settings *settings,
                          const ikt_rows *rows, ikt_objective *objective,
                          const ikt_loop_course *course, float *y, ikt_trace *trace);

#endif
