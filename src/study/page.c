/* A report as HTML and as Markdown. */
#include "study/report_parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/encoding.h"
#include "base/memory.h"
#include "config/key.h"

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>";
static const char style[] =
    "</title>\n<style>\n"
    "body{font-family:sans-serif;max-width:76em;margin:2em auto;padding:0 1em;line-height:1.4}\n"
    "table{border-collapse:collapse;margin:1em 0;font-size:90%}\n"
    "th,td{padding:.2em .6em;border-bottom:1px solid #ddd;text-align:left}\n"
    "th{border-bottom:2px solid #888}td.n,th.n{text-align:right}\n"
    ".side{display:flex;flex-wrap:wrap;gap:1em}figure{margin:0}\n"
    "figcaption{font-size:85%;max-width:36em}img{max-width:100%;width:34em}\n"
    "</style></head><body>\n";

ikt_page ikt_page_begin(ikt_context *ctx, const char *folder, const char *title) {
    ikt_page page = {.ctx = ctx,
                     .folder = folder,
                     .html = {ctx, NULL, 0, 0, IKT_OK},
                     .markdown = {ctx, NULL, 0, 0, IKT_OK}};
    ikt_text_add(&page.html, "%s", head);
    ikt_text_add_xml(&page.html, title);
    ikt_text_add(&page.html, "%s", style);
    ikt_page_heading(&page, 1, "%s", title);
    return page;
}

/* Text with what Markdown would take for its own marks written out. */
static void add_markdown(ikt_text *out, const char *text) {
    char bytes[5];
    for (uint32_t point; (point = ikt_utf8_next(&text)) != 0;) {
        ikt_utf8_encode(point == '\n' ? ' ' : point, bytes);
        ikt_text_add(out, "%s%s", strchr("|*_`<\\", bytes[0]) ? "\\" : "", bytes);
    }
}

void ikt_page_heading(ikt_page *page, int level, const char *format, ...) {
    char text[IKT_STRING_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ikt_text_add(&page->html, "<h%d>", level);
    ikt_text_add_xml(&page->html, text);
    ikt_text_add(&page->html, "</h%d>\n", level);
    ikt_text_add(&page->markdown, "%s%.*s ", page->markdown.length > 0 ? "\n" : "", level, "####");
    add_markdown(&page->markdown, text);
    ikt_text_add(&page->markdown, "\n\n");
}

void ikt_page_paragraph(ikt_page *page, const char *text) {
    ikt_text_add(&page->html, "<p>");
    ikt_text_add_xml(&page->html, text);
    ikt_text_add(&page->html, "</p>\n");
    add_markdown(&page->markdown, text);
    ikt_text_add(&page->markdown, "\n\n");
}

void ikt_page_table(ikt_page *page, int64_t left) {
    page->left = left;
    page->rows = 0;
    ikt_text_add(&page->html, "<table>\n");
}

/* Ends the row under way; behind the headings Markdown wants to know where the cells stand. */
static void end_row(ikt_page *page) {
    if (page->rows > 0) ikt_text_add(&page->html, "</tr>\n");
    if (page->rows > 0) ikt_text_add(&page->markdown, "\n");
    if (page->rows != 1) return;
    ikt_text_add(&page->markdown, "|");
    for (int64_t c = 0; c < page->columns; c++)
        ikt_text_add(&page->markdown, c < page->left ? "---|" : "--:|");
    ikt_text_add(&page->markdown, "\n");
}

void ikt_page_row(ikt_page *page) {
    end_row(page);
    page->rows++;
    page->columns = 0;
    ikt_text_add(&page->html, "<tr>");
    ikt_text_add(&page->markdown, "|");
}

void ikt_page_cell(ikt_page *page, const char *format, ...) {
    char text[IKT_STRING_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *tag = page->rows == 1 ? "th" : "td";
    const bool is_number = page->columns++ >= page->left;
    ikt_text_add(&page->html, "<%s%s>", tag, is_number ? " class=\"n\"" : "");
    ikt_text_add_xml(&page->html, text);
    ikt_text_add(&page->html, "</%s>", tag);
    ikt_text_add(&page->markdown, " ");
    add_markdown(&page->markdown, text);
    ikt_text_add(&page->markdown, " |");
}

void ikt_page_table_end(ikt_page *page) {
    end_row(page);
    ikt_text_add(&page->html, "</table>\n");
    ikt_text_add(&page->markdown, "\n");
}

void ikt_page_side_by_side(ikt_page *page) {
    ikt_text_add(&page->html, "<div class=\"side\">\n");
}

void ikt_page_side_by_side_end(ikt_page *page) {
    ikt_text_add(&page->html, "</div>\n");
    ikt_text_add(&page->markdown, "\n");
}

void ikt_page_chart(ikt_page *page, const ikt_chart *chart) {
    ikt_text svg = {page->ctx, NULL, 0, 0, IKT_OK};
    char path[IKT_STRING_MAX];
    if (page->status != IKT_OK) return;
    ikt_chart_svg(chart, &svg);
    page->status = svg.status;
    snprintf(path, sizeof path, "%.900s/figure-%d.svg", page->folder, ++page->figures);
    if (page->status == IKT_OK) page->status = ikt_atomic_write_text(page->ctx, path, svg.data);
    if (page->status == IKT_OK) {
        ikt_text_add(&page->html, "<figure>%s</figure>\n", svg.data);
        ikt_text_add(&page->markdown, "![");
        add_markdown(&page->markdown, chart->title);
        ikt_text_add(&page->markdown, "](figure-%d.svg)\n", page->figures);
    }
    ikt_free(&svg.data);
}

static ikt_status add_file(ikt_context *ctx, ikt_text *out, const char *path) {
    enum { PIECE = 3 << 12, LETTERS = 4 << 12 };
    unsigned char piece[PIECE];
    char letters[LETTERS];
    FILE *file = fopen(path, "rb");
    for (size_t got; file && (got = fread(piece, 1, sizeof piece, file)) > 0;) {
        ikt_base64(piece, (int64_t)got, letters);
        ikt_text_add(out, "%.*s", (int)ikt_base64_length((int64_t)got), letters);
    }
    const bool is_read = file && !ferror(file);
    const int reason = errno;
    if (file) fclose(file);
    if (is_read) return IKT_OK;
    return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be read: %s", path, strerror(reason));
}

void ikt_page_picture(ikt_page *page, const char *name, const char *caption) {
    char path[IKT_STRING_MAX];
    if (page->status != IKT_OK) return;
    snprintf(path, sizeof path, "%.700s/%.200s", page->folder, name);
    ikt_text_add(&page->html, "<figure><img alt=\"");
    ikt_text_add_xml(&page->html, caption);
    ikt_text_add(&page->html, "\" src=\"data:image/png;base64,");
    page->status = add_file(page->ctx, &page->html, path);
    ikt_text_add(&page->html, "\"><figcaption>");
    ikt_text_add_xml(&page->html, caption);
    ikt_text_add(&page->html, "</figcaption></figure>\n");
    ikt_text_add(&page->markdown, "![");
    add_markdown(&page->markdown, caption);
    ikt_text_add(&page->markdown, "](%s)\n", name);
}

ikt_status ikt_page_end(ikt_page *page) {
    char path[IKT_STRING_MAX];
    ikt_text_add(&page->html, "</body></html>\n");
    if (page->status == IKT_OK) page->status = page->html.status;
    if (page->status == IKT_OK) page->status = page->markdown.status;
    snprintf(path, sizeof path, "%.900s/report.html", page->folder);
    if (page->status == IKT_OK)
        page->status = ikt_atomic_write_text(page->ctx, path, page->html.data);
    snprintf(path, sizeof path, "%.900s/report.md", page->folder);
    if (page->status == IKT_OK)
        page->status = ikt_atomic_write_text(page->ctx, path, page->markdown.data);
    ikt_free(&page->html.data);
    ikt_free(&page->markdown.data);
    return page->status;
}
