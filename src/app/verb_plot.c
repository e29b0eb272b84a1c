/* iktsne plot: a picture of an embedding that is already in a file. */
#include <string.h>

#include "app/embedding_file.h"
#include "app/verb.h"
#include "base/encoding.h"
#include "base/files.h"
#include "base/log.h"
#include "plot/plot.h"

typedef struct {
    ikt_plot_settings plot;
    int background;
    ikt_page_names names; /* what is hovered over is not asked for */
    char title[IKT_STRING_MAX], mark[IKT_STRING_MAX], behind[IKT_STRING_MAX];
} options;

/* What the picture is made from; freed as one. */
typedef struct {
    ikt_embedding_file run, behind;
    ikt_embedding_column behind_labels;
    ikt_page_columns columns;
} subject;

/* Reads the command line; see ikt_options_parse. */
static ikt_status parse_options(ikt_context *ctx, int argc, char **argv, options *o,
                                const char *paths[2], bool *help) {
    const ikt_option table[] = {
        {"colour-by", IKT_TEXT("NAMES", "labels", o->names.colour_by),
         "Colour by this data set of n entries: DATASET of RUN.h5, FILE.h5:DATASET of another file "
         "(of an AnnData file also FILE.h5ad:COLUMN, a column of obs, which may hold categories), "
         "FILE.csv:COLUMN, or none; several, separated by commas, give a panel each. Labels are "
         "used by default where the file has them"},
        {"genes", IKT_TEXT("NAMES", "", o->names.genes),
         "The genes of an AnnData file to colour by as well, separated by commas, a panel each"},
        {"genes-from", IKT_TEXT("FILE.h5ad[:MATRIX]", "", o->names.genes_from),
         "The file and the matrix of the genes: X (by default), raw/X or layers/NAME. The file is "
         "by default that of the map"},
        {"behind", IKT_TEXT("FILE.h5", "", o->behind),
         "Another map in the same plane to draw behind this one, smaller and lighter: of the old "
         "rows among which `transform` has placed those of RUN.h5"},
        {"colour-as", IKT_CHOICE("KIND", "auto", IKT_COLOUR_AS, &o->names.colour_as),
         "Whether the data set holds classes or numbers; auto takes labels as classes, and also "
         "whole numbers that span fewer than 64"},
        {"width", IKT_KEY_INT, "PIXELS", "1200", 200, 20000, NULL, &o->plot.width,
         "The width of the picture"},
        {"height", IKT_KEY_INT, "PIXELS", "auto", 200, 20000, NULL, &o->plot.height,
         "The height of the picture; auto is five sixths of the width in two dimensions and two "
         "fifths in one and three"},
        {"point-radius", IKT_KEY_REAL, "PIXELS", "auto", 0.3, 100, NULL, &o->plot.point_radius,
         "The radius of a point; auto falls from 3.5 for 1,000 points to one pixel for a million"},
        {"opacity", IKT_KEY_REAL, "PART", "auto", 0.001, 1, NULL, &o->plot.opacity,
         "The opacity of a single point; where points overlap it grows with the logarithm of their "
         "number"},
        {"dpi", IKT_KEY_REAL, "NUMBER", "auto", 20, 5000, NULL, &o->plot.dpi,
         "The pixels in an inch of an SVG or PDF page; auto is 200, so that 1200 pixels are six "
         "inches"},
        {"background", IKT_CHOICE("COLOUR", "white", "white|black", &o->background),
         "The colour of the background"},
        {"title", IKT_TEXT("TEXT", "", o->title),
         "The title above the plot; by default the name of RUN.h5"},
        {"mark", IKT_TEXT("ROWS", "", o->mark),
         "The rows to mark with a cross, such as 17 or 0,17, or none; by default those that the "
         "file names in /marked"},
        {"legend", IKT_KEY_BOOL, NULL, "yes", 0, 0, NULL, &o->plot.legend, "Draw the legend"},
        {"names", IKT_FLAG(&o->plot.names),
         "Write the names of the classes on the map, each where its class is densest"},
        {"overwrite", IKT_FLAG(&o->plot.overwrite), "Replace OUT where it exists"},
        {0}};
    return ikt_options_parse(ctx, &ikt_verb_plot, table, argc, argv, paths, 2, 2, NULL, help);
}

/* COLLECTIVE. The map behind, and its labels where its classes are those of the map. */
static ikt_status open_behind(ikt_context *ctx, const options *o, subject *s) {
    if (!o->behind[0]) return IKT_OK;
    IKT_TRY(ikt_embedding_file_open(ctx, o->behind, "none", &s->behind));
    if (s->behind.q != s->run.q)
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "--behind: %s has %d dimensions, but %s has %d; both maps must be of the "
                        "same plane or space",
                        o->behind, s->behind.q, s->run.path, s->run.q);
    IKT_TRY(ikt_embedding_column_read(ctx, &s->behind, "labels", IKT_COLOUR_AS_CLASSES, false,
                                      &s->behind_labels));
    return IKT_OK;
}

/* Whether classes of one number are the same classes in both: by their names, or without any. */
static bool are_same(const char *a, const char *b) {
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static ikt_status check_files(ikt_context *ctx, const options *o, const char *const paths[2]) {
    ikt_files files = {.ctx = ctx};
    ikt_files_add(&files, IKT_FILE_READ, "RUN.h5", paths[0]);
    ikt_files_add(&files, IKT_FILE_READ, "--behind", o->behind);
    ikt_files_add(&files, IKT_FILE_READ, "--genes-from", o->names.genes_from);
    ikt_files_add_list(&files, "--colour-by", o->names.colour_by);
    ikt_files_add_picture(&files, "OUT", paths[1]);
    return ikt_files_check(&files);
}

static ikt_status draw(ikt_context *ctx, options *o, subject *s, const char *const paths[2]) {
    ikt_plot_points points[IKT_PLOT_PANELS_MOST];
    IKT_TRY(check_files(ctx, o, paths));
    IKT_TRY(ikt_embedding_file_open(ctx, paths[0], o->mark, &s->run));
    IKT_TRY(ikt_page_columns_read(ctx, &s->run, &o->names, &s->columns));
    IKT_TRY(open_behind(ctx, o, s));
    if (s->columns.count > IKT_PLOT_PANELS_MOST)
        return ikt_fail(ctx, IKT_ERR_USAGE, "--colour-by: a picture has at most %d panels",
                        IKT_PLOT_PANELS_MOST);
    o->plot.black = o->background == 1;
    o->plot.title = ikt_embedding_file_title(&s->run, o->title);
    o->plot.footer = s->run.note;
    o->plot.description = s->run.configuration;
    const int panels = s->columns.count > 0 ? s->columns.count : 1;
    for (int p = 0; p < panels; p++) {
        const ikt_page_column none = {.own = {.labels = NULL}};
        const ikt_page_column *c = s->columns.count > 0 ? &s->columns.column[p] : &none;
        const bool same = are_same(c->own.names, s->behind_labels.names);
        points[p] = (ikt_plot_points){.rows = &s->run.rows,
                                      .q = s->run.q,
                                      .y = s->run.y,
                                      .labels = c->own.labels,
                                      .class_names = c->own.names,
                                      .values = c->gene ? c->gene : c->own.values,
                                      .column = ikt_text_or(c->own.name, NULL),
                                      .colours = c->colours,
                                      .n_colours = c->n_colours,
                                      .marked = s->run.marked,
                                      .n_marked = s->run.n_marked,
                                      .behind = s->behind.y,
                                      .n_behind = o->behind[0] ? s->behind.rows.count : 0,
                                      .behind_labels = same ? s->behind_labels.labels : NULL};
    }
    return ikt_plot_panels(ctx, &o->plot, points, panels, paths[1]);
}

static ikt_status plot(ikt_context *ctx, int argc, char **argv) {
    options o = {.plot = ikt_plot_defaults()};
    subject s = {.columns = {.count = 0}};
    const char *paths[2];
    bool help;
    IKT_TRY(parse_options(ctx, argc, argv, &o, paths, &help));
    if (help) return IKT_OK;
    o.names.asked_for = ikt_option_given("colour-by", argc, argv);
    ikt_status st = draw(ctx, &o, &s, paths);
    if (st == IKT_ERR_RESOURCE)
        ikt_log(ctx, IKT_LOG_WARN,
                "rank 0 draws: a smaller picture (--width, --height) needs less memory");
    ikt_page_columns_free(&s.columns);
    ikt_embedding_column_free(&s.behind_labels);
    ikt_embedding_file_close(&s.behind);
    ikt_embedding_file_close(&s.run);
    return st;
}

const ikt_verb ikt_verb_plot = {"plot", "RUN.h5 OUT.png|.svg|.pdf [options]",
                                "Draw a picture of an embedding as PNG, SVG or PDF",
                                "RUN.h5 is the output of `iktsne embed`, or " IKT_MAP_HELP, plot};
