/* iktsne plot: a picture of an embedding that is already in a file. */
#include "app/embedding_file.h"
#include "app/verb.h"
#include "plot/plot.h"

typedef struct {
    int64_t width, height;
    double point_radius, opacity, dpi;
    int background, colour_as;
    bool legend, overwrite;
    char colour_by[IKT_STRING_MAX], title[IKT_STRING_MAX], mark[IKT_STRING_MAX];
} options;

/* Reads the command line; see ikt_options_parse. */
static ikt_status parse_options(ikt_context *ctx, int argc, char **argv, options *o,
                                const char *paths[2], bool *help) {
    const ikt_option table[] = {
        {"colour-by", IKT_KEY_STRING, "NAME", "labels", 0, 0, NULL,
         "Colour by this data set of n numbers: DATASET of RUN.h5, FILE.h5:DATASET of another "
         "file (of AnnData also FILE.h5ad:COLUMN of obs, categories among them), or none; labels "
         "are used where the file has them",
         o->colour_by},
        {"colour-as", IKT_KEY_CHOICE, "KIND", "auto", 0, 0, IKT_COLOUR_AS,
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
        {"dpi", IKT_KEY_REAL, "NUMBER", "auto", 20, 5000, NULL,
         "Pixels in an inch of an SVG or PDF page; auto is 200, so that 1200 pixels are six inches",
         &o->dpi},
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
        {"overwrite", IKT_KEY_BOOL, NULL, "no", 0, 0, NULL, "Replace OUT where it exists",
         &o->overwrite},
        {0}};
    return ikt_options_parse(ctx, &ikt_verb_plot, table, argc, argv, paths, 2, 2, NULL, help);
}

static ikt_status plot(ikt_context *ctx, int argc, char **argv) {
    options o;
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
    const ikt_plot_settings settings = {.width = o.width,
                                        .height = o.height,
                                        .point_radius = o.point_radius,
                                        .opacity = o.opacity,
                                        .dpi = o.dpi,
                                        .black = o.background == 1,
                                        .legend = o.legend,
                                        .overwrite = o.overwrite,
                                        .title = ikt_embedding_file_title(&run, o.title),
                                        .footer = run.note,
                                        .description = run.configuration};
    const ikt_plot_points points = {.rows = &run.rows,
                                    .q = run.q,
                                    .y = run.y,
                                    .labels = column.labels,
                                    .class_names = column.names,
                                    .values = column.values,
                                    .column = column.name[0] ? column.name : NULL,
                                    .marked = run.marked,
                                    .n_marked = run.n_marked};
    if (st == IKT_OK) st = ikt_plot_embedding(ctx, &settings, &points, paths[1]);
    ikt_embedding_column_free(&column);
    ikt_embedding_file_close(&run);
    return st;
}

const ikt_verb ikt_verb_plot = {"plot", "RUN.h5 OUT.png|.svg|.pdf [options]",
                                "Draws a picture (PNG, SVG or PDF) of an embedding: of the output "
                                "of `iktsne embed`, or of any HDF5 file "
                                "with a data set /embedding of n x 1, n x 2 or n x 3",
                                plot};
