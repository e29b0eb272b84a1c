/* Everything a run can be told, as one plain struct made of the modules' own. */
#ifndef IKT_SETTINGS_SETTINGS_H
#define IKT_SETTINGS_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "affinity/affinity.h"
#include "config/config.h"
#include "config/value.h"
#include "data/normalise.h"
#include "io/sources/source.h"
#include "isolation/codes.h"
#include "isolation/model.h"
#include "isolation/settings.h"
#include "layout/layout.h"
#include "similarity/settings.h"

typedef struct {
    char file[IKT_STRING_MAX];
    char dataset[IKT_STRING_MAX];      /* or IKT_DATASET_AUTO */
    char graph[IKT_STRING_MAX];        /* FILE[:PATH], "" = none: similarities come from a kernel */
    char similarities[IKT_STRING_MAX]; /* FILE[:DATASET], or DATASET of `file`; "" = none */
    bool symmetrise;                   /* these */
    int spectrum;                      /* ikt_spectrum_use of these */
    char labels[IKT_STRING_MAX];       /* "labels" */
    char skip_columns[IKT_STRING_MAX]; /* of CSV; "" = none */
    int delimiter;                     /* of CSV; see input.c */
    int64_t rows;                      /* first rows of the file, or IKT_AUTO_INT for all */
    int transposed;                    /* ikt_transposed */
    int64_t columns, skip;             /* of a raw file; IKT_AUTO_INT: the file is not raw */
    int type, byte_order;              /* of a raw file; see input.c */
    bool skip_is_shared;               /* no key: skip_columns was said of several files */
    bool inherited;                    /* no key: what stands above was said of another file */
} ikt_input_settings;

typedef enum { IKT_MEASURES_NONE, IKT_MEASURES_MAP, IKT_MEASURES_ALL } ikt_measures_wanted;

typedef struct {
    char file[IKT_STRING_MAX];
    char picture[IKT_STRING_MAX]; /* "" = none */
    char model[IKT_STRING_MAX];   /* "" = none */
    char graph[IKT_STRING_MAX];   /* "" = none */
    bool overwrite;
    bool state;   /* of the loop, for --extend */
    int measures; /* ikt_measures_wanted */
} ikt_output_settings;

typedef struct {
    int64_t seed;
    int64_t threads;                 /* per rank, or IKT_AUTO_INT */
    char checkpoint[IKT_STRING_MAX]; /* folder, "auto" or "none" */
    double checkpoint_every;         /* minutes, 0: only where it is asked for */
    char max_time[IKT_STRING_MAX];   /* "auto", "none" or a time as Slurm writes them */
    bool resume;
    bool checkpoint_keep;
    char configuration[IKT_STRING_MAX]; /* no key: the file that the settings stand in, or "" */
    int64_t extend; /* no key: iterations to add to the finished run in output.file, or 0 */
    int log;        /* ikt_log_format */
    int preset;     /* of the table of presets */
} ikt_run_settings;

typedef struct {
    ikt_input_settings input;
    ikt_preprocess_settings preprocess;
    ikt_affinity_settings affinity; /* with the sections of its kinds */
    ikt_isolation_settings isolation;
    ikt_layout_settings layout;
    ikt_kernel_settings kernel; /* of kpca and kda */
    ikt_output_settings output;
    ikt_run_settings run;
} ikt_settings;

enum { IKT_SETTINGS_PARTS = 9 + IKT_AFFINITY_PARTS + IKT_OBJECTIVE_PARTS };

/* LOCAL. The sections bound to the members of `settings`, for the functions of config.h. */
void ikt_settings_parts(ikt_settings *settings, ikt_config_part parts[IKT_SETTINGS_PARTS]);

/* LOCAL, pure. Whether the input has rows of its own, or similarities of such: not a graph alone.
 */
static inline bool ikt_input_has_rows(const ikt_input_settings *input) {
    return input->file[0] || input->similarities[0];
}

/* LOCAL, pure. Whether a graph stands alone: without rows, or similarities of such. */
static inline bool ikt_input_is_graph(const ikt_input_settings *input) {
    return input->graph[0] && !ikt_input_has_rows(input);
}

/* LOCAL, pure. Which similarities kpca and kda compare rows by. */
ikt_similarity_kind ikt_settings_similarity(const ikt_settings *settings);

/* LOCAL, pure. Which affinity.kind=fisher compares rows with its support by. */
ikt_similarity_kind ikt_settings_class_similarity(const ikt_settings *settings);

/* LOCAL, pure. Whether the map, or the start, is one of similarities. */
bool ikt_settings_has_kernel_map(const ikt_settings *settings);

/* LOCAL, pure. Whether such a map is what the run makes, and not only where it starts. */
bool ikt_settings_is_kernel_map(const ikt_settings *settings);

/* LOCAL, pure. Whether rows stand in the order of near cells, and are searched for among those: not
 * where every pair counts, nor where a matrix compares the rows. */
bool ikt_settings_is_near(const ikt_settings *settings, int64_t n);

/* LOCAL. Whether the members of a key have equal values, as they are printed. */
bool ikt_settings_has_equal(const ikt_key *key, const ikt_config_part *a, const ikt_config_part *b);

/* LOCAL, pure. Whether a section says how similar rows are, which a graph depends on and is written
 * and read with: preprocess, affinity with its kinds, isolation. */
bool ikt_settings_is_of_kernel(const ikt_section *section);

/* LOCAL. Those sections as YAML.
 *   text   freed with ikt_free. Errors: IKT_ERR_RESOURCE. */
ikt_status ikt_graph_settings_print(ikt_context *ctx, const ikt_settings *settings, char **text);

/* SAME-ARGS. Puts the settings that made a graph in place of those that are at their defaults.
 *   settings   as the user gave them
 *   text       of ikt_graph_settings_print
 *   name       of the file
 * Errors: IKT_ERR_USAGE, naming the first key whose value is neither the default nor that of the
 * graph; IKT_ERR_DATA where the text makes no sense. */
ikt_status ikt_graph_settings_adopt(ikt_context *ctx, ikt_settings *settings, const char *text,
                                    const char *name);

/* LOCAL. Sets to their defaults the keys that belong to one job and not to the study: time,
 * checkpoints. */
void ikt_settings_forget_job(ikt_run_settings *run);

/* LOCAL, pure. The settings under which `count` landmarks are embedded: those of the run, with what
 * depends on the number of rows left to be chosen again. That holds even where the run's own
 * settings have been resolved, so that a configuration that was written back gives the same
 * landmarks. */
ikt_settings ikt_settings_of_landmarks(const ikt_settings *settings, int64_t count);

/* LOCAL, pure. Whether psi is automatic and may be larger than usual where rows have small
 * neighbourhoods (isolation/settings.h): where cells are to be fine, up to as many rows
 * as let n/4 be psi. */
bool ikt_settings_look_at_neighbourhoods(const ikt_settings *settings, int64_t n, bool is_sparse);

/* SAME-ARGS. Which model of the Isolation kernel the settings of a run mean: resolves what is
 * "auto", and what brings near rows together where rows are searched for among near ones: places
 * among the centres (isolation/codes.h) where rows lie in cells of a few each, otherwise coarse
 * cells.
 *   n       rows that are coded
 *   drawn   rows that centres are drawn from: n, or those of isolation.model_from
 *   rows    shape of both; its numbers of entries need not be known
 * Errors: IKT_ERR_USAGE for psi or pool that do not suit the rows. */
ikt_status ikt_model_spec_make(ikt_context *ctx, const ikt_settings *settings, int64_t n,
                               int64_t drawn, const ikt_codes_rows *rows, ikt_model_spec *out);

/* SAME-ARGS. As ikt_affinity_resolve: how many most similar rows each row has in the lists that are
 * made for the objective. One that needs no P has its own number for "auto", and no use for what a
 * kernel makes weights by. Errors: IKT_ERR_USAGE with key, value and what is possible. */
ikt_status ikt_settings_lists(ikt_context *ctx, const ikt_settings *settings, int64_t n,
                              int64_t *k);

/* How neighbours are searched for among near cells. */
typedef struct {
    int64_t passes;     /* searches with cells of their own, one after the other */
    int64_t candidates; /* of a row, in each */
    int64_t rounds;     /* among near rows, after that */
} ikt_list_search;

/* LOCAL, pure.
 *   k         neighbours of a row
 *   fine      cells of the nearest centres that are looked into; 0: coarse ones are
 *   passes    searches of distances (ikt_affinity_passes); 1: of codes
 *   joins     rounds are local joins (neighbours/local_join.h): three take less than two others */
ikt_list_search ikt_settings_list_search(const ikt_settings *settings, int64_t n, int64_t k,
                                         int64_t fine, int64_t passes, bool joins);

/* COLLECTIVE. Opens the rows of input.file, or the matrix of input.similarities. Errors: those of
 * ikt_matrix_source_open; those of ikt_source_open_with; IKT_ERR_USAGE
 * (input.file is missing, the description of raw numbers is incomplete). */
ikt_status ikt_input_open(ikt_context *ctx, const ikt_input_settings *input, ikt_source **out);

/* COLLECTIVE. The same for those who want shape and labels alone: similarities are not looked
 * through, and stay as they are. */
ikt_status ikt_input_look(ikt_context *ctx, const ikt_input_settings *input, ikt_source **out);

/* LOCAL. Names another file with the same rows, or the same similarities.
 *   name   the file; of similarities also FILE:DATASET */
void ikt_input_rename(ikt_input_settings *input, const char *name);

/* LOCAL. Makes the delimiter that the command line names (ikt_delimiter_use) a setting, where none
 * is given and the rows are those of a file, so that the run can be repeated from its settings. */
void ikt_input_delimit(const ikt_context *ctx, ikt_input_settings *input);

/* COLLECTIVE. Opens another file as `input` describes one: its numbers are raw where nothing else
 * is known of it, transposed where those were. */
ikt_status ikt_input_open_like(ikt_context *ctx, const ikt_input_settings *input, const char *file,
                               const char *dataset, ikt_source **out);

/* COLLECTIVE. Tells in the log's details what else the file holds. */
void ikt_input_describe(ikt_context *ctx, const ikt_source *source);

/* LOCAL. The word none of picture, model and graph is no file. */
void ikt_output_settle(ikt_output_settings *output);

/* LOCAL, pure. Whether the run keeps checkpoints. */
bool ikt_run_has_checkpoints(const ikt_run_settings *run);

/* --- presets ----------------------------------------------------------------------------------
 *
 * What a first look, the paper or millions of rows ask for, as tables of settings. run.preset sets
 * the keys that its table names, before any setting of the user, so that every one of those wins
 * over it; where the table is silent, the defaults hold. What a run writes into its provenance are
 * the values of the keys. (layout.preset is narrower: the schedule of the loop that its keys follow
 * where they are auto; the preset `paper` sets it.) */

enum { IKT_PRESET_SETTINGS_MOST = 16 };

enum { IKT_RUN_PRESET_NONE, IKT_RUN_PRESETS = 10 };

/* The choices of run.preset, in the order of the table below. */
extern const char ikt_preset_names[];

typedef struct {
    const char *name;                                  /* "quick" */
    const char *help;                                  /* what for, and what it costs */
    const char *setting[IKT_PRESET_SETTINGS_MOST + 1]; /* "section.key=value", ended by NULL */
} ikt_preset;

/* The tables of the presets; that of NONE is empty. */
extern const ikt_preset ikt_presets[IKT_RUN_PRESETS];

/* SAME-ARGS. Sets the keys of the table. Errors: IKT_ERR_INTERNAL for a table that the keys do not
 * allow (a defect of it). */
ikt_status ikt_preset_apply(ikt_context *ctx, const ikt_config_part *parts, size_t n, int preset);

/* LOCAL. All presets for people; as Markdown: a heading of the second level and a table. */
void ikt_presets_describe(ikt_text *text);
void ikt_presets_describe_markdown(ikt_text *text);

#endif
