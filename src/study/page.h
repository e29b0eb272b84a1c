/* A report written twice at once: as one HTML page that needs no other file, and as Markdown with
 * its pictures beside it.
 */
#ifndef IKT_STUDY_PAGE_H
#define IKT_STUDY_PAGE_H

#include "base/status.h"
#include "config/value.h"
#include "plot/chart.h"

typedef struct {
    ikt_context *ctx;
    const char *folder; /* of the pictures and of the two files; lent */
    ikt_text html, markdown;
    int figures;       /* so far */
    int64_t left;      /* columns of the table under way that stand at the left */
    ikt_status status; /* of the first failure; what follows does nothing then */
} ikt_page;

/* LOCAL, all of them. Texts are UTF-8; what they hold is shown as it stands. */
ikt_page ikt_page_begin(ikt_context *ctx, const char *folder, const char *title);
void ikt_page_heading(ikt_page *page, int level, const char *text);
void ikt_page_paragraph(ikt_page *page, const char *text);

/* A table is a row of headings and then rows of as many cells. Numbers stand at the right: those
 * are all columns but the first `left`. */
void ikt_page_table(ikt_page *page, const char *const *heading, int64_t columns, int64_t left);
void ikt_page_row(ikt_page *page, const char *const *cell, int64_t columns);
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

#endif
