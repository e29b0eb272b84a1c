/* iktsne plot: a picture of an embedding that is already in a file. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/option.h"
#include "app/verbs.h"
#include "base/comm.h"
#include "base/memory.h"
#include "io/columns.h"
#include "io/label_file.h"
#include "io/result.h"
#include "plot/plot.h"

/* Whole numbers that span fewer values than this are classes unless the user says otherwise. */
enum { CLASSES_GUESSED = 64 };
enum { AS_AUTO, AS_CLASSES, AS_NUMBERS };

typedef struct {
    int64_t width, height;
    double point_radius, opacity;
    int background, colour_as;
    bool legend, overwrite;
    char colour_by[IKT_STRING_MAX], title[IKT_STRING_MAX], mark[IKT_STRING_MAX];
} options;

/* What a picture is made from; freed as one. */
typedef struct {
    ikt_result_file *file;
    const char *path;
    ikt_row_map map;
    int q;
    float *y;
    int64_t *labels;
    char *class_names;
    double *values;
    int64_t *marked, n_marked;
    char column[IKT_STRING_MAX];
    char input[256], value[64]; /* from the file's notes, or "" */
    char title[IKT_STRING_MAX], footer[512];
    char *configuration;
} subject;

/* A name that may be "DATASET" of the run's file or "FILE.h5:DATASET" of another. */
static void split_name(const char *name, const char *own, char *file, const char **dataset) {
    const char *colon = strrchr(name, ':');
    *dataset = colon ? colon + 1 : name;
    snprintf(file, IKT_STRING_MAX, "%.*s", colon ? (int)(colon - name) : IKT_STRING_MAX - 1,
             colon ? name : own);
    if (**dataset == '/') ++*dataset;
}

static ikt_status read_labels(ikt_context *ctx, subject *s, bool asked_for) {
    bool present = false;
    ikt_status st = ikt_alloc(ctx, &s->labels, s->map.count, sizeof *s->labels, "labels");
    IKT_TRY(ikt_agree(ctx, st));
    IKT_TRY(
        ikt_result_read_labels(s->file, "labels", s->map.first, s->map.count, s->labels, &present));
    if (present) return ikt_result_read_text(s->file, "label_names", &s->class_names);
    ikt_free(&s->labels);
    s->column[0] = '\0';
    if (!asked_for) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_DATA,
                    "%s has no /labels; name another data set, --colour-by FILE.h5:DATASET, or "
                    "--colour-by none",
                    s->path);
}

/* COLLECTIVE. Row number of the lowest value that is not a whole number; -1: all are. */
static int64_t first_broken(ikt_context *ctx, const subject *s) {
    int64_t row = INT64_MAX;
    for (int64_t i = s->map.count - 1; i >= 0; i--)
        if (!(fabs(s->values[i]) < 9e15) || s->values[i] != floor(s->values[i]))
            row = s->map.first + i;
    ikt_min_i64(ctx, &row, 1);
    return row == INT64_MAX ? -1 : row;
}

/* COLLECTIVE. Largest value - least value. */
static double span_of(ikt_context *ctx, const subject *s) {
    double limits[2] = {INFINITY, INFINITY};
    for (int64_t i = 0; i < s->map.count; i++) {
        limits[0] = fmin(limits[0], s->values[i]);
        limits[1] = fmin(limits[1], -s->values[i]);
    }
    ikt_min_f64(ctx, limits, 2);
    return -limits[1] - limits[0];
}

/* Turns the values into labels where they are to be classes. */
static ikt_status choose_kind(ikt_context *ctx, const options *o, subject *s) {
    int64_t broken = o->colour_as == AS_NUMBERS ? 0 : first_broken(ctx, s);
    if (o->colour_as == AS_CLASSES && broken >= 0)
        return ikt_fail(ctx, IKT_ERR_DATA,
                        "%s, row %" PRId64 ": classes must be whole numbers; use --colour-as "
                        "numbers",
                        o->colour_by, broken);
    bool classes = broken < 0;
    if (classes && o->colour_as == AS_AUTO) classes = span_of(ctx, s) < CLASSES_GUESSED;
    if (!classes) return IKT_OK;
    ikt_status st = ikt_alloc(ctx, &s->labels, s->map.count, sizeof *s->labels, "labels");
    IKT_TRY(ikt_agree(ctx, st));
    for (int64_t i = 0; i < s->map.count; i++)
        s->labels[i] = (int64_t)s->values[i];
    ikt_free(&s->values);
    return IKT_OK;
}

/* Classes of another file that have names, such as the categories of an AnnData. */
static ikt_status read_named(ikt_context *ctx, const options *o, subject *s, bool *named) {
    *named = false;
    if (!strchr(o->colour_by, ':') || o->colour_as == AS_NUMBERS) return IKT_OK;
    IKT_TRY(ikt_label_file_has_names(ctx, o->colour_by, named));
    if (!*named) return IKT_OK;
    ikt_status st = ikt_alloc(ctx, &s->labels, s->map.count, sizeof *s->labels, "labels");
    IKT_TRY(ikt_agree(ctx, st));
    return ikt_label_file_read(ctx, o->colour_by, s->map.n, s->map.first, s->map.count, s->labels,
                               named, &s->class_names);
}

static ikt_status read_colours(ikt_context *ctx, const options *o, bool asked_for, subject *s) {
    char file[IKT_STRING_MAX];
    const char *dataset;
    if (strcmp(o->colour_by, "none") == 0) return IKT_OK;
    split_name(o->colour_by, s->path, file, &dataset);
    snprintf(s->column, sizeof s->column, "%s", dataset);
    if (strcmp(o->colour_by, "labels") == 0 && o->colour_as != AS_NUMBERS)
        return read_labels(ctx, s, asked_for);
    bool named;
    IKT_TRY(read_named(ctx, o, s, &named));
    if (named) return IKT_OK;
    ikt_status st = ikt_alloc(ctx, &s->values, s->map.count, sizeof *s->values, "colours");
    IKT_TRY(ikt_agree(ctx, st));
    IKT_TRY(ikt_source_read_column(ctx, file, dataset, s->map.n, s->map.first, s->map.count,
                                   s->values));
    return choose_kind(ctx, o, s);
}

/* "0,17" to row numbers; they replace the file's own. "none": no marks. */
static ikt_status parse_marks(ikt_context *ctx, const char *text, subject *s) {
    ikt_free(&s->marked);
    s->n_marked = 0;
    if (strcmp(text, "none") == 0) return IKT_OK;
    int64_t most = (int64_t)strlen(text) / 2 + 1;
    IKT_TRY(ikt_alloc(ctx, &s->marked, most, sizeof *s->marked, "marked rows"));
    for (const char *at = text;; at++) {
        char *end;
        long long row = strtoll(at, &end, 10);
        if (end == at || (*end != ',' && *end != '\0') || row < 0 || row >= s->map.n)
            return ikt_fail(ctx, IKT_ERR_USAGE,
                            "--mark: '%s' is not a list of rows such as 0,17 (rows 0 to %" PRId64
                            ")",
                            text, s->map.n - 1);
        s->marked[s->n_marked++] = row;
        if (*end == '\0') return IKT_OK;
        at = end;
    }
}

static void visit_note(void *self, const char *name, const char *text, bool varying) {
    subject *s = self;
    if (varying) return;
    if (strcmp(name, "input") == 0) snprintf(s->input, sizeof s->input, "%s", text);
    if (strcmp(name, "kl") == 0 || strcmp(name, "cost") == 0)
        snprintf(s->value, sizeof s->value, "%s %.4f", name[0] == 'k' ? "KL" : "cost",
                 strtod(text, NULL));
}

static ikt_status read_subject(ikt_context *ctx, const options *o, bool asked_for, subject *s) {
    IKT_TRY(ikt_result_open(ctx, s->path, &s->file));
    s->map = ikt_row_map_make(ikt_result_rows(s->file), ikt_size(ctx), ikt_rank(ctx));
    s->q = ikt_result_dimensions(s->file);
    ikt_status st = ikt_alloc(ctx, &s->y, s->q * s->map.count, sizeof *s->y, "embedding");
    IKT_TRY(ikt_agree(ctx, st));
    IKT_TRY(ikt_result_read_embedding(s->file, s->map.first, s->map.count, s->y));
    IKT_TRY(ikt_result_read_marked(s->file, &s->marked, &s->n_marked));
    if (o->mark[0]) IKT_TRY(ikt_agree(ctx, parse_marks(ctx, o->mark, s)));
    IKT_TRY(ikt_result_notes(s->file, visit_note, s));
    IKT_TRY(ikt_result_configuration(s->file, &s->configuration));
    return read_colours(ctx, o, asked_for, s);
}

static void release(subject *s) {
    ikt_result_close(&s->file);
    ikt_free(&s->y);
    ikt_free(&s->labels);
    ikt_free(&s->class_names);
    ikt_free(&s->values);
    ikt_free(&s->marked);
    ikt_free(&s->configuration);
}

/* Title: as given, else the run's file; footer: what the file says of the run. */
static void write_texts(const options *o, subject *s) {
    const char *slash = strrchr(s->path, '/');
    snprintf(s->title, sizeof s->title, "%s",
             o->title[0] ? o->title : (slash ? slash + 1 : s->path));
    snprintf(s->footer, sizeof s->footer, "%s%s%s", s->input,
             s->input[0] && s->value[0] ? ", " : "", s->value);
}

static ikt_status draw(ikt_context *ctx, const options *o, const subject *s, const char *path) {
    const ikt_plot_settings settings = {.width = o->width,
                                        .height = o->height,
                                        .point_radius = o->point_radius,
                                        .opacity = o->opacity,
                                        .black = o->background == 1,
                                        .legend = o->legend,
                                        .overwrite = o->overwrite,
                                        .title = s->title,
                                        .footer = s->footer,
                                        .description = s->configuration};
    const ikt_plot_points points = {.map = &s->map,
                                    .q = s->q,
                                    .y = s->y,
                                    .labels = s->labels,
                                    .class_names = s->class_names,
                                    .values = s->values,
                                    .column = s->column[0] ? s->column : NULL,
                                    .marked = s->marked,
                                    .n_marked = s->n_marked};
    return ikt_plot_embedding(ctx, &settings, &points, path);
}

/* Reads the command line; see ikt_options_parse. */
static ikt_status parse_options(ikt_context *ctx, int argc, char **argv, options *o,
                                const char *paths[2], bool *help) {
    const ikt_option table[] = {
        {"colour-by", IKT_KEY_STRING, "NAME", "labels", 0, 0, NULL,
         "Colour by this data set of n numbers: DATASET of RUN.h5, FILE.h5:DATASET of another "
         "file (of AnnData also FILE.h5ad:COLUMN of obs, categories among them), or none; labels "
         "are used where the file has them",
         o->colour_by},
        {"colour-as", IKT_KEY_CHOICE, "KIND", "auto", 0, 0, "auto|classes|numbers",
         "Whether the data set holds classes or numbers; auto takes labels, and whole numbers "
         "that span fewer than 64, as classes",
         &o->colour_as},
        {"width", IKT_KEY_INT, "PIXELS", "1200", 200, 20000, NULL, "Width of the picture",
         &o->width},
        {"height", IKT_KEY_INT, "PIXELS", "auto", 200, 20000, NULL,
         "Height of the picture; auto is five sixths of the width, in one and three "
         "dimensions two fifths",
         &o->height},
        {"point-radius", IKT_KEY_REAL, "PIXELS", "auto", 0.3, 100, NULL,
         "Radius of a point; auto falls from 3.5 for 1,000 points to one pixel for a million",
         &o->point_radius},
        {"opacity", IKT_KEY_REAL, "PART", "auto", 0.001, 1, NULL,
         "Opacity of a single point; where points overlap it grows with the logarithm of their "
         "number",
         &o->opacity},
        {"background", IKT_KEY_CHOICE, "COLOUR", "white", 0, 0, "white|black",
         "Colour of the background", &o->background},
        {"title", IKT_KEY_STRING, "TEXT", "", 0, 0, NULL,
         "Title above the plot; by default the name of RUN.h5", o->title},
        {"mark", IKT_KEY_STRING, "ROWS", "", 0, 0, NULL,
         "Rows to mark with a cross, such as 17 or 0,17, or none; by default those that the file "
         "names in /marked",
         o->mark},
        {"legend", IKT_KEY_BOOL, NULL, "yes", 0, 0, NULL,
         "Draw the legend (on by default; --no-legend leaves it out)", &o->legend},
        {"overwrite", IKT_KEY_BOOL, NULL, "no", 0, 0, NULL, "Replace OUT.png where it exists",
         &o->overwrite},
    };
    int n_paths;
    return ikt_options_parse(ctx, &ikt_verb_plot, table, sizeof table / sizeof *table, argc, argv,
                             paths, 2, 2, &n_paths, help);
}

static ikt_status run(ikt_context *ctx, int argc, char **argv) {
    options o;
    const char *paths[2];
    bool help;
    IKT_TRY(parse_options(ctx, argc, argv, &o, paths, &help));
    if (help) return IKT_OK;
    subject s = {.path = paths[0]};
    ikt_status st = read_subject(ctx, &o, ikt_option_given("colour-by", argc, argv), &s);
    write_texts(&o, &s);
    if (st == IKT_OK) st = draw(ctx, &o, &s, paths[1]);
    release(&s);
    return st;
}

const ikt_verb ikt_verb_plot = {
    "plot", "RUN.h5 OUT.png [options]",
    "Draws a picture (PNG) of an embedding: of the output of `iktsne embed`, or of any HDF5 file "
    "with a data set /embedding of n x 1, n x 2 or n x 3",
    run};
