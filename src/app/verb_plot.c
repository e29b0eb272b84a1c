/* iktsne plot: a picture of an embedding that is already in a file. */
#include "app/embedding_file.h"
#include "app/verb.h"
#include "plot/plot.h"

typedef struct {
    ikt_plot_settings plot;
    int background, colour_as;
    char colour_by[IKT_STRING_MAX], title[IKT_STRING_MAX], mark[IKT_STRING_MAX];
} options;

/* Reads the command line; see ikt_options_parse. */
static ikt_status parse_options(ikt_context *ctx, int argc, char **argv, options *o,
                                const char *paths[2], bool *help) {
    const ikt_option table[] = {
        {"colour-by", IKT_KEY_STRING, "NAME", "labels", 0, 0, NULL, o->colour_by,
         "Colour by this data set of n numbers: DATASET of RUN.h5, FILE.h5:DATASET of another file "
         "(of an AnnData file also FILE.h5ad:COLUMN, a column of obs, which may hold categories), "
         "or none. Labels are used by default where the file has them"},
        {"colour-as", IKT_KEY_CHOICE, "KIND", "auto", 0, 0, IKT_COLOUR_AS, &o->colour_as,
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
        {"background", IKT_KEY_CHOICE, "COLOUR", "white", 0, 0, "white|black", &o->background,
         "The colour of the background"},
        {"title", IKT_KEY_STRING, "TEXT", "", 0, 0, NULL, o->title,
         "The title above the plot; by default the name of RUN.h5"},
        {"mark", IKT_KEY_STRING, "ROWS", "", 0, 0, NULL, o->mark,
         "The rows to mark with a cross, such as 17 or 0,17, or none; by default those that the "
         "file names in /marked"},
        {"legend", IKT_KEY_BOOL, NULL, "yes", 0, 0, NULL, &o->plot.legend, "Draw the legend"},
        {"overwrite", IKT_KEY_BOOL, NULL, "no", 0, 0, NULL, &o->plot.overwrite,
         "Replace OUT where it exists"},
        {0}};
    return ikt_options_parse(ctx, &ikt_verb_plot, table, argc, argv, paths, 2, 2, NULL, help);
}

static ikt_status plot(ikt_context *ctx, int argc, char **argv) {
    options o = {.plot = ikt_plot_defaults()};
    const char *paths[2];
    bool help;
    IKT_TRY(parse_options(ctx, argc, argv, &o, paths, &help));
    if (help) return IKT_OK;
    ikt_embedding_file run;
    ikt_embedding_column column = {.labels = NULL};
    ikt_status st = ikt_embedding_file_open(ctx, paths[0], o.mark, &run);
    if (st == IKT_OK)
        st = ikt_embedding_column_read(ctx, &run, o.colour_by, (ikt_colour_as)o.colour_as,
                                       ikt_option_given("colour-by", argc, argv), &column);
    o.plot.black = o.background == 1;
    o.plot.title = ikt_embedding_file_title(&run, o.title);
    o.plot.footer = run.note;
    o.plot.description = run.configuration;
    const ikt_plot_points points = {.rows = &run.rows,
                                    .q = run.q,
                                    .y = run.y,
                                    .labels = column.labels,
                                    .class_names = column.names,
                                    .values = column.values,
                                    .column = column.name[0] ? column.name : NULL,
                                    .marked = run.marked,
                                    .n_marked = run.n_marked};
    if (st == IKT_OK) st = ikt_plot_embedding(ctx, &o.plot, &points, paths[1]);
    ikt_embedding_column_free(&column);
    ikt_embedding_file_close(&run);
    return st;
}

const ikt_verb ikt_verb_plot = {"plot", "RUN.h5 OUT.png|.svg|.pdf [options]",
                                "Draw a picture of an embedding as PNG, SVG or PDF",
                                "RUN.h5 is the output of `iktsne embed`, or " IKT_MAP_HELP, plot};
