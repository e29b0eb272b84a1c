/* The page that a report is written on, and the pictures on it. */
#ifndef IKT_STUDY_REPORT_PARTS_H
#define IKT_STUDY_REPORT_PARTS_H

#include "config/value.h"
#include "plot/chart.h"
#include "study/results.h"

/* --- the page (page.c) ------------------------------------------------------------------------ */

/* A report written twice at once: as one HTML page that needs no other file, and as Markdown with
 * its pictures beside it. */
typedef struct {
    ikt_context *ctx;
    const char *folder; /* of the pictures and of the two files; borrowed */
    ikt_text html, markdown;
    int figures;           /* so far */
    int64_t left;          /* columns of the table under way that stand at the left */
    int64_t rows, columns; /* of it so far; of the row under way */
    ikt_status status;     /* of the first failure; what follows does nothing then */
} ikt_page;

/* LOCAL, all of them. Texts are UTF-8; what they hold is shown as it stands. */
ikt_page ikt_page_begin(ikt_context *ctx, const char *folder, const char *title);
void ikt_page_heading(ikt_page *page, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void ikt_page_paragraph(ikt_page *page, const char *text);

/* A table is a row of headings and then rows of as many cells; a row ends where the next one, or
 * the table's end, begins. Numbers stand at the right: those are all columns but the first `left`.
 */
void ikt_page_table(ikt_page *page, int64_t left);
void ikt_page_row(ikt_page *page);
void ikt_page_cell(ikt_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ikt_page_table_end(ikt_page *page);

/* Figures between these two stand side by side. */
void ikt_page_side_by_side(ikt_page *page);
void ikt_page_side_by_side_end(ikt_page *page);

/* A chart, also written as figure-N.svg into the folder. */
void ikt_page_chart(ikt_page *page, const ikt_chart *chart);

/* A PNG file that lies in the folder under `name`. */
void ikt_page_picture(ikt_page *page, const char *name, const char *caption);

/* Writes FOLDER/report.html and report.md beside their names, renames them and frees everything.
 * Errors: IKT_ERR_FILE, IKT_ERR_RESOURCE. */
ikt_status ikt_page_end(ikt_page *page);

/* --- pictures and rank curves of the best embeddings (pictures.c) ----------------------------- */

enum { IKT_STUDY_CURVE_POINTS = 200 };

/* What is shown of a run: its picture in the folder of the report and, where the study asks for it,
 * R(k) at some k, about evenly on a logarithmic scale. */
typedef struct {
    int64_t run, measure;      /* which it is the best by */
    char name[IKT_STUDY_NAME]; /* that of the embedding in best/, ending in .png */
    int64_t points;            /* of the curve; 0: there is none */
    double k[IKT_STUDY_CURVE_POINTS], r[IKT_STUDY_CURVE_POINTS];
} ikt_study_picture;

/* COLLECTIVE. Draws into FOLDER, for each data set and method, the run that is best by the first
 * measure that has a better way, and measures its rank curve: neighbours by distance in the input
 * against those in the map.
 *   picture   receives [*count] pictures in the order of data sets and methods, owned by the caller
 *             (ikt_free); runs whose embedding is not there are passed over: embeddings are kept
 *             for the best only, and a study may have been moved without them.
 * Errors: those of reading results and data and of plotting. Cost: see ikt_measure_rank_curve. */
ikt_status ikt_study_pictures_draw(ikt_context *ctx, const ikt_study_plan *plan,
                                   const ikt_study_result *result, const char *folder,
                                   ikt_study_picture **picture, int64_t *count);

#endif
