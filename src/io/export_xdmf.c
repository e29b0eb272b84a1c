/* XDMF 3: a page of XML that tells ParaView and VisIt where in the run's own file the points are.
 *
 * Advantage: no copy of anything, so any size takes no time. Disadvantage: it works as long as the
 * files stay where they are; one in the folder of the page is named without its path, so that both
 * can be moved together. */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/shared_file.h"
#include "config/value.h"
#include "io/export.h"

/* Length of the folder's part of a path, with the slash. */
static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static ikt_status refer(ikt_context *ctx, const char *file, const char *page, char *name) {
    const size_t own = folder_length(file);
    char *whole = NULL;
    if (own == folder_length(page) && strncmp(file, page, own) == 0) {
        snprintf(name, IKT_PATH_MAX, "%s", file + own);
        return IKT_OK;
    }
    whole = realpath(file, NULL);
    if (!whole) return ikt_fail(ctx, IKT_ERR_FILE, "%s cannot be found", file);
    snprintf(name, IKT_PATH_MAX, "%s", whole);
    free(whole);
    return IKT_OK;
}

static void add_xml(ikt_text *out, const char *text) {
    for (; *text; text++)
        if (*text == '&')
            ikt_text_add(out, "&amp;");
        else if (*text == '<')
            ikt_text_add(out, "&lt;");
        else if (*text == '>')
            ikt_text_add(out, "&gt;");
        else if (*text == '"')
            ikt_text_add(out, "&quot;");
        else
            ikt_text_add(out, "%c", *text);
}

/* Where the numbers are: one column for d = 0. */
static ikt_status add_item(const ikt_export *export, const char *page, const char *file,
                           const char *dataset, const char *type, int64_t bytes, int d,
                           ikt_text *out) {
    char name[IKT_PATH_MAX];
    IKT_TRY(refer(export->ctx, file, page, name));
    ikt_text_add(out,
                 "<DataItem Format=\"HDF\" NumberType=\"%s\" Precision=\"%lld\" Dimensions=\"%lld",
                 type, (long long)bytes, (long long)export->n);
    if (d > 0) ikt_text_add(out, " %d", d);
    ikt_text_add(out, "\">");
    add_xml(out, name);
    ikt_text_add(out, ":/");
    add_xml(out, dataset);
    ikt_text_add(out, "</DataItem>");
    return out->status;
}

static ikt_status add_column(const ikt_export *export, const ikt_export_column *c, const char *page,
                             ikt_text *out) {
    ikt_text_add(out, "      <Attribute Name=\"");
    add_xml(out, c->name);
    ikt_text_add(out, "\" AttributeType=\"Scalar\" Center=\"Node\">");
    IKT_TRY(add_item(export, page, c->file, c->dataset,
                     ikt_column_is_real(c->values) ? "Float" : "Int", ikt_column_bytes(c->values),
                     0, out));
    ikt_text_add(out, "</Attribute>\n");
    return out->status;
}

static ikt_status make_page(const ikt_export *export, const char *page, ikt_text *out) {
    const long long n = (long long)export->n;
    ikt_text_add(out,
                 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Xdmf Version=\"3.0\">\n  <Domain>\n"
                 "    <Grid Name=\"embedding\" GridType=\"Uniform\">\n"
                 "      <Topology TopologyType=\"Polyvertex\" NumberOfElements=\"%lld\" "
                 "NodesPerElement=\"1\"/>\n      <Geometry GeometryType=\"%s\">",
                 n, export->q == 2 ? "XY" : "XYZ");
    IKT_TRY(add_item(export, page, export->run, "embedding", "Float", 4, export->q, out));
    ikt_text_add(out, "</Geometry>\n");
    for (int64_t c = 0; c < export->columns; c++)
        IKT_TRY(add_column(export, &export->column[c], page, out));
    ikt_text_add(out, "    </Grid>\n  </Domain>\n</Xdmf>\n");
    return out->status;
}

static ikt_status check(const ikt_export *export, const ikt_export_wishes *wishes) {
    if (export->q == 1)
        return ikt_fail(export->ctx, IKT_ERR_USAGE,
                        "%s is a map in one dimension, of which XDMF cannot speak without a copy; "
                        "take .vtkhdf",
                        export->run);
    if (!wishes->row_numbers) return IKT_OK;
    return ikt_fail(export->ctx, IKT_ERR_USAGE,
                    "XDMF names what is in files, and row numbers are in none; take .vtkhdf");
}

static ikt_status write_xdmf(ikt_export *export, const ikt_export_wishes *wishes,
                             const char *path) {
    ikt_context *ctx = export->ctx;
    ikt_text page = {ctx, NULL, 0, 0, IKT_OK};
    ikt_shared_file *file;
    IKT_TRY(check(export, wishes));
    ikt_status st = ikt_agree(ctx, make_page(export, path, &page));
    if (st == IKT_OK) st = ikt_shared_begin(ctx, path, wishes->overwrite, page.length, &file);
    if (st == IKT_OK) {
        st = ikt_shared_append_text(file, page.data);
        st = ikt_shared_end(&file, st);
    }
    ikt_free(&page.data);
    return st;
}

const ikt_export_format ikt_export_xdmf = {"xdmf", ".xdmf .xmf", true, false, write_xdmf};
