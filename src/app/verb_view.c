/* iktsne view: an embedding as a page to pan and zoom in with a browser. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/embedding_file.h"
#include "app/verb.h"
#include "base/comm.h"
#include "base/files.h"
#include "viewer/viewer.h"

enum { SHAPE_MOST = 65536 };

typedef struct {
    int64_t images_most, image_shrink;
    int background;
    bool overwrite;
    ikt_page_names names;
    char title[IKT_STRING_MAX], beside[IKT_STRING_MAX], mark[IKT_STRING_MAX];
    char images[IKT_STRING_MAX], image_shape[IKT_STRING_MAX];
} options;

/* What the page is made from; freed as one. */
typedef struct {
    ikt_embedding_file run, beside;
    ikt_page_columns columns;
    char images[IKT_STRING_MAX]; /* file of the pictures */
    ikt_picture_settings pictures;
} subject;

/* COLLECTIVE. The map beside the first, of the same rows. */
static ikt_status open_beside(ikt_context *ctx, const options *o, subject *s) {
    if (!o->beside[0]) return IKT_OK;
    IKT_TRY(ikt_embedding_file_open(ctx, o->beside, "none", &s->beside));
    if (s->beside.rows.n == s->run.rows.n) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_USAGE,
                    "--beside: %s has %" PRId64 " rows, but %s has %" PRId64
                    "; two maps beside each other are of the same rows",
                    o->beside, s->beside.rows.n, s->run.path, s->run.rows.n);
}

/* "28x28" or "28x28x3". */
static ikt_status parse_shape(ikt_context *ctx, const char *text, ikt_picture_settings *pictures) {
    int64_t side[3] = {0, 0, 1};
    const char *at = text;
    int sides = 0;
    bool good = true;
    for (bool more = true; more && good; sides++) {
        char *end;
        const long long value = strtoll(at, &end, 10);
        more = *end == 'x';
        good = sides < 3 && end != at && value >= 1 && value <= SHAPE_MOST && (more || !*end);
        if (good) side[sides] = value;
        at = end + 1;
    }
    if (!good || sides < 2 || (side[2] != 1 && side[2] != 3))
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "--image-shape: '%s' is not a height and a width such as 28x28, or with "
                        "three colours 32x32x3",
                        text);
    pictures->height = side[0];
    pictures->width = side[1];
    pictures->channels = side[2];
    return IKT_OK;
}

static ikt_status choose_pictures(ikt_context *ctx, const options *o, subject *s) {
    if (!o->images[0] && !o->image_shape[0]) return IKT_OK;
    if (!o->images[0] || !o->image_shape[0])
        return ikt_fail(ctx, IKT_ERR_USAGE,
                        "--images FILE.h5:DATASET and --image-shape HEIGHTxWIDTH need each other");
    int64_t length = ikt_rank(ctx) == 0 ? (int64_t)ikt_file_name_length(o->images) : 0;
    ikt_broadcast(ctx, &length, (int64_t)sizeof length, 0);
    snprintf(s->images, sizeof s->images, "%.*s", (int)length, o->images);
    s->pictures =
        (ikt_picture_settings){.path = s->images,
                               .dataset = o->images[length] ? o->images + length + 1 : "X",
                               .shrink = o->image_shrink,
                               .most = o->images_most};
    if (s->pictures.dataset[0] == '/') s->pictures.dataset++;
    return parse_shape(ctx, o->image_shape, &s->pictures);
}

static ikt_status check_files(ikt_context *ctx, const options *o, const char *const paths[2]) {
    ikt_files files = {.ctx = ctx};
    ikt_files_add(&files, IKT_FILE_READ, "RUN.h5", paths[0]);
    ikt_files_add(&files, IKT_FILE_READ, "--beside", o->beside);
    ikt_files_add(&files, IKT_FILE_READ, "--genes-from", o->names.genes_from);
    ikt_files_add(&files, IKT_FILE_READ, "--images", o->images);
    ikt_files_add_list(&files, "--colour-by", o->names.colour_by);
    ikt_files_add_list(&files, "--hover", o->names.hover);
    ikt_files_add_page(&files, "OUT.html", paths[1]);
    return ikt_files_check(&files);
}

/* COLLECTIVE. The page.
 *   paths   of the map, and of the page */
static ikt_status make(ikt_context *ctx, const options *o, subject *s, const char *const paths[2]) {
    IKT_TRY(check_files(ctx, o, paths));
    IKT_TRY(choose_pictures(ctx, o, s));
    IKT_TRY(ikt_embedding_file_open(ctx, paths[0], o->mark, &s->run));
    IKT_TRY(open_beside(ctx, o, s));
    IKT_TRY(ikt_page_columns_read(ctx, &s->run, &o->names, &s->columns));
    ikt_viewer_column column[IKT_VIEWER_COLUMNS_MOST];
    ikt_page_columns_list(&s->columns, column);
    const ikt_viewer_map beside = {.name =
                                       o->beside[0] ? ikt_embedding_file_title(&s->beside, "") : "",
                                   .q = s->beside.q,
                                   .y = s->beside.y};
    const ikt_viewer_settings settings = {.title = ikt_embedding_file_title(&s->run, o->title),
                                          .note = s->run.note,
                                          .ground = (ikt_viewer_ground)o->background,
                                          .overwrite = o->overwrite};
    const ikt_viewer_content content = {.rows = &s->run.rows,
                                        .q = s->run.q,
                                        .y = s->run.y,
                                        .beside = o->beside[0] ? &beside : NULL,
                                        .column = column,
                                        .n_columns = s->columns.count,
                                        .marked = s->run.marked,
                                        .n_marked = s->run.n_marked,
                                        .pictures = o->images[0] ? &s->pictures : NULL};
    return ikt_viewer_write(ctx, &settings, &content, paths[1]);
}

static ikt_status run(ikt_context *ctx, int argc, char **argv) {
    options o;
    const char *paths[2];
    bool help;
    const ikt_option table[] = {
        {"colour-by", IKT_TEXT("NAMES", "labels", o.names.colour_by),
         "The data sets of n entries to choose the colours from, separated by commas: DATASET of "
         "RUN.h5, FILE.h5:DATASET or FILE.csv:COLUMN of another file, or none. Labels are used by "
         "default where the file has them"},
        {"colour-as", IKT_CHOICE("KIND", "auto", IKT_COLOUR_AS, &o.names.colour_as),
         "Whether the data sets hold classes or numbers; auto takes labels as classes, and also "
         "whole numbers that span fewer than 64"},
        {"hover", IKT_TEXT("NAMES", "", o.names.hover),
         "The data sets to show of a point that is pointed at, named in the same way: texts of any "
         "length, classes or numbers. By default they are those that give colours"},
        {"genes", IKT_TEXT("NAMES", "", o.names.genes),
         "The genes of an AnnData file to colour by as well, separated by commas, such as "
         "CD3D,MS4A1: entries of the index of var, or of its gene_symbols or feature_name"},
        {"genes-from", IKT_TEXT("FILE.h5ad[:MATRIX]", "", o.names.genes_from),
         "The file and the matrix of the genes: X (by default), raw/X or layers/NAME. The file is "
         "by default that of the map"},
        {"beside", IKT_TEXT("FILE.h5", "", o.beside),
         "Another map of the same rows to show beside the first: pointing, selecting and colours "
         "are shared"},
        {"images", IKT_TEXT("FILE.h5:DATASET", "", o.images),
         "Show the picture of a row beside its point. Each row of the data set (X by default) "
         "holds one picture, as uint8 or as floating numbers, which are scaled"},
        {"image-shape", IKT_TEXT("HxW", "", o.image_shape),
         "The height and width of these pictures, such as 28x28, or 32x32x3 with three colours, "
         "which are the last to vary"},
        {"images-most", IKT_KEY_INT, "N", "10000", 1, 1e9, NULL, &o.images_most,
         "The most pictures that the page has; where there are more rows, those are taken that lie "
         "evenly over the map"},
        {"image-shrink", IKT_KEY_INT, "K", "1", 1, 1024, NULL, &o.image_shrink,
         "Replace K x K pixels by one, their mean, for a smaller file"},
        {"background", IKT_CHOICE("COLOUR", "auto", "auto|white|black", &o.background),
         "The background that the page begins with: auto is that of the reader's system; a button "
         "changes it"},
        {"title", IKT_TEXT("TEXT", "", o.title),
         "The title of the page; by default the name of RUN.h5"},
        {"mark", IKT_TEXT("ROWS", "", o.mark),
         "The rows to mark with a cross, such as 17 or 0,17, or none; by default those that the "
         "file names in /marked"},
        {"overwrite", IKT_FLAG(&o.overwrite), "Replace OUT.html where it exists"},
        {0}};
    IKT_TRY(ikt_options_parse(ctx, &ikt_verb_view, table, argc, argv, paths, 2, 2, NULL, &help));
    if (help) return IKT_OK;
    subject s = {.columns = {.count = 0}};
    o.names.asked_for = ikt_option_given("colour-by", argc, argv);
    ikt_status st = make(ctx, &o, &s, paths);
    ikt_page_columns_free(&s.columns);
    ikt_embedding_file_close(&s.beside);
    ikt_embedding_file_close(&s.run);
    return st;
}

const ikt_verb ikt_verb_view = {"view", "RUN.h5 OUT.html [options]",
                                "Make a page to pan and zoom in an embedding with a browser",
                                "The page is one HTML file, which loads nothing else. RUN.h5 is "
                                "the output of `iktsne embed`, or " IKT_MAP_HELP,
                                run};
